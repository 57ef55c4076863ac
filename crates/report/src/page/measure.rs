//! A number of each job, as the script of a page has it.

use serde::Serialize;

/// A number of each job in each run.
#[derive(Serialize)]
pub(crate) struct Measure {
    pub(crate) name: &'static str,
    pub(crate) title: String,
    /// `ms`, or what is counted.
    pub(crate) unit: &'static str,
    /// Empty if they are in the page's rests.
    pub(crate) runs: Vec<Vec<Option<i64>>>,
}
