//! Conservative backfilling: every waiting task has a reservation, and no later task delays it.
//!
//! **What it does.** When a task begins to wait, it gets the earliest place in the plan at which enough is free for its
//! estimated run time, beside the running tasks and earlier reservations. When a task ends early, the plan is
//! compressed: each reservation, in order, moves to its earliest place, which is never later than before. This repeats
//! until none moves.
//!
//! **Source.** Mu'alem and Feitelson, *Utilization, predictability, workloads, and user runtime estimates*, 2001.
//!
//! **Decisions.** Estimates and free resources are as in [`super::easy`]. When a task runs longer than estimated, or
//! when machines change, promises cannot be kept: the plan is made anew in the same order. If no single machine has
//! room for a task at its reserved instant, the task is put off, and the plan is compressed at the next event. A
//! reservation lasts at least a millisecond. The plan holds `depth` instances and gangs. The others are planned as
//! these start.

use std::collections::{BTreeSet, VecDeque};

use resched_sim::batch::{Amounts, Ended, Offer, Policy, View};
use resched_sim::{JobId, Ms, TaskId, Violation};
use resched_tables::model::Reason;

use super::easy::said_end;
use super::estimates::Running;
use super::profile::Profile;
use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::settings::settings;

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "conservative",
    title: "Conservative backfilling: later tasks start early if that delays no task before them",
    source: "Mu'alem and Feitelson 2001",
    family: Family::Batch,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[],
    idle: ALL_ACT,
    build: Build::Batch(|values, _| Ok(Box::new(Conservative::new(&Settings::read(values)?)))),
};

settings! {
    /// What you can set.
    struct Settings {
        /// most instances and gangs that have reservations at a time
        depth: usize = "depth" { default: 500, range: 1..=1_000_000, unit: "tasks" },
    }
}

/// What must be done to the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    None,
    Compress,
    Anew,
}

/// The policy.
#[derive(Debug)]
struct Conservative {
    /// Tasks with units that are not planned yet, in the order in which they came.
    backlog: VecDeque<TaskId>,
    in_backlog: BTreeSet<TaskId>,
    /// By when they came.
    plan: Vec<Planned>,
    running: Running,
    /// What runs and what is planned.
    profile: Profile,
    depth: usize,
    change: Change,
    /// No unit of the plan is smaller. Where not even this is free, no task could start.
    least: Amounts,
    /// True if some wait for a reservation has been reported.
    has_reported: bool,
}

/// An instance or a gang with its reservation.
#[derive(Debug, Clone)]
struct Planned {
    task: TaskId,
    unit: Amounts,
    length: Ms,
    /// When it is to start, ms; `None` if it never fits.
    start: Option<Ms>,
    /// True if no single machine had room for it when it was to start.
    postponed: bool,
    /// The first instant to come at which it would be in the way of a reservation, and whose that is, where somebody asked.
    delays: Option<(Ms, Option<JobId>)>,
    /// True if its wait for a reservation has been reported.
    reported: bool,
}

impl Planned {
    fn put_in(&self, profile: &mut Profile) {
        if let Some(start) = self.start {
            profile.add(start, start.saturating_add(self.length), &self.unit);
        }
    }

    /// What of its place is before `now` has been forgotten already.
    fn take_out(&self, profile: &mut Profile, now: Ms) {
        if let Some(start) = self.start {
            profile.remove(start.max(now), start.saturating_add(self.length).max(now), &self.unit);
        }
    }

    /// Takes the earliest place from an instant on. Returns whether that is another than before.
    fn place(&mut self, profile: &mut Profile, total: &Amounts, from: Ms) -> bool {
        let before = self.start;
        self.start = profile.earliest(&self.unit, self.length, total, from);
        self.postponed = false;
        self.delays = None;
        self.put_in(profile);
        self.start != before
    }
}

impl Conservative {
    fn new(settings: &Settings) -> Self {
        Self {
            backlog: VecDeque::new(),
            in_backlog: BTreeSet::new(),
            plan: Vec::new(),
            running: Running::default(),
            profile: Profile::new(0, std::iter::empty()),
            depth: settings.depth,
            change: Change::None,
            least: Amounts::default(),
            has_reported: false,
        }
    }

    /// Takes units from the backlog into the plan, without places. Returns how many stood in the plan before.
    fn take_in(&mut self, view: View<'_>) -> usize {
        let before = self.plan.len();
        while self.plan.len() < self.depth
            && let Some(&task) = self.backlog.front()
        {
            let planned = self.plan.iter().filter(|planned| planned.task == task).count();
            let missing = (view.waiting(task) as usize).saturating_sub(planned);
            let room = self.depth - self.plan.len();
            let unit = view.unit(task);
            self.least = if self.plan.is_empty() { unit.clone() } else { self.least.min(&unit) };
            let unit = Planned {
                task,
                unit,
                length: view.estimate(task).max(1),
                start: None,
                postponed: false,
                delays: None,
                reported: false,
            };
            self.plan.extend(std::iter::repeat_n(unit, missing.min(room)));
            if missing > room {
                break;
            }
            self.backlog.pop_front();
            self.in_backlog.remove(&task);
        }
        before
    }

    /// Gives every unit of the plan its place. `known` units had theirs before.
    fn arrange(&mut self, known: usize, view: View<'_>) {
        let (now, total) = (view.now(), view.all());
        let (old, new) = self.plan.split_at_mut(known);
        if self.change == Change::Anew {
            self.profile = Profile::new(now, self.running.ends(view));
            for planned in old.iter_mut() {
                planned.place(&mut self.profile, total, now);
            }
        }
        let mut moves = self.change == Change::Compress;
        while moves {
            moves = false;
            for planned in old.iter_mut() {
                planned.take_out(&mut self.profile, now);
                moves |= planned.place(&mut self.profile, total, now);
            }
        }
        for planned in new {
            planned.place(&mut self.profile, total, now);
        }
        self.change = Change::None;
    }

    /// What was planned until some instant ends before.
    fn shorten(&mut self, end: Ms, planned: Ms, amount: &Amounts) {
        if end < planned {
            self.profile.remove(end, planned, amount);
            self.change = self.change.max(Change::Compress);
        }
    }

    /// Starts what is to start now.
    fn start_due(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let (now, view) = (offer.view().now(), offer.view());
        // The plan is long, and mostly nothing is free.
        let passes_over = view.wants_reasons() && (self.has_reported || view.all_free().holds(&self.least));
        let (mut kept, mut has_reported) = (0, false);
        for place in 0..self.plan.len() {
            if self.plan[place].start == Some(now) && self.start(place, offer)? {
                continue;
            }
            if passes_over {
                self.pass_over(place, offer.view());
                has_reported |= self.plan[place].reported;
            }
            self.plan.swap(kept, place);
            kept += 1;
        }
        self.plan.truncate(kept);
        self.has_reported = has_reported;
        Ok(())
    }

    /// Starts a task of the plan now. Returns whether a machine had room; otherwise it gets a later place.
    fn start(&mut self, place: usize, offer: &mut Offer<'_, '_>) -> Result<bool, Violation> {
        let now = offer.view().now();
        let Planned { task, length, .. } = self.plan[place];
        let end = said_end(task, offer.view()).max(now.saturating_add(1));
        offer.start(task, 1)?;
        let Some(run) = offer.latest().next() else {
            let planned = &mut self.plan[place];
            planned.take_out(&mut self.profile, now);
            planned.place(&mut self.profile, offer.view().all(), now.saturating_add(1));
            planned.postponed = true;
            return Ok(false);
        };
        self.running.add(run, task, end);
        let reserved = now.saturating_add(length);
        let unit = std::mem::take(&mut self.plan[place].unit);
        self.shorten(end, reserved, &unit);
        if end > reserved {
            self.change = Change::Anew;
        }
        Ok(true)
    }

    /// Reports that the place of a task is later although there is room now: it would delay another. The plan is long, so what is
    /// known already is neither looked for nor reported again.
    fn pass_over(&mut self, place: usize, view: View<'_>) {
        let planned = &self.plan[place];
        let has_room = view.all_free().holds(&planned.unit);
        if planned.postponed || !(has_room || planned.reported) {
            return;
        }
        let is_known = !has_room || planned.delays.is_some_and(|(at, _)| at > view.now());
        let delays = if is_known { planned.delays } else { Some(self.delayed_by(planned, view)) };
        view.pass_over(planned.task, Reason::Backfill, delays.and_then(|(_, job)| job));
        let planned = &mut self.plan[place];
        (planned.delays, planned.reported) = (delays, has_room);
    }

    /// When a task that started now would first take what is reserved, and the first other job with a reservation from then on.
    fn delayed_by(&self, planned: &Planned, view: View<'_>) -> (Ms, Option<JobId>) {
        let Some(at) = self.profile.next_without(&planned.unit, view.all(), view.now()) else {
            return (Ms::MAX, None);
        };
        let job = |planned: &Planned| view.task(planned.task).job;
        let mut reserved = self.plan.iter().filter(|other| other.start == Some(at)).map(job);
        (at, reserved.find(|&other| other != job(planned)))
    }
}

impl Policy for Conservative {
    fn task_waits(&mut self, task: TaskId, _view: View<'_>) {
        if self.in_backlog.insert(task) {
            self.backlog.push_back(task);
        }
    }

    fn task_finished(&mut self, ended: &Ended, view: View<'_>) {
        self.profile.advance(ended.finish);
        if let Some(said) = self.running.remove(ended) {
            self.shorten(ended.finish, said, &view.unit(ended.task));
            if ended.finish > said {
                self.change = self.change.max(Change::Compress);
            }
        }
    }

    fn nodes_changed(&mut self, _view: View<'_>) {
        self.change = Change::Anew;
    }

    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let now = offer.view().now();
        self.profile.advance(now);
        // Others were planned around what could not start.
        if self.plan.iter().any(|planned| planned.postponed) {
            self.change = self.change.max(Change::Compress);
        }
        let is_missed = |planned: &Planned| !planned.postponed && planned.start.is_some_and(|start| start < now);
        let missed = self.plan.iter().any(is_missed);
        if missed || self.running.is_overdue(now) {
            self.change = Change::Anew;
        }
        // What starts makes room in a plan that was full.
        loop {
            let known = self.take_in(offer.view());
            if self.plan.len() > known || self.change != Change::None {
                self.arrange(known, offer.view());
            }
            let before = self.plan.len();
            self.start_due(offer)?;
            if self.plan.len() == before || self.backlog.is_empty() {
                return Ok(());
            }
        }
    }
}
