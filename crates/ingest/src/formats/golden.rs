//! For tests: real files, what a reader finds in them, and the counts that it should find.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::format::Format;
use resched_tables::Error;
use resched_tables::model::{Outcome, TaskKind, TaskRecord};
pub(super) use resched_tables::sink::Collected;

/// What tests ask of what a reader found.
pub(super) trait Found: Sized {
    /// All that `format` finds in `bytes`.
    fn read(format: &Format, bytes: &[u8]) -> Result<Self, Error>;

    /// The same, with counters.
    fn read_with_counters(format: &Format, bytes: &[u8]) -> Result<Self, Error>;

    /// The counts under the names of the golden file.
    fn counts(&self) -> BTreeMap<&'static str, Value>;
}

fn read_into(mut found: Collected, format: &Format, mut bytes: &[u8]) -> Result<Collected, Error> {
    (format.read)(&mut bytes, "test file", &mut found)?;
    Ok(found)
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
