//! The loop of a replay.
//!
//! Three kinds of event move the clock: submissions (a sorted cursor), ticks of the policy (a counter) and heartbeats
//! ([`planned`]: one of each node at most); [`events`] finds the next one. The end of an attempt is not an event: the master learns
//! of it at the node's next heartbeat. So a node with nothing else to report sleeps until its first heartbeat after its
//! first end ([`parking`]). If nothing happens for a day, most heartbeats and ticks are left out ([`lull`]).
//!
//! Under YARN, heartbeats of application masters are events, too ([`containers`]). So are the ends of work under the
//! model `contention` ([`work`]), and failures of nodes ([`failures`]). When all jobs have ended, what still runs on nodes ends
//! ([`winding_down`]).

mod containers;
mod edges;
mod ends;
mod events;
mod failures;
mod heartbeats;
mod idle;
mod kills;
mod lull;
mod parking;
mod planned;
mod reasons;
mod ring;
mod stall;
mod ticks;
mod winding_down;
mod work;

use resched_tables::call::checkpoint;
use resched_tables::model::TaskKind;

use crate::Error;
use crate::bottlenecks::{Bottlenecks, Held};
use crate::error::Violation;
use crate::hadoop::cluster::Cluster;
use crate::hadoop::cost::{CostModel, Script};
use crate::hadoop::given::Given;
use crate::hadoop::kind::Kind;
use crate::hadoop::observer::Observer;
use crate::hadoop::policy::{Orders, Policy};
use crate::hadoop::system::System;
use crate::hadoop::view::View;
use crate::hadoop::workload::Workload;
use crate::hadoop::world::World;
use crate::ids::{AttemptId, JobId, Ms, NodeId};
use crate::reasons::Reasons;
use edges::arrivals;
use events::{Change, Classes, Event, Position};
use failures::changes;
use idle::Insists;
pub use lull::Lulls;
use parking::Needs;
use planned::Planned;

/// After 2 to the power of this many events, the engine looks whether it shall go on.
const LOOK: u32 = 10;

/// How to run a replay.
#[derive(Debug, Clone)]
pub struct Options {
    /// Keys all random draws.
    pub seed: u64,
    /// True if to leave out heartbeats and ticks that change nothing. Turn it off only to check that it makes no
    /// difference.
    pub parking: bool,
    /// True if to handle each heartbeat that is not left out by itself, though nothing can come of it. Turn it on only to check
    /// that it makes no difference, neither to the schedule nor to the number of events.
    pub one_by_one: bool,
    /// When nothing has happened for so long that most heartbeats and ticks are left out.
    pub lulls: Lulls,
    /// Attempt times and outcomes given by hand.
    pub script: Script,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 1, parking: true, one_by_one: false, lulls: Lulls::default(), script: Script::new() }
    }
}

/// The counts of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// Events: those that were handled, and the heartbeats of which nothing could come.
    pub events: u64,
    /// Attempts that were launched.
    pub launches: u64,
    /// Jobs that ended, successful or failed.
    pub jobs: u64,
    /// Jobs that failed although they succeeded in the trace.
    pub failed_unlike_log: u64,
    /// When the last job ended, ms.
    pub end: Ms,
    /// For how long each resource of the nodes was the bottleneck.
    pub bound: Bottlenecks,
}

/// Replays a workload on a cluster under a policy, until every job has ended and what then still runs has been stopped. Errors
/// name the policy by `name`. From time to time, `progress` gets the number of jobs that have ended.
///
/// # Errors
/// [`Error::PolicyViolation`] and [`Error::Stalled`]; [`Error::Config`] if the cluster has another system than the
/// policy or counts other resources ([`Cluster::for_policy`]); every error of the observer.
pub fn replay(
    workload: &Workload,
    cluster: &Cluster,
    (name, policy): (&str, &mut dyn Policy),
    options: &Options,
    observer: &mut dyn Observer,
    progress: &mut dyn FnMut(u64),
) -> Result<Tally, Error> {
    if cluster.system() != policy.system() {
        let (wanted, found) = (policy.system(), cluster.system());
        return Err(Error::Config(format!(
            "policy `{name}` schedules {wanted:?}; expected a cluster of that kind, found {found:?}"
        )));
    }
    let counted = cluster.config.containers.calculator;
    if cluster.system() == System::Containers && policy.calculator(counted) != counted {
        let wanted = policy.calculator(counted);
        return Err(Error::Config(format!(
            "policy `{name}` counts {wanted:?}; expected a cluster that was made for it (`Cluster::for_policy`)"
        )));
    }
    let mut engine = Engine::new(workload, cluster, name, policy, options, observer);
    engine.start();
    let (mut shown, mut looked) = (0, 0);
    while engine.tally.jobs < workload.jobs().len() as u64 {
        engine.pass_idle_heartbeats();
        engine.step()?;
        if engine.tally.events >> LOOK != looked {
            looked = engine.tally.events >> LOOK;
            engine.look(false)?;
        }
        if engine.tally.events >> 16 != shown {
            shown = engine.tally.events >> 16;
            progress(engine.tally.jobs);
        }
    }
    engine.tally_up()?;
    engine.wind_down()?;
    engine.look(true)?;
    engine.close()?;
    progress(engine.tally.jobs);
    Ok(engine.tally)
}

struct Engine<'a, 'w> {
    world: World<'w>,
    cost: CostModel<'w>,
    name: &'a str,
    policy: &'a mut dyn Policy,
    observer: &'a mut dyn Observer,
    classes: Classes,
    parking: bool,
    lulls: Lulls,
    /// The next heartbeat of each node and master that is not asleep.
    planned: Planned,
    /// True if nodes can be at rest.
    may_rest: bool,
    /// Until when each node has nothing to report or to hear, as far as is known; [`Ms::MIN`] if it may have.
    rests: Vec<Ms>,
    insists: Insists,
    /// The jobs in the order of their arrival, and the next one to arrive.
    arrivals: Vec<(Ms, JobId)>,
    next_job: usize,
    /// The changes of nodes, in order, and the next one to apply.
    changes: Vec<(Ms, Change, NodeId)>,
    next_change: usize,
    next_tick: Option<Ms>,
    /// Where the latest event stood that was not work.
    latest: Position,
    /// Up to when it was reported what nodes use (model `contention`).
    sampled: Ms,
    needs: Needs,
    /// `world.version` after the last tick, and whether that tick found and left the world unchanged.
    ticked: (u64, bool),
    /// `world.version`, and when something last started, ended or arrived.
    progressed: (u64, Ms),
    /// True if heartbeats or ticks were left out since then, because of a lull.
    thinned: bool,
    /// The `world.version` at which something was on a node that will end.
    ends_come: Option<u64>,
    given: Vec<Given>,
    /// Jobs whose masters' ends were reported by the heartbeat that is being handled.
    left: Vec<JobId>,
    ended: Vec<AttemptId>,
    orders: Orders,
    held: Held,
    tally: Tally,
    /// True if all jobs have ended: nothing is assigned any more.
    over: bool,
}

impl<'a, 'w> Engine<'a, 'w> {
    fn new(
        workload: &'w Workload,
        cluster: &'w Cluster,
        name: &'a str,
        policy: &'a mut dyn Policy,
        options: &'w Options,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let mut world = World::new(workload, cluster, options.seed);
        let masters = world.yarn.as_ref().map_or(0, |yarn| yarn.apps.len());
        let changes = changes(cluster, &world.beats);
        world.oracle = policy.is_oracle();
        world.follows_output = policy.follows_output() || world.bench.is_some();
        if observer.wants_reasons() {
            world.reasons = Reasons::wanted(workload.jobs().len(), [TaskKind::Map, TaskKind::Reduce]);
        }
        if policy.ramps_reduces() {
            world.ignore_slowstart();
        }
        let period = policy.period();
        let arrivals = arrivals(&world, workload, cluster);
        let classes = Classes::new(&arrivals, cluster, period);
        let planned = Planned::new(&world.beats, cluster, &classes, masters, options.one_by_one);
        // Under the model `contention` and where reduces that compute are planned anew, more than the starts and ends of its attempts
        // brings a node something to do.
        let plans_anew = world.bench.is_some() || cluster.config.nodes.copying_reduces > 0;
        let may_rest = options.parking && planned.are_regular() && !plans_anew;
        Self {
            cost: CostModel::new(workload, cluster, options.seed, &options.script),
            classes,
            next_tick: period.map(|period| world.now + period),
            latest: (Ms::MIN, 0, 0),
            sampled: world.now,
            world,
            name,
            policy,
            observer,
            parking: options.parking,
            lulls: options.lulls,
            planned,
            may_rest,
            rests: vec![Ms::MIN; cluster.nodes().len()],
            insists: Insists::default(),
            arrivals,
            next_job: 0,
            changes,
            next_change: 0,
            needs: Needs { all: !options.parking, ..Needs::default() },
            ticked: (0, false),
            progressed: (0, 0),
            ends_come: None,
            thinned: false,
            given: Vec::new(),
            left: Vec::new(),
            ended: Vec::new(),
            orders: Orders::default(),
            held: Held::default(),
            tally: Tally::default(),
            over: false,
        }
    }

    fn start(&mut self) {
        if !self.parking {
            for node in self.world.cluster.node_ids() {
                self.plan_call(node, self.world.beats.from(node, self.world.now));
            }
        }
    }

    /// Whether the replay shall go on: nobody has stopped it, and the policy can.
    fn look(&mut self, over: bool) -> Result<(), Error> {
        checkpoint();
        self.policy.check(View { world: &self.world }, over).map_err(|violation| self.violation(violation))
    }

    /// Handles the next event.
    fn step(&mut self) -> Result<(), Error> {
        let Some((at, event)) = self.next_event() else { return Err(self.stalled()) };
        self.report_use(at.0)?;
        self.world.now = at.0;
        self.held.advance(at.0);
        self.tally.events += 1;
        self.check_progress()?;
        let needs = self.handle(event, at)?;
        if matches!(event, Event::Work(_)) {
            self.retune();
            return Ok(());
        }
        self.note_held(at.0);
        self.report_reasons()?;
        self.retune();
        let needs = needs.unwrap_or_else(|| self.find_needs());
        self.wake_for_needs(at, needs);
        self.note_progress(at);
        Ok(())
    }

    /// Does what an event brings. Returns which nodes are needed after it, if that has been found.
    fn handle(&mut self, event: Event, at: Position) -> Result<Option<Needs>, Error> {
        let mut needs = None;
        match event {
            Event::Work(run) => {
                // It is done between two other events.
                self.work(run, if self.latest.0 == at.0 { self.latest } else { at });
                return Ok(None);
            }
            Event::Change(node, change) => {
                self.next_change += 1;
                self.change(node, change, at)?;
            }
            Event::Tick => self.tick(at)?,
            Event::Submission(job) => {
                self.next_job += 1;
                self.arrive(job)?;
            }
            Event::NodeHeartbeat(node) => {
                self.planned.take_node(node);
                needs = Some(self.heartbeat_if_due(node, at)?);
            }
            Event::MasterHeartbeat(job) => {
                self.planned.take_master(job);
                self.master_heartbeat(job, at)?;
            }
        }
        self.latest = at;
        Ok(needs)
    }

    /// Takes note of what keeps tasks waiting from now on. Time counts from the first job on.
    fn note_held(&mut self, now: Ms) {
        if self.next_job > 0 {
            self.held.set(now, self.world.held());
        }
    }

    /// For how long each resource was the bottleneck. One that no task takes is none.
    fn bottlenecks(&mut self) -> Bottlenecks {
        let world = &self.world;
        let takes = |kind: Kind| world.workload.jobs().iter().any(|job| job.count(kind) > 0);
        let names = match world.cluster.system() {
            System::Slots => [takes(Kind::Map).then_some("map-slots"), takes(Kind::Reduce).then_some("reduce-slots")],
            System::Containers => [Some("vcores"), Some("memory")],
        };
        let named = names.into_iter().enumerate().filter_map(|(place, name)| Some((place, name?.to_owned(), None)));
        let mut all = self.held.finish(self.tally.end, named);
        all.extend(self.world.bench.iter().flat_map(|bench| bench.bottlenecks()));
        all
    }

    fn violation(&self, violation: Violation) -> Error {
        Error::PolicyViolation { policy: self.name.to_owned(), at: self.world.now, what: violation.0 }
    }
}
