//! The configuration of a Slurm site.
//!
//! ```text
//! slurm.conf (or slurm.conf.scheduling, scontrol-config.txt) ──┬─▶ properties ──▶ parameters of `slurm`
//!                                                              ├─▶ machines of the cluster, licences
//! partitions.txt, nodes.txt (scontrol show) ───────────────────┼─▶ partitions, nodes
//! reservations.txt (sacctmgr or scontrol) ─────────────────────┼─▶ reservations
//! qos.txt, associations.txt, sacctmgr.cfg (sacctmgr) ──────────┴─▶ qualities of service, associations
//! ```
//!
//! **Source.** slurm.conf(5), scontrol(1) and sacctmgr(1) of 22.05, 23.11 and 24.11.

mod associations;
mod fields;
mod keys;
mod limits;
mod lines;
mod nodes;
mod partitions;
mod qos;
mod reservations;
mod scalars;
mod tables;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod units;
mod versions;

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::properties::{Properties, Property};
use super::xml::{Notes, Place};
use super::{LimitOrigins, Origins, SettingOrigin};
use crate::error::Error;
use crate::queues::slurm::{About, Association, Holder, JobLimits, POLICY, SlurmConf};
use crate::unread::Why;
use fields::{Budget, Field};
use lines::Line;
use nodes::Nodes;
use partitions::Partitions;
use scalars::Scalars;

pub(super) use fields::MOST_HOSTS;
pub(super) use lines::{MOST_BYTES, MOST_INCLUDED};
pub(super) use partitions::MOST as MOST_PARTITIONS;
pub(super) use reservations::MOST as MOST_RESERVATIONS;

/// Opens a file of the folder; `None`: there is none.
pub(super) type Open<'o> = &'o mut dyn FnMut(&str) -> Result<Option<Vec<u8>>, Error>;

/// The files that hold single settings. The first one that is there counts.
const CONFIGURATION: [&str; 3] = ["slurm.conf", "slurm.conf.scheduling", "scontrol-config.txt"];
const PARTITIONS: &str = "partitions.txt";
const NODES: &str = "nodes.txt";
const QOS: &str = "qos.txt";
const ASSOCIATIONS: &str = "associations.txt";
const DUMP: &str = "sacctmgr.cfg";
const RESERVATIONS: &str = "reservations.txt";

/// The files of a Slurm site.
pub(super) const FILES: [&str; 9] =
    [CONFIGURATION[0], CONFIGURATION[1], CONFIGURATION[2], PARTITIONS, NODES, RESERVATIONS, QOS, ASSOCIATIONS, DUMP];

/// The settings of the cluster that these files set, as a cluster file has them.
const NAMED: &str = "machines.named";
const LICENSES: &str = "machines.licenses";

/// What the files say.
#[derive(Debug, Default)]
pub(super) struct Slurm {
    conf: SlurmConf,
    scalars: Scalars,
    about: About,
    cluster_name: Option<String>,
    licenses: Option<(Place, String)>,
    /// Where each association stands.
    places: Vec<Place>,
    /// Where limits are set.
    limits: LimitOrigins,
    accounts: BTreeSet<String>,
    machines: Vec<Value>,
    node_place: Option<Place>,
}

impl Slurm {
    /// Reads the files of the folder; `None`: there is none.
    pub(super) fn read(open: Open<'_>, notes: &mut Notes<'_>) -> Result<Option<Self>, Error> {
        let mut slurm = Self::default();
        let (mut nodes, mut partitions, mut budget) = (Nodes::default(), Partitions::default(), Budget::default());
        let (mut is_there, mut is_configured) = (false, false);
        for file in CONFIGURATION {
            if let Some(bytes) = open(file)? {
                (is_there, is_configured) = (true, true);
                for line in lines::read(&bytes, file, open, notes)? {
                    slurm.line(&line, &mut nodes, &mut partitions, &mut budget, notes)?;
                }
                break;
            }
        }
        if let Some(bytes) = open(NODES)? {
            is_there = true;
            for record in records(&bytes, NODES, "NodeName", notes)? {
                nodes.live(&record.place, &record.pairs, &mut budget, notes)?;
            }
        }
        if let Some(bytes) = open(PARTITIONS)? {
            is_there = true;
            for record in records(&bytes, PARTITIONS, "PartitionName", notes)? {
                partitions.live(&record.place, &record.pairs, notes)?;
            }
        }
        if let Some(bytes) = open(RESERVATIONS)? {
            is_there = true;
            reservations::read(&bytes, RESERVATIONS, &mut slurm, &mut budget, notes)?;
        }
        if let Some(bytes) = open(QOS)? {
            is_there = true;
            tables::qos(&bytes, QOS, &mut slurm, notes)?;
        }
        let table = open(ASSOCIATIONS)?;
        if let Some(bytes) = open(DUMP)? {
            is_there = true;
            associations::read(&bytes, DUMP, &mut slurm, notes)?;
            if table.is_some() {
                let why = format!("{DUMP} says what the associations are");
                notes.unsupported(Place::of(ASSOCIATIONS, 1), "the file", Why::harmless(&why));
            }
        } else if let Some(bytes) = table {
            is_there = true;
            tables::associations(&bytes, ASSOCIATIONS, &mut slurm, notes)?;
        }
        if !is_there {
            return Ok(None);
        }
        slurm.conf.partitions = partitions.finish(&nodes, &mut budget, notes)?;
        (slurm.conf.nodes, slurm.machines) = nodes.finish(slurm.scalars.count_memory(), notes)?;
        slurm.node_place = nodes.place;
        slurm.finish_associations(notes)?;
        if let Some(weight) = slurm.scalars.weight_of_qos().filter(|_| slurm.conf.qos.is_empty()) {
            let why = format!("without {QOS} (`sacctmgr -P show qos`), the priorities of the log stand");
            // Whether they do depends on the parameters; the policy then says so in its answers.
            notes.unsupported(&weight.place, &weight.name, Why::harmless(&why));
        }
        slurm.name_missing_limits(notes);
        if is_configured && !slurm.scalars.enforce_limits() {
            slurm.drop_limits(notes);
        }
        let has = |name: &str| slurm.scalars.has(name);
        let about = std::mem::take(&mut slurm.about);
        let sets_select_type = has(scalars::SELECT_TYPE) || has(scalars::SELECT);
        let about = About { sets_priority_type: has("PriorityType"), sets_select_type, ..about };
        slurm.conf.about = is_configured.then_some(about);
        Ok(Some(slurm))
    }

    /// Takes a line of `slurm.conf`.
    fn line(
        &mut self,
        line: &Line,
        nodes: &mut Nodes,
        partitions: &mut Partitions,
        budget: &mut Budget,
        notes: &mut Notes<'_>,
    ) -> Result<(), Error> {
        let Line { place, pairs } = line;
        let Some((first, _)) = pairs.first() else { return Ok(()) };
        match first.to_lowercase().as_str() {
            "nodename" => nodes.line(place, pairs, budget, notes)?,
            "partitionname" => partitions.line(place, pairs, notes)?,
            "nodeset" => partitions.node_set(place, pairs),
            "downnodes" => notes.unsupported(place, first, "the machines are there from the start to the end"),
            _ => {
                for (name, value) in pairs {
                    self.scalar(place, name, value, notes)?;
                }
            }
        }
        Ok(())
    }

    fn scalar(&mut self, place: &Place, name: &str, value: &str, notes: &mut Notes<'_>) -> Result<(), Error> {
        if let Some(sign) = self.about.sign.is_none().then(|| versions::sign(name, value)).flatten() {
            self.about.sign = Some(sign);
        }
        match name.to_lowercase().as_str() {
            "slurm_version" if !units::is_nothing(value) => {
                self.about.version = Some(value.to_owned());
                self.scalars.set(place, name, value, notes)?;
            }
            "licenses" if units::is_nothing(value) => self.licenses = None,
            "licenses" => {
                let read = units::licenses(value);
                let expected = "licences such as `matlab:4,foo`";
                self.licenses = Some((place.clone(), read.ok_or_else(|| notes.wrong(place, name, expected, value))?));
            }
            "clustername" => self.cluster_name = Some(value.to_owned()),
            _ => self.scalars.set(place, name, value, notes)?,
        }
        Ok(())
    }

    /// Adds an association.
    fn add(&mut self, association: Association, place: &Place, notes: &Notes<'_>) -> Result<(), Error> {
        check_name(&association.account, place, notes)?;
        if association.user.is_none() {
            self.accounts.insert(association.account.clone());
        }
        self.conf.associations.push(association);
        self.places.push(place.clone());
        Ok(())
    }

    /// Notes which limits there are, and which fields set them.
    fn note_limits<'f>(
        &mut self,
        holder: Holder<'_>,
        limits: impl IntoIterator<Item = (Vec<&'static str>, &'f Field)>,
    ) {
        for (keys, field) in limits {
            let Place { file, line } = field.place.clone();
            let origin = SettingOrigin { property: field.name.clone(), file, line };
            self.limits.extend(keys.into_iter().map(|key| ((POLICY, holder.to_string(), key), origin.clone())));
        }
    }

    fn has_account(&self, name: &str) -> bool {
        self.accounts.contains(name)
    }

    /// Drops the associations of other clusters, and checks that each account lies below the root.
    fn finish_associations(&mut self, notes: &Notes<'_>) -> Result<(), Error> {
        let cluster = self.cluster_name.as_deref();
        let is_ours = |association: &Association| match (&association.cluster, cluster) {
            (Some(named), Some(cluster)) => named.eq_ignore_ascii_case(cluster),
            _ => true,
        };
        let all = std::mem::take(&mut self.conf.associations).into_iter().zip(std::mem::take(&mut self.places));
        let kept: Vec<(Association, Place)> = all.filter(|(association, _)| is_ours(association)).collect();
        let parents: BTreeMap<&str, Option<&str>> = kept
            .iter()
            .filter(|(association, _)| association.user.is_none())
            .map(|(association, _)| (association.account.as_str(), association.parent.as_deref()))
            .collect();
        let mut reaches_root: BTreeSet<&str> = BTreeSet::from([associations::ROOT]);
        for (association, place) in &kept {
            let mut path = BTreeSet::new();
            let mut at = association.account.as_str();
            while !reaches_root.contains(at) {
                let above = parents.get(at).copied().flatten();
                let Some(above) = above.filter(|_| path.insert(at)) else {
                    return Err(notes.wrong(place, "the account", "one that lies below root", &association.account));
                };
                at = above;
            }
            reaches_root.append(&mut path);
        }
        (self.conf.associations, self.places) = kept.into_iter().unzip();
        Ok(())
    }

    /// Names limits that Slurm enforces and no file gives.
    fn name_missing_limits(&self, notes: &mut Notes<'_>) {
        let Some(setting) = self.scalars.enforcing().filter(|_| self.scalars.enforce_limits()) else { return };
        let files = [
            (self.conf.qos.is_empty(), format!("those of QOS, give {QOS} (`sacctmgr -P show qos`)")),
            (
                self.conf.associations.is_empty(),
                format!("those of accounts and users, give {DUMP} (`sacctmgr dump CLUSTER file={DUMP}`)"),
            ),
        ];
        let missing: Vec<String> = files.into_iter().filter(|(lacks, _)| *lacks).map(|(_, file)| file).collect();
        if !missing.is_empty() {
            let why = format!("Slurm enforces limits that no file gives; for {}", missing.join(", and for "));
            notes.unsupported(&setting.place, "AccountingStorageEnforce=limits", &why);
        }
        if self.conf.qos.is_empty() {
            return;
        }
        for partition in &self.conf.partitions {
            if let Some(qos) = partition.qos.as_ref().filter(|&qos| !self.conf.qos.contains_key(qos)) {
                let why = format!("{QOS} does not have the QOS `{qos}` of partition `{}`", partition.name);
                notes.unsupported(&setting.place, "AccountingStorageEnforce=limits", &why);
            }
        }
    }

    /// Drops the limits that Slurm does not enforce.
    fn drop_limits(&mut self, notes: &mut Notes<'_>) {
        let mut drop = |limits: &mut JobLimits, file: &'static str| {
            if !std::mem::take(limits).is_empty() {
                let why = "AccountingStorageEnforce does not have `limits`, so that Slurm does not enforce them";
                notes.unsupported(Place::of(file, 1), "the limits", Why::harmless(why));
            }
        };
        self.conf.qos.values_mut().for_each(|qos| drop(&mut qos.limits, QOS));
        for (association, place) in self.conf.associations.iter_mut().zip(&self.places) {
            drop(&mut association.limits, if place.file == DUMP { DUMP } else { ASSOCIATIONS });
        }
    }

    /// Hands over the settings for parameters of policies, and returns their names.
    pub(super) fn put(&mut self, properties: &mut Properties) -> BTreeSet<String> {
        std::mem::take(&mut self.scalars).put(properties)
    }

    /// Sets the machines and the licences of the cluster.
    pub(super) fn set_cluster(&mut self, cluster: &mut Table, origins: &mut Origins) {
        let mut set = |key: &'static str, property: &str, place: &Place, value: Value| {
            let machines = cluster.entry("machines").or_insert_with(|| Value::Table(Table::new()));
            if let (Value::Table(machines), Some((_, name))) = (machines, key.split_once('.')) {
                machines.insert(name.to_owned(), value);
                let property = Property { name: property.to_owned(), value: String::new(), place: place.clone() };
                origins.insert((None, key), SettingOrigin::of(&property));
            }
        };
        if let (Some(place), false) = (&self.node_place, self.machines.is_empty()) {
            set(NAMED, "NodeName", place, Value::Array(std::mem::take(&mut self.machines)));
        }
        if let Some((place, licenses)) = &self.licenses {
            set(LICENSES, "Licenses", place, Value::String(licenses.clone()));
        }
    }

    /// What is left for the policy, and where its limits are set.
    pub(super) fn into_conf(self) -> (SlurmConf, LimitOrigins) {
        (self.conf, self.limits)
    }
}

pub(super) use scalars::name_the_rest;

/// The longest name of a cluster or an account. Many lines may lie below one account.
const LONGEST_NAME: usize = 256;

fn check_name(name: &str, place: &Place, notes: &Notes<'_>) -> Result<(), Error> {
    if name.len() > LONGEST_NAME {
        return Err(notes.wrong(place, "the name", format!("at most {LONGEST_NAME} bytes"), name));
    }
    Ok(())
}

/// The records of what `scontrol show` prints, each from the key on that begins it.
fn records(bytes: &[u8], file: &'static str, first: &str, notes: &mut Notes<'_>) -> Result<Vec<Line>, Error> {
    let mut all: Vec<Line> = Vec::new();
    for (line, text) in (1..).zip(String::from_utf8_lossy(bytes).lines()) {
        let mut pairs = lines::pairs(text);
        let Some((key, _)) = pairs.first() else { continue };
        if key.eq_ignore_ascii_case(first) {
            all.push(Line { place: Place::of(file, line), pairs });
        } else if let Some(last) = all.last_mut() {
            last.pairs.append(&mut pairs);
        } else {
            notes.odd(Place::of(file, line), "the line", format!("`{first}=` at first"), key);
        }
    }
    if all.is_empty() {
        notes.unsupported(Place::of(file, 1), "the file", &format!("nothing in it begins with `{first}=`"));
    }
    Ok(all)
}
