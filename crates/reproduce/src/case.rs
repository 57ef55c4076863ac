//! A case: a workload on a cluster under a policy, replayed in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use resched_analysis::{Gathered, Run};
use resched_policies::PolicySpec;
use resched_replay::{ReadBy, RunInfo, RunTrace, Setup, Source, World};
use resched_sim::ClusterConfig;
use resched_tables::model::JobRecord;
use resched_tables::sink::Collected;
use resched_workload::{Workload, generate};

use crate::Error;

/// A bundled file, by name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bundled {
    /// Its path from the root of the repository.
    pub(crate) path: &'static str,
    /// Its text.
    pub(crate) text: &'static str,
}

/// A file of `traces/`.
macro_rules! bundled {
    ($path:literal) => {
        $crate::case::Bundled {
            path: concat!("traces/", $path),
            text: include_str!(concat!("../../../../traces/", $path)),
        }
    };
}
pub(crate) use bundled;

impl Bundled {
    /// Reads it as a workload.
    pub(crate) fn workload(self) -> Result<Workload, Error> {
        Ok(Workload::parse(self.text, self.path)?)
    }

    /// Reads it as a cluster file.
    pub(crate) fn cluster(self) -> Result<ClusterConfig, Error> {
        ClusterConfig::parse(self.text).map_err(|error| Error::Defect(format!("{}: {error}", self.path)))
    }
}

/// The seeds of the points of bands, of which there are many.
const FEW_SEEDS: u64 = 8;
/// How many times as many seeds cases have whose jobs are drawn.
const MORE_SEEDS: u64 = 3;

/// How a seed changes a workload before it is replayed.
type Drawn = Arc<dyn Fn(&mut Workload, u64) + Send + Sync>;

/// A workload under a policy.
#[derive(Clone)]
pub(crate) struct Case {
    /// Its name in charts and in rows.
    pub(crate) label: String,
    policy: PolicySpec,
    workload: Workload,
    source: Source,
    rules: ClusterConfig,
    closed: bool,
    drawn: Option<Drawn>,
    seeds: Seeds,
}

/// How many of the seeds that are asked for a case is replayed with.
#[derive(Debug, Clone, Copy)]
enum Seeds {
    /// At most [`FEW_SEEDS`], for a point of a band.
    Few,
    /// All of them.
    All,
    /// [`MORE_SEEDS`] times as many, because the seeds draw the jobs, too, and these vary more than the times of tasks.
    More,
}

impl Case {
    /// Makes a case of `workload` under `policy`, with the rules of the cluster file.
    pub(crate) fn new(label: &str, policy: &str, workload: Workload, rules: &ClusterConfig) -> Result<Self, Error> {
        let policy = PolicySpec::parse(policy).map_err(|error| Error::Defect(error.to_string()))?;
        // A bundled file needs no identity, because no run names it.
        let source = Source::workload(workload.clone(), String::new(), workload.name.clone());
        let mut rules = rules.clone();
        // The machines are those of the workload.
        rules.nodes.count = None;
        Ok(Self {
            label: label.to_owned(),
            policy,
            workload,
            source,
            rules,
            closed: false,
            drawn: None,
            seeds: Seeds::All,
        })
    }

    /// Makes users submit each job when their previous one has ended. The later submissions of the workload then only give the
    /// order.
    pub(crate) fn closed(self) -> Self {
        Self { closed: true, ..self }
    }

    /// Changes the workload by the seed before each replay, where the paper leaves open more than the tasks' times. Cases with the same
    /// change are replayed on the same jobs, and with more seeds than others.
    pub(crate) fn drawn(self, change: impl Fn(&mut Workload, u64) + Send + Sync + 'static) -> Self {
        Self { drawn: Some(Arc::new(change)), seeds: Seeds::More, ..self }
    }

    /// Replays it with so many seeds at most, for a point of a band.
    pub(crate) fn with_few_seeds(self) -> Self {
        Self { seeds: Seeds::Few, ..self }
    }

    /// How many seeds it is replayed with if so many are asked for.
    pub(crate) fn seeds(&self, asked: u64) -> u64 {
        match self.seeds {
            Seeds::Few => asked.min(FEW_SEEDS),
            Seeds::All => asked,
            Seeds::More => asked.saturating_mul(MORE_SEEDS),
        }
    }

    /// Replays it with that seed.
    pub(crate) fn replay(&self, experiment: &'static str, seed: u64) -> Result<Run, Error> {
        if let Some(change) = &self.drawn {
            let mut workload = self.workload.clone();
            change(&mut workload, seed);
            let source = Source::workload(workload.clone(), String::new(), workload.name.clone());
            return Self { workload, source, drawn: None, ..self.clone() }.replay(experiment, seed);
        }
        if !self.closed {
            return self.replay_source(experiment, &self.source, seed);
        }
        let mut made = Collected::default();
        generate(&self.workload, seed, &mut made)?;
        // Later submissions never change earlier ones. Each round fixes at least one more submission, so there are at most as many
        // rounds as jobs.
        let mut run = self.replay_source(experiment, &self.source, seed)?;
        for _ in 0..made.jobs.len() {
            if !close(&mut made, &run) {
                break;
            }
            run = self.replay_source(experiment, &Source::tables(made.clone(), RunTrace::default()), seed)?;
        }
        Ok(run)
    }

    fn replay_source(&self, experiment: &'static str, source: &Source, seed: u64) -> Result<Run, Error> {
        let failed = |error| Error::Replay { experiment, source: Box::new(error) };
        let setup = Setup { cluster: self.rules.clone(), seed, ..Setup::default() };
        let world = World::open(source, setup).map_err(failed)?;
        let mut gathered = Gathered::default();
        let info = world.replay(&self.policy, ReadBy(&mut gathered)).map_err(failed)?;
        Ok(Run::of_gathered(RunInfo { label: self.label.clone(), ..info }, gathered))
    }
}

/// Moves each submission to the end of the user's previous job in the last run. Returns whether one moved.
fn close(made: &mut Collected, run: &Run) -> bool {
    let ends: BTreeMap<&str, Option<i64>> = run.jobs.iter().map(|job| (job.job_id.as_str(), job.finish)).collect();
    let mut previous: BTreeMap<String, Option<i64>> = BTreeMap::new();
    let mut moved = false;
    for JobRecord { job, .. } in &mut made.jobs {
        let user = job.user.clone().unwrap_or_default();
        if let Some(end) = previous.get(&user).copied().flatten() {
            moved |= job.submit != Some(end);
            job.submit = Some(end);
        }
        previous.insert(user, ends.get(job.job_id.as_str()).copied().flatten());
    }
    moved
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use resched_sim::hadoop::Cluster;
    use resched_tables::store::Trace;
    use resched_workload::write_trace;

    #[test]
    fn a_workload_in_memory_is_that_of_its_trace_on_disk() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["coupling-table4.toml", "coupling-table3.toml", "coupling-fig16.toml"] {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces").join(name);
            write_trace(&path, 3, dir.path().join(name).as_path()).unwrap();
            let trace = Trace::open(&dir.path().join(name)).unwrap();
            let cluster = Cluster::for_trace(ClusterConfig::default(), &trace).unwrap();
            let scope = resched_sim::Scope { seed: 3, ..resched_sim::Scope::default() };
            let on_disk = resched_sim::hadoop::load(&trace, &cluster, &scope).unwrap();
            let mut made = Collected::default();
            generate(&Workload::read(&path).unwrap(), 3, &mut made).unwrap();
            let in_memory = resched_sim::hadoop::load_records(&made.jobs, &cluster, &scope).unwrap();
            assert!(format!("{on_disk:?}") == format!("{in_memory:?}"), "{name}");
        }
    }

    #[test]
    fn closed_users_submit_when_their_previous_job_has_ended() {
        let text = r#"
            name = "closed"
            [cluster]
            nodes = 2
            [classes.a]
            map_mean_s = 20
            map_variation = 0.5
            [[jobs]]
            class = "a"
            user = "x"
            submit_s = 0
            maps = 9
            repeat = 3
            every_s = 1
            [[jobs]]
            class = "a"
            user = "y"
            submit_s = 0.5
            maps = 5
            repeat = 3
            every_s = 1
        "#;
        let workload = Workload::parse(text, "closed.toml").unwrap();
        let case = Case::new("fifo", "fifo", workload, &ClusterConfig::default()).unwrap().closed();
        let run = case.replay("test", 1).unwrap();
        // User x has jobs 1, 3 and 5, and y has jobs 2, 4 and 6, in the order of the file.
        let mut jobs = run.jobs.clone();
        jobs.sort_by(|a, b| a.job_id.cmp(&b.job_id));
        for (number, job) in jobs.iter().enumerate().skip(2) {
            assert_eq!(job.submit, jobs[number - 2].finish, "job {}", number + 1);
        }
    }
}
