//! DRESS for tasks that request processor and memory: a changing part of the machines is kept for jobs with small
//! demands (policies B.9).
//!
//! **What it does.** A job that requests more than a share θ of the machines is large; any other job is small. Small
//! jobs may hold a share δ, large jobs the rest. Within a category, tasks start in the order of submission. Every tick
//! moves δ. The move depends on the resources that each category requests, has free, and is expected to release soon.
//! The rules are those of [`crate::hadoop::papers::dress`]: its phases and its Algorithm 3.
//!
//! **Source.** DRESS (Mao et al.), Equations 1 to 9, Algorithms 1 to 3, with the corrections of spec B.9.
//!
//! **Decisions.** DRESS counts containers. This policy counts dominant shares of all that the machines offer: for a
//! job's demand, for the resources that a category holds, and for the free resources (1 less the dominant share of the
//! used resources). A job's demand is the request of its first stages at submission. The expected release of a phase
//! counts as that number of average running tasks of the job. A category that holds nothing may always run one task.
//! The tick is longer than in DRESS, because these traces last for weeks.

use std::collections::BTreeSet;

use resched_sim::batch::{Ended, Offer, Orders, Policy, View};
use resched_sim::{JobId, Ms, Resources, TaskId, Violation};

use super::queue::Queue;
use crate::error::Error;
use crate::info::{Build, Engine, Family, PolicyInfo};
use crate::parts::by_id::{ByJob, ByRun, ByTask};
use crate::parts::dress::delta::{Category, DeltaRules, LARGE, SMALL};
use crate::parts::dress::parameters::{CAP_TRANSFER, DELTA, PW, RELEASE, TE, TS};
use crate::parts::dress::phases::{Counted, PhaseRules, Phases, ReleaseMode, Start};
use crate::settings::settings;

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "batch-dress",
    title: "DRESS: a part of the machines is kept for small jobs",
    source: "DRESS, Algorithms 1 to 3",
    family: Family::Batch,
    engine: Engine::Batch,
    oracle: false,
    parameters: Settings::PARAMETERS,
    build: Build::Batch(|values, _| Ok(Box::new(BatchDress::new(&Settings::read(values)?)?))),
};

settings! {
    /// What you can set.
    struct Settings {
        /// share of the machines beyond which a job is large (θ)
        theta: f64 = "theta" { default: 0.1, range: 0..=1 },
        delta: f64 = DELTA,
        /// the least δ
        delta_min: f64 = "delta_min" { default: 0.01, range: 0..=1 },
        /// the greatest δ
        delta_max: f64 = "delta_max" { default: 0.99, range: 0..=1 },
        cap_transfer: bool = CAP_TRANSFER,
        pw: Ms = PW,
        ts: u32 = TS,
        te: u32 = TE,
        release: ReleaseMode = RELEASE,
        /// time between two moves of δ
        tick: Ms = "tick" { default: 10000, range: 1..=86_400_000, unit: "ms" },
    }
}

/// Shares are added up in floating point: what is over a limit by so little is not.
const HAIR: f64 = 1e-9;

/// The policy.
#[derive(Debug)]
struct BatchDress {
    theta: f64,
    delta: f64,
    /// δ as it was last reported.
    told: Option<f64>,
    rules: DeltaRules,
    phase_rules: PhaseRules,
    release: ReleaseMode,
    tick: Ms,
    queues: [Queue; 2],
    used: [Resources; 2],
    /// Tasks that wait and have not been put into a queue yet.
    fresh: Vec<TaskId>,
    /// Jobs whose category has not been reported yet.
    untold: Vec<JobId>,
    jobs: ByJob<Own>,
    /// Jobs that have not ended.
    active: BTreeSet<JobId>,
    /// How many units of each task count in what its job asks for.
    counted: ByTask<u32>,
    starts: ByRun<Option<Start>>,
    /// Room for the pending demands of both categories.
    categories: [Category; 2],
}

/// What is known of a job.
#[derive(Debug, Default)]
struct Own {
    category: Option<usize>,
    asked: Resources,
    used: Resources,
    running: u32,
    phases: Phases,
}

impl BatchDress {
    fn new(settings: &Settings) -> Result<Self, Error> {
        let (min, max) = (settings.delta_min, settings.delta_max);
        if min > max {
            return Err(Error::Parameter(format!("delta_min: expected at most delta_max, {max}, found {min}")));
        }
        Ok(Self {
            theta: settings.theta,
            delta: settings.delta,
            told: None,
            rules: DeltaRules { total: 1.0, min, max, cap_transfer: settings.cap_transfer },
            phase_rules: PhaseRules {
                window: settings.pw,
                starts: settings.ts,
                ends: settings.te,
                counted: Counted::Starts,
            },
            release: settings.release,
            tick: settings.tick,
            queues: [Queue::new(false), Queue::new(false)],
            used: [Resources::NONE; 2],
            fresh: Vec::new(),
            untold: Vec::new(),
            jobs: ByJob::default(),
            active: BTreeSet::new(),
            counted: ByTask::default(),
            starts: ByRun::default(),
            categories: Default::default(),
        })
    }

    /// Counts what waits of a task anew.
    fn count(&mut self, task: TaskId, view: View<'_>) {
        let before = std::mem::replace(&mut self.counted[task], view.waiting(task));
        let (spec, own) = (view.task(task), &mut self.jobs[view.task(task).job]);
        let of = |units: u32| spec.unit().times(u64::from(units));
        own.asked = own.asked.plus(of(view.waiting(task))).minus(of(before));
    }

    /// Puts new tasks into the queue of their jobs' category, which is known when all first tasks are.
    fn settle(&mut self, view: View<'_>) {
        for task in std::mem::take(&mut self.fresh) {
            let job = view.task(task).job;
            let own = &mut self.jobs[job];
            let category = *own.category.get_or_insert_with(|| {
                self.untold.push(job);
                if own.asked.dominant_share(view.total()) > self.theta + HAIR { LARGE } else { SMALL }
            });
            self.queues[category].add(task, view);
        }
    }

    /// Takes down what each category asks for and is expected to release.
    fn survey(&mut self, view: View<'_>) {
        for category in &mut self.categories {
            category.pending.clear();
            category.releases = 0.0;
        }
        for &job in &self.active {
            let own = &mut self.jobs[job];
            let Some(category) = own.category.map(|place| &mut self.categories[place]) else { continue };
            let asked = own.asked.dominant_share(view.total());
            own.phases.tick(view.now(), asked > 0.0, &self.phase_rules);
            if own.running > 0 {
                let each = own.used.dominant_share(view.total()) / f64::from(own.running);
                category.releases += each * own.phases.releases(view.now(), self.tick, self.release);
            }
            category.pending.extend(Some(asked).filter(|&asked| asked > 0.0));
        }
    }

    /// The share that a category may hold.
    fn limit(&self, category: usize) -> f64 {
        if category == SMALL { self.delta } else { 1.0 - self.delta }
    }

    /// Whether a category may take so much more.
    fn may_take(&self, category: usize, unit: Resources, total: Resources) -> bool {
        let used = self.used[category];
        used == Resources::NONE || used.plus(unit).dominant_share(total) <= self.limit(category) + HAIR
    }

    /// Starts units of a task while its category may take them and they find room.
    fn start(&mut self, task: TaskId, category: usize, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let spec = *offer.view().task(task);
        while offer.view().waiting(task) > 0 && self.may_take(category, spec.unit(), offer.view().total()) {
            offer.start(task, 1)?;
            let Some(run) = offer.latest().next() else { break };
            self.used[category] = self.used[category].plus(spec.unit());
            let own = &mut self.jobs[spec.job];
            own.used = own.used.plus(spec.unit());
            own.running += 1;
            self.starts[run] = Some(own.phases.start(offer.view().now()));
        }
        self.count(task, offer.view());
        Ok(())
    }
}

impl Policy for BatchDress {
    fn job_submitted(&mut self, job: JobId, _view: View<'_>) {
        self.active.insert(job);
    }

    fn job_finished(&mut self, job: JobId, _view: View<'_>) {
        self.active.remove(&job);
        self.jobs[job].phases = Phases::default();
    }

    fn task_waits(&mut self, task: TaskId, view: View<'_>) {
        self.count(task, view);
        self.fresh.push(task);
    }

    fn task_finished(&mut self, ended: &Ended, view: View<'_>) {
        let task = view.task(ended.task);
        let own = &mut self.jobs[task.job];
        own.used = own.used.minus(task.unit());
        own.running = own.running.saturating_sub(1);
        if let Some(category) = own.category {
            self.used[category] = self.used[category].minus(task.unit());
        }
        if let Some(start) = self.starts.take(ended.run) {
            own.phases.end(start, view.now());
        }
    }

    fn period(&self) -> Option<Ms> {
        Some(self.tick)
    }

    fn tick(&mut self, view: View<'_>, orders: &mut Orders) {
        self.settle(view);
        self.survey(view);
        let total = view.total();
        let free = 1.0 - total.minus(view.free()).dominant_share(total);
        let (small_free, large_free) = self.rules.divide(self.delta, free, self.used[SMALL].dominant_share(total));
        let [small, large] = &mut self.categories;
        (small.free, large.free) = (small_free, large_free);
        self.delta = self.rules.next(self.delta, small, large);
        for job in self.untold.drain(..) {
            let category = self.jobs[job].category.unwrap_or(SMALL);
            orders.report("category", Some(job), (category + 1) as f64);
        }
        if self.told != Some(self.delta) {
            orders.report("delta", None, self.delta);
            self.told = Some(self.delta);
        }
    }

    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        self.settle(offer.view());
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
