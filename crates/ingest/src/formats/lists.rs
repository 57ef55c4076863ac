//! Lists whose lines are whole jobs, sorted until the last list ends: so each job comes once, and all come in the order of submission,
//! however many lists there are, and in whatever order.
//!
//! ```text
//! lines ──▶ by id: copies are left out, and further jobs under an id get ids of their own ──▶ by submission ──▶ jobs
//! ```
//!
//! Each arrow is a [`Sorter`], which holds a part in memory and the rest on the disk. So the memory does not grow with the lists.

use std::any::Any;

use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::JobRecord;
use resched_tables::sink::{Kept, Sink};

use super::tables::{Fact, Key};
use crate::codec::{Front, put, put_bytes, put_signed};
use crate::complete::rename;
use crate::sorted::{Sorter, in_order};

/// What a format knows of its lists, and how it reads their lines.
pub(super) trait Lists: Default + std::fmt::Debug + 'static {
    /// By how much the times of each list are moved in the tables, ms: it may count from another zero than the one that begins first. A
    /// list that is not there is not moved.
    ///
    /// # Errors
    /// [`Error::Request`] if it is not known from which zero a list counts.
    fn moved(&self) -> Result<Vec<i64>, Error>;

    /// Writes the job of a line over another, and counts what the tables do not hold of it. `false`: it is no job.
    fn write_over(&mut self, line: &Line<'_>, record: &mut JobRecord, sink: &mut dyn Sink) -> bool;

    /// Passes on what the lists say beside their jobs.
    fn report(&self, sink: &mut dyn Sink);
}

/// A line of a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'l> {
    /// The number of its list.
    pub(super) list: usize,
    /// By how much its times are moved, ms.
    pub(super) moved: i64,
    pub(super) text: &'l str,
}

/// The lines of lists.
#[derive(Debug, Default)]
pub(super) struct Jobs<L> {
    pub(super) lists: L,
    by_id: Option<Sorter>,
    taken: u64,
    /// The line that is taken.
    bytes: Vec<u8>,
}

impl<L: Lists> Jobs<L> {
    /// The lines that the sink keeps of earlier lists, or none.
    pub(super) fn begin(sink: &mut dyn Sink) -> Self {
        let kept = sink.kept().and_then(Option::take).map(|kept| (kept as Box<dyn Any>).downcast::<Self>());
        if let Some(Ok(jobs)) = kept { *jobs } else { Self::default() }
    }

    /// How many lines were taken.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Takes a line about the job of this id, and when that was submitted, ms from one zero for all lists.
    ///
    /// # Errors
    /// [`Error::Io`] if it has to go to the disk, and cannot.
    pub(super) fn take(
        &mut self,
        (job, task): (Key<'_>, Key<'_>),
        submit: Option<i64>,
        (list, text): (usize, &str),
        sink: &dyn Sink,
    ) -> Result<(), Error> {
        self.taken += 1;
        self.bytes.clear();
        put(list as u64, &mut self.bytes);
        self.bytes.extend_from_slice(text.as_bytes());
        let fact = Fact { job, task, time: submit.unwrap_or(LAST), value: &self.bytes };
        self.by_id.get_or_insert_with(|| Sorter::new(sink.room())).push(&fact)
    }

    /// Gives the lines back to the sink, or hands over their jobs if it keeps nothing for the next list. `before` is how many were taken
    /// before this list.
    pub(super) fn end(self, before: u64, sink: &mut dyn Sink) -> Result<(), Error> {
        sink.keeps(self.taken.saturating_sub(before));
        let Some(kept) = sink.kept() else { return self.give(sink) };
        *kept = Some(Box::new(self));
        Ok(())
    }

    /// Hands over the jobs of all lists.
    fn give(self, sink: &mut dyn Sink) -> Result<(), Error> {
        let Self { mut lists, by_id, .. } = self;
        let by_id = by_id.unwrap_or_else(|| Sorter::new(sink.room()));
        let (by_submit, id, bytes) = (Sorter::new(sink.room()), Vec::new(), Vec::new());
        let mut join = Join { moved: lists.moved()?, of_id: OfId::default(), by_submit, id, bytes };
        by_id.visit(|fact| join.take(fact, sink))?;
        join.end_submit()?;
        let mut record = JobRecord::default();
        join.by_submit.visit(|fact| {
            let Some((again, line)) = read(fact.value) else { return Ok(()) };
            if !lists.write_over(&line, &mut record, sink) {
                return Ok(());
            }
            if again > 0 {
                let suffix = format!("~{again}");
                let id = format!("{}{suffix}", record.job.job_id);
                rename(&mut record, &id, &suffix);
            }
            sink.lent_job(&mut record)
        })?;
        lists.report(sink);
        Ok(())
    }
}

impl<L: Lists> Kept for Jobs<L> {
    fn hand_over(self: Box<Self>, sink: &mut dyn Sink) -> Result<(), Error> {
        self.give(sink)
    }
}

/// A job of which nobody knows when it was submitted stands behind all others.
const LAST: i64 = i64::MAX;

/// Which of the jobs that had its id a line is about, and the line.
fn read(bytes: &[u8]) -> Option<(u64, Line<'_>)> {
    let mut front = Front(bytes);
    let (again, list, moved) = (front.number()?, usize::try_from(front.number()?).ok()?, front.signed()?);
    Some((again, Line { list, moved, text: std::str::from_utf8(front.0).ok()? }))
}

/// The lines of the id that is read.
struct Join {
    /// By how much the times of each list are moved, ms.
    moved: Vec<i64>,
    of_id: OfId,
    by_submit: Sorter,
    /// The id of a line, and a job, while they are written.
    id: Vec<u8>,
    bytes: Vec<u8>,
}

/// What came under an id so far.
#[derive(Debug, Default)]
struct OfId {
    /// The id, written; empty: none came.
    id: Vec<u8>,
    /// The submission of the last line.
    submit: i64,
    /// How many jobs came under the id.
    jobs: u64,
    /// The copy of the last job that counts: the last one by its bytes, in whatever order they come.
    line: Vec<u8>,
}

impl Join {
    fn take(&mut self, fact: &Fact<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let submit = fact.time;
        self.id.clear();
        for key in [fact.job, fact.task] {
            match key {
                Key::None => self.id.push(0),
                Key::Number(number) => {
                    self.id.push(1);
                    put(number, &mut self.id);
                }
                Key::Text(text) => {
                    self.id.push(2);
                    put_bytes(text.as_bytes(), &mut self.id);
                }
            }
        }
        let is_same_id = self.of_id.id == self.id;
        if is_same_id && self.of_id.submit == submit {
            sink.skip(cause::DUPLICATE_JOB, 1);
            if text_of(fact.value) <= text_of(&self.of_id.line) {
                return Ok(());
            }
        } else {
            self.end_submit()?;
            if !is_same_id {
                self.of_id.jobs = 0;
                std::mem::swap(&mut self.of_id.id, &mut self.id);
            }
            self.of_id.jobs += 1;
            sink.skip(cause::REUSED_JOB_ID, u64::from(self.of_id.jobs > 1));
        }
        self.of_id.submit = submit;
        self.of_id.line.clear();
        self.of_id.line.extend_from_slice(fact.value);
        Ok(())
    }

    /// Passes on the last job.
    fn end_submit(&mut self) -> Result<(), Error> {
        let OfId { submit, jobs, line, .. } = &self.of_id;
        let mut front = Front(line);
        let Some(list) = front.number() else { return Ok(()) };
        let moved = usize::try_from(list).ok().and_then(|list| self.moved.get(list));
        self.bytes.clear();
        put(Some(*jobs).filter(|&jobs| jobs > 1).unwrap_or(0), &mut self.bytes);
        put(list, &mut self.bytes);
        put_signed(moved.copied().unwrap_or(0), &mut self.bytes);
        self.bytes.extend_from_slice(front.0);
        // Jobs that were submitted at once come in the order of their ids.
        let job = Key::Number(in_order(*submit));
        self.by_submit.push(&Fact { job, task: Key::None, time: 0, value: &self.bytes })?;
        self.of_id.line.clear();
        Ok(())
    }
}

/// A line without the number of its list, which depends on the order of the lists.
fn text_of(line: &[u8]) -> &[u8] {
    let mut front = Front(line);
    front.number().map_or(line, |_| front.0)
}
