//! The Coupling Scheduler: reduces start gradually as maps finish, near their input, and maps use Random Peeking
//! (`docs/model/coupling.md`).
//!
//! **What it does.** Pools and jobs are ordered as by the Fair Scheduler ([`Pools`]). Three parts decide the rest. You
//! can switch off each of them:
//!
//! | parameter | the paper's | the other choices |
//! |---|---|---|
//! | `maps` | `peek`: a job without input on the node launches by chance, or leaves the slot idle (Alg. 3) | `delay`: waits for its data as under `fair`; `greedy`: launches at once |
//! | `reduces` | `gradual`: the job whose reduces lag most behind its maps (Alg. 1) | `greedy`: the first job in fair order that has a reduce that may start |
//! | `wait` | `on`: its reduce waits for a node near its map output (Alg. 2) | `off`: it takes whatever node calls |
//!
//! `maps` is independent of the other two. `reduces` and `wait` combine as follows. `gradual` with `on` is the paper's
//! scheduler. `gradual` with `off` launches one reduce of the job with the largest positive mismatch on a node with a
//! free reduce slot. With `greedy` and `on`, Algorithm 2 places one reduce after the other in fair order. `greedy` with
//! `off` fills all free reduce slots in fair order: with `maps=delay` this is `fair`, and with `maps=greedy` it is
//! `fair` without waits. So each of the four combinations for reduces has three variants for maps.
//!
//! **Source.** Tan, Meng, Zhang: Coupling Task Progress for MapReduce Resource-Aware Scheduling (INFOCOM 2013),
//! Algorithms 1–3, Eqs. 1 and 3. Decisions where the paper is silent: heartbeats of nodes without a free reduce slot
//! count in the rounds of Algorithm 2; a round has as many heartbeats as there are live nodes; the groups are found
//! anew at each test; a node does not count itself among the *other* nodes with free map slots; a slot that a job
//! declines stays idle until the next heartbeat. Further ones: the ramp of Algorithm 1 takes the place of the cluster's
//! slow-start, which the paper never mentions (`slowstart`); only a job with a reduce that may start is a candidate, as
//! another one would block the cluster; nodes that run a reduce of the job are not listed, as §II-A.2 avoids them "if
//! possible", and a round for a group without nodes is skipped (`list`). At a heartbeat, maps come before reduces; a
//! job whose pool is at its limit, or that may not run yet, is no candidate; a job with a map of unknown place does not
//! wait; ties are broken by a draw keyed by job, node and instant.

mod mismatch;
mod peek;
mod wait;

use rand::Rng;
use resched_sim::hadoop::{AttemptEnd, Kind, Offer, Orders, Policy, Reach, System, View};
use resched_sim::{JobId, Ms, NodeId, Violation};
use resched_tables::draws::Purpose;

use crate::error::Error;
use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::input::Input;
use crate::parts::locality_wait::{DELAY_NODE, DELAY_RACK, LocalityWaits, Waits};
use crate::parts::pools::{
    ALLOCATIONS, Answer, BOOST, MAP_CAP, POOLS, Pools, PoolsBy, REDUCE_CAP, Rules, SIZE_WEIGHT, UPDATE, allocations,
};
use crate::settings::{File, choices, settings};
use crate::site::Site;
use mismatch::Mismatches;
use peek::Peeking;
use wait::{Candidates, WaitScheduling};

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "coupling",
    title: "Coupling Scheduler (gradual reduces, Wait Scheduling, Random Peeking)",
    source: "Coupling Task Progress for MapReduce Resource-Aware Scheduling, Algorithms 1 to 3",
    family: Family::Paper,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[Input::Pools],
    idle: ALL_ACT,
    build: Build::Hadoop(System::Slots, |values, site| Ok(Box::new(Coupling::new(&Settings::read(values)?, site)?))),
};

choices! {
    /// How maps keep near their input.
    enum MapRule {
        /// By Algorithm 3.
        Peek = "peek",
        /// As under the Fair Scheduler.
        Delay = "delay",
        /// Not at all.
        Greedy = "greedy",
    }
}

choices! {
    /// Which jobs may launch reduces.
    enum ReduceRule {
        /// By Algorithm 1.
        Gradual = "gradual",
        /// The first in fair order.
        Greedy = "greedy",
    }
}

choices! {
    /// Whether reduces wait for a node near the map output.
    enum WaitRule {
        /// By Algorithm 2.
        On = "on",
        Off = "off",
    }
}

settings! {
    /// What you can set.
    struct Settings {
        /// how maps keep near their input
        maps: MapRule = "maps" { choice: MapRule::Peek, },
        /// which jobs may launch reduces
        reduces: ReduceRule = "reduces" { choice: ReduceRule::Gradual, },
        /// whether reduces wait for a node near the map output
        wait: WaitRule = "wait" { choice: WaitRule::On, },
        /// scale of the ramp: all R reduces may run when a share of 1 - exp(-R/threshold) of the maps is done
        threshold: f64 = "threshold" { default: 3, range: 1e-3..=1e6, unit: "reduces" },
        /// number of nodes nearest to the map output that are good enough
        near: usize = "D" { default: 7, range: 1..=1_000_000, unit: "nodes" },
        /// nodes among which the nearest are found; fresh: free ones without a reduce of the job; free: all free ones, to
        /// the letter
        list: Candidates = "list" { choice: Candidates::Fresh, },
        /// with reduces=gradual, reduces also wait for the slow-start of the cluster
        slowstart: bool = "slowstart" { default: false },
        /// rounds, of one heartbeat per node, for the nearest nodes before a round for any node
        rounds: u64 = "rounds" { default: 3, range: 0..=3 },
        /// nodes to peek at; auto: all
        sample: Option<usize> = "K" { auto: Nothing, range: 1..=1_000_000, unit: "nodes" },
        /// patience of a job with input in the rack and reduces on the node
        alpha_both: f64 = "alpha_both" { default: 0.7, range: 0..=1 },
        /// patience of a job with input in the rack; 0: none
        alpha_rack: f64 = "alpha_rack" { default: 0.8, range: 0..=1 },
        /// patience of a job with input only elsewhere
        alpha_off: f64 = "alpha_off" { default: 1, range: 0..=1 },
        /// exponent of the share of nodes with input; 0: the share does not matter, unless it is 0; auto: adaptive
        beta: Option<f64> = "beta" { auto: Nothing, range: 0..=1 },
        /// do not count the node that sends the heartbeat among those with free map slots
        exclude_self: bool = "exclude_self" { default: true },
        /// offer a slot that a job declines to the next job
        refill: bool = "refill" { default: false },
        delay_node: Option<Ms> = DELAY_NODE,
        delay_rack: Option<Ms> = DELAY_RACK,
        pools: PoolsBy = POOLS,
        allocations: File = ALLOCATIONS,
        map_cap: Option<u32> = MAP_CAP,
        reduce_cap: Option<u32> = REDUCE_CAP,
        size_weight: bool = SIZE_WEIGHT,
        boost: bool = BOOST,
        update: Ms = UPDATE,
    }
}

/// The policy.
#[derive(Debug)]
struct Coupling {
    update_period: Ms,
    pools: Pools,
    maps: Maps,
    /// `None`: reduces are greedy.
    mismatches: Option<Mismatches>,
    /// Reduces also wait for the slow-start of the cluster.
    slowstart: bool,
    /// `None`: reduces do not wait.
    wait: Option<WaitScheduling>,
}

/// How maps keep near their input.
#[derive(Debug)]
enum Maps {
    Peek(Peeking),
    Delay { delays: (Option<Ms>, Option<Ms>), waits: LocalityWaits },
    Greedy,
}

/// A number by which equals are ordered.
fn tie(view: View<'_>, purpose: Purpose, job: JobId, node: NodeId, at: Ms) -> u64 {
    view.draws(purpose, &[job.index() as u64, node.index() as u64, at as u64]).next_u64()
}

impl Maps {
    fn new(settings: &Settings) -> Self {
        match settings.maps {
            MapRule::Peek => Maps::Peek(Peeking::new(settings)),
            MapRule::Delay => {
                Maps::Delay { delays: (settings.delay_node, settings.delay_rack), waits: LocalityWaits::default() }
            }
            MapRule::Greedy => Maps::Greedy,
        }
    }

    /// A job has arrived, or some of its maps that were done wait again.
    fn add(&mut self, job: JobId, view: View<'_>) {
        if let Maps::Peek(peeking) = self {
            peeking.add(job, view);
        }
    }

    fn begin(&mut self, view: View<'_>) {
        match self {
            Maps::Peek(peeking) => peeking.begin(),
            Maps::Delay { waits, .. } => waits.begin(view.now()),
            Maps::Greedy => {}
        }
    }

    fn ask(&mut self, pools: &Pools, offer: &mut Offer<'_, '_>, job: JobId) -> Result<Answer, Violation> {
        match self {
            Maps::Peek(peeking) => peeking.ask(pools, offer, job),
            Maps::Delay { delays, waits } => {
                let limits = Waits::resolve(delays.0, delays.1, offer.view().heartbeat_interval());
                waits.launch_map(offer, job, limits, || false).map(Answer::launched)
            }
            Maps::Greedy => Ok(Answer::launched(offer.launch_map(job, Reach::Any)?.is_some())),
        }
    }

    fn end(&mut self) {
        if let Maps::Delay { waits, .. } = self {
            waits.end();
        }
    }
}

impl Coupling {
    fn new(settings: &Settings, site: &Site) -> Result<Self, Error> {
        let &Settings { pools, size_weight, boost, near, list, rounds, threshold, update, .. } = settings;
        let (gradual, waits) = (settings.reduces == ReduceRule::Gradual, settings.wait == WaitRule::On);
        let allocations = allocations(&settings.allocations, site.pools.as_ref())?;
        let caps = [settings.map_cap, settings.reduce_cap];
        Ok(Self {
            update_period: update,
            pools: Pools::new(Rules { caps, ..Rules::new(pools, size_weight, boost) }, allocations),
            maps: Maps::new(settings),
            mismatches: gradual.then(|| Mismatches::new(threshold)),
            slowstart: settings.slowstart,
            wait: waits.then(|| WaitScheduling::new(near, list, rounds)),
        })
    }

    /// True if nothing holds reduces back.
    fn reduces_are_free(&self) -> bool {
        self.mismatches.is_none() && self.wait.is_none()
    }

    /// Launches maps, and reduces too if nothing holds them back.
    fn assign(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let kinds: &[Kind] = if self.reduces_are_free() { &Kind::BOTH } else { &[Kind::Map] };
        let maps = &mut self.maps;
        let can_launch = |&kind: &Kind| offer.free(kind) > 0 && offer.view().ready(kind) > 0;
        // Only jobs that wait for their data remember that they were not asked.
        if !matches!(maps, Maps::Delay { .. }) && !kinds.iter().any(can_launch) {
            return Ok(());
        }
        maps.begin(offer.view());
        self.pools.assign(offer, kinds, |pools, offer, job, kind| match kind {
            Kind::Map => maps.ask(pools, offer, job),
            Kind::Reduce => offer.launch_reduce(job).map(Answer::launched),
        })?;
        self.maps.end();
        Ok(())
    }

    /// Launches one reduce at most, of the job whose turn it is.
    fn launch_reduce(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let chosen = self.wait.as_ref().is_some_and(WaitScheduling::has_candidate);
        let next = if chosen || offer.free(Kind::Reduce) == 0 { None } else { self.next(offer) };
        match (&mut self.wait, next) {
            (Some(wait), next) => wait.heartbeat(offer, next, |job, view| may_launch(&self.pools, job, view)),
            (None, Some(job)) => offer.launch_reduce(job).map(|_| ()),
            (None, None) => Ok(()),
        }
    }

    /// The job whose reduce is launched next.
    fn next(&mut self, offer: &Offer<'_, '_>) -> Option<JobId> {
        let view = offer.view();
        let is_ready = |job| view.job(job).ready(Kind::Reduce) > 0;
        match &self.mismatches {
            Some(mismatches) => mismatches.largest(offer.node(), view, |job| may_launch(&self.pools, job, view)),
            None => self.pools.first(Kind::Reduce, view, is_ready),
        }
    }
}

/// True if the limits of a job's user and pool let it launch a reduce.
fn may_launch(pools: &Pools, job: JobId, view: View<'_>) -> bool {
    pools.may_run(job) && pools.may_grow(job, Kind::Reduce, view)
}

impl Policy for Coupling {
    fn ramps_reduces(&self) -> bool {
        self.mismatches.is_some() && !self.slowstart
    }

    fn job_submitted(&mut self, job: JobId, view: View<'_>) {
        self.pools.submit(job, view);
        self.maps.add(job, view);
    }

    fn job_finished(&mut self, job: JobId, _view: View<'_>) {
        self.pools.finish(job);
        if let Maps::Peek(peeking) = &mut self.maps {
            peeking.finish(job);
        }
        if let Some(wait) = &mut self.wait {
            wait.finish(job);
        }
    }

    fn task_finished(&mut self, ended: &AttemptEnd, view: View<'_>) {
        if let Maps::Peek(peeking) = &mut self.maps {
            peeking.ended(ended, view);
        }
        if let (Some(wait), Kind::Map) = (&mut self.wait, ended.kind) {
            wait.output_changed(ended.node, ended.job, view);
        }
    }

    /// Maps that were done there wait again.
    fn node_lost(&mut self, node: NodeId, view: View<'_>) {
        for &job in view.jobs() {
            self.maps.add(job, view);
            if let Some(wait) = &mut self.wait {
                wait.output_changed(node, job, view);
            }
        }
    }

    fn period(&self) -> Option<Ms> {
        Some(self.update_period)
    }

    fn tick(&mut self, view: View<'_>, _orders: &mut Orders) {
        self.pools.update(view);
    }

    fn skips_idle_ticks(&self, _view: View<'_>) -> bool {
        true
    }

    /// As `fair` if maps wait for their data.
    fn restless(&self, view: View<'_>) -> bool {
        match &self.maps {
            Maps::Delay { waits, .. } => waits.any_skipped() || self.pools.demand(Kind::Map) != view.running(Kind::Map),
            Maps::Peek(_) | Maps::Greedy => false,
        }
    }

    fn counts_heartbeats(&self, _view: View<'_>) -> bool {
        self.wait.as_ref().is_some_and(WaitScheduling::has_candidate)
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        if Kind::BOTH.iter().any(|&kind| offer.free(kind) > 0) {
            self.assign(offer)?;
        }
        if self.reduces_are_free() { Ok(()) } else { self.launch_reduce(offer) }
    }
}
