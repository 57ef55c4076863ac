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

/// How a series is drawn: its colour, and the dash and mark that tell it apart without colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Series {
    /// Its colour.
    pub(crate) colour: RGBColor,
    /// Its dash and mark, 0 to 3.
    pub(crate) form: usize,
}

/// What really ran: black, solid, and no other series looks like it.
pub(crate) const OBSERVED: Series = Series { colour: BLACK, form: 0 };

/// The label of what really ran.
pub(crate) const OBSERVED_LABEL: &str = "observed";

/// The colours of series that are policies: all but black.
const HUES: [usize; 7] = [0, 1, 3, 5, 6, 7, 4];

/// The forms of a series.
const FORMS: usize = 4;

/// The policies in the order of their styles: seven colours, then the same colours in other forms. Those that are often compared have
/// colours of their own. `batch-fifo` looks like `fifo`, and so on.
const POLICIES: &[&str] = &[
    // Blue, orange, green, vermilion, sky, purple, yellow.
    "fifo",
    "fair",
    "capacity",
    "naive-fair",
    "delay",
    "coupling",
    "dress",
    "yarn-fifo",
    "yarn-fair",
    "yarn-capacity",
    "easy",
    "conservative",
    "drf",
    "triple-queue",
    "srpt",
    "fair-deficit",
    "flex",
    "aria",
    "delay-time",
    "quincy",
    "cogrs",
];

/// The style of each label, such that no two are alike. A policy keeps its style in every figure, unless two in one figure would have
/// the same colour: then the one that comes later in [`POLICIES`], or has parameters, gets the next free one. Labels that are no
/// policies get what is left, in their order.
pub(crate) fn styles(labels: &[&str]) -> Vec<Series> {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    let label = |at: usize| labels.get(at).copied().unwrap_or_default();
    let known = |at: usize| place(label(at));
    order.sort_by_key(|&at| (known(at).is_none(), label(at) != policy(label(at)), known(at)));
    let mut found = vec![OBSERVED; labels.len()];
    let mut taken: Vec<usize> = Vec::new();
    for at in order.into_iter().filter(|&at| label(at) != OBSERVED_LABEL) {
        let style = free(known(at).unwrap_or(0), &taken);
        taken.push(style);
        let hue = HUES.get(style % HUES.len()).and_then(|hue| COLOURS.get(*hue)).copied().unwrap_or(BLACK);
        if let Some(slot) = found.get_mut(at) {
            *slot = Series { colour: hue, form: form(style) };
        }
    }
    found
}

/// The first style from `wanted` on whose colour is free; if none is, the first that is free itself.
fn free(wanted: usize, taken: &[usize]) -> usize {
    let hues = HUES.len();
    let form = wanted / hues * hues;
    let colours = (0..hues).map(|step| form + (wanted + step) % hues);
    let is_free = |style: &usize| taken.iter().all(|other| other % hues != style % hues);
    let all = || (0..hues * FORMS).map(|step| (wanted + step) % (hues * FORMS));
    colours.into_iter().find(is_free).or_else(|| all().find(|style| !taken.contains(style))).unwrap_or(wanted)
}

/// The form of a style. Neighbours in a row have different forms, so that they stay apart without colour, and so have the styles of one
/// colour.
fn form(style: usize) -> usize {
    (style % HUES.len() + style / HUES.len()) % FORMS
}

/// The place of a label's policy in [`POLICIES`].
fn place(label: &str) -> Option<usize> {
    POLICIES.iter().position(|known| *known == policy(label))
}

/// The policy that a label begins with: `delay` of `delay:D=4`, `fifo` of `batch-fifo+late`.
fn policy(label: &str) -> &str {
    let name = label.split([':', '+', ' ', ',']).next().unwrap_or_default();
    name.strip_prefix("batch-").unwrap_or(name)
}

/// Whether a policy of that name has a style of its own.
pub fn is_known(name: &str) -> bool {
    place(name).is_some()
}

/// The colour of an area. Black is left out, because it is too heavy.
pub(crate) fn area_colour(series: usize) -> RGBColor {
    let light = [0, 4, 5, 6, 3, 1, 7];
    light.get(series % light.len()).and_then(|place| COLOURS.get(*place)).copied().unwrap_or(BLACK)
}

/// Dash and gap of a line of that form in pixels; `None` is a solid line.
pub(crate) fn dash(form: usize) -> Option<(u32, u32)> {
    match form % FORMS {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_looks_alike_in_every_figure() {
        let of = |labels: &[&str], label: &str| {
            labels.iter().position(|own| *own == label).and_then(|at| styles(labels).get(at).copied())
        };
        let alone = of(&["fair"], "fair");
        for labels in
            [&["fifo", "fair"][..], &["fair:preemption=true", "observed", "fair", "fifo"], &["x", "fair", "y"]]
        {
            assert_eq!(of(labels, "fair"), alone, "{labels:?}");
        }
        assert_eq!(of(&["fifo", "observed"], "observed"), Some(OBSERVED));
        assert_eq!(of(&["batch-fifo"], "batch-fifo"), of(&["fifo"], "fifo"));
    }

    #[test]
    fn no_two_series_look_alike() {
        let labels: Vec<String> = (0..24).map(|at| format!("delay:D={at}")).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).chain(["observed"]).collect();
        for n in 1..=labels.len() {
            let found = styles(labels.get(..n).unwrap_or(&[]));
            for (at, style) in found.iter().enumerate() {
                assert!(!found.iter().skip(at + 1).any(|other| other == style), "{n} series: {at}");
            }
            let hues = found
                .iter()
                .take(7)
                .enumerate()
                .all(|(at, style)| found.iter().take(at).all(|other| other.colour != style.colour));
            assert!(hues, "seven series have seven colours");
        }
    }
}
