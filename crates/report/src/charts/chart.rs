//! The description of a chart.

use resched_analysis::Run;

use crate::Error;

/// A chart of some runs.
pub struct Chart {
    /// Its name, which is also the name of its files without extension.
    pub name: &'static str,
    /// Its title in a report.
    pub title: &'static str,
    /// Its caption: what it shows and how to read it.
    pub caption: &'static str,
    /// Draws it as SVG; `None` if the runs have nothing to show.
    ///
    /// # Errors
    /// [`Error::Draw`] if the drawing library fails.
    pub draw: fn(&[Run]) -> Result<Option<String>, Error>,
}
