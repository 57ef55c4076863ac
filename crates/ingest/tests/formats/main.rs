//! The readers and writers of traces as wholes. One binary for all, since each would link the library again.

mod accounting;
mod anonymise;
mod event_tables;
mod export;
mod golden_counts;
mod ingest;
mod maps;
mod near_misses;
mod sacct;
mod sample;
mod scale;
mod sorted_lists;
mod spark;
#[path = "../support/mod.rs"]
mod support;
mod swf;
mod swim;
mod written_history;
