//! Histories in an object store: the same trace as from a folder, whatever happens on the way.
//!
//! As in `sweep_engines`, `RESCHED_PYTHON` is a Python with `moto[s3,server]`, a stand-in for S3.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::interrupts::signal;
use crate::support::{Dir, Ran, assert_same};
use crate::sweep::wait_until;
use crate::sweep_engines::{Killed, free_port, python};

/// The tasks of an application of the history.
const TASKS: usize = 3_000;

/// The log of an application, as text.
fn log(application: &str) -> String {
    let mut text = format!(
        "{{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"4.0.0\"}}\n\
         {{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"a\",\"App ID\":\"{application}\",\"Timestamp\":1000,\"User\":\"ann\"}}\n\
         {{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":1000,\"Executor ID\":\"1\",\"Executor Info\":{{\"Host\":\"h1\",\"Total Cores\":4}}}}\n\
         {{\"Event\":\"SparkListenerJobStart\",\"Job ID\":0,\"Submission Time\":1000,\"Stage Infos\":[],\"Stage IDs\":[0]}}\n"
    );
    for task in 0..TASKS {
        // Numbers that are hard to pack, so that objects have several ranges.
        let noise = (task as u64 + application.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        text += &format!(
            "{{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Stage Attempt ID\":0,\"Task Type\":\"ResultTask\",\"Task End \
             Reason\":{{\"Reason\":\"Success\"}},\"Task Info\":{{\"Task ID\":{task},\"Index\":{task},\"Attempt\":0,\"Launch Time\":{},\
             \"Executor ID\":\"1\",\"Host\":\"h1\",\"Locality\":\"ANY\",\"Finish Time\":{}}},\"Noise\":\"{noise:x}{:x}\"}}\n",
            1_000 + task,
            2_000 + task,
            noise.wrapping_mul(noise)
        );
    }
    text + "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":0,\"Completion Time\":90000,\"Job Result\":{\"Result\":\"JobSucceeded\"}}\n"
}

/// A folder as a history server has it: plain and packed logs, one that still runs, and one that rolls over.
fn history(dir: &Dir) {
    let packed = |text: &str| zstd::encode_all(text.as_bytes(), 1).unwrap();
    dir.write("history/app-1", log("app-1"));
    dir.write("history/app-2.zstd", packed(&log("app-2")));
    dir.write("history/app-3.inprogress", &log("app-3").as_bytes()[..150_000]);
    let rolled = log("app-4");
    let (first, second) = rolled.split_at(rolled.len() / 2 + rolled[rolled.len() / 2..].find('\n').unwrap() + 1);
    dir.write("history/eventlog_v2_app-4/events_1_app-4.zstd", packed(first));
    dir.write("history/eventlog_v2_app-4/events_2_app-4.zstd", packed(second));
    dir.write("history/eventlog_v2_app-4/appstatus_app-4", "");
    dir.write("history/preferred.csv", "application,stage,index,hosts\napp-1,0,0,h1\napp-2,0,5,h1 h2\n");
}

/// A store with the folder `history` of `dir` under `s3://logs/history`.
struct Store {
    python: PathBuf,
    port: String,
    _server: Killed,
}

impl Store {
    fn start(dir: &Dir) -> Option<Self> {
        let (python, port, mut server) = (python()?, free_port(), Killed::default());
        server.add(Command::new(python.with_file_name("moto_server")).args(["-H", "127.0.0.1", "-p", &port]));
        let store = Self { python, port, _server: server };
        let fill = "import boto3, os, sys\n\
                    s3 = boto3.client('s3', region_name='us-east-1')\n\
                    s3.create_bucket(Bucket='logs')\n\
                    s3.put_object(Bucket='logs', Key='history/eventlog_v2_app-4/', Body=b'')\n\
                    for folder, _, names in os.walk('history'):\n\
                    \x20   for name in names:\n\
                    \x20       path = os.path.join(folder, name)\n\
                    \x20       s3.upload_file(path, 'logs', path)\n";
        wait_until("a bucket", || store.python(dir, fill));
        Some(store)
    }

    /// Runs a script beside the store.
    fn python(&self, dir: &Dir, script: &str) -> bool {
        let ran = Command::new(&self.python)
            .args(["-c", script])
            .envs(environment(&self.port))
            .current_dir(dir.path(""))
            .output();
        ran.unwrap().status.success()
    }
}

/// What points the command to a store on this machine.
pub(crate) fn environment(port: &str) -> [(&'static str, String); 6] {
    [
        ("AWS_ENDPOINT", format!("http://127.0.0.1:{port}")),
        ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")),
        ("AWS_ALLOW_HTTP", "true".to_owned()),
        ("AWS_ACCESS_KEY_ID", "name".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
    ]
}

/// Passes bytes between the command and the store, and breaks connections or slows them down.
struct Between {
    port: String,
    /// How many answers may still be cut.
    cuts: Arc<AtomicU64>,
    /// The bytes of answers so far.
    passed: Arc<AtomicU64>,
}

impl Between {
    /// Cuts the first `cuts` answers of more than `after` bytes there. Each piece of an answer takes `pause`.
    fn start(store: &str, (cuts, after): (u64, usize), pause: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        let (cuts, passed) = (Arc::new(AtomicU64::new(cuts)), Arc::new(AtomicU64::new(0)));
        let proxy = Self { port, cuts: Arc::clone(&cuts), passed: Arc::clone(&passed) };
        let store = format!("127.0.0.1:{store}");
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (cuts, passed) = (Arc::clone(&cuts), Arc::clone(&passed));
                let Ok(server) = TcpStream::connect(&store) else { continue };
                let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(Shutdown::Write);
                });
                std::thread::spawn(move || pass(server, client, (&cuts, after), &passed, pause));
            }
        });
        proxy
    }
}

fn pass(
    mut server: TcpStream,
    mut client: TcpStream,
    (cuts, after): (&AtomicU64, usize),
    passed: &AtomicU64,
    pause: Duration,
) {
    let mut piece = [0; 16 << 10];
    let mut sent = 0;
    while let Ok(read @ 1..) = server.read(&mut piece) {
        sent += read;
        let may_cut = sent > after;
        if may_cut && cuts.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
            break;
        }
        passed.fetch_add(read as u64, Ordering::SeqCst);
        if client.write_all(&piece[..read]).is_err() {
            break;
        }
        std::thread::sleep(pause);
    }
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}

const INGEST: [&str; 5] = ["ingest", "s3://logs/history", "--merge", "--out", "S"];

fn ingest(dir: &Dir, port: &str, args: &[&str]) -> Ran {
    Ran::of(args, dir.command(args).envs(environment(port)).output().unwrap())
}

/// The tables are the same, and the manifest but for the address.
fn assert_same_trace(dir: &Dir, folder: &str, store: &str) {
    let (mut one, mut other) = (dir.tree(folder), dir.tree(store));
    let manifest = |tree: &mut crate::support::Tree| -> Value {
        let text = tree.remove(Path::new("trace.json")).unwrap().unwrap();
        let mut manifest: Value = serde_json::from_slice(&text).unwrap();
        manifest.as_object_mut().unwrap().remove("seal").unwrap();
        let text = manifest.to_string().replace("s3://logs/", "").replace("s3a://logs/", "");
        serde_json::from_str(&text).unwrap()
    };
    assert_eq!(manifest(&mut one), manifest(&mut other));
    assert_same(&one, &other, "an object store");
}

#[test]
fn a_prefix_gives_the_trace_of_a_folder() {
    let dir = Dir::new();
    history(&dir);
    let Some(store) = Store::start(&dir) else { return };
    dir.ok(&["ingest", "history", "--merge", "--out", "F"]);
    let manifest: Value = serde_json::from_str(&dir.read("F/trace.json")).unwrap();
    assert_eq!(manifest["sources"].as_array().unwrap().len(), 8, "five files, and one beside three of the logs");
    let ran = ingest(&dir, &store.port, &INGEST);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_same_trace(&dir, "F", "S");

    // A slash at the end, the other scheme, and an object by its name change nothing else.
    let ran = ingest(&dir, &store.port, &["ingest", "s3a://logs/history/", "--merge", "--out", "S", "--force"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_same_trace(&dir, "F", "S");
    dir.ok(&["ingest", "history/app-2.zstd", "--out", "one"]);
    let ran = ingest(&dir, &store.port, &["ingest", "s3://logs/history/app-2.zstd", "--out", "S", "--force"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let jobs = |trace: &str| fs::read(dir.path(trace).join("attempts.parquet")).unwrap();
    assert!(jobs("one") == jobs("S"));
}

#[test]
fn what_is_killed_in_the_middle_and_run_again_gives_the_same_bytes() {
    let dir = Dir::new();
    history(&dir);
    let Some(store) = Store::start(&dir) else { return };
    let ran = ingest(&dir, &store.port, &INGEST);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let whole = dir.tree("S");
    fs::remove_dir_all(dir.path("S")).unwrap();
    let before = dir.tree("");
    for name in ["-KILL", "-TERM"] {
        let slow = Between::start(&store.port, (0, 0), Duration::from_millis(30));
        let child = dir.command(&INGEST).envs(environment(&slow.port)).spawn().unwrap();
        let begun = Instant::now();
        wait_until("some bytes", || slow.passed.load(Ordering::SeqCst) > 700_000);
        signal(&child, name);
        child.wait_with_output().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(60) && !dir.path("S").exists(), "{name}: it had ended");
        let ran = ingest(&dir, &store.port, &INGEST);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_same(&whole, &dir.tree("S"), name);
        fs::remove_dir_all(dir.path("S")).unwrap();
        assert_same(&before, &dir.tree(""), "nothing is left behind");
    }
}

#[test]
fn connections_that_break_change_nothing_or_are_reported() {
    let dir = Dir::new();
    history(&dir);
    let Some(store) = Store::start(&dir) else { return };
    dir.ok(&["ingest", "history", "--merge", "--out", "F"]);
    let shaky = Between::start(&store.port, (5, 40_000), Duration::ZERO);
    let ran = ingest(&dir, &shaky.port, &INGEST);
    assert_eq!((ran.code, shaky.cuts.load(Ordering::SeqCst)), (Some(0), 0), "{ran:?}");
    assert_same_trace(&dir, "F", "S");

    fs::remove_dir_all(dir.path("S")).unwrap();
    // The list comes through, and no byte of a log.
    let broken = Between::start(&store.port, (u64::MAX, 8_000), Duration::ZERO);
    let ran = ingest(&dir, &broken.port, &INGEST);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("s3://logs/history/app-1: cannot read it: expected"), "{ran:?}");
    assert!(!dir.path("S").exists());
}

#[test]
fn wrong_addresses_are_explained() {
    let dir = Dir::new();
    history(&dir);
    let Some(store) = Store::start(&dir) else { return };
    let refused = |address: &str, code: i32, text: &str| {
        let ran = ingest(&dir, &store.port, &["ingest", address, "--out", "S"]);
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert!(ran.stderr.contains(text), "{ran:?}");
    };
    refused("s3://none/history", 1, "s3://none/history: cannot list it: expected a bucket of that name, found none");
    refused("s3://logs/none", 2, "s3://logs/none: expected a history or a prefix of histories, found no object there");
    refused("gs://logs/history", 2, "found the scheme `gs`");
    assert!(!dir.path("S").exists());
}
