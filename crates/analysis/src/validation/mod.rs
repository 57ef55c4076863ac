//! The error of a replay against what really ran.
//!
//! The trace is replayed under the scheduler that ran it. Every difference is then an error of the model or of its parameters, or it
//! has a cause that the trace does not show (other jobs, failures, the scheduler's settings). Jobs are matched by id. Each run has
//! its own clock, which starts at the first submission of the jobs that both share.
//!
//! The errors of completion times and makespan are over jobs that ended well in both runs. The errors of map run times, locality and
//! utilisation are over all jobs that are in both, because a job that failed held slots too.

mod doubts;
mod guess;
pub mod log;
mod phases;
mod quantities;
mod starts;
mod twin;

use std::collections::{BTreeMap, BTreeSet};

use resched_tables::model::{Outcome, TaskKind};
use resched_tables::standing::Standing;
use serde::Serialize;

use crate::runs::jobs::JobMetrics;
use crate::runs::run::Run;
use crate::runs::spans::Interval;
use crate::statistics::distribution::{Distribution, mean};
use crate::time::timeline::running_tasks;
pub use doubts::{doubt, doubts};
pub use guess::{Guess, guess};
pub use phases::{PHASES, PhaseError, SizeClass, phases_of};
pub use quantities::{MOST_ERROR, ModelError, QUANTITIES, QuantityError, model_error};
pub use starts::{StartError, WITHIN_MS, critical_distance};
pub use twin::{RecognisedBy, Twins, rename_as};

/// Relative errors of one quantity over several jobs; with `s` replayed and `o` observed, the error of a job is
/// `(s − o) / o`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RelativeError {
    /// The median of `|s − o| / o`.
    pub median: f64,
    /// The 90th percentile of `|s − o| / o`.
    pub p90: f64,
    /// The mean of `|s − o| / o`.
    pub mean: f64,
    /// The mean of `(s − o) / o`: above 0, the replay is too slow.
    pub mean_signed: f64,
}

/// The makespan of the jobs compared, last completion − first submission.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MakespanError {
    /// The observed makespan, ms.
    pub observed_ms: i64,
    /// The makespan of the replay, ms.
    pub replayed_ms: i64,
    /// `(replayed − observed) / observed`.
    pub relative: f64,
}

/// Where maps were launched. Only jobs with known places of input count.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LocalityError {
    /// Shares (0 to 1) of the observed map launches on a node with the input, in its rack and elsewhere.
    pub observed: [f64; 3],
    /// The shares in the replay.
    pub replayed: [f64; 3],
    /// `replayed − observed` in percentage points.
    pub points: [f64; 3],
}

/// The errors of a replay against what really ran; `None` if an error is unknown.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Validation {
    /// Jobs that ended well in both.
    pub jobs_compared: u64,
    /// The number of other jobs of the trace, by cause.
    pub not_compared: BTreeMap<String, u64>,
    /// The errors of the quantities that policies are compared in, by name ([`QUANTITIES`]).
    pub quantities: BTreeMap<&'static str, QuantityError>,
    /// The errors of the completion times of single jobs ([`crate::metrics::formulas::completion_time`]).
    pub completion: Option<RelativeError>,
    /// The errors of all jobs, then by size, each by phase.
    pub by_size: Vec<SizeClass>,
    /// The error of the makespan.
    pub makespan: Option<MakespanError>,
    /// How near to what was observed the jobs start.
    pub starts: Option<StartError>,
    /// The distance of the distributions of completion times ([`Distribution::ks_distance`]).
    pub completion_ks: Option<f64>,
    /// The distance of the distributions of waiting times.
    pub waiting_ks: Option<f64>,
    /// The distance from which on distributions of so many jobs differ at a level of 5 % ([`critical_distance`]).
    pub critical_ks: Option<f64>,
    /// The distance of the distributions of the run times of successful map attempts.
    pub map_time_ks: Option<f64>,
    /// The error of the locality of maps.
    pub locality: Option<LocalityError>,
    /// [`utilisation_error`] of the map slots. It exceeds 1 only if more maps ran than the cluster of the replay has slots.
    pub map_utilisation: Option<f64>,
    /// [`utilisation_error`] of the reduce slots.
    pub reduce_utilisation: Option<f64>,
    /// The jobs that were compared, in the order of the trace.
    #[serde(skip)]
    pub jobs: Vec<ComparedJob>,
}

/// The completion of a job, observed and replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparedJob {
    /// Its row among the observed jobs.
    pub row: usize,
    /// When it was submitted, by the trace's clock, ms.
    pub submit: i64,
    /// The observed completion time, ms; above 0.
    pub observed: i64,
    /// The completion time in the replay, ms.
    pub replayed: i64,
}

impl ComparedJob {
    /// `ln(replayed / observed)`.
    fn log_error(&self) -> f64 {
        (self.replayed.max(1) as f64 / self.observed.max(1) as f64).ln()
    }
}

impl Validation {
    /// The errors by name, in the order of a report: ratios, KS distances and, for locality, percentage points.
    pub fn errors(&self) -> Vec<(&'static str, Option<f64>)> {
        let completion = |pick: fn(&RelativeError) -> f64| self.completion.as_ref().map(pick);
        let within = |place: usize| self.starts.and_then(|starts| starts.within.get(place).copied());
        let points = |level: usize| self.locality.and_then(|locality| locality.points.get(level).copied());
        let quantities = QUANTITIES.iter().filter(|(name, _)| *name != "makespan");
        let compared =
            quantities.map(|(name, _)| (*name, self.quantities.get(name).and_then(|quantity| quantity.relative)));
        let others = [
            ("completion_median", completion(|error| error.median)),
            ("completion_p90", completion(|error| error.p90)),
            ("completion_mean", completion(|error| error.mean)),
            ("completion_mean_signed", completion(|error| error.mean_signed)),
            ("makespan", self.makespan.map(|error| error.relative)),
            ("starts_mean_ms", self.starts.map(|starts| starts.mean_ms)),
            ("starts_within_1_s", within(0)),
            ("starts_within_2_s", within(1)),
            ("starts_within_10_s", within(2)),
            ("completion_ks", self.completion_ks),
            ("waiting_ks", self.waiting_ks),
            ("map_time_ks", self.map_time_ks),
            ("locality_node_points", points(0)),
            ("locality_rack_points", points(1)),
            ("locality_off_points", points(2)),
            ("map_utilisation", self.map_utilisation),
            ("reduce_utilisation", self.reduce_utilisation),
        ];
        compared.chain(others).collect()
    }
}

/// Jobs that are not compared, by their ids or names. A star at the end stands for any ending.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Skip(pub Vec<String>);

impl Skip {
    /// True if a job is left out.
    pub fn has(&self, job: &JobMetrics) -> bool {
        let is_meant = |pattern: &String, text: &str| match pattern.strip_suffix('*') {
            Some(start) => text.starts_with(start),
            None => text == pattern,
        };
        let texts = || std::iter::once(job.job_id.as_str()).chain(job.name.as_deref());
        self.0.iter().any(|pattern| texts().any(|text| is_meant(pattern, text)))
    }
}

/// The errors of `replayed` against `observed`, without the jobs of `skip`. `observed` must be the trace, or another run with the ids of the
/// trace ([`rename_as`]).
pub fn validate(observed: &Run, replayed: &Run, skip: &Skip) -> Validation {
    let slots = replayed.replay().map(|info| info.cluster).unwrap_or_default();
    let mut shared = shared_jobs(&observed.jobs, &replayed.jobs);
    shared.retain(|_, rows| observed.jobs.get(rows.0).is_none_or(|job| !skip.has(job)));
    let (compared, not_compared) = comparable(observed, &replayed.jobs, &shared, skip);
    let times = |pick: fn(&Compared) -> Option<i64>| -> Vec<f64> {
        compared.iter().filter_map(pick).map(|ms| ms as f64).collect()
    };
    let (real, simulated) = (times(|pair| pair.0.completion), times(|pair| pair.1.completion));
    let waiting = [times(|pair| pair.0.waiting), times(|pair| pair.1.waiting)].map(Distribution::new);
    let errors: Vec<f64> = real.iter().zip(&simulated).filter_map(|(&o, &s)| signed_error(s, o)).collect();
    let (real_attempts, simulated_attempts) = aligned(observed, replayed, &shared);
    let used = |kind, slots| utilisation_error(&real_attempts, &simulated_attempts, kind, slots);
    Validation {
        jobs_compared: compared.len() as u64,
        not_compared,
        quantities: quantities::quantities(&compared),
        completion: relative_error(&errors),
        by_size: phases::by_size(observed, replayed, &compared),
        jobs: compared_jobs(observed, &compared),
        makespan: makespan_error(&compared),
        starts: starts::start_error(&compared),
        waiting_ks: waiting[0].ks_distance(&waiting[1]),
        critical_ks: critical_distance(compared.len(), compared.len()),
        completion_ks: Distribution::new(real).ks_distance(&Distribution::new(simulated)),
        map_time_ks: map_times(&real_attempts).ks_distance(&map_times(&simulated_attempts)),
        locality: locality_error(observed, replayed, &shared),
        map_utilisation: used(TaskKind::Map, slots.map_slots),
        reduce_utilisation: used(TaskKind::Reduce, slots.reduce_slots),
    }
}

/// The errors of the completion times of single jobs, with the mean over several replays as the time of a job in the replay. A policy
/// that draws at random is compared so. Jobs that some replay does not compare are left out.
pub fn completion_over(replays: &[&Validation]) -> Option<RelativeError> {
    let mut sums: BTreeMap<usize, (usize, i64, f64)> = BTreeMap::new();
    for job in replays.iter().flat_map(|replay| &replay.jobs) {
        let (times, observed, sum) = sums.entry(job.row).or_default();
        *times += 1;
        *observed = job.observed;
        *sum += job.replayed as f64;
    }
    let whole = sums.values().filter(|(times, ..)| *times == replays.len());
    let errors = whole.filter_map(|&(times, observed, sum)| signed_error(sum / times as f64, observed as f64));
    relative_error(&errors.collect::<Vec<f64>>())
}

/// `(s − o) / o`; `None` if `o` is unknown or 0.
pub fn signed_error(replayed: f64, observed: f64) -> Option<f64> {
    (observed > 0.0 && replayed.is_finite()).then(|| (replayed - observed) / observed)
}

/// Median, 90th percentile and means of these signed errors; `None` for none.
pub fn relative_error(signed: &[f64]) -> Option<RelativeError> {
    let sizes = Distribution::new(signed.iter().map(|error| error.abs()));
    Some(RelativeError {
        median: sizes.median()?,
        p90: sizes.quantile(0.9)?,
        mean: sizes.mean()?,
        mean_signed: mean(signed)?,
    })
}

/// The mean over time of `|tasks running in one − in the other|`, divided by the number of slots, from 0 to the end of the last
/// attempt of either kind. It is 0 if equally many run at every instant. Both must use one clock that starts at 0. `None` without
/// slots or attempts.
pub fn utilisation_error(one: &[Interval], other: &[Interval], kind: TaskKind, slots: u64) -> Option<f64> {
    let of_kind = || one.iter().chain(other).filter(|interval| interval.kind == kind);
    of_kind().next()?;
    let end = one.iter().chain(other).map(|interval| interval.finish).max().filter(|&end| end > 0)?;
    (slots > 0).then(|| running_tasks(one, kind).mean_difference(&running_tasks(other, kind), 0, end) / slots as f64)
}

/// `replayed − observed` of three shares, from counts; `None` if either has only zeroes.
pub fn locality_of(observed: [u64; 3], replayed: [u64; 3]) -> Option<LocalityError> {
    let shares = |counts: [u64; 3]| {
        let all: u64 = counts.iter().sum();
        (all > 0).then(|| counts.map(|count| count as f64 / all as f64))
    };
    let (observed, replayed) = (shares(observed)?, shares(replayed)?);
    let [node, rack, off] = observed;
    let [node_now, rack_now, off_now] = replayed;
    let points = [node_now - node, rack_now - rack, off_now - off].map(|difference| difference * 100.0);
    Some(LocalityError { observed, replayed, points })
}

/// The rows of the jobs that are in both, by id. If two jobs have the same id, the first counts.
fn shared_jobs<'a>(observed: &'a [JobMetrics], replayed: &'a [JobMetrics]) -> BTreeMap<&'a str, (usize, usize)> {
    let rows = |jobs: &'a [JobMetrics]| {
        let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
        for (row, job) in jobs.iter().enumerate() {
            rows.entry(job.job_id.as_str()).or_insert(row);
        }
        rows
    };
    let replayed = rows(replayed);
    rows(observed).into_iter().filter_map(|(id, row)| Some((id, (row, *replayed.get(id)?)))).collect()
}

/// A job as it was observed and as it was replayed.
type Compared<'a> = (&'a JobMetrics, &'a JobMetrics);

/// The jobs that ended well in both, and why the others are not compared.
fn comparable<'a>(
    observed: &'a Run,
    replayed: &'a [JobMetrics],
    shared: &BTreeMap<&str, (usize, usize)>,
    skip: &Skip,
) -> (Vec<Compared<'a>>, BTreeMap<String, u64>) {
    let (mut pairs, mut causes) = (Vec::new(), BTreeMap::new());
    for (row, job) in observed.jobs.iter().enumerate() {
        let twin = shared.get(job.job_id.as_str()).filter(|rows| rows.0 == row).and_then(|rows| replayed.get(rows.1));
        let cause = match (job, twin) {
            (job, _) if skip.has(job) => "skipped",
            (job, _) if job.outcome == Outcome::Killed => "observed-killed",
            (job, _) if job.outcome == Outcome::Failed => "observed-failed",
            (job, _) if job.standing != Standing::Counts => "observed-without-finish",
            (job, _) if job.completion.is_none_or(|time| time <= 0) => "observed-without-duration",
            (_, None) => "left-out-of-replay",
            (_, Some(twin)) if twin.standing != Standing::Counts => "not-finished-in-replay",
            (job, Some(twin)) => {
                pairs.push((job, twin));
                continue;
            }
        };
        *causes.entry(cause.to_owned()).or_insert(0) += 1;
    }
    (pairs, causes)
}

/// The completion times of these jobs.
fn compared_jobs(observed: &Run, compared: &[Compared]) -> Vec<ComparedJob> {
    let mut pairs = compared.iter().peekable();
    let rows = observed.jobs.iter().enumerate();
    rows.filter_map(|(row, job)| {
        let &(real, simulated) = pairs.next_if(|pair| std::ptr::eq(pair.0, job))?;
        let (submit, observed, replayed) = (real.submit?, real.completion?, simulated.completion?);
        Some(ComparedJob { row, submit, observed, replayed })
    })
    .collect()
}

/// The makespan of these jobs in both runs.
fn makespan_error(compared: &[Compared]) -> Option<MakespanError> {
    let of = |pick: fn(&Compared) -> (Option<i64>, Option<i64>)| {
        let first = compared.iter().filter_map(|pair| pick(pair).0).min()?;
        let last = compared.iter().filter_map(|pair| pick(pair).1).max()?;
        Some(last - first)
    };
    let observed_ms = of(|pair| (pair.0.submit, pair.0.finish))?;
    let replayed_ms = of(|pair| (pair.1.submit, pair.1.finish))?;
    let relative = signed_error(replayed_ms as f64, observed_ms as f64)?;
    Some(MakespanError { observed_ms, replayed_ms, relative })
}

/// The attempts of the shared jobs, observed and replayed, each on a clock that starts with the first submission.
fn aligned(observed: &Run, replayed: &Run, shared: &BTreeMap<&str, (usize, usize)>) -> (Vec<Interval>, Vec<Interval>) {
    let of = |run: &Run, rows: BTreeSet<usize>| {
        let jobs = rows.iter().filter_map(|&row| run.jobs.get(row));
        let zero = jobs.filter_map(|job| job.submit).min().unwrap_or(0);
        let attempts = run.intervals.iter().filter(|interval| rows.contains(&interval.job));
        attempts
            .map(|attempt| Interval { start: attempt.start - zero, finish: attempt.finish - zero, ..*attempt })
            .collect()
    };
    let real = of(observed, shared.values().map(|rows| rows.0).collect());
    (real, of(replayed, shared.values().map(|rows| rows.1).collect()))
}

/// The run times of successful map attempts.
fn map_times(intervals: &[Interval]) -> Distribution {
    let maps = intervals.iter().filter(|interval| interval.kind == TaskKind::Map && interval.succeeded);
    Distribution::new(maps.map(|map| (map.finish - map.start) as f64))
}

/// The launches of maps by level, over the shared jobs for which the trace knows a level.
fn locality_error(observed: &Run, replayed: &Run, shared: &BTreeMap<&str, (usize, usize)>) -> Option<LocalityError> {
    let (mut real, mut simulated) = ([0; 3], [0; 3]);
    let add = |sum: &mut [u64; 3], job: &JobMetrics| {
        for (sum, count) in sum.iter_mut().zip(job.map_launches) {
            *sum += u64::from(count);
        }
    };
    for &(row, twin) in shared.values() {
        let (Some(job), Some(twin)) = (observed.jobs.get(row), replayed.jobs.get(twin)) else { continue };
        if job.map_launches.iter().any(|&count| count > 0) {
            add(&mut real, job);
            add(&mut simulated, twin);
        }
    }
    locality_of(real, simulated)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use resched_tables::run::{RunCluster, RunInfo};

    use super::*;
    use crate::runs::origin::Origin;
    use crate::runs::run::peaks;

    fn job(id: &str, submit: i64, finish: i64) -> JobMetrics {
        JobMetrics {
            job_id: id.to_owned(),
            outcome: Outcome::Success,
            submit: Some(submit),
            finish: Some(finish),
            completion: Some(finish - submit),
            ..JobMetrics::default()
        }
    }

    fn map(job: usize, start: i64, finish: i64) -> Interval {
        Interval { job, kind: TaskKind::Map, start, finish, succeeded: true, ..Interval::default() }
    }

    fn run(jobs: Vec<JobMetrics>, intervals: Vec<Interval>) -> Run {
        let cluster = RunCluster { map_slots: 2, reduce_slots: 1, ..RunCluster::default() };
        Run {
            peaks: peaks(&intervals),
            label: String::new(),
            origin: Origin::Replay(Box::new(RunInfo { cluster, ..RunInfo::default() })),
            skipped: BTreeMap::new(),
            jobs: jobs.into(),
            intervals,
            spread: std::collections::BTreeMap::new(),
            nodes: Vec::new(),
            decisions: Vec::new(),
            resources: Vec::new(),
        }
    }

    #[test]
    fn errors_are_relative_and_keep_their_sign_in_one_mean() {
        // |errors| 0.1, 0.2, 0.3, 0.4: numpy.quantile(…, 0.9) = 0.37
        let error = relative_error(&[-0.1, 0.2, -0.3, 0.4]).unwrap();
        for (found, expected) in
            [(error.median, 0.25), (error.p90, 0.37), (error.mean, 0.25), (error.mean_signed, 0.05)]
        {
            assert!((found - expected).abs() < 1e-12, "{error:?}");
        }
        assert_eq!(relative_error(&[]), None);
        assert_eq!([signed_error(15.0, 10.0), signed_error(5.0, 10.0)], [Some(0.5), Some(-0.5)]);
        assert_eq!(signed_error(5.0, 0.0), None);
    }

    #[test]
    fn locality_is_reported_in_points() {
        let error = locality_of([8, 1, 1], [3, 1, 0]).unwrap();
        assert_eq!(error.observed, [0.8, 0.1, 0.1]);
        assert_eq!(error.replayed, [0.75, 0.25, 0.0]);
        let expected = [-5.0, 15.0, -10.0];
        assert!(error.points.iter().zip(expected).all(|(found, wanted)| (found - wanted).abs() < 1e-9), "{error:?}");
        assert_eq!(locality_of([0; 3], [1, 0, 0]), None);
    }

    /// Two against one map for 10 ms, none against one for 10: 20 of 2 × 40 ms of slots, as a reduce runs until 40.
    #[test]
    fn utilisation_differs_by_tasks_that_run_at_an_instant() {
        let reduce = Interval { kind: TaskKind::Reduce, ..map(0, 20, 40) };
        let (real, simulated) = ([map(0, 0, 10), map(0, 0, 10), reduce], [map(0, 0, 20)]);
        assert_eq!(utilisation_error(&real, &simulated, TaskKind::Map, 2), Some(0.25));
        assert_eq!(utilisation_error(&real, &simulated, TaskKind::Reduce, 1), Some(0.5));
        assert_eq!(utilisation_error(&real, &simulated, TaskKind::Setup, 1), None);
        assert_eq!(utilisation_error(&real, &simulated, TaskKind::Map, 0), None);
    }

    #[test]
    fn a_run_is_like_itself_on_any_clock() {
        let real = run(vec![job("a", 1_000, 1_100), job("b", 1_050, 1_200)], vec![map(0, 1_000, 1_090)]);
        let simulated = run(vec![job("b", 55, 205), job("a", 5, 105)], vec![map(1, 5, 95)]);
        let found = validate(&real, &simulated, &Skip::default());
        assert_eq!((found.jobs_compared, found.not_compared.len()), (2, 0));
        let none = RelativeError { median: 0.0, p90: 0.0, mean: 0.0, mean_signed: 0.0 };
        assert_eq!(found.completion, Some(none));
        let makespan = MakespanError { observed_ms: 200, replayed_ms: 200, relative: 0.0 };
        assert_eq!(found.makespan, Some(makespan));
        assert_eq!([found.completion_ks, found.map_time_ks, found.map_utilisation], [Some(0.0); 3]);
        assert_eq!((found.reduce_utilisation, found.locality), (None, None));
    }

    #[test]
    fn jobs_that_cannot_be_compared_are_counted_by_cause() {
        let ended = |id: &str, outcome| JobMetrics { outcome, standing: Standing::Unfinished, ..job(id, 0, 10) };
        let real = vec![
            job("a", 0, 100),
            ended("killed", Outcome::Killed),
            ended("failed", Outcome::Failed),
            ended("cut", Outcome::Incomplete),
            job("brief", 5, 5),
            job("left", 0, 10),
            job("stuck", 0, 10),
        ];
        let simulated = vec![job("a", 0, 150), job("brief", 0, 5), ended("stuck", Outcome::Incomplete)];
        let found = validate(&run(real, Vec::new()), &run(simulated, Vec::new()), &Skip::default());
        assert_eq!(found.jobs_compared, 1);
        assert_eq!(found.completion.unwrap().mean_signed, 0.5);
        let causes: Vec<(&str, u64)> = found.not_compared.iter().map(|(cause, &n)| (cause.as_str(), n)).collect();
        let expected = [
            "left-out-of-replay",
            "not-finished-in-replay",
            "observed-failed",
            "observed-killed",
            "observed-without-duration",
            "observed-without-finish",
        ];
        assert_eq!(causes, expected.map(|cause| (cause, 1)));
    }

    #[test]
    fn jobs_that_are_named_are_left_out_of_every_number() {
        let named = |name: &str, job| JobMetrics { name: Some(name.into()), ..job };
        let real = vec![named("warm-up", job("a", 0, 100)), job("b", 50, 150)];
        let simulated = vec![job("a", 0, 900), job("b", 50, 150)];
        let attempts = || vec![map(0, 0, 90), map(1, 50, 140)];
        let of = |skip: &[&str]| {
            let skip = Skip(skip.iter().map(|&pattern| pattern.to_owned()).collect());
            validate(&run(real.clone(), attempts()), &run(simulated.clone(), attempts()), &skip)
        };
        assert!(of(&[]).completion.unwrap().mean > 3.0);
        for skip in ["warm-up", "warm*", "a"] {
            let found = of(&[skip]);
            assert_eq!((found.jobs_compared, found.completion.unwrap().mean), (1, 0.0), "{skip}");
            assert_eq!(found.not_compared, BTreeMap::from([("skipped".to_owned(), 1)]));
        }
    }

    /// A job takes 80 and 120 ms in two replays, and took 100.
    #[test]
    fn a_mean_over_replays_has_no_error_where_each_has_one() {
        let real = run(vec![job("a", 0, 100)], Vec::new());
        let found = [80, 120].map(|end| validate(&real, &run(vec![job("a", 0, end)], Vec::new()), &Skip::default()));
        assert_eq!(found[0].completion.unwrap().median, 0.2);
        assert_eq!(completion_over(&[&found[0], &found[1]]).unwrap().median, 0.0);
    }
}
