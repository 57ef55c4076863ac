//! What the registry knows of a speculator.

use super::Speculator;
use crate::error::Error;
use crate::parameter::Parameter;
use crate::settings::Values;

/// A speculator as the registry knows it.
#[derive(Debug)]
pub struct SpeculatorInfo {
    /// The name by which you ask for it.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Makes one; an error says what is wrong with the values taken together.
    pub(crate) build: fn(&Values) -> Result<Box<dyn Speculator>, Error>,
}
