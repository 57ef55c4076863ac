//! What changed lately, for policies that keep what they would otherwise compute anew at each heartbeat.

use crate::ids::JobId;

/// So many changes of jobs are remembered. Who has missed more must look at all jobs.
const REMEMBERED: usize = 1 << 10;

/// The latest changes.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// How many changes of jobs there were.
    count: u64,
    /// The latest of them: each stands at its number, modulo [`REMEMBERED`].
    jobs: Vec<JobId>,
    /// Changes of attempts that `World::version` does not count.
    of_attempts: u64,
    /// Of these, the changes that came with a launch.
    of_launched: u64,
}

impl Changes {
    /// A job arrives or ends, an attempt of it starts or ends, or the output of one of its maps is lost.
    pub(crate) fn note_job(&mut self, job: JobId) {
        let place = (self.count % REMEMBERED as u64) as usize;
        match self.jobs.get_mut(place) {
            Some(oldest) => *oldest = job,
            None => self.jobs.push(job),
        }
        self.count += 1;
    }

    /// How many changes of jobs there were.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The jobs of the changes after the first `known`; `None` if these are no longer all remembered.
    pub(crate) fn after(&self, known: u64) -> Option<impl Iterator<Item = JobId> + use<'_>> {
        let missed = self.count.checked_sub(known)?;
        let place = |number: u64| self.jobs[(number % REMEMBERED as u64) as usize];
        (missed <= REMEMBERED as u64).then(|| (known..self.count).map(place))
    }

    /// An attempt that stays on its node goes on in another way than before.
    pub(crate) fn note_attempt(&mut self) {
        self.of_attempts += 1;
    }

    /// An attempt that is being launched goes on in another way than its launch alone said.
    pub(crate) fn note_launched(&mut self) {
        self.note_attempt();
        self.of_launched += 1;
    }

    /// How often an attempt went on in another way.
    pub(crate) fn of_attempts(&self) -> u64 {
        self.of_attempts
    }

    /// How often one did that had been launched before.
    pub(crate) fn of_earlier_attempts(&self) -> u64 {
        self.of_attempts - self.of_launched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_changes_are_remembered_and_no_others() {
        let mut changes = Changes::default();
        let after = |changes: &Changes, known| changes.after(known).map(Iterator::collect::<Vec<JobId>>);
        assert_eq!(after(&changes, 0), Some(Vec::new()));
        (0..REMEMBERED as u32 + 3).for_each(|job| changes.note_job(JobId(job)));
        let count = changes.count();
        assert_eq!(after(&changes, count - 2), Some(vec![JobId(REMEMBERED as u32 + 1), JobId(REMEMBERED as u32 + 2)]));
        assert_eq!(after(&changes, 3).map(|jobs| (jobs.len(), jobs[0])), Some((REMEMBERED, JobId(3))));
        assert_eq!((after(&changes, 2), after(&changes, count + 1)), (None, None));
    }
}
