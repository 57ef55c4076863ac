//! What a result consists of: its files, with their lengths and hashes.

use std::collections::BTreeMap;
use std::hash::Hasher as _;
use std::io::{Read, Write};
use std::path::{Component, Path};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest, Sha256};
use twox_hash::XxHash64;

use super::hash::hex;

/// The bytes of a block that is hashed by itself, so that a reader can check the part of a file that it reads.
pub(crate) const BLOCK: usize = 1 << 20;

/// The files of a result, by their path in its folder (with `/`), without its marker.
pub type Inventory = BTreeMap<String, FileEntry>;

/// Reads an inventory whose names lead nowhere but into the folder of the result: a marker may come from somebody else.
///
/// # Errors
/// The error of the format, or that a name leads elsewhere.
pub fn inside<'de, D: Deserializer<'de>>(from: D) -> Result<Inventory, D::Error> {
    let files = Inventory::deserialize(from)?;
    let is_inside = |name: &str| {
        let mut parts = Path::new(name).components().peekable();
        parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
    };
    match files.keys().find(|name| !is_inside(name)) {
        None => Ok(files),
        Some(name) => Err(D::Error::custom(format!("expected files of this folder, found `{name}`"))),
    }
}

/// A file of a result.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its length, bytes.
    pub bytes: u64,
    /// Its SHA-256, hexadecimal: it says where numbers come from.
    pub sha256: String,
    /// The XXH64 of each MiB, hexadecimal: every command checks what it reads by them.
    pub xxh64: Vec<String>,
}

impl FileEntry {
    /// The entry of a file with this content.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = Hasher::default();
        hasher.update(bytes);
        hasher.finish()
    }

    /// The entry of the file at `path`, which is read once.
    ///
    /// # Errors
    /// The error of the system.
    pub fn of_file(path: &Path) -> std::io::Result<Self> {
        let mut file = crate::whole::open(path)?;
        let mut hasher = Hasher::default();
        let mut block = vec![0; BLOCK];
        loop {
            let read = file.read(&mut block)?;
            if read == 0 {
                return Ok(hasher.finish());
            }
            hasher.update(block.get(..read).unwrap_or_default());
        }
    }

    /// True if the file at `path` has this content. A missing file has not.
    pub fn is_content_of(&self, path: &Path) -> bool {
        let as_long = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() == self.bytes);
        as_long && Self::of_file(path).is_ok_and(|found| found == *self)
    }

    /// True if `bytes` are the block of that number.
    pub(crate) fn is_block(&self, number: usize, bytes: &[u8]) -> bool {
        self.xxh64.get(number).is_some_and(|expected| *expected == digits(XxHash64::oneshot(0, bytes)))
    }
}

fn digits(hash: u64) -> String {
    format!("{hash:016x}")
}

/// Makes the entry of a file while it is written.
#[derive(Default)]
struct Hasher {
    bytes: u64,
    sha256: Sha256,
    /// The hash of the block that is not full yet, and its length.
    open: XxHash64,
    filled: usize,
    xxh64: Vec<String>,
}

impl Hasher {
    fn update(&mut self, mut bytes: &[u8]) {
        self.sha256.update(bytes);
        self.bytes += bytes.len() as u64;
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK - self.filled));
            self.open.write(now);
            self.filled += now.len();
            if self.filled == BLOCK {
                self.end_block();
            }
            bytes = later;
        }
    }

    fn end_block(&mut self) {
        self.xxh64.push(digits(self.open.finish()));
        self.open = XxHash64::default();
        self.filled = 0;
    }

    fn finish(mut self) -> FileEntry {
        if self.filled > 0 {
            self.end_block();
        }
        FileEntry { bytes: self.bytes, sha256: hex(self.sha256.finalize()), xxh64: self.xxh64 }
    }
}

/// Hashes what is written through it.
pub(crate) struct Hashed<W> {
    to: W,
    hasher: Hasher,
}

impl<W> Hashed<W> {
    pub(crate) fn new(to: W) -> Self {
        Self { to, hasher: Hasher::default() }
    }

    /// The place that was written to, and the entry of what was written.
    pub(crate) fn finish(self) -> (W, FileEntry) {
        (self.to, self.hasher.finish())
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.hasher.update(bytes.get(..written).unwrap_or(bytes));
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn an_entry_is_the_same_however_the_file_is_written() {
        let bytes: Vec<u8> = (0..BLOCK * 2 + 77).map(|n| (n % 251) as u8).collect();
        let whole = FileEntry::of(&bytes);
        let mut parts = Hashed::new(Vec::new());
        for part in bytes.chunks(1_000_003) {
            parts.write_all(part).unwrap();
        }
        let (written, entry) = parts.finish();
        assert_eq!((written, &entry), (bytes.clone(), &whole));
        assert_eq!((whole.bytes, whole.xxh64.len()), (bytes.len() as u64, 3));
        let path = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(path.path(), &bytes).unwrap();
        assert!(whole.is_content_of(path.path()));
        std::fs::write(path.path(), &bytes[1..]).unwrap();
        assert!(!whole.is_content_of(path.path()));
        assert!(FileEntry::of(b"").xxh64.is_empty());
    }
}
