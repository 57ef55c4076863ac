//! Helpers of the tests on real files.

pub(crate) mod history_writer;
pub(crate) mod sample_run;

use std::path::{Path, PathBuf};

/// The folder of the real files: `traces` in `$RESCHED_SHARED`, by default `../shared` beside the workspace. If it is
/// missing, the test is skipped, unless `$RESCHED_REQUIRE_SHARED` is 1.
#[allow(clippy::print_stderr, reason = "a test says why it is skipped")]
pub(crate) fn real_traces() -> Option<PathBuf> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let traces = std::env::var_os("RESCHED_SHARED").map_or_else(default, PathBuf::from).join("traces");
    if traces.is_dir() {
        return Some(traces);
    }
    let required = std::env::var_os("RESCHED_REQUIRE_SHARED").is_some_and(|value| value == "1");
    assert!(!required, "{}: not found", traces.display());
    eprintln!("skipped: {} not found", traces.display());
    None
}

/// A file of `fixtures`.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// What `fixtures/make.py` found in a fixture.
pub(crate) fn answers(name: &str) -> serde_json::Value {
    let text = std::fs::read_to_string(fixture("answers.json")).unwrap_or_default();
    let answers: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    answers[name].clone()
}
