//! For tests: real files, what a reader finds in them, and the counts that it should find.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::PathBuf;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use serde_json::{Value, json};

use super::format::Format;
use resched_tables::Error;
use resched_tables::cause::Cause;
use resched_tables::model::{JobRecord, NodeRow, Outcome, TaskKind, TaskRecord};
pub(super) use resched_tables::sink::Collected;
use resched_tables::sink::Sink;
use resched_tables::store::columns::Row;

/// What tests ask of what a reader found.
pub(super) trait Found: Sized {
    /// All that `format` finds in `bytes`.
    fn read(format: &Format, bytes: &[u8]) -> Result<Self, Error>;

    /// The same, with counters.
    fn read_with_counters(format: &Format, bytes: &[u8]) -> Result<Self, Error>;

    /// The counts under the names of the golden file.
    fn counts(&self) -> BTreeMap<&'static str, Value>;
}

/// Reads, and checks that each column with a value is declared: by the format, or by its reader.
fn read_into(found: Collected, format: &Format, mut bytes: &[u8]) -> Result<Collected, Error> {
    let mut sink = Declared { found, columns: format.reads.iter().map(|(column, _)| *column).collect() };
    (format.read)(&mut bytes, "test file", &mut sink)?;
    let Declared { found, columns } = sink;
    let is_declared =
        |column: &String| columns.contains(column.as_str()) || set_by_reader(format.name).contains(&column.as_str());
    let undeclared: Vec<String> = values(&found).into_keys().filter(|column| !is_declared(column)).collect();
    assert!(undeclared.is_empty(), "{}: nothing says what these are read from: {undeclared:?}", format.name);
    Ok(found)
}

/// Columns whose values are the same for all jobs of a format, so that no source has them.
fn set_by_reader(format: &str) -> &'static [&'static str] {
    match format {
        "swf" | "gwf" => &["jobs.framework", "tasks.gang", "tasks.cpu_request"],
        "kueue-workloads" => &["jobs.framework", "tasks.task_id", "tasks.gang"],
        "swim" => &["jobs.framework", "jobs.queue"],
        _ => &["jobs.framework", "tasks.gang"],
    }
}

/// Keeps what a reader finds, and the columns that it says it reads.
struct Declared {
    found: Collected,
    columns: BTreeSet<&'static str>,
}

impl Sink for Declared {
    fn job(&mut self, job: JobRecord) -> Result<(), Error> {
        self.found.job(job)
    }

    fn node(&mut self, node: NodeRow) {
        self.found.node(node);
    }

    fn skip(&mut self, cause: Cause, n: u64) {
        self.found.skip(cause, n);
    }

    fn application(&mut self, id: &str, settings: &BTreeMap<String, String>) {
        self.found.application(id, settings);
    }

    fn filled_from(&mut self, column: &'static str, _: &str) {
        self.columns.insert(column);
    }

    fn wants_counters(&self) -> bool {
        self.found.wants_counters()
    }
}

/// The values of each column that may be null and has one, as text.
pub(super) fn values(found: &Collected) -> BTreeMap<String, String> {
    fn of<'r, R: Row + 'r>(rows: impl Iterator<Item = &'r R>, all: &mut BTreeMap<String, String>) {
        let mut builders = R::Builders::default();
        rows.for_each(|row| row.append(&mut builders));
        for (field, column) in R::schema().fields().iter().zip(R::finish(&mut builders)) {
            let has_values = match column.as_list_opt::<i32>() {
                Some(lists) => !lists.values().is_empty(),
                None => field.is_nullable() && column.logical_null_count() < column.len(),
            };
            if has_values {
                all.insert(format!("{}.{}", R::TABLE, field.name()), format!("{column:?}"));
            }
        }
    }
    let mut all = BTreeMap::new();
    let tasks = || found.jobs.iter().flat_map(|job| &job.tasks);
    of(found.jobs.iter().map(|record| &record.job), &mut all);
    of(tasks().map(|record| &record.task), &mut all);
    of(tasks().flat_map(|record| &record.attempts), &mut all);
    of(tasks().flat_map(|record| &record.splits), &mut all);
    of(found.nodes.iter(), &mut all);
    all
}

impl Found for Collected {
    fn read(format: &Format, bytes: &[u8]) -> Result<Self, Error> {
        read_into(Self::default(), format, bytes)
    }

    fn read_with_counters(format: &Format, bytes: &[u8]) -> Result<Self, Error> {
        read_into(Self { counters: true, ..Self::default() }, format, bytes)
    }

    fn counts(&self) -> BTreeMap<&'static str, Value> {
        // The counts were made of maps, reduces and Hadoop's own tasks.
        let is_counted = |task: &&TaskRecord| task.task.kind != TaskKind::Master;
        let tasks = || self.jobs.iter().flat_map(|job| &job.tasks).filter(is_counted);
        let attempts = || tasks().flat_map(|task| &task.attempts);
        let maps = || tasks().filter(|task| task.task.kind == TaskKind::Map);
        let read = attempts()
            .filter(|attempt| attempt.kind == TaskKind::Map && attempt.outcome == Outcome::Success)
            .filter_map(|attempt| attempt.hdfs_bytes_read);
        BTreeMap::from([
            ("jobs", json!(self.jobs.len())),
            ("job_outcome", tally(self.jobs.iter().map(|job| job.job.outcome.to_string()))),
            ("tasks", tally(tasks().map(|task| task.task.kind.to_string()))),
            ("task_status", tally(tasks().map(|task| format!("{}/{}", task.task.kind, task.task.outcome)))),
            ("attempts", tally(attempts().map(|attempt| format!("{}/{}", attempt.kind, attempt.outcome)))),
            ("min_submit", json!(self.jobs.iter().filter_map(|job| job.job.submit).min())),
            ("max_finish", json!(self.jobs.iter().filter_map(|job| job.job.finish).max())),
            ("declared_maps", json!(self.jobs.iter().filter_map(|job| job.job.declared_maps).sum::<i64>())),
            ("declared_reduces", json!(self.jobs.iter().filter_map(|job| job.job.declared_reduces).sum::<i64>())),
            ("tasks_without_attempts", json!(tasks().filter(|task| task.attempts.is_empty()).count())),
            ("map_input_bytes", json!(maps().filter_map(|task| task.task.input_bytes).sum::<i64>())),
            ("map_hdfs_bytes_read_successful_attempts", json!(read.sum::<i64>())),
            ("map_tasks_with_splits", json!(maps().filter(|task| !task.splits.is_empty()).count())),
        ])
    }
}

fn tally(names: impl Iterator<Item = String>) -> Value {
    let mut counts = BTreeMap::<String, u64>::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    json!(counts)
}

/// Compares what `found` holds with the golden row `expected`, whose outcomes carry the source's names.
pub(super) fn check_counts(found: &Collected, expected: &Value, names: &[&str], file: &str) {
    let counts = found.counts();
    for name in names {
        let expected = match &expected[name] {
            Value::Object(entries) => renamed(entries),
            value => value.clone(),
        };
        assert_eq!(counts[name], expected, "{name} of {file}");
    }
}

/// A tally with outcomes under our names: `map/SUCCEEDED` is `map/SUCCESS`, `map/None` is `map/INCOMPLETE`.
fn renamed(entries: &serde_json::Map<String, Value>) -> Value {
    entries
        .iter()
        .map(|(name, n)| (name.replace("SUCCEEDED", "SUCCESS").replace("None", "INCOMPLETE"), n.clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// The folder of real files, or `None` (and a note) if it is not there and need not be.
#[allow(clippy::print_stderr, reason = "a test says why it is skipped")]
fn shared() -> Option<PathBuf> {
    let folder = std::env::var_os("RESCHED_SHARED")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"))
        .join("traces");
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(
        std::env::var_os("RESCHED_REQUIRE_SHARED").is_none_or(|value| value != "1"),
        "{} not found",
        folder.display()
    );
    eprintln!("skipped: {} not found", folder.display());
    None
}

/// A real file, decompressed; `None` if there are no real files.
pub(super) fn read_shared(file: &str) -> Option<Vec<u8>> {
    let bytes = std::fs::read(shared()?.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Some(bytes);
    }
    let mut plain = Vec::new();
    flate2::read::MultiGzDecoder::new(&bytes[..])
        .read_to_end(&mut plain)
        .unwrap_or_else(|error| panic!("{file}: {error}"));
    Some(plain)
}

/// The golden counts of all files of `format`; `None` if there are no real files.
pub(super) fn golden_rows(format: &str) -> Option<Vec<(String, Value)>> {
    let rows: BTreeMap<String, Value> = serde_json::from_slice(&read_shared("golden_counts.json")?)
        .unwrap_or_else(|error| panic!("golden_counts.json: {error}"));
    Some(rows.into_iter().filter(|(_, row)| row["format"] == format).collect())
}

/// Passes on `bytes`, damaged in `times` ways: a flipped bit, another byte, cut short, or with a part doubled.
pub(super) fn each_damage(bytes: &[u8], times: usize, mut see: impl FnMut(&[u8])) {
    for time in 0..times {
        // An odd stride that visits the whole file evenly.
        let at = (time * 7919 + time * bytes.len() / times) % bytes.len();
        let mut damaged = bytes.to_vec();
        match time % 4 {
            0 => damaged[at] ^= 1 << (time / 4 % 8),
            1 => damaged[at] = b"{}[]\"\\,:\n\xff\0-9"[time / 4 % 13],
            2 => damaged.truncate(at),
            _ => damaged.extend_from_within(at..),
        }
        see(&damaged);
    }
}
