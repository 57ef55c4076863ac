//! Why jobs waited: the time of each job by phase, and who held what it waited for.
//!
//! ```text
//! jobs, attempts, reasons ──▶ Why ──timeline──▶ stretches of each job ──ledger──▶ blame ──▶ Explanation, Top
//! ```
//!
//! Each instant from the submission to the end of a job is in exactly one [`Phase`], so the phases of a job add up to its completion
//! time. While a job waits, its waiting time is divided among those who hold what it waits for, in proportion to what they hold
//! ([`BlameRow`]). The parts add up to the wait, to the millisecond.
//!
//! A replay that kept its decisions says for which reason a job was passed over ([`resched_tables::model::ReasonRow`]). Without them,
//! and for a trace, a job that waits is said to wait for a slot.

mod apportion;
mod blame;
mod by;
mod diff;
mod explain;
mod explanation;
mod held;
mod in_short;
mod phase;
mod read;
mod sentences;
mod timeline;
mod top;
mod usage;
mod waits;

pub use blame::Holder;
pub use diff::{Change, Changed, Diff, DiffGroup, JobTime, Moved, Side};
pub use explanation::{About, BlameRow, Blamed, CsvRow, Explanation, PhaseTime, TimelineRow};
pub use held::Why;
pub use in_short::{InShort, PARTS};
pub use phase::Phase;
pub use sentences::WITHOUT_REASONS;
pub use top::{Culprit, Top, TopRow, Waited};
pub use usage::Shares;
pub(crate) use waits::Wait;

#[cfg(test)]
mod tests;
