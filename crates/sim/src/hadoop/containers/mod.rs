//! The container model of YARN (policies A.9): what the resource manager and the application masters know.

mod apps;
mod asks;
mod locations;
mod offer;
mod ramp;
mod view;

pub use apps::{AmState, Container, ContainerState, Reservation};
pub(crate) use apps::{Yarn, container_of};
pub use asks::{Ask, System};
pub use offer::{YarnOffer, YarnOfferMut};
pub use view::{AppView, YarnView};
