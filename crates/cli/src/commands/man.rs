//! `resched man`: the manual pages.

use clap::CommandFactory;

use crate::Cli;
use crate::failure::Failure;
use crate::output::print_as_it_is;

/// Print a manual page in the format of `man`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  resched man > resched.1\n  resched man replay > resched-replay.1")]
pub(crate) struct Args {
    /// The command [default: the page about resched itself].
    command: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut all = Cli::command();
    all.build();
    let page = match &args.command {
        None => all,
        Some(name) => all.find_subcommand(name).cloned().ok_or_else(|| {
            let names: Vec<&str> =
                all.get_subcommands().filter(|command| !command.is_hide_set()).map(clap::Command::get_name).collect();
            Failure::request(format!("unknown command `{name}`; expected one of {}", names.join(", ")))
        })?,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text).map_err(|error| Failure::output(&error))?;
    print_as_it_is(&String::from_utf8_lossy(&text))
}
