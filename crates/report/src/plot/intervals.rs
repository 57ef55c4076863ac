//! Values over ranges, a line for each quantity: published values over the intervals that were found, or a replay and its variants.

use plotters::style::text_anchor::HPos;
use plotters::{element::Text, style::RGBColor};

use crate::Error;
use crate::plot::axis::Axis;
use crate::plot::figure::{
    Area, Drawn, Legend, Plot, Sheet, Swatch, axes, below, drawn, figure, inside, line, mark, pixel,
};
use crate::plot::look::Look;
use crate::plot::style::{GREY, Series};

/// The height of the line below a quantity's label, pixels.
const ROW: u32 = 16;
/// Half the height of the ends of an interval, pixels.
const END: i32 = 4;
/// Free space beside a label, pixels.
const BESIDE: u32 = 40;
/// What was found: blue discs.
const FOUND: Series = Series { colour: RGBColor(0, 114, 178), form: 0 };
/// What was published: vermilion triangles, so that greyscale says them apart, too.
const PUBLISHED: Series = Series { colour: RGBColor(213, 94, 0), form: 3 };

/// A quantity of an [`Intervals`] chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// Its name.
    pub label: String,
    /// The least and the greatest published value; the same for a single number.
    pub published: Option<(f64, f64)>,
    /// The value that was found, and the ends of its interval.
    pub found: Option<(f64, f64, f64)>,
}

/// A chart of published values over the intervals that were found.
#[derive(Debug, Clone, PartialEq)]
pub struct Intervals<'a> {
    /// Its name, for error messages.
    pub name: &'a str,
    /// The title of the x axis, which includes 0.
    pub x: &'a str,
    /// What the published values are called, and what those found; empty if there are none.
    pub legend: [&'a str; 2],
    /// The quantities, the first at the top.
    pub rows: &'a [Interval],
}

/// Draws the chart as SVG; `None` without a finite value.
///
/// # Errors
/// [`Error::Draw`] if the drawing library fails.
pub fn draw_intervals(chart: &Intervals<'_>) -> Result<Option<String>, Error> {
    draw_intervals_on(&Sheet::default(), chart)
}

/// As [`draw_intervals`], with what is around the chart.
pub(crate) fn draw_intervals_on(sheet: &Sheet, chart: &Intervals<'_>) -> Result<Option<String>, Error> {
    let values = || chart.rows.iter().flat_map(values).filter(|value| value.is_finite());
    let (low, high) = values().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return Ok(None);
    }
    let x = Axis::with_zero(chart.x, low, high, 6);
    let mut y = Axis::exact("", 0.0, chart.rows.len() as f64, 1, 0.0);
    y.ticks.clear();
    let [published, found] = chart.legend.map(str::to_owned);
    let look = sheet.look;
    let row_height = look.line_height() + ROW;
    let entries = [(Swatch::Mark(PUBLISHED), published), (Swatch::Line(FOUND), found)];
    let legend = Legend::new(look, entries.into_iter().filter(|(_, name)| !name.is_empty()))?;
    // Half of it stands to the left of the plot.
    let first_label = x.ticks.first().map_or(0, |tick| look.text_width(&x.label(*tick)) / 2);
    let height = legend.height() + row_height * chart.rows.len() as u32 + below(look, true) + 8;
    figure(sheet, chart.name, height, |area| {
        let area = legend.draw(&area)?;
        let plot = axes(look, &area, (&x, &y), first_label, true)?;
        let inside = inside(&plot);
        let zero = pixel(&plot, (0.0, 0.0)).0;
        let bottom = (row_height * chart.rows.len() as u32) as i32;
        line(&inside, &[(zero, 0), (zero, bottom)], Series { colour: GREY, form: 0 })?;
        for (place, row) in (0..).zip(chart.rows) {
            draw_row(look, (&plot, &inside), row, place * row_height as i32)?;
        }
        Ok(())
    })
    .map(Some)
}

/// Draws a quantity whose label begins so many pixels below the top.
fn draw_row(look: Look, (plot, inside): (&Plot<'_, '_>, &Area<'_>), row: &Interval, top: i32) -> Drawn {
    let label = look.shorten(&row.label, look.width() - BESIDE);
    let line_height = look.line_height() as i32;
    drawn(inside.draw(&Text::new(label, (4, top + line_height / 2), look.text_at(HPos::Left))))?;
    let middle = top + line_height + 5;
    let x = |value: f64| pixel(plot, (value, 0.0)).0;
    if let Some((value, low, high)) = row.found.filter(|found| found.0.is_finite()) {
        let (low, high) = (x(low), x(high));
        line(inside, &[(low, middle), (high, middle)], FOUND)?;
        for end in [low, high] {
            line(inside, &[(end, middle - END), (end, middle + END)], FOUND)?;
        }
        mark(inside, (x(value), middle), FOUND, 3)?;
    }
    if let Some((low, high)) = row.published {
        line(inside, &[(x(low), middle), (x(high), middle)], Series { form: 0, ..PUBLISHED })?;
        for value in [low, high] {
            mark(inside, (x(value), middle), PUBLISHED, 5)?;
        }
    }
    Ok(())
}

fn values(row: &Interval) -> impl Iterator<Item = f64> {
    let published = row.published.into_iter().flat_map(|(low, high)| [low, high]);
    published.chain(row.found.into_iter().flat_map(|(value, low, high)| [value, low, high]))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn chart(rows: &[Interval]) -> Option<String> {
        draw_intervals(&Intervals { name: "test", x: "%", legend: ["paper", "replay"], rows }).unwrap()
    }

    #[test]
    fn a_chart_without_values_is_not_drawn() {
        assert_eq!(chart(&[]), None);
        assert_eq!(chart(&[Interval { label: "a".to_owned(), published: None, found: None }]), None);
    }

    #[test]
    fn labels_are_escaped_and_values_below_zero_drawn() {
        let row = |found| Interval { label: "<&>".to_owned(), published: Some((-20.0, -20.0)), found };
        let svg = chart(&[row(Some((-30.0, -35.0, -25.0))), row(None)]).unwrap();
        assert!(svg.contains("&lt;&amp;&gt;") && !svg.contains("<&>"));
        assert!(svg.contains("-40"), "{svg}");
    }
}
