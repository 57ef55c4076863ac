//! Hosts that are clearly slow or fast.

use std::collections::BTreeMap;

use super::fitted::{Fitted, LEAST};
use super::observed::Observed;
use crate::statistics::distribution::Distribution;

/// A host is listed if the logarithm of its factor is more than this many standard errors from 0.
const SIGMAS: f64 = 3.0;
/// The most rounds that fit the effects of jobs and hosts in turn. A few suffice, unless jobs and hosts barely overlap.
const ROUNDS: usize = 50;
/// The fit ends when a round makes the sum of squares smaller by less than this share.
const ENOUGH: f64 = 1e-9;

/// The maps of a job at a level: host and logarithm of the run time.
type Cell = Vec<(usize, f64)>;

/// How many times as long maps take on a host as on the median host, for hosts with a clear difference.
///
/// The logarithm of a map's run time is fitted as an effect of its job and level plus one of its host, by least squares (the
/// two are fitted in turn), so that a host that ran the maps of long jobs does not look slow. The standard error of a host's
/// effect is `σ / √n`, with `σ` the scatter of what is left and `n` the host's maps; only hosts with at least ten maps and an
/// effect of more than three standard errors are listed.
pub fn host_factors(observed: &Observed) -> BTreeMap<String, Fitted> {
    let mut cells: BTreeMap<(usize, Option<&str>), Cell> = BTreeMap::new();
    for map in observed.attempts.iter().filter(|attempt| attempt.is_good_map()) {
        if let (Some(host), Some(time)) = (map.host, map.run_time()) {
            cells.entry((map.job, map.locality.map(|level| level.as_str()))).or_default().push((host, time.ln()));
        }
    }
    // A job that ran on one host does not show how hosts compare.
    let cells: Vec<Cell> = cells
        .into_values()
        .filter(|cell| cell.iter().any(|map| Some(map.0) != cell.first().map(|first| first.0)))
        .collect();
    let (effects, residual) = fit(&cells);
    let Some(sigma) = residual else { return BTreeMap::new() };
    let median = Distribution::new(effects.values().map(|effect| effect.0)).median().unwrap_or(0.0);
    let named = effects.into_iter().filter_map(|(host, (effect, n))| {
        let (effect, error) = (effect - median, sigma / (n as f64).sqrt());
        if n < LEAST || effect.abs() <= SIGMAS * error || effect.abs() < 1e-9 {
            return None;
        }
        let factor = effect.exp().clamp(1e-3, 1e3);
        Some((observed.hosts.get(host)?.clone(), Fitted::of(factor, Some(factor * error), n)))
    });
    named.collect()
}

/// The effect of each host with the number of its maps, and the scatter of what is left; `None` without freedom.
fn fit(cells: &[Cell]) -> (BTreeMap<usize, (f64, u64)>, Option<f64>) {
    let mut effects: BTreeMap<usize, (f64, u64)> = BTreeMap::new();
    let mut squares: f64 = 0.0;
    for _ in 0..ROUNDS {
        let before = squares;
        let of_host = |host: usize| effects.get(&host).map_or(0.0, |effect| effect.0);
        let mut sums: BTreeMap<usize, (f64, u64)> = BTreeMap::new();
        squares = 0.0;
        for cell in cells {
            let center = cell.iter().map(|&(host, log)| log - of_host(host)).sum::<f64>() / cell.len() as f64;
            for &(host, log) in cell {
                let sum = sums.entry(host).or_default();
                *sum = (sum.0 + log - center, sum.1 + 1);
                squares += (log - center - of_host(host)).powi(2);
            }
        }
        effects = sums.into_iter().map(|(host, (sum, n))| (host, (sum / n as f64, n))).collect();
        if (before - squares).abs() <= ENOUGH * squares {
            break;
        }
    }
    let maps: usize = cells.iter().map(Vec::len).sum();
    let freedom = maps.saturating_sub(cells.len() + effects.len().saturating_sub(1));
    (effects, (freedom > 0).then(|| (squares / freedom as f64).sqrt()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use resched_tables::model::TaskKind;

    use super::*;
    use crate::calibration::Attempt;

    /// Twelve hosts, one of them twice as slow; the slow one runs more of the short job, host 0 more of the long one.
    #[test]
    fn a_slow_host_is_named_and_no_other() {
        let mut attempts = Vec::new();
        for (job, base) in [10_000.0, 80_000.0].into_iter().enumerate() {
            for host in 0..12usize {
                let factor = if host == 7 { 2.0 } else { 1.0 };
                let maps = if (host, job) == (7, 0) || (host, job) == (0, 1) { 40 } else { 15 };
                attempts.extend((0..maps).map(|n| Attempt {
                    job,
                    host: Some(host),
                    kind: TaskKind::Map,
                    start: Some(0),
                    finish: Some((base * factor * [0.8, 1.0, 1.25][(n + host) % 3]) as i64),
                    succeeded: true,
                    ..Attempt::default()
                }));
            }
        }
        let hosts = (0..12).map(|host| format!("h{host}")).collect();
        let observed = Observed { jobs: vec![Default::default(); 2], attempts, hosts, racks: 1 };
        let found = host_factors(&observed);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["h7"], "{found:?}");
        let slow = found.get("h7").unwrap();
        assert!((slow.value.unwrap() - 2.0).abs() < 0.1 && slow.n == 55, "{slow:?}");
        assert!((0.02..0.1).contains(&slow.standard_error.unwrap()), "{slow:?}");
    }

    #[test]
    fn hosts_without_company_are_not_judged() {
        assert!(host_factors(&Observed::default()).is_empty());
        let alone = |run| Attempt {
            host: Some(0),
            kind: TaskKind::Map,
            start: Some(0),
            finish: Some(run),
            succeeded: true,
            ..Attempt::default()
        };
        let attempts = (0..50).map(|n| alone(1_000 + n)).collect();
        assert!(host_factors(&Observed { attempts, hosts: vec!["h".to_owned()], ..Observed::default() }).is_empty());
    }
}
