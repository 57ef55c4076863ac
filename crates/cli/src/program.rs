//! How resched starts itself again, to run other programs and parts of its work.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

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
