//! The back-test: forecasts at past moments, each from what was known then, beside what came.
//!
//! **Moments** are drawn by time alone, after the first [`HISTORY`] of the log and not in its last days, where jobs no longer come.
//! Moments at which nobody waits are dropped. At each, at most [`ASKED`] of the jobs that wait are asked. A job that was cancelled while
//! it waited has no start and counts in no score.

use rand::{Rng, RngExt};
use resched_replay::Threads;
use resched_sim::Ms;
use resched_tables::call::checkpoint;
use resched_tables::draws::{Purpose, stream};

use crate::Error;
use crate::baselines::LastWaits;
use crate::correct::{Made, corrected, correction};
use crate::moment::{Model, Moment};
use crate::past::Past;
use crate::quantiles::quantiles;
use crate::scores::{Judged, beside_draws};

/// The share of the log that is history only.
pub const HISTORY: f64 = 0.35;

/// How many of the jobs that wait at a moment are asked, at most.
pub const ASKED: usize = 5;

/// The last part of a log, where jobs no longer come, ms: two days, or a twentieth of a short log.
const LAST: Ms = 2 * 86_400_000;
const LAST_PART: Ms = 20;

/// A forecast of a back-test, beside what came. Times are ms of the clock of the trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The job, by its place in the past.
    pub place: u32,
    /// The moment.
    pub asked_at: Ms,
    /// When the job was submitted.
    pub submit: Ms,
    /// When it really started; `None`: it did not.
    pub start: Option<Ms>,
    /// The quantiles of the draws, at [`crate::LEVELS`].
    pub raw: [Ms; 9],
    /// The same with the correction of that moment.
    pub corrected: [Ms; 9],
    /// True if there was a correction: enough earlier forecasts were known.
    pub is_corrected: bool,
    /// True if the row belongs to the second half, by time, which is judged.
    pub is_judged: bool,
    /// The quantiles of the last waits, given how long the job has waited.
    pub last_waits: [Ms; 9],
    /// The bound of the last waits; `None`: too few are known.
    pub bound: Option<Ms>,
    /// When it starts if every job reaches its limit and nobody comes.
    pub at_limits: Option<Ms>,
    /// Where the start fell among the draws, and the score of the draws.
    pub(crate) beside: Option<(f64, f64)>,
}

impl Row {
    pub(crate) fn judged(&self, quantiles: [Ms; 9], draws: bool) -> Option<Judged> {
        let (pit, crps) = self.beside.filter(|_| draws).unzip();
        Some(Judged { asked_at: self.asked_at, quantiles, start: self.start?, pit, crps })
    }

    pub(crate) fn made(&self) -> Made {
        Made { asked_at: self.asked_at, quantiles: self.raw, start: self.start }
    }
}

/// A finished back-test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Backtest {
    /// Its forecasts, by moment.
    pub rows: Vec<Row>,
    /// The moments that were drawn.
    pub drawn: u64,
    /// Those of them at which somebody waited.
    pub used: u64,
    /// Jobs without a law of run times, of all that ran or waited at these moments, and these.
    pub lawless: [u64; 2],
    /// Jobs without a limit among them.
    pub without_limit: u64,
    /// Jobs held or waiting for something else than machines.
    pub held: u64,
    /// How many jobs that ran the policy would not have started by then, on average over futures, summed over the moments.
    pub misplaced: f64,
}

/// `count` moments of a part of the past, in order: drawn evenly.
///
/// # Errors
/// [`Error::Request`] if the log is too short.
pub fn moments(past: &Past, count: u32, until: Option<Ms>, seed: u64) -> Result<Vec<Ms>, Error> {
    let (first, last) = past.span().ok_or_else(|| Error::Request("the log has no job to forecast".to_owned()))?;
    let last = until.map_or_else(|| last - LAST.min((last - first) / LAST_PART), |until| until.min(last));
    let from = first + ((last - first) as f64 * HISTORY) as Ms;
    if from >= last {
        let problem = "the log is too short for a back-test: expected jobs over some time; give a longer log";
        return Err(Error::Request(problem.to_owned()));
    }
    let draw =
        |number: u32| from + stream(seed, Purpose::ForecastMoment, &[0, number.into()]).random_range(0..last - from);
    let mut drawn: Vec<Ms> = (0..count).map(draw).collect();
    drawn.sort_unstable();
    drawn.dedup();
    Ok(drawn)
}

/// The jobs that are asked of those that wait at a moment, by their places: some that are drawn, in order.
pub fn asked(waiting: Vec<u32>, at: Ms, most: usize, seed: u64) -> Vec<u32> {
    let key = |place: &u32| stream(seed, Purpose::ForecastMoment, &[1, at as u64, (*place).into()]).next_u64();
    let mut keyed: Vec<(u64, u32)> = waiting.into_iter().map(|place| (key(&place), place)).collect();
    keyed.sort_unstable();
    let mut chosen: Vec<u32> = keyed.into_iter().take(most).map(|keyed| keyed.1).collect();
    chosen.sort_unstable();
    chosen
}

/// What one moment gave.
struct Tested {
    rows: Vec<Row>,
    lawless: [u64; 2],
    without_limit: u64,
    held: u64,
    misplaced: f64,
}

/// Forecasts at these moments. `progress` hears of each.
///
/// # Errors
/// Errors of the policy.
pub fn backtest(
    model: Model<'_>,
    moments: &[Ms],
    threads: Threads,
    progress: &(dyn Fn() + Sync),
) -> Result<Backtest, Error> {
    let tested = threads.in_order(moments, |&at| {
        checkpoint();
        let tested = test(model, at);
        progress();
        tested
    })?;
    let mut made = Backtest { drawn: moments.len() as u64, ..Backtest::default() };
    for part in tested.into_iter().flatten() {
        made.used += 1;
        made.lawless = [made.lawless[0] + part.lawless[0], made.lawless[1] + part.lawless[1]];
        made.without_limit += part.without_limit;
        made.held += part.held;
        made.misplaced += part.misplaced;
        made.rows.extend(part.rows);
    }
    correct(&mut made.rows, moments);
    Ok(made)
}

fn test(model: Model<'_>, at: Ms) -> Result<Option<Tested>, Error> {
    let seed = model.options.seed;
    let moment = Moment::new(model, at, |waiting| asked(waiting, at, ASKED, seed));
    if moment.asked().is_empty() {
        return Ok(None);
    }
    let drawn = moment.draw_all()?;
    let waits = LastWaits::new(model.past, at);
    let limits = moment.at_limits()?;
    let row = |(number, forecast): (usize, crate::Forecast)| {
        let job = moment.job(forecast.place)?;
        let raw = quantiles(&forecast.starts, at);
        Some(Row {
            place: forecast.place,
            asked_at: at,
            submit: job.submit,
            start: job.started(),
            raw,
            corrected: raw,
            is_corrected: false,
            is_judged: false,
            last_waits: waits.quantiles(job),
            bound: waits.bound(job),
            at_limits: limits.get(number).copied().flatten(),
            beside: job.started().map(|start| beside_draws(&forecast.starts, start)),
        })
    };
    Ok(Some(Tested {
        rows: moment.gather(&drawn).into_iter().enumerate().filter_map(row).collect(),
        lawless: [moment.lawless(), moment.running() + moment.waiting()],
        without_limit: moment.without_limit(),
        held: moment.held,
        misplaced: Moment::misplaced(&drawn),
    }))
}

/// Corrects each forecast by those whose jobs had started by its moment, and sets the second half apart.
fn correct(rows: &mut [Row], moments: &[Ms]) {
    let middle = moments.first().zip(moments.last()).map_or(0, |(first, last)| first + (last - first) / 2);
    let made: Vec<Made> = rows.iter().map(Row::made).collect();
    let mut added: Option<(Ms, Option<[f64; 9]>)> = None;
    for row in rows {
        let quantiles = match added {
            Some((at, known)) if at == row.asked_at => known,
            _ => correction(&made, row.asked_at),
        };
        added = Some((row.asked_at, quantiles));
        row.corrected = corrected(&row.made(), quantiles);
        row.is_corrected = quantiles.is_some();
        row.is_judged = row.asked_at > middle;
    }
}
