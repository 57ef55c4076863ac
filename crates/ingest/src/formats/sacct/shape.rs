//! The shape of a job: how many instances of how many CPUs it has, and how they lie on machines.
//!
//! Slurm places tasks. Its accounting keeps the CPUs that a job asked for, but not its tasks, except in the command line. So this module
//! takes, in this order:
//!
//! 1. **Whole nodes**, for `--exclusive`, or if the job got all CPUs of its nodes though it asked for fewer.
//! 2. **Generic resources**, which Slurm counts per node: an instance for each node.
//! 3. **Options**: `-n`, `-c` and `-N`, if they account for the CPUs that were asked for. `-N` alone is an exact number: a job that got more
//!    nodes had a range (`-N 2-4`), of which only the fewest are known, and counts as one without.
//! 4. **An assumption** over the whole list, for all others: [`PACKED`] or [`SINGLE`].

use std::collections::BTreeMap;

use resched_tables::named::{amounts, as_text};

use super::job::{Demand, Job, Try};
use super::machines::Machines;
use super::submit_line::Asked;

/// The rule for jobs of unknown shape, if nearly all that fit on one node ran on one: each holds as many nodes as it did.
pub(super) const PACKED: &str = "sacct-packed";
/// The rule for jobs of unknown shape otherwise: their CPUs may lie anywhere.
pub(super) const SINGLE: &str = "sacct-single-cpus";

/// So many of the jobs that fit on one node must have run on one, in percent.
const PACKED_SHARE: u64 = 95;
/// Fewer jobs show nothing.
const FEWEST: u64 = 20;

/// The shape of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) instances: u32,
    /// The CPUs of an instance.
    pub(super) cpus: u32,
    pub(super) machines: Option<u32>,
    pub(super) exclusive: bool,
    /// The memory of an instance, bytes.
    pub(super) memory: Option<i64>,
    /// Other resources of an instance.
    pub(super) resources: Option<String>,
    /// The rule that assumed it.
    pub(super) assumed: Option<&'static str>,
    /// True if its CPUs do not divide evenly, so that it holds more here than it did.
    pub(super) is_uneven: bool,
}

/// What the whole list shows.
#[derive(Debug, Clone, Copy)]
pub(super) struct World {
    is_packed: bool,
    /// True if Slurm allocated memory, and not only noted what was asked for (`CR_CPU`, `CR_Core`).
    pub(super) allocates_memory: bool,
    /// The CPUs of the largest node.
    largest: u32,
}

/// A job with more CPUs fits on no node.
const MOST_CPUS: u32 = 1 << 20;

/// What the jobs of a list show, as far as [`World`] needs it.
#[derive(Debug, Default)]
pub(super) struct Census {
    /// How many tries of jobs of unknown shape there were, and how many of them ran on several nodes, by the CPUs of the job.
    unknown: BTreeMap<u32, (u64, u64)>,
    /// The most CPUs on a node, on average over the nodes of a try.
    on_each: Option<u32>,
    /// True if a try held memory, and whether the list has what tries held.
    has_memory: bool,
    is_listed: bool,
}

impl Census {
    pub(super) fn see(&mut self, job: &Job<'_>) {
        let is_unknown = is_unknown(&job.demand) && (2..=MOST_CPUS).contains(&job.demand.cpus);
        for one in job.tries.iter().filter(|one| one.ran) {
            self.has_memory |= one.memory.is_some();
            self.is_listed |= one.has_alloc_tres;
            if one.nodes == 0 {
                continue;
            }
            self.on_each = self.on_each.max(Some(one.cpus.div_ceil(one.nodes)));
            if is_unknown {
                let (fit, spread) = self.unknown.entry(job.demand.cpus).or_default();
                *fit += 1;
                *spread += u64::from(one.nodes > 1);
            }
        }
    }
}

impl World {
    pub(super) fn of(census: &Census, machines: &Machines) -> Self {
        let largest = machines.largest().or(census.on_each).unwrap_or(0);
        let fitting = census.unknown.iter().take_while(|&(&cpus, _)| cpus <= largest);
        let (fit, spread) = fitting.fold((0_u64, 0_u64), |sum, (_, score)| (sum.0 + score.0, sum.1 + score.1));
        Self {
            is_packed: fit >= FEWEST && spread * 100 <= fit * (100 - PACKED_SHARE),
            allocates_memory: census.has_memory || !census.is_listed,
            largest,
        }
    }
}

/// True if nothing but the CPUs of a job is known.
fn is_unknown(demand: &Demand<'_>) -> bool {
    let Demand { cpus, nodes, gres, asked, .. } = demand;
    !asked.exclusive && gres.is_empty() && *nodes < 2 && by_options(*asked, *cpus, *nodes, None).is_none()
}

/// The shape of a job that ran last, or would have run, like `one`.
pub(super) fn of(job: &Job<'_>, one: Option<&Try<'_>>, world: &World, is_whole: bool) -> Shape {
    let demand = &job.demand;
    let held = one.map_or(0, |one| one.cpus);
    let nodes = one.map(|one| one.nodes).filter(|&nodes| nodes > 0).unwrap_or(demand.nodes).max(1);
    let total = if held > 0 { held } else { demand.cpus };
    let gres = one.map(|one| one.gres).filter(|gres| !gres.is_empty()).unwrap_or(demand.gres);
    let mut shape = if demand.asked.exclusive || is_whole {
        let cpus = (total / nodes).max(1);
        Shape { instances: nodes, cpus, machines: Some(nodes), exclusive: true, ..Shape::default() }
    } else if !gres.is_empty() {
        let is_uneven = total % nodes > 0;
        Shape { instances: nodes, cpus: total.div_ceil(nodes), machines: Some(nodes), is_uneven, ..Shape::default() }
    } else {
        let got = one.map(|one| one.nodes).filter(|&nodes| nodes > 0);
        let shape = by_options(demand.asked, demand.cpus, demand.nodes, got);
        shape.unwrap_or_else(|| by_assumption(demand.cpus, got, world))
    };
    // Slurm gives whole cores: more CPUs than were asked for where a core has several.
    if !shape.exclusive && held > demand.cpus && held.is_multiple_of(shape.instances) {
        shape.cpus = held / shape.instances;
    }
    let memory = one.and_then(|one| one.memory).or(demand.memory).filter(|_| world.allocates_memory);
    shape.memory = memory.map(|bytes| bytes / i64::from(shape.instances));
    shape.resources = as_text(amounts(gres).map(|(name, n)| (name, n.div_ceil(u64::from(nodes)))));
    shape
}

/// The shape that the options give, if they account for the CPUs. `got` is how many nodes the job had, if it ran.
fn by_options(asked: Asked, cpus: u32, fewest_nodes: u32, got: Option<u32>) -> Option<Shape> {
    let nodes = asked.nodes.or(Some(fewest_nodes).filter(|&nodes| nodes > 1));
    let nodes = nodes.filter(|&fewest| got.is_none_or(|got| got <= fewest));
    let tasks = match (asked.tasks, asked.cpus_per_task) {
        (Some(tasks), Some(each)) => Some(tasks).filter(|_| tasks.checked_mul(each) == Some(cpus)),
        (Some(tasks), None) => Some(tasks).filter(|_| cpus.is_multiple_of(tasks)),
        (None, Some(each)) => Some(cpus / each).filter(|_| cpus.is_multiple_of(each)),
        (None, None) => None,
    };
    let (instances, machines) = match (tasks, nodes) {
        (None, None) => return None,
        (Some(tasks), nodes) => (tasks, nodes.map(|nodes| nodes.min(tasks))),
        (None, Some(nodes)) if cpus.is_multiple_of(nodes) => (nodes, Some(nodes)),
        (None, Some(nodes)) => (cpus, Some(nodes.min(cpus))),
    };
    Some(Shape { instances, cpus: cpus / instances, machines, ..Shape::default() })
}

/// The shape of a job of which only its CPUs are known, and the nodes that it ran on, if it ran.
fn by_assumption(cpus: u32, nodes: Option<u32>, world: &World) -> Shape {
    let single = Shape { instances: cpus, cpus: 1, ..Shape::default() };
    if cpus == 1 {
        return single;
    }
    if !world.is_packed {
        return Shape { assumed: Some(SINGLE), ..single };
    }
    let nodes = nodes.unwrap_or_else(|| cpus.div_ceil(world.largest.max(1))).clamp(1, cpus);
    let is_even = cpus.is_multiple_of(nodes);
    let (instances, each) = if is_even { (nodes, cpus / nodes) } else { (cpus, 1) };
    Shape { instances, cpus: each, machines: Some(nodes), assumed: Some(PACKED), ..Shape::default() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn options(tasks: u32, nodes: u32, each: u32, cpus: u32) -> Option<(u32, u32, Option<u32>)> {
        let given = |number: u32| (number > 0).then_some(number);
        let asked = Asked { tasks: given(tasks), nodes: given(nodes), cpus_per_task: given(each), ..Asked::default() };
        by_options(asked, cpus, 1, None).map(|shape| (shape.instances, shape.cpus, shape.machines))
    }

    #[test]
    fn a_job_that_got_more_nodes_than_it_asked_for_had_a_range() {
        let asked = |tasks| Asked { tasks, nodes: Some(2), ..Asked::default() };
        let of = |tasks, got| by_options(asked(tasks), 10, 2, got).map(|shape| (shape.instances, shape.machines));
        assert_eq!(of(Some(10), Some(2)), Some((10, Some(2))));
        assert_eq!(of(Some(10), Some(4)), Some((10, None)));
        assert_eq!(of(None, Some(4)), None, "nothing else is known");
        assert_eq!(of(Some(10), None), Some((10, Some(2))), "it has not run");
    }

    #[test]
    fn options_give_the_shape_if_they_account_for_the_cpus() {
        assert_eq!(options(8, 0, 0, 8), Some((8, 1, None)));
        assert_eq!(options(4, 0, 2, 8), Some((4, 2, None)));
        assert_eq!(options(0, 0, 4, 8), Some((2, 4, None)));
        assert_eq!(options(4, 0, 0, 8), Some((4, 2, None)), "two CPUs of a core each, or `-c` in the script");
        assert_eq!(options(1, 1, 8, 8), Some((1, 8, Some(1))));
        assert_eq!(options(0, 2, 0, 8), Some((2, 4, Some(2))));
        assert_eq!(options(10, 2, 0, 10), Some((10, 1, Some(2))));
        assert_eq!(options(0, 3, 0, 8), Some((8, 1, Some(3))));
        assert_eq!(options(4, 0, 4, 8), None, "the script overrides one of them");
        assert_eq!(options(3, 0, 0, 8), None);
        assert_eq!(options(0, 0, 0, 8), None);
    }

    #[test]
    fn unknown_shapes_are_assumed() {
        let world = |is_packed| World { is_packed, allocates_memory: true, largest: 16 };
        let of = |cpus, nodes, is_packed| {
            let shape = by_assumption(cpus, nodes, &world(is_packed));
            (shape.instances, shape.cpus, shape.machines, shape.assumed)
        };
        assert_eq!(of(8, Some(2), false), (8, 1, None, Some(SINGLE)));
        assert_eq!(of(8, Some(1), true), (1, 8, Some(1), Some(PACKED)));
        assert_eq!(of(32, Some(2), true), (2, 16, Some(2), Some(PACKED)));
        assert_eq!(of(32, Some(3), true), (32, 1, Some(3), Some(PACKED)));
        assert_eq!(of(32, None, true), (2, 16, Some(2), Some(PACKED)));
        assert_eq!(of(1, None, true), (1, 1, None, None), "there is nothing to assume");
    }
}
