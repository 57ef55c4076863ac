//! The golden schedules of YARN's own schedulers, row by row: every container and its distance from its data, every reservation,
//! every kill, and the ends of attempts and jobs.
//!
//! Needs `oracle-yarn` in the folder of shared traces, which `RESCHED_SHARED` names. Its manifest says which schedules
//! there are, so others can be judged by putting them there.

mod masters;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use resched_ingest::ingest;
use resched_policies::{PolicySpec, SiteConf};
use resched_sim::Reports;
use resched_sim::cluster_file::Withdraws;
use resched_sim::hadoop::{
    Ask, Cluster, Ended, Kept, Kind, Launched, Loaded, MasterLaunched, Observer, Options, Policy, TakenBack, Workload,
    load, replay,
};
use resched_sim::{ClusterConfig, Error, JobEnded, JobId, NodeId, Scope, TaskId};
use resched_tables::model::{Locality, Outcome};
use resched_tables::store::Trace;

use crate::support::shared;

/// How many rows are shown before a difference.
const CONTEXT: usize = 6;

/// A world of the golden schedules.
struct World {
    cluster: Cluster,
    workload: Workload,
}

impl World {
    /// `settings` are laid under those of the world's cluster file.
    fn load(name: &str, root: &Path, settings: &toml::Table) -> Self {
        let of_trace = |trace: &str| root.join(format!("traces/{trace}.trace.json.gz")).exists();
        // Worlds p are worlds y with other phases, and r2 is r1.
        let twin = format!("{}{}", if name.starts_with('p') { "y" } else { "r" }, &name[1..]);
        let trace = [name.to_owned(), twin, "r1".to_owned()].into_iter().find(|trace| of_trace(trace));
        let trace = trace.unwrap_or_else(|| panic!("{name}: no trace"));
        let sources = ["trace", "topology"].map(|part| root.join(format!("traces/{trace}.{part}.json.gz")));
        let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let at = dir.path().join("trace");
        ingest(&sources, &at, &resched_ingest::Options::default(), &mut ()).unwrap_or_else(|error| panic!("{error}"));
        let trace = Trace::open(&at).unwrap_or_else(|error| panic!("{error}"));
        let file = root.join(format!("clusters/{name}.toml"));
        let mut config = ClusterConfig::read_over(settings, &file).unwrap_or_else(|error| panic!("{error}"));
        config.am.withdraws = Withdraws::Grant;
        let cluster = Cluster::for_trace(config, &trace).unwrap_or_else(|error| panic!("{error}"));
        let scope = Scope { seed: 1, ..Scope::default() };
        let Loaded { workload, .. } = load(&trace, &cluster, &scope).unwrap_or_else(|error| panic!("{error}"));
        Self { cluster, workload }
    }

    fn replay(&self, name: &str, policy: &mut dyn Policy, parking: bool) -> Rows<'_> {
        let cluster = self.cluster.for_policy(policy).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut rows = Rows { world: self, events: Vec::new(), ends: Vec::new() };
        let options = Options { parking, ..Options::default() };
        replay(&self.workload, &cluster, (name, policy), &options, &mut rows, &mut |_| {})
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        rows
    }
}

/// What a replay reports, as rows of a golden file without their last fields.
struct Rows<'a> {
    world: &'a World,
    events: Vec<String>,
    /// With what came in no order: the ends of attempts.
    ends: Vec<String>,
}

impl Rows<'_> {
    fn task(&self, task: TaskId) -> String {
        let job = self.world.workload.job(self.world.workload.job_of(task));
        let (kind, number) = job.place(task);
        format!("{},{}{number}", job.id, if kind == Kind::Map { 'm' } else { 'r' })
    }

    fn job(&self, job: JobId) -> &str {
        &self.world.workload.job(job).id
    }

    fn host(&self, node: NodeId) -> &str {
        &self.world.cluster.node(node).name
    }
}

fn level(level: Option<Locality>) -> i64 {
    level.map_or(-1, |level| level as i64)
}

impl Reports for Rows<'_> {
    fn job_ended(&mut self, job_ended: &JobEnded) -> Result<(), Error> {
        let job = self.world.workload.job(job_ended.job);
        let launch = job_ended.launch.unwrap_or_default();
        // The golden schedules end a job when its master knows that all its tasks are done.
        let at = job_ended.finish - self.world.cluster.commit(&job.edges) - job.edges.cleanup.unwrap_or(0);
        self.events.push(format!("{at},J,{},{},{launch},{at}", job.id, job.submit));
        Ok(())
    }
}

impl Observer for Rows<'_> {
    fn launched(&mut self, launched: &Launched) -> Result<(), Error> {
        let row = format!(
            "{},A,{},{},{},{}",
            launched.at,
            self.task(launched.task),
            self.host(launched.node),
            level(launched.level),
            launched.attempt
        );
        self.events.push(row);
        Ok(())
    }

    fn master_launched(&mut self, master_launched: &MasterLaunched) -> Result<(), Error> {
        let row = format!(
            "{},A,{},AM,{},-1,0",
            master_launched.at,
            self.job(master_launched.job),
            self.host(master_launched.node)
        );
        self.events.push(row);
        Ok(())
    }

    fn kept(&mut self, kept: &Kept) -> Result<(), Error> {
        let host = self.host(kept.node);
        self.events.push(match kept.reservation {
            None => format!("{},U,,,{host}", kept.at),
            Some(reservation) => {
                let priority = match reservation.ask {
                    Ask::Am => 0,
                    Ask::FailedMap => 5,
                    Ask::Reduce => 10,
                    Ask::Map => 20,
                };
                format!("{},R,{},p{priority},{host}", kept.at, self.job(reservation.job))
            }
        });
        Ok(())
    }

    fn taken_back(&mut self, taken_back: &TakenBack) -> Result<(), Error> {
        let row = format!(
            "{},K,{},{},{}",
            taken_back.at,
            self.task(taken_back.task),
            self.host(taken_back.node),
            taken_back.attempt
        );
        self.events.push(row);
        Ok(())
    }

    fn ended(&mut self, ended: &Ended) -> Result<(), Error> {
        if let Some(finish) = ended.finish {
            let state = if ended.outcome == Outcome::Success { "SUCCEEDED" } else { "KILLED" };
            let (task, host) = (self.task(ended.task), self.host(ended.node));
            let row =
                format!("{finish},F,{task},{host},{},{},{},{state}", level(ended.level), ended.attempt, ended.start);
            self.ends.push(row);
        }
        Ok(())
    }
}

/// The rows of a golden file, without the fields that say nothing more: events in order, and ends.
fn golden(file: &Path) -> (Vec<String>, Vec<String>) {
    let mut text = String::new();
    let open = std::fs::File::open(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    MultiGzDecoder::new(open).read_to_string(&mut text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let (mut events, mut ends) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let fields: Vec<&str> = line.split(',').collect();
        let &[at, kind, job, task, host, level, _queue, ref rest @ ..] = &fields[..] else { panic!("{line}") };
        match kind {
            "A" => events.push(format!("{at},A,{job},{task},{host},{level},{}", rest[0])),
            "R" => events.push(format!("{at},R,{job},{task},{host}")),
            "U" => events.push(format!("{at},U,,,{host}")),
            "K" => events.push(format!("{at},K,{job},{task},{host},{}", rest[0])),
            "F" => ends.push(format!("{at},F,{job},{task},{host},{level},{},{},{}", rest[0], rest[1], rest[2])),
            "J" => events.push(format!("{at},J,{job},{},{},{}", rest[0], rest[1], rest[2])),
            // Submissions are input. A warning that is never carried out changes the schedule only through its order.
            "S" | "W" => {}
            _ => panic!("{}: {line}", file.display()),
        }
    }
    ends.sort_unstable();
    (events, ends)
}

/// Puts the containers that a node gave at one heartbeat into one order: the golden files list them by application.
fn sort_grants(events: &mut [String]) {
    let key = |row: &String| {
        let fields: Vec<&str> = row.split(',').collect();
        (fields[1] == "A").then(|| (fields[0].to_owned(), fields[4].to_owned()))
    };
    for same in events.chunk_by_mut(|a, b| key(a).is_some() && key(a) == key(b)) {
        same.sort_unstable();
    }
}

fn difference(golden: &[String], found: &[String]) -> Option<String> {
    let place = (0..golden.len().max(found.len())).find(|&place| golden.get(place) != found.get(place))?;
    let mut text = format!("row {place} of {} differs\n", golden.len());
    for row in &golden[place.saturating_sub(CONTEXT)..place.min(golden.len())] {
        writeln!(text, "    both     {row}").ok()?;
    }
    let row = |rows: &[String], place: usize| rows.get(place).map_or("nothing", String::as_str).to_owned();
    for next in place..place + 4 {
        writeln!(text, "    expected {:60} found {}", row(golden, next), row(found, next)).ok()?;
    }
    Some(text)
}

/// A configuration of the golden schedules.
struct Configuration {
    /// The policy that means the same.
    policy: String,
    /// Hadoop's scheduler: `fifo`, `capacity` or `fair`.
    scheduler: String,
    /// Hadoop's properties.
    properties: BTreeMap<String, String>,
}

impl Configuration {
    /// The policy that reads these settings from the files of a Hadoop site, and those files as `--site-conf` reads them.
    fn at_site(&self, root: &Path) -> (PolicySpec, SiteConf) {
        let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let allocations = "yarn.scheduler.fair.allocation.file";
        let property = |(name, value): (&String, &String)| {
            let value = if name == allocations { "fair-scheduler.xml" } else { value };
            format!("<property><name>{name}</name><value>{value}</value></property>\n")
        };
        let properties: String = self.properties.iter().map(property).collect();
        let file = if self.scheduler == "capacity" { "capacity-scheduler.xml" } else { "yarn-site.xml" };
        let write = |name: &str, text: &str| {
            std::fs::write(dir.path().join(name), text).unwrap_or_else(|error| panic!("{name}: {error}"));
        };
        write(file, &format!("<configuration>\n{properties}</configuration>\n"));
        if let Some(file) = self.properties.get(allocations) {
            let text = std::fs::read_to_string(root.join("configs").join(file));
            write("fair-scheduler.xml", &text.unwrap_or_else(|error| panic!("{file}: {error}")));
        }
        let conf = SiteConf::read(dir.path()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(conf.warnings, [""; 0], "{:?}", self.properties);
        let spec =
            PolicySpec::parse(&of_2014(&format!("yarn-{}", self.scheduler))).unwrap_or_else(|error| panic!("{error}"));
        let spec = spec.at_site(&conf.site.clone().into()).unwrap_or_else(|error| panic!("{error}"));
        (spec, conf)
    }
}

fn configurations(root: &Path) -> BTreeMap<String, Configuration> {
    let file = root.join("configs/configs.json");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let all: serde_json::Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}"));
    let all = all.as_object().unwrap_or_else(|| panic!("{}: expected an object", file.display()));
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let configuration = |(name, value): (&String, &serde_json::Value)| {
        let properties = value["hadoop"].as_object().into_iter().flatten();
        let policy = text(&value["resched"]).replace("configs/", &format!("{}/configs/", root.display()));
        let policy = of_2014(&policy);
        let configuration = Configuration {
            policy,
            scheduler: text(&value["scheduler"]),
            properties: properties.map(|(key, value)| (key.clone(), text(value))).collect(),
        };
        (name.clone(), configuration)
    };
    all.iter().map(configuration).collect()
}

/// The schedules of the manifest: worlds and configurations.
fn manifest(root: &Path) -> Vec<(String, String)> {
    let file = root.join("golden/manifest.csv");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let row = |line: &str| {
        let mut fields = line.split(',').map(str::to_owned);
        Some((fields.next()?, fields.next()?))
    };
    text.lines().skip(1).filter_map(row).collect()
}

fn compare(name: &str, root: &Path, rows: Rows<'_>) -> Result<usize, String> {
    let (mut events, ends) = golden(&root.join(format!("golden/{name}.csv.gz")));
    let Rows { events: mut found, ends: mut found_ends, .. } = rows;
    found_ends.sort_unstable();
    sort_grants(&mut events);
    sort_grants(&mut found);
    match difference(&events, &found).or_else(|| difference(&ends, &found_ends)) {
        Some(difference) => Err(format!("{name}: {difference}")),
        None => Ok(events.len() + ends.len()),
    }
}

/// A scheduler by the rules of 2014, if it has others.
fn of_2014(policy: &str) -> String {
    let (name, rest) = policy.split_once(':').unwrap_or((policy, ""));
    match (name, rest) {
        ("yarn-fifo", _) => policy.to_owned(),
        (_, "") => format!("{name}:rules=2014"),
        _ => format!("{name}:rules=2014,{rest}"),
    }
}

/// Where the settings of a policy come from.
#[derive(Clone, Copy, PartialEq)]
enum SetBy {
    /// Its own parameters, and a file of queues.
    Parameters,
    /// The files of a Hadoop site.
    Site,
}

/// Replays every schedule of a scheduler whose configuration is chosen, with parking and without.
#[allow(clippy::print_stderr, reason = "a test says what it compared")]
fn check(scheduler: &str, set_by: SetBy, chosen: impl Fn(&str) -> bool) {
    let Some(root) = shared("oracle-yarn") else { return };
    let configurations = configurations(&root);
    let (mut worlds, mut schedules, mut rows, mut problems) = (BTreeMap::new(), 0, 0, Vec::new());
    for (world, config) in manifest(&root) {
        let configuration = configurations.get(&config).unwrap_or_else(|| panic!("{config} is no configuration"));
        if configuration.scheduler != scheduler || !chosen(&config) {
            continue;
        }
        let name = format!("{world}-{config}");
        let (spec, cluster) = match set_by {
            SetBy::Parameters => {
                (PolicySpec::parse(&configuration.policy).unwrap_or_else(|error| panic!("{error}")), None)
            }
            SetBy::Site => {
                let (spec, conf) = configuration.at_site(&root);
                (spec, Some(conf.cluster))
            }
        };
        let settings = cluster.unwrap_or_default();
        let key = format!("{world} {settings}");
        let loaded = worlds.entry(key).or_insert_with(|| World::load(&world, &root, &settings));
        let parking: &[bool] = if set_by == SetBy::Site { &[true] } else { &[true, false] };
        for &parking in parking {
            let mut policy = spec.build().unwrap_or_else(|error| panic!("{error}"));
            match compare(&name, &root, loaded.replay(&name, &mut *policy, parking)) {
                Ok(equal) => rows += equal,
                Err(problem) => problems.push(problem),
            }
        }
        schedules += 1;
    }
    assert!(problems.is_empty(), "{} schedules differ\n{}", problems.len(), problems.join("\n"));
    assert!(schedules > 0, "the manifest has schedules of the {scheduler} scheduler");
    eprintln!("yarn-{scheduler}: {schedules} schedules agree, {rows} rows");
}

fn preempts(config: &str) -> bool {
    config.starts_with("fairpre")
}

#[test]
fn yarn_fifo() {
    check("fifo", SetBy::Parameters, |_| true);
}

#[test]
fn yarn_capacity() {
    check("capacity", SetBy::Parameters, |_| true);
}

#[test]
fn yarn_fair() {
    check("fair", SetBy::Parameters, |config| !preempts(config));
}

#[test]
fn yarn_fair_with_preemption() {
    check("fair", SetBy::Parameters, preempts);
}

#[test]
fn yarn_capacity_from_the_files_of_a_site() {
    check("capacity", SetBy::Site, |_| true);
}

#[test]
fn yarn_fair_from_the_files_of_a_site() {
    check("fair", SetBy::Site, |_| true);
}

/// Every configuration of YARN's schedulers makes another schedule than the others.
#[test]
fn the_yarn_goldens_report_policies_apart() {
    let Some(root) = shared("oracle-yarn") else { return };
    let world = World::load("y2", &root, &toml::Table::new());
    let replayed = |policy: &str| {
        let mut built =
            PolicySpec::parse(policy).and_then(|spec| spec.build()).unwrap_or_else(|error| panic!("{error}"));
        world.replay(policy, &mut *built, true)
    };
    for (golden, others) in [
        (
            "y2-cap40",
            ["yarn-fifo", "yarn-fair:rules=2014", "yarn-capacity:rules=2014,node_locality_delay=0,am_share=0.5"],
        ),
        ("y2-fair", ["yarn-fifo", "yarn-capacity:rules=2014", "yarn-fair:rules=2014,assign_multiple=true"]),
        (
            "y2-fairl",
            [
                "yarn-fair:rules=2014",
                "yarn-fair:rules=2014,assign_multiple=true",
                "yarn-fair:rules=2014,assign_multiple=true,size_weight=true",
            ],
        ),
    ] {
        for policy in others {
            assert!(compare(golden, &root, replayed(policy)).is_err(), "{policy} makes the schedule of {golden}");
        }
    }
}
