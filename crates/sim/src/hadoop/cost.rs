//! How long an attempt takes on its node: the `logged` cost model (`docs/model/locality.md`) and the reduce models
//! (`docs/model/reduces.md`).

use std::collections::BTreeMap;

use rand::RngExt;
use resched_tables::draws::{Purpose, stream};
use resched_tables::model::{Locality, Outcome};

use crate::cluster_file::{Backup, Cost, ReduceModel, Slow};
use crate::hadoop::cluster::Cluster;
use crate::hadoop::kind::Kind;
use crate::hadoop::logged::LoggedReduce;
use crate::hadoop::system::System;
use crate::hadoop::workload::{Job, Workload};
use crate::ids::{JobId, Ms, NodeId, TaskId};

/// Rumen's run time where it knows none, and for a negative one.
const UNKNOWN_RUN: Ms = 100;

/// Attempt times and outcomes given by hand for attempts that the trace does not hold, by task and attempt number. With
/// them, a replay can follow the record of another simulator, whose made-up values are otherwise unknown.
pub type Script = BTreeMap<(TaskId, u32), (Ms, Outcome)>;

/// How one attempt will go; policies never see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Course {
    pub(crate) outcome: Outcome,
    /// A map's whole run; a reduce's reduce phase.
    pub(crate) run: Ms,
    /// A reduce's sort.
    pub(crate) sort: Ms,
    /// A reduce's shuffle as logged, for a job whose shuffles are not.
    pub(crate) shuffle: Ms,
}

impl Course {
    fn slowed(self, slowness: f64) -> Self {
        let longer = |time: Ms| (time as f64 * slowness) as Ms;
        Self { run: longer(self.run), sort: longer(self.sort), ..self }
    }
}

/// The cost model of a replay.
pub(crate) struct CostModel<'w> {
    workload: &'w Workload,
    cluster: &'w Cluster,
    seed: u64,
    script: &'w Script,
    /// By how much everything takes longer, by node.
    slowness: Vec<f64>,
    observed: Vec<Option<Box<Observed>>>,
    everywhere: Option<Box<Observed>>,
}

impl<'w> CostModel<'w> {
    pub(crate) fn new(workload: &'w Workload, cluster: &'w Cluster, seed: u64, script: &'w Script) -> Self {
        let observed = workload.jobs().iter().map(|_| None).collect();
        let slowness = cluster.node_ids().map(|node| slowness(cluster, node, seed)).collect();
        Self { workload, cluster, seed, script, slowness, observed, everywhere: None }
    }

    /// How try number `attempt` at a task goes on a node if its input is at `level`; `backup` if another try runs.
    pub(crate) fn course(&mut self, task: TaskId, attempt: u32, level: Locality, node: NodeId, backup: bool) -> Course {
        let kind = self.workload.job(self.workload.job_of(task)).place(task).0;
        let course = match kind {
            _ if backup && self.cluster.config.cost.backup == Backup::Job => self.drawn(task, kind, attempt, level),
            Kind::Map => self.map(task, attempt, level),
            Kind::Reduce => self.reduce(task, attempt),
        };
        let slowness = self.slowness[node.index()] * self.straggling(task, attempt);
        if slowness == 1.0 { course } else { course.slowed(slowness) }
    }

    /// By how much longer this try takes than its task should, wherever it runs.
    fn straggling(&self, task: TaskId, attempt: u32) -> f64 {
        let Slow { share, factor } = self.cluster.config.cost.stragglers;
        let drawn = || stream(self.seed, Purpose::Straggler, &[u64::from(task.0), u64::from(attempt)]).random::<f64>();
        if share > 0.0 && drawn() < share { factor } else { 1.0 }
    }

    /// A try that succeeds after a run time drawn from the job's.
    fn drawn(&mut self, task: TaskId, kind: Kind, attempt: u32, level: Locality) -> Course {
        let (_, run) = self.made_up(task, kind, attempt, level);
        // The tries at a map are of another table.
        let tried = match kind {
            Kind::Map => None,
            Kind::Reduce => self
                .workload
                .logged_reduces(task)
                .iter()
                .find(|logged_reduce| logged_reduce.outcome == Outcome::Success),
        };
        let (shuffle, sort) = tried.map_or((0, 0), |logged| (logged.shuffle.max(0), self.sort(&logged)));
        Course { outcome: Outcome::Success, run: run.max(0), sort, shuffle }
    }

    fn map(&mut self, task: TaskId, attempt: u32, level: Locality) -> Course {
        let course = |outcome, run: Ms| Course { outcome, run: possible(run), sort: 0, shuffle: 0 };
        let tries = self.workload.logged_maps(task);
        let factors = &self.cluster.config.cost.locality;
        let logged = tries.get(attempt as usize);
        match logged {
            Some(logged) if logged.outcome == Outcome::Success => {
                return course(Outcome::Success, scaled(logged.run, level, logged.level, factors));
            }
            Some(logged) if logged.outcome == Outcome::Failed => return course(Outcome::Failed, logged.run),
            _ => {}
        }
        if let Some(&(run, outcome)) = self.script.get(&(task, attempt)) {
            return course(outcome, run);
        }
        // A try that the trace lost, or that only our schedule makes: the task's own success says best how long it takes.
        if let Some(success) = tries.iter().find(|success| success.outcome == Outcome::Success) {
            return course(Outcome::Success, scaled(success.run, level, success.level, factors));
        }
        let (outcome, run) = self.made_up(task, Kind::Map, attempt, level);
        course(outcome, run)
    }

    fn reduce(&mut self, task: TaskId, attempt: u32) -> Course {
        let tries = self.workload.logged_reduces(task);
        let as_logged = |logged_reduce: &LoggedReduce, run: Ms| Course {
            outcome: logged_reduce.outcome,
            run: possible(run),
            sort: self.sort(logged_reduce),
            shuffle: logged_reduce.shuffle.max(0),
        };
        let of_this = tries
            .get(attempt as usize)
            .filter(|of_attempt| matches!(of_attempt.outcome, Outcome::Success | Outcome::Failed));
        if let Some((logged, run)) = of_this.and_then(|logged| Some((logged, logged.reduce?))) {
            return as_logged(&logged, run);
        }
        let course = |outcome, run: Ms| Course { outcome, run: run.max(0), sort: 0, shuffle: 0 };
        if let Some(&(run, outcome)) = self.script.get(&(task, attempt)) {
            return course(outcome, run);
        }
        let success = tries.iter().find(|tried| tried.outcome == Outcome::Success && tried.reduce.is_some());
        if let (None, Some((success, run))) = (of_this, success.and_then(|tried| Some((tried, tried.reduce?)))) {
            return as_logged(&success, run);
        }
        // Rumen keeps the outcome of a try whose times cannot be, and draws its run time.
        let (_, run) = self.made_up(task, Kind::Reduce, attempt, Locality::Off);
        course(of_this.map_or(Outcome::Success, |logged| logged.outcome), run)
    }

    /// How long a reduce sorts. Mumak's model has no sort.
    fn sort(&self, logged_reduce: &LoggedReduce) -> Ms {
        if self.cluster.config.cost.reduce == ReduceModel::R0 { 0 } else { logged_reduce.sort.max(0) }
    }

    /// Outcome and run time drawn from what the job's other attempts did, by Rumen's rules; from all jobs' if it has none.
    fn made_up(&mut self, task: TaskId, kind: Kind, attempt: u32, level: Locality) -> (Outcome, Ms) {
        let job = self.workload.job_of(task);
        let workload = self.workload;
        let observed = self.observed[job.index()].get_or_insert_with(|| Box::new(Observed::of(workload, [job])));
        let mut draws = stream(self.seed, Purpose::MadeUpAttempt, &[u64::from(task.0), u64::from(attempt)]);
        let (fate, which, rank): (f64, f64, f64) = (draws.random(), draws.random(), draws.random());
        let succeeds = kind == Kind::Reduce || observed.succeeds(attempt, fate);
        let run = observed.draw(kind, level, which, rank).or_else(|| {
            let all = || Box::new(Observed::of(workload, (0..workload.jobs().len()).map(JobId::at)));
            self.everywhere.get_or_insert_with(all).draw(kind, level, which, rank)
        });
        (if succeeds { Outcome::Success } else { Outcome::Failed }, run.unwrap_or(UNKNOWN_RUN))
    }

    /// When a reduce of this job that started at `start` has all its input, and when it ends; `maps_done` is when the
    /// master learned that all maps are done. `None` if that is not known yet: before that instant, and in model R0 until its
    /// node has been reported; a container hears it from its job's master at once. A try that fails does so after its logged time,
    /// whatever the maps do.
    pub(crate) fn reduce_end(
        &self,
        job: JobId,
        start: Ms,
        maps_done: Option<Ms>,
        course: &Course,
        fluid: &Fluid,
    ) -> Option<(Ms, Ms)> {
        let model = self.cluster.config.cost.reduce;
        let shuffled = match model {
            ReduceModel::R0 if self.cluster.system() == System::Slots => return None,
            ReduceModel::R0 => start.max(maps_done?),
            _ if course.outcome == Outcome::Failed => start + course.shuffle,
            // Its work is followed as it goes on (`crate::contention`).
            _ if self.cluster.config.cost.contention.is_some() => return None,
            ReduceModel::R1 => {
                let (job, maps_done) = (self.workload.job(job), maps_done?);
                if start < maps_done {
                    maps_done + job.first_shuffle.or(job.typical_shuffle).unwrap_or(0)
                } else {
                    start + job.typical_shuffle.unwrap_or(course.shuffle)
                }
            }
            ReduceModel::R2 => fluid.end(start).max(maps_done?),
        };
        Some((shuffled, shuffled + course.sort + course.run))
    }
}

/// By how much everything takes longer on a node.
fn slowness(cluster: &Cluster, node: NodeId, seed: u64) -> f64 {
    let Cost { slow_nodes: Slow { share, factor }, host_factors, .. } = &cluster.config.cost;
    let drawn = || stream(seed, Purpose::SlowNode, &[u64::from(node.0)]).random::<f64>();
    let known = host_factors.get(cluster.node(node).original()).copied();
    known.unwrap_or_else(|| if *share > 0.0 && drawn() < *share { *factor } else { 1.0 })
}

/// How long the successful try of a task takes, ms, if nothing stands in its way: a map beside its input, a reduce after
/// all maps of its job. `None` if the log holds no success.
pub(crate) fn undisturbed(workload: &Workload, cluster: &Cluster, task: TaskId) -> Option<Ms> {
    let cost = &cluster.config.cost;
    let job = workload.job(workload.job_of(task));
    Some(match job.place(task).0 {
        Kind::Map => {
            let success = workload.logged_maps(task).iter().find(|success| success.outcome == Outcome::Success)?;
            possible(scaled(success.run, Locality::Node, success.level, &cost.locality))
        }
        Kind::Reduce => {
            let success = workload.logged_reduces(task).iter().find(|success| success.outcome == Outcome::Success)?;
            let logged = possible(success.reduce?);
            match cost.reduce {
                ReduceModel::R0 => logged,
                ReduceModel::R1 => job.typical_shuffle.unwrap_or(success.shuffle).max(0) + success.sort.max(0) + logged,
                ReduceModel::R2 => shuffle_alone(job, cost.shuffle_rate) + success.sort.max(0) + logged,
            }
        }
    })
}

/// A run time, or Rumen's value for one that cannot be.
fn possible(run: Ms) -> Ms {
    if run < 0 { UNKNOWN_RUN } else { run }
}

/// How long a reduce fetches its share of what the maps have made, ms, at so many bytes per second.
fn shuffle_alone(job: &Job, bytes_per_second: f64) -> Ms {
    let mut fluid = Fluid::new(bytes_per_second);
    fluid.map_ended(0, job.shuffle_bytes.unwrap_or(0).max(0) as f64 / f64::from(job.count(Kind::Reduce).max(1)));
    fluid.end(0)
}

/// Rumen's scaling of a run time from one level to another, truncated to whole ms.
fn scaled(run: Ms, level: Locality, logged: Locality, factors: &[f64; 3]) -> Ms {
    if level == logged {
        return run;
    }
    (run as f64 * (factors[level.index()] / factors[logged.index()])) as Ms
}

/// How many maps must be finished before the reduces of a job of `maps` maps may start (`docs/model/phases.md`).
pub fn slowstart_threshold(fraction: f64, maps: u32) -> u32 {
    (fraction * f64::from(maps)).ceil() as u32
}

/// What the successful attempts of some jobs took.
#[derive(Debug, Default)]
struct Observed {
    maps: [Cdf; 3],
    reduces: Cdf,
    /// How many maps succeeded at their first, second, … try.
    tries: Vec<u32>,
}

impl Observed {
    fn of(workload: &Workload, jobs: impl IntoIterator<Item = JobId>) -> Self {
        let (mut maps, mut reduces) = ([Vec::new(), Vec::new(), Vec::new()], Vec::new());
        let mut tries: Vec<u32> = Vec::new();
        for job in jobs {
            let job = workload.job(job);
            for task in job.maps.clone().map(TaskId) {
                let logged = workload.logged_maps(task);
                let success = logged.iter().find(|tried| tried.outcome == Outcome::Success);
                if let Some(succeeded) = success {
                    maps[succeeded.level.index()].push(succeeded.run);
                    let failed = logged.iter().filter(|tried| tried.outcome == Outcome::Failed).count();
                    tries.resize(tries.len().max(failed + 1), 0);
                    tries[failed] += 1;
                }
            }
            for task in job.reduces.clone().map(TaskId) {
                let logged = workload.logged_reduces(task);
                reduces.extend(
                    logged.iter().find(|tried| tried.outcome == Outcome::Success).and_then(|tried| tried.reduce),
                );
            }
        }
        Self { maps: maps.map(Cdf::of), reduces: Cdf::of(reduces), tries }
    }

    /// True if a made-up try succeeds: `tries[k] / Σ_{i≥k} tries[i]`; the last known one always does.
    fn succeeds(&self, attempt: u32, fate: f64) -> bool {
        let later = self.tries.get(attempt as usize..).unwrap_or(&[]);
        let total: u32 = later.iter().sum();
        later.first().is_none_or(|&first| fate * f64::from(total) < f64::from(first))
    }

    fn draw(&self, kind: Kind, level: Locality, which: f64, rank: f64) -> Option<Ms> {
        match kind {
            Kind::Reduce => self.reduces.at(rank),
            Kind::Map => self.maps[level.index()].at(rank).or_else(|| {
                let counts = self.maps.each_ref().map(|cdf| cdf.values as f64);
                let mut left = which * counts.iter().sum::<f64>();
                let group = counts.iter().position(|&count| {
                    left -= count;
                    left < 0.0
                })?;
                self.maps[group].at(rank)
            }),
        }
    }
}

/// Rumen's distribution of run times: the minimum, 19 percentiles (5, 10, … 95 %) and the maximum (`docs/model/locality.md`).
#[derive(Debug, Default)]
struct Cdf {
    values: usize,
    ranks: Vec<Ms>,
}

impl Cdf {
    fn of(mut times: Vec<Ms>) -> Self {
        times.sort_unstable();
        let last = times.len().saturating_sub(1);
        let percentile = |percent: usize| times.get((percent * times.len()).div_ceil(100).saturating_sub(1).min(last));
        let ranks = (0..=20).filter_map(|step| percentile(5 * step)).copied().collect();
        Self { values: times.len(), ranks }
    }

    /// The time at a rank from 0 to 1, linear between the known ones.
    fn at(&self, rank: f64) -> Option<Ms> {
        let place = rank * 20.0;
        let low = *self.ranks.get(place as usize)? as f64;
        let high = *self.ranks.get(place as usize + 1).or(self.ranks.last())? as f64;
        Some((low + (high - low) * place.fract()) as Ms)
    }
}

/// The fluid shuffle of a job (`docs/model/reduces.md`, R2): a work-conserving server with staged arrivals.
///
/// With map ends `t_1 ≤ … ≤ t_M`, `b_k` the bytes per reduce made by maps before k, and rate `s`:
/// `shuffle end = B/s + max(start, G)` with `G = max_k (t_k − b_k/s)`.
#[derive(Debug, Clone, Default)]
pub struct Fluid {
    /// `G` so far, ms.
    latest: f64,
    /// Bytes per reduce so far.
    made: f64,
    /// Bytes per ms.
    rate: f64,
}

impl Fluid {
    /// A shuffle at so many bytes per second per reduce.
    pub fn new(bytes_per_second: f64) -> Self {
        Self { latest: 0.0, made: 0.0, rate: bytes_per_second / 1000.0 }
    }

    /// A map ended at `at` and made so many bytes for each reduce.
    pub fn map_ended(&mut self, at: Ms, bytes: f64) {
        self.latest = self.latest.max(at as f64 - self.made / self.rate);
        self.made += bytes;
    }

    /// A map whose output was lost ended again at `at`, and made as many bytes for each reduce as before: they come last now.
    pub fn map_redone(&mut self, at: Ms, bytes: f64) {
        self.latest = self.latest.max(at as f64 - (self.made - bytes) / self.rate);
    }

    /// Bytes that the maps made for each reduce so far.
    pub(crate) fn made(&self) -> f64 {
        self.made
    }

    /// How long these take to fetch, ms.
    pub(crate) fn time(&self) -> f64 {
        self.time_of(self.made)
    }

    /// How long so many bytes take to fetch, ms.
    pub(crate) fn time_of(&self, bytes: f64) -> f64 {
        bytes / self.rate
    }

    /// When a reduce that started at `start` has all that was made, ms.
    pub fn end(&self, start: Ms) -> Ms {
        whole(self.made / self.rate + self.latest.max(start as f64))
    }
}

/// The whole ms in which so many are over; what rounding adds does not make it one more.
pub(crate) fn whole(time: f64) -> Ms {
    (time - 1e-6).ceil() as Ms
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::cluster_file::ClusterConfig;
    use crate::hadoop::logged::LoggedMap;
    use crate::hadoop::resources::Resources;
    use crate::hadoop::workload::TaskSpec;
    use resched_tables::model::Priority;

    #[test]
    fn slowstart_is_rounded_up_to_whole_maps() {
        for (maps, threshold) in [(427, 22), (8, 1), (148, 8), (0, 0)] {
            assert_eq!(slowstart_threshold(0.05, maps), threshold, "{maps} maps");
        }
    }

    #[test]
    fn run_time_scales_with_locality_and_is_truncated() {
        let factors = [1.0, 1.5, 3.0];
        assert_eq!(scaled(6_401, Locality::Rack, Locality::Node, &factors), 9_601);
        assert_eq!(scaled(9_001, Locality::Node, Locality::Off, &factors), 3_000);
        assert_eq!(scaled(9_001, Locality::Rack, Locality::Rack, &factors), 9_001);
    }

    #[test]
    fn cdf_is_linear_between_minimum_percentiles_and_maximum() {
        let cdf = Cdf::of((1..=100).collect());
        assert_eq!(cdf.at(0.0), Some(1));
        assert_eq!(cdf.at(0.5), Some(50));
        assert_eq!(cdf.at(0.525), Some(52));
        assert_eq!(cdf.at(0.999_999), Some(99));
        assert_eq!(Cdf::of(Vec::new()).at(0.5), None);
        assert_eq!(Cdf::of(vec![7]).at(0.9), Some(7));
    }

    #[test]
    fn a_made_up_try_succeeds_as_often_as_those_that_came_as_far() {
        let observed = Observed { tries: vec![6, 3, 1], ..Observed::default() };
        assert!(observed.succeeds(0, 0.59) && !observed.succeeds(0, 0.61));
        assert!(observed.succeeds(1, 0.74) && !observed.succeeds(1, 0.76));
        assert!(observed.succeeds(2, 0.99), "the last one always succeeds");
        assert!(Observed::default().succeeds(0, 0.99), "nothing is known against it");
    }

    fn machine() -> (String, String, Resources) {
        ("n0".to_owned(), "/r0".to_owned(), Resources::slots(1, 1))
    }

    /// A job of two maps, the second of which never succeeded, and two reduces.
    fn two_maps_and_two_reduces() -> Workload {
        let success = Outcome::Success;
        let failed = LoggedMap { outcome: Outcome::Failed, level: Locality::Node, run: 1 };
        let rack = LoggedMap { outcome: success, level: Locality::Rack, run: 9_000 };
        let reduce = LoggedReduce { outcome: success, shuffle: 70, sort: 300, reduce: Some(5_000) };
        let job = Job {
            id: "job_1_0001".to_owned(),
            name: None,
            user: String::new(),
            queue: String::new(),
            priority: Priority::Normal,
            submit: 0,
            shuffle_bytes: Some(40_000),
            first_shuffle: None,
            typical_shuffle: Some(20),
            edges: crate::hadoop::workload::Edges::default(),
            incomplete: false,
            succeeded: false,
            maps: 0..0,
            reduces: 0..0,
            further: Default::default(),
        };
        let map = |tries: &[LoggedMap]| TaskSpec { map_tries: tries.to_vec(), ..TaskSpec::default() };
        let reduce = TaskSpec { reduce_tries: vec![reduce], ..TaskSpec::default() };
        let mut workload = Workload::default();
        workload.push(job, &[map(&[failed, rack]), map(&[failed])], &[reduce.clone(), reduce]);
        workload.arrange(0);
        workload
    }

    #[test]
    fn an_undisturbed_task_is_near_its_input_and_after_all_maps() {
        let workload = two_maps_and_two_reduces();
        let times = |model, rate| -> Vec<Option<Ms>> {
            let mut config = ClusterConfig::default();
            (config.cost.reduce, config.cost.shuffle_rate) = (model, rate);
            let cluster = Cluster::new(config, [machine()]).unwrap();
            (0..3).map(|task| undisturbed(&workload, &cluster, TaskId(task))).collect()
        };
        assert_eq!(times(ReduceModel::R0, 1e3), [Some(6_000), None, Some(5_000)]);
        assert_eq!(times(ReduceModel::R1, 1e3), [Some(6_000), None, Some(5_320)]);
        assert_eq!(times(ReduceModel::R2, 1e3), [Some(6_000), None, Some(25_300)], "20,000 bytes at 1,000 a second");
    }

    /// Mumak's model ends a reduce without its sort, so a sort in its row would lie after its end.
    #[test]
    fn a_backup_of_a_reduce_sorts_only_if_its_model_does() {
        let (workload, script) = (two_maps_and_two_reduces(), Script::new());
        for (model, sort) in [(ReduceModel::R0, 0), (ReduceModel::R1, 300), (ReduceModel::R2, 300)] {
            let mut config = ClusterConfig::default();
            (config.cost.reduce, config.cost.backup) = (model, Backup::Job);
            let cluster = Cluster::new(config, [machine()]).unwrap();
            let course =
                CostModel::new(&workload, &cluster, 1, &script).course(TaskId(2), 1, Locality::Off, NodeId(0), true);
            assert_eq!((course.outcome, course.run, course.sort), (Outcome::Success, 5_000, sort), "{model:?}");
        }
    }

    #[test]
    fn fluid_shuffle() {
        let mut fluid = Fluid::new(2e6);
        for end in [10_000, 20_000, 30_000] {
            fluid.map_ended(end, 10e6);
        }
        assert_eq!(fluid.end(12_000), 35_000);
        assert_eq!(fluid.end(40_000), 55_000);
        assert_eq!(fluid.end(0), 35_000);
    }
}
