//! What became of the sources of a trace: what was read from which column, and what was made up, left out, mended and merged.
//!
//! All of it is in the manifest: the readers say what they read ([`Sink::filled_from`](resched_tables::sink::Sink::filled_from),
//! [`Format::reads`](crate::formats::Format::reads)), and the writer counts which columns have values.

use std::collections::{BTreeMap, BTreeSet};

use resched_tables::cause::Cause;
use resched_tables::model::{AttemptRow, CounterRow, JobRow, NodeRow, SplitRow, TaskRow};
use resched_tables::store::columns::Row;
use resched_tables::store::{Manifest, ReadFrom};
use resched_tables::words::{self, count, name};
use serde::Serialize;

/// The page that explains the codes.
const PAGE: &str = "docs/reference/causes.md";

/// Where the values of a column come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// The column, as `table.column`.
    pub column: String,
    /// How many rows have a value.
    pub rows: u64,
    /// What the sources call it: columns, keys or fields. If there are several formats, each is behind the name of its format and a colon.
    /// Empty: its values follow from other columns, or a rule made them.
    pub from: Vec<String>,
    /// The rule that filled rows of it.
    pub rule: Option<String>,
    /// How many rows that rule filled.
    pub made_rows: Option<u64>,
}

/// A count of a trace, with what its code means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Counted<'a> {
    /// The name of its [cause](Cause).
    pub code: &'a str,
    /// How many records or values it counts.
    pub times: u64,
    /// What became of it; `None` for a code of another version.
    pub kind: Option<&'static str>,
    /// What is counted; empty for a code of another version.
    pub means: &'static str,
    /// What it does to an answer.
    pub effect: &'static str,
    /// What you can do about it; empty if nothing.
    pub remedy: &'static str,
}

/// The columns of a trace that have values, in the order of the tables. Empty if nobody noted what they were read from.
pub fn origins(manifest: &Manifest) -> Vec<Origin> {
    if manifest.read.is_empty() {
        return Vec::new();
    }
    let filled = |column: &String| manifest.filled.get(column).copied().unwrap_or(0);
    let origin = |column: String| {
        let rows = filled(&column);
        let rule = manifest.made.get(&column).cloned();
        let made_rows = rule.as_ref().map(|_| manifest.made_rows.get(&column).copied().unwrap_or(rows));
        // A rule that filled all rows leaves none to the sources.
        let from = if made_rows == Some(rows) { Vec::new() } else { names(manifest, &column) };
        Origin { column, rows, from, rule, made_rows }
    };
    columns().filter(|column| filled(column) > 0).map(origin).collect()
}

/// All columns of a trace.
fn columns() -> impl Iterator<Item = String> {
    fn of<R: Row>() -> Vec<String> {
        R::reference().iter().map(|column| format!("{}.{}", R::TABLE, column.name)).collect()
    }
    let first = [of::<JobRow>(), of::<TaskRow>(), of::<AttemptRow>()];
    first.into_iter().chain([of::<SplitRow>(), of::<NodeRow>(), of::<CounterRow>()]).flatten()
}

/// What the sources call a column.
fn names(manifest: &Manifest, column: &str) -> Vec<String> {
    let is_alone = manifest.read.len() == 1;
    let of_format = |(format, read): (&String, &ReadFrom)| -> Vec<String> {
        let names = read.get(column).into_iter().flatten();
        names.map(|name| if is_alone { name.clone() } else { format!("{format}: {name}") }).collect()
    };
    manifest.read.iter().flat_map(of_format).collect()
}

/// What was counted, by kind and code.
pub fn counted(skipped: &BTreeMap<String, u64>) -> Vec<Counted<'_>> {
    let mut rows: Vec<Counted<'_>> = Vec::new();
    for (code, &times) in skipped {
        let cause = Cause::named(code);
        rows.push(Counted {
            code,
            times,
            kind: cause.map(|cause| cause.kind().title()),
            means: cause.map_or("", Cause::means),
            effect: cause.map_or("", Cause::effect),
            remedy: cause.map_or("", Cause::remedy),
        });
    }
    rows.sort_by_key(|row| (Cause::named(row.code).map(Cause::kind), row.code));
    rows
}

/// A line for each code; with `explain`, also what it means.
pub fn counted_in_words(counted: &[Counted<'_>], explain: bool) -> String {
    let mut text = String::new();
    for Counted { code, times, kind, means, effect, remedy } in counted {
        text += &format!("  {}: {} × {}\n", kind.unwrap_or("counted"), count(*times), name(code));
        if explain && !means.is_empty() {
            let sentences: Vec<&str> = [*means, *effect, *remedy].into_iter().filter(|text| !text.is_empty()).collect();
            text += &format!("    {}\n", sentences.join(" "));
        }
    }
    text
}

/// The columns as a table if `explain`, or how many there are.
pub fn origins_in_words(origins: &[Origin], explain: bool) -> String {
    let read = origins.iter().filter(|origin| !origin.from.is_empty()).count();
    if read == 0 {
        return String::new();
    }
    if !explain {
        let names: BTreeSet<&String> = origins.iter().flat_map(|origin| &origin.from).collect();
        return format!(
            "  read: {read} columns from {} of the sources; `--explain` shows which, and what each line means\n",
            names.len()
        );
    }
    let width = |of: fn(&Origin) -> usize, heading: &str| origins.iter().map(of).max().unwrap_or(0).max(heading.len());
    let column = width(|origin| origin.column.len(), "column");
    let rows = width(|origin| count(origin.rows).len(), "rows");
    let mut text = format!("  {:column$}  {:>rows$}  read from\n", "column", "rows");
    for origin in origins {
        text += &format!("  {:column$}  {:>rows$}  {}\n", origin.column, count(origin.rows), origin.in_words());
    }
    text + &format!("{PAGE} explains the codes.\n")
}

impl Origin {
    fn in_words(&self) -> String {
        let names = self.from.iter().map(|from| name(from).into_owned()).collect::<Vec<_>>().join(", ");
        let rule = self.rule.as_ref().map(|rule| match self.made_rows {
            Some(made) if made < self.rows => format!("the rule `{rule}` ({})", words::counted(made, "row")),
            _ => format!("the rule `{rule}`"),
        });
        match (names.is_empty(), rule) {
            (true, None) => "other columns".to_owned(),
            (true, Some(rule)) => rule,
            (false, None) => names,
            (false, Some(rule)) => format!("{names}; {rule}"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// What the columns are read from in a format.
    type Reads<'a> = (&'a str, &'a [(&'a str, &'a [&'a str])]);

    fn manifest(formats: &[Reads<'_>]) -> Manifest {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let read =
            |read: &[(&str, &[&str])]| read.iter().map(|(column, of)| ((*column).to_owned(), names(of))).collect();
        let filled =
            [("attempts.start", 3), ("jobs.user", 4), ("jobs.submit", 5), ("jobs.demand_cpu", 5), ("nodes.cpu", 2)];
        Manifest {
            read: formats.iter().map(|(format, columns)| ((*format).to_owned(), read(columns))).collect(),
            filled: filled.map(|(column, rows)| (column.to_owned(), rows)).into(),
            made: [("attempts.start", "times-of-task"), ("nodes.cpu", "x")]
                .map(|(to, rule)| (to.to_owned(), rule.to_owned()))
                .into(),
            made_rows: [("attempts.start".to_owned(), 1)].into(),
            skipped: [("step-of-a-job", 7), ("damaged-line", 2_000), ("of-another-version", 1)]
                .map(|(code, n)| (code.to_owned(), n))
                .into(),
            ..Manifest::default()
        }
    }

    const READ: &[(&str, &[&str])] = &[
        ("jobs.user", &["User"]),
        ("jobs.submit", &["Submit", "Eligible"]),
        ("attempts.start", &["Start"]),
        ("jobs.name", &["JobName"]),
    ];

    /// In the order of the tables: a column without values is not there, one that nobody read follows from others.
    #[test]
    fn each_column_with_values_has_its_origin() {
        let words = origins_in_words(&origins(&manifest(&[("sacct", READ)])), true);
        let expected = "  column           rows  read from\n  jobs.user           4  User\n  jobs.submit         5  Eligible, Submit\n  \
                        jobs.demand_cpu     5  other columns\n  attempts.start      3  Start; the rule `times-of-task` (1 row)\n  \
                        nodes.cpu           2  the rule `x`\ndocs/reference/causes.md explains the codes.\n";
        assert_eq!(words, expected);
        let short = origins_in_words(&origins(&manifest(&[("sacct", READ)])), false);
        assert!(short.starts_with("  read: 3 columns from 4 of the sources;"), "{short}");
        assert_eq!(origins(&manifest(&[])), []);
    }

    #[test]
    fn names_of_several_formats_stand_behind_their_format() {
        let two: [Reads<'_>; 2] =
            [("jhist", &[("jobs.user", &["userName"])]), ("swf", &[("jobs.user", &["field 12"])])];
        let found = origins(&manifest(&two));
        assert_eq!(
            found.first().map(|origin| origin.from.clone()),
            Some(vec!["jhist: userName".to_owned(), "swf: field 12".to_owned()])
        );
    }

    #[test]
    fn counts_come_by_kind_and_are_explained() {
        let manifest = manifest(&[]);
        let counted = counted(&manifest.skipped);
        let expected = "  counted: 1 × of-another-version\n  could not be read: 2,000 × damaged-line\n  merged: 7 × step-of-a-job\n";
        assert_eq!(counted_in_words(&counted, false), expected);
        let explained = counted_in_words(&counted, true);
        assert!(explained.contains("× step-of-a-job\n    A row is a step of a job"), "{explained}");
    }

    /// Columns that follow from others, so that nothing is read for them.
    const DERIVED: [&str; 13] = [
        "jobs.framework",
        "jobs.demand_cpu",
        "jobs.demand_memory",
        "jobs.demand_resources",
        "jobs.demand_machines",
        "tasks.gang",
        "tasks.kind",
        "attempts.kind",
        "attempts.attempt",
        "nodes.event",
        "nodes.host",
        "nodes.rack",
        // One processor, in a log of parallel machines.
        "tasks.cpu_request",
    ];

    /// What a source is read from, once it is a trace. Each column with values has an origin, unless it follows from others or is an id.
    fn explained(files: &[(&str, &str)]) -> Manifest {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("sources");
        std::fs::create_dir(&folder).unwrap();
        for (name, text) in files {
            std::fs::write(folder.join(name), text).unwrap();
        }
        let out = dir.path().join("trace");
        let manifest = crate::ingest(&[folder], out.as_path(), &crate::Options::default(), &mut ()).unwrap();
        let follows = |column: &str| {
            DERIVED.contains(&column)
                || column.ends_with("_id")
                || column.ends_with(".outcome")
                || column.ends_with(".depends_on")
        };
        let without: Vec<String> = origins(&manifest)
            .into_iter()
            .filter(|origin| origin.from.is_empty() && origin.rule.is_none() && !follows(&origin.column))
            .map(|origin| origin.column)
            .collect();
        assert_eq!(without, [""; 0], "{:?}", manifest.read);
        manifest
    }

    #[test]
    fn a_trace_of_a_list_of_jobs_has_the_columns_that_the_list_had() {
        let list = "JobID|User|Submit|Start|End|State|AllocCPUS|NodeList|Comment\n\
                    1|ann|100|110|170|COMPLETED|8|n1|x\n2|bob|100|110|170|COMPLETED|8|n2|y\n2.batch|bob|100|110|170|COMPLETED|8|n2|\n";
        let manifest = explained(&[("jobs.txt", list)]);
        let all = origins(&manifest);
        let of = |column: &str| {
            all.iter().find(|origin| origin.column == column).map(|origin| (origin.rows, origin.from.join(" ")))
        };
        assert_eq!(of("jobs.user"), Some((2, "User".to_owned())));
        assert_eq!(of("attempts.start"), Some((2, "Start".to_owned())));
        assert_eq!(of("nodes.cpu"), Some((2, "NodeList".to_owned())));
        assert_eq!(of("jobs.queue"), None, "the list has no partition");
        assert!(counted_in_words(&counted(&manifest.skipped), false).contains("  merged: 1 × step-of-a-job\n"));
    }

    #[test]
    fn a_trace_of_event_tables_names_table_and_field() {
        let row =
            |time: &str, machine: &str, event: u8| format!("{time}000000,,1,0,{machine},{event},u,2,9,0.1,0.2,0.0,\n");
        let tasks = [row("600", "", 0), row("601", "7", 1), row("602", "7", 4)].concat();
        let manifest = explained(&[("part-00000-of-00500.csv", &tasks)]);
        let read = manifest.read.get("google2011").unwrap();
        assert_eq!(read.get("tasks.cpu_request").unwrap(), &BTreeSet::from(["task_events.CPU request".to_owned()]));
        assert!(!read.contains_key("nodes.cpu"), "there is no table of machines");
        assert_eq!(manifest.filled.get("attempts.start"), Some(&1));
    }

    #[test]
    fn a_trace_of_an_swf_log_names_further_fields() {
        let log = "; MaxNodes: 2\n; MaxProcs: 8\n; 18: used_GPUs\n; 0: job\n1 10 5 100 4 90 -1 4 300 -1 1 1 1 1 1 -1 -1 -1 2\n";
        let manifest = explained(&[("log.swf", log)]);
        let origin = origins(&manifest).into_iter().find(|origin| origin.column == "tasks.resources").unwrap();
        assert_eq!((origin.rows, origin.from), (1, vec!["used_GPUs".to_owned()]));
    }
}
