//! The files of a finished sweep: tables, figures and a page.

use std::fs;
use std::path::Path;

use resched_trace::store::write_file;

use crate::Error;
use crate::figures::figures;
use crate::merge::Merged;
use crate::page::page;
use crate::tables::write_tables;

/// The folder of the figures.
const FIGURES: &str = "figures";

impl Merged {
    /// Writes the tables, the figures (PNG and SVG, in `figures/`) and the page `index.html` to the folder `dir`.
    ///
    /// # Errors
    /// [`Error::Store`] if they cannot be written; [`Error::Report`] if a figure cannot be drawn.
    pub fn write(&self, dir: &Path) -> Result<(), Error> {
        write_tables(self, dir)?;
        let figures = figures(self)?;
        let folder = dir.join(FIGURES);
        if folder.is_dir() {
            // Figures of an earlier version of the sweep. The folder is ours.
            fs::remove_dir_all(&folder).map_err(resched_trace::Error::io(&folder, "remove"))?;
        }
        fs::create_dir_all(&folder).map_err(resched_trace::Error::io(&folder, "make"))?;
        for figure in &figures {
            figure.write(&folder)?;
        }
        Ok(write_file(&dir.join("index.html"), page(self, &figures)?.as_bytes())?)
    }
}
