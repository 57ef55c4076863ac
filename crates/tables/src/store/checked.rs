//! A file that is checked while it is read: each block that a reader touches is compared once with its hash.

use std::fs::File;
use std::io::{BufReader, Error, ErrorKind, Read, Result, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};

use super::inventory::{BLOCK, FileEntry};

/// A file with its entry in the list of its result. Without an entry, nothing is checked: a trace that another tool made has no list.
#[derive(Clone)]
pub(crate) struct CheckedFile {
    length: u64,
    expected: Option<Arc<FileEntry>>,
    open: Arc<Mutex<Open>>,
}

struct Open {
    file: File,
    /// Whether each block was compared.
    compared: Vec<bool>,
}

impl CheckedFile {
    pub(crate) fn open(path: &Path, expected: Option<&FileEntry>) -> Result<Self> {
        let file = crate::whole::open(path)?;
        let length = file.metadata()?.len();
        if let Some(FileEntry { bytes, .. }) = expected.filter(|expected| expected.bytes != length) {
            return Err(damaged(format!("expected {bytes} bytes, found {length}")));
        }
        let blocks = expected.map_or(0, |expected| expected.xxh64.len());
        let open = Arc::new(Mutex::new(Open { file, compared: vec![false; blocks] }));
        Ok(Self { length, expected: expected.cloned().map(Arc::new), open })
    }

    /// Fills `bytes` from `start`, after the blocks that hold them are compared.
    fn read(&self, start: u64, bytes: &mut [u8]) -> Result<()> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(expected) = &self.expected {
            open.compare(expected, start, bytes.len() as u64)?;
        }
        open.read(start, bytes)
    }
}

impl Open {
    fn read(&mut self, start: u64, bytes: &mut [u8]) -> Result<()> {
        self.file.seek(SeekFrom::Start(start))?;
        self.file.read_exact(bytes)
    }

    fn compare(&mut self, expected: &FileEntry, start: u64, length: u64) -> Result<()> {
        let block = BLOCK as u64;
        for number in start / block..(start + length).min(expected.bytes).div_ceil(block) {
            let place = usize::try_from(number).map_err(Error::other)?;
            if self.compared.get(place) == Some(&true) {
                continue;
            }
            let from = number * block;
            let mut bytes = vec![0; usize::try_from(block.min(expected.bytes - from)).map_err(Error::other)?];
            self.read(from, &mut bytes)?;
            if !expected.is_block(place, &bytes) {
                let to = from + bytes.len() as u64 - 1;
                return Err(damaged(format!("bytes {from} to {to} are not those that resched wrote")));
            }
            if let Some(compared) = self.compared.get_mut(place) {
                *compared = true;
            }
        }
        Ok(())
    }
}

fn damaged(problem: String) -> Error {
    Error::new(ErrorKind::InvalidData, problem)
}

impl Length for CheckedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for CheckedFile {
    type T = BufReader<Stretch>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(BufReader::new(Stretch { file: self.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let end = start.saturating_add(length as u64);
        if end > self.length {
            return Err(ParquetError::EOF(format!("expected {end} bytes, found {}", self.length)));
        }
        let mut bytes = vec![0; length];
        self.read(start, &mut bytes)?;
        Ok(bytes.into())
    }
}

/// The bytes of a file from some place on.
pub(crate) struct Stretch {
    file: CheckedFile,
    at: u64,
}

impl Read for Stretch {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let left = self.file.length.saturating_sub(self.at);
        let now = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let bytes = bytes.get_mut(..now).unwrap_or_default();
        self.file.read(self.at, bytes)?;
        self.at += now as u64;
        Ok(now)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_reader_gets_what_was_written_or_an_error() {
        let bytes: Vec<u8> = (0..BLOCK * 2 + 77).map(|n| (n % 251) as u8).collect();
        let entry = FileEntry::of(&bytes);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        let checked = CheckedFile::open(file.path(), Some(&entry)).unwrap();
        assert_eq!(checked.get_bytes(BLOCK as u64 - 5, 10).unwrap(), bytes[BLOCK - 5..BLOCK + 5]);
        let mut rest = Vec::new();
        checked.get_read(17).unwrap().read_to_end(&mut rest).unwrap();
        assert_eq!(rest, bytes[17..]);

        let mut changed = bytes.clone();
        changed[BLOCK + 3] ^= 1;
        std::fs::write(file.path(), &changed).unwrap();
        let checked = CheckedFile::open(file.path(), Some(&entry)).unwrap();
        assert!(checked.get_bytes(5, 10).is_ok(), "the first block is whole");
        let message = checked.get_bytes(BLOCK as u64, 1).unwrap_err().to_string();
        assert!(message.contains("bytes 1048576 to 2097151 are not those that resched wrote"), "{message}");
        assert!(CheckedFile::open(file.path(), None).unwrap().get_bytes(BLOCK as u64, 1).is_ok());
        std::fs::write(file.path(), &bytes[1..]).unwrap();
        assert!(CheckedFile::open(file.path(), Some(&entry)).is_err());
    }
}
