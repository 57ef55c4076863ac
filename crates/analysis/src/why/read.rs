//! Reads what explains a run: from its folder, or from its rows in memory.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hashbrown::HashMap;
use resched_tables::cluster_file::{Containers, Size};
use resched_tables::model::{AttemptRow, JobRow, Outcome, Reason, ReasonRow, TaskKind};
use resched_tables::named::amounts;
use resched_tables::reader::View;
use resched_tables::run::{RunInfo, RunTables};
use resched_tables::store::System;
use resched_tables::store::columns::Row;

use super::held::{Amounts, Held, PassedOver, Raw, Why};
use crate::runs::jobs::JobList;
use crate::runs::run::Run;
use crate::runs::standing::set_standings;
use crate::runs::tables::{Index, Jobs, columns, reasons};
use crate::runs::times::plausible;
use crate::{Error, Origin};

/// The columns of the table of attempts that are read.
const COLUMNS: [&str; 11] = [
    "job_id",
    "kind",
    "attempt",
    "queued",
    "start",
    "shuffle_finish",
    "finish",
    "outcome",
    "cpu_request",
    "memory_request",
    "resources",
];

impl Why {
    /// Opens the run or trace in `dir`.
    ///
    /// # Errors
    /// [`Error::Trace`] if it is neither, or it is damaged.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        let origin = Origin::of(dir)?;
        let mut implausible = 0;
        let mut jobs = Jobs::load(dir, &origin, &mut implausible)?.rows;
        set_standings(&mut jobs, &origin, origin.window());
        Self::read(dir, &origin, jobs.into(), implausible)
    }

    /// Opens the run in `dir` that was opened as `run`, with the standings that its jobs have there.
    ///
    /// # Errors
    /// As [`Why::open`].
    pub fn open_again(dir: &Path, run: &Run) -> Result<Self, Error> {
        Self::read(dir, &run.origin, run.jobs.clone(), 0)
    }

    fn read(dir: &Path, origin: &Origin, jobs: JobList, mut implausible: u64) -> Result<Self, Error> {
        let index = Index::of(&jobs);
        let mut attempts = Attempts::of(origin);
        let mut of_unknown_job = 0;
        let is_observed = origin.observes("attempts.start");
        let mut table = columns::<AttemptRow>(dir, origin, &COLUMNS)?;
        while table.advance()? {
            let row = table.row();
            let Some(job) = index.row_of(row.job_id) else {
                of_unknown_job += 1;
                continue;
            };
            let attempt = Attempt::of(&row);
            let times = attempt.times.map(|time| plausible(time.filter(|_| is_observed), &mut implausible));
            attempts.add(job, &Attempt { kind: role(origin, attempt.kind), times, ..attempt });
        }
        let rows = reasons(dir, origin)?;
        let passed_over = passed_over(&rows, &index);
        let mut raw = attempts.finish(passed_over, origin.rows().contains_key("reasons"));
        let counts = [("implausible-time", implausible), ("attempt-of-unknown-job", of_unknown_job)];
        raw.skipped.extend(counts.into_iter().filter(|(_, n)| *n > 0).map(|(cause, n)| (cause.to_owned(), n)));
        raw.jobs = jobs;
        raw.logged_reasons = logged_reasons(dir, origin)?;
        Ok(Self::of(label(origin), origin, raw))
    }

    /// Takes a replay that is kept in memory. `info` describes it.
    pub fn of_rows(info: RunInfo, rows: &RunTables) -> Self {
        let mut jobs = Jobs::default();
        rows.jobs.iter().for_each(|row| jobs.push(&row.as_view(), &mut 0));
        let (mut jobs, origin) = (jobs.rows, Origin::Replay(Box::new(info)));
        set_standings(&mut jobs, &origin, origin.window());
        let jobs = JobList::from(jobs);
        let index = Index::of(&jobs);
        let mut attempts = Attempts::of(&origin);
        for row in &rows.attempts {
            let Some(job) = index.row_of(&row.job_id) else { continue };
            attempts.add(job, &Attempt::of(&row.as_view()));
        }
        let passed_over = passed_over(&rows.reasons, &index);
        let mut raw = attempts.finish(passed_over, true);
        raw.jobs = jobs;
        Self::of(label(&origin), &origin, raw)
    }
}

/// Why the jobs of a trace waited last, if the log says it, by row.
fn logged_reasons(dir: &Path, origin: &Origin) -> Result<BTreeMap<u32, Arc<str>>, Error> {
    let mut reasons = BTreeMap::new();
    if !matches!(origin, Origin::Observed(_)) {
        return Ok(reasons);
    }
    let mut texts: BTreeMap<String, Arc<str>> = BTreeMap::new();
    let mut table = columns::<JobRow>(dir, origin, &["job_id", "wait_reason"])?;
    let mut row = 0;
    while table.advance()? {
        if let Some(reason) = table.row().wait_reason {
            let text = match texts.get(reason) {
                Some(text) => Arc::clone(text),
                None => Arc::clone(texts.entry(reason.to_owned()).or_insert_with(|| Arc::from(reason))),
            };
            reasons.insert(row, text);
        }
        row += 1;
    }
    Ok(reasons)
}

/// What a task is to its job. The kinds of Spark and of batch systems are labels: their tasks run on cores, not in slots.
fn role(origin: &Origin, kind: TaskKind) -> TaskKind {
    match (origin.observed_system(), kind) {
        (
            Some(System::Spark | System::Slurm | System::Kubernetes | System::Batch),
            TaskKind::Map | TaskKind::Reduce,
        ) => TaskKind::Other,
        (_, kind) => origin.role(kind),
    }
}

fn label(origin: &Origin) -> String {
    match origin {
        Origin::Replay(info) => info.label.clone(),
        Origin::Observed(_) => "observed".to_owned(),
    }
}

/// The reasons of known jobs. What ends the reasons of all jobs at once becomes an end for each job with a reason that it ends.
fn passed_over(rows: &[ReasonRow], index: &Index<'_>) -> Vec<PassedOver> {
    let passed_over = |row: &ReasonRow| {
        let other = row.other_job.as_deref().and_then(|other| index.row_of(other));
        let job = index.row_of(row.job_id.as_deref()?)?;
        Some(PassedOver { job, at: row.time, kind: row.kind, reason: row.reason, other })
    };
    let mut ends: Vec<(TaskKind, i64)> =
        rows.iter().filter(|row| row.job_id.is_none()).map(|row| (row.kind, row.time)).collect();
    ends.sort_unstable();
    let mut all = Vec::with_capacity(rows.len());
    for reason in rows.iter().filter_map(passed_over) {
        all.push(reason);
        let end = ends.partition_point(|&end| end <= (reason.kind, reason.at));
        if let Some(&(_, at)) = ends.get(end).filter(|end| end.0 == reason.kind && reason.reason.needs_free_places()) {
            all.push(PassedOver { at, reason: Reason::None, other: None, ..reason });
        }
    }
    all
}

/// What is read of an attempt.
struct Attempt<'a> {
    kind: TaskKind,
    outcome: Outcome,
    number: i64,
    /// When it was queued, started, had its input and ended.
    times: [Option<i64>; 4],
    requests: [Option<i64>; 2],
    /// Other resources, by name.
    resources: Option<&'a str>,
}

impl<'a> Attempt<'a> {
    fn of(row: &View<'a, AttemptRow>) -> Self {
        Self {
            kind: row.kind,
            outcome: row.outcome,
            number: row.attempt,
            times: [row.queued, row.start, row.shuffle_finish, row.finish],
            requests: [row.cpu_request, row.memory_request],
            resources: row.resources,
        }
    }
}

/// Attempts on their way into a [`Raw`].
struct Attempts {
    raw: Raw,
    /// The places of amounts that have been seen.
    places: HashMap<Amounts, u32>,
    /// What maps and reduces hold in containers.
    containers: [[u64; 2]; 2],
    /// What an application master holds.
    master: [u64; 2],
    /// The places of names.
    names: HashMap<String, u16>,
    /// The latest time that was seen.
    horizon: i64,
}

impl Attempts {
    fn of(origin: &Origin) -> Self {
        let rules = match origin {
            Origin::Replay(info) => Some(&info.rules.containers),
            Origin::Observed(_) => None,
        };
        let container = |size: fn(&Containers) -> Size| rules.map_or([0, 0], |rules| [0, size(rules).memory_mb.into()]);
        Self {
            raw: Raw::default(),
            places: HashMap::new(),
            containers: [container(|containers| containers.map), container(|containers| containers.reduce)],
            master: container(|containers| containers.am),
            names: HashMap::new(),
            horizon: i64::MIN,
        }
    }

    fn add(&mut self, job: u32, attempt: &Attempt<'_>) {
        let [queued, start, shuffled, finish] = attempt.times;
        self.horizon = self.horizon.max(start.or(finish).unwrap_or(i64::MIN)).max(finish.unwrap_or(i64::MIN));
        // One that had not ended holds its place until the end of the run.
        let (Some(start), finish) = (start, finish.unwrap_or(i64::MAX)) else {
            // What had not started when the log ended never ran.
            if attempt.outcome != Outcome::Incomplete {
                self.raw.untimed.insert(job);
            }
            return;
        };
        if start > finish {
            return;
        }
        let [map, reduce] = self.containers;
        let amounts = match attempt.kind {
            TaskKind::Map => Amounts::of(map),
            TaskKind::Reduce => Amounts::of(reduce),
            TaskKind::Master => Amounts::of(self.master),
            _ => self.requested(attempt),
        };
        let amounts = self.place_of(amounts);
        self.raw.attempts.push(Held {
            job,
            amounts,
            kind: attempt.kind,
            again: attempt.number > 0 && attempt.kind != TaskKind::Master,
            lost: attempt.outcome == Outcome::Lost,
            since: queued.unwrap_or(i64::MIN).min(start),
            start,
            shuffled: shuffled.map_or(start, |at| at.clamp(start, finish)),
            finish,
        });
    }

    /// What an attempt holds by its request.
    fn requested(&mut self, attempt: &Attempt<'_>) -> Amounts {
        let [cpu, memory] = attempt.requests.map(|request| request.and_then(|amount| u64::try_from(amount).ok()));
        if cpu.is_none() && memory.is_none() {
            return Amounts::ONE_CORE;
        }
        let mut requested = Amounts::of([cpu.unwrap_or(0), memory.unwrap_or(0)]);
        for (name, amount) in amounts(attempt.resources.unwrap_or_default()) {
            let Some(name) = self.name(name) else { continue };
            match requested.named.iter_mut().find(|(listed, _)| *listed == name) {
                Some((_, sum)) => *sum = sum.saturating_add(amount),
                None => requested.named.push((name, amount)),
            }
        }
        requested
    }

    /// The place of a name; `None`, which is counted, for more names than there can be.
    fn name(&mut self, name: &str) -> Option<u16> {
        if let Some(&known) = self.names.get(name) {
            return Some(known);
        }
        let Ok(next) = u16::try_from(self.raw.names.len()) else {
            *self.raw.skipped.entry("resource-beyond-the-most-names".to_owned()).or_default() += 1;
            return None;
        };
        self.names.insert(name.to_owned(), next);
        self.raw.names.push(Arc::from(name));
        Some(next)
    }

    /// The place of these amounts in the list.
    fn place_of(&mut self, amounts: Amounts) -> u32 {
        let next = self.raw.amounts.len() as u32;
        let raw = &mut self.raw;
        *self.places.entry(amounts).or_insert_with_key(|amounts| {
            raw.amounts.push(amounts.clone());
            next
        })
    }

    /// Takes what begins after all maps and reduces of a job for its clean-up: some logs do not say it from the set-up.
    fn find_clean_up(&mut self) {
        let mut last: HashMap<u32, i64> = HashMap::new();
        for attempt in
            self.raw.attempts.iter().filter(|attempt| matches!(attempt.kind, TaskKind::Map | TaskKind::Reduce))
        {
            let latest = last.entry(attempt.job).or_insert(attempt.finish);
            *latest = attempt.finish.max(*latest);
        }
        for attempt in self.raw.attempts.iter_mut().filter(|attempt| attempt.kind == TaskKind::Setup) {
            if last.get(&attempt.job).is_some_and(|&last| attempt.start >= last) {
                attempt.kind = TaskKind::Cleanup;
            }
        }
    }

    fn finish(mut self, passed_over: Vec<PassedOver>, has_reasons: bool) -> Raw {
        self.find_clean_up();
        for attempt in &mut self.raw.attempts {
            if attempt.finish == i64::MAX {
                attempt.finish = self.horizon.max(attempt.start);
                attempt.shuffled = attempt.shuffled.min(attempt.finish);
            }
        }
        Raw { passed_over, has_reasons, ..self.raw }
    }
}
