//! The partitions: lines `PartitionName=` of `slurm.conf`, and `partitions.txt`, the output of `scontrol show partition`.

use std::collections::BTreeMap;
use std::sync::Arc;

use resched_sim::Ms;

use super::super::xml::{Notes, Place};
use super::fields::{Budget, Field, Fields};
use super::nodes::Nodes;
use super::qos::{MODES, SUSPENSION};
use super::units::{MINUTE, is_nothing};
use crate::error::Error;
use crate::input::Input;
use crate::queues::slurm::Partition;
use crate::unread::Why;

/// The partitions that the files describe, in the order in which they come first.
#[derive(Debug, Default)]
pub(super) struct Partitions {
    defaults: Fields,
    all: Vec<(String, Arc<Fields>)>,
    places: BTreeMap<String, usize>,
    node_sets: BTreeMap<String, Fields>,
    /// The last one that was declared the default.
    default: Option<String>,
}

impl Partitions {
    /// Adds a line of `slurm.conf`. Its first pair is the name, or names.
    pub(super) fn line(
        &mut self,
        place: &Place,
        pairs: &[(String, String)],
        notes: &mut Notes<'_>,
    ) -> Result<(), Error> {
        let Some(((key, names), rest)) = pairs.split_first() else { return Ok(()) };
        let fields = fields(place, rest, &self.defaults, notes);
        if names.eq_ignore_ascii_case("default") {
            self.defaults = fields;
            return Ok(());
        }
        let fields = Arc::new(fields);
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            self.add(name, Arc::clone(&fields));
            if self.all.len() > MOST {
                return Err(notes.wrong(place, key, format!("at most {MOST} partitions"), name));
            }
        }
        Ok(())
    }

    /// Adds a partition that `scontrol` printed. Its first pair is the name.
    pub(super) fn live(
        &mut self,
        place: &Place,
        pairs: &[(String, String)],
        notes: &mut Notes<'_>,
    ) -> Result<(), Error> {
        let Some(((key, name), rest)) = pairs.split_first() else { return Ok(()) };
        self.add(name, Arc::new(fields(place, rest, &Fields::default(), notes)));
        if self.all.len() > MOST {
            return Err(notes.wrong(place, key, format!("at most {MOST} partitions"), name));
        }
        Ok(())
    }

    fn add(&mut self, name: &str, fields: Arc<Fields>) {
        if fields.is_yes("default") {
            self.default = Some(name.to_owned());
        }
        match self.places.get(name).and_then(|&place| self.all.get_mut(place)) {
            Some((_, known)) => Arc::make_mut(known).lay_over(Arc::unwrap_or_clone(fields)),
            None => {
                self.places.insert(name.to_owned(), self.all.len());
                self.all.push((name.to_owned(), fields));
            }
        }
    }

    /// Adds a line `NodeSet=`.
    pub(super) fn node_set(&mut self, place: &Place, pairs: &[(String, String)]) {
        if let Some(((_, name), rest)) = pairs.split_first() {
            let known = |name: &str| ["nodes", "feature"].into_iter().find(|known| *known == name);
            self.node_sets.insert(name.clone(), Fields::of(place, rest, &Fields::default(), known, |_| {}));
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
            if let Some(value) = set.get(&["nodes"]) {
                all.append(&mut budget.expand(value, notes)?);
            }
            if let Some(feature) = set.get(&["feature"]) {
                all.append(&mut nodes.with_feature(feature, budget, notes)?);
            }
        }
        if let Some(unknown) = all.iter().find(|host| !nodes.has(host)) {
            let expected = format!("nodes that a line `NodeName=` describes, as slurmctld does (`{unknown}` is none)");
            return Err(list.wrong(notes, expected));
        }
        Ok(all)
    }
}

/// A partition by its settings, without its nodes.
fn partition(name: &str, fields: &Fields, notes: &Notes<'_>) -> Result<Partition, Error> {
    let time = |name: &str, unit: Ms| {
        let time = fields.get(&[name]).map(|field| field.time(notes, unit)).transpose()?;
        Ok::<_, Error>(time.flatten())
    };
    let text = |name: &str| {
        let text = fields.get(&[name]).map(|field| field.short(notes)).transpose()?;
        Ok::<_, Error>(text.map(str::to_owned))
    };
    let word = |name: &str| Ok::<_, Error>(text(name)?.map(|text| text.to_lowercase()));
    let usual = Partition::default();
    let partition = Partition {
        name: name.to_owned(),
        tier: fields.number(&["prioritytier", "priority"], notes)?.unwrap_or(usual.tier),
        job_factor: fields.number(&["priorityjobfactor", "priority"], notes)?.unwrap_or(usual.job_factor),
        max_time: time("maxtime", MINUTE)?,
        default_time: time("defaulttime", MINUTE)?,
        over_time_limit: fields.get(&["overtimelimit"]).map(|field| over_time(field, notes)).transpose()?,
        grace_time: time("gracetime", 1_000)?.unwrap_or(usual.grace_time),
        qos: text("qos")?,
        preempt_mode: word("preemptmode")?,
        min_nodes: fields.number(&["minnodes"], notes)?.unwrap_or(usual.min_nodes),
        max_nodes: fields.number(&["maxnodes"], notes)?,
        max_cpus_per_node: fields.number(&["maxcpuspernode"], notes)?,
        exclusive: fields.get(&OVERSUBSCRIBE).is_some_and(|field| field.value.eq_ignore_ascii_case("exclusive")),
        least_loaded: fields.is_yes("lln"),
        is_up: word("state")?.is_none_or(|state| ["up", "drain"].contains(&state.as_str())),
        ..usual
    };
    Ok(partition)
}

/// How long a job may run beyond its limit, ms.
fn over_time(field: &Field, notes: &Notes<'_>) -> Result<Ms, Error> {
    Ok(field.time(notes, MINUTE)?.unwrap_or(Ms::MAX))
}

/// The most partitions. A real site has some ten.
pub(in crate::site) const MOST: usize = 10_000;
/// How jobs share nodes, by its name and its old name.
const OVERSUBSCRIBE: [&str; 2] = ["oversubscribe", "shared"];

/// The settings of a line that are known, over others. The rest is named.
fn fields(place: &Place, pairs: &[(String, String)], defaults: &Fields, notes: &mut Notes<'_>) -> Fields {
    let known = |name: &str| {
        let names = READ.iter().chain(UNREAD.iter().map(|(name, ..)| name));
        names.copied().find(|known| *known == name)
    };
    let name = |name: &str| {
        if !ELSEWHERE.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            notes.unsupported(place, name, "resched does not know it");
        }
    };
    Fields::of(place, pairs, defaults, known, name)
}

/// What counts.
const READ: &[&str] = &[
    "default",
    "defaulttime",
    "gracetime",
    "maxtime",
    "nodes",
    "oversubscribe",
    "priority",
    "priorityjobfactor",
    "prioritytier",
    "qos",
    "shared",
];
/// What has nothing to do with scheduling, or follows from the rest.
const ELSEWHERE: [&str; 7] = ["cpubind", "disablerootjobs", "hidden", "nodesets", "totalcpus", "totalnodes", "tres"];

const WHO: Why<'static> = Why::harmless("a replay does not check who may submit");
const ASKED: Why<'static> = Why::harmless("the log says what each job asked for");
const POWER: Why<'static> = Why::harmless("machines are always on");
const SAVES_POWER: Why<'static> = Why::bears("machines are always on");
const ACCEPTED: Why<'static> = Why::harmless("the log holds the jobs that were accepted");

/// Settings without effect, with the values that change nothing.
const UNREAD: &[(&str, &[&str], Why<'static>)] = &[
    ("allocnodes", &["all"], WHO),
    ("allowaccounts", &["all"], WHO),
    ("allowgroups", &["all"], WHO),
    ("allowqos", &["all"], WHO),
    ("alternate", &[], Why::harmless("jobs stay in their partition")),
    ("defcpupergpu", &["0", "unlimited"], ASKED),
    ("defmempercpu", &["0", "unlimited"], ASKED),
    ("defmempergpu", &["0", "unlimited"], ASKED),
    ("defmempernode", &["0", "unlimited"], ASKED),
    ("denyaccounts", &[], WHO),
    ("denyqos", &[], WHO),
    ("exclusivetopo", &["no"], Why::bears("all machines are equally far from each other")),
    ("exclusiveuser", &["no"], Why::bears("jobs of several users may share a machine")),
    ("jobdefaults", &[], ASKED),
    ("lln", &["no"], Why::bears("which machines a job gets does not depend on how busy they are")),
    ("maxcpuspernode", &["unlimited"], Why::bears("the share of a partition in a machine is not limited")),
    ("maxcpuspersocket", &["unlimited"], Why::harmless("which cores of a machine a job has is not replayed")),
    ("maxmempercpu", &["0", "unlimited"], ASKED),
    ("maxmempernode", &["0", "unlimited"], ASKED),
    ("maxnodes", &["unlimited"], ACCEPTED),
    ("minnodes", &["0", "1"], ACCEPTED),
    ("overtimelimit", &["0"], Why::harmless("a job ends as the log says")),
    ("powerdownonidle", &["no"], POWER),
    ("preemptmode", &MODES, Why::on(Input::Preemption, SUSPENSION)),
    ("reqresv", &["no"], Why::harmless("the log says which jobs name a reservation")),
    ("resumetimeout", &["global"], POWER),
    ("rootonly", &["no"], WHO),
    ("selecttypeparameters", &[], Why::bears("jobs get processors as the whole cluster says")),
    ("state", &["up", "drain"], Why::bears("jobs of this partition start as others do")),
    ("suspendtime", &["global", "infinite"], SAVES_POWER),
    ("suspendtimeout", &["global"], POWER),
    ("topology", &[], Why::bears("all machines are equally far from each other")),
    ("tresbillingweights", &[], Why::on(Input::AccountShares, "the usage of a job is that of its processors")),
];

/// Names the settings that have no effect.
fn name_unread(fields: &Fields, notes: &mut Notes<'_>) {
    for (name, field) in fields.all() {
        let is = |word: &&str| field.value.eq_ignore_ascii_case(word);
        let found = UNREAD.iter().find(|(known, ..)| *known == name);
        if let Some((.., why)) = found.filter(|(_, neutral, _)| !neutral.iter().any(is) && !is_nothing(&field.value)) {
            notes.unsupported(&field.place, &field.name, *why);
        }
    }
    let shares_nothing = ["no", "exclusive", "yes:1", "force:1"];
    let shared = fields.get(&OVERSUBSCRIBE);
    if let Some(field) =
        shared.filter(|field| !shares_nothing.iter().any(|word| field.value.eq_ignore_ascii_case(word)))
    {
        notes.unsupported(&field.place, &field.name, "a processor has one job at a time");
    }
}
