//! How long a job waited for a node with its input before it ran a map elsewhere.

use std::collections::BTreeMap;

use resched_tables::model::{Locality, TaskKind};

use super::fitted::{Fitted, LEAST, bootstrap_error};
use super::observed::Observed;
use crate::statistics::distribution::Distribution;

/// The least part of the waits is taken, because clocks differ and a map may come back from a failure.
const LEAST_PART: f64 = 0.1;

/// The locality wait of a delay scheduler, ms: such a scheduler runs a map off its input only if its job has launched no map for so
/// long. So no shorter time lies between such a map and the launch before it, and the 10 % quantile of these times is the estimate. A
/// scheduler without delay shows the time between two heartbeats of the cluster, or less.
pub fn locality_wait(observed: &Observed) -> Fitted {
    let mut of_job: BTreeMap<usize, Vec<(i64, bool)>> = BTreeMap::new();
    for map in observed.attempts.iter().filter(|attempt| attempt.kind == TaskKind::Map && attempt.first) {
        if let (Some(start), Some(level)) = (map.start, map.locality) {
            of_job.entry(map.job).or_default().push((start, level != Locality::Node));
        }
    }
    let mut waits = Vec::new();
    for maps in of_job.values_mut() {
        maps.sort_unstable();
        waits.extend(maps.windows(2).filter_map(|pair| match pair {
            &[(before, _), (start, true)] => Some((start - before) as f64),
            _ => None,
        }));
    }
    let waits = Distribution::new(waits);
    let n = waits.values().len() as u64;
    let part = |waits: &Distribution| waits.quantile(LEAST_PART);
    let error = bootstrap_error(waits.values(), 7, |sample| part(&Distribution::new(sample.iter().copied())));
    part(&waits).filter(|_| n >= LEAST).map_or(Fitted::unknown(n), |wait| Fitted::of(wait, error, n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::Attempt;

    /// A job launches a map on its input every 2 s, five times, and then, after a wait, one elsewhere; twelve times over.
    fn jobs(wait: i64) -> Observed {
        let map = |start, level| Attempt {
            kind: TaskKind::Map,
            first: true,
            start: Some(start),
            locality: Some(level),
            ..Attempt::default()
        };
        let turn = |turn: i64| {
            let from = turn * 100_000;
            let local = (0..5_i64).map(move |n| map(from + 2_000 * n, Locality::Node));
            local.chain([map(from + 8_000 + wait, Locality::Rack)])
        };
        Observed { attempts: (0..12).flat_map(turn).collect(), ..Observed::default() }
    }

    #[test]
    fn the_wait_before_a_map_elsewhere_is_found() {
        for wait in [0, 15_000] {
            let found = locality_wait(&jobs(wait));
            assert_eq!((found.value, found.n), (Some(wait as f64), 12));
        }
        assert_eq!(locality_wait(&Observed::default()).value, None);
    }
}
