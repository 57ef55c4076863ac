//! Renders the SVG of a chart as PNG.

use png::{BitDepth, ColorType, Encoder, PixelDimensions, Unit};
use resvg::tiny_skia::{Pixmap, Transform};

use crate::Error;
use crate::render::rendered::{PIXELS_PER_METRE, read};

/// Pixels of the PNG per pixel of the chart; 287 dpi in print.
const SCALE: u32 = 2;

/// Renders the SVG of the chart `name`. The PNG says how large it is in print.
///
/// # Errors
/// [`Error::Draw`] if the SVG cannot be read or the picture is too large.
pub(crate) fn png(name: &str, svg: &str) -> Result<Vec<u8>, Error> {
    let tree = read(name, svg)?;
    let size = tree.size().to_int_size();
    let mut pixels = Pixmap::new(size.width() * SCALE, size.height() * SCALE).ok_or_else(|| {
        Error::draw(name)(format!("expected a smaller picture, found {} × {} pixels", size.width(), size.height()))
    })?;
    resvg::render(&tree, Transform::from_scale(SCALE as f32, SCALE as f32), &mut pixels.as_mut());
    encode(&pixels).map_err(Error::draw(name))
}

/// Charts stand on white, so their pixels need no transparency.
fn encode(pixels: &Pixmap) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, pixels.width(), pixels.height());
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let per_metre = (PIXELS_PER_METRE * f64::from(SCALE)).round() as u32;
    encoder.set_pixel_dims(Some(PixelDimensions { xppu: per_metre, yppu: per_metre, unit: Unit::Meter }));
    let mut writer = encoder.write_header()?;
    // Of each pixel's red, green, blue and transparency, the first three.
    let (all, _) = pixels.data().as_chunks::<4>();
    let mut colours = Vec::with_capacity(all.len() * 3);
    for [red, green, blue, _] in all {
        colours.extend_from_slice(&[*red, *green, *blue]);
    }
    writer.write_image_data(&colours)?;
    writer.finish()?;
    Ok(bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_png_says_its_resolution_and_keeps_colours() {
        let svg = r##"<svg xmlns="http://www.w3.org/2000/svg" width="4" height="2"><rect width="4" height="2" fill="#ff8000"/></svg>"##;
        let bytes = png("test", svg).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let dims = reader.info().pixel_dims.unwrap();
        assert_eq!((dims.xppu, dims.yppu, dims.unit), (11_294, 11_294, Unit::Meter), "287 dpi");
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels, [255, 128, 0].repeat(8 * 4));
    }
}
