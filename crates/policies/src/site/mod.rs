//! The Hadoop configuration of a site. It sets parameters of policies in place of their defaults, and settings of the
//! cluster.
//!
//! ```text
//! mapred-site.xml ───────┐
//! yarn-site.xml ─────────┼─▶ properties ──▶ parameters of policies, settings of the cluster
//! capacity-scheduler.xml ┘              └─▶ queues of the Capacity Schedulers
//! mapred-queues.xml ──────────────────────▶ queues of MapReduce 1
//! fair-scheduler.xml ─────────────────────▶ pools of MapReduce 1, or queues of YARN's Fair Scheduler
//! ```
//!
//! A setting becomes a warning with its place if it is known but not modelled, or unknown but about scheduling.

mod capacity_scheduler;
mod explain;
mod fair_queues;
mod fair_scheduler;
mod hadoop_site;
mod mapred_queues;
mod properties;
mod xml;

use std::collections::BTreeMap;
use std::path::Path;

use resched_tables::store::sha256;
use serde::Serialize;
use toml::Table;

use crate::error::Error;
use crate::parameter::Parameter;
use crate::queues::allocations::Allocations;
use crate::queues::capacity::CapacityQueue;
use crate::queues::file::check;
use crate::queues::tree::QueueTree;
use crate::queues::yarn_capacity::YarnQueue;
use crate::queues::yarn_fair::FairQueue;
pub use hadoop_site::{CLUSTER_SETTINGS, ClusterSetting};
use properties::{Properties, Property};
use xml::Notes;

/// A parameter with the name of its policy.
pub(crate) type PolicyParameter = (&'static str, &'static Parameter);

/// The properties that set values, by policy (none: the cluster) and key.
pub type Origins = BTreeMap<(Option<&'static str>, &'static str), SettingOrigin>;

/// The settings of a site for policies; empty unless a configuration was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Site {
    /// The pools of MapReduce 1's `fair-scheduler.xml`.
    pub pools: Option<Allocations>,
    /// The queues of YARN's Capacity Scheduler.
    pub yarn_queues: Option<QueueTree<YarnQueue>>,
    /// The queues of YARN's Fair Scheduler.
    pub yarn_fair: Option<QueueTree<FairQueue>>,
    /// The queues of MapReduce 1's Capacity Scheduler.
    pub mapred_queues: Option<QueueTree<CapacityQueue>>,
    /// Values of parameters, by policy and key, in place of their defaults.
    pub parameters: BTreeMap<(&'static str, &'static str), String>,
}

/// The content of a folder of configuration files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SiteConf {
    /// The settings for policies.
    pub site: Site,
    /// The settings of the cluster, under the keys of a cluster file.
    pub cluster: Table,
    /// The properties that set a parameter or a setting of the cluster, by policy (none: the cluster) and key.
    pub origins: Origins,
    /// The files that were read, with their SHA-256.
    pub files: BTreeMap<String, String>,
    /// The settings without effect, one line for each: file, line, setting, reason.
    pub warnings: Vec<String>,
}

/// The property of a site that sets a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SettingOrigin {
    /// Its name.
    pub property: String,
    /// The file that sets it.
    pub file: &'static str,
    /// The line of the file, from 1.
    pub line: usize,
}

impl SettingOrigin {
    fn of(property: &Property) -> Self {
        let Property { name, place, .. } = property;
        Self { property: name.clone(), file: place.file, line: place.line }
    }
}

const FAIR_SCHEDULER: &str = "fair-scheduler.xml";
const CAPACITY_SCHEDULER: &str = "capacity-scheduler.xml";
const MAPRED_QUEUES: &str = "mapred-queues.xml";
/// The files that hold properties. A later file wins.
const PROPERTIES: [&str; 3] = ["mapred-site.xml", "yarn-site.xml", CAPACITY_SCHEDULER];

impl SiteConf {
    /// Reads the configuration files of a folder for policies with these parameters. At least one file must exist.
    ///
    /// # Errors
    /// The folder has no such file; or a file is not XML, has a document type, is too long, or holds a value out of its
    /// range. The error gives file and line.
    pub(crate) fn read_for(parameters: &[PolicyParameter], dir: &Path) -> Result<Self, Error> {
        let mut notes = Notes::new(dir);
        let mut files = BTreeMap::new();
        let mut open = |file: &str| -> Result<Option<Vec<u8>>, Error> {
            let path = dir.join(file);
            if !path.is_file() {
                return Ok(None);
            }
            let bytes = xml::bytes(&path)?;
            files.insert(file.to_owned(), sha256(&bytes));
            Ok(Some(bytes))
        };
        let mut properties = Properties::default();
        for file in PROPERTIES {
            if let Some(bytes) = open(file)? {
                xml::read(&bytes, file, "configuration", &mut notes, |root, notes| properties.add(root, notes))?;
            }
        }
        let mut site = Site::default();
        if let Some(bytes) = open(FAIR_SCHEDULER)? {
            xml::read(&bytes, FAIR_SCHEDULER, "allocations", &mut notes, |root, notes| {
                fair_scheduler::read(root, &mut site, notes)
            })?;
        }
        if let Some(bytes) = open(MAPRED_QUEUES)? {
            site.mapred_queues = Some(xml::read(&bytes, MAPRED_QUEUES, "queues", &mut notes, mapred_queues::read)?);
            capacity_scheduler::name_overruled(&mut properties, &mut notes);
        } else {
            site.mapred_queues = capacity_scheduler::mapred(&mut properties, &mut notes)?;
        }
        site.yarn_queues = capacity_scheduler::yarn(&mut properties, &mut notes)?;
        if files.is_empty() {
            let known = [&PROPERTIES[..], &[MAPRED_QUEUES, FAIR_SCHEDULER]].concat().join(", ");
            return Err(Error::Site(format!(
                "{}: expected at least one of {known}, found none; name another folder",
                dir.display()
            )));
        }
        if let Some(queues) = &site.mapred_queues {
            let file = if files.contains_key(MAPRED_QUEUES) { MAPRED_QUEUES } else { CAPACITY_SCHEDULER };
            let path = dir.join(file);
            check(queues).map_err(|problem| Error::Site(format!("{}: {problem}; correct it", path.display())))?;
        }
        if let Some(queues) = &site.yarn_queues {
            let path = dir.join(CAPACITY_SCHEDULER);
            check(queues).map_err(|problem| Error::Site(format!("{}: {problem}; correct it", path.display())))?;
        }
        let mut origins = BTreeMap::new();
        let mut set = hadoop_site::of_policies(parameters, &mut properties, &mut notes, &mut origins)?;
        site.parameters.append(&mut set);
        let cluster = hadoop_site::cluster(&mut properties, &mut notes, &mut origins)?;
        hadoop_site::name_the_rest(parameters, &mut properties, &mut notes);
        Ok(Self { site, cluster, origins, files, warnings: notes.into_lines() })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
