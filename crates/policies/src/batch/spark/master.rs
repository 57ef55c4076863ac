//! The standalone master: which application gets executors on which workers (`Master.startExecutorsOnWorkers`, `RULES.md` §7).

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
    usable.sort_by(|a, b| b.free.cmp(&a.free));
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
