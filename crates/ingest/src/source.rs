//! A source as bytes: a file, or the files of a log that rolls over. It is unpacked, hashed and counted while it is
//! read, once.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use sha2::{Digest, Sha256};

use super::blocks::{Blocks, Packing};
use super::origins::Origins;
use super::progress::Progress;
use resched_tables::Error;
use resched_tables::store::{Source, hex};

/// How much of a file decides its format (unpacked bytes).
const HEAD: u64 = 64 << 10;

/// An open source.
pub(super) struct SourceFile<'a> {
    unpacked: BufReader<Unpacked<'a>>,
    head: Vec<u8>,
}

impl<'a> SourceFile<'a> {
    /// Opens a file and the files `rest` that continue it, and reads the head. The first bytes decide the packing, not
    /// the name.
    pub(super) fn open(
        path: &Path,
        rest: &[PathBuf],
        origins: &'a Origins,
        progress: &'a mut dyn Progress,
    ) -> Result<Self, Error> {
        Self::begin(path, rest, origins, progress).map_err(Error::io(path, "read"))
    }

    fn begin(path: &Path, rest: &[PathBuf], origins: &'a Origins, progress: &'a mut dyn Progress) -> io::Result<Self> {
        let current = Some(Decoder::open(path, origins, progress)?);
        let rest = rest.iter().rev().cloned().collect();
        let mut unpacked = Unpacked { current, rest, origins, read: Vec::new(), cut: false };
        let mut head = Vec::new();
        (&mut unpacked).take(HEAD).read_to_end(&mut head)?;
        Ok(Self { unpacked: BufReader::with_capacity(64 << 10, unpacked), head })
    }

    /// The first bytes, unpacked.
    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }

    /// True if the bytes that were read so far end where unpacking failed.
    pub(super) fn is_cut(&self) -> bool {
        self.unpacked.get_ref().cut
    }

    /// All of the source from its first byte, unpacked.
    pub(super) fn content(&mut self) -> impl BufRead {
        self.head.as_slice().chain(&mut self.unpacked)
    }

    /// Reads the rest, for the hashes. The flag says whether a file could not be unpacked to its end.
    pub(super) fn close(self, path: &Path, format: &str) -> Result<(Vec<Source>, bool), Error> {
        let mut unpacked = self.unpacked.into_inner();
        while unpacked.current.is_some() {
            unpacked.next_file().map_err(Error::io(path, "read"))?;
        }
        let Unpacked { mut read, cut, .. } = unpacked;
        read.iter_mut().for_each(|source| format.clone_into(&mut source.format));
        Ok((read, cut))
    }
}

/// The stored bytes of a file.
struct Stored<'a> {
    path: PathBuf,
    file: Box<dyn Read>,
    hash: Sha256,
    bytes: u64,
    /// True if the disk, not the packing, was at fault.
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
    Blocks(Box<Blocks<BufReader<Stored<'a>>>>),
}

impl<'a> Decoder<'a> {
    fn open(path: &Path, origins: &Origins, progress: &'a mut dyn Progress) -> io::Result<Self> {
        let file = origins.open(path)?;
        let stored = Stored { path: path.to_path_buf(), file, hash: Sha256::new(), bytes: 0, failed: false, progress };
        Self::new(BufReader::with_capacity(64 << 10, stored))
    }

    fn new(mut stored: BufReader<Stored<'a>>) -> io::Result<Self> {
        let magic = stored.fill_buf()?;
        let blocks = Packing::of(magic);
        Ok(if magic.starts_with(&[0x1f, 0x8b]) {
            Decoder::Gzip(Box::new(MultiGzDecoder::new(stored)))
        } else if magic.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            Decoder::Zstd(zstd::Decoder::with_buffer(stored)?)
        } else if let Some(packing) = blocks {
            Decoder::Blocks(Box::new(Blocks::new(stored, packing)))
        } else {
            Decoder::Plain(stored)
        })
    }

    fn stored(&self) -> &Stored<'a> {
        match self {
            Decoder::Plain(stored) => stored.get_ref(),
            Decoder::Gzip(decoder) => decoder.get_ref().get_ref(),
            Decoder::Zstd(decoder) => decoder.get_ref().get_ref(),
            Decoder::Blocks(decoder) => decoder.get_ref().get_ref(),
        }
    }

    fn into_inner(self) -> BufReader<Stored<'a>> {
        match self {
            Decoder::Plain(stored) => stored,
            Decoder::Gzip(decoder) => decoder.into_inner(),
            Decoder::Zstd(decoder) => decoder.finish(),
            Decoder::Blocks(decoder) => decoder.into_inner(),
        }
    }
}

impl Read for Decoder<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Decoder::Plain(stored) => stored.read(buffer),
            Decoder::Gzip(decoder) => decoder.read(buffer),
            Decoder::Zstd(decoder) => decoder.read(buffer),
            Decoder::Blocks(decoder) => decoder.read(buffer),
        }
    }
}

/// The unpacked bytes of one file after another. If the packing of a file is cut or damaged, its bytes end there, and
/// those before it are still read.
struct Unpacked<'a> {
    /// The file that is being read; `None` after the last.
    current: Option<Decoder<'a>>,
    /// The files that follow, the next one last.
    rest: Vec<PathBuf>,
    origins: &'a Origins,
    /// Those that were read.
    read: Vec<Source>,
    cut: bool,
}

impl Unpacked<'_> {
    /// Ends the file that is being read, and begins the next.
    fn next_file(&mut self) -> io::Result<()> {
        let Some(decoder) = self.current.take() else { return Ok(()) };
        let mut stored = decoder.into_inner();
        io::copy(&mut stored, &mut io::sink())?;
        let Stored { path, hash, bytes, progress, .. } = stored.into_inner();
        let sha256 = hex(hash.finalize());
        self.read.push(Source { path: path.display().to_string(), bytes, sha256, format: String::new() });
        if let Some(path) = self.rest.pop() {
            self.current = Some(Decoder::open(&path, self.origins, progress)?);
        }
        Ok(())
    }
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = self.current.as_mut().filter(|_| !buffer.is_empty()) {
            match decoder.read(buffer) {
                Ok(0) => {}
                Err(error) if error.kind() != io::ErrorKind::Interrupted && !decoder.stored().failed => self.cut = true,
                result => return result,
            }
            self.next_file()?;
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Write;

    use super::*;
    use crate::blocks::tests as blocks;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(stored: &[u8]) -> (Vec<u8>, Source, bool) {
        let (content, sources, cut) = read_files(&[stored]);
        let [source] = sources.try_into().unwrap();
        (content, source, cut)
    }

    fn read_files(stored: &[&[u8]]) -> (Vec<u8>, Vec<Source>, bool) {
        let dir = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = (0..stored.len()).map(|n| dir.path().join(n.to_string())).collect();
        paths.iter().zip(stored).for_each(|(path, bytes)| std::fs::write(path, bytes).unwrap());
        let mut progress = ();
        let (first, rest) = paths.split_first().unwrap();
        let origins = Origins::default();
        let mut source = SourceFile::open(first, rest, &origins, &mut progress).unwrap();
        let mut content = Vec::new();
        source.content().read_to_end(&mut content).unwrap();
        let (sources, cut) = source.close(first, "test").unwrap();
        (content, sources, cut)
    }

    #[test]
    fn files_that_go_on_are_read_as_one_whatever_each_is_packed_by() {
        let text: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
        let (front, back) = text.split_at(300_000);
        let packed = gzip(back);
        let (content, sources, cut) = read_files(&[front, b"", &packed, &packed[..packed.len() - 20], b"end"]);
        assert!(cut && content.starts_with(&[front, back].concat()) && content.ends_with(b"end"));
        let bytes: Vec<u64> = sources.iter().map(|source| source.bytes).collect();
        assert_eq!(bytes, [front.len(), 0, packed.len(), packed.len() - 20, 3].map(|length| length as u64));
    }

    #[test]
    fn packing_is_reported_by_content_and_gzip_may_have_members() {
        let text: Vec<u8> = (0..200_000u32).flat_map(u32::to_le_bytes).collect();
        let (front, back) = text.split_at(300_000);
        let zstd = zstd::encode_all(&text[..], 1).unwrap();
        let gzips = [gzip(front), gzip(back)].concat();
        for stored in [text.clone(), gzips, zstd, blocks::lz4(&text), blocks::snappy(&text)] {
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
        let zstd = zstd::encode_all(&text[..], 1).unwrap();
        for whole in [gzip(&text), zstd, blocks::lz4(&text), blocks::snappy(&text)] {
            let stored = whole.get(..whole.len() / 2).unwrap();
            let (content, source, cut) = read(stored);
            assert!(cut && !content.is_empty() && text.starts_with(&content));
            assert_eq!(source.bytes, stored.len() as u64);
        }
    }
}
