//! A target: a reader and its seeds.

use std::fs;
use std::io;
use std::path::PathBuf;

use resched_ingest::formats::tables::TableFormat;
use resched_ingest::formats::{FORMATS, Format, TABLE_FORMATS};

use crate::readers::{self, READERS, Read};

/// A reader and its seeds.
pub struct Target {
    /// Its name, and that of its folder of seeds.
    pub name: &'static str,
    reader: Reader,
}

/// What reads an input.
enum Reader {
    Format(&'static Format),
    Table(&'static TableFormat),
    Other(Read),
}

/// All targets: the formats in their order, then the other readers.
pub fn targets() -> impl Iterator<Item = Target> {
    let formats = FORMATS.iter().map(|format| Target { name: format.name, reader: Reader::Format(format) });
    let tables = TABLE_FORMATS.iter().map(|format| Target { name: format.name, reader: Reader::Table(format) });
    let others = READERS.iter().map(|(name, read)| Target { name, reader: Reader::Other(*read) });
    formats.chain(tables).chain(others)
}

impl Target {
    /// The target of that name; `None` if there is none.
    pub fn named(name: &str) -> Option<Self> {
        targets().find(|target| target.name == name)
    }

    /// Reads an input, and returns whether the reader accepts it. It comes to an end without a panic, whatever the input is. A format
    /// accepts files that it recognises and that have a job or a machine.
    pub fn run(&self, input: &[u8]) -> bool {
        match self.reader {
            Reader::Format(format) => readers::format(format, input),
            Reader::Table(format) => readers::table(format, input),
            Reader::Other(read) => read(input),
        }
    }

    /// Its seeds by name: small files that we wrote, and inputs that once broke the reader (`found-…`).
    ///
    /// # Errors
    /// The folder or a file cannot be read.
    pub fn seeds(&self) -> io::Result<Vec<(String, Vec<u8>)>> {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("seeds").join(self.name);
        let mut files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
        files.sort_unstable();
        let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.iter().map(|path| Ok((name(path), fs::read(path)?))).collect()
    }
}
