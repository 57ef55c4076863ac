//! Where a reduce is launched: Wait Scheduling, Algorithm 2 of the Coupling paper (`docs/model/coupling.md`).

use std::cmp::Ordering;

use resched_sim::hadoop::{Kind, Offer, View};
use resched_sim::{JobId, Ms, NodeId, Violation};
use resched_tables::draws::Purpose;
use resched_tables::model::Reason;

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
    nearer: Nearer,
}

/// Which listed nodes are nearer to the map output of the candidate's job than the one that calls.
///
/// A node is turned down as soon as enough nearer ones are known. Those that turned down the last one mostly turn down the next one,
/// too, so they are asked first, and few calls look at more nodes than that.
#[derive(Debug, Default)]
struct Nearer {
    /// The candidate's job, and when it was chosen.
    of: Option<(JobId, Ms)>,
    /// Those that were enough to turn down a node.
    known: Vec<NodeId>,
    /// Room for those of the next node.
    found: Vec<NodeId>,
    ties: Ties,
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
        Self { best, list, rounds, candidate: None, outputs: ByJob::default(), nearer: Nearer::default() }
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

    /// True if a reduce looks for a place.
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
            offer.view().pass_over(job, Kind::Reduce, Reason::NotNearest);
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

    /// True if a node with a free reduce slot is one of those that this round is for.
    fn suits(&mut self, node: NodeId, turn: Candidate, round: u64, view: View<'_>) -> bool {
        let runs_none = |node| view.job(turn.job).running_on(node, Kind::Reduce) == 0;
        if round < self.rounds {
            return runs_none(node) && self.is_of_group(node, round, turn, view);
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

    /// True if the rank of a node among the listed ones, by how near it is to the job's map output, is one of a group. The order
    /// of equals is drawn for each candidate.
    fn is_of_group(&mut self, node: NodeId, number: u64, of: Candidate, view: View<'_>) -> bool {
        let output = &self.outputs[of.job];
        let look = Look { of, view, list: self.list, cost: |node| output.cost(node, view) };
        let rank = self.nearer.count(end(number).min(self.best), node, &look);
        rank < self.best && group(rank) == number
    }
}

impl Candidates {
    /// True if a node is listed for a reduce of a job.
    fn holds(self, node: NodeId, job: JobId, view: View<'_>) -> bool {
        view.room(node, Kind::Reduce) > 0
            && (self == Candidates::Free || view.job(job).running_on(node, Kind::Reduce) == 0)
    }
}

/// A look at all nodes for one candidate.
struct Look<'v, C> {
    of: Candidate,
    view: View<'v>,
    list: Candidates,
    /// How far a node is from the map output of the job.
    cost: C,
}

impl<C: Fn(NodeId) -> f64> Look<'_, C> {
    /// True if another node is listed and comes before this one, whose cost is given.
    fn comes_before(&self, other: NodeId, (cost, node): (f64, NodeId), ties: &mut Ties) -> bool {
        // Most nodes have no room while reduces wait.
        if self.view.room(other, Kind::Reduce) == 0 {
            return false;
        }
        let mut key = |node: NodeId| (ties.of(node, || self.draw(node)), node);
        let is_nearer = match (self.cost)(other).total_cmp(&cost) {
            Ordering::Less => true,
            Ordering::Equal => other != node && key(other) < key(node),
            Ordering::Greater => false,
        };
        is_nearer && self.list.holds(other, self.of.job, self.view)
    }

    fn draw(&self, node: NodeId) -> u64 {
        tie(self.view, Purpose::ReducePlace, self.of.job, node, self.of.since)
    }
}

impl Nearer {
    /// How many listed nodes come before this one; it does not count beyond `most`.
    fn count<C: Fn(NodeId) -> f64>(&mut self, most: usize, node: NodeId, look: &Look<'_, C>) -> usize {
        let of = Some((look.of.job, look.of.since));
        if std::mem::replace(&mut self.of, of) != of {
            self.ties.candidate += 1;
        }
        let (Self { known, found, ties, .. }, key) = (self, ((look.cost)(node), node));
        if known.iter().filter(|&&other| look.comes_before(other, key, ties)).take(most).count() == most {
            return most;
        }
        found.clear();
        found.extend(look.view.nodes().filter(|&other| look.comes_before(other, key, ties)).take(most));
        if found.len() == most {
            std::mem::swap(known, found);
            return most;
        }
        found.len()
    }
}

/// Into which round the heartbeat with this number falls; the first one is number 1, in round 0.
fn round(waited: u64, nodes: u64) -> u64 {
    (waited - 1) / nodes
}

/// The rank after the last one of a group, as far as it has an end.
fn end(group: u64) -> usize {
    match group {
        0 => 1,
        1 => 3,
        _ => usize::MAX,
    }
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
    fn groups_of_nodes_by_centrality() {
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
    fn the_nearest_node_calls_in_time() {
        // b makes it the candidate; then call c, d, b and, as the fourth, a.
        assert_eq!(reduce_of(90_000), (9_000, 3));
    }

    #[test]
    fn the_nearest_node_calls_too_late() {
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
    fn a_group_ends_where_the_next_one_begins() {
        for rank in 0..10 {
            assert!(rank < end(group(rank)) && (group(rank) == 0 || rank >= end(group(rank) - 1)), "{rank}");
        }
    }

    #[test]
    fn rounds_are_as_long_as_there_are_nodes() {
        let rounds: Vec<u64> = (1..=16).map(|waited| round(waited, 4)).collect();
        assert_eq!(rounds, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
    }
}
