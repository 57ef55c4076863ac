//! The queues of YARN's Fair Scheduler and their settings.

use std::collections::BTreeMap;

use resched_sim::Ms;
use serde::{Deserialize, Serialize};

use crate::queues::file::QueueSettings;
use crate::queues::tree::QueueTree;
use crate::settings::choices;

/// The settings of a queue. The policy's parameters or the queue above replace the keys that you leave out.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct FairQueue {
    /// Memory that it is guaranteed, MB.
    pub min_memory_mb: u32,
    /// Virtual cores that it is guaranteed; they count only where DRF compares it with others.
    pub min_vcores: u32,
    /// Other resources that it is guaranteed, by name; they count only where DRF compares it with others.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub min_resources: BTreeMap<String, u32>,
    /// Memory beyond which it gets no more containers, MB.
    pub max_memory_mb: Option<u32>,
    /// Virtual cores beyond which it gets no more containers.
    pub max_vcores: Option<u32>,
    /// Other resources beyond which it gets no more containers, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub max_resources: BTreeMap<String, u32>,
    /// Share of the cluster's memory beyond which it gets no more containers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_memory_share: Option<f64>,
    /// Share of the cluster's virtual cores beyond which it gets no more containers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_vcores_share: Option<f64>,
    /// Memory that a queue may have at most that is made below it for a job, MB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_child_memory_mb: Option<u32>,
    /// Virtual cores that a queue may have at most that is made below it for a job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_child_vcores: Option<u32>,
    /// Share of the cluster's memory that a queue may have at most that is made below it for a job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_child_memory_share: Option<f64>,
    /// Share of the cluster's virtual cores that a queue may have at most that is made below it for a job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_child_vcores_share: Option<f64>,
    /// Its weight against its siblings. With 0, it has its guarantee and no more.
    pub weight: f64,
    /// How many jobs run in it and below it at once.
    pub max_apps: Option<u32>,
    /// How the queues or jobs below it share its resources.
    pub policy: Option<SharePolicy>,
    /// Share of its fair share that application masters may take; −1: all.
    pub max_am_share: Option<f64>,
    /// How long it stays below its guarantee before it preempts, ms.
    pub min_share_timeout: Option<Ms>,
    /// How long it stays below half its fair share, or below `fair_share_threshold` of it, before it preempts, ms.
    pub fair_share_timeout: Option<Ms>,
    /// Below which part of its fair share it preempts; 0.5 if no queue above says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair_share_threshold: Option<f64>,
    /// Whether its containers, and those of queues below it, may be killed for others (rules of 3.4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preemptable: Option<bool>,
    /// Whether its application masters may be killed for others (rules of 3.4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub am_preemption: Option<bool>,
}

impl Default for FairQueue {
    fn default() -> Self {
        Self {
            min_memory_mb: 0,
            min_vcores: 0,
            min_resources: BTreeMap::new(),
            max_memory_mb: None,
            max_vcores: None,
            max_resources: BTreeMap::new(),
            max_memory_share: None,
            max_vcores_share: None,
            max_child_memory_mb: None,
            max_child_vcores: None,
            max_child_memory_share: None,
            max_child_vcores_share: None,
            weight: 1.0,
            max_apps: None,
            policy: None,
            max_am_share: None,
            min_share_timeout: None,
            fair_share_timeout: None,
            fair_share_threshold: None,
            preemptable: None,
            am_preemption: None,
        }
    }
}

choices! {
    /// How the queues below a queue, or its jobs, share its resources.
    #[derive(Deserialize, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum SharePolicy {
        /// Fairly, by memory.
        Fair = "fair",
        /// Fairly, by the resource of which each uses the larger share: memory or virtual cores (dominant resource
        /// fairness).
        Drf = "drf",
        /// By submission; for jobs only.
        Fifo = "fifo",
    }
}

impl FairQueue {
    /// The same, with its limits as amounts of a cluster that has so much memory (MB) and so many virtual cores.
    pub(crate) fn in_cluster(self, memory: u64, vcores: u64) -> Self {
        let amount = |share: f64, all: u64| (share * all as f64).min(f64::from(u32::MAX)) as u32;
        let least =
            |given: Option<u32>, share: Option<f64>, all: u64| match (given, share.map(|share| amount(share, all))) {
                (Some(given), Some(part)) => Some(given.min(part)),
                (given, part) => given.or(part),
            };
        Self {
            max_memory_mb: least(self.max_memory_mb, self.max_memory_share, memory),
            max_vcores: least(self.max_vcores, self.max_vcores_share, vcores),
            max_child_memory_mb: least(self.max_child_memory_mb, self.max_child_memory_share, memory),
            max_child_vcores: least(self.max_child_vcores, self.max_child_vcores_share, vcores),
            max_memory_share: None,
            max_vcores_share: None,
            max_child_memory_share: None,
            max_child_vcores_share: None,
            ..self
        }
    }

    /// True if it has an amount that depends on the size of the cluster, or on what its nodes have beside memory and vcores.
    pub(crate) fn depends_on_cluster(&self) -> bool {
        let shares = [self.max_memory_share, self.max_vcores_share];
        let of_children = [self.max_child_memory_share, self.max_child_vcores_share];
        let named = !self.min_resources.is_empty() || !self.max_resources.is_empty();
        named || shares.iter().chain(&of_children).any(Option::is_some)
    }

    /// The settings of a queue that is made below it for a job.
    pub(crate) fn child(&self) -> Self {
        Self {
            max_memory_mb: self.max_child_memory_mb,
            max_vcores: self.max_child_vcores,
            max_child_memory_mb: self.max_child_memory_mb,
            max_child_vcores: self.max_child_vcores,
            ..Self::default()
        }
    }

    /// True if it, or a queue that is made below it, may have no more than something.
    pub(crate) fn has_maximum(&self) -> bool {
        let amounts = [self.max_memory_mb, self.max_vcores, self.max_child_memory_mb, self.max_child_vcores];
        self.depends_on_cluster() || amounts.iter().any(Option::is_some)
    }

    /// What is wrong with it by itself, if anything.
    fn check_values(&self) -> Result<(), String> {
        if !(0.0..=1e9).contains(&self.weight) {
            return Err(format!("weight: expected a number from 0 to 1e9, found {}", self.weight));
        }
        let shares = [
            ("max_memory_share", self.max_memory_share),
            ("max_vcores_share", self.max_vcores_share),
            ("max_child_memory_share", self.max_child_memory_share),
            ("max_child_vcores_share", self.max_child_vcores_share),
            ("fair_share_threshold", self.fair_share_threshold),
        ];
        for (name, share) in shares {
            if let Some(share) = share.filter(|share| !(0.0..=1.0).contains(share)) {
                return Err(format!("{name}: expected a share from 0 to 1, found {share}"));
            }
        }
        if let Some(share) = self.max_am_share.filter(|&share| share != -1.0 && !(0.0..=1.0).contains(&share)) {
            return Err(format!("max_am_share: expected -1 or a share from 0 to 1, found {share}"));
        }
        if self.max_memory_mb.is_some_and(|most| most < self.min_memory_mb) {
            return Err(format!("max_memory_mb: expected no less than min_memory_mb, {}", self.min_memory_mb));
        }
        let timeouts = [("min_share_timeout", self.min_share_timeout), ("fair_share_timeout", self.fair_share_timeout)];
        for (name, timeout) in timeouts {
            if let Some(timeout) = timeout.filter(|timeout| !(0..=1_000_000_000_000).contains(timeout)) {
                return Err(format!("{name}: expected from 0 to 1e12 ms, found {timeout}"));
            }
        }
        Ok(())
    }
}

impl QueueSettings for FairQueue {
    const HAS_ROOT: bool = true;

    fn check(tree: &QueueTree<Self>) -> Result<(), String> {
        for (place, queue) in tree.queues().iter().enumerate() {
            let named = |problem: String| format!("queue `{}`: {problem}", queue.path);
            queue.settings.check_values().map_err(named)?;
            if queue.settings.policy == Some(SharePolicy::Fifo) && !tree.is_leaf(place) {
                let problem = "policy: fifo is for queues of jobs, expected fair or drf where queues are below";
                return Err(named(problem.to_owned()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::queues::file::parse;

    #[test]
    fn a_file_of_queues_is_read() {
        let text =
            "[root]\nfair_share_timeout = 30000\n[queues.etl]\nweight = 2.0\n[queues.\"etl.daily\"]\npolicy = 'drf'\n";
        let tree = parse::<FairQueue>(text).unwrap();
        let daily = tree.get(tree.find("etl.daily").unwrap());
        assert_eq!(daily.settings.policy, Some(SharePolicy::Drf));
        assert_eq!(tree.get(daily.parent.unwrap()).settings.weight, 2.0);
        assert_eq!(tree.get(0).settings.fair_share_timeout, Some(30_000));
        assert!(parse::<FairQueue>("").unwrap().is_leaf(0));
    }

    #[test]
    fn a_file_of_queues_is_checked() {
        let error = |text: &str| parse::<FairQueue>(text).unwrap_err();
        assert!(error("[queues.a]\nweight = -1.0\n").contains("from 0 to 1e9"));
        assert!(error("[queues.a]\nweight = nan\n").contains("from 0 to 1e9"));
        assert!(error("[queues.a]\nmax_am_share = 2.0\n").contains("from 0 to 1"));
        assert!(error("[queues.a]\nfair_share_threshold = 1.5\n").contains("from 0 to 1"));
        assert!(error("[queues.a]\nmin_memory_mb = 9\nmax_memory_mb = 8\n").contains("min_memory_mb, 9"));
        assert!(error("[queues.a]\npolicy = 'fifo'\n[queues.\"a.b\"]\n").contains("fifo is for queues of jobs"));
        assert!(error("[queues.a]\nmin_share_timeout = -5\n").contains("found -5"));
    }
}
