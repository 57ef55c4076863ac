//! Nodes that are kept for requests that do not fit there yet (rule F1).
//!
//! | rules | a node without room is kept for |
//! |---|---|
//! | 2014 | the first job in line, however small its request |
//! | 3.4 | a job that has less than its share, if its request is large, and not many nodes are kept for it |

use resched_sim::hadoop::{Ask, FURTHER, Offer, Reach, Reservation, Resources, View};
use resched_sim::{JobId, NodeId, Violation};

use super::YarnFair;
use crate::queues::yarn_fair::SharePolicy;

/// By how much containers grow, where a site does not say: 1,024 MB and one virtual core.
const INCREMENT: Resources = Resources::of(1, 1024);

/// What a job may keep nodes for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keeping {
    /// The smallest request for which a node is kept.
    least: Resources,
    /// The share of the nodes, or of a rack's nodes, that are kept for one job.
    nodes: f32,
}

impl Keeping {
    pub(super) fn new(multiple: f64, nodes: f64) -> Self {
        Self { least: INCREMENT.scaled(multiple), nodes: nodes as f32 }
    }
}

impl YarnFair {
    /// Serves the request that the node is kept for. Returns whether the node is spoken for.
    pub(super) fn serve_reservation(&mut self, offer: &mut Offer<'_, '_>) -> Result<bool, Violation> {
        let Some(Reservation { job, ask, .. }) = offer.yarn().reservation() else { return Ok(false) };
        // The tasks that are left may have failed here, or its queue may have no more.
        let needs_master = ask == Ask::Am && self.rules.whole_master_limit;
        let may_start = !needs_master || self.may_start_master(job, offer.view());
        if !may_start || !self.may_be_served(offer, job, ask) {
            offer.yarn_mut().unreserve();
            return Ok(false);
        }
        if offer.yarn().fits_for(job, ask) {
            self.serve(offer, job, ask)?;
        }
        Ok(true)
    }

    /// Keeps the node, which has no room, for a request of a job that it is so near to, if that may be. Returns whether it is.
    pub(super) fn keep(
        &mut self,
        offer: &mut Offer<'_, '_>,
        (job, ask, near): (JobId, Ask, Reach),
    ) -> Result<bool, Violation> {
        let may_keep = match self.keeping {
            None => true,
            Some(keeping) => {
                self.is_large(job, offer.view().yarn().demand_of(job, ask), keeping, offer.view())
                    && self.is_starved(job, offer.view())
                    && !self.is_freed_for(offer.node(), job)
                    && !self.keeps_enough(job, (offer.node(), near), keeping, offer.view())
            }
        };
        if may_keep {
            offer.yarn_mut().reserve(job, ask)?;
            if let Some(kept) = offer.yarn().reservation().filter(|_| self.killing.is_some()) {
                self.apps[job].chosen.note_made(kept.container);
            }
        }
        Ok(may_keep)
    }

    /// True if a job uses less than its share, or lacks a part of a guarantee (`FSAppAttempt.isStarved`).
    pub(super) fn is_starved(&self, job: JobId, view: View<'_>) -> bool {
        let app = &self.apps[job];
        let used = view.yarn().app(job).held();
        self.is_below(app.queue, used, app.fair_share, view) || app.needs.lacks_guarantee()
    }

    /// True if a use is below a share, as a queue sees it: its dominant share under DRF, else its memory.
    pub(super) fn is_below(&self, queue: usize, used: Resources, share: Resources, view: View<'_>) -> bool {
        match self.share_of(queue) {
            SharePolicy::Drf => shares(used, view)[0] < shares(share, view)[0],
            SharePolicy::Fair | SharePolicy::Fifo => used.memory < share.memory,
        }
    }

    /// True if a request is so large that a node may be kept for it (`FairScheduler.isAtLeastReservationThreshold`).
    fn is_large(&self, job: JobId, size: Resources, keeping: Keeping, view: View<'_>) -> bool {
        match self.share_of(self.apps[job].queue) {
            SharePolicy::Drf => shares(size, view) >= shares(keeping.least, view),
            SharePolicy::Fair | SharePolicy::Fifo => size.memory >= keeping.least.memory,
        }
    }

    /// True if as many nodes are kept for a job as may be. A node with the data of a request is always kept
    /// (`FSAppAttempt.reservationExceedsThreshold`).
    fn keeps_enough(&self, job: JobId, (node, near): (NodeId, Reach), keeping: Keeping, view: View<'_>) -> bool {
        let yarn = view.yarn();
        let kept: u32 = Ask::ALL.into_iter().map(|ask| yarn.app(job).reserved(ask)).sum();
        let in_rack = || view.nodes().filter(|&other| view.rack(other) == view.rack(node));
        let (kept, of) = match near {
            Reach::Node => return false,
            Reach::Rack if kept == 0 => (0, in_rack().filter(|&other| view.is_live(other)).count()),
            Reach::Rack => {
                let is_kept = |other: &NodeId| yarn.reservation(*other).is_some_and(|kept| kept.job == job);
                (in_rack().filter(is_kept).count() as u32, in_rack().filter(|&other| view.is_live(other)).count())
            }
            Reach::OffRack | Reach::Any => (kept, view.live_nodes()),
        };
        kept >= (of as f32 * keeping.nodes).ceil() as u32
    }
}

/// The shares of the cluster, the largest first (`DominantResourceCalculator.compare`).
pub(super) fn shares(amount: Resources, view: View<'_>) -> [f64; 2 + FURTHER] {
    let total = view.yarn().total();
    let [memory, cpu] = [amount.memory as f64 / total.memory as f64, amount.cpu as f64 / total.cpu as f64];
    if total.further == [0; FURTHER] {
        return if cpu > memory { [cpu, memory, 0.0, 0.0] } else { [memory, cpu, 0.0, 0.0] };
    }
    let share = |value: u64, all: u64| if all == 0 { 0.0 } else { value as f64 / all as f64 };
    let [held, all] = [amount.further, total.further];
    let mut shares = [memory, cpu, share(held[0], all[0]), share(held[1], all[1])];
    shares.sort_unstable_by(|a, b| b.total_cmp(a));
    shares
}
