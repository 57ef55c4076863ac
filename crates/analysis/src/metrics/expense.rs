//! What a run costs and draws, by the `[price]` and `[power]` of its cluster file.
//!
//! Both are models: a price is your word, and the energy is that of machines which draw a fixed power when they are on and more for each core
//! and GPU that a job holds. The time is that from the first submission to the last end, as for the shares of the machines that were held.

use std::collections::BTreeMap;

use resched_tables::cluster_file::{Power, Price};

use crate::runs::jobs::JobMetrics;
use crate::runs::run::Run;
use crate::runs::who::Who;

/// Milliseconds of an hour.
const HOUR: f64 = 3_600_000.0;

/// What the run costs, in the currency of its prices; `None` if no price is given, or an amount that a price needs is unknown.
pub(crate) fn cost(run: &Run) -> Option<f64> {
    let Price { node_hour, core_hour, gpu_hour, memory_hour } = run.replay()?.rules.price;
    sum([
        priced(node_hour, || Some(nodes(run)? * run.jobs.makespan()? as f64)),
        priced(core_hour, || held(run, |job| job.cpu_time)),
        priced(gpu_hour, || held(run, |job| job.gpu_time)),
        priced(memory_hour, || held(run, |job| job.memory_time)),
    ])
}

/// The energy that the machines draw, kWh; `None` if no power is given, or an amount that a power needs is unknown.
pub(crate) fn energy_kwh(run: &Run) -> Option<f64> {
    let Power { idle, core, gpu, off_after, .. } = run.replay()?.rules.power;
    let watt_hours = sum([
        priced(idle, || on_time(run, off_after)),
        priced(core, || held(run, |job| job.cpu_time)),
        priced(gpu, || held(run, |job| job.gpu_time)),
    ]);
    watt_hours.map(|watt_hours| watt_hours / 1_000.0)
}

/// The CO2 of the energy, kg.
pub(crate) fn co2_kg(run: &Run) -> Option<f64> {
    let grams = run.replay()?.rules.power.co2?;
    Some(energy_kwh(run)? * grams / 1_000.0)
}

/// A rate for each hour times an amount in ms; `None` without the rate, and `Some(None)` if the amount is unknown.
fn priced(rate: Option<f64>, amount: impl FnOnce() -> Option<f64>) -> Option<Option<f64>> {
    rate.map(|rate| amount().map(|ms| rate * ms / HOUR))
}

/// The sum of what has a rate; `None` if nothing has one, or one of them is unknown.
fn sum<const N: usize>(parts: [Option<Option<f64>>; N]) -> Option<f64> {
    let mut parts = parts.into_iter().flatten().peekable();
    parts.peek()?;
    parts.sum()
}

/// What the jobs that started held of something, times ms.
fn held(run: &Run, of: fn(&JobMetrics) -> Option<f64>) -> Option<f64> {
    run.jobs_among(Who::Started).filter_map(of).reduce(|a, b| a + b)
}

fn nodes(run: &Run) -> Option<f64> {
    Some(run.replay()?.cluster.nodes).filter(|&nodes| nodes > 0).map(|nodes| nodes as f64)
}

/// How long the machines are on, all together, ms. Each is on while it runs something, and for `off_after` after that.
fn on_time(run: &Run, off_after: Option<i64>) -> Option<f64> {
    let (nodes, (first, last)) = (nodes(run)?, run.jobs.span()?);
    let whole = (last - first) as f64;
    let Some(off_after) = off_after else { return Some(nodes * whole) };
    let busy = busy(run);
    let off: i64 = busy.values().map(|spans| off_time(spans, (first, last), off_after)).sum();
    let unused = nodes - busy.len() as f64;
    let of_unused = unused.max(0.0) * (whole - off_after as f64).max(0.0);
    Some((nodes * whole - off as f64 - of_unused).max(0.0))
}

/// When each machine runs something, by its place, in the order of the starts.
fn busy(run: &Run) -> BTreeMap<usize, Vec<(i64, i64)>> {
    let mut all: BTreeMap<usize, Vec<(i64, i64)>> = BTreeMap::new();
    for (place, interval) in run.intervals.iter().enumerate() {
        let several = run.spread.get(&place).map_or(&[][..], |places| &**places);
        for node in interval.node.iter().chain(several.iter().map(|(node, _)| node)) {
            all.entry(node.place()).or_default().push((interval.start, interval.finish));
        }
    }
    all.values_mut().for_each(|spans| spans.sort_unstable());
    all
}

/// How long a machine is off between `first` and `last`, ms: every gap of its work, after `off_after`. It is on at the first submission.
fn off_time(spans: &[(i64, i64)], (first, last): (i64, i64), off_after: i64) -> i64 {
    let (mut off, mut until) = (0, first);
    let gap = |from: i64, to: i64| (to.min(last) - from - off_after).max(0);
    for &(start, finish) in spans {
        off += gap(until, start);
        until = until.max(finish);
    }
    off + gap(until, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand: on from 0 to 10 (off after 10), 30 to 60 (50 + 10), 80 to 90; off 10–30, 60–80, 100–120.
    #[test]
    fn a_machine_is_off_in_its_gaps() {
        let spans = [(30, 40), (35, 50), (80, 90)];
        assert_eq!(off_time(&spans, (0, 120), 10), 20 + 20 + 20);
        assert_eq!(off_time(&spans, (0, 85), 10), 20 + 20);
        assert_eq!(off_time(&[], (0, 120), 10), 110);
        assert_eq!(off_time(&spans, (0, 120), 1_000), 0);
    }

    #[test]
    fn what_has_no_rate_does_not_count_and_what_is_unknown_is_unknown() {
        assert_eq!(sum([priced(Some(2.0), || Some(HOUR)), priced(None, || None)]), Some(2.0));
        assert_eq!(sum([priced(Some(2.0), || Some(HOUR)), priced(Some(1.0), || None)]), None);
        assert_eq!(sum([priced(None, || Some(1.0)), None]), None);
    }
}
