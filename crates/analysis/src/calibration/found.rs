//! All estimates of a trace.

use std::collections::BTreeMap;

use serde::Serialize;

use super::edges::Edges;
use super::fitted::Fitted;
use super::heartbeat::Heartbeat;
use super::locality::StageFactors;
use super::machines::Machines;
use super::rates::ShuffleRate;
use super::slots::{Containers, Slots};
use super::speculation::Speculation;

/// The estimates for the cluster of a trace. Each field names the function that estimates it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// Hosts on which attempts ran.
    pub hosts: u64,
    /// Racks of these hosts.
    pub racks: u64,
    /// True if the trace lists its machines. If not, the cluster file must say how many there are.
    pub names_machines: bool,
    /// Map slots of a node ([`super::slots()`]).
    pub map_slots: Slots,
    /// Reduce slots of a node.
    pub reduce_slots: Slots,
    /// What a node of YARN carried at once ([`super::containers`]).
    pub containers: Containers,
    /// Processor and memory of a machine of a production cluster ([`super::machines()`]).
    pub machines: Machines,
    /// Time between a node's heartbeats and from an assignment to the start ([`super::heartbeat()`]).
    pub heartbeat: Heartbeat,
    /// Initialisation, set-up and clean-up of a job ([`super::edges()`]).
    pub edges: Edges,
    /// Share of a job's maps that are finished before its reduces start ([`super::slowstart()`]).
    pub slowstart: Fitted,
    /// The locality wait of a delay scheduler, ms ([`super::locality_wait`]).
    pub locality_wait: Fitted,
    /// Backups of slow tasks ([`super::speculation()`]).
    pub speculation: Speculation,
    /// The run time of a map in the rack of its input and elsewhere, divided by that on a node with the input
    /// ([`super::locality_factors`]).
    pub locality: [Fitted; 2],
    /// The same of the tasks of Spark, by stage ([`super::stage_factors`]); absent for other systems. Of such a trace, a cluster file has
    /// these alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spark: Option<StageFactors>,
    /// Bytes per second that a map reads ([`super::map_rate`]).
    pub map_rate: Fitted,
    /// Bytes per second that a reduce processes once it has sorted them ([`super::reduce_rate`]).
    pub reduce_rate: Fitted,
    /// Bytes per second that a reduce fetches ([`super::shuffle_rate`]).
    pub shuffle_rate: ShuffleRate,
    /// How much longer everything takes on hosts that are clearly slow or fast ([`super::host_factors`]).
    pub host_factors: BTreeMap<String, Fitted>,
}
