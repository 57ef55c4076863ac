//! `[am]`: how the application masters of YARN ask for containers.

use crate::{choices, keys};

keys! {
    /// How the application masters of YARN ask for containers. Their sizes and heartbeats stand in `[containers]`.
    pub struct Am: Default + Copy {
        /// When a master withdraws its requests for a map that has got a container.
        withdraws: Withdraws = Withdraws::Heartbeat;
    }
}

choices! {
    /// When the application master of a job withdraws its requests for a map that has got a container. A map is asked for on
    /// every host and in every rack with its input, and anywhere.
    pub enum Withdraws {
        /// At its next heartbeat, as MapReduce's does: then it takes its containers over, gives each to a map, the nearest first,
        /// and withdraws what it asked for these maps. Until then the resource manager may give a container for a map that has one.
        Heartbeat = "heartbeat",
        /// With the grant: the map is settled at once, and all its requests are withdrawn. So are the golden schedules of YARN.
        Grant = "grant",
    }
}
