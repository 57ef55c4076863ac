//! The packings that Spark writes with Java's libraries. They consist of blocks with a small head each, and no other
//! program reads them.
//!
//! | packing | begins with | a block's head |
//! |---|---|---|
//! | lz4-java's `LZ4BlockOutputStream` | each block: `LZ4Block` | method, packed and unpacked length, checksum (little-endian) |
//! | snappy-java's `SnappyOutputStream` | `\x82SNAPPY\0`, two versions | packed length (big-endian) |
//!
//! Streams that were joined are read as one. LZF, Spark's third packing, is not read, because the only crate for it is
//! given up.

use std::io::{self, BufRead, Read};

use twox_hash::XxHash32;

const LZ4_MAGIC: &[u8] = b"LZ4Block";
const SNAPPY_MAGIC: &[u8] = b"\x82SNAPPY\0";
/// The rest of the stream's head of snappy-java: two versions.
const SNAPPY_VERSIONS: usize = 8;

/// The most bytes of a block: lz4-java's largest. Spark's blocks have 32 KiB.
const MAX_BLOCK: usize = 32 << 20;
/// The seed and the bits of lz4-java's checksums.
const CHECKSUM: (u32, u32) = (0x9747_b28c, 0x0fff_ffff);

/// How blocks are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Lz4,
    Snappy,
}

impl Packing {
    /// The packing of a file that begins with these bytes.
    pub(super) fn of(magic: &[u8]) -> Option<Self> {
        if magic.starts_with(LZ4_MAGIC) {
            Some(Self::Lz4)
        } else if magic.starts_with(SNAPPY_MAGIC) {
            Some(Self::Snappy)
        } else {
            None
        }
    }
}

/// Unpacks block after block.
pub(super) struct Blocks<R> {
    input: R,
    packing: Packing,
    packed: Vec<u8>,
    unpacked: Vec<u8>,
    /// How much of the block was handed out.
    used: usize,
}

impl<R: BufRead> Blocks<R> {
    pub(super) fn new(input: R, packing: Packing) -> Self {
        Self { input, packing, packed: Vec::new(), unpacked: Vec::new(), used: 0 }
    }

    pub(super) fn get_ref(&self) -> &R {
        &self.input
    }

    pub(super) fn into_inner(self) -> R {
        self.input
    }

    /// Unpacks the next block; `false` at the end.
    fn next(&mut self) -> io::Result<bool> {
        self.used = 0;
        self.unpacked.clear();
        if self.input.fill_buf()?.is_empty() {
            return Ok(false);
        }
        match self.packing {
            Packing::Lz4 => self.next_lz4()?,
            Packing::Snappy => self.next_snappy()?,
        }
        Ok(true)
    }

    fn next_lz4(&mut self) -> io::Result<()> {
        let mut magic = [0; LZ4_MAGIC.len()];
        self.input.read_exact(&mut magic)?;
        let [method] = self.head()?;
        let (packed, unpacked) = (length(u32::from_le_bytes(self.head()?))?, length(u32::from_le_bytes(self.head()?))?);
        let checksum = u32::from_le_bytes(self.head()?);
        if magic != LZ4_MAGIC {
            return Err(damaged());
        }
        self.take(packed)?;
        match method & 0xf0 {
            0x10 if packed == unpacked => self.unpacked.extend_from_slice(&self.packed),
            0x20 => {
                self.unpacked.resize(unpacked, 0);
                let length =
                    lz4_flex::block::decompress_into(&self.packed, &mut self.unpacked).map_err(|_| damaged())?;
                self.unpacked.truncate(length);
            }
            _ => return Err(damaged()),
        }
        let (seed, bits) = CHECKSUM;
        // The block that ends a stream is empty and has none.
        let whole = unpacked == 0 || XxHash32::oneshot(seed, &self.unpacked) & bits == checksum;
        if whole && self.unpacked.len() == unpacked { Ok(()) } else { Err(damaged()) }
    }

    fn next_snappy(&mut self) -> io::Result<()> {
        let head: [u8; 4] = self.head()?;
        if SNAPPY_MAGIC.starts_with(&head) {
            let mut rest = [0; SNAPPY_MAGIC.len() - 4 + SNAPPY_VERSIONS];
            return self.input.read_exact(&mut rest);
        }
        self.take(length(u32::from_be_bytes(head))?)?;
        let unpacked = snap::raw::decompress_len(&self.packed).map_err(|_| damaged())?;
        self.unpacked.resize(Some(unpacked).filter(|&length| length <= MAX_BLOCK).ok_or_else(damaged)?, 0);
        snap::raw::Decoder::new().decompress(&self.packed, &mut self.unpacked).map_err(|_| damaged())?;
        Ok(())
    }

    /// The next bytes of a block's head.
    fn head<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads a block as it is stored. Memory grows with the bytes that come, not with the claimed length.
    fn take(&mut self, length: usize) -> io::Result<()> {
        self.packed.clear();
        let read = (&mut self.input).take(length as u64).read_to_end(&mut self.packed)?;
        if read == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

impl<R: BufRead> Read for Blocks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Blocks may be empty.
        while self.used == self.unpacked.len() {
            if !self.next()? {
                return Ok(0);
            }
        }
        let mut left = self.unpacked.get(self.used..).unwrap_or_default();
        let read = left.read(buffer)?;
        self.used += read;
        Ok(read)
    }
}

/// A length that a block may have.
fn length(claimed: u32) -> io::Result<usize> {
    usize::try_from(claimed).ok().filter(|&length| length <= MAX_BLOCK).ok_or_else(damaged)
}

fn damaged() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

#[cfg(test)]
pub(super) mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// As lz4-java writes it.
    pub(crate) fn lz4(text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for (n, block) in text.chunks(32 << 10).chain([&[][..]]).enumerate() {
            // Every other block is stored as it is, as lz4-java does where packing gains nothing; the last one is the end mark.
            let stored = n % 2 == 1 || block.is_empty();
            // A literal run alone is a valid packing.
            let packed = if stored { block.to_vec() } else { literals(block) };
            let checksum = if block.is_empty() { 0 } else { XxHash32::oneshot(CHECKSUM.0, block) & CHECKSUM.1 };
            out.extend_from_slice(LZ4_MAGIC);
            out.push(if stored { 0x15 } else { 0x25 });
            for number in [packed.len() as u32, block.len() as u32, checksum] {
                out.extend_from_slice(&number.to_le_bytes());
            }
            out.extend(packed);
        }
        out
    }

    fn literals(block: &[u8]) -> Vec<u8> {
        let mut packed = vec![0xf0];
        let mut more = block.len() - 15;
        while more >= 255 {
            packed.push(255);
            more -= 255;
        }
        packed.push(more as u8);
        packed.extend_from_slice(block);
        packed
    }

    /// As snappy-java writes it.
    pub(crate) fn snappy(text: &[u8]) -> Vec<u8> {
        let mut out = [SNAPPY_MAGIC, &[0, 0, 0, 1, 0, 0, 0, 1]].concat();
        for block in text.chunks(32 << 10) {
            let packed = snap::raw::Encoder::new().compress_vec(block).unwrap();
            out.extend((packed.len() as u32).to_be_bytes());
            out.extend(packed);
        }
        out
    }

    fn unpack(stored: &[u8]) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        Blocks::new(stored, Packing::of(stored).unwrap()).read_to_end(&mut content).map(|_| content)
    }

    #[test]
    fn joined_streams_are_read_as_one() {
        let text: Vec<u8> = (0..40_000u32).flat_map(u32::to_le_bytes).collect();
        for pack in [lz4, snappy] {
            assert_eq!(
                unpack(&[pack(&text), pack(b"and the rest, of some length")].concat()).unwrap()[text.len()..],
                b"and the rest, of some length"[..]
            );
        }
    }

    #[test]
    fn a_checksum_that_does_not_fit_is_damage() {
        let text = b"some text of some length".repeat(100);
        let mut stored = lz4(&text);
        assert_eq!(unpack(&stored).unwrap(), text);
        let last = stored.len() - 30;
        stored[last] ^= 1;
        assert_eq!(unpack(&stored).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn no_damage_makes_it_panic_or_take_room_that_is_only_claimed() {
        let text = b"some text of some length".repeat(100);
        for whole in [lz4(&text), snappy(&text)] {
            for at in 0..whole.len().min(400) {
                for change in [0x01, 0x80, 0xff] {
                    let mut stored = whole.clone();
                    stored[at] ^= change;
                    if Packing::of(&stored).is_some() {
                        let _ = unpack(&stored);
                    }
                }
                if at > 8 {
                    let _ = unpack(&whole[..at]);
                }
            }
        }
    }
}
