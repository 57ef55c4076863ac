//! Files of facts: those of one shard, divided into partitions.
//!
//! A file begins with blocks of facts in any order, each packed and of one partition. Then come the [`Report`] with the
//! places of the blocks, its length, the XXH64 of all that, and [`MAGIC`]. To read a partition, only its blocks are read.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use twox_hash::XxHash64;

use super::plan::Plan;
use super::work::{WorkFolder, partial};
use crate::formats::tables::{Fact, FactSink, Key, LONGEST_KEY};
use crate::packed::{Packer, encoding, unpack};
use crate::sorted::write_fact;
use resched_tables::Error;
use resched_tables::cause::{self, Cause};
use resched_tables::store::Source;

/// Ends a file that is whole.
const MAGIC: &[u8; 8] = b"FACTS\0\0\x03";
/// The bytes after the report: its length, the hash and [`MAGIC`].
const TRAILER: usize = 24;
/// The total size of the blocks of one shard that are under construction (bytes).
const BUFFER_BYTES: usize = 16 << 20;
/// The bounds of a block (bytes): smaller ones pack badly, larger ones gain nothing.
const BLOCK_BYTES: (usize, usize) = (4 << 10, 256 << 10);

/// The content of a shard.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Report {
    /// The file that it was read from.
    pub(super) source: Source,
    /// What was left out or mended in it.
    pub(super) skipped: BTreeMap<String, u64>,
    blocks: Vec<Block>,
}

impl Report {
    /// The blocks of a partition, in the order of the source.
    fn of(&self, partition: u32) -> &[Block] {
        let from = self.blocks.partition_point(|block| block.partition < partition);
        let to = self.blocks.partition_point(|block| block.partition <= partition);
        self.blocks.get(from..to).unwrap_or_default()
    }
}

/// A block of facts.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Block {
    partition: u32,
    offset: u64,
    /// Its length as stored, and unpacked.
    stored: u32,
    unpacked: u32,
    facts: u32,
}

/// A block under construction.
#[derive(Debug, Clone, Default)]
struct OpenBlock {
    bytes: Vec<u8>,
    facts: u32,
}

/// Writes the facts of a shard; the file appears under its name on [`SpillWriter::finish`].
pub(super) struct SpillWriter {
    target: PathBuf,
    partial: PathBuf,
    file: BufWriter<File>,
    hash: XxHash64,
    offset: u64,
    /// The blocks under construction: one per partition, and one for the machines at the end.
    open: Vec<OpenBlock>,
    block_bytes: usize,
    blocks: Vec<Block>,
    packer: Packer,
    skipped: BTreeMap<Cause, u64>,
}

impl SpillWriter {
    pub(super) fn create(target: &Path, partitions: u32) -> Result<Self, Error> {
        let partial = partial(target);
        let file = File::create(&partial).map_err(Error::io(&partial, "create the file"))?;
        let blocks = partitions as usize + 1;
        let (least, most) = BLOCK_BYTES;
        Ok(Self {
            target: target.to_path_buf(),
            partial,
            file: BufWriter::with_capacity(256 << 10, file),
            hash: XxHash64::default(),
            offset: 0,
            open: vec![OpenBlock::default(); blocks],
            block_bytes: (BUFFER_BYTES / blocks).clamp(least, most),
            blocks: Vec::new(),
            packer: Packer::new(),
            skipped: BTreeMap::new(),
        })
    }

    fn put(&mut self, partition: usize, fact: &Fact<'_>) -> Result<(), Error> {
        let is_long = |key: &Key<'_>| matches!(key, Key::Text(text) if text.len() > LONGEST_KEY);
        if is_long(&fact.job) || is_long(&fact.task) {
            self.skip(cause::OVERSIZED_ID);
            return Ok(());
        }
        let Some(block) = self.open.get_mut(partition) else { return Ok(()) };
        write_fact(fact, &mut block.bytes).map_err(encoding(&self.partial))?;
        block.facts += 1;
        if block.bytes.len() >= self.block_bytes { self.end_block(partition) } else { Ok(()) }
    }

    fn end_block(&mut self, partition: usize) -> Result<(), Error> {
        let Some(block) = self.open.get_mut(partition) else { return Ok(()) };
        let packed = self.packer.pack(&block.bytes).map_err(Error::io(&self.partial, "pack"))?;
        self.file.write_all(packed).map_err(Error::io(&self.partial, "write"))?;
        self.hash.write(packed);
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.blocks.push(Block {
            partition: u32::try_from(partition).unwrap_or(u32::MAX),
            offset: self.offset,
            stored: length(packed),
            unpacked: length(&block.bytes),
            facts: block.facts,
        });
        self.offset += packed.len() as u64;
        block.bytes.clear();
        block.facts = 0;
        Ok(())
    }

    /// Ends the file, makes it durable and gives it its name.
    pub(super) fn finish(mut self, source: Source, cut: bool) -> Result<(), Error> {
        if cut {
            self.skip(cause::CUT_FILE);
        }
        for partition in 0..self.open.len() {
            if self.open.get(partition).is_some_and(|block| block.facts > 0) {
                self.end_block(partition)?;
            }
        }
        // Blocks of one partition stand together in the list, in the order of the source.
        self.blocks.sort_by_key(|block| block.partition);
        let skipped =
            std::mem::take(&mut self.skipped).into_iter().map(|(cause, n)| (cause.name().to_owned(), n)).collect();
        let report = Report { source, skipped, blocks: std::mem::take(&mut self.blocks) };
        let report = postcard::to_allocvec(&report).map_err(encoding(&self.partial))?;
        let length = (report.len() as u64).to_le_bytes();
        let Self { target, partial, mut file, mut hash, .. } = self;
        hash.write(&report);
        hash.write(&length);
        let hash = hash.finish().to_le_bytes();
        let written = [&report[..], &length, &hash, MAGIC].iter().try_for_each(|bytes| file.write_all(bytes));
        let file = written.and_then(|()| Ok(file.into_inner()?)).map_err(Error::io(&partial, "write"))?;
        file.sync_all().map_err(Error::io(&partial, "write to the disk"))?;
        fs::rename(&partial, &target).map_err(Error::io(&target, "give the file its name"))
    }
}

impl FactSink for SpillWriter {
    fn fact(&mut self, fact: &Fact<'_>) -> Result<(), Error> {
        let hash = match fact.job {
            Key::None => 0,
            Key::Number(number) => XxHash64::oneshot(0, &number.to_le_bytes()),
            Key::Text(text) => XxHash64::oneshot(0, text.as_bytes()),
        };
        let partitions = self.open.len().saturating_sub(1).max(1) as u64;
        self.put((hash % partitions) as usize, fact)
    }

    fn machine(&mut self, fact: &Fact<'_>) -> Result<(), Error> {
        self.put(self.open.len().saturating_sub(1), fact)
    }

    fn skip(&mut self, cause: Cause) {
        *self.skipped.entry(cause).or_default() += 1;
    }
}

/// The places of all facts.
pub(super) struct Index {
    shards: Vec<(PathBuf, Report)>,
}

impl Index {
    pub(super) fn open(plan: &Plan, work: &WorkFolder) -> Result<Self, Error> {
        let shards = (0..plan.shards().len()).map(|number| {
            let path = work.shard(number);
            let report = read_report(&path)?;
            Ok((path, report))
        });
        Ok(Self { shards: shards.collect::<Result<_, Error>>()? })
    }

    pub(super) fn reports(&self) -> impl Iterator<Item = &Report> {
        self.shards.iter().map(|(_, report)| report)
    }

    /// The bytes of all facts as stored.
    pub(super) fn bytes(&self) -> u64 {
        self.reports().flat_map(|report| &report.blocks).map(|block| u64::from(block.stored)).sum()
    }

    /// True if there are facts about machines.
    pub(super) fn has_machines(&self, plan: &Plan) -> bool {
        self.reports().flat_map(|report| &report.blocks).any(|block| block.partition == plan.partitions())
    }

    /// How many facts a partition has, and their bytes.
    pub(super) fn size(&self, partition: u32) -> (u64, u64) {
        let blocks = self.shards.iter().flat_map(|(_, report)| report.of(partition));
        blocks.fold((0, 0), |(facts, bytes), block| (facts + u64::from(block.facts), bytes + u64::from(block.unpacked)))
    }

    /// Passes on the blocks of a partition, unpacked, in the order of the sources, with their lengths as stored.
    pub(super) fn visit(
        &self,
        partition: u32,
        mut see: impl FnMut(&[u8], u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (mut stored, mut unpacked) = (Vec::new(), Vec::new());
        for (path, report) in &self.shards {
            let blocks = report.of(partition);
            if blocks.is_empty() {
                continue;
            }
            let mut file = File::open(path).map_err(Error::io(path, "open"))?;
            for block in blocks {
                file.seek(SeekFrom::Start(block.offset)).map_err(Error::io(path, "read"))?;
                stored.resize(block.stored as usize, 0);
                file.read_exact(&mut stored).map_err(Error::io(path, "read"))?;
                let length = block.unpacked as usize;
                unpack(&stored, length, &mut unpacked).map_err(Error::io(path, "unpack"))?;
                see(&unpacked, u64::from(block.stored))?;
            }
        }
        Ok(())
    }
}

fn read_report(path: &Path) -> Result<Report, Error> {
    let damaged = || Error::Source {
        path: path.display().to_string(),
        place: String::new(),
        expected: "a file of facts of an earlier ingest".to_owned(),
        found: "a damaged one".to_owned(),
        remedy: "it was removed: ingest again".to_owned(),
    };
    let mut file = File::open(path).map_err(Error::io(path, "open"))?;
    let length = file.metadata().map_err(Error::io(path, "look at"))?.len();
    let mut end = [0; TRAILER];
    let from = length.checked_sub(TRAILER as u64).ok_or_else(damaged)?;
    let read = file.seek(SeekFrom::Start(from)).and_then(|_| file.read_exact(&mut end));
    read.map_err(Error::io(path, "read"))?;
    let Some((size, rest)) = end.split_first_chunk::<8>() else { return Err(damaged()) };
    let start = from.checked_sub(u64::from_le_bytes(*size)).filter(|_| rest.ends_with(MAGIC)).ok_or_else(damaged)?;
    let mut report = Vec::new();
    let read = file.seek(SeekFrom::Start(start)).and_then(|_| file.take(from - start).read_to_end(&mut report));
    read.map_err(Error::io(path, "read"))?;
    postcard::from_bytes(&report).map_err(|_| damaged())
}

/// True if the file is as it was written.
pub(super) fn is_whole(path: &Path) -> bool {
    let check = || -> std::io::Result<bool> {
        let mut file = File::open(path)?;
        let Some(hashed) = file.metadata()?.len().checked_sub(TRAILER as u64 - 8) else { return Ok(false) };
        let mut rest = hashed;
        let mut hash = XxHash64::default();
        let mut block = vec![0; 1 << 20];
        while rest > 0 {
            let read = file.read(block.get_mut(..rest.min(1 << 20) as usize).unwrap_or_default())?;
            if read == 0 {
                return Ok(false);
            }
            hash.write(block.get(..read).unwrap_or_default());
            rest -= read as u64;
        }
        let mut end = Vec::new();
        file.read_to_end(&mut end)?;
        Ok(end == [&hash.finish().to_le_bytes()[..], MAGIC].concat())
    };
    // A file that cannot be read is made again, and then says why.
    check().unwrap_or(false)
}
