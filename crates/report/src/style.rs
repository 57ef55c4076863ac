//! The style of charts: sizes, colours, and the dashes and marks that tell series apart without colour.
//!
//! A chart is drawn for a column of 85 mm, which is [`WIDTH`] pixels wide. Text of size [`FONT`] is then 8 pt high.

use plotters::style::{BLACK, FontStyle, IntoFont, RGBColor, TextStyle, register_font};
use std::sync::OnceLock;

use crate::Error;

/// Width of a chart in pixels; 85 mm in print.
pub(crate) const WIDTH: u32 = 480;

/// Font size as plotters counts it: its SVG backend writes 1/1.24 of this, 16.1 px or 8.1 pt.
pub(crate) const FONT: f64 = 20.0;

/// Height of a line of text in pixels, with some air.
pub(crate) const LINE_HEIGHT: u32 = 22;

/// The font of all charts. Its licence stands beside it.
pub(crate) const FONT_FILE: &[u8] = include_bytes!("../assets/DejaVuSans.ttf");

/// The name of that font.
pub(crate) const FONT_NAME: &str = "DejaVu Sans";

/// The colours of Okabe and Ito (2008), in an order in which neighbours differ in lightness (46, 71, 0, 58, 89, 54, 70, 62),
/// so that they stay apart in greyscale.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
    RGBColor(0, 158, 115),
    RGBColor(240, 228, 66),
    RGBColor(213, 94, 0),
    RGBColor(86, 180, 233),
    RGBColor(204, 121, 167),
];

/// The colour of anything that is not a series.
pub(crate) const GREY: RGBColor = RGBColor(190, 190, 190);

/// The colour of swatches that show only a fill.
pub(crate) const DARK: RGBColor = RGBColor(90, 90, 90);

/// The colour of lines behind the data.
pub(crate) const GRID: RGBColor = RGBColor(225, 225, 225);

/// The colour of a series. Colours repeat after the eighth.
pub(crate) fn colour(series: usize) -> RGBColor {
    COLOURS.get(series % COLOURS.len()).copied().unwrap_or(BLACK)
}

/// The colour of an area. Black is left out, because it is too heavy.
pub(crate) fn area_colour(series: usize) -> RGBColor {
    let light = [0, 4, 5, 6, 3, 1, 7];
    colour(light.get(series % light.len()).copied().unwrap_or(0))
}

/// Dash and gap of a series' line in pixels; `None` is a solid line.
pub(crate) fn dash(series: usize) -> Option<(u32, u32)> {
    match series % 4 {
        0 => None,
        1 => Some((9, 4)),
        2 => Some((3, 3)),
        _ => Some((15, 5)),
    }
}

/// How a bar or a part of it is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fill {
    /// The full colour.
    Solid,
    /// A light tint with lines across.
    Hatched,
    /// Hardly any colour.
    Pale,
}

/// `colour` mixed with white. `share` is the share of `colour`.
pub(crate) fn tint(colour: RGBColor, share: f64) -> RGBColor {
    let mix = |part: u8| (f64::from(part) * share + 255.0 * (1.0 - share)).round() as u8;
    RGBColor(mix(colour.0), mix(colour.1), mix(colour.2))
}

/// The style of all text.
pub(crate) fn text() -> TextStyle<'static> {
    TextStyle::from(("sans-serif", FONT).into_font()).color(&BLACK)
}

/// Width of `line` in pixels. The estimate is a few per cent off.
pub(crate) fn text_width(line: &str) -> u32 {
    ("sans-serif", FONT).into_font().box_size(line).map_or(0, |size| size.0)
}

/// `label` without characters that XML forbids, cut to `width` pixels.
pub(crate) fn shorten(label: &str, width: u32) -> String {
    // No text of this many characters fits a chart, so longer ones need no measuring.
    let clean = |c: char| if c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c) { '\u{fffd}' } else { c };
    let mut short: String = label.chars().take(WIDTH as usize).map(clean).collect();
    let cut = short.len() < label.len();
    if !cut && text_width(&short) <= width {
        return short;
    }
    while !short.is_empty() && text_width(&short) + text_width("…") > width {
        short.pop();
    }
    short.push('…');
    short
}

/// Registers the font with plotters. Call it once before text is drawn or measured.
pub(crate) fn use_font() -> Result<(), Error> {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    let known = *REGISTERED.get_or_init(|| register_font("sans-serif", FontStyle::Normal, FONT_FILE).is_ok());
    if known { Ok(()) } else { Err(Error::draw("text")("the font of this build is damaged")) }
}
