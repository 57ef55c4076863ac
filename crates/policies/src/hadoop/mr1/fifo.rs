//! Hadoop's FIFO scheduler, `JobQueueTaskScheduler` of MapReduce 1 (`docs/model/fifo.md`).
//!
//! **What it does.** Jobs stand in one queue by priority and submission. A heartbeat fills the node's free map slots
//! from the head of the queue, near data first, with at most one map far from its data, and launches at most one
//! reduce. The load is spread: a node runs no more than its share of the remaining tasks. When the cluster is nearly
//! full, a few slots stay free ("padding") for failures of the first job.
//!
//! **Source.** Hadoop MapReduce, June 2011. As in `JobQueueTaskScheduler`, the padding counts the attempts that the
//! nodes reported as running at their latest heartbeats.

use resched_sim::hadoop::{Kind, Offer, Policy, Reach, System, View};
use resched_sim::{JobId, Violation};

use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::parts::job_queue::JobQueue;
use crate::settings::settings;

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "fifo",
    title: "Hadoop FIFO (JobQueueTaskScheduler)",
    source: "Hadoop MapReduce 1 (June 2011)",
    family: Family::MapReduce1,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[],
    idle: ALL_ACT,
    build: Build::Hadoop(System::Slots, |values, _| Ok(Box::new(Fifo::new(Settings::read(values)?)))),
};

settings! {
    /// What you can set.
    struct Settings {
        /// share of the needed slots that is kept free
        pad_fraction: f64 = "pad_fraction" {
            default: 0.01, range: 0..=1,
            hadoop: [
                "mapreduce.jobtracker.taskscheduler.taskalloc.capacitypad", "mapred.jobtracker.taskalloc.capacitypad",
            ],
        },
        /// on a cluster of this many nodes or fewer, no slot is kept free
        min_cluster: usize = "min_cluster" { default: 3, range: 0..=1_000_000, unit: "nodes" },
        /// fill all free map slots at one heartbeat; false: one task, as before 0.20
        many_maps: bool = "many_maps" { default: true },
    }
}

/// The policy.
#[derive(Debug)]
struct Fifo {
    settings: Settings,
    queue: JobQueue,
}

impl Fifo {
    fn new(settings: Settings) -> Self {
        Self { settings, queue: JobQueue::default() }
    }

    /// True if so many attempts of a kind run that slots must be kept free. Jobs without reduces never ask for it.
    fn padding_exceeded(&self, kind: Kind, offer: &Offer<'_, '_>) -> bool {
        let view = offer.view();
        let padded = view.live_nodes() > self.settings.min_cluster;
        let needed = view.desired_with_reduces(kind);
        let padding =
            if padded { padding(needed, self.settings.pad_fraction, view.node_slots(offer.node(), kind)) } else { 0 };
        needed > 0 && view.reported_running(kind) + padding >= u64::from(view.slots(kind))
    }

    /// How many more tasks of a kind this node may run.
    fn available(kind: Kind, offer: &Offer<'_, '_>) -> u32 {
        let view = offer.view();
        let slots = view.node_slots(offer.node(), kind);
        tracker_cap(view.remaining(kind), view.slots(kind), slots).saturating_sub(offer.reported(kind))
    }

    /// Launches maps; returns whether there was one.
    fn launch_maps(&self, offer: &mut Offer<'_, '_>) -> Result<bool, Violation> {
        let available = Self::available(Kind::Map, offer);
        let most = if self.settings.many_maps { available } else { available.min(1) };
        let exceeded = most > 0 && self.padding_exceeded(Kind::Map, offer);
        let mut any = false;
        for _ in 0..most {
            match self.launch_one_map(offer)? {
                None => break,
                // One map far from its data, or one beyond the padding, is all that a heartbeat gets.
                Some(near) if !near || exceeded => return Ok(true),
                Some(_) => any = true,
            }
        }
        Ok(any)
    }

    /// The first job that has a map gives one; returns whether it is in the node's rack.
    fn launch_one_map(&self, offer: &mut Offer<'_, '_>) -> Result<Option<bool>, Violation> {
        let mut next = self.next_ready(Kind::Map, None, offer.view());
        while let Some(job) = next {
            if offer.launch_map(job, Reach::Rack)?.is_some() {
                return Ok(Some(true));
            }
            if offer.launch_map(job, Reach::OffRack)?.is_some() {
                return Ok(Some(false));
            }
            next = self.next_ready(Kind::Map, Some(job), offer.view());
        }
        Ok(None)
    }

    /// The first job in the queue, or the first after one, of which a task of a kind could be launched.
    fn next_ready(&self, kind: Kind, after: Option<JobId>, view: View<'_>) -> Option<JobId> {
        let priority = after.map(|job| view.job(job).priority());
        let mut now = (priority.or_else(|| self.queue.next_priority(None))?, after);
        loop {
            let (priority, after) = now;
            let mut ready =
                std::iter::successors(view.next_ready(kind, after), |&job| view.next_ready(kind, Some(job)));
            if let Some(job) = ready.find(|&job| view.job(job).priority() == priority) {
                return Some(job);
            }
            now = (self.queue.next_priority(Some(priority))?, None);
        }
    }

    fn launch_reduce(&self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        if Self::available(Kind::Reduce, offer) == 0 {
            return Ok(());
        }
        if self.padding_exceeded(Kind::Reduce, offer) {
            // Only the first job may use what is kept free.
            let mut with_reduces = self.queue.iter().filter(|&job| offer.view().job(job).desired(Kind::Reduce) > 0);
            if let Some(first) = with_reduces.next()
                && !offer.launch_reduce(first)?
            {
                self.keep_for(first, offer.view());
            }
            return Ok(());
        }
        let mut next = self.next_ready(Kind::Reduce, None, offer.view());
        while let Some(job) = next {
            if offer.launch_reduce(job)? {
                break;
            }
            next = self.next_ready(Kind::Reduce, Some(job), offer.view());
        }
        Ok(())
    }

    /// Reports that what is kept free is kept for this job alone.
    fn keep_for(&self, first: JobId, view: View<'_>) {
        if view.wants_reasons() {
            let others = self.queue.iter().filter(|&job| job != first);
            others.for_each(|job| view.pass_over_for(job, Kind::Reduce, first));
        }
    }
}

impl Policy for Fifo {
    fn follows_output(&self) -> bool {
        false
    }

    fn job_submitted(&mut self, job: JobId, view: View<'_>) {
        self.queue.insert(job, view);
    }

    fn job_finished(&mut self, job: JobId, _view: View<'_>) {
        self.queue.remove(job);
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let maps = offer.free(Kind::Map) > 0 && self.launch_maps(offer)?;
        if offer.free(Kind::Reduce) > 0 && (self.settings.many_maps || !maps) {
            self.launch_reduce(offer)?;
        }
        Ok(())
    }
}

/// How many tasks a node may run so that the load is spread: `min(slots, ceil(remaining / clusterSlots × slots))`.
fn tracker_cap(remaining: u64, cluster_slots: u32, slots: u32) -> u32 {
    let load = remaining as f64 / f64::from(cluster_slots.max(1));
    (load * f64::from(slots)).ceil().min(f64::from(slots)) as u32
}

/// How many slots are kept free: `min(slots per node, floor(needed × fraction))`.
fn padding(needed: u64, fraction: f64, slots: u32) -> u64 {
    ((needed as f64 * fraction) as u64).min(u64::from(slots))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::testing::{Scenario, job, map};
    use resched_tables::model::{Priority, Reason};

    #[test]
    fn the_load_is_spread() {
        assert_eq!(tracker_cap(100, 248, 4), 2);
        assert_eq!(tracker_cap(100, 248, 4).saturating_sub(1), 1, "with one map running, one more");
        assert_eq!(tracker_cap(10_000, 248, 4), 4);
    }

    #[test]
    fn what_the_padding_keeps_free() {
        assert_eq!(padding(500, 0.01, 2), 2);
        let exceeded = |running: u64| running + padding(500, 0.01, 2) >= 20;
        assert!(!exceeded(16) && exceeded(18));
    }

    #[test]
    fn beyond_the_padding_a_heartbeat_gets_one_local_map() {
        // Ten nodes of two slots, one job with 500 maps of 30 s and a reduce, all data everywhere. All nodes call together: at 0
        // nothing is reported as running, so each gets two maps. At 30,000 all have ended, but when node 0 calls, the other nine
        // have last reported two each: 18 + 2 are too many, and it gets one. When node 1 calls, only 16 are reported.
        let everywhere: Vec<usize> = (0..10).collect();
        let job = job("job_1_0001").maps(500, map(30_000).on(&everywhere)).reduces(1, 1_000);
        let launches = Scenario::nodes(10, 2, 2).job(job).launches("fifo");
        let maps = |at: i64, node: usize| {
            let then = launches.iter().filter(|launch| (launch.at, launch.node) == (at, node));
            then.filter(|launch| launch.level.is_some()).count()
        };
        assert!((0..10).all(|node| maps(0, node) == 2));
        assert_eq!([maps(30_000, 0), maps(30_000, 1)], [1, 2]);
    }

    #[test]
    fn what_is_kept_free_is_for_the_first_job() {
        // Four reduce slots, of which one is kept free: the first job runs three reduces, and the second must wait for them.
        let one = |id: &str, reduces| job(id).maps(1, map(1_000).on(&[0])).reduces(reduces, 60_000);
        let world = Scenario::nodes(4, 1, 1).job(one("job_1_0001", 3)).job(one("job_1_0002", 1));
        let reasons = world.reasons("fifo:pad_fraction=1", "job_1_0002");
        let kept = |&(_, reason, ref other): &(_, _, Option<String>)| {
            reason == Reason::Reserve && other.as_deref() == Some("job_1_0001")
        };
        assert!(reasons.iter().any(kept), "{reasons:?}");
        assert!(!world.reasons("fifo:min_cluster=4", "job_1_0002").iter().any(kept));
    }

    #[test]
    fn order_by_priority_then_submission_then_id() {
        let one = |id: &str, submit, priority| job(id).at(submit).priority(priority).maps(1, map(1_000).on(&[0]));
        let starts = Scenario::nodes(1, 1, 1)
            .first_heartbeat(10)
            .job(one("job_1_0001", 0, Priority::Normal))
            .job(one("job_1_0002", 5, Priority::High))
            .job(one("job_1_0003", 0, Priority::Normal))
            .launches("fifo");
        let order: Vec<&str> = starts.iter().map(|launch| launch.job.as_str()).collect();
        assert_eq!(order, ["job_1_0002", "job_1_0001", "job_1_0003"]);
    }
}
