//! Cells of time for what changes over a run.

use std::collections::BTreeSet;

use serde::Serialize;

/// Edges of cells from 0 to `end`: all `steps` if there are at most so many, otherwise evenly spaced edges.
pub(crate) fn edges(steps: impl Iterator<Item = i64>, end: i64, most: usize) -> Vec<i64> {
    let mut exact = BTreeSet::from([0, end]);
    for time in steps.filter(|time| (0..=end).contains(time)) {
        exact.insert(time);
        // A long run has millions of steps: they are not gathered.
        if exact.len() > most {
            return even(end, most);
        }
    }
    exact.into_iter().collect()
}

/// Evenly spaced edges from 0 to `end`.
fn even(end: i64, cells: usize) -> Vec<i64> {
    let edge = |n: usize| (i128::from(end) * n as i128 / cells as i128) as i64;
    let mut edges: Vec<i64> = (0..=cells).map(edge).collect();
    edges.dedup();
    edges
}

/// The running tasks of a kind in one run, by job.
#[derive(Debug, Serialize)]
pub(crate) struct Layers {
    /// Edges of the cells of time, ms since the first submission.
    pub(crate) edges: Vec<i64>,
    /// From the bottom: the mean in each cell of each job with a colour of its own, then of all others.
    #[serde(serialize_with = "rounded")]
    pub(crate) jobs: Vec<Vec<f64>>,
}

/// Writes numbers with three decimals: no screen shows more, and the page stays small.
pub(crate) fn rounded<S: serde::Serializer>(runs: &[Vec<f64>], serializer: S) -> Result<S::Ok, S::Error> {
    let round = |values: &Vec<f64>| values.iter().map(|value| (value * 1e3).round() / 1e3).collect::<Vec<_>>();
    serializer.collect_seq(runs.iter().map(round))
}
