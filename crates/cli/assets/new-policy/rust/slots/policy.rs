//! A policy for the slots of MapReduce 1.

use resched_kit::hadoop::{Kind, Offer, Policy, Reach, View};
use resched_kit::prelude::*;

/// A free slot goes to the job with the fewest tasks left to launch. Jobs that are old go first, in the order of their submission.
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
    fn place(&self, view: View<'_>, job: JobId, kind: Kind) -> (u8, i64, JobId) {
        let of_job = view.job(job);
        match view.now() - of_job.submit() >= self.patience {
            true => (0, of_job.submit(), job),
            false => (1, of_job.waiting(kind).into(), job),
        }
    }
}

impl Policy for MyPolicy {
    /// Launches the tasks that the node should run. The engine calls this when a node with a free slot reports.
    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let mut jobs = offer.view().jobs().to_vec();
        for kind in Kind::BOTH {
            jobs.sort_by_key(|&job| self.place(offer.view(), job, kind));
            for &job in &jobs {
                while offer.free(kind) > 0 && launch(offer, job, kind)? {}
            }
        }
        Ok(())
    }
}

/// Launches a task of a job; a map starts as near to its data as possible. Returns whether there was a task.
fn launch(offer: &mut Offer<'_, '_>, job: JobId, kind: Kind) -> Result<bool, Violation> {
    match kind {
        Kind::Map => Ok(offer.launch_map(job, Reach::Any)?.is_some()),
        Kind::Reduce => offer.launch_reduce(job),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On one machine with one slot: a job with eight maps, and two seconds later a job with one.
    const WORKLOAD: &str = r#"
        name = "two-jobs"
        cluster = { nodes = 1, map_slots = 1 }
        classes.work = { map_mean_s = 10 }
        jobs = [
            { class = "work", submit_s = 0, maps = 8 },
            { class = "work", submit_s = 2, maps = 1 },
        ]
    "#;

    /// Which of the two jobs ends first, with every rule of the engine checked.
    fn first_to_end(patience_s: u32) -> Result<usize, Error> {
        let setup = Setup { check: true, ..Setup::default() };
        let world = World::open(&workload("two-jobs", WORKLOAD)?, setup)?;
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
