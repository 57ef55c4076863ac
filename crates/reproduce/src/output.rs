//! The files of a reproduction: rows and bands for people and programs, a page, the figures.

use std::path::PathBuf;

use resched_tables::store::{Claim, Inventory, marker, write_file};

use crate::runner::Reproduced;
use crate::{Band, Error, Row, markdown, page};

/// The file that marks a folder as a reproduction. It holds all rows.
pub const MARKER: &str = "reproduction.json";

/// The version of the file that this build writes.
const FORMAT_VERSION: u32 = 1;

/// Writes `REPRODUCTION.md`, `index.html`, the rows as JSON and each figure as SVG and PNG to the claimed folder. It appears
/// whole or not at all, and replaces an earlier reproduction. Returns the files; the first is the page.
///
/// # Errors
/// [`Error::Trace`] if it cannot be written; [`Error::Report`] if a picture cannot be made.
pub fn write(all: &[Reproduced], claim: Claim) -> Result<Vec<PathBuf>, Error> {
    let out = claim.target().to_path_buf();
    let mut staged = claim.stage()?;
    let mut files = vec!["index.html".to_owned(), "REPRODUCTION.md".to_owned(), MARKER.to_owned()];
    staged.write("index.html", page::page(all)?.as_bytes())?;
    staged.write("REPRODUCTION.md", markdown::markdown(all).as_bytes())?;
    for figure in all.iter().flat_map(|reproduced| &reproduced.figures) {
        for (name, bytes) in figure.files()? {
            staged.write(&name, &bytes)?;
            files.push(name);
        }
    }
    write_file(&staged.path().join(MARKER), &json(all, staged.files())?)?;
    staged.commit()?;
    Ok(files.into_iter().map(|file| out.join(file)).collect())
}

fn json(all: &[Reproduced], files: &Inventory) -> Result<Vec<u8>, Error> {
    let rows: Vec<&Row> = all.iter().flat_map(|reproduced| &reproduced.rows).collect();
    let bands: Vec<&Band> = all.iter().flat_map(|reproduced| &reproduced.bands).collect();
    let value = serde_json::json!({
        "format_version": FORMAT_VERSION,
        "written_by": concat!("resched ", env!("CARGO_PKG_VERSION")),
        "seeds": all.first().map(|reproduced| reproduced.seeds),
        "rows": rows,
        "bands": bands,
        "files": files,
    });
    marker::encode(&value).map_err(|error| Error::Defect(format!("{MARKER}: {error}")))
}
