//! Facts in order: by job, task, time, and then as they were added.
//!
//! They are sorted in memory. There may be too many for that, or one job may be a large part of the trace. Then
//! as many facts as fit are sorted and written to disk, again and again, and all are merged in the end.
//!
//! Event tables bring the facts of their jobs together so, and lists of jobs their rows. Nothing else sorts on disk.

use std::cmp::Ordering;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering as Sequence};

use crate::codec::{Front, put, put_bytes, put_signed};
use crate::formats::tables::{Fact, Key};
use crate::packed::{Packer, encoding, unpack};
use resched_tables::Error;
use resched_tables::sink::Room;
use resched_tables::store::Scratch;

/// The size of a block of sorted facts on disk (bytes, unpacked).
const BLOCK_BYTES: usize = 128 << 10;
/// So many files of sorted facts are merged into one, and so many of these again: no fact is written more often than the number of facts
/// has digits. In the end, those that are left are merged at once. Each is open then, and has a block in memory.
const MOST_RUNS: usize = 128;

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
    /// Each with how often it was merged, which grows from the last to the first.
    runs: Vec<(PathBuf, u32)>,
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

/// Adds a fact in the encoding of blocks.
///
/// # Errors
/// The error of the encoding.
pub(crate) fn write_fact(fact: &Fact<'_>, into: &mut Vec<u8>) -> Result<(), postcard::Error> {
    *into = postcard::to_extend(&(fact.job, fact.task, fact.time), std::mem::take(into))?;
    put_bytes(fact.value, into);
    Ok(())
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
        Some(Fact { job, task, time: self.time, value: Front(bytes).bytes()? })
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
            put_bytes(fact.value, &mut self.facts);
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
        self.join_runs()
    }

    /// Sorts what is in memory. Facts mostly come nearly in order, which a stable sort uses, and equal ones stay as they came.
    fn sort(&mut self) {
        let facts = &self.facts;
        self.entries.sort_by(|one, other| compare(facts, one, other));
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
        self.runs.push((run.finish()?, 0));
        self.facts.clear();
        self.entries.clear();
        Ok(())
    }

    /// Makes one run of the last ones if they are so many that were merged as often.
    fn join_runs(&mut self) -> Result<(), Error> {
        while let Some(&(_, times)) = self.runs.last() {
            let from = self.runs.partition_point(|&(_, other)| other > times);
            if self.runs.len() - from < MOST_RUNS {
                break;
            }
            let last = self.runs.split_off(from).into_iter().map(|(path, _)| path);
            let mut run = self.new_run()?;
            merge(last.collect(), |fact| run.write(fact))?;
            self.runs.push((run.finish()?, times + 1));
        }
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
        merge(runs.into_iter().map(|(path, _)| path).collect(), see)
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
        see(&reader.fact())?;
        reader.advance()?;
        place(&readers, &mut order, run);
    }
    readers.iter().try_for_each(|run| fs::remove_file(&run.path).map_err(Error::io(&run.path, "remove")))
}

/// Puts a run where its next fact belongs. Of equal facts, those of the earlier run come first. A run at its end is
/// left out.
fn place(readers: &[RunReader], order: &mut Vec<usize>, run: usize) {
    let keys = |run: usize| readers.get(run).filter(|reader| reader.has_next).map(RunReader::keys);
    let Some(key) = keys(run) else { return };
    let is_later = |other: &usize| keys(*other).is_some_and(|keys| (keys, *other) > (key, run));
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
        .then_with(|| one.time.cmp(&other.time))
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

/// Writes a run to disk, a block at a time. In a block, the number of a job and the time stand as differences from those before:
/// neighbours in order are alike.
struct RunWriter {
    path: PathBuf,
    file: BufWriter<File>,
    packer: Packer,
    block: Vec<u8>,
    before: (u64, i64),
}

impl RunWriter {
    fn create(path: PathBuf) -> Result<Self, Error> {
        let file = File::create(&path).map_err(Error::io(&path, "create the file"))?;
        let block = Vec::with_capacity(2 * BLOCK_BYTES);
        Ok(Self { path, file: BufWriter::new(file), packer: Packer::new(), block, before: (0, 0) })
    }

    fn write(&mut self, fact: &Fact<'_>) -> Result<(), Error> {
        let (block, (job, time)) = (&mut self.block, &mut self.before);
        let kind = |key: &Key<'_>| rank(key).0;
        block.push(kind(&fact.job) | kind(&fact.task) << TASK);
        match fact.job {
            Key::None => {}
            Key::Number(number) => put(number.wrapping_sub(std::mem::replace(job, number)), block),
            Key::Text(text) => put_bytes(text.as_bytes(), block),
        }
        match fact.task {
            Key::None => {}
            Key::Number(number) => put(number, block),
            Key::Text(text) => put_bytes(text.as_bytes(), block),
        }
        put_signed(fact.time.wrapping_sub(std::mem::replace(time, fact.time)), block);
        put_bytes(fact.value, block);
        if self.block.len() >= BLOCK_BYTES { self.end_block().map_err(Error::io(&self.path, "write")) } else { Ok(()) }
    }

    fn end_block(&mut self) -> std::io::Result<()> {
        let packed = self.packer.pack(&self.block)?;
        for length in [packed.len(), self.block.len()] {
            self.file.write_all(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes())?;
        }
        self.file.write_all(packed)?;
        self.block.clear();
        self.before = (0, 0);
        Ok(())
    }

    fn finish(mut self) -> Result<PathBuf, Error> {
        self.end_block().and_then(|()| self.file.flush()).map_err(Error::io(&self.path, "write"))?;
        Ok(self.path)
    }
}

/// Where the kind of the task stands in the first byte of a fact, behind that of the job.
const TASK: u32 = 2;

/// Reads a run from disk, a block at a time.
struct RunReader {
    path: PathBuf,
    file: BufReader<File>,
    packed: Vec<u8>,
    block: Vec<u8>,
    at: usize,
    /// True if there is a next fact, and what it is.
    has_next: bool,
    next: Next,
}

/// The next fact of a run. Its texts and its value are places in the block.
#[derive(Debug, Default)]
struct Next {
    kinds: (u8, u8),
    job: u64,
    task: u64,
    job_text: Range<usize>,
    task_text: Range<usize>,
    time: i64,
    value: Range<usize>,
}

impl Next {
    /// Reads the next fact over the one before, and returns where it ends in the block.
    fn read(&mut self, block: &[u8], at: usize) -> Option<usize> {
        let mut front = Front(block.get(at..)?);
        let place = |bytes: &[u8], front: &Front<'_>| {
            let end = block.len() - front.0.len();
            end - bytes.len()..end
        };
        let kinds = front.byte()?;
        self.kinds = (kinds & ((1 << TASK) - 1), kinds >> TASK);
        match self.kinds.0 {
            0 => {}
            IS_TEXT => self.job_text = place(front.bytes()?, &front),
            _ => self.job = self.job.wrapping_add(front.number()?),
        }
        match self.kinds.1 {
            0 => {}
            IS_TEXT => self.task_text = place(front.bytes()?, &front),
            _ => self.task = front.number()?,
        }
        self.time = self.time.wrapping_add(front.signed()?);
        self.value = place(front.bytes()?, &front);
        Some(self.value.end)
    }

    fn key<'b>(&self, block: &'b [u8], kind: u8, number: u64, text: &Range<usize>) -> Key<'b> {
        let text = || block.get(text.clone()).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
        if kind == IS_TEXT { Key::Text(text()) } else { key_of(kind, number) }
    }
}

impl RunReader {
    fn open(path: PathBuf) -> Result<Self, Error> {
        let file = File::open(&path).map_err(Error::io(&path, "open"))?;
        let file = BufReader::with_capacity(16 << 10, file);
        let (packed, block, next) = (Vec::new(), Vec::new(), Next::default());
        let mut reader = Self { file, path, packed, block, at: 0, has_next: true, next };
        reader.advance()?;
        Ok(reader)
    }

    /// The next fact, if there is one.
    fn fact(&self) -> Fact<'_> {
        let (job, task, time) = self.keys();
        Fact { job, task, time, value: self.block.get(self.next.value.clone()).unwrap_or_default() }
    }

    /// Its keys.
    fn keys(&self) -> (Key<'_>, Key<'_>, i64) {
        let Next { kinds, job, task, job_text, task_text, time, .. } = &self.next;
        let key = |kind, number, text| self.next.key(&self.block, kind, number, text);
        (key(kinds.0, *job, job_text), key(kinds.1, *task, task_text), *time)
    }

    /// Goes on to the next fact.
    fn advance(&mut self) -> Result<(), Error> {
        if self.at >= self.block.len() && !self.fill().map_err(Error::io(&self.path, "read"))? {
            self.has_next = false;
            return Ok(());
        }
        let end = self.next.read(&self.block, self.at);
        let damaged = || std::io::Error::new(ErrorKind::InvalidData, "a fact is damaged");
        self.at = end.ok_or_else(damaged).map_err(Error::io(&self.path, "read"))?;
        Ok(())
    }

    /// Reads the next block; `false` at the end.
    fn fill(&mut self) -> std::io::Result<bool> {
        (self.at, self.next) = (0, Next::default());
        let mut lengths = [0; 8];
        match self.file.read_exact(&mut lengths) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(false),
            read => read?,
        }
        let (stored, unpacked) = lengths.split_at(4);
        let length = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes) as usize;
        self.packed.resize(length(stored), 0);
        self.file.read_exact(&mut self.packed)?;
        unpack(&self.packed, length(unpacked), &mut self.block)?;
        Ok(!self.block.is_empty())
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
