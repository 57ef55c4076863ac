//! Writes traces and runs in the formats of other tools.
//!
//! A value that the format cannot hold is left out and counted by its column, as `table.column`. So nothing is lost
//! silently. To add a target, add a module with a [`Target`] and a line to [`TARGETS`].

mod batsim;
mod grafana;
mod held;
mod losses;
mod opendc;
mod openmetrics;
mod rumen;
mod swf;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, BufWriter};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use resched_tables::Error;
use resched_tables::cause::Cause;
use resched_tables::records::Source;
use resched_tables::store::{FileEntry, Inventory, Out, StagedDir, StagedFile, marker};

/// Every target.
pub const TARGETS: &[Target] =
    &[rumen::TRACE, rumen::TOPOLOGY, swf::TARGET, batsim::TARGET, opendc::TARGET, openmetrics::TARGET, grafana::TARGET];

/// The file that makes a folder an export.
pub const MARKER: &str = "export.json";

/// A format that resched writes.
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    write: Write,
}

impl Target {
    /// The target of that name.
    ///
    /// # Errors
    /// [`Error::Request`] with all names, if there is none.
    pub fn named(name: &str) -> Result<&'static Self, Error> {
        TARGETS.iter().find(|known| known.name == name).ok_or_else(|| {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            let known = names.join(", ");
            Error::Request(format!("{name}: expected the name of a format to write; use one of {known}"))
        })
    }

    /// True if it is a folder of files, and not one file.
    pub fn is_folder(&self) -> bool {
        matches!(self.write, Write::Folder(..))
    }
}

/// What an export in a format makes.
enum Write {
    /// One file, or the standard output.
    File(fn(&Source, &mut Output<'_>) -> Result<(), Error>),
    /// A folder with files of these names.
    Folder(&'static [&'static str], fn(&Source, &Path, &mut Output<'_>) -> Result<(), Error>),
}

/// The result of an export.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Jobs, or machines of a topology, that were written.
    pub written: u64,
    /// Values that the format cannot hold, by column, and other things that were left out, mended or assumed, by
    /// [cause](resched_tables::cause).
    pub left_out: BTreeMap<String, u64>,
}

impl Exported {
    /// Counts something that the export does not have as the tables have it.
    fn count(&mut self, cause: Cause, n: u64) {
        self.lose(cause.name(), n);
    }

    fn lose(&mut self, what: &str, n: u64) {
        if n == 0 {
            return;
        }
        match self.left_out.get_mut(what) {
            Some(count) => *count = count.saturating_add(n),
            None => _ = self.left_out.insert(what.to_owned(), n),
        }
    }
}

/// Writes the trace or the run in the folder `source` to `out`: a file, packed by gzip if its name ends in `.gz`, or a folder
/// ([`Target::is_folder`]).
///
/// # Errors
/// [`Error::Request`] if there is no such target, `source` is not a trace or run, or `out` cannot be written; otherwise
/// as for reading tables. Then `out` stays as it was.
pub fn export(source: &Path, target: &str, out: impl Into<Out>) -> Result<Exported, Error> {
    let target = Target::named(target)?;
    let source = Source::open(source)?;
    match target.write {
        Write::File(write) => export_file(&source, write, &out.into()),
        Write::Folder(files, write) => export_folder(&source, (files, write), &out.into()),
    }
}

type WriteFile = fn(&Source, &mut Output<'_>) -> Result<(), Error>;
type WriteFolder = (&'static [&'static str], fn(&Source, &Path, &mut Output<'_>) -> Result<(), Error>);

fn export_file(source: &Source, write: WriteFile, out: &Out) -> Result<Exported, Error> {
    let mut staged = StagedFile::create(out)?;
    let out = out.path.as_path();
    let file = BufWriter::with_capacity(1 << 16, staged.file());
    let exported = if out.extension().is_some_and(|ending| ending == "gz") {
        let mut packed = GzEncoder::new(file, Compression::default());
        let exported = written(write, source, &mut packed, out)?;
        packed.finish().and_then(|mut file| io::Write::flush(&mut file)).map_err(Error::io(out, "write"))?;
        exported
    } else {
        let mut file = file;
        let exported = written(write, source, &mut file, out)?;
        io::Write::flush(&mut file).map_err(Error::io(out, "write"))?;
        exported
    };
    staged.commit()?;
    Ok(exported)
}

fn written(write: WriteFile, source: &Source, file: &mut dyn io::Write, out: &Path) -> Result<Exported, Error> {
    let mut exported = Exported::default();
    write(source, &mut Output { file, path: out, exported: &mut exported })?;
    Ok(exported)
}

/// The list of the files of an export, so that a later one may replace them.
#[derive(Serialize)]
struct Marker<'a> {
    written_by: &'a str,
    files: &'a Inventory,
}

fn export_folder(source: &Source, (files, write): WriteFolder, out: &Out) -> Result<Exported, Error> {
    let mut staged = StagedDir::create(out, MARKER)?;
    let folder = staged.path().to_path_buf();
    let mut exported = Exported::default();
    write(source, &folder, &mut Output { file: &mut io::sink(), path: &out.path, exported: &mut exported })?;
    for name in files {
        let path = folder.join(name);
        staged.list(name, FileEntry::of_file(&path).map_err(Error::io(&path, "read"))?);
    }
    let written_by = concat!("resched ", env!("CARGO_PKG_VERSION"));
    let marker = marker::encode(&Marker { written_by, files: staged.files() });
    let marker = marker.map_err(|error| Error::io(&folder, "describe")(error.into()))?;
    staged.write(MARKER, &marker)?;
    staged.commit()?;
    Ok(exported)
}

/// What a target writes to, and what it counts.
struct Output<'a> {
    /// The file of a target that is one.
    file: &'a mut dyn io::Write,
    path: &'a Path,
    exported: &'a mut Exported,
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

    /// Counts something that the export does not have as the tables have it, if it is so.
    fn counted(&mut self, cause: Cause, is_so: bool) {
        self.exported.count(cause, u64::from(is_so));
    }

    /// Counts a value of a column that the format cannot hold, if there is one.
    fn lost(&mut self, column: &str, is_lost: bool) {
        self.exported.lose(column, u64::from(is_lost));
    }
}
