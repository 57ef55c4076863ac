//! The programs that resched starts: the driver of Dask, and `sbatch`.
//!
//! Each program runs under a keeper, which is this binary again (`resched keep`):
//!
//! ```text
//! resched ──pipe──▶ keeper ──pipe──▶ program, in a process group of its own
//! ```
//!
//! The keeper ends the group as soon as its pipe ends. The system closes the pipe however resched ends, so this also works if
//! resched is killed by SIGKILL. For the same reason, the program may read its own pipe to notice the end of the keeper.

mod keeper;
mod lifeline;

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

pub(crate) use keeper::{Args, keep};
pub(crate) use lifeline::end_with_stdin;

/// The name of the keeper's command.
pub(crate) const KEEP: &str = "keep";
/// The longest output of a program that is shown.
const MOST_OUTPUT: u64 = 1 << 20;
/// The time that a keeper gets to end its group. It is longer than a keeper needs, which kills after [`keeper::GRACE`].
const PATIENCE: Duration = keeper::GRACE.saturating_mul(3);
/// The time between two looks at processes that are ending.
const PAUSE: Duration = Duration::from_millis(5);

/// The keepers that run.
static KEEPERS: Mutex<Vec<Child>> = Mutex::new(Vec::new());

/// How a program ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// It did its work and printed this.
    Done(String),
    /// It failed with this status.
    Failed(ExitStatus),
    /// It did not start, for this reason.
    NotStarted(&'static str),
}

/// A program to start.
#[derive(Debug)]
pub(crate) struct Program<'a> {
    pub(crate) name: &'a OsStr,
    pub(crate) args: Vec<OsString>,
    /// Whether it gets a folder of its own for temporary files (`TMPDIR`), which is removed when it ends.
    pub(crate) scratch: bool,
}

impl Program<'_> {
    /// Runs the program to its end. It reads `input` on standard input, which then stays open until resched ends.
    ///
    /// # Errors
    /// The keeper cannot be started.
    pub(crate) fn run(&self, input: &[u8]) -> io::Result<Ended> {
        let (id, mut lifeline, output) = self.start()?;
        match lifeline.write_all(input) {
            // The program ended before it read everything; its status says why.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => return Err(error),
            _ => {}
        }
        // The pipe ends when the keeper and the program have ended.
        let output = read(output)?;
        let status = finish(id)?;
        drop(lifeline);
        Ok(match (status.success(), keeper::not_started(status)) {
            (true, _) => Ended::Done(output),
            (false, Some(reason)) => Ended::NotStarted(reason),
            (false, None) => Ended::Failed(status),
        })
    }

    /// Starts the keeper, with pipes to its standard input and from its standard output.
    fn start(&self) -> io::Result<(u32, ChildStdin, ChildStdout)> {
        let (program, first) = crate::program::program()?;
        let mut command = Command::new(program);
        command
            .args(first)
            .arg(KEEP)
            .args(self.scratch.then_some(keeper::SCRATCH))
            .arg("--")
            .arg(self.name)
            .args(&self.args);
        // In a group of its own, so that a Ctrl-C reaches resched alone, which then ends the keeper.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        // Held, so that an interrupt knows of every keeper.
        let mut keepers = keepers();
        let mut keeper = command.spawn()?;
        let pipes = keeper.stdin.take().zip(keeper.stdout.take());
        let id = keeper.id();
        keepers.push(keeper);
        let (lifeline, output) = pipes.ok_or_else(|| io::Error::other("a process has no pipes"))?;
        Ok((id, lifeline, output))
    }
}

fn keepers() -> MutexGuard<'static, Vec<Child>> {
    KEEPERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a pipe to its end, and keeps the beginning.
fn read(mut pipe: ChildStdout) -> io::Result<String> {
    let mut kept = Vec::new();
    pipe.by_ref().take(MOST_OUTPUT).read_to_end(&mut kept)?;
    io::copy(&mut pipe, &mut io::sink())?;
    Ok(String::from_utf8_lossy(&kept).into_owned())
}

/// Waits for a keeper whose pipe has ended.
fn finish(id: u32) -> io::Result<ExitStatus> {
    let mut keepers = keepers();
    let place = keepers.iter().position(|keeper| keeper.id() == id);
    let place = place.ok_or_else(|| io::Error::other("a process is unknown"))?;
    keepers.remove(place).wait()
}

/// Ends every program that runs, and waits until it has ended. It is for an interrupt that ends this process right after. Other
/// threads that start a program or wait for one from then on wait for the end of the process.
pub(crate) fn end_all() {
    let mut keepers = keepers();
    for keeper in keepers.iter() {
        // Fails if it has just ended.
        let _ = kill(pid(keeper), Signal::SIGTERM);
    }
    wait_until(PATIENCE, || keepers.iter_mut().all(|keeper| !matches!(keeper.try_wait(), Ok(None))));
    std::mem::forget(keepers);
}

/// Asks every program that runs to end, and waits for none.
pub(crate) fn end_running() {
    for keeper in keepers().iter() {
        let _ = kill(pid(keeper), Signal::SIGTERM);
    }
}

/// Waits until `ready`, `patience` at most. Returns whether it is ready.
fn wait_until(patience: Duration, mut ready: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    loop {
        match ready() {
            true => return true,
            false if begun.elapsed() > patience => return false,
            false => std::thread::sleep(PAUSE),
        }
    }
}

fn pid(child: &Child) -> Pid {
    // A number that is too large is no process.
    Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX))
}
