//! Whether a job counts.

use crate::enumeration;

enumeration! {
    /// Whether a job counts in means, tables and figures, and why not.
    Standing {
        /// It counts: it was submitted and ended well, in every run that is compared.
        Counts = "counts" default,
        /// It failed, or its node was lost.
        Failed = "failed",
        /// A user or the scheduler ended it.
        Killed = "killed",
        /// It had not ended when the run ended.
        Unfinished = "unfinished",
        /// It could not run in a replay: the machines that it may use are not there, or a limit holds it for ever.
        NeverStarted = "never-started",
        /// Its submission is unknown: it began before the trace.
        BeforeTrace = "before-trace",
        /// It was submitted outside the window of the metrics.
        OutsideWindow = "outside-window",
        /// It ended before it was submitted.
        ImpossibleTimes = "impossible-times",
        /// An earlier job has the same id.
        RepeatedId = "repeated-id",
        /// It counts in this run, but not in all that are compared.
        NotInAll = "not-in-all",
        /// The run does not have it.
        Absent = "absent",
    }
}

impl Standing {
    /// The standing in words, as in "175 failed".
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Counts => "count",
            Self::Failed => "failed",
            Self::Killed => "killed",
            Self::Unfinished => "unfinished",
            Self::NeverStarted => "that can never start",
            Self::BeforeTrace => "begun before the trace",
            Self::OutsideWindow => "submitted outside the window",
            Self::ImpossibleTimes => "with an end before the submission",
            Self::RepeatedId => "with the id of another job",
            Self::NotInAll => "not counted in another run",
            Self::Absent => "not in the run",
        }
    }
}
