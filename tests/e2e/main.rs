//! The binary from end to end: every command, determinism, round trips, real files, wrong requests and hostile input.
//!
//! Real files are found under `RESCHED_SHARED` (see `support`).
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod accounting;
mod browser;
mod calibrate;
mod commands;
mod compare;
mod determinism;
mod errors;
mod example;
mod forecast;
mod gate;
mod golden_cli;
mod groups;
mod hostile;
mod integrity;
mod interrupts;
mod kills;
mod limits;
mod many_users;
mod metrics;
mod new_policy;
mod object_store;
mod one_request;
mod oracle_cli;
mod ownership;
mod places;
mod processes;
mod production;
mod prometheus;
mod races;
mod reported;
mod reproduce;
mod roundtrip;
mod sign;
mod site;
mod size;
mod soak;
mod spark;
mod spark_log;
mod support;
mod sweep;
mod sweep_engines;
mod terminal;
mod transform;
mod trust;
mod unknown;
mod validate;
mod why;
mod width;
mod window;

#[path = "../../examples/shortest_job.rs"]
#[allow(dead_code, reason = "its `main` is for people")]
mod shortest_job;
