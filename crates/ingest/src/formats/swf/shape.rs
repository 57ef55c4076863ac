//! How many instances a job has, and what each of them needs.
//!
//! The standard has processors alone: each is an instance. A further field may say more. With a number of machines and the processors of
//! each (`all:2x4`), each machine is an instance. With GPUs alone, the instances are as small as processors and GPUs can be dealt out
//! evenly: 8 processors and 2 GPUs are two instances of four processors and one GPU.

use super::PROCESSOR;
use super::further::Further;
use super::header::Header;

/// The name of a GPU among the resources.
pub(crate) const GPU: &str = "gres/gpu";

/// What the standard's fields say about the size of a job.
#[derive(Debug, Clone, Copy)]
pub(super) struct Amounts {
    /// Processors that it got.
    pub(super) allocated: Option<i64>,
    /// Processors that it asked for.
    pub(super) requested: Option<i64>,
    /// Memory that it asked for, bytes.
    pub(super) memory: Option<i64>,
}

/// The instances of a job.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) instances: Option<i64>,
    /// The processor of each, in thousandths.
    pub(super) cpu: i64,
    /// The memory of each, bytes.
    pub(super) memory: Option<i64>,
    /// The GPUs of each.
    gpus: i64,
    pub(super) machines: Option<i64>,
    /// The containers that it asked for, and the processor of each in thousandths.
    pub(super) asked: Option<(i64, i64)>,
    /// All processors, or one.
    pub(super) processors: i64,
    /// What the amounts of memory count for: machines or processors.
    pub(super) memories: i64,
    /// True if its number of processors is neither that of its machines nor that of their processors.
    pub(super) is_at_odds: bool,
    /// True if it asks for more processors of a machine than any machine has.
    pub(super) is_cut: bool,
    /// True if its GPUs cannot be dealt out evenly over its machines.
    pub(super) is_uneven: bool,
}

impl Shape {
    /// The shape of a job.
    pub(super) fn of(amounts: Amounts, further: &Further<'_>, header: &Header) -> Self {
        let gpus = further.gpus.filter(|&gpus| gpus > 0).unwrap_or(0);
        match further.properties.machines {
            Some(machines) => Self::of_machines(amounts, machines, gpus, header.processors_of_machine()),
            None => Self::of_processors(amounts, gpus),
        }
    }

    /// The shape of a job of so many machines, with so many processors on each: its memory is that of a machine, too.
    fn of_machines(amounts: Amounts, (machines, asked): (i64, i64), gpus: i64, most: Option<i64>) -> Self {
        let each = most.map_or(asked, |most| asked.min(most));
        let processors = machines.saturating_mul(each);
        let counts = [machines, processors, machines.saturating_mul(asked)];
        let cpu = each.saturating_mul(PROCESSOR);
        Self {
            instances: Some(machines),
            cpu,
            memory: amounts.memory,
            gpus: ceiling(gpus, machines),
            machines: Some(machines),
            asked: Some((machines, cpu)),
            processors,
            memories: machines,
            is_at_odds: amounts.allocated.is_some_and(|count| !counts.contains(&count)),
            is_cut: each < asked,
            is_uneven: gpus % machines > 0,
        }
    }

    /// The shape of a job of so many processors anywhere.
    fn of_processors(amounts: Amounts, gpus: i64) -> Self {
        let processors = amounts.allocated.or(amounts.requested);
        let all = processors.unwrap_or(1);
        let instances = if gpus > 0 { common_divisor(all, gpus) } else { all };
        let each = all / instances;
        Self {
            instances: processors.map(|_| instances),
            cpu: each.saturating_mul(PROCESSOR),
            memory: amounts.memory.and_then(|bytes| bytes.checked_mul(each)),
            gpus: gpus / instances,
            machines: None,
            asked: amounts.requested.map(|processors| (processors, PROCESSOR)),
            processors: all,
            memories: all,
            is_at_odds: false,
            is_cut: false,
            is_uneven: false,
        }
    }

    /// The other resources of each instance.
    pub(super) fn resources(&self) -> Option<String> {
        (self.gpus > 0).then(|| format!("{GPU}={}", self.gpus))
    }
}

/// The largest number that divides both, which are at least 1.
fn common_divisor(mut one: i64, mut other: i64) -> i64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one.max(1)
}

/// The quotient of two numbers that are not negative, rounded up.
fn ceiling(number: i64, by: i64) -> i64 {
    let by = by.max(1);
    number / by + i64::from(number % by > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_dealt_out_with_processors() {
        for (processors, gpus, instances) in [(8, 2, 2), (8, 3, 1), (12, 8, 4), (1, 4, 1), (6, 6, 6)] {
            assert_eq!(common_divisor(processors, gpus), instances, "{processors} {gpus}");
        }
        assert_eq!([ceiling(8, 4), ceiling(9, 4), ceiling(0, 4)], [2, 3, 0]);
    }
}
