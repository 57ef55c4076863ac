//! The facts of a partition in order: by job, task, time, and then as they stood in the sources.
//!
//! They are sorted in memory. A partition may be too large for that, or one job may be a large part of the trace. Then
//! as many facts as fit are sorted and written to disk, again and again, and all are merged in the end.

use std::cmp::Ordering;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use super::spill::{Unpacker, encoding, packer};
use crate::formats::tables::{Fact, Key};
use resched_tables::Error;

/// The size of a block of sorted facts on disk (bytes, unpacked).
const BLOCK_BYTES: usize = 128 << 10;

/// Sorts facts that are added block by block.
pub(super) struct Sorter {
    /// Where sorted facts are written if they are too many.
    folder: PathBuf,
    memory: usize,
    facts: Vec<u8>,
    entries: Vec<Entry>,
    runs: Vec<PathBuf>,
}

/// A fact in memory: its keys as numbers, by which most comparisons are decided, and its place in the order of the sources.
#[derive(Clone, Copy)]
struct Entry {
    job: u64,
    task: u64,
    time: i64,
    /// Where the fact begins; or its value, if no key is a text and the numbers above say the rest.
    offset: u32,
    /// The kinds of the keys of job and task.
    kinds: (u8, u8),
}

/// The order of the kinds of keys, and a number that orders keys of one kind. Of texts, the number holds the first
/// bytes.
fn rank(key: &Key<'_>) -> (u8, u64) {
    match key {
        Key::None => (0, 0),
        Key::Number(number) => (1, *number),
        Key::Text(text) => {
            let mut start = [0; 8];
            start.iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from);
            (2, u64::from_be_bytes(start))
        }
    }
}

const IS_TEXT: u8 = 2;

/// The key that [`rank`] turned into these numbers, unless it is a text.
fn key_of(kind: u8, number: u64) -> Key<'static> {
    if kind == 0 { Key::None } else { Key::Number(number) }
}

impl Entry {
    fn has_text(&self) -> bool {
        self.kinds.0 == IS_TEXT || self.kinds.1 == IS_TEXT
    }

    /// The fact, whose bytes are in `facts`.
    fn fact<'f>(&self, facts: &'f [u8]) -> Option<Fact<'f>> {
        let bytes = facts.get(self.offset as usize..)?;
        if self.has_text() {
            return postcard::from_bytes(bytes).ok();
        }
        let (job, task) = (key_of(self.kinds.0, self.job), key_of(self.kinds.1, self.task));
        Some(Fact { job, task, time: self.time, value: postcard::from_bytes(bytes).ok()? })
    }
}

impl Sorter {
    /// Uses that many bytes of memory for facts and their index, and `folder` for the rest.
    pub(super) fn new(folder: &Path, memory: usize) -> Self {
        Self { folder: folder.to_path_buf(), memory, facts: Vec::new(), entries: Vec::new(), runs: Vec::new() }
    }

    /// Makes room for that many facts and bytes, as far as they may be in memory at once.
    pub(super) fn reserve(&mut self, facts: u64, bytes: u64) {
        let most = |n: u64, size: usize| usize::try_from(n).unwrap_or(usize::MAX).min(self.memory / size);
        let (facts, bytes) = (most(facts, size_of::<Entry>()), most(bytes, 1));
        self.entries.reserve_exact(facts);
        self.facts.reserve_exact(bytes);
    }

    /// Adds a block of facts. If it cannot be decoded, it is left out: `Ok(false)`.
    pub(super) fn add(&mut self, block: &[u8]) -> Result<bool, Error> {
        let mut rest = block;
        let end = self.facts.len() + block.len();
        while !rest.is_empty() {
            // The fields of a fact stand one after the other.
            let keys = postcard::take_from_bytes::<(Key<'_>, Key<'_>, i64)>(rest);
            let Ok(((job, task, time), value)) = keys else { return Ok(false) };
            let Ok((_, after)) = postcard::take_from_bytes::<&[u8]>(value) else { return Ok(false) };
            let ((job_kind, job), (task_kind, task)) = (rank(&job), rank(&task));
            let mut entry = Entry { job, task, time, offset: 0, kinds: (job_kind, task_kind) };
            let place = end - if entry.has_text() { rest } else { value }.len();
            let Ok(offset) = u32::try_from(place) else { return Ok(false) };
            entry.offset = offset;
            self.entries.push(entry);
            rest = after;
        }
        self.facts.extend_from_slice(block);
        if self.facts.len() + self.entries.len() * size_of::<Entry>() > self.memory {
            self.write_run()?;
        }
        Ok(true)
    }

    fn sort(&mut self) {
        let facts = &self.facts;
        self.entries.sort_unstable_by(|one, other| compare(facts, one, other));
    }

    /// Writes what is in memory to disk, sorted.
    fn write_run(&mut self) -> Result<(), Error> {
        self.sort();
        let path = self.folder.join(format!("run-{:05}", self.runs.len()));
        let file = File::create(&path).map_err(Error::io(&path, "create the file"))?;
        let mut file = BufWriter::new(file);
        let mut packer = packer().map_err(Error::io(&path, "pack"))?;
        let mut block = Vec::with_capacity(BLOCK_BYTES);
        let mut write = |block: &mut Vec<u8>| {
            let packed = packer.compress(block)?;
            for length in [packed.len(), block.len()] {
                file.write_all(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes())?;
            }
            block.clear();
            file.write_all(&packed)
        };
        for entry in &self.entries {
            if let Some(fact) = entry.fact(&self.facts) {
                block = postcard::to_extend(&fact, block).map_err(encoding(&path))?;
            }
            if block.len() >= BLOCK_BYTES {
                write(&mut block).map_err(Error::io(&path, "write"))?;
            }
        }
        write(&mut block).and_then(|()| file.flush()).map_err(Error::io(&path, "write"))?;
        self.facts.clear();
        self.entries.clear();
        self.runs.push(path);
        Ok(())
    }

    /// Passes on all facts in order.
    pub(super) fn visit(mut self, mut see: impl FnMut(&Fact<'_>) -> Result<(), Error>) -> Result<(), Error> {
        if self.runs.is_empty() {
            self.sort();
            return self.entries.iter().filter_map(|entry| entry.fact(&self.facts)).try_for_each(|fact| see(&fact));
        }
        self.write_run()?;
        let Self { runs, facts, entries, .. } = self;
        drop((facts, entries));
        let mut readers = runs.into_iter().map(RunReader::open).collect::<Result<Vec<_>, _>>()?;
        // The runs that are not at their end, by their next facts.
        let mut order: Vec<usize> = Vec::new();
        for run in 0..readers.len() {
            place(&readers, &mut order, run);
        }
        while !order.is_empty() {
            let run = order.remove(0);
            let Some(reader) = readers.get_mut(run) else { break };
            if let Some(fact) = reader.fact() {
                see(&fact)?;
            }
            reader.advance()?;
            place(&readers, &mut order, run);
        }
        readers.iter().try_for_each(|run| fs::remove_file(&run.path).map_err(Error::io(&run.path, "remove")))
    }
}

/// Puts a run where its next fact belongs. Of equal facts, those of the earlier run come first. A run at its end is
/// left out.
fn place(readers: &[RunReader], order: &mut Vec<usize>, run: usize) {
    let next = |run: usize| readers.get(run).and_then(RunReader::fact);
    let Some(fact) = next(run) else { return };
    let at = order.partition_point(|other| {
        next(*other).is_some_and(|before| {
            (before.job, before.task, before.time, *other) < (fact.job, fact.task, fact.time, run)
        })
    });
    order.insert(at, run);
}

fn compare(facts: &[u8], one: &Entry, other: &Entry) -> Ordering {
    let texts =
        |kind: u8, jobs: bool| if kind == IS_TEXT { compare_texts(facts, one, other, jobs) } else { Ordering::Equal };
    (one.kinds.0, one.job)
        .cmp(&(other.kinds.0, other.job))
        .then_with(|| texts(one.kinds.0, true))
        .then_with(|| (one.kinds.1, one.task).cmp(&(other.kinds.1, other.task)))
        .then_with(|| texts(one.kinds.1, false))
        .then_with(|| (one.time, one.offset).cmp(&(other.time, other.offset)))
}

/// Compares the whole texts of jobs or tasks whose starts are equal.
fn compare_texts(facts: &[u8], one: &Entry, other: &Entry, jobs: bool) -> Ordering {
    let (one, other) = (one.fact(facts), other.fact(facts));
    let (one, other) = if jobs {
        (one.map(|fact| fact.job), other.map(|fact| fact.job))
    } else {
        (one.map(|fact| fact.task), other.map(|fact| fact.task))
    };
    one.cmp(&other)
}

/// Reads a run from disk, a block at a time.
struct RunReader {
    path: PathBuf,
    file: BufReader<File>,
    block: Vec<u8>,
    at: usize,
}

impl RunReader {
    fn open(path: PathBuf) -> Result<Self, Error> {
        let file = File::open(&path).map_err(Error::io(&path, "open"))?;
        let mut reader = Self { file: BufReader::with_capacity(16 << 10, file), path, block: Vec::new(), at: 0 };
        reader.fill()?;
        Ok(reader)
    }

    /// The next fact; `None` at the end.
    fn fact(&self) -> Option<Fact<'_>> {
        postcard::from_bytes(self.block.get(self.at..)?).ok()
    }

    /// Skips the next fact.
    fn advance(&mut self) -> Result<(), Error> {
        let rest = self.block.get(self.at..).unwrap_or_default();
        let after = postcard::take_from_bytes::<Fact>(rest).map_or(0, |(_, after)| after.len());
        self.at = self.block.len() - after;
        if after == 0 { self.fill() } else { Ok(()) }
    }

    fn fill(&mut self) -> Result<(), Error> {
        self.block.clear();
        self.at = 0;
        let mut lengths = [0; 8];
        match self.file.read_exact(&mut lengths) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            read => read.map_err(Error::io(&self.path, "read"))?,
        }
        let (stored, unpacked) = lengths.split_at(4);
        let length = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes) as usize;
        let mut packed = vec![0; length(stored)];
        let read = self.file.read_exact(&mut packed);
        read.and_then(|()| Unpacker::new()?.unpack(&packed, length(unpacked), &mut self.block))
            .map_err(Error::io(&self.path, "read"))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Jobs, tasks and times of facts that come out of a sorter of so much memory, with the numbers under which they went in.
    fn sorted(facts: &[(Key<'_>, Key<'_>, i64)], memory: usize) -> Vec<(String, String, i64, usize)> {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(folder.path(), memory);
        for (number, (job, task, time)) in facts.iter().enumerate() {
            let value = number.to_le_bytes();
            let fact = Fact { job: *job, task: *task, time: *time, value: &value };
            assert!(sorter.add(&postcard::to_allocvec(&fact).unwrap()).unwrap());
        }
        let mut all = Vec::new();
        let see = |fact: &Fact<'_>| {
            let number = usize::from_le_bytes(fact.value.try_into().unwrap());
            all.push((fact.job.to_string(), fact.task.to_string(), fact.time, number));
            Ok(())
        };
        sorter.visit(see).unwrap();
        all
    }

    #[test]
    fn facts_stand_by_job_task_time_and_source() {
        use Key::{None, Number, Text};
        let facts = [
            (Number(10), Number(2), 5),
            (Number(9), Number(1), 7),
            (Text("j_1"), Text("long name, then b"), 1),
            (Number(9), None, 9),
            (Number(10), Number(2), 4),
            (Text("j_1"), Text("long name, then a"), 2),
            (Number(10), Number(2), 5),
            (Text("j"), Number(3), -1),
            (Number(10), Number(10), -5),
        ];
        let expected = [3, 1, 4, 0, 6, 8, 7, 5, 2];
        for memory in [1 << 20, 200, 1] {
            let found: Vec<usize> = sorted(&facts, memory).into_iter().map(|(_, _, _, number)| number).collect();
            assert_eq!(found, expected, "with {memory} bytes");
        }
    }

    #[test]
    fn what_does_not_fit_comes_in_the_same_order() {
        let facts: Vec<_> = (0..20_000_u64)
            .map(|n| (Key::Number(n * 7_919 % 37), Key::Number(n % 11), i64::try_from(n * 31 % 50).unwrap()))
            .collect();
        let whole = sorted(&facts, usize::MAX);
        assert_eq!(whole.len(), facts.len());
        assert!(sorted(&facts, 60_000) == whole);
    }
}
