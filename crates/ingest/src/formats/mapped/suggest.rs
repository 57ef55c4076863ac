//! A first map for a table, from the names of its columns and its first rows.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::BufRead;

use super::cell::Cell;
use super::map::Map;
use super::rows;
use super::take::Take;
use resched_tables::Error;
use resched_tables::cause::Cause;

/// So many rows are looked at.
const ROWS: u64 = 200;
/// So many different values of a state are shown.
const MOST_STATES: usize = 20;
/// The longest value that is shown, bytes.
const LONGEST_SHOWN: usize = 60;

/// Words in the names of columns, by field: the first that a column has counts.
const NAMES: [(&str, &[&str]); 19] = [
    ("id", &["job_id", "jobid", "id_job", "jid", "job_number", "primary_job_id", "id"]),
    (
        "submit",
        &[
            "submit_time",
            "time_submit",
            "submission_time",
            "submitted_time",
            "job_submit_time",
            "queued_timestamp",
            "submit",
            "queued",
            "adt",
            "arrival",
        ],
    ),
    ("eligible", &["eligible_time", "time_eligible", "eligible"]),
    ("start", &["start_time", "time_start", "begin_time", "start_timestamp", "start", "sdt", "begin"]),
    ("end", &["end_time", "time_end", "finish_time", "end_timestamp", "end", "edt", "finish"]),
    ("run", &["run_time", "runtime", "runtime_seconds", "elapsed", "duration", "wall_time"]),
    ("limit", &["time_limit", "timelimit", "wallclock_req", "walltime", "walltime_seconds", "elpl", "requested_time"]),
    ("user", &["user_id", "user", "id_user", "usr", "username", "username_genid", "hashed_user_id", "owner"]),
    ("account", &["account", "project", "group_id", "group", "vc", "project_name"]),
    ("queue", &["partition", "queue", "queue_name", "pclass", "jobenv_req"]),
    ("qos", &["qos", "id_qos"]),
    ("name", &["job_name", "jobname", "jnam", "name"]),
    ("state", &["job_state", "state", "state_simple", "exit_state", "exit state", "status", "exit_status"]),
    (
        "nodes",
        &[
            "num_nodes_alloc",
            "nodes_alloc",
            "num_nodes",
            "node_num",
            "nodes_used",
            "nnumr",
            "nodes_requested",
            "nodes_req",
        ],
    ),
    ("tasks", &["num_tasks", "ntasks"]),
    (
        "cpus",
        &[
            "num_cores_req",
            "cpus_req",
            "cnumr",
            "num_cores_alloc",
            "cpu_num",
            "cores_requested",
            "cpus",
            "ncpus",
            "processors",
        ],
    ),
    ("gpus", &["num_gpus_req", "num_gpus_alloc", "gpu_num", "gpus", "ngpus", "num_gpus"]),
    ("memory", &["mem_req", "memory_req", "memory", "mem", "mszl", "req_mem"]),
    ("hosts", &["nodelist", "node_list", "nodes", "hosts", "exec_hosts", "location"]),
];

/// A column of the table.
#[derive(Debug, Default, Clone)]
struct Column {
    name: String,
    /// The first value.
    example: Option<Cell<'static>>,
    /// Its different values, if these are few.
    values: BTreeMap<String, u64>,
}

/// A first map for the table in `input`, as TOML. `path` is its name for messages.
///
/// # Errors
/// [`Error::Source`] if it is no table; errors of the disk.
pub fn suggest(input: &mut dyn BufRead, path: &str) -> Result<String, Error> {
    let columns = look(input, path)?;
    let mut left: Vec<&Column> = columns.iter().collect();
    let mut text =
        format!("# A first map for {}, from its columns. Check each line, the units above all.\n", quoted(path));
    text.push_str("# zone = \"Europe/Berlin\"   # of times without a zone\n\n[fields]\n");
    let mut states = None;
    for (field, names) in NAMES {
        let is = |column: &&Column, name: &str| column.name.eq_ignore_ascii_case(name);
        let place = names.iter().find_map(|name| left.iter().position(|column| is(column, name)));
        let Some(column) = place.map(|place| left.remove(place)) else {
            // Errors of writing to a text cannot happen.
            let _ = writeln!(text, "# {field} =");
            continue;
        };
        let _ = writeln!(text, "{field} = {}   # {}", source(field, column), shown(column));
        states = if field == "state" { Some(column) } else { states };
    }
    if let Some(column) = states {
        text.push_str(&words(column));
    }
    text.push_str("\n# Columns that are not used:\n");
    for column in left {
        let _ = writeln!(text, "# {}: {}", quoted(&column.name), shown(column));
    }
    Ok(text)
}

/// The source of a field: its column, with the unit that its values look like.
fn source(field: &str, column: &Column) -> String {
    let name = quoted(&column.name);
    let number = column.example.as_ref().and_then(Cell::whole);
    let unit = match (field, number) {
        ("submit" | "eligible" | "start" | "end", Some(number)) => match number {
            100_000_000_000_000_000.. => Some("ns"),
            100_000_000_000_000.. => Some("us"),
            100_000_000_000.. => Some("ms"),
            _ => Some("s"),
        },
        ("run", Some(_)) => Some("s"),
        // Slurm has minutes, other systems seconds.
        ("limit", Some(_)) if column.name.to_ascii_lowercase().contains("sec") => Some("s"),
        ("limit", Some(number)) if number % 60 == 0 && number >= 3_600 => Some("s"),
        ("limit", Some(_)) => Some("min"),
        ("memory", Some(number)) if number >= 10_000_000 => Some("B"),
        ("memory", Some(number)) if number >= 10_000 => Some("MiB"),
        ("memory", Some(_)) => Some("GiB"),
        _ => None,
    };
    match (unit, field) {
        (Some(unit), _) => format!("{{ column = {name}, unit = \"{unit}\" }}"),
        (None, "hosts") => {
            let is_folded = column.example.as_ref().is_some_and(|example| {
                let text = example.text();
                matches!(example, Cell::Text(_)) && text.contains('[') && !text.starts_with('[')
            });
            let syntax = if is_folded { "slurm" } else { "list" };
            format!("{{ column = {name}, syntax = \"{syntax}\" }}")
        }
        _ => name,
    }
}

/// The states that were seen, each for you to put into a list.
fn words(column: &Column) -> String {
    let mut text = String::from(
        "\n# Without this table, the usual words count, such as COMPLETED, FAILED and CANCELLED.\n# [states]\n",
    );
    for (value, times) in column.values.iter().take(MOST_STATES) {
        let _ = writeln!(text, "# {}: {times} times in the first rows", quoted(value));
    }
    text
}

/// A text between quotation marks, as TOML has it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => quoted.push(' '),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// The example of a column, in one short line.
fn shown(column: &Column) -> String {
    let Some(example) = &column.example else { return "no value in the first rows".to_owned() };
    let text: String = example.text().chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let head = short(&text);
    format!("such as {head}{}", if head.len() < text.len() { " …" } else { "" })
}

/// The beginning of a text.
fn short(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LONGEST_SHOWN)).unwrap_or_default()
}

/// The columns of the table, with the values of the first rows.
fn look(input: &mut dyn BufRead, path: &str) -> Result<Vec<Column>, Error> {
    let mut seen = Seen::default();
    let names = rows::names(input, path)?;
    seen.columns = names.into_iter().map(|name| Column { name, ..Column::default() }).collect();
    let names: Vec<String> = seen.columns.iter().map(|column| column.name.clone()).collect();
    let used: Vec<&str> = names.iter().map(String::as_str).collect();
    match rows::read(&Map::empty(), &used, (input, path), &mut seen) {
        Err(error) if seen.rows < ROWS => Err(error),
        _ => Ok(seen.columns),
    }
}

#[derive(Default)]
struct Seen {
    rows: u64,
    columns: Vec<Column>,
}

impl Take for Seen {
    fn row(&mut self, _: u64, cells: &[Cell<'_>]) -> Result<(), Error> {
        self.rows += 1;
        for (column, cell) in self.columns.iter_mut().zip(cells).filter(|(_, cell)| cell.is_some()) {
            if column.values.len() <= MOST_STATES {
                *column.values.entry(short(&cell.text()).to_owned()).or_default() += 1;
            }
            if column.example.is_none() {
                column.example = Some(cell.clone().into_owned());
            }
        }
        // That is enough, and nobody sees this error.
        if self.rows < ROWS { Ok(()) } else { Err(Error::Request("enough rows".to_owned())) }
    }

    fn damaged(&mut self, _: u64, _: Cause, _: &str) {}
}
