//! The log as the judge: a replay of what ran, beside what the log says really happened.
//!
//! A trace knows how long its jobs really waited. A replay of the scheduler that ran them, on the cluster that ran them, must come near: if it
//! is far off, something that decides waits is missing from the world of the replay, and whatever that world says about another policy is
//! no measurement. `replay` keeps the comparison beside its runs ([`FILE`]), and every command that compares them gives its fact.

use std::path::Path;

use hashbrown::HashMap;
use resched_tables::run::{RunInfo, RunSite, RunValidation};
use resched_tables::standing::Standing;
use resched_tables::store::System;
use resched_tables::store::marker::Layout;
use resched_tables::validity::{Fact, Grade};
use resched_tables::words::{all_of, count, counted};
use serde::{Deserialize, Serialize};

use super::quantities::{MOST_ERROR, QuantityError, of_times};
use crate::Error;
use crate::metrics::validity::granularity;
use crate::runs::beside::{self, VariedRun};
use crate::runs::compared::Compared;
use crate::statistics::distribution::mean;

/// The file, in a folder of runs.
pub const FILE: &str = "log.json";
/// The fact about the log is about this.
pub const LOG: &str = "log";

const LAYOUT: Layout = Layout {
    what: "comparison with the log",
    version: 1,
    by_others: false,
    again: "remove it, and replay the trace again to compare it with its log",
};

/// A quantity: its name, its name in a sentence, and the quantity that says which errors of it are small.
type Quantity = (&'static str, &'static str, &'static str);

/// The quantities by which the log judges, with their names in a sentence, and the one whose size says what error of the first is small.
pub const JUDGED: [Quantity; 4] = [
    ("mean_waiting", "mean wait", "mean_completion"),
    ("p95_waiting", "95th percentile of waits", "p95_completion"),
    ("mean_completion", "mean completion time", "mean_completion"),
    ("p95_completion", "95th percentile of completion times", "p95_completion"),
];

/// An error below this share of the completion time is small, whatever share of a short wait it is.
const OF_COMPLETION: f64 = 0.005;
/// Waits of logs are in whole seconds, ms.
const RESOLUTION: f64 = 1_000.0;

/// A quantity of the same jobs, in the log and in a replay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// Its name, one of [`super::QUANTITIES`].
    pub quantity: String,
    /// In the log, ms.
    pub observed_ms: f64,
    /// In the replay, ms.
    pub replayed_ms: f64,
}

impl Judged {
    /// `replayed / observed − 1`; infinite if the log has 0 and the replay has not.
    fn relative(&self) -> f64 {
        if self.replayed_ms == self.observed_ms { 0.0 } else { self.replayed_ms / self.observed_ms - 1.0 }
    }
}

/// A replay that may be that of what ran.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Candidate {
    /// The label of its policy.
    pub policy: String,
    /// True if it was replayed without what the command changes in the cluster of the log, such as its number of machines or an outage.
    pub unchanged: bool,
    /// The jobs that are compared: those that count in both.
    pub jobs: u64,
    /// The quantities of these jobs.
    pub quantities: Vec<Judged>,
    /// Differences up to this are none, ms: the replay is not finer.
    pub granularity_ms: f64,
    /// The part of the log that was replayed; absent if that is all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Start>,
}

impl Candidate {
    /// A replay beside the log. `until`: only jobs submitted before this time of the replay are compared.
    pub fn of<O: Compared, R: Compared>(observed: &O, replay: &R, until: Option<f64>) -> Self {
        let rows: HashMap<&str, usize> = (0..observed.count())
            .filter(|&row| observed.standing(row) == Standing::Counts)
            .map(|row| (observed.job_id(row), row))
            .collect();
        let submit = replay.numbers("submit");
        let early = |row: usize| until.is_none_or(|until| submit.get(row).is_some_and(|submit| submit < until));
        let pairs: Vec<(usize, usize)> = (0..replay.count())
            .filter(|&row| replay.standing(row) == Standing::Counts && early(row))
            .filter_map(|row| Some((*rows.get(replay.job_id(row))?, row)))
            .collect();
        let both = |word: &str| -> (Vec<f64>, Vec<f64>) {
            let (one, two) = (observed.numbers(word), replay.numbers(word));
            pairs.iter().filter_map(|(first, second)| Some((one.get(*first)?, two.get(*second)?))).unzip()
        };
        let found = of_times(&[("completion", both("completion")), ("waiting", both("waiting"))]);
        let judged = |(name, error): (&'static str, QuantityError)| Judged {
            quantity: name.to_owned(),
            observed_ms: error.observed_ms,
            replayed_ms: error.replayed_ms,
        };
        let fineness = replay.replay().map_or(0, granularity) as f64;
        Self {
            policy: replay.label().to_owned(),
            unchanged: false,
            jobs: pairs.len() as u64,
            quantities: found.into_iter().map(judged).collect(),
            granularity_ms: fineness.max(RESOLUTION),
            start: None,
        }
    }

    /// A replay with these quantities, of a log whose times are in whole seconds.
    pub fn of_quantities(quantities: Vec<Judged>) -> Self {
        Self { quantities, granularity_ms: RESOLUTION, ..Self::default() }
    }

    /// The mean of replays under one policy with several seeds; the counts are those of the first. `None` of no replay.
    pub fn mean_of(seeds: &[Self]) -> Option<Self> {
        let first = seeds.first()?;
        let mean_of = |judged: &Judged| {
            let values = |of: fn(&Judged) -> f64| -> Vec<f64> {
                seeds.iter().filter_map(|seed| seed.get(&judged.quantity)).map(of).collect()
            };
            Some(Judged {
                quantity: judged.quantity.clone(),
                observed_ms: mean(&values(|judged| judged.observed_ms))?,
                replayed_ms: mean(&values(|judged| judged.replayed_ms))?,
            })
        };
        Some(Self { quantities: first.quantities.iter().filter_map(mean_of).collect(), ..first.clone() })
    }

    fn get(&self, quantity: &str) -> Option<&Judged> {
        self.quantities.iter().find(|judged| judged.quantity == quantity)
    }

    /// How far a quantity is off: 0 if the difference is too small to matter, else the size of its relative error.
    fn off(&self, (quantity, _, scale): Quantity) -> Option<f64> {
        let judged = self.get(quantity)?;
        let scale = self.get(scale).map_or(0.0, |scale| scale.observed_ms);
        let difference = (judged.replayed_ms - judged.observed_ms).abs();
        let matters = difference > (OF_COMPLETION * scale).max(self.granularity_ms);
        Some(if matters { judged.relative().abs() } else { 0.0 })
    }

    /// The largest error of the quantities that judge; `None` if there is nothing to compare.
    pub fn distance(&self) -> Option<f64> {
        JUDGED.into_iter().filter_map(|quantity| self.off(quantity)).reduce(f64::max)
    }

    /// True if the replay is near the log in all quantities.
    pub fn agrees(&self) -> bool {
        self.distance().is_some_and(|distance| distance <= MOST_ERROR)
    }

    /// True for the quantities in which a candidate is not near the log.
    fn is_far(candidate: &Self) -> impl Fn(&Quantity) -> bool {
        |quantity| candidate.off(*quantity).is_some_and(|off| off > MOST_ERROR)
    }

    /// Some of its quantities beside those of the log, as a part of a sentence.
    fn in_words(&self, is_said: impl Fn(&Quantity) -> bool) -> String {
        let of = |quantity: &Quantity| Some(format!("the {} is {}", quantity.1, in_words(self.get(quantity.0)?)));
        all_of(&JUDGED.iter().filter(|quantity| is_said(quantity)).filter_map(of).collect::<Vec<_>>())
    }

    /// What was replayed, as a part of a sentence.
    fn of_what(&self) -> String {
        match (self.start, self.unchanged) {
            (Some(Start { jobs, of_jobs }), _) => format!(" of the first {} of {} jobs", count(jobs), count(of_jobs)),
            (None, true) => ", on the cluster of the log".to_owned(),
            (None, false) => String::new(),
        }
    }

    /// Its errors as those of a validation.
    fn validation(&self) -> RunValidation {
        let error = |judged: &Judged| Some((judged.quantity.clone(), serde_json::Number::from_f64(judged.relative())?));
        RunValidation { policy: self.policy.clone(), errors: self.quantities.iter().filter_map(error).collect() }
    }
}

/// True if this replay may be that of what ran. The log of a Spark application has the settings that it ran under, and `spark` follows them; so
/// that another setting comes nearer to the log is no evidence that the replay is right. The log lacks the pools, which may come from a file.
pub fn may_have_run(info: &RunInfo) -> bool {
    if info.system != System::Spark {
        return true;
    }
    let given = info
        .label
        .strip_prefix("spark")
        .and_then(|rest| if rest.is_empty() { Some("") } else { rest.strip_prefix(':') });
    let lacks = |parameter: &str| parameter.is_empty() || parameter.starts_with("pools=");
    let follows_log = given.is_some_and(|given| given.split(',').all(lacks));
    follows_log && info.site.as_ref().is_none_or(|site| site.files.keys().eq([RunSite::SPARK_POOLS]))
}

/// Why a log cannot be a judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoJudge {
    /// The trace was made of another: its waits are those of another load.
    Scaled,
    /// No job has a time that can be compared.
    NothingInCommon,
    /// The replays of what may have run failed.
    NotReplayed,
}

impl NoJudge {
    fn in_words(self) -> &'static str {
        match self {
            Self::Scaled => {
                "The waits of a scaled trace are those of its original, so they cannot show whether the replay is right."
            }
            Self::NothingInCommon => "No job of the log can be compared with its replay.",
            Self::NotReplayed => "What ran could not be replayed, so the replay could not be compared with the log.",
        }
    }
}

/// What was replayed if a log is too large to replay all of it: the jobs at its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The jobs that were replayed.
    pub jobs: u64,
    /// All jobs.
    pub of_jobs: u64,
}

/// Replays of what may have run, beside the log.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct BesideLog {
    format_version: u32,
    /// The runs of the answer that it judges.
    pub runs: Vec<VariedRun>,
    /// The label of the policy that the others are compared with. It stands for what runs today.
    #[serde(default)]
    pub baseline: String,
    /// The replays, in the order in which they were tried.
    pub candidates: Vec<Candidate>,
    /// Why there is no comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_judge: Option<NoJudge>,
    /// What the data show that may explain a large error, as sentences, the likeliest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

impl BesideLog {
    /// What replays of what may have run show.
    pub fn new(candidates: Vec<Candidate>, hints: Vec<String>) -> Self {
        let nothing = candidates.iter().all(|candidate| candidate.distance().is_none());
        let no_judge = match candidates.is_empty() {
            true => Some(NoJudge::NotReplayed),
            false => nothing.then_some(NoJudge::NothingInCommon),
        };
        Self { candidates, hints, no_judge, ..Self::of_none() }
    }

    /// A log that is no judge.
    pub fn without(why: NoJudge) -> Self {
        Self { no_judge: Some(why), ..Self::of_none() }
    }

    fn of_none() -> Self {
        Self { format_version: LAYOUT.version, ..Self::default() }
    }

    /// The same, as the judge of these runs.
    #[must_use]
    pub fn about(self, runs: Vec<VariedRun>) -> Self {
        Self { runs, ..self }
    }

    /// The same for a comparison with the policy of this label.
    #[must_use]
    pub fn with_baseline(self, label: impl Into<String>) -> Self {
        Self { baseline: label.into(), ..self }
    }

    /// The candidate nearest to the log.
    pub fn nearest(&self) -> Option<&Candidate> {
        nearest(self.candidates.iter())
    }

    /// The replay of the baseline that is nearest to the log, if the baseline may have run.
    pub fn of_baseline(&self) -> Option<&Candidate> {
        nearest(self.candidates.iter().filter(|candidate| candidate.policy == self.baseline))
    }

    /// The errors of the replay of the baseline, or else of the nearest candidate, as those of a validation.
    pub fn validation(&self) -> Option<RunValidation> {
        self.of_baseline().or_else(|| self.nearest()).map(Candidate::validation)
    }

    /// What it means for an answer.
    pub fn fact(&self) -> Fact {
        let validate = "`resched validate` compares any policy with the log.";
        let nearest = match (self.no_judge, self.nearest()) {
            (None, Some(nearest)) => nearest,
            (why, _) => {
                let why = why.unwrap_or(NoJudge::NotReplayed);
                let remedy = match why {
                    NoJudge::Scaled => "Validate the trace that it was made of (`resched validate`).",
                    NoJudge::NothingInCommon | NoJudge::NotReplayed => validate,
                };
                return Fact::new(LOG, Grade::Assumed, why.in_words()).with_remedy(remedy);
            }
        };
        let shown = self.of_baseline().unwrap_or(nearest);
        if shown.agrees() && (shown.policy == self.baseline || self.baseline.is_empty()) {
            let says = format!(
                "The log agrees: in the replay{}, under {}, {} ({}).",
                shown.of_what(),
                shown.policy,
                shown.in_words(|(name, ..)| name.starts_with("mean")),
                counted(shown.jobs, "job")
            );
            return Fact::new(LOG, Grade::Measured, says);
        }
        if nearest.agrees() {
            let baseline = &self.baseline;
            let instead = match self.of_baseline() {
                Some(of_baseline) => format!(", where {}", of_baseline.in_words(Candidate::is_far(of_baseline))),
                None => String::new(),
            };
            let says = format!(
                "The log fits {}, not {baseline}, with which you compare{instead}. So a change against {baseline} is no change from what ran.",
                nearest.policy
            );
            let remedy = "Compare with what ran (--baseline), or give the settings and the scheduler that ran.";
            return Fact::new(LOG, Grade::Assumed, says).with_remedy(remedy);
        }
        let says = format!(
            "The log disagrees: in the replay{}, under {}, {}. {}",
            shown.of_what(),
            shown.policy,
            shown.in_words(Candidate::is_far(shown)),
            self.why(shown)
        );
        let remedy = "Find what is missing before you rely on the change: give limits, outages, sizes and the scheduler that ran, or a longer \
                      log. `resched validate` shows the errors.";
        Fact::new(LOG, Grade::Assumed, says.trim_end()).with_remedy(remedy)
    }

    /// What may explain the error of a candidate.
    fn why(&self, nearest: &Candidate) -> String {
        let waits = JUDGED.iter().filter(|quantity| quantity.0.ends_with("waiting"));
        let far = waits.filter(|quantity| nearest.off(**quantity).is_some_and(|off| off > MOST_ERROR));
        let far: Vec<&Judged> = far.filter_map(|quantity| nearest.get(quantity.0)).collect();
        let shorter = far.first().map(|judged| judged.replayed_ms < judged.observed_ms);
        let usual = match shorter {
            Some(true) if !self.hints.is_empty() => return self.hints.join(" "),
            Some(true) => {
                "Something that made jobs wait is missing from the replay: jobs from before the log, a limit, an outage, lost tries, or \
                 machines that are smaller than given."
            }
            Some(false) => {
                "The replay makes jobs wait that did not: its machines may be too few or too small, jobs may have held less than they \
                 ask for, or another scheduler ran."
            }
            None => {
                "Waits agree, but jobs take another time than in the log: tries may be lost, or the cost of distance or the speed of \
                 machines is not that of the cluster (`resched calibrate` fits them)."
            }
        };
        usual.to_owned()
    }

    /// Writes it into a folder of runs, whole or not at all.
    ///
    /// # Errors
    /// [`Error::Trace`] if it cannot be written.
    pub fn write(&self, dir: &Path) -> Result<(), Error> {
        beside::write(&dir.join(FILE), self)
    }

    /// Reads that of a folder of runs; `None` if there is none.
    ///
    /// # Errors
    /// [`Error::Trace`] if it is damaged or cannot be read.
    pub fn read(dir: &Path) -> Result<Option<Self>, Error> {
        beside::read(&dir.join(FILE), &LAYOUT)
    }

    /// That of runs of one trace in these folders: the first that is kept beside any of them. `None` if none is kept of them as they are now.
    ///
    /// # Errors
    /// As [`BesideLog::read`].
    pub fn of_runs(dirs: &[&Path]) -> Result<Option<Self>, Error> {
        for dir in dirs {
            if let Some(found) = beside::of_same_folder(&[dir], Self::read, |found| &found.runs)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// The candidate nearest to the log.
fn nearest<'a>(candidates: impl Iterator<Item = &'a Candidate>) -> Option<&'a Candidate> {
    let known = candidates.filter_map(|candidate| Some((candidate.distance()?, candidate)));
    known.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, candidate)| candidate)
}

/// A quantity in the replay and in the log, in one unit: `6.3 h where the log has 22.7 h (−72.2 %)`.
fn in_words(judged: &Judged) -> String {
    let Judged { observed_ms, replayed_ms, .. } = *judged;
    let (unit, name) = match observed_ms.max(replayed_ms) {
        most if most < 120_000.0 => (1_000.0, "s"),
        most if most < 7_200_000.0 => (60_000.0, "min"),
        _ => (3_600_000.0, "h"),
    };
    let percent = match judged.relative() {
        relative if relative.is_finite() => format!(" ({:+.1} %)", 100.0 * relative).replace('-', "−"),
        _ => String::new(),
    };
    format!("{:.1} {name} where the log has {:.1} {name}{percent}", replayed_ms / unit, observed_ms / unit)
}

/// What the log says of the replay of what ran, about replays of one trace; `None` if nothing ran.
pub fn fact<R: Compared>(found: Option<&BesideLog>, runs: &[R]) -> Option<Fact> {
    match found {
        Some(found) => Some(found.fact()),
        None => runs.iter().find_map(|run| unjudged(run.replay()?)),
    }
}

/// The fact that runs were not compared with their log, if there is one. A validation that is given is a comparison.
fn unjudged(info: &RunInfo) -> Option<Fact> {
    (info.trace.is_log && info.validation.is_none()).then(|| {
        Fact::new(LOG, Grade::Assumed, "These runs were not compared with the log that they replay.").with_remedy(
            "Replay the policies together into one folder: `replay` then compares the replay of what ran with the log.",
        )
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A replay under a policy: the mean wait and the mean completion time, each in the log and in the replay, s.
    fn candidate(policy: &str, waiting: [f64; 2], completion: [f64; 2]) -> Candidate {
        let judged = |quantity: &str, [observed, replayed]: [f64; 2]| Judged {
            quantity: quantity.to_owned(),
            observed_ms: 1_000.0 * observed,
            replayed_ms: 1_000.0 * replayed,
        };
        let quantities = vec![judged("mean_waiting", waiting), judged("mean_completion", completion)];
        Candidate { policy: policy.to_owned(), jobs: 7, ..Candidate::of_quantities(quantities) }
    }

    fn fact(candidates: Vec<Candidate>) -> Fact {
        BesideLog::new(candidates, Vec::new()).fact()
    }

    #[test]
    fn an_answer_is_measured_only_if_some_replay_is_near_the_log_in_waits_and_completion() {
        let near = candidate("fair", [100.0, 109.0], [400.0, 409.0]);
        let far = candidate("fifo", [100.0, 112.0], [400.0, 412.0]);
        assert_eq!(fact(vec![far.clone(), near]).grade, Grade::Measured);
        let fact = fact(vec![candidate("fair", [100.0, 20.0], [400.0, 320.0]), far]);
        assert_eq!(fact.grade, Grade::Assumed);
        let says = "in the replay, under fifo, the mean wait is 112.0 s where the log has 100.0 s (+12.0 %). The replay \
                    makes jobs wait that did not";
        assert!(fact.says.contains(says), "{}", fact.says);
    }

    #[test]
    fn a_log_that_fits_another_policy_than_the_baseline_measures_no_change() {
        let candidates =
            || vec![candidate("slurm", [45.0, 84.0], [80.0, 119.0]), candidate("easy", [45.0, 44.0], [80.0, 79.0])];
        let against = |baseline: &str| BesideLog::new(candidates(), Vec::new()).with_baseline(baseline).fact();
        assert_eq!(against("easy").grade, Grade::Measured);
        let fact = against("slurm");
        assert_eq!(fact.grade, Grade::Assumed);
        let says = "The log fits easy, not slurm, with which you compare, where the mean wait is 84.0 s where the log has 45.0 s (+86.7 %)";
        assert!(fact.says.starts_with(says), "{}", fact.says);
        assert_eq!(against("spark:wait=0").grade, Grade::Assumed, "it is no candidate");
    }

    #[test]
    fn of_a_spark_log_only_what_it_lacks_may_be_given() {
        let ran = |label: &str, files: Option<&[&str]>| {
            let named = |files: &[&str]| files.iter().map(|&name| (name.to_owned(), String::new())).collect();
            let site = files.map(|files| RunSite { files: named(files), ..RunSite::default() });
            may_have_run(&RunInfo { system: System::Spark, label: label.to_owned(), site, ..RunInfo::default() })
        };
        assert!(ran("spark", None) && ran("spark:pools=P.toml", None) && ran("spark", Some(&["fairscheduler.xml"])));
        assert!(!ran("spark:mode=fair", None) && !ran("spark:pools=P.toml,wait=0", None) && !ran("batch-fifo", None));
        assert!(!ran("spark", Some(&["fairscheduler.xml", "spark-defaults.conf"])));
    }

    #[test]
    fn waits_that_are_nothing_beside_the_run_times_judge_nothing() {
        let short = |replayed: f64| candidate("fifo", [4.0, replayed], [4_000.0, 4_000.0]);
        assert!(short(23.0).agrees() && !short(25.0).agrees(), "0.5 % of 4,000 s is 20 s");
        assert!(candidate("fifo", [0.0, 0.9], [10.0, 10.0]).agrees(), "the log has whole seconds");
        assert!(!candidate("fifo", [0.0, 1.1], [10.0, 10.0]).agrees(), "a share of no wait is infinite");
    }

    #[test]
    fn the_reason_follows_what_is_off() {
        let says = |waiting, completion| fact(vec![candidate("fifo", waiting, completion)]).says;
        assert!(says([100.0, 20.0], [400.0, 320.0]).contains("Something that made jobs wait is missing"));
        assert!(says([100.0, 100.0], [400.0, 500.0]).contains("Waits agree, but jobs take another time"));
        let hint = "78 jobs were running when the log began.".to_owned();
        let cut = BesideLog::new(vec![candidate("fifo", [100.0, 20.0], [400.0, 320.0])], vec![hint.clone()]);
        assert!(cut.fact().says.ends_with(&hint));
    }

    #[test]
    fn a_log_that_cannot_judge_says_so() {
        assert_eq!(BesideLog::without(NoJudge::Scaled).fact().grade, Grade::Assumed);
        assert_eq!(fact(Vec::new()).grade, Grade::Assumed);
        assert_eq!(fact(vec![Candidate::default()]).grade, Grade::Assumed, "no job in common");
    }

    #[test]
    fn the_error_over_seeds_is_that_of_the_mean() {
        let seeds =
            [candidate("slurm", [100.0, 80.0], [400.0, 380.0]), candidate("slurm", [100.0, 122.0], [400.0, 422.0])];
        assert!(seeds.iter().all(|seed| !seed.agrees()));
        assert!(Candidate::mean_of(&seeds).unwrap().agrees());
        assert_eq!(Candidate::mean_of(&[]), None);
    }
}
