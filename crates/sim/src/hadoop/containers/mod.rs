//! The container model of YARN (`docs/model/containers.md`): the knowledge of the resource manager and the application masters.

mod apps;
mod locations;
mod offer;
mod ramp;
mod view;

pub use apps::{AmState, Container, ContainerState, Reservation};
pub(crate) use apps::{NO_BEAT, Yarn, container_of};
pub(crate) use locations::Locations;
pub use offer::{YarnOffer, YarnOfferMut};
pub(crate) use ramp::Standing;
pub use view::{AppView, YarnView};
