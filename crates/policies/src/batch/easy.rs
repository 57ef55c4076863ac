//! EASY backfilling: later tasks start early if that does not delay the first waiting task.
//!
//! **What it does.** Tasks start in the order of submission while there is room. The first task without room is
//! promised a start time, the shadow time: the instant at which enough will be free, by the estimates of the running
//! tasks. A later task starts if there is room for it and one of two things holds: it ends by the shadow time, by its
//! estimate; or it needs no more than what will be left over then (the extra resources).
//!
//! **Source.** Lifka, *The ANL/IBM SP scheduling system*, 1995; Mu'alem and Feitelson, *Utilization, predictability, workloads, and
//! user runtime estimates*, 2001.
//!
//! **Decisions.** An estimate is the time that the job requested. If the trace has none, it is the logged run time, so
//! the estimate is exact. A task that runs longer than estimated is not killed; it counts as ending in the next
//! millisecond. Free resources are summed over all machines, each dimension by itself: processor, memory, GPUs and other
//! named resources, licences. A task must fit on one machine, so the promise may fail if there are several. A task with an estimated end at the shadow time itself does
//! not delay the first. Each instance of a task is placed by itself. At most `depth` tasks behind the first are
//! considered.

use resched_sim::batch::{Amounts, Ended, Offer, Policy, View};
use resched_sim::{Ms, TaskId, Violation};
use resched_tables::model::Reason;

use super::estimates::Running;
use super::fifo::{DEPTH, PRIORITY};
use super::queue::{Place, Queue};
use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::settings::settings;

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "easy",
    title: "EASY backfilling: later tasks start early if that does not delay the first waiting task",
    source: "Lifka 1995; Mu'alem and Feitelson 2001",
    family: Family::Batch,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[],
    idle: ALL_ACT,
    build: Build::Batch(|values, _| Ok(Box::new(Easy::new(&Settings::read(values)?)))),
};

settings! {
    /// What you can set.
    struct Settings {
        depth: u32 = DEPTH,
        priority: bool = PRIORITY,
    }
}

/// The policy.
#[derive(Debug)]
struct Easy {
    queue: Queue,
    running: Running,
    depth: u32,
    /// Room for the tasks of a pass of which nothing waits any more.
    started: Vec<Place>,
}

/// What the first that waits is promised.
struct Promise {
    /// When it starts at the latest, ms.
    shadow: Ms,
    /// What is left over then.
    extra: Amounts,
}

impl Promise {
    /// True if something of this size that ends then does not delay the first.
    fn allows(&self, end: Ms, unit: &Amounts) -> bool {
        end <= self.shadow || self.extra.holds(unit)
    }

    /// Such a thing has started: what it takes of the rest is taken off.
    fn take(&mut self, end: Ms, unit: &Amounts) {
        if end > self.shadow {
            self.extra.take(unit);
        }
    }
}

impl Easy {
    fn new(settings: &Settings) -> Self {
        Self {
            queue: Queue::new(settings.priority),
            running: Running::default(),
            depth: settings.depth,
            started: Vec::new(),
        }
    }

    /// When enough will be free for a task that finds no room now. Something must end for that, also if all machines together
    /// have enough. If it will never be, nothing delays it.
    fn promise(&self, task: TaskId, view: View<'_>) -> Promise {
        let need = view.unit(task);
        let mut free = view.all_free().clone();
        let mut shadow = None;
        for (end, amount) in self.running.ends(view) {
            if shadow.is_some_and(|shadow| end > shadow) {
                break;
            }
            free.add(&amount);
            if free.holds(&need) {
                shadow = Some(end);
            }
        }
        match shadow {
            Some(shadow) => {
                free.take(&need);
                Promise { shadow, extra: free }
            }
            None => Promise { shadow: Ms::MAX, extra: Amounts::default() },
        }
    }

    /// Starts what does not delay the first.
    fn backfill(&mut self, first: Place, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let mut promise = self.promise(first.task, offer.view());
        self.started.clear();
        for place in self.queue.rest(first).take(self.depth as usize) {
            let task = place.task;
            while offer.view().waiting(task) > 0 {
                let (end, unit) = (said_end(task, offer.view()), offer.view().unit(task));
                if !promise.allows(end, &unit) {
                    let (view, delayed) = (offer.view(), offer.view().task(first.task).job);
                    view.pass_over(task, Reason::Backfill, Some(delayed));
                    break;
                }
                if !start(task, &mut self.running, offer)? {
                    break;
                }
                promise.take(end, &unit);
            }
            if offer.view().waiting(task) == 0 {
                self.started.push(place);
            }
        }
        self.started.iter().for_each(|&place| self.queue.remove(place));
        Ok(())
    }
}

/// Starts a unit of a task, if it finds room.
fn start(task: TaskId, running: &mut Running, offer: &mut Offer<'_, '_>) -> Result<bool, Violation> {
    let end = said_end(task, offer.view());
    offer.start(task, 1)?;
    let Some(run) = offer.latest().next() else { return Ok(false) };
    running.add(run, task, end);
    Ok(true)
}

/// When a task that starts now is said to end.
pub(super) fn said_end(task: TaskId, view: View<'_>) -> Ms {
    view.now().saturating_add(view.estimate(task))
}

impl Policy for Easy {
    fn task_waits(&mut self, task: TaskId, view: View<'_>) {
        self.queue.add(task, view);
    }

    fn task_finished(&mut self, ended: &Ended, _view: View<'_>) {
        self.running.remove(ended);
    }

    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        while let Some(first) = self.queue.first() {
            while offer.view().waiting(first.task) > 0 && start(first.task, &mut self.running, offer)? {}
            if offer.view().waiting(first.task) > 0 {
                return self.backfill(first, offer);
            }
            self.queue.remove(first);
        }
        Ok(())
    }
}
