//! The comments of a log: its machines, its zero, the names of its queues and of its further fields.

use std::collections::BTreeMap;

use resched_tables::cause;
use resched_tables::model::NodeRow;
use resched_tables::sink::Sink;

use super::further::Names;
use super::{FURTHER_FIELDS, MAX_NAMES, MAX_NODES, PROCESSOR, UNIX_START_TIME};

/// The values of the header that the tables keep.
#[derive(Default)]
pub(super) struct Header {
    nodes: Option<u64>,
    processors: Option<u64>,
    unix_start: Option<u64>,
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
            "Queue" => self.left_out += name(&mut self.queues, value),
            "Partition" => self.left_out += name(&mut self.partitions, value),
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

    /// Passes on what the header says about the machines and the further fields, once the file is read.
    pub(super) fn report(&self, sink: &mut dyn Sink) {
        sink.skip(cause::TOO_MANY_NAMES, self.left_out);
        if let Some(seconds) = self.unix_start {
            sink.parameter(UNIX_START_TIME, seconds.into());
        }
        self.further.reads().for_each(|(column, name)| sink.filled_from(column, &name));
        let further = self.further.all();
        if !further.is_empty() {
            sink.parameter(FURTHER_FIELDS, further.into());
        }
        let Some((nodes, processors)) = self.machines() else { return sink.skip(cause::FILE_WITHOUT_MACHINES, 1) };
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

/// The whole number at the start of `text`, and what follows it: some headers add remarks.
fn first_number(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest.trim()))
}

/// Takes `<number> <name>`. Returns how many names did not fit: none or one.
fn name(names: &mut BTreeMap<u64, String>, text: &str) -> u64 {
    let Some((number, name)) = first_number(text).filter(|(_, name)| !name.is_empty()) else { return 0 };
    if names.len() >= MAX_NAMES && !names.contains_key(&number) {
        return 1;
    }
    names.entry(number).or_insert_with(|| name.to_owned());
    0
}
