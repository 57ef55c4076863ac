//! The partitions: lines `PartitionName=` of `slurm.conf`, and `partitions.txt`, the output of `scontrol show partition`.

use std::collections::BTreeMap;

use resched_sim::Ms;

use super::super::xml::{Notes, Place};
use super::fields::{Budget, Field, Fields};
use super::nodes::Nodes;
use super::units::MINUTE;
use crate::error::Error;
use crate::queues::slurm::Partition;

/// The partitions that the files describe, in the order in which they come first.
#[derive(Debug, Default)]
pub(super) struct Partitions {
    defaults: Fields,
    all: Vec<(String, Fields)>,
    places: BTreeMap<String, usize>,
    node_sets: BTreeMap<String, Fields>,
    /// The last one that was declared the default.
    default: Option<String>,
}

impl Partitions {
    /// Adds a line of `slurm.conf`. Its first pair is the name, or names.
    pub(super) fn line(&mut self, place: &Place, pairs: &[(String, String)]) {
        let Some(((_, names), rest)) = pairs.split_first() else { return };
        if names.eq_ignore_ascii_case("default") {
            self.defaults = Fields::of(place, rest, &self.defaults);
            return;
        }
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            self.add(name, Fields::of(place, rest, &self.defaults));
        }
    }

    /// Adds a partition that `scontrol` printed. Its first pair is the name.
    pub(super) fn live(&mut self, place: &Place, pairs: &[(String, String)]) {
        if let Some(((_, name), rest)) = pairs.split_first() {
            self.add(name, Fields::of(place, rest, &Fields::default()));
        }
    }

    fn add(&mut self, name: &str, fields: Fields) {
        if fields.is_yes("default") {
            self.default = Some(name.to_owned());
        }
        match self.places.get(name).and_then(|&place| self.all.get_mut(place)) {
            Some((_, known)) => known.lay_over(fields),
            None => {
                self.places.insert(name.to_owned(), self.all.len());
                self.all.push((name.to_owned(), fields));
            }
        }
    }

    /// Adds a line `NodeSet=`.
    pub(super) fn node_set(&mut self, place: &Place, pairs: &[(String, String)]) {
        if let Some(((_, name), rest)) = pairs.split_first() {
            self.node_sets.insert(name.clone(), Fields::of(place, rest, &Fields::default()));
        }
    }

    /// The partitions, once all files are read.
    pub(super) fn finish(
        &self,
        nodes: &Nodes,
        budget: &mut Budget,
        notes: &mut Notes<'_>,
    ) -> Result<Vec<Partition>, Error> {
        let mut all = Vec::with_capacity(self.all.len());
        for (name, fields) in &self.all {
            let is_default = self.default.as_ref() == Some(name);
            let mut partition = Partition { is_default, ..partition(name, fields, notes)? };
            match fields.get(&["nodes"]) {
                Some(list) if list.value.eq_ignore_ascii_case("all") => {}
                Some(list) => partition.nodes = self.nodes(list, nodes, budget, notes)?,
                None => partition.is_up = false,
            }
            name_unread(fields, notes);
            all.push(partition);
        }
        Ok(all)
    }

    /// The nodes of a list, which may name sets of nodes.
    fn nodes(&self, list: &Field, nodes: &Nodes, budget: &mut Budget, notes: &Notes<'_>) -> Result<Vec<String>, Error> {
        let mut all = Vec::new();
        for name in budget.expand(list, notes)? {
            let Some(set) = self.node_sets.get(&name) else {
                all.push(name);
                continue;
            };
            if let Some(own) = set.get(&["nodes"]) {
                all.append(&mut budget.expand(own, notes)?);
            }
            if let Some(feature) = set.get(&["feature"]) {
                let mut own = nodes.with_feature(feature.value.trim());
                budget.spend(own.len(), feature, notes)?;
                all.append(&mut own);
            }
        }
        Ok(all)
    }
}

/// A partition by its settings, without its nodes.
fn partition(name: &str, fields: &Fields, notes: &mut Notes<'_>) -> Result<Partition, Error> {
    let time = |name: &str, unit: Ms| {
        let time = fields.get(&[name]).map(|field| field.time(notes, unit)).transpose()?;
        Ok::<_, Error>(time.flatten())
    };
    let word = |name: &str| fields.get(&[name]).map(|field| field.value.to_lowercase());
    let usual = Partition::default();
    let partition = Partition {
        name: name.to_owned(),
        tier: fields.number(&["prioritytier", "priority"], notes)?.unwrap_or(usual.tier),
        job_factor: fields.number(&["priorityjobfactor", "priority"], notes)?.unwrap_or(usual.job_factor),
        max_time: time("maxtime", MINUTE)?,
        default_time: time("defaulttime", MINUTE)?,
        over_time_limit: time("overtimelimit", MINUTE)?,
        grace_time: time("gracetime", 1_000)?.unwrap_or(usual.grace_time),
        qos: fields.get(&["qos"]).map(|field| field.value.clone()),
        preempt_mode: word("preemptmode"),
        min_nodes: fields.number(&["minnodes"], notes)?.unwrap_or(usual.min_nodes),
        max_nodes: fields.number(&["maxnodes"], notes)?,
        max_cpus_per_node: fields.number(&["maxcpuspernode"], notes)?,
        exclusive: is_exclusive(fields, notes),
        least_loaded: fields.is_yes("lln"),
        is_up: word("state").is_none_or(|state| ["up", "drain"].contains(&state.as_str())),
        ..usual
    };
    Ok(partition)
}

/// Whether jobs have their nodes to themselves. That several jobs may share a processor is named.
fn is_exclusive(fields: &Fields, notes: &mut Notes<'_>) -> bool {
    let Some(field) = fields.get(&["oversubscribe", "shared"]) else { return false };
    let word = field.value.to_lowercase();
    if !["no", "exclusive", "yes:1", "force:1"].contains(&word.as_str()) {
        notes.unsupported(&field.place, &field.name, "a processor has one job at a time");
    }
    word == "exclusive"
}

/// What [`partition`] reads, and what has nothing to do with scheduling.
const READ: &[&str] = &[
    "cpubind",
    "default",
    "defaulttime",
    "disablerootjobs",
    "gracetime",
    "hidden",
    "lln",
    "maxcpuspernode",
    "maxnodes",
    "maxtime",
    "minnodes",
    "nodes",
    "nodesets",
    "oversubscribe",
    "overtimelimit",
    "preemptmode",
    "priority",
    "priorityjobfactor",
    "prioritytier",
    "qos",
    "shared",
    "state",
    "totalcpus",
    "totalnodes",
    "tres",
];

const WHO: &str = "a replay does not check who may submit";
const ASKED: &str = "the log says what each job asked for";
const POWER: &str = "machines are always on";

/// Settings without effect, with the values that change nothing.
const UNREAD: &[(&str, &[&str], &str)] = &[
    ("allocnodes", &["all"], WHO),
    ("allowaccounts", &["all"], WHO),
    ("allowgroups", &["all"], WHO),
    ("allowqos", &["all"], WHO),
    ("alternate", &[], "jobs stay in their partition"),
    ("defcpupergpu", &["0", "unlimited"], ASKED),
    ("defmempercpu", &["0", "unlimited"], ASKED),
    ("defmempergpu", &["0", "unlimited"], ASKED),
    ("defmempernode", &["0", "unlimited"], ASKED),
    ("denyaccounts", &[], WHO),
    ("denyqos", &[], WHO),
    ("exclusivetopo", &["no"], "all machines are equally far from each other"),
    ("exclusiveuser", &["no"], "jobs of several users may share a machine"),
    ("jobdefaults", &[], ASKED),
    ("maxcpuspersocket", &["unlimited"], "which cores of a machine a job has is not replayed"),
    ("maxmempercpu", &["0", "unlimited"], ASKED),
    ("maxmempernode", &["0", "unlimited"], ASKED),
    ("powerdownonidle", &["no"], POWER),
    ("reqresv", &["no"], "reservations are not replayed"),
    ("resumetimeout", &["global"], POWER),
    ("rootonly", &["no"], WHO),
    ("selecttypeparameters", &[], "jobs get processors as the whole cluster says"),
    ("suspendtime", &["global", "infinite"], POWER),
    ("suspendtimeout", &["global"], POWER),
    ("topology", &[], "all machines are equally far from each other"),
    ("tresbillingweights", &[], "what a job uses counts by its processors"),
];

/// Names the settings that have no effect.
fn name_unread(fields: &Fields, notes: &mut Notes<'_>) {
    for (name, field) in fields.all().filter(|(name, _)| !READ.contains(name)) {
        let value = field.value.to_lowercase();
        match UNREAD.iter().find(|(known, ..)| *known == name) {
            Some((_, neutral, _)) if neutral.contains(&value.as_str()) || super::units::is_nothing(&value) => {}
            Some((.., why)) => notes.unsupported(&field.place, &field.name, why),
            None => notes.unsupported(&field.place, &field.name, "resched does not know it"),
        }
    }
}
