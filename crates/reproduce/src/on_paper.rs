//! Figures on the axes of a paper's own, with what its text gives beside the replay.

use resched_analysis::Run;
use resched_analysis::statistics::distribution::Distribution;
use resched_analysis::statistics::repeats::t_interval;
use resched_analysis::time::timeline::Steps;
use resched_report::{Figure, Line, Lines, Shape, draw_lines};

use crate::Error;
use crate::replays::Replays;

/// A figure of a paper.
pub(crate) struct OnPaper<'a> {
    /// The name of its files.
    pub(crate) name: &'a str,
    /// Its title, with the number that it has in the paper.
    pub(crate) title: &'a str,
    /// What it shows of the paper, and where that stands.
    pub(crate) caption: &'a str,
    /// The titles of its axes.
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
    /// Where the axes of the paper's figure end; `None` if the text does not say.
    pub(crate) ends: Option<(f64, f64)>,
}

impl OnPaper<'_> {
    /// Draws it; `None` without a point.
    ///
    /// # Errors
    /// [`Error::Report`] if it cannot be drawn.
    pub(crate) fn draw(&self, series: &[Line]) -> Result<Option<Figure>, Error> {
        let OnPaper { name, title, caption, x, y, ends } = *self;
        let axes = if ends.is_some() { "The axes end where those of the paper do. " } else { "" };
        let svg = draw_lines(
            &Lines { name, x, logarithmic: false, ends, y, band: false, series },
            resched_policies::order_of,
        )?;
        let caption = format!("{axes}{caption}");
        Ok(svg.map(|svg| Figure { name: name.to_owned(), title: title.to_owned(), caption, svg }))
    }
}

/// A number over time as a curve of steps, up to so many minutes.
pub(crate) fn steps(label: &str, steps: &Steps, until: f64) -> Line {
    let mut path = vec![(0.0, 0.0)];
    let mut now = 0.0;
    let minutes = |at: i64| at as f64 / 60_000.0;
    for &(at, value) in steps.points.iter().take_while(|(at, _)| minutes(*at) <= until) {
        path.extend([(minutes(at), now), (minutes(at), value)]);
        now = value;
    }
    path.push((until, now));
    curve(label, path)
}

/// A distribution of times as a curve, in units of so many ms.
pub(crate) fn cumulated(label: &str, times: &Distribution, unit: f64) -> Line {
    /// As many points as a figure has pixels across.
    const POINTS: usize = 500;
    let values = times.values();
    let every = values.len().div_ceil(POINTS).max(1);
    let share = |place: usize| (place + 1) as f64 / values.len() as f64;
    let last = values.len().saturating_sub(1);
    let shown = values.iter().enumerate().filter(|(place, _)| place % every == 0 || *place == last);
    curve(label, shown.map(|(place, value)| (value / unit, share(place))))
}

/// A line through points.
pub(crate) fn curve(label: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Line {
    Line { label: label.to_owned(), points: single(points), shape: Shape::Curve }
}

/// Marks of what the text of a paper gives.
pub(crate) fn points(label: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Line {
    Line { label: label.to_owned(), points: single(points), shape: Shape::Points }
}

fn single(points: impl IntoIterator<Item = (f64, f64)>) -> Vec<(f64, f64, f64, f64)> {
    points.into_iter().map(|(x, y)| (x, y, y, y)).collect()
}

/// A measure of the jobs 1 to `jobs` in a case, each with its mean over the seeds and the 95 % interval.
pub(crate) fn by_job(
    replays: &Replays<'_>,
    (label, case): (&str, &str),
    jobs: usize,
    of: impl Fn(&Run, usize) -> Option<f64>,
) -> Line {
    let point = |job: usize| {
        let found = t_interval(&replays.each(case, |run| of(run, job)))?;
        Some((job as f64, found.value, found.low, found.high))
    };
    Line { label: label.to_owned(), points: (1..=jobs).filter_map(point).collect(), shape: Shape::Points }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_drawn_up_to_the_end_of_the_axis() {
        let running = Steps { points: vec![(60_000, 2.0), (180_000, 1.0), (900_000, 0.0)] };
        let drawn = steps("maps", &running, 14.0).points;
        let drawn: Vec<(f64, f64)> = drawn.iter().map(|point| (point.0, point.1)).collect();
        assert_eq!(drawn, [(0.0, 0.0), (1.0, 0.0), (1.0, 2.0), (3.0, 2.0), (3.0, 1.0), (14.0, 1.0)]);
    }

    #[test]
    fn a_distribution_reaches_one() {
        let times = Distribution::new((1..=1_001).map(f64::from));
        let drawn = cumulated("fair", &times, 1.0).points;
        assert_eq!(drawn.last().map(|point| (point.0, point.1)), Some((1_001.0, 1.0)));
        assert!(drawn.len() <= 502, "{}", drawn.len());
    }
}
