//! Renders the SVG of a chart as PNG.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

use crate::Error;
use crate::style::{FONT_FILE, FONT_NAME};

/// Pixels of the PNG per pixel of the chart; 287 dpi in print.
const SCALE: u32 = 2;

/// Renders the SVG of the chart `name`.
///
/// # Errors
/// [`Error::Draw`] if the SVG cannot be read or the picture is too large.
pub(crate) fn png(name: &str, svg: &str) -> Result<Vec<u8>, Error> {
    let mut fonts = Database::new();
    fonts.load_font_data(FONT_FILE.to_vec());
    fonts.set_sans_serif_family(FONT_NAME);
    let options = Options { fontdb: Arc::new(fonts), font_family: FONT_NAME.to_owned(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(Error::draw(name))?;
    let size = tree.size().to_int_size();
    let mut pixels = Pixmap::new(size.width() * SCALE, size.height() * SCALE).ok_or_else(|| {
        Error::draw(name)(format!("expected a smaller picture, found {} × {} pixels", size.width(), size.height()))
    })?;
    resvg::render(&tree, Transform::from_scale(SCALE as f32, SCALE as f32), &mut pixels.as_mut());
    pixels.encode_png().map_err(Error::draw(name))
}
