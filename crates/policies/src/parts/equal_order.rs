//! The order of naive fair sharing: the job with the fewest running tasks first (policies B.2).

use resched_sim::hadoop::{Kind, Offer, View};
use resched_sim::{JobId, Violation};

use crate::parts::launch::launch_first;

/// The jobs that could launch a task of a kind now, by the number of such tasks that they run, then by submission, then by
/// id. The vector is the caller's, so that it is not made anew at each heartbeat.
pub fn equal_order(view: View<'_>, kind: Kind, jobs: &mut Vec<JobId>) {
    jobs.clear();
    jobs.extend(view.jobs().iter().copied().filter(|&job| view.job(job).ready(kind) > 0));
    jobs.sort_by_key(|&job| (view.job(job).running(kind), job));
}

/// Fills the node's free slots of a kind, each from the job that runs the fewest tasks of the kind; maps near their input if they
/// can be, else anywhere.
///
/// # Errors
/// As [`Offer::launch`].
pub fn launch_equally(offer: &mut Offer<'_, '_>, kind: Kind, jobs: &mut Vec<JobId>) -> Result<(), Violation> {
    while offer.free(kind) > 0 && offer.view().ready(kind) > 0 {
        equal_order(offer.view(), kind, jobs);
        if launch_first(offer, kind, jobs.iter().copied(), |_, _| Ok(()))?.is_none() {
            break;
        }
    }
    Ok(())
}
