//! The waits of jobs, for rules that look at all of them.

use resched_tables::model::Reason;

use super::held::Why;
use super::phase::Phase;
use super::timeline::stretches;

/// A time in which a job waited and nothing of it ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wait {
    /// The row of the job.
    pub(crate) row: usize,
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) phase: Phase,
    pub(crate) reason: Reason,
}

impl Why {
    /// The waits of the jobs that count.
    pub(crate) fn waits(&self) -> Vec<Wait> {
        let (mut waits, mut changes) = (Vec::new(), Vec::new());
        for row in self.counted() {
            stretches(self, row, &mut changes, &mut |stretch| {
                if stretch.phase.is_wait() && !stretch.partly {
                    waits.push(Wait {
                        row,
                        from: stretch.from,
                        to: stretch.to,
                        phase: stretch.phase,
                        reason: stretch.reason,
                    });
                }
            });
        }
        waits
    }

    /// True if its jobs ran in containers.
    pub(crate) fn is_in_containers(&self) -> bool {
        self.in_containers
    }
}
