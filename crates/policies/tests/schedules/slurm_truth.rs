//! The policy `slurm` beside what Slurm itself did (`truth/slurm` and `truth/slurm-24.11` of the folder of shared traces): each run is
//! replayed under its own settings and its own version, with twenty seeds, which decide at which part of a second the schedulers look for
//! work.
//!
//! A run is replayed from its truth table, and from what `sacct` printed of it, as text and as JSON, with the site's configuration.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use resched_ingest::{Options, ingest};
use resched_policies::{PolicySpec, Site, SiteConf};
use resched_sim::batch::{Checked, Ended, Launched, Loaded, Observer, load, replay_seeded};
use resched_sim::{ClusterConfig, Error, Ms, Reports, Scope};
use resched_tables::store::{BACKFILL_START, Trace};

use crate::truth::{jobs, loaded, number, runs_of};

const SEEDS: u64 = 20;

/// When jobs started, ms.
#[derive(Default)]
struct Seen(BTreeMap<usize, Ms>);

impl Reports for Seen {}

impl Observer for Seen {
    fn launched(&mut self, launched: &Launched<'_>) -> Result<(), Error> {
        self.0.insert(launched.task.index(), launched.at);
        Ok(())
    }

    fn ended(&mut self, _: &Ended) -> Result<(), Error> {
        Ok(())
    }
}

/// The starts of the jobs with a seed, ms.
fn starts(loaded: &Loaded, (policy, site): (&str, &Arc<Site>), seed: u64) -> BTreeMap<usize, Ms> {
    let mut seen = Seen::default();
    let mut checked = Checked::new(&loaded.workload, &loaded.machines, "slurm", &mut seen);
    let mut policy = PolicySpec::parse(policy).unwrap().at_site(site).unwrap().build_batch().unwrap();
    replay_seeded(&loaded.workload, &loaded.machines, ("slurm", &mut *policy), seed, &mut checked, &mut |_| {})
        .unwrap();
    checked.close().unwrap();
    assert_eq!(seen.0.len(), loaded.workload.jobs().len());
    seen.0
}

/// The waits of the jobs in seconds, rounded down as sacct does, with a seed.
fn waits(loaded: &Loaded, policy: (&str, &Arc<Site>), seed: u64) -> Vec<f64> {
    let starts = starts(loaded, policy, seed);
    let eligible = loaded.workload.jobs().iter().map(|job| job.eligible.unwrap_or(job.submit));
    eligible.zip(starts.values()).map(|(eligible, start)| ((start - eligible) / 1_000) as f64).collect()
}

fn mean(of: impl IntoIterator<Item = f64>) -> f64 {
    let all: Vec<f64> = of.into_iter().collect();
    all.iter().sum::<f64>() / all.len() as f64
}

/// The largest distance of two distributions, as a share of the distance at which they are different at 5 %.
fn ks(a: &[f64], b: &[f64]) -> f64 {
    let share = |of: &[f64], at: f64| of.iter().filter(|&&x| x <= at).count() as f64 / of.len() as f64;
    let distance = a.iter().chain(b).map(|&at| (share(a, at) - share(b, at)).abs()).fold(0.0, f64::max);
    distance / (1.358 * ((a.len() + b.len()) as f64 / (a.len() * b.len()) as f64).sqrt())
}

/// A run from where it is read.
struct Run {
    name: String,
    loaded: Loaded,
    site: Arc<Site>,
    /// The real waits of its jobs, s.
    real: Vec<f64>,
}

impl Run {
    /// The run of a version, from its truth table.
    fn of_truth(version: &str, run: &str) -> Option<Self> {
        let rows = jobs(&runs_of(version)?.join(run));
        let real = rows.iter().map(|row| (number(row, "start") - number(row, "eligible")) as f64).collect();
        let site = Site::default().with_log_version(Some(version));
        Some(Self { name: format!("{version} {run}"), loaded: loaded(&rows), site: Arc::new(site), real })
    }

    /// The same, from a list by `sacct` and the configuration beside it.
    fn of_list(version: &str, run: &str, list: &str) -> Option<Self> {
        let dir = runs_of(version)?.join(run);
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("T");
        let manifest = ingest(&[dir.join(list)], &at, &Options::default(), &mut ()).unwrap();
        let log = manifest.scheduler_version().unwrap().to_owned();
        assert!(log.starts_with(version), "{list} of {version} shows {log}");
        let SiteConf { mut site, cluster, .. } = SiteConf::read(&dir).unwrap();
        if let Some(at) = manifest.parameters.get(BACKFILL_START) {
            site.parameters.insert(("slurm", "bf_ran_at"), at.to_string());
        }
        let config = ClusterConfig::of_settings(cluster).unwrap();
        let loaded = load(&Trace::open(&at).unwrap(), &config, &Scope::default()).unwrap();
        let rows = jobs(&dir);
        let id = |row: &BTreeMap<String, String>| row["job_raw"].clone();
        let real: BTreeMap<String, f64> =
            rows.iter().map(|row| (id(row), (number(row, "start") - number(row, "eligible")) as f64)).collect();
        let real = loaded.workload.jobs().iter().map(|job| real[job.id]).collect();
        let site = Arc::new(site.with_log_version(Some(&log)));
        Some(Self { name: format!("{version} {run}, {list}"), loaded, site, real })
    }
}

struct Found {
    /// The error of the mean wait, a share.
    mean: f64,
    within_2: f64,
    within_10: f64,
    ks: f64,
}

#[allow(clippy::print_stderr, reason = "the figures are what the test is about")]
fn found(run: &Run, policy: &str, seeds: u64) -> Found {
    let Run { name, loaded, site, real } = run;
    let runs: Vec<Vec<f64>> = (1..=seeds).map(|seed| waits(loaded, (policy, site), seed)).collect();
    let real_mean = mean(real.iter().copied());
    let within = |most: f64| {
        let share = |run: &Vec<f64>| mean(run.iter().zip(real).map(|(a, b)| f64::from((a - b).abs() <= most)));
        mean(runs.iter().map(share))
    };
    let means: Vec<f64> = runs.iter().map(|run| mean(run.iter().copied())).collect();
    let found = Found {
        mean: mean(means.iter().copied()) / real_mean - 1.0,
        within_2: within(2.0),
        within_10: within(10.0),
        ks: mean(runs.iter().map(|run| ks(run, real))),
    };
    let range = |of: fn(f64, f64) -> f64, from| means.iter().copied().fold(from, of);
    eprintln!(
        "{name}: {policy}: mean wait {real_mean:.1} s, replayed {:+.1} % ({:.1} to {:.1} s); starts within 2 s {:.0} %, 10 s {:.0} %; KS {:.2} of what is different at 5 %",
        found.mean * 1e2,
        range(f64::min, f64::MAX),
        range(f64::max, 0.0),
        found.within_2 * 1e2,
        found.within_10 * 1e2,
        found.ks,
    );
    found
}

const VERSIONS: [&str; 2] = ["22.05", "24.11"];

#[test]
fn first_come_first_served_is_replayed_as_it_was() {
    for version in VERSIONS {
        let Some(run) = Run::of_truth(version, "fifo") else { return };
        let found = found(&run, "slurm:scheduler=builtin", SEEDS);
        // Of two runs of 24.11, 44 % of the starts are within 2 s; of 22.05, 77 %.
        let within_2 = if version == "22.05" { 0.70 } else { 0.60 };
        assert!(found.mean.abs() <= 0.02 && found.within_2 >= within_2 && found.within_10 >= 0.99, "{version}");
    }
}

/// The settings of each run with backfill, as its `slurm.conf` has them.
const BACKFILLED: [(&str, &str, &str); 5] = [
    ("22.05", "backfill", "slurm:bf_interval=5000"),
    ("22.05", "easy", "slurm:bf_interval=5000,reservations=1"),
    ("22.05", "nodes", "slurm:bf_interval=5000"),
    ("24.11", "backfill", "slurm:bf_interval=5000"),
    ("24.11", "nodes", "slurm:bf_interval=5000"),
];

#[test]
fn backfill_is_replayed_as_it_was() {
    for (version, run, set) in BACKFILLED {
        let Some(of_run) = Run::of_truth(version, run) else { return };
        let found = found(&of_run, set, SEEDS);
        assert!(found.mean.abs() <= 0.15 && found.ks < 1.0, "{version} {run}");
    }
}

/// Replays each run from both lists. The lists say which version wrote them, and the configuration says the rest.
fn check_lists(seeds: u64, [fifo, backfilled]: [f64; 2]) {
    let of_fifo = VERSIONS.map(|version| (version, "fifo", fifo));
    let others = BACKFILLED.map(|(version, run, _)| (version, run, backfilled));
    for (version, run, most) in of_fifo.into_iter().chain(others) {
        for list in ["sacct.json.gz", "sacct-all.txt.gz"] {
            let Some(of_run) = Run::of_list(version, run, list) else { return };
            let found = found(&of_run, "slurm", seeds);
            assert!(found.mean.abs() <= most, "{version} {run} {list}: {}", found.mean);
        }
    }
}

#[test]
fn lists_of_both_versions_are_replayed_as_they_were() {
    check_lists(3, [0.03, 0.2]);
}

/// `cargo test -p resched-policies --test schedules with_twenty_seeds -- --ignored --nocapture`
#[test]
#[ignore = "half a minute; three seeds always run"]
fn lists_of_both_versions_are_replayed_with_twenty_seeds() {
    check_lists(SEEDS, [0.02, 0.15]);
}

/// Each of these rules that the versions do not share, set as in the other version, moves a start of one of the runs. For the others, see
/// `slurm_rules`.
#[test]
fn each_rule_of_a_version_moves_a_start() {
    let mut moved: BTreeMap<&str, bool> = BTreeMap::new();
    for (version, run, set) in BACKFILLED {
        let Some(of_run) = Run::of_truth(version, run) else { return };
        for rule in ["bf_round_up", "bf_from_later", "bf_cut_bundles", "bf_overlap_first"] {
            let is_moved = moved.entry(rule).or_default();
            let other = format!("{set},{rule}={}", version == "22.05");
            let moves = |seed| {
                let of = |set: &str| starts(&of_run.loaded, (set, &of_run.site), seed);
                of(set) != of(&other)
            };
            *is_moved = *is_moved || (1..=SEEDS).any(moves);
        }
    }
    assert!(moved.values().all(|&is_moved| is_moved), "{moved:?}");
}
