//! Replays the papers' experiments and puts the paper's number beside the replay's.
//!
//! ```text
//! EXPERIMENTS ──▶ cases × seeds ──▶ replays (in memory, in parallel) ──▶ rows ──▶ REPRODUCTION.md, index.html
//!                                                              └──▶ figures (charts of the report)
//! ```
//!
//! * [`EXPERIMENTS`] has one file per experiment: its cases (a workload under a policy), the rows that compare, the figures
//!   that follow the paper's, and every assumption and knob by name.
//! * A [`Row`] has a [`Verdict`] by fixed rules. Knobs are set from a paper's numbers of its baseline scheduler, once per
//!   testbed, and never from its numbers of the policy that it proposes. A row whose number set a knob is marked
//!   [`Role::Calibrated`] and is no evidence.
//! * A [`Band`] is a claim over the plausible range of a number that its paper does not give.
//! * [`reproduce`] replays every case once per seed. The same experiments and seeds give the same bytes, with any number of
//!   threads.
//!
//! It writes no replay to disk.

mod band;
mod case;
mod claims_figure;
mod error;
mod experiment;
mod experiments;
mod headline;
mod markdown;
mod numbers;
mod on_paper;
mod opening;
mod output;
mod page;
mod part;
mod replays;
mod row;
mod runner;

pub use band::{Band, Reach};
pub use error::Error;
pub use experiment::{Experiment, Knob, Paper};
pub use experiments::{EXPERIMENTS, find};
pub use headline::in_one_sentence;
pub use output::{MARKER, write};
pub use resched_report::Figure;
pub use row::{Cause, Published, RULE, Role, Row, Verdict};
pub use runner::{Progress, Reproduced, reproduce};
