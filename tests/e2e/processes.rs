//! The programs that resched starts end with it, however it ends: the driver of Dask, its cells, and `sbatch`.

use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::interrupts::{TABLES, event_tables, signal};
use crate::support::{Dir, assert_same};
use crate::sweep::{CELLS, cells, dir, result, wait_until};
use crate::sweep_engines::{Counting, dask_cluster, python};

/// An environment variable that all processes below a command of the test have.
const MARK: &str = "RESCHED_TEST_MARK";
pub(crate) const SIGNALS: [&str; 3] = ["-TERM", "-INT", "-KILL"];

/// A command whose processes and temporary files can be found again.
pub(crate) fn marked(dir: &Dir, args: &[&str]) -> Command {
    fs::create_dir_all(dir.path("tmp")).unwrap();
    let mut command = dir.command(args);
    command.env("TMPDIR", dir.path("tmp")).env(MARK, dir.path(""));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn begin(dir: &Dir, args: &[&str]) -> Child {
    marked(dir, args).spawn().unwrap()
}

/// The processes that a command of [`marked`] left, each by its number and its command line.
fn left(dir: &Dir) -> Vec<(String, String)> {
    let mark = format!("{MARK}={}", dir.path("").display());
    let text = |path: PathBuf| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
    let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let ours = processes.filter(|process| text(process.join("environ")).split('\0').any(|found| found == mark));
    ours.map(|process| {
        let number = process.file_name().unwrap().to_string_lossy().into_owned();
        (number, text(process.join("cmdline")).replace('\0', " "))
    })
    .collect()
}

/// Fails if a process is left. After SIGKILL, nobody waits for the others, so they get some time to notice.
pub(crate) fn assert_no_process(dir: &Dir, what: &str) {
    if what.ends_with("-KILL") {
        wait_until(what, || left(dir).is_empty());
    }
    assert_eq!(left(dir), [], "{what}: processes are left");
}

/// Fails if a process or a temporary file is left.
pub(crate) fn assert_nothing_left(dir: &Dir, what: &str) {
    assert_no_process(dir, what);
    assert_eq!(dir.tree("tmp").keys().collect::<Vec<_>>(), [] as [&PathBuf; 0], "{what}: temporary files are left");
}

#[test]
fn a_sweep_on_dask_ends_with_all_that_it_started() {
    let Some(python) = python() else { return };
    let dir = dir();
    dir.ok(&["sweep", "sweep.toml", "--out", "local"]);
    let counting = Counting::new(&dir);
    let python = python.display().to_string();
    let dask = ["--engine", "dask", "--workers", "2", "--python", &python, "--program", &counting.program];
    let args = [&["sweep", "sweep.toml", "--out", "D"][..], &dask].concat();
    for name in SIGNALS {
        let before = counting.starts().len();
        let mut resched = begin(&dir, &args);
        wait_until("cells", || counting.starts().len() >= before + 3);
        signal(&resched, name);
        let ended = resched.wait().unwrap();
        assert_eq!(ended.code(), if name == "-KILL" { None } else { Some(130) });
        assert_nothing_left(&dir, &format!("Dask, {name}"));
    }
    assert!(cells(&dir, "D").len() < CELLS, "too late to kill anything");
    // As `pkill -KILL resched` does it: the keeper and the cells die as well, and only the driver can notice.
    let mut resched = begin(&dir, &args);
    let before = counting.starts().len();
    wait_until("cells", || counting.starts().len() >= before + 3);
    let all =
        left(&dir).into_iter().filter(|(_, line)| line.split(' ').next().is_some_and(|it| it.ends_with("/resched")));
    let all: Vec<String> = all.map(|(number, _)| number).collect();
    assert!(all.len() >= 2, "resched and its keeper: {all:?}");
    // A cell may have ended since it was listed, of which `kill` complains. That resched itself was killed shows at once.
    Command::new("kill").arg("-KILL").args(&all).status().unwrap();
    assert_eq!(resched.wait().unwrap().code(), None);
    wait_until("the end of the driver", || left(&dir).is_empty());
    assert!(marked(&dir, &args).status().unwrap().success());
    assert_nothing_left(&dir, "Dask");
    assert_same(&result(&dir, "local"), &result(&dir, "D"), "Dask");
}

/// The addresses at which a process listens.
fn listeners(process: &str) -> Vec<Ipv4Addr> {
    let fds = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let sockets: Vec<String> = fds
        .filter_map(|fd| {
            fs::read_link(fd.path()).ok()?.to_str()?.strip_prefix("socket:[")?.strip_suffix(']').map(str::to_owned)
        })
        .collect();
    let table = |name: &str| fs::read_to_string(format!("/proc/net/{name}")).unwrap_or_default();
    assert!(!table("tcp6").lines().any(|line| listens(line, &sockets)), "{process} listens on IPv6");
    let lines = table("tcp");
    let addresses = lines.lines().filter(|line| listens(line, &sockets)).map(|line| {
        let local = line.split_whitespace().nth(1).unwrap();
        // The bytes of the address are in the order of the network, written as a number of this machine.
        Ipv4Addr::from(u32::from_str_radix(&local[..8], 16).unwrap().to_ne_bytes())
    });
    addresses.collect()
}

/// Whether a line of /proc/net/tcp is of one of these sockets, and it listens.
fn listens(line: &str, sockets: &[String]) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.get(3) == Some(&"0A") && words.get(9).is_some_and(|inode| sockets.iter().any(|socket| socket == inode))
}

#[test]
fn dask_on_this_machine_has_no_port_for_others() {
    let Some(python) = python() else { return };
    let dir = dir();
    let counting = Counting::new(&dir);
    let python = python.display().to_string();
    let dask = ["--engine", "dask", "--python", &python, "--program", &counting.program];
    let mut resched = begin(&dir, &[&["sweep", "sweep.toml", "--out", "D"][..], &dask].concat());
    wait_until("cells", || counting.starts().len() >= 3);
    let addresses: Vec<Ipv4Addr> = left(&dir).iter().flat_map(|(number, _)| listeners(number)).collect();
    signal(&resched, "-TERM");
    resched.wait().unwrap();
    // The scheduler's and the worker's HTTP, which serve nothing. Anything more would take tasks.
    assert!(addresses.len() <= 2 && addresses.iter().all(Ipv4Addr::is_loopback), "{addresses:?}");
}

#[test]
fn on_a_cluster_of_others_begun_cells_are_finished_and_the_rest_is_cancelled() {
    let Some(python) = python() else { return };
    let dir = dir();
    dir.ok(&["sweep", "sweep.toml", "--out", "local"]);
    let counting = Counting::new(&dir);
    let (_cluster, address) = dask_cluster(&python, 2);
    let shown = python.display().to_string();
    let dask = ["--engine", "dask", "--python", &shown, "--program", &counting.program, "--scheduler", &address];
    let args = [&["sweep", "sweep.toml", "--out", "D"][..], &dask].concat();
    for name in SIGNALS {
        let before = counting.starts().len();
        let mut resched = begin(&dir, &args);
        wait_until("cells", || counting.starts().len() >= before + 4);
        signal(&resched, name);
        resched.wait().unwrap();
        assert_nothing_left(&dir, &format!("the driver, {name}"));
        // Two cells run, and two may begin before the scheduler notices.
        let begun = counting.starts().len();
        wait_until("the begun cells", || cells(&dir, "D").len() >= counting.starts().len());
        std::thread::sleep(std::time::Duration::from_secs(1));
        assert!(counting.starts().len() <= begun + 2, "{name}: cells were not cancelled");
        assert_eq!(cells(&dir, "D").len(), counting.starts().len(), "{name}: each cell that began was finished");
    }
    assert!(cells(&dir, "D").len() < CELLS, "too late to kill anything");
    assert!(marked(&dir, &args).status().unwrap().success(), "the cluster is as usable as before");
    assert_same(&result(&dir, "local"), &result(&dir, "D"), "Dask");
}

#[test]
fn an_ingest_on_dask_ends_with_all_that_it_started() {
    let Some(python) = python() else { return };
    let dir = Dir::new();
    event_tables(&dir);
    dir.ok(&[TABLES, &["1"]].concat());
    let whole = dir.tree("new");
    fs::remove_dir_all(dir.path("new")).unwrap();
    let counting = Counting::new(&dir);
    let python = python.display().to_string();
    let dask = ["1", "--engine", "dask", "--workers", "1", "--python", &python, "--program", &counting.program];
    let args = [TABLES, &dask].concat();
    for name in SIGNALS {
        let before = counting.starts().len();
        let mut resched = begin(&dir, &args);
        wait_until("a shard", || counting.starts().len() > before);
        signal(&resched, name);
        resched.wait().unwrap();
        assert_nothing_left(&dir, &format!("ingest, {name}"));
        assert!(!dir.path("new/T").exists(), "too late to kill anything");
    }
    assert!(marked(&dir, &args).status().unwrap().success());
    assert_nothing_left(&dir, "ingest");
    assert_same(&whole, &dir.tree("new"), "Dask");
}

#[test]
fn a_task_ends_with_the_pipe_of_its_worker() {
    let dir = dir();
    dir.write("sweep.toml", dir.read("sweep.toml").replace("seeds = 5", "seeds = 500"));
    let args = ["sweep", "sweep.toml", "--out", "S", "--threads", "1", "--end-with-stdin"];
    let mut task = marked(&dir, &args).stdin(Stdio::piped()).spawn().unwrap();
    wait_until("cells", || cells(&dir, "S").len() >= 3);
    drop(task.stdin.take());
    assert_eq!(task.wait().unwrap().code(), Some(130));
    // Standard input that is no pipe says nothing about a worker.
    dir.write("sweep.toml", dir.read("sweep.toml").replace("seeds = 500", "seeds = 1"));
    assert_eq!(marked(&dir, &args).status().unwrap().code(), Some(0));
    assert_nothing_left(&dir, "a task");
}

/// Puts a program in the place of `sbatch`. Returns the value of PATH.
pub(crate) fn sbatch(dir: &Dir, script: &str) -> String {
    dir.write("bin/sbatch", format!("#!/bin/sh\n{script}"));
    fs::set_permissions(dir.path("bin/sbatch"), fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", dir.path("bin").display(), std::env::var("PATH").unwrap())
}

#[test]
fn sbatch_ends_with_resched() {
    let dir = dir();
    // As if the controller did not answer, with a process below it, and deaf to the polite signals in the second case.
    for (deaf, names) in [("", &SIGNALS[..]), ("trap '' TERM\n", &["-TERM"])] {
        let path = sbatch(&dir, &format!("{deaf}touch begun\nsleep 1000\nsleep 1000\n"));
        for name in names {
            let mut command = marked(&dir, &["sweep", "sweep.toml", "--out", "S", "--engine", "slurm", "--submit"]);
            let mut resched = command.env("PATH", &path).spawn().unwrap();
            wait_until("sbatch", || dir.path("begun").exists());
            signal(&resched, name);
            let ended = resched.wait().unwrap();
            assert_eq!(ended.code(), if *name == "-KILL" { None } else { Some(130) });
            assert_nothing_left(&dir, &format!("sbatch, {name}"));
            fs::remove_file(dir.path("begun")).unwrap();
        }
    }
}

#[test]
fn what_sbatch_says_is_shown_and_its_failure_too() {
    let dir = dir();
    let submit = |path: &str| {
        let mut command = dir.command(&["sweep", "sweep.toml", "--out", "S", "--engine", "slurm", "--submit"]);
        let ran = command.env("PATH", path).output().unwrap();
        let [out, reported] = [ran.stdout, ran.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (ran.status.code(), out, reported)
    };
    let (code, out, _) = submit(&sbatch(&dir, "echo Submitted batch job 7\n"));
    assert_eq!(
        (code, out.as_str()),
        (Some(0), "Submitted batch job 7\nWhen the array is done, run `resched sweep merge S`\n")
    );
    let (code, out, reported) = submit(&sbatch(&dir, "echo no such partition >&2\nexit 3\n"));
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(
        reported.contains("no such partition") && reported.contains("sbatch ended with exit status: 3"),
        "{reported}"
    );
    let (code, _, reported) = submit(Path::new("/nowhere").to_str().unwrap());
    assert!(code == Some(2) && reported.contains("sbatch: cannot start it: the program is not found"), "{reported}");
}
