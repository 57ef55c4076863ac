//! What these tests share: small workloads, and replays of which every start and end is kept.

use std::path::{Path, PathBuf};

use resched_policies::PolicySpec;
use resched_sim::Reports;
use resched_sim::batch::{
    Checked, Ended, Job, JobSpec, Launched, Machine, Machines, Needs, Observer, Offer, Orders, Policy, StageSpec,
    Tally, TaskSpec, Try, View, Workload, replay,
};
use resched_sim::cluster_file::Placement;
use resched_sim::{Error, JobEnded, JobId, Ms, NodeId, Resources, TaskId, Violation};
use resched_tables::model::Outcome;

/// A start of an instance or a gang, and its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) id: TaskId,
    /// Its number.
    pub(crate) task: usize,
    pub(crate) queued: Ms,
    pub(crate) start: Ms,
    pub(crate) finish: Ms,
    pub(crate) outcome: Outcome,
    pub(crate) places: Vec<(NodeId, u32)>,
}

/// A replay as it was seen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Seen {
    /// In the order of starts.
    pub(crate) ran: Vec<Ran>,
    pub(crate) jobs: Vec<JobEnded>,
    pub(crate) tally: Tally,
    open: Vec<usize>,
}

impl Reports for Seen {
    fn job_ended(&mut self, ended: &JobEnded) -> Result<(), Error> {
        self.jobs.push(*ended);
        Ok(())
    }
}

impl Observer for Seen {
    fn launched(&mut self, launched: &Launched<'_>) -> Result<(), Error> {
        let slot = launched.run.index();
        self.open.resize(self.open.len().max(slot + 1), usize::MAX);
        assert_eq!(self.open[slot], usize::MAX, "a run has the number of another");
        self.open[slot] = self.ran.len();
        self.ran.push(Ran {
            id: launched.task,
            task: launched.task.index(),
            queued: Ms::MIN,
            start: launched.at,
            finish: Ms::MAX,
            outcome: Outcome::Unknown,
            places: launched.places.to_vec(),
        });
        Ok(())
    }

    fn ended(&mut self, ended: &Ended) -> Result<(), Error> {
        let ran = &mut self.ran[self.open[ended.run.index()]];
        assert_eq!((ran.task, ran.start), (ended.task.index(), ended.start));
        (ran.queued, ran.finish, ran.outcome) = (ended.queued, ended.finish, ended.outcome);
        self.open[ended.run.index()] = usize::MAX;
        Ok(())
    }
}

/// Replays under a policy, as the command line names it, and checks the rules that always hold.
pub(crate) fn seen(policy: &str, workload: &Workload, machines: &Machines) -> Seen {
    seen_under(policy, &mut *made(policy), workload, machines)
}

fn made(policy: &str) -> Box<dyn Policy> {
    PolicySpec::parse(policy).and_then(|spec| spec.build_batch()).unwrap_or_else(|error| panic!("{error}"))
}

/// A policy that gets every tick.
struct EveryTick {
    inner: Box<dyn Policy>,
    ticks: u64,
}

impl Policy for EveryTick {
    fn job_submitted(&mut self, job: JobId, view: View<'_>) {
        self.inner.job_submitted(job, view);
    }

    fn job_finished(&mut self, job: JobId, view: View<'_>) {
        self.inner.job_finished(job, view);
    }

    fn task_waits(&mut self, task: TaskId, view: View<'_>) {
        self.inner.task_waits(task, view);
    }

    fn task_finished(&mut self, ended: &Ended, view: View<'_>) {
        self.inner.task_finished(ended, view);
    }

    fn task_left(&mut self, task: TaskId, view: View<'_>) {
        self.inner.task_left(task, view);
    }

    fn nodes_changed(&mut self, view: View<'_>) {
        self.inner.nodes_changed(view);
    }

    fn period(&self) -> Option<Ms> {
        self.inner.period()
    }

    fn tick(&mut self, view: View<'_>, orders: &mut Orders) {
        self.ticks += 1;
        self.inner.tick(view, orders);
    }

    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        self.inner.schedule(offer)
    }
}

/// As [`seen`], but no tick is left out. Returns how many there were, too.
pub(crate) fn seen_with_every_tick(policy: &str, workload: &Workload, machines: &Machines) -> (Seen, u64) {
    let mut every = EveryTick { inner: made(policy), ticks: 0 };
    let seen = seen_under(policy, &mut every, workload, machines);
    (seen, every.ticks)
}

fn seen_under(policy: &str, made: &mut dyn Policy, workload: &Workload, machines: &Machines) -> Seen {
    let mut seen = Seen::default();
    let mut checked = Checked::new(workload, machines, policy, &mut seen);
    let tally = replay(workload, machines, (policy, made), &mut checked, &mut |_| {});
    let tally = tally.and_then(|tally| checked.close().map(|()| tally));
    seen.tally = tally.unwrap_or_else(|error| panic!("{error}"));
    seen
}

/// Starts of a replay by task, for tasks that start once.
pub(crate) fn starts(policy: &str, workload: &Workload, machines: &Machines) -> Vec<Ms> {
    let seen = seen(policy, workload, machines);
    let mut starts = vec![Ms::MIN; workload.tasks().len()];
    for ran in &seen.ran {
        assert_eq!(starts[ran.task], Ms::MIN, "a task starts twice");
        starts[ran.task] = ran.start;
    }
    starts
}

/// Machines with cores and GPUs.
pub(crate) fn with_gpus(count: u32, each: u64, gpus: u64) -> Machines {
    let resources = vec![("gres/gpu".into(), gpus)];
    let machine = |number| Machine {
        name: format!("n{number}"),
        capacity: cores(each),
        resources: resources.clone(),
        ..Machine::default()
    };
    Machines::new((0..count).map(machine).collect(), &[], Placement::FirstFit).unwrap()
}

/// A task whose instances ask for GPUs, too.
pub(crate) fn needing(task: TaskSpec, gpus: u64) -> TaskSpec {
    let needs = Needs { resources: vec![("gres/gpu".into(), gpus)], ..Needs::default() };
    TaskSpec { needs, ..task }
}

pub(crate) fn cores(cores: u64) -> Resources {
    Resources { cpu: 1_000 * cores, memory: 0 }
}

/// One machine with so many cores.
pub(crate) fn machine(count: u64) -> Machines {
    Machines::alike(1, cores(count), Placement::FirstFit)
}

pub(crate) fn task(demand: Resources, instances: u32, gang: bool, run: Ms) -> TaskSpec {
    let tries = vec![Try { outcome: Outcome::Success, run }];
    TaskSpec { name: String::new(), demand, instances, gang, tries, ..TaskSpec::default() }
}

/// A job of one task.
pub(crate) fn job(number: usize, user: &str, submit: Ms, requested: Option<Ms>, task: TaskSpec) -> JobSpec {
    let job = Job { id: number.to_string(), user: user.into(), submit, requested_time: requested, ..Job::default() };
    let task = TaskSpec { name: format!("{number}_0"), ..task };
    JobSpec { job, after: Vec::new(), stages: vec![StageSpec { tasks: vec![task], ..StageSpec::default() }] }
}

pub(crate) fn workload(jobs: Vec<JobSpec>) -> Workload {
    let (workload, skipped) = Workload::new(jobs, 0).unwrap();
    assert!(skipped.is_empty(), "{skipped:?}");
    workload
}

/// A path in the shared folder; `None`, with a word of it, if it is not there.
#[allow(clippy::print_stderr, reason = "a test says why it is skipped")]
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let path = std::env::var_os("RESCHED_SHARED").map_or_else(default, PathBuf::from).join(path);
    if path.is_file() {
        return Some(path);
    }
    let required = std::env::var_os("RESCHED_REQUIRE_SHARED").is_some_and(|value| value == "1");
    assert!(!required, "{} not found", path.display());
    eprintln!("skipped: {} not found", path.display());
    None
}
