//! Panels below one another, with a curve per run.

use crate::Error;
use crate::plot::axis::Axis;
use crate::plot::figure::{
    Area, Drawn, Legend, Plot, Sheet, Swatch, axes, below, figure, inside, left_of, line, mark, pixel, titled,
};
use crate::plot::style::{GREY, Series, ink};

/// The height of the plot of a single panel, and of one of several, for text of the default size.
pub(crate) const SINGLE: u32 = 260;
pub(crate) const SEVERAL: u32 = 140;

/// The style of lines that help to read a panel.
const GUIDE: Series = Series { colour: GREY, form: 0 };

/// A curve of a panel.
#[derive(Debug, Clone)]
pub(crate) struct Curve {
    /// Its points in the order of x; it is interrupted where y is not known.
    pub(crate) points: Vec<(f64, Option<f64>)>,
    /// Its style.
    pub(crate) series: Series,
    /// True if its points are marked.
    pub(crate) marked: bool,
}

/// A panel with axes and curves.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    /// Its title; empty for none.
    pub(crate) title: String,
    /// Its axes. Neighbours with the same x axis have its labels once.
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// The height of its plot, for text of the default size.
    pub(crate) height: u32,
    /// Its curves.
    pub(crate) curves: Vec<Curve>,
    /// Grey lines behind the curves, from point to point.
    pub(crate) guides: Vec<[(f64, f64); 2]>,
}

impl Panel {
    /// A panel without a title and guides.
    pub(crate) fn new(x: Axis, y: Axis, height: u32, curves: Vec<Curve>) -> Self {
        Self { title: String::new(), x, y, height, curves, guides: Vec::new() }
    }
}

/// Draws the panels below a legend.
pub(crate) fn draw_panels(
    sheet: &Sheet,
    name: &str,
    entries: impl IntoIterator<Item = (Swatch, String)>,
    panels: &[Panel],
) -> Result<String, Error> {
    let look = sheet.look;
    let legend = Legend::new(look, entries)?;
    let left = left_of(look, panels.iter().map(|panel| &panel.y));
    let labelled: Vec<bool> = (0..panels.len())
        .map(|at| panels.get(at).map(|panel| &panel.x) != panels.get(at + 1).map(|next| &next.x))
        .collect();
    let title_height = |panel: &Panel| if panel.title.is_empty() { 0 } else { look.line_height() };
    let plot_height = |panel: &Panel, labelled: bool| look.scaled(panel.height) + below(look, labelled);
    let heights =
        panels.iter().zip(&labelled).map(|(panel, &labelled)| title_height(panel) + plot_height(panel, labelled));
    figure(sheet, name, legend.height() + heights.sum::<u32>(), |area| {
        let mut rest = legend.draw(&area)?;
        for (panel, &labelled) in panels.iter().zip(&labelled) {
            if !panel.title.is_empty() {
                rest = titled(look, &rest, &panel.title, left)?;
            }
            let (top, under) = rest.split_vertically(plot_height(panel, labelled));
            let plot = axes(look, &top, (&panel.x, &panel.y), left, labelled)?;
            draw_curves(panel, &plot, &inside(&plot))?;
            rest = under;
        }
        Ok(())
    })
}

fn draw_curves(panel: &Panel, plot: &Plot<'_, '_>, inside: &Area<'_>) -> Drawn {
    for guide in &panel.guides {
        line(inside, &guide.map(|end| pixel(plot, end)), GUIDE)?;
    }
    // Those with the longest gaps come last, so that of lines in one place you see each.
    let mut curves: Vec<&Curve> = panel.curves.iter().collect();
    curves.sort_by_key(|curve| std::cmp::Reverse(ink(curve.series.form)));
    for curve in curves {
        // A known value between two unknown ones is a stretch of one point, which only a mark shows.
        for stretch in curve.points.chunk_by(|a, b| a.1.is_some() == b.1.is_some()) {
            let path: Vec<(i32, i32)> = stretch.iter().filter_map(|&(x, y)| Some(pixel(plot, (x, y?)))).collect();
            if path.len() > 1 {
                line(inside, &path, curve.series)?;
            }
            for &at in path.iter().filter(|_| curve.marked || path.len() == 1) {
                mark(inside, at, curve.series, 3)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn curve(points: &[(f64, Option<f64>)]) -> Curve {
        Curve { points: points.to_vec(), series: Series { form: 0, ..GUIDE }, marked: false }
    }

    fn panel(curves: Vec<Curve>) -> Panel {
        Panel::new(Axis::from_zero("Time (s)", 10.0, 5), Axis::from_zero("Share", 1.0, 5), SEVERAL, curves)
    }

    fn draw(panels: &[Panel]) -> String {
        draw_panels(&Sheet::default(), "test", [(Swatch::Line(GUIDE), "<&>".to_owned())], panels).unwrap()
    }

    #[test]
    fn labels_are_escaped_and_neighbours_share_the_labels_of_their_axis() {
        let svg = draw(&[panel(Vec::new()), panel(Vec::new())]);
        assert!(svg.contains("&lt;&amp;&gt;") && !svg.contains("<&>"));
        assert_eq!(svg.matches("Time (s)").count(), 1);
    }

    #[test]
    fn a_line_with_gaps_lies_above_a_solid_one() {
        let of = |form| Curve { series: Series { form, ..GUIDE }, ..curve(&[(0.0, Some(0.5)), (10.0, Some(0.5))]) };
        let last = |forms: [usize; 3]| {
            let svg = draw(&[panel(forms.map(of).to_vec())]);
            svg.lines().rfind(|line| line.contains("<polyline")).map(str::to_owned)
        };
        assert_eq!(last([0, 2, 3]), last([2, 0, 3]), "the dots are on top");
        assert_ne!(last([0, 2, 3]), last([0, 3, 3]));
    }

    /// The plot is 10 s wide and its y axis goes from 0 to 1, so that halves are in its middle.
    #[test]
    fn curves_are_interrupted_where_nothing_is_known() {
        let lines = |points: &[(f64, Option<f64>)]| {
            let with = draw(&[panel(vec![curve(points)])]);
            with.matches("<polyline").count() - draw(&[panel(Vec::new())]).matches("<polyline").count()
        };
        let known = |x| (x, Some(0.5));
        assert_eq!(lines(&[known(0.0), known(5.0), known(10.0)]), 1);
        assert_eq!(lines(&[known(0.0), known(2.0), (5.0, None), known(8.0), known(10.0)]), 2);
    }
}
