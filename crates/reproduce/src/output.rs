//! The files of a reproduction: rows for people and programs, a page, the figures.

use std::path::{Path, PathBuf};

use resched_trace::store::{StagedDir, write_file};

use crate::runner::Reproduced;
use crate::{Error, Row, markdown, page};

/// The file that marks a folder as a reproduction. It holds all rows.
pub const MARKER: &str = "reproduction.json";

/// The version of the file that this build writes.
const FORMAT_VERSION: u32 = 1;

/// Writes `REPRODUCTION.md`, `index.html`, the rows as JSON and each figure as SVG and PNG to the folder `out`. The folder appears
/// whole or not at all, and replaces an earlier reproduction. Returns the files; the first is the page.
///
/// # Errors
/// [`Error::Trace`] if `out` is not a reproduction or cannot be written; [`Error::Report`] if a picture cannot be made.
pub fn write(all: &[Reproduced], out: &Path) -> Result<Vec<PathBuf>, Error> {
    let staged = StagedDir::create(out, MARKER)?;
    let mut files = vec!["index.html".to_owned(), "REPRODUCTION.md".to_owned(), MARKER.to_owned()];
    write_file(&staged.path().join("index.html"), page::page(all)?.as_bytes())?;
    write_file(&staged.path().join("REPRODUCTION.md"), markdown::markdown(all).as_bytes())?;
    for figure in all.iter().flat_map(|reproduced| &reproduced.figures) {
        files.extend(figure.write(staged.path())?);
    }
    write_file(&staged.path().join(MARKER), json(all)?.as_bytes())?;
    staged.commit()?;
    Ok(files.into_iter().map(|file| out.join(file)).collect())
}

fn json(all: &[Reproduced]) -> Result<String, Error> {
    let rows: Vec<&Row> = all.iter().flat_map(|reproduced| &reproduced.rows).collect();
    let value = serde_json::json!({
        "format_version": FORMAT_VERSION,
        "written_by": concat!("resched ", env!("CARGO_PKG_VERSION")),
        "seeds": all.first().map(|reproduced| reproduced.seeds),
        "rows": rows,
    });
    let text = serde_json::to_string_pretty(&value);
    text.map(|text| text + "\n").map_err(|error| Error::Defect(format!("{MARKER}: {error}")))
}
