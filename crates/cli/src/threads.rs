//! `--threads`, which means the same for every command.

use resched_replay::Threads;

/// How much is done at once.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct ThreadsArg {
    /// How many replays run at once, at most; without it, one for each core.
    #[arg(long, value_name = "N")]
    threads: Option<Threads>,
}

impl ThreadsArg {
    /// As many as were asked for, else one for each core.
    pub(crate) fn get(self) -> Threads {
        self.threads.unwrap_or_default()
    }

    /// As many as were asked for, if any were.
    pub(crate) fn asked(self) -> Option<Threads> {
        self.threads
    }
}
