//! The policy `kueue` beside what Kueue itself decided (`truth/k8s` of the folder of shared traces), through the whole path: the table of
//! workloads is ingested, replayed with the site's YAML as it is, and compared by the tables of the run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use resched_policies::{PolicySpec, SiteConf};
use resched_sim::batch::{Ended, Offer, Policy, View};
use resched_sim::{ClusterConfig, Ms, TaskId, Violation};

use crate::world::{Replayed, replayed, replayed_on};

/// Worlds that are draws from some second on, or wholly: ties-a by intent, fairtree-b after its first equal shares.
const DRAWS: [(&str, i64); 2] = [("ties-a", 0), ("fairtree-b", 1551)];

fn shared(kind: &str) -> Option<PathBuf> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let path = std::env::var_os("RESCHED_SHARED").map_or_else(default, PathBuf::from).join("truth/k8s").join(kind);
    if path.is_dir() {
        return Some(path);
    }
    let required = std::env::var_os("RESCHED_REQUIRE_SHARED").is_some_and(|value| value == "1");
    assert!(!required, "{} not found", path.display());
    None
}

/// The path of a file, or of the same with `.gz`.
fn packed(path: &Path) -> PathBuf {
    if path.exists() { path.to_owned() } else { PathBuf::from(format!("{}.gz", path.display())) }
}

/// The rows of a table without quotes, by column.
fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let path = packed(path);
    let mut text = String::new();
    let mut file: Box<dyn std::io::Read> = Box::new(std::fs::File::open(&path).unwrap());
    if path.extension().is_some_and(|ending| ending == "gz") {
        file = Box::new(flate2::read::GzDecoder::new(file));
    }
    file.read_to_string(&mut text).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        names.iter().zip(line.split(',')).map(|(name, field)| ((*name).to_owned(), field.to_owned())).collect()
    };
    lines.map(row).collect()
}

/// When, what, which workload, and the rest: flavours of an admission; reason, preemptor and time of a preemption.
type Event = (i64, char, String, String);

/// What Kueue did. Of requeues, those that an admission follows: the tables of a run have no others.
fn theirs(folder: &Path) -> Vec<Event> {
    let all = rows(&folder.join("truth/decisions.csv"));
    let mut last: BTreeMap<&str, i64> = BTreeMap::new();
    let time = |row: &BTreeMap<String, String>| row["time"].parse::<i64>().unwrap();
    for row in all.iter().filter(|row| row["event"] == "A") {
        last.insert(&row["workload"], time(row));
    }
    let event = |row: &BTreeMap<String, String>| {
        let (at, name) = (time(row), row["workload"].clone());
        let rest = match row["event"].as_str() {
            "A" => row["flavors"].clone(),
            "P" => format!("{} {} {}", row["reason"], row["by"], row["detail"]),
            "F" => String::new(),
            "R" if last.get(name.as_str()).is_some_and(|&last| last >= at) => String::new(),
            _ => return None,
        };
        Some((at, row["event"].chars().next().unwrap(), name, rest))
    };
    all.iter().filter_map(event).collect()
}

/// The settings of a world, as those of the policy.
fn policy(folder: &Path, more: &str) -> PolicySpec {
    let text = std::fs::read_to_string(folder.join("world.yaml")).unwrap();
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": ")).unwrap();
    let spec = format!(
        "kueue:same_second=listed,on_eviction={},eviction_seconds={},requeue_seconds={}{more}",
        value("onEviction"),
        value("evictionSeconds"),
        value("requeueBatchSeconds")
    );
    PolicySpec::parse(&spec).unwrap()
}

/// What the tables of a run say.
fn ours((tables, zero): Replayed) -> Vec<Event> {
    let second = |ms: i64| {
        assert_eq!((ms + zero) % 1_000, 0);
        (ms + zero) / 1_000
    };
    let mut admissions: BTreeMap<(i64, String), Vec<String>> = BTreeMap::new();
    let mut events = Vec::new();
    for attempt in &tables.attempts {
        assert!(attempt.host.is_none(), "there are no nodes");
        let (job, set) = attempt.task_id.split_once('/').unwrap();
        let at = second(attempt.start.unwrap());
        let given = attempt.flavors.as_deref().unwrap_or_default().replace(',', "|");
        admissions.entry((at, job.to_owned())).or_default().push(format!("{set}:{given}"));
        if attempt.attempt > 0 {
            events.push((second(attempt.queued.unwrap()), 'R', job.to_owned(), String::new()));
        }
    }
    // All pod sets are admitted and queue again at once.
    events.sort();
    events.dedup();
    for ((at, job), mut sets) in admissions {
        sets.sort();
        events.push((at, 'A', job, sets.join(";")));
    }
    for job in tables.jobs.iter().filter(|job| job.finish.is_some()) {
        events.push((second(job.finish.unwrap()), 'F', job.job_id.clone(), String::new()));
    }
    for table in &tables.decisions {
        if let Some(reason) = table.name.strip_prefix("preempted:") {
            let (by, ran) = (table.other_job.as_deref().unwrap(), table.value as i64 / 1_000);
            events.push((second(table.time), 'P', table.job_id.clone().unwrap(), format!("{reason} {by} ran={ran}")));
        }
    }
    events
}

/// The policy, asked once more whenever a workload would have ended had it not been evicted. What ran the real code had a timer there, and
/// ran cycles until nothing changed. A cycle without effect still moves a search for flavours on, so that their number decides which
/// flavour is next; in a cluster, there is one every few milliseconds.
struct Timers {
    policy: Box<dyn Policy>,
    /// How long each workload runs, ms.
    runs: BTreeMap<String, Ms>,
    ends: BTreeSet<Ms>,
    now: Ms,
}

impl Timers {
    fn new(policy: Box<dyn Policy>, workloads: &Path) -> Self {
        let run = |row: BTreeMap<String, String>| (row["workload"].clone(), row["run"].parse::<Ms>().unwrap() * 1_000);
        Self { policy, runs: rows(workloads).into_iter().map(run).collect(), ends: BTreeSet::new(), now: -1 }
    }
}

impl Policy for Timers {
    fn task_waits(&mut self, task: TaskId, view: View<'_>) {
        self.policy.task_waits(task, view);
    }

    fn task_finished(&mut self, ended: &Ended, view: View<'_>) {
        self.policy.task_finished(ended, view);
    }

    fn alarm(&self) -> Option<Ms> {
        let end = self.ends.range(self.now + 1..).next().copied();
        self.policy.alarm().filter(|&at| at > self.now).into_iter().chain(end).min()
    }

    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        self.policy.schedule(offer)?;
        let view = offer.view();
        self.now = view.now();
        let started = view.runs().into_iter().filter(|&(_, _, start)| start == view.now());
        self.ends.extend(started.map(|(_, task, start)| start + self.runs[view.job(view.task(task).job).id]));
        Ok(())
    }
}

/// Compares a world. Returns how many rows are equal, and whether all are.
fn check(name: &str, folder: &Path, report: &mut String) -> (usize, bool) {
    let until = DRAWS.iter().find(|(world, _)| *world == name).map_or(i64::MAX, |(_, until)| *until);
    let site = Arc::new(SiteConf::read(folder).unwrap().site);
    let spec = policy(folder, "").at_site(&site).unwrap();
    let workloads = packed(&folder.join("workloads.csv"));
    let mut policy = Timers::new(spec.build_batch().unwrap(), &workloads);
    let done = replayed_on(&workloads, &mut policy, &ClusterConfig::default()).unwrap();
    let (mut mine, mut real) = (ours(done), theirs(folder));
    for events in [&mut mine, &mut real] {
        events.retain(|event| event.0 < until);
        events.sort();
    }
    let first = mine.iter().zip(&real).position(|(mine, real)| mine != real);
    let differs = first.or((mine.len() != real.len()).then_some(mine.len().min(real.len())));
    writeln!(
        report,
        "{name}: {} rows, first difference {:?}",
        real.len(),
        differs.map(|at| (mine.get(at), real.get(at)))
    )
    .unwrap();
    (real.len(), differs.is_none())
}

fn check_all(kind: &str, is_wanted: impl Fn(&str) -> bool) -> usize {
    let Some(folder) = shared(kind) else { return usize::MAX };
    let mut names: Vec<String> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let (mut report, mut rows, mut good) = (String::new(), 0, true);
    for name in names.iter().filter(|name| is_wanted(name)) {
        let (compared, equal) = check(name, &folder.join(name), &mut report);
        rows += compared;
        good &= equal;
    }
    assert!(good, "\n{report}");
    rows
}

fn is_large(name: &str) -> bool {
    name.starts_with("big")
}

#[test]
fn micro_worlds_are_replayed_as_the_real_code_decided() {
    assert!(check_all("micro", |_| true) > 200);
}

#[test]
fn worlds_are_replayed_as_the_real_code_decided() {
    assert!(check_all("kueue", |name| !name.starts_with("topology") && !is_large(name)) > 5_000);
}

/// Run it with `cargo test -p resched-policies --test kueue -- --ignored`.
#[test]
#[ignore = "takes some ten seconds of processor time without optimisation"]
fn large_worlds_are_replayed_as_the_real_code_decided() {
    assert!(check_all("kueue", is_large) > 5_000);
}

/// The preemptor of this world gets its place only when another workload ends; until then, its victim is admitted before it.
#[test]
fn evictions_without_an_end_are_an_error_with_both_names() {
    let Some(folder) = shared("micro") else { return };
    let folder = folder.join("26-loop");
    let site = Arc::new(SiteConf::read(&folder).unwrap().site);
    let spec = PolicySpec::parse("kueue:eviction_seconds=0").unwrap().at_site(&site).unwrap();
    let error = replayed(&folder.join("workloads.csv"), &spec).unwrap_err().to_string();
    let names: Vec<String> = rows(&folder.join("workloads.csv")).iter().map(|row| row["workload"].clone()).collect();
    let named = names.iter().filter(|name| error.contains(&format!("workload {name} "))).count();
    assert!(named == 2 && error.contains("101th time within one instant"), "{error}");
}
