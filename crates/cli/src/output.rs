//! Prints results to standard output and messages to standard error. Nothing else prints.

use std::io::Write;
use std::ops::{Add, AddAssign};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};

use comfy_table::{CellAlignment, Table};
use resched_analysis::metrics::named::Metric;
use resched_tables::words;
pub(crate) use resched_tables::words::{TimeUnit, count, name};
use resched_tables::words::{message, visible};
use serde::Serialize;

use crate::failure::Failure;
use crate::host::Host;

/// An unknown value.
pub(crate) const UNKNOWN: &str = "–";

/// How a part of a text looks where colours are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// As the terminal shows text.
    Plain,
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
    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Strong => Style::new().bold(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Doubtful => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default().bold(),
        }
    }

    /// A text that looks so.
    pub(crate) fn on(self, text: &str) -> Text {
        Text { spans: vec![(self, text.to_owned())] }
    }
}

/// A text for people, each part with its look.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Text {
    spans: Vec<(Look, String)>,
}

impl Text {
    /// The same with this before each line. The last line ends, too.
    pub(crate) fn indented(self, by: &str) -> Self {
        let mut text = Self::default();
        let mut begins = true;
        for (look, span) in self.spans {
            for part in span.split_inclusive('\n') {
                if begins {
                    text += by;
                }
                text.spans.push((look, part.to_owned()));
                begins = part.ends_with('\n');
            }
        }
        if begins { text } else { text + "\n" }
    }

    /// It without its looks, and with an end of the last line.
    pub(crate) fn plain(&self) -> String {
        let mut text: String = self.spans.iter().map(|(_, span)| visible(span)).collect();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }

    /// Writes it with its looks; `out` leaves them out if it shows none. Names in it cannot steer a terminal.
    fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
        for (look, span) in &self.spans {
            let style = look.style();
            write!(out, "{style}{}{style:#}", visible(span))?;
        }
        if !self.spans.last().is_some_and(|(_, span)| span.ends_with('\n')) {
            out.write_all(b"\n")?;
        }
        out.flush()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self { spans: vec![(Look::Plain, text)] }
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl<T: Into<Text>> AddAssign<T> for Text {
    fn add_assign(&mut self, other: T) {
        self.spans.extend(other.into().spans.into_iter().filter(|(_, span)| !span.is_empty()));
    }
}

impl<T: Into<Text>> Add<T> for Text {
    type Output = Self;

    fn add(mut self, other: T) -> Self {
        self += other;
        self
    }
}

impl FromIterator<Text> for Text {
    fn from_iter<I: IntoIterator<Item = Text>>(parts: I) -> Self {
        parts.into_iter().fold(Self::default(), Self::add)
    }
}

/// Writes lines to standard output. Names in them cannot steer the terminal.
pub(crate) fn print(text: impl Into<Text>) -> Result<(), Failure> {
    let text = text.into();
    if let Some(host) = Host::current() {
        host.print(&text.plain());
        return Ok(());
    }
    // The stream strips styles where none are shown: no terminal, `NO_COLOR`, `TERM=dumb`.
    text.write(&mut AutoStream::auto(std::io::stdout()).lock()).map_err(|error| Failure::output(&error))
}

/// Writes JSON or CSV to standard output. Names in it cannot steer the terminal.
pub(crate) fn print_as_it_is(text: &str) -> Result<(), Failure> {
    if let Some(host) = Host::current() {
        host.print(&Text::from(text).plain());
        return Ok(());
    }
    write_lines(&mut std::io::stdout().lock(), &visible(text)).map_err(|error| Failure::output(&error))
}

/// Writes lines to standard error. Names in them cannot steer the terminal, and long lines are shortened. It is no error if nobody
/// reads them.
pub(crate) fn print_message(text: &str) {
    let text = message(text);
    if let Some(host) = Host::current() {
        host.message(visible(&text).into_owned());
        return;
    }
    let look = |word: &str| match word {
        "error" => Look::Bad,
        "warning" => Look::Doubtful,
        _ => Look::Plain,
    };
    let text = match text.split_once(':') {
        Some((word, rest)) => look(word).on(&format!("{word}:")) + rest,
        None => Text::from(text),
    };
    let _ = text.write(&mut AutoStream::auto(std::io::stderr()).lock());
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

/// A cell of numbers with the minus of all texts (U+2212), so that a search finds each.
fn with_minus(cell: &str) -> String {
    let mut text = String::with_capacity(cell.len());
    let mut chars = cell.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = chars.next() {
        let is_sign = letter == '-' && !before.is_alphanumeric() && chars.peek().is_some_and(char::is_ascii_digit);
        text.push(if is_sign { '−' } else { letter });
        before = letter;
    }
    text
}

/// A table with a heading; the columns of `numbers` are aligned to the right.
pub(crate) fn table(heading: &[&str], mut rows: Vec<Vec<String>>, numbers: std::ops::Range<usize>) -> Text {
    for cell in rows.iter_mut().filter_map(|row| row.get_mut(numbers.clone())).flatten() {
        *cell = with_minus(cell);
    }
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
        (_, line) => Text::from(line.to_owned() + "\n"),
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
pub(crate) fn shortened(heading: &[&str], rows: Vec<Vec<String>>, numbers: std::ops::Range<usize>) -> Text {
    let more = match rows.len().saturating_sub(MOST_ROWS) {
        0 => String::new(),
        more => format!("{} more rows; `--json` and `--csv` print all\n", count(more as u64)),
    };
    Text::from("\n") + table(heading, rows.into_iter().take(MOST_ROWS).collect(), numbers) + more
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

    /// The text as a terminal gets it, and as a pipe gets it.
    fn written(text: &Text) -> [String; 2] {
        let (mut styled, mut plain) = (Vec::new(), Vec::new());
        assert!(text.write(&mut styled).is_ok() && text.write(&mut AutoStream::never(&mut plain)).is_ok());
        [styled, plain].map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    #[test]
    fn parts_have_looks_and_names_have_none() {
        let text = Look::Strong.on("a") + " b\u{1b}[31m\n";
        assert_eq!(written(&text), ["\u{1b}[1ma\u{1b}[0m b\\u001b[31m\n", "a b\\u001b[31m\n"]);
        let hostile = table(&["name"], vec![vec!["x\u{1b}\u{206d}".to_owned()]], 0..0);
        assert_eq!(written(&hostile)[0], "\u{1b}[1m name\u{1b}[0m\n x\\u001b\\u206d\n");
    }

    #[test]
    fn each_line_is_indented_once() {
        let text = (Look::Good.on("a") + "b\nc").indented("  ");
        assert_eq!(written(&text)[1], "  ab\n  c\n");
    }

    #[test]
    fn a_line_of_bars_shows_small_counts_too() {
        assert_eq!(bars(&[0, 1, 50, 100]), " ▁▄█");
        assert_eq!(bars(&[0, 0]), "  ");
    }
}
