//! What a back-test says: raw coverage first, then the corrected one, beside the baselines and other schedulers.
//!
//! **A wrong model.** Corrected intervals cover what they should whatever the model is. So what shows a wrong scheduler, or run times
//! unlike those of the past, is the raw coverage, starts heaped at the ends of the draws, and the loss beside other schedulers on the same
//! moments.

use std::collections::BTreeMap;

use resched_sim::Ms;
use resched_tables::validity::{Fact, Grade, Validity};
use serde::Serialize;

use crate::backtest::{Backtest, Row};
use crate::correct::LEAST_MOMENTS;
use crate::past::Past;
use crate::scores::{Judged, Measured, Parts, Score, part, score};

/// The share of starts at both ends of the draws together from which they count as heaped: twice what it should be.
const HEAPED: f64 = 0.4;

/// The share of jobs without a limit or a law from which that is said.
const MANY: f64 = 0.05;

/// The scores of a back-test.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The policy.
    pub policy: String,
    /// The moments that were drawn, and those of them at which somebody waited.
    pub moments: [u64; 2],
    /// The forecasts whose job has started.
    pub rows: u64,
    /// The forecasts whose job never did: it was cancelled, or the log ended.
    pub never_started: u64,
    /// The shares of starts within the intervals of 50, 80 and 95 %: `raw` of the draws as they are, over all moments; `judge_raw` the
    /// same over the second half; `judge` of the corrected intervals over the second half.
    pub coverage: BTreeMap<&'static str, BTreeMap<&'static str, f64>>,
    /// The scores of the draws as they are; null if no job started.
    pub raw: Option<Score>,
    /// Those of the second half.
    pub judge_raw: Option<Score>,
    /// Those of the corrected forecasts of the second half.
    pub judge: Option<Score>,
    /// The raw forecasts by queue.
    pub by_queue: BTreeMap<String, Class>,
    /// The raw forecasts by the number of machines.
    pub by_size: BTreeMap<&'static str, Class>,
    /// What the forecast must beat, on the same rows.
    pub baselines: Vec<Beside>,
    /// Other schedulers on the same moments.
    pub others: Vec<Beside>,
}

/// The forecasts of some of the jobs.
#[derive(Debug, Clone, Serialize)]
pub struct Class {
    /// How many there are.
    pub rows: u64,
    /// On how many days.
    pub days: u64,
    /// The share of starts in the raw interval of 80 %.
    pub coverage_of_80: Measured,
    /// The mean pinball loss, ms.
    pub pinball_ms: f64,
}

/// Another forecast of the same rows.
#[derive(Debug, Clone, Serialize)]
pub struct Beside {
    /// What it is.
    pub name: String,
    /// How many of the rows it has a forecast of.
    pub rows: u64,
    /// The share of starts in its interval of 80 %, or before its bound; null for a forecast of one instant.
    pub within: Option<f64>,
    /// Its mean pinball loss, ms; null for a bound.
    pub pinball_ms: Option<f64>,
    /// How many times the loss of the forecast it is, on the rows of both.
    pub times: Option<Measured>,
}

impl Report {
    /// The report of a back-test, beside those of other schedulers at the same moments, each with its label.
    pub fn of(policy: &str, tested: &Backtest, others: &[(String, Backtest)], past: &Past, seed: u64) -> Self {
        let rows = &tested.rows;
        let length = part(rows.iter().map(|row| row.asked_at));
        let raw: Vec<Judged> = rows.iter().filter_map(|row| row.judged(row.raw, true)).collect();
        let second = || rows.iter().filter(|row| row.is_judged);
        let judge_raw: Vec<Judged> = second().filter_map(|row| row.judged(row.raw, true)).collect();
        let judge: Vec<Judged> = second().filter_map(|row| row.judged(row.corrected, false)).collect();
        let [all, judge_raw, judge] = [&raw, &judge_raw, &judge].map(|rows| score(rows, length, seed));
        let named = [("raw", &all), ("judge_raw", &judge_raw), ("judge", &judge)];
        let plain = |score: &Score| score.coverage.iter().map(|(name, measured)| (*name, measured.value)).collect();
        Self {
            policy: policy.to_owned(),
            moments: [tested.drawn, tested.used],
            rows: raw.len() as u64,
            never_started: (rows.len() - raw.len()) as u64,
            coverage: named.into_iter().filter_map(|(name, score)| Some((name, score.as_ref().map(plain)?))).collect(),
            raw: all,
            judge_raw,
            judge,
            by_queue: classes(rows, length, seed, |row| {
                past.jobs.get(row.place as usize).map(|job| past.queue(job).to_owned())
            }),
            by_size: classes(rows, length, seed, |row| {
                Some(size_class(past.jobs.get(row.place as usize)?.machines)?.1)
            }),
            baselines: baselines(rows, length, seed),
            others: others.iter().map(|(label, other)| beside_other(label, rows, &other.rows, length, seed)).collect(),
        }
    }

    /// What the back-test says about the answer.
    pub fn validity(&self, tested: &Backtest) -> Validity {
        let mut validity = Validity::default();
        let Some(raw) = &self.raw else {
            validity.add(
                Fact::new(
                    "back-test",
                    Grade::Assumed,
                    "Nobody waited at the moments of the back-test, so it says nothing.",
                )
                .with_remedy("Test more moments, or a busier part of the log."),
            );
            return validity;
        };
        validity.add(coverage_fact(raw));
        for fact in [narrow(raw), heaped(raw), self.better(), self.few(), beaten(self)].into_iter().flatten() {
            validity.add(fact);
        }
        counts(tested).into_iter().for_each(|fact| validity.add(fact));
        validity
    }

    /// The other scheduler that fits the log better, if there is one.
    fn better(&self) -> Option<Fact> {
        let times = |beside: &&Beside| beside.times.filter(|times| times.high < 1.0);
        let best = self.others.iter().filter(|other| times(other).is_some()).min_by(|one, other| {
            let value = |beside: &Beside| beside.times.map_or(f64::INFINITY, |time| time.value);
            value(one).total_cmp(&value(other))
        })?;
        let times = best.times?;
        let says = format!(
            "At the same moments, forecasts under `{}` lose {:.2} times as much [{:.2}, {:.2}]: the cluster is rather like that than like \
             `{}`.",
            best.name, times.value, times.low, times.high, self.policy
        );
        Some(Fact::new("scheduler", Grade::Assumed, says).with_remedy(format!("Forecast under `{}`.", best.name)))
    }

    /// Whether the moments are too few for a correction.
    fn few(&self) -> Option<Fact> {
        (self.moments[1] < LEAST_MOMENTS as u64).then(|| {
            let says = format!(
                "Somebody waited at {} of the moments only, too few to correct the intervals.",
                self.moments[1]
            );
            Fact::new("back-test", Grade::Assumed, says).with_remedy("Test more moments with --backtest.")
        })
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

fn coverage_fact(raw: &Score) -> Fact {
    let covered = raw.coverage.get("80").copied().unwrap_or(Measured { value: 0.0, low: 0.0, high: 0.0 });
    let says = format!(
        "{} of {} starts in the back-test lay in their raw interval of 80 % [{}, {}], by {} days.",
        percent(covered.value),
        raw.rows,
        percent(covered.low),
        percent(covered.high),
        raw.days
    );
    Fact::new("back-test", Grade::Measured, says)
}

/// Whether raw intervals cover less than they should.
fn narrow(raw: &Score) -> Option<Fact> {
    let covered = raw.coverage.get("80").filter(|covered| covered.high < 0.8)?;
    let says = format!(
        "The forecast is too sure: {} of the starts lay in the raw interval of 80 % [{}, {}]. Either the scheduler is another one, or jobs \
         run otherwise than those before them.",
        percent(covered.value),
        percent(covered.low),
        percent(covered.high)
    );
    Some(Fact::new("model", Grade::Assumed, says).with_remedy(
        "Compare schedulers with --beside, and try --last-jobs 100. The corrected interval is wider, but no truer.",
    ))
}

/// Whether starts lie at the ends of their draws.
fn heaped(raw: &Score) -> Option<Fact> {
    let [low, high] = raw.ends.filter(|[low, high]| low + high > HEAPED)?;
    let says = format!(
        "Starts are heaped at the ends of the draws: {} before the first tenth, and {} behind the last, where a tenth is right.",
        percent(low),
        percent(high)
    );
    Some(Fact::new("model", Grade::Assumed, says))
}

/// Whether a baseline is as good.
fn beaten(report: &Report) -> Option<Fact> {
    let is_better = |beside: &&Beside| beside.times.is_some_and(|times| times.value <= 1.0);
    let best = report.baselines.iter().find(is_better)?;
    let says = format!("{} is no worse a forecast than the simulation.", best.name);
    Some(Fact::new("model", Grade::Assumed, says).with_remedy("Do not publish this forecast."))
}

/// What was missing in the states at the moments.
fn counts(tested: &Backtest) -> Vec<Fact> {
    let [lawless, all] = tested.lawless;
    let share = |part: u64| part as f64 / all.max(1) as f64;
    let mut facts = Vec::new();
    if share(lawless) > MANY {
        let says = format!(
            "{} of the jobs that ran or waited are like no two jobs before them, and are taken to run up to their limits.",
            percent(share(lawless))
        );
        facts.push(Fact::new("run-times", Grade::Assumed, says).with_remedy("Give a longer history."));
    }
    if share(tested.without_limit) > MANY {
        let says = format!(
            "{} of the jobs that ran or waited have no limit; a scheduler that plans is taken to know how long they run.",
            percent(share(tested.without_limit))
        );
        facts.push(Fact::new("limits", Grade::Assumed, says));
    }
    let misplaced = tested.misplaced / tested.used.max(1) as f64;
    if misplaced > 0.5 {
        let says = format!(
            "This policy had not started {misplaced:.1} of the jobs that ran, on average: machines or rules of the log are others."
        );
        facts.push(
            Fact::new("capacity", Grade::Assumed, says)
                .with_remedy("Give the configuration of the site with --site-conf."),
        );
    }
    facts
}

/// The class of a number of machines: its place among the classes, and its name.
pub(crate) fn size_class(machines: Option<u32>) -> Option<(u32, &'static str)> {
    Some(match machines? {
        0..=1 => (0, "1 machine"),
        2..=4 => (1, "2 to 4 machines"),
        5..=16 => (2, "5 to 16 machines"),
        _ => (3, "more than 16 machines"),
    })
}

fn classes<K: Ord>(rows: &[Row], length: Ms, seed: u64, of: impl Fn(&Row) -> Option<K>) -> BTreeMap<K, Class> {
    let mut all: BTreeMap<K, Vec<Judged>> = BTreeMap::new();
    for row in rows {
        if let (Some(key), Some(judged)) = (of(row), row.judged(row.raw, true)) {
            all.entry(key).or_default().push(judged);
        }
    }
    let class = |(key, rows): (K, Vec<Judged>)| {
        let found = score(&rows, length, seed)?;
        let class = Class {
            rows: found.rows,
            days: found.days,
            coverage_of_80: *found.coverage.get("80")?,
            pinball_ms: found.pinball_ms.value,
        };
        Some((key, class))
    };
    all.into_iter().filter_map(class).collect()
}

/// The last waits, their bound, and every job at its limit.
fn baselines(rows: &[Row], length: Ms, seed: u64) -> Vec<Beside> {
    let last =
        beside("the last waits of the queue, given the wait so far", rows, length, seed, |row| Some(row.last_waits));
    let limits = beside("every job at its limit", rows, length, seed, |row| Some([row.at_limits?; 9]));
    let bounded: Vec<(Ms, Ms)> = rows.iter().filter_map(|row| Some((row.start?, row.bound?))).collect();
    let held = bounded.iter().filter(|(start, bound)| start <= bound).count();
    let bound = Beside {
        name: "the 95 % bound of the last waits".to_owned(),
        rows: bounded.len() as u64,
        within: (!bounded.is_empty()).then(|| held as f64 / bounded.len() as f64),
        pinball_ms: None,
        times: None,
    };
    vec![last, bound, Beside { within: None, ..limits }]
}

fn beside_other(label: &str, rows: &[Row], others: &[Row], length: Ms, seed: u64) -> Beside {
    let known: BTreeMap<(Ms, u32), [Ms; 9]> = others.iter().map(|row| ((row.asked_at, row.place), row.raw)).collect();
    beside(label, rows, length, seed, |row| known.get(&(row.asked_at, row.place)).copied())
}

fn beside(name: &str, rows: &[Row], length: Ms, seed: u64, of: impl Fn(&Row) -> Option<[Ms; 9]>) -> Beside {
    let both: Vec<(Judged, Judged)> =
        rows.iter().filter_map(|row| Some((row.judged(row.raw, false)?, row.judged(of(row)?, false)?))).collect();
    let others: Vec<Judged> = both.iter().map(|pair| pair.1).collect();
    let score = score(&others, length, seed);
    let losses = both.iter().map(|(ours, other)| (ours.asked_at, vec![ours.pinball(), other.pinball()]));
    let times = Parts::new(losses, length).ratio(1, 0, seed);
    Beside {
        name: name.to_owned(),
        rows: both.len() as u64,
        within: score.as_ref().and_then(|score| Some(score.coverage.get("80")?.value)),
        pinball_ms: score.as_ref().map(|score| score.pinball_ms.value),
        times: times.value.is_finite().then_some(times),
    }
}
