//! The folder of shared files, which `RESCHED_SHARED` names.

use std::path::{Path, PathBuf};

/// A path in the shared folder; `None`, with a word of it, if it is not there.
#[allow(clippy::print_stderr, reason = "a test says why it is skipped")]
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let path = std::env::var_os("RESCHED_SHARED").map_or_else(default, PathBuf::from).join(path);
    if path.exists() {
        return Some(path);
    }
    let required = std::env::var_os("RESCHED_REQUIRE_SHARED").is_some_and(|value| value == "1");
    assert!(!required, "{} not found", path.display());
    eprintln!("skipped: {} not found", path.display());
    None
}
