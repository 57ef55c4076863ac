//! Prints results to standard output and messages to standard error. Nothing else prints.

use std::io::Write;

use comfy_table::{CellAlignment, Table};
use resched_analysis::groups::to_csv;
use resched_analysis::measure::Metric;
use resched_trace::words;
pub(crate) use resched_trace::words::{count, name};
use resched_trace::words::{message, visible};
use serde::Serialize;

use crate::failure::Failure;

/// An unknown value.
pub(crate) const UNKNOWN: &str = "–";

/// Writes lines to standard output. Names in them cannot steer the terminal.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let text = visible(text);
    let mut out = std::io::stdout().lock();
    write_lines(&mut out, &text).map_err(|error| Failure::output(&error))
}

/// Writes lines to standard error. Names in them cannot steer the terminal, and long lines are shortened. It is no error if nobody
/// reads them.
pub(crate) fn tell(text: &str) {
    let _ = write_lines(&mut std::io::stderr().lock(), &message(text));
}

fn write_lines(out: &mut impl Write, text: &str) -> std::io::Result<()> {
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// Writes one JSON value, indented.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::work(error.to_string()))?;
    print(&text)
}

/// Writes rows as CSV with a heading. Names that look like formulas are marked.
pub(crate) fn print_csv<R: Serialize>(rows: &[R]) -> Result<(), Failure> {
    let bytes = to_csv(rows).map_err(|error| Failure::work(error.to_string()))?;
    print(&String::from_utf8_lossy(&bytes))
}

/// A table with a heading; the columns of `numbers` are aligned to the right.
pub(crate) fn table(heading: &[&str], rows: Vec<Vec<String>>, numbers: std::ops::Range<usize>) -> String {
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::NOTHING).set_header(heading.iter().copied());
    table
        .add_rows(rows.into_iter().map(|row| row.into_iter().map(|cell| name(&cell).into_owned()).collect::<Vec<_>>()));
    for column in numbers {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The most rows that a shortened table shows.
const MOST_ROWS: usize = 20;

/// A table with an empty line before it and only its first rows, and how many there are more. JSON and CSV must have all.
pub(crate) fn shortened(heading: &[&str], rows: Vec<Vec<String>>, numbers: std::ops::Range<usize>) -> String {
    let more = match rows.len().saturating_sub(MOST_ROWS) {
        0 => String::new(),
        more => format!("{} more rows; `--json` and `--csv` print all\n", count(more as u64)),
    };
    format!("\n{}{more}", table(heading, rows.into_iter().take(MOST_ROWS).collect(), numbers))
}

/// A time in ms as people read it.
pub(crate) fn duration(ms: Option<f64>) -> String {
    ms.map_or_else(|| UNKNOWN.to_owned(), words::duration)
}

/// A value of a metric.
pub(crate) fn value(metric: &Metric, value: Option<f64>) -> String {
    match value {
        None => UNKNOWN.to_owned(),
        Some(ms) if metric.unit == "ms" => duration(Some(ms)),
        Some(number) if metric.unit.is_empty() && number.fract() == 0.0 => format!("{number:.0}"),
        Some(number) => metric.in_words(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_put_as_people_read_them() {
        assert_eq!(duration(Some(90_500.0)), "90.5 s");
        assert_eq!(duration(Some(600_000.0)), "10.0 min");
        assert_eq!(duration(None), "–");
    }
}
