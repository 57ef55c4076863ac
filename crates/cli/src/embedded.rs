//! The command line inside another program, such as Python.

use std::any::Any;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use clap::Parser;
use indicatif::ProgressBar;
use resched_tables::call::{Call, Stopped, within};

use crate::failure::Kind;
use crate::output::Text;
use crate::{Cli, Command, children};

/// What a call prints and shows, for the program that made it.
#[derive(Debug, Default)]
pub struct Host {
    printed: Mutex<String>,
    words: Mutex<String>,
    messages: Mutex<Vec<String>>,
    bars: Mutex<Vec<ProgressBar>>,
    kept: Mutex<Option<Box<dyn Any + Send>>>,
}

/// How far a part of a call is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// What it does, such as `ingest`, or the label of a policy.
    pub label: String,
    /// What is done, such as jobs or bytes.
    pub done: u64,
    /// What there is to do; 0 if that is not known.
    pub all: u64,
}

/// How a call ended.
#[derive(Debug)]
pub struct Outcome {
    /// What it printed to standard output.
    pub printed: String,
    /// If that is JSON, what people would have read in its place.
    pub words: String,
    /// Its warnings and other messages, in their order.
    pub messages: Vec<String>,
    /// Why it failed; `None` if it did not.
    pub failure: Option<(Kind, String)>,
}

impl Host {
    /// That of the call that this thread works for; `None` for the command line.
    pub fn current() -> Option<Arc<Self>> {
        Call::current()?.host()
    }

    /// How far the parts of the call are that are at work.
    pub fn progress(&self) -> Vec<Progress> {
        let mut bars = lock(&self.bars);
        bars.retain(|bar| !bar.is_finished());
        let progress =
            |bar: &ProgressBar| Progress { label: bar.prefix(), done: bar.position(), all: bar.length().unwrap_or(0) };
        bars.iter().map(progress).collect()
    }

    /// Keeps something of the embedding program with the call, such as the exception of a policy; the first counts.
    pub fn keep(&self, kept: Box<dyn Any + Send>) {
        lock(&self.kept).get_or_insert(kept);
    }

    /// Takes out what is kept.
    pub fn take_kept(&self) -> Option<Box<dyn Any + Send>> {
        lock(&self.kept).take()
    }

    pub(crate) fn print(&self, text: &str) {
        *lock(&self.printed) += text;
    }

    pub(crate) fn describe(&self, text: &Text) {
        *lock(&self.words) += &text.plain();
    }

    pub(crate) fn message(&self, text: String) {
        lock(&self.messages).push(text);
    }

    pub(crate) fn watch(&self, bar: ProgressBar) {
        lock(&self.bars).push(bar);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Carries out a command on this thread. The first argument is the name of the command. `call` was made for `host`; [`stop`] ends it early
/// from another thread.
pub fn call(args: &[OsString], call: &Call, host: &Host) -> Outcome {
    let work = || match Cli::try_parse_from([OsString::from("resched")].iter().chain(args)) {
        Err(error) => Some((Kind::Request, error.to_string().trim_start_matches("error: ").trim_end().to_owned())),
        Ok(Cli { command: Command::Keep(_), .. }) => {
            Some((Kind::Request, "expected a command, found one that only resched itself uses".to_owned()))
        }
        Ok(Cli { command: Command::Work(command), .. }) => command
            .run()
            .err()
            .filter(|failure| !failure.is_unread())
            .map(|failure| (failure.kind(), failure.to_string())),
    };
    let failure = match catch_unwind(AssertUnwindSafe(|| within(Some(call.clone()), work))) {
        // What it started has ended, which the work may take for its own failure.
        Ok(Some(_)) if call.is_stopped() => Some((Kind::Interrupted, "interrupted".to_owned())),
        Ok(failure) => failure,
        Err(payload) if payload.is::<Stopped>() => Some((Kind::Interrupted, "interrupted".to_owned())),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
            let text = text.unwrap_or("it gave no reason");
            Some((Kind::Defect, format!("the work broke off ({text}); this is a defect of resched, please report it")))
        }
    };
    Outcome {
        printed: std::mem::take(&mut lock(&host.printed)),
        words: std::mem::take(&mut lock(&host.words)),
        messages: std::mem::take(&mut lock(&host.messages)),
        failure,
    }
}

/// Asks a call to end, and the programs that resched has started.
pub fn stop(call: &Call) {
    call.stop();
    children::end_running();
}

static PROGRAM: OnceLock<Vec<OsString>> = OnceLock::new();

/// Sets the program and its first arguments that start resched again, such as `python -m resched`. Only the first call counts.
pub fn set_program(words: Vec<OsString>) {
    let _ = PROGRAM.set(words);
}

/// The program that starts resched again, and its first arguments.
pub(crate) fn program() -> std::io::Result<(PathBuf, &'static [OsString])> {
    match PROGRAM.get().and_then(|words| words.split_first()) {
        Some((program, rest)) => Ok((program.into(), rest)),
        None => Ok((std::env::current_exe()?, &[])),
    }
}
