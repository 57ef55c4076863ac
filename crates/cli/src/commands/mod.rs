//! The commands, one file each.

pub(crate) mod anonymise;
pub(crate) mod calibrate;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod diff;
mod engine;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod generate;
mod groups;
pub(crate) mod ingest;
pub(crate) mod ingest_steps;
pub(crate) mod inspect;
mod known;
pub(crate) mod man;
pub(crate) mod policies;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod scale;
pub(crate) mod site;
pub(crate) mod size;
pub(crate) mod sweep;
pub(crate) mod tune;
pub(crate) mod validate;
pub(crate) mod verify;
