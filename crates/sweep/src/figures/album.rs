//! Collects the figures of a sweep.

use resched_analysis::metrics::named::Metric;
use resched_policies::unit_of;
use resched_report::{Figure, Line, Lines, draw_lines};
use resched_tables::words::TimeUnit;

use crate::Error;

/// A point of a line: x, the metric, and the ends of its interval.
pub(super) type Point = (f64, f64, f64, f64);

/// The figures so far, and the texts that they share.
pub(super) struct Album<'a> {
    /// The metric of the figures.
    pub(super) metric: &'a Metric,
    /// The end of each title: the source and cluster, if there are several.
    pub(super) suffix: String,
    /// The figures, in order.
    pub(super) figures: Vec<Figure>,
}

impl Album<'_> {
    /// Adds a figure and numbers it, if there is something to draw.
    pub(super) fn add(&mut self, name: &str, title: &str, caption: String, svg: Option<String>) {
        if let Some(svg) = svg {
            let name = format!("{:02}-{name}", self.figures.len() + 1);
            self.figures.push(Figure { name, title: format!("{title}{}", self.suffix), caption, svg });
        }
    }

    /// Draws the metric against `key`.
    ///
    /// # Errors
    /// [`Error::Report`] if it cannot be drawn.
    pub(super) fn add_lines(
        &mut self,
        (name, title): (&str, &str),
        key: &str,
        series: &[Line],
        more: &str,
    ) -> Result<(), Error> {
        let (x, unit) = axis_of(key, span(series).1);
        let series: Vec<Line> = series.iter().map(|line| in_unit(line, unit)).collect();
        let (low, high) = span(&series);
        let logarithmic = spans_decades(low, high);
        let chart = Lines { name, x: &x, logarithmic, ends: None, y: &self.metric.axis(), band: true, series: &series };
        let svg = draw_lines(&chart, resched_policies::order_of)?;
        self.add(name, title, self.caption(more), svg);
        Ok(())
    }

    /// The caption of a figure of the metric; `more` is added.
    pub(super) fn caption(&self, more: &str) -> String {
        format!("{}: the mean over the seeds. {more}", self.metric.title)
    }
}

/// The title of the axis of a key up to `high`, with its unit, and how many of the key's unit are one of the axis: times in ms are shown
/// in the unit that reads best.
fn axis_of(key: &str, high: f64) -> (String, f64) {
    match unit_of(key) {
        Some("ms") => {
            let unit = TimeUnit::for_axis(high);
            (format!("{key} ({})", unit.name()), 1.0 / unit.amount(1.0))
        }
        Some(unit) => (format!("{key} ({unit})"), 1.0),
        None => (key.to_owned(), 1.0),
    }
}

/// A line whose x is in another unit.
fn in_unit(line: &Line, unit: f64) -> Line {
    let points = line.points.iter().map(|&(x, y, low, high)| (x / unit, y, low, high)).collect();
    Line { label: line.label.clone(), points, shape: line.shape }
}

/// The least and the largest x of some lines.
pub(super) fn span(series: &[Line]) -> (f64, f64) {
    let xs = series.iter().flat_map(|line| &line.points).map(|point| point.0);
    xs.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)))
}

/// Points in the order of x.
pub(super) fn sorted(points: impl IntoIterator<Item = Point>) -> Vec<Point> {
    let mut points: Vec<_> = points.into_iter().collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// A text as part of a file name: only letters and digits.
pub(super) fn plain(word: &str) -> String {
    word.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).take(40).collect()
}

/// True if values need a logarithmic axis, because small values would overlap on a linear one.
fn spans_decades(low: f64, high: f64) -> bool {
    low > 0.0 && high / low > 30.0
}
