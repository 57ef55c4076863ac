//! The schedulers of YARN, which hand out containers.

pub(crate) mod capacity;
pub(crate) mod fair;
pub(crate) mod fifo;
mod hash_tables;
pub(crate) mod rules;

use resched_sim::hadoop::{Ask, Offer};

/// Reports the jobs that the node would have room for, if it were not kept for a request of another one.
fn report_kept(offer: &Offer<'_, '_>) {
    let (view, node) = (offer.view(), offer.yarn());
    let Some(kept) = node.reservation().filter(|_| view.wants_reasons() && node.has_room()) else { return };
    for &job in view.jobs().iter().filter(|&&job| job != kept.job) {
        let has_room_for = |ask: &Ask| view.yarn().app(job).asked(*ask) > 0 && node.fits_for(job, *ask);
        if let Some(ask) = Ask::ALL.into_iter().find(has_room_for) {
            view.pass_over_request_for(job, ask, kept.job);
        }
    }
}
