//! The policy `kueue`: against what the real code decided, and parameter by parameter. A binary of its own, since nothing of it needs the
//! worlds of the other tests.
#![allow(clippy::unwrap_used)]

mod rules;
mod truth;
mod world;
