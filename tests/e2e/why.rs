//! `explain` and `diff`: phases and blame add up under every policy, and situations are put in the right words.

use std::path::{Path, PathBuf};

use resched_analysis::why::{BlameRow, Explanation, Why};
use resched_replay::{Memory, PolicySpec, Setup, Source, World};
use resched_sim::ClusterConfig;
use serde_json::{Value, json};

use crate::support::{Dir, nineteen_jobs, repository};

/// Checks all jobs of a run: each instant is in one phase, and each wait has its blame.
fn check(what: &str, why: &Why) {
    let check_sums = |about: &str, explanation: &Explanation| {
        let phases: i64 = explanation.phases.iter().map(|phase| phase.ms).sum();
        assert_eq!(phases, explanation.completion_ms, "{what}: {about}: the phases");
        for phase in explanation.phases.iter().filter(|phase| phase.phase.is_wait()) {
            let is_own = |row: &&BlameRow| {
                (row.phase, row.reason, row.while_running) == (phase.phase, phase.reason, phase.while_running)
            };
            let blamed: i64 = explanation.blame.iter().filter(is_own).map(|row| row.ms).sum();
            assert_eq!(blamed, phase.ms, "{what}: {about}: the blame for {:?}", phase.phase);
        }
        assert!(explanation.blame.iter().all(|row| row.ms >= 0 && row.held >= 0.0), "{what}: {about}");
        let csv: i64 = explanation.csv_rows().iter().map(|row| row.ms).sum();
        assert_eq!(csv, explanation.completion_ms, "{what}: {about}: the rows of CSV");
    };
    for row in why.complete() {
        let job = &why.jobs[row];
        let found = why.explain_job(row);
        check_sums(&job.job_id, &found);
        let mut at = job.submit.unwrap();
        for stretch in &found.timeline {
            assert!(stretch.from == at && stretch.to > at, "{what}: {}: {stretch:?} after {at}", job.job_id);
            at = stretch.to;
        }
        assert_eq!(at, job.finish.unwrap().max(job.submit.unwrap()), "{what}: {}", job.job_id);
    }
    check_sums("all", &why.explain_all());
}

/// Replays a source in memory by the rules of a cluster file under these policies and checks each run. Returns how many there were.
fn check_source(path: &str, rules: &ClusterConfig, seeds: std::ops::Range<u64>, policies: &[&str]) -> usize {
    let source = Source::open(path).unwrap();
    let mut runs = 0;
    for seed in seeds {
        let world =
            World::open(&source, Setup { cluster: rules.clone(), seed, assume: true, ..Setup::default() }).unwrap();
        for name in policies {
            let policy = PolicySpec::parse(name).unwrap();
            let run = world.replay(&policy, Memory).unwrap();
            check(&format!("{path}, {name}, seed {seed}"), &Why::of_rows(run.info, &run.tables));
            runs += 1;
        }
    }
    runs
}

/// The names of the policies of an engine.
fn policies(batch: bool) -> Vec<&'static str> {
    resched_policies::POLICIES.iter().filter(|info| info.is_batch() == batch).map(|info| info.name).collect()
}

/// A small world, drawn by a seed: jobs of three users in two queues on few nodes.
fn random_world(seed: u64) -> String {
    let draw = |what: u64, below: u64| {
        // A step of SplitMix64 (Steele et al. 2014).
        let mut z = seed.wrapping_mul(31).wrapping_add(what).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (z ^ (z >> 27)) % below
    };
    let mut text = format!(
        "name = \"random\"\n[cluster]\nnodes = {}\nracks = 2\nmap_slots = {}\nreduce_slots = {}\n[classes.c]\nmap_mean_s = 20\n\
         map_variation = 0.9\nreduce_mean_s = 15\nreduce_variation = 0.5\n",
        2 + draw(1, 4),
        1 + draw(2, 2),
        1 + draw(3, 2)
    );
    for job in 0..8 {
        let base = 10 * (job + 1);
        let user = ["ann", "bob", "cho"][draw(base, 3) as usize];
        let queue = ["prod", "test"][draw(base + 1, 2) as usize];
        let (submit, maps, reduces) = (draw(base + 2, 60), 1 + draw(base + 3, 9), draw(base + 4, 3));
        text += &format!(
            "[[jobs]]\nclass = \"c\"\nuser = \"{user}\"\nqueue = \"{queue}\"\nsubmit_s = {submit}\nmaps = {maps}\nreduces = {reduces}\n"
        );
    }
    text
}

#[test]
fn phases_and_blame_add_up_in_random_worlds_under_every_policy_of_hadoop() {
    let dir = Dir::new();
    let policies = policies(false);
    for seed in 0..6 {
        dir.write("world.toml", random_world(seed));
        let path = dir.path("world.toml").display().to_string();
        assert_eq!(check_source(&path, &ClusterConfig::default(), seed..seed + 1, &policies), policies.len());
    }
}

/// The bundled experiments of thousands of tasks.
const LARGE: [&str; 5] = ["coupling-fig16", "coupling-fig5", "delay-locality", "delay-users", "triple-queue"];

/// Each bundled experiment under every policy of both engines, with the rules of its paper's testbed. The engine for production traces
/// replays the same tasks, a core each. So that a debug build takes less than a minute, the policies take turns on the [`LARGE`] ones:
/// each policy replays one of these, and each of these is replayed under a fifth of the policies.
#[test]
fn phases_and_blame_add_up_in_every_bundled_experiment_under_every_policy() {
    let policies = [policies(false), policies(true)].concat();
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(repository("traces")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    assert!(files.len() >= 15, "{files:?}");
    std::thread::scope(|scope| {
        for path in &files {
            let turn = LARGE.iter().position(|name| path.file_stem().is_some_and(|stem| stem == *name));
            let (first, step) = turn.map_or((0, 1), |turn| (turn, LARGE.len()));
            let part: Vec<&str> = policies.iter().copied().skip(first).step_by(step).collect();
            scope.spawn(move || check_source(&path.display().to_string(), &rules_of(path), 1..2, &part));
        }
    });
}

/// The file with the rules of an experiment's testbed has the first word of its name.
fn rules_of(experiment: &Path) -> ClusterConfig {
    let name = experiment.file_stem().unwrap().to_string_lossy();
    let word = name.split('-').next().unwrap();
    let rules = |name: &str| Path::new(&repository("traces/clusters")).join(format!("{name}.toml"));
    let found = [name.as_ref(), word].map(rules).into_iter().find(|path| path.exists());
    ClusterConfig::read(&found.unwrap_or_else(|| panic!("no rules for {name}"))).unwrap()
}

#[test]
fn phases_and_blame_add_up_under_every_policy_for_production_traces() {
    let dir = Dir::new();
    for seed in 0..4u64 {
        let mut swf = "; MaxProcs: 8\n".to_owned();
        for job in 1..40u64 {
            let (submit, run) = (job * 7 % (11 + seed) * 20, 10 + job * (37 + seed) % 190);
            let (cores, user) = (1 + job * (5 + seed) % 8, job % 3);
            let after = if job % 9 == 0 { job - 4 } else { 0 };
            swf += &format!(
                "{job} {submit} 0 {run} {cores} -1 -1 {cores} {} -1 1 {user} 1 1 {} 1 {after} -1\n",
                run * 2,
                job % 2
            );
        }
        dir.write("log.swf", swf);
        dir.ok(&["ingest", "log.swf", "--out", "T"]);
        check_source(&dir.path("T").display().to_string(), &ClusterConfig::default(), 1..2, &policies(true));
        check("what really ran", &Why::open(&dir.path("T")).unwrap());
    }
}

#[test]
fn a_trace_of_what_really_ran_is_explained() {
    let dir = Dir::with_sample();
    check("the sample", &Why::open(&dir.path("T")).unwrap());
    let words = dir.ok(&["explain", "T", "--job", "job_201003010800_0004"]);
    assert!(words.contains("waiting for a map slot") && words.contains("under observed"), "{words}");
    if let Some(mumak) = nineteen_jobs() {
        check("19 jobs", &Why::open(&mumak.path("T")).unwrap());
    }
}

/// Ingests an SWF log and replays it under a policy. Returns the explanation of a job in words.
fn explained(dir: &Dir, swf: &str, policy: &str, job: &str) -> String {
    dir.write("log.swf", swf);
    dir.ok(&["ingest", "log.swf", "--out", "T"]);
    dir.ok(&["replay", "T", "--policy", policy, "--decisions", "--out", "R"]);
    dir.ok(&["explain", &format!("R/{policy}"), "--job", job])
}

#[test]
fn a_backfill_hole_is_reported_with_the_job_that_has_it() {
    let swf = "; MaxProcs: 4\n1 0 0 100 3 -1 -1 3 100 -1 1 7 1 1 1 -1 -1 -1\n2 10 0 100 4 -1 -1 4 100 -1 1 8 1 1 1 -1 -1 -1\n\
               3 20 0 500 1 -1 -1 1 500 -1 1 9 1 1 1 -1 -1 -1\n";
    let expected = "It waited 80.0 s because its start would have delayed a job ahead of it. To blame: 2 of 8, 80.0 s.";
    for policy in ["easy", "conservative"] {
        let words = explained(&Dir::new(), swf, policy, "3");
        assert!(words.contains(expected), "{policy}: {words}");
    }
}

#[test]
fn a_user_over_its_limit_is_reported() {
    let dir = Dir::new();
    dir.write("w.toml", "[7]\nmax = 0.5\n");
    let swf = "; MaxProcs: 4\n1 0 0 100 2 -1 -1 2 100 -1 1 7 1 1 1 -1 -1 -1\n2 10 0 100 1 -1 -1 1 100 -1 1 7 1 1 1 -1 -1 -1\n";
    dir.write("log.swf", swf);
    dir.ok(&["ingest", "log.swf", "--out", "T"]);
    dir.ok(&["replay", "T", "--policy", "batch-drf:weights=w.toml", "--decisions", "--out", "R"]);
    let words = dir.ok(&["explain", "R/batch-drf:weights=w.toml", "--user", "7"]);
    let expected = "They waited 90.0 s because their user was at the limit for one user. To blame: 1 of 7, 90.0 s.";
    assert!(words.contains(expected), "{words}");
}

#[test]
fn a_reserve_is_reported() {
    let swf = "; MaxProcs: 4\n1 0 0 100 2 -1 -1 2 100 -1 1 7 1 1 1 -1 -1 -1\n2 10 0 100 2 -1 -1 2 100 -1 1 8 1 1 1 -1 -1 -1\n";
    let policy = "batch-dress:theta=0.3,delta=0.5,delta_min=0.5,delta_max=0.5,whole=false";
    let words = explained(&Dir::new(), swf, policy, "2");
    assert!(words.contains("It waited 90.0 s because the free resources were reserved for other jobs."), "{words}");
}

/// A job of one map of 60 s whose input is on this host, where it ran.
fn on(number: u32, host: &str, name: &str) -> Value {
    let id = format!("task_1_{number:04}_m_000000");
    let attempt = json!({"attemptID": format!("attempt_1_{number:04}_m_000000_0"), "hostName": format!("/rack/{host}"),
                         "startTime": 2_000, "finishTime": 62_000, "result": "SUCCESS"});
    let task = json!({"taskID": id, "taskType": "MAP", "taskStatus": "SUCCESS", "startTime": 2_000, "finishTime": 62_000,
                      "preferredLocations": [{"layers": ["rack", host]}], "attempts": [attempt]});
    json!({"jobID": format!("job_1_{number:04}"), "jobName": name, "user": name, "queue": name,
           "submitTime": 1_000 * number, "launchTime": 1_000 * number, "finishTime": 63_000, "outcome": "SUCCESS",
           "totalMaps": 1, "totalReduces": 0, "mapTasks": [task], "reduceTasks": []})
}

/// Two nodes with a slot each, and three jobs: the first and the last with their input on `a`, the second on `b`.
fn two_nodes(dir: &Dir, names: [&str; 3]) {
    let jobs = [on(1, "a", names[0]), on(2, "b", names[1]), on(3, "a", names[2])];
    dir.write("jobs.json", jobs.map(|job| job.to_string()).join("\n"));
    dir.ok(&["ingest", "jobs.json", "--out", "T"]);
}

#[test]
fn a_holdout_for_locality_is_reported() {
    let dir = Dir::new();
    two_nodes(&dir, ["ann", "bob", "cho"]);
    let args =
        ["replay", "T", "--slots", "1+1", "--decisions", "--policy", "fifo", "--policy", "delay:D=1000", "--out", "R"];
    dir.ok(&args);
    // Without the second job, its node is free all the time.
    let jobs = [on(1, "a", "ann"), on(3, "a", "cho")];
    dir.write("jobs.json", jobs.map(|job| job.to_string()).join("\n"));
    dir.ok(&["ingest", "jobs.json", "--out", "U"]);
    dir.ok(&["replay", "U", "--nodes", "2", "--slots", "1+1", "--decisions", "--policy", "delay:D=1000", "--out", "V"]);
    let words = dir.ok(&["explain", "V/delay:D=1000", "--job", "job_1_0003"]);
    assert!(words.contains("for a machine nearer to its input, although others were free."), "{words}");
    let diff = dir.ok(&["diff", "R/fifo", "R/delay:D=1000"]);
    assert!(diff.contains("delay:D=1000 compared with fifo, 3 jobs"), "{diff}");
}

#[test]
fn a_dead_node_is_reported() {
    let dir = Dir::new();
    two_nodes(&dir, ["ann", "bob", "cho"]);
    dir.write("dead.toml", "[[outages]]\nhost = \"a\"\nfrom = 20_000\n[heartbeat]\nexpiry = 30_000\n");
    dir.ok(&[
        "replay",
        "T",
        "--slots",
        "1+1",
        "--cluster",
        "dead.toml",
        "--policy",
        "fifo",
        "--decisions",
        "--out",
        "R",
    ]);
    let words = dir.ok(&["explain", "R/fifo"]);
    assert!(words.contains("for another place, after a machine with its tasks was lost."), "{words}");
}

#[test]
fn a_check_of_the_replay_does_not_swallow_the_reasons() {
    let dir = Dir::new();
    for (out, check) in [("A", None), ("B", Some("--check"))] {
        let workload = repository("traces/sample-history.toml");
        let args = ["replay", &workload, "--policy", "delay:D=24", "--decisions", "--out", out];
        dir.ok(&args.into_iter().chain(check).collect::<Vec<_>>());
    }
    let rows = |out: &str| dir.read(&format!("{out}/delay:D=24/run.json"));
    assert!(rows("A").contains("\"reasons\"") && rows("A") == rows("B"), "{}", rows("B"));
}

#[test]
fn hostile_names_do_no_harm() {
    let dir = Dir::new();
    let names = ["<script>alert(1)</script>\u{1b}[31m", "=cmd()|'/C calc'!A0", "a\"b,\u{202e}\n🎉"];
    two_nodes(&dir, names);
    dir.ok(&["replay", "T", "--slots", "1+1", "--policy", "fifo", "--policy", "fair", "--decisions", "--out", "R"]);
    for what in
        [vec!["--top", "5"], vec!["--job", "job_1_0003"], vec!["--user", names[1]], vec!["--queue", names[2]], vec![]]
    {
        for form in [None, Some("--csv"), Some("--json")] {
            let args: Vec<&str> = ["explain", "R/fifo"].into_iter().chain(what.iter().copied()).chain(form).collect();
            let text = dir.ok(&args);
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{args:?}: {text}");
            if form == Some("--csv") {
                assert!(!text.contains(",=cmd") && !text.contains("\n=cmd"), "{args:?}: {text}");
            }
            if form == Some("--json") {
                let _: Value = serde_json::from_str(&text).unwrap();
            }
        }
    }
    for form in ["--csv", "--json"] {
        let text = dir.ok(&["diff", "R/fifo", "R/fair", form]);
        assert!(!text.contains(['\u{1b}', '\u{202e}']) && !text.contains(",=cmd"), "{text}");
    }
}

#[test]
fn wrong_requests_are_refused_with_a_remedy() {
    let dir = Dir::new();
    two_nodes(&dir, ["ann", "bob", "cho"]);
    dir.ok(&["replay", "T", "--slots", "1+1", "--policy", "fifo", "--policy", "fair", "--out", "R"]);
    dir.run(&["explain", "R/fifo", "--user", "chow"])
        .fails(2, &["R/fifo: expected a user of the run", "did you mean `cho`?"]);
    dir.run(&["explain", "R/fifo", "--job", "job_1_0009"])
        .fails(2, &["expected the id of a job", "did you mean `job_1_000"]);
    dir.run(&["explain", "nowhere"]).fails(2, &["nowhere: no such run"]);
    dir.run(&["diff", "R", "R/fifo"]).fails(2, &["R: expected a run, or runs of one policy", "R/fair"]);
    let words = dir.ok(&["explain", "R/fifo", "--job", "job_1_0003"]);
    assert!(words.contains("(replay --decisions keeps them)"), "{words}");
}

#[test]
fn blame_without_reasons_says_so() {
    let dir = Dir::with_sample();
    let replay = ["replay", "T", "--assume", "--policy", "delay", "--out"];
    dir.ok(&[&replay, ["R"].as_slice()].concat());
    dir.ok(&[&replay, ["D", "--decisions"].as_slice()].concat());
    for what in [["--top", "3"], ["--user", "cho"]] {
        let words = |run| dir.ok(&[&["explain", run], what.as_slice()].concat());
        assert!(words("R/delay").contains("(replay --decisions keeps them)"), "{what:?}");
        assert!(!words("D/delay").contains("--decisions"), "{what:?}");
    }
    assert_eq!(dir.json(&["explain", "R/delay", "--top", "3", "--json"])["has_reasons"], false);
}
