//! The container model of YARN (policies A.9): what the resource manager and the application masters know.

mod config;
mod locations;
mod ramp;
mod state;

pub use config::{Ask, Calculator, Containers, Size, System};
pub use state::{AmState, Container, ContainerState, Reservation};
pub(crate) use state::{Yarn, container_of};
