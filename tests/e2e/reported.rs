//! Inputs that users reported (`reports` of the shared folder): each gives what its command must give. Tests on small inputs beside the
//! readers say why.

use std::fs;

use serde_json::Value;

use crate::support::{Dir, shared};

/// A folder, and the path of the reported inputs of this name; `None` without the shared folder.
fn reported(name: &str) -> Option<(Dir, String)> {
    Some((Dir::new(), shared(&format!("reports/{name}"))?))
}

/// The first line of a replay, as data.
fn replayed(dir: &Dir, args: &[&str]) -> Value {
    let printed = dir.ok(&[&["replay"], args, &["--out", "R", "--json"]].concat());
    serde_json::from_str(printed.lines().next().unwrap()).unwrap()
}

/// Whether a fact says this, with this grade.
fn says(answer: &Value, grade: &str, words: &str) -> bool {
    let facts = answer["validity"].as_array().unwrap();
    facts.iter().any(|fact| fact["grade"] == grade && fact["says"].as_str().is_some_and(|says| says.contains(words)))
}

/// The files of Slurm that a report has beside its list, as the folder of a site.
fn site(dir: &Dir, path: &str) {
    dir.write("site/slurm.conf", fs::read(format!("{path}/slurm.conf")).unwrap());
}

/// Each list, and how many jobs and attempts it has.
#[test]
fn lists_hold_every_job_and_every_try() {
    for (name, file, jobs, attempts) in [
        ("reused-job-ids", "sacct.txt", 4, 4),
        ("monthly-lists", "lists", 7, 7),
        ("requeued-in-json", "sacct.json", 1, 2),
        ("split-pending-array", "sacct.txt", 7, 1),
        ("reqmem-per-node", "sacct.txt", 2, 2),
        ("answer-sacct-requeue", "rq.txt", 3, 5),
        ("spark-fetch-failure", "app-fetch-32", 3, 26),
        ("spark-fetch-failure", "app-fetch-35", 3, 26),
        ("databricks-rolled", "log", 9, 36),
        ("databricks-rolled", "log-joined", 9, 36),
    ] {
        let Some((dir, path)) = reported(name) else { return };
        let found = dir.ok(&["ingest", &format!("{path}/{file}"), "--out", "T"]);
        let (has_jobs, has_attempts) = (format!("T: {jobs} job"), format!(" {attempts} attempt"));
        assert!(found.starts_with(&has_jobs) && found.contains(&has_attempts), "{name}: {found}");
        assert!(!found.contains("duplicate"), "{name}: {found}");
    }
}

#[test]
fn lists_of_two_clusters_are_refused_and_one_can_be_chosen() {
    for (name, file) in [("two-clusters-one-list", "sacct.txt"), ("answer-sacct-two-clusters", "two.txt")] {
        let Some((dir, path)) = reported(name) else { return };
        let list = format!("{path}/{file}");
        dir.run(&["ingest", &list, "--out", "T"]).fails(2, &["alpha, beta", "--cluster-name"]);
        dir.ok(&["ingest", &list, "--cluster-name", "beta", "--out", "T"]);
    }
}

/// Each file is nearly right: the message says what it is or where it is damaged, and what to do.
#[test]
fn files_that_are_nearly_right_are_explained() {
    for (file, parts) in [
        ("comma.csv", &["line 2", "--delimiter"][..]),
        ("relative.txt", &["line 2, Submit", "Ystday", "SLURM_TIME_FORMAT"]),
        ("noheader.txt", &["without its header", "--noheader"]),
        ("utf16.txt", &["UTF-16", "iconv"]),
        ("empty.json", &["without a job", "sacct -a -D"]),
        ("cpus0.json", &["job 1", "required.CPUs", "found 0"]),
        ("slurmrestd.json", &["squeue", "slurmdb"]),
        ("mrhistory.json", &["history server", "jhist"]),
        ("sparkrest.json", &["history server", "event logs"]),
        ("apps.xml", &["as XML", "Accept: application/json"]),
    ] {
        let Some((dir, path)) = reported("errors-hide-cause") else { return };
        let ran = dir.run(&["ingest", &format!("{path}/{file}"), "--out", "T"]);
        assert!(ran.code.is_some_and(|code| code > 0), "{file}: {ran:?}");
        assert!(parts.iter().all(|part| ran.stderr.contains(part)), "{file}: {}", ran.stderr);
        assert!(!ran.stderr.contains("leave it out"), "{file}: {}", ran.stderr);
    }
    for file in ["ahs.json", "stringnumbers.json", "extra19.swf", "hashcomment.swf"] {
        let Some((dir, path)) = reported("errors-hide-cause") else { return };
        dir.ok(&["ingest", &format!("{path}/{file}"), "--out", "T"]);
    }
}

/// Values that the real daemons take are taken, and only what differs from the default is listed.
#[test]
fn configurations_that_daemons_take_are_shown() {
    for (name, parts, unread) in [
        ("sacctmgr-dump-qos", &["account = \"bio\"", "weight_qos = 1000"][..], false),
        ("sacctmgr-dump-bare-cluster", &["account = \"bio\"", "jobs = 20"], true),
        ("float-suffix", &["max_am_share = 0.5", "weight = 2.0"], false),
        ("am-percent-10", &["am_share = 1 ", "a share of 10 is more than all"], true),
        ("sls-fair-scheduler", &["[rules.yarn-fair.queues.q1]", "weight = 0.25", "user_max_apps = 1000"], true),
        ("include-absolute", &["name = \"gpu\"", "partitions.conf", "parts/gpu.conf"], true),
        ("stock-capacity-scheduler", &["node_locality_delay = 40", "user_limit_factor = 1.0"], false),
    ] {
        let Some((dir, path)) = reported(name) else { return };
        let shown = dir.ok(&["site", "show", &path]);
        assert!(parts.iter().all(|part| shown.contains(part)), "{name}: {shown}");
        assert_eq!(shown.contains("# Without effect:"), unread, "{name}: {shown}");
        assert!(!shown.contains("does not know it"), "{name}: {shown}");
    }
}

/// A weight of 1 to 9 is what 10 % to 90 % is.
#[test]
fn weights_of_queues_share_as_percentages_do() {
    let Some((dir, path)) = reported("capacity-weights") else { return };
    dir.ok(&["ingest", &format!("{path}/history"), "--out", "T"]);
    let of = |site: &str| {
        let site = format!("{path}/{site}");
        let answer = replayed(&dir, &["T", "--assume", "--policy", "yarn-capacity", "--site-conf", &site]);
        assert!(!says(&answer, "assumed", "settings of the site"), "{site}: {answer}");
        ["makespan_ms", "mean_completion_ms", "mean_waiting_ms"].map(|key| answer[key].clone())
    };
    let (weights, percent) = (of("site"), of("site-percent"));
    assert!(weights.iter().all(Value::is_number));
    assert_eq!(weights, percent);
}

#[test]
fn gpus_of_the_command_line_make_jobs_wait() {
    let Some((dir, path)) = reported("gpus-in-submit-line") else { return };
    for file in ["sacct.txt", "sacct-gres-columns.txt"] {
        dir.ok(&["ingest", &format!("{path}/{file}"), "--out", "T"]);
        let site = format!("{path}/site");
        let answer = replayed(&dir, &["T", "--policy", "slurm", "--site-conf", &site]);
        let waiting = answer["mean_waiting_ms"].as_f64().unwrap() / 60_000.0;
        assert!((59.0..61.0).contains(&waiting), "{file}: {waiting} min, observed 59.8 min");
    }
}

/// A job that ended well in its log ends in a replay.
#[test]
fn stages_that_were_tried_again_do_not_fail_their_job() {
    for log in ["app-fetch-32", "app-fetch-35"] {
        let Some((dir, path)) = reported("spark-fetch-failure") else { return };
        dir.ok(&["ingest", &format!("{path}/{log}"), "--out", "T"]);
        let printed = dir.ok(&["replay", "T", "--policy", "spark", "--out", "R"]);
        assert!(printed.contains("3 of 3"), "{log}: {printed}");
    }
}

/// What a replay does not know of a log is in its answer, and the answer is not *measured*.
#[test]
fn what_a_log_knows_and_a_replay_does_not_is_in_the_answer() {
    for (name, file, has_site, grade, words) in [
        ("answer-log-cut", "cut-submit.txt", true, "assumed", "The log disagrees"),
        ("answer-het-nodes", "het.txt", false, "assumed", "are assumed from their use"),
        ("answer-qos-limit-unknown", "lim.txt", true, "not-answerable", "20 of 28 jobs waited for a limit"),
        ("answer-sacct-requeue", "rq.txt", false, "not-answerable", "took 87.0 % of the run time"),
    ] {
        let Some((dir, path)) = reported(name) else { return };
        dir.ok(&["ingest", &format!("{path}/{file}"), "--out", "T"]);
        let mut args = vec!["T", "--policy", "slurm"];
        if has_site {
            site(&dir, &path);
            args.extend(["--site-conf", "site"]);
        }
        let answer = replayed(&dir, &args);
        assert!(says(&answer, grade, words), "{name}: {answer}");
        assert_ne!(answer["grade"], "measured", "{name}");
    }
}

/// A list that begins in the middle: every command that replays it says that the log waited longer.
#[test]
fn every_answer_is_held_against_the_log() {
    let Some((dir, path)) = reported("answer-log-cut") else { return };
    dir.ok(&["ingest", &format!("{path}/cut-submit.txt"), "--out", "T"]);
    site(&dir, &path);
    let head = "name = \"s\"\nabout = \"s\"\ntrace = \"T\"\nsite = \"site\"\nseeds = 2\nbaseline = \"slurm\"\nmetric = \"mean_completion\"\n[variants.slurm]\n";
    dir.write("sweep.toml", head.to_owned() + "[variants.easy]\n");
    dir.write(
        "tune.toml",
        head.to_owned()
            + "[variants.slow]\npolicy = \"slurm\"\nscheduler = \"backfill\"\nbf_interval = { from = 5000, to = 60000 }\n\
               [tune]\nobjective = { mean_completion = 1 }\ncandidates = 2\n",
    );
    let size = ["size", "T", "--policy", "slurm", "--site-conf", "site", "--metric", "mean_waiting", "--below", "10h"];
    for args in [
        &["replay", "T", "--policy", "slurm", "--site-conf", "site", "--out", "R"][..],
        &[&size[..], &["--from", "7", "--to", "9", "--seeds", "1"]].concat(),
        &["sweep", "sweep.toml", "--out", "S"],
        &["tune", "tune.toml", "--out", "U"],
    ] {
        let printed = dir.ok(args);
        assert!(printed.contains("where the log has 22.7 h"), "{args:?}: {printed}");
    }
    dir.ok(&["report", "R", "--out", "P"]);
    assert!(dir.read("P/report.json").contains("where the log has 22.7 h"));
}

/// Four of eight nodes go: as with `--nodes 4`, jobs wait ten times as long.
#[test]
fn outages_of_nodes_act_under_slurm() {
    let Some((dir, path)) = reported("answer-outage-ignored") else { return };
    dir.ok(&["ingest", &format!("{path}/full.txt"), "--out", "T"]);
    site(&dir, &path);
    let half = format!("{path}/half.toml");
    let args = ["T", "--policy", "slurm", "--site-conf", "site"];
    let hours =
        |more: &[&str]| replayed(&dir, &[&args[..], more].concat())["mean_waiting_ms"].as_f64().unwrap() / 3_600_000.0;
    let (all, left) = (hours(&[]), hours(&["--cluster", &half]));
    assert!((28.0..29.0).contains(&all) && (317.0..319.0).contains(&left), "{all} h, {left} h");
}

#[test]
fn jobs_that_ran_in_their_master_are_a_fact() {
    let Some((dir, path)) = reported("uber-job") else { return };
    dir.ok(&["ingest", &format!("{path}/history"), "--out", "T"]);
    let more = ["--nodes", "2", "--assume"];
    let answer = replayed(&dir, &[&["T", "--policy", "yarn-fifo"], &more[..]].concat());
    assert!(says(&answer, "assumed", "3 jobs ran their tasks one after another in the container of their master"));
}

/// Histories of several clusters that are named one by one, as a shell does with `*.jhist`.
#[test]
fn histories_of_several_clusters_named_one_by_one_are_refused() {
    let Some(folder) = shared("traces/hadoop-common-2014/hs") else { return };
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path().display().to_string());
    let mut files: Vec<String> = files.filter(|path| path.ends_with(".jhist")).collect();
    files.sort();
    let dir = Dir::new();
    let named: Vec<&str> = files.iter().map(String::as_str).collect();
    dir.run(&[&["ingest"], &named[..], &["--out", "T"]].concat()).fails(2, &["found those of 5", "--split"]);
}
