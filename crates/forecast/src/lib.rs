//! When will a job start, and how sure is that? Forecasts of the starts of waiting jobs, which test themselves on the log.
//!
//! ```text
//! Trace ──▶ Past (jobs, each shows only what was known at a moment)
//!             │ Moment::new(at)
//!             ▼
//!         what runs, what waits ── laws of run times ──┐  drawn
//!         jobs to come ─────────── earlier weeks ──────┤
//!                                                      ▼
//!                  World::loaded ── Workload::again ── a future, simulated under the policy ──▶ starts
//!                                                      ▼
//!         Backtest: forecasts at past moments, corrected by those before, beside what came ──▶ Report
//! ```
//!
//! **No look ahead.** The world is loaded with what jobs ask for alone ([`resched_replay::Setup::requests`]), and everything else asks
//! [`past::Job`] what was known at its moment. A test changes everything behind a moment, and no forecast up to it changes.

mod answer;
mod arrivals;
mod backtest;
mod baselines;
mod correct;
mod error;
mod future;
mod laws;
mod moment;
mod now;
mod past;
mod quantiles;
mod report;
mod scores;
mod table;

pub use answer::{After, Answer, Asked, Group, JobAnswer, Prepared, answer, time_of, validity_of};
pub use backtest::{ASKED, Backtest, HISTORY, Row, asked, backtest, moments};
pub use error::Error;
pub use moment::{DRAWS, Forecast, Model, Moment, Options};
pub use now::Now;
pub use past::{Job, Past};
pub use quantiles::{LEVELS, quantile};
pub use report::{Beside, Class, Report};
pub use scores::{Measured, Score};
pub use table::encode;
