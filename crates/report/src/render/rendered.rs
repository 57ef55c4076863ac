//! The picture of a chart, read from its SVG: what PNG and PDF are made from.

use std::sync::{Arc, OnceLock};

use resvg::usvg::{Options, Tree, fontdb::Database};

use crate::Error;
use crate::plot::style::{FONT_FILE, FONT_NAME};

/// The pixels of a chart in a metre of print: its 480 pixels are 85 mm.
pub(crate) const PIXELS_PER_METRE: f64 = 480.0 / 0.085;

/// Reads the SVG of the chart `name`.
///
/// # Errors
/// [`Error::Draw`] if it cannot be read.
pub(crate) fn read(name: &str, svg: &str) -> Result<Tree, Error> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| {
        let mut fonts = Database::new();
        fonts.load_font_data(FONT_FILE.to_vec());
        fonts.set_sans_serif_family(FONT_NAME);
        Arc::new(fonts)
    });
    let options = Options { fontdb: fonts.clone(), font_family: FONT_NAME.to_owned(), ..Options::default() };
    Tree::from_str(svg, &options).map_err(Error::draw(name))
}
