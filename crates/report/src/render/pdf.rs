//! Converts the SVG of a chart to PDF, as vectors. Letters become outlines, so that the file needs no font.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{LineCapStyle, LineJoinStyle};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref};
use resvg::tiny_skia::{PathSegment, Point};
use resvg::usvg::{FillRule, Group, LineCap, LineJoin, Node, Paint, Path, Tree};

use crate::Error;
use crate::render::rendered::{PIXELS_PER_METRE, read};

/// Points of PDF in a metre.
const POINTS_PER_METRE: f64 = 72.0 / 0.0254;

/// Converts the SVG of the chart `name`. A page is as large as the chart is in print.
///
/// # Errors
/// [`Error::Draw`] if the SVG cannot be read, or holds something that charts do not have.
pub(crate) fn pdf(name: &str, svg: &str) -> Result<Vec<u8>, Error> {
    convert(&read(name, svg)?).map_err(Error::draw(name))
}

fn convert(tree: &Tree) -> Result<Vec<u8>, String> {
    let scale = (POINTS_PER_METRE / PIXELS_PER_METRE) as f32;
    let (width, height) = (tree.size().width() * scale, tree.size().height() * scale);
    let mut picture = Picture { content: Content::new(), opacities: Vec::new() };
    // The y axis of SVG goes down, that of PDF up.
    picture.content.transform([scale, 0.0, 0.0, -scale, 0.0, height]);
    picture.group(tree.root())?;
    let [catalog, pages, page, content] = [1, 2, 3, 4].map(Ref::new);
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    let mut of_page = pdf.page(page);
    of_page.media_box(Rect::new(0.0, 0.0, width, height)).parent(pages).contents(content);
    let mut resources = of_page.resources();
    let mut states = resources.ext_g_states();
    for (number, opacity) in picture.opacities.iter().enumerate() {
        let name = state(number);
        states
            .insert(Name(name.as_bytes()))
            .start::<pdf_writer::writers::ExtGraphicsState<'_>>()
            .non_stroking_alpha(*opacity)
            .stroking_alpha(*opacity);
    }
    states.finish();
    resources.finish();
    of_page.finish();
    let outlines = compressed(&picture.content.finish()).map_err(|error| error.to_string())?;
    pdf.stream(content, &outlines).filter(Filter::FlateDecode);
    Ok(pdf.finish())
}

/// Letters make long outlines, which compress to a tenth.
fn compressed(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// The name of the graphics state with an opacity.
fn state(number: usize) -> String {
    format!("o{number}")
}

/// The page while it is drawn.
struct Picture {
    content: Content,
    /// The opacities in use; each has a graphics state.
    opacities: Vec<f32>,
}

impl Picture {
    fn group(&mut self, group: &Group) -> Result<(), String> {
        if group.clip_path().is_some() || group.mask().is_some() || !group.filters().is_empty() {
            return Err("expected no clips, masks and filters".to_owned());
        }
        for node in group.children() {
            match node {
                Node::Group(inner) => self.group(inner)?,
                Node::Path(path) => self.path(path, group.opacity().get())?,
                Node::Text(text) => self.group(text.flattened())?,
                Node::Image(_) => return Err("expected no images".to_owned()),
            }
        }
        Ok(())
    }

    fn path(&mut self, path: &Path, opacity: f32) -> Result<(), String> {
        if !path.is_visible() {
            return Ok(());
        }
        if let Some(fill) = path.fill() {
            let [r, g, b] = colour(fill.paint())?;
            self.content.save_state();
            self.content.set_fill_rgb(r, g, b);
            self.opacity(fill.opacity().get() * opacity);
            self.outline(path);
            match fill.rule() {
                FillRule::NonZero => self.content.fill_nonzero(),
                FillRule::EvenOdd => self.content.fill_even_odd(),
            };
            self.content.restore_state();
        }
        if let Some(stroke) = path.stroke() {
            let [r, g, b] = colour(stroke.paint())?;
            self.content.save_state();
            self.content.set_stroke_rgb(r, g, b).set_line_width(stroke.width().get());
            self.content.set_line_cap(match stroke.linecap() {
                LineCap::Butt => LineCapStyle::ButtCap,
                LineCap::Round => LineCapStyle::RoundCap,
                LineCap::Square => LineCapStyle::ProjectingSquareCap,
            });
            self.content.set_line_join(match stroke.linejoin() {
                LineJoin::Round => LineJoinStyle::RoundJoin,
                LineJoin::Bevel => LineJoinStyle::BevelJoin,
                LineJoin::Miter | LineJoin::MiterClip => LineJoinStyle::MiterJoin,
            });
            self.opacity(stroke.opacity().get() * opacity);
            self.outline(path);
            self.content.stroke();
            self.content.restore_state();
        }
        Ok(())
    }

    fn opacity(&mut self, opacity: f32) {
        if opacity >= 1.0 {
            return;
        }
        let number = self.opacities.iter().position(|known| *known == opacity).unwrap_or_else(|| {
            self.opacities.push(opacity);
            self.opacities.len() - 1
        });
        self.content.set_parameters(Name(state(number).as_bytes()));
    }

    /// The path in the coordinates of the page. PDF knows only cubic curves.
    fn outline(&mut self, path: &Path) {
        let at = |mut point: Point| {
            path.abs_transform().map_point(&mut point);
            point
        };
        let mut last = Point::zero();
        for segment in path.data().segments() {
            match segment {
                PathSegment::MoveTo(to) => {
                    last = at(to);
                    self.content.move_to(last.x, last.y);
                }
                PathSegment::LineTo(to) => {
                    last = at(to);
                    self.content.line_to(last.x, last.y);
                }
                PathSegment::QuadTo(bend, to) => {
                    let (bend, to) = (at(bend), at(to));
                    let towards = |from: f32, bend: f32| from + (bend - from) * 2.0 / 3.0;
                    self.content.cubic_to(
                        towards(last.x, bend.x),
                        towards(last.y, bend.y),
                        towards(to.x, bend.x),
                        towards(to.y, bend.y),
                        to.x,
                        to.y,
                    );
                    last = to;
                }
                PathSegment::CubicTo(one, two, to) => {
                    let (one, two, to) = (at(one), at(two), at(to));
                    self.content.cubic_to(one.x, one.y, two.x, two.y, to.x, to.y);
                    last = to;
                }
                PathSegment::Close => {
                    self.content.close_path();
                }
            }
        }
    }
}

/// A colour as red, green and blue, 0 to 1.
fn colour(paint: &Paint) -> Result<[f32; 3], String> {
    match paint {
        Paint::Color(colour) => Ok([colour.red, colour.green, colour.blue].map(|part| f32::from(part) / 255.0)),
        _ => Err("expected no gradients and patterns".to_owned()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::Read;

    use super::*;

    const START: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" width="480" height="100">"#;

    fn converted(inner: &str) -> Result<Vec<u8>, Error> {
        pdf("test", &format!("{START}{inner}</svg>"))
    }

    /// What the page draws.
    fn content(pdf: &[u8]) -> String {
        let place = |word: &[u8]| pdf.windows(word.len()).position(|found| found == word).unwrap();
        let mut text = String::new();
        let stream = &pdf[place(b"stream\n") + 7..place(b"\nendstream")];
        flate2::read::ZlibDecoder::new(stream).read_to_string(&mut text).unwrap();
        text
    }

    /// 480 pixels are 85 mm, which are 240.94 points.
    #[test]
    fn shapes_and_letters_become_paths() {
        let shapes = r##"<rect x="10" y="20" width="30" height="40" fill="#ff0000" opacity="0.5"/>
            <text x="5" y="50" font-family="sans-serif" font-size="16">I</text>"##;
        let pdf = converted(shapes).unwrap();
        let text = String::from_utf8_lossy(&pdf);
        assert!(text.starts_with("%PDF-1.") && text.contains("240.94"), "{text}");
        let drawn = content(&pdf);
        assert!(drawn.contains("1 0 0 rg\n/o0 gs\n10 20 m"), "{drawn}");
        assert!(drawn.matches(" m\n").count() >= 2, "the letter is an outline: {drawn}");
    }

    #[test]
    fn what_charts_do_not_have_is_refused() {
        let gradient = r##"<linearGradient id="g"><stop stop-color="#fff"/><stop offset="1" stop-color="#000"/></linearGradient><rect width="9" height="9" fill="url(#g)"/>"##;
        assert!(converted(gradient).unwrap_err().to_string().contains("gradients"));
    }
}
