//! The style of charts: colours, and the dashes and marks that say series apart without colour. [`crate::plot::look`] has the sizes.

use std::sync::OnceLock;

use plotters::style::{BLACK, FontStyle, RGBColor, register_font};

use crate::Error;

/// The font of all charts. Its licence stands beside it.
pub(crate) const FONT_FILE: &[u8] = include_bytes!("../../assets/DejaVuSans.ttf");

/// The name of that font.
pub(crate) const FONT_NAME: &str = "DejaVu Sans";

/// The colours of series. In greyscale each is a step of about 7 in lightness (CIELAB) from the next, none is as dark as black, and each
/// is dark enough for thin lines on white (a contrast of 3:1, WCAG 1.4.11). Neighbours in this list are far apart in lightness.
const COLOURS: [RGBColor; 8] = [
    // Blue, orange, green, vermilion, sky, purple, brown, pine.
    RGBColor(1, 81, 153),
    RGBColor(216, 127, 1),
    RGBColor(0, 131, 78),
    RGBColor(176, 58, 0),
    RGBColor(2, 142, 187),
    RGBColor(102, 31, 125),
    RGBColor(78, 41, 0),
    RGBColor(0, 42, 17),
];

/// The colours of areas, such that neighbours differ in lightness. They are lighter than those of lines, as areas are large.
const AREAS: [RGBColor; 7] = [
    RGBColor(1, 81, 153),
    RGBColor(244, 176, 92),
    RGBColor(0, 131, 78),
    RGBColor(226, 150, 190),
    RGBColor(120, 50, 140),
    RGBColor(120, 190, 225),
    RGBColor(176, 58, 0),
];

/// The colour of anything that is not a series.
pub(crate) const GREY: RGBColor = RGBColor(190, 190, 190);

/// The colour of swatches that show only a fill.
pub(crate) const DARK: RGBColor = RGBColor(90, 90, 90);

/// The colour of lines behind the data.
pub(crate) const GRID: RGBColor = RGBColor(225, 225, 225);

/// How a series is drawn: its colour, and the dash and mark that say it apart without colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Series {
    /// Its colour.
    pub(crate) colour: RGBColor,
    /// Its dash and mark, 0 to 7.
    pub(crate) form: usize,
}

/// What really ran: black, solid, and no other series looks like it.
pub(crate) const OBSERVED: Series = Series { colour: BLACK, form: 0 };

/// The label of what really ran.
pub(crate) const OBSERVED_LABEL: &str = "observed";

/// The forms of a series: dashes and marks.
const FORMS: usize = 8;

/// A function that has the place of a label's policy in the order of policies; `None` if it is no policy. The order decides the styles:
/// eight places have eight colours, the next eight those colours again, and so on.
pub type Order = fn(&str) -> Option<u32>;

/// The style of each label, such that no two are alike. Labels come with the place of their policy in the order of policies. A policy
/// keeps its style in every figure, unless two in one figure would have the same colour: then the one that comes later in the order, or
/// has parameters, gets the next free one. Labels that are no policies get what is left, in their order.
pub(crate) fn styles(labels: &[(&str, Option<u32>)]) -> Vec<Series> {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    let label = |at: usize| labels.get(at).map_or("", |label| label.0);
    let known = |at: usize| labels.get(at).and_then(|label| label.1);
    order.sort_by_key(|&at| (known(at).is_none(), label(at) != policy(label(at)), known(at)));
    let mut found = vec![OBSERVED; labels.len()];
    let mut taken: Vec<usize> = Vec::new();
    for at in order.into_iter().filter(|&at| label(at) != OBSERVED_LABEL) {
        let style = free(known(at).unwrap_or(0) as usize, &taken);
        taken.push(style);
        let colour = COLOURS.get(style % COLOURS.len()).copied().unwrap_or(BLACK);
        if let Some(slot) = found.get_mut(at) {
            *slot = Series { colour, form: form(style) };
        }
    }
    found
}

/// The styles of labels, whose places `order` has.
pub(crate) fn styles_by<'l>(labels: impl Iterator<Item = &'l str>, order: Order) -> Vec<Series> {
    styles(&labels.map(|label| (label, order(label))).collect::<Vec<_>>())
}

/// The first of the first styles, from `wanted` on, whose colour is free: eight of them have eight forms. If no colour is, the first style
/// that is free itself.
fn free(wanted: usize, taken: &[usize]) -> usize {
    let hues = COLOURS.len();
    let is_free = |style: &usize| taken.iter().all(|other| other % hues != style % hues);
    let mut first = (0..hues).map(|step| (wanted + step) % hues);
    let mut all = (0..hues * FORMS).map(|step| (wanted + step) % (hues * FORMS));
    first.find(is_free).or_else(|| all.find(|style| !taken.contains(style))).unwrap_or(wanted)
}

/// The form of a style. Neighbours in a row have different forms, so that they stay apart without colour, and so have the styles of one
/// colour.
fn form(style: usize) -> usize {
    (style % COLOURS.len() + style / COLOURS.len()) % FORMS
}

/// The policy that a label begins with: `delay` of `delay:D=4`, `fifo` of `batch-fifo+late`.
fn policy(label: &str) -> &str {
    let name = label.split([':', '+', ' ', ',']).next().unwrap_or_default();
    name.strip_prefix("batch-").unwrap_or(name)
}

/// The colour of an area.
pub(crate) fn area_colour(series: usize) -> RGBColor {
    AREAS.get(series % AREAS.len()).copied().unwrap_or(BLACK)
}

/// The lengths of a line of that form, by turns drawn and left out, in pixels; none for a solid line.
pub(crate) fn dash(form: usize) -> &'static [u32] {
    match form % FORMS {
        0 => &[],
        1 => &[9, 4],
        2 => &[3, 3],
        3 => &[16, 4],
        4 => &[10, 3, 2, 3],
        5 => &[10, 3, 2, 3, 2, 3],
        6 => &[14, 3, 5, 3],
        _ => &[6, 7],
    }
}

/// How much of a line of that form is drawn, per cent.
pub(crate) fn ink(form: usize) -> u32 {
    let lengths = dash(form);
    let drawn: u32 = lengths.iter().step_by(2).sum();
    (100 * drawn).checked_div(lengths.iter().sum()).unwrap_or(100)
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

/// Registers the font with plotters. Call it once before text is drawn or measured.
pub(crate) fn use_font() -> Result<(), Error> {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    let known = *REGISTERED.get_or_init(|| register_font("sans-serif", FontStyle::Normal, FONT_FILE).is_ok());
    if known { Ok(()) } else { Err(Error::draw("text")("the font of this build is damaged")) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use resched_analysis::why::Phase;

    use super::*;

    /// The styles of labels, in an order of a few policies.
    fn styled(labels: &[&str]) -> Vec<Series> {
        const ORDER: [&str; 8] = ["fifo", "fair", "capacity", "naive-fair", "delay", "coupling", "dress", "yarn-fifo"];
        let place = |label: &str| ORDER.iter().position(|known| *known == policy(label)).map(|place| place as u32);
        styles_by(labels.iter().copied(), place)
    }

    #[test]
    fn a_policy_looks_alike_in_every_figure() {
        let of = |labels: &[&str], label: &str| {
            labels.iter().position(|other| *other == label).and_then(|at| styled(labels).get(at).copied())
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
            let found = styled(labels.get(..n).unwrap_or(&[]));
            for (at, style) in found.iter().enumerate() {
                assert!(!found.iter().skip(at + 1).any(|other| other == style), "{n} series: {at}");
            }
            let hues = found.iter().take(8).enumerate().all(|(at, style)| {
                found.iter().take(at).all(|other| other.colour != style.colour && other.form != style.form)
            });
            assert!(hues, "eight series have eight colours and forms");
        }
    }

    /// The relative luminance of a colour, 0 to 1 (WCAG 2).
    fn luminance(RGBColor(r, g, b): RGBColor) -> f64 {
        let linear = |part: u8| match f64::from(part) / 255.0 {
            part if part <= 0.04045 => part / 12.92,
            part => ((part + 0.055) / 1.055).powf(2.4),
        };
        0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
    }

    /// The lightness of a colour in CIELAB, 0 (black) to 100 (white): what is left of it in greyscale.
    fn lightness(colour: RGBColor) -> f64 {
        (116.0 * luminance(colour).cbrt() - 16.0).max(0.0)
    }

    fn contrast_with_white(colour: RGBColor) -> f64 {
        1.05 / (luminance(colour) + 0.05)
    }

    #[test]
    fn eight_series_and_what_really_ran_differ_in_greyscale_and_stand_out_from_white() {
        let labels = ["observed", "fifo", "fair", "capacity", "naive-fair", "delay", "coupling", "dress", "yarn-fifo"];
        let found = styled(&labels);
        for (at, style) in found.iter().enumerate() {
            let contrast = contrast_with_white(style.colour);
            assert!(contrast >= 3.0, "{}: a contrast of {contrast:.2} with white", labels[at]);
            for (place, other) in found.iter().enumerate().skip(at + 1) {
                let step = (lightness(style.colour) - lightness(other.colour)).abs();
                assert!(step >= 6.0, "{} and {}: only {step:.1} apart in greyscale", labels[at], labels[place]);
                let close = step < 10.0 && style.form == other.form;
                assert!(!close, "{} and {}: {step:.1} apart, and dashed alike", labels[at], labels[place]);
            }
        }
    }

    #[test]
    fn areas_stand_out_from_white_and_from_their_neighbours() {
        assert!(AREAS.iter().all(|area| contrast_with_white(*area) >= 1.7));
        for pair in AREAS.windows(2) {
            assert!((lightness(pair[0]) - lightness(pair[1])).abs() >= 12.0, "{pair:?}");
        }
    }

    #[test]
    fn every_phase_of_a_job_has_a_look_of_its_own_in_a_page() {
        let css = include_str!("../../assets/page/page.css");
        let looks: BTreeSet<&str> = Phase::ALL
            .iter()
            .map(|phase| {
                let (_, rest) =
                    css.split_once(&format!(".part-{}", phase.name())).unwrap_or_else(|| panic!("{phase:?}"));
                rest.split(['{', '}']).nth(1).unwrap_or_default()
            })
            .collect();
        assert_eq!(looks.len(), Phase::ALL.len(), "{looks:?}");
    }
}
