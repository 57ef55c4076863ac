//! Which engine replays what.

use serde::{Deserialize, Serialize};

/// One of the two engines that replay jobs, and with it a kind of trace and of policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEngine {
    /// Maps and reduces of a Hadoop cluster, on slots or in containers, with heartbeats.
    #[default]
    Hadoop,
    /// Tasks of a production cluster that request processor and memory, without heartbeats.
    Batch,
}

impl RunEngine {
    /// Its name in words.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Hadoop => "the engine for Hadoop",
            Self::Batch => "the engine for production traces",
        }
    }
}
