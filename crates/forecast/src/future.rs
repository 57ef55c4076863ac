//! The simulation of a drawn future by the engine that replays traces.
//!
//! **What runs** is submitted when it started. Nothing else is there then, so the policy starts it at once, and knows its start and its
//! limit as the real scheduler does. **What waits** is submitted when it was, and may start from the moment on. **What comes** follows. So
//! every policy can be forecast under, and none needs to be aware that it begins in the middle.

use resched_policies::PolicySpec;
use resched_sim::batch::{self, Again, Launched, Loaded, Machines, Workload};
use resched_sim::{Error as SimError, JobEnded, JobId, Ms, Reports};

use crate::Error;

/// A job of a future. Times are ms of the simulated clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) again: Again,
    /// What is asked of it.
    pub(crate) role: Role,
}

/// What a job is in a future.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It runs at the moment.
    Runs,
    /// It is asked when it starts: its place among those that are asked.
    Asked(u32),
    /// Neither.
    Other,
}

/// When the asked jobs start in a future.
#[derive(Debug, Clone, Default)]
pub(crate) struct Started {
    /// When each of them starts, ms of the simulated clock; `None`: not before the end of the future.
    pub(crate) starts: Vec<Option<Ms>>,
    /// The job whose end lets each of them start, by its place among the jobs of the future; `None`: no job ended at that instant.
    pub(crate) after: Vec<Option<u32>>,
    /// How many jobs that run at the moment had not started by then: the policy would not have started them.
    pub(crate) misplaced: u64,
}

/// Simulates a future, until all that are asked have started.
pub(crate) fn simulate(
    (loaded, machines): (&Loaded, &Machines),
    policy: &PolicySpec,
    now: Ms,
    seed: u64,
    entries: &[Entry],
) -> Result<Started, Error> {
    let jobs: Vec<Again> = entries.iter().map(|entry| entry.again).collect();
    let workload = loaded.workload.again(&jobs)?;
    let asked = entries.iter().filter(|entry| matches!(entry.role, Role::Asked(_))).count();
    let mut watch = Watch {
        workload: &workload,
        entries,
        now,
        ended: None,
        left: asked,
        started: Started { starts: vec![None; asked], after: vec![None; asked], misplaced: 0 },
    };
    let mut scheduler = policy.build_batch()?;
    batch::replay_seeded(&workload, machines, (&policy.label(), &mut *scheduler), seed, &mut watch, &mut |_| {})?;
    Ok(watch.started)
}

/// Takes note of the starts.
struct Watch<'w> {
    workload: &'w Workload,
    entries: &'w [Entry],
    now: Ms,
    /// The last end: when, and of which job.
    ended: Option<(Ms, JobId)>,
    left: usize,
    started: Started,
}

impl Reports for Watch<'_> {
    fn job_ended(&mut self, ended: &JobEnded) -> Result<(), SimError> {
        self.ended = Some((ended.finish, ended.job));
        Ok(())
    }
}

impl batch::Observer for Watch<'_> {
    fn launched(&mut self, launched: &Launched<'_>) -> Result<(), SimError> {
        let job = self.workload.task(launched.task).job;
        match self.entries.get(job.index()).map(|entry| entry.role) {
            Some(Role::Runs) => self.started.misplaced += u64::from(launched.at > self.now),
            Some(Role::Asked(place)) => {
                let (starts, after) = (&mut self.started.starts, &mut self.started.after);
                if let (Some(start), Some(after)) = (starts.get_mut(place as usize), after.get_mut(place as usize))
                    && start.is_none()
                {
                    *start = Some(launched.at);
                    *after = self.ended.filter(|(at, _)| *at == launched.at).map(|(_, job)| job.index() as u32);
                    self.left -= 1;
                }
            }
            Some(Role::Other) | None => {}
        }
        Ok(())
    }

    fn is_satisfied(&self) -> bool {
        self.left == 0
    }
}
