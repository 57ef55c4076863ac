//! The frame of a chart: the SVG itself, panels with axes, a legend that never covers data.

use std::fmt::Display;

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use resched_trace::words::visible;

use crate::Error;
use crate::axis::Axis;
use crate::style::{Fill, GRID, LINE_HEIGHT, Series, WIDTH, dash, shorten, text, text_width, tint, use_font};

/// A part of a chart in pixels.
pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// A panel with axes.
pub(crate) type Plot<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;

/// Free space at the left, so that the title of the y axis does not touch the edge.
const LEFT: u32 = 6;
/// Least free space at the right.
const RIGHT: u32 = 18;
/// Height of the labels and the title below an x axis.
const X_LABELS: u32 = 2 * LINE_HEIGHT + 8;
/// Width of a legend's swatch, and the gaps around it.
const SWATCH: i32 = 26;
const GAP: i32 = 8;

/// Draws a chart of `height` pixels and returns it as SVG.
pub(crate) fn figure(name: &str, height: u32, draw: impl FnOnce(Area<'_>) -> Drawn) -> Result<String, Error> {
    use_font()?;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        area.fill(&WHITE).map_err(Error::draw(name))?;
        draw(area.clone()).map_err(Error::draw(name))?;
        area.present().map_err(Error::draw(name))?;
    }
    Ok(visible(&svg).into_owned())
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
}

/// A legend in rows as wide as the chart. It stands above the data.
pub(crate) struct Legend {
    rows: Vec<Vec<(i32, Swatch, String)>>,
}

impl Legend {
    /// Arranges `entries` in rows. Labels that are too long for a row are cut.
    pub(crate) fn new(entries: impl IntoIterator<Item = (Swatch, String)>) -> Result<Self, Error> {
        use_font()?;
        let mut rows: Vec<Vec<(i32, Swatch, String)>> = vec![Vec::new()];
        let mut x = GAP;
        for (swatch, label) in entries {
            let label = shorten(&label, WIDTH - (SWATCH + 4 * GAP) as u32);
            let width = SWATCH + 3 * GAP + text_width(&label) as i32;
            if x > GAP && x + width > WIDTH as i32 {
                rows.push(Vec::new());
                x = GAP;
            }
            if let Some(row) = rows.last_mut() {
                row.push((x, swatch, label));
            }
            x += width;
        }
        Ok(Self { rows })
    }

    /// Its height in pixels.
    pub(crate) fn height(&self) -> u32 {
        self.rows.len() as u32 * LINE_HEIGHT + 6
    }

    /// Draws it at the top of `area` and returns the rest of the area.
    pub(crate) fn draw<'a>(&self, area: &Area<'a>) -> Drawn<Area<'a>> {
        let (top, rest) = area.split_vertically(self.height());
        for (row, entries) in (0..).zip(&self.rows) {
            let middle = 3 + row * LINE_HEIGHT as i32 + LINE_HEIGHT as i32 / 2;
            for (x, swatch, label) in entries {
                draw_swatch(&top, *swatch, (*x, middle))?;
                let style = text().pos(Pos::new(HPos::Left, VPos::Center));
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

/// The line of a series, in pixels.
pub(crate) fn line(area: &Area<'_>, points: &[(i32, i32)], series: Series) -> Drawn {
    let style = series.colour.stroke_width(2);
    match dash(series.form) {
        None => drawn(area.draw(&PathElement::new(points.to_vec(), style))),
        Some((size, gap)) => {
            dashes(points, size, gap).into_iter().try_for_each(|dash| drawn(area.draw(&PathElement::new(dash, style))))
        }
    }
}

/// Cuts a line into dashes. A dash continues around corners.
fn dashes(points: &[(i32, i32)], size: u32, gap: u32) -> Vec<Vec<(i32, i32)>> {
    let (size, gap) = (f64::from(size), f64::from(gap));
    let (mut dashes, mut left, mut on) = (Vec::new(), size, true);
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
                (on, left) = (!on, if on { gap } else { size });
            }
        }
    }
    if dash.len() > 1 {
        dashes.push(dash);
    }
    dashes
}

/// The mark of a series, in pixels: disc, ring, cross, triangle. `size` is about its radius.
pub(crate) fn mark(area: &Area<'_>, at: (i32, i32), series: Series, size: i32) -> Drawn {
    let colour = series.colour;
    match series.form {
        0 => drawn(area.draw(&Circle::new(at, size, colour.filled()))),
        1 => drawn(area.draw(&Circle::new(at, size, colour.stroke_width(1)))),
        2 => drawn(area.draw(&Cross::new(at, size, colour.stroke_width(1)))),
        _ => drawn(area.draw(&TriangleMarker::new(at, size + 1, colour.filled()))),
    }
}

/// The height of a panel in pixels without its plot: the labels below its x axis.
pub(crate) fn below(labelled: bool) -> u32 {
    if labelled { X_LABELS } else { LINE_HEIGHT / 2 }
}

/// Width needed at the left for the labels and title of these axes.
pub(crate) fn left_of<'a>(axes: impl IntoIterator<Item = &'a Axis>) -> u32 {
    let ticks = axes.into_iter().flat_map(|axis| axis.ticks.iter().map(|tick| text_width(&axis.label(*tick))));
    ticks.max().unwrap_or(0) + LINE_HEIGHT + 16
}

/// Draws axes on `area` and returns the plot within. `left` is the width for the y axis ([`left_of`]); the labels and the
/// title of the x axis are drawn if `labelled`, its ticks always.
pub(crate) fn axes<'a, 'b>(area: &'a Area<'b>, x: &Axis, y: &Axis, left: u32, labelled: bool) -> Drawn<Plot<'a, 'b>> {
    // The last label stands about the end of the axis: half of it needs room there.
    let last_label = x.ticks.last().map_or(0, |tick| text_width(&x.label(*tick)));
    let mut chart = drawn(
        ChartBuilder::on(area)
            .margin_top(8)
            .margin_left(LEFT)
            .margin_right(RIGHT.max(last_label / 2 + 2))
            .set_label_area_size(LabelAreaPosition::Left, left)
            .set_label_area_size(LabelAreaPosition::Bottom, below(labelled))
            .build_cartesian_2d(x.clone(), y.clone()),
    )?;
    let x_label = |tick: &f64| if labelled { x.label(*tick) } else { String::new() };
    let mut mesh = chart.configure_mesh();
    mesh.disable_x_mesh()
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(BLACK)
        .label_style(text())
        .axis_desc_style(text())
        .set_all_tick_mark_size(5)
        .x_labels(x.ticks.len())
        .y_labels(y.ticks.len())
        .x_label_formatter(&x_label)
        .y_desc(y.title.clone());
    if labelled {
        mesh.x_desc(x.title.clone());
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
pub(crate) fn titled<'a>(area: &Area<'a>, title: &str, left: u32) -> Drawn<Area<'a>> {
    let (top, rest) = area.split_vertically(LINE_HEIGHT);
    let left = left + LEFT;
    let title = shorten(title, WIDTH.saturating_sub(left + RIGHT));
    let style = text().pos(Pos::new(HPos::Left, VPos::Center));
    drawn(top.draw(&Text::new(title, (left as i32, LINE_HEIGHT as i32 / 2 + 4), style)))?;
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_go_around_corners_and_along_slopes() {
        let corner = [(0, 0), (4, 0), (4, 5)];
        assert_eq!(dashes(&corner, 6, 2), [vec![(0, 0), (4, 0), (4, 2)], vec![(4, 4), (4, 5)]]);
        assert_eq!(dashes(&[(0, 0), (12, 9)], 5, 5), [vec![(0, 0), (4, 3)], vec![(8, 6), (12, 9)]]);
        assert!(dashes(&[(1, 1)], 5, 5).is_empty() && dashes(&[], 5, 5).is_empty());
    }
}
