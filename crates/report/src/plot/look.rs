//! The size of charts and of the text in them.

use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{BLACK, IntoFont, TextStyle};

use crate::Error;

/// The width of a chart and the size of its text, in pixels. A pixel is 85/480 mm in print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    width: u32,
    font: u32,
}

/// The widths and sizes that a chart may have, pixels.
const WIDTHS: std::ops::RangeInclusive<u32> = 240..=2_000;
const FONTS: std::ops::RangeInclusive<u32> = 6..=60;
/// A chart is at least so many times as wide as its text is high: less leaves no room for an axis.
const LEAST_RATIO: u32 = 20;
/// What plotters calls the size of a font is this many times what its SVG gets.
const OF_PLOTTERS: f64 = 1.24;

impl Default for Look {
    fn default() -> Self {
        Self::COLUMN
    }
}

impl Look {
    /// For a column of 85 mm, with text of 8 pt.
    pub const COLUMN: Self = Self { width: 480, font: 16 };

    /// A chart of that width, with text of that size, in pixels.
    ///
    /// # Errors
    /// [`Error::Request`] if one of them is out of bounds, or the text too large for the chart.
    pub fn new(width: u32, font: u32) -> Result<Self, Error> {
        let wrong = |option: &str, expected: String, found: u32| {
            Err(Error::Request(format!("{option}: expected {expected}, found {found}")))
        };
        if !WIDTHS.contains(&width) {
            return wrong("--width", format!("{} to {} pixels", WIDTHS.start(), WIDTHS.end()), width);
        }
        if !FONTS.contains(&font) {
            return wrong("--font-size", format!("{} to {} pixels", FONTS.start(), FONTS.end()), font);
        }
        if width < LEAST_RATIO * font {
            let most = width / LEAST_RATIO;
            return wrong("--font-size", format!("at most {most} pixels in a chart {width} pixels wide"), font);
        }
        Ok(Self { width, font })
    }

    /// The width of the chart.
    pub(crate) const fn width(self) -> u32 {
        self.width
    }

    /// A length that suits the default size of text, in proportion to that of this look.
    pub(crate) const fn scaled(self, length: u32) -> u32 {
        (length * self.font).div_ceil(Self::COLUMN.font)
    }

    /// The height of a line of text, with some air.
    pub(crate) const fn line_height(self) -> u32 {
        self.scaled(22)
    }

    /// The style of all text.
    pub(crate) fn text(self) -> TextStyle<'static> {
        TextStyle::from(("sans-serif", self.font_size()).into_font()).color(&BLACK)
    }

    /// The style of text that stands on that side of its place, and at the middle of its height.
    pub(crate) fn text_at(self, side: HPos) -> TextStyle<'static> {
        self.text().pos(Pos::new(side, VPos::Center))
    }

    /// The width of `line`. The estimate is a few per cent off.
    pub(crate) fn text_width(self, line: &str) -> u32 {
        ("sans-serif", self.font_size()).into_font().box_size(line).map_or(0, |size| size.0)
    }

    /// `label` without characters that XML forbids, cut to `width` pixels.
    pub(crate) fn shorten(self, label: &str, width: u32) -> String {
        // No text of this many characters fits a chart, so longer ones need no measuring.
        let short: String = label.chars().take(self.width as usize).map(clean).collect();
        let cut = short.len() < label.len();
        if !cut && self.text_width(&short) <= width {
            return short;
        }
        // To measure is slow, so the end is sought by halves.
        let ends: Vec<usize> = short.char_indices().map(|(end, _)| end).collect();
        let fits = |end: &usize| self.text_width(&format!("{}…", short.get(..*end).unwrap_or_default())) <= width;
        let longest = ends.partition_point(fits).checked_sub(1).and_then(|place| ends.get(place));
        format!("{}…", longest.and_then(|end| short.get(..*end)).unwrap_or_default())
    }

    /// `text` in lines of at most `width` pixels, at most `most` of them. Only a word that is wider, and the end of the last line, are cut.
    pub(crate) fn wrapped(self, text: &str, width: u32, most: usize) -> Vec<String> {
        // No text of this many letters fits, so the rest needs no measuring.
        let text: String = text.chars().take(width as usize * most).collect();
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            let full = lines.len() == most;
            match lines.last_mut() {
                Some(line) if full || self.text_width(&format!("{line} {word}")) <= width => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
        lines.iter().map(|line| self.shorten(line, width)).collect()
    }

    fn font_size(self) -> f64 {
        f64::from(self.font) * OF_PLOTTERS
    }
}

/// A letter that XML allows.
fn clean(letter: char) -> char {
    let is_forbidden = letter.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&letter);
    if is_forbidden { '\u{fffd}' } else { letter }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::plot::style::use_font;

    #[test]
    fn sizes_out_of_bounds_are_refused() {
        for (width, font, named) in [(100, 16, "--width"), (480, 3, "--font-size"), (480, 40, "at most 24 pixels")] {
            let error = Look::new(width, font).unwrap_err();
            assert!(error.is_request() && error.to_string().contains(named), "{error}");
        }
        let large = Look::new(960, 32).unwrap();
        assert_eq!((large.line_height(), Look::default().line_height(), large.width()), (44, 22, 960));
    }

    #[test]
    fn long_texts_go_on_in_the_next_line() {
        use_font().unwrap();
        let look = Look::default();
        let lines = look.wrapped("one two three four five six seven", 100, 9);
        assert!(lines.len() > 2 && lines.iter().all(|line| look.text_width(line) <= 100), "{lines:?}");
        assert_eq!(lines.join(" "), "one two three four five six seven");
        let cut = look.wrapped("one two three four five six seven", 100, 2);
        assert!(cut.len() == 2 && cut.concat().ends_with('…'), "{cut:?}");
        assert!(look.wrapped("", 100, 2).is_empty());
    }
}
