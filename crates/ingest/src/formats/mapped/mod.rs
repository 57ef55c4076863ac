//! Tables with a row for each job, of any columns: CSV, JSON or Parquet, under a map that says which column is what ([`Map`]).
//!
//! ```text
//! MAP.toml ──▶ Map ──┐
//! table ──▶ rows ──▶ cells ──▶ entries ──▶ jobs
//! ```
//!
//! The rows pass through in pieces if the map lists the machines or the table names no hosts. Otherwise all are held until the last table
//! ends, because only all jobs together show how large the machines are.
//!
//! A map is written by strangers: it names no file outside of the folder that is read, and has patterns with `*` and `?` only.

mod cell;
mod entry;
mod map;
mod parquet;
mod pattern;
mod rows;
mod suggest;
mod take;
#[cfg(test)]
mod tests;
mod words;

use std::io::BufRead;

use super::accounting::{self, Clock, Jobs, System};
use super::format::Format;
use resched_tables::Error;
use resched_tables::cause::{self, Cause};
use resched_tables::model::NodeRow;
use resched_tables::sink::{Damage, Sink};
use resched_tables::store::TimeZero;

use self::cell::Cell;
use self::entry::{Counts, Problem, Row, Seen};
pub use self::map::Map;
pub(crate) use self::map::{LONGEST_NAME, MAX_MAP, MOST_COLUMNS, MOST_MACHINES, MOST_PARTS};
pub(crate) use self::pattern::LONGEST as LONGEST_PATTERN;
pub(crate) use self::rows::{MAX_COLUMNS, MAX_ROW};
pub use self::suggest::suggest;

/// The framework of such a job in the jobs table.
pub const FRAMEWORK: &str = "table";
static SYSTEM: System = System { framework: FRAMEWORK, logs: "tables" };

/// Tables whose times count from 1970.
static EPOCH: Format = format(TimeZero::Epoch);
/// Tables whose times count from another zero.
static RELATIVE: Format = format(TimeZero::Relative);

/// The format of tables. No file is recognised as one: a map makes it one.
const fn format(zero: TimeZero) -> Format {
    Format {
        name: "table",
        title: "table under a map",
        time_zero: Some(zero),
        system: Some(resched_tables::store::System::Batch),
        has_tasks: true,
        group: "table",
        is_whole: false,
        has_times_of_tasks: false,
        folded: false,
        reads: &[],
        sniff: |_| false,
        read: |_, _, _| Ok(()),
    }
}

/// The manifest's parameter with the zone of the times.
const TIMEZONE: &str = "timezone";
/// The manifest's parameter with the title of the map.
const TITLE: &str = "table";
/// GPUs of machines, in their resources.
const GPU: &str = "gres/gpu";

impl Map {
    /// The format of its tables.
    pub(crate) fn table(&self) -> &'static Format {
        if self.zero() == TimeZero::Epoch { &EPOCH } else { &RELATIVE }
    }

    /// Reads a table.
    ///
    /// # Errors
    /// [`Error::Source`] if the table lacks a column of the map or is damaged; errors of the disk and the sink.
    pub fn read_table(&self, input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
        let shows_machines = self.machines.is_empty() && self.fields.hosts.is_some();
        let mut jobs = accounting::begin(sink, &SYSTEM);
        if !shows_machines {
            jobs.without_machines();
        }
        let before = jobs.entries();
        let zone = sink.zone().or(self.zone);
        let clock = Clock::of(zone.unwrap_or_default());
        let used = self.used();
        let seen = vec![std::cell::Cell::new(false); used.len()];
        let mut table = Table { map: self, used: &used, seen: &seen, jobs, clock, counts: Counts::default(), sink };
        let result = rows::read(self, &used, (input, path), &mut table);
        let Table { jobs, clock, counts, sink, .. } = table;
        self.report_reads(&used, &seen, sink);
        if !self.title.is_empty() {
            sink.parameter(TITLE, self.title.as_str().into());
        }
        sink.skip(cause::UNKNOWN_STATE, counts.unknown_states);
        sink.skip(cause::DAMAGED_NODE_LIST, counts.damaged_hosts);
        if clock.used && self.zero() == TimeZero::Epoch {
            sink.parameter(TIMEZONE, clock.days.zone().to_string().into());
            sink.skip(cause::TIME_ZONE_ASSUMED, u64::from(zone.is_none()));
            sink.skip(cause::AMBIGUOUS_LOCAL_TIME, clock.ambiguous);
        }
        accounting::end(jobs, before, sink)?;
        if !shows_machines {
            self.report_machines(sink);
        }
        result
    }

    /// Reports the columns that gave values to fields.
    fn report_reads(&self, used: &[&str], seen: &Seen, sink: &mut dyn Sink) {
        let place = |name: &str| used.binary_search(&name).ok().and_then(|place| seen.get(place));
        for (field, source) in self.fields.all() {
            for name in source.columns.iter().filter(|name| place(name).is_some_and(std::cell::Cell::get)) {
                map::fills(field).iter().for_each(|column| sink.filled_from(column, name));
            }
        }
    }

    fn report_machines(&self, sink: &mut dyn Sink) {
        if self.machines.is_empty() {
            return sink.skip(cause::FILE_WITHOUT_MACHINES, 1);
        }
        for group in &self.machines {
            let memory = group
                .memory
                .as_ref()
                .and_then(|text| Cell::Text(text.as_str().into()).bytes(&self::map::Source::default()));
            for host in group.names().unwrap_or_default() {
                sink.node(NodeRow {
                    host,
                    cpu: group.cores.map(|cores| i64::from(cores) * 1_000),
                    memory,
                    resources: group.gpus.filter(|&gpus| gpus > 0).map(|gpus| format!("{GPU}={gpus}")),
                    ..NodeRow::default()
                });
            }
        }
    }
}

/// A table that is read.
struct Table<'a> {
    map: &'a Map,
    used: &'a [&'a str],
    seen: &'a Seen,
    jobs: Jobs,
    clock: Clock,
    counts: Counts,
    sink: &'a mut dyn Sink,
}

impl take::Take for Table<'_> {
    fn row(&mut self, number: u64, cells: &[Cell<'_>]) -> Result<(), Error> {
        let row = Row { map: self.map, used: self.used, cells, seen: self.seen };
        if !row.is_job() {
            self.sink.skip(cause::ROW_FILTERED_OUT, 1);
            return Ok(());
        }
        let texts = row.texts();
        match row.entry(number, &texts, &mut self.clock, &mut self.counts) {
            Ok(entry) => self.jobs.take(&entry, self.sink)?,
            Err(Problem { field, found }) => {
                self.sink.skip(cause::DAMAGED_ROW, 1);
                let place = format!("row {number}, {field}: ");
                let found = if found.is_empty() { "none".to_owned() } else { format!("`{found}`") };
                let expected = format!("a value as the map says for `{field}`");
                self.sink
                    .damage(&|| Damage::new(&place, &expected, &found, "correct the column or the unit in the map"));
            }
        }
        Ok(())
    }

    fn damaged(&mut self, number: u64, cause: Cause, found: &str) {
        self.sink.skip(cause, 1);
        let place = format!("row {number}: ");
        self.sink.damage(&|| Damage::new(&place, "a row of a table", found, "correct the table, or leave the row out"));
    }
}
