//! Lists as text: `sacct -P` and `-p`.

use std::io::BufRead;
use std::path::Path;

use resched_tables::Error;
use resched_tables::sink::Sink;

use super::super::lines::{Line, Lines};
use super::fields::{Fields, Split};
use super::header::{Header, is_fixed_width, refused};
use super::id::Id;
use super::jobs::Jobs;
use super::row::{Row, Times};
use super::state::State;
use super::submit_line::array_limit;
use super::times::Clock;
use super::tres::Tres;
use super::values::{Memory, count, duration, limit, whole};

/// The longest line. Only command lines, comments and TRES are long.
pub(crate) const MAX_LINE: usize = 1 << 20;
/// A free text may have line breaks, as in `sbatch --wrap`, but not more.
const MOST_BREAKS: usize = 200;

/// Reads a list into `jobs`.
pub(super) fn read(
    input: &mut dyn BufRead,
    path: &str,
    (sink, jobs): (&mut dyn Sink, &mut Jobs),
    clock: &mut Clock,
) -> Result<(), Error> {
    let mut lines = Lines::new(input, MAX_LINE);
    let failed = |error| Error::io(Path::new(path), "read")(error);
    let Some(first) = first_line(&mut lines).map_err(failed)? else { return Ok(()) };
    let Some(header) = Header::parse(&first) else {
        let found = if is_fixed_width(&first, None) { "columns of fixed width" } else { "another first line" };
        return Err(refused(path, found));
    };
    header.check(path)?;
    let mut list = List { columns: Columns::of(&header), fields: Fields::of(&header), clock, jobs, held: None };
    while let Some(line) = lines.next().map_err(failed)? {
        match line {
            Line::TooLong => sink.skip("oversized-line", 1),
            Line::Text(line) if line.is_empty() && list.held.is_none() || *line == *first => {}
            Line::Text(line) => list.take(&line, path, sink)?,
        }
    }
    sink.skip("damaged-line", u64::from(list.held.is_some()));
    Ok(())
}

/// The first line that is not empty.
fn first_line(lines: &mut Lines<'_>) -> std::io::Result<Option<String>> {
    while let Some(line) = lines.next()? {
        if let Line::Text(line) = line
            && !line.trim().is_empty()
        {
            return Ok(Some(line.trim_start_matches('\u{feff}').to_owned()));
        }
    }
    Ok(None)
}

struct List<'a> {
    columns: Columns,
    fields: Fields,
    clock: &'a mut Clock,
    jobs: &'a mut Jobs,
    /// The beginning of a row whose free text has a line break, and how many it has.
    held: Option<(String, usize)>,
}

impl List<'_> {
    fn take(&mut self, line: &str, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
        if self.held.is_none() && self.columns.id.is_some_and(|column| self.fields.is_step(line, column)) {
            sink.skip(super::STEP, 1);
            return Ok(());
        }
        match self.fields.split(line) {
            Split::Even | Split::Joined if self.held.is_none() || self.fields.fit(line) => {
                // A row that was cut before this one.
                sink.skip("damaged-line", u64::from(self.held.take().is_some()));
                self.row(line, path, sink)
            }
            Split::Long if self.held.is_none() => {
                sink.skip("ambiguous-line", 1);
                Ok(())
            }
            _ => self.hold(line, path, sink),
        }
    }

    /// Joins a line to the row that is held.
    fn hold(&mut self, line: &str, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
        let Some((mut text, breaks)) = self.held.take() else {
            self.held = Some((line.to_owned(), 0));
            return Ok(());
        };
        text.push('\n');
        text.push_str(line);
        match self.fields.split(&text) {
            Split::Even | Split::Joined if self.fields.fit(&text) => self.row(&text, path, sink),
            Split::Short if text.len() <= MAX_LINE && breaks < MOST_BREAKS => {
                self.held = Some((text, breaks + 1));
                Ok(())
            }
            _ => {
                sink.skip("damaged-line", breaks as u64 + 2);
                Ok(())
            }
        }
    }

    /// Takes the row of the line that was split last.
    fn row(&mut self, line: &str, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
        let id = self.columns.id.map(|column| self.fields.text(line, column)).unwrap_or_default();
        if id.contains('.') {
            sink.skip(super::STEP, 1);
            return Ok(());
        }
        match self.columns.row(&self.fields, line, self.clock) {
            Some(row) => self.jobs.take(&row, path, sink),
            None => {
                sink.skip("damaged-line", 1);
                Ok(())
            }
        }
    }
}

/// Where the fields stand.
struct Columns {
    id: Option<usize>,
    name: Option<usize>,
    user: Option<usize>,
    account: Option<usize>,
    partition: Option<usize>,
    qos: Option<usize>,
    reservation: Option<usize>,
    constraints: Option<usize>,
    priority: Option<usize>,
    flags: Option<usize>,
    limit: [Option<usize>; 2],
    submit: Option<usize>,
    rest: [Option<usize>; 3],
    elapsed: [Option<usize>; 2],
    state: Option<usize>,
    req_cpus: Option<usize>,
    alloc_cpus: Option<usize>,
    req_nodes: Option<usize>,
    alloc_nodes: Option<usize>,
    req_tres: Option<usize>,
    alloc_tres: Option<usize>,
    req_mem: Option<usize>,
    node_list: Option<usize>,
    submit_line: Option<usize>,
}

impl Columns {
    fn of(header: &Header) -> Self {
        let column = |fields: &[&str]| header.column(fields);
        Self {
            id: column(&["JobID", "JobIDRaw"]),
            name: column(&["JobName"]),
            user: column(&["User"]),
            account: column(&["Account"]),
            partition: column(&["Partition"]),
            qos: column(&["QOS"]),
            reservation: column(&["Reservation"]),
            constraints: column(&["Constraints"]),
            priority: column(&["Priority"]),
            flags: column(&["Flags"]),
            limit: [column(&["TimelimitRaw"]), column(&["Timelimit"])],
            submit: column(&["Submit"]),
            rest: ["Eligible", "Start", "End"].map(|field| column(&[field])),
            elapsed: [column(&["ElapsedRaw"]), column(&["Elapsed"])],
            state: column(&["State"]),
            req_cpus: column(&["ReqCPUS"]),
            alloc_cpus: column(&["AllocCPUS", "NCPUS"]),
            req_nodes: column(&["ReqNodes"]),
            alloc_nodes: column(&["AllocNodes"]),
            req_tres: column(&["ReqTRES"]),
            alloc_tres: column(&["AllocTRES"]),
            req_mem: column(&["ReqMem"]),
            node_list: column(&["NodeList"]),
            submit_line: column(&["SubmitLine"]),
        }
    }

    /// The row of a line; `None` if a field that each job needs is damaged.
    fn row<'l>(&self, fields: &Fields, line: &'l str, clock: &mut Clock) -> Option<Row<'l>> {
        let text = |column: Option<usize>| column.map_or("", |column| fields.text(line, column));
        let [raw, shown] = self.elapsed.map(text);
        let elapsed = whole(raw).and_then(|seconds| seconds.checked_mul(1_000)).or_else(|| duration(shown));
        let submit = clock.time(text(self.submit))?;
        let rest = self.rest.map(|column| clock.time(text(column)));
        let [minutes, shown] = self.limit.map(text);
        let (id, pending) = Id::parse(text(self.id))?;
        let (req_tres, alloc_tres) = (text(self.req_tres), text(self.alloc_tres));
        let req = Tres::parse(req_tres);
        // Mostly, a job gets what it asked for.
        let alloc = if alloc_tres == req_tres { req.clone() } else { Tres::parse(alloc_tres) };
        let row = Row {
            id,
            pending,
            array_limit: array_limit(pending),
            name: text(self.name),
            user: text(self.user),
            account: text(self.account),
            partition: text(self.partition),
            qos: text(self.qos),
            reservation: text(self.reservation),
            constraints: text(self.constraints),
            priority: text(self.priority).parse().ok(),
            by_backfill: text(self.flags).split(',').any(|flag| flag == "SchedBackfill"),
            limit: limit(minutes, shown),
            times: Times::in_order(submit, rest, elapsed),
            state: State::of(Some(text(self.state)).filter(|state| !state.is_empty())?),
            req_cpus: count(text(self.req_cpus)),
            alloc_cpus: count(text(self.alloc_cpus)),
            req_nodes: count(text(self.req_nodes)),
            alloc_nodes: count(text(self.alloc_nodes)),
            req,
            alloc,
            req_mem: Memory::parse(text(self.req_mem)),
            node_list: self.node_list.map(|column| fields.text(line, column)),
            submit_line: text(self.submit_line),
        };
        row.cpus().is_some().then_some(row)
    }
}
