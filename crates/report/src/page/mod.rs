//! The page, the notebook and their tables.

pub(crate) mod data;
pub(crate) mod formula;
pub(crate) mod frame;
pub(crate) mod groups;
pub(crate) mod html;
pub(crate) mod measure;
pub(crate) mod model_error;
pub(crate) mod notebook;
pub(crate) mod overview;
pub(crate) mod provenance;
pub(crate) mod sentences;
pub(crate) mod short;
pub(crate) mod slide;
pub(crate) mod title;
pub(crate) mod units;
pub(crate) mod why_data;
