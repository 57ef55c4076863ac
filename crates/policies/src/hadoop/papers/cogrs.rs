//! CoGRS: each reduce at the centre of gravity of its input (`docs/model/baselines.md`).
//!
//! **What it does.** A job's reduces wait for the node that is nearest to their input, which is the node with the least
//! `C(v) = Σ_u w(u)·h(u,v)`, where w(u) is the output of finished maps on u, and h the hops from u to v: 0 on the node,
//! 2 in its rack, 4 elsewhere. The job declines a number of offers from other nodes. Then it takes the nearest node
//! with a free slot. Maps and the order of jobs are as in naive fair sharing.
//!
//! **Source.** "Center-of-Gravity Reduce Task Scheduling to Lower MapReduce Network Traffic" (CLOUD 2012). Its base is
//! Hadoop's FIFO; naive fair sharing is the simplest base that starves no job. Decisions:
//! - A trace does not show how the output of a map is divided among the reduces. It is assumed to be divided evenly, so
//!   all reduces of a job have one centre. The gain of CoGRS from knowing the skew is not replayed.
//! - Only nodes with reduce slots can be a centre. Nodes with equal costs are equally good, so a job whose maps left no
//!   output does not wait.
//! - The threshold is a number of offers declined, one heartbeat of every node by default, not the progress of the
//!   maps. The reduces of a job wait together: a launch does not restart the wait of the others.
//! - The nearest node may refuse a job because its tasks failed there. So that the job does not starve, it takes any
//!   slot after the same number of further declines. After a launch, it again waits for the nearest free node.

use resched_sim::hadoop::{AttemptEnd, Kind, Offer, Policy, System, View};
use resched_sim::{JobId, NodeId, Violation};
use resched_tables::model::Reason;

use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::parts::by_id::ByJob;
use crate::parts::equal_order::EqualOrder;
use crate::settings::settings;

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "cogrs",
    title: "CoGRS: reduces at the centre of gravity of their input, maps by naive fair sharing",
    source: "Center-of-Gravity Reduce Task Scheduling to Lower MapReduce Network Traffic (CLOUD 2012)",
    family: Family::Paper,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[],
    idle: ALL_ACT,
    build: Build::Hadoop(System::Slots, |values, _| Ok(Box::new(CoGrs::new(Settings::read(values)?)))),
};

settings! {
    /// What you can set.
    struct Settings {
        /// offers that a job declines for its centre, then for the nearest free node; auto: the number of nodes; 0:
        /// naive fair sharing
        declines: Option<u32> = "declines" { auto: Nothing, range: 0..=1_000_000_000, unit: "heartbeats" },
    }
}

/// The policy.
#[derive(Debug)]
struct CoGrs {
    settings: Settings,
    jobs: ByJob<Gravity>,
    heartbeats: u64,
    order: EqualOrder,
}

/// How a job's reduces are drawn to the nodes.
#[derive(Debug, Default)]
struct Gravity {
    /// `C(v)`, by node; empty if it must be computed anew.
    costs: Vec<f64>,
    /// What finished maps left in each rack, when the costs were computed.
    racks: Vec<f64>,
    /// Offers that the job has declined.
    declined: u32,
    /// The heartbeat that counted last.
    counted_at: u64,
}

impl Gravity {
    fn weigh(&mut self, job: JobId, view: View<'_>) {
        if !self.costs.is_empty() {
            return;
        }
        let output = |node| view.job(job).map_output(node);
        self.racks.clear();
        self.racks.resize(view.rack_count(), 0.0);
        view.nodes().for_each(|node| self.racks[view.rack(node).index()] += output(node));
        let all: f64 = self.racks.iter().sum();
        // Everything lies 4 hops away, but for what lies in the rack, 2, and on the node itself, 0.
        let cost = |node| 4.0 * all - 2.0 * self.racks[view.rack(node).index()] - 2.0 * output(node);
        self.costs.extend(view.nodes().map(cost));
    }

    /// True if no node of those that count is nearer to the input than this one.
    fn is_nearest(&self, node: NodeId, view: View<'_>, counts: impl Fn(NodeId) -> bool) -> bool {
        let cost = self.costs[node.index()];
        view.nodes().all(|other| cost <= self.costs[other.index()] || !counts(other))
    }

    /// True if the job's reduces go to a node with a free slot.
    fn accepts(&self, node: NodeId, declines: u32, view: View<'_>) -> bool {
        if self.declined < declines {
            self.is_nearest(node, view, |other| view.is_live(other) && view.node_slots(other, Kind::Reduce) > 0)
        } else if self.declined < declines.saturating_mul(2) {
            self.is_nearest(node, view, |other| view.room(other, Kind::Reduce) > 0)
        } else {
            true
        }
    }
}

impl CoGrs {
    fn new(settings: Settings) -> Self {
        Self { settings, jobs: ByJob::default(), heartbeats: 0, order: EqualOrder::default() }
    }

    /// The first job that accepts the node runs a reduce there. Returns whether there was one.
    fn launch_reduce(&mut self, offer: &mut Offer<'_, '_>) -> Result<bool, Violation> {
        let declines = self.settings.declines.unwrap_or(offer.view().live_nodes() as u32);
        for job in self.order.of(offer.view(), Kind::Reduce) {
            if offer.view().job(job).ready(Kind::Reduce) == 0 {
                continue;
            }
            let gravity = &mut self.jobs[job];
            gravity.weigh(job, offer.view());
            if !gravity.accepts(offer.node(), declines, offer.view()) {
                offer.view().pass_over(job, Kind::Reduce, Reason::NotNearest);
            } else if offer.launch_reduce(job)? {
                gravity.declined = gravity.declined.min(declines);
                return Ok(true);
            }
            if gravity.counted_at < self.heartbeats {
                gravity.declined = gravity.declined.saturating_add(1);
                gravity.counted_at = self.heartbeats;
            }
        }
        Ok(false)
    }
}

impl Policy for CoGrs {
    fn job_finished(&mut self, job: JobId, _view: View<'_>) {
        self.jobs.take(job);
    }

    fn task_finished(&mut self, ended: &AttemptEnd, _view: View<'_>) {
        if ended.kind == Kind::Map {
            self.jobs[ended.job].costs.clear();
        }
    }

    fn node_lost(&mut self, _node: NodeId, view: View<'_>) {
        view.jobs().iter().for_each(|&job| self.jobs[job].costs.clear());
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        self.heartbeats += 1;
        self.order.launch(offer, Kind::Map)?;
        while offer.free(Kind::Reduce) > 0 && offer.view().ready(Kind::Reduce) > 0 && self.launch_reduce(offer)? {}
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{MapSpec, Scenario, job, map};
    use resched_tables::model::Reason;

    const MIB: u64 = 1 << 20;

    /// When and where the reduces of a world are launched, s.
    fn reduces(world: &Scenario, policy: &str) -> Vec<(i64, usize)> {
        let launches = world.launches(policy);
        let reduces = launches.iter().filter(|launch| launch.task.contains("_r_"));
        reduces.map(|launch| (launch.at / 1_000, launch.node)).collect()
    }

    /// One map a node, each with its input there; three reduces, which may start when all maps are done.
    fn world(maps: Vec<MapSpec>) -> Scenario {
        let maps = maps.into_iter().enumerate().map(|(node, map)| map.on(&[node])).collect();
        let job = job("job_1_0001").each_map(maps).reduces(3, 60_000);
        Scenario::nodes(4, 1, 1).racks(2).slowstart(1.0).job(job)
    }

    #[test]
    fn reduces_wait_for_their_centre_then_for_the_nearest_free_node() {
        // 6 on node 0 and 4 on node 2, racks {0,1} and {2,3}, so that the nodes cost 16, 28, 24 and 32.
        let world = world([6, 0, 4, 0].map(|output| map(1_000).bytes(64 * MIB, output * MIB)).to_vec());
        // Node 3 reports the last map at 3 and is declined. Node 0 gets a reduce at 6; the others are declined, which makes four.
        // At 9 the nearest free node is 2, not 1; at 12 it is 1, not 3.
        assert_eq!(reduces(&world, "cogrs"), [(6, 0), (9, 2), (12, 1)]);
        // One decline: at 6 node 0 is the nearest, then node 2, whom node 1 has to let pass.
        assert_eq!(reduces(&world, "cogrs:declines=1"), [(6, 0), (6, 2), (9, 1)]);
        assert_eq!(reduces(&world, "cogrs:declines=0"), [(3, 3), (6, 0), (6, 1)]);
        let reasons = world.reasons("cogrs", "job_1_0001");
        let declined = reasons.iter().find(|&&(_, reason, _)| reason == Reason::NotNearest);
        assert_eq!(declined.map(|declined| declined.0), Some(3_000), "{reasons:?}");
    }

    #[test]
    fn maps_are_counted_where_the_bytes_of_one_are_unknown() {
        let sized = |output: u64| map(1_000).bytes(64 * MIB, output * MIB);
        // One map on each node: all nodes are equally near, and none is declined.
        let world = world(vec![sized(6), sized(0), sized(4), map(1_000)]);
        assert_eq!(reduces(&world, "cogrs"), [(3, 3), (6, 0), (6, 1)]);
    }

    #[test]
    fn without_declines_it_is_naive_fair_sharing() {
        let world = Scenario::crowded;
        assert_eq!(world().launches("cogrs:declines=0"), world().launches("naive-fair"));
        assert_ne!(world().launches("cogrs"), world().launches("naive-fair"), "the world must tell the two apart");
    }
}
