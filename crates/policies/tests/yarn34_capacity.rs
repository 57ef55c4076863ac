//! The golden schedules of the Capacity Scheduler of Hadoop 3.4.1, row by row.
//!
//! Needs `oracle-yarn` and `oracle-yarn-3` in the folder of shared traces, which `RESCHED_SHARED` names. The manifest of the second one
//! says which schedules there are. Each is replayed with the settings of the site's files. `YARN34` chooses some of them: `y5` or `capq`
//! or `y5-capq`, between commas.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use resched_ingest::ingest;
use resched_policies::{PolicySpec, SiteConf};
use resched_sim::cluster_file::Withdraws;
use resched_sim::hadoop::{
    Ask, Cluster, Ended, Kept, Kind, Launched, Loaded, MasterLaunched, Observer, Options, Policy, TakenBack, Workload,
    load, replay,
};
use resched_sim::{ClusterConfig, Error, JobEnded, JobId, NodeId, Reports, Scope, TaskId};
use resched_tables::model::{Locality, Outcome};
use resched_tables::store::Trace;

/// How many rows are shown before a difference.
const CONTEXT: usize = 6;

/// A folder of the shared traces. Without it, prints that the test is skipped and returns `None`.
#[allow(clippy::print_stderr, reason = "a test says why it is skipped")]
fn shared(folder: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let path = std::env::var_os("RESCHED_SHARED").map_or(beside, PathBuf::from).join(folder);
    if path.exists() {
        return Some(path);
    }
    let required = std::env::var("RESCHED_REQUIRE_SHARED").is_ok_and(|value| value == "1");
    assert!(!required, "{} is missing", path.display());
    eprintln!("skipped: {} not found", path.display());
    None
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The schedules of 2014 and of 3.x.
struct Roots {
    old: PathBuf,
    new: PathBuf,
}

impl Roots {
    /// A file of a world: worlds of 2014 are in the older folder.
    fn find(&self, file: &str) -> Option<PathBuf> {
        [&self.new, &self.old].into_iter().map(|root| root.join(file)).find(|path| path.exists())
    }
}

/// A world of the golden schedules.
struct World {
    cluster: Cluster,
    workload: Workload,
}

impl World {
    /// `settings` are laid under those of the world's cluster file.
    fn load(name: &str, roots: &Roots, settings: &toml::Table) -> Self {
        // Worlds p are worlds y with other phases, and r2 is r1.
        let twin = format!("{}{}", if name.starts_with('p') { "y" } else { "r" }, &name[1..]);
        let of_trace = |trace: &String| roots.find(&format!("traces/{trace}.trace.json.gz")).is_some();
        let trace = [name.to_owned(), twin, "r1".to_owned()].into_iter().find(of_trace);
        let trace = trace.unwrap_or_else(|| panic!("{name}: no trace"));
        let sources: Vec<PathBuf> = ["trace", "topology"]
            .into_iter()
            .filter_map(|part| roots.find(&format!("traces/{trace}.{part}.json.gz")))
            .collect();
        let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let at = dir.path().join("trace");
        ingest(&sources, &at, &resched_ingest::Options::default(), &mut ()).unwrap_or_else(|error| panic!("{error}"));
        let trace = Trace::open(&at).unwrap_or_else(|error| panic!("{error}"));
        let file = roots.find(&format!("clusters/{name}.toml")).unwrap_or_else(|| panic!("{name}: no cluster file"));
        let mut config = ClusterConfig::read_over(settings, &file).unwrap_or_else(|error| panic!("{error}"));
        config.am.withdraws = Withdraws::Grant;
        let cluster = Cluster::for_trace(config, &trace).unwrap_or_else(|error| panic!("{error}"));
        let scope = Scope { seed: 1, ..Scope::default() };
        let Loaded { workload, .. } = load(&trace, &cluster, &scope).unwrap_or_else(|error| panic!("{error}"));
        Self { cluster, workload }
    }

    fn replay(&self, name: &str, policy: &mut dyn Policy) -> Rows<'_> {
        let cluster = self.cluster.for_policy(policy).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut rows = Rows { world: self, events: Vec::new(), ends: Vec::new() };
        replay(&self.workload, &cluster, (name, policy), &Options::default(), &mut rows, &mut |_| {})
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
    fn job_ended(&mut self, own: &JobEnded) -> Result<(), Error> {
        let job = self.world.workload.job(own.job);
        let launch = own.launch.unwrap_or_default();
        // The golden schedules end a job when its master knows that all its tasks are done.
        let at = own.finish - self.world.cluster.commit(&job.edges) - job.edges.cleanup.unwrap_or(0);
        self.events.push(format!("{at},J,{},{},{launch},{at}", job.id, job.submit));
        Ok(())
    }
}

impl Observer for Rows<'_> {
    fn launched(&mut self, own: &Launched) -> Result<(), Error> {
        let (task, host) = (self.task(own.task), self.host(own.node));
        let row = format!("{},A,{task},{host},{},{}", own.at, level(own.level), own.attempt);
        self.events.push(row);
        Ok(())
    }

    fn master_launched(&mut self, own: &MasterLaunched) -> Result<(), Error> {
        let row = format!("{},A,{},AM,{},-1,0", own.at, self.job(own.job), self.host(own.node));
        self.events.push(row);
        Ok(())
    }

    fn kept(&mut self, own: &Kept) -> Result<(), Error> {
        let host = self.host(own.node);
        self.events.push(match own.reservation {
            None => format!("{},U,,,{host}", own.at),
            Some(kept) => {
                let priority = match kept.ask {
                    Ask::Am => 0,
                    Ask::FailedMap => 5,
                    Ask::Reduce => 10,
                    Ask::Map => 20,
                };
                format!("{},R,{},p{priority},{host}", own.at, self.job(kept.job))
            }
        });
        Ok(())
    }

    fn taken_back(&mut self, own: &TakenBack) -> Result<(), Error> {
        let row = format!("{},K,{},{},{}", own.at, self.task(own.task), self.host(own.node), own.attempt);
        self.events.push(row);
        Ok(())
    }

    fn ended(&mut self, own: &Ended) -> Result<(), Error> {
        if let Some(finish) = own.finish {
            let state = if own.outcome == Outcome::Success { "SUCCEEDED" } else { "KILLED" };
            let (task, host) = (self.task(own.task), self.host(own.node));
            let row = format!("{finish},F,{task},{host},{},{},{},{state}", level(own.level), own.attempt, own.start);
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

/// How many rows are in both, each as often as in the one that has fewer.
fn in_both(one: &[String], other: &[String]) -> usize {
    let mut left = BTreeMap::<&str, usize>::new();
    one.iter().for_each(|row| *left.entry(row).or_default() += 1);
    let takes = |row: &&String| {
        let count = left.get_mut(row.as_str()).filter(|count| **count > 0);
        count.map(|count| *count -= 1).is_some()
    };
    other.iter().filter(takes).count()
}

/// The files of a site that has these properties.
fn write_site(dir: &Path, properties: &serde_json::Value) {
    let property = |(name, value): (&String, &serde_json::Value)| {
        let value = value.as_str().unwrap_or_default();
        format!("<property><name>{name}</name><value>{value}</value></property>\n")
    };
    let properties: String = properties.as_object().into_iter().flatten().map(property).collect();
    let text = format!("<configuration>\n{properties}</configuration>\n");
    std::fs::write(dir.join("capacity-scheduler.xml"), text).unwrap_or_else(|error| panic!("{error}"));
}

/// A file of the labels of the nodes of a world.
fn write_labels(file: &Path, world: &str, exclusive: &str, roots: &Roots) {
    let nodes = text(&roots.new.join(format!("worlds/{world}.nodes.csv")));
    let mut hosts = BTreeMap::<&str, Vec<String>>::new();
    for line in nodes.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        if let Some(&label) = fields.get(5).filter(|label| !label.is_empty()) {
            hosts.entry(label).or_default().push(format!("{:?}", fields[0]));
        }
    }
    let section = |(label, hosts): (&&str, &Vec<String>)| {
        let is_exclusive = exclusive.split(',').any(|own| own == format!("{label}:exclusive"));
        format!("[labels.{label}]\nexclusive = {is_exclusive}\nhosts = [{}]\n", hosts.join(", "))
    };
    std::fs::write(file, hosts.iter().map(section).collect::<String>()).unwrap_or_else(|error| panic!("{error}"));
}

/// The policy of a configuration, as `--site-conf` reads it, and its settings of the cluster.
fn configured(
    config: &str,
    (rules, labels): (&str, Option<&Path>),
    roots: &Roots,
    old: &serde_json::Value,
) -> (PolicySpec, SiteConf) {
    let of_site = roots.new.join("configs").join(config);
    let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let folder = if of_site.is_dir() {
        of_site
    } else {
        write_site(dir.path(), &old[config]["hadoop"]);
        dir.path().to_owned()
    };
    let conf = SiteConf::read(&folder).unwrap_or_else(|error| panic!("{config}: {error}"));
    let labels = labels.map(|file| format!(",labels={}", file.display())).unwrap_or_default();
    let spec =
        PolicySpec::parse(&format!("yarn-capacity:rules={rules}{labels}")).unwrap_or_else(|error| panic!("{error}"));
    let spec = spec.at_site(&conf.site.clone().into()).unwrap_or_else(|error| panic!("{error}"));
    (spec, conf)
}

/// What is found of one schedule.
struct Found {
    rows: (usize, usize),
    ends: (usize, usize),
    difference: Option<String>,
}

/// Puts the kills of one instant into one order: Hadoop's is that of a hash table.
fn sort_kills(events: &mut [String]) {
    let key = |row: &String| row.split_once(",K,").map(|(at, _)| at.to_owned());
    for same in events.chunk_by_mut(|a, b| key(a).is_some() && key(a) == key(b)) {
        same.sort_unstable();
    }
}

/// Puts the reservations that begin and end at one instant into one order: that of those given up is that of a hash table (H1).
fn sort_reservations(events: &mut [String]) {
    let key = |row: &String| {
        let fields: Vec<&str> = row.split(',').collect();
        matches!(fields[1], "R" | "U").then(|| fields[0].to_owned())
    };
    for same in events.chunk_by_mut(|a, b| key(a).is_some() && key(a) == key(b)) {
        same.sort_unstable();
    }
}

/// Puts the containers that a node gave at one heartbeat into one order: the golden files of 2014 list them by application.
fn sort_grants(events: &mut [String]) {
    let key = |row: &String| {
        let fields: Vec<&str> = row.split(',').collect();
        (fields[1] == "A").then(|| (fields[0].to_owned(), fields[4].to_owned()))
    };
    for same in events.chunk_by_mut(|a, b| key(a).is_some() && key(a) == key(b)) {
        same.sort_unstable();
    }
}

fn compare(name: &str, root: &Path, rows: Rows<'_>) -> Found {
    let (mut events, ends) = golden(&root.join(format!("golden/{name}.csv.gz")));
    let Rows { events: mut found, ends: mut found_ends, .. } = rows;
    for events in [&mut events, &mut found] {
        sort_kills(events);
        sort_reservations(events);
        sort_grants(events);
    }
    found_ends.sort_unstable();
    let both = in_both(&ends, &found_ends);
    Found {
        rows: (in_both(&events, &found) + both, events.len() + ends.len()),
        ends: (both, ends.len()),
        difference: difference(&events, &found).or_else(|| difference(&ends, &found_ends)),
    }
}

fn is_chosen(world: &str, config: &str) -> bool {
    let Ok(chosen) = std::env::var("YARN34") else { return true };
    chosen.split(',').any(|own| own == world || own == config || own == format!("{world}-{config}"))
}

/// What is said of properties that change nothing here.
const EXPECTED: &[&str] = &[
    "`--policy` chooses the scheduler",
    "the log holds the jobs that were accepted",
    "no file of a site says which nodes have a label",
];

/// The configurations and schedules that are not reproduced yet: resources beside memory and cores, lazy preemption, and one schedule of
/// preemption inside queues, which agrees for its first 1,206 rows.
const NOT_YET: &[&str] = &["gpu", "gpuabs", "prelazy", "y6-ipu"];

/// Replays the schedules of a manifest by the rules of a version.
#[allow(clippy::print_stderr, reason = "a test says what it compared")]
fn check(rules: &str, roots: &Roots, root: &Path) {
    let json = |path: PathBuf| -> serde_json::Value {
        serde_json::from_str(&text(&path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let (of_old, of_new) = (json(roots.old.join("configs/configs.json")), json(roots.new.join("configs/configs.json")));
    let (mut worlds, mut agree, mut all, mut problems) = (BTreeMap::new(), 0, 0, Vec::new());
    let manifest = text(&root.join("golden/manifest.csv"));
    for line in manifest.lines().skip(1) {
        let mut fields = line.split(',');
        let (Some(world), Some(config)) = (fields.next(), fields.next()) else { panic!("{line}") };
        let own = if of_new[config].is_object() { &of_new[config] } else { &of_old[config] };
        if own["scheduler"] != "capacity" || !is_chosen(world, config) {
            continue;
        }
        let name = format!("{world}-{config}");
        let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let labels = own["world"]["labels"].as_str().map(|labels| (labels, dir.path().join("labels.toml")));
        if let Some((labels, file)) = &labels {
            write_labels(file, world, labels, roots);
        }
        let labels = labels.as_ref().map(|(_, file)| file.as_path());
        let (spec, conf) = configured(config, (rules, labels), roots, &of_old);
        let loaded = worlds
            .entry(format!("{world} {}", conf.cluster))
            .or_insert_with(|| World::load(world, roots, &conf.cluster));
        let mut policy = spec.build().unwrap_or_else(|error| panic!("{error}"));
        let Found { rows, ends, difference } = compare(&name, root, loaded.replay(&name, &mut *policy));
        eprintln!("{name:12} rows {:6} / {:6}, task ends {:5} / {:5}", rows.0, rows.1, ends.0, ends.1);
        all += 1;
        let is_known = NOT_YET.contains(&config) || NOT_YET.contains(&name.as_str());
        match difference {
            None => agree += 1,
            Some(_) if is_known => {}
            Some(difference) => problems.push(format!("{name}: {difference}")),
        }
        let warnings = conf.warnings.iter().filter(|warning| !EXPECTED.iter().any(|own| warning.contains(own)));
        problems.extend(warnings.filter(|_| !is_known).map(|warning| format!("{config}: {warning}")));
    }
    eprintln!("{agree} of {all} schedules agree");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The rules of 3.4, and a schedule that is another one without each. No schedule shows `larger_queue_first` and `kept_offers_count`.
const SHOWN_BY: &[(&str, &str, &str)] = &[
    ("reservations_look_on", "y1", "cap40"),
    ("heartbeat_ends_with_reservation", "y4", "cap40"),
    ("far_wait_capped", "y3", "cap40"),
    ("masters_by_memory", "y1", "cap40"),
    ("user_limit_by_use", "y5", "mulp"),
    ("room_above", "y7", "capr"),
    ("guarantee_unrounded", "y7", "capq"),
    ("headroom_when_asked", "y6", "capq"),
    ("room_in_every_resource", "y8", "capr"),
    ("places_forgotten", "y5", "preno"),
];

#[test]
#[allow(clippy::print_stderr, reason = "a test says what it compared")]
fn each_rule_of_3_4_shows() {
    let (Some(old), Some(new)) = (shared("oracle-yarn"), shared("oracle-yarn-3")) else { return };
    let roots = Roots { old, new };
    let configs = serde_json::from_str(&text(&roots.old.join("configs/configs.json")));
    let of_old: serde_json::Value = configs.unwrap_or_else(|error| panic!("{error}"));
    let mut unseen = Vec::new();
    for (rule, world, config) in SHOWN_BY {
        let (spec, conf) = configured(config, (&format!("3.4,{rule}=false"), None), &roots, &of_old);
        let loaded = World::load(world, &roots, &conf.cluster);
        let mut policy = spec.build().unwrap_or_else(|error| panic!("{error}"));
        let name = format!("{world}-{config}");
        let found = compare(&name, &roots.new, loaded.replay(&name, &mut *policy));
        eprintln!("{rule:32} {name}: {} of {} rows without it", found.rows.0, found.rows.1);
        if found.difference.is_none() {
            unseen.push(*rule);
        }
    }
    assert!(unseen.is_empty(), "no row shows {unseen:?}");
}

#[test]
fn yarn_capacity_of_3_4() {
    let (Some(old), Some(new)) = (shared("oracle-yarn"), shared("oracle-yarn-3")) else { return };
    let root = new.clone();
    check("3.4", &Roots { old, new }, &root);
}

#[test]
fn yarn_capacity_of_2014() {
    let (Some(old), Some(new)) = (shared("oracle-yarn"), shared("oracle-yarn-3")) else { return };
    let root = old.clone();
    check("2014", &Roots { old, new }, &root);
}
