//! A gate: may this run be merged? Bounds on metrics, and comparisons with other runs, each of which is kept, broken or open.
//!
//! | check | kept | broken | open |
//! |---|---|---|---|
//! | a [`Bound`] | the value is within it, with its whole interval over seeds | the same outside | the interval holds the bound; the model error is larger than the distance; no value; not answerable |
//! | no worse than another run | the mean completion time is shorter, or longer by less than what matters | longer by more, or so in a variant of the world | the interval holds both; too few independent days for an interval |

use std::path::{Path, PathBuf};

use resched_analysis::Run;
use resched_analysis::answer;
use resched_analysis::metrics::named::{Measured, Metric};
use resched_analysis::metrics::validity::WAITING;
use resched_analysis::runs::window;
use resched_analysis::statistics::practical::{Matters, Verdict};
use resched_analysis::statistics::repeats::t_interval;
use resched_analysis::statistics::sign::Sign;
use resched_analysis::validation::log::{self, BesideLog, JUDGED};
use resched_tables::validity::{Grade, Validity};
use resched_tables::words::{change_in_percent, counted};
use serde::Serialize;

use crate::Error;
use crate::diff::{self, Diffed, How, by_seed};

/// The comparisons that a bound is written with. The longer ones come first, as `<` begins `<=`.
const OPERATORS: [(&str, Operator); 4] =
    [("<=", Operator::AtMost), (">=", Operator::AtLeast), ("<", Operator::Below), (">", Operator::Above)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    AtMost,
    AtLeast,
    Below,
    Above,
}

impl Operator {
    fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::AtMost => value <= bound,
            Self::AtLeast => value >= bound,
            Self::Below => value < bound,
            Self::Above => value > bound,
        }
    }
}

/// A bound on a metric, such as `p95(waiting) < 30min`.
#[derive(Debug, Clone)]
pub struct Bound {
    text: String,
    metric: Metric,
    operator: Operator,
    /// In the unit of the metric.
    number: f64,
}

impl Bound {
    /// Reads `METRIC < VALUE`, with `<`, `<=`, `>` or `>=`. A metric may have such signs in its filter, so the last one counts.
    ///
    /// # Errors
    /// What is expected, and what was found.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expected = || {
            format!("`{text}`: expected a metric, one of < <= > >=, and a value, for example \"p95(waiting) < 30min\"")
        };
        let at = text.rfind(['<', '>']).ok_or_else(expected)?;
        let (metric, rest) = text.split_at(at);
        let (sign, operator) = OPERATORS.into_iter().find(|(sign, _)| rest.starts_with(sign)).ok_or_else(expected)?;
        let metric = Metric::named(metric.trim()).map_err(|problem| problem.to_string())?;
        let number = metric.number(&rest[sign.len()..])?;
        Ok(Self { text: text.trim().to_owned(), metric, operator, number })
    }
}

/// How a check ended. A pipeline passes only if every check is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It is as it should be.
    Kept,
    /// The data cannot tell.
    Open,
    /// It is not as it should be.
    Broken,
}

/// A check and what it found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// The bound as it was written, or what the run is compared with.
    pub check: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The value; of a comparison, the ratio of the mean completion times. Null if it is unknown.
    pub value: Option<f64>,
    /// Its 95 % interval; null without one.
    pub interval: Option<[f64; 2]>,
    /// The value, its interval, and what decides, as sentences.
    pub says: String,
}

/// What is asked of a run.
#[derive(Debug)]
pub struct Asked<'a> {
    /// Bounds that the run, or the mean over its seeds, must keep.
    pub bounds: &'a [Bound],
    /// The runs, or folders with a run for each seed, than which it must not be worse.
    pub no_worse_than: &'a [PathBuf],
    /// The part of the time that counts, and what matters.
    pub how: How,
}

/// All checks of a run, and what they rest on.
#[derive(Debug)]
pub struct Gate {
    /// The bounds, then the comparisons, in the order in which they were asked.
    pub checks: Vec<Check>,
    /// What the answers rest on.
    pub validity: Validity,
}

impl Gate {
    /// The worst of its checks. A broken check is worse than an open one.
    pub fn outcome(&self) -> Outcome {
        self.checks.iter().map(|check| check.outcome).max().unwrap_or(Outcome::Kept)
    }
}

/// Checks a run, or a folder with a run for each seed.
///
/// # Errors
/// [`Error::Request`] if nothing is asked, or the runs cannot be compared. Errors of reading the runs.
pub fn gate(run: &Path, asked: &Asked<'_>) -> Result<Gate, Error> {
    if asked.bounds.is_empty() && asked.no_worse_than.is_empty() {
        return Err(Error::Request(
            "expected something to check, found nothing; add --bound or --no-worse-than".to_owned(),
        ));
    }
    let mut gate = Gate { checks: Vec::new(), validity: Validity::default() };
    if !asked.bounds.is_empty() {
        let dirs: Vec<PathBuf> = by_seed(run)?.into_values().collect();
        let mut runs = dirs.iter().map(|dir| Run::open(dir)).collect::<Result<Vec<Run>, _>>()?;
        window::narrow_all(&mut runs, &asked.how.period, asked.how.zone)?;
        // That no job waits says nothing against a bound, only against a comparison of policies.
        let facts = runs.iter().flat_map(|run| answer::of_run(run).facts).filter(|fact| fact.about != WAITING);
        facts.for_each(|fact| gate.validity.add(fact));
        let paths: Vec<&Path> = dirs.iter().map(PathBuf::as_path).collect();
        let log = BesideLog::of_runs(&paths)?;
        log::fact(log.as_ref(), &runs).into_iter().for_each(|fact| gate.validity.add(fact));
        let grade = gate.validity.grade();
        let checks = asked.bounds.iter().map(|bound| held(bound, &runs, log.as_ref(), grade));
        gate.checks.extend(checks);
    }
    for base in asked.no_worse_than {
        let found = diff::diff(base, run, &asked.how)?;
        gate.validity = std::mem::take(&mut gate.validity).and(&found.validity);
        gate.checks.push(no_worse(base, &found, asked.how.matters)?);
    }
    Ok(gate)
}

/// Whether a bound is kept over the runs of all seeds.
fn held(bound: &Bound, runs: &[Run], log: Option<&BesideLog>, grade: Grade) -> Check {
    let Bound { text, metric, operator, number } = bound;
    let values: Option<Vec<f64>> = runs.iter().map(|run| metric.of(&Measured::new(run))).collect();
    let check = |outcome, value, interval, says: String| Check { check: text.clone(), outcome, value, interval, says };
    let Some(found) = values.as_deref().and_then(t_interval) else {
        return check(Outcome::Open, None, None, "It has no value: no job counts, or the tables lack it.".to_owned());
    };
    let is = |value: f64| operator.holds(value, *number);
    let words = |value: f64| metric.in_words(value);
    let interval = (runs.len() > 1).then_some([found.low, found.high]);
    let spread = interval.map_or_else(String::new, |[low, high]| {
        let seeds = counted(runs.len() as u64, "seed");
        format!(" (95 % interval {} to {}, over {seeds})", words(low), words(high))
    });
    let value = format!("It is {}{spread}", words(found.value));
    let with = |outcome, says: String| check(outcome, Some(found.value), interval, says);
    if grade == Grade::NotAnswerable {
        return with(Outcome::Open, format!("{value}, but the data cannot answer this question."));
    }
    if interval.is_some_and(|[low, high]| is(low) != is(high)) {
        return with(Outcome::Open, format!("{value}, and the interval holds the bound. More seeds may tell."));
    }
    if let Some(error) = log.and_then(|log| error_of(metric, log))
        && is(found.value / (1.0 + error)) != is(found.value)
    {
        let error = change_in_percent(error);
        return with(
            Outcome::Open,
            format!(
                "{value}, but the replay of what ran is off by {error} in it, which is more than the distance to the bound."
            ),
        );
    }
    with(if is(found.value) { Outcome::Kept } else { Outcome::Broken }, format!("{value}."))
}

/// The relative error of a metric in the replay that is most like what ran, if it is one of those that the log judges.
fn error_of(metric: &Metric, log: &BesideLog) -> Option<f64> {
    let formula = metric.formula()?;
    let is_it = |name: &str| Metric::named(name).ok().and_then(|known| known.formula()) == Some(formula.clone());
    let (name, ..) = JUDGED.into_iter().find(|(name, ..)| is_it(name))?;
    let judged = log.nearest()?.quantities.iter().find(|judged| judged.quantity == name)?;
    let error = judged.replayed_ms / judged.observed_ms - 1.0;
    (error.is_finite() && error > -1.0).then_some(error)
}

/// Whether a run is no worse than another.
fn no_worse(base: &Path, found: &Diffed, matters: Matters) -> Result<Check, Error> {
    let Some(comparison) = &found.comparison else {
        return Err(Error::Request(format!(
            "{}: expected a run to compare with, found the log; `resched diff` prints the error of a replay",
            base.display()
        )));
    };
    let turned = found.signs.iter().find_map(|sign| turned(sign, matters));
    let (outcome, more) = match (comparison.verdict, turned) {
        (Verdict::Larger, _) => (Outcome::Broken, String::new()),
        (_, Some(variant)) => (Outcome::Broken, format!(" {variant}")),
        (
            Verdict::Smaller | Verdict::SmallerOpen | Verdict::Vanishes | Verdict::Equivalent | Verdict::TooSmall,
            None,
        ) => (Outcome::Kept, String::new()),
        (Verdict::LargerOpen | Verdict::CannotTell | Verdict::NotTested | Verdict::NotAnswerable, None) => {
            (Outcome::Open, format!(" {}", comparison.basis.why_no_interval()))
        }
    };
    let ratio = comparison.ratio_of_means;
    Ok(Check {
        check: format!("no worse than {}", base.display()),
        outcome,
        value: ratio.map(|ratio| ratio.value),
        interval: ratio.and_then(|ratio| ratio.interval),
        says: format!("{}{}", found.headline, more.trim_end()),
    })
}

/// The variant of the world in which a run is worse by more than what matters, in words; `None` if there is none.
fn turned(sign: &Sign, matters: Matters) -> Option<String> {
    let worst = sign.turned_by.iter().max_by(|a, b| a.ratio.total_cmp(&b.ratio))?;
    let change = change_in_percent(worst.ratio - 1.0);
    (worst.ratio > 1.0 + matters.share()).then(|| format!("The sign turns: {change} {}.", worst.says))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_has_a_metric_a_sign_and_a_value() {
        let bound = Bound::parse("p95(waiting) where tasks <= 10 < 30min").unwrap();
        assert_eq!(
            (bound.metric.name.as_str(), bound.operator, bound.number),
            ("p95(waiting) where tasks <= 10", Operator::Below, 18e5)
        );
        let bound = Bound::parse("node_locality>=90%").unwrap();
        assert_eq!((bound.operator, bound.number), (Operator::AtLeast, 0.9));
        for (wrong, expected) in [
            ("mean_waiting", "one of < <= > >="),
            ("mean_waiting < 30", "30s or 5min"),
            ("mean_wating < 30s", "did you mean `mean_waiting`"),
            ("", "expected a metric"),
            ("< 3s", "expected"),
        ] {
            let problem = Bound::parse(wrong).unwrap_err();
            assert!(problem.contains(expected), "{wrong}: {problem}");
        }
    }

    #[test]
    fn a_bound_is_strict_or_not() {
        let holds = |text: &str, value: f64| {
            let bound = Bound::parse(text).unwrap();
            bound.operator.holds(value, bound.number)
        };
        assert!(
            !holds("count() < 3", 3.0)
                && holds("count() <= 3", 3.0)
                && holds("count() >= 3", 3.0)
                && !holds("count() > 3", 3.0)
        );
    }

    #[test]
    fn a_broken_check_is_worse_than_an_open_one() {
        let gate = |outcomes: &[Outcome]| {
            let check = |&outcome: &Outcome| Check {
                check: String::new(),
                outcome,
                value: None,
                interval: None,
                says: String::new(),
            };
            Gate { checks: outcomes.iter().map(check).collect(), validity: Validity::default() }.outcome()
        };
        assert_eq!(gate(&[Outcome::Kept, Outcome::Open]), Outcome::Open);
        assert_eq!(gate(&[Outcome::Broken, Outcome::Open]), Outcome::Broken);
    }
}
