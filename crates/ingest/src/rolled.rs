//! Logs that stand in several files, because their writer began a new one now and then. They are read as one.
//!
//! The parts of a log are known by what they say, else by their names:
//!
//! * Databricks begins each part with the number of the part and the id of its `SparkContext`. Its files are `eventlog-<date>--<time>`, packed,
//!   and `eventlog`, the last. Parts without this line belong together if they are in one folder; one that starts an application begins a log.
//! * The parts of Spark's folders `eventlog_v2_<application>` that are named one by one. A folder of them is found by [`super::files`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::inputs::{InputFile, Inputs};
use super::origins::Origins;
use super::paths::{is_rolling_log, name_of, parts_of_log};
use super::source::SourceFile;
use crate::formats::spark;

/// What the parts of one log share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Log {
    /// The id of a `SparkContext`, and the folder that was named.
    Context(Option<usize>, String),
    /// The folder of files whose content does not say it.
    Folder(Option<usize>, PathBuf),
}

/// The place of a part in its log.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    number: Option<u64>,
    /// The last part has no date in its name.
    is_last: bool,
    name: String,
}

/// A file that may be a part of a log.
struct Part {
    place: usize,
    rank: Rank,
    /// True if an application starts in it.
    begins: bool,
}

/// Joins the parts of each log, at the place of the first of them.
pub(super) fn join(inputs: &mut Inputs) {
    let mut logs: BTreeMap<Log, Vec<Part>> = BTreeMap::new();
    for (place, file) in inputs.files.iter().enumerate() {
        if let Some((log, rank, begins)) = part(file, &inputs.origins) {
            logs.entry(log).or_default().push(Part { place, rank, begins });
        }
    }
    let mut joined = Vec::new();
    for (log, mut parts) in logs {
        parts.sort_by(|a, b| (&a.rank, a.place).cmp(&(&b.rank, b.place)));
        match log {
            Log::Context(..) => joined.push(places(&parts)),
            Log::Folder(..) => joined.extend(runs(&parts).map(places)),
        }
    }
    joined.extend(named_parts(inputs));
    apply(inputs, joined);
}

fn places(parts: &[Part]) -> Vec<usize> {
    parts.iter().map(|part| part.place).collect()
}

/// Parts in order, cut where an application starts.
fn runs(parts: &[Part]) -> impl Iterator<Item = &[Part]> {
    parts.chunk_by(|_, next| !next.begins)
}

/// What a file says about its place in a log; `None` if no part has such a name.
fn part(file: &InputFile, origins: &Origins) -> Option<(Log, Rank, bool)> {
    let name = name_of(&file.path);
    let date = name.strip_prefix(spark::DATABRICKS)?;
    // `eventlog` and its packed forms, and those with a date.
    if !file.rest.is_empty() || !(date.is_empty() || date.starts_with(['-', '.'])) {
        return None;
    }
    let mut silent = ();
    // The ingest itself reports what cannot be read.
    let source = SourceFile::open(&file.path, &[], origins, &mut silent).ok()?;
    let head = spark::part(source.head());
    let log = match head.context {
        Some(context) => Log::Context(file.folder, context),
        None => Log::Folder(file.folder, file.path.parent().unwrap_or(Path::new("")).to_path_buf()),
    };
    Some((log, Rank { number: head.number, is_last: !date.starts_with('-'), name }, head.begins))
}

/// The parts of folders `eventlog_v2_<application>` that were named one by one, in order.
fn named_parts(inputs: &Inputs) -> Vec<Vec<usize>> {
    let mut folders: BTreeMap<&Path, BTreeMap<PathBuf, usize>> = BTreeMap::new();
    for (place, file) in inputs.files.iter().enumerate().filter(|(_, file)| file.folder.is_none()) {
        if let Some(folder) = file.path.parent().filter(|folder| is_rolling_log(folder)) {
            folders.entry(folder).or_default().entry(file.path.clone()).or_insert(place);
        }
    }
    let ordered = |places: BTreeMap<PathBuf, usize>| {
        let parts = parts_of_log(places.keys().cloned().collect());
        parts.iter().filter_map(|path| places.get(path).copied()).collect()
    };
    folders.into_values().map(ordered).collect()
}

/// Makes one input of the files at these places, in this order.
fn apply(inputs: &mut Inputs, joined: Vec<Vec<usize>>) {
    let mut gone: BTreeSet<usize> = BTreeSet::new();
    for places in joined.into_iter().filter(|places| places.len() > 1) {
        let files: Vec<InputFile> = places.iter().filter_map(|&place| inputs.files.get(place).cloned()).collect();
        let Some(place) = places.iter().min() else { continue };
        let bytes = files.iter().fold(0u64, |sum, file| sum.saturating_add(file.bytes));
        let folder = files.first().and_then(|file| file.folder);
        let mut paths = files.into_iter().map(|file| file.path);
        let Some(path) = paths.next() else { continue };
        if let Some(file) = inputs.files.get_mut(*place) {
            *file = InputFile { path, rest: paths.collect(), bytes, folder };
        }
        gone.extend(places.iter().copied().filter(|other| other != place));
    }
    let mut place = 0..;
    inputs.files.retain(|_| place.next().is_none_or(|place| !gone.contains(&place)));
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::super::files::find;
    use super::*;

    const CONTENT: &str = "{\"Event\":\"SparkListenerJobEnd\"}\n";

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn metadata(number: u64, context: u64) -> String {
        format!(
            "{{\"Event\":\"DBCEventLoggingListenerMetadata\",\"Rollover Number\":{number},\"SparkContext Id\":{context}}}\n{CONTENT}"
        )
    }

    /// The names of the files of each input.
    fn found(paths: &[PathBuf]) -> Vec<Vec<String>> {
        let inputs = find(paths).unwrap();
        let names =
            |file: &InputFile| std::iter::once(&file.path).chain(&file.rest).map(|path| name_of(path)).collect();
        inputs.files.iter().map(names).collect()
    }

    #[test]
    fn the_parts_of_a_log_of_databricks_are_joined_by_their_numbers_whatever_their_names() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("other")).unwrap();
        fs::write(at("eventlog"), metadata(3, 7)).unwrap();
        fs::write(at("eventlog-2022-01-14--18-00.gz"), gzip(&metadata(2, 7))).unwrap();
        // The clock was set back.
        fs::write(at("eventlog-2022-01-14--16-00.gz"), gzip(&metadata(1, 7))).unwrap();
        fs::write(at("eventlog-2022-01-14--17-00.gz"), gzip(&metadata(0, 7))).unwrap();
        fs::write(at("other/eventlog"), metadata(0, 8)).unwrap();
        fs::write(at("eventlogs"), CONTENT).unwrap();
        let whole = ["-2022-01-14--17-00.gz", "-2022-01-14--16-00.gz", "-2022-01-14--18-00.gz", ""];
        let whole: Vec<String> = whole.iter().map(|rest| format!("eventlog{rest}")).collect();
        let single = |name: &str| vec![name.to_owned()];
        assert_eq!(found(&[dir.path().to_path_buf()]), [whole.clone(), single("eventlogs"), single("eventlog")]);
        let named: Vec<PathBuf> = whole.iter().rev().map(|name| at(name)).collect();
        assert_eq!(found(&named), [whole]);
    }

    #[test]
    fn parts_without_numbers_are_joined_by_their_dates_from_the_start_of_each_application() {
        let dir = tempfile::tempdir().unwrap();
        let start = format!("{{\"Event\":\"SparkListenerApplicationStart\"}}\n{CONTENT}");
        for (name, text) in [("eventlog", CONTENT), ("eventlog-2019-01-02--03-00", CONTENT)] {
            fs::write(dir.path().join(name), text).unwrap();
        }
        for name in ["eventlog-2019-01-01--03-00", "eventlog-2019-01-02--02-00"] {
            fs::write(dir.path().join(name), &start).unwrap();
        }
        let of = |dates: &[&str]| dates.iter().map(|date| format!("eventlog{date}")).collect::<Vec<_>>();
        let expected = [of(&["-2019-01-02--02-00", "-2019-01-02--03-00", ""]), of(&["-2019-01-01--03-00"])];
        assert_eq!(found(&[dir.path().to_path_buf()]), expected);
    }

    #[test]
    fn parts_of_a_folder_of_spark_that_are_named_one_by_one_are_one_log() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("eventlog_v2_app-1");
        fs::create_dir(&folder).unwrap();
        let names = ["events_10_app-1", "events_2_app-1", "events_1_app-1"];
        let paths: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
        paths.iter().for_each(|path| fs::write(path, CONTENT).unwrap());
        assert_eq!(found(&paths), [["events_1_app-1", "events_2_app-1", "events_10_app-1"]]);
    }
}
