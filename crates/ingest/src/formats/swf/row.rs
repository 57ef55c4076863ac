//! A job's line, and the rows of the tables that it becomes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use resched_tables::model::{AttemptRow, JobRecord, JobRow, Outcome, TaskRecord, TaskRow};

use super::super::over::{over, over_known};
use super::further::{self, Further};
use super::header::Header;
use super::shape::{Amounts, Shape};
use super::{EXACT_DIGITS, FIELDS, FRAMEWORK, STANDARD, milliseconds, parse_number, whole};

/// A job's line.
pub(super) struct Row<'a> {
    texts: [&'a str; STANDARD],
    numbers: [f64; STANDARD],
    further: [&'a str; further::MOST],
    /// How many fields the line has.
    pub(super) fields: usize,
}

impl<'a> Row<'a> {
    /// The numbers of a job, and any further fields.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let mut row =
            Self { texts: [""; STANDARD], numbers: [-1.0; STANDARD], further: [""; further::MOST], fields: 0 };
        for field in line.split_ascii_whitespace() {
            if let (Some(text), Some(number)) = (row.texts.get_mut(row.fields), row.numbers.get_mut(row.fields)) {
                (*text, *number) = (field, parse_number(field)?);
            } else if let Some(text) = row.further.get_mut(row.fields - STANDARD) {
                *text = field;
            }
            row.fields += 1;
        }
        FIELDS.contains(&row.fields).then_some(row).filter(|row| row.known(1).is_some())
    }

    /// The fields after the 18th.
    pub(super) fn further(&self) -> &[&'a str] {
        self.further.get(..self.fields.saturating_sub(STANDARD)).unwrap_or_default()
    }

    /// Field `n`, counted from 1 as in the standard; `None` if it is −1 or otherwise negative.
    fn known(&self, n: usize) -> Option<f64> {
        self.numbers.get(n.checked_sub(1)?).copied().filter(|&number| number >= 0.0)
    }

    /// The same job, submitted so much later, ms.
    pub(super) fn moved_by(mut self, ms: i64) -> Self {
        if let Some(submit) = self.numbers.get_mut(1).filter(|submit| **submit >= 0.0) {
            *submit += ms as f64 / 1_000.0;
        }
        self
    }

    /// When it was submitted, ms.
    pub(super) fn submit(&self) -> Option<i64> {
        self.known(2).and_then(milliseconds)
    }

    /// Field `n` as the number of something.
    pub(super) fn id(&self, n: usize) -> Option<Cow<'a, str>> {
        let number = self.known(n)?;
        let text = *self.texts.get(n.checked_sub(1)?)?;
        // Nearly all stand in the line as they are to be written.
        if text.len() <= EXACT_DIGITS
            && text.bytes().all(|byte| byte.is_ascii_digit())
            && (text == "0" || !text.starts_with('0'))
        {
            return Some(Cow::Borrowed(text));
        }
        Some(Cow::Owned(number.to_string()))
    }

    /// Field `n` under the name that the header gives it.
    fn named(&self, n: usize, names: &'a BTreeMap<u64, String>) -> Option<Cow<'a, str>> {
        let number = self.id(n)?;
        let name = number.parse().ok().and_then(|number| names.get(&number));
        Some(name.map_or(number, |name| Cow::Borrowed(name.as_str())))
    }

    /// Field `n`, if it is a count of at least one.
    fn count(&self, n: usize) -> Option<i64> {
        self.known(n).and_then(whole).filter(|&count| count > 0)
    }

    /// Field `n`, kilobytes, as bytes.
    fn bytes(&self, n: usize) -> Option<i64> {
        self.known(n).and_then(|kilobytes| whole(kilobytes * 1024.0))
    }

    /// What it says about the size of the job.
    pub(super) fn amounts(&self) -> Amounts {
        Amounts { allocated: self.count(5), requested: self.count(8), memory: self.bytes(10) }
    }

    /// True if it describes a part of a job that another line sums up.
    pub(super) fn is_part(&self) -> bool {
        matches!(self.known(11), Some(2.0..=4.0))
    }

    fn outcome(&self) -> Outcome {
        match self.known(11) {
            Some(1.0) => Outcome::Success,
            Some(0.0) => Outcome::Failed,
            Some(5.0) => Outcome::Killed,
            _ => Outcome::Unknown,
        }
    }

    /// When the job was submitted, started and ended, and how long it ran.
    fn span(&self, outcome: Outcome) -> Span {
        let (submit, wait, run) = (self.known(2), self.known(3), self.known(4));
        let ran = run.is_some_and(|run| run > 0.0) || (run.is_some() && outcome != Outcome::Killed);
        let left_queue = submit.zip(wait).map(|(submit, wait)| submit + wait);
        let start = left_queue.filter(|_| ran || outcome != Outcome::Killed).and_then(milliseconds);
        let ended = if start.is_some() { left_queue.zip(run).map(|(start, run)| start + run) } else { left_queue };
        Span {
            submit: submit.and_then(milliseconds),
            start,
            finish: ended.and_then(milliseconds),
            run_time: run.filter(|_| start.is_none()).and_then(milliseconds),
            ran: start.is_some() || ran,
        }
    }

    /// Writes the job over another, whose memory is used again.
    pub(super) fn write_over(
        &self,
        JobRecord { job, tasks, counters }: &mut JobRecord,
        header: &'a Header,
        (further, shape): (&Further<'_>, &Shape),
    ) -> Option<()> {
        let job_id = self.id(1)?;
        let span = self.span(self.outcome());
        counters.clear();
        tasks.resize_with(1, TaskRecord::default);
        let TaskRecord { task, splits, attempts } = tasks.first_mut()?;
        splits.clear();
        self.write_job(job, &job_id, header, &span, (further, shape));
        *task = TaskRow {
            job_id: over(&mut task.job_id, &job_id),
            task_id: over(&mut task.task_id, &job_id),
            start: span.start,
            finish: span.finish.filter(|_| span.start.is_some()),
            outcome: self.outcome(),
            cpu_request: Some(shape.cpu),
            memory_request: shape.memory,
            instances: shape.instances,
            gang: Some(true),
            resources: shape.resources(),
            machines: shape.machines,
            exclusive: further.properties.is_exclusive.then_some(true),
            ..TaskRow::default()
        };
        attempts.resize_with(usize::from(span.ran), AttemptRow::default);
        for attempt in attempts {
            *attempt = AttemptRow {
                job_id: over(&mut attempt.job_id, &job_id),
                task_id: over(&mut attempt.task_id, &job_id),
                queued: span.submit,
                start: span.start,
                finish: span.finish,
                run_time: span.run_time,
                outcome: self.outcome(),
                cpu_ms: self.known(6).and_then(milliseconds).and_then(|each| each.checked_mul(shape.processors)),
                physical_memory: self.bytes(7).and_then(|each| each.checked_mul(shape.memories)),
                ..AttemptRow::default()
            };
        }
        Some(())
    }

    /// Writes its row in the jobs table over another.
    fn write_job(
        &self,
        job: &mut JobRow,
        job_id: &str,
        header: &'a Header,
        span: &Span,
        (further, shape): (&Further<'_>, &Shape),
    ) {
        // Jobs wait in partitions, too. Few logs name both.
        let queue = self.named(15, &header.queues).or_else(|| self.named(16, &header.partitions));
        *job = JobRow {
            job_id: over(&mut job.job_id, job_id),
            name: over_known(&mut job.name, self.id(14).as_deref()),
            user: over_known(&mut job.user, self.id(12).as_deref()),
            queue: over_known(&mut job.queue, queue.as_deref()),
            group: over_known(&mut job.group, self.id(13).as_deref()),
            framework: over_known(&mut job.framework, FRAMEWORK),
            features: over_known(&mut job.features, further.properties.feature),
            submit: span.submit,
            launch: span.start,
            finish: span.finish,
            outcome: self.outcome(),
            requested_containers: shape.asked.map(|(containers, _)| containers),
            requested_cpu: shape.asked.map(|(_, cpu)| cpu),
            requested_memory: self.bytes(10),
            requested_time: self.known(9).and_then(milliseconds),
            depends_on: self.id(17).map(Cow::into_owned).into_iter().collect(),
            ..JobRow::default()
        };
    }
}

/// The times of a job, ms.
struct Span {
    submit: Option<i64>,
    start: Option<i64>,
    finish: Option<i64>,
    /// How long it ran, if that is known but not when.
    run_time: Option<i64>,
    /// True if it ran.
    ran: bool,
}
