//! The policies for production traces: on real logs, against a second simulator, and whatever the world is.
#![allow(clippy::unwrap_used)]

mod backfill;
mod metamorphic;
mod mishaps;
mod naive;
mod sharing;
mod support;
mod swf;
mod worlds;
