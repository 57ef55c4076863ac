//! Slurm's own scheduler: a main loop that starts jobs from the head of the queue, and a backfill scheduler that plans.
//!
//! **What it does.** Jobs wait in the order of their partition's tier, their priority and their submission. The *main loop* runs at most
//! every `batch_sched_delay` after something has changed; if nodes report the ends of jobs by themselves, also at each end. It starts jobs
//! from the head of the queue; the first of a partition that finds no room stops the rest of that partition, and the machines of that
//! partition take no other job in this run. The *backfill scheduler* runs every `bf_interval`. It goes through the queue once more and plans:
//! a job that finds room before any reservation starts; another gets a reservation, which closes all machines of its planned place, whole,
//! from its planned start to its limit. A plan is made anew in each run, so that no promise is kept. Only the backfill scheduler starts the
//! components of a heterogeneous job, all at once.
//!
//! **Source.** Runs of a real Slurm 22.05.8 and of 24.11.5, with the rules that they show (`docs/slurm.md`); slurm.conf(5)
//! of both; `job_scheduler.c` and `backfill.c`. [`conf::Rules`] has the rules that differ.
//!
//! **Decisions.** At which part of a second the main loop looks for work is drawn (`phase`), and when the first run of the backfill scheduler
//! comes (`bf_phase`), unless it is known that it ran in some second of the log (`bf_ran_at`). A run of a scheduler takes no time.
//! Components of a heterogeneous job get different machines, and none of them preempts; without backfill, they are jobs of their own.
//! Jobs that no machine of their partition could hold are passed over. A job that names no limit has that of its QOS, its association or its
//! partition, else a year; in a trace of another system, its logged run time. A job ends as logged, also if its limit is over before. A task of
//! a trace of another system is a job; a reservation is for one unit of it.

mod clock;
mod cluster;
mod conf;
mod fair_share;
mod idle;
mod kinds;
mod limits;
mod partitions;
mod place;
mod plan;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod planned_tests;
mod preempt;
mod priority;
mod quiet;
mod rank;
mod reservations;
mod running;
mod time_limit;
mod too_large;
mod version;
mod waiting;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use rand::RngExt;
use resched_sim::batch::{Ended, JobView, Needs, Offer, Policy, Then, View};
use resched_sim::{Ms, Resources, TaskId, Violation};
use resched_tables::draws::{Purpose, stream};
use resched_tables::model::{Outcome, Reason};

use self::clock::{Clock, Due, Periods};
use self::cluster::Cluster;
use self::conf::{Rules, Scheduler, Settings};
use self::idle::{find_idle, settings};
use self::limits::{Amounts, Counters};
use self::partitions::{Partition, Partitions};
use self::place::Places;
use self::plan::Plan;
use self::preempt::{Preemption, Room};
use self::priority::Priorities;
use self::quiet::Quiet;
use self::reservations::Reservations;
use self::running::{Running, Search, Start, Unit};
pub(crate) use self::too_large::{TooLarge, too_large};
pub(crate) use self::version::defaults_taken;
use self::waiting::{Queue, Taken, Waiting};
use crate::info::{Build, Family, PolicyInfo};
use crate::input::Input;
use crate::queues::slurm::SlurmConf;

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "slurm",
    title: "Slurm's own scheduler: a main loop and backfill with reservations of whole machines",
    source: "Slurm 22.05 and 24.11 (sched/backfill, sched/builtin, select/cons_tres)",
    family: Family::Batch,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[
        Input::Slurm,
        Input::Partitions,
        Input::PriorityWeights,
        Input::AccountShares,
        Input::Limits,
        Input::Preemption,
        Input::Reservations,
        Input::NodeWeights,
        Input::Features,
        Input::MachineCounts,
        Input::Exclusive,
        Input::Cycles,
    ],
    idle: find_idle,
    build: Build::Batch(|values, site| {
        Ok(Box::new(Slurm::new(settings(values, site)?, site.slurm.clone().unwrap_or_default())))
    }),
};

/// The framework of jobs that Slurm ran.
pub(crate) const FRAMEWORK: &str = "slurm";
/// A plan is tried at no more instants than this for one job.
const MOST_TRIES: usize = 10_000;

/// The policy.
struct Slurm {
    set: Settings,
    conf: SlurmConf,
    /// What is known once the replay has begun.
    begun: Option<Begun>,
    queue: Queue,
    running: Running,
    /// The last run of the backfill scheduler, its plan, and how many jobs of each partition have a reservation in it.
    quiet: Quiet,
    plan: Plan,
    reserved: Vec<u32>,
    /// Sets of machines that are filled anew for each job.
    sets: Sets,
}

/// Sets of machines of which one job needs one each.
#[derive(Debug, Default)]
struct Sets {
    open: FixedBitSet,
    /// The machines that an administrator has not reserved.
    unreserved: FixedBitSet,
    taken: FixedBitSet,
}

impl Sets {
    /// The machines of places.
    fn taken(&mut self, places: &Places, machines: usize) -> &FixedBitSet {
        self.taken.grow(machines);
        self.taken.clear();
        places.iter().for_each(|part| self.taken.insert_range(part.range()));
        &self.taken
    }
}

/// What is known once the replay has begun.
struct Begun {
    clock: Clock,
    cluster: Cluster,
    partitions: Partitions,
    priorities: Priorities,
    preemption: Preemption,
    reservations: Reservations,
    counters: Counters,
    /// The numbers of users.
    users: BTreeMap<String, u32>,
    /// The numbers of heterogeneous jobs.
    heterogeneous: BTreeMap<String, u32>,
    /// The numbers of arrays.
    arrays: BTreeMap<String, u32>,
    /// Tasks that are run again, and from when on.
    again: BTreeMap<TaskId, Ms>,
    /// The last submission: its instant, its number, and when the controller can notice it.
    last: Option<(Ms, String, Ms)>,
}

impl Slurm {
    fn new(set: Settings, conf: SlurmConf) -> Self {
        Self {
            set,
            conf,
            begun: None,
            queue: Queue::default(),
            running: Running::default(),
            quiet: Quiet::default(),
            plan: Plan::default(),
            reserved: Vec::new(),
            sets: Sets::default(),
        }
    }

    fn begin(&mut self, view: View<'_>) -> &mut Begun {
        let Self { set, conf, begun, .. } = self;
        begun.get_or_insert_with(|| {
            let mut draw = stream(view.seed(), Purpose::SchedulerPhase, &[]);
            let drawn = [draw.random_range(0..1_000), draw.random_range(0..set.bf_interval)];
            let backfill = (set.scheduler == Scheduler::Backfill).then_some(set.bf_interval);
            let (spacing, full, at_ends) = (set.batch_sched_delay, set.sched_interval, set.run_at_ends);
            let periods = Periods { spacing, full, backfill, at_ends };
            let cluster = Cluster::new(conf, view);
            let reservations = Reservations::new(conf, view);
            let zero = view.trace_time().saturating_sub(view.now());
            // The log has whole seconds.
            let in_period =
                |at: Ms| at.saturating_add(drawn[1] % 1_000).saturating_sub(zero).rem_euclid(set.bf_interval);
            let bf_phase = set.bf_phase.or(set.bf_ran_at.map(in_period)).unwrap_or(drawn[1]);
            let mut clock = Clock::new(periods, [set.phase.unwrap_or(drawn[0]), bf_phase]);
            reservations.changes().filter(|&at| at > view.now()).for_each(|at| clock.mark_ahead(at));
            Begun {
                clock,
                reservations,
                priorities: Priorities::new(set, conf, cluster.total_cpu(), view),
                preemption: Preemption::new(set, conf),
                cluster,
                partitions: Partitions::new(conf, view),
                counters: Counters::default(),
                users: BTreeMap::new(),
                heterogeneous: BTreeMap::new(),
                arrays: BTreeMap::new(),
                again: BTreeMap::new(),
                last: None,
            }
        })
    }

    /// A run of the main loop.
    fn main_loop(&mut self, full: bool, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let Some(begun) = &mut self.begun else { return Ok(()) };
        let depth = if full { usize::MAX } else { self.set.default_queue_depth as usize };
        let mut stopped = FixedBitSet::with_capacity(begun.partitions.len());
        // The job that stopped each partition, for those who want to know.
        let mut stopped_by = vec![None; begun.partitions.len()];
        let mut stopped_reservations = BTreeSet::new();
        // The machines of partitions that are stopped take nothing more; none are yet.
        let mut closed: Option<FixedBitSet> = None;
        let wants_reasons = offer.view().wants_reasons();
        let now = offer.view().now();
        for waiting in self.queue.known(now).take(depth) {
            if waiting.reservation.is_some_and(|name| stopped_reservations.contains(&name)) {
                offer.view().pass_over(waiting.task, Reason::Priority, None);
                continue;
            }
            if waiting.reservation.is_none() && stopped.contains(waiting.partition) {
                if wants_reasons {
                    offer.view().pass_over(waiting.task, Reason::Priority, stopped_by[waiting.partition]);
                } else if stopped.count_ones(..) == begun.partitions.len() {
                    break;
                }
                continue;
            }
            if waiting.together.is_some() {
                // It is for the backfill scheduler.
                offer.view().pass_over(waiting.task, Reason::Fit, None);
                stopped.insert(waiting.partition);
                stopped_by[waiting.partition] = Some(waiting.job);
                closed
                    .get_or_insert_with(|| FixedBitSet::with_capacity(begun.cluster.len()))
                    .union_with(begun.partitions.machines(waiting.partition));
                continue;
            }
            while offer.view().waiting(waiting.task) > 0 {
                if let Some(reason) = begun.stop(waiting) {
                    offer.view().pass_over(waiting.task, reason, None);
                    if self.set.assoc_limit_stop && reason != Reason::Fit {
                        stopped.insert(waiting.partition);
                    }
                    break;
                }
                let unreserved = begun.unreserved(waiting, now);
                let open = closed.as_ref().map(|closed| without(&unreserved, closed));
                let open = open.as_ref().unwrap_or(&unreserved);
                let free = begun.place_now(waiting, open).map(Room::from);
                let wanted = (waiting.rank, waiting.request.as_ref());
                let left = || begun.preemption.find(wanted, open, &self.running, &mut begun.cluster, now);
                if let Some(room) = free.or_else(left)
                    && start(waiting, room, begun, &mut self.running, offer)?
                {
                    continue;
                }
                let is_stopping = waiting.has_machines
                    && (begun.reservations.is_empty() || begun.cluster.could_hold(&waiting.request, &unreserved));
                let is_reserved = waiting.has_machines && !is_stopping;
                offer.view().pass_over(waiting.task, if is_reserved { Reason::Reserve } else { Reason::Fit }, None);
                if let Some(name) = waiting.reservation {
                    stopped_reservations.insert(name);
                } else if is_stopping {
                    stopped.insert(waiting.partition);
                    stopped_by[waiting.partition] = Some(waiting.job);
                    let closed = closed.get_or_insert_with(|| FixedBitSet::with_capacity(begun.cluster.len()));
                    closed.union_with(begun.partitions.machines(waiting.partition));
                }
                break;
            }
        }
        self.queue.keep(|task| offer.view().waiting(task) > 0);
        Ok(())
    }

    /// A run of the backfill scheduler.
    fn backfill(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let Some(begun) = &mut self.begun else { return Ok(()) };
        let (instant, now) = (offer.view().now(), whole_second(offer.view()));
        let known = || self.queue.known(instant).take(self.set.bf_max_job_test as usize);
        let state = begun.cluster.state();
        let waits = |task: &TaskId| offer.view().waiting(*task) > 0;
        let as_before = self.quiet.known(known().map(|waiting| waiting.task).filter(waits), state, now);
        if as_before.is_some_and(|known| known.is_all) {
            begun.clock.mark_backfill(instant);
            return Ok(());
        }
        let end = now.saturating_add(self.set.bf_window);
        match as_before {
            Some(_) => self.plan.move_to(now, end),
            None => {
                self.plan.clear(now, end, begun.cluster.len());
                self.reserved.clear();
            }
        }
        self.reserved.resize(begun.partitions.len(), 0);
        let same_until = begun.same_until(now, &self.running);
        let mut cycle = Cycle {
            set: &self.set,
            rules: self.set.rules(),
            instant,
            now,
            same_until: as_before.map_or(same_until, |known| same_until.min(known.until)),
            zero: offer.view().trace_time().saturating_sub(offer.view().now()),
            plan: &mut self.plan,
            sets: &mut self.sets,
            reserved: &mut self.reserved,
            tested: [vec![0; begun.partitions.len()], vec![0; begun.users.len()]],
            started: 0,
        };
        let planned = as_before.map_or(0, |known| known.jobs);
        // The components of heterogeneous jobs that could start now, and where.
        let mut components: BTreeMap<u32, Vec<(&Waiting, Room)>> = BTreeMap::new();
        let most = self.set.bf_max_job_test as usize;
        // The array of which a task has just started.
        let mut started_of = None;
        for (place, waiting) in self.queue.known(instant).enumerate() {
            if place >= most && (cycle.rules.count_tasks || started_of.is_none() || waiting.array != started_of) {
                break;
            }
            started_of = None;
            if !cycle.looks_at(waiting) || place < planned {
                continue;
            }
            while offer.view().waiting(waiting.task) > 0 && cycle.may_start_more() {
                if begun.stop(waiting).is_some() {
                    break;
                }
                let machines = (&begun.preemption, &begun.reservations, &mut begun.cluster);
                let room = match cycle.plan(waiting, &self.running, machines) {
                    Some(Planned::Now(room)) => room,
                    Some(Planned::At(start)) => {
                        cycle.reserve(waiting, &start, begun.cluster.len());
                        break;
                    }
                    None => break,
                };
                if let Some(whole) = waiting.together {
                    cycle.same_until = now;
                    cycle.hold(waiting, &room.places, begun.cluster.len());
                    components.entry(whole).or_default().push((waiting, room));
                    break;
                }
                let places = waiting.closes_its_machines().then(|| room.places.clone());
                if !start(waiting, room, begun, &mut self.running, offer)? {
                    break;
                }
                if let Some(places) = places {
                    cycle.close(waiting, &places, begun.cluster.len());
                }
                cycle.started += 1;
                started_of = waiting.array;
            }
        }
        let first_change = cycle.plan.first_change().unwrap_or(Ms::MAX);
        let until = (cycle.started == 0).then_some(cycle.same_until.min(first_change));
        let waits = |task: &TaskId| offer.view().waiting(*task) > 0;
        self.quiet.note(known().map(|waiting| waiting.task).filter(waits), state, until);
        for (whole, components) in components {
            let all = self.queue.jobs().iter().filter(|job| job.together == Some(whole)).count();
            if components.len() == all && begun.may_start_together(&components) {
                for (component, room) in components {
                    start(component, room, begun, &mut self.running, offer)?;
                }
            }
        }
        self.queue.keep(|task| offer.view().waiting(task) > 0);
        if !self.queue.is_empty() {
            begun.clock.mark_backfill(offer.view().now());
        }
        Ok(())
    }
}

/// What a run of the backfill scheduler does with a job.
#[derive(Debug)]
enum Planned {
    /// It starts there.
    Now(Room),
    /// It gets a reservation.
    At(Start),
}

/// What comes of a try.
enum Tried {
    Done(Option<Planned>),
    /// It is tried again at this instant.
    Again(Ms),
}

/// A run of the backfill scheduler.
struct Cycle<'a> {
    set: &'a Settings,
    rules: Rules,
    instant: Ms,
    /// The second in which it runs, ms.
    now: Ms,
    /// Until when, ms, no comparison with the time would come out differently, except those with the plan's first span.
    same_until: Ms,
    /// The time of the trace at 0 of the simulated clock, ms.
    zero: Ms,
    plan: &'a mut Plan,
    sets: &'a mut Sets,
    /// How many jobs of each partition have a reservation.
    reserved: &'a mut [u32],
    /// How many jobs of each partition and of each user it has looked at.
    tested: [Vec<u32>; 2],
    /// How many jobs it has started.
    started: u32,
}

impl Cycle<'_> {
    /// True if it looks at a job, given how many of its partition and its user it has looked at.
    fn looks_at(&mut self, waiting: &Waiting) -> bool {
        let most = [self.set.bf_max_job_part, self.set.bf_max_job_user];
        let places = [waiting.partition, waiting.user as usize];
        let counts = self.tested.iter_mut().zip(places).filter_map(|(counts, place)| counts.get_mut(place));
        let mut looks = true;
        for (count, most) in counts.zip(most) {
            *count += 1;
            looks &= most == 0 || *count <= most;
        }
        looks
    }

    /// True if it may start one more job.
    fn may_start_more(&self) -> bool {
        self.set.bf_max_job_start == 0 || self.started < self.set.bf_max_job_start
    }

    /// Where a job starts now, or where and when it gets a reservation; `None`: it gets none.
    fn plan(
        &mut self,
        waiting: &Waiting,
        running: &Running,
        (preemption, reservations, cluster): (&Preemption, &Reservations, &mut Cluster),
    ) -> Option<Planned> {
        let only_now = !self.may_reserve(waiting);
        // Later, its limit reaches into a plan that it does not reach into now.
        let reached = self.plan.next_begin(self.now.saturating_add(waiting.limit));
        self.same_until_at_most(reached.map(|begin| begin.saturating_sub(waiting.limit)));
        let mut from = self.now;
        let mut tries = 0;
        while tries < MOST_TRIES {
            let is_enough = |count| cluster.may_hold_on(&waiting.request, count);
            if reservations.is_empty()
                && (from > self.now || !preemption.is_possible())
                && let Some((later, left_out)) =
                    self.plan.too_few((from, from.saturating_add(waiting.limit)), &waiting.machines, is_enough)
            {
                from = later.filter(|_| !only_now)?;
                tries += left_out;
                continue;
            }
            tries += 1;
            match self.try_from((waiting, from, only_now), running, (preemption, reservations, &mut *cluster)) {
                Tried::Done(planned) => return planned,
                Tried::Again(later) => from = later,
            }
        }
        None
    }

    /// Tries a job at an instant, with the machines that are open for its limit then.
    fn try_from(
        &mut self,
        (waiting, from, only_now): (&Waiting, Ms, bool),
        running: &Running,
        (preemption, reservations, cluster): (&Preemption, &Reservations, &mut Cluster),
    ) -> Tried {
        let Rules { from_later, cut_bundles, overlap_first, next_slot, .. } = self.rules;
        let end = self.now.saturating_add(self.set.bf_window);
        let Sets { open, unreserved, .. } = &mut *self.sets;
        let limit = from.saturating_add(waiting.limit);
        unreserved.clone_from(&waiting.machines);
        let reserved = reservations.leave_open(waiting.reservation, from, limit, unreserved);
        let planned = self.plan.leave_open((from, limit), unreserved, open, next_slot);
        let later = [planned, reserved].into_iter().flatten().min();
        let again = || later.filter(|_| !only_now).map_or(Tried::Done(None), Tried::Again);
        // Behind the next change of the plan, it is tried with the machines that are open then.
        let until = if only_now { self.now } else { later.unwrap_or(end) };
        // A start behind that change matters only if its overlaps come first.
        let reach = if overlap_first && !cut_bundles && !only_now { end } else { until };
        if reach == end {
            // Later, it is planned for an end that is too far away now.
            let next = running.next_end(end);
            self.same_until_at_most(next.map(|next| next.saturating_sub(self.set.bf_window)));
        }
        let search = Search {
            now: self.now,
            zero: self.zero,
            from: if from_later { from } else { self.now },
            until: reach,
            cuts: cut_bundles,
            widen: Some(self.set.bf_window_linear).filter(|&widen| widen > 0),
        };
        let start = running.start_of(&waiting.request, &self.sets.open, search, cluster);
        let at = start.as_ref().map(|start| start.at.max(from));
        if from == self.now && at.is_none_or(|at| at > self.now) {
            let wanted = (waiting.rank, waiting.request.as_ref());
            if let Some(room) = preemption.find(wanted, &self.sets.open, running, cluster, self.instant) {
                return Tried::Done(Some(Planned::Now(room)));
            }
        }
        let (Some(start), Some(at)) = (start, at) else { return again() };
        if at <= self.now {
            return Tried::Done(Some(Planned::Now(start.places.into())));
        }
        if only_now {
            return Tried::Done(None);
        }
        let (begin, slot_end) = self.slot(waiting, at);
        self.note_edges([begin, slot_end]);
        let machines = self.sets.taken(&start.places, cluster.len());
        let overlaps = self.plan.overlaps(begin, slot_end, machines);
        if at > until && !(overlap_first && overlaps) {
            return again();
        }
        if overlaps || reservations.close(waiting.reservation, at, at.saturating_add(waiting.limit), machines) {
            // Its place overlaps with a reservation that begins before it ends.
            return match later {
                _ if at > from => Tried::Again(at),
                _ if overlap_first => Tried::Again(at.saturating_add(self.set.bf_resolution)),
                _ => again(),
            };
        }
        Tried::Done(Some(Planned::At(Start { at, ..start })))
    }

    /// From when to when a job that starts at an instant is reserved for.
    fn slot(&self, waiting: &Waiting, at: Ms) -> (Ms, Ms) {
        (self.rounded(at), self.rounded_end(at.saturating_add(waiting.limit)))
    }

    /// Closes the machines on which a job is planned to start.
    fn reserve(&mut self, waiting: &Waiting, start: &Start, machines: usize) {
        let (begin, end) = self.slot(waiting, start.at);
        self.plan.reserve(begin, end, self.sets.taken(&start.places, machines));
        self.reserved[waiting.partition] += 1;
    }

    /// Closes the machines on which a component of a heterogeneous job could start now, to the others for this cycle at least.
    fn hold(&mut self, waiting: &Waiting, places: &Places, machines: usize) {
        let shortest = self.now.saturating_add(self.set.bf_resolution);
        let end = self.rounded_end(self.now.saturating_add(waiting.limit)).max(shortest);
        self.plan.reserve(self.now, end, self.sets.taken(places, machines));
    }

    /// A job has started that has its machines for itself: the rest of the cycle finds them closed until its limit.
    fn close(&mut self, waiting: &Waiting, places: &Places, machines: usize) {
        let end = self.rounded_end(self.now.saturating_add(waiting.limit));
        if end > self.now {
            self.plan.reserve(self.now, end, self.sets.taken(places, machines));
        }
    }

    /// From an instant on, if any, a comparison with the time comes out differently.
    fn same_until_at_most(&mut self, at: Option<Ms>) {
        self.same_until = self.same_until.min(at.unwrap_or(Ms::MAX));
    }

    /// A reservation begins and ends then. What is beyond the end of the plan will be within it later.
    fn note_edges(&mut self, edges: [Ms; 2]) {
        let window = self.set.bf_window;
        let beyond = edges.into_iter().filter(|&at| at >= self.now.saturating_add(window)).min();
        self.same_until_at_most(beyond.map(|at| at.saturating_sub(window).saturating_add(1)));
    }

    /// True if a job that does not start now gets a reservation.
    fn may_reserve(&mut self, waiting: &Waiting) -> bool {
        let most = self.set.reservations;
        let is_old = self.now.saturating_sub(waiting.since).max(0) >= self.set.bf_min_age_reserve;
        self.same_until_at_most((!is_old).then_some(waiting.since.saturating_add(self.set.bf_min_age_reserve)));
        (most == 0 || self.reserved[waiting.partition] < most)
            && is_old
            && waiting.priority >= i64::from(self.set.bf_min_prio_reserve)
    }

    /// An instant on the grid of the clock of the trace, rounded down.
    fn rounded(&self, at: Ms) -> Ms {
        at.saturating_sub(at.saturating_add(self.zero).rem_euclid(self.set.bf_resolution))
    }

    /// The end of a reservation on that grid.
    fn rounded_end(&self, at: Ms) -> Ms {
        let whole = if self.rules.round_up { self.set.bf_resolution - 1 } else { 0 };
        self.rounded(at.saturating_add(whole))
    }
}

impl Begun {
    /// A task as the schedulers see it.
    fn as_waiting(&mut self, (set, conf): (&Settings, &SlurmConf), task: TaskId, since: Ms, view: View<'_>) -> Waiting {
        let (entry, needs, job) = (view.task(task), view.needs(task), view.job(view.task(task).job));
        let partition = self.partitions.of(job.queue);
        let machines = self.partitions.with_features(partition, &needs.features);
        let about = self.partitions.get(partition);
        let limit = limit((set, conf), task, about, view);
        let instances = if entry.gang { entry.instances } else { 1 };
        let all = entry.demand.times(instances.into());
        let request = Rc::new(self.cluster.request(instances, entry.demand, needs, about.exclusive));
        let has_machines = self.cluster.could_hold(&request, &machines);
        let amounts = amounts(all, instances, needs);
        let claims = self.counters.claims(conf, job, job.queue, (&amounts, limit));
        let logged = self.priorities.logged(partition, job);
        let standing = self.priorities.standing((job, logged), about, conf, (needs.machines.unwrap_or(1), all.cpu));
        let next = self.users.len() as u32;
        let user = *self.users.entry(job.user.to_owned()).or_insert(next);
        let next = self.heterogeneous.len() as u32;
        let is_component = !job.together.is_empty() && set.scheduler == Scheduler::Backfill;
        let together = is_component.then(|| *self.heterogeneous.entry(job.together.to_owned()).or_insert(next));
        Waiting {
            task,
            job: entry.job,
            together,
            request,
            partition,
            machines,
            has_machines,
            limit,
            since,
            tier: about.tier,
            priority: self.priorities.of(&standing, since, view.now()),
            standing,
            rank: self.preemption.rank(about, job.qos, conf),
            user,
            array: self.array_of(job),
            reservation: self.reservations.named(job.reservation),
            taken: Rc::new(Taken { claims, amounts }),
        }
    }

    /// The number of the array that a job is a task of.
    fn array_of(&mut self, job: JobView<'_>) -> Option<u32> {
        let (whole, _) = job.id.split_once('_').filter(|_| job.framework == Some(FRAMEWORK))?;
        let next = self.arrays.len() as u32;
        Some(*self.arrays.entry(whole.to_owned()).or_insert(next))
    }

    /// When the controller can notice a job that is submitted now. All tasks of an array are one submission, as are the components of a
    /// heterogeneous job.
    fn submitted(&mut self, task: TaskId, view: View<'_>) -> Ms {
        let job = view.job(view.task(task).job);
        let Some((whole, _)) = job.id.split_once(['_', '+']).filter(|_| job.framework == Some(FRAMEWORK)) else {
            return noticed(Change::Submission, task, view);
        };
        let (now, known) = (view.now(), self.last.take());
        let known = known.filter(|(at, of, _)| *at == now && of == whole);
        let change = known.unwrap_or_else(|| (now, whole.to_owned(), noticed(Change::Submission, task, view)));
        self.last.insert(change).2
    }

    /// The machines of a job that no reservation closes to it if it starts now.
    fn unreserved<'w>(&self, waiting: &'w Waiting, now: Ms) -> Cow<'w, FixedBitSet> {
        if self.reservations.is_empty() {
            return Cow::Borrowed(waiting.machines.as_ref());
        }
        let mut open = waiting.machines.as_ref().clone();
        self.reservations.leave_open(waiting.reservation, now, now.saturating_add(waiting.limit), &mut open);
        Cow::Owned(open)
    }

    /// Until when no comparison of the backfill scheduler with the end of a unit comes out differently than now, ms. Places of others and
    /// reservations of an administrator depend on the time in more ways: then, each run counts.
    fn same_until(&self, now: Ms, running: &Running) -> Ms {
        if self.preemption.is_possible() || !self.reservations.is_empty() {
            return now;
        }
        // What runs beyond its limit is about to end in the next second, whenever that is.
        running.next_end(Ms::MIN).map_or(Ms::MAX, |end| end.saturating_sub(1_000))
    }

    /// Where a job starts now, if it finds room on these machines.
    fn place_now(&mut self, waiting: &Waiting, machines: &FixedBitSet) -> Option<Places> {
        if !self.cluster.may_start(&waiting.request, 0) {
            return None;
        }
        self.cluster.look_ahead(&waiting.request);
        self.cluster.place(&waiting.request, machines)
    }

    /// What stops a job whatever machines are free.
    fn stop(&self, waiting: &Waiting) -> Option<Reason> {
        let licenses = (!self.cluster.has_licenses(&waiting.request)).then_some(Reason::Fit);
        self.counters.reason(&waiting.taken.claims, &waiting.taken.amounts).or(licenses)
    }

    /// True if limits and licences let all components of a heterogeneous job start, and none takes the place of another job.
    fn may_start_together(&mut self, components: &[(&Waiting, Room)]) -> bool {
        let mut started = 0;
        for (component, room) in components {
            if !room.leave.is_empty() || self.stop(component).is_some() {
                break;
            }
            self.counters.start(&component.taken.claims, &component.taken.amounts);
            self.cluster.take_licenses(&component.request);
            started += 1;
        }
        for (component, _) in components.iter().take(started) {
            self.counters.end(&component.taken.claims, &component.taken.amounts);
            self.cluster.give_licenses(&component.request);
        }
        started == components.len()
    }

    /// A unit loses its machines now.
    fn evict(&mut self, unit: &Unit, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let now = offer.view().now();
        if let Some(then) = unit.rank.then {
            offer.evict(unit.run, then)?;
            if then == Then::Again {
                self.again.insert(unit.task, self.preemption.eligible(now));
            }
        }
        self.end(unit, now);
        Ok(())
    }

    /// A unit has ended, as the controller notices.
    fn end(&mut self, unit: &Unit, now: Ms) {
        self.cluster.end(&unit.request, &unit.held.places);
        self.counters.end(&unit.taken.claims, &unit.taken.amounts);
        self.priorities.change(&unit.standing, -unit.request.cpu(), now);
    }
}

/// The longest that a job may run, ms.
fn limit((set, conf): (&Settings, &SlurmConf), task: TaskId, partition: &Partition, view: View<'_>) -> Ms {
    let job = view.job(view.task(task).job);
    let named = time_limit::named(conf, job, [partition.default_time, partition.max_time]);
    let limit = named.unwrap_or_else(|| view.estimate(task));
    let limit = if set.limit_accuracy > 0.0 { view.better_limit(task, limit, set.limit_accuracy) } else { limit };
    time_limit::rounded(set, limit)
}

/// Starts a unit of a job, once those have left whose place it takes. Returns whether it has started: it waits for those that may run on.
fn start(
    waiting: &Waiting,
    room: Room,
    begun: &mut Begun,
    running: &mut Running,
    offer: &mut Offer<'_, '_>,
) -> Result<bool, Violation> {
    let now = offer.view().now();
    let mut has_room = true;
    for id in room.leave {
        let (grace, leaves) = running.get(id).map_or((0, false), |unit| (unit.rank.grace, unit.leaves));
        if grace > 0 {
            has_room = false;
            if !leaves {
                let until = now.saturating_add(grace);
                running.leave(id, until);
                begun.clock.end(until);
            }
        } else if let Some(unit) = running.take(id) {
            begun.evict(&unit, offer)?;
        }
    }
    if !has_room {
        return Ok(false);
    }
    let places = begun.cluster.as_nodes(&room.places);
    let run = offer.start_on(waiting.task, &places)?;
    begun.cluster.start(&waiting.request, &places);
    let end = whole_second(offer.view()).saturating_add(waiting.limit);
    begun.counters.start(&waiting.taken.claims, &waiting.taken.amounts);
    begun.priorities.change(&waiting.standing, waiting.request.cpu(), now);
    let (request, taken) = (Rc::clone(&waiting.request), Rc::clone(&waiting.taken));
    let (task, standing, rank) = (waiting.task, waiting.standing, waiting.rank);
    let unit = Unit {
        run,
        task,
        request,
        held: places.into(),
        start: now,
        end,
        taken,
        standing,
        rank,
        is_over: false,
        leaves: false,
    };
    running.add(unit);
    Ok(true)
}

/// What a unit takes of limits.
fn amounts(all: Resources, instances: u32, needs: &Needs) -> Amounts {
    let of_all = |(name, amount): &(Arc<str>, u64)| (Arc::clone(name), amount.saturating_mul(instances.into()));
    let mut resources: Vec<(Arc<str>, u64)> = needs.resources.iter().map(of_all).collect();
    resources.extend(needs.licenses.iter().cloned());
    resources.extend((all.memory > 0).then(|| (Arc::from("mem"), all.memory)));
    Amounts { cpus: all.cpu.div_ceil(1_000), nodes: needs.machines.unwrap_or(1).into(), resources }
}

/// What changes the queue or the machines.
#[derive(Debug, Clone, Copy)]
enum Change {
    Submission,
    End { start: Ms },
}

/// When the controller can notice a change that happens now. Logs have whole seconds: at which part of its second a job was submitted
/// is drawn, and so is by which part of a second it ended earlier or later than the log says.
fn noticed(change: Change, task: TaskId, view: View<'_>) -> Ms {
    let now = view.now();
    let (is_exact, of) = match change {
        Change::Submission => (view.trace_time().rem_euclid(1_000) != 0, 0..1_000),
        Change::End { start } => (now.saturating_sub(start).rem_euclid(1_000) != 0, -500..500),
    };
    if is_exact {
        return now;
    }
    let kind = matches!(change, Change::End { .. });
    let mut draw = stream(view.seed(), Purpose::SchedulerPhase, &[task.index() as u64, kind.into()]);
    now.saturating_add(draw.random_range(of).max(0))
}

/// The second in which it is, on the clock of the trace: Slurm counts in seconds.
fn whole_second(view: View<'_>) -> Ms {
    view.now().saturating_sub(view.trace_time().rem_euclid(1_000))
}

fn without(machines: &FixedBitSet, closed: &FixedBitSet) -> FixedBitSet {
    let mut open = machines.clone();
    open.difference_with(closed);
    open
}

impl Policy for Slurm {
    fn has_limits(&self) -> bool {
        !self.conf.qos.is_empty() || !self.conf.associations.is_empty()
    }

    fn task_waits(&mut self, task: TaskId, view: View<'_>) {
        let has_queue = !self.queue.is_empty();
        let begun = self.begin(view);
        if !has_queue {
            begun.clock.catch_up(view.now());
        }
        let again = begun.again.remove(&task);
        let since = again.unwrap_or_else(|| begun.submitted(task, view));
        begun.clock.mark(since);
        let Self { set, conf, begun: Some(begun), queue, .. } = self else { return };
        queue.add(begun.as_waiting((set, conf), task, since, view));
    }

    fn task_finished(&mut self, ended: &Ended, view: View<'_>) {
        let has_queue = !self.queue.is_empty();
        let begun = self.begin(view);
        if !has_queue {
            begun.clock.catch_up(view.now());
        }
        if ended.outcome == Outcome::Lost {
            begun.again.insert(ended.task, begun.preemption.eligible(view.now()));
        }
        let at = noticed(Change::End { start: ended.start }, ended.task, view);
        begun.clock.end(at);
        self.running.end(ended.run, at);
    }

    fn nodes_changed(&mut self, view: View<'_>) {
        let begun = self.begin(view);
        begun.cluster.refresh(view);
        begun.clock.mark(view.now());
        let Self { begun: Some(begun), queue, .. } = self else { return };
        queue.set_machines(|job| begun.cluster.could_hold(&job.request, &job.machines));
    }

    fn alarm(&self) -> Option<Ms> {
        let begun = self.begun.as_ref().filter(|_| !self.queue.is_empty())?;
        begun.clock.next()
    }

    fn draws(&self) -> bool {
        true
    }

    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let now = offer.view().now();
        let Some(begun) = self.begun.as_mut().filter(|_| !self.queue.is_empty()) else { return Ok(()) };
        let due = begun.clock.take(now);
        if due == Due::default() {
            return Ok(());
        }
        while let Some(unit) = self.running.next_ended(now) {
            begun.end(&unit, now);
        }
        while let Some(unit) = self.running.next_leaving(now) {
            begun.evict(&unit, offer)?;
        }
        if begun.priorities.is_time(now) {
            self.quiet = Quiet::default();
            self.queue.set_priorities(|job| begun.priorities.of(&job.standing, job.since, now));
        }
        if let Some(full) = due.main {
            self.main_loop(full, offer)?;
        }
        if due.backfill {
            self.backfill(offer)?;
        }
        Ok(())
    }
}
