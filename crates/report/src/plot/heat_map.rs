//! Heat maps: a measure against two parameters, as coloured cells. A third parameter has a panel for each value.

use plotters::element::{Rectangle, Text};
use plotters::style::text_anchor::HPos;
use plotters::style::{BLACK, Color, RGBColor, WHITE};

use crate::Error;
use crate::plot::figure::{Area, Drawn, Sheet, drawn, figure};
use crate::plot::look::Look;

/// The size of the chart and its text.
const LOOK: Look = Look::COLUMN;
const WIDTH: u32 = LOOK.width();
const LINE_HEIGHT: u32 = LOOK.line_height();
/// Height of a cell, pixels.
const CELL_HEIGHT: u32 = 30;
/// The most cells along an axis, and the most panels. You could not read more.
const MOST: usize = 40;
const MOST_PANELS: usize = 12;
/// The greatest value is more than this many times the least: the scale is logarithmic.
const LEAST_LOG_SPAN: f64 = 10.0;
/// Free space at the right.
const RIGHT: u32 = 12;

/// Height of the colour scale with its labels.
const SCALE: u32 = 2 * LINE_HEIGHT + 14;

/// The colours of Cividis, from low to high. People with any colour vision see them alike (Nuñez, Anderton, Renslow 2018).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 34, 78),
    RGBColor(53, 69, 110),
    RGBColor(90, 102, 115),
    RGBColor(124, 123, 120),
    RGBColor(164, 150, 112),
    RGBColor(208, 185, 91),
    RGBColor(254, 232, 56),
];

/// A panel of a [`HeatMap`].
#[derive(Debug, Clone, PartialEq)]
pub struct HeatPanel {
    /// Its title; empty for none.
    pub title: String,
    /// The values, by row, then column; `None` if unknown.
    pub values: Vec<Vec<Option<f64>>>,
}

/// A chart of a measure against two parameters. All panels share one scale, which is logarithmic if the greatest value is more than
/// ten times the least.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap<'a> {
    /// Its name, for error messages.
    pub name: &'a str,
    /// The parameter of the columns.
    pub x: &'a str,
    /// The parameter of the rows.
    pub y: &'a str,
    /// The measure that the colours show.
    pub value: &'a str,
    /// The columns' labels.
    pub columns: &'a [String],
    /// The rows' labels, from the top.
    pub rows: &'a [String],
    /// The panels, from the top.
    pub panels: &'a [HeatPanel],
}

/// Draws the chart as SVG; `None` without a number, or with more than 40 rows or columns or 12 panels.
///
/// # Errors
/// [`Error::Draw`] if the drawing library fails.
pub fn draw_heat_map(chart: &HeatMap<'_>) -> Result<Option<String>, Error> {
    let too_many = chart.columns.len() > MOST || chart.rows.len() > MOST || chart.panels.len() > MOST_PANELS;
    let values =
        || chart.panels.iter().flat_map(|panel| &panel.values).flatten().flatten().filter(|value| value.is_finite());
    let (low, high) = values().fold((f64::MAX, f64::MIN), |(low, high), &value| (low.min(value), high.max(value)));
    if too_many || low > high {
        return Ok(None);
    }
    let scale = Scale::new(low, high);
    let panel = |panel: &HeatPanel| title_height(panel) + CELL_HEIGHT * chart.rows.len() as u32 + 6;
    let panels: u32 = chart.panels.iter().map(panel).sum();
    let height = LINE_HEIGHT + panels + 2 * LINE_HEIGHT + SCALE;
    figure(&Sheet::default(), chart.name, height, |area| {
        // The title of the rows stands at the top, because only there is room for words.
        let (top, mut area) = area.split_vertically(LINE_HEIGHT);
        put(&top, &LOOK.shorten(chart.y, WIDTH - 12), (6, LINE_HEIGHT as i32 / 2 + 2), HPos::Left, BLACK)?;
        let left = chart.rows.iter().map(|label| LOOK.text_width(label)).max().unwrap_or(0).min(WIDTH / 3) + 12;
        for drawn_panel in chart.panels {
            let (top, rest) = area.split_vertically(panel(drawn_panel));
            draw_panel(&top, chart, drawn_panel, left, scale)?;
            area = rest;
        }
        draw_columns(&area, chart, left)?;
        let (_, bottom) = area.split_vertically(2 * LINE_HEIGHT);
        draw_scale(&bottom, chart.value, left, scale)
    })
    .map(Some)
}

/// From a number to a colour.
#[derive(Debug, Clone, Copy)]
struct Scale {
    low: f64,
    high: f64,
    is_log: bool,
}

impl Scale {
    fn new(low: f64, high: f64) -> Self {
        Self { low, high, is_log: low > 0.0 && high > LEAST_LOG_SPAN * low }
    }

    /// Where a value stands, from 0 to 1.
    fn share(self, value: f64) -> f64 {
        let of = |value: f64| if self.is_log { value.ln() } else { value };
        if self.high > self.low { (of(value) - of(self.low)) / (of(self.high) - of(self.low)) } else { 0.5 }
    }

    fn colour(self, value: f64) -> RGBColor {
        Self::colour_at(self.share(value))
    }

    fn colour_at(share: f64) -> RGBColor {
        let place = share.clamp(0.0, 1.0) * (COLOURS.len() - 1) as f64;
        let (from, part) = (place.floor() as usize, place.fract());
        let colour = |place: usize| COLOURS.get(place.min(COLOURS.len() - 1)).copied().unwrap_or(WHITE);
        let (a, b) = (colour(from), colour(from + 1));
        let mix = |a: u8, b: u8| (f64::from(a) * (1.0 - part) + f64::from(b) * part).round() as u8;
        RGBColor(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
    }

    /// The colour of text on a cell.
    fn ink(self, value: f64) -> RGBColor {
        let RGBColor(r, g, b) = self.colour(value);
        let light = 0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b);
        if light > 128.0 { BLACK } else { WHITE }
    }
}

fn title_height(panel: &HeatPanel) -> u32 {
    if panel.title.is_empty() { 0 } else { LINE_HEIGHT }
}

fn put(area: &Area<'_>, words: &str, at: (i32, i32), side: HPos, colour: RGBColor) -> Drawn {
    let style = LOOK.text_at(side).color(&colour);
    drawn(area.draw(&Text::new(words.to_owned(), at, style)))
}

/// The left and right ends of a column.
fn column(number: usize, columns: usize, left: u32) -> (i32, i32) {
    let width = f64::from(WIDTH - left - RIGHT);
    let end = |number: usize| left as i32 + (width * number as f64 / columns.max(1) as f64).round() as i32;
    (end(number), end(number + 1))
}

fn draw_panel(area: &Area<'_>, chart: &HeatMap<'_>, panel: &HeatPanel, left: u32, scale: Scale) -> Drawn {
    let top = title_height(panel) as i32;
    if top > 0 {
        put(area, &LOOK.shorten(&panel.title, WIDTH - left), (left as i32, top / 2), HPos::Left, BLACK)?;
    }
    for (row, (label, values)) in chart.rows.iter().zip(&panel.values).enumerate() {
        let y = top + (row as u32 * CELL_HEIGHT) as i32;
        let middle = y + CELL_HEIGHT as i32 / 2;
        put(area, &LOOK.shorten(label, left - 10), (left as i32 - 6, middle), HPos::Right, BLACK)?;
        for (number, value) in values.iter().enumerate().take(chart.columns.len()) {
            let (from, to) = column(number, chart.columns.len(), left);
            let Some(value) = value.filter(|value| value.is_finite()) else { continue };
            let cell = Rectangle::new([(from, y), (to, y + CELL_HEIGHT as i32)], scale.colour(value).filled());
            drawn(area.draw(&cell))?;
            let words = short(value);
            if LOOK.text_width(&words) as i32 + 4 <= to - from {
                put(area, &words, (i32::midpoint(from, to), middle), HPos::Center, scale.ink(value))?;
            }
        }
    }
    Ok(())
}

/// The columns' labels, as many as there is room for, and their title.
fn draw_columns(area: &Area<'_>, chart: &HeatMap<'_>, left: u32) -> Drawn {
    let widest = chart.columns.iter().map(|label| LOOK.text_width(label)).max().unwrap_or(0) as i32 + 8;
    let (from, to) = column(0, chart.columns.len(), left);
    let every = (widest / (to - from).max(1) + 1).max(1) as usize;
    for (number, label) in chart.columns.iter().enumerate().step_by(every) {
        let (from, to) = column(number, chart.columns.len(), left);
        put(area, label, (i32::midpoint(from, to), LINE_HEIGHT as i32 / 2), HPos::Center, BLACK)?;
    }
    let middle = (left + WIDTH - RIGHT) as i32 / 2;
    put(area, &LOOK.shorten(chart.x, WIDTH - left), (middle, LINE_HEIGHT as i32 * 3 / 2), HPos::Center, BLACK)
}

fn draw_scale(area: &Area<'_>, title: &str, left: u32, scale: Scale) -> Drawn {
    let (from, to) = (left as i32, (WIDTH - RIGHT) as i32);
    for x in from..to {
        let share = f64::from(x - from) / f64::from(to - from);
        drawn(area.draw(&Rectangle::new([(x, 8), (x + 1, 20)], Scale::colour_at(share).filled())))?;
    }
    let y = 20 + LINE_HEIGHT as i32 / 2 + 2;
    put(area, &short(scale.low), (from, y), HPos::Left, BLACK)?;
    put(area, &short(scale.high), (to, y), HPos::Right, BLACK)?;
    let room = (to - from) as u32 - LOOK.text_width(&short(scale.low)) - LOOK.text_width(&short(scale.high)) - 16;
    let title = if scale.is_log { format!("{title} (log scale)") } else { title.to_owned() };
    put(area, &LOOK.shorten(&title, room), (i32::midpoint(from, to), y), HPos::Center, BLACK)
}

/// A number with three significant digits.
fn short(value: f64) -> String {
    let digits = match value.abs() {
        large if large >= 100.0 => 0,
        large if large >= 10.0 => 1,
        large if large >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn texts(labels: &[&str]) -> Vec<String> {
        labels.iter().map(|label| (*label).to_owned()).collect()
    }

    #[test]
    fn cells_without_a_number_are_left_out() {
        let panel = |values| HeatPanel { title: "<third> = 1".to_owned(), values };
        let draw = |panels: &[HeatPanel]| {
            let (columns, rows) = (texts(&["0", "8"]), texts(&["a"]));
            let chart = HeatMap { name: "test", x: "D", y: "b", value: "Mean", columns: &columns, rows: &rows, panels };
            draw_heat_map(&chart).unwrap()
        };
        assert_eq!(draw(&[panel(vec![vec![None, Some(f64::NAN)]])]), None);
        let svg = draw(&[panel(vec![vec![Some(3.25), None]])]).unwrap();
        assert!(svg.contains("3.25") && svg.contains("&lt;third&gt;"), "{svg}");
    }

    #[test]
    fn colours_go_from_dark_to_light() {
        let scale = Scale::new(1.0, 3.0);
        assert_eq!((scale.colour(1.0), scale.colour(3.0)), (COLOURS[0], COLOURS[6]));
        assert_eq!((scale.ink(1.0), scale.ink(3.0)), (WHITE, BLACK));
        assert_eq!(Scale::new(2.0, 2.0).colour(2.0), COLOURS[3]);
        assert_eq!(Scale::new(0.1, 10.0).colour(1.0), COLOURS[3], "of decades, the middle is the geometric mean");
        assert_eq!([1234.5, 0.0567, 12.34].map(short), ["1234", "0.057", "12.3"]);
    }
}
