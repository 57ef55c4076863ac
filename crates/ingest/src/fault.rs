//! The faults of the files of an ingest, and their remedies.

use std::collections::BTreeMap;
use std::path::Path;

use super::near_misses::{NearMiss, near_miss};
use crate::formats::{FORMATS, Format, TABLE_FORMATS};
use resched_tables::Error;
use resched_tables::cause::{self, Cause, Kind};
use resched_tables::sink::Damage;

/// The most files in no known format that are named.
pub(super) const MOST_NAMED: usize = 100;

/// A fault in a file's content. In a folder, it is counted. If you named the file and it gives nothing, it is an error.
pub(super) struct Fault {
    pub(super) cause: Cause,
    pub(super) error: Error,
}

impl Fault {
    fn new(cause: Cause, path: &Path, found: &str, remedy: String) -> Self {
        let error = Error::Source {
            path: path.display().to_string(),
            place: String::new(),
            expected: "job history".to_owned(),
            found: found.to_owned(),
            remedy,
        };
        Self { cause, error }
    }

    pub(super) fn empty(path: &Path) -> Self {
        Self::new(
            cause::EMPTY_FILE,
            path,
            "an empty file",
            "copy it from the cluster again, or leave it out".to_owned(),
        )
    }

    /// A file in no known format, or not in the one that was asked for, by its first bytes.
    pub(super) fn unrecognised(path: &Path, head: &[u8], forced: Option<&str>) -> Self {
        if let Some(known) = near_miss(head) {
            return Self::near_miss(path, known);
        }
        if let Some(title) = forced {
            let remedy = "leave --format out, so that the content decides, or name other files".to_owned();
            return Self::new(
                cause::UNRECOGNISED_FILE,
                path,
                &format!("content that is no table of a {title}"),
                remedy,
            );
        }
        let remedy = format!("the known formats are {}; force one with --format, or leave it out", format_names());
        Self::new(cause::UNRECOGNISED_FILE, path, "content in none of the known formats", remedy)
    }

    /// A file that is almost in a known format.
    fn near_miss(path: &Path, known: &NearMiss) -> Self {
        Self::new(cause::UNRECOGNISED_FILE, path, known.found, known.remedy.to_owned())
    }

    pub(super) fn cut(path: &Path) -> Self {
        let found = "a packed file that is cut or damaged before its first job";
        Self::new(cause::CUT_FILE, path, found, "copy it from the cluster again, or leave it out".to_owned())
    }

    /// A table among files that are read one by one.
    pub(super) fn mixed(path: &Path, other: &str) -> Error {
        Error::Request(format!(
            "{}: expected files of one format, found this one beside a {other}; ingest it into another trace",
            path.display()
        ))
    }

    /// A file that has changed.
    pub(super) fn changed(path: &Path, expected: String, found: String) -> Error {
        let remedy = "ingest again when no other program writes it".to_owned();
        Error::Source { path: path.display().to_string(), place: String::new(), expected, found, remedy }
    }

    /// Tables that hold no job and no machine, with what was counted in them.
    pub(super) fn without_facts(title: &str, path: Option<&Path>, counted: &BTreeMap<String, u64>) -> Error {
        let causes = counted.iter().filter_map(|(name, &n)| Some((Cause::named(name)?, n)));
        Self::without(title, path.unwrap_or(Path::new(".")), &damage_in(causes)).error
    }

    /// A source without jobs, and the damage that was counted in it.
    fn without(title: &str, path: &Path, damage: &str) -> Self {
        if damage.is_empty() {
            let found = format!("a {title} without a single job");
            return Self::new(cause::FILE_WITHOUT_JOBS, path, &found, "leave it out".to_owned());
        }
        let found = format!("a {title} of which no job can be read (counted: {damage})");
        Self::new(cause::FILE_WITHOUT_JOBS, path, &found, "copy it from the cluster again, or leave it out".to_owned())
    }

    /// A file of which no record could be read, with the first that could not, or with what was counted.
    pub(super) fn without_jobs(path: &Path, format: &Format, damage: Option<Damage>, counted: &str) -> Self {
        let Some(Damage { place, expected, found, remedy }) = damage else {
            return Self::without(format.title, path, counted);
        };
        let found = format!("{found} (a {} of which no job can be read)", format.title);
        Self {
            cause: cause::FILE_WITHOUT_JOBS,
            error: Error::Source { path: path.display().to_string(), place, expected, found, remedy },
        }
    }
}

/// What is known about a file that gave neither a job nor a machine.
pub(super) struct Nothing {
    pub(super) format: &'static Format,
    /// True if the format was asked for.
    pub(super) is_forced: bool,
    /// What the file is instead.
    pub(super) near_miss: Option<&'static NearMiss>,
    /// The first record that could not be read.
    pub(super) damage: Option<Damage>,
    /// The damage that was counted.
    pub(super) counted: String,
}

impl Nothing {
    /// The fault of the file; `refused` is what its reader says about all of it. The reader of a format that was asked for cannot know
    /// what the file is instead.
    pub(super) fn fault(self, path: &Path, refused: Option<Fault>) -> Fault {
        let Self { format, is_forced, near_miss, damage, counted } = self;
        match (near_miss, damage, refused) {
            (Some(known), Some(damage), _) if is_forced => {
                let found = format!("{} in a file that looks like {}", damage.found, known.found);
                let remedy = known.remedy.to_owned();
                Fault::without_jobs(path, format, Some(Damage { found, remedy, ..damage }), &counted)
            }
            (Some(known), _, None) => Fault::near_miss(path, known),
            (Some(known), ..) if is_forced => Fault::near_miss(path, known),
            (_, _, Some(refused)) => refused,
            (None, damage, None) => Fault::without_jobs(path, format, damage, &counted),
        }
    }
}

/// The causes of damage among what was counted, with their numbers.
fn damage_in(counted: impl Iterator<Item = (Cause, u64)>) -> String {
    let damage = counted.filter(|(cause, _)| cause.kind() == Kind::Damaged);
    damage.map(|(cause, n)| format!("{n} {cause}")).collect::<Vec<_>>().join(", ")
}

/// The damage that was counted since `before`.
pub(super) fn damage_since(before: &BTreeMap<Cause, u64>, now: &BTreeMap<Cause, u64>) -> String {
    let more = now.iter().map(|(&cause, n)| (cause, n.saturating_sub(before.get(&cause).copied().unwrap_or(0))));
    damage_in(more.filter(|(_, n)| *n > 0))
}

pub(super) fn no_history(folder: &Path, found: String) -> Error {
    Error::Source {
        path: folder.display().to_string(),
        place: String::new(),
        expected: "a folder with job histories".to_owned(),
        found,
        remedy: format!("the known formats are {}; name another folder", format_names()),
    }
}

/// The names of all formats, for messages.
pub(super) fn format_names() -> String {
    let names = FORMATS.iter().map(|format| format.name).chain(TABLE_FORMATS.iter().map(|format| format.name));
    names.collect::<Vec<_>>().join(", ")
}
