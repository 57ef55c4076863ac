//! What an answer about a list of Slurm's accounting says about the list: what it lacks, what was left out, and what was filled in.

use std::fs;

use serde_json::Value;

use crate::support::Dir;

const HEADER: &str = "JobID|User|Account|Partition|Submit|Start|End|State|ReqCPUS|AllocCPUS|NodeList|SubmitLine|Reason";

/// A row of a job of some CPUs on a node: id, submit, start, run, state.
fn row(id: u32, (submit, start, run): (i64, i64, i64), state: &str, (cpus, node): (u32, &str)) -> String {
    let end = start + run;
    format!("{id}|u|a|p|{submit}|{start}|{end}|{state}|{cpus}|{cpus}|{node}|sbatch -n {cpus} x|\n")
}

/// A folder with the trace `T` of these rows.
fn ingested(rows: &[String]) -> Dir {
    let dir = Dir::new();
    dir.write("jobs.txt", format!("{HEADER}\n{}", rows.concat()));
    dir.ok(&["ingest", "jobs.txt", "--out", "T"]);
    dir
}

/// The replay of `T` under a policy with more arguments.
fn replayed(dir: &Dir, more: &[&str]) -> Value {
    let printed = dir.ok(&[&["replay", "T", "--policy", "slurm", "--out", "R", "--json"], more].concat());
    serde_json::from_str(printed.lines().next().unwrap()).unwrap()
}

/// The fact that contains a text.
fn fact<'v>(answer: &'v Value, part: &str) -> Option<&'v Value> {
    let facts = answer["validity"].as_array().unwrap();
    facts.iter().find(|fact| fact["says"].as_str().is_some_and(|says| says.contains(part)))
}

/// Jobs that keep a node busy, one after the other.
fn usual() -> Vec<String> {
    (0..20).map(|n| row(n + 1, (1_000, 1_000 + 100 * i64::from(n), 100), "COMPLETED", (4, "n1"))).collect()
}

/// A list has no nodes. Each is as large as its use shows, which nobody has given.
#[test]
fn sizes_by_use_are_assumed_and_tried_half_and_twice_as_large() {
    let dir = ingested(&usual());
    let answer = replayed(&dir, &[]);
    let sizes = fact(&answer, "lower bounds").unwrap();
    assert_eq!((sizes["grade"].as_str(), answer["grade"].as_str()), (Some("assumed"), Some("assumed")), "{answer}");
    let reported =
        dir.ok(&["replay", "T", "--policy", "slurm", "--policy", "easy", "--out", "R2", "--robust", "full", "--json"]);
    assert!(reported.contains("half as large") && reported.contains("twice as large"), "{reported}");
    let given = replayed(&dir, &["--cores", "8"]);
    assert!(fact(&given, "lower bounds").is_none() && fact(&given, "cluster file").is_some(), "{given}");
    dir.write(
        "site/slurm.conf",
        "NodeName=n1 CPUs=4\nPartitionName=p Nodes=n1 Default=YES MaxTime=INFINITE State=UP\n",
    );
    let given = replayed(&dir, &["--site-conf", "site"]);
    assert!(fact(&given, "lower bounds").is_none(), "{given}");
}

/// Two tries of 1,200 s beside 2,010 s of other work: more than half of the time of the machine.
#[test]
fn tries_that_were_lost_are_weighed_by_their_time() {
    for (run, grade) in [(1_200, "not-answerable"), (200, "assumed"), (10, "measured")] {
        let mut rows = usual();
        rows.push(row(90, (1_000, 3_000, run), "NODE_FAIL", (4, "n1")));
        rows.push(row(90, (3_000 + run, 3_000 + run, run), "REQUEUED", (4, "n1")));
        rows.push(row(90, (3_000 + 2 * run, 3_000 + 2 * run, 10), "COMPLETED", (4, "n1")));
        let answer = replayed(&ingested(&rows), &["--cores", "4"]);
        let lost = fact(&answer, "lost, evicted or requeued").unwrap();
        assert_eq!(lost["grade"], grade, "{answer}");
    }
}

/// The log says why jobs waited, and nobody gave that limit.
#[test]
fn limits_that_jobs_waited_for_and_nobody_gave_are_a_fact() {
    let mut rows = usual();
    rows[7] = rows[7].replace("x|\n", "x|QOSMaxCpuPerUserLimit\n");
    rows[8] = rows[8].replace("x|\n", "x|AssocGrpNodeLimit\n");
    rows[9] = rows[9].replace("x|\n", "x|Priority\n");
    let dir = ingested(&rows);
    let answer = replayed(&dir, &["--cores", "4"]);
    let limits = fact(&answer, "2 of 20 jobs waited for a limit").unwrap();
    assert_eq!(limits["grade"], "assumed");
    assert!(limits["remedy"].as_str().unwrap().contains("qos.txt"), "{answer}");
    let explained = dir.ok(&["explain", "T", "--job", "8"]);
    assert!(
        explained.contains("The log gives `QOSMaxCpuPerUserLimit`") && explained.contains("a limit of its QOS"),
        "{explained}"
    );
    assert!(!explained.contains("It waited"), "{explained}");
    let other = dir.ok(&["explain", "T", "--job", "7"]);
    assert!(!other.contains("The log gives"), "{other}");
}

/// A site with GPUs whose accounting does not count them.
#[test]
fn gpus_that_no_job_asks_for_are_a_fact() {
    let conf = "GresTypes=gpu\nNodeName=n1 CPUs=4 Gres=gpu:2\nPartitionName=p Nodes=n1 Default=YES MaxTime=INFINITE State=UP\n";
    let silent = ingested(&usual());
    silent.write("site/slurm.conf", conf);
    let answer = replayed(&silent, &["--site-conf", "site"]);
    assert_eq!(fact(&answer, "no job of the trace asks for any").unwrap()["grade"], "assumed");
    let asking: Vec<String> = usual().iter().map(|row| row.replace("sbatch -n 4", "sbatch --gpus 2 -n 4")).collect();
    let asking = ingested(&asking);
    asking.write("site/slurm.conf", conf);
    let answer = replayed(&asking, &["--site-conf", "site"]);
    assert!(fact(&answer, "no job of the trace asks for any").is_none(), "{answer}");
}

/// A file with machines and without jobs is no log, whatever names its format.
#[test]
fn a_log_without_a_job_is_an_error_that_names_the_first_damage() {
    let dir = Dir::new();
    dir.write("words.swf", "; MaxProcs: 4\n1 0 0 ten 2 -1 -1 2 20 -1 1 1 1 1 1 1 -1 -1\n");
    dir.run(&["ingest", "words.swf", "--format", "swf", "--out", "T"]).fails(1, &["line 2: ", "`ten` as field 4"]);
    dir.write("short.swf", "; MaxProcs: 4\n1 0 0 10 2\n");
    dir.run(&["ingest", "short.swf", "--format", "swf", "--out", "T"]).fails(1, &["line 2: ", "found 5 numbers"]);
    dir.write("empty.swf", "; MaxProcs: 4\n");
    dir.run(&["ingest", "empty.swf", "--format", "swf", "--out", "T"]).fails(1, &["without a single job"]);
    assert!(!dir.path("T").exists());
    let job = "1 0 0 10 2 -1 -1 2 20 -1 1 1 1 1 1 1 -1";
    for (name, text, counted) in [
        ("more.swf", format!("; MaxProcs: 4\n{job} -1 7\n"), "line-with-further-fields"),
        ("less.swf", format!("; MaxProcs: 4\n{job}\n"), "line-without-last-field"),
        ("hash.swf", format!("# MaxProcs: 4\n{job} -1\n"), ""),
    ] {
        dir.write(name, text);
        let reported = dir.ok(&["ingest", name, "--out", "T"]);
        assert!(reported.contains("1 jobs, ") || reported.contains("1 job, "), "{reported}");
        assert!(reported.contains(counted), "{reported}");
        assert!(reported.contains("4 machine rows"), "{reported}");
    }
}

/// A job of 8 CPUs in a partition with 2 waits for ever, however few such jobs there are.
#[test]
fn jobs_that_can_never_start_are_a_fact() {
    let mut rows = usual();
    rows.push(row(90, (1_000, 1_100, 100), "COMPLETED", (8, "n2")).replace("|p|", "|small|"));
    let dir = ingested(&rows);
    dir.write(
        "site/slurm.conf",
        "NodeName=n[1-2] CPUs=8\nNodeName=n3 CPUs=2\nPartitionName=p Nodes=n[1-2] Default=YES\nPartitionName=small Nodes=n3\n",
    );
    let answer = replayed(&dir, &["--site-conf", "site"]);
    assert!(fact(&answer, "Can never start: 1 of 21 jobs (90)").is_some(), "{answer}");
    let printed = dir.ok(&["replay", "T", "--policy", "slurm", "--site-conf", "site", "--out", "R"]);
    assert!(printed.contains("Can never start: 1 of 21 jobs"), "{printed}");
}

/// The rows of two clusters are never one.
#[test]
fn a_list_of_two_clusters_is_refused_unless_one_is_chosen() {
    let dir = Dir::new();
    let list = "JobID|Cluster|User|Submit|Start|End|State|ReqCPUS|NodeList\n1|alpha|ann|100|110|200|COMPLETED|1|n1\n1|beta|bob|100|110|900|COMPLETED|2|n1\n";
    dir.write("two.txt", list);
    dir.run(&["ingest", "two.txt", "--out", "T"]).fails(2, &["alpha, beta", "sacct -M", "--cluster-name"]);
    assert!(!dir.path("T").exists());
    let reported = dir.ok(&["ingest", "two.txt", "--cluster-name", "beta", "--out", "T"]);
    assert!(reported.contains("job-of-another-cluster"), "{reported}");
    dir.run(&["ingest", "two.txt", "--cluster-name", "gamma", "--out", "T"]).fails(2, &["gamma", "alpha, beta"]);
}

/// Each cluster of the lists becomes a trace, also if one list has several and another has one of them again.
#[test]
fn a_list_of_two_clusters_is_split() {
    let dir = Dir::new();
    let header = "JobID|Cluster|User|Submit|Start|End|State|ReqCPUS|NodeList\n";
    let [alpha, beta, again] = [
        "1|alpha|ann|100|110|200|COMPLETED|1|n1\n",
        "1|beta|bob|100|110|900|COMPLETED|2|n1\n",
        "2|beta|bob|950|960|990|COMPLETED|2|n1\n",
    ];
    dir.write("lists/two.txt", [header, alpha, beta].concat());
    dir.write("lists/beta.txt", [header, again].concat());
    dir.write("lists/none.txt", [header, alpha].concat().replace("Cluster|", "").replace("alpha|", ""));
    dir.run(&["ingest", "lists/two.txt", "--out", "T"]).fails(2, &["--split"]);
    let reported = dir.ok(&["ingest", "lists", "--split", "--out", "T"]);
    for part in ["T/sacct-alpha: 1 job,", "T/sacct-beta: 2 jobs,", "T/sacct: 1 job,"] {
        assert!(reported.contains(part), "{part}: {reported}");
    }
    dir.write("alone/alpha.txt", [header, alpha].concat());
    dir.ok(&["ingest", "alone", "--out", "A"]);
    for table in ["jobs.parquet", "attempts.parquet", "nodes.parquet"] {
        assert_eq!(
            fs::read(dir.path(&format!("A/{table}"))).unwrap(),
            fs::read(dir.path(&format!("T/sacct-alpha/{table}"))).unwrap(),
            "{table}"
        );
    }
    // One cluster is one trace, and a chosen one stays chosen.
    dir.ok(&["ingest", "alone", "--split", "--out", "one"]);
    assert!(dir.path("one/sacct").exists() && !dir.path("one/sacct-alpha").exists());
    let chosen = dir.ok(&["ingest", "lists/two.txt", "--split", "--cluster-name", "beta", "--out", "chosen"]);
    assert!(chosen.contains("chosen/sacct: 1 job,"), "{chosen}");
}
