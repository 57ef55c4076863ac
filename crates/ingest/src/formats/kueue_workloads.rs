//! A table of the workloads that went through Kueue: a line per pod set, with the lines of a workload together.
//!
//! `docs/formats/kueue-workloads.md` has the columns, and how every source stores a workload of Kueue. The format does not hold when a
//! workload was admitted or how it ended. So its attempts have a run time only, and the outcome stays unknown.

use std::io::BufRead;
use std::path::Path;

use resched_kubernetes::objects::amount;
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::{AttemptRow, JobRecord, JobRow, Outcome, TaskRecord, TaskRow};
use resched_tables::named;
use resched_tables::pods::{self, Label, Toleration};
use resched_tables::sink::{Damage, Sink};

use super::csv::{Piece, Record, Records};
use super::format::{Format, ReadAs};
use super::lines::head_lines;
use super::swf::milliseconds;

/// The format `kueue-workloads`.
pub const FORMAT: Format = Format {
    name: "kueue-workloads",
    title: "workloads of Kueue (comma-separated pod sets)",
    time_zero: Some(resched_tables::store::TimeZero::Relative),
    system: Some(resched_tables::store::System::Kubernetes),
    has_tasks: true,
    group: "kueue-workloads",
    is_whole: true,
    has_times_of_tasks: false,
    folded: false,
    reads: READS,
    sniff,
    read,
};

/// The most pod sets of a workload. Kueue itself takes 8.
pub(crate) const MOST_POD_SETS: usize = 64;
/// The framework of such a job in the jobs table.
const FRAMEWORK: &str = "kueue";
/// The resource of the column `gpu`.
const GPU: &str = "nvidia.com/gpu";
/// A resource of Kubernetes that has no `/` in its name.
const EPHEMERAL: &str = "ephemeral-storage";

/// What its columns are read from.
const READS: &[ReadAs] = &[
    ("jobs.job_id", &["workload"]),
    ("jobs.queue", &["namespace", "queue"]),
    ("jobs.qos", &["priority_class"]),
    ("jobs.submit", &["submit"]),
    ("tasks.stage", &["podset"]),
    ("tasks.instances", &["count"]),
    ("tasks.cpu_request", &["cpu"]),
    ("tasks.memory_request", &["memory"]),
    ("tasks.resources", &["gpu"]),
    ("tasks.node_selector", &["node_selector"]),
    ("tasks.tolerations", &["tolerations"]),
    ("attempts.queued", &["submit"]),
    ("attempts.run_time", &["run"]),
];

/// The columns that are known, those that must be there first.
const COLUMNS: [&str; 14] = [
    "workload",
    "submit",
    "run",
    "podset",
    "count",
    "namespace",
    "queue",
    "priority_class",
    "cpu",
    "memory",
    "gpu",
    "node_selector",
    "tolerations",
    "topology",
];
const NEEDED: usize = 5;

fn sniff(head: &[u8]) -> bool {
    head_lines(head).first().is_some_and(|line| {
        let columns: Vec<&str> = line.trim_start_matches('\u{feff}').split(',').map(unquoted).collect();
        COLUMNS[..NEEDED].iter().all(|needed| columns.contains(needed))
    })
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches('"')
}

/// Where the columns of a file are.
struct Columns {
    /// The places of [`COLUMNS`].
    known: [Option<usize>; COLUMNS.len()],
    /// Resources beside `cpu`, `memory` and `gpu`.
    resources: Vec<(usize, String)>,
    /// Columns that are not read.
    others: u64,
}

impl Columns {
    /// Those of a header; the name of the first that lacks if one is needed.
    fn of(header: &Record<'_>) -> Result<Self, &'static str> {
        let mut found = Self { known: [None; COLUMNS.len()], resources: Vec::new(), others: 0 };
        for place in 0..header.len() {
            let name = header.text(place).unwrap_or_default().trim_start_matches('\u{feff}');
            match COLUMNS.iter().position(|known| *known == name) {
                Some(known) => found.known[known] = found.known[known].or(Some(place)),
                None if name.contains('/') || name == EPHEMERAL => found.resources.push((place, name.to_owned())),
                None => found.others += 1,
            }
        }
        let lacks = COLUMNS.into_iter().zip(found.known).take(NEEDED).find(|(_, place)| place.is_none());
        lacks.map_or(Ok(found), |(name, _)| Err(name))
    }

    /// A field; empty if the file lacks the column.
    fn text<'t>(&self, record: &Record<'t>, name: &str) -> Result<&'t str, Wrong> {
        let place = COLUMNS.iter().position(|known| *known == name).and_then(|known| self.known[known]);
        let bytes = place.map_or(&[][..], |place| record.field(place));
        std::str::from_utf8(bytes).map_err(|_| wrong(name, "text in UTF-8", &String::from_utf8_lossy(bytes)))
    }
}

/// What is wrong with a field.
struct Wrong {
    column: String,
    expected: String,
    found: String,
}

fn wrong(column: &str, expected: &str, found: &str) -> Wrong {
    Wrong { column: column.to_owned(), expected: expected.to_owned(), found: format!("`{found}`") }
}

fn read(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    let mut records = Records::new(input, true);
    let (mut columns, mut open): (Option<Columns>, Option<Workload>) = (None, None);
    let mut number = 0_u64;
    while let Some(piece) = records.next().map_err(Error::io(Path::new(path), "read"))? {
        number += 1;
        let record = match piece {
            Piece::Record(record) => record,
            Piece::Oversized => {
                damaged(number, &wrong("", "a row of at most 32 KiB", "a longer one"), sink);
                continue;
            }
        };
        let Some(columns) = &columns else {
            match Columns::of(&record) {
                Ok(found) => {
                    sink.skip(cause::UNKNOWN_COLUMN, found.others);
                    found.resources.iter().for_each(|(_, name)| sink.filled_from("tasks.resources", name));
                    columns = Some(found);
                }
                Err(lacks) => {
                    damaged(number, &wrong("", &format!("a header with the column {lacks}"), "one without it"), sink);
                    return Ok(());
                }
            }
            continue;
        };
        let name = columns.text(&record, "workload").unwrap_or_default();
        if open.as_ref().is_some_and(|open| open.record.job.job_id != name) {
            close(open.take(), sink)?;
        }
        if let Err(wrong) = add(columns, &record, &mut open, sink) {
            damaged(number, &wrong, sink);
            if !name.is_empty() {
                open.get_or_insert_with(|| Workload::named(name)).is_damaged = true;
            }
        }
    }
    close(open, sink)
}

/// Counts a row that cannot be read.
fn damaged(number: u64, wrong: &Wrong, sink: &mut dyn Sink) {
    sink.skip(cause::DAMAGED_LINE, 1);
    let place = if wrong.column.is_empty() { String::new() } else { format!(", {}", wrong.column) };
    let remedy = "correct it, as the page of the format kueue-workloads says";
    sink.damage(&|| Damage::new(&format!("row {number}{place}: "), &wrong.expected, &wrong.found, remedy));
}

/// A workload whose rows are being read.
#[derive(Default)]
struct Workload {
    record: JobRecord,
    run: Option<i64>,
    is_damaged: bool,
    is_too_large: bool,
}

impl Workload {
    fn named(name: &str) -> Self {
        let mut made = Self::default();
        name.clone_into(&mut made.record.job.job_id);
        made
    }
}

/// Hands over a workload that has no more rows.
fn close(open: Option<Workload>, sink: &mut dyn Sink) -> Result<(), Error> {
    let Some(Workload { record, is_damaged, is_too_large, .. }) = open else { return Ok(()) };
    if is_damaged {
        sink.skip(cause::WORKLOAD_WITH_DAMAGED_LINE, 1);
    } else if is_too_large {
        sink.skip(cause::TOO_MANY_TASKS, 1);
    } else {
        sink.job(record)?;
    }
    Ok(())
}

/// Adds a row to its workload, which is the one that is open.
fn add(columns: &Columns, record: &Record<'_>, open: &mut Option<Workload>, sink: &mut dyn Sink) -> Result<(), Wrong> {
    let (job, run) = job(columns, record)?;
    let workload = open.get_or_insert_with(|| Workload {
        run,
        record: JobRecord { job: job.clone(), ..JobRecord::default() },
        ..Workload::default()
    });
    if workload.is_damaged {
        return Ok(());
    }
    if workload.record.job != job || workload.run != run {
        sink.skip(cause::CONTRADICTING_POD_SET, 1);
    }
    let Some(task) = task(columns, record, &workload.record.job.job_id)? else {
        sink.skip(cause::POD_SET_WITHOUT_PODS, 1);
        return Ok(());
    };
    if !columns.text(record, "topology")?.is_empty() {
        sink.skip(cause::TOPOLOGY_REQUEST_LEFT_OUT, 1);
    }
    if workload.record.tasks.len() >= MOST_POD_SETS {
        workload.is_too_large = true;
        return Ok(());
    }
    let attempt = workload.run.map(|run| AttemptRow {
        job_id: task.job_id.clone(),
        task_id: task.task_id.clone(),
        queued: workload.record.job.submit,
        run_time: Some(run),
        ..AttemptRow::default()
    });
    workload.record.tasks.push(TaskRecord { task, splits: Vec::new(), attempts: attempt.into_iter().collect() });
    Ok(())
}

/// The workload of a row, and how long it runs.
fn job(columns: &Columns, record: &Record<'_>) -> Result<(JobRow, Option<i64>), Wrong> {
    let text = |name: &str| columns.text(record, name);
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let name = text("workload")?;
    if name.is_empty() {
        return Err(wrong("workload", "the name of a workload", ""));
    }
    let seconds = |name: &str| {
        let written = text(name)?;
        let seconds: Option<f64> = written.parse().ok().filter(|seconds: &f64| seconds.is_finite());
        let ms = seconds.and_then(milliseconds).filter(|&ms| name == "submit" || ms >= 0);
        if written.is_empty() { Ok(None) } else { ms.map(Some).ok_or_else(|| wrong(name, "seconds", written)) }
    };
    let (namespace, queue) = (text("namespace")?, text("queue")?);
    let job = JobRow {
        job_id: name.to_owned(),
        queue: given(queue).map(|queue| if namespace.is_empty() { queue } else { format!("{namespace}/{queue}") }),
        framework: Some(FRAMEWORK.to_owned()),
        submit: seconds("submit")?,
        outcome: Outcome::Unknown,
        qos: given(text("priority_class")?),
        ..JobRow::default()
    };
    Ok((job, seconds("run")?))
}

/// The pod set of a row; `None` for one of no pods.
fn task(columns: &Columns, record: &Record<'_>, job_id: &str) -> Result<Option<TaskRow>, Wrong> {
    let text = |name| columns.text(record, name);
    let (name, count) = (text("podset")?, text("count")?);
    let count: i64 =
        count.parse().ok().filter(|&count| count >= 0).ok_or_else(|| wrong("count", "a number of pods", count))?;
    if name.is_empty() {
        return Err(wrong("podset", "the name of a pod set", ""));
    }
    let of = |column: &str, resource: &str, written: &str| {
        if written.is_empty() {
            return Ok(0);
        }
        amount(resource, written).map_err(|found| Wrong {
            column: column.to_owned(),
            expected: "an amount as Kubernetes writes it, such as `500m` or `2Gi`".to_owned(),
            found,
        })
    };
    let mut resources = vec![(GPU, of("gpu", GPU, text("gpu")?)?)];
    for (place, name) in &columns.resources {
        resources.push((name, of(name, name, record.text(*place).unwrap_or_default())?));
    }
    let named = resources.into_iter().filter(|&(_, amount)| amount > 0);
    let task = TaskRow {
        job_id: job_id.to_owned(),
        task_id: format!("{job_id}/{name}"),
        stage: Some(name.to_owned()),
        instances: Some(count),
        gang: Some(true),
        cpu_request: Some(of("cpu", "cpu", text("cpu")?)?),
        memory_request: Some(of("memory", "memory", text("memory")?)?),
        resources: named::as_text(named.map(|(name, amount)| (name, amount.unsigned_abs()))),
        node_selector: pods::as_text(pods::labels(text("node_selector")?).map(|(key, value)| Label(key, value))),
        tolerations: pods::as_text(Toleration::all(text("tolerations")?)),
        ..TaskRow::default()
    };
    Ok((count > 0).then_some(task))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::golden::{Collected, Found as _, each_damage};
    use super::*;

    const HEADER: &str = "workload,namespace,queue,priority_class,submit,run,podset,count,cpu,memory,gpu,node_selector,tolerations,\
                          topology,amd.com/gpu";

    fn found(rows: &str) -> Collected {
        Collected::read(&FORMAT, format!("{HEADER}\n{rows}").as_bytes()).unwrap()
    }

    #[test]
    fn rows_are_pod_sets_of_workloads() {
        let found = found(
            "a,team,main,high,26,72.5,launcher,1,500m,,,,,,\n\
             a,team,main,high,26,72.5,workers,2,4,16Gi,1,gpu=a100,spot=true;x,,3\n\
             b,,main,,30,,main,3,,1e3,,,,,\n",
        );
        assert!(sniff(HEADER.as_bytes()) && found.skipped.is_empty(), "{:?}", found.skipped);
        let [a, b] = &found.jobs[..] else { panic!("{:?}", found.jobs) };
        assert_eq!(
            (a.job.queue.as_deref(), a.job.qos.as_deref(), a.job.submit),
            (Some("team/main"), Some("high"), Some(26_000))
        );
        let sets: Vec<_> =
            a.tasks.iter().map(|set| (set.task.task_id.as_str(), set.task.instances, set.task.cpu_request)).collect();
        assert_eq!(sets, [("a/launcher", Some(1), Some(500)), ("a/workers", Some(2), Some(4_000))]);
        assert_eq!((a.tasks[0].task.memory_request, a.tasks[0].task.resources.as_deref()), (Some(0), None));
        let workers = &a.tasks[1];
        assert_eq!(workers.task.memory_request, Some(16 << 30));
        assert_eq!(workers.task.resources.as_deref(), Some("amd.com/gpu=3,nvidia.com/gpu=1"));
        assert_eq!(
            (workers.task.node_selector.as_deref(), workers.task.tolerations.as_deref()),
            (Some("gpu=a100"), Some("spot=true;x"))
        );
        let attempt = &workers.attempts[0];
        assert_eq!((attempt.start, attempt.run_time, attempt.outcome), (None, Some(72_500), Outcome::Unknown));
        assert_eq!(
            (b.job.queue.as_deref(), b.tasks[0].attempts.len()),
            (Some("main"), 0),
            "how long it runs is unknown"
        );
        assert_eq!(b.tasks[0].task.memory_request, Some(1_000));
    }

    #[test]
    fn what_is_not_read_is_counted_with_its_cause() {
        let found = found(
            "a,t,q,,1,2,main,1,1,,,,,,\na,t,q,,1,3,more,1,1,,,,,required=rack,\na,t,q,,1,2,none,0,1,,,,,,\n\
             b,t,q,,1,2,main,1,1,,,,,,\nb,t,q,,1,2,more,1,one,,,,,,\nb,t,q,,1,2,last,1,1,,,,,,\n\
             c,t,q,,soon,2,main,1,1,,,,,,\n,t,q,,1,2,main,1,1,,,,,,\nd,t,q,,1,-2,main,1,1,,,,,,\n",
        );
        let names: Vec<&str> = found.jobs.iter().map(|job| job.job.job_id.as_str()).collect();
        assert_eq!((names, found.jobs[0].tasks.len()), (vec!["a"], 2));
        let counts = [
            ("contradicting-pod-set", 1),
            ("damaged-line", 4),
            ("pod-set-without-pods", 1),
            ("topology-request-left-out", 1),
            ("workload-with-damaged-line", 3),
        ];
        assert_eq!(found.skipped, counts.map(|(cause, n)| (cause.to_owned(), n)).into());
        let other = "workload,submit,run,podset,count,colour\na,1,2,main,1,red\n";
        let found = Collected::read(&FORMAT, other.as_bytes()).unwrap();
        assert_eq!((found.jobs.len(), found.skipped["unknown-column"]), (1, 1));
        each_damage(format!("{HEADER}\na,t,q,,1,2,main,1,1,,,,,,\n").as_bytes(), 300, |damaged| {
            sniff(damaged);
            Collected::read(&FORMAT, damaged).unwrap();
        });
    }

    #[test]
    fn a_workload_has_a_limited_number_of_pod_sets() {
        let rows = |sets: usize| -> String { (0..sets).map(|set| format!("a,t,q,,1,2,s{set},1,1,,,,,,\n")).collect() };
        assert_eq!(found(&rows(MOST_POD_SETS)).jobs[0].tasks.len(), MOST_POD_SETS);
        let over = found(&rows(MOST_POD_SETS + 1));
        assert_eq!((over.jobs.len(), over.skipped["too-many-tasks"]), (0, 1));
    }
}
