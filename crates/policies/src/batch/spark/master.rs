//! The standalone master: which application gets executors on which workers (Spark's `Master.startExecutorsOnWorkers`).

use std::cmp::Reverse;

use resched_sim::NodeId;

/// A machine that runs executors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Worker {
    pub(super) node: NodeId,
    /// Its free cores.
    pub(super) free: u64,
}

/// What an application asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    /// Cores that it may still get.
    pub(super) cores: u64,
    /// Cores of an executor; `None`: all that it gets of a worker.
    pub(super) each: Option<u64>,
}

/// The executors that an application gets, each with its cores: `scheduleExecutorsOnWorkers`. With `spread_out`, they are dealt
/// out one a worker in turn, else a worker is filled first. The workers with the most free cores come first.
pub(super) fn executors(asked: Asked, workers: &[Worker], spread_out: bool) -> Vec<(NodeId, u64)> {
    let least = asked.each.unwrap_or(1).max(1);
    let mut usable: Vec<Worker> = workers.iter().copied().filter(|worker| worker.free >= least).collect();
    usable.sort_by_key(|worker| Reverse(worker.free));
    let mut left = asked.cores.min(usable.iter().map(|worker| worker.free).sum());
    let mut given = vec![0; usable.len()];
    let fits = |left: u64, worker: &Worker, given: u64| left >= least && worker.free - given >= least;
    let mut open: Vec<usize> = (0..usable.len()).collect();
    while !open.is_empty() {
        for &place in &open {
            while fits(left, &usable[place], given[place]) {
                left -= least;
                given[place] += least;
                if spread_out {
                    break;
                }
            }
        }
        open.retain(|&place| fits(left, &usable[place], given[place]));
    }
    let split = |(worker, cores): (&Worker, u64)| {
        let each = asked.each.unwrap_or(cores).max(1);
        let node = worker.node;
        (0..cores / each).map(move |_| (node, each))
    };
    usable.iter().zip(given).flat_map(split).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use resched_sim::batch::{Job, JobSpec, Machines, StageSpec, TaskSpec, Try, Workload, replay};
    use resched_sim::{Resources, Violation};
    use resched_tables::model::Outcome;

    use super::*;

    /// Gives the ids of some machines, which only the engine makes.
    fn nodes(count: u32) -> Vec<NodeId> {
        #[derive(Default)]
        struct Looks(Vec<NodeId>);
        impl resched_sim::batch::Policy for Looks {
            fn task_waits(&mut self, task: resched_sim::TaskId, view: resched_sim::batch::View<'_>) {
                assert_eq!(view.waiting(task), 1);
                self.0 = view.nodes().map(|(node, _)| node).collect();
            }

            fn schedule(&mut self, _: &mut resched_sim::batch::Offer<'_, '_>) -> Result<(), Violation> {
                Ok(())
            }
        }
        let one = Resources { cpu: 1, memory: 0 };
        let tries = vec![Try { outcome: Outcome::Success, run: 1 }];
        let task = TaskSpec { name: "t".to_owned(), demand: one, instances: 1, tries, ..TaskSpec::default() };
        let stage = StageSpec { tasks: vec![task], ..StageSpec::default() };
        let job = JobSpec { job: Job::default(), after: Vec::new(), stages: vec![stage] };
        let (workload, _) = Workload::new(vec![job], 0).unwrap();
        let machines = Machines::alike(count, one, resched_sim::cluster_file::Placement::FirstFit);
        let mut looks = Looks::default();
        replay(&workload, &machines, ("looks", &mut looks), &mut (), &mut |_| {}).unwrap();
        looks.0
    }

    /// The places of the workers of executors with these asked cores, and the cores of each.
    fn given(asked: (u64, Option<u64>), free: &[u64], spread_out: bool) -> Vec<(usize, u64)> {
        let nodes = nodes(free.len() as u32);
        let workers: Vec<Worker> = nodes.iter().zip(free).map(|(&node, &free)| Worker { node, free }).collect();
        let found = executors(Asked { cores: asked.0, each: asked.1 }, &workers, spread_out);
        found.into_iter().map(|(node, cores)| (node.index(), cores)).collect()
    }

    #[test]
    fn executors_are_dealt_out_or_fill_one_worker_after_the_other() {
        assert_eq!(given((4, Some(2)), &[4, 4, 4], true), [(0, 2), (1, 2)]);
        assert_eq!(given((4, Some(2)), &[4, 4, 4], false), [(0, 2), (0, 2)]);
        assert_eq!(given((8, Some(2)), &[4, 4, 4], true), [(0, 2), (0, 2), (1, 2), (2, 2)]);
    }

    #[test]
    fn workers_with_the_most_free_cores_come_first_and_small_ones_are_left_out() {
        assert_eq!(given((4, Some(2)), &[2, 1, 4], true), [(2, 2), (0, 2)]);
        assert_eq!(given((9, Some(2)), &[1, 1, 3], true), [(2, 2)]);
        assert_eq!(given((1, Some(2)), &[4], true), []);
    }

    #[test]
    fn without_a_size_an_executor_has_all_that_its_application_gets_of_a_worker() {
        assert_eq!(given((5, None), &[4, 4], true), [(0, 3), (1, 2)]);
        assert_eq!(given((5, None), &[4, 4], false), [(0, 4), (1, 1)]);
        assert_eq!(given((u64::MAX, None), &[4, 4], true), [(0, 4), (1, 4)]);
    }
}
