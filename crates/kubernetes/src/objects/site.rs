//! All objects of a site, with their names checked against each other.

use std::collections::{BTreeMap, BTreeSet};

use super::cluster_queue::ClusterQueue;
use super::cohort::Cohort;
use super::configuration::Configuration;
use super::error::{Error, Note, Place, Wrong};
use super::fields::Fields;
use super::flavor::ResourceFlavor;
use super::local_queue::LocalQueue;
use super::namespace::Namespace;
use super::priority::WorkloadPriorityClass;
use super::topology::Topology;
use super::yaml::{self, Node};

/// The objects of a site, in the order of its files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Site {
    /// ResourceFlavors.
    pub flavors: Vec<ResourceFlavor>,
    /// ClusterQueues.
    pub queues: Vec<ClusterQueue>,
    /// Cohorts that have an object.
    pub cohorts: Vec<Cohort>,
    /// LocalQueues.
    pub local_queues: Vec<LocalQueue>,
    /// WorkloadPriorityClasses.
    pub priorities: Vec<WorkloadPriorityClass>,
    /// Topologies.
    pub topologies: Vec<Topology>,
    /// Namespaces; one that has no object has no labels.
    pub namespaces: Vec<Namespace>,
    /// Kueue's configuration, if it is given.
    pub configuration: Option<Configuration>,
    /// Fields without effect.
    pub notes: Vec<Note>,
    /// LocalQueues whose ClusterQueue no object defines. Their workloads never queue.
    pub lost_queues: Vec<Error>,
    /// Objects of other kinds, counted by their kind.
    pub skipped: BTreeMap<String, usize>,
}

impl Site {
    /// Reads files, each with its name and text, and checks their names against each other.
    ///
    /// # Errors
    ///
    /// A file that is no YAML; a field that is missing or wrong; an object twice; a flavour or topology that no object defines; a cohort
    /// above itself.
    pub fn read<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, Error> {
        let mut site = Self::default();
        for (file, text) in files {
            for document in yaml::read(file, text)? {
                site.add(file, &document)?;
            }
        }
        site.check()?;
        site.note_queues();
        Ok(site)
    }

    /// Adds an object, or each of a `List`.
    fn add(&mut self, file: &str, node: &Node) -> Result<(), Error> {
        let top = Fields::top(file, node)?;
        let kind = top.need_text("kind")?;
        let version = top.text("apiVersion")?.unwrap_or_default();
        if kind == "List" || kind.strip_suffix("List").is_some_and(|kind| KINDS.contains(&kind)) {
            if let Some(yaml::Value::List(items)) = top.get("items").map(|items| &items.value) {
                for item in items {
                    self.add(file, item)?;
                }
            }
            return Ok(());
        }
        if !KINDS.contains(&kind) || (kind == "Configuration" && !version.starts_with("config.kueue.x-k8s.io/")) {
            *self.skipped.entry(kind.to_owned()).or_insert(0) += 1;
            return Ok(());
        }
        top.ignore(&["status", "metadata"]);
        self.add_known(kind, &top)?;
        top.get("spec");
        top.rest(&mut self.notes);
        Ok(())
    }

    fn add_known(&mut self, kind: &str, top: &Fields<'_>) -> Result<(), Error> {
        let notes = &mut self.notes;
        match kind {
            "ResourceFlavor" => self.flavors.push(ResourceFlavor::read(top, notes)?),
            "ClusterQueue" => self.queues.push(ClusterQueue::read(top, notes)?),
            "Cohort" => self.cohorts.push(Cohort::read(top, notes)?),
            "LocalQueue" => self.local_queues.push(LocalQueue::read(top, notes)?),
            "WorkloadPriorityClass" => self.priorities.push(WorkloadPriorityClass::read(top)?),
            "Topology" => self.topologies.push(Topology::read(top, notes)?),
            "Namespace" => self.namespaces.push(Namespace::read(top)?),
            _ => {
                if let Some(first) = &self.configuration {
                    return Err(twice(&top.place(), "Configuration", "kind", &first.place));
                }
                self.configuration = Some(Configuration::read(top, notes)?);
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), Error> {
        unique("ResourceFlavor", self.flavors.iter().map(|flavor| (flavor.name.clone(), &flavor.place)))?;
        unique("ClusterQueue", self.queues.iter().map(|queue| (queue.name.clone(), &queue.place)))?;
        unique("Cohort", self.cohorts.iter().map(|cohort| (cohort.name.clone(), &cohort.place)))?;
        let full = |queue: &LocalQueue| format!("{}/{}", queue.namespace, queue.name);
        unique("LocalQueue", self.local_queues.iter().map(|queue| (full(queue), &queue.place)))?;
        unique("WorkloadPriorityClass", self.priorities.iter().map(|class| (class.name.clone(), &class.place)))?;
        unique("Topology", self.topologies.iter().map(|topology| (topology.name.clone(), &topology.place)))?;
        unique("Namespace", self.namespaces.iter().map(|namespace| (namespace.name.clone(), &namespace.place)))?;
        self.check_flavors()?;
        self.check_cohorts()
    }

    fn check_flavors(&self) -> Result<(), Error> {
        let topologies: BTreeSet<&str> = self.topologies.iter().map(|topology| topology.name.as_str()).collect();
        for flavor in &self.flavors {
            if let Some(topology) = flavor.topology.as_deref().filter(|name| !topologies.contains(name)) {
                let object = format!("ResourceFlavor {}", flavor.name);
                return Err(unknown(&flavor.place, object, "spec.topologyName", "Topology", topology));
            }
        }
        let flavors: BTreeSet<&str> = self.flavors.iter().map(|flavor| flavor.name.as_str()).collect();
        let of_queues = self.queues.iter().map(|queue| ("ClusterQueue", &queue.name, &queue.place, &queue.groups));
        let of_cohorts = self.cohorts.iter().map(|cohort| ("Cohort", &cohort.name, &cohort.place, &cohort.groups));
        for (kind, name, place, groups) in of_queues.chain(of_cohorts) {
            let mut named = groups.iter().flat_map(|group| &group.flavors);
            if let Some(flavor) = named.find(|flavor| !flavors.contains(flavor.name.as_str())) {
                let field = "spec.resourceGroups.flavors.name";
                return Err(unknown(place, format!("{kind} {name}"), field, "ResourceFlavor", &flavor.name));
            }
        }
        Ok(())
    }

    /// LocalQueues that lead nowhere are no error: Kueue keeps them, and their workloads wait for ever.
    fn note_queues(&mut self) {
        let queues: BTreeSet<&str> = self.queues.iter().map(|queue| queue.name.as_str()).collect();
        let lost = self.local_queues.iter().filter(|local| !queues.contains(local.queue.as_str()));
        let error = |local: &LocalQueue| {
            let object = format!("LocalQueue {}/{}", local.namespace, local.name);
            unknown(&local.place, object, "spec.clusterQueue", "ClusterQueue", &local.queue)
        };
        self.lost_queues = lost.map(error).collect();
    }

    /// No cohort is above itself.
    fn check_cohorts(&self) -> Result<(), Error> {
        let parents: BTreeMap<&str, &Cohort> =
            self.cohorts.iter().map(|cohort| (cohort.name.as_str(), cohort)).collect();
        let mut good = BTreeSet::new();
        for cohort in &self.cohorts {
            let mut path = vec![cohort.name.as_str()];
            let mut at = cohort;
            while let Some(above) = at.parent.as_deref().filter(|&above| !good.contains(above)) {
                let circle = path.iter().position(|&name| name == above);
                path.push(above);
                if let Some(from) = circle {
                    return Err(Error::new(Wrong {
                        place: at.place.clone(),
                        field: Some((format!("Cohort {}", at.name), "spec.parentName".to_owned())),
                        expected: "a cohort that is not below it".to_owned(),
                        found: format!("the circle {}", path[from..].join(" → ")),
                        remedy: "let one of them have no parent".to_owned(),
                    }));
                }
                let Some(next) = parents.get(above) else { break };
                at = next;
            }
            good.extend(path);
        }
        Ok(())
    }
}

/// The kinds that are read.
const KINDS: [&str; 8] = [
    "ResourceFlavor",
    "ClusterQueue",
    "Cohort",
    "LocalQueue",
    "WorkloadPriorityClass",
    "Topology",
    "Namespace",
    "Configuration",
];

fn unique<'a>(kind: &str, names: impl Iterator<Item = (String, &'a Place)>) -> Result<(), Error> {
    let mut known: BTreeMap<String, &Place> = BTreeMap::new();
    for (name, place) in names {
        if let Some(first) = known.get(&name) {
            return Err(twice(place, &format!("{kind} {name}"), "metadata.name", first));
        }
        known.insert(name, place);
    }
    Ok(())
}

fn twice(place: &Place, object: &str, field: &str, first: &Place) -> Error {
    Error::new(Wrong {
        place: place.clone(),
        field: Some((object.to_owned(), field.to_owned())),
        expected: "each object once".to_owned(),
        found: format!("the one of {first} again"),
        remedy: "remove one of them".to_owned(),
    })
}

fn unknown(place: &Place, object: String, field: &str, kind: &str, name: &str) -> Error {
    Error::new(Wrong {
        place: place.clone(),
        field: Some((object, field.to_owned())),
        expected: format!("the name of a {kind}"),
        found: format!("{name:?}, which no object defines"),
        remedy: format!("add the {kind}, or correct the name"),
    })
}
