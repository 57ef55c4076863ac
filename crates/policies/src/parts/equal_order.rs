//! The order of naive fair sharing: the job with the fewest running tasks first (`docs/model/naive-fair.md`).

use resched_sim::hadoop::{Kind, Offer, View};
use resched_sim::{JobId, Violation};

use crate::parts::by_id::ByJob;
use crate::parts::launch::launch_first;
use crate::parts::ranking::{Key, Ranking};

/// The active jobs by the number of tasks of a kind that they run, then by submission, then by id.
#[derive(Debug, Default)]
pub struct EqualOrder {
    rankings: [Ranking; 2],
    /// The keys of the jobs that are listed.
    keys: ByJob<Option<[Key; 2]>>,
    /// How many changes of jobs have been followed.
    followed: u64,
}

impl EqualOrder {
    /// The active jobs, in order; those that could launch no task of the kind now, too.
    pub fn of(&mut self, view: View<'_>, kind: Kind) -> impl Iterator<Item = JobId> + use<'_> {
        self.follow(view);
        self.rankings[kind.index()].iter().copied()
    }

    /// Follows what has happened since it was asked last.
    fn follow(&mut self, view: View<'_>) {
        match view.jobs_changed_after(self.followed) {
            Some(jobs) => jobs.for_each(|job| self.follow_job(job, view)),
            None => {
                let listed: Vec<JobId> = self.rankings[0].iter().copied().collect();
                listed.iter().chain(view.jobs()).for_each(|&job| self.follow_job(job, view));
            }
        }
        self.followed = view.job_changes();
        debug_assert!(Kind::BOTH.into_iter().all(|kind| self.is_sorted(view, kind)), "the order of jobs is not theirs");
    }

    fn follow_job(&mut self, job: JobId, view: View<'_>) {
        let after = view.job(job).is_active().then(|| Kind::BOTH.map(|kind| key(view, kind, job)));
        let before = std::mem::replace(&mut self.keys[job], after);
        for (kind, ranking) in self.rankings.iter_mut().enumerate() {
            ranking.put(&job, [before, after].map(|keys| keys.map(|keys| keys[kind])));
        }
    }

    /// True if the order is that of all active jobs if they are sorted anew.
    fn is_sorted(&self, view: View<'_>, kind: Kind) -> bool {
        let mut sorted = Ranking::default();
        sorted.fill(view.jobs().iter().map(|&job| (key(view, kind, job), job)));
        self.rankings[kind.index()] == sorted
    }

    /// Fills the node's free slots of a kind, each from the job that runs the fewest tasks of the kind; maps near their input if they
    /// can be, else anywhere.
    ///
    /// # Errors
    /// As [`Offer::launch`].
    pub fn launch(&mut self, offer: &mut Offer<'_, '_>, kind: Kind) -> Result<(), Violation> {
        while offer.free(kind) > 0 && offer.view().ready(kind) > 0 {
            let jobs = self.of(offer.view(), kind);
            if launch_first(offer, kind, jobs, |_, _| Ok(()))?.is_none() {
                break;
            }
        }
        Ok(())
    }
}

fn key(view: View<'_>, kind: Kind, job: JobId) -> Key {
    view.job(job).running(kind).into()
}
