//! Which copy of a job counts: one rule for jobs that come more than once, in whatever format.
//!
//! A job may be in several sources: in a list for each month, or in a log that was copied while its application ran and again later. A copy
//! that has ended beats one that has not. Of two that have not ended, the later one counts; of two that have, the first. A job with the same
//! id that was submitted at another time is another job, because some systems begin again with their numbers: it gets an id of its own.
//!
//! All jobs of all formats that are read one by one pass here, so a reader only has to say which jobs have not ended
//! ([`Outcome::Incomplete`]).
//!
//! A job that has not ended is held back while more sources follow, because a better copy may come.

use std::collections::BTreeMap;

use resched_tables::cause::{self, Cause};
use resched_tables::model::{JobRecord, Outcome, TaskRecord};

use super::texts::Texts;

/// Whether the later of two copies of a job counts: the first may have ended or not.
pub(crate) fn later_counts(first_has_ended: bool) -> bool {
    !first_has_ended
}

/// The most rows of jobs that are held back. One takes some 300 bytes.
pub(crate) const MOST_HELD: usize = 1_000_000;

/// What is known of a job that came.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// The file in which it came first; 0: it has not come.
    file: u64,
    /// The last number that was given to a job with the same id.
    others: u32,
    /// When it was submitted, ms.
    submit: Option<i64>,
    has_ended: bool,
    is_written: bool,
}

/// What is to be done with a job that comes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// It counts, with this number and this id, if it is another than its own.
    Taken { number: usize, renamed: Option<Renamed> },
    /// It counts in the place of a copy that is held back under this number.
    Better { number: usize },
    /// It does not count, for this cause.
    Dropped(Cause),
}

/// Another id for a job.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Renamed {
    pub(super) id: String,
    /// What its tasks get behind their ids.
    pub(super) suffix: String,
    pub(super) cause: Cause,
}

/// The jobs so far.
#[derive(Debug, Default)]
pub(super) struct Copies {
    counted: Counted,
    ids: Texts,
    /// By the number of the id.
    known: Vec<Known>,
}

/// Jobs that have ended, and whose ids are numbers that only grow, as in most logs. Each takes eight bytes, so that a log of many millions
/// of jobs fits into memory.
#[derive(Debug, Default)]
struct Counted(Vec<Run>);

/// Jobs of one file whose ids follow each other.
#[derive(Debug)]
struct Run {
    first: u64,
    file: u64,
    /// When each was submitted, ms; [`ABSENT`] if there is none of this id, or if it is known otherwise.
    submits: Vec<i64>,
}

const ABSENT: i64 = i64::MIN;
/// So many ids may be missing between two jobs of a run.
const LARGEST_GAP: u64 = 8;
/// The most jobs of a run: memory grows by runs.
const LONGEST: usize = 1 << 16;

impl Counted {
    /// Takes a job if its id is larger than all before; `false` if not.
    fn take(&mut self, id: u64, job: Known) -> bool {
        let Some(submit) = job.submit.filter(|&submit| submit != ABSENT && job.has_ended) else { return false };
        let last = self.0.last_mut().map(|run| (run.first.saturating_add(run.submits.len() as u64), run));
        match last {
            Some((next, _)) if id < next => return false,
            Some((next, run)) if run.file == job.file && id - next <= LARGEST_GAP && run.submits.len() < LONGEST => {
                run.submits.extend((next..id).map(|_| ABSENT));
                run.submits.push(submit);
            }
            _ => self.0.push(Run { first: id, file: job.file, submits: vec![submit] }),
        }
        true
    }

    /// Takes the job of this id out.
    fn remove(&mut self, id: u64) -> Option<Known> {
        let run = self.0.partition_point(|run| run.first <= id).checked_sub(1)?;
        let run = self.0.get_mut(run)?;
        let submit = run.submits.get_mut(usize::try_from(id - run.first).ok()?)?;
        let submit = std::mem::replace(submit, ABSENT);
        let known = Known { file: run.file, others: 1, submit: Some(submit), has_ended: true, is_written: true };
        (submit != ABSENT).then_some(known)
    }
}

/// The number that an id is, if it is written as this number is.
fn number_in(id: &str) -> Option<u64> {
    let is_plain = id.bytes().all(|byte| byte.is_ascii_digit()) && (id == "0" || !id.starts_with('0'));
    id.parse().ok().filter(|_| is_plain)
}

impl Copies {
    /// Takes a job of this file. `is_folded`: an id that comes again in one file is another job.
    pub(super) fn claim(&mut self, record: &JobRecord, file: u64, is_folded: bool) -> Claim {
        let id = &record.job.job_id;
        let claim = Known {
            file,
            others: 1,
            submit: record.job.submit,
            has_ended: record.job.outcome != Outcome::Incomplete,
            is_written: true,
        };
        if let Some(number) = number_in(id) {
            if let Some(known) = self.counted.remove(number) {
                let base = self.number(id);
                self.take(base, known, None);
            } else if self.ids.find(id).is_none() && self.counted.take(number, claim) {
                // Nothing is asked about a job that has ended.
                return Claim::Taken { number: 0, renamed: None };
            }
        }
        let base = self.number(id);
        let Some(known) = self.known.get(base).copied().filter(|known| known.file > 0) else {
            return self.take(base, claim, None);
        };
        if is_folded && known.file == file {
            return self.rename(base, claim, (id, '+'), cause::REPEATED_JOB_RENAMED);
        }
        let is_same = known.submit.zip(claim.submit).is_none_or(|(one, other)| one == other);
        if is_same {
            return self.compare(base, claim);
        }
        // No id of a source has this byte in it.
        let again = self.number(&format!("{id}\0{}", claim.submit.unwrap_or_default()));
        if self.known.get(again).is_some_and(|known| known.file > 0) {
            return self.compare(again, claim);
        }
        match self.rename(base, claim, (id, '~'), cause::REUSED_JOB_ID) {
            Claim::Taken { renamed, .. } => self.take(again, claim, renamed),
            other => other,
        }
    }

    /// True if no job came yet.
    pub(super) fn are_none(&self) -> bool {
        self.known.is_empty() && self.counted.0.is_empty()
    }

    /// Notes that a job is not written yet, so that a better copy may come.
    pub(super) fn hold(&mut self, number: usize) {
        self.set_written(number, false);
    }

    /// Notes that a job that was held back is written.
    pub(super) fn write(&mut self, number: usize) {
        self.set_written(number, true);
    }

    fn set_written(&mut self, number: usize, is_written: bool) {
        if let Some(known) = self.known.get_mut(number) {
            known.is_written = is_written;
        }
    }

    fn number(&mut self, id: &str) -> usize {
        let number = self.ids.keep(id).number();
        if number >= self.known.len() {
            self.known.resize(number + 1, Known::default());
        }
        number
    }

    fn take(&mut self, number: usize, claim: Known, renamed: Option<Renamed>) -> Claim {
        if let Some(known) = self.known.get_mut(number) {
            *known = claim;
        }
        Claim::Taken { number, renamed }
    }

    /// The better of a job and its copy under this number.
    fn compare(&mut self, number: usize, claim: Known) -> Claim {
        let Some(known) = self.known.get_mut(number) else { return Claim::Dropped(cause::DUPLICATE_JOB) };
        if !later_counts(known.has_ended) {
            return Claim::Dropped(cause::DUPLICATE_JOB);
        }
        if known.is_written {
            return Claim::Dropped(if claim.has_ended { cause::FINISHED_COPY_LEFT_OUT } else { cause::DUPLICATE_JOB });
        }
        *known = Known { others: known.others, ..claim };
        Claim::Better { number }
    }

    /// Gives a job an id of its own, with a number behind that of the job at `base`.
    fn rename(&mut self, base: usize, claim: Known, (id, mark): (&str, char), cause: Cause) -> Claim {
        let Some(known) = self.known.get_mut(base) else { return Claim::Dropped(cause::DUPLICATE_JOB) };
        known.others = known.others.saturating_add(1);
        let suffix = format!("{mark}{}", known.others);
        let id = format!("{id}{suffix}");
        let number = self.number(&id);
        if self.known.get(number).is_some_and(|known| known.file > 0) {
            return Claim::Dropped(cause::DUPLICATE_JOB);
        }
        self.take(number, claim, Some(Renamed { id, suffix, cause }))
    }
}

/// A job that is held back, and what was counted while it was read.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) record: JobRecord,
    pub(super) notes: Notes,
}

/// What is counted of a job, if it is the copy that counts.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// What was mended or left out: cause, how often.
    pub(super) skipped: Vec<(Cause, u64)>,
    /// What rules filled: column, rule, rows.
    pub(super) made: Vec<(&'static str, &'static str, u64)>,
}

impl Notes {
    pub(super) fn skip(&mut self, cause: Cause, n: u64) {
        if n > 0 {
            self.skipped.push((cause, n));
        }
    }
}

/// Jobs that have not ended, by their numbers, while a better copy may come.
#[derive(Debug, Default)]
pub(super) struct HeldBack {
    jobs: BTreeMap<usize, Held>,
    rows: usize,
}

impl HeldBack {
    /// Holds a job back. Returns those that there is no more room for, the first that came first.
    pub(super) fn hold(&mut self, number: usize, held: Held, most: usize) -> Vec<(usize, Held)> {
        self.rows = self.rows.saturating_add(rows(&held.record));
        self.jobs.insert(number, held);
        let mut written = Vec::new();
        while self.rows > most
            && let Some((number, held)) = self.jobs.pop_first()
        {
            self.rows = self.rows.saturating_sub(rows(&held.record));
            written.push((number, held));
        }
        written
    }

    /// Drops a job in whose place a better copy has come.
    pub(super) fn drop(&mut self, number: usize) -> Option<Held> {
        let held = self.jobs.remove(&number)?;
        self.rows = self.rows.saturating_sub(rows(&held.record));
        Some(held)
    }

    /// All of them, those that came first before the others.
    pub(super) fn take(&mut self) -> Vec<(usize, Held)> {
        self.rows = 0;
        std::mem::take(&mut self.jobs).into_iter().collect()
    }
}

/// The rows of a job in all tables.
fn rows(record: &JobRecord) -> usize {
    let of_task = |task: &TaskRecord| 1 + task.attempts.len() + task.splits.len();
    1 + record.counters.len() + record.tasks.iter().map(of_task).sum::<usize>()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use resched_tables::model::JobRow;

    fn job(id: &str, submit: i64, outcome: Outcome) -> JobRecord {
        let job = JobRow { job_id: id.to_owned(), submit: Some(submit), outcome, ..JobRow::default() };
        JobRecord { job, ..JobRecord::default() }
    }

    #[test]
    fn as_many_rows_are_held_as_the_limit_and_not_one_more() {
        let mut held = HeldBack::default();
        let mut hold = |number| held.hold(number, Held::default(), 2).len();
        assert_eq!([hold(1), hold(2), hold(3)], [0, 0, 1]);
        let left: Vec<usize> = held.take().into_iter().map(|(number, _)| number).collect();
        assert_eq!(left, [2, 3], "the first has gone");
    }

    #[test]
    fn a_copy_that_comes_after_the_unfinished_one_was_written_is_counted() {
        let mut copies = Copies::default();
        assert!(matches!(copies.claim(&job("a", 1, Outcome::Incomplete), 1, false), Claim::Taken { .. }));
        assert_eq!(
            copies.claim(&job("a", 1, Outcome::Success), 2, false),
            Claim::Dropped(cause::FINISHED_COPY_LEFT_OUT)
        );
        assert_eq!(copies.claim(&job("a", 1, Outcome::Incomplete), 2, false), Claim::Dropped(cause::DUPLICATE_JOB));
    }

    /// The same jobs under ids that are numbers, and under the same ids as texts.
    #[test]
    fn ids_that_count_on_are_compared_as_all_others() {
        let ids = [1, 2, 3, 40, 41, 41, 2, 2, 5, 70_000, 41, 3, 5];
        let submits = [1, 2, 3, 4, 5, 5, 9, 9, 6, 7, 8, 3, 6];
        let claims = |mark: &str| -> Vec<String> {
            let mut copies = Copies::default();
            let jobs = ids.iter().zip(submits).enumerate();
            let shown = jobs.map(|(n, (id, submit))| {
                let outcome = if n == 8 { Outcome::Incomplete } else { Outcome::Success };
                match copies.claim(&job(&format!("{mark}{id}"), submit, outcome), 1 + n as u64 / 4, false) {
                    Claim::Taken { renamed, .. } => format!("{:?}", renamed.map(|renamed| renamed.suffix)),
                    Claim::Better { .. } => "better".to_owned(),
                    Claim::Dropped(cause) => cause.name().to_owned(),
                }
            });
            shown.collect()
        };
        let found = claims("");
        assert_eq!(found, claims("x"));
        assert_eq!(found[5..8], ["duplicate-job", "Some(\"~2\")", "duplicate-job"]);
    }

    #[test]
    fn each_submission_under_one_id_is_a_job_of_its_own() {
        let mut copies = Copies::default();
        let mut claim = |submit| match copies.claim(&job("7", submit, Outcome::Success), 1, false) {
            Claim::Taken { renamed, .. } => renamed.map_or("7".to_owned(), |renamed| renamed.id),
            other => format!("{other:?}"),
        };
        assert_eq!([1, 2, 3].map(&mut claim), ["7", "7~2", "7~3"]);
        assert_eq!([2, 1, 3].map(&mut claim), ["Dropped(duplicate-job)"; 3]);
    }
}
