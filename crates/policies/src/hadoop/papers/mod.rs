//! Algorithms that were published as papers, with references and bounds to compare with.

pub(crate) mod aria;
pub(crate) mod cogrs;
pub(crate) mod coupling;
pub(crate) mod delay;
pub(crate) mod delay_time;
pub(crate) mod dress;
pub(crate) mod flex;
pub(crate) mod naive_fair;
pub(crate) mod quincy;
pub(crate) mod srpt;
pub(crate) mod triple_queue;

pub use aria::Aria;
pub use cogrs::CoGrs;
pub use coupling::Coupling;
pub use delay::Delay;
pub use delay_time::DelayTime;
pub use dress::Dress;
pub use flex::Flex;
pub use naive_fair::NaiveFair;
pub use quincy::Quincy;
pub use srpt::Srpt;
pub use triple_queue::TripleQueue;
