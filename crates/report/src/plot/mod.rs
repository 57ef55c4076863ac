//! The plotting kit: axes, panels, marks, styles. It knows no run.

pub(crate) mod axis;
pub(crate) mod bars;
pub(crate) mod clock;
pub(crate) mod curves;
pub(crate) mod figure;
pub(crate) mod heat_map;
pub(crate) mod intervals;
pub(crate) mod lines;
pub(crate) mod look;
pub(crate) mod panels;
pub(crate) mod rows;
pub(crate) mod scatter;
pub(crate) mod style;
