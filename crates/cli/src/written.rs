//! What a command prints about a trace that it wrote: lines for people, and the same for programs.

use std::collections::BTreeMap;
use std::path::Path;

use resched_ingest::explained::{self, Counted, Origin, counted_in_words, origins, origins_in_words};
use resched_tables::store::{Amounts, Manifest, System};
use resched_tables::words::counted;
use serde::Serialize;

use crate::failure::Failure;
use crate::format::{FormatArgs, values_of};
use crate::output::count;

/// A trace that was written.
#[derive(Debug, Serialize)]
pub(crate) struct Written<'a> {
    /// Its folder.
    pub(crate) trace: String,
    rows: &'a BTreeMap<String, u64>,
    system: Option<System>,
    amounts: Amounts,
    /// What was left out, mended, assumed or merged, by cause.
    skipped: &'a BTreeMap<String, u64>,
    /// The same, each with what it means.
    counted: Vec<Counted<'a>>,
    /// Where the values of each column come from.
    columns: Vec<Origin>,
    /// The columns that a rule filled, with the rule.
    made: &'a BTreeMap<String, String>,
    made_rows: &'a BTreeMap<String, u64>,
    /// The tables that the sources lack.
    absent: &'a BTreeMap<String, String>,
    unrecognised: &'a [String],
}

impl<'a> Written<'a> {
    pub(crate) fn of(manifest: &'a Manifest, out: &Path) -> Self {
        let Manifest { rows, system, amounts, skipped, made, made_rows, absent, unrecognised, .. } = manifest;
        Self {
            trace: out.display().to_string(),
            rows,
            system: *system,
            amounts: *amounts,
            skipped,
            counted: explained::counted(skipped),
            columns: origins(manifest),
            made,
            made_rows,
            absent,
            unrecognised,
        }
    }

    /// A few lines about it; with `explain`, what each means, and where the values of each column come from.
    pub(crate) fn in_words(&self, explain: bool) -> String {
        let rows = |table: &str, thing: &str| counted(self.rows.get(table).copied().unwrap_or(0), thing);
        let mut text = format!(
            "{}: {}, {}, {}, {}, {}\n",
            self.trace,
            rows("jobs", "job"),
            rows("tasks", "task"),
            rows("attempts", "attempt"),
            rows("splits", "split"),
            rows("nodes", "machine row"),
        );
        text += &origins_in_words(&self.columns, explain);
        text += &counted_in_words(&self.counted, explain);
        text += &not_recognised(self.unrecognised);
        text += &absent(self.absent);
        text += &made(self.made, self.made_rows, &self.trace);
        self.amounts.in_words().map_or(text.clone(), |words| format!("{text}  unit: {words}\n"))
    }
}

/// Prints what a trace that was written holds.
pub(crate) fn print_written(manifest: &Manifest, out: &Path, format: FormatArgs) -> Result<(), Failure> {
    print_explained(manifest, out, false, format)
}

/// As [`print_written`]; with `explain`, what each line means, and where the values of each column come from.
pub(crate) fn print_explained(
    manifest: &Manifest,
    out: &Path,
    explain: bool,
    format: FormatArgs,
) -> Result<(), Failure> {
    let written = Written::of(manifest, out);
    format.print(&written, &values_of(&written)?, || written.in_words(explain))
}

/// The most rules that are named.
const MOST_RULES: usize = 3;

/// What rules filled.
fn made(made: &BTreeMap<String, String>, rows: &BTreeMap<String, u64>, trace: &str) -> String {
    if made.is_empty() {
        return String::new();
    }
    let in_part: Vec<String> = rows
        .iter()
        .map(|(column, &rows)| {
            let rule = made.get(column).map_or("", String::as_str);
            format!("  made, not observed: {} of {column}, by the rule `{rule}`\n", counted(rows, "row"))
        })
        .take(MOST_RULES)
        .collect();
    match made.len().saturating_sub(rows.len()) {
        0 => in_part.concat(),
        1 => format!("{}  1 column is made, not observed: `resched inspect {trace}` names it\n", in_part.concat()),
        n => {
            format!("{}  {n} columns are made, not observed: `resched inspect {trace}` names them\n", in_part.concat())
        }
    }
}

/// The most files that are named.
const MOST_FILES: usize = 5;

/// Files in no known format, one per line.
pub(crate) fn not_recognised(files: &[String]) -> String {
    let named: String = files.iter().take(MOST_FILES).map(|path| format!("  not recognised: {path}\n")).collect();
    match files.len().saturating_sub(MOST_FILES) {
        0 => named,
        more => format!("{named}  not recognised: {} more; `--json` names them\n", count(more as u64)),
    }
}

/// The tables that the sources lack, one per line.
pub(crate) fn absent(absent: &BTreeMap<String, String>) -> String {
    absent.iter().map(|(table, rule)| format!("  {table}: {rule}\n")).collect()
}

/// The records that were left out or mended, one line per cause.
pub(crate) fn left_out(skipped: &BTreeMap<String, u64>) -> String {
    skipped.iter().map(|(cause, &n)| format!("  left out or mended: {} × {cause}\n", count(n))).collect()
}
