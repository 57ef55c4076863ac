//! Two measures against each other, with the Pareto front: the points that no other point beats in both.

use plotters::element::Text;
use plotters::style::text_anchor::HPos;

use crate::Error;
use crate::plot::axis::Axis;
use crate::plot::figure::{
    Area, Drawn, Legend, Sheet, Swatch, axes, below, drawn, figure, inside, left_of, line, mark, pixel,
};
use crate::plot::look::Look;
use crate::plot::style::{GREY, Order, Series, styles_by};

const PLOT_HEIGHT: u32 = 300;
/// The most points whose names are written. More would overlap.
const MOST_LABELS: usize = 12;
/// The space between a mark and its name, pixels.
const BESIDE: i32 = 7;
/// The line of the front.
const FRONT: Series = Series { colour: GREY, form: 0 };

/// A series of a [`Scatter`] chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Cloud {
    /// Its name in the legend.
    pub label: String,
    /// The two measures of each point.
    pub points: Vec<(f64, f64)>,
}

/// A chart of two measures against each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Scatter<'a> {
    /// Its name, for error messages.
    pub name: &'a str,
    /// The title of the x axis.
    pub x: &'a str,
    /// The title of the y axis.
    pub y: &'a str,
    /// The series.
    pub series: &'a [Cloud],
    /// The points of the front, in the order of x; a grey line joins them.
    pub front: &'a [(f64, f64)],
    /// The names of the points of the front, in the same order. They are written beside the points if there are no more than 12.
    pub labels: &'a [String],
}

/// Draws the chart as SVG; `None` without a finite point. `order` has the places of policies.
///
/// # Errors
/// [`Error::Draw`] if the drawing library fails.
pub fn draw_scatter(chart: &Scatter<'_>, order: Order) -> Result<Option<String>, Error> {
    let points = || chart.series.iter().flat_map(|series| &series.points).filter(|point| is_finite(point));
    if points().next().is_none() {
        return Ok(None);
    }
    let around = |title: &str, of: fn(&(f64, f64)) -> f64| {
        let (low, high) =
            points().map(of).fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        let margin = ((high - low) * 0.08).max(high.abs() * 0.01).max(1e-9);
        let low = if low >= 0.0 { (low - margin).max(0.0) } else { low - margin };
        Axis::exact(title, low, high + margin, 6, 0.0)
    };
    let (x, y) = (around(chart.x, |point| point.0), around(chart.y, |point| point.1));
    let styles = styles_by(chart.series.iter().map(|series| series.label.as_str()), order);
    let styled = || chart.series.iter().zip(styles.iter().copied());
    let swatches = styled().map(|(series, style)| (Swatch::Mark(style), series.label.clone()));
    // A front of one point has no line.
    let front = (chart.front.len() > 1).then(|| (Swatch::Line(FRONT), "Pareto front".to_owned()));
    let sheet = Sheet::default();
    let look = sheet.look;
    let legend = Legend::new(look, swatches.chain(front))?;
    figure(&sheet, chart.name, legend.height() + PLOT_HEIGHT + below(look, true), |area| {
        let area = legend.draw(&area)?;
        let plot = axes(look, &area, (&x, &y), left_of(look, [&y]), true)?;
        let inside = inside(&plot);
        let path: Vec<(i32, i32)> =
            chart.front.iter().filter(|point| is_finite(point)).map(|&point| pixel(&plot, point)).collect();
        if path.len() > 1 {
            line(&inside, &path, FRONT)?;
        }
        for (series, style) in styled() {
            for &point in series.points.iter().filter(|point| is_finite(point)) {
                mark(&inside, pixel(&plot, point), style, 4)?;
            }
        }
        let named = chart.front.iter().zip(chart.labels).filter(|(point, _)| is_finite(point));
        for (&point, label) in named.take(if chart.labels.len() > MOST_LABELS { 0 } else { MOST_LABELS }) {
            beside(look, &inside, pixel(&plot, point), label)?;
        }
        Ok(())
    })
    .map(Some)
}

/// Writes the name of a point beside it: below the front, where no other point is, and on the side that has room.
fn beside(look: Look, inside: &Area<'_>, (x, y): (i32, i32), label: &str) -> Drawn {
    let (width, height) = inside.dim_in_pixel();
    let label = look.shorten(label, width / 2);
    let fits_right = x + BESIDE + look.text_width(&label) as i32 <= width as i32;
    let (side, at) = if fits_right { (HPos::Left, x + BESIDE) } else { (HPos::Right, x - BESIDE) };
    let half = look.line_height() as i32 / 2;
    let y = (y + half).clamp(half, (height as i32 - half).max(half));
    drawn(inside.draw(&Text::new(label, (at, y), look.text_at(side))))
}

fn is_finite(point: &(f64, f64)) -> bool {
    point.0.is_finite() && point.1.is_finite()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_without_points_is_not_drawn() {
        let series = [Cloud { label: "<fifo>".to_owned(), points: vec![(f64::NAN, 1.0)] }];
        let chart = Scatter { name: "test", x: "a", y: "b", series: &series, front: &[], labels: &[] };
        assert_eq!(draw_scatter(&chart, |_| None).unwrap(), None);
        let series = [Cloud { points: vec![(1.0, 2.0), (2.0, 1.0)], ..series[0].clone() }];
        let labels = ["D = 1", "<D> = 2"].map(str::to_owned);
        let svg = draw_scatter(
            &Scatter { series: &series, front: &[(1.0, 2.0), (2.0, 1.0)], labels: &labels, ..chart },
            |_| None,
        )
        .unwrap()
        .unwrap();
        assert!(svg.contains("&lt;fifo&gt;") && svg.contains("Pareto front"));
        assert!(svg.contains("D = 1") && svg.contains("&lt;D&gt; = 2"));
    }
}
