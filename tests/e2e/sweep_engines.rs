//! Sweeps beyond one machine, on real engines: Dask and Slurm, killed in the middle, and an object store.
//!
//! `RESCHED_PYTHON` is a Python with `distributed` and `moto[s3,server]`, a stand-in for S3. Slurm's daemons and munged must be in
//! the path. A test whose tools are missing is skipped, unless `RESCHED_REQUIRE_PYTHON` or `RESCHED_REQUIRE_SLURM` is set.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::{Dir, assert_same};
use crate::sweep::{CELLS, cells, dir, result, wait_until};

/// Processes that are killed when the test ends, also if it fails.
#[derive(Default)]
pub(crate) struct Killed(Vec<Child>);

impl Killed {
    pub(crate) fn add(&mut self, command: &mut Command) {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.0.push(quiet.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}")));
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Prints that a test is skipped. Fails if the variable `require` forbids it.
pub(crate) fn skip(what: &str, require: &str) {
    assert!(std::env::var_os(require).is_none(), "{what}, but {require} is set");
    eprintln!("skipped: {what}");
}

pub(crate) fn python() -> Option<PathBuf> {
    let python = std::env::var_os("RESCHED_PYTHON").map(PathBuf::from);
    if python.is_none() {
        skip("RESCHED_PYTHON is not set", "RESCHED_REQUIRE_PYTHON");
    }
    python
}

pub(crate) fn free_port() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
}

/// The start of a task: the process that started it, and its first cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Start {
    parent: u32,
    cell: String,
}

/// A program in place of resched that counts its starts, and gives time to kill it inside a cell.
pub(crate) struct Counting {
    log: PathBuf,
    pub(crate) program: String,
}

impl Counting {
    pub(crate) fn new(dir: &Dir) -> Self {
        let (log, resched) = (dir.path("starts"), env!("CARGO_BIN_EXE_resched"));
        // `exec`, so that the cell dies with what started it.
        let script =
            format!("#!/bin/sh\necho \"$PPID $6\" >> '{}'\nsleep 0.3\nexec '{resched}' \"$@\"\n", log.display());
        dir.write("counting", script);
        fs::set_permissions(dir.path("counting"), fs::Permissions::from_mode(0o755)).unwrap();
        Self { log, program: dir.path("counting").display().to_string() }
    }

    pub(crate) fn starts(&self) -> Vec<Start> {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let start = |line: &str| {
            let (parent, cell) = line.split_once(' ')?;
            Some(Start { parent: parent.parse().ok()?, cell: cell.to_owned() })
        };
        text.lines().filter_map(start).collect()
    }

    /// Waits for the next start that `is_it` accepts.
    fn next(&self, is_it: impl Fn(&Start) -> bool) -> Start {
        let known = self.starts().len();
        let mut found = None;
        wait_until("a start", || {
            found = self.starts().into_iter().skip(known).find(&is_it);
            found.is_some()
        });
        found.unwrap()
    }

    fn count(&self, cell: &str) -> usize {
        self.starts().iter().filter(|start| start.cell == cell).count()
    }
}

/// A scheduler with workers of one thread each, the scheduler first.
pub(crate) fn dask_cluster(python: &Path, workers: usize) -> (Killed, String) {
    let (dask, port) = (python.with_file_name("dask"), free_port());
    let address = format!("tcp://127.0.0.1:{port}");
    let mut all = Killed(Vec::new());
    all.add(Command::new(&dask).args(["scheduler", "--host", "127.0.0.1", "--port", &port]).arg("--no-dashboard"));
    for _ in 0..workers {
        let worker = ["worker", &address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "30"];
        all.add(Command::new(&dask).args(worker));
    }
    (all, address)
}

#[test]
fn dask_loses_no_cell_when_a_worker_then_the_scheduler_and_the_driver_are_killed() {
    let Some(python) = python() else { return };
    let dir = dir();
    dir.ok(&["sweep", "sweep.toml", "--out", "local"]);
    let counting = Counting::new(&dir);
    let shown = python.display().to_string();
    let drive = |address: &str| {
        let engine = ["--engine", "dask", "--python", &shown, "--program", &counting.program, "--scheduler", address];
        dir.command(&[&["sweep", "sweep.toml", "--out", "D"][..], &engine].concat())
    };

    let (mut cluster, address) = dask_cluster(&python, 2);
    let mut driver = Killed(Vec::new());
    driver.add(&mut drive(&address));
    wait_until("five cells of the first cluster", || cells(&dir, "D").len() >= 5);
    let worker = cluster.0[1].id();
    let lost = counting.next(|start| start.parent == worker).cell;
    cluster.0[1].kill().unwrap();
    let done = cells(&dir, "D").len();
    wait_until("more cells", || cells(&dir, "D").len() >= done + 3);
    cluster.0[0].kill().unwrap();
    driver.0[0].kill().unwrap();
    drop((cluster, driver));
    let done = cells(&dir, "D").len();
    assert!(done < CELLS, "too late to kill anything");

    let (_cluster, address) = dask_cluster(&python, 1);
    let ended = drive(&address).output().unwrap();
    let reported = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(ended.status.success(), "{reported}");
    assert!(reported.contains(&format!("{} of {CELLS} cells to do", CELLS - done)), "{reported}");
    assert!(counting.count(&lost) >= 2, "the cell of the killed worker was started once");
    assert!(counting.starts().len() > CELLS);
    assert_same(&result(&dir, "local"), &result(&dir, "D"), "Dask");
}

/// A controller and a node of Slurm on this machine, with all their files in one folder.
struct Slurm {
    config: PathBuf,
    daemons: Killed,
}

impl Slurm {
    /// `None` if Slurm is not installed.
    fn start(dir: &Dir, name: &str) -> Option<Self> {
        // As slurmd names this machine: `NodeName=host CPUs=2 …`.
        let known = Command::new("slurmd").arg("-C").output().ok()?;
        let reported = String::from_utf8(known.stdout).unwrap();
        let host = reported.split_whitespace().find_map(|word| word.strip_prefix("NodeName="))?.to_owned();
        let user = String::from_utf8(Command::new("id").arg("-un").output().ok()?.stdout).unwrap();
        let folder = dir.path(name);
        for part in ["state", "spool"] {
            fs::create_dir_all(folder.join(part)).unwrap();
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        dir.write(&format!("{name}/munge.key"), [b'k'; 128]);
        fs::set_permissions(folder.join("munge.key"), fs::Permissions::from_mode(0o400)).unwrap();
        let config = format!(
            "ClusterName=resched\n\
             SlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={}\nSlurmdPort={}\n\
             SlurmUser={user}\nSlurmdUser={user}\n\
             AuthType=auth/munge\nAuthInfo=socket={at}/munge.socket\nCredType=cred/munge\n\
             StateSaveLocation={at}/state\nSlurmdSpoolDir={at}/spool\n\
             SlurmctldPidFile={at}/slurmctld.pid\nSlurmdPidFile={at}/slurmd.pid\n\
             SlurmctldLogFile={at}/slurmctld.log\nSlurmdLogFile={at}/slurmd.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nMpiDefault=none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSchedulerParameters=sched_interval=1\n\
             SlurmdParameters=config_overrides\nNodeName={host} NodeAddr=127.0.0.1 CPUs=2\n\
             PartitionName=all Nodes=ALL Default=YES State=UP\n",
            free_port(),
            free_port(),
            at = folder.display(),
            user = user.trim(),
        );
        dir.write(&format!("{name}/slurm.conf"), config);
        let mut slurm = Self { config: folder.join("slurm.conf"), daemons: Killed(Vec::new()) };
        let at = |option: &str, file: &str| format!("{option}={}", folder.join(file).display());
        slurm.daemons.add(Command::new("munged").args(["--foreground", "--force"]).args([
            at("--key-file", "munge.key"),
            at("--socket", "munge.socket"),
            at("--pid-file", "munged.pid"),
            at("--log-file", "munged.log"),
            at("--seed-file", "munged.seed"),
        ]));
        wait_until("munged", || folder.join("munge.socket").exists());
        for daemon in ["slurmctld", "slurmd"] {
            let mut command = slurm.command(daemon);
            slurm.daemons.add(command.arg("-D"));
        }
        wait_until("an idle node", || slurm.output_of("sinfo", &["-h", "-o", "%t"]).trim() == "idle");
        Some(slurm)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", &self.config);
        command
    }

    fn output_of(&self, program: &str, args: &[&str]) -> String {
        String::from_utf8(self.command(program).args(args).output().unwrap().stdout).unwrap()
    }

    /// Kills the daemons and tasks until none is left, also those that are just starting. Processes with `spared` in their command
    /// line stay.
    fn kill(&self, spared: Option<&str>) {
        let config = format!("SLURM_CONF={}", self.config.display());
        wait_until("the end of Slurm's processes", || {
            let holds = |process: &Path, file: &str, text: &str| {
                let bytes = fs::read(process.join(file)).unwrap_or_default();
                String::from_utf8_lossy(&bytes).contains(text)
            };
            let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
            let of_slurm = processes.filter(|process| {
                holds(process, "environ", &config) && !spared.is_some_and(|spared| holds(process, "cmdline", spared))
            });
            let numbers: Vec<String> =
                of_slurm.map(|process| process.file_name().unwrap().to_string_lossy().into_owned()).collect();
            numbers.is_empty() || Command::new("kill").arg("-9").args(&numbers).output().is_err()
        });
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        self.kill(None);
    }
}

#[test]
fn slurm_loses_no_cell_when_its_node_and_its_controller_are_killed() {
    let dir = dir();
    let Some(slurm) = Slurm::start(&dir, "first") else {
        return skip("slurmd is not installed", "RESCHED_REQUIRE_SLURM");
    };
    dir.ok(&["sweep", "sweep.toml", "--out", "local"]);
    let counting = Counting::new(&dir);
    let submit = |slurm: &Slurm| {
        let engine = ["--engine", "slurm", "--submit", "--chunk", "2", "--program", &counting.program];
        let mut command = dir.command(&[&["sweep", "sweep.toml", "--out", "S"][..], &engine].concat());
        let ended = command.env("SLURM_CONF", &slurm.config).output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
        String::from_utf8(ended.stderr).unwrap()
    };

    assert!(submit(&slurm).contains("40 of 40 cells to do, as 20 tasks"));
    wait_until("five cells of the first cluster", || cells(&dir, "S").len() >= 5);
    // The node is lost with all that runs on it, one task inside a cell.
    let lost = counting.next(|_| true);
    slurm.kill(Some("slurmctld"));
    drop(slurm);
    let done = cells(&dir, "S").len();
    assert!(done < CELLS, "too late to kill anything");

    let slurm = Slurm::start(&dir, "second").unwrap();
    assert!(submit(&slurm).contains(&format!("{} of {CELLS} cells to do", CELLS - done)));
    wait_until("the end of the array", || slurm.output_of("squeue", &["-h"]).trim().is_empty());
    assert!(counting.count(&lost.cell) >= 2, "the cells of the killed task were started once");
    dir.ok(&["sweep", "merge", "S"]);
    let mut found = result(&dir, "S");
    found.retain(|path, _| !path.starts_with("slurm"));
    assert_same(&result(&dir, "local"), &found, "Slurm");
}

#[test]
fn results_in_an_object_store_are_the_same() {
    let Some(python) = python() else { return };
    let dir = dir();
    dir.ok(&["sweep", "sweep.toml", "--out", "local"]);
    let (port, mut server) = (free_port(), Killed(Vec::new()));
    server.add(Command::new(python.with_file_name("moto_server")).args(["-H", "127.0.0.1", "-p", &port]));
    let environment = crate::object_store::environment(&port);
    let bucket = "import boto3; boto3.client('s3', region_name='us-east-1').create_bucket(Bucket='sweeps')";
    wait_until("a bucket", || {
        let made = Command::new(&python).args(["-c", bucket]).envs(environment.clone()).output();
        made.unwrap().status.success()
    });
    let run = |args: &[&str]| {
        let ran = dir.command(args).envs(environment.clone()).output().unwrap();
        (ran.status.code(), String::from_utf8(ran.stderr).unwrap())
    };
    let ok = |args: &[&str]| {
        let (code, reported) = run(args);
        assert_eq!(code, Some(0), "{reported}");
        reported
    };

    // First a worker that sees only the store, then an engine, which makes the missing cells.
    let to = ["--out", "S", "--results", "s3://sweeps/mine"];
    ok(&[&["sweep", "plan", "sweep.toml"][..], &to].concat());
    ok(&["sweep", "cell", "--manifest", "s3://sweeps/mine/sweep.json", "--index", "0", "--count", "13"]);
    assert!(cells(&dir, "S").is_empty());
    let (code, reported) = run(&["sweep", "merge", "S"]);
    let expected = "s3://sweeps/mine/cells: 27 of 40 cells are missing (number 13, 14, 15, …)";
    assert!(code == Some(1) && reported.contains(expected), "{reported}");
    let engine = ["--engine", "dask", "--chunk", "5", "--python", &python.display().to_string()];
    let reported = ok(&[&["sweep", "sweep.toml"][..], &to, &engine].concat());
    assert!(reported.contains("27 of 40 cells to do, as 6 tasks"), "{reported}");
    let (mut local, mut found) = (result(&dir, "local"), result(&dir, "S"));
    // The plan names the store, and the cells are there.
    local.retain(|path, _| !path.starts_with("cells") && path != Path::new("sweep.json"));
    found.remove(Path::new("sweep.json"));
    assert_same(&local, &found, "an object store");

    let (code, reported) = run(&["sweep", "sweep.toml", "--out", "W", "--results", "s3://nothing/there"]);
    assert!(code == Some(1) && reported.contains("s3://nothing/there/sweep.json: cannot write it"), "{reported}");
    let (code, reported) = run(&["sweep", "sweep.toml", "--out", "W", "--results", "ftp://a/b"]);
    assert!(code == Some(2) && reported.contains("found the scheme `ftp`"), "{reported}");
}
