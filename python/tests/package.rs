//! The tests of the Python package, run by pytest on the module of this build.
//!
//! `RESCHED_PYTHON` names a Python with pytest and the libraries that the tests use; without one they are skipped, unless
//! `RESCHED_REQUIRE_PYTHON` is 1. Tests that need a library which is not there skip themselves.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package of this build in a folder of its own: its sources, and the module beside them.
fn assembled(parent: &Path) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/resched");
    let package = parent.join("resched");
    fs::create_dir_all(&package).expect("the temporary folder can be written");
    for entry in fs::read_dir(sources).expect("the sources are there") {
        let path = entry.expect("the folder can be read").path();
        let name = path.file_name().unwrap_or_default().to_owned();
        // What an earlier build or Python left there is not of this build.
        if path.is_file() && path.extension().is_none_or(|ending| ending != "so") {
            symlink(&path, package.join(name)).expect("a link can be made");
        }
    }
    let here = env::current_exe().expect("the test has a path");
    let module = here.parent().unwrap_or(Path::new(".")).join("lib_native.so");
    assert!(module.is_file(), "{}: the module was not built", module.display());
    symlink(module, package.join("_native.abi3.so")).expect("a link can be made");
    package
}

#[test]
#[allow(clippy::print_stderr, reason = "a test says why it is skipped")]
fn the_package_passes_its_tests() {
    let Some(python) = env::var_os("RESCHED_PYTHON") else {
        assert!(env::var_os("RESCHED_REQUIRE_PYTHON").is_none(), "RESCHED_PYTHON is not set");
        eprintln!("skipped: RESCHED_PYTHON names no Python");
        return;
    };
    let parent = tempfile::tempdir().expect("a temporary folder can be made");
    assembled(parent.path());
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let ran = Command::new(python)
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=10"])
        .arg(tests)
        .env("PYTHONPATH", parent.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .status();
    assert!(ran.expect("Python starts").success(), "the tests of the package failed");
}
