//! The file of `--validation`: the output of `resched validate --json` for the same trace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use resched_analysis::validation::log::{Candidate, Judged};
use resched_compare::validate::rules_sha256;
use resched_sim::ClusterConfig;
use resched_tables::run::RunValidation;
use resched_tables::validity::{Fact, Grade, Validity};
use resched_tables::{whole, words};

use crate::failure::Failure;

/// A validation, of which the policy counts whose replay is most like what ran.
#[derive(Debug)]
pub(crate) struct Validation {
    path: PathBuf,
    trace: TraceOf,
    /// The SHA-256 of the rules of its cluster.
    rules_sha256: Option<String>,
    /// The policy, and its errors.
    pub(crate) best: RunValidation,
    /// Its replays beside the log.
    judged: Candidate,
}

/// The parts of a line that matter here.
#[derive(serde::Deserialize)]
struct Line {
    policy: String,
    trace: Option<TraceOf>,
    rules_sha256: Option<String>,
    errors: BTreeMap<String, Option<serde_json::Number>>,
    #[serde(default)]
    label: Option<String>,
    #[serde(default)]
    replays: Vec<ReplayOf>,
}

/// A replay, of which the times of its jobs matter.
#[derive(serde::Deserialize)]
struct ReplayOf {
    quantities: BTreeMap<String, TimesOf>,
}

#[derive(serde::Deserialize)]
struct TimesOf {
    observed_ms: f64,
    replayed_ms: f64,
}

impl ReplayOf {
    fn judged(self) -> Candidate {
        let times = |(quantity, TimesOf { observed_ms, replayed_ms })| Judged { quantity, observed_ms, replayed_ms };
        Candidate::of_quantities(self.quantities.into_iter().map(times).collect())
    }
}

#[derive(Debug, serde::Deserialize)]
struct TraceOf {
    path: String,
    sha256: String,
}

impl Validation {
    /// Reads the file.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let wrong = |problem: &dyn std::fmt::Display| {
            let remedy = "write it with `resched validate TRACE --json > FILE`";
            Failure::request(format!("{}: {problem}; {remedy}", path.display()))
        };
        let text = whole::text(path).map_err(|error| wrong(&format!("cannot be read ({error})")))?;
        let mut best: Option<(f64, Line)> = None;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let found: Line = serde_json::from_str(line)
                .map_err(|error| wrong(&format!("expected the output of validate ({error})")))?;
            // Which policy explains single jobs best shows which one ran. The error of an answer is another: that of its quantity.
            let median = found.errors.get("completion_median").and_then(|error| error.as_ref()?.as_f64());
            if let Some(median) = median.filter(|median| best.as_ref().is_none_or(|(least, _)| median < least)) {
                best = Some((median, found));
            }
        }
        let (_, found) = best.ok_or_else(|| wrong(&"no replay has an error of completion times"))?;
        let Some(trace) = found.trace else {
            return Err(wrong(&"it does not name its trace"));
        };
        let policy = found.label.unwrap_or(found.policy);
        let replays: Vec<Candidate> = found.replays.into_iter().map(ReplayOf::judged).collect();
        let errors = found.errors.into_iter().filter_map(|(name, error)| Some((name, error?))).collect();
        Ok(Self {
            path: path.to_owned(),
            trace,
            rules_sha256: found.rules_sha256,
            best: RunValidation { policy, errors },
            judged: Candidate::mean_of(&replays).unwrap_or_default(),
        })
    }

    /// Refuses the validation of another trace.
    pub(crate) fn check_trace(&self, name: &str, sha256: &str) -> Result<(), Failure> {
        if self.trace.sha256 == sha256 {
            return Ok(());
        }
        let short = |sha256: &str| sha256.get(..12).unwrap_or(sha256).to_owned();
        Err(Failure::request(format!(
            "{}: expected a validation of {name} ({}), found one of {} ({}); its error does not apply to another trace: validate {name}",
            self.path.display(),
            short(sha256),
            self.trace.path,
            short(&self.trace.sha256)
        )))
    }

    /// What it says about the answers of replays by these rules of a cluster: measured only if waits and completion times are near the log, in
    /// the mean and at the 95th percentile.
    pub(crate) fn in_facts(&self, cluster: &ClusterConfig) -> Validity {
        let others = self.rules_sha256.as_ref().is_some_and(|known| *known != rules_sha256(cluster));
        let error = |name: &str| self.best.error(name);
        let Some(mean) = error("mean_completion") else {
            let says = "The validation has no error of the mean completion time.".to_owned();
            return Validity { facts: vec![Fact::new("validation", Grade::Assumed, says)] };
        };
        let percent = words::change_in_percent;
        let errors = [
            ("median", "median_completion"),
            ("p95", "p95_completion"),
            ("mean waiting", "mean_waiting"),
            ("p95 of waiting", "p95_waiting"),
        ];
        let errors = errors.into_iter().filter_map(|(what, name)| Some(format!("{what} {}", percent(error(name)?))));
        let errors: Vec<String> = errors.collect();
        let errors = if errors.is_empty() { String::new() } else { format!(" ({})", errors.join(", ")) };
        let says = format!(
            "A replay of the observed run, under {}, is off by {} in the mean completion time{errors}.{}",
            self.best.policy,
            percent(mean),
            if others { " It was found with other rules of the cluster than these." } else { "" }
        );
        let grade = if self.judged.agrees() && !others { Grade::Measured } else { Grade::Assumed };
        let remedy = "Do not rely on differences between policies that are smaller than this error.";
        Validity { facts: vec![Fact::new("validation", grade, says).with_remedy(remedy)] }
    }
}
