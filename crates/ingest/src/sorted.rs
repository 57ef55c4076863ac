//! Facts in order: by job, task, time, and then as they were added.
//!
//! They are sorted in memory. There may be too many for that, or one job may be a large part of the trace. Then
//! as many facts as fit are sorted and written to disk, again and again, and all are merged in the end.
//!
//! Event tables bring the facts of their jobs together so, and lists of jobs their rows. Nothing else sorts on disk.

use std::cmp::Ordering;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering as Sequence};

use crate::formats::tables::{Fact, Key};
use crate::packed::{Unpacker, encoding, packer};
use resched_tables::Error;
use resched_tables::sink::Room;
use resched_tables::store::Scratch;

/// The size of a block of sorted facts on disk (bytes, unpacked).
const BLOCK_BYTES: usize = 128 << 10;
/// The most files of sorted facts that are merged at once. Each is open, and has a block in memory.
const MOST_RUNS: usize = 256;

/// The next number of a file of sorted facts: several sorters may share a folder.
static NEXT_RUN: AtomicU64 = AtomicU64::new(0);

/// Sorts facts that are added block by block, or one by one.
#[derive(Debug)]
pub(crate) struct Sorter {
    /// Where sorted facts are written if they are too many.
    room: Room,
    /// The folder for them, if the room has none.
    scratch: Option<Scratch>,
    facts: Vec<u8>,
    entries: Vec<Entry>,
    runs: Vec<PathBuf>,
}

/// A fact in memory: its keys as numbers, by which most comparisons are decided, and its place in the order of the sources.
#[derive(Debug, Clone, Copy)]
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

/// A time as a key that sorts like it.
pub(crate) fn in_order(time: i64) -> u64 {
    time.cast_unsigned() ^ (1 << 63)
}

/// The key that [`rank`] turned into these numbers, unless it is a text.
fn key_of(kind: u8, number: u64) -> Key<'static> {
    if kind == 0 { Key::None } else { Key::Number(number) }
}

/// Adds a fact in the encoding of blocks. As `postcard` takes bytes one by one, they are written here.
///
/// # Errors
/// The error of the encoding.
pub(crate) fn write_fact(fact: &Fact<'_>, into: &mut Vec<u8>) -> Result<(), postcard::Error> {
    *into = postcard::to_extend(&(fact.job, fact.task, fact.time), std::mem::take(into))?;
    write_value(fact.value, into);
    Ok(())
}

fn write_value(value: &[u8], into: &mut Vec<u8>) {
    let mut rest = value.len();
    while rest >= 0x80 {
        into.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    into.push(rest as u8);
    into.extend_from_slice(value);
}

impl Entry {
    /// The entry of a fact with these keys, whose place is not known yet.
    fn of(job: &Key<'_>, task: &Key<'_>, time: i64) -> Self {
        let ((job_kind, job), (task_kind, task)) = (rank(job), rank(task));
        Self { job, task, time, offset: 0, kinds: (job_kind, task_kind) }
    }

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
    /// Uses the memory of the room for facts and their index, and its folder for the rest.
    pub(crate) fn new(room: Room) -> Self {
        let memory = room.memory.min(u32::MAX as usize / 2);
        let room = Room { memory, ..room };
        Self { room, scratch: None, facts: Vec::new(), entries: Vec::new(), runs: Vec::new() }
    }

    /// Makes room for that many facts and bytes, as far as they may be in memory at once.
    pub(crate) fn reserve(&mut self, facts: u64, bytes: u64) {
        let most = |n: u64, size: usize| usize::try_from(n).unwrap_or(usize::MAX).min(self.room.memory / size);
        let (facts, bytes) = (most(facts, size_of::<Entry>()), most(bytes, 1));
        self.entries.reserve_exact(facts);
        self.facts.reserve_exact(bytes);
    }

    /// Adds a block of facts. If it cannot be decoded, it is left out: `Ok(false)`.
    pub(crate) fn add(&mut self, block: &[u8]) -> Result<bool, Error> {
        let mut rest = block;
        let end = self.facts.len() + block.len();
        while !rest.is_empty() {
            // The fields of a fact stand one after the other.
            let keys = postcard::take_from_bytes::<(Key<'_>, Key<'_>, i64)>(rest);
            let Ok(((job, task, time), value)) = keys else { return Ok(false) };
            let Ok((_, after)) = postcard::take_from_bytes::<&[u8]>(value) else { return Ok(false) };
            let mut entry = Entry::of(&job, &task, time);
            let place = end - if entry.has_text() { rest } else { value }.len();
            let Ok(offset) = u32::try_from(place) else { return Ok(false) };
            entry.offset = offset;
            self.entries.push(entry);
            rest = after;
        }
        self.facts.extend_from_slice(block);
        self.keep_to_memory()?;
        Ok(true)
    }

    /// Adds a fact.
    ///
    /// # Errors
    /// [`Error::Io`] if facts have to go to the disk, and cannot.
    pub(crate) fn push(&mut self, fact: &Fact<'_>) -> Result<(), Error> {
        let mut entry = Entry::of(&fact.job, &fact.task, fact.time);
        // The room has no more than this type can count.
        entry.offset = u32::try_from(self.facts.len()).unwrap_or(u32::MAX);
        if entry.has_text() {
            write_fact(fact, &mut self.facts).map_err(encoding(Path::new("memory")))?;
        } else {
            write_value(fact.value, &mut self.facts);
        }
        self.entries.push(entry);
        self.keep_to_memory()
    }

    /// Writes what is in memory to disk if it is too much.
    fn keep_to_memory(&mut self) -> Result<(), Error> {
        let used = self.facts.len() + self.entries.len() * size_of::<Entry>();
        if used <= self.room.memory {
            return Ok(());
        }
        self.write_run()?;
        if self.runs.len() >= MOST_RUNS { self.join_runs() } else { Ok(()) }
    }

    fn sort(&mut self) {
        let facts = &self.facts;
        self.entries.sort_unstable_by(|one, other| compare(facts, one, other));
    }

    /// The folder for what does not fit.
    fn folder(&mut self) -> Result<PathBuf, Error> {
        if let Some(folder) = &self.room.folder {
            fs::create_dir_all(folder).map_err(Error::io(folder, "create the folder"))?;
            return Ok(folder.clone());
        }
        let scratch = match self.scratch.take() {
            Some(scratch) => scratch,
            None => Scratch::new()?,
        };
        Ok(self.scratch.insert(scratch).path().to_path_buf())
    }

    fn new_run(&mut self) -> Result<RunWriter, Error> {
        let number = NEXT_RUN.fetch_add(1, Sequence::Relaxed);
        RunWriter::create(self.folder()?.join(format!("run-{number:05}")))
    }

    /// Writes what is in memory to disk, sorted.
    fn write_run(&mut self) -> Result<(), Error> {
        self.sort();
        let mut run = self.new_run()?;
        for entry in &self.entries {
            if let Some(fact) = entry.fact(&self.facts) {
                run.write(&fact)?;
            }
        }
        self.runs.push(run.finish()?);
        self.facts.clear();
        self.entries.clear();
        Ok(())
    }

    /// Makes one run of all.
    fn join_runs(&mut self) -> Result<(), Error> {
        let mut run = self.new_run()?;
        merge(std::mem::take(&mut self.runs), |fact| run.write(fact))?;
        self.runs.push(run.finish()?);
        Ok(())
    }

    /// Passes on all facts in order.
    pub(crate) fn visit(mut self, mut see: impl FnMut(&Fact<'_>) -> Result<(), Error>) -> Result<(), Error> {
        if self.runs.is_empty() {
            self.sort();
            return self.entries.iter().filter_map(|entry| entry.fact(&self.facts)).try_for_each(|fact| see(&fact));
        }
        self.write_run()?;
        // The scratch folder is needed until the end.
        let Self { runs, facts, entries, scratch: _scratch, .. } = self;
        drop((facts, entries));
        merge(runs, see)
    }
}

/// Passes on the facts of all runs in order, and removes the runs.
fn merge(runs: Vec<PathBuf>, mut see: impl FnMut(&Fact<'_>) -> Result<(), Error>) -> Result<(), Error> {
    let mut readers = runs.into_iter().map(RunReader::open).collect::<Result<Vec<_>, _>>()?;
    // The runs that are not at their end, by their next facts, the first one last.
    let mut order: Vec<usize> = Vec::new();
    for run in 0..readers.len() {
        place(&readers, &mut order, run);
    }
    while let Some(run) = order.pop() {
        let Some(reader) = readers.get_mut(run) else { break };
        if let Some(fact) = reader.fact() {
            see(&fact)?;
        }
        reader.advance()?;
        place(&readers, &mut order, run);
    }
    readers.iter().try_for_each(|run| fs::remove_file(&run.path).map_err(Error::io(&run.path, "remove")))
}

/// Puts a run where its next fact belongs. Of equal facts, those of the earlier run come first. A run at its end is
/// left out.
fn place(readers: &[RunReader], order: &mut Vec<usize>, run: usize) {
    let keys = |run: usize| readers.get(run).and_then(RunReader::keys);
    let Some((job, task, time)) = keys(run) else { return };
    let is_later = |other: &usize| keys(*other).is_some_and(|(a, b, c)| (a, b, c, *other) > (job, task, time, run));
    // Mostly, the next fact of a run comes soon after its last.
    let at = if order.last().is_none_or(is_later) { order.len() } else { order.partition_point(is_later) };
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

/// Writes a run to disk, a block at a time.
struct RunWriter {
    path: PathBuf,
    file: BufWriter<File>,
    packer: zstd::bulk::Compressor<'static>,
    block: Vec<u8>,
}

impl RunWriter {
    fn create(path: PathBuf) -> Result<Self, Error> {
        let file = File::create(&path).map_err(Error::io(&path, "create the file"))?;
        let packer = packer().map_err(Error::io(&path, "pack"))?;
        Ok(Self { path, file: BufWriter::new(file), packer, block: Vec::with_capacity(BLOCK_BYTES) })
    }

    fn write(&mut self, fact: &Fact<'_>) -> Result<(), Error> {
        write_fact(fact, &mut self.block).map_err(encoding(&self.path))?;
        if self.block.len() >= BLOCK_BYTES { self.end_block().map_err(Error::io(&self.path, "write")) } else { Ok(()) }
    }

    fn end_block(&mut self) -> std::io::Result<()> {
        let packed = self.packer.compress(&self.block)?;
        for length in [packed.len(), self.block.len()] {
            self.file.write_all(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes())?;
        }
        self.block.clear();
        self.file.write_all(&packed)
    }

    fn finish(mut self) -> Result<PathBuf, Error> {
        self.end_block().and_then(|()| self.file.flush()).map_err(Error::io(&self.path, "write"))?;
        Ok(self.path)
    }
}

/// Reads a run from disk, a block at a time.
struct RunReader {
    path: PathBuf,
    file: BufReader<File>,
    unpacker: Unpacker,
    packed: Vec<u8>,
    block: Vec<u8>,
    at: usize,
}

impl RunReader {
    fn open(path: PathBuf) -> Result<Self, Error> {
        let file = File::open(&path).map_err(Error::io(&path, "open"))?;
        let unpacker = Unpacker::new().map_err(Error::io(&path, "unpack"))?;
        let file = BufReader::with_capacity(16 << 10, file);
        let mut reader = Self { file, path, unpacker, packed: Vec::new(), block: Vec::new(), at: 0 };
        reader.fill()?;
        Ok(reader)
    }

    /// The next fact; `None` at the end.
    fn fact(&self) -> Option<Fact<'_>> {
        postcard::from_bytes(self.block.get(self.at..)?).ok()
    }

    /// Its keys.
    fn keys(&self) -> Option<(Key<'_>, Key<'_>, i64)> {
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
        self.packed.resize(length(stored), 0);
        let read = self.file.read_exact(&mut self.packed);
        read.and_then(|()| self.unpacker.unpack(&self.packed, length(unpacked), &mut self.block))
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
        let mut sorter = Sorter::new(Room { folder: Some(folder.path().to_path_buf()), memory });
        for (number, (job, task, time)) in facts.iter().enumerate() {
            let value = number.to_le_bytes();
            let fact = Fact { job: *job, task: *task, time: *time, value: &value };
            // Either way must give the same.
            if number % 3 == 0 {
                sorter.push(&fact).unwrap();
            } else {
                assert!(sorter.add(&postcard::to_allocvec(&fact).unwrap()).unwrap());
            }
        }
        let mut all = Vec::new();
        let see = |fact: &Fact<'_>| {
            let number = usize::from_le_bytes(fact.value.try_into().unwrap());
            all.push((fact.job.to_string(), fact.task.to_string(), fact.time, number));
            Ok(())
        };
        sorter.visit(see).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "all runs are removed");
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
        // So little memory makes more runs than are merged at once.
        assert!(sorted(&facts, 2_000) == whole);
    }
}
