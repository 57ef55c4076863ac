//! The parts that all HTML pages share: head, style, the frame around a body, and figures.

use askama::Template;
use askama::filters::{Escaper, Html};
use resched_trace::words::visible;

use crate::Error;
use crate::pdf::pdf;
use crate::png::png;

/// The mark for an unknown number.
pub const UNKNOWN: &str = "–";

/// A page that needs no other file: a body in the frame that all pages share.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "frame.html")]
pub struct Frame<'a> {
    /// The title in the browser's bar, as HTML; see [`escaped`].
    pub title: &'a str,
    /// Its style.
    pub style: &'a Style,
    /// The HTML between `<body>` and `</body>`.
    pub body: &'a str,
}

impl Frame<'_> {
    /// The whole page. Characters that turn the order of letters are written out ([`visible`]).
    ///
    /// # Errors
    /// [`Error::Draw`] if the template cannot be filled.
    pub fn page(&self) -> Result<String, Error> {
        let page = self.render().map_err(Error::draw("the page"))?;
        Ok(visible(&page).into_owned())
    }
}

/// The style of one page beyond that of all pages. The texts are CSS. Each begins with the space or line break that separates it
/// from the rule before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether the page is wide, for dense tables with many columns. On a narrow one the first column of a table holds text.
    pub wide: bool,
    /// Rules after those of headings.
    pub headings: &'static str,
    /// Rules after those of tables.
    pub cells: &'static str,
    /// More selectors of small grey text.
    pub small: &'static str,
    /// Rules at the end.
    pub more: &'static str,
}

impl Style {
    /// A narrow page without rules of its own.
    pub const NARROW: Self = Self { wide: false, headings: "", cells: "", small: "", more: "" };
    /// A wide page without rules of its own.
    pub const WIDE: Self = Self { wide: true, ..Self::NARROW };
}

/// A figure with its texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Figure {
    /// The name of its files, without extension.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its caption.
    pub caption: String,
    /// The picture.
    pub svg: String,
}

impl Figure {
    /// The picture as SVG and PNG: the name and the content of each file.
    ///
    /// # Errors
    /// [`Error::Draw`] if the picture cannot be rendered.
    pub fn files(&self) -> Result<[(String, Vec<u8>); 2], Error> {
        Ok([(self.svg_name(), self.svg.clone().into_bytes()), (self.png_name(), self.png()?)])
    }

    /// The name of the file of its SVG.
    pub(crate) fn svg_name(&self) -> String {
        format!("{}.svg", self.name)
    }

    /// The name of the file of its PNG.
    pub(crate) fn png_name(&self) -> String {
        format!("{}.png", self.name)
    }

    /// The name of the file of its PDF.
    pub(crate) fn pdf_name(&self) -> String {
        format!("{}.pdf", self.name)
    }

    /// The picture as PDF.
    ///
    /// # Errors
    /// [`Error::Draw`] if the picture cannot be converted.
    pub(crate) fn pdf(&self) -> Result<Vec<u8>, Error> {
        pdf(&self.name, &self.svg)
    }

    /// The picture as PNG.
    ///
    /// # Errors
    /// [`Error::Draw`] if the picture cannot be rendered.
    pub(crate) fn png(&self) -> Result<Vec<u8>, Error> {
        png(&self.name, &self.svg)
    }
}

/// A text as HTML.
pub fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    // Writing to a string cannot fail.
    let _ = Html.write_escaped_str(&mut html, text);
    html
}

/// Figures side by side, as HTML. Their texts are escaped here. Texts inside the pictures are escaped when the pictures are drawn.
///
/// # Errors
/// [`Error::Draw`] if the template cannot be filled.
pub fn gallery(figures: &[Figure]) -> Result<String, Error> {
    Gallery { figures }.render().map_err(Error::draw("the figures"))
}

#[derive(Template)]
#[template(path = "gallery.html")]
struct Gallery<'a> {
    figures: &'a [Figure],
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_pictures_are_not() {
        let [name, title, caption, svg] = ["a", "<b>", "<c>", "<svg/>"].map(str::to_owned);
        let found = gallery(&[Figure { name, title, caption, svg }]).unwrap();
        assert!(found.contains("<svg/>") && !found.contains("<b>") && !found.contains("<c>"), "{found}");
        let page = Frame { title: &escaped("<t>"), style: &Style::WIDE, body: "<p>" }.page().unwrap();
        assert!(page.contains("<body>\n<p>\n</body>") && !page.contains("<t>"), "{page}");
    }
}
