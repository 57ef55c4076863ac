//! The option `--threads`. It means the same in every command.

use resched_replay::Threads;

/// The number of threads.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct ThreadsArg {
    /// The largest number of replays that run at once [default: one per core].
    #[arg(long, value_name = "N")]
    threads: Option<Threads>,
}

impl ThreadsArg {
    /// The number that the user gave; otherwise one for each core.
    pub(crate) fn get(self) -> Threads {
        self.threads.unwrap_or_default()
    }

    /// The number that the user gave, if any.
    pub(crate) fn asked(self) -> Option<Threads> {
        self.threads
    }
}
