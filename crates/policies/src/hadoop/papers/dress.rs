//! DRESS: a changing part of the cluster is kept for jobs with small demands (`docs/model/dress.md`).
//!
//! **What it does.** A job that requests more than a share θ of the cluster is large; any other job is small. Small
//! jobs may hold a share δ of all containers, large jobs the rest. A job starts when its category has room for all that
//! it asks for first, its master and its maps, and waits until then. Within a category the job that was submitted first
//! is next. While both categories are short, the smallest is. Every second, δ moves. The move depends on the containers
//! that each category requests, has free, and is expected to release soon. The phases of each running job are found
//! from the bursts in which its tasks start and end ([`phases`]), and δ follows from them ([`delta`]). It never falls
//! below the share that it starts with.
//!
//! **Source.** DRESS (Mao et al.), §IV-C, §V-B, Equations 1 to 9, Algorithms 1 to 3, with the corrections in
//! `docs/model/dress.md`, and with whole requests and smallest first, as the paper's text has them. That δ does not fall
//! below its start is ours. The numbers of the paper are the defaults. `dress:whole=false,order=submission,delta_min=0`
//! takes nothing from the text but Algorithm 3's δ: containers are granted one by one in the order of submission, and
//! without small jobs δ falls to nothing at once. Note that phases of at most `ts` tasks are never found.
//!
//! **Decisions.** A job's demand r is the number of its maps, or else of its reduces. Its master does not count for r,
//! but counts for the use and the requests of its category. A job is pending as long as it has requests, even if some
//! of its containers run; what a job that was admitted has yet to get counts as used. What it asks for later, such as
//! reduces, is granted one by one. A job that asks for more than its category may ever hold starts when nobody else of
//! its category runs. The unit of count is the container of a map; other containers count by their size. A category may
//! always have one master and run one task.

use resched_sim::hadoop::{
    Ask, AttemptView, Container, ContainerState, Kind, Offer, Orders, Policy, Resources, System, View,
};
use resched_sim::{JobId, Ms, NodeId, Violation};

use crate::error::Error;
use crate::hadoop::yarn::capacity::{NODE_LOCALITY_DELAY, Partitions, YarnCapacity, all_containers, first_tasks};
use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::parts::by_id::{ByJob, ByTask};
use crate::parts::dress::delta::{Category, DeltaRules, LARGE, SMALL};
use crate::parts::dress::parameters::{
    Bounds, CAP_TRANSFER, DELTA, DELTA_MAX, DELTA_MIN, ORDER, Order, PW, RELEASE, TE, TS, WHOLE,
};
use crate::parts::dress::phases::{Counted, PhaseRules, Phases, ReleaseMode, Start};
use crate::parts::whole_requests::WholeRequests;
use crate::settings::{choices, settings};

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "dress",
    title: "DRESS: a part of the cluster is kept for small jobs",
    source: "DRESS, Algorithms 1 to 3",
    family: Family::Paper,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[],
    idle: ALL_ACT,
    build: Build::Hadoop(System::Containers, |values, _| Ok(Box::new(Dress::new(&Settings::read(values)?)?))),
};

choices! {
    /// A large job asks for more than a share of these containers.
    enum ThetaBase {
        /// All.
        Total = "total",
        /// Those that are free when it comes.
        Free = "free",
    }
}

settings! {
    /// What you can set.
    struct Settings {
        /// share of the containers beyond which a job is large (θ)
        theta: f64 = "theta" { default: 0.1, range: 0..=1 },
        /// containers that theta is a share of; total: all; free: those that are free when the job arrives
        theta_base: ThetaBase = "theta_base" { choice: ThetaBase::Total, },
        delta: f64 = DELTA,
        delta_min: Option<f64> = DELTA_MIN,
        delta_max: Option<f64> = DELTA_MAX,
        whole: bool = WHOLE,
        order: Order = ORDER,
        cap_transfer: bool = CAP_TRANSFER,
        pw: Ms = PW,
        ts: u32 = TS,
        te: u32 = TE,
        /// how a phase is found: by its starts, or by its job's running tasks, as the paper prints it
        counted: Counted = "counted" { choice: Counted::Starts, },
        release: ReleaseMode = RELEASE,
        /// time between two moves of δ
        tick: Ms = "tick" { default: 1000, range: 1..=3_600_000, unit: "ms" },
        node_locality_delay: u64 = NODE_LOCALITY_DELAY,
        /// share for masters, which limits the active applications
        am_share: f64 = "am_share" {
            default: 0.1, range: 0..=1, hadoop: ["yarn.scheduler.capacity.maximum-am-resource-percent"],
        },
    }
}

/// The policy.
#[derive(Debug)]
struct Dress {
    capacity: YarnCapacity,
    theta: f64,
    theta_of_free: bool,
    delta: f64,
    /// δ as it was last reported.
    given: Option<f64>,
    /// Jobs whose category has not been reported yet.
    unreported: Vec<JobId>,
    bounds: Bounds,
    order: Order,
    cap_transfer: bool,
    rules: PhaseRules,
    release: ReleaseMode,
    tick: Ms,
    phases: ByJob<Phases>,
    /// The start of each task's container, once it was reported to run.
    starts: ByTask<Option<Start>>,
    /// Room for the pending demands of both categories.
    categories: [Category; 2],
}

impl Dress {
    fn new(settings: &Settings) -> Result<Self, Error> {
        let bounds = Bounds::new(settings.delta, settings.delta_min, settings.delta_max)?;
        Ok(Self {
            capacity: YarnCapacity::partitioned(settings.node_locality_delay, settings.am_share, settings.whole)?,
            theta: settings.theta,
            theta_of_free: settings.theta_base == ThetaBase::Free,
            delta: settings.delta,
            given: None,
            unreported: Vec::new(),
            bounds,
            order: settings.order,
            cap_transfer: settings.cap_transfer,
            rules: PhaseRules {
                window: settings.pw,
                starts: settings.ts,
                ends: settings.te,
                counted: settings.counted,
            },
            release: settings.release,
            tick: settings.tick,
            phases: ByJob::default(),
            starts: ByTask::default(),
            categories: Default::default(),
        })
    }

    /// Keeps a share δ of all containers for small jobs.
    fn keep(&mut self) {
        if let Some(partitions) = self.capacity.partitions_mut() {
            partitions.set_share(self.delta);
        }
    }

    /// Takes down what each category asks for and is expected to release.
    fn survey(&mut self, view: View<'_>) {
        for category in &mut self.categories {
            category.pending.clear();
            category.releases = 0.0;
        }
        let Some(partitions) = self.capacity.partitions() else { return };
        for &job in view.jobs() {
            let waits = Kind::BOTH.iter().any(|&kind| view.job(job).waiting(kind) > 0);
            let phases = &mut self.phases[job];
            phases.tick(view.now(), waits, &self.rules);
            let category = &mut self.categories[partitions.of(job)];
            category.releases += phases.releases(view.now(), self.tick, self.release);
            let due = self.capacity.whole().map_or(0.0, |whole| containers(whole.due(job), view));
            category.pending.extend(Some(pending(view, job) - due).filter(|&asked| asked > 0.0));
        }
    }

    fn move_delta(&mut self, view: View<'_>) {
        let total = all_containers(view);
        let (min, max) = self.bounds.of(1.0 / total);
        let rules = DeltaRules { total, min, max, cap_transfer: self.cap_transfer };
        // What is due to jobs that were admitted is free no more.
        let due = |of: &dyn Fn(&WholeRequests) -> Resources| {
            self.capacity.whole().map_or(0.0, |whole| containers(of(whole), view))
        };
        let (due_in_all, due_to_small) = (due(&WholeRequests::due_in_all), due(&|whole| whole.due_in(SMALL)));
        let used = self.capacity.partitions().map_or(0.0, |partitions| used_by_small(partitions, view));
        let free = (free(view) - due_in_all).max(0.0);
        let (small_free, large_free) = rules.divide(self.delta, free, used + due_to_small);
        let [small, large] = &mut self.categories;
        (small.free, large.free) = (small_free, large_free);
        let moved = rules.next(self.delta, small, large);
        self.delta = moved.delta;
        self.capacity.set_next(self.order.next(moved.both_are_short));
    }

    fn learn(&mut self, orders: &mut Orders) {
        let Some(partitions) = self.capacity.partitions() else { return };
        for job in self.unreported.drain(..) {
            orders.report("category", Some(job), (partitions.of(job) + 1) as f64);
        }
        if self.given != Some(self.delta) {
            orders.report("delta", None, self.delta);
            self.given = Some(self.delta);
        }
    }
}

/// True if a job that asks for so many containers is large.
fn is_large(demand: f64, theta: f64, base: f64) -> bool {
    demand > theta * base
}

/// How many containers of maps a part of the cluster makes, by the resource of which it is most.
fn containers(amount: Resources, view: View<'_>) -> f64 {
    amount.dominant_share(view.yarn().demand(Ask::Map))
}

/// Those that are free (A_c).
fn free(view: View<'_>) -> f64 {
    view.yarn().free_in_all().fits(view.yarn().demand(Ask::Map)) as f64
}

fn used_by_small(partitions: &Partitions, view: View<'_>) -> f64 {
    containers(partitions.used(SMALL), view)
}

/// What a job asks for, in containers. Before its master asks for the first tasks, it is known what they will be.
fn pending(view: View<'_>, job: JobId) -> f64 {
    let (app, job) = (view.yarn().app(job), view.job(job));
    let of = |ask: Ask, count: u32| f64::from(count) * containers(view.yarn().demand(ask), view);
    let asked: f64 = Ask::ALL.into_iter().map(|ask| of(ask, app.asked(ask).saturating_sub(app.reserved(ask)))).sum();
    let is_fresh = Kind::BOTH.into_iter().all(|kind| job.ready(kind) + job.running(kind) + job.finished(kind) == 0);
    let (first, count) = first_tasks(job);
    if is_fresh { asked + of(first, count) } else { asked }
}

impl Policy for Dress {
    fn system(&self) -> System {
        System::Containers
    }

    fn job_submitted(&mut self, job: JobId, view: View<'_>) {
        let (_, demand) = first_tasks(view.job(job));
        let base = if self.theta_of_free { free(view) } else { all_containers(view) };
        let category = if is_large(f64::from(demand), self.theta, base) { LARGE } else { SMALL };
        if let Some(partitions) = self.capacity.partitions_mut() {
            partitions.put(job, category);
        }
        self.unreported.push(job);
        self.keep();
        self.capacity.job_submitted(job, view);
    }

    fn job_finished(&mut self, job: JobId, view: View<'_>) {
        self.phases.take(job);
        self.capacity.job_finished(job, view);
    }

    fn task_started(&mut self, started: &AttemptView, view: View<'_>) {
        self.capacity.task_started(started, view);
    }

    fn node_lost(&mut self, node: NodeId, view: View<'_>) {
        self.capacity.node_lost(node, view);
    }

    fn container_changed(&mut self, container: &Container, view: View<'_>) {
        self.capacity.container_changed(container, view);
        let Some(task) = container.task else { return };
        let phases = &mut self.phases[container.job];
        match container.state {
            ContainerState::Running => self.starts[task] = Some(phases.start(view.now())),
            ContainerState::Completed => {
                if let Some(start) = self.starts.take(task) {
                    phases.end(start, view.now());
                }
            }
            ContainerState::Allocated => {}
        }
    }

    fn headroom(&self, job: JobId, view: View<'_>) -> u64 {
        self.capacity.headroom(job, view)
    }

    fn may_use(&self, node: NodeId, view: View<'_>) -> bool {
        self.capacity.may_use(node, view)
    }

    fn period(&self) -> Option<Ms> {
        Some(self.tick)
    }

    fn tick(&mut self, view: View<'_>, orders: &mut Orders) {
        self.survey(view);
        self.move_delta(view);
        self.keep();
        self.learn(orders);
    }

    /// Without jobs δ stays where one tick has put it.
    fn skips_idle_ticks(&self, view: View<'_>) -> bool {
        view.jobs().is_empty()
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        self.capacity.heartbeat(offer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Scenario, job, map};
    use resched_tables::model::Reason;

    #[test]
    fn a_job_of_a_tenth_of_the_cluster_is_small() {
        assert!(!is_large(10.0, 0.1, 100.0));
        assert!(is_large(11.0, 0.1, 100.0));
        assert!(is_large(1.0, 0.1, 0.0), "of nothing free, every job is large");
    }

    #[test]
    fn what_is_kept_for_small_jobs_is_reported() {
        // Ten containers, half of them for small jobs. A master and four maps take what large jobs may have, until these end.
        let large = |id: &str| job(id).maps(4, map(20_000));
        let world = Scenario::containers(2, 5).job(large("job_1_0001")).job(large("job_1_0002"));
        let half = "theta=0.3,delta=0.5,delta_min=0.5,delta_max=0.5,am_share=1";
        for whole in [true, false] {
            let reasons = world.reasons(&format!("dress:whole={whole},{half}"), "job_1_0002");
            assert!(reasons.iter().any(|&(_, reason, _)| reason == Reason::Reserve), "{whole}: {reasons:?}");
        }
    }
}
