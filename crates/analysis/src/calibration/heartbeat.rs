//! The heartbeat interval, from how long a slot stays free while a job waits for it.

use std::collections::{BTreeMap, VecDeque};

use resched_trace::model::TaskKind;

use super::fitted::{Fitted, bootstrap_error};
use super::observed::{Attempt, Observed};
use crate::distribution::Distribution;

/// The fewest gaps that determine the interval.
const LEAST_GAPS: u64 = 20;
/// A median gap below this, ms, does not show a wait for a heartbeat: nodes call as soon as a task ends, or times are coarse.
const AT_ONCE: f64 = 50.0;
/// A launch overhead of fewer standard errors counts as 0.
const SIGMAS: f64 = 2.0;

/// The estimates from the gaps.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Heartbeat {
    /// The median time that a freed slot stayed free while a map waited, ms; null without such a slot.
    pub median_gap: Option<f64>,
    /// Whether that is so short that nodes must have called as soon as a task ended (or times are coarse).
    pub at_once: bool,
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
/// A slot is seen at the node's next heartbeat (policies A.1), so a gap is uniform on `[o, o + h]`. The 10 % and 50 % quantiles
/// give both: `h = (q50 − q10) / 0.4`, `o = q50 − h/2`; higher quantiles are not used, because a policy may leave a slot
/// free on purpose. An overhead of less than two standard errors counts as 0, and then `h = 2·q50`. Standard errors are from the
/// bootstrap.
pub fn heartbeat(observed: &Observed, slots: Option<u32>) -> Heartbeat {
    let gaps = Distribution::new(slots.map_or_else(Vec::new, |slots| gaps(observed, slots as usize)));
    let n = gaps.values().len() as u64;
    let unknown = Heartbeat {
        median_gap: gaps.median(),
        at_once: n >= LEAST_GAPS && gaps.median().is_some_and(|median| median < AT_ONCE),
        interval: Fitted::unknown(n),
        launch_overhead: Fitted::unknown(n),
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
    use resched_trace::draws::{Purpose, stream};

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
