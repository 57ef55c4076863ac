//! Where a reduce is launched: Wait Scheduling, Algorithm 2 of the Coupling paper (policies B.7).

use std::cmp::Ordering;

use resched_sim::hadoop::{Kind, Offer, View};
use resched_sim::{JobId, Ms, NodeId, Violation};
use resched_trace::draws::Purpose;

use super::tie;
use crate::parts::by_id::{ByJob, ByNode};
use crate::parts::centrality::Centrality;
use crate::settings::choices;

/// The one job whose reduce looks for a place.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    job: JobId,
    /// When it was chosen, ms.
    since: Ms,
    /// Heartbeats of all nodes since then.
    waited: u64,
}

choices! {
    /// The nodes of which the nearest to the map output are looked for.
    pub(super) enum Candidates {
        /// Those with a free slot and without a reduce of the job. A round for a group without nodes is skipped.
        Fresh = "fresh",
        /// All with a free slot, also where no second reduce of the job may start. Each round is waited for.
        Free = "free",
    }
}

/// The candidate, and for which nodes it waits.
#[derive(Debug)]
pub(super) struct WaitScheduling {
    /// How many of the nodes nearest to the map output are good enough.
    best: usize,
    /// Among which nodes the nearest are looked for.
    list: Candidates,
    /// Rounds for those.
    rounds: u64,
    candidate: Option<Candidate>,
    /// Of all jobs with map output.
    outputs: ByJob<Centrality>,
    nearest: Nearest,
}

/// The listed nodes that are nearest to the map output of the candidate's job.
///
/// Most nodes that call are not among them, and most changes of the world leave those that are as they were. So the ones that
/// were found last are kept: as long as all of them are listed and nearer than the node that calls, no other node matters.
#[derive(Debug, Default)]
struct Nearest {
    /// The candidate's job, and when it was chosen.
    of: Option<(JobId, Ms)>,
    /// By rank, when they were last looked for; no more than are good enough.
    ranked: Vec<NodeId>,
    ties: Ties,
    /// Room for the nodes while they are compared, kept so that it is not made anew each time.
    costs: Vec<(f64, NodeId)>,
}

/// The numbers that order equals, drawn once for each candidate and node.
#[derive(Debug, Default)]
struct Ties {
    /// How many candidates there were.
    candidate: u64,
    /// The last number of each node, and the candidate for which it was drawn.
    drawn: ByNode<(u64, u64)>,
}

impl Ties {
    fn of(&mut self, node: NodeId, draw: impl FnOnce() -> u64) -> u64 {
        if self.drawn[node].0 != self.candidate {
            self.drawn[node] = (self.candidate, draw());
        }
        self.drawn[node].1
    }
}

impl WaitScheduling {
    pub(super) fn new(best: usize, list: Candidates, rounds: u64) -> Self {
        Self { best, list, rounds, candidate: None, outputs: ByJob::default(), nearest: Nearest::default() }
    }

    /// A map of a job has ended on a node, or the node is lost with what its maps left.
    pub(super) fn output_changed(&mut self, node: NodeId, job: JobId, view: View<'_>) {
        self.outputs[job].update(node, job, view);
    }

    /// A job has ended.
    pub(super) fn finish(&mut self, job: JobId) {
        self.outputs.take(job);
        if self.candidate.as_ref().is_some_and(|candidate| candidate.job == job) {
            self.candidate = None;
        }
    }

    /// Whether a reduce looks for a place.
    pub(super) fn has_candidate(&self) -> bool {
        self.candidate.is_some()
    }

    /// A node calls. `next` is the next candidate if there is none yet; `may_launch` says whether a job may launch a reduce now.
    ///
    /// # Errors
    /// As [`Offer::launch`].
    pub(super) fn heartbeat(
        &mut self,
        offer: &mut Offer<'_, '_>,
        next: Option<JobId>,
        may_launch: impl Fn(JobId, View<'_>) -> bool,
    ) -> Result<(), Violation> {
        let view = offer.view();
        let Some(candidate) = &mut self.candidate else {
            self.candidate = next.map(|job| Candidate { job, since: view.now(), waited: 0 });
            return Ok(());
        };
        candidate.waited += 1;
        let mut turn = *candidate;
        let (job, nodes) = (turn.job, view.live_nodes() as u64);
        if round(turn.waited, nodes) > self.rounds {
            self.candidate = None;
            return Ok(());
        }
        if offer.free(Kind::Reduce) > 0 {
            self.skip_rounds(&mut turn, view);
            let round = round(turn.waited, nodes);
            if self.suits(offer.node(), turn, round, view) {
                if may_launch(job, view) && offer.launch_reduce(job)? {
                    self.candidate = None;
                    return Ok(());
                }
                // It could not launch on a node of this round's group: the next group's turn comes.
                turn.waited = if round < self.rounds { (round + 1) * nodes + 1 } else { turn.waited };
            }
            self.candidate = Some(turn);
        }
        Ok(())
    }

    /// Goes on to the first round that some listed node is for, or to the one for any node.
    fn skip_rounds(&mut self, turn: &mut Candidate, view: View<'_>) {
        let nodes = view.live_nodes() as u64;
        if self.list == Candidates::Free || round(turn.waited, nodes) == self.rounds {
            return;
        }
        let listed = self.listed(turn.job, view);
        let last = if listed == 0 { None } else { Some(group(listed - 1)) };
        // The groups are filled in order, so that those after the last one are empty.
        let now = round(turn.waited, nodes);
        if last.is_none_or(|last| last < now) {
            turn.waited = self.rounds * nodes + 1;
        }
    }

    /// Whether a node with a free reduce slot is one of those that this round is for.
    fn suits(&mut self, node: NodeId, turn: Candidate, round: u64, view: View<'_>) -> bool {
        let runs_none = |node| view.job(turn.job).running_on(node, Kind::Reduce) == 0;
        if round < self.rounds {
            return runs_none(node) && self.rank(node, turn, view).map(group) == Some(round);
        }
        let mut others = view.nodes().filter(|&other| view.room(other, Kind::Reduce) > 0);
        runs_none(node) || !others.any(runs_none)
    }

    /// How many nodes are listed, as far as they are good enough.
    fn listed(&self, job: JobId, view: View<'_>) -> usize {
        // Each reduce of the job takes one node off the list at most.
        let surely = view.nodes_with_room(Kind::Reduce).saturating_sub(view.job(job).running(Kind::Reduce)) as usize;
        if surely >= self.best {
            return self.best;
        }
        view.nodes().filter(|&node| self.list.holds(node, job, view)).take(self.best).count()
    }

    /// The rank of a node among the listed ones by how near it is to the job's map output, if it is good enough. The order of
    /// equals is drawn for each candidate.
    fn rank(&mut self, node: NodeId, Candidate { job, since, .. }: Candidate, view: View<'_>) -> Option<usize> {
        let output = &self.outputs[job];
        let look = Look { job, since, view, list: self.list, cost: |node| output.cost(node, view) };
        self.nearest.rank(self.best, node, &look)
    }
}

impl Candidates {
    /// Whether a node is listed for a reduce of a job.
    fn holds(self, node: NodeId, job: JobId, view: View<'_>) -> bool {
        view.room(node, Kind::Reduce) > 0
            && (self == Candidates::Free || view.job(job).running_on(node, Kind::Reduce) == 0)
    }
}

/// A look at all nodes for one candidate.
struct Look<'v, C> {
    job: JobId,
    since: Ms,
    view: View<'v>,
    list: Candidates,
    /// How far a node is from the map output of the job.
    cost: C,
}

impl<C: Fn(NodeId) -> f64> Look<'_, C> {
    fn is_listed(&self, node: NodeId) -> bool {
        self.list.holds(node, self.job, self.view)
    }

    fn draw(&self, node: NodeId) -> u64 {
        tie(self.view, Purpose::ReducePlace, self.job, node, self.since)
    }
}

impl Ties {
    /// The order of two nodes with their costs: the nearer first, and drawn among equals.
    fn order<C: Fn(NodeId) -> f64>(&mut self, a: (f64, NodeId), b: (f64, NodeId), look: &Look<'_, C>) -> Ordering {
        let mut key = |node: NodeId| (self.of(node, || look.draw(node)), node);
        a.0.total_cmp(&b.0).then_with(|| key(a.1).cmp(&key(b.1)))
    }
}

impl Nearest {
    /// The rank of a node among the listed ones, if it is one of the `best`.
    fn rank<C: Fn(NodeId) -> f64>(&mut self, best: usize, node: NodeId, look: &Look<'_, C>) -> Option<usize> {
        if self.of.replace((look.job, look.since)) != Some((look.job, look.since)) {
            self.ties.candidate += 1;
            self.ranked.clear();
        }
        if self.ranked.len() == best && self.are_all_nearer_than(node, look) {
            return None;
        }
        self.find(best, look);
        self.ranked.iter().position(|&other| other == node)
    }

    /// Whether the nodes that were ranked last are all listed now and nearer than this one.
    fn are_all_nearer_than<C: Fn(NodeId) -> f64>(&mut self, node: NodeId, look: &Look<'_, C>) -> bool {
        let (own, ties) = ((look.cost)(node), &mut self.ties);
        self.ranked.iter().all(|&other| {
            other != node
                && look.is_listed(other)
                && ties.order(((look.cost)(other), other), (own, node), look).is_lt()
        })
    }

    /// Ranks the nearest listed nodes.
    fn find<C: Fn(NodeId) -> f64>(&mut self, best: usize, look: &Look<'_, C>) {
        let listed = look.view.nodes().filter(|&node| look.is_listed(node));
        self.costs.clear();
        self.costs.extend(listed.map(|node| ((look.cost)(node), node)));
        let ties = &mut self.ties;
        if self.costs.len() > best {
            // Only those as far as the last good enough one need a draw.
            let (.., &mut (last, _), _) = self.costs.select_nth_unstable_by(best - 1, |a, b| a.0.total_cmp(&b.0));
            self.costs.retain(|(cost, _)| cost.total_cmp(&last).is_le());
        }
        if self.costs.len() > best {
            self.costs.select_nth_unstable_by(best - 1, |&a, &b| ties.order(a, b, look));
            self.costs.truncate(best);
        }
        self.costs.sort_unstable_by(|&a, &b| ties.order(a, b, look));
        self.ranked.clear();
        self.ranked.extend(self.costs.iter().map(|&(_, node)| node));
    }
}

/// Into which round the heartbeat with this number falls; the first one is number 1, in round 0.
fn round(waited: u64, nodes: u64) -> u64 {
    (waited - 1) / nodes
}

/// The round for a good enough node of this rank: 0 for the nearest, 1 for the next two, 2 for the rest.
fn group(rank: usize) -> u64 {
    match rank {
        0 => 0,
        1 | 2 => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Scenario, job, map};

    /// The nodes by name in the order of their ranks, those without a free reduce slot left out.
    fn ranked(costs: [u64; 4], free: [bool; 4]) -> Vec<(char, u64)> {
        let mut order: Vec<usize> = (0..4).filter(|&node| free[node]).collect();
        order.sort_by_key(|&node| costs[node]);
        order.iter().enumerate().map(|(rank, &node)| (['a', 'b', 'c', 'd'][node], group(rank))).collect()
    }

    #[test]
    fn b7_w_centrality_groups() {
        let all = ranked([16, 28, 24, 32], [true; 4]);
        assert_eq!(all, [('a', 0), ('c', 1), ('b', 1), ('d', 2)]);
        let without_a = ranked([16, 28, 24, 32], [false, true, true, true]);
        assert_eq!(without_a, [('c', 0), ('b', 1), ('d', 1)]);
    }

    /// Where and when the only reduce of a job is launched. Nodes 0 (c) and 1 (d) are in one rack, 2 (b) and 3 (a) in the other.
    /// The job has left six maps' output on a and four maps' on c when its last map starts on b at 7,000, out of band: only then
    /// its mismatch is positive, and b's heartbeat makes it the candidate. Maps never leave their data.
    fn reduce_of(other_on_d: Ms) -> (Ms, usize) {
        let on = |node: usize, run: Ms| map(run).on(&[node]);
        let mut busy = vec![on(2, 4_000)];
        busy.extend(vec![on(2, 60_000); 35]);
        let maps = [vec![on(3, 500); 6], vec![on(0, 500); 4], vec![on(2, 30_000)]].concat();
        let launches = Scenario::nodes(4, 6, 1)
            .racks(2)
            .out_of_band()
            .job(job("job_1_0001").each_map(busy))
            .job(job("job_1_0002").each_map(vec![on(1, other_on_d)]))
            .job(job("job_1_0003").at(3_100).each_map(maps).reduces(1, 1_000))
            .launches("coupling:maps=delay,delay_node=86400000,threshold=0.1");
        let reduce = launches.iter().find(|launch| launch.level.is_none());
        reduce.map_or((0, 0), |reduce| (reduce.at, reduce.node))
    }

    #[test]
    fn b7_w_wait_the_nearest_node_calls_in_time() {
        // b makes it the candidate; then call c, d, b and, as the fourth, a.
        assert_eq!(reduce_of(90_000), (9_000, 3));
    }

    #[test]
    fn b7_w_wait_the_nearest_node_calls_too_late() {
        // d calls once more, out of band, so that a is the fifth: in the second round, which is for b and c.
        assert_eq!(reduce_of(5_000), (12_000, 0));
    }

    #[test]
    fn the_ramp_takes_the_place_of_slow_start_and_only_a_job_that_may_launch_is_a_candidate() {
        // One node: the job's only map runs from 1,000 to 3,500, and its reduce becomes the candidate at once. With slow-start it is
        // none before 4,000, when the map is reported, and so is not held up by rounds in vain.
        let reduce = |policy: &str| {
            let launches = Scenario::nodes(1, 1, 1)
                .heartbeat(1_000)
                .job(job("job_1_0001").maps(1, map(2_500).on(&[0])).reduces(1, 1_000))
                .launches(policy);
            launches.iter().find(|launch| launch.level.is_none()).map(|launch| launch.at)
        };
        assert_eq!(reduce("coupling"), Some(2_000));
        assert_eq!(reduce("coupling:slowstart=true"), Some(5_000));
    }

    #[test]
    fn rounds_for_groups_without_nodes_are_skipped_unless_the_list_is_literal() {
        // One node: the job's first reduce starts at 2,000, and its second becomes the candidate at 3,000. The node already runs a
        // reduce of the job: no fresh node is left, and the round for any node comes at once.
        let second = |list: &str| {
            let launches = Scenario::nodes(1, 1, 2)
                .heartbeat(1_000)
                .job(job("job_1_0001").maps(1, map(30_000).on(&[0])).reduces(2, 1_000))
                .launches(&format!("coupling:list={list}"));
            launches.iter().filter(|launch| launch.level.is_none()).nth(1).map(|launch| launch.at)
        };
        assert_eq!(second("fresh"), Some(4_000));
        assert_eq!(second("free"), Some(7_000), "three rounds in vain");
    }

    #[test]
    fn b7_w_wait_rounds_are_as_long_as_there_are_nodes() {
        let rounds: Vec<u64> = (1..=16).map(|waited| round(waited, 4)).collect();
        assert_eq!(rounds, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
    }
}
