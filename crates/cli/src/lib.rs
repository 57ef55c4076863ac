//! The command line of resched. It parses arguments, shows progress and prints, and does nothing else.
//!
//! Results go to standard output, progress and messages to standard error. Exit status: 0 done, 1 the work failed, 2 the
//! request was wrong. `gate` has statuses of its own.
//!
//! [`status`] is the program. [`call`] does the same inside another program, such as the Python package: it prints nothing, returns what would
//! be printed, and can be stopped.

mod children;
mod commands;
mod embedded;
mod failure;
mod format;
mod grade;
mod host;
mod out;
mod output;
mod policy_value;
mod program;
mod progress;
mod threads;
mod validation_file;
mod window_args;
mod world_args;
mod written;

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand};

pub use crate::embedded::{Outcome, call, stop};
pub use crate::failure::Kind;
pub use crate::host::{Host, Progress};
use crate::output::print_message;
pub use crate::program::set_program;

/// Replay the job history of a Hadoop, Spark, Slurm or other cluster under other schedulers.
#[derive(Debug, Parser)]
#[command(name = "resched", version, long_version = env!("RESCHED_VERSION"), propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Start with `resched demo`. Write a policy as `name` or `name:key=value,key=value`.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// End as if interrupted when standard input ends. The tasks of Dask have it, to end with their worker.
    #[arg(long = END_WITH_STDIN, global = true, hide = true)]
    end_with_stdin: bool,
}

/// The option of [`Cli::end_with_stdin`].
pub(crate) const END_WITH_STDIN: &str = "end-with-stdin";

#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Work(Box<commands::Command>),
    #[command(name = children::KEEP)]
    Keep(children::Args),
}

/// The commands with their arguments and their help.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Runs the command line with these arguments, of which the first is the name of the program, until it is done or a signal ends the process.
/// Returns the exit status.
pub fn status(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => {
            // It is no error if nobody reads it.
            let _ = error.print();
            return status_of_request(&args, error.exit_code());
        }
    };
    keep_quiet_while_decoding();
    // A keeper has a handler of its own, as it must outlive what it keeps.
    if !matches!(cli.command, Command::Keep(_)) {
        end_well_when_interrupted();
    }
    if cli.end_with_stdin {
        children::end_with_stdin(interrupted);
    }
    let command = match cli.command {
        Command::Keep(args) => return children::keep(&args),
        Command::Work(command) => command,
    };
    match command.run() {
        Ok(()) => 0,
        Err(failure) if failure.is_unread() => 0,
        Err(failure) => {
            print_message(&format!("error: {failure}"));
            failure.status()
        }
    }
}

/// The status after arguments that ended with `code` before any work: 0 after the help, else that of a wrong request.
fn status_of_request(args: &[OsString], code: i32) -> u8 {
    match args.get(1).is_some_and(|command| command == "gate") {
        true if code != 0 => commands::gate::ERROR,
        _ => u8::try_from(code).unwrap_or(2),
    }
}

/// The decoder of tables panics at some damage. The error of the table says what is damaged.
pub fn keep_quiet_while_decoding() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !resched_tables::store::is_decoding() {
            usual(panic);
        }
    }));
}

/// On Ctrl-C or `kill`, ends the programs that were started and removes half-written folders.
fn end_well_when_interrupted() {
    if let Err(error) = ctrlc::set_handler(interrupted) {
        print_message(&format!("warning: an interrupt may leave programs and temporary folders behind ({error})"));
    }
}

/// Ends this process and all that it started. The working folder of an ingest stays, so that you can resume it.
#[allow(clippy::exit, reason = "the signal asks for it, and no destructor runs on another thread's exit")]
fn interrupted() {
    children::end_all();
    resched_tables::store::remove_unfinished();
    commands::ingest::report_kept();
    progress::report_kept_cells();
    progress::report_kept_probes();
    std::process::exit(failure::INTERRUPTED.into());
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// The words of a line of a shell that quotes with `'` only.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut quoted = false;
        for letter in line.chars() {
            match letter {
                '\'' => quoted = !quoted,
                ' ' if !quoted => words.push(String::new()),
                letter => words.last_mut().unwrap().push(letter),
            }
        }
        words
    }

    #[test]
    fn every_command_has_examples_and_they_are_valid() {
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples: Vec<&str> = help.lines().filter_map(|line| line.strip_prefix("  resched ")).collect();
            assert!(!examples.is_empty(), "{} has no example", command.get_name());
            for example in examples {
                // What stands behind it is a file, or what it is for.
                let line = [" > ", "  "].iter().fold(example, |line, end| line.split(end).next().unwrap_or(line));
                let words = [vec!["resched".to_owned()], words(line)].concat();
                assert_eq!(words[1], command.get_name());
                Cli::try_parse_from(words).unwrap_or_else(|error| panic!("{example}: {error}"));
            }
        }
    }

    #[test]
    fn every_table_is_there_as_json_and_as_csv() {
        let without: Vec<String> = Cli::command()
            .get_subcommands()
            .filter(|command| command.get_arguments().any(|arg| arg.get_id() == "json"))
            .filter(|command| !command.get_arguments().any(|arg| arg.get_id() == "csv"))
            .map(|command| command.get_name().to_owned())
            .collect();
        assert_eq!(without, Vec::<String>::new());
    }
}
