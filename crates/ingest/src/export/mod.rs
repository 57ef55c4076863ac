//! Writes traces and runs in the formats of other tools.
//!
//! A value that the format cannot hold is left out and counted by its column, as `table.column`. So nothing is lost
//! silently. To add a target, add a module with a [`Target`] and a line to [`TARGETS`].

mod rumen;
mod swf;

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use resched_tables::Error;
use resched_tables::cause::Cause;
use resched_tables::records::Source;
use resched_tables::store::{Out, StagedFile};

/// Every target.
pub const TARGETS: &[Target] = &[rumen::TRACE, rumen::TOPOLOGY, swf::TARGET];

/// A format that resched writes.
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    write: fn(&Source, &mut Output<'_>) -> Result<(), Error>,
}

/// The result of an export.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Jobs, or machines of a topology, that were written.
    pub written: u64,
    /// Values that the format cannot hold, by column, and other things that were left out or mended, by cause.
    pub left_out: BTreeMap<String, u64>,
}

/// Writes the trace or the run in the folder `source` to the file `out`, packed by gzip if its name ends in `.gz`.
///
/// # Errors
/// [`Error::Request`] if there is no such target, `source` is not a trace or run, or `out` cannot be written; otherwise
/// as for reading tables. Then `out` stays as it was.
pub fn export(source: &Path, target: &str, out: impl Into<Out>) -> Result<Exported, Error> {
    let target = TARGETS.iter().find(|known| known.name == target).ok_or_else(|| {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        Error::Request(format!("{target}: expected the name of a format to write; use one of {}", names.join(", ")))
    })?;
    let source = Source::open(source)?;
    let out = out.into();
    let mut staged = StagedFile::create(&out)?;
    let out = out.path.as_path();
    let file = BufWriter::with_capacity(1 << 16, staged.file());
    let exported = if out.extension().is_some_and(|ending| ending == "gz") {
        let mut packed = GzEncoder::new(file, Compression::default());
        let exported = written(target, &source, &mut packed, out)?;
        packed.finish().and_then(|mut file| file.flush()).map_err(Error::io(out, "write"))?;
        exported
    } else {
        let mut file = file;
        let exported = written(target, &source, &mut file, out)?;
        file.flush().map_err(Error::io(out, "write"))?;
        exported
    };
    staged.commit()?;
    Ok(exported)
}

fn written(target: &Target, source: &Source, file: &mut dyn Write, out: &Path) -> Result<Exported, Error> {
    let mut output = Output { file, path: out, exported: Exported::default() };
    (target.write)(source, &mut output)?;
    Ok(output.exported)
}

/// The file that a target writes.
struct Output<'a> {
    file: &'a mut dyn Write,
    path: &'a Path,
    exported: Exported,
}

impl Output<'_> {
    /// Writes one value of JSON and ends the line.
    fn json(&mut self, value: &impl serde::Serialize) -> Result<(), Error> {
        let text = serde_json::to_vec(value).map_err(|error| Error::io(self.path, "encode")(error.into()))?;
        self.bytes(&text)?;
        self.bytes(b"\n")
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes).map_err(Error::io(self.path, "write"))
    }

    /// Counts something else that the file does not have as the tables have it, if it is so.
    fn counted(&mut self, cause: Cause, is_so: bool) {
        self.lost(cause.name(), is_so);
    }

    /// Counts a value of a column that the format cannot hold, if there is one.
    fn lost(&mut self, what: &str, is_lost: bool) {
        if is_lost {
            match self.exported.left_out.get_mut(what) {
                Some(count) => *count += 1,
                None => {
                    self.exported.left_out.insert(what.to_owned(), 1);
                }
            }
        }
    }
}
