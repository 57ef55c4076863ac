//! The parts that all HTML pages share: the frame around a body, its style and scripts, and figures.

use askama::Template;
use askama::filters::{Escaper, Html};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use resched_tables::words::visible;
use sha2::{Digest, Sha256};

use crate::Error;
use crate::render::pdf::pdf;
use crate::render::png::png;

/// The mark for an unknown number.
pub const UNKNOWN: &str = "–";

/// The style of all pages.
const STYLE: &str =
    concat!(include_str!("../../assets/uplot/uPlot.min.css"), "\n", include_str!("../../assets/page/page.css"));

/// The script of pages whose tables can be sorted and filtered.
const TABLES: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../../assets/page/texts.js"),
    include_str!("../../assets/page/tables.js"),
    "})();\n"
);

/// The library that draws interactive charts.
const CHARTS: &str = include_str!("../../assets/uplot/uPlot.iife.min.js");

/// The script of a report, which has interactive charts and a table of jobs.
const REPORT: &str = concat!(
    "(async () => {\n\"use strict\";\n",
    include_str!("../../assets/page/texts.js"),
    include_str!("../../assets/page/tables.js"),
    include_str!("../../assets/page/state.js"),
    include_str!("../../assets/page/clock.js"),
    include_str!("../../assets/page/charts.js"),
    include_str!("../../assets/page/window.js"),
    include_str!("../../assets/page/why.js"),
    include_str!("../../assets/page/jobs.js"),
    include_str!("../../assets/page/follow.js"),
    include_str!("../../assets/page/view.js"),
    include_str!("../../assets/page/report.js"),
    "})();\n"
);

/// A page that needs no other file: a body in the frame that all pages share. It runs no script but our own, and asks for nothing over a
/// network, whatever its texts say.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// The title in the browser's bar, as HTML; see [`escaped`].
    pub title: &'a str,
    /// The HTML between the frame's opening and its scripts.
    pub body: &'a str,
    /// True if the body has the elements that the interactive charts of a report need.
    pub interactive: bool,
}

#[derive(Template)]
#[template(path = "frame.html")]
struct Page<'a> {
    frame: &'a Frame<'a>,
    /// What the page may do.
    policy: String,
    style: &'static str,
    scripts: Vec<&'static str>,
}

impl Frame<'_> {
    /// The whole page. Characters that turn the order of letters are written out ([`visible`]).
    ///
    /// # Errors
    /// [`Error::Draw`] if the template cannot be filled.
    pub fn page(&self) -> Result<String, Error> {
        let scripts = if self.interactive { vec![CHARTS, REPORT] } else { vec![TABLES] };
        let hashes: Vec<String> = scripts.iter().map(|script| hash(script)).collect();
        let policy = format!(
            "default-src 'none'; style-src {}; script-src {}; img-src data:; base-uri 'none'; form-action 'none'",
            hash(STYLE),
            hashes.join(" ")
        );
        let page = Page { frame: self, policy, style: STYLE, scripts }.render().map_err(Error::draw("the page"))?;
        Ok(visible(&page).into_owned())
    }
}

/// A script or style as the policy of a page names it (Content Security Policy, level 2).
fn hash(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text.as_bytes())))
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
        Ok([(self.svg_name(), self.described().into_bytes()), (self.png_name(), self.png()?)])
    }

    /// The picture with its title and caption for those who cannot see it.
    pub(crate) fn described(&self) -> String {
        let Some((head, rest)) = self.svg.split_once('>') else { return self.svg.clone() };
        if self.title.is_empty() {
            return self.svg.clone();
        }
        let [title, caption] = [&self.title, &self.caption].map(|text| escaped(text));
        let name = &self.name;
        format!(
            "{head} role=\"img\" aria-labelledby=\"{name}-title\" aria-describedby=\"{name}-desc\">\n\
             <title id=\"{name}-title\">{title}</title>\n<desc id=\"{name}-desc\">{caption}</desc>{rest}"
        )
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

/// One of our own texts as HTML: what stands between asterisks is emphasised, what stands between backquotes is code.
pub fn emphasised(text: &str) -> String {
    let marked = |text: &str, mark: char, name: &str| -> String {
        // A mark that opens and does not close is none.
        if text.matches(mark).count() % 2 == 1 {
            return text.to_owned();
        }
        let part = |(number, part): (usize, &str)| {
            if number % 2 == 1 { format!("<{name}>{part}</{name}>") } else { part.to_owned() }
        };
        text.split(mark).enumerate().map(part).collect()
    };
    marked(&marked(&escaped(text), '`', "code"), '*', "em")
}

/// Figures side by side, as HTML. Their texts are escaped here. Texts inside the pictures are escaped when the pictures are drawn.
///
/// # Errors
/// [`Error::Draw`] if the template cannot be filled.
pub fn gallery(figures: &[Figure]) -> Result<String, Error> {
    gallery_beside(figures.iter().map(|figure| (figure, false)).collect())
}

/// Figures side by side, as HTML, each with whether the page has an interactive form of it. It is then left to print and to browsers
/// without scripts.
///
/// # Errors
/// [`Error::Draw`] if the template cannot be filled.
pub(crate) fn gallery_beside(figures: Vec<(&Figure, bool)>) -> Result<String, Error> {
    Gallery { figures }.render().map_err(Error::draw("the figures"))
}

#[derive(Template)]
#[template(path = "gallery.html")]
struct Gallery<'a> {
    figures: Vec<(&'a Figure, bool)>,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_pictures_are_not() {
        let [name, title, caption, svg] = ["a", "<b>", "<c>", "<svg width=\"1\"><g/></svg>"].map(str::to_owned);
        let found = gallery(&[Figure { name, title, caption, svg }]).unwrap();
        assert!(found.contains("<g/></svg>") && !found.contains("<b>") && !found.contains("<c>"), "{found}");
        assert!(found.contains("<svg width=\"1\" role=\"img\" aria-labelledby=\"a-title\""), "{found}");
        let page = Frame { title: &escaped("<t>"), body: "<p>", interactive: false }.page().unwrap();
        assert!(page.contains("<p>") && !page.contains("<t>"), "{page}");
    }

    #[test]
    fn asterisks_and_backquotes_are_marks() {
        assert_eq!(emphasised("a *b* `c` <d>"), "a <em>b</em> <code>c</code> &#60;d&#62;");
        assert_eq!(emphasised("2 * 3"), "2 * 3");
    }

    /// A character that is written out after the policy was made would make it refuse the script.
    #[test]
    fn what_the_policy_names_stays_as_it_is() {
        for text in [STYLE, TABLES, CHARTS, REPORT] {
            assert_eq!(visible(text), text);
            assert!(!text.contains("</script") && !text.contains("</style"));
        }
    }
}
