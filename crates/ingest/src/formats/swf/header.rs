//! The comments of logs: their machines, their zeros, the names of their queues and of their further fields.

use std::collections::BTreeMap;

use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::NodeRow;
use resched_tables::sink::Sink;

use super::further::Names;
use super::{FURTHER_FIELDS, MAX_NAMES, MAX_NODES, PROCESSOR, UNIX_START_TIME};

/// The values of the header that the tables keep.
#[derive(Debug, Default)]
pub(super) struct Header {
    nodes: Option<u64>,
    processors: Option<u64>,
    unix_start: Option<u64>,
    /// When its zero was, ms since the epoch, as it stood before the first job.
    zero: Option<i64>,
    /// How many names the headers of other logs have.
    others: usize,
    pub(super) queues: BTreeMap<u64, String>,
    pub(super) partitions: BTreeMap<u64, String>,
    /// The names of the fields after the 18th.
    pub(super) further: Names,
    /// Names that were left out because there were too many.
    left_out: u64,
}

impl Header {
    /// Takes a comment, which may be a field or anything else.
    pub(super) fn take(&mut self, comment: &str) {
        self.further.take(comment);
        let Some((key, value)) = comment.split_once(':') else { return };
        let value = value.trim();
        match key.trim() {
            "MaxNodes" => self.nodes = first_number(value).map(|(number, _)| number),
            "MaxProcs" => self.processors = first_number(value).map(|(number, _)| number),
            "UnixStartTime" => self.unix_start = first_number(value).map(|(number, _)| number),
            "Queue" => self.left_out += name(&mut self.queues, self.others, value),
            "Partition" => self.left_out += name(&mut self.partitions, self.others, value),
            _ => {}
        }
    }

    /// The number of machines and of their processors together; `None` if the header does not say both in numbers that can be.
    fn machines(&self) -> Option<(u64, u64)> {
        let processors = self.processors.or(self.nodes)?;
        let nodes = self.nodes.unwrap_or(processors).min(processors);
        (1..=MAX_NODES).contains(&nodes).then_some((nodes, processors))
    }

    /// The processors of the largest machine.
    pub(super) fn processors_of_machine(&self) -> Option<i64> {
        let (nodes, processors) = self.machines()?;
        i64::try_from(processors.div_ceil(nodes)).ok()
    }

    /// Notes that a job follows. Returns when the zero of its times was, ms since the epoch; 0 if the header does not say it.
    pub(super) fn begin(&mut self) -> i64 {
        let start = self.unix_start.and_then(|seconds| i64::try_from(seconds).ok());
        let ms = start.and_then(|seconds| seconds.checked_mul(1_000));
        (*self.zero.get_or_insert(ms.unwrap_or(UNKNOWN))).max(0)
    }

    fn report_machines(&self, sink: &mut dyn Sink) {
        let Some((nodes, processors)) = self.machines() else { return };
        let width = nodes.to_string().len();
        for node in 0..nodes {
            let cores = processors / nodes + u64::from(node < processors % nodes);
            sink.node(NodeRow {
                host: format!("node{:0width$}", node + 1),
                cpu: i64::try_from(cores).ok().and_then(|cores| cores.checked_mul(PROCESSOR)),
                ..NodeRow::default()
            });
        }
    }
}

/// The zero of a log that does not say it.
const UNKNOWN: i64 = -1;

/// The headers of logs that are read together, in their order.
#[derive(Debug, Default)]
pub(super) struct Headers(Vec<Header>);

impl Headers {
    /// Begins the header of another log, and returns its number.
    pub(super) fn begin(&mut self) -> usize {
        let others = self.0.iter().map(|header| header.queues.len() + header.partitions.len()).sum();
        self.0.push(Header { others, ..Header::default() });
        self.0.len() - 1
    }

    /// The header of a log.
    pub(super) fn get_mut(&mut self, log: usize) -> Option<&mut Header> {
        self.0.get_mut(log)
    }

    /// Takes out the header of the last log, which has no job.
    pub(super) fn without_last(&mut self) -> Self {
        Self(self.0.pop().into_iter().collect())
    }

    /// By how much the zero of each log is after that of the log that begins first, ms.
    ///
    /// # Errors
    /// [`Error::Request`] if only some of the logs say when their zero was.
    pub(super) fn moved(&self) -> Result<Vec<i64>, Error> {
        let zeros = || self.0.iter().filter_map(|header| header.zero);
        let unknown = zeros().filter(|&zero| zero == UNKNOWN).count();
        if unknown > 0 && unknown < zeros().count() {
            return Err(without_zero());
        }
        let first = zeros().min().unwrap_or(0);
        Ok(self.0.iter().map(|header| header.zero.map_or(0, |zero| zero - first)).collect())
    }

    /// Passes on what the headers say about the machines and the further fields, once all logs are read. The order of the logs does not
    /// matter: of the machines, those of the largest log count.
    pub(super) fn report(&self, sink: &mut dyn Sink) {
        for header in &self.0 {
            sink.skip(cause::TOO_MANY_NAMES, header.left_out);
            sink.skip(cause::FILE_WITHOUT_MACHINES, u64::from(header.machines().is_none()));
            header.further.reads().for_each(|(column, name)| sink.filled_from(column, &name));
        }
        if let Some(seconds) = self.0.iter().filter_map(|header| header.unix_start).min() {
            sink.parameter(UNIX_START_TIME, seconds.into());
        }
        let further = self.0.iter().map(|header| header.further.all()).max_by_key(|names| (names.len(), names.clone()));
        if let Some(further) = further.filter(|names| !names.is_empty()) {
            sink.parameter(FURTHER_FIELDS, further.into());
        }
        if let Some(largest) = self.0.iter().max_by_key(|header| header.machines()) {
            largest.report_machines(sink);
        }
    }
}

/// That a log cannot be read together with others.
fn without_zero() -> Error {
    Error::Request(
        "the SWF logs: expected all of them to say when their zero was, found `UnixStartTime` in the header of some only; add it to the \
         others before their first job, or ingest each into a trace of its own"
            .to_owned(),
    )
}

/// The whole number at the start of `text`, and what follows it: some headers add remarks.
fn first_number(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest.trim()))
}

/// Takes `<number> <name>`. Returns how many names did not fit: none or one.
fn name(names: &mut BTreeMap<u64, String>, others: usize, text: &str) -> u64 {
    let Some((number, name)) = first_number(text).filter(|(_, name)| !name.is_empty()) else { return 0 };
    if names.len() + others >= MAX_NAMES && !names.contains_key(&number) {
        return 1;
    }
    names.entry(number).or_insert_with(|| name.to_owned());
    0
}
