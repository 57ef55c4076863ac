//! The heartbeat interval and the launch overhead, from how long slots stay free and from what the master's clock says.

use std::collections::{BTreeMap, VecDeque};

use resched_tables::model::TaskKind;

use super::fitted::{Fitted, bootstrap_error, determined};
use super::observed::{Attempt, Observed};
use crate::statistics::distribution::Distribution;

/// The fewest gaps that determine the interval.
const LEAST_GAPS: u64 = 20;
/// A median gap below this, ms, does not show a wait for a heartbeat: nodes call as soon as a task ends, or times are coarse.
const AT_ONCE: f64 = 50.0;
/// A launch overhead of fewer standard errors counts as 0.
const SIGMAS: f64 = 2.0;

/// A median delay below this share of the 90 % quantile does not, either: in waits for a heartbeat it is five ninths.
const AT_ONCE_SHARE: f64 = 0.2;
/// How often the nodes of YARN call, ms, unless a site says otherwise.
const YARN_INTERVAL: f64 = 1_000.0;

/// The estimates of heartbeats.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Heartbeat {
    /// The median time that a freed slot stayed free while a map waited, ms; null without such a slot.
    pub median_gap: Option<f64>,
    /// The median time from the end of an attempt until the master learned of it, ms; null if the source does not say.
    pub median_report: Option<f64>,
    /// True if the one or the other is so short that nodes must have called as soon as a task ended (or times are coarse).
    pub at_once: bool,
    /// True if an application master of YARN wrote the log: it learns of each end when it happens, and says when it asked for a
    /// container, not when it got one. The interval is then YARN's default.
    pub by_application: bool,
    /// Time between two heartbeats of a node, ms.
    pub interval: Fitted,
    /// From the heartbeat that assigns an attempt to its start, ms.
    pub launch_overhead: Fitted,
}

/// The heartbeat interval `h` and the launch overhead `o`, from gaps between the end of a map and the start of the next map in the
/// freed slot.
///
/// A gap counts under two conditions. Since all `slots` map slots of the node were taken, no other map has started there. And the job
/// of the next map had begun when the slot was freed, so that the map waited for the slot.
///
/// A slot is seen at the node's next heartbeat (`docs/model/heartbeats.md`), so a gap is uniform on `[o, o + h]`. The 10 % and 50 %
/// quantiles give both: `h = (q50 − q10) / 0.4`, `o = q50 − h/2`; higher quantiles are not used, because a policy may leave a slot
/// free on purpose. An overhead of less than two standard errors counts as 0, and then `h = 2·q50`. Standard errors are from the
/// bootstrap.
///
/// With too few gaps, the master's clock says more. A report waits for a heartbeat, too, so its delay is uniform on `[0, h]`, and
/// `h = 2·q50`. The launch overhead is the mean of the middle half of the times from the assignment of a map to its start;
/// this leaves out hosts whose clocks are wrong.
pub fn heartbeat(observed: &Observed, slots: Option<u32>) -> Heartbeat {
    let by_gaps = by_gaps(observed, slots);
    let reports = Distribution::new(reports(observed));
    let (median_report, high) = (reports.median(), reports.quantile(0.9));
    let has_masters = observed.attempts.iter().any(|attempt| attempt.kind == TaskKind::Master);
    let no_delays = !reports.values().is_empty() && reports.values().iter().all(|&delay| delay == 0.0);
    let by_application = has_masters || no_delays;
    let few = by_gaps.interval.value.is_none() && !by_gaps.at_once;
    let short = |median: f64| median < AT_ONCE || high.is_some_and(|high| median < AT_ONCE_SHARE * high);
    let enough = reports.values().len() as u64 >= LEAST_GAPS || by_application;
    let at_once = by_gaps.at_once || few && enough && median_report.is_some_and(short);
    let interval = match median_report.filter(|_| few) {
        Some(_) if by_application => Fitted { value: Some(YARN_INTERVAL), ..Fitted::unknown(0) },
        Some(median) if enough && !at_once => {
            let error = bootstrap_error(reports.values(), 3, |sample| {
                Some(2.0 * Distribution::new(sample.iter().copied()).median()?)
            });
            Fitted::of(2.0 * median, error, reports.values().len() as u64)
        }
        _ => by_gaps.interval,
    };
    let launch_overhead = launch_overhead(observed, by_application);
    let launch_overhead = if launch_overhead.value.is_some() { launch_overhead } else { by_gaps.launch_overhead };
    Heartbeat { median_report, at_once, by_application, interval, launch_overhead, ..by_gaps }
}

/// From the ends of attempts until the master learned of them, ms.
fn reports(observed: &Observed) -> Vec<f64> {
    let tasks = observed.attempts.iter().filter(|attempt| matches!(attempt.kind, TaskKind::Map | TaskKind::Reduce));
    tasks.filter_map(|attempt| Some((attempt.learned? - attempt.finish?) as f64)).collect()
}

/// From the assignment of a map to its start. An application master says when it asked; then the least tenth waited for no
/// other map, only for the next heartbeat of the master, at which it takes the container over.
fn launch_overhead(observed: &Observed, by_application: bool) -> Fitted {
    let maps = observed.attempts.iter().filter(|attempt| attempt.kind == TaskKind::Map);
    let delays = Distribution::new(maps.filter_map(|attempt| Some((attempt.start? - attempt.assigned?) as f64)));
    let statistic = |delays: &Distribution| match by_application {
        true => Some((delays.quantile(0.1)? - YARN_INTERVAL).max(0.0)),
        false => middle_mean(delays).map(|mean| mean.max(0.0)),
    };
    let error = bootstrap_error(delays.values(), 4, |sample| statistic(&Distribution::new(sample.iter().copied())));
    let n = delays.values().len() as u64;
    statistic(&delays).map_or(Fitted::unknown(n), |value| determined(Fitted::of(value, error, n)))
}

/// The mean of the middle half of a sample.
fn middle_mean(sample: &Distribution) -> Option<f64> {
    let (low, high) = (sample.quantile(0.25)?, sample.quantile(0.75)?);
    let middle: Vec<f64> = sample.values().iter().copied().filter(|value| (low..=high).contains(value)).collect();
    crate::statistics::distribution::mean(&middle)
}

/// The estimates from gaps alone.
fn by_gaps(observed: &Observed, slots: Option<u32>) -> Heartbeat {
    let gaps = Distribution::new(slots.map_or_else(Vec::new, |slots| gaps(observed, slots as usize)));
    let n = gaps.values().len() as u64;
    let unknown = Heartbeat {
        median_gap: gaps.median(),
        at_once: n >= LEAST_GAPS && gaps.median().is_some_and(|median| median < AT_ONCE),
        interval: Fitted::unknown(n),
        launch_overhead: Fitted::unknown(n),
        ..Heartbeat::default()
    };
    let (Some(median), Some((interval, overhead))) = (gaps.median(), both(&gaps)) else { return unknown };
    if n < LEAST_GAPS || unknown.at_once {
        return unknown;
    }
    let error = |statistic: fn(&Distribution) -> Option<f64>| {
        bootstrap_error(gaps.values(), 2, |sample| statistic(&Distribution::new(sample.iter().copied())))
    };
    let overhead_error = error(|sample| Some(both(sample)?.1));
    if overhead_error.is_some_and(|error| overhead > SIGMAS * error) {
        let interval = Fitted::of(interval, error(|sample| Some(both(sample)?.0)), n);
        return Heartbeat { interval, launch_overhead: Fitted::of(overhead, overhead_error, n), ..unknown };
    }
    Heartbeat {
        interval: Fitted::of(2.0 * median, error(|sample| Some(2.0 * sample.median()?)), n),
        launch_overhead: Fitted::of(0.0, overhead_error, n),
        ..unknown
    }
}

/// Interval and overhead, both not determined.
fn both(gaps: &Distribution) -> Option<(f64, f64)> {
    let (low, middle) = (gaps.quantile(0.1)?, gaps.median()?);
    let interval = (middle - low) / 0.4;
    Some((interval, middle - interval / 2.0))
}

/// The gaps of all nodes that were full: how long a slot stayed free while a map waited, ms.
fn gaps(observed: &Observed, slots: usize) -> Vec<f64> {
    let mut begun: BTreeMap<usize, i64> = BTreeMap::new();
    let mut of_host: BTreeMap<usize, Vec<&Attempt>> = BTreeMap::new();
    for map in observed.attempts.iter().filter(|attempt| attempt.kind == TaskKind::Map) {
        let Some(start) = map.start else { continue };
        let first = begun.entry(map.job).or_insert(start);
        *first = (*first).min(start);
        if let Some(host) = map.host {
            of_host.entry(host).or_default().push(map);
        }
    }
    of_host.values().flat_map(|maps| gaps_of_node(maps, slots, &begun)).collect()
}

/// The gaps of one node. The slot that has been free the longest is taken first.
fn gaps_of_node(maps: &[&Attempt], slots: usize, begun: &BTreeMap<usize, i64>) -> Vec<f64> {
    // Ends before starts of the same instant; a map without an end keeps its slot.
    let mut events: Vec<(i64, bool, usize)> = Vec::with_capacity(2 * maps.len());
    for (index, map) in maps.iter().enumerate() {
        let Some(start) = map.start else { continue };
        events.push((start, true, index));
        events.extend(map.finish.filter(|&finish| finish > start).map(|finish| (finish, false, index)));
    }
    events.sort_unstable();
    // When each free slot was freed, if nothing has started since the node was full: a slot that is passed over is not waited for.
    let mut free: VecDeque<Option<i64>> = std::iter::repeat_n(None, slots.min(maps.len())).collect();
    let mut unknown = free.len();
    let (mut gaps, mut last_start) = (Vec::new(), i64::MIN);
    for (time, starts, index) in events {
        if !starts {
            // Slots are freed in order, so the first one stands for all slots with a known time.
            let full = unknown == 0 && free.front().is_none_or(|freed| freed.is_some_and(|freed| freed >= last_start));
            unknown += usize::from(!full);
            free.push_back(full.then_some(time));
            continue;
        }
        last_start = time;
        let (freed, map) = (free.pop_front(), maps.get(index));
        unknown -= usize::from(freed == Some(None));
        if let (Some(freed), Some(map)) = (freed.flatten(), map) {
            let waited = map.first && begun.get(&map.job).is_some_and(|&begun| begun <= freed);
            gaps.extend(waited.then(|| (time - freed) as f64));
        }
    }
    gaps
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use rand::RngExt;
    use resched_tables::draws::{Purpose, stream};

    use super::*;

    /// One job on ten nodes of two slots, heartbeats every `interval` ms, a map starts `overhead` ms after one.
    fn busy(interval: i64, overhead: i64, maps: usize) -> Observed {
        let mut draws = stream(1, Purpose::TaskDuration, &[]);
        let mut attempts = Vec::new();
        for host in 0..10 {
            let mut ends = [0i64, 0];
            for n in 0..maps {
                let end = &mut ends[n % 2];
                let beat = (*end).div_euclid(interval) * interval + interval;
                let start = beat + overhead;
                *end = start + draws.random_range(20_000..60_000);
                attempts.push(Attempt {
                    host: Some(host),
                    kind: TaskKind::Map,
                    first: true,
                    start: Some(start),
                    finish: Some(*end),
                    succeeded: true,
                    ..Attempt::default()
                });
            }
        }
        Observed { attempts, ..Observed::default() }
    }

    #[test]
    fn interval_and_overhead_are_found() {
        for (interval, overhead) in [(3_000, 0), (5_000, 0), (3_000, 1_500)] {
            let found = heartbeat(&busy(interval, overhead, 40), Some(2));
            let (error, n) = (found.interval.standard_error.unwrap(), found.interval.n);
            assert!(n > 200 && error < 0.15 * interval as f64, "{found:?}");
            let off = found.interval.value.unwrap() - interval as f64;
            assert!(off.abs() < 3.0 * error, "{interval} {overhead}: {found:?}");
            let off = found.launch_overhead.value.unwrap() - overhead as f64;
            assert!(off.abs() < 0.1 * interval as f64, "{interval} {overhead}: {found:?}");
        }
    }

    #[test]
    fn only_slots_that_somebody_waits_for_count() {
        let map = |job, start, finish| Attempt {
            job,
            host: Some(0),
            kind: TaskKind::Map,
            first: true,
            start: Some(start),
            finish: Some(finish),
            ..Attempt::default()
        };
        // Two slots: those of 10, 60 and 75 are taken at 12, 70 and 85; that of 30 is free until job 1 comes; at 80 one is free.
        let maps = [map(0, 0, 10), map(0, 0, 30), map(0, 12, 80), map(1, 40, 60), map(0, 70, 75), map(0, 85, 90)];
        let observed = Observed { attempts: maps.to_vec(), ..Observed::default() };
        assert_eq!(gaps(&observed, 2), [2.0, 10.0, 10.0]);
        assert_eq!(gaps(&observed, 5), Vec::<f64>::new());
    }

    #[test]
    fn few_gaps_and_none_determine_nothing() {
        assert_eq!(heartbeat(&busy(3_000, 0, 3), Some(2)).interval, Fitted::unknown(10));
        let at_once = heartbeat(&busy(20, 0, 40), Some(2));
        assert!(at_once.at_once && at_once.interval.value.is_none(), "{at_once:?}");
        assert_eq!(heartbeat(&Observed::default(), None), Heartbeat::default());
    }
}
