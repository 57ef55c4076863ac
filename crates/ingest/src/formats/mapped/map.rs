//! A map: which column of a table is which field of a job (TOML). `docs/formats/map.md` has the keys.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};

use super::pattern::Pattern;
use super::words::{States, Word};
use crate::formats::accounting::Order;
use resched_tables::Error;
use resched_tables::clock::Zone;
use resched_tables::store::TimeZero;
use resched_tables::toml_file::explain_toml;
use resched_tables::whole;

/// The largest map, bytes.
pub(crate) const MAX_MAP: u64 = 1 << 20;
/// The most words of states, filters, patterns and groups of machines of a map, each.
pub(crate) const MOST_PARTS: usize = 1_000;
/// The most columns of a field.
pub(crate) const MOST_COLUMNS: usize = 100;
/// The longest name of a column of a map, prefix of hosts or name of a machine, bytes: few bytes would be many long names.
pub(crate) const LONGEST_NAME: usize = 1 << 7;
/// The most machines of a map.
pub(crate) const MOST_MACHINES: usize = 1_000_000;

/// A map from the columns of a table to the fields of jobs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    /// What the table is.
    #[serde(default)]
    pub(super) title: String,
    /// How it is written; by default, its first bytes decide.
    pub(super) format: Option<Kind>,
    /// The mark between the columns of CSV.
    #[serde(default = "comma")]
    pub(super) delimiter: char,
    /// The names of the columns of CSV without a header.
    #[serde(default)]
    pub(super) columns: Vec<String>,
    /// The files of a folder that are the table, below it. By default all.
    #[serde(default)]
    files: Vec<Pattern>,
    /// The zone of times without one.
    #[serde(default, deserialize_with = "zone")]
    pub(super) zone: Option<Zone>,
    /// The zero of the times.
    #[serde(default)]
    zero: TimeZero,
    pub(super) fields: Fields,
    #[serde(default)]
    pub(super) states: States,
    #[serde(default)]
    pub(super) filter: Vec<Filter>,
    #[serde(default)]
    pub(super) machines: Vec<Machines>,
}

fn comma() -> char {
    ','
}

fn zone<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Zone>, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map(Some).map_err(serde::de::Error::custom)
}

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Csv,
    /// Objects: one in each line, or in an array.
    Json,
    Parquet,
}

/// The fields of a job, each with its source.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fields {
    pub(super) id: Option<Source>,
    pub(super) submit: Source,
    pub(super) eligible: Option<Source>,
    pub(super) start: Option<Source>,
    pub(super) end: Option<Source>,
    pub(super) wait: Option<Source>,
    pub(super) run: Option<Source>,
    pub(super) limit: Option<Source>,
    pub(super) name: Option<Source>,
    pub(super) user: Option<Source>,
    pub(super) queue: Option<Source>,
    pub(super) account: Option<Source>,
    pub(super) qos: Option<Source>,
    pub(super) features: Option<Source>,
    pub(super) reservation: Option<Source>,
    pub(super) priority: Option<Source>,
    pub(super) state: Option<Source>,
    pub(super) nodes: Option<Source>,
    pub(super) tasks: Option<Source>,
    pub(super) cpus: Option<Source>,
    pub(super) memory: Option<Source>,
    pub(super) gpus: Option<Source>,
    pub(super) hosts: Option<Source>,
    pub(super) exclusive: Option<Source>,
}

impl Fields {
    /// The sources that a map has, with the names of their fields.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static str, &Source)> {
        let Self { id, submit, eligible, start, end, wait, run, limit, name, user, queue, account, .. } = self;
        let Self {
            qos,
            features,
            reservation,
            priority,
            state,
            nodes,
            tasks,
            cpus,
            memory,
            gpus,
            hosts,
            exclusive,
            ..
        } = self;
        let optional = [
            ("id", id),
            ("eligible", eligible),
            ("start", start),
            ("end", end),
            ("wait", wait),
            ("run", run),
            ("limit", limit),
            ("name", name),
            ("user", user),
            ("queue", queue),
            ("account", account),
            ("qos", qos),
            ("features", features),
            ("reservation", reservation),
            ("priority", priority),
            ("state", state),
            ("nodes", nodes),
            ("tasks", tasks),
            ("cpus", cpus),
            ("memory", memory),
            ("gpus", gpus),
            ("hosts", hosts),
            ("exclusive", exclusive),
        ];
        let optional = optional.into_iter().filter_map(|(name, source)| Some((name, source.as_ref()?)));
        std::iter::once(("submit", submit)).chain(optional)
    }
}

/// The columns of the tables that a field of a map fills, or helps to fill.
pub(super) fn fills(field: &str) -> &'static [&'static str] {
    match field {
        "id" => &["jobs.job_id"],
        "name" => &["jobs.name"],
        "user" => &["jobs.user"],
        "queue" => &["jobs.queue"],
        "account" => &["jobs.group"],
        "qos" => &["jobs.qos"],
        "features" => &["jobs.features"],
        "reservation" => &["jobs.reservation"],
        "priority" => &["jobs.priority_number"],
        "submit" => &["jobs.submit", "attempts.queued"],
        "eligible" => &["jobs.eligible", "attempts.queued"],
        "start" | "wait" => &["jobs.launch", "tasks.start", "attempts.start"],
        "end" => &["jobs.finish", "tasks.finish", "attempts.finish"],
        "run" => &["jobs.finish", "tasks.finish", "attempts.finish", "attempts.run_time"],
        "limit" => &["jobs.requested_time"],
        "state" => &["jobs.outcome", "tasks.outcome", "attempts.outcome"],
        "nodes" => &["tasks.instances", "tasks.machines"],
        "tasks" => &["tasks.instances"],
        "cpus" => &["jobs.requested_containers", "jobs.requested_cpu", "tasks.instances", "tasks.cpu_request"],
        "memory" => &["jobs.requested_memory", "tasks.memory_request"],
        "gpus" => &["tasks.resources"],
        "hosts" => &["attempts.host", "attempts.hosts", "nodes.host", "nodes.cpu"],
        "exclusive" => &["tasks.exclusive"],
        _ => &[],
    }
}

/// Where a field comes from: a column, or more about it.
#[derive(Debug, Clone, Default)]
pub(super) struct Source {
    /// The columns of which the first with a value counts.
    pub(super) columns: Vec<String>,
    /// A value that all rows have.
    pub(super) value: Option<String>,
    pub(super) unit: Option<Unit>,
    pub(super) of: Of,
    pub(super) order: Order,
    pub(super) syntax: Syntax,
    /// The part of a text such as `cpu=4,gres/gpu=2`.
    pub(super) key: Option<String>,
    /// Values that stand for none.
    pub(super) none: Vec<Pattern>,
    /// What comes before each name of a host.
    pub(super) prefix: String,
    /// The mark between the values of the columns, if all of them together are the value.
    pub(super) join: Option<String>,
    /// True if tables without its columns are read, too.
    pub(super) optional: bool,
}

/// A source as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    column: Columns,
    value: Option<Value>,
    unit: Option<Unit>,
    #[serde(default)]
    of: Of,
    #[serde(default)]
    order: Order,
    #[serde(default)]
    syntax: Syntax,
    key: Option<String>,
    #[serde(default)]
    none: Vec<Pattern>,
    #[serde(default)]
    prefix: String,
    join: Option<String>,
    #[serde(default)]
    optional: bool,
}

#[derive(Default, Deserialize)]
#[serde(untagged)]
enum Columns {
    #[default]
    None,
    One(String),
    Several(Vec<String>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Value {
    Text(String),
    Whole(i64),
    Flag(bool),
}

impl From<Written> for Source {
    fn from(written: Written) -> Self {
        let Written { column, value, unit, of, order, syntax, key, none, prefix, join, optional } = written;
        Self {
            columns: match column {
                Columns::None => Vec::new(),
                Columns::One(column) => vec![column],
                Columns::Several(columns) => columns,
            },
            value: value.map(|value| match value {
                Value::Text(text) => text,
                Value::Whole(number) => number.to_string(),
                Value::Flag(flag) => flag.to_string(),
            }),
            unit,
            of,
            order,
            syntax,
            key,
            none,
            prefix,
            join,
            optional,
        }
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SourceVisitor)
    }
}

struct SourceVisitor;

impl<'de> Visitor<'de> for SourceVisitor {
    type Value = Source;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the name of a column, or a table such as { column = \"limit\", unit = \"min\" }")
    }

    fn visit_str<E>(self, column: &str) -> Result<Source, E> {
        Ok(Source { columns: vec![column.to_owned()], ..Source::default() })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Source, A::Error> {
        Written::deserialize(MapAccessDeserializer::new(map)).map(Source::from)
    }
}

/// A unit of time or memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Unit {
    #[serde(rename = "ns")]
    Nanoseconds,
    #[serde(rename = "us")]
    Microseconds,
    #[serde(rename = "ms")]
    Milliseconds,
    #[serde(rename = "s")]
    Seconds,
    #[serde(rename = "min")]
    Minutes,
    #[serde(rename = "h")]
    Hours,
    #[serde(rename = "d")]
    Days,
    B,
    KB,
    KiB,
    MB,
    MiB,
    GB,
    GiB,
    TB,
    TiB,
}

/// What an amount is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Of {
    #[default]
    Job,
    Node,
    Task,
    Cpu,
}

/// How a list of hosts is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Syntax {
    /// `n[01-04],m7`.
    #[default]
    Slurm,
    /// Names between blanks, commas, semicolons or bars, perhaps in brackets and quotation marks.
    List,
    /// `n1/0*16+n2/0`.
    Pbs,
}

/// Which rows are jobs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Filter {
    pub(super) column: String,
    /// It must match one of these.
    pub(super) is: Option<Vec<Pattern>>,
    /// It must match none of these.
    #[serde(default)]
    pub(super) not: Vec<Pattern>,
}

/// Machines that are alike.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Machines {
    /// Their names, as `n[001-980]`.
    pub(super) hosts: String,
    pub(super) cores: Option<u32>,
    /// Memory, such as `256 GiB`.
    pub(super) memory: Option<String>,
    pub(super) gpus: Option<u32>,
}

impl Map {
    /// The map in a file.
    ///
    /// # Errors
    /// [`Error::Request`] if it cannot be read or is no map.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = whole::bytes(path, MAX_MAP).map(String::from_utf8);
        let wrong = |problem: String| Error::Request(format!("{}: cannot read the map: {problem}", path.display()));
        let text = text.map_err(|error| wrong(error.to_string()))?.map_err(|error| wrong(error.to_string()))?;
        Self::parse(&text, &path.display().to_string())
    }

    /// The map in a text; `path` is its name for messages.
    ///
    /// # Errors
    /// [`Error::Request`] with the line and what was expected there.
    pub fn parse(text: &str, path: &str) -> Result<Self, Error> {
        let map: Self = toml::from_str(text)
            .map_err(|error| explain_toml(&error, text, path, "correct it (docs/formats/map.md)"))?;
        map.check().map_err(|problem| Error::Request(format!("{path}: {problem}")))?;
        Ok(map)
    }

    fn check(&self) -> Result<(), String> {
        let Self { files, filter, machines, states, columns, .. } = self;
        let parts = [files.len(), filter.len(), machines.len(), states.len(), columns.len()];
        if let Some(most) = parts.into_iter().max().filter(|&most| most > MOST_PARTS) {
            return Err(format!("expected lists of at most {MOST_PARTS} entries, found {most}; write fewer"));
        }
        for (field, source) in self.fields.all() {
            if source.columns.is_empty() && source.value.is_none() {
                return Err(format!("fields.{field}: expected a column or a value, found neither; name the column"));
            }
            let names = source.columns.iter().chain([&source.prefix]);
            if source.columns.len() > MOST_COLUMNS || names.map(String::len).max() > Some(LONGEST_NAME) {
                let expected = format!("at most {MOST_COLUMNS} columns, and names of at most {LONGEST_NAME} bytes");
                return Err(format!("fields.{field}: expected {expected}, found more; shorten them"));
            }
        }
        let Fields { start, end, wait, run, .. } = &self.fields;
        let (has_start, has_run) = (start.is_some() || wait.is_some(), run.is_some() || end.is_some());
        if !has_start && !has_run {
            return Err(
                "fields: expected `start`, `end`, `wait` or `run`, found none; name the column of one".to_owned()
            );
        }
        // One group after the other: all of them together may be far too many.
        let add = |left: usize, group: &Machines| left.checked_sub(group.names()?.len());
        if machines.iter().try_fold(MOST_MACHINES, add).is_none() {
            let expected =
                format!("machines: expected lists such as `n[001-980]` of at most {MOST_MACHINES} machines in all");
            return Err(format!("{expected}, found others; correct `hosts`"));
        }
        Ok(())
    }

    /// A map of nothing, for a look at a table.
    pub(super) fn empty() -> Self {
        Self {
            title: String::new(),
            format: None,
            delimiter: comma(),
            columns: Vec::new(),
            files: Vec::new(),
            zone: None,
            zero: TimeZero::Epoch,
            fields: Fields::default(),
            states: States::default(),
            filter: Vec::new(),
            machines: Vec::new(),
        }
    }

    /// The zero of its times.
    pub(crate) fn zero(&self) -> TimeZero {
        self.zero
    }

    /// True if a file of a folder is the table. `path` is its path below the folder.
    pub(crate) fn has_file(&self, path: &Path) -> bool {
        let is_below = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        let text = path.to_string_lossy();
        is_below && (self.files.is_empty() || self.files.iter().any(|pattern| pattern.matches(&text)))
    }

    /// The columns that it uses, each once.
    pub(super) fn used(&self) -> Vec<&str> {
        let of_fields = self.fields.all().flat_map(|(_, source)| &source.columns);
        let all: BTreeSet<&str> =
            of_fields.chain(self.filter.iter().map(|filter| &filter.column)).map(String::as_str).collect();
        all.into_iter().collect()
    }

    /// A column that a table with these columns should have, and lacks: it has none of a field.
    pub(super) fn lacks(&self, has: impl Fn(&str) -> bool) -> Option<&str> {
        let of_fields = self.fields.all().find_map(|(_, source)| {
            let is_there = source.optional || source.value.is_some() || source.columns.iter().any(|column| has(column));
            if is_there { None } else { source.columns.first() }
        });
        let of_filters = || self.filter.iter().map(|filter| &filter.column).find(|column| !has(column));
        of_fields.or_else(of_filters).map(String::as_str)
    }

    /// The outcome of a state.
    pub(super) fn word(&self, state: &str) -> Word {
        self.states.of(state)
    }
}

impl Machines {
    /// The names of the machines; `None` if the list is malformed or too long.
    pub(super) fn names(&self) -> Option<Vec<String>> {
        let is_short = self.hosts.split(',').all(|part| part.len() <= LONGEST_NAME);
        is_short.then(|| resched_tables::host_list::expand(&self.hosts, MOST_MACHINES))?
    }
}
