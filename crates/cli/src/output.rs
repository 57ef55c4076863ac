//! Prints results to standard output and messages to standard error. Nothing else prints.

use std::borrow::Cow;
use std::io::Write;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use comfy_table::{CellAlignment, Table};
use resched_analysis::metrics::named::Metric;
use resched_tables::words;
pub(crate) use resched_tables::words::{TimeUnit, count, name};
use resched_tables::words::{message, visible};
use serde::Serialize;

use crate::failure::Failure;

/// An unknown value.
pub(crate) const UNKNOWN: &str = "–";

/// How a part of a text looks where colours are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// A heading.
    Strong,
    /// Something went well.
    Good,
    /// Something is doubtful.
    Doubtful,
    /// Something went wrong.
    Bad,
}

impl Look {
    const ALL: [Self; 4] = [Self::Strong, Self::Good, Self::Doubtful, Self::Bad];
    /// What ends a part. Like the marks that begin one, it has no width, and names never hold it: [`name`] writes it out.
    const END: char = '\u{206e}';

    fn mark(self) -> char {
        match self {
            Self::Strong => '\u{206a}',
            Self::Good => '\u{206b}',
            Self::Doubtful => '\u{206c}',
            Self::Bad => '\u{206d}',
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Strong => Style::new().bold(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Doubtful => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default().bold(),
        }
    }

    /// A text that looks so.
    pub(crate) fn on(self, text: &str) -> String {
        format!("{}{text}{}", self.mark(), Self::END)
    }
}

/// The text with the looks of its parts, or without. Nothing else in it steers a terminal.
fn dressed(text: &str, in_colour: bool) -> String {
    let is_mark = |letter: char| letter == Look::END || Look::ALL.iter().any(|look| look.mark() == letter);
    let code = |letter: char| match Look::ALL.iter().find(|look| look.mark() == letter) {
        _ if !in_colour => String::new(),
        Some(look) => look.style().render().to_string(),
        None if letter == Look::END => Style::new().bold().render_reset().to_string(),
        None => String::new(),
    };
    text.split_inclusive(is_mark)
        .flat_map(|part| match part.chars().next_back().filter(|&last| is_mark(last)) {
            Some(mark) => [visible(&part[..part.len() - mark.len_utf8()]), Cow::Owned(code(mark))],
            None => [visible(part), Cow::Borrowed("")],
        })
        .collect()
}

/// Whether this stream shows colours: it is a terminal, and the environment does not forbid them (`NO_COLOR`, `TERM=dumb`).
fn shows_colours(stream: &impl anstream::stream::RawStream) -> bool {
    AutoStream::choice(stream) != ColorChoice::Never
}

/// Writes lines to standard output. Names in them cannot steer the terminal.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let text = dressed(text, shows_colours(&out));
    write_lines(&mut out, &text).map_err(|error| Failure::output(&error))
}

/// Writes JSON or CSV to standard output. Names in it cannot steer the terminal.
pub(crate) fn print_as_it_is(text: &str) -> Result<(), Failure> {
    write_lines(&mut std::io::stdout().lock(), &visible(text)).map_err(|error| Failure::output(&error))
}

/// Writes lines to standard error. Names in them cannot steer the terminal, and long lines are shortened. It is no error if nobody
/// reads them.
pub(crate) fn tell(text: &str) {
    let mut out = std::io::stderr().lock();
    let first_word = |text: &str| -> Option<Look> {
        [("error:", Look::Bad), ("warning:", Look::Doubtful)]
            .into_iter()
            .find_map(|(word, look)| text.starts_with(word).then_some(look))
    };
    let text = message(text);
    let text = match (first_word(&text), text.split_once(':')) {
        (Some(look), Some((word, rest))) => dressed(&look.on(&format!("{word}:")), shows_colours(&out)) + rest,
        _ => text,
    };
    let _ = write_lines(&mut out, &text);
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
    print_as_it_is(&serde_json::to_string_pretty(value).map_err(|error| Failure::work(error.to_string()))?)
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
    let line = |(number, line): (usize, String)| match (number, line.trim_end()) {
        (0, heading) => Look::Strong.on(heading) + "\n",
        (_, line) => line.to_owned() + "\n",
    };
    table.lines().enumerate().map(line).collect()
}

/// Counts as bars of one letter each, the highest for the greatest. Zero is a space.
pub(crate) fn bars(counts: &[u64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().max().copied().unwrap_or(0).max(1) as f64;
    let bar = |&count: &u64| match count {
        0 => ' ',
        count => BARS[((count as f64 / most * BARS.len() as f64).ceil() as usize).clamp(1, BARS.len()) - 1],
    };
    counts.iter().map(bar).collect()
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

/// So many jobs.
pub(crate) fn of_jobs(jobs: u64) -> String {
    if jobs == 1 { "1 job".to_owned() } else { format!("{} jobs", count(jobs)) }
}

/// A time in ms as people read it.
pub(crate) fn duration(ms: Option<f64>) -> String {
    ms.map_or_else(|| UNKNOWN.to_owned(), words::duration)
}

/// A time in ms in this unit.
pub(crate) fn shown(unit: TimeUnit, ms: Option<f64>) -> String {
    ms.map_or_else(|| UNKNOWN.to_owned(), |ms| unit.show(ms))
}

/// The heading of a column of times in this unit.
pub(crate) fn of_unit(heading: &str, unit: TimeUnit) -> String {
    format!("{heading} ({})", unit.name())
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
        let times = [Some(0.0), None, Some(111_600.0), Some(132_000.0)];
        let unit = TimeUnit::of(times.into_iter().flatten());
        assert_eq!(
            times.map(|time| shown(unit, time)),
            ["0.0 min", "–", "1.9 min", "2.2 min"],
            "a column has one unit"
        );
        assert_eq!(of_unit("waited", unit), "waited (min)");
    }

    #[test]
    fn parts_have_looks_and_names_have_none() {
        let text = format!("{} b\u{1b}[31m\n", Look::Strong.on("a"));
        assert_eq!(dressed(&text, false), "a b\\u001b[31m\n");
        assert_eq!(dressed(&text, true), "\u{1b}[1ma\u{1b}[0m b\\u001b[31m\n");
        let hostile = table(&["name"], vec![vec![Look::Bad.on("x\u{1b}")]], 0..0);
        assert_eq!(dressed(&hostile, true), "\u{1b}[1m name\u{1b}[0m\n \\u206dx\\u001b\\u206e\n");
    }

    #[test]
    fn a_line_of_bars_shows_small_counts_too() {
        assert_eq!(bars(&[0, 1, 50, 100]), " ▁▄█");
        assert_eq!(bars(&[0, 0]), "  ");
    }
}
