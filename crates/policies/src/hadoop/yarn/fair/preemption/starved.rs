//! Who is starved (`FSLeafQueue.updateStarvedApps`): jobs that had less than a part of their fair share for long, and those of queues that
//! had less than their guarantee.

use resched_sim::hadoop::{Resources, View};
use resched_sim::{JobId, Ms};

use super::line::Line;
use crate::hadoop::yarn::fair::reservations::shares;
use crate::hadoop::yarn::fair::{ROOT, YarnFair};
use crate::queues::yarn_fair::{FairQueue, SharePolicy};

/// The part of its fair share below which a job starves, if no queue says otherwise.
const THRESHOLD: f64 = 0.5;

/// What a job lacks so long that others lose containers for it.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::hadoop::yarn::fair) struct Needs {
    /// Of the guarantee of its queue.
    pub(super) of_guarantee: Resources,
    /// Of its fair share.
    pub(super) of_share: Resources,
    /// When it last had its part of it, ms; `None`: not since it came.
    pub(super) had_share: Option<Ms>,
    /// When it is looked at again, ms.
    pub(super) next_look: Ms,
}

impl Needs {
    pub(in crate::hadoop::yarn::fair) fn lacks_guarantee(&self) -> bool {
        self.of_guarantee != Resources::NONE
    }

    /// All that it lacks.
    pub(super) fn all(&self) -> Resources {
        self.of_share.plus(self.of_guarantee)
    }
}

impl YarnFair {
    /// The starved jobs of all queues.
    pub(super) fn find_starved(&mut self, view: View<'_>) -> Line {
        let mut line = Line::default();
        for leaf in 0..self.queues.len() {
            if self.tree.is_leaf(leaf) && leaf != ROOT {
                self.find_starved_in(leaf, view, &mut line);
            }
        }
        line
    }

    fn find_starved_in(&mut self, leaf: usize, view: View<'_>, line: &mut Line) {
        let share = self.share_of(leaf);
        let wants = |job: &JobId| {
            self.apps[*job].demand != view.yarn().app(*job).held() && view.now() >= self.apps[*job].needs.next_look
        };
        let mut jobs: Vec<JobId> = self.queues[leaf].jobs.iter().copied().filter(wants).collect();
        jobs.sort_by(|&a, &b| self.order_jobs(share, view, a, b));
        let mut of_share = Resources::NONE;
        for &job in &jobs {
            let lack = self.lack_of_share(job, leaf, view);
            if lack == Resources::NONE {
                break;
            }
            line.add(job, |job| self.apps[job].needs.all());
            of_share = of_share.plus(lack);
        }
        let of_guarantee = self.lack_of_guarantee(leaf, view.now()).minus(of_share);
        self.spread(&jobs, share, of_guarantee, view, line);
    }

    /// What a job lacks of its fair share, if it has for long (`FSAppAttempt.fairShareStarvation`).
    fn lack_of_share(&mut self, job: JobId, leaf: usize, view: View<'_>) -> Resources {
        let now = view.now();
        let found = |key: fn(&FairQueue) -> Option<f64>| {
            self.tree.with_ancestors(leaf).find_map(|place| key(&self.tree.get(place).settings))
        };
        let threshold = found(|queue| queue.fair_share_threshold).unwrap_or(THRESHOLD);
        let timeout = self.tree.with_ancestors(leaf).find_map(|place| self.tree.get(place).settings.fair_share_timeout);
        let wanted = self.apps[job].fair_share.scaled(f64::from(threshold as f32)).min(self.apps[job].demand);
        let used = view.yarn().app(job).held();
        let is_starved = self.is_below(leaf, used, wanted, view);
        let start = self.start(job, view);
        let needs = &mut self.apps[job].needs;
        if !is_starved {
            needs.had_share = Some(now);
        }
        let since = needs.had_share.unwrap_or(start);
        let is_due = is_starved && timeout.is_some_and(|timeout| now - since >= timeout);
        needs.of_share = if is_due { wanted.minus(used) } else { Resources::NONE };
        needs.of_share
    }

    /// What a queue lacks of its guarantee, if it has for long (`FSLeafQueue.minShareStarvation`).
    fn lack_of_guarantee(&mut self, leaf: usize, now: Ms) -> Resources {
        let timeout = self.tree.with_ancestors(leaf).find_map(|place| self.tree.get(place).settings.min_share_timeout);
        let FairQueue { min_memory_mb, min_vcores, .. } = self.tree.get(leaf).settings;
        let further = self.queues[leaf].further.min;
        let min = Resources { further, ..Resources::of(min_vcores.into(), min_memory_mb.into()) };
        let queue = &mut self.queues[leaf];
        let lack = min.min(queue.demand).minus(queue.used);
        let since = queue.starvation.lacks_guarantee_since(lack != Resources::NONE, now);
        if timeout.is_some_and(|timeout| now - since >= timeout) { lack } else { Resources::NONE }
    }

    /// Spreads what a queue lacks of its guarantee over its jobs. (Known defect: the job at which it runs out is charged with what it wants
    /// less the rest.) (`FSLeafQueue.updateStarvedAppsMinshare`.)
    fn spread(&mut self, jobs: &[JobId], share: SharePolicy, lack: Resources, view: View<'_>, line: &mut Line) {
        let mut left = lack;
        for &job in jobs {
            if left == Resources::NONE {
                self.apps[job].needs.of_guarantee = Resources::NONE;
                continue;
            }
            let app = &self.apps[job];
            let mut part = app.demand.minus(view.yarn().app(job).held()).minus(app.needs.of_share);
            let is_more = match share {
                SharePolicy::Drf => shares(part, view) > shares(left, view),
                SharePolicy::Fair | SharePolicy::Fifo => part.memory > left.memory,
            };
            if is_more {
                part = part.minus(left);
                left = Resources::NONE;
            } else {
                left = left.minus(part);
            }
            self.apps[job].needs.of_guarantee = part;
            line.add(job, |job| self.apps[job].needs.all());
        }
    }
}
