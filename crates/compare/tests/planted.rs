//! Worlds whose truth is known: a cluster really ran their jobs under `fifo`, and its log is all that an operator has. A comparison of that
//! log with wrong defaults must have the sign of the truth, or must not call itself measured.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use resched_analysis::runs::beside::VariedRun;
use resched_analysis::statistics::sign::{Level, Sign, Variants};
use resched_analysis::{Gathered, Population, Run};
use resched_compare::{Asked, Plan};
use resched_replay::{ClusterConfig, Memory, PolicySpec, ReadBy, RunTrace, Setup, Source, Threads, World};
use resched_tables::draws::{Purpose, stream};
use resched_tables::model::JobRecord;
use resched_tables::sink::Collected;
use resched_tables::validity::Grade;
use resched_workload::{Workload, make_trace};

use rand::RngExt;

const FIRST: &str = "fifo";

/// A cluster whose jobs are known.
struct Planted {
    tables: Collected,
    truth: ClusterConfig,
}

impl Planted {
    fn new(workload: &str, truth: &str, seed: u64) -> Self {
        let parsed = Workload::parse(workload, "planted").unwrap();
        let (tables, _) = make_trace(&parsed, workload, "planted", seed).unwrap();
        Self { tables, truth: ClusterConfig::parse(truth).unwrap() }
    }

    fn world(tables: Collected, setup: Setup) -> World {
        let named = RunTrace { path: "planted".to_owned(), sha256: "planted".to_owned(), ..RunTrace::default() };
        World::open(&Source::tables(tables, named), setup).unwrap()
    }

    /// The mean completion time under a policy, divided by that under `fifo`, in the real cluster.
    fn ratio(&self, policy: &PolicySpec) -> f64 {
        self.ratio_of(policy, 1)
    }

    /// The same if the nodes of the cluster call at other times. Small clusters are chaotic: a heartbeat may decide which policy is better.
    fn ratio_of(&self, policy: &PolicySpec, seed: u64) -> f64 {
        let setup = Setup { cluster: self.truth.clone(), seed, ..Setup::default() };
        let world = Self::world(self.tables.clone(), setup);
        let mut runs = [PolicySpec::parse(FIRST).unwrap(), policy.clone()].map(|policy| replayed(&world, &policy));
        Population::share(&mut runs);
        let [first, second] = runs.map(|run| {
            let times: Vec<i64> = run.finished_jobs().filter_map(|job| job.completion).collect();
            times.iter().sum::<i64>() as f64
        });
        second / first
    }

    /// What the cluster logged: each attempt where and for as long as it really ran.
    fn log(&self) -> Collected {
        let world = Self::world(self.tables.clone(), Setup { cluster: self.truth.clone(), ..Setup::default() });
        let ran = world.replay(&PolicySpec::parse(FIRST).unwrap(), Memory).unwrap().tables;
        let mut log = self.tables.clone();
        for JobRecord { job, tasks, .. } in &mut log.jobs {
            let row = ran.jobs.iter().find(|row| row.job_id == job.job_id).unwrap();
            (job.launch, job.finish, job.outcome) = (row.launch, row.finish, row.outcome);
            for record in tasks {
                let of_task = ran.attempts.iter().filter(|attempt| attempt.task_id == record.task.task_id);
                record.attempts = of_task.cloned().collect();
            }
        }
        log
    }

    /// What an operator finds who has the log and gives nothing but the slots.
    fn answer(&self, policy: &PolicySpec, level: Level) -> (Sign, Variants) {
        self.answer_in(Setup::default(), policy, level)
    }

    /// What an operator finds who also gives the rules of the cluster as they are.
    fn informed_answer(&self, policy: &PolicySpec) -> Sign {
        let given = ["cost.locality", "heartbeat.interval", "jobs.slowstart"].map(str::to_owned);
        let setup = Setup { cluster: self.truth.clone(), given: given.into(), ..Setup::default() };
        self.answer_in(setup, policy, Level::Quick).0
    }

    fn answer_in(&self, setup: Setup, policy: &PolicySpec, level: Level) -> (Sign, Variants) {
        let world = Self::world(self.log(), setup);
        let policies = [PolicySpec::parse(FIRST).unwrap(), policy.clone()];
        let mut runs = policies.each_ref().map(|policy| replayed(&world, policy));
        Population::share(&mut runs);
        let named = |run: &Run| VariedRun { label: run.label.clone(), sha256: String::new() };
        let asked = Asked { world: &world, policies: &policies, runs: &runs, level, seeds: None };
        let variants = Plan::of(asked).unwrap().run(runs.iter().map(named).collect(), Threads::ONE, &|| {}).unwrap();
        (variants.signs(FIRST).remove(0), variants)
    }
}

fn replayed(world: &World, policy: &PolicySpec) -> Run {
    let mut gathered = Gathered::default();
    let info = world.replay(policy, ReadBy(&mut gathered)).unwrap();
    Run::of_gathered(info, gathered)
}

/// A busy cluster with little input of each job on each node, so that waiting for a near node costs time and may save some.
fn workload(nodes: u32, jobs: u32, gap: u32, maps: u32, reduces: u32) -> String {
    let mut text = format!(
        "name = \"planted\"\n[cluster]\nnodes = {nodes}\nracks = 2\nmap_slots = 2\nreduce_slots = 1\nreplication = 1\n\
         [classes.c]\nmap_mean_s = 20\nmap_variation = 0.2\nmap_selectivity = 0.1\nreduce_mean_s = 10\nreduce_variation = 0.1\n"
    );
    for job in 0..jobs {
        let maps = if job % 4 == 0 { maps * 6 } else { maps };
        text += &format!("[[jobs]]\nclass = \"c\"\nsubmit_s = {}\nmaps = {maps}\nreduces = {reduces}\n", job * gap);
    }
    text
}

const NO_DISTANCE: &str = "[cost]\nlocality = [1.0, 1.0, 1.0]\n[heartbeat]\ninterval = 3000\n";

#[test]
fn a_policy_that_is_better_only_with_a_cost_of_distance_is_not_measured() {
    let planted = Planted::new(&workload(20, 24, 3, 10, 0), NO_DISTANCE, 1);
    let delay = PolicySpec::parse("delay:D=40").unwrap();
    let truth = planted.ratio(&delay);
    let (sign, _) = planted.answer(&delay, Level::Quick);
    assert!(truth > 1.0, "without a cost of distance, waiting for a near node is a loss: {truth}");
    assert!(sign.ratio < 1.0, "by the defaults, it looks like a gain: {}", sign.says);
    assert_eq!(sign.grade, Grade::Assumed);
    assert!(sign.says.contains("later without a cost of distance"), "{}", sign.says);
}

#[test]
fn a_log_that_leaves_nothing_open_keeps_its_sign() {
    let planted = Planted::new(&workload(20, 24, 9, 6, 0), NO_DISTANCE, 1);
    let fair = PolicySpec::parse("fair").unwrap();
    let (full, all) = planted.answer(&fair, Level::Full);
    let (quick, _) = planted.answer(&fair, Level::Quick);
    assert_eq!(full.variants, quick.variants, "a small log is tested whole");
    assert!(all.sample.is_none() && all.not_tried.is_empty());
    assert_eq!(full.ratio < 1.0, planted.ratio(&fair) < 1.0);
}

#[test]
fn no_wrong_sign_is_measured_in_200_random_worlds() {
    let (mut measured, mut wrong, mut judged, mut world) = (0, 0, 0, 0);
    while judged < 200 {
        world += 1;
        let mut draws = stream(world, Purpose::SweepDesign, &[27]);
        let mut one_of = |options: &[&str]| options[draws.random_range(0..options.len())].to_owned();
        let locality = one_of(&["[1.0, 1.0, 1.0]", "[1.0, 1.2, 1.6]", "[1.0, 1.5, 3.0]", "[1.0, 2.0, 4.0]"]);
        let heartbeat = one_of(&["500", "1000", "3000", "5000"]);
        let slowstart = one_of(&["0.05", "0.5", "1.0"]);
        let truth = format!(
            "[cost]\nlocality = {locality}\n[heartbeat]\ninterval = {heartbeat}\n[jobs]\nslowstart = {slowstart}\n"
        );
        let policy = one_of(&["fair", "naive-fair", "delay:D=5", "delay:D=30", "capacity", "fair+late", "srpt"]);
        let mut number = |least: u32, most: u32| draws.random_range(least..=most);
        let text = workload(number(5, 16), number(8, 20), number(3, 30), number(2, 8), number(0, 3));
        let planted = Planted::new(&text, &truth, world);
        let policy = PolicySpec::parse(&policy).unwrap();
        // Every other operator knows the cluster.
        let knows = world % 2 == 1;
        let sign = if knows { planted.informed_answer(&policy) } else { planted.answer(&policy, Level::Quick).0 };
        let truth = planted.ratio(&policy);
        // Where the truth itself hangs on when nodes call, no answer is right.
        if (2..=5).any(|seed| (planted.ratio_of(&policy, seed) - 1.0) * (truth - 1.0) <= 0.0) {
            continue;
        }
        judged += 1;
        let differs = (truth - 1.0) * (sign.ratio - 1.0) < 0.0;
        wrong += u32::from(differs);
        measured += u32::from(sign.grade == Grade::Measured);
        assert!(
            !(differs && sign.grade == Grade::Measured),
            "world {world}: {} is {truth:.3} times as long in truth, but: {}",
            policy.label(),
            sign.says
        );
    }
    eprintln!(
        "of 200 worlds (and {} without a sign), {wrong} had the wrong sign by the defaults, and {measured} were measured",
        world - judged
    );
    assert!(wrong > 0 && measured > 0, "a test that cannot fail: {wrong} wrong, {measured} measured");
}
