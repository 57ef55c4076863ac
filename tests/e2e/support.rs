//! Runs the binary and reads the files that it writes.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use tempfile::TempDir;

/// All policies for Hadoop.
pub(crate) static POLICIES: LazyLock<Vec<&str>> =
    LazyLock::new(|| resched_policies::POLICIES.iter().filter(|info| !info.is_batch()).map(|info| info.name).collect());

/// The folder of one test. The binary runs in it, so that paths are short and always the same.
pub(crate) struct Dir(TempDir);

impl Dir {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with the sample history as the trace `T`.
    pub(crate) fn with_sample() -> Self {
        let dir = Self::new();
        dir.ok(&["ingest", &sample_history(), "--out", "T"]);
        dir
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The command, not started.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_resched"));
        command.args(args).current_dir(self.0.path());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(args, self.command(args).output().unwrap())
    }

    /// Runs a command that must succeed. Returns its output.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.stdout
    }

    /// Runs a command that must print one JSON value.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ok(args)).unwrap()
    }

    /// Makes the manifest at `path` like that of another tool, without hashes and seal.
    pub(crate) fn without_hashes(&self, path: &str) {
        let mut marker: Value = serde_json::from_str(&self.read(path)).unwrap();
        let fields = marker.as_object_mut().unwrap();
        fields.remove("files");
        fields.remove("seal");
        self.write(path, serde_json::to_vec_pretty(&marker).unwrap());
    }

    /// All files and folders, by path, files with their bytes.
    pub(crate) fn tree(&self, name: &str) -> Tree {
        let mut tree = Tree::new();
        let mut waiting = vec![self.path(name)];
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let bytes = if path.is_dir() { None } else { Some(fs::read(&path).unwrap()) };
                tree.insert(path.strip_prefix(self.path(name)).unwrap().to_path_buf(), bytes);
                if path.is_dir() {
                    waiting.push(path);
                }
            }
        }
        tree
    }
}

/// The bytes of files by path; `None` for a folder.
pub(crate) type Tree = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// Fails with the paths that differ.
pub(crate) fn assert_same(before: &Tree, after: &Tree, what: &str) {
    let differ: Vec<&PathBuf> =
        before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)).collect();
    assert!(differ.is_empty(), "{what}: {differ:?} differ");
}

/// The outcome of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    #[allow(dead_code, reason = "shown when a test fails")]
    args: Vec<String>,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(args: &[&str], output: Output) -> Self {
        Self {
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Asserts exit status `code` and one message that contains all of `parts`.
    pub(crate) fn fails(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        let messages = self.stderr.lines().filter(|line| line.starts_with("error: ")).count();
        assert!(self.stderr.starts_with("error: ") && messages == 1, "{self:?}");
        assert!(!self.stderr.contains("panicked") && !self.stderr.contains("backtrace"), "{self:?}");
        for part in parts {
            assert!(self.stderr.contains(part), "`{part}` is missing in {self:?}");
        }
    }
}

/// A path in the repository.
pub(crate) fn repository(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join(path).canonicalize().unwrap_or_else(|error| panic!("{path}: {error}")).display().to_string()
}

pub(crate) fn sample_history() -> String {
    repository("traces/sample-history")
}

/// A path in the shared folder. If it does not exist, prints that the test is skipped and returns `None`.
pub(crate) fn shared(path: &str) -> Option<String> {
    let root = std::env::var_os("RESCHED_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let path = root.join(path);
    if path.exists() {
        return Some(path.canonicalize().unwrap().display().to_string());
    }
    let required = std::env::var_os("RESCHED_REQUIRE_SHARED").is_some_and(|value| value == "1");
    assert!(!required, "{} not found", path.display());
    eprintln!("skipped: {} not found", path.display());
    None
}

/// A folder with the trace `T` of Mumak's nineteen jobs; `None` without the shared folder.
pub(crate) fn nineteen_jobs() -> Option<Dir> {
    let mumak = |file: &str| shared(&format!("traces/hadoop-mapreduce-2011/mumak/19-jobs.{file}.json.gz"));
    let (trace, topology) = (mumak("trace")?, mumak("topology")?);
    let dir = Dir::new();
    dir.ok(&["ingest", &trace, &topology, "--out", "T"]);
    Some(dir)
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
