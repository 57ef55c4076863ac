//! `resched completions`: what a shell needs to complete commands and options.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::Cli;
use crate::failure::Failure;
use crate::output::print_as_it_is;

/// Print the completion script for a shell. Add it to the start-up file of the shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  resched completions bash\n  resched completions zsh")]
pub(crate) struct Args {
    /// The shell.
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "resched", &mut script);
    print_as_it_is(&String::from_utf8_lossy(&script))
}
