//! An attempt on a node.

use resched_tables::model::{Locality, Outcome};

use crate::hadoop::cost::Course;
use crate::hadoop::kind::Kind;
use crate::ids::{JobId, Ms, NodeId, TaskId};

/// Whether an attempt is to be killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kill {
    No,
    Ordered,
    /// Dead since its `end`, and reported at the node's next heartbeat.
    Done,
}

/// An attempt on a node, from its launch until the master learns of its end.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    pub(crate) task: TaskId,
    pub(crate) job: JobId,
    pub(crate) kind: Kind,
    pub(crate) attempt: u32,
    pub(crate) node: NodeId,
    pub(crate) level: Locality,
    /// The heartbeat that assigned it.
    pub(crate) assigned: Ms,
    pub(crate) start: Ms,
    pub(crate) course: Course,
    pub(crate) shuffle_finish: Option<Ms>,
    /// When a reduce sorts, if not as soon as it has its input (copy-compute splitting).
    pub(crate) compute: Option<Ms>,
    /// When it ends; a reduce's is unknown until all maps are done.
    pub(crate) end: Option<Ms>,
    pub(crate) reported: bool,
    pub(crate) kill: Kill,
    /// True if its task ran already when it was launched.
    pub(crate) backup: bool,
    /// True if it died with its node, which the master does not know yet.
    pub(crate) lost: bool,
    /// True if its end does not count, however it came.
    pub(crate) unwanted: bool,
    /// Its place among the running attempts of its job and kind.
    pub(super) place: u32,
    /// The serial number of its launch, which distinguishes it from others that had the same place in `runs`.
    pub(crate) launch: u64,
    /// Which container of the replay it has, by the order in which they were made; one for which a node was kept was made when that
    /// began.
    pub(crate) container: u64,
    /// True if its container has been taken back already, at a tick, before its node ends it.
    pub(crate) taken_back: bool,
    /// True if what it holds on its node stays taken until the node has ended it, though its container was taken back.
    pub(crate) keeps_room: bool,
    /// True if the master of its job has still to choose its map.
    pub(crate) granted: bool,
    /// True if the observer has been reported of it.
    pub(crate) announced: bool,
}

impl Attempt {
    /// When a reduce that ended so had all its input, and when it had sorted it.
    #[inline]
    pub(crate) fn phases(&self, outcome: Outcome) -> (Option<Ms>, Option<Ms>) {
        let reduced = self.kind == Kind::Reduce && outcome == Outcome::Success;
        let shuffle_finish = self.shuffle_finish.filter(|_| reduced);
        (shuffle_finish, shuffle_finish.map(|at| self.compute.unwrap_or(at) + self.course.sort))
    }
}
