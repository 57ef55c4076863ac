//! Which inputs a site and the jobs of a trace have.

use std::collections::BTreeSet;

use resched_sim::batch::Loaded;

use crate::batch::{slurm, spark};
use crate::input::Input;
use crate::queues::Allocations;
use crate::queues::slurm::{JobLimits, Limits, POLICY, Partition, SlurmConf};
use crate::queues::tree::QueueTree;
use crate::site::Site;
use crate::submitters::Submitters;

impl Input {
    /// What a site says that acts on these jobs.
    pub fn of_site(site: &Site, jobs: &Submitters) -> BTreeSet<Self> {
        let Site {
            pools,
            yarn_queues,
            yarn_fair,
            yarn_fair_users: _,
            spark_pools,
            mapred_queues,
            slurm,
            kubernetes,
            parameters: _,
            limits: _,
            unread: _,
            log_version: _,
        } = site;
        let mut all = BTreeSet::new();
        let mut add = |input: Self, is_there: bool| {
            if is_there {
                all.insert(input);
            }
        };
        add(Self::Pools, pools.as_ref().is_some_and(|pools| *pools != Allocations::default()));
        add(Self::MapredQueues, mapred_queues.as_ref().is_some_and(has_several));
        add(Self::YarnQueues, yarn_queues.as_ref().is_some_and(has_several));
        add(Self::YarnFairQueues, yarn_fair.as_ref().is_some_and(has_several));
        add(Self::SparkPools, spark_pools.as_ref().is_some_and(|pools| !pools.pools.is_empty()));
        add(Self::Kueue, kubernetes.as_ref().is_some_and(|site| !site.queues.is_empty()));
        let Some(conf) = slurm else { return all };
        add(Self::Cycles, true);
        let is_multifactor = of_slurm(site, "priority").is_some_and(|from| from == "multifactor");
        let weighs = |key: &str| is_multifactor && of_slurm(site, key).is_some_and(|weight| weight != "0");
        let SlurmConf { partitions, qos: _, associations, reservations, nodes, about: _ } = conf;
        let all_nodes: usize = nodes.iter().map(|group| group.hosts.len()).sum();
        add(Self::Partitions, partitions_act(partitions, all_nodes, jobs));
        // Age alone is the order of submission.
        let reorders = |key: &str| key.starts_with("weight_") && key != "weight_age" && weighs(key);
        add(Self::PriorityWeights, site.parameters.keys().any(|(_, key)| reorders(key)));
        add(Self::AccountShares, weighs("weight_fair_share") && !associations.is_empty());
        add(
            Self::Limits,
            jobs.all().any(|(job, _)| conf.limits_of(job).into_iter().any(|(_, limits)| holds_jobs(limits))),
        );
        add(Self::Preemption, of_slurm(site, "preempt").is_some_and(|by| by != "none"));
        add(Self::Reservations, !reservations.is_empty());
        add(Self::NodeWeights, nodes.windows(2).any(|pair| pair[0].weight != pair[1].weight));
        all
    }

    /// What the jobs of a production trace ask for, of those that at least this share of the tasks asks for, and how the daemons decide that
    /// ran at least this share of the jobs.
    pub fn of_work(loaded: &Loaded, share: f64) -> BTreeSet<Self> {
        let Loaded { workload, machines, .. } = loaded;
        let least = |all: usize| (share * all as f64).max(1.0);
        let first = machines.nodes().first().map(|machine| &machine.features);
        let alike = machines.nodes().iter().all(|machine| Some(&machine.features) == first);
        let mut counts = [0_u64; 4];
        for (_, needs) in workload.tasks_with_needs() {
            let asked = [
                !alike && !needs.features.is_empty(),
                needs.machines.is_some_and(|machines| machines > 1),
                needs.exclusive,
                needs.pods.is_some(),
            ];
            counts.iter_mut().zip(asked).for_each(|(count, asked)| *count += u64::from(asked));
        }
        let least_tasks = least(workload.tasks().len());
        let inputs = [Self::Features, Self::MachineCounts, Self::Exclusive, Self::NodeLabels];
        let asked = inputs.into_iter().zip(counts).filter(|(_, count)| *count as f64 >= least_tasks);
        let ran_by = |framework: &str| {
            let jobs = workload.jobs().iter().filter(|job| job.framework == Some(framework)).count();
            jobs as f64 >= least(workload.jobs().len())
        };
        let daemons = [(Self::Cycles, slurm::FRAMEWORK), (Self::Offers, spark::FRAMEWORK)];
        let daemons = daemons.into_iter().filter(|(_, framework)| ran_by(framework)).map(|(input, _)| input);
        asked.map(|(input, _)| input).chain(daemons).collect()
    }
}

/// A value that the site gives to a parameter of Slurm's scheduler.
fn of_slurm<'s>(site: &'s Site, key: &str) -> Option<&'s str> {
    let value_of = |((policy, name), value): (&(&str, &str), &'s String)| {
        (*policy == POLICY && *name == key).then_some(value.as_str())
    };
    site.parameters.iter().find_map(value_of)
}

fn has_several<S>(tree: &QueueTree<S>) -> bool {
    tree.leaves().nth(1).is_some()
}

/// True if the partitions that the jobs name keep some jobs from some machines, or put some before others.
fn partitions_act(all: &[Partition], nodes: usize, jobs: &Submitters) -> bool {
    let queues = jobs.queues();
    let used: Vec<&Partition> = all.iter().filter(|partition| queues.contains_key(partition.name.as_str())).collect();
    let restricts = |partition: &&Partition| {
        // A log has the jobs that were accepted, with their limits; factors of priorities and preemption are inputs of their own.
        let Partition {
            name: _,
            nodes: own_nodes,
            is_default: _,
            tier: _,
            job_factor: _,
            max_time: _,
            default_time: _,
            over_time_limit: _,
            grace_time: _,
            qos: _,
            preempt_mode: _,
            min_nodes: _,
            max_nodes: _,
            max_cpus_per_node,
            exclusive,
            least_loaded: _,
            is_up: _,
        } = partition;
        (!own_nodes.is_empty() && own_nodes.len() < nodes) || *exclusive || max_cpus_per_node.is_some()
    };
    used.iter().any(restricts) || used.windows(2).any(|pair| pair[0].tier != pair[1].tier)
}

/// Whether limits may keep a job waiting that was accepted. Those on one job alone are kept by the jobs of a log.
fn holds_jobs(JobLimits { group, per_user, per_account, per_job: _, max_wall: _ }: &JobLimits) -> bool {
    // Submissions beyond a limit were refused.
    let holds = |Limits { cpus, nodes, jobs, submitted: _, resources }: &Limits| {
        cpus.is_some() || nodes.is_some() || jobs.is_some() || !resources.is_empty()
    };
    [group, per_user, per_account].into_iter().any(holds)
}
