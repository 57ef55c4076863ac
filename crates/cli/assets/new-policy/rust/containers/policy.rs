//! A policy for the containers of YARN.

use resched_kit::hadoop::{Ask, Offer, Policy, System, View};
use resched_kit::prelude::*;

/// Room goes to the job that asks for the fewest containers. Jobs that are old go first, in the order of their submission.
pub(crate) struct MyPolicy {
    /// How long after its submission a job is old, ms.
    patience: Ms,
}

impl MyPolicy {
    /// The policy, with its patience in seconds.
    pub(crate) fn new(patience_s: u32) -> Self {
        Self { patience: Ms::from(patience_s) * 1000 }
    }

    /// The place of a job in the line: the lowest goes first. It ends with the job, so that no two places are equal.
    fn place(&self, view: View<'_>, job: JobId) -> (u8, i64, JobId) {
        let submit = view.job(job).submit();
        if view.now() - submit >= self.patience {
            return (0, submit, job);
        }
        let app = view.yarn().app(job);
        (1, Ask::ALL.iter().map(|&ask| i64::from(app.asked(ask))).sum(), job)
    }
}

impl Policy for MyPolicy {
    fn system(&self) -> System {
        System::Containers
    }

    /// Grants the containers that the node should run. The engine calls this when a node with room reports.
    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let mut jobs = offer.view().jobs().to_vec();
        jobs.sort_by_cached_key(|&job| self.place(offer.view(), job));
        for job in jobs {
            // The requests of a job are served in this order: a later one waits while an earlier one gets nothing.
            for ask in Ask::ALL {
                if offer.view().yarn().app(job).asked(ask) > 0 && !grant(offer, job, ask)? {
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

/// Grants as many containers of this kind as fit, each as near to its data as possible. Returns whether there was one.
fn grant(offer: &mut Offer<'_, '_>, job: JobId, ask: Ask) -> Result<bool, Violation> {
    let mut granted = false;
    while offer.yarn().fits(ask)
        && let Some(near) = offer.yarn().nearest(job, ask)
    {
        offer.grant(job, ask, near)?;
        granted = true;
    }
    Ok(granted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job with twelve maps, and two seconds later a job with one.
    const WORKLOAD: &str = r#"
        name = "two-jobs"
        cluster = { nodes = 1, map_slots = 1 }
        classes.work = { map_mean_s = 10 }
        jobs = [
            { class = "work", submit_s = 0, maps = 12 },
            { class = "work", submit_s = 2, maps = 1 },
        ]
    "#;

    /// Which of the two jobs ends first, with every rule of the engine checked. The machine has room for two application masters and one
    /// map.
    fn first_to_end(patience_s: u32) -> Result<usize, Error> {
        let cluster = ClusterConfig::parse("containers = { memory_mb = 5120, vcores = 4 }")?;
        let world = World::open(&workload("two-jobs", WORKLOAD)?, Setup { cluster, check: true, ..Setup::default() })?;
        let times = world.replay(Scheduler::Hadoop("my-policy", &mut MyPolicy::new(patience_s)), Times)?;
        Ok(if times.jobs[0].finish < times.jobs[1].finish { 0 } else { 1 })
    }

    #[test]
    fn the_small_job_goes_first() -> Result<(), Error> {
        assert_eq!(first_to_end(300)?, 1);
        Ok(())
    }

    #[test]
    fn an_old_job_goes_first() -> Result<(), Error> {
        assert_eq!(first_to_end(0)?, 0);
        Ok(())
    }
}
