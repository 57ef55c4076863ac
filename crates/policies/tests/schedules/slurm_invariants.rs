//! What must hold of every schedule of Slurm's scheduler, on 10,000 random worlds.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use resched_policies::queues::slurm::{JobLimits, Limits, Qos, SlurmConf};
use resched_policies::{PolicySpec, Site};
use resched_sim::batch::{
    Checked, Ended, Job, JobSpec, Launched, Machines, Observer, StageSpec, TaskSpec, Try, Workload, replay_seeded,
};
use resched_sim::cluster_file::Placement;
use resched_sim::{Error, Ms, Reports, Resources};
use resched_tables::model::Outcome;

use crate::cases::cases;

const NODES: u32 = 4;
const CORES: u32 = 4;
/// The most cores that jobs of a user have at once.
const MOST: u32 = 9;

/// Its submission, cores, limit and run time, s, and user.
type Drawn = (Ms, u32, Ms, Ms, u8);

fn worlds() -> impl Strategy<Value = (Vec<Drawn>, u64)> {
    let job = (0..400_i64, 1..=NODES * CORES, 1..=300_i64, 1..=100_i64, 0..2_u8);
    let job = job.prop_map(|(submit, cores, limit, percent, user)| (submit, cores, limit, limit * percent / 100, user));
    (vec(job, 1..=16), 1..=1_000_u64)
}

fn workload(jobs: &[Drawn], qos: &str) -> Workload {
    Workload::new(specs(jobs, qos), 0).unwrap().0
}

fn specs(jobs: &[Drawn], qos: &str) -> Vec<JobSpec> {
    let spec = |(number, &(submit, cores, limit, run, user)): (usize, &Drawn)| JobSpec {
        job: Job {
            id: number.to_string(),
            user: format!("user{user}").into(),
            qos: qos.into(),
            // Not at whole seconds, so that nothing is drawn.
            submit: submit * 1_000 + 1,
            requested_time: Some(limit * 1_000),
            ..Job::default()
        },
        after: Vec::new(),
        stages: vec![StageSpec {
            tasks: vec![TaskSpec {
                name: number.to_string(),
                demand: Resources { cpu: 1_000, memory: 0 },
                instances: cores,
                gang: cores > 1,
                tries: vec![Try { outcome: Outcome::Success, run: run * 1_000 + 1 }],
                ..TaskSpec::default()
            }],
            ..StageSpec::default()
        }],
    };
    jobs.iter().enumerate().map(spec).collect()
}

/// What ended, in order.
#[derive(Default)]
struct Seen(Vec<Ended>);

impl Reports for Seen {}

impl Observer for Seen {
    fn launched(&mut self, _: &Launched<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn ended(&mut self, ended: &Ended) -> Result<(), Error> {
        self.0.push(*ended);
        Ok(())
    }
}

/// The runs in the order of their ends. The replay is checked: no machine takes more than it has, and so on.
fn runs(workload: &Workload, set: &str, conf: SlurmConf, seed: u64) -> Vec<Ended> {
    let machines = Machines::alike(NODES, Resources { cpu: u64::from(CORES) * 1_000, memory: 0 }, Placement::FirstFit);
    let site = Arc::new(Site { slurm: Some(conf), ..Site::default() });
    let policy = PolicySpec::parse(&format!("slurm:{set}")).unwrap().at_site(&site).unwrap();
    let mut seen = Seen::default();
    let mut checked = Checked::new(workload, &machines, "slurm", &mut seen);
    let mut made = policy.build_batch().unwrap();
    replay_seeded(workload, &machines, ("slurm", &mut *made), seed, &mut checked, &mut |_| {}).unwrap();
    checked.close().unwrap();
    seen.0
}

/// The spans of the tasks, in their order. Each runs once.
fn spans(workload: &Workload, set: &str, conf: SlurmConf, seed: u64) -> Vec<(Ms, Ms)> {
    let mut runs = runs(workload, set, conf, seed);
    runs.sort_unstable_by_key(|run| run.task);
    assert_eq!(runs.len(), workload.tasks().len());
    runs.iter().map(|run| (run.start, run.finish)).collect()
}

/// The cores of a task.
fn cores(workload: &Workload, task: usize) -> u32 {
    workload.tasks()[task].instances
}

/// When a job that comes first at `now` has enough cores by the limits of what runs then.
fn promised(workload: &Workload, spans: &[(Ms, Ms)], job: usize, now: Ms) -> Ms {
    let runs = |&other: &usize| other != job && spans[other].0 <= now && spans[other].1 > now;
    let mut running: Vec<(Ms, u32)> = (0..spans.len())
        .filter(runs)
        .map(|other| {
            let limit = workload.jobs().get(other).unwrap().requested_time.unwrap();
            (spans[other].0 + limit, cores(workload, other))
        })
        .collect();
    running.sort_unstable();
    let mut free = NODES * CORES - running.iter().map(|run| run.1).sum::<u32>();
    for (end, more) in running {
        if free >= cores(workload, job) {
            break;
        }
        free += more;
        if free >= cores(workload, job) {
            return end.max(now);
        }
    }
    now
}

proptest! {
    #![proptest_config(Config { rng_seed: RngSeed::Fixed(31), ..cases(5_000) })]

    /// No job that comes later delays the first of the queue beyond what was promised to it, by more than the grain of the plan: the width
    /// of the first bundle of ends, the period of the backfill scheduler, the spacing of the main loop, and a second for each of both clocks.
    #[test]
    fn the_first_of_the_queue_is_not_delayed((jobs, seed) in worlds(), easy in any::<bool>()) {
        const GRAIN: Ms = 60_000 + 5_000 + 3_000 + 2_000;
        let workload = workload(&jobs, "");
        let set = format!("priority=basic,limit_grain=1,bf_resolution=1000,bf_interval=5000,bf_window_linear=1000,reservations={}", u8::from(easy));
        let spans = spans(&workload, &set, SlurmConf::default(), seed);
        let mut before = 0;
        for job in 0..spans.len() {
            // It comes first once all before it have started.
            let first = workload.jobs().get(job).unwrap().submit.max(before);
            if spans[job].0 > first {
                let promised = promised(&workload, &spans, job, first);
                prop_assert!(spans[job].0 <= promised + GRAIN, "job {job}: first at {first}, promised {promised}, spans {spans:?}, seed {seed}, {set}");
            }
            before = before.max(spans[job].0);
        }
    }

    /// A job loses its place only to one that goes over it, which starts at that instant, and only for good if the mode is `cancel`.
    #[test]
    fn places_are_taken_only_by_those_who_may((jobs, seed) in worlds(), cancel in any::<bool>(), builtin in any::<bool>()) {
        let mut specs = specs(&jobs, "");
        for (spec, (.., user)) in specs.iter_mut().zip(&jobs) {
            spec.job.qos = if *user == 0 { "low" } else { "high" }.into();
        }
        let workload = Workload::new(specs, 0).unwrap().0;
        let high = Qos { preempt: vec!["low".to_owned()], ..Qos::default() };
        let conf = SlurmConf { qos: [("low".to_owned(), Qos::default()), ("high".to_owned(), high)].into(), ..SlurmConf::default() };
        let mode = if cancel { "cancel" } else { "requeue" };
        let scheduler = if builtin { "builtin" } else { "backfill" };
        let set = format!("preempt=qos,preempt_mode={mode},bf_interval=5000,scheduler={scheduler}");
        let runs = runs(&workload, &set, conf, seed);
        let is_high = |run: &&Ended| workload.job(workload.task(run.task).job).qos == "high";
        for lost in runs.iter().filter(|run| run.outcome != Outcome::Success) {
            prop_assert_eq!(lost.outcome, if cancel { Outcome::Killed } else { Outcome::Evicted });
            prop_assert!(!is_high(&lost));
            prop_assert!(runs.iter().filter(is_high).any(|run| run.start == lost.finish), "{lost:?} of {runs:?}");
        }
        let mut ended: Vec<_> = runs.iter().filter(|run| run.outcome != Outcome::Evicted).map(|run| run.task).collect();
        ended.sort_unstable();
        ended.dedup();
        prop_assert_eq!(ended.len(), workload.tasks().len(), "every job ends");
    }

    /// No user has more than a QOS allows.
    #[test]
    fn limits_hold_at_every_instant((jobs, seed) in worlds(), builtin in any::<bool>()) {
        let jobs: Vec<Drawn> = jobs.into_iter().map(|(submit, cores, limit, run, user)| (submit, cores.min(MOST), limit, run, user)).collect();
        let workload = workload(&jobs, "q");
        let per_user = Limits { cpus: Some(MOST.into()), ..Limits::default() };
        let qos = Qos { limits: JobLimits { per_user, ..JobLimits::default() }, ..Qos::default() };
        let conf = SlurmConf { qos: [("q".to_owned(), qos)].into(), ..SlurmConf::default() };
        let set = format!("limit_grain=1,bf_interval=5000,scheduler={}", if builtin { "builtin" } else { "backfill" });
        let spans = spans(&workload, &set, conf, seed);
        for (start, _) in &spans {
            for user in ["user0", "user1"] {
                let has = |job: &usize| workload.jobs().get(*job).unwrap().user == user && spans[*job].0 <= *start && spans[*job].1 > *start;
                let used: u32 = (0..spans.len()).filter(has).map(|job| cores(&workload, job)).sum();
                prop_assert!(used <= MOST, "{user} has {used} cores at {start}");
            }
        }
    }
}
