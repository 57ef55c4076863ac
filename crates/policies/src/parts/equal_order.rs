//! The order of naive fair sharing: the job with the fewest running tasks first (policies B.2).

use resched_sim::hadoop::{Kind, Offer, Reach, View};
use resched_sim::{JobId, Violation};

/// The jobs that could launch a task of a kind now, by the number of such tasks that they run, then by submission, then by
/// id. The vector is the caller's, so that it is not made anew at each heartbeat.
pub fn equal_order(view: View<'_>, kind: Kind, jobs: &mut Vec<JobId>) {
    jobs.clear();
    jobs.extend(view.jobs().iter().copied().filter(|&job| view.job(job).ready(kind) > 0));
    jobs.sort_by_key(|&job| (view.job(job).running(kind), job));
}

/// Fills the node's free map slots, each from the job that runs the fewest maps; near its input if it can be, else anywhere.
///
/// # Errors
/// As [`Offer::launch`].
pub fn launch_maps(offer: &mut Offer<'_, '_>, jobs: &mut Vec<JobId>) -> Result<(), Violation> {
    while offer.free(Kind::Map) > 0 && offer.view().ready(Kind::Map) > 0 {
        equal_order(offer.view(), Kind::Map, jobs);
        let mut any = false;
        for &job in jobs.iter() {
            if offer.launch_map(job, Reach::Any)?.is_some() {
                any = true;
                break;
            }
        }
        if !any {
            break;
        }
    }
    Ok(())
}

/// Fills the node's free reduce slots, each from the job that runs the fewest reduces; reduces have no locality.
///
/// # Errors
/// As [`Offer::launch`].
pub fn launch_reduces(offer: &mut Offer<'_, '_>, jobs: &mut Vec<JobId>) -> Result<(), Violation> {
    while offer.free(Kind::Reduce) > 0 && offer.view().ready(Kind::Reduce) > 0 {
        equal_order(offer.view(), Kind::Reduce, jobs);
        let mut any = false;
        for &job in jobs.iter() {
            if offer.launch_reduce(job)? {
                any = true;
                break;
            }
        }
        if !any {
            break;
        }
    }
    Ok(())
}
