//! The frame of a chart: the SVG itself, panels with axes, a legend that never covers data.

use std::fmt::Display;

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use resched_tables::words::visible;

use crate::Error;
use crate::plot::axis::Axis;
use crate::plot::look::Look;
use crate::plot::style::{Fill, GRID, Series, dash, tint, use_font};

/// A part of a chart in pixels.
pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// A panel with axes.
pub(crate) type Plot<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;

/// Free space at the left, so that the title of the y axis does not touch the edge.
const LEFT: u32 = 6;
/// Least free space at the right.
const RIGHT: u32 = 18;
/// Width of a legend's swatch, and the gaps around it.
const SWATCH: i32 = 26;
const GAP: i32 = 8;

/// Free space between a title or a note and the picture.
const AIR: u32 = 6;
/// The most lines of a title or a note.
const MOST_LINES: usize = 4;

/// What is around the picture of a chart: its size, and the texts above and below it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Sheet {
    /// The size of the chart and its text.
    pub(crate) look: Look,
    /// The title above; empty for none.
    pub(crate) title: String,
    /// The note below: what and how much it shows; empty for none.
    pub(crate) note: String,
}

impl Sheet {
    /// The texts in lines.
    fn lines(&self, text: &str) -> Vec<String> {
        self.look.wrapped(text, self.look.width() - 2 * GAP as u32, MOST_LINES)
    }
}

/// Draws a chart of `height` pixels, without the texts of the sheet, and returns it as SVG.
pub(crate) fn figure(
    sheet: &Sheet,
    name: &str,
    height: u32,
    draw: impl FnOnce(Area<'_>) -> Drawn,
) -> Result<String, Error> {
    use_font()?;
    let look = sheet.look;
    let (title, note) = (sheet.lines(&sheet.title), sheet.lines(&sheet.note));
    let of_lines = |lines: &[String]| lines.len() as u32 * look.line_height() + u32::from(!lines.is_empty()) * AIR;
    let (above, under) = (of_lines(&title), of_lines(&note));
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (look.width(), above + height + under)).into_drawing_area();
        area.fill(&WHITE).map_err(Error::draw(name))?;
        let (top, rest) = area.split_vertically(above);
        let (picture, bottom) = rest.split_vertically(height);
        let (_, bottom) = bottom.split_vertically(if note.is_empty() { 0 } else { AIR });
        lines(look, &top, &title).map_err(Error::draw(name))?;
        draw(picture).map_err(Error::draw(name))?;
        lines(look, &bottom, &note).map_err(Error::draw(name))?;
        area.present().map_err(Error::draw(name))?;
    }
    Ok(visible(&svg).into_owned())
}

/// Writes lines of text from the top of `area`.
fn lines(look: Look, area: &Area<'_>, lines: &[String]) -> Drawn {
    let height = look.line_height() as i32;
    (0..).zip(lines).try_for_each(|(row, line)| {
        drawn(area.draw(&Text::new(line.clone(), (GAP, row * height + height / 2), look.text_at(HPos::Left))))
    })
}

/// The result of drawing. Libraries return errors of several types.
pub(crate) type Drawn<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// A library's error as one of [`Drawn`].
pub(crate) fn drawn<T>(result: Result<T, impl Display>) -> Drawn<T> {
    result.map_err(|error| error.to_string().into())
}

/// The sign before a label in a legend.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Swatch {
    /// A filled box.
    Box(RGBColor, Fill),
    /// The line of a series.
    Line(Series),
    /// The mark of a series.
    Mark(Series),
    /// The line of a series with its mark.
    Marked(Series),
}

/// A legend in rows as wide as the chart. It stands above the data.
pub(crate) struct Legend {
    look: Look,
    rows: Vec<Vec<(i32, Swatch, String)>>,
}

impl Legend {
    /// Arranges `entries` in rows. Labels that are too long for a row are cut.
    pub(crate) fn new(look: Look, entries: impl IntoIterator<Item = (Swatch, String)>) -> Result<Self, Error> {
        use_font()?;
        let mut rows: Vec<Vec<(i32, Swatch, String)>> = vec![Vec::new()];
        let mut x = GAP;
        for (swatch, label) in entries {
            let label = look.shorten(&label, look.width() - (SWATCH + 4 * GAP) as u32);
            let width = SWATCH + 3 * GAP + look.text_width(&label) as i32;
            if x > GAP && x + width > look.width() as i32 {
                rows.push(Vec::new());
                x = GAP;
            }
            if let Some(row) = rows.last_mut() {
                row.push((x, swatch, label));
            }
            x += width;
        }
        // Without entries there is nothing to make room for.
        rows.retain(|row| !row.is_empty());
        Ok(Self { look, rows })
    }

    /// Its height in pixels.
    pub(crate) fn height(&self) -> u32 {
        self.rows.len() as u32 * self.look.line_height() + 6
    }

    /// Draws it at the top of `area` and returns the rest of the area.
    pub(crate) fn draw<'a>(&self, area: &Area<'a>) -> Drawn<Area<'a>> {
        let (top, rest) = area.split_vertically(self.height());
        for (row, entries) in (0..).zip(&self.rows) {
            let height = self.look.line_height() as i32;
            let middle = 3 + row * height + height / 2;
            for (x, swatch, label) in entries {
                draw_swatch(&top, *swatch, (*x, middle))?;
                let style = self.look.text_at(HPos::Left);
                drawn(top.draw(&Text::new(label.clone(), (x + SWATCH + GAP, middle), style)))?;
            }
        }
        Ok(rest)
    }
}

fn draw_swatch(area: &Area<'_>, swatch: Swatch, (x, y): (i32, i32)) -> Drawn {
    match swatch {
        Swatch::Box(colour, fill) => bar(area, (x, y - 7), (x + SWATCH, y + 7), colour, fill),
        Swatch::Line(series) => line(area, &[(x, y), (x + SWATCH, y)], series),
        Swatch::Mark(series) => mark(area, (x + SWATCH / 2, y), series, 4),
        Swatch::Marked(series) => {
            line(area, &[(x, y), (x + SWATCH, y)], series)?;
            mark(area, (x + SWATCH / 2, y), series, 4)
        }
    }
}

/// A bar or box, outlined in its colour, in pixels.
pub(crate) fn bar(area: &Area<'_>, from: (i32, i32), to: (i32, i32), colour: RGBColor, fill: Fill) -> Drawn {
    let inside = match fill {
        Fill::Solid => colour,
        Fill::Hatched => tint(colour, 0.3),
        Fill::Pale => tint(colour, 0.08),
    };
    drawn(area.draw(&Rectangle::new([from, to], inside.filled())))?;
    if fill == Fill::Hatched {
        let (top, bottom) = (from.1.min(to.1), from.1.max(to.1));
        for y in (top..bottom).rev().step_by(4) {
            drawn(area.draw(&PathElement::new([(from.0, y), (to.0, y)], colour)))?;
        }
    }
    drawn(area.draw(&Rectangle::new([from, to], colour)))
}

/// A line that is longer than this (pixels) goes up and down at every pixel of its chart. Nobody would see its dashes.
const LONGEST_DASHED: u32 = 10_000;

/// The line of a series, in pixels.
pub(crate) fn line(area: &Area<'_>, points: &[(i32, i32)], series: Series) -> Drawn {
    let style = series.colour.stroke_width(2);
    let length = |stroke: &[(i32, i32)]| match stroke {
        &[from, to] => from.0.abs_diff(to.0).saturating_add(from.1.abs_diff(to.1)),
        _ => 0,
    };
    let is_long = points.windows(2).map(length).fold(0, u32::saturating_add) > LONGEST_DASHED;
    match dash(if is_long { 0 } else { series.form }) {
        [] => drawn(area.draw(&PathElement::new(points.to_vec(), style))),
        lengths => {
            dashes(points, lengths).into_iter().try_for_each(|dash| drawn(area.draw(&PathElement::new(dash, style))))
        }
    }
}

/// Cuts a line into dashes of these lengths, by turns drawn and left out. A dash continues around corners.
fn dashes(points: &[(i32, i32)], lengths: &[u32]) -> Vec<Vec<(i32, i32)>> {
    let mut next = lengths.iter().map(|length| f64::from(*length)).cycle();
    let (mut dashes, mut on) = (Vec::new(), true);
    let Some(mut left) = next.next() else { return dashes };
    let mut dash: Vec<(i32, i32)> = points.first().copied().into_iter().collect();
    for stroke in points.windows(2) {
        let &[from, to] = stroke else { continue };
        let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
        let (length, mut done) = ((dx * dx + dy * dy).sqrt(), 0.0);
        while done < length {
            let step = left.min(length - done);
            (done, left) = (done + step, left - step);
            let part = |from: i32, delta: f64| from + (delta * done / length).round() as i32;
            let at = (part(from.0, dx), part(from.1, dy));
            if on {
                dash.push(at);
            }
            if left <= 0.0 {
                if on {
                    dashes.push(std::mem::take(&mut dash));
                } else {
                    dash = vec![at];
                }
                (on, left) = (!on, next.next().unwrap_or(1.0));
            }
        }
    }
    if dash.len() > 1 {
        dashes.push(dash);
    }
    dashes
}

/// The mark of a series, in pixels: disc, ring, cross, triangle, square, plus, diamond, full square. `size` is about its radius.
pub(crate) fn mark(area: &Area<'_>, at: (i32, i32), series: Series, size: i32) -> Drawn {
    let colour = series.colour;
    let (x, y) = at;
    match series.form {
        0 => drawn(area.draw(&Circle::new(at, size, colour.filled()))),
        1 => drawn(area.draw(&Circle::new(at, size, colour.stroke_width(1)))),
        2 => drawn(area.draw(&Cross::new(at, size, colour.stroke_width(1)))),
        3 => drawn(area.draw(&TriangleMarker::new(at, size + 1, colour.filled()))),
        4 => drawn(area.draw(&Rectangle::new([(x - size, y - size), (x + size, y + size)], colour.stroke_width(1)))),
        6 => {
            let corners =
                vec![(x, y - size - 1), (x + size + 1, y), (x, y + size + 1), (x - size - 1, y), (x, y - size - 1)];
            drawn(area.draw(&PathElement::new(corners, colour.stroke_width(1))))
        }
        7 => drawn(area.draw(&Rectangle::new([(x - size, y - size), (x + size, y + size)], colour.filled()))),
        _ => [[(x - size, y), (x + size, y)], [(x, y - size), (x, y + size)]]
            .into_iter()
            .try_for_each(|stroke| drawn(area.draw(&PathElement::new(stroke, colour.stroke_width(1))))),
    }
}

/// The height of a panel in pixels without its plot: the labels and the title below its x axis, or only its ticks.
pub(crate) fn below(look: Look, labelled: bool) -> u32 {
    if labelled { 2 * look.line_height() + 8 } else { look.line_height() / 2 }
}

/// Width needed at the left for the labels and title of these axes.
pub(crate) fn left_of<'a>(look: Look, axes: impl IntoIterator<Item = &'a Axis>) -> u32 {
    let ticks = axes.into_iter().flat_map(|axis| axis.ticks.iter().map(|tick| look.text_width(&axis.label(*tick))));
    ticks.max().unwrap_or(0) + look.line_height() + 16
}

/// Free space between two labels of an x axis, pixels.
const BETWEEN_LABELS: u32 = 8;

/// Every how many-th tick of an x axis of that width has a label, so that no label touches the next.
fn labels_apart(look: Look, x: &Axis, width: u32) -> usize {
    let at: Vec<(f64, f64)> = x
        .ticks
        .iter()
        .map(|tick| (x.place(*tick) * f64::from(width), f64::from(look.text_width(&x.label(*tick)))))
        .collect();
    let touch = |pair: &[&(f64, f64)]| {
        let &[(one, its_width), (other, other_width)] = pair else { return false };
        other - one < (its_width + other_width) / 2.0 + f64::from(BETWEEN_LABELS)
    };
    let are_apart = |every: &usize| !at.iter().step_by(*every).collect::<Vec<_>>().windows(2).any(touch);
    (1..=at.len().max(1)).find(are_apart).unwrap_or(1)
}

/// Draws axes on `area` and returns the plot within. `left` is the width for the y axis ([`left_of`]); the labels and the
/// title of the x axis are drawn if `labelled`, its ticks always.
pub(crate) fn axes<'a, 'b>(
    look: Look,
    area: &'a Area<'b>,
    (x, y): (&Axis, &Axis),
    left: u32,
    labelled: bool,
) -> Drawn<Plot<'a, 'b>> {
    // The last label stands about the end of the axis: half of it needs room there.
    let last_label = x.ticks.last().map_or(0, |tick| look.text_width(&x.label(*tick)));
    let mut chart = drawn(
        ChartBuilder::on(area)
            .margin_top(8)
            .margin_left(LEFT)
            .margin_right(RIGHT.max(last_label / 2 + 2))
            .set_label_area_size(LabelAreaPosition::Left, left)
            .set_label_area_size(LabelAreaPosition::Bottom, below(look, labelled))
            .build_cartesian_2d(x.clone(), y.clone()),
    )?;
    let width = look.width().saturating_sub(left + LEFT + RIGHT.max(last_label / 2 + 2));
    let every = labels_apart(look, x, width);
    let is_labelled =
        |tick: f64| x.ticks.iter().position(|other| *other == tick).is_none_or(|place| place % every == 0);
    let x_label = |tick: &f64| if labelled && is_labelled(*tick) { x.label(*tick) } else { String::new() };
    let mut mesh = chart.configure_mesh();
    mesh.disable_x_mesh()
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(BLACK)
        .label_style(look.text())
        .axis_desc_style(look.text())
        .set_all_tick_mark_size(5)
        .x_labels(x.ticks.len())
        .y_labels(y.ticks.len())
        .x_label_formatter(&x_label)
        .y_desc(y.title.clone());
    if labelled {
        // A title may name a policy, whose label may be long.
        mesh.x_desc(look.shorten(&x.title, look.width().saturating_sub(left + LEFT + RIGHT)));
    }
    drawn(mesh.draw())?;
    Ok(chart)
}

/// The plot's inside in pixels.
pub(crate) fn inside<'b>(plot: &Plot<'_, 'b>) -> Area<'b> {
    plot.plotting_area().strip_coord_spec()
}

/// The position of a point of the plot, in the pixels of [`inside`].
pub(crate) fn pixel(plot: &Plot<'_, '_>, point: (f64, f64)) -> (i32, i32) {
    let origin = plot.plotting_area().get_base_pixel();
    let (x, y) = plot.backend_coord(&point);
    (x - origin.0, y - origin.1)
}

/// Writes the title of a panel at the top of `area` and returns the rest of the area.
pub(crate) fn titled<'a>(look: Look, area: &Area<'a>, title: &str, left: u32) -> Drawn<Area<'a>> {
    let height = look.line_height();
    let (top, rest) = area.split_vertically(height);
    let left = left + LEFT;
    let title = look.shorten(title, look.width().saturating_sub(left + RIGHT));
    drawn(top.draw(&Text::new(title, (left as i32, height as i32 / 2 + 4), look.text_at(HPos::Left))))?;
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_an_axis_do_not_touch() {
        let x = Axis::from_zero("bf_interval", 120_000.0, 6);
        let look = Look::default();
        assert_eq!(labels_apart(look, &x, 2_000), 1);
        let every = labels_apart(look, &x, 240);
        let labels = x.ticks.iter().step_by(every).map(|tick| look.text_width(&x.label(*tick)) + BETWEEN_LABELS);
        assert!(every > 1 && labels.sum::<u32>() <= 240 + 60, "every {every}");
        assert_eq!(labels_apart(look, &x, 1), x.ticks.len(), "one label always has room");
    }

    #[test]
    fn dashes_go_around_corners_and_along_slopes() {
        let corner = [(0, 0), (4, 0), (4, 5)];
        assert_eq!(dashes(&corner, &[6, 2]), [vec![(0, 0), (4, 0), (4, 2)], vec![(4, 4), (4, 5)]]);
        assert_eq!(dashes(&[(0, 0), (12, 9)], &[5, 5]), [vec![(0, 0), (4, 3)], vec![(8, 6), (12, 9)]]);
        assert!(dashes(&[(1, 1)], &[5, 5]).is_empty() && dashes(&[], &[5, 5]).is_empty());
        let dotted = dashes(&[(0, 0), (20, 0)], &[6, 2, 1, 2]);
        let expected = [vec![(0, 0), (6, 0)], vec![(8, 0), (9, 0)], vec![(11, 0), (17, 0)], vec![(19, 0), (20, 0)]];
        assert_eq!(dotted, expected);
    }
}
