//! Kueue's decisions against the real code's, and against a second, naive implementation of the rules.

#![allow(clippy::unwrap_used, reason = "a test may end where it fails")]

mod driver;
mod loops;
mod naive;
mod random;
#[path = "../shared/mod.rs"]
mod shared;
mod speed;
mod truth;
mod world;
