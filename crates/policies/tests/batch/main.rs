//! The policies for production traces: on real logs, against a second simulator, and whatever the world is.
#![allow(clippy::unwrap_used)]

mod backfill;
#[path = "../../src/testing/cases.rs"]
mod cases;
mod metamorphic;
mod mishaps;
mod naive;
mod names;
mod quotas_naive;
mod quotas_toy;
mod sharing;
mod support;
mod swf;
mod worlds;
