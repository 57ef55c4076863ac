//! Serving jobs in an order that the policy chose.

use resched_sim::hadoop::{Kind, Offer, Reach, View};
use resched_sim::{JobId, Violation};

/// The first of these jobs that `may`, and that can launch a task of a kind on this node, does so: a map near its input first,
/// else any. Returns whether one did.
///
/// # Errors
/// As [`Offer::launch`].
pub fn launch_first(
    offer: &mut Offer<'_, '_>,
    kind: Kind,
    jobs: &[JobId],
    may: impl Fn(JobId, View<'_>) -> bool,
) -> Result<bool, Violation> {
    if offer.free(kind) == 0 {
        return Ok(false);
    }
    for &job in jobs {
        let view = offer.view();
        if view.job(job).ready(kind) == 0 || !may(job, view) {
            continue;
        }
        let launched = match kind {
            Kind::Map => offer.launch_map(job, Reach::Any)?.is_some(),
            Kind::Reduce => offer.launch_reduce(job)?,
        };
        if launched {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether this heartbeat can launch anything. Where it cannot, the engine may leave it out, so what a policy does only where it
/// can does not depend on parking.
pub fn can_launch(offer: &Offer<'_, '_>) -> bool {
    Kind::BOTH.into_iter().any(|kind| offer.free(kind) > 0 && offer.view().ready(kind) > 0)
}
