//! `[am]`: how the application masters of YARN ask for containers.

use crate::{choices, keys};

keys! {
    /// How the application masters of YARN ask for containers. Their sizes and heartbeats are in `[containers]`.
    pub struct Am: Default + Copy {
        /// When a master withdraws its requests for a map that has got a container.
        withdraws: Withdraws = Withdraws::Heartbeat;
    }
}

choices! {
    /// When the application master of a job withdraws its requests for a map that has got a container. A map is asked for on
    /// every host and in every rack with its input, and anywhere.
    pub enum Withdraws {
        /// At its next heartbeat, as MapReduce's does. It then gives each new container to a map, the nearest first, and
        /// withdraws its requests for these maps. Until then, the resource manager may grant another container for a map that
        /// has one.
        Heartbeat = "heartbeat",
        /// With the grant: the container gets its map at once, and all requests for this map are withdrawn. The golden
        /// schedules of YARN do this.
        Grant = "grant",
    }
}
