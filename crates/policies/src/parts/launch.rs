//! Launching tasks of jobs in an order that the policy chose.

use resched_sim::hadoop::{Kind, Offer, Reach, View};
use resched_sim::{JobId, Violation};
use resched_tables::model::Reason;

/// Launches a task of a kind of a job: a map as near to its input as this node can, or a reduce. Returns whether the job had one
/// for this node.
///
/// # Errors
/// As [`Offer::launch`].
pub fn launch_task(offer: &mut Offer<'_, '_>, kind: Kind, job: JobId) -> Result<bool, Violation> {
    match kind {
        Kind::Map => Ok(offer.launch_map(job, Reach::Any)?.is_some()),
        Kind::Reduce => offer.launch_reduce(job),
    }
}

/// The first of these jobs that `may`, and that can launch a task of a kind on this node, does so. Returns which one did. Jobs that may
/// not are passed over for the reason that `may` gives.
///
/// # Errors
/// As [`Offer::launch`].
pub fn launch_first(
    offer: &mut Offer<'_, '_>,
    kind: Kind,
    jobs: impl IntoIterator<Item = JobId>,
    may: impl Fn(JobId, View<'_>) -> Result<(), Reason>,
) -> Result<Option<JobId>, Violation> {
    if offer.free(kind) == 0 {
        return Ok(None);
    }
    for job in jobs {
        let view = offer.view();
        if !view.job(job).any_ready(kind) {
            continue;
        }
        match may(job, view) {
            Err(reason) => view.pass_over(job, kind, reason),
            Ok(()) if launch_task(offer, kind, job)? => return Ok(Some(job)),
            Ok(()) => {}
        }
    }
    Ok(None)
}

/// True if this heartbeat can launch anything. Where it cannot, the engine may leave it out, so what a policy does only where it
/// can does not depend on parking.
pub fn can_launch(offer: &Offer<'_, '_>) -> bool {
    Kind::BOTH.into_iter().any(|kind| offer.free(kind) > 0 && offer.view().ready(kind) > 0)
}
