//! `[jobs]`: how the master treats jobs.

use crate::{choices, keys};

use super::DAY;
use crate::model::Ms;

keys! {
    /// How the master treats jobs.
    pub struct Jobs: Default {
        /// When the first job is submitted. The others keep their distance to it.
        first_submit: Ms = 0, unit "ms", range 0..=DAY;
        /// Where initialisation, set-up and clean-up of a job are taken from.
        setup: SetUp = SetUp::Logged;
        /// The time from the submission of a job (under YARN, from the start of its application master) until it is initialised, if it
        /// is not taken from the trace.
        init_delay: Ms = 0, unit "ms", range 0..=DAY;
        /// How long the set-up task of a job holds a slot, if it is not taken from the trace. With `0` there is no such task.
        setup_time: Ms = 0, unit "ms", range 0..=DAY;
        /// How long the clean-up task of a job holds a slot, if it is not taken from the trace. With `0` there is no such task.
        cleanup_time: Ms = 0, unit "ms", range 0..=DAY;
        /// The share of a job's maps that must be finished before its reduces may start (slow-start).
        slowstart: f64 = 0.05, range 0.0..=1.0;
        /// A task that fails this many times fails its job.
        max_attempts: u32 = 4, unit "attempts", range 1..=1000;
        /// Whether the running attempts of a job that fails are killed, as in Hadoop. With `false` they run on, as in Mumak,
        /// and reduces then hold their slots for ever. Under YARN they are always killed.
        kill_failed: bool = true;
        /// The time from the heartbeat that assigns an attempt until the attempt starts.
        launch_overhead: Ms = 0, unit "ms", range 0..=DAY;
        /// Whether jobs that were killed are left out. How they would have ended is unknown.
        skip_killed: bool = true;
        /// Which split a map reads.
        splits: Splits = Splits::ByNumber;
    }
}

choices! {
    /// Where initialisation, set-up and clean-up of a job are taken from. A set-up task holds a slot before the job's first task
    /// may be launched, and a clean-up task after its last. Under YARN the job's master does the work, and no slot is held.
    pub enum SetUp {
        /// From the trace. A job without these times in its log takes `init_delay`, `setup_time` and `cleanup_time`.
        Logged = "logged",
        /// As `logged`, but no job waits longer for its initialisation than the one that waited least. For logs in which this wait is
        /// mostly that for a place, such as the master's container, and which do not say when the master started.
        Quickest = "quickest",
        /// All jobs take `init_delay`, `setup_time` and `cleanup_time`, as in Mumak, where all are 0.
        Fixed = "fixed",
    }
}

choices! {
    /// Which split a map reads, where the trace lists the tasks of a job in another order than by number.
    pub enum Splits {
        /// Each map reads its own split.
        ByNumber = "by-number",
        /// Map `i` reads the split of the `i`-th task that the trace lists, as in Mumak.
        ByPosition = "by-position",
    }
}
