//! The program `resched`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(resched_cli::status(std::env::args_os()))
}
