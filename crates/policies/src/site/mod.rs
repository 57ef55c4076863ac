//! The configuration of a site of Hadoop, Spark, Slurm or Kueue. It sets parameters of policies in place of their defaults, and settings of the
//! cluster.
//!
//! ```text
//! mapred-site.xml ───────┐
//! yarn-site.xml ─────────┼─▶ properties ──▶ parameters of policies, settings of the cluster
//! capacity-scheduler.xml ┘              └─▶ queues of the Capacity Schedulers
//! mapred-queues.xml ──────────────────────▶ queues of MapReduce 1
//! fair-scheduler.xml ─────────────────────▶ pools of MapReduce 1, or queues of YARN's Fair Scheduler
//! spark-defaults.conf ────────────────────▶ properties of Spark ──▶ parameters of `spark`
//! fairscheduler.xml ──────────────────────▶ pools of Spark
//! *.yaml, *.json (see `kubernetes`) ──────▶ objects of Kueue
//! slurm.conf and others (see `slurm`) ────▶ properties of Slurm ──▶ parameters of `slurm`; machines, partitions, users
//! ```
//!
//! A setting becomes a warning with its place if it is known but not modelled, or if nothing is known of it (see `names`).

mod capacity_scheduler;
mod explain;
mod fair_queues;
mod fair_scheduler;
mod hadoop_names;
mod hadoop_site;
pub(crate) mod kubernetes;
mod limits;
mod mapred_queues;
mod names;
mod properties;
mod read;
mod slurm;
mod spark_defaults;
mod spark_names;
mod spark_pools;
mod xml;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use resched_kubernetes::objects;
use serde::Serialize;
use toml::Table;

use crate::parameter::Parameter;
use crate::queues::allocations::Allocations;
use crate::queues::capacity::CapacityQueue;
use crate::queues::slurm::SlurmConf;
use crate::queues::spark_pools::SparkPools;
use crate::queues::tree::QueueTree;
use crate::queues::yarn_capacity::YarnQueue;
use crate::queues::yarn_fair::FairQueue;
use crate::unread::Unread;
pub use hadoop_site::{CLUSTER_SETTINGS, ClusterSetting};
pub use limits::SITES;
use properties::Property;
use xml::Element;

/// A parameter with the name of its policy.
pub(crate) type PolicyParameter = (&'static str, &'static Parameter);

/// The properties that set values, by policy (none: the cluster) and key.
pub type Origins = BTreeMap<(Option<&'static str>, &'static str), SettingOrigin>;

/// The properties that set a limit of a queue, a pool or a user that may hold jobs (a 0; of Slurm, any): by policy, path or name (empty: the
/// default of all), and key.
pub type LimitOrigins = BTreeMap<(&'static str, String, &'static str), SettingOrigin>;

/// The settings of a site for policies; empty unless a configuration was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Site {
    /// The pools of MapReduce 1's `fair-scheduler.xml`.
    pub pools: Option<Allocations>,
    /// The queues of YARN's Capacity Scheduler.
    pub yarn_queues: Option<QueueTree<YarnQueue>>,
    /// The queues of YARN's Fair Scheduler.
    pub yarn_fair: Option<QueueTree<FairQueue>>,
    /// How many jobs of a user run at once under YARN's Fair Scheduler, by name.
    pub yarn_fair_users: BTreeMap<String, u32>,
    /// The pools of Spark's `fairscheduler.xml`.
    pub spark_pools: Option<SparkPools>,
    /// The queues of MapReduce 1's Capacity Scheduler.
    pub mapred_queues: Option<QueueTree<CapacityQueue>>,
    /// What a Slurm site says besides single settings.
    pub slurm: Option<SlurmConf>,
    /// The objects of a Kubernetes site with Kueue.
    pub kubernetes: Option<Arc<objects::Site>>,
    /// Values of parameters, by policy and key, in place of their defaults.
    pub parameters: BTreeMap<(&'static str, &'static str), String>,
    /// Where queues, pools and users have a limit that may hold jobs.
    pub limits: LimitOrigins,
    /// The settings without effect, by file and line.
    pub unread: Vec<Unread>,
    /// The version of the scheduler that wrote the log of the jobs, as the log says it; no file of a site does. Policies that follow several
    /// versions take it where nobody chooses one.
    pub log_version: Option<String>,
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
    /// How many settings concern something else than schedules, by topic. They are not listed.
    pub beside: BTreeMap<&'static str, usize>,
}

/// The property of a site that sets a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SettingOrigin {
    /// Its name.
    pub property: String,
    /// The file that sets it.
    pub file: Cow<'static, str>,
    /// The line of the file, from 1.
    pub line: usize,
}

impl SettingOrigin {
    fn of(property: &Property) -> Self {
        let Property { name, place, .. } = property;
        Self { property: name.clone(), file: place.file.clone(), line: place.line }
    }

    fn of_element(element: Element<'_>) -> Self {
        let place = element.place();
        Self { property: element.tag(), file: place.file, line: place.line }
    }
}

impl Site {
    /// The same for jobs whose scheduler had this version, if it is known.
    #[must_use]
    pub fn with_log_version(self, version: Option<&str>) -> Self {
        Self { log_version: version.map(str::to_owned), ..self }
    }

    /// True if a configuration was read that says something.
    pub fn is_configured(&self) -> bool {
        *self != Self { log_version: self.log_version.clone(), ..Self::default() }
    }

    /// Notes that an element sets something of a queue, a pool or a user to 0, if it does.
    fn note_zero(&mut self, (policy, of, key): (&'static str, &str, &'static str), element: Element<'_>) {
        if element.text().parse() == Ok(0.0) {
            self.limits.insert((policy, of.to_owned(), key), SettingOrigin::of_element(element));
        }
    }
}

const FAIR_SCHEDULER: &str = "fair-scheduler.xml";
const CAPACITY_SCHEDULER: &str = "capacity-scheduler.xml";
const MAPRED_QUEUES: &str = "mapred-queues.xml";
const SPARK_DEFAULTS: &str = "spark-defaults.conf";
const SPARK_POOLS: &str = resched_tables::run::RunSite::SPARK_POOLS;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
