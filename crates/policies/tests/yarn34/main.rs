//! The schedules of Hadoop 3.4.1, row by row, from the files of a site.
//!
//! Needs `oracle-yarn-3` and `oracle-yarn` in the folder of shared traces, which `RESCHED_SHARED` names. `RESCHED_SCHEDULES` chooses
//! among the schedules by words in their names: `RESCHED_SCHEDULES=y1-,fairq`.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod capacity;
mod fair;
mod folders;
mod rows;
mod world;
