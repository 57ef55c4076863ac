//! Blocks of facts, packed for the disk.

use std::io;
use std::path::Path;

use lz4_flex::block::{CompressTable, compress_into_with_table, decompress_into, get_maximum_output_size};
use resched_tables::Error;
use twox_hash::XxHash64;

/// Before each block stands the XXH64 of what was packed (bytes).
const CHECK: usize = 8;

/// Packs blocks of facts by LZ4. Zstandard makes them smaller by a quarter, but takes three times as long.
pub(crate) struct Packer {
    table: CompressTable,
    packed: Vec<u8>,
}

impl Packer {
    pub(crate) fn new() -> Self {
        Self { table: CompressTable::large(), packed: Vec::new() }
    }

    /// Packs a block, with its checksum.
    pub(crate) fn pack(&mut self, block: &[u8]) -> io::Result<&[u8]> {
        let most = CHECK + get_maximum_output_size(block.len());
        if self.packed.len() < most {
            self.packed.resize(most, 0);
        }
        let (check, rest) = self.packed.split_at_mut(CHECK);
        check.copy_from_slice(&XxHash64::oneshot(0, block).to_le_bytes());
        let length = compress_into_with_table(block, rest, &mut self.table).map_err(io::Error::other)?;
        self.packed.get(..CHECK + length).ok_or_else(damaged)
    }
}

/// Unpacks a block of `length` bytes into `unpacked`.
///
/// # Errors
/// The block is damaged.
pub(crate) fn unpack(packed: &[u8], length: usize, unpacked: &mut Vec<u8>) -> io::Result<()> {
    let (check, rest) = packed.split_first_chunk::<CHECK>().ok_or_else(damaged)?;
    unpacked.resize(length, 0);
    let found = decompress_into(rest, unpacked).map_err(io::Error::other)?;
    let is_whole = found == length && XxHash64::oneshot(0, unpacked).to_le_bytes() == *check;
    if is_whole { Ok(()) } else { Err(damaged()) }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a block of facts is damaged")
}

/// An error of the encoding of facts. Only a lack of memory can cause it.
pub(crate) fn encoding(path: &Path) -> impl FnOnce(postcard::Error) -> Error {
    let path = path.to_path_buf();
    move |error| Error::Io { path, action: "encode the facts of", source: io::Error::other(error.to_string()) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_unpacked_as_it_was_packed_or_not_at_all() {
        let mut packer = Packer::new();
        let mut unpacked = Vec::new();
        for block in [&b""[..], b"facts", &[7; 100_000], b"facts"] {
            let packed = packer.pack(block).unwrap().to_vec();
            unpack(&packed, block.len(), &mut unpacked).unwrap();
            assert!(unpacked == block);
            assert!(unpack(&packed, block.len() + 1, &mut unpacked).is_err());
            for place in 0..packed.len() {
                let mut damaged = packed.clone();
                damaged[place] ^= 1;
                // Some bits of LZ4 say nothing.
                let is_same = unpack(&damaged, block.len(), &mut unpacked).is_ok() && unpacked == block;
                assert!(
                    is_same || unpack(&damaged, block.len(), &mut unpacked).is_err(),
                    "{place} of {}",
                    packed.len()
                );
            }
        }
    }
}
