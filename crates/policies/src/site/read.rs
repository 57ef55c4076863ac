//! Reads the folder of a site.

use std::collections::BTreeMap;
use std::path::Path;

use resched_tables::store::sha256;

use super::properties::Properties;
use super::slurm::{self, Slurm};
use super::xml::{self, Notes};
use super::{
    CAPACITY_SCHEDULER, FAIR_SCHEDULER, MAPRED_QUEUES, PolicyParameter, SPARK_DEFAULTS, SPARK_POOLS, Site, SiteConf,
    capacity_scheduler, fair_scheduler, hadoop_site, kubernetes, mapred_queues, spark_defaults, spark_pools,
};
use crate::error::Error;
use crate::info::PolicyInfo;
use crate::input::Input;
use crate::queues::file::check;
use crate::registry::POLICIES;

/// The files that hold properties. A later file wins.
const PROPERTIES: [&str; 5] =
    ["resource-types.xml", "node-resources.xml", "mapred-site.xml", "yarn-site.xml", CAPACITY_SCHEDULER];

impl SiteConf {
    /// Reads the configuration files of a folder, for all policies. At least one file must exist.
    ///
    /// # Errors
    /// The folder has no such file; or a file is not XML, has a document type, is too long, or holds a value out of its
    /// range. The error gives file and line.
    pub fn read(dir: &Path) -> Result<Self, Error> {
        let of = |info: &'static PolicyInfo| info.parameters.iter().map(|parameter| (info.name, parameter));
        let parameters: Vec<PolicyParameter> = POLICIES.iter().flat_map(of).collect();
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
        notes.about(Input::Spark);
        if let Some(bytes) = open(SPARK_DEFAULTS)? {
            spark_defaults::read(&bytes, &mut properties, &mut notes);
        }
        let mut site = Site::default();
        notes.about(Input::SparkPools);
        if let Some(bytes) = open(SPARK_POOLS)? {
            site.spark_pools = Some(xml::read(&bytes, SPARK_POOLS, "allocations", &mut notes, spark_pools::read)?);
        }
        notes.about(Input::Pools);
        if let Some(bytes) = open(FAIR_SCHEDULER)? {
            let roots = ["allocations", "configuration"];
            xml::read_one_of(&bytes, FAIR_SCHEDULER, &roots, &mut notes, |root, notes| match root.name() {
                // Hadoop's Scheduler Load Simulator keeps properties in it, which name the file of allocations.
                "configuration" => properties.add(root, notes),
                _ => fair_scheduler::read(root, &mut site, notes),
            })?;
        }
        if site.pools.is_none() && site.yarn_fair.is_none() {
            let named = properties.first(hadoop_site::ALLOCATION_FILE, &mut notes);
            let name = named.and_then(|setting| setting.value.rsplit('/').next().map(str::to_owned));
            if let Some(name) = name.filter(|name| name != FAIR_SCHEDULER && !name.is_empty())
                && let Some(bytes) = open(&name)?
            {
                notes.about(Input::Pools);
                xml::read(&bytes, &name, "allocations", &mut notes, |root, notes| {
                    fair_scheduler::read(root, &mut site, notes)
                })?;
            }
        }
        notes.about(Input::MapredQueues);
        if let Some(bytes) = open(MAPRED_QUEUES)? {
            site.mapred_queues = Some(xml::read(&bytes, MAPRED_QUEUES, "queues", &mut notes, mapred_queues::read)?);
            capacity_scheduler::name_overruled(&mut properties, &mut notes);
        } else {
            site.mapred_queues = capacity_scheduler::mapred(&mut properties, &mut notes)?;
        }
        notes.about(Input::YarnQueues);
        site.yarn_queues = capacity_scheduler::yarn(&mut properties, &mut site.limits, &mut notes)?;
        notes.about(Input::Slurm);
        let mut slurm = Slurm::read(&mut open, &mut notes)?;
        let names = slurm.as_mut().map(|slurm| slurm.put(&mut properties)).unwrap_or_default();
        let objects = kubernetes::files(dir)?;
        notes.about(Input::Kueue);
        site.kubernetes = kubernetes::read(dir, &objects, &mut notes)?;
        if site.kubernetes.is_some() {
            files.extend(objects.into_iter().map(|(name, text)| (name, sha256(text.as_bytes()))));
        }
        if files.is_empty() {
            let others = [MAPRED_QUEUES, FAIR_SCHEDULER, SPARK_DEFAULTS, SPARK_POOLS];
            let known = [&PROPERTIES[..], &others, &slurm::FILES, &["*.yaml of Kueue"]].concat().join(", ");
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
        notes.about(Input::Hadoop);
        let mut origins = BTreeMap::new();
        let mut set = hadoop_site::of_policies(&parameters, &mut properties, &mut notes, &mut origins)?;
        site.parameters.append(&mut set);
        let mut cluster = hadoop_site::cluster(&mut properties, &mut notes, &mut origins)?;
        hadoop_site::name_the_rest(&parameters, &mut properties, &names, &files, &mut notes);
        if let Some(mut slurm) = slurm {
            notes.about(Input::Slurm);
            slurm::name_the_rest(&names, &properties, &mut notes);
            slurm.set_cluster(&mut cluster, &mut origins);
            let (conf, limits) = slurm.into_conf();
            site.slurm = Some(conf);
            site.limits.extend(limits);
        }
        let beside;
        (site.unread, beside) = notes.into_unread();
        let warnings = site.unread.iter().map(ToString::to_string).collect();
        Ok(Self { site, cluster, origins, files, warnings, beside })
    }
}
