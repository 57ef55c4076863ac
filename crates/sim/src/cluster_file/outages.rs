//! `[[outages]]`: when nodes are down.

use serde::{Deserialize, Serialize};

use crate::ids::Ms;

/// A time in which a node is down (policies A.8). What runs there dies; the master learns of it when it has heard nothing for
/// `heartbeat.expiry`, or when the node is back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// The node's host name.
    pub host: String,
    /// From when on it is down, ms of the simulated clock.
    pub from: Ms,
    /// When it is back, ms; absent: never.
    pub to: Option<Ms>,
}
