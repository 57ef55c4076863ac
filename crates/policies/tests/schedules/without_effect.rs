//! What of a site has no effect is said by every policy that it bears on, and what the daemon takes is taken.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::sync::Arc;

use resched_policies::{Engine, Input, POLICIES, PolicySpec, SiteConf, Submitter, Submitters};
use resched_tables::validity::{Fact, Grade};

/// What a folder with these files says.
fn read(files: &[(&str, &str)]) -> Result<SiteConf, String> {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    SiteConf::read(dir.path()).map_err(|error| error.to_string().replace(&format!("{}/", dir.path().display()), ""))
}

/// The jobs of ann in the partition or queue `p` and of bob in `q`, all with the QOS `high`.
fn jobs() -> Submitters {
    let job = |queue, user| Submitter { queue, user, group: "a", qos: "high" };
    [job("p", "ann"), job("q", "bob")].into_iter().collect()
}

/// The facts of a policy at a site with these files.
fn facts(policy: &str, files: &[(&str, &str)]) -> Vec<Fact> {
    let version = if policy.starts_with("slurm") { "24.11.5" } else { "3.4.1" };
    facts_with_log(policy, files, Some(version))
}

/// The same for the log of a scheduler of this version.
fn facts_with_log(policy: &str, files: &[(&str, &str)], version: Option<&str>) -> Vec<Fact> {
    let site = Arc::new(read(files).unwrap().site.with_log_version(version));
    let policy = PolicySpec::parse(policy).unwrap().at_site(&site).unwrap();
    policy.without_effect(&Input::of_site(&site, &jobs())).unwrap()
}

fn says(policy: &str, files: &[(&str, &str)]) -> String {
    let mut facts = facts(policy, files);
    facts.retain(|fact| fact.grade > Grade::Measured);
    assert!(facts.iter().all(|fact| fact.grade == Grade::Assumed && !fact.remedy.is_empty()), "{facts:?}");
    facts.into_iter().map(|fact| fact.says + "\n").collect()
}

fn configuration(properties: &[(&str, &str)]) -> String {
    let property =
        |(name, value): &(&str, &str)| format!("<property><name>{name}</name><value>{value}</value></property>\n");
    format!("<configuration>\n{}</configuration>", properties.iter().map(property).collect::<String>())
}

const NODES: &str = "NodeName=n[0-3] CPUs=4\nPartitionName=p Nodes=n[0-1]\nPartitionName=q Nodes=n[2-3]\n";
const ONE: &str = "NodeName=n[0-3] CPUs=4\nPartitionName=p Nodes=ALL\nPartitionName=q Nodes=ALL\n";
const QOS: &str = "Name|Priority|MaxJobsPU\nhigh|10|2\n";
const DUMP: &str = "Cluster - 'x':\nParent - 'root'\nAccount - 'a':Fairshare=3\n";

#[test]
fn a_policy_that_drops_rules_of_the_site_names_them() {
    let conf = format!(
        "{NODES}PriorityType=priority/multifactor\nPriorityWeightAge=5\nPriorityWeightFairShare=7\nPreemptType=preempt/qos\n\
         AccountingStorageEnforce=limits\n"
    );
    let files = [("slurm.conf", conf.as_str()), ("qos.txt", QOS), ("sacctmgr.cfg", DUMP)];
    assert_eq!(says("slurm", &files), "");
    for policy in ["easy", "conservative", "batch-fifo", "batch-drf"] {
        let found = says(policy, &files);
        for rule in ["partitions", "limits of QOS", "priorities", "shares of accounts", "preemption"] {
            assert!(found.contains(rule), "{policy}: {rule}: {found}");
        }
        assert!(found.contains("the change is not") || found.contains("is not the policy's alone"), "{found}");
    }
    let remedy = &facts("easy", &files)[0].remedy;
    assert!(remedy.contains("slurm"), "{remedy}");
    let at_one = says("easy", &[("slurm.conf", ONE)]);
    assert!(!at_one.contains("partitions"), "all jobs may use all machines there: {at_one}");
    assert!(at_one.starts_with("easy knows no cycles of Slurm's scheduler"), "{at_one}");
}

#[test]
fn queues_of_another_scheduler_are_not_the_policys() {
    let text = configuration(&[
        ("yarn.scheduler.capacity.root.queues", "p,q"),
        ("yarn.scheduler.capacity.root.p.capacity", "10"),
        ("yarn.scheduler.capacity.root.q.capacity", "90"),
    ]);
    let files = [("capacity-scheduler.xml", text.as_str())];
    assert_eq!(says("yarn-capacity", &files), "");
    assert_eq!(says("yarn-fifo", &files), "", "that it has no queues is the scheduler itself");
    assert!(says("yarn-fair", &files).contains("knows no queues of the Capacity Scheduler"));
    assert!(says("batch-fifo", &files).contains("knows no queues of the Capacity Scheduler"));
    let both = [files[0], ("fair-scheduler.xml", "<allocations><queue name=\"p\"/><queue name=\"q\"/></allocations>")];
    assert_eq!(says("yarn-fair", &both), "");
}

/// DIFF of both versions: what holds without a line depends on the version.
#[test]
fn a_version_of_slurm_that_nobody_says_is_a_fact() {
    let of = |policy: &str, text: &str, version: Option<&str>| {
        let conf = format!("{ONE}SelectType=select/cons_tres\n{text}");
        let facts = facts_with_log(policy, &[("slurm.conf", &conf)], version);
        facts.into_iter().map(|fact| (fact.grade, fact.says + &fact.remedy)).collect::<Vec<_>>()
    };
    let found = of("slurm", "", None);
    let [(Grade::Assumed, says)] = &found[..] else { panic!("{found:?}") };
    assert!(says.contains("version of Slurm") && says.contains("24.11") && says.contains("`version=22.05`"), "{says}");
    for known in ["slurm:version=22.05", "slurm:version=24.11"] {
        assert_eq!(of(known, "", None), []);
    }
    for text in ["SLURM_VERSION=22.05.8\n", "PreemptParameters=youngest_first\n", "LaunchType=launch/slurm\n"] {
        assert_eq!(of("slurm", text, None), [], "{text}");
    }
    assert_eq!(of("slurm", "", Some("22.05.8")), []);
    let between = of("slurm", "", Some("23.11.4"));
    assert!(between[0].1.contains("23.11 were not looked up, so those of 22.05"), "{between:?}");
}

#[test]
fn defaults_of_a_version_that_a_site_leaves_out_are_said() {
    let of = |policy: &str, text: &str, version: Option<&str>| {
        let facts = facts_with_log(policy, &[("slurm.conf", &format!("{ONE}{text}"))], version);
        facts.into_iter().map(|fact| format!("{:?} {}", fact.grade, fact.says)).collect::<Vec<_>>().join("\n")
    };
    let weights = "SelectType=select/cons_tres\nPriorityWeightAge=1000\n";
    for (version, word) in [
        ("22.05.8", "22.05 is taken, basic"),
        ("23.11.1", "23.11 is taken, multifactor"),
        ("24.11.5", "24.11 is taken, multifactor"),
    ] {
        let found = of("slurm", weights, Some(version));
        assert!(found.contains(word) && found.contains("Measured slurm: `slurm.conf` has weights"), "{found}");
    }
    assert!(of("slurm", weights, None).contains("Assumed slurm: `slurm.conf` has weights"));
    assert!(of("slurm:version=22.05", weights, Some("24.11.5")).contains("22.05 is taken, basic"));
    let found = of("slurm", "PriorityWeightAge=0\n", Some("22.05.8"));
    assert!(found.contains("Measured") && found.contains("`linear`") && !found.contains("PriorityType"), "{found}");
    assert!(of("slurm", "", Some("24.11.5")).contains("`cons_tres`"));
    assert!(!of("easy", "", Some("24.11.5")).contains("SelectType"));
}

#[test]
fn a_version_that_nobody_says_is_a_fact() {
    let says = |policy: &str, version: Option<&str>, text: &str| -> Vec<String> {
        let files = [("yarn-site.xml", text)];
        let site = Arc::new(read(&files).unwrap().site.with_log_version(version));
        let policy = PolicySpec::parse(policy).unwrap().at_site(&site).unwrap();
        let facts = policy.without_effect(&Input::of_site(&site, &jobs())).unwrap();
        facts.into_iter().map(|fact| fact.says + &fact.remedy).collect()
    };
    let nothing = configuration(&[]);
    for policy in ["yarn-capacity", "yarn-fair"] {
        let found = says(policy, None, &nothing).concat();
        assert!(
            found.contains("version of YARN") && found.contains("Hadoop 3.4") && found.contains("rules=2014"),
            "{found}"
        );
        assert_eq!(says(&format!("{policy}:rules=2014"), None, &nothing), [""; 0]);
        for version in ["2.7.3", "3.4.1"] {
            assert_eq!(says(policy, Some(version), &nothing), [""; 0]);
        }
    }
    let new = [
        ("yarn-capacity", "yarn.scheduler.capacity.rack-locality-additional-delay"),
        ("yarn-fair", "yarn.scheduler.fair.reservable-nodes"),
    ];
    for (policy, property) in new {
        assert_eq!(says(policy, None, &configuration(&[(property, "1")])), [""; 0]);
    }
}

#[test]
fn shares_of_vcores_that_do_not_add_up_are_said() {
    let of = |q: &str| {
        let text = configuration(&[
            ("yarn.scheduler.capacity.root.queues", "p,q"),
            ("yarn.scheduler.capacity.root.p.capacity", "[memory=25%,vcores=25%]"),
            ("yarn.scheduler.capacity.root.q.capacity", q),
        ]);
        says("yarn-capacity", &[("capacity-scheduler.xml", &text)])
    };
    let found = of("[memory=75%,vcores=50%]");
    assert!(found.contains("shares of vcores of the queues below `root`") && found.contains("100 %"), "{found}");
    assert_eq!(of("[memory=75%,vcores=75%]"), "");
}

#[test]
fn limits_that_slurm_enforces_and_no_file_gives_are_said() {
    let conf = format!("{ONE}AccountingStorageEnforce=associations,limits,qos\n");
    let found = says("slurm", &[("slurm.conf", &conf)]);
    assert!(found.contains("limits that no file gives") && found.contains("qos.txt"), "{found}");
    assert!(found.contains("sacctmgr.cfg") && found.contains("slurm.conf, line 4"), "{found}");
    let given = [("slurm.conf", conf.as_str()), ("qos.txt", QOS), ("sacctmgr.cfg", DUMP)];
    assert_eq!(says("slurm", &given), "");
    let of_partition = conf.replace("q Nodes=ALL", "q Nodes=ALL QOS=part");
    let found = says("slurm", &[("slurm.conf", &of_partition), given[1], given[2]]);
    assert!(found.contains("does not have the QOS `part`"), "{found}");
    assert_eq!(says("slurm", &[("slurm.conf", ONE)]), "");
}

#[test]
fn weights_that_lack_what_they_weigh_are_said() {
    let conf = format!("{ONE}PriorityType=priority/multifactor\nPriorityWeightQOS=10\nPriorityWeightFairshare=2000\n");
    let site = [("slurm.conf", conf.as_str())];
    assert!(says("slurm", &site).contains("the numbers of the log stand"), "{}", says("slurm", &site));
    for set in ["slurm:priority=multifactor", "slurm:weight_job_size=5000", "slurm:weight_qos=10"] {
        let found = says(set, &site);
        assert!(!found.contains("numbers of the log"), "{set}: {found}");
        assert!(found.contains("priorities of QOS") && found.contains("equal shares"), "{set}: {found}");
    }
    let given = [site[0], ("qos.txt", QOS), ("sacctmgr.cfg", DUMP)];
    assert_eq!(says("slurm:weight_age=1", &given), "");
}

#[test]
fn parameters_that_do_nothing_are_said() {
    for (policy, expected) in [
        ("slurm:priority=basic,weight_age=5", "`weight_age` has no effect, because priorities are not computed"),
        ("slurm:priority=logged,max_age=5000", "`max_age` has no effect"),
        (
            "slurm:priority=multifactor,weight_age=1,half_life=0",
            "`half_life` has no effect, because `weight_fair_share` is 0",
        ),
        ("slurm:scheduler=builtin,bf_interval=5000,reservations=1", "`bf_interval`, `reservations` has no effect"),
        ("slurm:preempt_mode=requeue", "`preempt_mode` has no effect with `preempt=none`"),
        ("slurm:preempt=qos,preempt_mode=requeue", "no file says which QOS"),
    ] {
        let found = says(policy, &[("slurm.conf", ONE)]);
        assert!(found.contains(expected), "{policy}: {found}");
    }
    for policy in
        ["slurm", "slurm:weight_age=5", "slurm:bf_interval=5000", "slurm:preempt=partition_prio,preempt_mode=cancel"]
    {
        assert_eq!(says(policy, &[("slurm.conf", ONE)]), "", "{policy}");
    }
}

#[test]
fn a_setting_that_is_not_replayed_is_a_fact_only_if_it_could_matter() {
    let with = |line: &str| says("slurm", &[("slurm.conf", &format!("{ONE}{line}\n"))]);
    assert!(with("CompleteWait=30").contains("`CompleteWait` (slurm.conf, line 4: "));
    assert!(with("TopologyPlugin=topology/tree").contains("`TopologyPlugin`"));
    for line in [
        "CompleteWait=0",
        "KillWait=60",
        "SchedulerParameters=bf_continue",
        "PriorityWeightTRES=cpu=5",
        "SuspendRate=9",
    ] {
        assert_eq!(with(line), "", "{line}");
    }
    let found = with("PriorityType=priority/multifactor\nPriorityWeightAge=1\nPriorityWeightTRES=cpu=5");
    assert!(found.contains("`PriorityWeightTRES.cpu`"), "{found}");
    let others = says("easy", &[("slurm.conf", &format!("{ONE}CompleteWait=30\n"))]);
    assert!(!others.contains("CompleteWait"), "it is a setting of another scheduler: {others}");
}

/// A setting that no list has could matter, whatever file it is in.
#[test]
fn a_setting_that_nobody_knows_is_a_fact() {
    let xml = configuration(&[("yarn.tomorrow", "1"), ("dfs.replication", "3"), ("yarn.acl.enable", "true")]);
    let slurm = format!("{ONE}SlurmctldPort=6817\nBackpressureMode=strict\n");
    for (policy, file, text, name, place) in [
        ("yarn-capacity", "yarn-site.xml", xml.as_str(), "yarn.tomorrow", "line 2"),
        ("spark", "spark-defaults.conf", "spark.ui.port 1\nspark.tomorrow 1\n", "spark.tomorrow", "line 2"),
        ("slurm", "slurm.conf", slurm.as_str(), "BackpressureMode", "line 5"),
    ] {
        let found = says(policy, &[(file, text)]);
        let expected =
            format!("1 setting of the site has no effect and may change the schedule: `{name}` ({file}, {place}: ");
        assert!(found.contains(&expected) && found.contains("resched does not know it"), "{policy}: {found}");
    }
    let many: Vec<String> = (0..200).map(|number| format!("yarn.tomorrow.n{number}")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "1")).collect();
    let found = says("yarn-capacity", &[("yarn-site.xml", &configuration(&many))]);
    assert_eq!(found.matches("`yarn.tomorrow").count(), 3, "{found}");
    assert!(found.contains("200 settings of the site") && found.contains("and 197 more"), "{found}");
}

#[test]
fn backups_that_the_site_makes_need_a_speculator() {
    let text = configuration(&[("mapreduce.map.speculative", "true")]);
    let files = [("mapred-site.xml", text.as_str())];
    assert!(says("fifo", &files).contains("`mapreduce.map.speculative`"));
    assert_eq!(says("fifo+hadoop-late", &files), "");
}

/// Issue: every input is looked at by some policy, and every policy says which it looks at.
#[test]
fn each_input_is_understood_by_some_policy() {
    for input in Input::ALL {
        assert!(POLICIES.iter().any(|info| input.is_understood_by(info)), "{input:?}");
        assert!(!input.noun().is_empty());
    }
    let unique: BTreeSet<&str> = Input::ALL.iter().map(|input| input.noun()).collect();
    assert_eq!(unique.len(), Input::ALL.len());
    // A site is for one system: no policy of Hadoop looks at Slurm's rules.
    let slurms = [Input::Partitions, Input::Limits, Input::PriorityWeights];
    let hadoop = POLICIES.iter().filter(|info| info.engine() == Engine::Hadoop);
    assert!(hadoop.into_iter().all(|info| slurms.iter().all(|input| !input.is_understood_by(info))));
}

// What the daemon takes is taken.

#[test]
fn capacities_are_read_in_each_form() {
    let of = |p: &str, q: &str| {
        let text = configuration(&[
            ("yarn.scheduler.capacity.root.queues", "p,q"),
            ("yarn.scheduler.capacity.root.p.capacity", p),
            ("yarn.scheduler.capacity.root.q.capacity", q),
        ]);
        let conf = read(&[("capacity-scheduler.xml", &text)]).unwrap();
        let queues = conf.site.yarn_queues.unwrap();
        let settings = ["p", "q"].map(|name| queues.get(queues.find(name).unwrap()).settings.clone());
        (settings, conf.warnings)
    };
    let ([p, q], warnings) = of("1w", "9w");
    assert_eq!((p.weight, q.weight, warnings.len()), (Some(1.0), Some(9.0), 0));
    let ([p, q], warnings) = of("[memory=10240,vcores=12]", "[memory=30Gi, vcores=36]");
    assert_eq!((p.memory_mb, p.vcores, q.memory_mb, warnings.len()), (Some(10_240), Some(12), Some(30_720), 0));
    let ([p, q], warnings) = of("[memory=25%,vcores=25%]", "[memory=75%,vcores=50%]");
    assert_eq!((p.capacity, q.capacity), (Some(25.0), Some(75.0)));
    assert_eq!((p.vcores_capacity, q.vcores_capacity, warnings.len()), (None, Some(50.0), 0));
    let ([p, _], warnings) = of("[memory=1024,vcores=1,yarn.io/gpu=2]", "1w");
    assert_eq!((p.resources.get("yarn.io/gpu"), warnings.len()), (Some(&2), 0));
    let (_, warnings) = of("[memory=25%,vcores=25%,yarn.io/gpu=50%]", "[memory=75%,vcores=75%]");
    assert!(warnings[0].contains("`yarn.io/gpu`"), "{warnings:?}");
}

#[test]
fn shares_of_the_cluster_limit_queues_of_the_fair_scheduler() {
    let of = |text: &str| {
        let file = format!("<allocations><queue name=\"p\"><maxResources>{text}</maxResources></queue></allocations>");
        let conf = read(&[("fair-scheduler.xml", &file)]).unwrap();
        let queues = conf.site.yarn_fair.unwrap();
        assert!(conf.warnings.is_empty(), "{:?}", conf.warnings);
        let settings = queues.get(queues.find("p").unwrap()).settings.clone();
        (settings.max_memory_share, settings.max_vcores_share, settings.max_memory_mb, settings.max_vcores)
    };
    assert_eq!(of("50%"), (Some(0.5), Some(0.5), None, None));
    assert_eq!(of("50% memory, 40% cpu"), (Some(0.5), Some(0.4), None, None));
    assert_eq!(of("vcores=40%, memory-mb=50%"), (Some(0.5), Some(0.4), None, None));
    assert_eq!(of("2048 mb, 4 vcores"), (None, None, Some(2_048), Some(4)));
}

#[test]
fn values_that_hadoop_takes_are_taken() {
    let fair = "<allocations><queue name=\"a\"><maxAMShare>0.5f</maxAMShare><weight>2.0f</weight></queue>\
                <defaultFairSharePreemptionThreshold>0.5f</defaultFairSharePreemptionThreshold></allocations>";
    let conf = read(&[("fair-scheduler.xml", fair)]).unwrap();
    let queues = conf.site.yarn_fair.unwrap();
    let settings = queues.get(queues.find("a").unwrap()).settings.clone();
    assert_eq!((settings.weight, settings.max_am_share, conf.warnings.len()), (2.0, Some(0.5), 0));
    let text = configuration(&[
        ("yarn.scheduler.capacity.root.queues", "a"),
        ("yarn.scheduler.capacity.root.a.capacity", "100"),
        ("yarn.scheduler.capacity.maximum-am-resource-percent", "10"),
        ("yarn.scheduler.capacity.root.a.maximum-am-resource-percent", "10"),
    ]);
    let conf = read(&[("capacity-scheduler.xml", &text)]).unwrap();
    assert_eq!(conf.site.parameters[&("yarn-capacity", "am_share")], "1");
    assert_eq!(conf.warnings.len(), 2, "{:?}", conf.warnings);
    assert!(conf.site.unread.iter().all(|setting| !setting.bears && setting.why.contains("no limit of their own")));
}

#[test]
fn an_allocation_file_under_another_name_is_read() {
    let text = configuration(&[
        ("yarn.scheduler.fair.allocation.file", "/etc/hadoop/mine.xml"),
        ("yarn.scheduler.fair.preemption", "true"),
    ]);
    let allocations = "<allocations><queue name=\"q1\"><weight>0.25</weight></queue></allocations>";
    for file in ["fair-scheduler.xml", "yarn-site.xml"] {
        let conf = read(&[(file, &text), ("mine.xml", allocations)]).unwrap();
        assert!(conf.site.yarn_fair.unwrap().find("q1").is_some(), "{file}");
        assert_eq!(conf.site.parameters[&("yarn-fair", "preemption")], "true");
        assert!(conf.files.contains_key("mine.xml") && conf.warnings.is_empty(), "{:?}", conf.warnings);
    }
    let missing = read(&[("yarn-site.xml", &text)]).unwrap();
    assert!(
        missing.site.unread.iter().any(|setting| setting.bears && setting.why.contains("copy `/etc/hadoop/mine.xml`"))
    );
}

#[test]
fn hadoops_defaults_are_not_listed() {
    let text = configuration(&[
        ("yarn.scheduler.capacity.maximum-applications", "10000"),
        ("yarn.scheduler.capacity.root.queues", "default"),
        ("yarn.scheduler.capacity.root.default.capacity", "100"),
        ("yarn.scheduler.capacity.root.default.state", "RUNNING"),
        ("yarn.scheduler.capacity.root.default.acl_submit_applications", "*"),
        ("yarn.scheduler.capacity.root.default.maximum-application-lifetime", "-1"),
        ("yarn.scheduler.capacity.rack-locality-additional-delay", "-1"),
        ("yarn.scheduler.capacity.per-node-heartbeat.maximum-offswitch-assignments", "1"),
        ("yarn.scheduler.capacity.application.fail-fast", "false"),
        ("yarn.scheduler.capacity.queue-mappings-override.enable", "false"),
    ]);
    let conf = read(&[("capacity-scheduler.xml", &text)]).unwrap();
    assert_eq!(conf.warnings, [""; 0]);
    let other = text.replace(">10000<", ">50<").replace("<value>1</value>", "<value>4</value>");
    let conf = read(&[("capacity-scheduler.xml", &other)]).unwrap();
    assert_eq!(conf.site.unread.iter().filter(|setting| setting.bears).count(), 1, "{:?}", conf.warnings);
    assert_eq!(conf.site.parameters[&("yarn-capacity", "most_far_per_heartbeat")], "4");
}

#[test]
fn a_partition_of_unknown_nodes_is_refused_as_slurmctld_does() {
    let error = read(&[("slurm.conf", "NodeName=n[01-04] CPUs=4\nPartitionName=p Nodes=n[1-2]\n")]).unwrap_err();
    assert!(error.contains("slurm.conf: line 2: Nodes") && error.contains("`n1`"), "{error}");
    let future = "NodeName=n[1-2] CPUs=4\nNodeName=n[3-4] CPUs=4 State=FUTURE\nPartitionName=p Nodes=n[1-4]\n";
    assert!(read(&[("slurm.conf", future)]).is_ok());
    assert!(read(&[("slurm.conf", "PartitionName=p Nodes=n[1-2]\n")]).is_ok(), "no file describes nodes");
}

#[test]
fn one_foreign_line_does_not_stop_a_site() {
    let dump = "# a comment\nQOS - 'normal':Priority=0\nQOS - 'high':Priority=100:MaxWall=60:GrpTRES=cpu=64\nCluster - 'x':\nParent - 'root'\n\
                User - 'root':DefaultAccount='root':Fairshare=1\nAccount - 'bio':Fairshare=x:MaxJobs=3\nWhat - 'is':this\nnothing at all\n\
                Parent - 'bio'\nUser - 'adam':MaxJobsAccrue=5:MaxJobs=5\n";
    let conf = read(&[("slurm.conf", ONE), ("sacctmgr.cfg", dump)]).unwrap();
    let slurm = conf.site.slurm.as_ref().unwrap();
    assert_eq!(slurm.qos["high"].priority, 100);
    assert_eq!(slurm.associations.iter().filter(|setting| setting.user.is_some()).count(), 2);
    for said in ["line 7: `Fairshare`", "line 8: `the line`", "line 9: `the line`"] {
        assert!(conf.warnings.iter().any(|warning| warning.contains(said)), "{said}: {:?}", conf.warnings);
    }
    let qos = "sacctmgr: a warning\nName|Priority\nhigh|10\nlow|many\nodd|1|2\n";
    let reservations = "ReservationName=r StartTime=2026-01-01T00:00:00 EndTime=2026-01-02T00:00:00 Nodes=n0\n\
                        ReservationName=s StartTime=soon EndTime=later Nodes=n1\n";
    let options = format!("{ONE}SchedulerParameters==bf_interval=20,bf_window=soon,max_job_bf=7\n");
    let files = [("slurm.conf", options.as_str()), ("qos.txt", qos), ("reservations.txt", reservations)];
    let conf = read(&files).unwrap();
    let slurm = conf.site.slurm.as_ref().unwrap();
    assert_eq!((slurm.qos["high"].priority, slurm.qos.len(), slurm.reservations.len()), (10, 2, 1));
    let parameter = |key| conf.site.parameters.get(&("slurm", key)).map(String::as_str);
    let found = [parameter("bf_interval"), parameter("bf_window"), parameter("bf_max_job_test")];
    assert_eq!(found, [Some("20000"), None, Some("7")]);
    for said in
        ["qos.txt: line 1", "qos.txt: line 4", "qos.txt: line 5", "reservations.txt: line 2", "`bf_window=soon`"]
    {
        assert!(conf.warnings.iter().any(|warning| warning.contains(said)), "{said}: {:?}", conf.warnings);
    }
}

#[test]
fn a_file_from_elsewhere_is_read_beside_the_one_that_includes_it() {
    let files = [
        ("slurm.conf", "include /opt/slurm/etc/x.conf\n"),
        ("x.conf", "NodeName=n1 CPUs=4\nPartitionName=p Nodes=ALL\n"),
    ];
    let conf = read(&files).unwrap();
    assert_eq!(conf.site.slurm.unwrap().partitions.len(), 1);
    assert!(read(&files[..1]).unwrap_err().contains("one that lies here under the same name"));
}
