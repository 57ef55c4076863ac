//! Panels of labelled rows, with a mark and a span for each policy.

use plotters::element::Text;
use plotters::style::text_anchor::HPos;

use crate::Error;
use crate::plot::axis::Axis;
use crate::plot::figure::{
    Area, Drawn, Legend, Plot, Sheet, Swatch, axes, below, drawn, figure, inside, line, mark, pixel, titled,
};
use crate::plot::look::Look;
use crate::plot::style::Series;

/// The height of a span, and the space below a row, pixels.
const SPAN: u32 = 11;
const BELOW_ROW: u32 = 6;
/// Half the height of the ends of a span, pixels.
const END: i32 = 3;
/// Free space beside a label, pixels.
const BESIDE: u32 = 40;

/// A value with a span.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    /// The style of its policy.
    pub(crate) series: Series,
    /// The value, which has the mark.
    pub(crate) value: f64,
    /// The ends of the span; each that differs from the value has a stroke.
    pub(crate) ends: [f64; 2],
}

/// A labelled row of spans, one below the other.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) spans: Vec<Span>,
}

/// A panel of rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rows {
    /// Its title; empty for none.
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) rows: Vec<Row>,
}

impl Rows {
    fn title_height(&self, look: Look) -> u32 {
        if self.title.is_empty() { 0 } else { look.line_height() }
    }

    /// The height of its plot with the margin above.
    fn plot_height(&self, look: Look) -> u32 {
        8 + self.rows.iter().map(|row| row_height(look, row)).sum::<u32>()
    }
}

fn row_height(look: Look, row: &Row) -> u32 {
    look.line_height() + SPAN * row.spans.len() as u32 + BELOW_ROW
}

/// Draws the panels below a legend.
pub(crate) fn draw_rows(
    sheet: &Sheet,
    name: &str,
    entries: impl IntoIterator<Item = (Swatch, String)>,
    panels: &[Rows],
) -> Result<String, Error> {
    let look = sheet.look;
    let legend = Legend::new(look, entries)?;
    let height = |panel: &Rows| panel.title_height(look) + panel.plot_height(look) + below(look, true);
    figure(sheet, name, legend.height() + panels.iter().map(height).sum::<u32>(), |area| {
        let mut rest = legend.draw(&area)?;
        for panel in panels {
            if !panel.title.is_empty() {
                rest = titled(look, &rest, &panel.title, 0)?;
            }
            let (top, under) = rest.split_vertically(panel.plot_height(look) + below(look, true));
            // Half of the first label stands to the left of the plot.
            let left = panel.x.ticks.first().map_or(0, |tick| look.text_width(&panel.x.label(*tick)) / 2);
            let mut y = Axis::exact("", 0.0, 1.0, 1, 0.0);
            y.ticks.clear();
            let plot = axes(look, &top, (&panel.x, &y), left, true)?;
            draw_panel(look, &plot, &inside(&plot), panel)?;
            rest = under;
        }
        Ok(())
    })
}

fn draw_panel(look: Look, plot: &Plot<'_, '_>, inside: &Area<'_>, panel: &Rows) -> Drawn {
    let line_height = look.line_height() as i32;
    let mut top = 0;
    for row in &panel.rows {
        let label = look.shorten(&row.label, look.width() - BESIDE);
        drawn(inside.draw(&Text::new(label, (4, top + line_height / 2), look.text_at(HPos::Left))))?;
        for (place, span) in (0..).zip(&row.spans) {
            draw_span(plot, inside, span, top + line_height + place * SPAN as i32 + SPAN as i32 / 2)?;
        }
        top += row_height(look, row) as i32;
    }
    Ok(())
}

fn draw_span(plot: &Plot<'_, '_>, inside: &Area<'_>, span: &Span, middle: i32) -> Drawn {
    let solid = Series { form: 0, ..span.series };
    let x = |value: f64| pixel(plot, (value, 0.0)).0;
    let at = x(span.value);
    for end in span.ends.map(x).into_iter().filter(|end| *end != at) {
        line(inside, &[(at, middle), (end, middle)], solid)?;
        line(inside, &[(end, middle - END), (end, middle + END)], solid)?;
    }
    mark(inside, (at, middle), span.series, 4)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::plot::style::OBSERVED;

    fn draw(spans: Vec<Span>) -> String {
        let rows = vec![Row { label: "<&>".to_owned(), spans }];
        let x = Axis::from_zero("Time (s)", 10.0, 5);
        draw_rows(&Sheet::default(), "test", [], &[Rows { title: String::new(), x, rows }]).unwrap()
    }

    #[test]
    fn a_span_has_a_stroke_to_each_end_that_differs() {
        let strokes = |ends| {
            let with = draw(vec![Span { series: OBSERVED, value: 5.0, ends }]);
            with.matches("<polyline").count() - draw(Vec::new()).matches("<polyline").count()
        };
        assert_eq!([[5.0, 5.0], [5.0, 9.0], [1.0, 9.0]].map(strokes), [0, 2, 4]);
        let svg = draw(Vec::new());
        assert!(svg.contains("&lt;&amp;&gt;") && !svg.contains("<&>"));
    }
}
