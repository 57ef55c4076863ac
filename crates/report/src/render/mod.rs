//! From the SVG of a chart to other formats.

pub(crate) mod formats;
pub(crate) mod pdf;
pub(crate) mod png;
pub(crate) mod rendered;
