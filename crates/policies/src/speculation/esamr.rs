//! ESAMR, also known as K-SAMR: SAMR with stage weights from clusters of past jobs (`docs/model/speculators.md`).
//!
//! **What it does.** Stage weights differ by the kind of job, so each node remembers those of its past jobs in k
//! clusters. Once enough tasks of a job are done, the weights are those of the cluster nearest to the stage shares of
//! these tasks on the node. Before that, they are the mean of all clusters. A task is slow if its time to end is well
//! above the mean of its job and kind. The slow task with the longest time to end gets a second attempt on a node that
//! is not slow for that kind, unless too many backups run.
//!
//! **Source.** ESAMR (ICPADS 2012); the same algorithm as K-SAMR (Computer Engineering and Applications 2013, no. 19).
//! Decisions: whether enough tasks are done is counted over the job. Their stage shares are the mean on the node, or in
//! the whole job if none was done there. The mean time to end is that of the job's running tasks that have made
//! progress. A node's clusters come from its latest records; a node without records uses LATE's weights. Slow nodes and
//! the limit on backups are as in SAMR, but any number of nodes may be slow.

use rand::Rng;
use resched_sim::hadoop::{AttemptEnd, Kind, View};
use resched_sim::{JobId, Ms, NodeId};
use resched_tables::draws::Purpose;

use super::node_tally::NodeTally;
use super::running::{Running, longest_first};
use super::samr::{SlowTrackers, has_room};
use super::when_asked::{Judge, WhenAsked};
use super::{MIN_RUN, SpeculatorInfo};
use crate::parts::by_id::{ByJob, ByNode};
use crate::parts::k_means::{k_means, nearest};
use crate::parts::statistics::Moments;
use crate::parts::task_progress::{StageWeights, WeightSum, progress_rate};
use crate::settings::settings;

/// Its entry in the registry.
pub(crate) const INFO: SpeculatorInfo = SpeculatorInfo {
    name: "esamr",
    title: "ESAMR, or K-SAMR: SAMR with stage weights from clusters of past jobs",
    source: "ESAMR: An Enhanced Self-Adaptive MapReduce Scheduling Algorithm (ICPADS 2012)",
    parameters: Settings::PARAMETERS,
    build: |values| Ok(Box::new(Esamr::new(Settings::read(values)?))),
};

settings! {
    /// What you can set.
    struct Settings {
        /// clusters of stage weights on each node
        clusters: usize = "k" { default: 10, range: 1..=1_000, unit: "clusters" },
        /// share of a job's maps that must be done before they choose a cluster
        maps_done: f64 = "PFM" { default: 0.2, range: 0..=1 },
        /// share of a job's reduces that must be done before they choose a cluster
        reduces_done: f64 = "PFR" { default: 0.2, range: 0..=1 },
        /// how far a slow task's time to end is above the mean, as a share of the mean
        slow_task: f64 = "STT" { default: 0.4, range: 0..=1e6 },
        /// how far a slow node's rate is below the mean, as a share of the mean
        slow_node: f64 = "SNT" { default: 0.2, range: 0..=0.9999 },
        /// most backups of a kind, as a share of its running attempts
        backups: f64 = "BP" { default: 0.2, range: 0..=0.9999 },
        /// number of latest jobs that each node remembers
        records: usize = "records" { default: 100, range: 1..=10_000, unit: "jobs" },
        min_run: Ms = MIN_RUN,
    }
}

/// How it judges.
#[derive(Debug)]
struct Esamr {
    history: History,
    slow_task: f64,
    slow_nodes: SlowTrackers,
    backups: f64,
    min_run: Ms,
}

/// The nodes' memory of past jobs, and the results of the present jobs.
#[derive(Debug)]
struct History {
    rules: Rules,
    nodes: [ByNode<Memory>; 2],
    jobs: ByJob<[JobTally; 2]>,
}

impl History {
    /// By which weights a node's attempts of a job are scored.
    fn weights(&self, view: View<'_>, node: NodeId, (job, kind): (JobId, Kind)) -> StageWeights {
        let seen = view.job(job);
        let done = f64::from(seen.finished(kind)) / f64::from(seen.desired(kind).max(1));
        let enough = done > self.rules.done[kind.index()];
        let observed = if enough { self.jobs[job][kind.index()].observed(node) } else { None };
        self.nodes[kind.index()][node].weights(observed).unwrap_or(StageWeights::fixed(kind))
    }

    /// The job's mean weights become a record of each node that ran tasks of it.
    fn record(&mut self, job: JobId, view: View<'_>) {
        for (tally, nodes) in self.jobs.take(job).into_iter().zip(&mut self.nodes) {
            for (node, observed) in tally.nodes {
                if let Some(weights) = observed.mean() {
                    let entity = [node.index() as u64, job.index() as u64];
                    let mut draws = view.draws(Purpose::ClusterStart, &entity);
                    nodes[node].record(weights, &self.rules, &mut draws);
                }
            }
        }
    }
}

/// How weights are learned.
#[derive(Debug, Clone, Copy)]
struct Rules {
    k: usize,
    /// Which share of a job's maps, and of its reduces, must be done.
    done: [f64; 2],
    records: usize,
}

/// A node's memory of a kind of task.
#[derive(Debug, Clone, Default)]
struct Memory {
    /// The mean weights of past jobs there, the latest last.
    records: Vec<StageWeights>,
    clusters: Vec<StageWeights>,
}

impl Memory {
    /// One more job has ended.
    fn record(&mut self, weights: StageWeights, rules: &Rules, draws: &mut impl Rng) {
        if self.records.len() == rules.records {
            self.records.remove(0);
        }
        self.records.push(weights);
        self.clusters = k_means(&self.records, rules.k, draws);
    }

    /// The weights of a job whose tasks took so much up to now; `None` if too few of them are done to say.
    fn weights(&self, observed: Option<StageWeights>) -> Option<StageWeights> {
        match observed {
            Some(observed) => nearest(&self.clusters, &observed).map(|place| self.clusters[place]),
            None => self.clusters.iter().collect::<WeightSum>().mean(),
        }
    }
}

/// What the attempts of a job and kind that succeeded did.
#[derive(Debug, Default)]
struct JobTally {
    rates: NodeTally,
    everywhere: WeightSum,
    nodes: Vec<(NodeId, WeightSum)>,
}

impl JobTally {
    fn add(&mut self, node: NodeId, observed: &StageWeights) {
        self.everywhere.add(observed);
        let place = self.nodes.partition_point(|(other, _)| *other < node);
        if self.nodes.get(place).is_none_or(|(other, _)| *other != node) {
            self.nodes.insert(place, (node, WeightSum::default()));
        }
        self.nodes[place].1.add(observed);
    }

    /// The mean on a node, or everywhere if nothing was observed there.
    fn observed(&self, node: NodeId) -> Option<StageWeights> {
        let place = self.nodes.binary_search_by_key(&node, |(other, _)| *other);
        place.map_or(&self.everywhere, |place| &self.nodes[place].1).mean()
    }
}

impl Esamr {
    fn new(settings: Settings) -> WhenAsked<Self> {
        let rules = Rules {
            k: settings.clusters,
            done: [settings.maps_done, settings.reduces_done],
            records: settings.records,
        };
        WhenAsked::new(Self {
            history: History { rules, nodes: Default::default(), jobs: ByJob::default() },
            slow_task: settings.slow_task,
            slow_nodes: SlowTrackers::new(settings.slow_node, 1.0),
            backups: settings.backups,
            min_run: settings.min_run,
        })
    }
}

/// True if a time to end exceeds the mean by more than such a share of it.
fn is_slow(time_to_end: f64, mean: f64, share: f64) -> bool {
    time_to_end > (1.0 + share) * mean
}

impl Judge for Esamr {
    fn has_room(&self, view: View<'_>, kind: Kind) -> bool {
        has_room(view, kind, self.backups)
    }

    fn weights(&self, view: View<'_>, node: NodeId, of: (JobId, Kind)) -> StageWeights {
        self.history.weights(view, node, of)
    }

    fn keep_slow(&mut self, _view: View<'_>, _of: (JobId, Kind), running: &mut Vec<Running>) {
        let known = running.iter().map(Running::time_to_end).filter(|time| time.is_finite());
        let mean = Moments::default().with(known).mean().unwrap_or(f64::INFINITY);
        running.retain(|task| task.can_be_backed_up(self.min_run) && is_slow(task.time_to_end(), mean, self.slow_task));
        longest_first(running);
    }

    fn may_serve_job(&mut self, view: View<'_>, node: NodeId, of: (JobId, Kind)) -> bool {
        let rates = &self.history.jobs[of.0][of.1.index()].rates;
        !self.slow_nodes.contain(view, node, of, rates, |node| self.history.weights(view, node, of))
    }

    fn task_succeeded(&mut self, ended: &AttemptEnd) {
        let tally = &mut self.history.jobs[ended.job][ended.kind.index()];
        tally.rates.add(ended.node, progress_rate(1.0, ended.finish - ended.start));
        if let Some(observed) = StageWeights::observed(ended) {
            tally.add(ended.node, &observed);
        }
    }

    fn job_finished(&mut self, job: JobId, view: View<'_>) {
        self.history.record(job, view);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use resched_tables::draws::stream;

    fn map(m1: f64) -> StageWeights {
        StageWeights([m1, 1.0 - m1, 0.0])
    }

    fn draws() -> impl Rng {
        stream(1, Purpose::ClusterStart, &[])
    }

    #[test]
    fn the_nearest_cluster_supplies_the_weights_or_else_the_mean_of_all() {
        let memory = Memory { records: Vec::new(), clusters: [0.95, 0.70, 0.50].map(map).to_vec() };
        // 21 of 100 maps are done, with a mean M1 of 0.66.
        let mut done = WeightSum::default();
        (0..21).for_each(|n| done.add(&map(0.66 + f64::from(n - 10) / 1000.0)));
        assert!((memory.weights(done.mean()).unwrap().0[1] - 0.30).abs() < 1e-12);
        // With 15 done there are too few.
        assert!((memory.weights(None).unwrap().0[0] - 0.7167).abs() < 1e-4);
        assert_eq!(Memory::default().weights(None), None);
    }

    #[test]
    fn a_slow_task_takes_longer_than_the_mean_by_more_than_the_threshold() {
        let times = [100.0, 100.0, 100.0, 240.0];
        let mean = Moments::default().with(times.into_iter()).mean().unwrap();
        assert_eq!(mean, 135.0);
        assert!(is_slow(240.0, mean, 0.4) && !is_slow(189.0, mean, 0.4) && !is_slow(100.0, mean, 0.4));
    }

    /// What is compared: the stage weights that a node has learned after n jobs with one task each there. ESAMR's only
    /// cluster is the mean of the n records; SAMR's history, mixed with HP = (n − 1)/n at the n-th task, is their running mean.
    #[test]
    fn d_esamr_with_one_cluster_learns_what_samr_does_with_a_history_that_averages() {
        let rules = Rules { k: 1, done: [0.2; 2], records: 1_000 };
        let mut memory = Memory::default();
        let mut history = StageWeights::fixed(Kind::Reduce);
        for n in 1..=50_u32 {
            let (copy, sort) = (f64::from(n * 13 % 29) / 60.0, f64::from(n * 7 % 23) / 60.0);
            let observed = StageWeights([copy, sort, 1.0 - copy - sort]);
            memory.record(observed, &rules, &mut draws());
            history = history.mixed(f64::from(n - 1) / f64::from(n), &observed);
            for weights in [memory.weights(None), memory.weights(Some(observed))] {
                let weights = weights.unwrap();
                assert!((0..3).all(|stage| (weights.0[stage] - history.0[stage]).abs() < 1e-12), "after {n}");
            }
        }
    }

    #[test]
    fn a_node_remembers_its_latest_jobs_only() {
        let rules = Rules { k: 10, done: [0.2; 2], records: 2 };
        let mut memory = Memory::default();
        [0.1, 0.5, 0.9].map(map).into_iter().for_each(|weights| memory.record(weights, &rules, &mut draws()));
        assert_eq!(memory.records, [0.5, 0.9].map(map));
        assert!((memory.weights(None).unwrap().0[0] - 0.7).abs() < 1e-12);
    }
}
