//! Blocks of facts, packed for the disk.

use std::path::Path;

use resched_tables::Error;

/// Level 1 packs facts to a third at several hundred MB/s.
const LEVEL: i32 = 1;

/// Packs blocks of facts. Each carries a checksum.
pub(crate) fn packer() -> std::io::Result<zstd::bulk::Compressor<'static>> {
    let mut packer = zstd::bulk::Compressor::new(LEVEL)?;
    packer.include_checksum(true)?;
    Ok(packer)
}

/// Unpacks blocks of facts.
pub(crate) struct Unpacker(zstd::bulk::Decompressor<'static>);

impl Unpacker {
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self(zstd::bulk::Decompressor::new()?))
    }

    /// Unpacks a block of `length` bytes into `unpacked`.
    pub(crate) fn unpack(&mut self, stored: &[u8], length: usize, unpacked: &mut Vec<u8>) -> std::io::Result<()> {
        unpacked.clear();
        unpacked.reserve(length);
        self.0.decompress_to_buffer(stored, unpacked).map(|_| ())
    }
}

/// An error of the encoding of facts. Only a lack of memory can cause it.
pub(crate) fn encoding(path: &Path) -> impl FnOnce(postcard::Error) -> Error {
    let path = path.to_path_buf();
    move |error| Error::Io { path, action: "encode the facts of", source: std::io::Error::other(error.to_string()) }
}
