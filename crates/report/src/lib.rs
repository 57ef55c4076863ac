//! Charts.

mod axis;
mod bars;
pub mod charts;
mod curves;
mod error;
mod figure;
mod png;
mod roster;
mod style;

pub use error::Error;
