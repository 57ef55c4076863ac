//! Lists as text: `sacct -P` and `-p`, with a header or without (`-n`).

use std::io::BufRead;
use std::path::Path;

use resched_tables::Error;
use resched_tables::cause;
use resched_tables::sink::{Damage, Sink};

use super::super::lines::{Line, Lines, head_lines};
use super::fields::{Fields, Split};
use super::header::{Header, is_fixed_width, refused};
use super::headless::{self, named_fields};
use super::id::Id;
use super::jobs::Jobs;
use super::row::{Row, Times, one_qos};
use super::state::Standing;
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
    let failed = |error| Error::io(Path::new(path), "read")(error);
    let given = sink.fields().map(named_fields).transpose()?;
    let headless = without_header(input.fill_buf().map_err(failed)?, given);
    let mut lines = Lines::new(input, MAX_LINE);
    let Some((number, first)) = first_line(&mut lines).map_err(failed)? else { return Ok(()) };
    let of_file = Header::parse(&first);
    let has_header = of_file.is_some();
    let Some(header) = of_file.or(headless) else {
        let found = if is_fixed_width(&first, None) { "columns of fixed width" } else { "another first line" };
        return Err(refused(path, found));
    };
    header.check(path)?;
    header.version().into_iter().for_each(|version| jobs.note_version(version));
    let (columns, fields) = (Columns::of(&header), Fields::of(&header));
    let mut list = List { columns, fields, clock, jobs, held: None, number, waiting: Vec::new(), bytes: 0 };
    if !has_header {
        list.take(&first, sink)?;
    }
    while let Some(line) = lines.next().map_err(failed)? {
        list.number += 1;
        match line {
            Line::TooLong => list.oversized(sink),
            Line::Text(line) if line.is_empty() && list.held.is_none() || has_header && *line == *first => {}
            Line::Text(line) => list.take(&line, sink)?,
        }
    }
    if let Some((text, _)) = list.held.take() {
        list.damaged(&text, "too few fields", 1, sink);
    }
    for (fills, name) in &list.columns.reads {
        fills.iter().for_each(|column| sink.filled_from(column, name));
    }
    list.end(sink)
}

/// The columns of a list that begins so, if it has no header: those that were given, or of Open XDMoD.
fn without_header(head: &[u8], given: Option<Vec<String>>) -> Option<Header> {
    let lines = head_lines(head);
    match given {
        Some(names) => Some(headless::named(names, &lines)),
        None => headless::recognise(&lines),
    }
}

/// The first line that is not empty, with its number.
fn first_line(lines: &mut Lines<'_>) -> std::io::Result<Option<(u64, String)>> {
    let mut number = 0;
    while let Some(line) = lines.next()? {
        number += 1;
        if let Line::Text(line) = line
            && !line.trim().is_empty()
        {
            return Ok(Some((number, line.trim_start_matches('\u{feff}').to_owned())));
        }
    }
    Ok(None)
}

/// The most bytes of lines with too many fields that wait for the end of the list.
const MOST_WAITING: usize = 64 << 20;

struct List<'a> {
    columns: Columns,
    fields: Fields,
    clock: &'a mut Clock,
    jobs: &'a mut Jobs,
    /// The beginning of a row whose free text has a line break, and how many it has.
    held: Option<(String, usize)>,
    /// The number of the line.
    number: u64,
    /// Lines with too many fields, with their numbers: what stands in the columns of all others shows how to join their fields.
    waiting: Vec<(u64, String)>,
    /// Their bytes.
    bytes: usize,
}

impl List<'_> {
    fn take(&mut self, line: &str, sink: &mut dyn Sink) -> Result<(), Error> {
        if self.held.is_none() && self.columns.id.is_some_and(|column| self.fields.is_step(line, column)) {
            sink.skip(cause::STEP_OF_A_JOB, 1);
            return Ok(());
        }
        match self.fields.split(line) {
            Split::Joined | Split::Long if self.held.is_none() && self.bytes + line.len() <= MOST_WAITING => {
                self.bytes += line.len();
                self.waiting.push((self.number, line.to_owned()));
                Ok(())
            }
            Split::Even | Split::Joined if self.held.is_none() || self.fields.fit(line) => {
                // A row that was cut before this one.
                if let Some((cut, _)) = self.held.take() {
                    self.damaged(&cut, "too few fields", 1, sink);
                }
                self.fields.split(line);
                self.row(line, sink)
            }
            Split::Long if self.held.is_none() => {
                self.ambiguous(line, sink);
                Ok(())
            }
            _ => self.hold(line, sink),
        }
    }

    /// Reads the lines that waited for the end of the list.
    fn end(&mut self, sink: &mut dyn Sink) -> Result<(), Error> {
        for (number, line) in std::mem::take(&mut self.waiting) {
            self.number = number;
            match self.fields.split(&line) {
                Split::Even | Split::Joined => self.row(&line, sink)?,
                Split::Short | Split::Long => self.ambiguous(&line, sink),
            }
        }
        Ok(())
    }

    /// Joins a line to the row that is held.
    fn hold(&mut self, line: &str, sink: &mut dyn Sink) -> Result<(), Error> {
        let Some((mut text, breaks)) = self.held.take() else {
            self.held = Some((line.to_owned(), 0));
            return Ok(());
        };
        text.push('\n');
        text.push_str(line);
        match self.fields.split(&text) {
            Split::Even | Split::Joined if self.fields.fit(&text) => self.row(&text, sink),
            Split::Short if text.len() <= MAX_LINE && breaks < MOST_BREAKS => {
                self.held = Some((text, breaks + 1));
                Ok(())
            }
            _ => {
                self.damaged(&text, "other fields", breaks as u64 + 2, sink);
                Ok(())
            }
        }
    }

    /// Takes the row of the line that was split last.
    fn row(&mut self, line: &str, sink: &mut dyn Sink) -> Result<(), Error> {
        let id = self.columns.id.map(|column| self.fields.text(line, column)).unwrap_or_default();
        if id.contains('.') {
            sink.skip(cause::STEP_OF_A_JOB, 1);
            return Ok(());
        }
        match self.columns.row(&self.fields, line, self.clock) {
            Ok(row) => {
                self.fields.learn(line);
                self.jobs.take(&row, sink)
            }
            Err(Problem { column, found, remedy }) => {
                sink.skip(cause::DAMAGED_LINE, 1);
                let place = format!("line {}, {column}: ", self.number);
                sink.damage(&|| Damage::new(&place, "the fields of a job", &format!("`{found}`"), remedy));
                Ok(())
            }
        }
    }

    /// Counts a line that is too long to be kept.
    fn oversized(&self, sink: &mut dyn Sink) {
        sink.skip(cause::OVERSIZED_LINE, 1);
        let place = format!("line {}: ", self.number);
        let expected = format!("a line of at most {MAX_LINE} bytes");
        sink.damage(&|| Damage::new(&place, &expected, "a longer one", LIST_AGAIN));
    }

    /// Counts a line that is no row.
    fn damaged(&self, line: &str, found: &str, lines: u64, sink: &mut dyn Sink) {
        sink.skip(cause::DAMAGED_LINE, lines);
        let place = format!("line {}: ", self.number);
        sink.damage(&|| {
            Damage::new(
                &place,
                "the fields that the header or --fields names",
                &format!("{found}: `{}`", start_of(line)),
                LIST_AGAIN,
            )
        });
    }

    /// Counts a line of which nobody can say which of its fields belong together.
    fn ambiguous(&self, line: &str, sink: &mut dyn Sink) {
        sink.skip(cause::AMBIGUOUS_LINE, 1);
        let place = format!("line {}: ", self.number);
        let expected = format!("{} fields between `{}`", self.fields.columns(), self.fields.between());
        let found = format!("more, and several ways or none to join them: `{}`", start_of(line));
        sink.damage(&|| Damage::new(&place, &expected, &found, OTHER_DELIMITER));
    }
}

/// The beginning of a line, for a message.
fn start_of(line: &str) -> &str {
    line.get(..line.floor_char_boundary(120)).unwrap_or_default()
}

/// What to do about times of `sacct` for people.
const ABSOLUTE_TIMES: &str =
    "it is relative to the day of the list; set SLURM_TIME_FORMAT= (nothing behind `=`), and list again";
/// What to do about jobs without CPUs.
const NO_CPUS: &str = "no job of the list has CPUs; list the fields ReqCPUS, AllocCPUS and ReqTRES";
/// What to do about other damage.
const LIST_AGAIN: &str = "list again with `sacct -a -P -D --format=ALL`";
/// What to do if values hold the delimiter.
const OTHER_DELIMITER: &str = "the delimiter is in a value; list again with `-P --delimiter='^|^'`, or with --json";

/// Why a line is no row of a job.
struct Problem<'l> {
    /// The field, as the header names it.
    column: &'static str,
    found: &'l str,
    remedy: &'static str,
}

/// Where the fields stand.
struct Columns {
    id: Option<usize>,
    name: Option<usize>,
    user: Option<usize>,
    account: Option<usize>,
    partition: Option<usize>,
    qos: [Option<usize>; 2],
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
    any_nodes: Option<usize>,
    node_list: Option<usize>,
    submit_line: Option<usize>,
    old_gres: [Option<usize>; 2],
    reason: Option<usize>,
    restarts: Option<usize>,
    cluster: Option<usize>,
    /// What the header calls the values of the columns of the tables, column by column.
    reads: Vec<(Fills, String)>,
}

/// The columns of the tables that a field fills, or helps to fill.
type Fills = &'static [&'static str];

const TIMES_OF_START: Fills = &["jobs.launch", "tasks.start", "attempts.start"];
const TIMES_OF_END: Fills = &["jobs.finish", "tasks.finish", "attempts.finish"];
const ALL_TIMES: Fills = &[
    "jobs.finish",
    "tasks.finish",
    "attempts.finish",
    "jobs.launch",
    "tasks.start",
    "attempts.start",
    "attempts.run_time",
];
const SIZE: Fills = &["jobs.requested_containers", "jobs.requested_cpu", "tasks.instances", "tasks.cpu_request"];
const LAYOUT: Fills = &["tasks.instances", "tasks.cpu_request", "tasks.machines"];
const MEMORY: Fills = &["jobs.requested_memory", "tasks.memory_request"];
const TRES: Fills = &[
    "jobs.requested_containers",
    "jobs.requested_cpu",
    "jobs.requested_memory",
    "jobs.licenses",
    "tasks.instances",
    "tasks.cpu_request",
    "tasks.memory_request",
    "tasks.machines",
    "tasks.resources",
];
const PLACES: Fills =
    &["attempts.host", "attempts.hosts", "tasks.machines", "tasks.exclusive", "nodes.host", "nodes.cpu"];
const COMMAND: Fills = &[
    "jobs.depends_on",
    "jobs.nice",
    "jobs.array",
    "jobs.array_limit",
    "tasks.instances",
    "tasks.cpu_request",
    "tasks.machines",
    "tasks.resources",
    "tasks.exclusive",
];

/// The columns that an end and a run time fill. A start or an end that the list does not have follows from them.
fn fills_of_times(header: &Header) -> [Fills; 2] {
    let has = |field: &str| header.column(&[field]).is_some();
    match (has("Start"), has("End")) {
        (true, true) => [TIMES_OF_END, &["tasks.finish", "attempts.finish", "attempts.run_time"]],
        (true, false) => [TIMES_OF_END, &["jobs.finish", "tasks.finish", "attempts.finish", "attempts.run_time"]],
        (false, _) => [ALL_TIMES, ALL_TIMES],
    }
}

impl Columns {
    fn of(header: &Header) -> Self {
        let [of_end, of_run_time] = fills_of_times(header);
        let mut reads: Vec<(Fills, String)> = Vec::new();
        let mut column = |fills: Fills, fields: &[&str]| {
            let place = header.column(fields)?;
            reads.extend(header.names.get(place).map(|name| (fills, name.clone())));
            Some(place)
        };
        Self {
            id: column(&["jobs.job_id", "jobs.together", "jobs.array", "jobs.array_limit"], &["JobID", "JobIDRaw"]),
            name: column(&["jobs.name"], &["JobName"]),
            user: column(&["jobs.user"], &["User"]),
            account: column(&["jobs.group"], &["Account"]),
            partition: column(&["jobs.queue"], &["Partition"]),
            qos: ["QOS", "QOSREQ"].map(|field| column(&["jobs.qos"], &[field])),
            reservation: column(&["jobs.reservation"], &["Reservation"]),
            constraints: column(&["jobs.features"], &["Constraints"]),
            priority: column(&["jobs.priority_number"], &["Priority"]),
            flags: column(&[], &["Flags"]),
            limit: ["TimelimitRaw", "Timelimit"].map(|field| column(&["jobs.requested_time"], &[field])),
            submit: column(&["jobs.submit", "attempts.queued"], &["Submit"]),
            rest: [
                column(&["jobs.eligible", "attempts.queued"], &["Eligible"]),
                column(TIMES_OF_START, &["Start"]),
                column(of_end, &["End"]),
            ],
            elapsed: ["ElapsedRaw", "Elapsed"].map(|field| column(of_run_time, &[field])),
            state: column(&["jobs.outcome", "tasks.outcome", "attempts.outcome"], &["State"]),
            req_cpus: column(SIZE, &["ReqCPUS"]),
            alloc_cpus: column(SIZE, &["AllocCPUS", "NCPUS"]),
            req_nodes: column(LAYOUT, &["ReqNodes"]),
            alloc_nodes: column(LAYOUT, &["AllocNodes"]),
            req_tres: column(TRES, &["ReqTRES"]),
            alloc_tres: column(TRES, &["AllocTRES"]),
            req_mem: column(MEMORY, &["ReqMem"]),
            node_list: column(PLACES, &["NodeList"]),
            any_nodes: column(LAYOUT, &["NNodes"]),
            submit_line: column(COMMAND, &["SubmitLine"]),
            old_gres: ["ReqGRES", "AllocGRES"].map(|field| column(&["tasks.resources"], &[field])),
            reason: column(&["jobs.wait_reason"], &["Reason"]),
            restarts: column(&[], &["Restarts"]),
            cluster: column(&[], &["Cluster"]),
            reads,
        }
    }

    /// The row of a line, or which field that each job needs is damaged.
    fn row<'l>(&self, fields: &Fields, line: &'l str, clock: &mut Clock) -> Result<Row<'l>, Problem<'l>> {
        let text = |column: Option<usize>| column.map_or("", |column| fields.text(line, column));
        let problem = |column, found, remedy| Problem { column, found, remedy };
        let [raw, shown] = self.elapsed.map(text);
        let elapsed = whole(raw).and_then(|seconds| seconds.checked_mul(1_000)).or_else(|| duration(shown));
        let submit =
            clock.time(text(self.submit)).ok_or_else(|| problem("Submit", text(self.submit), ABSOLUTE_TIMES))?;
        let rest = self.rest.map(|column| clock.time(text(column)));
        let [minutes, shown] = self.limit.map(text);
        let (id, pending) = Id::parse(text(self.id)).ok_or_else(|| problem("JobID", text(self.id), LIST_AGAIN))?;
        let (req_tres, alloc_tres) = (text(self.req_tres), text(self.alloc_tres));
        let req = Tres::parse(req_tres);
        // Mostly, a job gets what it asked for.
        let alloc = if alloc_tres == req_tres { req.clone() } else { Tres::parse(alloc_tres) };
        let times = Times::in_order(submit, rest, elapsed);
        let state = Some(text(self.state)).filter(|state| !state.is_empty());
        let state = state.ok_or_else(|| problem("State", "", LIST_AGAIN))?;
        let row = Row {
            id,
            pending,
            array_limit: array_limit(pending),
            name: text(self.name),
            user: text(self.user),
            account: text(self.account),
            partition: text(self.partition),
            qos: one_qos(text(self.qos[0]), text(self.qos[1])),
            reservation: text(self.reservation),
            constraints: text(self.constraints),
            priority: text(self.priority).parse().ok(),
            by_backfill: text(self.flags).split(',').any(|flag| flag == "SchedBackfill"),
            limit: limit(minutes, shown),
            times,
            standing: Standing::of(state, Row::has_run(&times)),
            req_cpus: count(text(self.req_cpus)),
            alloc_cpus: count(text(self.alloc_cpus)),
            req_nodes: count(text(self.req_nodes)),
            alloc_nodes: count(text(self.alloc_nodes)),
            any_nodes: count(text(self.any_nodes)),
            req,
            alloc,
            req_mem: Memory::parse(text(self.req_mem)),
            node_list: self.node_list.map(|column| fields.text(line, column)),
            submit_line: text(self.submit_line),
            old_gres: self.old_gres.map(text),
            reason: Some(text(self.reason)).filter(|reason| *reason != "None").unwrap_or_default(),
            restarts: count(text(self.restarts)).unwrap_or(0),
            cluster: text(self.cluster),
        };
        if row.cpus().is_some() {
            Ok(row)
        } else {
            Err(problem("ReqCPUS", text(self.req_cpus.or(self.alloc_cpus)), NO_CPUS))
        }
    }
}
