//! A source file as bytes: unpacked, hashed and counted while it is read, once.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use sha2::{Digest, Sha256};

use super::Progress;
use crate::Error;
use crate::store::{Source, hex};

/// How much of a file decides its format (unpacked bytes).
const HEAD: u64 = 64 << 10;

/// An open source file.
pub(super) struct SourceFile<'a> {
    unpacked: BufReader<Unpacked<'a>>,
    head: Vec<u8>,
}

impl<'a> SourceFile<'a> {
    /// Opens a file and reads its head. What is packed is told by its first bytes, not by its name.
    pub(super) fn open(path: &Path, progress: &'a mut dyn Progress) -> Result<Self, Error> {
        let file = File::open(path).map_err(Error::io(path, "open"))?;
        let stored = Stored { file, hash: Sha256::new(), bytes: 0, failed: false, progress };
        Self::begin(stored).map_err(Error::io(path, "read"))
    }

    fn begin(stored: Stored<'a>) -> io::Result<Self> {
        let mut unpacked = Unpacked { decoder: Decoder::new(BufReader::with_capacity(64 << 10, stored))?, cut: false };
        let mut head = Vec::new();
        (&mut unpacked).take(HEAD).read_to_end(&mut head)?;
        Ok(Self { unpacked: BufReader::with_capacity(64 << 10, unpacked), head })
    }

    /// The first bytes, unpacked.
    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }

    /// Whether what was read so far ends where the file could not be unpacked any further.
    pub(super) fn is_cut(&self) -> bool {
        self.unpacked.get_ref().cut
    }

    /// All of the file from its first byte, unpacked.
    pub(super) fn content(&mut self) -> impl BufRead {
        self.head.as_slice().chain(&mut self.unpacked)
    }

    /// Reads what is left, for its hash. The flag says whether the file could not be unpacked to its end.
    pub(super) fn close(self, path: &Path, format: &str) -> Result<(Source, bool), Error> {
        let Unpacked { decoder, cut } = self.unpacked.into_inner();
        let mut stored = decoder.into_inner();
        io::copy(&mut stored, &mut io::sink()).map_err(Error::io(path, "read"))?;
        let Stored { hash, bytes, .. } = stored.into_inner();
        let sha256 = hex(hash.finalize());
        Ok((Source { path: path.display().to_string(), bytes, sha256, format: format.to_owned() }, cut))
    }
}

/// The stored bytes.
struct Stored<'a> {
    file: File,
    hash: Sha256,
    bytes: u64,
    /// Whether the disk, not the packing, was at fault.
    failed: bool,
    progress: &'a mut dyn Progress,
}

impl Read for Stored<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.file.read(buffer);
        match &result {
            Ok(read) => {
                self.hash.update(buffer.get(..*read).unwrap_or_default());
                self.bytes = self.bytes.saturating_add(*read as u64);
                self.progress.advance(*read as u64);
            }
            Err(error) => self.failed |= error.kind() != io::ErrorKind::Interrupted,
        }
        result
    }
}

enum Decoder<'a> {
    Plain(BufReader<Stored<'a>>),
    Gzip(Box<MultiGzDecoder<BufReader<Stored<'a>>>>),
    Zstd(zstd::Decoder<'static, BufReader<Stored<'a>>>),
}

impl<'a> Decoder<'a> {
    fn new(mut stored: BufReader<Stored<'a>>) -> io::Result<Self> {
        let magic = stored.fill_buf()?;
        Ok(if magic.starts_with(&[0x1f, 0x8b]) {
            Decoder::Gzip(Box::new(MultiGzDecoder::new(stored)))
        } else if magic.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            Decoder::Zstd(zstd::Decoder::with_buffer(stored)?)
        } else {
            Decoder::Plain(stored)
        })
    }

    fn stored(&self) -> &Stored<'a> {
        match self {
            Decoder::Plain(stored) => stored.get_ref(),
            Decoder::Gzip(decoder) => decoder.get_ref().get_ref(),
            Decoder::Zstd(decoder) => decoder.get_ref().get_ref(),
        }
    }

    fn into_inner(self) -> BufReader<Stored<'a>> {
        match self {
            Decoder::Plain(stored) => stored,
            Decoder::Gzip(decoder) => decoder.into_inner(),
            Decoder::Zstd(decoder) => decoder.finish(),
        }
    }
}

/// The unpacked bytes. Where packing is cut or damaged they end, so that what stands before it is still read.
struct Unpacked<'a> {
    decoder: Decoder<'a>,
    cut: bool,
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cut {
            return Ok(0);
        }
        let result = match &mut self.decoder {
            Decoder::Plain(stored) => stored.read(buffer),
            Decoder::Gzip(decoder) => decoder.read(buffer),
            Decoder::Zstd(decoder) => decoder.read(buffer),
        };
        match result {
            Err(error) if error.kind() != io::ErrorKind::Interrupted && !self.decoder.stored().failed => {
                self.cut = true;
                Ok(0)
            }
            result => result,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Write;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(stored: &[u8]) -> (Vec<u8>, Source, bool) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(stored).unwrap();
        let mut progress = ();
        let mut source = SourceFile::open(file.path(), &mut progress).unwrap();
        let mut content = Vec::new();
        source.content().read_to_end(&mut content).unwrap();
        let (source, cut) = source.close(file.path(), "test").unwrap();
        (content, source, cut)
    }

    #[test]
    fn packing_is_told_by_content_and_gzip_may_have_members() {
        let text: Vec<u8> = (0..200_000u32).flat_map(u32::to_le_bytes).collect();
        let (front, back) = text.split_at(300_000);
        for stored in [text.clone(), [gzip(front), gzip(back)].concat(), zstd::encode_all(&text[..], 1).unwrap()] {
            let (content, source, cut) = read(&stored);
            assert!(content == text && !cut);
            assert_eq!(source.bytes, stored.len() as u64);
        }
    }

    #[test]
    fn the_hash_is_of_the_stored_bytes() {
        let (_, source, _) = read(b"abc");
        assert_eq!(source.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_cut_file_gives_what_stands_before_the_cut() {
        let text: Vec<u8> = (0..100_000u32).flat_map(|n| (n ^ (n << 7)).to_le_bytes()).collect();
        for whole in [gzip(&text), zstd::encode_all(&text[..], 1).unwrap()] {
            let stored = whole.get(..whole.len() / 2).unwrap();
            let (content, source, cut) = read(stored);
            assert!(cut && !content.is_empty() && text.starts_with(&content));
            assert_eq!(source.bytes, stored.len() as u64);
        }
    }
}
