//! A measure against a parameter: one line per series, with a mark and a whisker at each point, or with a band.

use crate::Error;
use crate::plot::axis::Axis;
use plotters::element::Polygon;
use plotters::style::{Color, RGBColor};

use crate::plot::figure::{
    Area, Drawn, Legend, Plot, Sheet, Swatch, axes, below, drawn, figure, inside, left_of, line, mark, pixel,
};
use crate::plot::style::{Order, Series, styles_by};

const PLOT_HEIGHT: u32 = 260;
/// Half the width of a whisker's end, pixels.
const WHISKER: i32 = 3;

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Marks that a line joins: a measure at some parameters.
    Joined,
    /// A line without marks: a formula or a curve.
    Curve,
    /// Marks that nothing joins: points that were read off, or a measure of things that have no order.
    Points,
}

/// A series of a [`Lines`] chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its name in the legend.
    pub label: String,
    /// Its points: parameter, measure, and the ends of the interval, which are drawn if they differ. A single point is only a mark.
    pub points: Vec<(f64, f64, f64, f64)>,
    /// How it is drawn.
    pub shape: Shape,
}

/// A chart of a measure against a parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Lines<'a> {
    /// Its name, for error messages.
    pub name: &'a str,
    /// The title of the x axis.
    pub x: &'a str,
    /// True if the x axis is logarithmic. All parameters are then above 0.
    pub logarithmic: bool,
    /// Where both axes end, such as those of a published figure. Points further to the right are left out. `None`: at the last points.
    pub ends: Option<(f64, f64)>,
    /// The title of the y axis, which includes 0.
    pub y: &'a str,
    /// True if intervals are drawn as a band and not as whiskers.
    pub band: bool,
    /// The series.
    pub series: &'a [Line],
}

/// Draws the chart as SVG; `None` without a finite point. `order` has the places of policies.
///
/// # Errors
/// [`Error::Draw`] if the drawing library fails.
pub fn draw_lines(chart: &Lines<'_>, order: Order) -> Result<Option<String>, Error> {
    let points = || chart.series.iter().flat_map(|series| &series.points).filter(|point| chart.shows(point));
    let (low, high) = points().fold((f64::MAX, f64::MIN), |(low, high), point| (low.min(point.0), high.max(point.0)));
    if low > high {
        return Ok(None);
    }
    let x = match chart.ends {
        _ if chart.logarithmic => Axis::logarithmic(chart.x, low, high),
        Some((end, _)) => Axis::exact(chart.x, low.min(0.0), end, 7, 0.0),
        None => Axis::exact(chart.x, low.min(0.0), high, 7, 0.0),
    };
    let least = points().map(|point| point.2.min(point.1)).fold(0.0, f64::min);
    let most = chart.ends.map_or(0.0, |ends| ends.1);
    let y = Axis::with_zero(chart.y, least, points().map(|point| point.3.max(point.1)).fold(most, f64::max), 5);
    let styles = styles_by(chart.series.iter().map(|series| series.label.as_str()), order);
    let styled = || chart.series.iter().zip(styles.iter().copied());
    let swatch = |(series, style): (&Line, Series)| {
        let is_single = series.shape == Shape::Joined && series.points.len() == 1;
        let swatch = if is_single || series.shape == Shape::Points { Swatch::Mark } else { Swatch::Line };
        (swatch(style), series.label.clone())
    };
    let sheet = Sheet::default();
    let look = sheet.look;
    let legend = Legend::new(look, styled().map(swatch))?;
    figure(&sheet, chart.name, legend.height() + PLOT_HEIGHT + below(look, true), |area| {
        let area = legend.draw(&area)?;
        let plot = axes(look, &area, (&x, &y), left_of(look, [&y]), true)?;
        let inside = inside(&plot);
        for (series, style) in styled().filter(|_| chart.band) {
            band(&plot, &inside, series, style.colour)?;
        }
        for (series, style) in styled() {
            let solid = Series { form: 0, ..style };
            let points: Vec<_> = series.points.iter().filter(|point| chart.shows(point)).collect();
            let path: Vec<_> = points.iter().map(|point| pixel(&plot, (point.0, point.1))).collect();
            if series.shape != Shape::Points {
                line(&inside, &path, style)?;
            }
            for (point, &(left, at)) in points.iter().zip(&path).filter(|_| series.shape != Shape::Curve) {
                let (bottom, top) = (pixel(&plot, (point.0, point.2)).1, pixel(&plot, (point.0, point.3)).1);
                if bottom != top && !chart.band {
                    let ends = [(left - WHISKER, bottom), (left + WHISKER, bottom)];
                    line(&inside, &ends, solid)?;
                    line(&inside, &[(left, bottom), (left, top)], solid)?;
                    line(&inside, &[(left - WHISKER, top), (left + WHISKER, top)], solid)?;
                }
                mark(&inside, (left, at), style, 3)?;
            }
        }
        Ok(())
    })
    .map(Some)
}

/// The intervals of a series as an area behind all lines.
fn band(plot: &Plot<'_, '_>, inside: &Area<'_>, series: &Line, colour: RGBColor) -> Drawn {
    let points: Vec<_> = series.points.iter().filter(|point| is_finite(point)).collect();
    let lower = points.iter().map(|point| pixel(plot, (point.0, point.2)));
    let upper = points.iter().rev().map(|point| pixel(plot, (point.0, point.3)));
    let outline: Vec<(i32, i32)> = lower.chain(upper).collect();
    drawn(inside.draw(&Polygon::new(outline, colour.mix(0.18).filled())))
}

impl Lines<'_> {
    /// True if a point is drawn: it is finite, and not behind the end of the x axis.
    fn shows(&self, point: &(f64, f64, f64, f64)) -> bool {
        is_finite(point) && self.ends.is_none_or(|(end, _)| point.0 <= end)
    }
}

fn is_finite(point: &(f64, f64, f64, f64)) -> bool {
    [point.0, point.1, point.2, point.3].iter().all(|part| part.is_finite())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_without_points_is_not_drawn() {
        let chart = Lines { name: "test", x: "D", logarithmic: false, ends: None, y: "Share", band: true, series: &[] };
        assert_eq!(draw_lines(&chart, |_| None).unwrap(), None);
    }

    #[test]
    fn labels_are_escaped() {
        let points = vec![(1.0, 2.0, 1.0, 3.0), (2.0, 1.0, 1.0, 1.0)];
        let series = [Line { label: "<&>".to_owned(), points, shape: Shape::Joined }];
        let chart =
            Lines { name: "test", x: "D", logarithmic: false, ends: None, y: "Share", band: true, series: &series };
        let svg = draw_lines(&chart, |_| None).unwrap().unwrap();
        assert!(svg.contains("&lt;&amp;&gt;") && !svg.contains("<&>"));
    }

    #[test]
    fn axes_end_where_those_of_a_published_figure_do() {
        let of = |points: &[(f64, f64)]| points.iter().map(|&(x, y)| (x, y, y, y)).collect();
        let drawn = |points: &[(f64, f64)]| {
            let series = [Line { label: "paper".to_owned(), points: of(points), shape: Shape::Points }];
            let ends = Some((14.0, 15.0));
            let chart = Lines { name: "test", x: "min", logarithmic: false, ends, y: "", band: false, series: &series };
            draw_lines(&chart, |_| None).unwrap()
        };
        assert_eq!(drawn(&[(3.0, 4.0), (20.0, 4.0)]), drawn(&[(3.0, 4.0)]), "what lies behind the end is left out");
        assert_eq!(drawn(&[(20.0, 4.0)]), None);
        let svg = drawn(&[(3.0, 4.0)]).unwrap();
        assert!(svg.contains("\n14\n") && svg.contains("\n15\n"), "{svg}");
    }
}
