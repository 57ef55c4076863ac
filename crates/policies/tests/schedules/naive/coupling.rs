//! The Coupling Scheduler, and with its parts switched off the Fair Scheduler without guarantees.

use rand::seq::IteratorRandom;
use rand::{Rng, RngExt};
use resched_sim::Ms;
use resched_tables::draws::{Purpose, stream};
use resched_tables::model::{Locality, Outcome, Priority};

use super::{MAP, Naive, REDUCE};

/// How maps keep near their input.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Maps {
    Peek,
    /// With T1 and T2.
    Delay([Ms; 2]),
    Greedy,
}

/// The parameters of the Coupling Scheduler.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coupling {
    pub(crate) maps: Maps,
    pub(crate) gradual: bool,
    pub(crate) wait: bool,
    /// Time between two updates of the Fair Scheduler.
    pub(crate) update: Ms,
    pub(crate) threshold: f64,
    pub(crate) d: usize,
    /// Nodes that run a reduce of the job are not listed, and rounds for empty groups are skipped.
    pub(crate) fresh: bool,
    /// Algorithm 1 starts reduces only past the cluster's slow-start.
    pub(crate) slowstart: bool,
    pub(crate) rounds: usize,
    /// 0: all nodes.
    pub(crate) k: usize,
    /// With data in the rack and reduces on the node, with data in the rack, otherwise.
    pub(crate) alpha: [f64; 3],
    /// `None`: adaptive.
    pub(crate) beta: Option<f64>,
    pub(crate) exclude_self: bool,
    pub(crate) refill: bool,
}

/// The job whose reduce looks for a place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    job: usize,
    since: Ms,
    wait: usize,
}

/// What is known of one heartbeat.
#[derive(Debug, Default)]
struct Turn {
    /// Map slots that each job declined: they count as if it ran a map there.
    declined: Vec<usize>,
    /// How many jobs were asked whether they launch.
    asked: u64,
}

impl Naive<'_> {
    /// Demands are computed anew; a job may run from the second update on.
    pub(super) fn update(&mut self) {
        for job in self.running_jobs() {
            self.updates[job] += 1;
        }
        self.demand = [MAP, REDUCE].map(|kind| {
            let jobs = self.runnable_jobs().into_iter().filter(|&job| kind == MAP || self.past_slowstart(job));
            jobs.map(|job| self.jobs[job].tasks[kind].len() - self.finished(job, kind)).sum()
        });
    }

    fn runnable_jobs(&self) -> Vec<usize> {
        self.running_jobs().into_iter().filter(|&job| self.updates[job] >= 2).collect()
    }

    pub(super) fn coupling(&mut self, node: usize, rule: Coupling) {
        if self.free(node, MAP) > 0 || self.free(node, REDUCE) > 0 {
            self.assign(node, rule);
        }
        if rule.wait {
            self.wait_scheduling(node, rule);
        } else if rule.gradual
            && self.free(node, REDUCE) > 0
            && let Some(job) = self.next_reduce(node, rule)
        {
            self.launch_reduce(job, node);
        }
    }

    // The Fair Scheduler.

    /// Fills the map slots, and the reduce slots if neither Algorithm 1 nor 2 does.
    fn assign(&mut self, node: usize, rule: Coupling) {
        if matches!(rule.maps, Maps::Delay(_)) {
            self.begin_waits();
        }
        let mut turn = Turn { declined: vec![0; self.jobs.len()], asked: 0 };
        let free = [MAP, REDUCE].map(|kind| self.free(node, kind));
        let mut given = [0; 2];
        let mut closed = [false, rule.gradual || rule.wait];
        loop {
            for kind in [MAP, REDUCE] {
                let load = self.demand[kind] as f64 / self.cluster_slots(kind).max(1) as f64;
                let most = (self.slots(node, kind) as f64 * load.min(1.0)).ceil() as usize;
                closed[kind] |= given[kind] == free[kind];
                closed[kind] |= self.all_running(kind, &turn) == self.demand[kind];
                closed[kind] |= self.reported[node][kind] >= most;
            }
            let kind = match closed {
                [true, true] => return,
                [false, true] => MAP,
                [true, false] => REDUCE,
                [false, false] if self.reported[node][MAP] <= self.reported[node][REDUCE] => MAP,
                [false, false] => REDUCE,
            };
            let order = self.pool_order(kind, &turn);
            if order.into_iter().any(|job| self.takes_slot(job, kind, node, rule, &mut turn)) {
                given[kind] += 1;
            } else {
                closed[kind] = true;
            }
        }
    }

    /// The maps or reduces that a job runs, declined slots included.
    fn holds(&self, job: usize, kind: usize, turn: &Turn) -> usize {
        self.running_of(job, kind) + if kind == MAP { turn.declined[job] } else { 0 }
    }

    fn all_running(&self, kind: usize, turn: &Turn) -> usize {
        self.runnable_jobs().into_iter().map(|job| self.holds(job, kind, turn)).sum()
    }

    /// The jobs that may run: by what their user's pool runs, then its name, then by what they run for their weight.
    fn pool_order(&self, kind: usize, turn: &Turn) -> Vec<usize> {
        let mut jobs = self.runnable_jobs();
        let user = |job: usize| self.world.jobs[job].user;
        let of_pool = |job: usize| -> usize {
            let mates = self.runnable_jobs().into_iter().filter(|&other| user(other) == user(job));
            mates.map(|mate| self.holds(mate, kind, turn)).sum()
        };
        let per_weight = |job: usize| self.holds(job, kind, turn) as f64 / weight(self.world.jobs[job].priority);
        jobs.sort_by(|&a, &b| {
            let pools = (of_pool(a), user(a)).cmp(&(of_pool(b), user(b)));
            pools.then(per_weight(a).total_cmp(&per_weight(b))).then(a.cmp(&b))
        });
        jobs
    }

    /// Offers a slot to a job. Returns whether the slot is used up.
    fn takes_slot(&mut self, job: usize, kind: usize, node: usize, rule: Coupling, turn: &mut Turn) -> bool {
        match rule.maps {
            _ if kind == REDUCE => self.launch_reduce(job, node),
            Maps::Greedy => self.launch_map(job, node, Locality::Off),
            Maps::Delay(delays) => self.launch_map_in_reach(job, node, delays),
            Maps::Peek => self.peek(job, node, rule, turn),
        }
    }

    // Algorithm 3.

    fn peek(&mut self, job: usize, node: usize, rule: Coupling, turn: &mut Turn) -> bool {
        let pending = self.jobs[job].waiting[MAP].len();
        let Some(map) = self.find_map(job, node, Locality::Off).filter(|_| pending > turn.declined[job]) else {
            return false;
        };
        turn.asked += 1;
        let key = [job as u64, node as u64, self.now as u64, turn.asked];
        let launches = match self.level(job, map, node) {
            Some(Locality::Node) => true,
            _ if self.has_unplaced_maps(job) => true,
            level => {
                let alpha = match level {
                    Some(Locality::Rack) if self.runs_reduce_on(job, node) => rule.alpha[0],
                    Some(Locality::Rack) => rule.alpha[1],
                    _ => rule.alpha[2],
                };
                let (p, n) = self.look_around(job, node, rule, &key);
                let adaptive = 0.1 + 0.9 * (1.0 - (-(pending as f64) / n.max(1.0)).exp());
                let beta = rule.beta.unwrap_or(adaptive);
                // Nobody else has input: the map may go, also if the exponent is 0.
                let chance = if p == 0.0 { 1.0 } else { 1.0 - alpha * p.powf(beta) * (1.0 - (-n).exp()) };
                stream(self.world.seed, Purpose::MapPeek, &key).random::<f64>() < chance
            }
        };
        if launches {
            self.launch(job, MAP, map, node, self.level(job, map, node));
        } else if !rule.refill {
            turn.declined[job] += 1;
        }
        launches || !rule.refill
    }

    /// The share of nodes with unlaunched input of a job, and the number of nodes with free map slots.
    fn look_around(&self, job: usize, node: usize, rule: Coupling, key: &[u64]) -> (f64, f64) {
        let all = self.world.machines.len();
        let mut nodes: Vec<usize> = (0..all).collect();
        if rule.k > 0 && rule.k < all {
            let mut sample = vec![0; rule.k];
            (0..all).sample_fill(&mut stream(self.world.seed, Purpose::PeekSample, key), &mut sample);
            nodes = sample;
        }
        let maps = &self.world.jobs[job].maps;
        let has_input = |node: &usize| self.jobs[job].waiting[MAP].iter().any(|&map| maps[map].replicas.contains(node));
        let has_room = |other: &usize| self.free(*other, MAP) > 0 && !(rule.exclude_self && *other == node);
        let k1 = nodes.iter().filter(|node| has_input(node)).count() as f64;
        let k2 = nodes.iter().filter(|node| has_room(node)).count() as f64;
        let k = nodes.len() as f64;
        (k1 / k, all as f64 * (k2 / k))
    }

    fn runs_reduce_on(&self, job: usize, node: usize) -> bool {
        self.on_node(node).any(|attempt| self.attempts[attempt].job == job && self.attempts[attempt].kind == REDUCE)
    }

    // Algorithm 1.

    fn mismatch(&self, job: usize, threshold: f64) -> f64 {
        let pending = |kind: usize| self.jobs[job].waiting[kind].len();
        let desired = |kind: usize| self.jobs[job].tasks[kind].len() as f64;
        if pending(REDUCE) == 0 {
            return 0.0;
        }
        if pending(MAP) == 0 {
            return 4.0 + 1.0 / pending(REDUCE) as f64;
        }
        let delta = 1.0 - (-desired(REDUCE) / threshold).exp();
        let unit = delta * desired(MAP) / desired(REDUCE);
        let launched = (self.running_of(job, REDUCE) + self.finished(job, REDUCE)) as f64;
        (self.finished(job, MAP) as f64 / unit - (launched + 1.0)) / desired(REDUCE)
    }

    /// The job whose reduce is to be launched next.
    fn next_reduce(&self, node: usize, rule: Coupling) -> Option<usize> {
        if !rule.gradual {
            let turn = Turn { declined: vec![0; self.jobs.len()], asked: 0 };
            let mut order = self.pool_order(REDUCE, &turn).into_iter();
            return order.find(|&job| self.past_slowstart(job) && !self.jobs[job].waiting[REDUCE].is_empty());
        }
        let draw = |job: usize| self.draw(Purpose::ReduceCandidate, job, node, self.now);
        let mut jobs = self.runnable_jobs();
        jobs.retain(|&job| self.past_slowstart(job) && self.mismatch(job, rule.threshold) > 0.0);
        jobs.sort_by(|&a, &b| {
            let by_mismatch = self.mismatch(b, rule.threshold).total_cmp(&self.mismatch(a, rule.threshold));
            by_mismatch.then(draw(a).cmp(&draw(b)))
        });
        jobs.first().copied()
    }

    fn draw(&self, purpose: Purpose, job: usize, node: usize, at: Ms) -> u64 {
        stream(self.world.seed, purpose, &[job as u64, node as u64, at as u64]).next_u64()
    }

    // Algorithm 2.

    fn wait_scheduling(&mut self, node: usize, rule: Coupling) {
        let n = self.world.machines.len();
        self.candidate = self.candidate.filter(|candidate| self.running_jobs().contains(&candidate.job));
        let Some(mut now) = self.candidate else {
            if self.free(node, REDUCE) > 0 {
                let next = self.next_reduce(node, rule);
                self.candidate = next.map(|job| Candidate { job, since: self.now, wait: 0 });
            }
            return;
        };
        now.wait += 1;
        self.candidate = Some(now);
        if self.free(node, REDUCE) > 0 {
            for i in 1..=rule.rounds {
                let in_turn = (i - 1) * n < now.wait && now.wait <= i * n;
                if rule.fresh && in_turn && self.group(now, rule, i).is_empty() {
                    now.wait = i * n + 1;
                }
            }
            for i in 1..=rule.rounds {
                let in_turn = (i - 1) * n < now.wait && now.wait <= i * n;
                if in_turn && self.group(now, rule, i).contains(&node) && !self.runs_reduce_on(now.job, node) {
                    if self.launch_reduce(now.job, node) {
                        self.candidate = None;
                        return;
                    }
                    now.wait = i * n + 1;
                }
            }
            let others = self.with_free_reduce_slot().into_iter().any(|other| !self.runs_reduce_on(now.job, other));
            let avoided = self.runs_reduce_on(now.job, node) && others;
            let in_turn = rule.rounds * n < now.wait && now.wait <= (rule.rounds + 1) * n;
            if in_turn && !avoided && self.launch_reduce(now.job, node) {
                self.candidate = None;
                return;
            }
        }
        self.candidate = Some(now).filter(|candidate| candidate.wait <= (rule.rounds + 1) * n);
    }

    fn with_free_reduce_slot(&self) -> Vec<usize> {
        (0..self.world.machines.len()).filter(|&node| self.free(node, REDUCE) > 0).collect()
    }

    /// The nodes of group L1, L2 or L3 of the candidate.
    fn group(&self, candidate: Candidate, rule: Coupling, i: usize) -> Vec<usize> {
        let mut nodes = self.with_free_reduce_slot();
        nodes.retain(|&node| !(rule.fresh && self.runs_reduce_on(candidate.job, node)));
        nodes.sort_by_key(|&node| {
            (
                self.centrality(candidate.job, node),
                self.draw(Purpose::ReducePlace, candidate.job, node, candidate.since),
            )
        });
        nodes.truncate(rule.d);
        let places = [0..1, 1..3, 3..usize::MAX][i - 1].clone();
        nodes.into_iter().enumerate().filter(|(place, _)| places.contains(place)).map(|(_, node)| node).collect()
    }

    /// Eq. 1: each finished map counts with its part of what the reduces will fetch.
    fn centrality(&self, job: usize, node: usize) -> usize {
        let rack = |node: usize| self.world.machines[node].rack;
        let hops = |from: usize| match from {
            from if from == node => 0,
            from if rack(from) == rack(node) => 2,
            _ => 4,
        };
        let bytes = self.world.jobs[job].shuffle_bytes as usize / self.world.jobs[job].maps.len().max(1);
        let maps =
            self.attempts.iter().filter(|candidate| candidate.job == job && candidate.kind == MAP && candidate.known);
        maps.filter(|candidate| candidate.outcome == Outcome::Success)
            .map(|candidate| bytes * hops(candidate.node))
            .sum()
    }
}

/// The weight of a job in the Fair Scheduler.
fn weight(priority: Priority) -> f64 {
    match priority {
        Priority::VeryHigh => 4.0,
        Priority::High => 2.0,
        Priority::Normal => 1.0,
        Priority::Low => 0.5,
        Priority::VeryLow => 0.25,
    }
}
