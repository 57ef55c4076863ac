//! Whether a map is launched away from its input: Random Peeking, Algorithm 3 of the Coupling paper (`docs/model/coupling.md`).

use rand::RngExt;
use rand::seq::IteratorRandom;
use resched_sim::hadoop::{AttemptEnd, Kind, Offer, Reach, View};
use resched_sim::{JobId, NodeId, TaskId, Violation};
use resched_tables::draws::Purpose;
use resched_tables::model::{Locality, Reason};

use super::Settings;
use crate::parts::by_id::ByJob;
use crate::parts::pools::{Answer, Pools};

/// The numbers of the peeking rule.
#[derive(Debug)]
struct Rule {
    /// For a job with input in the node's rack and reduces on the node.
    alpha_both: f64,
    /// For one with input in the node's rack only.
    alpha_rack: f64,
    /// For any other.
    alpha_off: f64,
    /// `None`: adaptive.
    beta: Option<f64>,
}

impl Rule {
    /// The chance that a job's map is launched on a node without its input (Eq. 3, with the powers that the limits in
    /// the paper's text imply): `1 − α·p̂^β·(1 − e^{−N̂})`, adaptive `β = 0.1 + 0.9·(1 − e^{−P/max(N̂, 1)})`. If no
    /// other node has input, the chance is 1 for any β: `0^0` is 0 here, as it is for the least β above 0.
    fn chance(&self, alpha: f64, peeked: Peeked, pending: u32) -> f64 {
        let Peeked { with_input, with_room } = peeked;
        let adaptive = || 0.1 + 0.9 * (1.0 - (-f64::from(pending) / with_room.max(1.0)).exp());
        let beta = self.beta.unwrap_or_else(adaptive);
        let share = if with_input > 0.0 { with_input.powf(beta) } else { 0.0 };
        1.0 - alpha * share * (1.0 - (-with_room).exp())
    }
}

/// The result of a look at the other nodes.
#[derive(Debug, Clone, Copy)]
struct Peeked {
    /// p̂: the share of nodes that hold input of maps of the job that were not launched.
    with_input: f64,
    /// N̂: how many nodes have a free map slot, estimated.
    with_room: f64,
}

/// On how many maps' inputs of a job that wait each node could work.
#[derive(Debug, Default)]
struct Inputs {
    nodes: Vec<u32>,
    /// Nodes with some.
    any: u32,
}

impl Inputs {
    fn of(job: JobId, view: View<'_>) -> Self {
        let mut inputs = Self { nodes: vec![0; view.node_count()], any: 0 };
        let waiting = view.job(job).tasks(Kind::Map).filter(|&task| view.waits(task));
        waiting.for_each(|task| inputs.add(view.replicas(task)));
        inputs
    }

    fn add(&mut self, replicas: &[NodeId]) {
        for node in replicas {
            let waiting = &mut self.nodes[node.index()];
            self.any += u32::from(*waiting == 0);
            *waiting += 1;
        }
    }

    fn remove(&mut self, replicas: &[NodeId]) {
        for node in replicas {
            let waiting = &mut self.nodes[node.index()];
            *waiting -= 1;
            self.any -= u32::from(*waiting == 0);
        }
    }
}

/// Random Peeking.
#[derive(Debug)]
pub(super) struct Peeking {
    rule: Rule,
    /// How many nodes are looked at; `None`: all.
    sample: Option<usize>,
    /// Do not count the node itself among those with a free map slot.
    exclude_self: bool,
    /// Offer the slot of a job that does not launch to the next job.
    refill: bool,
    inputs: ByJob<Inputs>,
    /// Jobs that were asked at this heartbeat: numbers the draws.
    asked: u64,
    /// Room for the sample, kept so that it is not made anew each time.
    sampled: Vec<NodeId>,
}

impl Peeking {
    pub(super) fn new(settings: &Settings) -> Self {
        let &Settings { alpha_both, alpha_rack, alpha_off, beta, sample, exclude_self, refill, .. } = settings;
        Self {
            rule: Rule { alpha_both, alpha_rack, alpha_off, beta },
            sample,
            exclude_self,
            refill,
            inputs: ByJob::default(),
            asked: 0,
            sampled: Vec::new(),
        }
    }

    /// A job has arrived, or some of its maps that were done wait again.
    pub(super) fn add(&mut self, job: JobId, view: View<'_>) {
        self.inputs[job] = Inputs::of(job, view);
    }

    /// An attempt has ended: if it was the last one and in vain, its map waits again.
    pub(super) fn ended(&mut self, ended: &AttemptEnd, view: View<'_>) {
        if ended.kind == Kind::Map && view.waits(ended.task) {
            self.inputs[ended.job].add(view.replicas(ended.task));
        }
    }

    /// A job has ended.
    pub(super) fn finish(&mut self, job: JobId) {
        self.inputs.take(job);
    }

    /// A node is consulted.
    pub(super) fn begin(&mut self) {
        self.asked = 0;
    }

    /// A job is asked for a map.
    ///
    /// # Errors
    /// As [`Offer::launch`].
    pub(super) fn ask(&mut self, pools: &Pools, offer: &mut Offer<'_, '_>, job: JobId) -> Result<Answer, Violation> {
        // Each of its waiting maps stands for one slot at most.
        if offer.view().job(job).waiting(Kind::Map) <= pools.left_idle(job, Kind::Map) {
            return Ok(Answer::Nothing);
        }
        let Some(task) = offer.find_map(job, Reach::Any) else { return Ok(Answer::Nothing) };
        self.asked += 1;
        if self.launches(offer, job, task) {
            self.inputs[job].remove(offer.view().replicas(task));
            offer.launch(task)?;
            return Ok(Answer::Launched);
        }
        offer.view().pass_over(job, Kind::Map, Reason::Mismatch);
        Ok(if self.refill { Answer::Nothing } else { Answer::LeftIdle })
    }

    /// True if a job launches the map that is nearest to the node.
    fn launches(&mut self, offer: &Offer<'_, '_>, job: JobId, task: TaskId) -> bool {
        let (view, node) = (offer.view(), offer.node());
        let alpha = match offer.level(task) {
            Locality::Node => return true,
            // Locality is not waited for where it is unknown.
            _ if view.job(job).has_unplaced_maps() => return true,
            Locality::Rack if view.job(job).running_on(node, Kind::Reduce) > 0 => self.rule.alpha_both,
            Locality::Rack => self.rule.alpha_rack,
            Locality::Off => self.rule.alpha_off,
        };
        let decision = [job.index() as u64, node.index() as u64, view.now() as u64, self.asked];
        let peeked = self.peek(job, node, &decision, view);
        let chance = self.rule.chance(alpha, peeked, view.job(job).waiting(Kind::Map));
        view.draws(Purpose::MapPeek, &decision).random::<f64>() < chance
    }

    fn peek(&mut self, job: JobId, node: NodeId, decision: &[u64], view: View<'_>) -> Peeked {
        let (nodes, inputs) = (view.node_count(), &self.inputs[job]);
        let (looked_at, with_input, with_room) = if let Some(sample) = self.sample.filter(|&sample| sample < nodes) {
            self.sampled.resize(sample, node);
            view.nodes().sample_fill(&mut view.draws(Purpose::PeekSample, decision), &mut self.sampled);
            let with_input = self.sampled.iter().filter(|other| inputs.nodes[other.index()] > 0);
            let counts = |&&other: &&NodeId| other != node || !self.exclude_self;
            let with_room = self.sampled.iter().filter(counts).filter(|&&other| view.room(other, Kind::Map) > 0);
            (sample, with_input.count() as u32, with_room.count() as u32)
        } else {
            (nodes, inputs.any, view.nodes_with_room(Kind::Map) - u32::from(self.exclude_self))
        };
        let share = |count: u32| f64::from(count) / looked_at as f64;
        Peeked { with_input: share(with_input), with_room: nodes as f64 * share(with_room) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chance(with_input: f64, with_room: f64, pending: u32, alpha: f64, beta: Option<f64>) -> f64 {
        let rule = Rule { alpha_both: 0.7, alpha_rack: 0.8, alpha_off: 1.0, beta };
        rule.chance(alpha, Peeked { with_input, with_room }, pending)
    }

    #[test]
    fn chance_of_a_launch_away_from_the_input() {
        let share = 7.0 / 15.0;
        for ((with_input, with_room, pending, alpha, beta), expected) in [
            ((share, 15.0, 427, 1.0, None), 0.533_333),
            ((share, 15.0, 427, 1.0, Some(0.1)), 0.073_382),
            ((share, 15.0, 427, 1.0, Some(0.5)), 0.316_870),
            ((share, 10.0, 5, 1.0, None), 0.292_594),
            ((share, 10.0, 5, 0.8, None), 0.434_075),
            ((share, 10.0, 5, 0.7, None), 0.504_816),
            ((share, 0.0, 5, 1.0, None), 1.0),
            ((0.0, 10.0, 5, 1.0, None), 1.0),
            // β = 0 is the limit of small β: 1 − α·(1 − e^{−N̂}), and 1 without input elsewhere.
            ((share, 15.0, 427, 1.0, Some(0.0)), 3.059e-7),
            ((share, 2.0, 427, 0.5, Some(0.0)), 0.567_668),
            ((share, 2.0, 427, 0.5, Some(1e-9)), 0.567_668),
            ((0.0, 2.0, 427, 0.5, Some(0.0)), 1.0),
            ((0.25, 4.0, 4, 0.8, None), 0.689_302),
            ((0.5, 2.0, 1, 1.0, None), 0.368_834),
        ] {
            let found = chance(with_input, with_room, pending, alpha, beta);
            assert!((found - expected).abs() < 1e-6, "{with_input} {with_room} {pending} {alpha} {beta:?}: {found}");
        }
    }

    #[test]
    fn inputs_count_the_nodes_with_some() {
        let nodes = crate::testing::some_nodes(3);
        let mut inputs = Inputs { nodes: vec![0; 3], any: 0 };
        inputs.add(&nodes[..2]);
        inputs.add(&nodes[1..]);
        assert_eq!(inputs.any, 3);
        inputs.remove(&nodes[..2]);
        assert_eq!((inputs.any, &inputs.nodes[..]), (2, &[0, 1, 1][..]));
    }
}
