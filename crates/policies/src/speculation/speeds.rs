//! How much each node has done, by which LATE finds the slow ones.

use resched_sim::hadoop::{AttemptView, Kind, View};
use resched_sim::{Ms, NodeId};

use crate::parts::by_id::ByNode;
use crate::parts::statistics::nearest_rank;
use crate::parts::task_progress::StageWeights;

/// How much each node has done of a kind: 1 for each attempt that succeeded, and the scores of those that run.
///
/// Many nodes may ask at one instant, and what runs changes with each that gets a backup. So only what runs is added up anew, and a
/// node's rank is counted. Nodes by their successes alone stand in an ascending list.
#[derive(Debug, Default)]
pub(super) struct Speeds {
    /// How many attempts have succeeded on each node.
    succeeded: ByNode<u32>,
    /// These numbers, but for nodes without any, ascending.
    counts: Vec<u32>,
    /// The nodes on which something runs.
    busy: Vec<Busy>,
    /// The place of each node among these, if it is there.
    places: ByNode<usize>,
    /// The instant at which these were added up, and the version of the attempts then; `None` if they must be added up anew.
    of: Option<(Ms, u64)>,
    scores: Scores,
}

/// The scores of what runs, as long as no time passes and nothing happens but launches: one instant may bring hundreds of backups.
#[derive(Debug, Default)]
struct Scores {
    /// That instant, and the version of the attempts without launches.
    of: Option<(Ms, u64)>,
    /// By the places of the jobs among the active ones, then by those of the attempts among the job's.
    jobs: Vec<Vec<f64>>,
}

impl Scores {
    /// Forgets those of another instant.
    fn keep_only_of(&mut self, view: View<'_>) {
        let of = view.earlier_attempts_version().map(|version| (view.now(), version));
        if of.is_none() || self.of != of {
            self.jobs.iter_mut().for_each(Vec::clear);
            self.of = of;
        }
        self.jobs.resize_with(view.jobs().len().max(self.jobs.len()), Vec::new);
    }

    /// The score of an attempt at a place.
    fn of(&mut self, (job, place): (usize, usize), run: &AttemptView, weights: &StageWeights, view: View<'_>) -> f64 {
        let known = &mut self.jobs[job];
        // How one goes on that is launched now is only settled at the end of the heartbeat.
        if place < known.len() && run.assigned < view.now() {
            return known[place];
        }
        let score = weights.score_of(&view.progress(run));
        match known.get_mut(place) {
            Some(earlier) => *earlier = score,
            None => known.push(score),
        }
        score
    }
}

/// A node on which something runs.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Busy {
    node: NodeId,
    /// How many attempts have succeeded there.
    succeeded: u32,
    /// What it has done in all.
    sum: f64,
}

impl Speeds {
    /// An attempt on a node has succeeded.
    pub(super) fn add_success(&mut self, node: NodeId) {
        let count = self.succeeded[node] + 1;
        self.succeeded[node] = count;
        let place = self.counts.partition_point(|&other| other < count);
        if count == 1 {
            self.counts.insert(place, 1);
        } else {
            // The last of those that are one less, of which this node is one.
            self.counts[place - 1] = count;
        }
        self.of = None;
    }

    /// True if a node has done less than a percentile of the nodes that have done anything.
    pub(super) fn is_slow(&mut self, view: View<'_>, (node, kind): (NodeId, Kind), percentile: f64) -> bool {
        if !self.are_of(view) {
            self.add_up(view, kind);
        }
        debug_assert!({
            let known = self.busy.clone();
            self.scores.of = None;
            self.add_up(view, kind);
            known == self.busy
        });
        self.is_below(node, percentile)
    }

    /// True if what runs was added up at this instant, and has not changed since.
    fn are_of(&self, view: View<'_>) -> bool {
        self.of.is_some() && self.of == view.attempts_version().map(|version| (view.now(), version))
    }

    /// Adds up what runs.
    fn add_up(&mut self, view: View<'_>, kind: Kind) {
        let weights = StageWeights::fixed(kind);
        self.scores.keep_only_of(view);
        self.busy.clear();
        for (number, &job) in view.jobs().iter().enumerate() {
            for (place, run) in view.runs(job, kind).enumerate() {
                let score = self.scores.of((number, place), &run, &weights, view);
                self.add_running(run.node, score);
            }
        }
        self.of = view.attempts_version().map(|version| (view.now(), version));
    }

    /// An attempt with this score runs on a node.
    fn add_running(&mut self, node: NodeId, score: f64) {
        let place = &mut self.places[node];
        match self.busy.get_mut(*place).filter(|busy| busy.node == node) {
            Some(busy) => busy.sum += score,
            None => {
                let succeeded = self.succeeded[node];
                *place = self.busy.len();
                self.busy.push(Busy { node, succeeded, sum: f64::from(succeeded) + score });
            }
        }
    }

    /// What a node has done; `None` if nothing has run there.
    fn sum(&self, node: NodeId) -> Option<f64> {
        let busy = self.busy.get(self.places[node]).filter(|busy| busy.node == node);
        let succeeded = self.succeeded[node];
        busy.map(|busy| busy.sum).or_else(|| (succeeded > 0).then(|| f64::from(succeeded)))
    }

    /// True if a node's sum lies below a percentile of all sums.
    fn is_below(&self, node: NodeId, percentile: f64) -> bool {
        let Some(sum) = self.sum(node) else { return false };
        let mut nodes = self.counts.len();
        let mut up_to_it = self.counts.partition_point(|&count| f64::from(count) <= sum);
        for busy in &self.busy {
            if busy.succeeded == 0 {
                nodes += 1;
            } else if f64::from(busy.succeeded) <= sum {
                up_to_it -= 1;
            }
            up_to_it += usize::from(busy.sum <= sum);
        }
        up_to_it < nearest_rank(nodes, percentile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::some_nodes;

    #[test]
    fn a_node_is_slow_below_the_percentile_of_those_that_have_done_anything() {
        let nodes = some_nodes(6);
        let mut speeds = Speeds::default();
        for (node, times) in [(0, 3), (1, 1), (2, 2), (3, 2)] {
            (0..times).for_each(|_| speeds.add_success(nodes[node]));
        }
        assert_eq!(speeds.counts, [1, 2, 2, 3]);
        for (node, score) in [(1, 0.75), (4, 0.5), (1, 0.5)] {
            speeds.add_running(nodes[node], score);
        }
        let sums = [3.0, 2.25, 2.0, 2.0, 0.5];
        let mut ascending = sums;
        ascending.sort_unstable_by(f64::total_cmp);
        for percentile in [0.0, 20.0, 25.0, 40.0, 60.0, 80.0, 100.0] {
            let least = ascending[nearest_rank(sums.len(), percentile) - 1];
            for (&node, sum) in nodes.iter().zip(sums) {
                assert_eq!(speeds.is_below(node, percentile), sum < least, "{percentile} %, {sum}");
            }
            assert!(!speeds.is_below(nodes[5], percentile), "it has done nothing");
        }
    }
}
