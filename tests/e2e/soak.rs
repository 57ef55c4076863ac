//! A short soak (docs/developers/soak.md): random inputs, judged by a checker in Python that shares no code with resched.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::support::{Dir, repository};
use crate::sweep_engines::{python, skip};

/// A Python that reads Parquet.
fn python_with_pyarrow() -> Option<PathBuf> {
    let python = python()?;
    let found = Command::new(&python).args(["-c", "import pyarrow"]).stderr(Stdio::null()).status().unwrap();
    if !found.success() {
        skip("the Python of RESCHED_PYTHON has no pyarrow", "RESCHED_REQUIRE_PYTHON");
        return None;
    }
    Some(python)
}

/// What a program printed, which must end well.
fn printed(ended: &Output) -> String {
    let printed = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(ended.status.success(), "{printed}\n{}", String::from_utf8_lossy(&ended.stderr));
    printed
}

/// What hours of it look for, in 20 s. The seed is fixed, but the number of trials depends on the machine.
#[test]
fn twenty_seconds_of_the_soak_find_nothing() {
    let Some(python) = python_with_pyarrow() else { return };
    let dir = Dir::new();
    let mut soak = Command::new(python);
    soak.arg(repository("tests/soak/run")).args(["--minutes", "0.33", "--seed", "1", "--out"]).arg(dir.path("kept"));
    let table = printed(&soak.args(["--binary", env!("CARGO_BIN_EXE_resched")]).output().unwrap());
    let parts = [
        "replays",
        "metamorphic",
        "hostile",
        "kills",
        "sweeps",
        "clocks",
        "slurm",
        "spark",
        "store",
        "store_sweeps",
        "notebooks",
        // It needs a Python with the package, and else skips its first trial.
        "boundary",
    ];
    for part in parts {
        let cells =
            table.lines().map(|row| row.split_whitespace().collect::<Vec<_>>()).find(|row| row.first() == Some(&part));
        let trials = cells.and_then(|cells| cells.get(1)?.parse::<u32>().ok());
        assert!(trials.is_some_and(|trials| trials > 0), "no trial of {part}: {table}");
    }
}

/// A checker that accepts false tables, or a false store, would show nothing.
#[test]
fn the_checker_of_the_soak_finds_false_rows() {
    let Some(python) = python_with_pyarrow() else { return };
    for (name, fewest) in [("false_rows.py", 14), ("false_schedules.py", 21), ("false_stores.py", 11)] {
        let script = repository(&format!("tests/soak/{name}"));
        let found = printed(&Command::new(&python).args([&script, env!("CARGO_BIN_EXE_resched")]).output().unwrap());
        let falsehoods = fs::read_to_string(&script).unwrap().matches("    yield (").count();
        assert!(falsehoods >= fewest && found.matches("found: ").count() == falsehoods, "{found}");
    }
}
