//! Kueue: workloads wait in the ClusterQueues of a site until they are admitted to quotas, and preempt each other.
//!
//! **What it does.** All tasks of a job that begin to wait together are a workload, and each task is a pod set. Kueue admits workloads as a
//! whole. It borrows within cohorts, chooses flavours, and evicts workloads for others. An evicted workload holds its quota for
//! `eviction_seconds`, and then waits again with its old place. The decisions are those of [`resched_kubernetes::kueue`]; this module gives
//! it what happens, and does in the engine what it decides.
//!
//! **Source.** Kueue of August 2026 (`docs/kueue.md`).
//!
//! **Decisions.** On machines, a pod set that is admitted starts where the rule of placement finds room for all its pods, and else waits for
//! it while it holds its quota. A pod set that has ended frees no quota before its workload ends. A job whose queue no object defines waits
//! for ever, as in Kueue. Of workloads of equal priority and the same second, the first is drawn (`same_second`).

mod conf;
mod workloads;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt::Write;
use std::sync::Arc;

use rand::RngExt;
use resched_kubernetes::kueue::{self, Decision, Kueue, Model, PendingReason, Reason as Right, WorkloadId};
use resched_kubernetes::objects;
use resched_sim::batch::{Ended, Eviction, Offer, Policy, Then, View, Work};
use resched_sim::{JobId, Ms, TaskId, Violation};
use resched_tables::draws::{Purpose, stream};
use resched_tables::model::Reason;

use self::conf::{SameSecond, Settings};
pub(crate) use self::workloads::takes;
use self::workloads::{Names, Stand, Workload, submission};
use crate::error::Error;
use crate::info::{Build, Family, PolicyInfo};
use crate::input::Input;
use crate::settings::Values;
use crate::site::Site;

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "kueue",
    title: "Kueue: admission to quotas of ClusterQueues, with borrowing, flavors, preemption and fair sharing",
    source: "Kueue of August 2026 (0.19.2 and later)",
    family: Family::Batch,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[Input::Kueue, Input::NodeLabels],
    idle: conf::find_idle,
    build: Build::Batch(|values, site| {
        let set = Settings::read(values)?;
        let site = set.objects(site)?;
        Ok(Box::new(Admission::new(set.model(&site)?, set, site)))
    }),
};

/// The objects that count under these values of the parameters.
///
/// # Errors
/// A folder or an object that cannot be read.
pub(crate) fn site_of(values: &Values, site: &Site) -> Result<Arc<objects::Site>, Error> {
    Settings::read(values)?.objects(site)
}

/// The policy.
struct Admission {
    set: Settings,
    site: Arc<objects::Site>,
    model: Model,
    names: Names,
    /// Kueue itself, once the replay has begun.
    kueue: Option<Kueue>,
    workloads: Vec<Workload>,
    of_tasks: HashMap<TaskId, u32>,
    /// The workloads by their numbers in Kueue.
    of_kueue: Vec<u32>,
    /// Those that appeared in this instant.
    new: Vec<u32>,
    pending: BTreeSet<u32>,
    /// Those of which something ended, and when.
    ended: Vec<(Ms, u32)>,
    /// What Kueue has decided and the engine has not done yet.
    decided: VecDeque<Decision>,
    /// True if something has happened since its last cycles, and when these were, ms.
    stirred: bool,
    settled: Option<Ms>,
    /// The workloads of which this pass has started something.
    started: BTreeSet<u32>,
    /// Admitted workloads with tasks that wait for a place.
    unplaced: BTreeSet<u32>,
    /// The time of the trace at 0 of the simulated clock, ms. Kueue has the clock of the trace: it compares whole seconds of it.
    zero: Ms,
    /// What went wrong in a call that returns no error.
    problem: Option<String>,
}

impl Admission {
    fn new(model: Model, set: Settings, site: Arc<objects::Site>) -> Self {
        Self {
            names: Names::new(&model.resources),
            model,
            set,
            site,
            kueue: None,
            workloads: Vec::new(),
            of_tasks: HashMap::new(),
            of_kueue: Vec::new(),
            new: Vec::new(),
            pending: BTreeSet::new(),
            ended: Vec::new(),
            decided: VecDeque::new(),
            stirred: false,
            settled: None,
            started: BTreeSet::new(),
            unplaced: BTreeSet::new(),
            zero: 0,
            problem: None,
        }
    }

    /// Makes Kueue at the first call.
    fn begin(&mut self, view: View<'_>) {
        if self.kueue.is_some() || self.problem.is_some() {
            return;
        }
        self.zero = view.trace_time().saturating_sub(view.now());
        let mut model = self.model.clone();
        model.settings.seed = view.seed();
        match Kueue::new(model) {
            Ok(kueue) => self.kueue = Some(kueue),
            Err(error) => self.problem = Some(error.to_string()),
        }
    }

    /// Calls Kueue about something that happened at `now`, on the clock of the trace, and keeps its error for the next chance to return it.
    /// Wake-ups that were due before and had nobody to wake go first.
    fn call(&mut self, now: Ms, call: impl FnOnce(&mut Kueue) -> Result<(), kueue::Error>) {
        let Some(kueue) = &mut self.kueue else { return };
        self.stirred = true;
        kueue.wake(now - 1);
        if let Err(error) = call(kueue) {
            self.problem.get_or_insert_with(|| error.to_string());
        }
    }

    /// Reports the workloads that have ended. Kueue sees ends before anything else of an instant.
    fn end_workloads(&mut self, view: View<'_>) {
        for (at, place) in std::mem::take(&mut self.ended) {
            let workload = &mut self.workloads[place as usize];
            if workload.stand == Stand::Admitted && workload.is_over(view) {
                workload.stand = Stand::Done;
                let at = at.saturating_add(self.zero);
                if let Some(id) = workload.id {
                    self.call(at, |kueue| kueue.ended(at, id));
                }
            }
        }
    }

    /// A run of an evicted workload has left.
    fn one_left(&mut self, place: u32, left: usize, view: View<'_>) {
        let workload = &mut self.workloads[place as usize];
        if left > 1 {
            workload.stand = Stand::Leaving(left - 1);
            return;
        }
        workload.stand = Stand::Pending;
        self.pending.insert(place);
        if let Some(id) = workload.id {
            let now = view.trace_time();
            self.call(now, |kueue| kueue.gone(now, id));
        }
    }

    /// Creates the workloads that appeared in this instant.
    fn submit(&mut self, view: View<'_>) -> Result<(), Violation> {
        for place in std::mem::take(&mut self.new) {
            self.stirred = true;
            let workload = &mut self.workloads[place as usize];
            let job = view.job(workload.job);
            let uid = match self.set.same_second {
                SameSecond::Listed => u64::from(place),
                SameSecond::Drawn => stream(view.seed(), Purpose::WorkloadUid, &[workload.job.index() as u64]).random(),
            };
            let Some(mut submission) = submission(&self.site, job, view.trace_time(), uid) else {
                workload.stand = Stand::Stray;
                view.pass_over(workload.tasks[0], Reason::NoQueue, None);
                continue;
            };
            let wrong = |problem: String| Violation::new(format!("cannot create workload {}: {problem}", job.id));
            submission.pod_sets = self.names.pod_sets(&workload.tasks, view).map_err(wrong)?;
            let Some(kueue) = &mut self.kueue else { continue };
            workload.id = Some(kueue.submit(submission).map_err(|error| wrong(error.to_string()))?);
            workload.stand = Stand::Pending;
            self.pending.insert(place);
            self.of_kueue.push(place);
        }
        Ok(())
    }

    /// The workload with that number in Kueue.
    fn place(&self, id: WorkloadId) -> u32 {
        self.of_kueue.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// Starts what waits of an admitted workload, as far as there is room.
    fn start(&mut self, place: u32, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let Self { workloads, kueue: Some(kueue), started, .. } = self else { return Ok(()) };
        let workload = &mut workloads[place as usize];
        let mut waits = false;
        for (number, &task) in (0..).zip(&workload.tasks) {
            if offer.view().waiting(task) == 0 {
                continue;
            }
            offer.start(task, u32::MAX)?;
            let flavors: Arc<str> = flavors(kueue, workload.id, number).into();
            let runs: Vec<_> = offer.latest().collect();
            runs.iter().for_each(|&run| offer.give_flavors(run, &flavors));
            if !runs.is_empty() {
                started.insert(place);
            }
            workload.runs.extend(runs);
            waits |= offer.view().waiting(task) > 0;
        }
        if waits {
            self.unplaced.insert(place);
        } else {
            self.unplaced.remove(&place);
        }
        Ok(())
    }

    /// Does what Kueue has decided, as far as one pass can: what it starts can be evicted in the next only.
    fn act(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        while let Some(decision) = self.decided.pop_front() {
            match decision {
                Decision::Admitted(id) => {
                    let place = self.place(id);
                    let workload = &mut self.workloads[place as usize];
                    workload.stand = Stand::Admitted;
                    workload.admitted = offer.view().now();
                    workload.admissions += 1;
                    offer.report("admitted", workload.job, f64::from(workload.admissions), None);
                    self.pending.remove(&place);
                    self.start(place, offer)?;
                }
                Decision::Preempted { victim, by, reason } => {
                    let place = self.place(victim);
                    if self.started.contains(&place) {
                        self.decided.push_front(decision);
                        offer.ask_again();
                        return Ok(());
                    }
                    let by = self.workloads[self.place(by) as usize].job;
                    self.evict(place, (by, reason), offer)?;
                }
            }
        }
        Ok(())
    }

    fn evict(&mut self, place: u32, (by, right): (JobId, Right), offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let (work, holds): (Work, Ms) = (self.set.work(), self.set.eviction_ms());
        self.unplaced.remove(&place);
        let workload = &mut self.workloads[place as usize];
        let ran = offer.view().now() - workload.admitted;
        offer.report(preempted(right), workload.job, ran as f64, Some(by));
        let runs = std::mem::take(&mut workload.runs);
        workload.stand = Stand::Leaving(runs.len());
        for &run in &runs {
            offer.evict(run, Eviction { then: Then::Again, work, holds })?;
        }
        if runs.is_empty() {
            // None of its pods had a place.
            self.one_left(place, 1, offer.view());
            offer.ask_again();
        }
        Ok(())
    }

    /// Says why each workload that is looked at waits.
    fn give_reasons(&self, view: View<'_>) {
        let Some(kueue) = self.kueue.as_ref().filter(|_| view.wants_reasons()) else { return };
        for &place in &self.pending {
            let workload = &self.workloads[place as usize];
            let standing = workload.id.and_then(|id| kueue.standing(id)).and_then(|(_, reason)| reason);
            let waits = workload.tasks.iter().find(|&&task| view.waiting(task) > 0);
            if let (Some(reason), Some(&task)) = (standing, waits) {
                view.pass_over(task, in_table(reason), None);
            }
        }
    }

    /// The error of cycles that do not end, with the names of the workloads.
    fn unsettled(&self, error: &kueue::Error, view: View<'_>) -> Violation {
        let name = |number: &u32| view.job(self.workloads[self.place(WorkloadId(*number)) as usize].job).id;
        Violation::new(match error {
            kueue::Error::Loop { victim, by, times, .. } => format!(
                "evicts workload {} for workload {} for the {times}th time within one instant, and would go on for ever: the victim is \
                 admitted again before the preemptor; give evictions a time, such as eviction_seconds=30",
                name(victim),
                name(by)
            ),
            other => other.to_string(),
        })
    }
}

impl Policy for Admission {
    fn task_waits(&mut self, task: TaskId, view: View<'_>) {
        self.begin(view);
        self.end_workloads(view);
        let Some(&place) = self.of_tasks.get(&task) else {
            let job = view.task(task).job;
            let last = self.new.last().copied().filter(|&last| self.workloads[last as usize].job == job);
            let place = last.unwrap_or(self.workloads.len() as u32);
            match last {
                Some(last) => self.workloads[last as usize].tasks.push(task),
                None => {
                    self.workloads.push(Workload::new(job, task));
                    self.new.push(place);
                }
            }
            self.of_tasks.insert(task, place);
            return;
        };
        match self.workloads[place as usize].stand {
            Stand::Leaving(left) => self.one_left(place, left, view),
            // A pod failed, or its machine left: it is made anew within the quota of its workload.
            Stand::Admitted => _ = self.unplaced.insert(place),
            Stand::New | Stand::Stray | Stand::Pending | Stand::Done => {}
        }
    }

    fn task_finished(&mut self, ended: &Ended, view: View<'_>) {
        self.end_workloads(view);
        if let Some(&place) = self.of_tasks.get(&ended.task) {
            self.workloads[place as usize].runs.remove(&ended.run);
            self.ended.push((view.now(), place));
        }
    }

    fn alarm(&self) -> Option<Ms> {
        self.kueue.as_ref()?.next_wake().map(|due| due.saturating_sub(self.zero))
    }

    fn draws(&self) -> bool {
        self.set.same_second == SameSecond::Drawn || self.model.settings.fair_sharing.is_some()
    }

    fn has_limits(&self) -> bool {
        true
    }

    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        self.begin(offer.view());
        if self.site.queues.is_empty() && !offer.view().has_machines() {
            let problem = "expected ClusterQueues, as there are no nodes either, found none; give the folder with the site's YAML by \
                           --site-conf DIR, or as `site=DIR`";
            return Err(Violation::new(problem.to_owned()));
        }
        self.end_workloads(offer.view());
        let now = offer.view().trace_time();
        if let Some(kueue) = &mut self.kueue {
            kueue.wake(now);
        }
        self.submit(offer.view())?;
        self.started.clear();
        for place in self.unplaced.clone() {
            self.start(place, offer)?;
        }
        // A further pass of the instant, after evictions, is no event for Kueue.
        if self.decided.is_empty() && (self.stirred || self.settled != Some(now)) {
            (self.stirred, self.settled) = (false, Some(now));
            let mut decisions = Vec::new();
            let settled = self.kueue.as_mut().map_or(Ok(()), |kueue| kueue.settle(now, &mut decisions));
            settled.map_err(|error| self.unsettled(&error, offer.view()))?;
            self.decided = decisions.into();
        }
        self.act(offer)?;
        self.give_reasons(offer.view());
        self.problem.take().map_or(Ok(()), |problem| Err(Violation::new(problem)))
    }
}

/// The flavours of a pod set: `cpu=spot,nvidia.com/gpu=a100`.
fn flavors(kueue: &Kueue, id: Option<WorkloadId>, pod_set: u32) -> String {
    let mut text = String::new();
    let assigned = id.map(|id| kueue.assigned(id)).unwrap_or_default();
    for given in assigned.iter().filter(|given| given.pod_set == pod_set) {
        let model = kueue.model();
        let between = if text.is_empty() { "" } else { "," };
        let resource = &model.resources[given.resource.0 as usize];
        let flavor = &model.flavors[given.flavor.0 as usize].name;
        // Writing to a text cannot fail.
        let _ = write!(text, "{between}{resource}={flavor}");
    }
    text
}

/// The name of a preemption in the table of decisions.
fn preempted(right: Right) -> &'static str {
    match right {
        Right::InClusterQueue => "preempted:InClusterQueue",
        Right::InCohortReclamation => "preempted:InCohortReclamation",
        Right::InCohortReclaimWhileBorrowing => "preempted:InCohortReclaimWhileBorrowing",
        Right::InCohortFairSharing => "preempted:InCohortFairSharing",
    }
}

fn in_table(reason: PendingReason) -> Reason {
    match reason {
        PendingReason::NoFit => Reason::NoFit,
        PendingReason::NoCandidates => Reason::NoCandidates,
        PendingReason::PendingPreemption => Reason::PendingPreemption,
        PendingReason::FailedAfterNomination => Reason::Skipped,
        PendingReason::NamespaceMismatch => Reason::NoQueue,
        PendingReason::Equivalent => Reason::Equivalent,
    }
}
