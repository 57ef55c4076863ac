//! The worlds of the golden schedules, and what a replay of one reports.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use resched_ingest::{ingest, ingest_into};
use resched_sim::cluster_file::{Calculator, Withdraws};
use resched_sim::hadoop::{
    Ask, Cluster, Ended, Kept, Kind, Launched, Loaded, MasterLaunched, Observer, Options, Policy, TakenBack, Workload,
    load, load_records, replay,
};
use resched_sim::{ClusterConfig, Error, JobEnded, JobId, NodeId, Reports, Scope, TaskId};
use resched_tables::model::{Locality, Outcome, TaskKind};
use resched_tables::sink::Collected;
use resched_tables::store::Trace;

use crate::folders::Folders;

/// A cluster and its jobs.
pub(crate) struct World {
    cluster: Cluster,
    workload: Workload,
}

impl World {
    /// `settings` are laid under those of the world's cluster file. `queues` has other names for queues of the trace.
    pub(crate) fn load(
        folders: &Folders,
        name: &str,
        settings: &toml::Table,
        queues: &BTreeMap<String, String>,
    ) -> Self {
        // Worlds p are worlds y with other phases, and r2 is r1.
        let twin = format!("{}{}", if name.starts_with('p') { "y" } else { "r" }, &name[1..]);
        let part = |trace: &str, part: &str| folders.with(&format!("traces/{trace}.{part}.json.gz"));
        let trace = [name, &twin, "r1"].into_iter().find_map(|trace| Some((trace, part(trace, "trace")?)));
        let (trace, jobs) = trace.unwrap_or_else(|| panic!("{name}: no trace"));
        let dir = tempfile::tempdir().unwrap();
        let jobs = in_queues(&jobs, dir.path(), queues);
        let at = dir.path().join("trace");
        let sources = [jobs, part(trace, "topology").unwrap()];
        let file = folders.with(&format!("clusters/{name}.toml")).unwrap();
        let mut config = ClusterConfig::read_over(settings, &file).unwrap();
        config.am.withdraws = Withdraws::Grant;
        let scope = Scope { seed: 1, ..Scope::default() };
        if name.starts_with('g') {
            return Self::with_gpus(&folders.of_3.join(format!("worlds/{name}")), &sources, config, &scope);
        }
        ingest(&sources, &at, &resched_ingest::Options::default(), &mut ()).unwrap();
        let trace = Trace::open(&at).unwrap();
        let cluster = Cluster::for_trace(config, &trace).unwrap();
        let Loaded { workload, .. } = load(&trace, &cluster, &scope).unwrap();
        Self { cluster, workload }
    }

    /// The same with the GPUs that `worlds` says: of nodes, and of the maps and reduces of jobs. A trace of Rumen has none.
    fn with_gpus(world: &Path, sources: &[PathBuf], config: ClusterConfig, scope: &Scope) -> Self {
        let mut tables = Collected::default();
        ingest_into(sources, &mut tables, &resched_ingest::Options::default(), &mut ()).unwrap();
        let (of_node, of_job) =
            (column(world, "nodes", &["gpus"]), column(world, "jobs", &["gpus_per_map", "gpus_per_reduce"]));
        let named = |gpus: u32| (gpus > 0).then(|| format!("yarn.io/gpu={gpus}"));
        for node in &mut tables.nodes {
            node.resources = of_node.get(&node.host).and_then(|gpus| named(gpus[0]));
        }
        for record in &mut tables.jobs {
            let gpus = &of_job[&record.job.job_id];
            for task in &mut record.tasks {
                task.task.resources = match task.task.kind {
                    TaskKind::Map => named(gpus[0]),
                    TaskKind::Reduce => named(gpus[1]),
                    _ => None,
                };
            }
        }
        // The configurations with GPUs all set it, over the cluster files.
        let mut config = config;
        config.containers.calculator = Calculator::Dominant;
        let cluster = Cluster::of_rows(config, &tables.nodes).unwrap();
        let Loaded { workload, .. } = load_records(&tables.jobs, &cluster, scope).unwrap();
        Self { cluster, workload }
    }

    pub(crate) fn replay(&self, name: &str, policy: &mut dyn Policy) -> Rows<'_> {
        let cluster = self.cluster.for_policy(policy).unwrap();
        let mut rows = Rows { world: self, events: Vec::new(), ends: Vec::new(), masters: BTreeMap::new() };
        let options = Options::default();
        replay(&self.workload, &cluster, (name, policy), &options, &mut rows, &mut |_| {})
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        rows
    }
}

/// Numbers of a table of a world, by its first column.
fn column(world: &Path, table: &str, columns: &[&str]) -> BTreeMap<String, Vec<u32>> {
    let text = std::fs::read_to_string(format!("{}.{table}.csv", world.display())).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heading = lines.next().unwrap();
    let places: Vec<usize> =
        columns.iter().map(|column| heading.iter().position(|known| known == column).unwrap()).collect();
    lines.map(|line| (line[0].to_owned(), places.iter().map(|&at| line[at].parse().unwrap_or(0)).collect())).collect()
}

/// The jobs of a trace in the queues that a configuration says.
fn in_queues(trace: &Path, dir: &Path, queues: &BTreeMap<String, String>) -> PathBuf {
    if queues.is_empty() {
        return trace.to_owned();
    }
    let mut text = String::new();
    MultiGzDecoder::new(std::fs::File::open(trace).unwrap()).read_to_string(&mut text).unwrap();
    for (from, to) in queues {
        text = text.replace(&format!("\"queue\": \"{from}\""), &format!("\"queue\": \"{to}\""));
    }
    let path = dir.join("jobs.trace.json.gz");
    let mut file = GzEncoder::new(std::fs::File::create(&path).unwrap(), Compression::fast());
    file.write_all(text.as_bytes()).unwrap();
    file.finish().unwrap();
    path
}

/// What a replay reports, as rows of a golden file without their last fields.
pub(crate) struct Rows<'a> {
    world: &'a World,
    pub(crate) events: Vec<String>,
    /// The ends of attempts, which come in no order.
    pub(crate) ends: Vec<String>,
    /// How many masters of each job were launched.
    masters: BTreeMap<JobId, u32>,
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
    fn job_ended(&mut self, ended: &JobEnded) -> Result<(), Error> {
        let job = self.world.workload.job(ended.job);
        let launch = ended.launch.unwrap_or_default();
        // The golden schedules end a job when its master knows that all its tasks are done.
        let at = ended.finish - self.world.cluster.commit(&job.edges) - job.edges.cleanup.unwrap_or(0);
        self.events.push(format!("{at},J,{},{},{launch},{at}", job.id, job.submit));
        Ok(())
    }
}

impl Observer for Rows<'_> {
    fn launched(&mut self, launched: &Launched) -> Result<(), Error> {
        let (task, host) = (self.task(launched.task), self.host(launched.node));
        let row = format!("{},A,{task},{host},{},{}", launched.at, level(launched.level), launched.attempt);
        self.events.push(row);
        Ok(())
    }

    fn master_launched(&mut self, launched: &MasterLaunched) -> Result<(), Error> {
        let count = self.masters.entry(launched.job).or_default();
        let attempt = std::mem::replace(count, *count + 1);
        let row = format!("{},A,{},AM,{},-1,{attempt}", launched.at, self.job(launched.job), self.host(launched.node));
        self.events.push(row);
        Ok(())
    }

    fn kept(&mut self, kept: &Kept) -> Result<(), Error> {
        let host = self.host(kept.node);
        self.events.push(match kept.reservation {
            None => format!("{},U,,,{host}", kept.at),
            Some(request) => {
                let priority = match request.ask {
                    Ask::Am => 0,
                    Ask::FailedMap => 5,
                    Ask::Reduce => 10,
                    Ask::Map => 20,
                };
                format!("{},R,{},p{priority},{host}", kept.at, self.job(request.job))
            }
        });
        Ok(())
    }

    fn taken_back(&mut self, taken: &TakenBack) -> Result<(), Error> {
        let row = format!("{},K,{},{},{}", taken.at, self.task(taken.task), self.host(taken.node), taken.attempt);
        self.events.push(row);
        Ok(())
    }

    fn ended(&mut self, ended: &Ended) -> Result<(), Error> {
        if let Some(finish) = ended.finish {
            let state = if ended.outcome == Outcome::Success { "SUCCEEDED" } else { "KILLED" };
            let (task, host) = (self.task(ended.task), self.host(ended.node));
            let (level, attempt) = (level(ended.level), ended.attempt);
            self.ends.push(format!("{finish},F,{task},{host},{level},{attempt},{},{state}", ended.start));
        }
        Ok(())
    }
}
