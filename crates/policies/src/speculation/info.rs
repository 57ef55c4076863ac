//! The registry's entry of a speculator.

use super::Speculator;
use crate::error::Error;
use crate::parameter::Parameter;
use crate::settings::Values;

/// The registry's entry of a speculator.
#[derive(Debug)]
pub struct SpeculatorInfo {
    /// The name by which you ask for it.
    pub name: &'static str,
    /// A short description.
    pub title: &'static str,
    /// The paper or the version of Hadoop that it follows.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Makes the speculator. The error says which values conflict.
    pub(crate) build: fn(&Values) -> Result<Box<dyn Speculator>, Error>,
}
