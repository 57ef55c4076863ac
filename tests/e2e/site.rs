//! Replays at a site with its own configuration.

use serde_json::{Value, json};

use crate::support::{Dir, assert_same};

const POOLS: &str = "<?xml version=\"1.0\"?>
<allocations>
  <pool name=\"ann\"><maxMaps>1</maxMaps></pool>
  <userMaxJobsDefault>3</userMaxJobsDefault>
</allocations>
";

const MAPRED_SITE: &str = "<?xml version=\"1.0\"?>
<configuration>
  <property><name>mapred.tasktracker.map.tasks.maximum</name><value>3</value></property>
  <property><name>mapred.reduce.slowstart.completed.maps</name><value>0.5</value></property>
  <property><name>mapred.fairscheduler.locality.delay</name><value>2000</value></property>
  <property><name>mapred.fairscheduler.preemption</name><value>true</value></property>
  <property><name>mapred.fairscheduler.preemptoin</name><value>true</value></property>
  <property><name>io.sort.mb</name><value>100</value></property>
</configuration>
";

/// A folder with the sample as the trace `T` and this configuration as the site `S`.
fn dir_with(files: &[(&str, &str)]) -> Dir {
    let dir = Dir::with_sample();
    for (name, text) in files {
        dir.write(&format!("S/{name}"), text);
    }
    dir
}

fn run_info(dir: &Dir, run: &str) -> Value {
    serde_json::from_str(&dir.read(&format!("{run}/run.json"))).unwrap()
}

#[test]
fn a_site_sets_pools_parameters_and_the_cluster() {
    let dir = dir_with(&[("fair-scheduler.xml", POOLS), ("mapred-site.xml", MAPRED_SITE)]);
    let args = ["replay", "T", "--assume", "--policy", "fair", "--policy", "fair:delay_node=0", "--policy", "fifo"];
    let ran = dir.run(&[&args[..], &["--site-conf", "S", "--out", "R"]].concat());
    let warning = "mapred-site.xml: line 7: `mapred.fairscheduler.preemptoin` is not supported: resched does not \
                   know it; did you mean `mapred.fairscheduler.preemption`?";
    let pools = "fair: 12 jobs go to separate pools with the defaults of the file, because the configuration has no rule for their \
                 pool: `cho`, `bob`";
    let expected = format!("warning: {warning}\nwarning: {pools}\n");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), expected.as_str()), "once for both fair policies");

    let fair = run_info(&dir, "R/fair");
    assert_eq!((&fair["params"]["delay_node"], &fair["params"]["delay_rack"]), (&json!("2000"), &json!("2000")));
    assert_eq!((&fair["params"]["preemption"], &fair["params"]["pools"]), (&json!("true"), &json!("user")));
    assert_eq!((&fair["rules"]["nodes"]["map_slots"], &fair["rules"]["jobs"]["slowstart"]), (&json!(3), &json!(0.5)));
    assert_eq!(fair["site"]["warnings"], json!([warning]));
    let files: Vec<&String> = fair["site"]["files"].as_object().unwrap().keys().collect();
    assert_eq!(files, ["fair-scheduler.xml", "mapred-site.xml"]);
    assert_eq!(run_info(&dir, "R/fair:delay_node=0")["params"]["delay_node"], "0");

    dir.ok(&[&args[..], &["--out", "Q"]].concat());
    assert!(run_info(&dir, "Q/fair").get("site").is_none());
    for policy in ["fair", "fifo"] {
        let attempts = |runs: &str| std::fs::read(dir.path(&format!("{runs}/{policy}/attempts.parquet"))).unwrap();
        assert!(attempts("R") != attempts("Q"), "the site changes nothing for {policy}");
    }
}

#[test]
fn queues_of_a_site_share_the_cluster() {
    let queue = |name: &str, share: u32| {
        format!("<queue><name>{name}</name><properties><property key='capacity' value='{share}'/></properties></queue>")
    };
    let queues = |share: u32| format!("<queues>{}{}</queues>", queue("default", share), queue("adhoc", 100 - share));
    let job = |queue: &str| format!("[[jobs]]\nclass = \"grep\"\nsubmit_s = 0\nmaps = 40\nqueue = \"{queue}\"\n");
    let classes = "[cluster]\nnodes = 5\n[classes.grep]\nmap_mean_s = 20.0\n";
    let dir = Dir::new();
    dir.write("W.toml", format!("name = \"two-queues\"\n{classes}{}{}", job("default"), job("adhoc")));
    let mean_completion = |share: u32| {
        dir.write("S/mapred-queues.xml", queues(share));
        let args = ["replay", "W.toml", "--assume", "--policy", "capacity", "--site-conf", "S", "--out", "R", "--json"];
        dir.json(&args)["mean_completion_ms"].as_f64().unwrap()
    };
    let (equal, unequal) = (mean_completion(50), mean_completion(90));
    assert!(unequal < equal, "with unequal shares one job ends early, and the other no later: {unequal} and {equal}");
    dir.write("S/mapred-queues.xml", queues(90).replace("'10'", "'20'"));
    let over = dir.run(&["replay", "W.toml", "--assume", "--policy", "fifo", "--site-conf", "S", "--out", "R"]);
    over.fails(2, &["S/mapred-queues.xml: ", "add up to 110 %"]);
}

#[test]
fn a_cluster_file_wins_over_the_site() {
    let dir = dir_with(&[("mapred-site.xml", MAPRED_SITE)]);
    dir.write("c.toml", "[nodes]\nmap_slots = 9\n");
    dir.ok(&["replay", "T", "--assume", "--policy", "fifo", "--site-conf", "S", "--cluster", "c.toml", "--out", "R"]);
    let rules = &run_info(&dir, "R/fifo")["rules"];
    assert_eq!((&rules["nodes"]["map_slots"], &rules["jobs"]["slowstart"]), (&json!(9), &json!(0.5)));
}

#[test]
fn resume_keeps_no_run_of_another_site() {
    let dir = dir_with(&[("fair-scheduler.xml", POOLS)]);
    let again = ["replay", "T", "--assume", "--policy", "fair", "--site-conf", "S", "--out", "R", "--resume"];
    let kept = |printed: String| printed.lines().any(|line| line.contains("fair") && line.ends_with("kept"));
    assert!(!kept(dir.ok(&again)));
    assert!(kept(dir.ok(&again)));
    dir.write("S/fair-scheduler.xml", POOLS.replace("<maxMaps>1", "<maxMaps>2"));
    assert!(!kept(dir.ok(&again)), "another limit");
    assert!(!kept(dir.ok(&["replay", "T", "--assume", "--policy", "fair", "--out", "R", "--resume"])), "no site");
}

#[test]
fn broken_configuration_is_refused_and_nothing_is_left() {
    let bomb = "<!DOCTYPE a [<!ENTITY x \"boom\">]><allocations>&x;</allocations>";
    for (file, text, parts) in [
        ("fair-scheduler.xml", "<allocations>\n<pool>", &["S/fair-scheduler.xml: line 2: the XML is broken"][..]),
        ("fair-scheduler.xml", bomb, &["S/fair-scheduler.xml: ", "`<!DOCTYPE`; take it out"]),
        ("fair-scheduler.xml", &POOLS.replace("<maxMaps>1", "<maxMaps>one"), &["line 3: <maxMaps>: ", "found `one`"]),
        ("mapred-site.xml", &MAPRED_SITE.replace("0.5", "5"), &["line 4: mapred.reduce.slow", "0..1, found `5`"]),
        ("core-site.xml", "<configuration/>", &["S: expected at least one of "]),
    ] {
        let dir = dir_with(&[(file, text)]);
        let before = dir.tree("");
        dir.run(&["replay", "T", "--assume", "--policy", "fair", "--site-conf", "S", "--out", "R"]).fails(2, parts);
        assert_same(&before, &dir.tree(""), file);
    }
    let dir = Dir::with_sample();
    let missing = dir.run(&["replay", "T", "--assume", "--policy", "fair", "--site-conf", "nowhere", "--out", "R"]);
    missing.fails(2, &["nowhere: cannot read the folder"]);
}

/// Two queues, of which `capacity` knows none without a site.
const TWO_QUEUES: &str = "name = \"two-queues\"\n[cluster]\nnodes = 5\n[classes.grep]\nmap_mean_s = 20.0\n\
    [[jobs]]\nclass = \"grep\"\nsubmit_s = 0\nmaps = 40\nqueue = \"default\"\n\
    [[jobs]]\nclass = \"grep\"\nsubmit_s = 0\nmaps = 40\nqueue = \"adhoc\"\n";

fn two_queues(share: u32) -> String {
    let queue = |name: &str, share: u32| {
        format!("<queue><name>{name}</name><properties><property key='capacity' value='{share}'/></properties></queue>")
    };
    format!("<queues>{}{}</queues>", queue("default", share), queue("adhoc", 100 - share))
}

#[test]
fn a_sweep_replays_at_its_site_and_its_cells_are_new_when_a_file_changes() {
    let dir = Dir::new();
    dir.write("W.toml", TWO_QUEUES);
    dir.write("S/mapred-queues.xml", two_queues(50));
    dir.write("s.toml", "name = \"s\"\nworkload = \"W.toml\"\nsite = \"S\"\n[variants.capacity]\n");
    dir.write("plain.toml", "name = \"s\"\nworkload = \"W.toml\"\n[variants.capacity]\n");
    let mean = |args: &[&str]| dir.json(&[&["sweep"], args, &["--json"]].concat())[0]["mean"].as_f64().unwrap();
    let alone = {
        let args = ["replay", "W.toml", "--assume", "--policy", "capacity", "--site-conf", "S", "--out", "R", "--json"];
        dir.json(&args)["mean_completion_ms"].as_f64().unwrap()
    };
    let of_file = mean(&["s.toml", "--out", "A"]);
    assert_eq!(of_file, alone, "a cell is the replay at the site");
    assert_eq!(mean(&["plain.toml", "--site-conf", "S", "--out", "B"]), of_file);
    assert_ne!(mean(&["plain.toml", "--out", "C"]), of_file, "the site changes nothing");
    let plan = |name: &str| serde_json::from_str::<Value>(&dir.read(&format!("{name}/sweep.json"))).unwrap();
    let id = |name: &str| plan(name)["cells"][0]["id"].clone();
    assert_eq!(id("A"), id("B"));
    assert_ne!(id("A"), id("C"));
    assert!(plan("A")["site"].as_str().is_some_and(|site| site.starts_with('/')), "workers need a whole path");
    let before = id("A");
    dir.write("S/mapred-queues.xml", two_queues(90));
    let changed = dir.run(&["sweep", "cell", "--manifest", "A", "--index", "0"]);
    assert_eq!(changed.code, Some(0), "the cell is done: {changed:?}");
    mean(&["s.toml", "--out", "A"]);
    assert_ne!(before, id("A"));
}

#[test]
fn validate_replays_at_the_site() {
    let dir = dir_with(&[("mapred-site.xml", MAPRED_SITE)]);
    let reported =
        |args: &[&str]| dir.json(&[&["validate", "T", "--assume", "--json"], args].concat())["errors"].clone();
    assert_ne!(reported(&[]), reported(&["--site-conf", "S"]));
    assert_ne!(reported(&[]), reported(&["--slots", "1+1"]));
}

#[test]
fn a_site_is_shown_with_the_place_of_each_value() {
    let dir = dir_with(&[("fair-scheduler.xml", POOLS), ("mapred-site.xml", MAPRED_SITE)]);
    let shown = dir.ok(&["site", "show", "S"]);
    for part in [
        "[cluster.nodes]\nmap_slots = 3 # mapred.tasktracker.map.tasks.maximum (mapred-site.xml, line 3)\n",
        "[cluster.jobs]\nslowstart = 0.5 # mapred.reduce.slowstart.completed.maps (mapred-site.xml, line 4)\n",
        "[policies.fair]\ndelay_node = 2000 # mapred.fairscheduler.locality.delay (mapred-site.xml, line 5)\n",
        "# fair-scheduler.xml: pools of MapReduce 1, as in `allocations=FILE`\n",
        "[rules.fair.pools.ann]\n",
        "max_maps = 1\n",
        "# Without effect:\n#   mapred-site.xml: line 7: `mapred.fairscheduler.preemptoin`",
        "# Not about schedules:\n#   1 setting: names outside of `mapred`, `mapreduce`, `yarn` and `spark`\n",
    ] {
        assert!(shown.contains(part), "{part} is missing in\n{shown}");
    }
    let toml: toml::Table = shown.parse().unwrap();
    assert_eq!(toml["rules"]["fair"]["user_max_jobs"].as_integer(), Some(3));

    let checked = dir.ok(&["site", "show", "S", "--trace", "T"]);
    assert!(checked.contains("# Against the trace:\n#   fair: 12 jobs go to separate pools"), "{checked}");
    let json = dir.json(&["site", "show", "S", "--trace", "T", "--policy", "yarn-fair", "--policy", "fifo", "--json"]);
    assert_eq!(json["findings"]["yarn-fair"][0]["finding"], "wrong-file");
    assert_eq!(json["findings"]["fifo"], json!([]));
    assert_eq!(json["settings"]["cluster"]["nodes"]["map_slots"], 3);
    let slots = json["origins"].as_array().unwrap().iter().find(|one| one["key"] == "nodes.map_slots").unwrap();
    assert_eq!(
        (&slots["policy"], &slots["file"], &slots["line"]),
        (&Value::Null, &json!("mapred-site.xml"), &json!(3))
    );
    dir.run(&["site", "show", "nowhere"]).fails(2, &["nowhere: cannot read the folder"]);
}

/// The jobs of the first queue of a trace whose name the configuration has spelt otherwise go to another queue: that is said.
#[test]
fn a_queue_that_the_site_does_not_know_is_said() {
    let dir = Dir::new();
    dir.write("W.toml", TWO_QUEUES);
    dir.write("S/mapred-queues.xml", two_queues(50).replace("adhoc", "ad-hoc"));
    let args = ["replay", "W.toml", "--assume", "--policy", "capacity", "--site-conf", "S", "--out", "R"];
    let reported = dir.run(&args).stderr;
    let lost = "warning: capacity: 1 job goes to queue `root.default`, because the configuration has no rule for its queue: `adhoc`\n";
    let idle = "warning: capacity: no job has a queue of the configuration: `root.ad-hoc`\n";
    assert!(reported.contains(lost) && reported.contains(idle), "{reported}");
    dir.write("s.toml", "name = \"s\"\nworkload = \"W.toml\"\nsite = \"S\"\n[variants.capacity]\n");
    let swept = dir.run(&["sweep", "s.toml", "--out", "A"]).stderr;
    assert!(swept.contains("warning: W.toml: capacity: 1 job goes to queue `root.default`"), "{swept}");
    let plain = dir.run(&["replay", "W.toml", "--assume", "--policy", "capacity", "--out", "R"]).stderr;
    assert!(plain.contains("warning: capacity: its queues are not configured"), "{plain}");
}

/// Hadoop holds the jobs of such a queue, so the setting is no error. Both commands name it, and the replay cannot end.
#[test]
fn a_zero_that_holds_jobs_is_named_with_file_and_line() {
    let dir = Dir::new();
    dir.write("W.toml", TWO_QUEUES);
    let fair = |setting: &str| format!("<allocations>\n<queue name='adhoc'>\n{setting}\n</queue></allocations>");
    let pool = |setting: &str| format!("<allocations>\n<pool name='adhoc'>\n{setting}\n</pool></allocations>");
    let property = |(name, value): (&str, &str)| {
        format!("<property><name>yarn.scheduler.capacity.root.{name}</name><value>{value}</value></property>")
    };
    let capacity = |setting: &str, value: &str| {
        // With a guarantee of 0 and a factor of 1, a user of the queue would get a single container.
        let usual = [("adhoc.capacity", "0"), ("default.capacity", "100"), ("adhoc.user-limit-factor", "9")];
        let queues: String = usual
            .into_iter()
            .filter(|(name, _)| *name != setting)
            .chain([("queues", "default,adhoc")])
            .map(property)
            .collect();
        format!("<configuration>{queues}\n\n{}</configuration>", property((setting, value)))
    };
    let (fair_file, capacity_file) = ("fair-scheduler.xml", "capacity-scheduler.xml");
    for (policy, file, zero, one) in [
        (
            "yarn-fair",
            fair_file,
            fair("<maxRunningApps>0</maxRunningApps>"),
            fair("<maxRunningApps>1</maxRunningApps>"),
        ),
        ("yarn-fair", fair_file, fair("<maxAMShare>0</maxAMShare>"), fair("<maxAMShare>1</maxAMShare>")),
        (
            "yarn-fair",
            fair_file,
            fair("<maxResources>0 mb</maxResources>"),
            fair("<maxResources>99999 mb</maxResources>"),
        ),
        (
            "yarn-capacity",
            capacity_file,
            capacity("adhoc.user-limit-factor", "0"),
            capacity("adhoc.user-limit-factor", "9"),
        ),
        (
            "yarn-capacity",
            capacity_file,
            capacity("adhoc.maximum-capacity", "0"),
            capacity("adhoc.maximum-capacity", "90"),
        ),
        (
            "fair:pools=queue",
            fair_file,
            pool("<maxRunningJobs>0</maxRunningJobs>"),
            pool("<maxRunningJobs>1</maxRunningJobs>"),
        ),
        ("fair:pools=queue", fair_file, pool("<maxMaps>0</maxMaps>"), pool("<maxMaps>1</maxMaps>")),
    ] {
        let _ = std::fs::remove_dir_all(dir.path("S"));
        dir.write(&format!("S/{file}"), &zero);
        let shown = dir.ok(&["site", "show", "S", "--trace", "W.toml", "--policy", policy]);
        let place = format!("is 0 ({file}: line 3); a replay of ");
        assert!(shown.contains(&place), "{shown}");
        let args = ["replay", "W.toml", "--assume", "--policy", policy, "--site-conf", "S", "--out", "R", "--force"];
        let ran = dir.run(&args);
        assert!(ran.code == Some(1) && ran.stderr.contains("warning: ") && ran.stderr.contains(&place), "{ran:?}");
        dir.write(&format!("S/{file}"), &one);
        let ran = dir.run(&args);
        assert!(ran.code == Some(0) && !ran.stderr.contains("is 0"), "{ran:?}");
    }
}

#[test]
fn what_a_site_knows_is_not_fitted() {
    let dir = dir_with(&[("mapred-site.xml", MAPRED_SITE)]);
    let reported = dir.ok(&["calibrate", "T", "--site-conf", "S", "--out", "c.toml"]);
    assert!(reported.contains("nodes.map_slots"), "{reported}");
    let file = dir.read("c.toml");
    assert!(
        file.contains("map_slots = 3 # known: mapred.tasktracker.map.tasks.maximum (mapred-site.xml, line 3)"),
        "{file}"
    );
    assert!(file.contains("# fitted: map_slots = "), "{file}");
    let parsed: toml::Table = file.parse().unwrap();
    assert_eq!(parsed["jobs"]["slowstart"].as_float(), Some(0.5));
    dir.ok(&["replay", "T", "--assume", "--policy", "fifo", "--cluster", "c.toml", "--out", "R"]);
}
