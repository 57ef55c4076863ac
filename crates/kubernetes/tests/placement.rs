//! Every placement of the shared worlds, against what the real kube-scheduler decided.
//!
//! The worlds are read from `$RESCHED_SHARED/truth/k8s`. What happens from outside (submissions, ends, victims that are gone) is taken
//! from the record; each decision is compared, and ties are drawn as recorded. Without the folder the tests report themselves as
//! skipped.

mod shared;

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::Path;

use resched_kubernetes::kube::{
    Decision, NodeId, Operator, PodId, PodSpec, Profile, Requirement, Scheduler, Term, Tie, Toleration,
};
use resched_kubernetes::kube_config;
use resched_kubernetes::objects::amount;
use shared::shared;

/// A row of `placements.csv`.
#[derive(Clone, Debug)]
struct Row {
    time: i64,
    event: char,
    pod: String,
    node: String,
    feasible: String,
    score: String,
    best: Vec<String>,
    detail: String,
}

/// How many rows are equal.
#[derive(Default)]
struct Agreement {
    bound: usize,
    tried: usize,
    preempted: usize,
    scores: usize,
    explained: usize,
    different: Vec<String>,
}

/// By time and pod: nodes with their scores and the parts of those.
type Scores = BTreeMap<(i64, String), Vec<(String, i64, String)>>;

struct World {
    scheduler: Scheduler,
    nodes: HashMap<String, NodeId>,
    specs: HashMap<String, PodSpec>,
    ids: HashMap<String, PodId>,
    names: Vec<String>,
    said: HashMap<String, String>,
    scores: Scores,
}

fn text(path: &Path) -> String {
    let bytes = std::fs::read(path).expect("the file can be read");
    let mut text = String::new();
    if path.extension().is_some_and(|end| end == "gz") {
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).expect("it is gzip");
        return text;
    }
    String::from_utf8(bytes).expect("it is UTF-8")
}

fn table(path: &Path) -> Vec<HashMap<String, String>> {
    let text = text(path);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.expect("the row is as wide as the header")).collect()
}

fn rows(folder: &Path) -> Vec<Row> {
    let names = |text: &str| text.split(';').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let row = |row: &HashMap<String, String>| Row {
        time: row["time"].parse().expect("a time in seconds"),
        event: row["event"].chars().next().expect("an event"),
        pod: row["pod"].clone(),
        node: row["node"].clone(),
        feasible: row["feasible"].clone(),
        score: row["best_score"].clone(),
        best: names(&row["best"]),
        detail: row["detail"].clone(),
    };
    table(&folder.join("truth/placements.csv.gz")).iter().map(row).collect()
}

/// The pod of a row of `pods.csv` or `workloads.csv`.
fn spec(row: &HashMap<String, String>) -> PodSpec {
    let mut spec = PodSpec {
        priority: row.get("priority").map_or(0, |text| text.parse().expect("a priority")),
        ..PodSpec::default()
    };
    match row["cpu"].as_str() {
        "" => spec.without_cpu = 1,
        text => spec.requests.push(("cpu".to_owned(), amount("cpu", text).expect("an amount"))),
    }
    match row["memory"].as_str() {
        "" => spec.without_memory = 1,
        text => spec.requests.push(("memory".to_owned(), amount("memory", text).expect("an amount"))),
    }
    let gpus: i64 = row["gpu"].parse().expect("a number");
    if gpus > 0 {
        spec.requests.push(("nvidia.com/gpu".to_owned(), gpus));
    }
    let pairs = |text: &str| -> Vec<(String, String)> {
        let pair = |pair: &str| pair.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
        text.split(';').filter_map(pair).collect()
    };
    spec.selector = pairs(&row["node_selector"]);
    for (key, value) in pairs(&row["tolerations"]) {
        spec.tolerations.push(Toleration { key, value, any_value: false, effect: None });
    }
    for part in row.get("affinity").map_or("", String::as_str).split(';').filter(|part| !part.is_empty()) {
        let (kind, rest) = part.split_once(':').expect("required: or preferred:");
        match kind {
            "required" => spec.required.push(term(rest)),
            _ => {
                let (weight, rest) = rest.split_once(':').expect("a weight");
                spec.preferred.push((weight.parse().expect("a weight"), term(rest)));
            }
        }
    }
    spec
}

fn term(text: &str) -> Term {
    let (key, values) = text.split_once('=').expect("key=values");
    let values = values.split('|').map(str::to_owned).collect();
    vec![Requirement { key: key.to_owned(), of_name: false, operator: Operator::In, values }]
}

impl World {
    fn read(folder: &Path) -> Self {
        let config = folder.join("scheduler-config.yaml");
        let profile = if config.exists() {
            let read = kube_config::read_configuration(&text(&config), "scheduler-config.yaml").expect("it is valid");
            assert_eq!(read.without_effect, Vec::<String>::new());
            read.profiles.into_iter().next().expect("one profile").1
        } else {
            Profile::default()
        };
        let mut scheduler = Scheduler::new(profile).expect("few resources");
        let objects = kube_config::read_objects(&text(&folder.join("nodes.yaml")), "nodes.yaml").expect("it is valid");
        let mut nodes = HashMap::new();
        for node in objects.nodes {
            let name = node.name.clone();
            nodes.insert(name, scheduler.add_node(node, 0).expect("few resources"));
        }
        let scores = folder.join("truth/scores.csv.gz");
        let scores = if scores.exists() { read_scores(&scores) } else { Scores::new() };
        let (specs, ids, names, said) = (HashMap::new(), HashMap::new(), Vec::new(), HashMap::new());
        Self { scheduler, nodes, specs, ids, names, said, scores }
    }

    fn name(&self, node: NodeId) -> &str {
        &self.scheduler.node(node).expect("a node").name
    }

    /// What happens from outside.
    fn happens(&mut self, row: &Row) {
        let now = row.time * 1000;
        match row.event {
            'S' => {
                let kind = self.scheduler.kind(self.specs[&row.pod].clone()).expect("few resources");
                let id = self.scheduler.submit(kind, now);
                self.ids.insert(row.pod.clone(), id);
                self.names.push(row.pod.clone());
            }
            'F' | 'G' | 'D' => self.scheduler.end(self.ids[&row.pod], now),
            other => panic!("unknown event {other}"),
        }
    }

    /// One decision as rows of the record; ties are drawn as in `expected`.
    fn decide(&mut self, now: i64, expected: Option<&Row>) -> Vec<Row> {
        let wanted = expected.map_or("", |row| row.node.as_str());
        let target = self.nodes.get(wanted).copied();
        let mut draw = |_: Tie, nodes: &[NodeId]| nodes.iter().position(|node| Some(*node) == target).unwrap_or(0);
        let Some(decision) = self.scheduler.decide(now * 1000, &mut draw) else { return Vec::new() };
        let row = |event, pod: PodId, node: String| Row {
            time: now,
            event,
            pod: self.names[pod.0 as usize].clone(),
            node,
            feasible: String::new(),
            score: String::new(),
            best: Vec::new(),
            detail: String::new(),
        };
        match decision {
            Decision::Bound { pod, node, feasible, score } => {
                let mut best: Vec<String> =
                    self.scheduler.best().iter().map(|node| self.name(*node).to_owned()).collect();
                best.sort();
                let score = score.map_or(String::new(), |score| score.to_string());
                vec![Row { feasible: feasible.to_string(), score, best, ..row('B', pod, self.name(node).to_owned()) }]
            }
            Decision::Failed { pod, nominated } => {
                let node = nominated.map_or(String::new(), |node| self.name(node).to_owned());
                let victims: Vec<String> =
                    self.scheduler.evicted().iter().map(|pod| self.names[pod.0 as usize].clone()).collect();
                let mut rows = vec![Row { feasible: "0".to_owned(), best: victims, ..row('U', pod, node.clone()) }];
                let mut evicted: Vec<PodId> = self.scheduler.evicted().to_vec();
                evicted.sort_by_key(|pod| &self.names[pod.0 as usize]);
                for victim in evicted {
                    rows.push(Row {
                        detail: format!("by={}", self.names[pod.0 as usize]),
                        ..row('P', victim, node.clone())
                    });
                }
                rows
            }
        }
    }

    fn check_scores(&self, row: &Row, agreement: &mut Agreement) {
        let Some(expected) = self.scores.get(&(row.time, row.pod.clone())) else { return };
        let mut scores: Vec<(String, i64, String)> = self
            .scheduler
            .scores()
            .map(|(node, parts)| {
                let plugins = [
                    ("NodeAffinity", parts.affinity),
                    ("NodeResourcesBalancedAllocation", parts.balanced),
                    ("NodeResourcesFit", parts.fit),
                    ("TaintToleration", parts.taints),
                ];
                let text =
                    plugins.iter().filter(|(_, score)| *score != 0).map(|(name, score)| format!("{name}={score}"));
                let text = text.collect::<Vec<_>>().join("|");
                (self.name(node).to_owned(), parts.total(), text)
            })
            .collect();
        scores.sort();
        if &scores == expected {
            agreement.scores += scores.len();
        } else {
            agreement
                .different
                .push(format!("scores at {} of {}: {scores:?}, recorded {expected:?}", row.time, row.pod));
        }
    }
}

fn read_scores(path: &Path) -> Scores {
    let mut scores = Scores::new();
    for row in table(path) {
        let key = (row["time"].parse().expect("a time"), row["pod"].clone());
        scores.entry(key).or_default().push((
            row["node"].clone(),
            row["total"].parse().expect("a score"),
            plugins(&row["plugins"]),
        ));
    }
    for nodes in scores.values_mut() {
        nodes.sort();
    }
    scores
}

/// The scores that are not 0, by name.
fn plugins(text: &str) -> String {
    let mut plugins: Vec<&str> = text.split('|').filter(|plugin| !plugin.ends_with("=0")).collect();
    plugins.sort_unstable();
    plugins.join("|")
}

fn same(ours: &Row, theirs: &Row) -> bool {
    (ours.event, &ours.pod, &ours.node, &ours.feasible, &ours.score)
        == (theirs.event, &theirs.pod, &theirs.node, &theirs.feasible, &theirs.score)
        && sorted(&ours.best) == sorted(&theirs.best)
        && (ours.event != 'P' || ours.detail == theirs.detail)
}

fn sorted(names: &[String]) -> Vec<&String> {
    let mut names: Vec<&String> = names.iter().collect();
    names.sort();
    names
}

/// Runs a world beside its record.
fn compare(world: &mut World, rows: &[Row]) -> Agreement {
    let mut agreement = Agreement::default();
    let mut place = 0;
    while place < rows.len() && agreement.different.len() < 10 {
        let now = rows[place].time;
        while place < rows.len() && rows[place].time == now && "SFGD".contains(rows[place].event) {
            world.happens(&rows[place]);
            place += 1;
        }
        world.scheduler.retry(now * 1000);
        loop {
            let expected = rows.get(place).filter(|row| row.time == now);
            if expected.is_some_and(|row| "SFGD".contains(row.event)) {
                break;
            }
            let ours = world.decide(now, expected);
            if ours.is_empty() {
                if let Some(row) = expected {
                    agreement.different.push(format!("nothing, recorded {row:?}"));
                    place += 1;
                }
                break;
            }
            for row in ours {
                let theirs = rows.get(place);
                place += 1;
                let Some(theirs) = theirs.filter(|theirs| theirs.time == now && same(&row, theirs)) else {
                    agreement.different.push(format!("row {place}: {row:?}, recorded {theirs:?}"));
                    continue;
                };
                count(world, &row, theirs, &mut agreement);
            }
        }
    }
    agreement
}

fn count(world: &mut World, ours: &Row, theirs: &Row, agreement: &mut Agreement) {
    match ours.event {
        'B' => {
            agreement.bound += 1;
            world.check_scores(ours, agreement);
        }
        'P' => agreement.preempted += 1,
        _ => {
            agreement.tried += 1;
            if theirs.detail != "as before" {
                world.said.insert(theirs.pod.clone(), theirs.detail.clone());
            }
            // What preemption adds to the words is not compared. After a preemption the cluster is another one.
            let words = world
                .said
                .get(&theirs.pod)
                .map_or("", String::as_str)
                .split(". ")
                .next()
                .unwrap_or("")
                .trim_end_matches('.')
                .to_owned();
            if ours.best.is_empty() && world.scheduler.explain(world.ids[&ours.pod]).trim_end_matches('.') == words {
                agreement.explained += 1;
            }
        }
    }
}

#[allow(clippy::print_stderr, reason = "the figures are what the test is about")]
fn check(name: &str, agreement: &Agreement) {
    eprintln!(
        "{name}: bindings {}, failed attempts {}, preemptions {}, scores {}, words {} equal; {} different",
        agreement.bound,
        agreement.tried,
        agreement.preempted,
        agreement.scores,
        agreement.explained,
        agreement.different.len()
    );
    assert!(agreement.different.is_empty(), "{name}:\n{}", agreement.different.join("\n"));
}

fn placement(name: &str) {
    let Some(folder) = shared(&format!("truth/k8s/placement/{name}")) else { return };
    let mut world = World::read(&folder);
    for row in table(&folder.join("pods.csv")) {
        world.specs.insert(format!("{}/{}", row["namespace"], row["pod"]), spec(&row));
    }
    let rows = rows(&folder);
    let agreement = compare(&mut world, &rows);
    check(name, &agreement);
    assert_eq!(agreement.bound, rows.iter().filter(|row| row.event == 'B').count());
    assert_eq!(agreement.tried, rows.iter().filter(|row| row.event == 'U').count());
    assert_eq!(agreement.preempted, rows.iter().filter(|row| row.event == 'P').count());
}

/// A world in which Kueue admits first: its pods carry the labels of the flavour.
fn combined(name: &str) {
    let Some(folder) = shared(&format!("truth/k8s/combined/{name}")) else { return };
    let mut world = World::read(&folder);
    let mut sets: HashMap<(String, String, String), PodSpec> = HashMap::new();
    for row in table(&folder.join("workloads.csv")) {
        let key = (row["namespace"].clone(), row["workload"].clone(), row["podset"].clone());
        let mut spec = spec(&row);
        spec.selector = pairs_of(&row["node_selector"]);
        sets.insert(key, spec);
    }
    let flavors = flavors(&folder);
    let rows = rows(&folder);
    for row in rows.iter().filter(|row| row.event == 'S') {
        // Names are namespace/workload-podset-attempt-index.
        let (namespace, rest) = row.pod.split_once('/').expect("a namespace");
        let mut parts: Vec<&str> = rest.rsplitn(4, '-').collect();
        parts.reverse();
        let [workload, set, attempt, _] = parts[..] else { panic!("unknown name {}", row.pod) };
        let mut spec = sets[&(namespace.to_owned(), workload.to_owned(), set.to_owned())].clone();
        let flavor = &flavors[&(workload.to_owned(), attempt.parse().expect("an attempt"))][set];
        spec.selector.push(("gpu".to_owned(), flavor.clone()));
        world.specs.insert(row.pod.clone(), spec);
    }
    let agreement = compare(&mut world, &rows);
    check(name, &agreement);
}

fn pairs_of(text: &str) -> Vec<(String, String)> {
    let pair = |pair: &str| pair.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
    text.split(';').filter_map(pair).collect()
}

/// The flavour of each pod set by workload and attempt; here the name of a flavour is also the value of its label `gpu`.
fn flavors(folder: &Path) -> HashMap<(String, usize), HashMap<String, String>> {
    let mut flavors = HashMap::new();
    let mut attempts: HashMap<String, usize> = HashMap::new();
    for row in table(&folder.join("truth/decisions.csv")).iter().filter(|row| row["event"] == "A") {
        let attempt = attempts.entry(row["workload"].clone()).or_insert(0);
        *attempt += 1;
        let set = |text: &str| -> Option<(String, String)> {
            let (set, resources) = text.split_once(':')?;
            Some((set.to_owned(), resources.split('|').next()?.split_once('=')?.1.to_owned()))
        };
        let sets = row["flavors"].split(';').filter_map(set).collect();
        flavors.insert((row["workload"].clone(), *attempt), sets);
    }
    flavors
}

macro_rules! worlds {
    ($($test:ident: $run:ident($name:literal);)*) => {
        $(#[test]
        fn $test() {
            $run($name);
        })*
    };
}

worlds! {
    pods_go_where_most_is_left: placement("default-a");
    pods_go_where_least_is_left: placement("most-b");
    pods_go_by_a_broken_line: placement("ratio-a");
    pods_go_by_taints_and_affinity: placement("affinity-b");
    pods_go_within_the_sample_of_a_large_cluster: placement("large-a");
    pods_preempt_others: placement("preempt-b");
    pods_go_where_their_flavor_is: combined("combined-a");
}
