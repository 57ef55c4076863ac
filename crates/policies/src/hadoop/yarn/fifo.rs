//! YARN's FIFO scheduler (`docs/model/yarn-policies.md`).
//!
//! **What it does.** Applications stand in one queue by submission. A heartbeat of a node serves them in that order,
//! and the requests of each application by priority. It allocates as many containers as fit: first those near their
//! data, then any others. No application waits for a better node. A request that does not fit is passed over and gets
//! no reservation.
//!
//! **Source.** YARN, August 2014. As in YARN, an application's requests of lower priority wait while one of higher
//! priority gets nothing. Application masters are not limited, so masters alone can fill a small cluster and block it.

use resched_sim::cluster_file::Calculator;
use resched_sim::hadoop::{Ask, Offer, Policy, System};
use resched_sim::{JobId, Violation};

use crate::info::{ALL_ACT, Build, Family, PolicyInfo};

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "yarn-fifo",
    title: "YARN FIFO scheduler",
    source: "Hadoop YARN (August 2014)",
    family: Family::Yarn,
    oracle: false,
    parameters: &[],
    inputs: &[],
    idle: ALL_ACT,
    build: Build::Hadoop(System::Containers, |_, _| Ok(Box::new(YarnFifo::default()))),
};

/// The policy.
#[derive(Debug, Default)]
struct YarnFifo {
    order: Vec<JobId>,
}

impl YarnFifo {
    /// Serves the requests of one priority; returns whether one was served.
    fn serve(offer: &mut Offer<'_, '_>, job: JobId, ask: Ask) -> Result<bool, Violation> {
        let mut any = false;
        while offer.yarn().fits(ask)
            && let Some(near) = offer.yarn().nearest(job, ask)
        {
            offer.grant(job, ask, near)?;
            any = true;
        }
        Ok(any)
    }
}

impl Policy for YarnFifo {
    fn system(&self) -> System {
        System::Containers
    }

    /// Memory alone, whatever the cluster file says (`FifoScheduler.resourceCalculator`).
    fn calculator(&self, _of_cluster: Calculator) -> Calculator {
        Calculator::Memory
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        self.order.clear();
        self.order.extend_from_slice(offer.view().jobs());
        for &job in &self.order {
            for ask in Ask::ALL {
                if offer.view().yarn().app(job).asked(ask) > 0 && !Self::serve(offer, job, ask)? {
                    break;
                }
            }
            if !offer.yarn().has_room() {
                break;
            }
        }
        Ok(())
    }
}
