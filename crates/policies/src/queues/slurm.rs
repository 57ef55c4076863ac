//! What a Slurm site says about scheduling besides single settings: partitions, quality of service, associations, nodes.
//!
//! **Source.** slurm.conf(5), scontrol(1) and sacctmgr(1) of 22.05 and 23.11. Limits that are missing do not exist.

use std::collections::BTreeMap;
use std::fmt;

use resched_sim::Ms;
use resched_tables::host_list::fold;
use serde::{Serialize, Serializer};

use crate::submitters::Submitter;

/// The policy that reads this.
pub(crate) const POLICY: &str = "slurm";

/// What Slurm's controller knows about the cluster and its users.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SlurmConf {
    /// The partitions, in the order of the files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<Partition>,
    /// The qualities of service, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub qos: BTreeMap<String, Qos>,
    /// The associations of accounts and users, in the order of the file. Each account lies below the account `root`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub associations: Vec<Association>,
    /// The reservations of nodes, in the order of the file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reservations: Vec<Reservation>,
    /// The nodes in the order of the files, which is the order in which Slurm numbers them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeGroup>,
    /// What its settings show of its version; `None` without a `slurm.conf`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<About>,
}

/// What a `slurm.conf` shows of the version of its Slurm, and which of its lines are missing whose default is not that of all versions.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct About {
    /// The version, such as `24.11.5` (`SLURM_VERSION` of `scontrol show config`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// A setting that Slurm has only since 24.11, or not since, and whether it is the former.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sign: Option<(String, bool)>,
    /// True if a line sets `PriorityType`.
    pub sets_priority_type: bool,
    /// True if a line sets `SelectType`, or what jobs take up under it.
    pub sets_select_type: bool,
}

impl SlurmConf {
    /// The partitions that each node is listed in, as one text. Nodes with the same text can replace each other for every job.
    pub fn groups_of_nodes(&self) -> BTreeMap<String, String> {
        let mut groups: BTreeMap<String, String> = BTreeMap::new();
        for Partition { name, nodes, .. } in &self.partitions {
            for node in nodes {
                let group = groups.entry(node.clone()).or_default();
                group.push_str(name);
                group.push(',');
            }
        }
        groups
    }

    /// The limits that hold for a job, and whose they are: of its quality of service, of that of its partition, and of its associations,
    /// from its user up to the root.
    pub(crate) fn limits_of<'a>(&'a self, job: Submitter<'a>) -> Vec<(Holder<'a>, &'a JobLimits)> {
        let of_partition = self
            .partitions
            .iter()
            .find(|partition| partition.name == job.queue)
            .and_then(|partition| partition.qos.as_deref());
        let of_qos = |name: &'a str| self.qos.get(name).map(|qos| (Holder::Qos(name), &qos.limits));
        let mut all: Vec<_> = [Some(job.qos), of_partition].into_iter().flatten().filter_map(of_qos).collect();
        let is_user = |association: &&Association| {
            association.account == job.group && association.user.as_deref() == Some(job.user)
        };
        if let Some(association) = self.associations.iter().find(is_user) {
            all.push((Holder::User { user: job.user, account: job.group }, &association.limits));
        }
        let mut account = Some(job.group);
        // Accounts stand before those below them, so that no chain is longer than the list.
        for _ in 0..self.associations.len() {
            let is_above = |name: &str| {
                self.associations.iter().find(|association| association.user.is_none() && association.account == name)
            };
            let Some(association) = account.and_then(is_above) else { break };
            all.push((Holder::Account(&association.account), &association.limits));
            account = association.parent.as_deref();
        }
        all
    }
}

/// What a limit is set for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder<'a> {
    /// A quality of service.
    Qos(&'a str),
    /// A user of an account.
    User {
        /// Its name.
        user: &'a str,
        /// The account.
        account: &'a str,
    },
    /// An account.
    Account(&'a str),
}

impl Holder<'_> {
    /// What stands before the name of a quality of service.
    pub(crate) const QOS: &'static str = "qos ";
}

/// With its kind, so that no two have one name.
impl fmt::Display for Holder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Qos(name) => write!(f, "{}{name}", Self::QOS),
            Self::User { user, account } => write!(f, "user {user} of {account}"),
            Self::Account(name) => write!(f, "account {name}"),
        }
    }
}

/// Nodes that one line of the configuration describes.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct NodeGroup {
    /// Their names, in order.
    #[serde(serialize_with = "as_list")]
    pub hosts: Vec<String>,
    /// Jobs get nodes of less weight first (`Weight`).
    pub weight: u32,
}

/// Nodes that an administrator has reserved for some time. Jobs have them only if they name the reservation.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Reservation {
    /// Its name. Several may have one name: a reservation that was changed, or comes again.
    pub name: String,
    /// When it begins, ms since the epoch.
    pub start: Ms,
    /// When it ends, ms since the epoch.
    pub end: Ms,
    /// Its nodes, in order; empty: all of the cluster.
    #[serde(serialize_with = "as_list", skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
}

/// A partition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Partition {
    /// Its name.
    pub name: String,
    /// Its nodes, in order; empty: all of the cluster.
    #[serde(serialize_with = "as_list", skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
    /// True if it takes the jobs that name no partition (`Default`).
    pub is_default: bool,
    /// Jobs of a higher tier come first, and may take what lower tiers hold (`PriorityTier`).
    pub tier: u32,
    /// Its share of the partition factor of priorities (`PriorityJobFactor`).
    pub job_factor: u32,
    /// The longest limit of a job, ms; `None`: there is none (`MaxTime`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_time: Option<Ms>,
    /// The limit of jobs that give none, ms; `None`: `max_time` (`DefaultTime`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_time: Option<Ms>,
    /// How long a job may run beyond its limit, ms; the largest number: without an end; `None`: as the whole cluster says
    /// (`OverTimeLimit`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_time_limit: Option<Ms>,
    /// How long a job that loses its place may run on, ms (`GraceTime`).
    pub grace_time: Ms,
    /// The quality of service whose limits hold for its jobs together (`QOS`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qos: Option<String>,
    /// What happens to a job that loses its place, in small letters; `None`: as the whole cluster says (`PreemptMode`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preempt_mode: Option<String>,
    /// The fewest nodes of a job (`MinNodes`).
    pub min_nodes: u32,
    /// The most nodes of a job; `None`: any number (`MaxNodes`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_nodes: Option<u32>,
    /// The most processors that jobs of this partition have of a node; `None`: all (`MaxCPUsPerNode`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cpus_per_node: Option<u32>,
    /// True if a job has its nodes to itself (`OverSubscribe=EXCLUSIVE`).
    pub exclusive: bool,
    /// True if jobs get the least loaded nodes first (`LLN`).
    pub least_loaded: bool,
    /// True if its jobs may start (`State` is UP or DRAIN, and it has nodes).
    pub is_up: bool,
}

impl Default for Partition {
    fn default() -> Self {
        Self {
            name: String::new(),
            nodes: Vec::new(),
            is_default: false,
            tier: 1,
            job_factor: 1,
            max_time: None,
            default_time: None,
            over_time_limit: None,
            grace_time: 0,
            qos: None,
            preempt_mode: None,
            min_nodes: 0,
            max_nodes: None,
            max_cpus_per_node: None,
            exclusive: false,
            least_loaded: false,
            is_up: true,
        }
    }
}

/// A quality of service.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Qos {
    /// Its part of the QOS factor of priorities (`Priority`).
    pub priority: u32,
    /// By how much use counts for fair share (`UsageFactor`).
    pub usage_factor: f64,
    /// The qualities whose jobs it may take the place of (`Preempt`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preempt: Vec<String>,
    /// What happens to its jobs if they lose their place, in small letters; `None`: as the whole cluster says (`PreemptMode`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preempt_mode: Option<String>,
    /// How long a job that loses its place may run on, ms (`GraceTime`).
    pub grace_time: Ms,
    /// How long its jobs keep their place at least, ms; `None`: as the whole cluster says (`PreemptExemptTime`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preempt_exempt_time: Option<Ms>,
    /// Its flags, as Slurm writes them (`Flags`): `DenyOnLimit`, `OverPartQOS`, ….
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// The limits of its jobs.
    #[serde(skip_serializing_if = "JobLimits::is_empty")]
    pub limits: JobLimits,
}

impl Default for Qos {
    fn default() -> Self {
        Self {
            priority: 0,
            usage_factor: 1.0,
            preempt: Vec::new(),
            preempt_mode: None,
            grace_time: 0,
            preempt_exempt_time: None,
            flags: Vec::new(),
            limits: JobLimits::default(),
        }
    }
}

/// An association: an account, or a user of an account.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Association {
    /// The cluster, if the file says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// The account.
    pub account: String,
    /// The account above it; of a user, the account itself. `None`: it is the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The user; `None`: it is the account itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The only partition that it counts for, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// Its shares among those beside it (`Fairshare`).
    pub shares: Shares,
    /// Its part of the association factor of priorities (`Priority`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u32>,
    /// The qualities of service that its jobs may have, as the file writes them; `+` and `-` in front change those of its parent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub qos: Vec<String>,
    /// The quality of service of jobs that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_qos: Option<String>,
    /// The limits of its jobs. Those below an account count towards its `group`.
    #[serde(skip_serializing_if = "JobLimits::is_empty")]
    pub limits: JobLimits,
}

/// The shares of an association.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shares {
    /// So many of those beside it.
    Own(u32),
    /// It shares as its parent does (`Fairshare=parent`).
    Parent,
}

impl Default for Shares {
    fn default() -> Self {
        Self::Own(1)
    }
}

impl Serialize for Shares {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Own(shares) => to.serialize_u32(*shares),
            Self::Parent => to.serialize_str("parent"),
        }
    }
}

/// The limits of a quality of service or of an association.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct JobLimits {
    /// What all its running jobs have together (`GrpTRES`, `GrpJobs`, `GrpSubmit`).
    #[serde(skip_serializing_if = "Limits::is_empty")]
    pub group: Limits,
    /// What the running jobs of a user have together (`MaxTRESPU`, `MaxJobsPU`; `MaxJobs` of an association).
    #[serde(skip_serializing_if = "Limits::is_empty")]
    pub per_user: Limits,
    /// What the running jobs of an account have together (`MaxTRESPA`, `MaxJobsPA`).
    #[serde(skip_serializing_if = "Limits::is_empty")]
    pub per_account: Limits,
    /// What one job has (`MaxTRES`).
    #[serde(skip_serializing_if = "Limits::is_empty")]
    pub per_job: Limits,
    /// The longest limit of a job, ms (`MaxWall`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_wall: Option<Ms>,
}

impl JobLimits {
    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Its limits on amounts, each with the keys under which `site show` prints them.
    pub(crate) fn with_keys(&self) -> [(&Limits, Keys); 4] {
        let Self { group, per_user, per_account, per_job, .. } = self;
        [(group, Keys::GROUP), (per_user, Keys::USER), (per_account, Keys::ACCOUNT), (per_job, Keys::JOB)]
    }

    /// The keys of those that there are, each with its number.
    pub(crate) fn keys(&self) -> Vec<(&'static str, u64)> {
        let mut all = Vec::new();
        for (limit, keys) in self.with_keys() {
            let named = [(keys.cpus, limit.cpus), (keys.nodes, limit.nodes), (keys.jobs, limit.jobs)];
            all.extend(named.into_iter().filter_map(|(key, most)| Some((key, most?))));
            all.extend(limit.resources.values().map(|&most| (keys.resources, most)));
        }
        all.extend(self.max_wall.map(|most| (MAX_WALL, most.unsigned_abs())));
        all
    }
}

/// The keys of limits on amounts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keys {
    pub(crate) cpus: &'static str,
    pub(crate) nodes: &'static str,
    pub(crate) jobs: &'static str,
    /// Of all other resources.
    pub(crate) resources: &'static str,
}

impl Keys {
    const GROUP: Self =
        Self { cpus: "group.cpus", nodes: "group.nodes", jobs: "group.jobs", resources: "group.resources" };
    const USER: Self =
        Self { cpus: "per_user.cpus", nodes: "per_user.nodes", jobs: "per_user.jobs", resources: "per_user.resources" };
    const ACCOUNT: Self = Self {
        cpus: "per_account.cpus",
        nodes: "per_account.nodes",
        jobs: "per_account.jobs",
        resources: "per_account.resources",
    };
    const JOB: Self =
        Self { cpus: "per_job.cpus", nodes: "per_job.nodes", jobs: "per_job.jobs", resources: "per_job.resources" };
}

/// The key of the longest limit of a job.
pub(crate) const MAX_WALL: &str = "max_wall";

/// The most of each thing; `None`: there is no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u64>,
    /// Nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Running jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u64>,
    /// Jobs that run or wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submitted: Option<u64>,
    /// Other resources by name: `gres/gpu`, `license/matlab`; `mem` in bytes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, u64>,
}

impl Limits {
    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Host names as one list, which is how Slurm writes them.
fn as_list<S: Serializer>(hosts: &[String], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&fold(hosts.iter().map(String::as_str)))
}
