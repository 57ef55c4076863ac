//! Worlds: a site, its workloads, and how time passes; read from a folder or made.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use resched_kubernetes::kueue::{Model, PodSet, QueueId, ResourceId, Submission, Toleration};
use resched_kubernetes::objects::{Site, amount};

/// A workload and how long it runs.
pub(crate) struct Job {
    pub(crate) name: String,
    pub(crate) submission: Submission,
    /// Seconds.
    pub(crate) submit: i64,
    /// Seconds.
    pub(crate) run: i64,
}

/// What a driver needs.
pub(crate) struct World {
    pub(crate) model: Model,
    pub(crate) jobs: Vec<Job>,
    /// Workloads whose LocalQueue leads nowhere: name, ClusterQueue, second.
    pub(crate) strays: Vec<(String, String, i64)>,
    /// Seconds until the pods of a victim are gone.
    pub(crate) eviction: i64,
    /// True if the work of a victim is kept.
    pub(crate) keep: bool,
    /// Milliseconds of a second of the world.
    pub(crate) unit: i64,
    /// The last second that is of interest.
    pub(crate) horizon: i64,
    /// Ends that are given; others follow from the run time.
    pub(crate) ends: Option<BTreeMap<String, i64>>,
}

/// The text of a file, or of the same with `.gz`.
pub(crate) fn text(path: &Path) -> String {
    let mut text = String::new();
    if let Ok(mut file) = File::open(path) {
        file.read_to_string(&mut text).unwrap();
        return text;
    }
    let packed = PathBuf::from(format!("{}.gz", path.display()));
    let file = File::open(&packed).unwrap_or_else(|error| panic!("{}: {error}", packed.display()));
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}

pub(crate) fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(text(path).as_bytes()).deserialize().map(Result::unwrap).collect()
}

/// A world of the shared truth.
pub(crate) fn read(folder: &Path) -> World {
    let files = ["kueue.yaml", "kueue-config.yaml"].map(|name| (name, text(&folder.join(name))));
    let site = Site::read(files.iter().map(|(name, text)| (*name, text.as_str()))).unwrap();
    let settings: BTreeMap<String, String> = text(&folder.join("world.yaml"))
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    let mut model = site.model(["cpu", "memory", "nvidia.com/gpu"]);
    model.settings.requeue_ms = settings["requeueBatchSeconds"].parse::<i64>().unwrap() * 1_000;
    let (strays, rows): (Vec<_>, Vec<_>) = rows(&folder.join("workloads.csv"))
        .into_iter()
        .partition(|row| site.queue(&row["namespace"], &row["queue"]).is_none());
    let strays = strays.iter().map(|row| {
        let mut queues = site.local_queues.iter();
        let queue = queues.find(|queue| queue.namespace == row["namespace"] && queue.name == row["queue"]).unwrap();
        (row["workload"].clone(), queue.queue.clone(), row["submit"].parse().unwrap())
    });
    let strays = strays.collect();
    let jobs = jobs(&site, &model, &rows);
    let eviction = settings["evictionSeconds"].parse().unwrap();
    World {
        model,
        jobs,
        strays,
        eviction,
        keep: settings["onEviction"] == "keep",
        unit: 1_000,
        horizon: i64::MAX,
        ends: None,
    }
}

fn jobs(site: &Site, model: &Model, rows: &[BTreeMap<String, String>]) -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    for row in rows {
        let name = &row["workload"];
        if jobs.last().is_none_or(|job| job.name != *name) {
            let queue = site.queue(&row["namespace"], &row["queue"]).unwrap();
            let priority = site.priorities.iter().find(|class| class.name == row["priority_class"]);
            let submit: i64 = row["submit"].parse().unwrap();
            let submission = Submission {
                queue,
                priority: priority.map_or(0, |class| class.value),
                created: submit * 1_000,
                uid: jobs.len() as u64,
                namespace_matches: site.takes(queue, &row["namespace"]),
                pod_sets: Vec::new(),
            };
            jobs.push(Job { name: name.clone(), submission, submit, run: row["run"].parse().unwrap() });
        }
        jobs.last_mut().unwrap().submission.pod_sets.push(pod_set(model, row));
    }
    jobs
}

fn pod_set(model: &Model, row: &BTreeMap<String, String>) -> PodSet {
    let pairs = |text: &str| -> Vec<(String, String)> {
        text.split(';')
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect()
    };
    let mut requests = Vec::new();
    for (column, resource) in [("cpu", "cpu"), ("memory", "memory"), ("gpu", "nvidia.com/gpu")] {
        if !row[column].is_empty() {
            let id = model.resources.iter().position(|name| name == resource).unwrap();
            requests.push((ResourceId(id as u32), amount(resource, &row[column]).unwrap()));
        }
    }
    let tolerations = pairs(&row["tolerations"]).into_iter();
    PodSet {
        name: row["podset"].clone(),
        count: row["count"].parse().unwrap(),
        requests,
        tolerations: tolerations.map(|(key, value)| Toleration { key, value, ..Toleration::default() }).collect(),
        node_selector: pairs(&row["node_selector"]),
        affinity: Vec::new(),
    }
}

/// The name of a queue.
pub(crate) fn queue_name(model: &Model, queue: QueueId) -> &str {
    &model.queues[queue.0 as usize].name
}
