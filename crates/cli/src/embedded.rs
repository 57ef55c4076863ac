//! The command line inside another program, such as Python.

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::Parser;
use resched_tables::call::{Call, Stopped, within};

use crate::failure::Kind;
use crate::host::Host;
use crate::{Cli, Command, children};

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
            Some((Kind::Defect, format!("the command stopped ({text}); this is a defect of resched, please report it")))
        }
    };
    let (printed, words, messages) = host.take();
    Outcome { printed, words, messages, failure }
}

/// Asks a call to end, and the programs that resched has started.
pub fn stop(call: &Call) {
    call.stop();
    children::end_running();
}
