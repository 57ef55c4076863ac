//! DRESS for tasks that request processor and memory: a changing part of the machines is kept for jobs with small
//! demands (`docs/model/dress.md`).
//!
//! **What it does.** A job that requests more than a share θ of the machines is large; any other job is small. Small
//! jobs may hold a share δ, large jobs the rest. A job starts when its category has room for all that it asks for first.
//! Within a category, jobs start in the order of submission, or the smallest first while both categories are short; the
//! tasks of those that were admitted start in the order of submission. Every tick moves δ. The move depends on the
//! resources that each category requests, has free, and is expected to release soon. The rules are those of
//! [`crate::hadoop::papers::dress`]: its whole requests, its phases and its Algorithm 3.
//!
//! **Source.** DRESS (Mao et al.), §IV-C, Equations 1 to 9, Algorithms 1 to 3, with the corrections in
//! `docs/model/dress.md`.
//!
//! **Decisions.** DRESS counts containers. This policy counts dominant shares of all that the machines offer: for a
//! job's demand, for the resources that a category holds, and for the free resources (1 less the dominant share of the
//! used resources). Processor and memory count, as in the paper; named resources such as GPUs hold tasks back, but are in no
//! share. A job's demand is the request of its first stages at submission. What it asks for later is granted
//! task by task. The expected release of a phase counts as that number of average running tasks of the job. A category
//! that holds nothing may always run one task. A job that asks for more than its category may ever hold starts when
//! nobody else of its category runs. The tick is longer than in DRESS, because these traces last for weeks.

use std::collections::BTreeSet;

use resched_sim::batch::{Ended, Offer, Orders, Policy, View};
use resched_sim::{JobId, Ms, Resources, TaskId, Violation};
use resched_tables::model::Reason;

use super::queue::Queue;
use crate::error::Error;
use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::parts::by_id::{ByJob, ByRun, ByTask};
use crate::parts::dress::delta::{Category, DeltaRules, LARGE, SMALL};
use crate::parts::dress::parameters::{
    Bounds, CAP_TRANSFER, DELTA, DELTA_MAX, DELTA_MIN, ORDER, Order, PW, RELEASE, TE, TS, WHOLE,
};
use crate::parts::dress::phases::{Counted, PhaseRules, Phases, ReleaseMode, Start};
use crate::parts::whole_requests::{Next, Room, WholeRequests};
use crate::settings::settings;

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "batch-dress",
    title: "DRESS: a part of the machines is kept for small jobs",
    source: "DRESS, Algorithms 1 to 3",
    family: Family::Batch,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[],
    idle: ALL_ACT,
    build: Build::Batch(|values, _| Ok(Box::new(BatchDress::new(&Settings::read(values)?)?))),
};

settings! {
    /// What you can set.
    struct Settings {
        /// share of the machines beyond which a job is large (θ)
        theta: f64 = "theta" { default: 0.1, range: 0..=1 },
        delta: f64 = DELTA,
        delta_min: Option<f64> = DELTA_MIN,
        delta_max: Option<f64> = DELTA_MAX,
        whole: bool = WHOLE,
        order: Order = ORDER,
        cap_transfer: bool = CAP_TRANSFER,
        pw: Ms = PW,
        ts: u32 = TS,
        te: u32 = TE,
        release: ReleaseMode = RELEASE,
        /// time between two moves of δ
        tick: Ms = "tick" { default: 10000, range: 1..=86_400_000, unit: "ms" },
    }
}

/// The share of the machines that each category always has, unless something else is set.
const UNIT: f64 = 0.01;

/// Shares are added up in floating point: what is over a limit by so little is not.
const HAIR: f64 = 1e-9;

/// The policy.
#[derive(Debug)]
struct BatchDress {
    theta: f64,
    delta: f64,
    /// δ as it was last reported.
    given: Option<f64>,
    rules: DeltaRules,
    phase_rules: PhaseRules,
    release: ReleaseMode,
    tick: Ms,
    order: Order,
    /// Which of the jobs that wait for whole requests is next.
    next: Next,
    /// These jobs; `None`: tasks start one by one.
    whole: Option<WholeRequests<Resources>>,
    queues: [Queue; 2],
    used: [Resources; 2],
    /// Tasks that wait and have not been put into a queue yet.
    fresh: Vec<TaskId>,
    /// Jobs whose category has not been reported yet.
    unreported: Vec<JobId>,
    jobs: ByJob<Own>,
    /// Jobs that a tick must look at: they ask for something, or their phases may change or release. Of most jobs neither is true
    /// from the first tick after their start to their end.
    watched: BTreeSet<JobId>,
    /// How many units of each task count in what its job asks for.
    counted: ByTask<u32>,
    starts: ByRun<Option<Start>>,
    /// Room for the pending demands of both categories.
    categories: [Category; 2],
    /// True if the last tick moved nothing, no phase of a job will change by itself, and nothing has happened since.
    still: bool,
}

/// What is known of a job.
#[derive(Debug, Default)]
struct Own {
    category: Option<usize>,
    asked: Resources,
    used: Resources,
    running: u32,
    /// Its tasks, while it waits for its whole request.
    held: Vec<TaskId>,
    phases: Phases,
}

impl BatchDress {
    fn new(settings: &Settings) -> Result<Self, Error> {
        let (min, max) = Bounds::new(settings.delta, settings.delta_min, settings.delta_max)?.of(UNIT);
        Ok(Self {
            theta: settings.theta,
            delta: settings.delta,
            given: None,
            rules: DeltaRules { total: 1.0, min, max, cap_transfer: settings.cap_transfer },
            phase_rules: PhaseRules {
                window: settings.pw,
                starts: settings.ts,
                ends: settings.te,
                counted: Counted::Starts,
            },
            release: settings.release,
            tick: settings.tick,
            order: settings.order,
            next: Next::Earliest,
            whole: settings.whole.then(WholeRequests::default),
            queues: [Queue::new(false), Queue::new(false)],
            used: [Resources::NONE; 2],
            fresh: Vec::new(),
            unreported: Vec::new(),
            jobs: ByJob::default(),
            watched: BTreeSet::new(),
            counted: ByTask::default(),
            starts: ByRun::default(),
            categories: Default::default(),
            still: false,
        })
    }

    /// Counts what waits of a task anew.
    fn count(&mut self, task: TaskId, view: View<'_>) {
        let before = std::mem::replace(&mut self.counted[task], view.waiting(task));
        self.still &= before == view.waiting(task);
        let (spec, state) = (view.task(task), &mut self.jobs[view.task(task).job]);
        let of = |units: u32| spec.unit().times(u64::from(units));
        state.asked = state.asked.plus(of(view.waiting(task))).minus(of(before));
        self.watched.insert(spec.job);
    }

    /// Sorts new tasks: those of a job that waits for its whole request are held back, the others join the queue of the job's
    /// category, which is known when all of the first tasks are.
    fn settle(&mut self, view: View<'_>) {
        let fresh = std::mem::take(&mut self.fresh);
        for &task in &fresh {
            self.classify(view.task(task).job, view.total());
        }
        for task in fresh {
            let job = view.task(task).job;
            match (&self.whole, self.jobs[job].category) {
                (Some(whole), _) if whole.waits(job) => self.jobs[job].held.push(task),
                (_, Some(category)) => self.queues[category].add(task, view),
                (_, None) => {}
            }
        }
    }

    /// Gives a job its category, if it has none, and makes it wait for its whole request.
    fn classify(&mut self, job: JobId, total: Resources) {
        let state = &mut self.jobs[job];
        if state.category.is_some() {
            return;
        }
        let share = state.asked.dominant_share(total);
        let category = if share > self.theta + HAIR { LARGE } else { SMALL };
        state.category = Some(category);
        self.unreported.push(job);
        if let Some(whole) = &mut self.whole {
            whole.put(job, category, state.asked, (share / HAIR) as u64);
        }
    }

    /// Admits as many jobs as there is room for.
    fn admit(&mut self, view: View<'_>) {
        let limits = self.limits();
        let Some(whole) = &mut self.whole else { return };
        for category in [SMALL, LARGE] {
            let limit = view.total().scaled(limits[category] + HAIR);
            while let Some(job) = whole.next(category, self.next) {
                let room = Room { used: self.used[category], limit, free: view.free() };
                if !whole.admit(job, room) {
                    let reason = if whole.fits_beyond(job, room) { Reason::Reserve } else { Reason::None };
                    self.jobs[job].held.iter().take(1).for_each(|&task| view.pass_over(task, reason, None));
                    break;
                }
                self.still = false;
                for task in std::mem::take(&mut self.jobs[job].held) {
                    self.queues[category].add(task, view);
                }
            }
        }
    }

    /// Takes down what each category asks for and is expected to release. Jobs of which the next ticks would take down nothing are
    /// left out until something happens to them. Returns whether no phase of the others will change by itself.
    fn survey(&mut self, view: View<'_>) -> bool {
        let mut quiet = true;
        for category in &mut self.categories {
            category.pending.clear();
            category.releases = 0.0;
        }
        self.watched.retain(|&job| {
            let state = &mut self.jobs[job];
            let Some(category) = state.category.map(|place| &mut self.categories[place]) else { return false };
            let due = self.whole.as_ref().map_or(Resources::NONE, |whole| whole.due(job));
            let asked = state.asked.minus(due);
            state.phases.tick(view.now(), state.asked != Resources::NONE, &self.phase_rules);
            if state.running > 0 {
                let each = state.used.dominant_share(view.total()) / f64::from(state.running);
                category.releases += each * state.phases.releases(view.now(), self.tick, self.release);
            }
            let share = asked.dominant_share(view.total());
            category.pending.extend(Some(share).filter(|&share| share > 0.0));
            let is_quiet = state.phases.are_quiet(&self.phase_rules);
            quiet &= is_quiet;
            asked != Resources::NONE || !is_quiet
        });
        quiet
    }

    /// The shares that the categories may hold.
    fn limits(&self) -> [f64; 2] {
        [self.delta, 1.0 - self.delta]
    }

    /// True if a category may take so much more.
    fn may_take(&self, category: usize, unit: Resources, total: Resources) -> bool {
        let used = self.used[category];
        used == Resources::NONE || used.plus(unit).dominant_share(total) <= self.limits()[category] + HAIR
    }

    /// True if a job may start one more task: because it is due to it, or its category may take it.
    fn may_start(&self, job: JobId, category: usize, unit: Resources, total: Resources) -> bool {
        let is_due = self.whole.as_ref().is_some_and(|whole| whole.due(job).holds(unit));
        is_due || self.may_take(category, unit, total)
    }

    /// Starts units of a task while its job may start them and they find room.
    fn start(&mut self, task: TaskId, category: usize, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let spec = *offer.view().task(task);
        while offer.view().waiting(task) > 0 && self.may_start(spec.job, category, spec.unit(), offer.view().total()) {
            offer.start(task, 1)?;
            let Some(run) = offer.latest().next() else { break };
            if let Some(whole) = &mut self.whole {
                whole.grant(spec.job, spec.unit());
            }
            self.used[category] = self.used[category].plus(spec.unit());
            let state = &mut self.jobs[spec.job];
            state.used = state.used.plus(spec.unit());
            state.running += 1;
            self.starts[run] = Some(state.phases.start(offer.view().now()));
        }
        if offer.view().waiting(task) > 0 && !self.may_start(spec.job, category, spec.unit(), offer.view().total()) {
            offer.view().pass_over(task, Reason::Reserve, None);
        }
        self.count(task, offer.view());
        Ok(())
    }
}

impl Policy for BatchDress {
    fn job_finished(&mut self, job: JobId, _view: View<'_>) {
        self.still = false;
        self.watched.remove(&job);
        self.jobs[job].phases = Phases::default();
        if let Some(whole) = &mut self.whole {
            whole.remove(job);
        }
    }

    fn task_waits(&mut self, task: TaskId, view: View<'_>) {
        self.count(task, view);
        self.fresh.push(task);
    }

    fn task_finished(&mut self, ended: &Ended, view: View<'_>) {
        self.still = false;
        let task = view.task(ended.task);
        let state = &mut self.jobs[task.job];
        state.used = state.used.minus(task.unit());
        state.running = state.running.saturating_sub(1);
        self.watched.insert(task.job);
        if let Some(category) = state.category {
            self.used[category] = self.used[category].minus(task.unit());
        }
        if let Some(start) = self.starts.take(ended.run) {
            state.phases.end(start, view.now());
        }
    }

    fn nodes_changed(&mut self, _view: View<'_>) {
        self.still = false;
    }

    fn period(&self) -> Option<Ms> {
        Some(self.tick)
    }

    fn skips_idle_ticks(&self, _view: View<'_>) -> bool {
        self.still
    }

    fn tick(&mut self, view: View<'_>, orders: &mut Orders) {
        self.settle(view);
        let quiet = self.survey(view);
        let total = view.total();
        // What is due to jobs that were admitted is free no more.
        let due = |of: &dyn Fn(&WholeRequests<Resources>) -> Resources| self.whole.as_ref().map_or(Resources::NONE, of);
        let (due_in_all, due_to_small) =
            (due(&WholeRequests::<Resources>::due_in_all), due(&|whole| whole.due_in(SMALL)));
        let free = (1.0 - total.minus(view.free()).plus(due_in_all).dominant_share(total)).max(0.0);
        let used_by_small = self.used[SMALL].plus(due_to_small).dominant_share(total);
        let (small_free, large_free) = self.rules.divide(self.delta, free, used_by_small);
        let [small, large] = &mut self.categories;
        (small.free, large.free) = (small_free, large_free);
        let moved = self.rules.next(self.delta, small, large);
        let next = self.order.next(moved.both_are_short);
        self.still = quiet && moved.delta == self.delta && next == self.next;
        (self.delta, self.next) = (moved.delta, next);
        for job in self.unreported.drain(..) {
            let category = self.jobs[job].category.unwrap_or(SMALL);
            orders.report("category", Some(job), (category + 1) as f64);
        }
        if self.given != Some(self.delta) {
            orders.report("delta", None, self.delta);
            self.given = Some(self.delta);
        }
    }

    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        self.settle(offer.view());
        self.admit(offer.view());
        let mut open = [true; 2];
        loop {
            let first = |category: usize| self.queues[category].first().filter(|_| open[category]);
            let category = match (first(SMALL), first(LARGE)) {
                (Some(small), Some(large)) if large < small => LARGE,
                (Some(_), _) => SMALL,
                (None, Some(_)) => LARGE,
                (None, None) => return Ok(()),
            };
            let Some(place) = first(category) else { return Ok(()) };
            self.start(place.task, category, offer)?;
            if offer.view().waiting(place.task) == 0 {
                self.queues[category].remove(place);
            } else {
                open[category] = false;
            }
        }
    }
}
