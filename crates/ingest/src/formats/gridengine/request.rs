//! What a job asked for (`category`): `-u ann -l h_rt=3600,h_vmem=4G,gpu=1 -pe mpi 16-32 -q long.q`.
//!
//! Memory and GPUs are for each slot. How the slots of a parallel environment lie on hosts is set in its configuration, which the log
//! does not have. An environment with a name for shared memory ([`SHARED`]) has them on one host, by the rule [`Assumed::OneHost`]. Any other
//! may have them anywhere, by the rule [`Assumed::SingleSlots`].

use super::super::accounting::{Assumed, Shape, Units, bytes, count, duration};

/// Words in the names of parallel environments whose slots are on one host.
const SHARED: [&str; 7] = ["smp", "thread", "openmp", "omp", "shm", "shared", "multicore"];
/// Requests for memory, in the order in which they count.
const MEMORY: [&str; 6] = ["m_mem_free", "mem_free", "h_vmem", "h_rss", "virtual_free", "s_vmem"];
/// Requests for GPUs.
const GPUS: [&str; 4] = ["gpu", "gpus", "ngpus", "cuda"];

/// What a category asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Request {
    /// The limit of its run time, ms.
    pub(super) limit: Option<i64>,
    memory: Option<i64>,
    gpus: i64,
    exclusive: bool,
}

/// The request in a category.
pub(super) fn parse(category: &str) -> Request {
    let mut request = Request::default();
    let mut words = category.split_ascii_whitespace();
    let mut memory: [Option<i64>; MEMORY.len()] = [None; MEMORY.len()];
    while let Some(word) = words.next() {
        if word != "-l" {
            continue;
        }
        for (name, value) in words.next().unwrap_or_default().split(',').filter_map(|part| part.split_once('=')) {
            match name {
                "h_rt" => request.limit = duration(value),
                "s_rt" => request.limit = request.limit.or_else(|| duration(value)),
                "exclusive" | "excl" | "exclusive_job" => request.exclusive = matches!(value, "true" | "TRUE" | "1"),
                _ if GPUS.contains(&name) => request.gpus = count(value).unwrap_or(0),
                _ => {
                    let place = MEMORY.iter().position(|known| *known == name);
                    if let Some(amount) = place.and_then(|place| memory.get_mut(place)) {
                        *amount = bytes(value, Units::GridEngine).filter(|&bytes| bytes > 0);
                    }
                }
            }
        }
    }
    request.memory = memory.into_iter().flatten().next();
    request
}

impl Request {
    /// True if all slots are on the host that the record names.
    pub(super) fn is_one_host(&self, slots: i64, environment: &str) -> bool {
        slots <= 1 || is_shared(environment)
    }

    /// The shape of a job of so many slots in an environment.
    pub(super) fn shape(&self, slots: i64, environment: &str) -> Shape {
        let slots = slots.max(1);
        let is_one = self.is_one_host(slots, environment);
        let (instances, each) = if is_one { (1, slots) } else { (slots, 1) };
        let assumed =
            if slots == 1 { None } else { Some(if is_one { Assumed::OneHost } else { Assumed::SingleSlots }) };
        Shape {
            instances,
            cpu: each.checked_mul(1_000),
            memory: self.memory.and_then(|bytes| bytes.checked_mul(each)),
            gpus: u64::try_from(self.gpus.saturating_mul(each)).unwrap_or(0),
            machines: is_one.then_some(1),
            exclusive: self.exclusive,
            assumed,
            ..Shape::default()
        }
    }
}

fn is_shared(environment: &str) -> bool {
    let name = environment.to_ascii_lowercase();
    SHARED.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_asks_for_amounts() {
        let request =
            parse("-U lab -u ann -l h_rt=3600,h_vmem=8G,mem_free=4G,gpu=2,exclusive=TRUE -pe smp 4 -q a.q@h1");
        let expected = Request { limit: Some(3_600_000), memory: Some(4 << 30), gpus: 2, exclusive: true };
        assert_eq!(request, expected);
        assert_eq!(parse("-l h_rt=1:00:00 -l h_vmem=1G").limit, Some(3_600_000));
        assert_eq!(parse("NONE"), Request::default());
        assert_eq!(parse("-l"), Request::default());
        assert_eq!(parse("-l h_rt=INFINITY,h_vmem=INFINITY,gpu=x"), Request::default());
    }
}
