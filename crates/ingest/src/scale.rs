//! Makes a trace smaller or denser: it keeps some of its jobs, its time or its machines.
//!
//! **Jobs.** A share of the jobs is drawn so that the mix stays, as in the workload samplers of SWIM and in Rumen's
//! Folder. The jobs of one queue and of about one size are a class. The size is the power of two of the time that the
//! attempts took, or else of the bytes. Within each class, every 1/share-th job is taken in the order of the trace,
//! from a start that the seed draws. So each class keeps its share to within one job.
//!
//! **Time.** The gaps between submissions are multiplied, counted from the start of the window, or else from the first
//! submission. A job is moved as a whole: its run times stay. A factor below 1 makes the trace denser.
//! Events of machines move in the same way. Nothing happened at the new times, so the manifest lists them under `made`
//! (`TIMES`): such a trace has no observed waits.
//!
//! **Machines.** A share of the machines of each rack is drawn, at least one in all. Rows that name another machine are
//! changed to name one that stayed. The seed draws it, from the same rack if possible. If two places of a task's input
//! fall on one machine, they become one. Times and localities of attempts stay as they were observed. The manifest lists the machines
//! of attempts and input under `made` (`PLACES`).
//!
//! **Windows.** A job belongs to the window in which it was submitted. All its rows go with it, whatever their times. Jobs that were
//! submitted before and had not ended at the start of the window stay, too: without them the start of a replay would be too empty. The
//! manifest says when the window begins, so that they count in no metric, and how many they are (`running_at_start`, `waiting_at_start`
//! in its parameters). It counts the other jobs that were submitted outside (`job-outside-window`), and the jobs of the window that were
//! still running at its end (`job-running-at-end`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rand::RngExt;

use resched_tables::Error;
use resched_tables::cause::{self, Cause};
use resched_tables::clock::{Covered, Instant, Span, Zone};
use resched_tables::draws::{Purpose, stream};
use resched_tables::model::{AttemptRow, JobRecord, JobRow, NodeChange, NodeRow, Outcome, TaskKind, TaskRecord};
use resched_tables::records::Source;
use resched_tables::store::{BACKFILL_START, Manifest, Out, SCALE_PARAMETER, Scaled, TimeZero, TraceWriter};
use resched_tables::words;

/// The rule that moves jobs in time, and the columns that it fills.
const TIMES: (&str, &[&str]) = (
    "scaled-times",
    &[
        "jobs.submit",
        "jobs.launch",
        "jobs.finish",
        "tasks.start",
        "tasks.finish",
        "attempts.queued",
        "attempts.start",
        "attempts.shuffle_finish",
        "attempts.sort_finish",
        "attempts.finish",
    ],
);
/// The rule that moves rows to the machines that stay, and the columns that it fills.
const PLACES: (&str, &[&str]) = ("scaled-machines", &["attempts.host", "attempts.rack", "splits.host", "splits.rack"]);

/// The part of a trace to keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// The share of its jobs, above 0 and at most 1.
    pub jobs: f64,
    /// The factor by which the gaps between submissions are multiplied, above 0.
    pub time: f64,
    /// The share of its machines, above 0 and at most 1.
    pub nodes: f64,
    /// The start of the window, if it has one.
    pub from: Option<Instant>,
    /// The first instant after the window, if it has an end.
    pub to: Option<Instant>,
    /// The seed of all draws.
    pub seed: u64,
}

impl Default for Scale {
    /// The whole trace.
    fn default() -> Self {
        Self { jobs: 1.0, time: 1.0, nodes: 1.0, from: None, to: None, seed: 1 }
    }
}

/// Writes the part of the trace `source` that `scale` describes to `out`. Returns the manifest as written. It counts
/// what was left out, and its parameters hold the values of `scale`.
///
/// # Errors
/// [`Error::Request`] if `source` is not a trace, `out` is the same folder, a number is out of its range, nothing would be left, or `out` cannot
/// be written; otherwise as for reading and writing tables. Then nothing is left behind.
pub fn scale(source: &Path, out: impl Into<Out>, scale: &Scale) -> Result<Manifest, Error> {
    check(scale)?;
    let out = out.into();
    out.check_apart_from(source)?;
    let source = Source::open(source)?;
    let Some(manifest) = source.manifest() else {
        return Err(Error::Request("expected a trace, found a run; scale the trace that it was made of".to_owned()));
    };
    let window = Window::of(&source, scale)?;
    let nodes = source.nodes()?;
    let machines = Machines::of(&nodes, scale);
    let mut sample = Sample { share: scale.jobs, seed: scale.seed, classes: BTreeMap::new() };
    let mut left_out: BTreeMap<Cause, u64> = BTreeMap::new();
    let mut at_start = AtStart::default();
    let mut writer = TraceWriter::create(out)?;
    for record in source.records()? {
        let mut record = record?;
        let cause = window.cause(&record).or_else(|| (!sample.takes(&record)).then_some(cause::JOB_NOT_DRAWN));
        if let Some(cause) = cause {
            *left_out.entry(cause).or_default() += 1;
            continue;
        }
        if window.cuts_end(&record) {
            *left_out.entry(cause::JOB_RUNNING_AT_END).or_default() += 1;
        }
        let state = window.state_at_start(&record);
        if !window.move_job(&mut record) {
            *left_out.entry(cause::TIME_OUT_OF_RANGE).or_default() += 1;
            continue;
        }
        at_start.count(state);
        let merged = record.tasks.iter_mut().map(|task| machines.rename(task)).sum::<u64>();
        if merged > 0 {
            *left_out.entry(cause::SPLIT_HOST_TWICE).or_default() += merged;
        }
        writer.job(&record)?;
    }
    if writer.jobs() == at_start.running + at_start.waiting {
        let causes = words::left_out(&left_out);
        return Err(Error::Request(format!("no job is left{causes}; choose a larger share or another window")));
    }
    for node in nodes {
        if machines.kept(&node.host) {
            let time = node.time.and_then(|time| window.moved(time));
            writer.node(&NodeRow { time, ..node })?;
        }
    }
    let mut manifest = manifest.clone();
    // What was there before a window does not count.
    manifest.begin = manifest.begin.max(window.from).and_then(|begin| window.moved(begin));
    for (cause, n) in left_out {
        let count = manifest.skipped.entry(cause.name().to_owned()).or_default();
        *count = count.saturating_add(n);
    }
    for (rule, columns) in
        [(scale.time != 1.0).then_some(TIMES), (scale.nodes < 1.0).then_some(PLACES)].into_iter().flatten()
    {
        note_made(&mut manifest, rule, columns);
    }
    if scale.time != 1.0 {
        manifest.parameters.remove(BACKFILL_START);
    }
    manifest
        .parameters
        .insert(SCALE_PARAMETER.to_owned(), parameters(scale, &window, Scaled::of(&manifest), &at_start));
    writer.finish(manifest)
}

/// Notes that a rule fills these columns, unless another one fills them already.
fn note_made(manifest: &mut Manifest, rule: &str, columns: &[&str]) {
    for &column in columns {
        if manifest.made_whole(column).is_none() {
            manifest.made_rows.remove(column);
            manifest.made.insert(column.to_owned(), rule.to_owned());
        }
    }
}

fn check(scale: &Scale) -> Result<(), Error> {
    let share = |name: &str, share: f64| match share > 0.0 && share <= 1.0 {
        true => Ok(()),
        false => {
            Err(Error::Request(format!("{name}: expected a share above 0 and at most 1, found {share}; correct it")))
        }
    };
    share("jobs", scale.jobs)?;
    share("nodes", scale.nodes)?;
    if !(scale.time > 0.0 && scale.time <= 1e6) {
        let found = scale.time;
        return Err(Error::Request(format!(
            "time: expected a factor above 0 and at most 1,000,000, found {found}; correct it"
        )));
    }
    Ok(())
}

fn parameters(scale: &Scale, window: &Window, before: Option<Scaled>, at_start: &AtStart) -> serde_json::Value {
    let before = before.unwrap_or(Scaled { jobs: 1.0, time: 1.0, nodes: 1.0 });
    serde_json::json!({
        "jobs": scale.jobs * before.jobs,
        "time": scale.time * before.time,
        "nodes": scale.nodes * before.nodes,
        "from": window.from,
        "to": window.to,
        "seed": scale.seed,
        "running_at_start": at_start.running,
        "waiting_at_start": at_start.waiting,
    })
}

/// What a job did at the start of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Waiting,
}

/// The jobs that were there at the start of a window.
#[derive(Debug, Default)]
struct AtStart {
    running: u64,
    waiting: u64,
}

impl AtStart {
    fn count(&mut self, state: Option<State>) {
        self.running += u64::from(state == Some(State::Running));
        self.waiting += u64::from(state == Some(State::Waiting));
    }
}

/// The part of the time that is kept, and how it is stretched.
struct Window {
    from: Option<i64>,
    to: Option<i64>,
    /// The instant that does not move.
    zero: i64,
    factor: f64,
}

impl Window {
    fn of(source: &Source, scale: &Scale) -> Result<Self, Error> {
        let (mut first, mut last): (Option<i64>, Option<i64>) = (None, None);
        for row in source.jobs()? {
            let submit = row?.submit;
            first = [first, submit].into_iter().flatten().min();
            last = last.max(submit);
        }
        let at = |instant: Option<Instant>| match instant {
            None => Ok(None),
            Some(Instant::At(ms)) => Ok(Some(ms)),
            Some(Instant::AfterFirst(ms)) => Ok(Some(first.unwrap_or(0).saturating_add(ms))),
            Some(Instant::Date(ms)) if source.time_zero() == TimeZero::Epoch => Ok(Some(ms)),
            Some(Instant::Date(_)) => Err(Error::Request(
                "expected a time from the zero of this trace, found a date; give ms, or a time like +2h".to_owned(),
            )),
        };
        let (from, to) = (at(scale.from)?, at(scale.to)?);
        if let Some((start, last)) = first.zip(last) {
            let covered = Covered { start, last, dated: source.time_zero() == TimeZero::Epoch };
            covered.meets(Span { from, to }, Zone::default()).map_err(Error::Request)?;
        }
        let zero = from.max(first).unwrap_or(0);
        Ok(Self { from, to, zero, factor: scale.time })
    }

    /// The reason why a job does not belong to the window.
    fn cause(&self, record: &JobRecord) -> Option<Cause> {
        if self.from.is_none() && self.to.is_none() {
            return None;
        }
        let Some(submit) = record.job.submit else { return Some(cause::JOB_WITHOUT_SUBMIT) };
        let is_late = self.to.is_some_and(|to| submit >= to);
        let is_early = self.from.is_some_and(|from| submit < from) && self.state_at_start(record).is_none();
        (is_early || is_late).then_some(cause::JOB_OUTSIDE_WINDOW)
    }

    /// What a job that was submitted before the window did at its start; `None` if it had ended, or came later. A job without an end had not
    /// ended if the source says so.
    fn state_at_start(&self, record: &JobRecord) -> Option<State> {
        let JobRow { submit, launch, finish, outcome, .. } = record.job;
        let from = self.from.filter(|&from| submit.is_some_and(|submit| submit < from))?;
        let was_there = finish.map_or(outcome == Outcome::Incomplete, |finish| finish > from);
        let ran = launch.is_some_and(|launch| launch < from);
        was_there.then_some(if ran { State::Running } else { State::Waiting })
    }

    /// True if a job ends after the window.
    fn cuts_end(&self, record: &JobRecord) -> bool {
        self.to.zip(record.job.finish).is_some_and(|(to, finish)| finish > to)
    }

    /// The new time of an instant; `None` if no table can hold it.
    fn moved(&self, time: i64) -> Option<i64> {
        if self.factor == 1.0 {
            return Some(time);
        }
        let gap = (time.checked_sub(self.zero)? as f64 * self.factor).round();
        // Beyond 2⁵³ ms, which is 285,000 years, nothing is exact any more.
        (gap.abs() <= 9_007_199_254_740_992.0).then_some(gap as i64)?.checked_add(self.zero)
    }

    /// Moves a job by the shift of its submission. Returns false if no table can hold a new time.
    fn move_job(&self, record: &mut JobRecord) -> bool {
        let Some(submit) = record.job.submit else { return true };
        let Some(by) = self.moved(submit).and_then(|moved| moved.checked_sub(submit)) else { return false };
        if by == 0 {
            return true;
        }
        let job = &mut record.job;
        let mut times = vec![&mut job.submit, &mut job.launch, &mut job.finish];
        for TaskRecord { task, attempts, .. } in &mut record.tasks {
            times.extend([&mut task.start, &mut task.finish]);
            for row in attempts {
                times.extend([
                    &mut row.queued,
                    &mut row.start,
                    &mut row.shuffle_finish,
                    &mut row.sort_finish,
                    &mut row.finish,
                ]);
            }
        }
        times.into_iter().flatten().all(|time| match time.checked_add(by) {
            Some(moved) => {
                *time = moved;
                true
            }
            None => false,
        })
    }
}

/// Draws jobs class by class.
struct Sample {
    share: f64,
    seed: u64,
    /// For each class, the fraction of a job that is due.
    classes: BTreeMap<(String, u32), f64>,
}

impl Sample {
    fn takes(&mut self, record: &JobRecord) -> bool {
        if self.share >= 1.0 {
            return true;
        }
        let (queue, size) = (record.job.queue.clone().unwrap_or_default(), size(record));
        let seed = self.seed;
        let start = || {
            let mut entity: Vec<u64> = queue.bytes().map(u64::from).collect();
            entity.push(u64::from(size));
            stream(seed, Purpose::ScaledJobs, &entity).random::<f64>()
        };
        let due = match self.classes.get_mut(&(queue.clone(), size)) {
            Some(due) => due,
            None => self.classes.entry((queue.clone(), size)).or_insert(start()),
        };
        *due += self.share;
        let takes = *due >= 1.0;
        if takes {
            *due -= 1.0;
        }
        takes
    }
}

/// How long an attempt ran, ms.
fn run_time(attempt: &AttemptRow) -> Option<i64> {
    attempt.start.zip(attempt.finish).map_or(attempt.run_time, |(start, finish)| finish.checked_sub(start))
}

/// The power of two of the time that the attempts of a job took, in ms; without attempts, of its bytes.
fn size(record: &JobRecord) -> u32 {
    let is_work = |task: &&TaskRecord| task.task.kind != TaskKind::Master;
    let attempts = record.tasks.iter().filter(is_work).flat_map(|task| {
        let instances = task.task.instances.unwrap_or(1);
        task.attempts.iter().filter_map(move |attempt| run_time(attempt)?.checked_mul(instances))
    });
    let job = &record.job;
    let bytes =
        [job.input_bytes, job.shuffle_bytes, job.output_bytes].into_iter().flatten().reduce(i64::saturating_add);
    let size = attempts.reduce(i64::saturating_add).or(bytes).unwrap_or(0);
    size.max(0).checked_ilog2().map_or(0, |power| power + 1)
}

/// The machines that stay, and the replacements of the others.
struct Machines {
    /// The machine and the rack that replace each other machine.
    instead: BTreeMap<String, (String, Option<String>)>,
}

impl Machines {
    fn of(nodes: &[NodeRow], scale: &Scale) -> Self {
        let mut racks: BTreeMap<Option<&str>, BTreeSet<&str>> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for node in nodes.iter().filter(|node| node.event == NodeChange::Add) {
            // A machine that joins again, or in two racks, counts once.
            if seen.insert(node.host.as_str()) {
                racks.entry(node.rack.as_deref()).or_default().insert(&node.host);
            }
        }
        let mut due = stream(scale.seed, Purpose::ScaledMachines, &[]).random::<f64>();
        let mut stay: BTreeMap<Option<&str>, Vec<&str>> = BTreeMap::new();
        let mut go = Vec::new();
        for (rack, hosts) in &racks {
            for host in hosts {
                due += scale.nodes;
                if due >= 1.0 || scale.nodes >= 1.0 {
                    due -= 1.0;
                    stay.entry(*rack).or_default().push(host);
                } else {
                    go.push((*rack, *host));
                }
            }
        }
        if stay.is_empty()
            && let Some((rack, host)) = go.pop()
        {
            stay.entry(rack).or_default().push(host);
        }
        let all: Vec<(Option<&str>, &str)> =
            stay.iter().flat_map(|(rack, hosts)| hosts.iter().map(move |host| (*rack, *host))).collect();
        let mut instead = BTreeMap::new();
        for (rack, host) in go {
            let entity: Vec<u64> = host.bytes().map(u64::from).collect();
            let mut draw = stream(scale.seed, Purpose::ScaledMachines, &entity);
            let other = match stay.get(&rack) {
                Some(near) => near.get(draw.random_range(0..near.len())).map(|host| (rack, *host)),
                None => all.get(draw.random_range(0..all.len())).copied(),
            };
            if let Some((rack, other)) = other {
                instead.insert(host.to_owned(), (other.to_owned(), rack.map(str::to_owned)));
            }
        }
        Self { instead }
    }

    fn kept(&self, host: &str) -> bool {
        !self.instead.contains_key(host)
    }

    /// Replaces the machines that do not stay in the rows of a task. Returns how many places of its input were merged.
    fn rename(&self, task: &mut TaskRecord) -> u64 {
        if self.instead.is_empty() {
            return 0;
        }
        let rename = |host: &mut Option<String>, rack: &mut Option<String>| {
            if let Some((other, its_rack)) = host.as_ref().and_then(|host| self.instead.get(host)) {
                (*host, *rack) = (Some(other.clone()), its_rack.clone());
            }
        };
        task.attempts.iter_mut().for_each(|row| rename(&mut row.host, &mut row.rack));
        task.splits.iter_mut().for_each(|row| rename(&mut row.host, &mut row.rack));
        let before = task.splits.len();
        let mut hosts = BTreeSet::new();
        task.splits.retain(|split| split.host.as_ref().is_none_or(|host| hosts.insert(host.clone())));
        for (ordinal, split) in (0..).zip(&mut task.splits) {
            split.ordinal = ordinal;
        }
        (before - task.splits.len()) as u64
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use resched_tables::model::{JobRow, SplitRow};

    fn text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn instants_are_ms_dates_or_times_after_the_first_submission() {
        let instant = |text: &str| text.parse::<Instant>();
        assert_eq!(instant("1240335962848"), Ok(Instant::At(1_240_335_962_848)));
        assert_eq!(instant("-5"), Ok(Instant::At(-5)));
        assert_eq!(instant("+1h 30m"), Ok(Instant::AfterFirst(5_400_000)));
        assert_eq!(instant("2009-04-21T17:46:02Z"), Ok(Instant::Date(1_240_335_962_000)));
        for wrong in ["", "+", "+x", "yesterday", "2009-13-01", "1.5"] {
            assert!(instant(wrong).is_err_and(|error| error.contains(wrong)), "{wrong}");
        }
    }

    #[test]
    fn each_class_keeps_its_share_to_within_one_job() {
        for (share, seed) in [(0.1, 1), (0.5, 2), (0.37, 3)] {
            let mut sample = Sample { share, seed, classes: BTreeMap::new() };
            let mut counts: BTreeMap<(String, u32), (f64, f64)> = BTreeMap::new();
            for n in 0..1_000i64 {
                let queue = if n % 3 == 0 { "a" } else { "b" };
                let job = JobRow { queue: text(queue), input_bytes: Some(1 << (n % 4)), ..JobRow::default() };
                let record = JobRecord { job, ..JobRecord::default() };
                let counted = counts.entry((queue.to_owned(), size(&record))).or_default();
                counted.0 += 1.0;
                counted.1 += f64::from(u8::from(sample.takes(&record)));
            }
            assert_eq!(counts.len(), 8);
            for (class, (all, taken)) in counts {
                assert!((all * share - taken).abs() <= 1.0, "{class:?}: {taken} of {all} at {share}");
            }
        }
    }

    #[test]
    fn size_is_the_time_of_all_instances_before_bytes() {
        let attempt = AttemptRow { start: Some(10), finish: Some(26), ..AttemptRow::default() };
        let mut task = TaskRecord { attempts: vec![attempt], ..TaskRecord::default() };
        task.task.instances = Some(4);
        let job = JobRow { input_bytes: Some(1), ..JobRow::default() };
        let with = JobRecord { job: job.clone(), tasks: vec![task], counters: Vec::new() };
        assert_eq!(size(&with), 7, "64 ms");
        assert_eq!(size(&JobRecord { job, ..JobRecord::default() }), 1);
        assert_eq!(size(&JobRecord::default()), 0);
    }

    #[test]
    fn machines_that_go_are_reported_as_ones_of_their_rack() {
        let node = |host: &str, rack: &str| NodeRow { host: host.to_owned(), rack: text(rack), ..NodeRow::default() };
        let nodes: Vec<NodeRow> = (0..20).map(|n| node(&format!("h{n}"), if n < 10 { "/a" } else { "/b" })).collect();
        for seed in 1..20 {
            let machines = Machines::of(&nodes, &Scale { nodes: 0.3, seed, ..Scale::default() });
            assert_eq!(machines.instead.len(), 14, "seed {seed}");
            for (host, (other, rack)) in &machines.instead {
                let found = nodes.iter().find(|node| node.host == *host).unwrap();
                assert!(machines.kept(other) && found.rack == *rack, "{host} {other}");
            }
        }
        let lone = Machines::of(&nodes[..2], &Scale { nodes: 1e-9, ..Scale::default() });
        assert_eq!(lone.instead.len(), 1, "one stays");
        let split = |host: &str| SplitRow { host: text(host), ..SplitRow::default() };
        let mut task = TaskRecord { splits: vec![split("h0"), split("h1"), split("else")], ..TaskRecord::default() };
        assert_eq!(lone.rename(&mut task), 1);
        let places: Vec<_> = task.splits.iter().map(|split| split.ordinal).collect();
        assert_eq!(places, [0, 1]);
    }

    #[test]
    fn a_job_moves_as_a_whole_and_not_beyond_time() {
        let window = Window { from: None, to: None, zero: 100, factor: 2.0 };
        let job = JobRow { submit: Some(110), finish: Some(150), ..JobRow::default() };
        let mut record = JobRecord { job, ..JobRecord::default() };
        record.tasks.push(TaskRecord {
            attempts: vec![AttemptRow { start: Some(120), ..AttemptRow::default() }],
            ..TaskRecord::default()
        });
        assert!(window.move_job(&mut record));
        assert_eq!(
            (record.job.submit, record.job.finish, record.tasks[0].attempts[0].start),
            (Some(120), Some(160), Some(130))
        );
        record.job.submit = Some(i64::MAX);
        assert!(!window.move_job(&mut record));
        record.job = JobRow { submit: Some(110), finish: Some(i64::MAX), ..JobRow::default() };
        assert!(!window.move_job(&mut record));
    }
}
