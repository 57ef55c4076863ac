//! Checks the queues and pools of a configuration against the jobs of a trace: which jobs have no rule, where a scheduler would put
//! them, and which rules have no job.
//!
//! A scheduler puts a job somewhere, whatever queue it names. So a wrong name in a configuration changes a schedule silently;
//! [`PolicySpec::findings`] says so.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use resched_kubernetes::objects;
use resched_sim::batch::Workload;
use resched_tables::words::counted;
use serde::Serialize;

use crate::batch::kueue;
use crate::batch::slurm::{self, TooLarge};
use crate::batch::spark;
use crate::error::Error;
use crate::parameter::Parameter;
use crate::queues::file::{self, DEFAULT_QUEUE, QueueSettings};
use crate::queues::slurm::{Holder, SlurmConf};
use crate::queues::tree::names_on;
use crate::queues::{Allocations, CapacityQueue, FairQueue, QueueTree, YarnQueue};
use crate::site::Site;
use crate::spec::PolicySpec;
use crate::submitters::Submitters;
use crate::zeros::{self, Stops, Zero, Zeros};

/// How many names a message lists.
const MOST_NAMES: usize = 5;

/// What a configuration has rules for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// A queue.
    Queue,
    /// A pool of the Fair Scheduler of MapReduce 1.
    Pool,
    /// A user whose running jobs are limited.
    User,
    /// A partition of Slurm.
    Partition,
    /// A quality of service of Slurm.
    Qos,
    /// An account of Slurm, or a user of one.
    Association,
}

impl Rule {
    fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Pool => "pool",
            Self::User => "user",
            Self::Partition => "partition",
            Self::Qos => "quality of service",
            Self::Association => "association",
        }
    }

    /// What becomes of jobs that a setting of 0 holds.
    fn fate_of_held(self, held: &str) -> String {
        match self {
            // Slurm's controller goes on to look at them: a replay ends once nothing else is left.
            Self::Qos | Self::Association => "they wait until a replay ends".to_owned(),
            _ => format!("a replay of {held} does not end"),
        }
    }
}

/// A place where a configuration and a trace do not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "finding", rename_all = "kebab-case")]
pub enum Finding {
    /// Jobs name a queue or pool without a rule.
    Unmatched {
        /// What has no rule.
        rule: Rule,
        /// Its name in the trace.
        name: String,
        /// The number of its jobs.
        jobs: u64,
        /// Where the scheduler puts them.
        goes_to: String,
    },
    /// A rule has no job.
    Unused {
        /// What the rule is for.
        rule: Rule,
        /// Its name in the configuration.
        name: String,
    },
    /// The trace has several queues, and the policy one, as no configuration names others.
    OneQueue {
        /// The queues of the trace, with the numbers of their jobs.
        queues: BTreeMap<String, u64>,
    },
    /// No file gives the capacities of the queues, so all queues of the trace are guaranteed as much.
    EqualShares {
        /// The number of queues of the trace.
        queues: u64,
    },
    /// The configuration has a file of the same purpose for another scheduler. The policy does not read it.
    WrongFile {
        /// The file.
        file: String,
        /// What it holds.
        holds: String,
        /// The policies that read it.
        read_by: Vec<String>,
        /// How to give the policy its own.
        remedy: String,
    },
    /// A setting of 0 keeps jobs from running. The scheduler holds them, so a replay of them does not end.
    Held {
        /// What has the setting.
        rule: Rule,
        /// Its name in the configuration.
        name: String,
        /// The number of the jobs that it holds.
        jobs: u64,
        /// The setting.
        setting: String,
        /// What it keeps from starting.
        stops: Stops,
        /// The file that sets it.
        file: String,
        /// The line of the file, from 1; null for a file of queues or pools in TOML.
        line: Option<usize>,
    },
    /// Jobs alone exceed a limit of Slurm, so that they never start.
    TooLarge {
        /// What has the limit.
        rule: Rule,
        /// Its name in the configuration.
        name: String,
        /// The number of the jobs.
        jobs: u64,
        /// The ids of the first of them.
        first: Vec<String>,
        /// The setting.
        setting: String,
        /// The file that sets it.
        file: String,
        /// The line of the file, from 1; null if it is not known.
        line: Option<usize>,
    },
    /// The applications of the trace had fair pools, and no file says what these are given.
    NoPools {
        /// The file that the log names, if it does.
        file: Option<String>,
        /// The number of its applications with fair pools.
        applications: u64,
    },
    /// The policy is for production traces and reads nothing of a site.
    NoEffect {
        /// How to give it queues or weights.
        remedy: String,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unmatched { rule, name, jobs, goes_to } => {
                write!(f, "{jobs} jobs of {} `{name}` have no rule; they go to {goes_to}", rule.name())
            }
            Self::Unused { rule, name } => write!(f, "the rule for {} `{name}` has no job", rule.name()),
            Self::OneQueue { queues } => write!(
                f,
                "its queues are not configured, so the jobs of {} queues ({}) share one; give it queues with --site-conf or \
                 `queues=FILE`",
                queues.len(),
                listed(queues.keys())
            ),
            Self::EqualShares { queues } => write!(
                f,
                "the capacities of the queues are not given, so all {queues} queues of the trace have the same guarantee; give them as \
                 `weights=FILE`"
            ),
            Self::WrongFile { file, holds, read_by, remedy } => {
                write!(f, "{file} holds {holds}, which only {} read; {remedy}", read_by.join(", "))
            }
            Self::Held { rule, name, jobs, setting, stops, file, line } => {
                let place = placed(file, *line);
                f.write_str(&held_in_words(setting, *rule, &format!("`{name}`"), &place, *stops, *jobs))
            }
            Self::TooLarge { rule, name, jobs, first, setting, file, line } => {
                let (of, place) = (rule.name(), placed(file, *line));
                let (what, ids) = (Stops::Jobs.in_words(*jobs), some(first, *jobs));
                let why = if *jobs == 1 { "it alone exceeds" } else { "each alone exceeds" };
                write!(f, "{what}, because {why} `{setting}` of {of} `{name}` ({place}): {ids}")
            }
            Self::NoPools { file, applications } => {
                let named = file.as_ref().map_or_else(String::new, |file| format!(" (the log names `{file}`)"));
                write!(
                    f,
                    "{} of the trace had fair pools, whose file is not given{named}, so that each pool has the weight 1, no minimum \
                     share and FIFO inside; give the file as `fairscheduler.xml` with --site-conf, or as `pools=FILE`",
                    counted(*applications, "application")
                )
            }
            Self::NoEffect { remedy } => write!(f, "the queues and pools of the site have no effect on it; {remedy}"),
        }
    }
}

/// Some of these names, and how many there are beyond.
fn listed<S: AsRef<str>>(names: impl ExactSizeIterator<Item = S>) -> String {
    let all = names.len() as u64;
    let first: Vec<S> = names.take(MOST_NAMES).collect();
    some(&first, all)
}

/// The first of so many names, and how many there are beyond.
fn some<S: AsRef<str>>(first: &[S], all: u64) -> String {
    let mut shown: Vec<String> = first.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    let more = all.saturating_sub(shown.len() as u64);
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    shown.join(", ")
}

fn placed(file: &str, line: Option<usize>) -> String {
    line.map_or_else(|| file.to_owned(), |line| format!("{file}: line {line}"))
}

/// A setting of 0, where it is, what it stops, and what has it.
type Holding<'f> = (&'f str, String, Stops, Rule);

fn held_in_words(setting: &str, rule: Rule, names: &str, place: &str, stops: Stops, jobs: u64) -> String {
    let (what, fate) = (stops.in_words(jobs), rule.fate_of_held(stops.held()));
    format!("{what}, because `{setting}` of {} {names} is 0 ({place}); {fate}", rule.name())
}

/// Findings about a policy as lines for people. Jobs that go to one place, jobs that one setting holds, and rules without a job, make
/// one line.
pub fn in_words(policy: &str, findings: &[Finding]) -> Vec<String> {
    let mut lost: BTreeMap<(&str, &str), Vec<(&str, u64)>> = BTreeMap::new();
    let mut idle: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut held: BTreeMap<Holding<'_>, Vec<(&str, u64)>> = BTreeMap::new();
    let mut lines = Vec::new();
    for finding in findings {
        match finding {
            Finding::Held { rule, name, jobs, setting, stops, file, line } => {
                let key = (setting.as_str(), placed(file, *line), *stops, *rule);
                held.entry(key).or_default().push((name, *jobs));
            }
            Finding::Unmatched { rule, name, jobs, goes_to } => {
                lost.entry((rule.name(), goes_to)).or_default().push((name, *jobs));
            }
            Finding::Unused { rule, name } => idle.entry(rule.name()).or_default().push(name),
            other => lines.push(format!("{policy}: {other}")),
        }
    }
    for ((setting, place, stops, rule), names) in held {
        let jobs = names.iter().map(|(_, jobs)| jobs).sum();
        let named = listed(names.iter().map(|(name, _)| name));
        lines.push(format!("{policy}: {}", held_in_words(setting, rule, &named, &place, stops, jobs)));
    }
    for ((rule, goes_to), mut names) in lost {
        names.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let jobs: u64 = names.iter().map(|(_, jobs)| jobs).sum();
        let named = listed(names.iter().map(|(name, _)| name));
        let (go, their) = if jobs == 1 { ("job goes", "its") } else { ("jobs go", "their") };
        lines.push(format!(
            "{policy}: {jobs} {go} to {goes_to}, because the configuration has no rule for {their} {rule}: {named}"
        ));
    }
    for (rule, names) in idle {
        lines.push(format!("{policy}: no job has a {rule} of the configuration: {}", listed(names.iter())));
    }
    lines
}

/// What has a limit of Slurm, and its name.
fn of_holder(holder: Holder<'_>) -> (Rule, String) {
    match holder {
        Holder::Qos(name) => (Rule::Qos, name.to_owned()),
        Holder::User { .. } | Holder::Account(_) => (Rule::Association, holder.to_string()),
    }
}

/// The rules that decide which queue or pool a job goes to.
enum Routes {
    Pools {
        allocations: Allocations,
        by_queue: bool,
    },
    Capacity(QueueTree<CapacityQueue>),
    YarnCapacity(QueueTree<YarnQueue>),
    YarnFair {
        tree: QueueTree<FairQueue>,
        by_user: bool,
    },
    /// Slurm's partitions. A job that names none goes to the default one.
    Partitions(SlurmConf),
    /// Kueue's LocalQueues.
    LocalQueues(Arc<objects::Site>),
}

const FAIR_FILE: &str = "fair-scheduler.xml";
const CAPACITY_FILE: &str = "capacity-scheduler.xml";

impl PolicySpec {
    /// Where the queues and pools of its files and of its site do not fit the jobs of a trace.
    ///
    /// # Errors
    /// A file of queues or pools that cannot be read.
    pub fn findings(&self, jobs: &Submitters) -> Result<Vec<Finding>, Error> {
        let mut findings: Vec<Finding> = self.wrong_file().into_iter().collect();
        let queues = jobs.queues().len() as u64;
        findings.extend((self.lacks_capacities() && queues > 1).then_some(Finding::EqualShares { queues }));
        match self.routes()? {
            Some(Routes::Pools { allocations, by_queue }) => {
                findings.extend(self.held_in_pools(&allocations, by_queue, jobs));
                findings.extend(of_pools(&allocations, by_queue, jobs));
            }
            Some(Routes::Capacity(tree)) => {
                findings.extend(of_tree(&tree, jobs, |name| tree.leaf_named(name), tree.fallback()));
            }
            Some(Routes::YarnCapacity(tree)) => {
                let fallback = tree.fallback();
                let place = |name: &str| tree.leaf_named(name).unwrap_or(fallback);
                findings.extend(self.held_in(&tree, jobs.pairs().map(|((queue, _), jobs)| (place(queue), jobs))));
                findings.extend(of_tree(&tree, jobs, |name| tree.leaf_named(name), fallback));
            }
            Some(Routes::YarnFair { tree, by_user }) => {
                let places =
                    names_of_yarn_fair(by_user, jobs).into_iter().map(|(name, jobs)| (walk(&tree, name).0, jobs));
                findings.extend(self.held_in(&tree, places));
                findings.extend(of_yarn_fair(&tree, by_user, jobs));
            }
            Some(Routes::Partitions(conf)) => {
                findings.extend(self.held_by_limits(&conf, jobs));
                let names = conf.partitions.into_iter().map(|partition| partition.name).collect();
                findings.extend(of_partitions(&names, jobs));
            }
            Some(Routes::LocalQueues(site)) => findings.extend(of_local_queues(&site, jobs)),
            None => {}
        }
        Ok(findings)
    }

    /// The jobs that a setting of 0 of a queue holds. `jobs` gives the queue that jobs go to, and how many they are.
    fn held_in<S: Zeros>(&self, tree: &QueueTree<S>, jobs: impl IntoIterator<Item = (usize, u64)>) -> Vec<Finding> {
        let held = zeros::of_tree(tree, jobs).into_iter();
        held.map(|(place, zero, jobs)| self.held(Rule::Queue, &tree.get(place).path, zero, jobs, "queues")).collect()
    }

    /// The jobs that a setting of 0 of a pool or of a user holds.
    fn held_in_pools(&self, allocations: &Allocations, by_queue: bool, jobs: &Submitters) -> Vec<Finding> {
        let pools = jobs.by(|queue, user| if by_queue { queue } else { user });
        let of_pools = pools.into_iter().flat_map(|(name, jobs)| {
            let zeros = zeros::of_pool(allocations.pool(name));
            zeros.into_iter().map(move |zero| self.held(Rule::Pool, name, zero, jobs, "allocations"))
        });
        let of_users = jobs.by(|_, user| user).into_iter().filter_map(|(name, jobs)| {
            zeros::of_user(allocations, name).map(|zero| self.held(Rule::User, name, zero, jobs, "allocations"))
        });
        of_pools.chain(of_users).collect()
    }

    /// The jobs that a limit of 0 of Slurm holds.
    fn held_by_limits(&self, conf: &SlurmConf, jobs: &Submitters) -> Vec<Finding> {
        let mut held: BTreeMap<(Rule, String, String, Zero), u64> = BTreeMap::new();
        for (job, count) in jobs.all() {
            let limits = conf.limits_of(job).into_iter();
            for (holder, zero) in
                limits.flat_map(|(holder, limit)| zeros::of_limits(limit).into_iter().map(move |zero| (holder, zero)))
            {
                let (rule, name) = of_holder(holder);
                *held.entry((rule, name, holder.to_string(), zero)).or_default() += count;
            }
        }
        let finding = |((rule, name, holder, (key, stops)), jobs): ((Rule, String, String, Zero), u64)| {
            let (setting, file, line) = self.origin(&holder, key, "");
            Finding::Held { rule, name, jobs, setting, stops, file, line }
        };
        held.into_iter().map(finding).collect()
    }

    /// The finding about a setting of 0. It comes from the file that the parameter names, or else from the site.
    fn held(&self, rule: Rule, name: &str, (key, stops): Zero, jobs: u64, parameter: &str) -> Finding {
        let (setting, file, line) = self.origin(name, key, parameter);
        Finding::Held { rule, name: name.to_owned(), jobs, setting, stops, file, line }
    }

    /// The setting that a limit comes from, its file, and its line, if that is known.
    fn origin(&self, name: &str, key: &'static str, parameter: &str) -> (String, String, Option<usize>) {
        let policy = if parameter == "allocations" { "fair" } else { self.info.name };
        let limits = &self.site().limits;
        let of_site =
            || limits.get(&(policy, name.to_owned(), key)).or_else(|| limits.get(&(policy, String::new(), key)));
        match (self.file(parameter), of_site()) {
            (None, Some(origin)) => (origin.property.clone(), origin.file.to_string(), Some(origin.line)),
            (file, _) => (key.to_owned(), file.unwrap_or("the configuration").to_owned(), None),
        }
    }

    /// The jobs of a workload that alone exceed a limit of the site's Slurm. Those that a limit of 0 holds are left to
    /// [`PolicySpec::findings`].
    ///
    /// # Errors
    /// Parameters that the policy does not have.
    pub fn too_large(&self, workload: &Workload) -> Result<Vec<Finding>, Error> {
        let Some(conf) = self.site().slurm.as_ref().filter(|_| self.info.name == "slurm") else {
            return Ok(Vec::new());
        };
        let is_zero =
            |too_large: &TooLarge<'_>| zeros::of_limits(too_large.limits).iter().any(|(key, _)| *key == too_large.key);
        let finding = |TooLarge { holder, key, jobs, .. }: TooLarge<'_>| {
            let (rule, name) = of_holder(holder);
            let (setting, file, line) = self.origin(&holder.to_string(), key, "");
            let first = jobs.iter().take(MOST_NAMES).map(|&id| id.to_owned()).collect();
            Finding::TooLarge { rule, name, jobs: jobs.len() as u64, first, setting, file, line }
        };
        let found = slurm::too_large(self.values(), conf, workload)?;
        Ok(found.into_iter().filter(|zero| !is_zero(zero)).map(finding).collect())
    }

    /// The files that decide, that the log of a workload names or needs, and that nobody gave.
    ///
    /// # Errors
    /// Parameters that the policy does not have.
    pub fn missing_files(&self, workload: &Workload) -> Result<Vec<Finding>, Error> {
        if self.info.name != spark::INFO.name || self.site().spark_pools.is_some() {
            return Ok(Vec::new());
        }
        let lacking = spark::without_pools(self.values(), workload.applications())?;
        Ok(lacking.map(|(file, applications)| Finding::NoPools { file, applications }).into_iter().collect())
    }

    /// True if it has queues or pools that a configuration can describe, or a site describes some in vain.
    pub fn has_rules(&self) -> bool {
        let has_files = self.value("allocations").is_some() || self.value("queues").is_some();
        let has_partitions = self.info.name == "slurm" && self.site().slurm.is_some();
        let has_queues = self.info.name == "kueue" && (self.site().kubernetes.is_some() || self.file("site").is_some());
        has_files || has_partitions || has_queues || self.lacks_capacities() || self.wrong_file().is_some()
    }

    /// True if it guarantees each queue a share, and no file says which.
    fn lacks_capacities(&self) -> bool {
        let by_queue = self.info.name == "batch-capacity" && self.value("by") == Some("queue");
        by_queue && self.file("weights").is_none()
    }

    /// The value of a parameter, if the policy has it.
    fn value(&self, key: &str) -> Option<&str> {
        let parameter: Option<&Parameter> = self.info.parameters.iter().find(|parameter| parameter.key == key);
        parameter.map(|parameter| self.text(parameter))
    }

    /// The path of the file that a parameter names.
    fn file(&self, key: &str) -> Option<&str> {
        self.value(key).filter(|path| !path.is_empty())
    }

    fn routes(&self) -> Result<Option<Routes>, Error> {
        let site = self.site();
        if self.value("allocations").is_some() {
            let read = |path| Allocations::read(path).map_err(Error::File);
            let allocations = self.file("allocations").map(read).transpose()?.or_else(|| site.pools.clone());
            let by_queue = self.value("pools") == Some("queue");
            return Ok(Some(Routes::Pools { allocations: allocations.unwrap_or_default(), by_queue }));
        }
        Ok(match self.info.name {
            "capacity" => {
                Some(Routes::Capacity(self.tree(site.mapred_queues.as_ref())?.unwrap_or_else(file::one_queue)))
            }
            "yarn-capacity" => {
                Some(Routes::YarnCapacity(self.tree(site.yarn_queues.as_ref())?.unwrap_or_else(file::one_queue)))
            }
            "yarn-fair" => {
                let tree = self.tree(site.yarn_fair.as_ref())?.unwrap_or_else(|| QueueTree::new(FairQueue::default()));
                Some(Routes::YarnFair { tree, by_user: self.value("placement") == Some("user") })
            }
            "slurm" => site.slurm.clone().map(Routes::Partitions),
            "kueue" => {
                let objects = kueue::site_of(self.values(), site)?;
                (!objects.queues.is_empty()).then_some(Routes::LocalQueues(objects))
            }
            _ => None,
        })
    }

    /// The queues of the file that `queues` names, else those of the site.
    fn tree<S: QueueSettings + Clone>(&self, site: Option<&QueueTree<S>>) -> Result<Option<QueueTree<S>>, Error> {
        self.file("queues").map_or_else(|| Ok(site.cloned()), |path| file::read(path).map(Some)).map_err(Error::File)
    }

    /// The file of the site that is for another scheduler than this policy.
    fn wrong_file(&self) -> Option<Finding> {
        let Site { pools, yarn_queues, yarn_fair, mapred_queues, .. } = self.site();
        let wrong = |file: &str, holds: &str, read_by: &[&str], remedy: &str| Finding::WrongFile {
            file: file.to_owned(),
            holds: holds.to_owned(),
            read_by: read_by.iter().map(|&name| name.to_owned()).collect(),
            remedy: remedy.to_owned(),
        };
        let of_pools = self.value("allocations").is_some() && self.file("allocations").is_none();
        let alone = |name: &str| self.info.name == name && self.file("queues").is_none();
        if of_pools && pools.is_none() && yarn_fair.is_some() {
            let remedy = "give the pools as `allocations=FILE`, or as a file with <pool>, <minMaps> and <maxMaps>";
            return Some(wrong(FAIR_FILE, "queues of YARN", &["yarn-fair"], remedy));
        }
        if alone("yarn-fair") && yarn_fair.is_none() && pools.is_some() {
            let remedy =
                "if the file is YARN's, write <queue> in place of <pool>; otherwise give the queues as `queues=FILE`";
            return Some(wrong(FAIR_FILE, "pools of MapReduce 1", &["fair", "fair-deficit", "coupling"], remedy));
        }
        if alone("capacity") && mapred_queues.is_none() && yarn_queues.is_some() {
            let remedy = "give the queues of MapReduce 1 in mapred-queues.xml or as `queues=FILE`";
            return Some(wrong(CAPACITY_FILE, "queues of YARN", &["yarn-capacity"], remedy));
        }
        if alone("yarn-capacity") && yarn_queues.is_none() && mapred_queues.is_some() {
            let remedy = "give the queues of YARN as `yarn.scheduler.capacity.root.queues` or as `queues=FILE`";
            return Some(wrong(CAPACITY_FILE, "queues of MapReduce 1", &["capacity"], remedy));
        }
        let has_rules = pools.is_some() || yarn_queues.is_some() || yarn_fair.is_some() || mapred_queues.is_some();
        (self.info.is_batch() && has_rules).then(|| Finding::NoEffect {
            remedy: "see its parameters with `resched policies`; some take `weights=FILE`".to_owned(),
        })
    }
}

/// LocalQueues of Kueue, each `namespace/name`. A workload of another queue waits for ever.
fn of_local_queues(site: &objects::Site, jobs: &Submitters) -> Vec<Finding> {
    let queues = jobs.queues();
    let is_there = |name: &str| kueue::takes(site, name);
    let lost = queues.iter().filter(|(name, _)| !is_there(name)).map(|(name, &jobs)| Finding::Unmatched {
        rule: Rule::Queue,
        name: (*name).to_owned(),
        jobs,
        goes_to: "no ClusterQueue and wait for ever".to_owned(),
    });
    let named = site.local_queues.iter().map(|local_queue| format!("{}/{}", local_queue.namespace, local_queue.name));
    let idle = named.filter(|name| !queues.contains_key(name.as_str()));
    lost.chain(idle.map(|name| Finding::Unused { rule: Rule::Queue, name })).collect()
}

/// Pools and users of the Fair Scheduler of MapReduce 1. Without a rule, a pool has the defaults.
fn of_pools(allocations: &Allocations, by_queue: bool, jobs: &Submitters) -> Vec<Finding> {
    let pools = jobs.by(|queue, user| if by_queue { queue } else { user });
    let users = jobs.by(|_, user| user);
    let mut findings = Vec::new();
    if !allocations.pools.is_empty() {
        let unmatched = pools.iter().filter(|(name, _)| !allocations.pools.contains_key(**name));
        findings.extend(unmatched.map(|(&name, &jobs)| Finding::Unmatched {
            rule: Rule::Pool,
            name: name.to_owned(),
            jobs,
            goes_to: "separate pools with the defaults of the file".to_owned(),
        }));
    }
    let unused = |rule, name: &String| Finding::Unused { rule, name: name.clone() };
    let idle = allocations.pools.keys().filter(|name| !pools.contains_key(name.as_str()));
    findings.extend(idle.map(|name| unused(Rule::Pool, name)));
    let idle = allocations.users.keys().filter(|name| !users.contains_key(name.as_str()));
    findings.extend(idle.map(|name| unused(Rule::User, name)));
    findings
}

/// The queues of a Capacity Scheduler: jobs without a rule go to one of them.
fn of_tree<S>(
    tree: &QueueTree<S>,
    jobs: &Submitters,
    leaf: impl Fn(&str) -> Option<usize>,
    fallback: usize,
) -> Vec<Finding> {
    let queues = jobs.queues();
    let mut leaves = tree.leaves();
    let only = leaves.next().filter(|_| leaves.next().is_none());
    if only.is_some_and(|only| tree.get(only).name == DEFAULT_QUEUE) {
        let several = queues.len() > 1;
        let queues = queues.into_iter().map(|(name, jobs)| (name.to_owned(), jobs)).collect();
        return several.then_some(Finding::OneQueue { queues }).into_iter().collect();
    }
    let goes_to = format!("queue `{}`", tree.get(fallback).path);
    let mut used: BTreeSet<usize> = BTreeSet::new();
    let mut findings = Vec::new();
    for (name, jobs) in queues {
        used.insert(leaf(name).unwrap_or(fallback));
        if leaf(name).is_none() {
            let (name, goes_to) = (name.to_owned(), goes_to.clone());
            findings.push(Finding::Unmatched { rule: Rule::Queue, name, jobs, goes_to });
        }
    }
    findings.extend(idle(tree, &used));
    findings
}

/// The queues of YARN's Fair Scheduler. A job without a rule gets a queue of its own, or goes to the queue that holds others of its
/// path.
fn of_yarn_fair(tree: &QueueTree<FairQueue>, by_user: bool, jobs: &Submitters) -> Vec<Finding> {
    if tree.queues().len() < 2 {
        return Vec::new();
    }
    let mut used: BTreeSet<usize> = BTreeSet::new();
    let mut findings = Vec::new();
    for (name, jobs) in names_of_yarn_fair(by_user, jobs) {
        let (place, goes_to) = walk(tree, name);
        used.insert(place);
        if let Some(goes_to) = goes_to {
            findings.push(Finding::Unmatched { rule: Rule::Queue, name: name.to_owned(), jobs, goes_to });
        }
    }
    findings.extend(idle(tree, &used));
    findings
}

/// The names of the queues that jobs ask YARN's Fair Scheduler for, with the numbers of their jobs.
fn names_of_yarn_fair(by_user: bool, jobs: &Submitters) -> BTreeMap<&str, u64> {
    jobs.by(|queue, user| if by_user || queue.is_empty() || queue == DEFAULT_QUEUE { user } else { queue })
}

/// The place of the queue of this name, or of the one above the queue that is made for its jobs; and where the jobs go if it has no rule.
fn walk(tree: &QueueTree<FairQueue>, name: &str) -> (usize, Option<String>) {
    let mut place = QueueTree::<FairQueue>::ROOT;
    let mut missing = false;
    for part in names_on(name) {
        match tree.child(place, part).filter(|_| !missing) {
            Some(child) => place = child,
            None => missing = true,
        }
    }
    let root = place == QueueTree::<FairQueue>::ROOT;
    let path = &tree.get(place).path;
    let goes_to = match tree.child(place, DEFAULT_QUEUE) {
        _ if missing && (root || !tree.is_leaf(place)) => Some("separate queues with default settings".to_owned()),
        _ if missing => Some(format!("queue `{path}`")),
        _ if !root && tree.is_leaf(place) => None,
        Some(child) if tree.is_leaf(child) => return (child, None),
        _ => Some(format!("queue `{path}.{DEFAULT_QUEUE}`, which is made for them")),
    };
    (place, goes_to)
}

/// The partitions of Slurm. One that the site does not describe has all machines.
fn of_partitions(names: &BTreeSet<String>, jobs: &Submitters) -> Vec<Finding> {
    let queues = jobs.queues();
    let unmatched =
        queues.iter().filter(|(name, _)| !names.contains(**name)).map(|(&name, &jobs)| Finding::Unmatched {
            rule: Rule::Partition,
            name: name.to_owned(),
            jobs,
            goes_to: "separate partitions with all machines and no limit".to_owned(),
        });
    let idle = names.iter().filter(|name| !queues.contains_key(name.as_str()));
    let idle = idle.map(|name| Finding::Unused { rule: Rule::Partition, name: name.clone() });
    unmatched.chain(idle).collect()
}

/// The queues that jobs may go to and none does. Every scheduler has a default queue, so an idle one is no finding.
fn idle<S>(tree: &QueueTree<S>, used: &BTreeSet<usize>) -> Vec<Finding> {
    let idle = tree.leaves().filter(|leaf| !used.contains(leaf) && tree.get(*leaf).name != DEFAULT_QUEUE);
    idle.map(|leaf| Finding::Unused { rule: Rule::Queue, name: tree.get(leaf).path.clone() }).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::site::SiteConf;
    use crate::submitters::Submitter;

    /// 5 jobs of ann in `etl`, 2 of bob in `adhoc`, and one of bob that names no queue.
    fn jobs() -> Submitters {
        [("etl", "ann"); 5].into_iter().chain([("adhoc", "bob"); 2]).chain([("", "bob")]).collect()
    }

    /// The findings about a policy at a site with this file.
    fn findings(policy: &str, file: &str, text: &str) -> Vec<Finding> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(file), text).unwrap();
        let site = Arc::new(SiteConf::read(dir.path()).unwrap().site);
        PolicySpec::parse(policy).unwrap().at_site(&site).unwrap().findings(&jobs()).unwrap()
    }

    fn unmatched(rule: Rule, name: &str, jobs: u64, goes_to: &str) -> Finding {
        Finding::Unmatched { rule, name: name.to_owned(), jobs, goes_to: goes_to.to_owned() }
    }

    fn unused(rule: Rule, name: &str) -> Finding {
        Finding::Unused { rule, name: name.to_owned() }
    }

    #[test]
    fn partitions_that_slurm_does_not_know_are_found() {
        let conf = "PartitionName=etl Nodes=ALL Default=YES\nPartitionName=gpu Nodes=ALL\nNodeName=n1 CPUs=4\n";
        let found = findings("slurm", "slurm.conf", conf);
        let everywhere = "separate partitions with all machines and no limit";
        assert_eq!(found, [unmatched(Rule::Partition, "adhoc", 2, everywhere), unused(Rule::Partition, "gpu")]);
        assert!(!PolicySpec::parse("slurm").unwrap().has_rules());
    }

    const OWN_POOLS: &str = "separate pools with the defaults of the file";
    const POOLS: &str = "<allocations><pool name='etl'><minMaps>2</minMaps></pool><pool name='ml'><minMaps>2</minMaps></pool>\
                         <user name='carl'><maxRunningJobs>2</maxRunningJobs></user></allocations>";
    const YARN_FAIR: &str =
        "<allocations><queue name='etl'><queue name='daily'/></queue><queue name='idle'/></allocations>";

    #[test]
    fn pools_without_a_rule_are_found_by_what_names_them() {
        let by_queue = findings("fair:pools=queue", FAIR_FILE, POOLS);
        let idle = [unused(Rule::Pool, "ml"), unused(Rule::User, "carl")];
        assert_eq!(by_queue, [&[unmatched(Rule::Pool, "adhoc", 2, OWN_POOLS)][..], &idle].concat());
        let by_user = findings("fair", FAIR_FILE, POOLS);
        assert_eq!(
            by_user[..2],
            [unmatched(Rule::Pool, "ann", 5, OWN_POOLS), unmatched(Rule::Pool, "bob", 3, OWN_POOLS)]
        );
    }

    #[test]
    fn queues_of_a_capacity_scheduler_say_where_jobs_go() {
        let queues = "<queues><queue><name>etl</name></queue><queue><name>rest</name></queue><queue><name>ml</name></queue></queues>";
        let expected = [
            unmatched(Rule::Queue, "adhoc", 2, "queue `root.etl`"),
            unused(Rule::Queue, "root.ml"),
            unused(Rule::Queue, "root.rest"),
        ];
        let mut found = findings("capacity", MAPRED, queues);
        found.sort_by_key(|finding| format!("{finding:?}"));
        assert_eq!(found, expected, "there is no `default`, so the first leaf by name");
        assert_eq!(
            findings("yarn-capacity", MAPRED, queues)[0].to_string().split("; ").next().unwrap(),
            "capacity-scheduler.xml holds queues of MapReduce 1, which only capacity read"
        );
    }

    #[test]
    fn a_queue_of_queues_takes_no_jobs() {
        let otherwise = "separate queues with default settings";
        let found = findings("yarn-fair", FAIR_FILE, YARN_FAIR);
        // `etl` exists, but it holds queues: its jobs go to `root.etl.default`, which the scheduler makes.
        assert!(
            found.contains(&unmatched(Rule::Queue, "adhoc", 2, otherwise))
                && found.contains(&unmatched(Rule::Queue, "bob", 1, otherwise))
        );
        assert!(
            found.contains(&unmatched(Rule::Queue, "etl", 5, "queue `root.etl.default`, which is made for them")),
            "{found:?}"
        );
        assert!(found.contains(&unused(Rule::Queue, "root.idle")));
    }

    /// The lines about settings of 0 that hold jobs.
    fn held(policy: &str, file: &str, text: &str) -> Vec<String> {
        let found = findings(policy, file, text);
        let held: Vec<Finding> = found.into_iter().filter(|finding| matches!(finding, Finding::Held { .. })).collect();
        in_words(policy, &held)
    }

    #[test]
    fn zeros_of_pools_and_users_are_found_with_their_lines() {
        let pools = |parts: &str| format!("<allocations>\n{parts}\n</allocations>");
        let in_file = |policy: &str, parts: &str| held(policy, FAIR_FILE, &pools(parts));
        let without_end = "a replay of them does not end";
        assert_eq!(
            in_file("fair:pools=queue", "<pool name='etl'>\n<maxRunningJobs>0</maxRunningJobs></pool>"),
            [format!(
                "fair:pools=queue: 5 jobs can never start, because `<maxRunningJobs>` of pool `etl` is 0 ({FAIR_FILE}: line 3); {without_end}"
            )]
        );
        for (parts, expected) in [
            (
                "<pool name='bob'>\n<maxMaps>0</maxMaps></pool>",
                "no map of 3 jobs can start, because `<maxMaps>` of pool `bob`",
            ),
            (
                "<pool name='bob'>\n<maxReduces>0</maxReduces></pool>",
                "no reduce of 3 jobs can start, because `<maxReduces>`",
            ),
            (
                "<user name='ann'>\n<maxRunningJobs>0</maxRunningJobs></user>",
                "5 jobs can never start, because `<maxRunningJobs>` of user `ann`",
            ),
            (
                "\n<userMaxJobsDefault>0</userMaxJobsDefault>",
                "8 jobs can never start, because `<userMaxJobsDefault>` of user `ann`, `bob`",
            ),
            (
                "\n<poolMaxJobsDefault>0</poolMaxJobsDefault>",
                "8 jobs can never start, because `<poolMaxJobsDefault>` of pool `ann`, `bob`",
            ),
            // The default of a pool that the file names.
            (
                "<pool name='ann'/>\n<poolMaxJobsDefault>0</poolMaxJobsDefault>",
                "8 jobs can never start, because `<poolMaxJobsDefault>`",
            ),
        ] {
            let found = in_file("fair-deficit", parts);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(
                found[0].contains(expected) && found[0].contains(" is 0 (fair-scheduler.xml: line 3)"),
                "{found:?}"
            );
        }
        let others = "<pool name='ml'><maxRunningJobs>0</maxRunningJobs></pool><pool name='bob'><minMaps>0</minMaps></pool>\
                      <poolMaxJobsDefault>0</poolMaxJobsDefault><pool name='ann'><maxRunningJobs>1</maxRunningJobs></pool>\
                      <pool name='bob'><maxRunningJobs>1</maxRunningJobs></pool>";
        assert_eq!(in_file("fair", others), [""; 0], "no job is there, or the 0 holds none");
    }

    #[test]
    fn zeros_of_yarns_queues_are_found_with_their_lines() {
        let in_file = |parts: &str| held("yarn-fair", FAIR_FILE, &format!("<allocations>\n{parts}\n</allocations>"));
        for (parts, expected) in [
            (
                "<queue name='etl'>\n<maxRunningApps>0</maxRunningApps></queue>",
                "5 jobs can never start, because `<maxRunningApps>` of queue `root.etl`",
            ),
            // The jobs of `etl` go to `root.etl.default`, which is made for them.
            (
                "<queue name='etl'><queue name='x'/>\n<maxRunningApps>0</maxRunningApps></queue>",
                "5 jobs can never start, because `<maxRunningApps>` of queue `root.etl`",
            ),
            (
                "<queue name='etl'>\n<maxAMShare>0.0</maxAMShare></queue>",
                "5 jobs can never start, because `<maxAMShare>` of queue `root.etl`",
            ),
            (
                "<queue name='etl'>\n<maxResources>1024 mb, 0 vcores</maxResources></queue>",
                "no task of 5 jobs can start, because `<maxResources>` of queue `root.etl`",
            ),
            (
                "<queue name='etl'/><queue name='bob'/>\n<queueMaxAppsDefault>0</queueMaxAppsDefault>",
                "6 jobs can never start, because `<queueMaxAppsDefault>` of queue `root.etl`, `root.bob`",
            ),
            (
                "<queue name='root'>\n<maxRunningApps>0</maxRunningApps><queue name='etl'/></queue>",
                "8 jobs can never start, because `<maxRunningApps>` of queue `root`",
            ),
        ] {
            let found = in_file(parts);
            assert_eq!(found.len(), 1, "{parts}: {found:?}");
            assert!(
                found[0].contains(expected) && found[0].contains(" is 0 (fair-scheduler.xml: line 3)"),
                "{found:?}"
            );
        }
        // Of a queue with queues below it, the share of masters counts for none of them.
        assert_eq!(in_file("<queue name='etl'><queue name='x'/><maxAMShare>0</maxAMShare></queue>"), [""; 0]);
        let property = |(name, value): (&str, &str)| {
            format!("<property><name>yarn.scheduler.capacity.root.{name}</name><value>{value}</value></property>\n")
        };
        let queues = [("queues", "etl,rest"), ("etl.capacity", "100"), ("rest.capacity", "0")];
        let in_file = |more: (&str, &str)| {
            let all: String = queues.into_iter().chain([more]).map(property).collect();
            held("yarn-capacity", CAPACITY_FILE, &format!("<configuration>\n{all}</configuration>"))
        };
        let line = |what: &str, setting: &str, queue: &str| {
            vec![format!(
                "yarn-capacity: {what}, because `yarn.scheduler.capacity.root.{setting}` of queue `root.{queue}` is 0 \
                 (capacity-scheduler.xml: line 5); a replay of them does not end"
            )]
        };
        // `adhoc`, and the job that names no queue, go to the first leaf.
        let factor = in_file(("etl.user-limit-factor", "0.0"));
        assert_eq!(factor, line("no task of 8 jobs can start", "etl.user-limit-factor", "etl"));
        assert_eq!(in_file(("rest.maximum-capacity", "0")), [""; 0], "no job is there");
        assert_eq!(in_file(("etl.maximum-am-resource-percent", "0")), [""; 0], "one application runs at a time");
    }

    /// Of Slurm, a limit of 0 of a quality of service, an account or a user holds the jobs for which it counts.
    #[test]
    fn zeros_of_slurms_limits_are_found_with_their_lines() {
        let job = |user: &'static str, qos: &'static str| Submitter { queue: "batch", user, group: "lab", qos };
        let jobs: Submitters = [job("ann", "low"), job("ann", "high"), job("bob", "high")].into_iter().collect();
        let held = |file: &str, text: &str| {
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join(file), text).unwrap();
            let partitions =
                "PartitionName=batch Nodes=ALL QOS=part\nNodeName=n1 CPUs=4\nAccountingStorageEnforce=limits\n";
            std::fs::write(dir.path().join("slurm.conf"), partitions).unwrap();
            let site = Arc::new(SiteConf::read(dir.path()).unwrap().site);
            let policy = PolicySpec::parse("slurm").unwrap().at_site(&site).unwrap();
            in_words("slurm", &policy.findings(&jobs).unwrap())
        };
        let line = |what: &str, of: &str, place: &str| {
            vec![format!("slurm: {what} can never start, because {of} is 0 ({place}); they wait until a replay ends")]
        };
        for (limits, setting) in [
            ("MaxJobsPU|GrpJobs\nlow|4|4\nhigh|0|", "MaxJobsPU"),
            ("MaxJobsPU|GrpTRES\nlow|4|\nhigh||cpu=0,gres/gpu=1", "GrpTRES"),
            ("MaxJobsPU|MaxWall\nlow|4|\nhigh||00:00:00", "MaxWall"),
        ] {
            let expected = line("2 jobs", &format!("`{setting}` of quality of service `high`"), "qos.txt: line 3");
            assert_eq!(held("qos.txt", &format!("Name|{limits}\n")), expected);
        }
        let of_partition = line("3 jobs", "`GrpNodes` of quality of service `part`", "qos.txt: line 2");
        assert_eq!(held("qos.txt", "Name|GrpNodes\npart|0\n"), of_partition);
        // No job asks for a GPU, as far as is known, and a limit on submitted jobs has no effect.
        assert_eq!(held("qos.txt", "Name|GrpTRES|MaxSubmitPU\nhigh|gres/gpu=0|0\n"), [""; 0]);
        let dump = |account: &str, user: &str| {
            format!("Cluster - 'c'\nParent - 'root'\nAccount - 'lab'{account}\nParent - 'lab'\nUser - 'ann'{user}\n")
        };
        let of_account = line("3 jobs", "`GrpCPUs` of association `account lab`", "sacctmgr.cfg: line 3");
        assert_eq!(held("sacctmgr.cfg", &dump(":GrpCPUs=0", "")), of_account);
        let of_user = line("2 jobs", "`MaxJobs` of association `user ann of lab`", "sacctmgr.cfg: line 5");
        assert_eq!(held("sacctmgr.cfg", &dump("", ":MaxJobs=0")), of_user);
    }

    /// A file of queues or pools in TOML has no lines.
    #[test]
    fn zeros_of_files_of_queues_are_found_with_their_keys() {
        let dir = tempfile::tempdir().unwrap();
        let of = |policy: &str, key: &str, text: &str| {
            let path = dir.path().join("q.toml");
            std::fs::write(&path, text).unwrap();
            let spec = PolicySpec::parse(&format!("{policy}:{key}={}", path.display())).unwrap();
            let found = spec.findings(&jobs()).unwrap();
            let held = found.into_iter().find(|finding| matches!(finding, Finding::Held { .. }));
            held.unwrap().to_string().replace(&format!("{}/", dir.path().display()), "")
        };
        let end = "(q.toml); a replay of them does not end";
        assert_eq!(
            of("yarn-capacity", "queues", "[queues.etl]\ncapacity = 0\nmaximum_capacity = 0\n[queues.rest]\n"),
            format!("8 jobs can never start, because `maximum_capacity` of queue `root.etl` is 0 {end}")
        );
        assert_eq!(
            of("yarn-fair", "queues", "[queues.adhoc]\nmax_memory_mb = 0\n"),
            format!("no task of 2 jobs can start, because `max_memory_mb` of queue `root.adhoc` is 0 {end}")
        );
        assert_eq!(
            of("fair", "allocations", "[users]\nbob = 0\n"),
            format!("3 jobs can never start, because `users` of user `bob` is 0 {end}")
        );
    }

    #[test]
    fn the_wrong_file_for_a_policy_is_named() {
        let wrong = |policy: &str, file: &str, text: &str| {
            let found = findings(policy, file, text);
            matches!(found.first(), Some(Finding::WrongFile { .. }))
        };
        assert!(wrong("yarn-fair", FAIR_FILE, POOLS) && wrong("fair", FAIR_FILE, YARN_FAIR));
        assert!(!wrong("fair", FAIR_FILE, POOLS) && !wrong("yarn-fair", FAIR_FILE, YARN_FAIR));
        let yarn = "<configuration><property><name>yarn.scheduler.capacity.root.queues</name><value>etl</value></property>\
                    <property><name>yarn.scheduler.capacity.root.etl.capacity</name><value>100</value></property></configuration>";
        assert!(wrong("capacity", CAPACITY_FILE, yarn) && !wrong("yarn-capacity", CAPACITY_FILE, yarn));
    }

    #[test]
    fn without_a_configuration_a_capacity_scheduler_has_one_queue() {
        let found = |policy: &str| PolicySpec::parse(policy).unwrap().findings(&jobs()).unwrap();
        for policy in ["capacity", "yarn-capacity"] {
            let reported = in_words(policy, &found(policy));
            assert_eq!(reported.len(), 1, "{reported:?}");
            assert!(
                reported[0].starts_with(&format!("{policy}: "))
                    && reported[0].contains("2 queues (`adhoc`, `etl`) share one")
            );
        }
        for policy in ["fifo", "fair", "yarn-fair", "batch-fifo", "batch-capacity:by=user"] {
            assert_eq!(found(policy), [], "{policy}");
        }
        let equal = in_words("batch-capacity", &found("batch-capacity"));
        assert_eq!(equal.len(), 1, "{equal:?}");
        assert!(equal[0].contains("all 2 queues of the trace have the same guarantee"), "{equal:?}");
        assert!(PolicySpec::parse("batch-capacity").unwrap().has_rules());
    }

    #[test]
    fn jobs_of_one_fate_make_one_line() {
        let all: Vec<Finding> = (0..8).map(|n| unmatched(Rule::Pool, &format!("u{n}"), n + 1, OWN_POOLS)).collect();
        let line = "fair: 36 jobs go to separate pools with the defaults of the file, because the configuration has no rule for their \
                    pool: `u7`, `u6`, `u5`, `u4`, `u3`, and 3 more";
        assert_eq!(in_words("fair", &all), [line]);
    }

    const MAPRED: &str = "mapred-queues.xml";
}
