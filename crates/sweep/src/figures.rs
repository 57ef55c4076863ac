//! Which figures a sweep has: what varies decides.
//!
//! | what varies of a variant | figure |
//! |---|---|
//! | one number | the metric against it, with a band, one line a variant; what does not have it is a level line |
//! | two | a heat map |
//! | three or more | heat maps of the two with the largest effects, a panel for each value of the third |
//! | two or more | the main effect of each, and how each pair interacts |
//!
//! And for all: the metric against the second one, with the Pareto front.

use std::collections::{BTreeMap, BTreeSet};

use resched_analysis::compare::Estimate;
use resched_analysis::distribution::mean;
use resched_analysis::repeats::t_interval;
use resched_report::{Cloud, HeatMap, HeatPanel, Line, Lines, Scatter, draw_heat_map, draw_lines, draw_scatter};

use crate::Error;
use crate::file::DesignKind;
use crate::merge::Merged;
use crate::metrics::Metric;
use crate::statistics::{Group, front_of};

/// Main effects and interactions of so many keys at most, those with the largest effects.
const MOST_KEYS: usize = 4;
/// Of a sampled design a key's values are put into so many bins.
const BINS: usize = 6;

/// A figure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// The name of its files, without extension.
    pub(crate) name: String,
    /// Its title.
    pub(crate) title: String,
    /// What it shows.
    pub(crate) caption: String,
    /// The picture.
    pub(crate) svg: String,
}

/// Takes figures that could be drawn, and numbers them.
#[derive(Default)]
struct Album(Vec<Figure>);

impl Album {
    fn add(&mut self, name: &str, title: String, caption: String, svg: Option<String>) {
        if let Some(svg) = svg {
            let name = format!("{:02}-{name}", self.0.len() + 1);
            self.0.push(Figure { name, title, caption, svg });
        }
    }
}

/// The groups of a world's source and cluster, and what they are called.
struct Part<'g, 'a> {
    groups: Vec<&'g Group<'a>>,
    suffix: String,
}

/// The figures of a sweep, in order.
///
/// # Errors
/// [`Error::Report`] if one cannot be drawn.
pub(crate) fn figures(merged: &Merged) -> Result<Vec<Figure>, Error> {
    let groups = merged.groups();
    let places: BTreeSet<(usize, usize)> = groups.iter().map(|group| group.place).collect();
    let mut album = Album::default();
    for place in &places {
        let suffix = if places.len() > 1 { format!(": {}", merged.place_name(*place)) } else { String::new() };
        let part = Part { groups: groups.iter().filter(|group| group.place == *place).collect(), suffix };
        part.draw(merged, &mut album)?;
    }
    Ok(album.0)
}

/// What a figure shows, and how sure it is.
fn caption(metric: &Metric, more: &str) -> String {
    format!("{}: the mean over the seeds. {more}", metric.title)
}

impl Part<'_, '_> {
    fn draw(&self, merged: &Merged, album: &mut Album) -> Result<(), Error> {
        let metric = merged.file.metric;
        self.lines(metric, album)?;
        for variant in self.variants() {
            let own = Variant::new(variant, &self.groups, metric, merged.file.design.kind == DesignKind::Grid);
            if own.keys.len() < 2 {
                continue;
            }
            if own.grid {
                own.heat_map(metric, &self.suffix, album)?;
            }
            own.effects(metric, &self.suffix, album)?;
            own.interactions(metric, &self.suffix, album)?;
        }
        self.pareto(metric, merged.file.second, album)
    }

    fn of(&self, variant: &str) -> impl Iterator<Item = &Group<'_>> {
        self.groups.iter().copied().filter(move |group| group.variant == variant)
    }

    fn variants(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for group in &self.groups {
            if !names.contains(&group.variant) {
                names.push(group.variant);
            }
        }
        names
    }

    /// For each number that is all that varies of some variant: the metric against it.
    fn lines(&self, metric: &Metric, album: &mut Album) -> Result<(), Error> {
        let mut keys: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        let mut level = Vec::new();
        for variant in self.variants() {
            let groups: Vec<&Group<'_>> = self.of(variant).collect();
            match varying(&groups).as_slice() {
                [] => level.push(variant),
                [key] if groups.iter().all(|group| number(group, key).is_some()) => {
                    keys.entry(key.clone()).or_default().push(variant);
                }
                _ => {}
            }
        }
        for (key, variants) in keys {
            let at = |estimate: Estimate, x: f64| {
                (x, metric.shown(estimate.value), metric.shown(estimate.low), metric.shown(estimate.high))
            };
            let mut series: Vec<Line> = Vec::new();
            for variant in &variants {
                let mut points: Vec<(f64, f64, f64, f64)> = self
                    .of(variant)
                    .filter_map(|group| Some(at(group.estimate(metric)?, number(group, &key)?)))
                    .collect();
                points.sort_by(|a, b| a.0.total_cmp(&b.0));
                series.push(Line { label: (*variant).to_owned(), points, marked: true });
            }
            let xs = || series.iter().flat_map(|line| &line.points).map(|point| point.0);
            let (low, high) = xs().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
            for variant in &level {
                let Some(found) = self.of(variant).find_map(|group| group.estimate(metric)) else { continue };
                let points = vec![at(found, low), at(found, high)];
                series.push(Line { label: (*variant).to_owned(), points, marked: false });
            }
            let logarithmic = spans_decades(low, high);
            let name = format!("{}-against-{}", metric.name, plain(&key));
            let chart = Lines { name: &name, x: &key, logarithmic, y: &metric.axis(), band: true, series: &series };
            let more = "The band is its 95 % interval by Student's t.";
            album.add(
                &name,
                format!("{} against {key}{}", metric.title, self.suffix),
                caption(metric, more),
                draw_lines(&chart)?,
            );
        }
        Ok(())
    }

    /// The metric against the second one.
    fn pareto(&self, first: &Metric, second: &Metric, album: &mut Album) -> Result<(), Error> {
        let place = |group: &Group<'_>| Some((group.estimate(first)?.value, group.estimate(second)?.value));
        let shown = |(x, y): (f64, f64)| (first.shown(x), second.shown(y));
        let cloud = |variant: &str| Cloud {
            label: variant.to_owned(),
            points: self
                .groups
                .iter()
                .filter(|group| group.variant == variant)
                .filter_map(|group| place(group))
                .map(shown)
                .collect(),
        };
        let series: Vec<Cloud> = self.variants().into_iter().map(cloud).collect();
        let points: Vec<(f64, f64)> = self.groups.iter().filter_map(|group| place(group)).collect();
        if points.len() < 2 || first.name == second.name {
            return Ok(());
        }
        let front: Vec<(f64, f64)> = front_of(&points, first, second).into_iter().map(shown).collect();
        let name = format!("{}-against-{}", second.name, first.name);
        let chart = Scatter { name: &name, x: &first.axis(), y: &second.axis(), series: &series, front: &front };
        let title = format!("{} against {}{}", second.title, first.title.to_lowercase(), self.suffix);
        let more =
            "A point is a setting, in the mean over the seeds; the grey line joins those that no other beats in both.";
        album.add(&name, title, more.to_owned(), draw_scatter(&chart)?);
        Ok(())
    }
}

/// The groups of a variant with what varies of them.
struct Variant<'g, 'a> {
    name: &'g str,
    groups: Vec<&'g Group<'a>>,
    /// The keys that vary, the one with the largest effect first.
    keys: Vec<String>,
    grid: bool,
}

impl<'g, 'a> Variant<'g, 'a> {
    fn new(name: &'g str, groups: &[&'g Group<'a>], metric: &Metric, grid: bool) -> Self {
        let groups: Vec<&Group<'a>> = groups.iter().copied().filter(|group| group.variant == name).collect();
        let mut own = Self { name, keys: varying(&groups), groups, grid };
        let mut keys = own.keys.clone();
        let spread = |key: &String| {
            let levels = own.levels(key, metric);
            let means = levels.iter().map(|(_, found)| found.value);
            let (low, high) = means.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
            high - low
        };
        keys.sort_by(|a, b| spread(b).total_cmp(&spread(a)).then(a.cmp(b)));
        own.keys = keys;
        own
    }

    /// The values of a key in order, numbers by size.
    fn values(&self, key: &str) -> Vec<String> {
        let mut values: Vec<String> = self.groups.iter().filter_map(|group| group.settings.get(key).cloned()).collect();
        values.sort_by(|a, b| match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(x), Ok(y)) => x.total_cmp(&y),
            _ => a.cmp(b),
        });
        values.dedup();
        values
    }

    /// The bin of a group's value of a key: of a grid the value itself, of a sample the middle of a bin of neighbours.
    fn bins(&self, key: &str) -> BTreeMap<String, String> {
        let values = self.values(key);
        if self.grid || values.len() <= BINS {
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

    /// The metric at each level of a key, whatever the others are: for each seed the mean over the other keys, and over the
    /// seeds its interval.
    fn levels(&self, key: &str, metric: &Metric) -> Vec<(String, Estimate)> {
        let bins = self.bins(key);
        self.cells(&[key], &[bins], metric)
            .into_iter()
            .filter_map(|(mut level, found)| Some((level.pop()?, found)))
            .collect()
    }

    /// The metric at each combination of levels of some keys, averaged over the others.
    fn cells(&self, keys: &[&str], bins: &[BTreeMap<String, String>], metric: &Metric) -> Vec<(Vec<String>, Estimate)> {
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

    fn heat_map(&self, metric: &Metric, suffix: &str, album: &mut Album) -> Result<(), Error> {
        let [x, y, more @ ..] = self.keys.as_slice() else { return Ok(()) };
        let third = more.first();
        let keys: Vec<&str> = [Some(x), Some(y), third].into_iter().flatten().map(String::as_str).collect();
        let bins: Vec<BTreeMap<String, String>> = keys.iter().map(|key| self.bins(key)).collect();
        let cells: BTreeMap<Vec<String>, f64> = self
            .cells(&keys, &bins, metric)
            .into_iter()
            .map(|(levels, found)| (levels, metric.shown(found.value)))
            .collect();
        let (columns, mut rows) = (self.values(x), self.values(y));
        // The largest value stands at the top, as on an axis.
        rows.reverse();
        let panel = |value: Option<&String>| {
            let at = |row: &String, column: &String| {
                let key: Vec<String> = [Some(column), Some(row), value].into_iter().flatten().cloned().collect();
                cells.get(&key).copied()
            };
            let title = third.zip(value).map_or_else(String::new, |(key, value)| format!("{key} = {value}"));
            let row = |row: &String| columns.iter().map(|column| at(row, column)).collect();
            HeatPanel { title, values: rows.iter().map(row).collect() }
        };
        let panels: Vec<HeatPanel> = match third {
            None => vec![panel(None)],
            Some(key) => self.values(key).iter().map(|value| panel(Some(value))).collect(),
        };
        let name = format!("{}-of-{}", metric.name, plain(self.name));
        let chart =
            HeatMap { name: &name, x, y, value: &metric.axis(), columns: &columns, rows: &rows, panels: &panels };
        let others = if more.len() > 1 {
            format!(" Averaged over {}.", more.get(1..).unwrap_or_default().join(", "))
        } else {
            String::new()
        };
        let title = format!("{} of {} against {x} and {y}{suffix}", metric.title, self.name);
        album.add(&name, title, caption(metric, others.trim()), draw_heat_map(&chart)?);
        Ok(())
    }

    /// A key's value as a number, where all are.
    fn is_numeric(&self, key: &str) -> bool {
        self.values(key).iter().all(|value| value.parse::<f64>().is_ok())
    }

    fn effects(&self, metric: &Metric, suffix: &str, album: &mut Album) -> Result<(), Error> {
        for key in self.keys.iter().take(MOST_KEYS).filter(|key| self.is_numeric(key)) {
            let points = self.levels(key, metric).into_iter().filter_map(|(level, found)| {
                Some((
                    level.parse().ok()?,
                    metric.shown(found.value),
                    metric.shown(found.low),
                    metric.shown(found.high),
                ))
            });
            let name = format!("effect-of-{}-on-{}", plain(key), plain(self.name));
            let line =
                Line { label: format!("{}, averaged over the rest", self.name), points: sorted(points), marked: true };
            let more = "Averaged over all that else varies; the band is the 95 % interval over the seeds.";
            self.draw_lines(&name, key, metric, &[line], more, format!("Main effect of {key}{suffix}"), album)?;
        }
        Ok(())
    }

    /// For each pair: the metric against one, a line for each level of the other. Lines that are not parallel interact.
    fn interactions(&self, metric: &Metric, suffix: &str, album: &mut Album) -> Result<(), Error> {
        let keys: Vec<&String> = self.keys.iter().take(MOST_KEYS - 1).collect();
        for (place, first) in keys.iter().enumerate() {
            for second in keys.iter().skip(place + 1) {
                // The one with more levels is the axis; the other's levels are lines.
                let (x, by) = if self.values(first).len() >= self.values(second).len() {
                    (first, second)
                } else {
                    (second, first)
                };
                if !self.is_numeric(x) {
                    continue;
                }
                let bins = [self.bins(x), self.bins(by)];
                let mut lines: BTreeMap<String, Vec<(f64, f64, f64, f64)>> = BTreeMap::new();
                for (levels, found) in self.cells(&[x, by], &bins, metric) {
                    let [at, line] = levels.as_slice() else { continue };
                    let Ok(at) = at.parse() else { continue };
                    let point = (at, metric.shown(found.value), metric.shown(found.low), metric.shown(found.high));
                    lines.entry(line.clone()).or_default().push(point);
                }
                let mut series: Vec<Line> = lines
                    .into_iter()
                    .map(|(level, points)| Line {
                        label: format!("{by} = {level}"),
                        points: sorted(points.into_iter()),
                        marked: true,
                    })
                    .collect();
                series.sort_by(|a, b| level_of(&a.label).total_cmp(&level_of(&b.label)).then(a.label.cmp(&b.label)));
                let name = format!("interaction-of-{}-and-{}-on-{}", plain(x), plain(by), plain(self.name));
                let title = format!("{x} and {by} together{suffix}");
                let more = "Lines that are not parallel interact.";
                self.draw_lines(&name, x, metric, &series, more, title, album)?;
            }
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments, reason = "what a figure says, once")]
    fn draw_lines(
        &self,
        name: &str,
        x: &str,
        metric: &Metric,
        series: &[Line],
        more: &str,
        title: String,
        album: &mut Album,
    ) -> Result<(), Error> {
        let xs = || series.iter().flat_map(|line| &line.points).map(|point| point.0);
        let (low, high) = xs().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
        let logarithmic = spans_decades(low, high);
        let chart = Lines { name, x, logarithmic, y: &metric.axis(), band: true, series };
        album.add(name, title, caption(metric, more), draw_lines(&chart)?);
        Ok(())
    }
}

fn sorted(points: impl Iterator<Item = (f64, f64, f64, f64)>) -> Vec<(f64, f64, f64, f64)> {
    let mut points: Vec<_> = points.collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// The number at the end of `key = number`.
fn level_of(label: &str) -> f64 {
    label.rsplit(' ').next().and_then(|level| level.parse().ok()).unwrap_or(f64::MAX)
}

/// The keys that take more than one value in these groups, in order.
fn varying(groups: &[&Group<'_>]) -> Vec<String> {
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for group in groups {
        for (key, value) in &group.settings {
            values.entry(key).or_default().insert(value);
        }
    }
    values.into_iter().filter(|(_, values)| values.len() > 1).map(|(key, _)| key.to_owned()).collect()
}

fn number(group: &Group<'_>, key: &str) -> Option<f64> {
    group.settings.get(key)?.parse().ok()
}

/// A word for a file's name: letters and digits, whatever the sweep file holds.
fn plain(word: &str) -> String {
    word.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).take(40).collect()
}

/// Whether values stand better on a logarithmic axis: on a linear one the small ones would stand on each other.
fn spans_decades(low: f64, high: f64) -> bool {
    low > 0.0 && high / low > 30.0
}
