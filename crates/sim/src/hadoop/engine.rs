//! The clock and the events of a replay.
//!
//! Three kinds of event move the clock: submissions (a sorted cursor), ticks of the policy (a counter) and heartbeats (a
//! heap, one entry a node). The end of an attempt is no event: the master learns of it at the node's next heartbeat, so a
//! node with nothing else to say sleeps until its first heartbeat after its first end.
//!
//! Events of one instant run in the order in which Hadoop's simulator would have put them into its queue: a heartbeat is
//! put one interval ahead, a tick one period, a submission when the one before it runs. That order follows from the times
//! alone ([`Classes`]), so it does not matter which heartbeats were left out.
//!
//! Under YARN a fourth kind joins them, the heartbeats of application masters ([`containers`]). There one order holds at every
//! instant: submissions, the tick, nodes by id, masters by job.

mod containers;
mod work;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use resched_trace::model::{Locality, Outcome};

use crate::Error;
use crate::cluster_file::ReduceModel;
use crate::error::Violation;
use crate::hadoop::beats::Beats;
use crate::hadoop::cluster::Cluster;
use crate::hadoop::containers::System;
use crate::hadoop::cost::{CostModel, Script};
use crate::hadoop::kind::Kind;
use crate::hadoop::observer::{Ended, Launched, Observer};
use crate::hadoop::offer::Offer;
use crate::hadoop::policy::{Orders, Policy};
use crate::hadoop::view::{RunId, RunView, View};
use crate::hadoop::workload::Workload;
use crate::hadoop::world::{Health, JobPhase, Kill, Run, TaskPhase, World};
use crate::ids::{JobId, Ms, NodeId};
use crate::observer::{Decided, JobEnded};

/// A replay in which nothing starts or ends for so long though tasks wait is given up (7 days: longer than any wait that a
/// policy can be asked for).
const PATIENCE: Ms = 7 * 86_400_000;

/// How to run a replay.
#[derive(Debug, Clone)]
pub struct Options {
    /// Keys all random draws.
    pub seed: u64,
    /// Leave out heartbeats and ticks that change nothing. Off only to check that it makes no difference.
    pub parking: bool,
    /// Run times and outcomes given by hand.
    pub script: Script,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 1, parking: true, script: Script::new() }
    }
}

/// What a replay did, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Events that were handled.
    pub events: u64,
    /// Attempts that were launched.
    pub launches: u64,
    /// Jobs that ended, well or not.
    pub jobs: u64,
    /// The last instant, ms.
    pub end: Ms,
}

/// Replays a workload on a cluster under a policy, until every job has ended. `name` names the policy in errors; `progress`
/// is told, now and then, how many jobs have ended.
///
/// # Errors
/// [`Error::PolicyViolation`] and [`Error::Stalled`]; [`Error::Config`] if the cluster is not under the policy's system
/// ([`Cluster::for_system`]); whatever the observer returns.
pub fn replay<P: Policy + ?Sized, O: Observer>(
    workload: &Workload,
    cluster: &Cluster,
    (name, policy): (&str, &mut P),
    options: &Options,
    observer: &mut O,
    progress: &mut dyn FnMut(u64),
) -> Result<Tally, Error> {
    if cluster.system() != policy.system() {
        let (wanted, found) = (policy.system(), cluster.system());
        return Err(Error::Config(format!(
            "policy `{name}` schedules {wanted:?}; expected such a cluster, found {found:?}"
        )));
    }
    let mut engine = Engine::new(workload, cluster, name, policy, options, observer);
    engine.start();
    while engine.tally.jobs < workload.jobs().len() as u64 {
        engine.step()?;
        if engine.tally.events.is_multiple_of(1 << 16) {
            progress(engine.tally.jobs);
        }
    }
    engine.close()?;
    progress(engine.tally.jobs);
    Ok(engine.tally)
}

/// Where an event stands: by time, then class, then number.
type Position = (Ms, u8, u32);

/// The classes of the events of one instant.
///
/// Of heartbeats and ticks, the kind that is put longer ahead comes first. Where a submission stands depends on how
/// long before it its predecessor came; if that is exactly one interval, both were put at the same instant, and the order
/// is that of the predecessor.
struct Classes {
    heartbeat: u8,
    tick: u8,
    /// Heartbeats of application masters.
    master: u8,
    submissions: Vec<u8>,
}

impl Classes {
    fn new(workload: &Workload, cluster: &Cluster, period: Option<Ms>) -> Self {
        match cluster.system() {
            System::Slots => Self::as_queued(workload, cluster.interval(), period),
            System::Containers => {
                Self { submissions: vec![0; workload.jobs().len()], tick: 1, heartbeat: 2, master: 3 }
            }
        }
    }

    /// As Hadoop's simulator would have queued them.
    fn as_queued(workload: &Workload, interval: Ms, period: Option<Ms>) -> Self {
        let period = period.unwrap_or(interval);
        let (heartbeat, tick) = if interval >= period { (1, 3) } else { (3, 1) };
        let (longer, shorter) = (interval.max(period), interval.min(period));
        let (mut before_longer, mut before_shorter) = (true, true);
        let mut previous: Option<Ms> = None;
        let submissions = workload.jobs().iter().map(|job| {
            if let Some(previous) = previous {
                let gap = job.submit - previous;
                before_longer = gap > longer || gap == longer && before_longer;
                before_shorter = gap > shorter || gap == shorter && before_shorter;
            }
            previous = Some(job.submit);
            match (before_longer, before_shorter) {
                (true, _) => 0,
                (false, true) => 2,
                (false, false) => 4,
            }
        });
        Self { submissions: submissions.collect(), heartbeat, tick, master: u8::MAX }
    }
}

/// What happens to a node that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// It falls silent, and its attempts die.
    Silence,
    /// The master gives it up.
    Loss,
    /// It works again.
    Return,
}

/// What happens to the nodes of a cluster: each outage is a silence, the loss one expiry after the last heartbeat, and the
/// return. A node that returns before it expired is given up at that instant: it says itself that it has started anew.
fn changes(cluster: &Cluster, beats: &Beats) -> Vec<(Ms, Change, NodeId)> {
    let mut changes = Vec::new();
    for outage in cluster.outages() {
        let (node, from) = (outage.node, outage.from);
        let expiry = beats.last_before(node, from) + cluster.config.heartbeat.expiry;
        let loss = outage.to.map_or(expiry, |to| to.min(expiry)).max(from);
        changes.push((from, Change::Silence, node));
        changes.push((loss, Change::Loss, node));
        changes.extend(outage.to.map(|to| (to, Change::Return, node)));
    }
    changes.sort_unstable();
    changes
}

/// Which nodes must not sleep: those with a free slot of a kind, with any free slot, or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Needs {
    maps: bool,
    reduces: bool,
    any_slot: bool,
    all: bool,
}

struct Engine<'a, 'w, P: ?Sized, O> {
    world: World<'w>,
    cost: CostModel<'w>,
    name: &'a str,
    policy: &'a mut P,
    observer: &'a mut O,
    classes: Classes,
    parking: bool,
    /// The next heartbeat of each node and master that is not asleep; entries that no longer agree with `next_beat` and
    /// `next_master_beat` are stale.
    heap: BinaryHeap<Reverse<Position>>,
    next_beat: Vec<Ms>,
    /// By job; empty on slots.
    next_master_beat: Vec<Ms>,
    next_job: usize,
    /// What happens to nodes, in order, and how much of it has.
    changes: Vec<(Ms, Change, NodeId)>,
    next_change: usize,
    next_tick: Option<Ms>,
    /// The latest event but for work that was done.
    latest: Position,
    /// Up to when it was told what nodes use (model `contention`).
    sampled: Ms,
    needs: Needs,
    /// `world.version` after the last tick, and whether that tick found and left the world unchanged.
    ticked: (u64, bool),
    /// When something last started, ended or arrived.
    progressed: (u64, Ms),
    launched: Vec<RunId>,
    ended: Vec<RunId>,
    orders: Orders,
    tally: Tally,
}

const NEVER: Ms = Ms::MAX;

/// The earlier of two events that may come.
fn earlier(one: Option<Position>, other: Option<Position>) -> Option<Position> {
    one.into_iter().chain(other).min()
}

impl<'a, 'w, P: Policy + ?Sized, O: Observer> Engine<'a, 'w, P, O> {
    fn new(
        workload: &'w Workload,
        cluster: &'w Cluster,
        name: &'a str,
        policy: &'a mut P,
        options: &'w Options,
        observer: &'a mut O,
    ) -> Self {
        let mut world = World::new(workload, cluster, options.seed);
        let masters = world.yarn.as_ref().map_or_else(Vec::new, |yarn| vec![NEVER; yarn.apps.len()]);
        let changes = changes(cluster, &world.beats);
        world.oracle = policy.is_oracle();
        let period = policy.period();
        Self {
            cost: CostModel::new(workload, cluster, options.seed, &options.script),
            classes: Classes::new(workload, cluster, period),
            next_tick: period.map(|period| world.now + period),
            latest: (Ms::MIN, 0, 0),
            sampled: world.now,
            world,
            name,
            policy,
            observer,
            parking: options.parking,
            heap: BinaryHeap::new(),
            next_beat: vec![NEVER; cluster.nodes().len()],
            next_master_beat: masters,
            next_job: 0,
            changes,
            next_change: 0,
            needs: Needs::default(),
            ticked: (0, false),
            progressed: (0, 0),
            launched: Vec::new(),
            ended: Vec::new(),
            orders: Orders::default(),
            tally: Tally::default(),
        }
    }

    fn start(&mut self) {
        if !self.parking {
            for node in self.world.cluster.node_ids() {
                self.schedule(node, self.world.beats.from(node, self.world.now));
            }
        }
    }

    /// Handles the next event.
    fn step(&mut self) -> Result<(), Error> {
        let beat = self.peek_beat();
        let submission = self.world.workload.jobs().get(self.next_job).map(|job| {
            let class = self.classes.submissions[self.next_job];
            (job.submit + self.world.cluster.config.jobs.init_delay, class, self.next_job as u32)
        });
        let next = earlier(beat, submission);
        let work = self.next_work();
        let change = self.changes.get(self.next_change).copied();
        // Work that is done, and then what happens to a node, come before all else of their instant.
        let sudden = earlier(work.map(|(at, _)| (at, 0, 0)), change.map(|(at, ..)| (at, 0, 0)));
        let tick = self.due_tick(earlier(next, sudden));
        let planned = earlier(next, tick);
        let sudden = sudden.filter(|at| planned.is_none_or(|planned| at.0 <= planned.0));
        let work = work.filter(|&(at, _)| sudden.is_some_and(|sudden| at == sudden.0));
        let change = change.filter(|&(at, ..)| sudden.is_some_and(|sudden| at == sudden.0));
        let Some(at) = sudden.or(planned) else {
            return Err(self.stalled());
        };
        self.tell_use(at.0)?;
        self.world.now = at.0;
        self.tally.events += 1;
        self.check_progress()?;
        if let Some((_, run)) = work {
            self.work(run, if self.latest.0 == at.0 { self.latest } else { at });
            self.retune();
            return Ok(());
        }
        self.latest = at;
        if let Some((_, change, node)) = change {
            self.next_change += 1;
            self.change(node, change, at)?;
        } else if Some(at) == tick {
            self.tick(at)?;
        } else if Some(at) == submission {
            self.submit(JobId::at(self.next_job))?;
        } else {
            self.heap.pop();
            *self.next_of(at) = NEVER;
            if at.1 == self.classes.master {
                self.master_heartbeat(JobId(at.2), at)?;
            } else {
                self.heartbeat_if_due(NodeId(at.2), at)?;
            }
        }
        self.retune();
        self.wake_for_needs(at);
        if self.world.version != self.progressed.0 {
            self.progressed = (self.world.version, self.world.now);
        }
        Ok(())
    }

    fn peek_beat(&mut self) -> Option<Position> {
        while let Some(&Reverse(beat)) = self.heap.peek() {
            if *self.next_of(beat) == beat.0 {
                return Some(beat);
            }
            self.heap.pop();
        }
        None
    }

    /// When the node or the master of this heartbeat calls next.
    fn next_of(&mut self, beat: Position) -> &mut Ms {
        let all = if beat.1 == self.classes.master { &mut self.next_master_beat } else { &mut self.next_beat };
        &mut all[beat.2 as usize]
    }

    fn check_progress(&mut self) -> Result<(), Error> {
        let patient = self.world.now - self.progressed.1 < PATIENCE;
        if self.world.active.is_empty() || patient || self.next_change < self.changes.len() {
            return Ok(());
        }
        // An attempt may run for longer than our patience; only a world in which none will end stands still.
        let will_end = self.world.nodes.iter().flat_map(|node| &node.runs).any(|run| {
            let end = self.world.runs[run.index()].end;
            end.is_some_and(|end| end > self.world.now)
        });
        if will_end || self.next_work().is_some() { Ok(()) } else { Err(self.stalled()) }
    }

    fn stalled(&self) -> Error {
        Error::Stalled {
            policy: self.name.to_owned(),
            at: self.world.now,
            since: self.progressed.1,
            waiting: self.world.remaining.iter().sum(),
        }
    }

    fn violation(&self, violation: Violation) -> Error {
        Error::PolicyViolation { policy: self.name.to_owned(), at: self.world.now, what: violation.0 }
    }

    // Submissions.

    fn submit(&mut self, job: JobId) -> Result<(), Error> {
        self.next_job += 1;
        self.world.submit(job);
        self.policy.job_submitted(job, View { world: &self.world });
        if self.world.is_done(job) { self.end_job(job, Outcome::Success) } else { Ok(()) }
    }

    fn end_job(&mut self, job: JobId, outcome: Outcome) -> Result<(), Error> {
        self.world.end_job(job);
        self.tally.jobs += 1;
        self.policy.job_finished(job, View { world: &self.world });
        let launch = self.world.jobs[job.index()].launch;
        self.observer.job_ended(&JobEnded { job, launch, finish: self.world.now, outcome })
    }

    // Nodes that fail (policies A.8).

    fn change(&mut self, node: NodeId, change: Change, at: Position) -> Result<(), Error> {
        match change {
            Change::Silence => self.silence(node),
            Change::Loss => self.lose(node, at),
            Change::Return => {
                self.world.welcome(node);
                if !self.parking || self.needs_node(self.find_needs(), node) {
                    self.schedule(node, self.beat_after(node, at.0, at));
                }
                Ok(())
            }
        }
    }

    /// A node falls silent: its attempts die, and nobody knows.
    fn silence(&mut self, node: NodeId) -> Result<(), Error> {
        self.next_beat[node.index()] = NEVER;
        self.world.nodes[node.index()].health = Health::Silent(self.world.now);
        self.world.orphan_containers(node);
        for place in 0..self.world.nodes[node.index()].runs.len() {
            let id = self.world.nodes[node.index()].runs[place];
            let run = &self.world.runs[id.index()];
            if run.kill != Kill::Done {
                let over = run.end.is_some_and(|end| end <= self.world.now);
                self.world.lose(id);
                let run = self.world.runs[id.index()].clone();
                self.tell_end(&run, if over { run.course.outcome } else { Outcome::Killed }, true)?;
            }
        }
        Ok(())
    }

    /// The master gives a node up: its attempts count as killed, and its maps that reduces may still need run again.
    fn lose(&mut self, node: NodeId, at: Position) -> Result<(), Error> {
        self.world.settle_reports(at.0 - 1, NodeId(u32::MAX));
        for id in self.world.nodes[node.index()].runs.clone() {
            if self.world.yarn.is_some() {
                self.container_ended(id, at)?;
            } else {
                self.attempt_ended(id, at)?;
            }
        }
        self.lose_masters(node, at);
        for task in self.world.give_up(node) {
            self.world.map_lost(task);
            self.policy.task_returned(task, View { world: &self.world });
            self.plan_master(self.world.workload.job_of(task), at.0);
        }
        if self.world.cluster.config.nodes.copying_reduces > 0 {
            // Reduces that must fetch again make room for others.
            for node in self.world.cluster.node_ids() {
                self.world.plan_computing(node);
                self.plan(node, at, self.beat_after(node, at.0, at));
            }
        }
        self.world.keep_no_longer(node);
        self.policy.node_lost(node, View { world: &self.world });
        Ok(())
    }

    // Ticks.

    /// The tick to handle if it comes before `next`: of a row of idle ones only the last.
    fn due_tick(&mut self, next: Option<Position>) -> Option<Position> {
        let (period, due) = (self.policy.period()?, self.next_tick?);
        let idle = self.parking && self.ticked == (self.world.version, true);
        let mut due = due;
        if idle && self.policy.skips_idle_ticks(View { world: &self.world }) {
            let (at, class, _) = next?;
            let last = if self.classes.tick < class { at } else { at - 1 };
            due += (last - due).max(0) / period * period;
            self.next_tick = Some(due);
        }
        Some((due, self.classes.tick, 0))
    }

    fn tick(&mut self, at: Position) -> Result<(), Error> {
        self.next_tick = self.policy.period().map(|period| at.0 + period);
        let reported = if self.classes.heartbeat < self.classes.tick { (at.0, u32::MAX) } else { (at.0 - 1, u32::MAX) };
        self.world.settle_reports(reported.0, NodeId(reported.1));
        let unchanged = self.ticked.0 == self.world.version;
        self.policy.tick(View { world: &self.world }, &mut self.orders);
        for (name, job, value) in self.orders.decisions.drain(..) {
            self.observer.decided(&Decided { at: at.0, name, job, value })?;
        }
        let mut orders = std::mem::take(&mut self.orders.kills);
        for run in orders.drain(..) {
            self.order_kill(run, at)?;
        }
        self.orders.kills = orders;
        self.ticked = (self.world.version, unchanged && self.ticked.0 == self.world.version);
        Ok(())
    }

    fn order_kill(&mut self, id: RunId, at: Position) -> Result<(), Error> {
        if !self.world.is_on_node(id) {
            return Err(self.violation(Violation("kills an attempt that is on no node".to_owned())));
        }
        self.will_kill(id, at);
        Ok(())
    }

    fn will_kill(&mut self, id: RunId, at: Position) {
        let run = &mut self.world.runs[id.index()];
        if run.kill == Kill::No {
            run.kill = Kill::Ordered;
            let node = run.node;
            self.world.version += 1;
            self.schedule(node, self.beat_after(node, at.0, at));
        }
    }

    // Heartbeats.

    /// The first heartbeat of a node at `at` or later that comes after the event at `position`.
    fn beat_after(&self, node: NodeId, at: Ms, position: Position) -> Ms {
        let beat = self.world.beats.from(node, at);
        if (beat, self.classes.heartbeat, node.0) > position { beat } else { self.world.beats.from(node, beat + 1) }
    }

    fn schedule(&mut self, node: NodeId, at: Ms) {
        if at < self.next_beat[node.index()] && self.world.nodes[node.index()].health == Health::Up {
            self.next_beat[node.index()] = at;
            self.heap.push(Reverse((at, self.classes.heartbeat, node.0)));
        }
    }

    /// A heartbeat out of band is not sent if the attempt that would have ended then has been killed since.
    fn heartbeat_if_due(&mut self, node: NodeId, at: Position) -> Result<(), Error> {
        let next = self.beat_after(node, at.0, at);
        let runs = &self.world.nodes[node.index()].runs;
        let ended = |id: &RunId| self.world.runs[id.index()].end.is_some_and(|end| end <= at.0);
        let due = !self.world.cluster.config.heartbeat.out_of_band
            || self.world.beats.from(node, at.0) == at.0
            || runs.iter().any(ended);
        if self.world.yarn.is_some() {
            if due {
                self.container_heartbeat(node, at, next)?;
            }
            self.plan_containers(node, at, next);
        } else {
            if due {
                self.heartbeat(node, at, next)?;
            }
            self.plan(node, at, next);
        }
        Ok(())
    }

    fn heartbeat(&mut self, node: NodeId, at: Position, next: Ms) -> Result<(), Error> {
        self.world.settle_reports(at.0, node);
        self.take_reports(node, at)?;
        let view = View { world: &self.world };
        if view.free(node).0 != [0, 0] || self.policy.counts_heartbeats(view) {
            self.consult(node, at, next)?;
        }
        self.carry_out_kills(node)?;
        self.tell_reduces(node)
    }

    /// Applies what the node reports: attempts that ended, in launch order, and those that run.
    fn take_reports(&mut self, node: NodeId, at: Position) -> Result<(), Error> {
        let mut ended = std::mem::take(&mut self.ended);
        let mut running = [0; 2];
        for place in 0..self.world.nodes[node.index()].runs.len() {
            let id = self.world.nodes[node.index()].runs[place];
            let run = &self.world.runs[id.index()];
            if run.end.is_some_and(|end| end <= at.0) {
                ended.push(id);
            } else {
                running[run.kind.index()] += 1;
                self.world.mark_reported(id);
            }
        }
        self.world.nodes[node.index()].reported = running;
        for id in ended.drain(..) {
            self.attempt_ended(id, at)?;
        }
        self.ended = ended;
        Ok(())
    }

    fn attempt_ended(&mut self, id: RunId, at: Position) -> Result<(), Error> {
        let run = self.take_off(id)?;
        if self.world.jobs[run.job.index()].phase == JobPhase::Active { self.learn_end(&run, at) } else { Ok(()) }
    }

    /// Frees what an attempt that has ended held.
    fn take_off(&mut self, id: RunId) -> Result<Run, Error> {
        let mut run = self.world.release(id);
        let task = &mut self.world.tasks[run.task.index()];
        let counts = run.kill == Kill::No && !run.lost && task.phase == TaskPhase::Running && !task.won;
        task.won |= counts && run.course.outcome == Outcome::Success;
        if run.kill != Kill::Done && !run.lost {
            self.tell_end(&run, run.course.outcome, !counts)?;
        }
        run.unwanted = !counts;
        Ok(run)
    }

    /// The master of an active job learns how an attempt ended.
    fn learn_end(&mut self, run: &Run, at: Position) -> Result<(), Error> {
        let outcome = if run.unwanted { Outcome::Killed } else { run.course.outcome };
        match outcome {
            Outcome::Success => self.task_done(run, at),
            Outcome::Failed => self.world.attempt_failed(run),
            _ => {}
        }
        let task = &self.world.tasks[run.task.index()];
        if outcome == Outcome::Failed && task.failures >= self.world.cluster.config.jobs.max_attempts {
            self.policy.task_finished(&run.ended(outcome, self.world.workload), View { world: &self.world });
            self.end_job(run.job, Outcome::Failed)?;
            self.kill_rest(run.job, at);
            return Ok(());
        }
        if task.phase == TaskPhase::Running && task.live == 0 && !task.won {
            self.world.task_returned(run.task);
            self.policy.task_returned(run.task, View { world: &self.world });
        }
        self.policy.task_finished(&run.ended(outcome, self.world.workload), View { world: &self.world });
        if self.world.is_done(run.job) { self.end_job(run.job, Outcome::Success) } else { Ok(()) }
    }

    /// What still runs of a job that has failed is killed. (Under YARN its master sees to that.)
    fn kill_rest(&mut self, job: JobId, at: Position) {
        if self.world.yarn.is_some() || !self.world.cluster.config.jobs.kill_failed {
            return;
        }
        for kind in 0..2 {
            for place in 0..self.world.jobs[job.index()].runs[kind].len() {
                self.will_kill(self.world.jobs[job.index()].runs[kind][place], at);
            }
        }
    }

    /// The first attempt to succeed wins; the others at its task are killed.
    fn task_done(&mut self, run: &Run, at: Position) {
        let last_map = self.world.task_done(run);
        if self.world.tasks[run.task.index()].live > 0 {
            for place in 0..self.world.jobs[run.job.index()].runs[run.kind.index()].len() {
                let id = self.world.jobs[run.job.index()].runs[run.kind.index()][place];
                if self.world.runs[id.index()].task == run.task {
                    self.will_kill(id, at);
                }
            }
        }
        if last_map {
            self.maps_done(run.job, at);
        }
    }

    /// Tells how an attempt ended on its node; `unwanted` if the master does not count it, however it ended.
    fn tell_end(&mut self, run: &Run, outcome: Outcome, unwanted: bool) -> Result<(), Error> {
        let (shuffle_finish, sort_finish) = run.phases(outcome);
        self.observer.ended(&Ended {
            task: run.task,
            attempt: run.attempt,
            node: run.node,
            level: self.level_of(run),
            start: run.start,
            shuffle_finish,
            sort_finish,
            finish: run.end,
            outcome,
            discarded: unwanted && outcome == Outcome::Success,
            backup: run.backup,
        })
    }

    fn level_of(&self, run: &Run) -> Option<Locality> {
        let placed = run.kind == Kind::Map && !self.world.workload.replicas(run.task).is_empty();
        placed.then_some(run.level)
    }

    /// The last map of a job is done: its reduces can end now.
    fn maps_done(&mut self, job: JobId, at: Position) {
        for place in 0..self.world.jobs[job.index()].runs[Kind::Reduce.index()].len() {
            let id = self.world.jobs[job.index()].runs[Kind::Reduce.index()][place];
            let node = self.world.runs[id.index()].node;
            if self.fix_reduce_end(id) {
                let end = self.world.runs[id.index()].end.unwrap_or(at.0);
                self.schedule(node, self.beat_for_end(node, end, at));
            } else {
                self.schedule(node, self.beat_after(node, at.0, at));
            }
        }
    }

    /// Fixes when a reduce ends, if that can be told now. Returns whether it is known.
    fn fix_reduce_end(&mut self, id: RunId) -> bool {
        let run = &self.world.runs[id.index()];
        if run.kind == Kind::Map {
            return true;
        }
        let job = &self.world.jobs[run.job.index()];
        let end = self.cost.reduce_end(run.job, run.start, job.maps_done, &run.course, &job.fluid);
        if let (None, Some((shuffled, end))) = (run.end, end) {
            let run = &mut self.world.runs[id.index()];
            (run.shuffle_finish, run.end) = (Some(shuffled), Some(end));
            let node = run.node;
            self.world.plan_computing(node);
        }
        self.world.runs[id.index()].end.is_some()
    }

    /// The heartbeat that reports an attempt that ends at `end`.
    fn beat_for_end(&self, node: NodeId, end: Ms, at: Position) -> Ms {
        let out_of_band = self.world.cluster.config.heartbeat.out_of_band;
        if out_of_band && (end, self.classes.heartbeat, node.0) > at { end } else { self.beat_after(node, end, at) }
    }

    fn consult(&mut self, node: NodeId, at: Position, next_beat: Ms) -> Result<(), Error> {
        let mut offer =
            Offer { world: &mut self.world, cost: &mut self.cost, node, next_beat, launched: &mut self.launched };
        self.policy.heartbeat(&mut offer).map_err(|violation| self.violation(violation))?;
        let mut launched = std::mem::take(&mut self.launched);
        for id in launched.drain(..) {
            self.fix_reduce_end(id);
            self.tally.launches += 1;
            let run = &self.world.runs[id.index()];
            let (job, task, attempt) = (run.job, run.task, run.attempt);
            let (level, backup) = (self.level_of(run), run.backup);
            self.observer.launched(&Launched { at: at.0, task, attempt, node, level, backup })?;
            self.policy.task_started(&RunView::of(&self.world, id), View { world: &self.world });
            self.plan_taking_over(job, at);
        }
        self.launched = launched;
        Ok(())
    }

    /// Kills what was ordered to be killed and still runs; the next heartbeat reports it.
    fn carry_out_kills(&mut self, node: NodeId) -> Result<(), Error> {
        for place in 0..self.world.nodes[node.index()].runs.len() {
            let id = self.world.nodes[node.index()].runs[place];
            if self.world.runs[id.index()].kill == Kill::Ordered {
                self.kill_now(id)?;
            }
        }
        self.world.plan_computing(node);
        Ok(())
    }

    fn kill_now(&mut self, id: RunId) -> Result<(), Error> {
        let now = self.world.now;
        let run = &mut self.world.runs[id.index()];
        // One that was still being launched never ran.
        run.start = run.start.min(now);
        run.end = Some(now);
        let run = run.clone();
        self.world.leave_bench(id);
        self.tell_end(&run, Outcome::Killed, true)?;
        self.world.runs[id.index()].kill = Kill::Done;
        Ok(())
    }

    /// Model R0: the reduces that this heartbeat reported, of jobs whose maps are all done, start their reduce phase; there is
    /// no sort. One that is still being launched starts it at its start.
    fn tell_reduces(&mut self, node: NodeId) -> Result<(), Error> {
        if self.world.cluster.config.cost.reduce != ReduceModel::R0 {
            return Ok(());
        }
        for place in 0..self.world.nodes[node.index()].runs.len() {
            let id = self.world.nodes[node.index()].runs[place];
            if self.waits_for_word(&self.world.runs[id.index()]) && self.world.runs[id.index()].reported {
                let now = self.world.now;
                let run = &mut self.world.runs[id.index()];
                let shuffled = now.max(run.start);
                run.shuffle_finish = Some(shuffled);
                run.end = Some(shuffled + run.course.run);
                self.observer.told(now, run.task, run.attempt)?;
                self.world.plan_computing(node);
            }
        }
        Ok(())
    }

    /// Whether a reduce waits for its node to be told that all maps are done.
    fn waits_for_word(&self, run: &Run) -> bool {
        let job = &self.world.jobs[run.job.index()];
        run.end.is_none() && run.kind == Kind::Reduce && job.phase == JobPhase::Active && job.maps_done.is_some()
    }

    // Parking.

    /// When this node must call next: at its next heartbeat if it could get a task or has something to say or hear,
    /// else once an attempt has ended.
    fn plan(&mut self, node: NodeId, at: Position, next: Ms) {
        if self.world.yarn.is_some() {
            return self.plan_containers(node, at, next);
        }
        let mut first_end = NEVER;
        let mut awake = !self.parking || self.needs_node(self.find_needs(), node);
        for id in &self.world.nodes[node.index()].runs {
            let run = &self.world.runs[id.index()];
            awake |= run.kill != Kill::No || self.waits_for_word(run) || self.is_over(run, at);
            first_end = first_end.min(self.end_to_come(run, at));
        }
        let out_of_band = self.world.cluster.config.heartbeat.out_of_band;
        let beat = match first_end {
            // No earlier heartbeat could come than the next one, but for one out of band.
            _ if awake && !(out_of_band && first_end < next) => next,
            NEVER => return,
            end => self.beat_for_end(node, end, at),
        };
        self.schedule(node, beat);
    }

    /// Whether an attempt is over but too late for this event, if it is its node's heartbeat: the next one reports it.
    fn is_over(&self, run: &Run, at: Position) -> bool {
        run.end.is_some_and(|end| (end, self.classes.heartbeat, run.node.0) <= at)
    }

    /// When an attempt that runs will end, if that is known.
    fn end_to_come(&self, run: &Run, at: Position) -> Ms {
        run.end.filter(|_| !self.is_over(run, at)).unwrap_or(NEVER)
    }

    fn find_needs(&self) -> Needs {
        let restless = self.policy.restless(View { world: &self.world });
        let all = self.policy.counts_heartbeats(View { world: &self.world });
        if let Some(yarn) = &self.world.yarn {
            return Needs { any_slot: yarn.any_asked() || restless, all, ..Needs::default() };
        }
        Needs { maps: self.world.ready[0] > 0, reduces: self.world.ready[1] > 0, any_slot: restless, all }
    }

    fn needs_node(&self, needs: Needs, node: NodeId) -> bool {
        if self.world.yarn.is_some() {
            return self.needs_container_node(needs, node);
        }
        let free = self.world.nodes[node.index()].free;
        let fits = |kind| free.fits(self.world.cluster.demand(kind)) > 0;
        let by_kind = needs.maps && fits(Kind::Map) || needs.reduces && fits(Kind::Reduce);
        needs.all || by_kind || needs.any_slot && free.0 != [0, 0]
    }

    /// Wakes the nodes that this event has made needed.
    fn wake_for_needs(&mut self, at: Position) {
        let now = self.find_needs();
        let before = std::mem::replace(&mut self.needs, now);
        let rises = |need: fn(Needs) -> bool| need(now) && !need(before);
        let more = rises(|n| n.maps) || rises(|n| n.reduces) || rises(|n| n.any_slot) || rises(|n| n.all);
        if !(self.parking && more) {
            return;
        }
        for node in self.world.cluster.node_ids() {
            if self.needs_node(now, node) {
                let beat = self.beat_after(node, at.0, at);
                self.schedule(node, beat);
            }
        }
    }

    /// Tells of the attempts that are on nodes when the last job has ended.
    fn close(&mut self) -> Result<(), Error> {
        self.tally.end = self.world.now;
        if self.sampled < self.world.now {
            self.tell_use_at(self.world.now)?;
        }
        for node in self.world.cluster.node_ids() {
            for place in 0..self.world.nodes[node.index()].runs.len() {
                let id = self.world.nodes[node.index()].runs[place];
                let mut run = self.world.runs[id.index()].clone();
                if run.kill == Kill::Done || run.lost {
                    continue;
                }
                let over = run.end.is_some_and(|end| end <= self.world.now);
                run.end = run.end.filter(|_| over);
                // One that was still being launched never ran.
                run.start = run.start.min(self.world.now);
                let outcome = if over { run.course.outcome } else { Outcome::Incomplete };
                self.tell_end(&run, outcome, run.kill == Kill::Ordered)?;
            }
        }
        Ok(())
    }
}
