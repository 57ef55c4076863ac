//! The files of a finished sweep: tables, figures and a page.

use resched_tables::store::OwnFiles;

use crate::Error;
use crate::figures::figures;
use crate::merge::Merged;
use crate::page::page;
use crate::tables::tables;

/// The folder of the figures.
const FIGURES: &str = "figures";

impl Merged {
    /// The names of the files that every sweep has when it is done.
    pub const FILES: [&'static str; 6] =
        ["results.csv", "summary.csv", "comparisons.csv", "dominance.csv", "measurements.parquet", "index.html"];

    /// Writes the tables, the figures (PNG and SVG, in `figures/`) and the page `index.html` in place of the earlier ones.
    ///
    /// # Errors
    /// [`Error::Store`] if one of the names is somebody else's, or they cannot be written; [`Error::Report`] if a figure cannot be
    /// drawn.
    pub fn write(&self, out: OwnFiles) -> Result<(), Error> {
        let mut files = tables(self)?;
        let figures = figures(self)?;
        for figure in &figures {
            files.extend(figure.files()?.map(|(name, bytes)| (format!("{FIGURES}/{name}"), bytes)));
        }
        files.push(("index.html".to_owned(), page(self, &figures)?.into_bytes()));
        Ok(out.replace(&files)?)
    }
}
