//! The keeper: starts a program in a process group, and ends the group with resched.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use resched_tables::store::Scratch;

use super::{pid, wait_until};
use crate::failure::INTERRUPTED;

/// The time that a group gets to clean up after SIGTERM, before SIGKILL.
pub(super) const GRACE: Duration = Duration::from_secs(5);
/// The option for a folder of temporary files.
pub(super) const SCRATCH: &str = "--scratch";

/// The exit status of a keeper whose program does not start, and the reason. Shells and `env` use the same numbers.
const NOT_STARTED: [(u8, &str); 3] =
    [(127, "the program is not found"), (126, "the program may not be run"), (125, "the system refuses to start it")];

/// Run a program, and end it and all that it starts when standard input ends.
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct Args {
    /// Give the program a folder of its own for temporary files, and remove it at the end.
    #[arg(long)]
    scratch: bool,
    /// The program and its arguments.
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// What a keeper waits for.
enum Event {
    /// The program has ended.
    Ended(io::Result<ExitStatus>),
    /// Resched has ended, or a signal asks for the end.
    End,
}

/// Runs a program under the eyes of this process. Returns its exit status, which is 128 + the signal that ended it, as in a shell.
pub(crate) fn keep(args: &Args) -> u8 {
    run(args).unwrap_or_else(|error| status_of(&error))
}

fn run(args: &Args) -> io::Result<u8> {
    let (report, events) = mpsc::channel();
    let signalled = report.clone();
    // A receiver that is gone has nothing left to end.
    ctrlc::set_handler(move || drop(signalled.send(Event::End))).map_err(io::Error::other)?;
    let scratch = args.scratch.then(Scratch::new).transpose().map_err(io::Error::other)?;
    let (program, arguments) = args.program.split_first().ok_or(ErrorKind::NotFound)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).process_group(0);
    command.envs(scratch.as_ref().map(|scratch| ("TMPDIR", scratch.path())));
    let mut child = command.spawn()?;
    let group = pid(&child);
    if let Some(pipe) = child.stdin.take() {
        let report = report.clone();
        std::thread::spawn(move || {
            pass_on(pipe);
            let _ = report.send(Event::End);
        });
    }
    std::thread::spawn(move || drop(report.send(Event::Ended(child.wait()))));
    let ended = events.recv();
    end(group);
    match ended {
        Ok(Event::Ended(status)) => status.map(code),
        Ok(Event::End) | Err(_) => Ok(INTERRUPTED),
    }
}

/// Copies standard input to the program until it ends, also if the program reads no more.
fn pass_on(mut pipe: ChildStdin) {
    let mut input = io::stdin().lock();
    if io::copy(&mut input, &mut pipe).is_err() {
        let _ = io::copy(&mut input, &mut io::sink());
    }
}

/// Ends the processes of a group: asks them first, and kills those that stay.
fn end(group: Pid) {
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        let _ = killpg(group, signal);
        if wait_until(GRACE, || killpg(group, None).is_err()) {
            return;
        }
    }
}

fn code(status: ExitStatus) -> u8 {
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

fn status_of(error: &io::Error) -> u8 {
    let [missing, forbidden, refused] = NOT_STARTED.map(|(status, _)| status);
    match error.kind() {
        ErrorKind::NotFound => missing,
        ErrorKind::PermissionDenied => forbidden,
        _ => refused,
    }
}

/// Why the program of a keeper with this exit status did not start. `None` if it started.
pub(super) fn not_started(status: ExitStatus) -> Option<&'static str> {
    NOT_STARTED.iter().find(|(number, _)| status.code() == Some(i32::from(*number))).map(|(_, reason)| *reason)
}
