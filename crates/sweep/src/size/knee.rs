//! The knee of the curve: the size beyond which more machines gain little.

use resched_analysis::metrics::named::Metric;

use super::Probe;

/// The least distance from the chord that makes a knee, as a share of the fall of the curve. A straight line has none.
const LEAST: f64 = 0.1;

/// The most that larger sizes may still gain behind a knee, as a share of the value there.
const MOST_LEFT: f64 = 1.0 / 3.0;

/// The knee: the size whose point is farthest below the chord of the curve, the line from its first point to its last, or the first
/// larger one from which on little is left to gain. Both axes count from 0 to 1, and sizes are on a logarithmic scale, as the search
/// doubles and halves them. `None` with fewer than three points, if no point is far from the chord, or if the last step still gains much.
pub(super) fn knee(probes: &[Probe], metric: &Metric) -> Option<u32> {
    let point = |probe: &Probe| Some((probe.size, f64::from(probe.size).ln(), metric.cost(probe.mean?.mean)));
    let points: Vec<(u32, f64, f64)> = probes.iter().filter_map(point).collect();
    let (first, last) = (*points.first()?, *points.last()?);
    let fall = first.2 - last.2;
    if points.len() < 3 || fall <= 0.0 {
        return None;
    }
    let below = |&(size, x, y): &(u32, f64, f64)| {
        let chord = 1.0 - (x - first.1) / (last.1 - first.1);
        (chord - (y - last.2) / fall, size)
    };
    let farthest = points.iter().map(below).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
    let is_flat = |&&(size, _, y): &&(u32, f64, f64)| size >= farthest.1 && y - last.2 <= MOST_LEFT * y.abs();
    let knee = points.iter().find(is_flat).map(|point| point.0).filter(|&size| size < last.0)?;
    (farthest.0 >= LEAST).then_some(knee)
}
