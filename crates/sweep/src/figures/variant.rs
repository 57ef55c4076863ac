//! One variant: its varying keys, and the metric at their levels.

use std::collections::{BTreeMap, BTreeSet};

use resched_analysis::metrics::named::Metric;
use resched_analysis::statistics::distribution::mean;
use resched_analysis::statistics::estimate::Estimate;
use resched_analysis::statistics::repeats::t_interval;

use crate::statistics::Group;

/// The most bins for the values of a key in a sampled design.
const BINS: usize = 6;

/// The groups of a variant with the keys that vary.
pub(super) struct Variant<'g, 'a> {
    /// Its name.
    pub(super) name: &'g str,
    /// The keys that vary, the one with the largest effect first.
    pub(super) keys: Vec<String>,
    groups: Vec<&'g Group<'a>>,
    is_grid: bool,
}

impl<'g, 'a> Variant<'g, 'a> {
    /// The variant `name` among `groups`, its keys by their effects on the metric.
    pub(super) fn new(name: &'g str, groups: &[&'g Group<'a>], metric: &Metric, is_grid: bool) -> Self {
        let groups: Vec<&Group<'a>> = groups.iter().copied().filter(|group| group.variant == name).collect();
        let mut found = Self { name, keys: varying(&groups), groups, is_grid };
        let mut keys = found.keys.clone();
        let spread = |key: &String| {
            let levels = found.levels(key, metric);
            let means = levels.iter().map(|(_, found)| found.value);
            let (low, high) = means.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
            high - low
        };
        keys.sort_by(|a, b| spread(b).total_cmp(&spread(a)).then(a.cmp(b)));
        found.keys = keys;
        found
    }

    /// The values of a key in order, numbers by size.
    pub(super) fn values(&self, key: &str) -> Vec<String> {
        let mut values: Vec<String> = self.groups.iter().filter_map(|group| group.settings.get(key).cloned()).collect();
        values.sort_by(|a, b| match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(x), Ok(y)) => x.total_cmp(&y),
            _ => a.cmp(b),
        });
        values.dedup();
        values
    }

    /// True if all values of a key are numbers.
    pub(super) fn is_numeric(&self, key: &str) -> bool {
        self.values(key).iter().all(|value| value.parse::<f64>().is_ok())
    }

    /// The bin of each value of a key. In a grid, this is the value itself; in a sample, the middle of a bin of neighbours.
    pub(super) fn bins(&self, key: &str) -> BTreeMap<String, String> {
        let values = self.values(key);
        if self.is_grid || values.len() <= BINS {
            return values.iter().map(|value| (value.clone(), value.clone())).collect();
        }
        let size = values.len().div_ceil(BINS);
        let bin = |chunk: &[String]| {
            let numbers: Vec<f64> = chunk.iter().filter_map(|value| value.parse().ok()).collect();
            let label = mean(&numbers)
                .map_or_else(|| chunk.first().cloned().unwrap_or_default(), |middle| format!("{middle:.4}"));
            chunk.iter().map(move |value| (value.clone(), label.clone())).collect::<Vec<_>>()
        };
        values.chunks(size).flat_map(bin).collect()
    }

    /// The metric at each level of a key. It is averaged over the other keys for each seed; its interval is over the seeds.
    pub(super) fn levels(&self, key: &str, metric: &Metric) -> Vec<(String, Estimate)> {
        let bins = self.bins(key);
        self.cells(&[key], &[bins], metric)
            .into_iter()
            .filter_map(|(mut level, found)| Some((level.pop()?, found)))
            .collect()
    }

    /// The metric at each combination of levels of some keys, averaged over the others.
    pub(super) fn cells(
        &self,
        keys: &[&str],
        bins: &[BTreeMap<String, String>],
        metric: &Metric,
    ) -> Vec<(Vec<String>, Estimate)> {
        let mut sums: BTreeMap<Vec<String>, BTreeMap<u64, (f64, f64)>> = BTreeMap::new();
        for group in &self.groups {
            let level = |(key, bins): (&&str, &BTreeMap<String, String>)| bins.get(group.settings.get(*key)?).cloned();
            let Some(levels) = keys.iter().zip(bins).map(level).collect::<Option<Vec<String>>>() else { continue };
            let cell = sums.entry(levels).or_default();
            for (seed, value) in group.values(metric) {
                let (sum, count) = cell.entry(seed).or_default();
                (*sum, *count) = (*sum + value, *count + 1.0);
            }
        }
        let estimate = |seeds: BTreeMap<u64, (f64, f64)>| {
            t_interval(&seeds.into_values().map(|(sum, count)| sum / count).collect::<Vec<f64>>())
        };
        sums.into_iter().filter_map(|(levels, seeds)| Some((levels, estimate(seeds)?))).collect()
    }
}

/// The keys that take more than one value in these groups, in order.
pub(super) fn varying(groups: &[&Group<'_>]) -> Vec<String> {
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for group in groups {
        for (key, value) in &group.settings {
            values.entry(key).or_default().insert(value);
        }
    }
    values.into_iter().filter(|(_, values)| values.len() > 1).map(|(key, _)| key.to_owned()).collect()
}
