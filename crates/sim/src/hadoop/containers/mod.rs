//! The container model of YARN (policies A.9): what the resource manager and the application masters know.

mod asks;
mod locations;
mod ramp;
mod state;

pub use asks::{Ask, System};
pub use state::{AmState, Container, ContainerState, Reservation};
pub(crate) use state::{Yarn, container_of};
