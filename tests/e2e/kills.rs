//! Commands that are killed at any moment: the same command then gives the same bytes, and no process and no file is left.
//!
//! `RESCHED_KILLS` is the number of kills over all commands, for a long trial. Without it, each signal kills each command once.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::interrupts::{TABLES, event_tables, signal};
use crate::processes::{SIGNALS, assert_no_process, assert_nothing_left, marked, sbatch};
use crate::support::{Dir, Tree, assert_same};
use crate::sweep::dir;
use crate::sweep_engines::python;

/// The number of tests below.
const COMMANDS: usize = 9;

/// How often one command is killed.
fn kills() -> usize {
    let all = std::env::var("RESCHED_KILLS").ok().map(|number| number.parse::<usize>().unwrap());
    all.map_or(SIGNALS.len(), |all| all.div_ceil(COMMANDS))
}

/// A number from 0 to 1 that depends on these alone.
fn drawn(what: &str, command: &str, kill: usize) -> f64 {
    let mut hasher = DefaultHasher::new();
    (what, command, kill).hash(&mut hasher);
    hasher.finish() as f64 / u64::MAX as f64
}

/// A command that writes below the folder `new`.
struct Case {
    name: &'static str,
    dir: Dir,
    args: Vec<String>,
    /// The variable PATH, if it is another.
    path: Option<String>,
    /// The command that makes the result of what the first one left.
    then: &'static [&'static str],
}

impl Case {
    fn new(name: &'static str, dir: Dir, args: &[&str]) -> Self {
        Self { name, dir, args: args.iter().map(|arg| (*arg).to_owned()).collect(), path: None, then: &[] }
    }

    fn command(&self) -> Command {
        let mut command = marked(&self.dir, &self.args.iter().map(String::as_str).collect::<Vec<_>>());
        command.envs(self.path.iter().map(|path| ("PATH", path)));
        command
    }

    /// Runs the command to its end.
    fn finish(&self, what: &str) {
        let ended = self.command().output().unwrap();
        assert!(ended.status.success(), "{what}: {}", String::from_utf8_lossy(&ended.stderr));
        if !self.then.is_empty() {
            self.dir.ok(self.then);
        }
        assert_nothing_left(&self.dir, what);
    }

    /// All that was written.
    fn result(&self) -> Tree {
        let mut tree = self.dir.tree("new");
        // The script names the tasks that were missing.
        tree.retain(|path, _| !path.starts_with("S/slurm"));
        tree
    }

    /// What is there after an interrupt, without the folder that an ingest of tables needs to go on.
    fn left(&self) -> Tree {
        let mut tree = if self.dir.path("new").exists() { self.result() } else { Tree::new() };
        tree.retain(|path, _| !path.to_string_lossy().starts_with(".T.ingest-"));
        tree
    }

    /// Kills the command again and again, each time at another moment and every third time over an earlier result.
    fn survives_kills(&self) {
        let begun = Instant::now();
        self.finish(self.name);
        let (normal, whole) = (begun.elapsed(), self.result());
        for kill in 0..kills() {
            let over = drawn("over an earlier result", self.name, kill) < 0.3;
            let mut moment = normal.mul_f64(drawn("moment", self.name, kill));
            loop {
                if !over {
                    fs::remove_dir_all(self.dir.path("new")).unwrap();
                }
                if self.kill(SIGNALS[kill % SIGNALS.len()], moment, over.then(|| whole.clone())) {
                    break;
                }
                // It had ended: on a machine that is less busy by now, the command is faster than its first run was.
                assert!(!moment.is_zero(), "{}: it always ended before it was killed", self.name);
                moment /= 2;
            }
            self.finish(&format!("{}, again after kill {kill}", self.name));
            assert_same(&whole, &self.result(), &format!("{}, kill {kill} after {moment:?}", self.name));
        }
    }

    /// Starts the command and kills it at this moment. Returns whether it was still running. `earlier` is a result that must stay.
    fn kill(&self, name: &str, moment: Duration, earlier: Option<Tree>) -> bool {
        let what = format!("{}, after {moment:?}, {name}", self.name);
        let mut resched = self.command().spawn().unwrap();
        std::thread::sleep(moment);
        let running = resched.try_wait().unwrap().is_none();
        if running {
            signal(&resched, name);
        }
        let ended = resched.wait().unwrap();
        assert!(matches!(ended.code(), None | Some(0 | 130)), "{what}: {ended}");
        assert_no_process(&self.dir, &what);
        if name != "-KILL" {
            assert_nothing_left(&self.dir, &what);
            let mut left = self.left();
            let is_hidden = |path: &&PathBuf| path.iter().any(|part| part.to_string_lossy().starts_with('.'));
            assert_eq!(left.keys().find(is_hidden), None, "{what}");
            if let Some(mut earlier) = earlier {
                // A sweep and a search write their folder file by file; meanwhile their list knows both contents. Other results
                // appear whole.
                if matches!(self.args[0].as_str(), "sweep" | "tune") {
                    left.retain(|path, _| !path.ends_with("files.json"));
                    earlier.retain(|path, _| left.contains_key(path));
                }
                assert_same(&earlier, &left, &what);
            }
        }
        running
    }
}

#[test]
fn ingest_survives_kills() {
    let dir = Dir::new();
    let lines = (0..40).map(|job| format!("job{job}\t{job}\t1\t100000000000\t1000000000\t1000000000\n"));
    dir.write("swim.tsv", lines.collect::<String>());
    Case::new("ingest", dir, &["ingest", "swim.tsv", "--out", "new/folder/X"]).survives_kills();
}

#[test]
fn ingest_of_tables_survives_kills() {
    let dir = Dir::new();
    event_tables(&dir);
    Case::new("ingest of tables", dir, &[TABLES, &["2"]].concat()).survives_kills();
}

#[test]
fn replay_survives_kills() {
    let args =
        ["replay", "T", "--assume", "--policy", "fifo", "--policy", "fair", "--policy", "delay", "--out", "new/R"];
    Case::new("replay", Dir::with_sample(), &args).survives_kills();
}

#[test]
fn sweep_survives_kills() {
    Case::new("sweep", dir(), &["sweep", "sweep.toml", "--out", "new/S", "--threads", "2"]).survives_kills();
}

#[test]
fn sweep_on_dask_survives_kills() {
    let Some(python) = python() else { return };
    let dask = ["--engine", "dask", "--chunk", "5", "--workers", "2", "--python", &python.display().to_string()];
    let args = [&["sweep", "sweep.toml", "--out", "new/S"][..], &dask].concat();
    Case::new("sweep on Dask", dir(), &args).survives_kills();
}

/// Slurm's own part is in `sweep_engines`. Here, a program in the place of `sbatch` runs the tasks.
#[test]
fn sweep_on_slurm_survives_kills() {
    let slurm = ["--engine", "slurm", "--chunk", "10", "--submit"];
    let mut case =
        Case::new("sweep on Slurm", dir(), &[&["sweep", "sweep.toml", "--out", "new/S"][..], &slurm].concat());
    case.path =
        Some(sbatch(&case.dir, "for task in 0 1 2 3; do SLURM_ARRAY_TASK_ID=$task sh \"$1\" || exit 1; done\n"));
    case.then = &["sweep", "merge", "new/S"];
    case.survives_kills();
}

#[test]
fn tune_survives_kills() {
    let dir = dir();
    let tune = "[tune]\nobjective = { mean_completion = 1 }\ncandidates = 4\n";
    let text = dir.read("sweep.toml").replace("[world]\nspeedup = [1, 2.0]", "") + tune;
    dir.write("sweep.toml", text);
    Case::new("tune", dir, &["tune", "sweep.toml", "--out", "new/S"]).survives_kills();
}

#[test]
fn report_survives_kills() {
    let dir = Dir::with_sample();
    dir.ok(&["replay", "T", "--assume", "--policy", "fifo", "--policy", "fair", "--out", "R"]);
    Case::new("report", dir, &["report", "R", "--out", "new/P"]).survives_kills();
}

#[test]
fn reproduce_survives_kills() {
    let args = ["reproduce", "coupling-fig12", "--seeds", "5", "--out", "new/P"];
    Case::new("reproduce", Dir::new(), &args).survives_kills();
}

/// The number of commands is also the number of tests, so that `RESCHED_KILLS` is shared among all of them.
#[test]
fn every_command_is_counted() {
    let tests = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/e2e/kills.rs")).unwrap();
    assert_eq!(tests.matches("_survives_kills() {\n").count(), COMMANDS);
}
