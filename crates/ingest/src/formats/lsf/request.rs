//! The resource string of a job (`bsub -R`), as far as it asks for amounts: `rusage[mem=4000,ngpus_physical=1] span[ptile=16]
//! affinity[core(2)]`.
//!
//! | section | what is read |
//! |---|---|
//! | `rusage` | `mem` of each host, or of each task with `/task`, or of the job with `/job`; `ngpus_physical` or `ngpus` of each host |
//! | `span` | `hosts=1` and `ptile=N` |
//! | `affinity` | `core(N)`, `thread(N)`: the processors of each slot |
//! | `select`, `order`, `same`, `cu` | nothing: they ask for no amount |
//!
//! Of alternatives (`||`), the first counts. A compound string (`2*{…}+{…}`) is not read.

use super::super::accounting::{Shape, Units, bytes, count};

/// What a resource string asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Request {
    memory: Option<(i64, Of)>,
    gpus: i64,
    /// The most slots on a host.
    on_each: Option<i64>,
    one_host: bool,
    /// The processors of a slot.
    cores: Option<i64>,
}

/// What an amount is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Host,
    Task,
    Job,
}

/// The request in a string, and whether all of it could be read.
pub(super) fn parse(text: &str) -> (Request, bool) {
    let mut request = Request::default();
    if text.contains('{') {
        return (request, false);
    }
    let mut is_read = true;
    for (name, section) in sections(text) {
        let first = section.split("||").next().unwrap_or_default();
        match name {
            "rusage" => is_read &= request.usage(first),
            "span" => request.span(first),
            "affinity" => request.affinity(first),
            _ => {}
        }
    }
    (request, is_read)
}

/// The sections of a string: a name, and what is between its brackets.
fn sections(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (before, after) = rest.split_once('[')?;
        let (section, left) = after.split_once(']').unwrap_or((after, ""));
        rest = left;
        let name = before.rsplit(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or_default();
        Some((name, section))
    })
}

impl Request {
    fn usage(&mut self, section: &str) -> bool {
        let mut is_read = true;
        for part in section.split([',', ':']).filter_map(|part| part.split_once('=')) {
            let (name, value) = (part.0.trim(), part.1.trim());
            let (value, of) = match value.split_once('/') {
                Some((value, "job")) => (value, Of::Job),
                Some((value, "task")) => (value, Of::Task),
                Some((value, _)) => (value, Of::Host),
                None => (value, Of::Host),
            };
            match name {
                "mem" => {
                    self.memory = bytes(value, Units::Lsf).filter(|&bytes| bytes > 0).map(|bytes| (bytes, of));
                    is_read &= bytes(value, Units::Lsf).is_some();
                }
                "ngpus_physical" | "ngpus" => self.gpus = count(value).unwrap_or(0),
                _ => {}
            }
        }
        is_read
    }

    fn span(&mut self, section: &str) {
        for (name, value) in section.split([',', ' ']).filter_map(|part| part.split_once('=')) {
            match name.trim() {
                "ptile" => self.on_each = count(value.trim()),
                "hosts" => self.one_host = value.trim() == "1",
                _ => {}
            }
        }
    }

    fn affinity(&mut self, section: &str) {
        let number = |word: &str| {
            let (_, rest) = section.split_once(word)?;
            count(rest.strip_prefix('(')?.split([')', ',']).next()?)
        };
        self.cores = number("core").or_else(|| number("thread"));
    }

    /// The shape of a job that asked for so many slots, and got some on hosts.
    pub(super) fn shape(&self, asked: i64, got: i64, hosts: &[(&str, u32)], exclusive: bool) -> Shape {
        let each = self.cores.unwrap_or(1);
        let slots = asked.max(1);
        let on_each = if self.one_host { Some(slots) } else { self.on_each };
        let tile = on_each.filter(|&tile| tile > 1 && slots % tile == 0);
        // Slots that must lie together are one instance.
        let (instances, in_each) = tile.map_or((slots, 1), |tile| (slots / tile, tile));
        let machines = on_each.map(|tile| slots / tile + i64::from(slots % tile > 0)).or((slots == 1).then_some(1));
        let nodes = machines.or_else(|| i64::try_from(hosts.len()).ok()).filter(|&nodes| nodes > 0).unwrap_or(1);
        let of_job = |amount: i64, of: Of| match of {
            Of::Host => amount.checked_mul(nodes),
            Of::Task => amount.checked_mul(slots),
            Of::Job => Some(amount),
        };
        let memory = self.memory.and_then(|(amount, of)| of_job(amount, of)).map(|all| all / instances);
        let gpus = self.gpus.saturating_mul(nodes);
        let gpus = gpus / instances + i64::from(gpus % instances > 0);
        // A job may ask for a range of slots, and get more than the fewest.
        let is_range = got > slots && tile.is_none() && got % instances == 0 && self.cores.is_none();
        let instances = if is_range { got } else { instances };
        Shape {
            instances,
            cpu: in_each.checked_mul(each).and_then(|cores| cores.checked_mul(1_000)),
            memory,
            gpus: u64::try_from(gpus).unwrap_or(0),
            machines,
            exclusive,
            ..Shape::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_from_all_sections() {
        let (request, is_read) = parse(
            "select[type == any] order[r15s:pg] rusage[mem=4915.00:duration=10,ngpus_physical=2.00] span[ptile=16]",
        );
        assert!(is_read);
        assert_eq!((request.memory, request.gpus), (Some((4_915 << 20, Of::Host)), 2));
        assert_eq!((request.on_each, request.one_host, request.cores), (Some(16), false, None));
        let (request, _) = parse("span[hosts=1] && bigmem affinity[core(4):cpubind=core] rusage[mem=2G/task||mem=4G]");
        assert_eq!((request.memory, request.one_host, request.cores), (Some((2 << 30, Of::Task)), true, Some(4)));
        assert_eq!(parse("2*{select[a] rusage[mem=4]}+{rusage[mem=8]}"), (Request::default(), false));
        assert!(!parse("rusage[mem=lots]").1 && parse("").1 && parse("rusage[").1);
    }

    #[test]
    fn slots_that_lie_together_are_one_instance() {
        let shape = |text: &str, slots| {
            let shape = parse(text).0.shape(slots, slots, &[], false);
            (
                shape.instances,
                shape.cpu.unwrap_or(0) / 1_000,
                shape.memory.map(|bytes| bytes >> 20),
                shape.gpus,
                shape.machines,
            )
        };
        assert_eq!(shape("span[ptile=16] rusage[mem=1600,ngpus=2]", 64), (4, 16, Some(1_600), 2, Some(4)));
        assert_eq!(shape("span[hosts=1] rusage[mem=1600]", 8), (1, 8, Some(1_600), 0, Some(1)));
        assert_eq!(shape("rusage[mem=100/task]", 8), (8, 1, Some(100), 0, None));
        assert_eq!(shape("affinity[core(4)]", 2), (2, 4, None, 0, None));
        assert_eq!(shape("", 1), (1, 1, None, 0, Some(1)));
        assert_eq!(shape("span[ptile=3]", 8), (8, 1, None, 0, Some(3)), "the last host has fewer");
        let most = i64::MAX;
        assert_eq!(shape("span[ptile=3] rusage[mem=1,ngpus=9]", most).4, Some(most / 3 + 1), "found by fuzzing");
    }
}
