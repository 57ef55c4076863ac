//! What a node is given at its heartbeat, for the engine to report.

use crate::ids::{AttemptId, JobId, NodeId};

/// What a policy has given at a heartbeat.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Given {
    /// A slot or a container to an attempt.
    Attempt(AttemptId),
    /// A container to the master of a job.
    Master(JobId),
    /// Another node was kept for a request, and is no longer.
    Freed(NodeId),
}
