//! The nodes: lines `NodeName=` of `slurm.conf`, and `nodes.txt`, the output of `scontrol show node`.

use std::collections::{BTreeMap, BTreeSet};

use resched_tables::cluster_file::MOST_MEMORY;
use resched_tables::host_list::fold;
use toml::{Table, Value};

use super::super::xml::{Notes, Place};
use super::fields::{Budget, Field, Fields};
use super::units::gres;
use crate::error::Error;
use crate::queues::slurm::NodeGroup;
use crate::unread::Why;

/// More processors than any node has.
const MOST_CPUS: u32 = 1_000_000;
/// The memory of a node of which nobody says it, MB.
const DEFAULT_MEMORY: u64 = 1;

/// The nodes that the files describe.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    defaults: Fields,
    lines: Vec<(Vec<String>, Fields)>,
    /// What `scontrol` printed, in its order.
    live: Vec<(String, Fields)>,
    /// The lines with each feature.
    features: BTreeMap<String, Vec<usize>>,
    met: BTreeSet<String>,
    met_live: BTreeSet<String>,
    /// Those that do not exist yet.
    future: BTreeSet<String>,
    /// The first line about nodes.
    pub(super) place: Option<Place>,
}

/// What a node has.
#[derive(Debug, Clone, PartialEq)]
struct Size {
    cpus: u32,
    memory: Option<u64>,
    resources: Option<String>,
    features: Option<String>,
    weight: u32,
}

impl Nodes {
    /// Adds a line of `slurm.conf`. Its first pair is the name.
    pub(super) fn line(
        &mut self,
        place: &Place,
        pairs: &[(String, String)],
        budget: &mut Budget,
        notes: &mut Notes<'_>,
    ) -> Result<(), Error> {
        let Some(((name, hosts), rest)) = pairs.split_first() else { return Ok(()) };
        let unknown = |name: &str| {
            if !ELSEWHERE.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                notes.unsupported(place, name, "resched does not know it");
            }
        };
        let fields = Fields::of(place, rest, &self.defaults, known, unknown);
        if hosts.eq_ignore_ascii_case("default") {
            self.defaults = fields;
            return Ok(());
        }
        let list = Field { name: name.clone(), value: hosts.clone(), place: place.clone() };
        if fields.get(&["state"]).is_some_and(|state| state.value.to_lowercase().contains("future")) {
            notes.unsupported(
                place,
                &format!("{name}={hosts}"),
                Why::harmless("a node in state FUTURE does not exist yet"),
            );
            // Partitions may name it.
            self.future.extend(budget.expand(&list, notes)?);
            return Ok(());
        }
        let hosts = budget.expand(&list, notes)?;
        if let Some(again) = hosts.iter().find(|host| !self.met.insert((*host).clone())) {
            return Err(notes.wrong(place, name, "each node once", again));
        }
        name_unread(&fields, notes);
        name_away(&fields, notes);
        for feature in features(&fields, notes)?.into_iter().flat_map(|text| text.split(',')) {
            self.features.entry(feature.trim().to_owned()).or_default().push(self.lines.len());
        }
        self.place.get_or_insert_with(|| place.clone());
        self.lines.push((hosts, fields));
        Ok(())
    }

    /// Adds a node that `scontrol` printed. Its first pair is the name.
    pub(super) fn live(
        &mut self,
        place: &Place,
        pairs: &[(String, String)],
        budget: &mut Budget,
        notes: &mut Notes<'_>,
    ) -> Result<(), Error> {
        let Some(((name, host), rest)) = pairs.split_first() else { return Ok(()) };
        let list = Field { name: name.clone(), value: host.clone(), place: place.clone() };
        let hosts = budget.expand(&list, notes)?;
        if hosts != [host.as_str()] || !self.met_live.insert(host.clone()) {
            return Err(list.wrong(notes, "the name of a node, each once"));
        }
        self.place.get_or_insert_with(|| place.clone());
        // Most of what is printed is the state of a moment, and texts such as reasons look like settings.
        let fields = Fields::of(place, rest, &Fields::default(), known, |_| {});
        name_unread(&fields, notes);
        self.live.push((host.clone(), fields));
        Ok(())
    }

    /// True if a node is described, or will be. Without a line of `slurm.conf`, each is: what `scontrol` printed may be a part.
    pub(super) fn has(&self, host: &str) -> bool {
        let is_open = self.met.is_empty() && self.future.is_empty();
        is_open || [&self.met, &self.met_live, &self.future].into_iter().any(|some| some.contains(host))
    }

    /// All nodes in order, those that are alike and follow each other together.
    fn sizes(&self, memory: bool, notes: &Notes<'_>) -> Result<Vec<(Vec<String>, Size)>, Error> {
        let mut all: Vec<(Vec<String>, Size)> = Vec::new();
        let mut add = |host: String, size: Size| match all.last_mut().filter(|(_, last)| *last == size) {
            Some((hosts, _)) => hosts.push(host),
            None => all.push((vec![host], size)),
        };
        let mut live: BTreeMap<&str, &Fields> =
            self.live.iter().map(|(name, fields)| (name.as_str(), fields)).collect();
        for (hosts, fields) in &self.lines {
            let size_of_line = size(fields, memory, notes)?;
            for host in hosts {
                let size = match live.remove(host.as_str()) {
                    Some(live) => {
                        let mut both = fields.clone();
                        both.lay_over(live.clone());
                        size(&both, memory, notes)?
                    }
                    None => size_of_line.clone(),
                };
                add(host.clone(), size);
            }
        }
        for (name, _) in &self.live {
            if let Some(fields) = live.remove(name.as_str()) {
                add(name.clone(), size(fields, memory, notes)?);
            }
        }
        Ok(all)
    }

    /// The nodes for the policy, and as `machines.named` of a cluster file. Without `memory`, jobs do not use it up.
    pub(super) fn finish(&self, memory: bool, notes: &Notes<'_>) -> Result<(Vec<NodeGroup>, Vec<Value>), Error> {
        let memory_is_known =
            self.lines.iter().map(|(_, fields)| fields).chain(self.live.iter().map(|(_, fields)| fields));
        let memory = memory && memory_is_known.into_iter().any(|fields| fields.get(&["realmemory"]).is_some());
        let sizes = self.sizes(memory, notes)?;
        let machines = sizes.iter().map(|(hosts, size)| machines(hosts, size)).collect();
        let groups = sizes.into_iter().map(|(hosts, size)| NodeGroup { hosts, weight: size.weight }).collect();
        Ok((groups, machines))
    }

    /// The nodes of `slurm.conf` that have a feature, in order.
    pub(super) fn with_feature(
        &self,
        feature: &Field,
        budget: &mut Budget,
        notes: &Notes<'_>,
    ) -> Result<Vec<String>, Error> {
        let lines = self.features.get(feature.value.trim()).map_or(&[][..], Vec::as_slice);
        let hosts = || lines.iter().filter_map(|&line| self.lines.get(line)).map(|(hosts, _)| hosts);
        budget.spend(hosts().map(Vec::len).sum(), feature, notes)?;
        Ok(hosts().flatten().cloned().collect())
    }
}

/// The settings of a node that count here.
const KNOWN: &[&str] = &[
    "availablefeatures",
    "boards",
    "corespeccount",
    "corespersocket",
    "cpuefctv",
    "cpus",
    "cpuspeclist",
    "cputot",
    "feature",
    "features",
    "gres",
    "memspeclimit",
    "procs",
    "realmemory",
    "restrictedcorespergpu",
    "sockets",
    "socketsperboard",
    "state",
    "threadspercore",
    "tmpdisk",
    "topology",
    "weight",
];

/// What has nothing to do with scheduling.
const ELSEWHERE: [&str; 8] =
    ["arch", "bcastaddr", "cpubind", "nodeaddr", "nodehostname", "parameters", "port", "reason"];

fn known(name: &str) -> Option<&'static str> {
    KNOWN.iter().find(|known| **known == name).copied()
}

/// The features of a node.
fn features<'f>(fields: &'f Fields, notes: &Notes<'_>) -> Result<Option<&'f str>, Error> {
    let field = fields.get(&["availablefeatures", "features", "feature"]);
    field.map(|field| field.short(notes)).transpose()
}

/// Settings of a node that matter to scheduling elsewhere.
const UNREAD: &[(&str, &str, Why<'static>)] = &[
    ("restrictedcorespergpu", "", Why::bears("which cores of a machine a job has is not replayed")),
    ("topology", "", Why::bears("all machines are equally far from each other")),
    ("tmpdisk", "0", Why::harmless("no trace says how much local disk a job asks for")),
];

/// States in which a node takes no jobs.
const AWAY: [&str; 4] = ["down", "drain", "fail", "cloud"];

/// Names what is set without effect.
fn name_unread(fields: &Fields, notes: &mut Notes<'_>) {
    for (name, neutral, why) in UNREAD {
        if let Some(field) = fields.get(&[name]).filter(|field| field.value != *neutral) {
            notes.unsupported(&field.place, &field.name, *why);
        }
    }
}

/// Names a state in which a node takes no jobs. What `scontrol` prints is the state of a moment, and is not looked at.
fn name_away(fields: &Fields, notes: &mut Notes<'_>) {
    let is_away = |field: &&Field| {
        let state = field.value.to_lowercase();
        AWAY.iter().any(|away| state.starts_with(away))
    };
    if let Some(state) = fields.get(&["state"]).filter(is_away) {
        notes.unsupported(&state.place, &state.name, "the machine is there from the start to the end");
    }
}

/// What a node has, by its settings.
fn size(fields: &Fields, memory: bool, notes: &Notes<'_>) -> Result<Size, Error> {
    let count = |names: &[&str]| {
        let number = |field: &Field| field.number(notes, 1, MOST_CPUS);
        fields.get(names).map(number).transpose()
    };
    let threads = count(&["threadspercore"])?.unwrap_or(1);
    let reserved = fields.number(&["corespeccount"], notes)?.unwrap_or(0).saturating_mul(threads);
    let reserved = fields.get(&["cpuspeclist"]).map_or(reserved, |list| listed(&list.value));
    // What is effective leaves out what is reserved already.
    let cpus = match count(&["cpuefctv"])? {
        Some(cpus) => cpus,
        None => all_cpus(&count, threads)?.saturating_sub(reserved).max(1),
    };
    let real = fields.get(&["realmemory"]).map(|field| field.number(notes, 1, MOST_MEMORY >> 20)).transpose()?;
    let for_system =
        fields.get(&["memspeclimit"]).map(|field| field.number(notes, 0, MOST_MEMORY >> 20)).transpose()?;
    let megabytes = real.unwrap_or(DEFAULT_MEMORY).saturating_sub(for_system.unwrap_or(0)).max(1);
    let resources = fields.get(&["gres"]).map(|field| field.short(notes)).transpose()?;
    Ok(Size {
        cpus,
        memory: memory.then_some(megabytes << 20),
        resources: resources.and_then(gres),
        features: features(fields, notes)?.map(str::to_owned),
        weight: fields.number(&["weight"], notes)?.unwrap_or(1),
    })
}

/// The processors of a node, from their number or from its sockets.
fn all_cpus(count: &impl Fn(&[&str]) -> Result<Option<u32>, Error>, threads: u32) -> Result<u32, Error> {
    if let Some(cpus) = count(&["cputot", "cpus", "procs"])? {
        return Ok(cpus);
    }
    let boards = count(&["boards"])?.unwrap_or(1);
    let sockets = match count(&["socketsperboard"])? {
        Some(sockets) => sockets.saturating_mul(boards),
        None => count(&["sockets"])?.unwrap_or(boards),
    };
    let cores = count(&["corespersocket"])?.unwrap_or(1);
    Ok(sockets.saturating_mul(cores).saturating_mul(threads).min(MOST_CPUS))
}

/// How many processors a list such as `0,2-3` names.
fn listed(list: &str) -> u32 {
    let of = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse::<u32>().ok()?, last.trim().parse::<u32>().ok()?);
        Some(last.checked_sub(first)?.saturating_add(1))
    };
    list.split(',').filter_map(of).fold(0, u32::saturating_add)
}

/// An entry of `machines.named`.
fn machines(hosts: &[String], size: &Size) -> Value {
    let mut table = Table::new();
    table.insert("hosts".to_owned(), Value::String(fold(hosts.iter().map(String::as_str))));
    table.insert("cores".to_owned(), Value::Float(f64::from(size.cpus)));
    let memory = size.memory.and_then(|memory| i64::try_from(memory).ok()).map(Value::Integer);
    let text = |text: &Option<String>| text.clone().map(Value::String);
    let rest = [("memory", memory), ("resources", text(&size.resources)), ("features", text(&size.features))];
    table.extend(rest.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    Value::Table(table)
}
