//! How much of a queue its application masters may take (rule F5).
//!
//! | rules | limit |
//! |---|---|
//! | 2014 | share × fair share, of memory; of virtual cores, too, under DRF; a queue without a fair share starts none |
//! | 3.4 | share × fair share, of both, rounded up; where the fair share is nothing, × what is free in the cluster and within the maximum |

use resched_sim::JobId;
use resched_sim::hadoop::{Ask, Resources, View};

use super::YarnFair;
use super::queues::App;

impl YarnFair {
    /// True if the masters of a job's queue leave room for its own (`FSLeafQueue.canRunAppAM`).
    pub(super) fn may_start_master(&self, job: JobId, view: View<'_>) -> bool {
        let place = self.apps[job].queue;
        // A queue says −1 for all.
        let share = self.tree.get(place).settings.max_am_share.or(self.max_am_share).filter(|&share| share >= 0.0);
        let with_it = self.queues[place].masters.plus(view.yarn().demand(Ask::Am));
        share.is_none_or(|share| {
            let share = f64::from(share as f32);
            if self.rules.whole_master_limit {
                let most = self.most_of_masters(place);
                let part = |amount: u64| (amount as f64 * share).ceil() as u64;
                most.map(part).holds(with_it)
            } else {
                !Self::is_more(self.share_of(place), with_it, self.queues[place].fair_share.scaled(share))
            }
        })
    }

    /// Of what masters may take a share (`FSLeafQueue.computeMaxAMResource`).
    fn most_of_masters(&self, place: usize) -> Resources {
        let (fair, most) = (self.queues[place].fair_share, self.most(place));
        fair.zip(self.seen_free.min(most), |fair, free| if fair == 0 { free } else { fair })
    }

    /// The master of a job has its container.
    pub(super) fn master_is_there(&mut self, job: JobId, size: Resources) {
        let App { queue, master, .. } = &mut self.apps[job];
        *master = size;
        let masters = &mut self.queues[*queue].masters;
        *masters = masters.plus(size);
    }

    /// The master of a job, if it has one, no longer counts for the limit of its queue (`FSLeafQueue.removeApp`).
    pub(super) fn master_is_gone(&mut self, job: JobId) {
        let App { queue, master, .. } = &mut self.apps[job];
        let masters = &mut self.queues[*queue].masters;
        *masters = masters.minus(std::mem::take(master));
    }
}
