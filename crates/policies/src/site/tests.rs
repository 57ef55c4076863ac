//! Folders of configuration files, good and bad.

use std::path::Path;
use std::sync::Arc;

use super::hadoop_names::HADOOP;
use super::spark_names::SPARK;
use super::*;
use crate::parameter::Range;
use crate::queues::allocations::{PoolConfig, PoolMode};
use crate::queues::yarn_capacity::Order;
use crate::queues::yarn_fair::SharePolicy;
use crate::spec::PolicySpec;

/// What a folder with these files says.
fn read(files: &[(&str, &str)]) -> Result<SiteConf, String> {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    SiteConf::read(dir.path()).map_err(|error| error.to_string().replace(&format!("{}/", dir.path().display()), ""))
}

/// Properties as a file has them, a line each from line 2.
fn configuration(properties: &[(&str, &str)]) -> String {
    let property =
        |(name, value): &(&str, &str)| format!("<property><name>{name}</name><value>{value}</value></property>\n");
    format!("<configuration>\n{}</configuration>", properties.iter().map(property).collect::<String>())
}

/// What a `mapred-site.xml` with these properties says.
fn mapred_site(properties: &[(&str, &str)]) -> Result<SiteConf, String> {
    read(&[("mapred-site.xml", &configuration(properties))])
}

const POOLS: &str = "<?xml version=\"1.0\"?>
<allocations>
  <pool name=\"etl\">
    <minMaps>20</minMaps> <minReduces>4</minReduces> <maxMaps> 60 </maxMaps> <maxReduces>12</maxReduces>
    <weight>2.5</weight> <maxRunningJobs>3</maxRunningJobs> <schedulingMode>FIFO</schedulingMode>
    <minSharePreemptionTimeout>120</minSharePreemptionTimeout>
  </pool>
  <pool name=\"adhoc\"/>
  <user name=\"ann\"><maxRunningJobs>9</maxRunningJobs></user>
  <userMaxJobsDefault>2</userMaxJobsDefault>
  <poolMaxJobsDefault>7</poolMaxJobsDefault>
  <defaultPoolSchedulingMode>fifo</defaultPoolSchedulingMode>
  <fairSharePreemptionTimeout>600</fairSharePreemptionTimeout>
  <defaultMinSharePreemptionTimeout>300</defaultMinSharePreemptionTimeout>
</allocations>";

#[test]
fn pools_users_and_defaults_of_an_allocation_file() {
    let conf = read(&[("fair-scheduler.xml", POOLS)]).unwrap();
    assert_eq!(conf.warnings, [""; 0]);
    let pools = conf.site.pools.unwrap();
    let etl = PoolConfig {
        min_maps: 20,
        min_reduces: 4,
        max_maps: Some(60),
        max_reduces: Some(12),
        weight: 2.5,
        max_jobs: Some(3),
        mode: PoolMode::Fifo,
        min_share_timeout: Some(120_000),
    };
    assert_eq!(pools.pools["etl"], etl);
    let unnamed = PoolConfig { max_jobs: Some(7), mode: PoolMode::Fifo, ..PoolConfig::default() };
    assert_eq!((pools.pool("adhoc"), pools.pool("other")), (&unnamed, &unnamed));
    assert_eq!((pools.jobs_of_user("ann"), pools.jobs_of_user("bob")), (Some(9), Some(2)));
    assert_eq!((pools.fair_share_timeout, pools.min_share_timeout), (Some(600_000), Some(300_000)));
}

#[test]
fn what_has_no_effect_is_named_with_its_line() {
    let pools =
        "<allocations>\n<pool name='a'>\n<minMapz>3</minMapz>\n</pool>\n<user name='u'><x/></user>\n<y/></allocations>";
    let properties = configuration(&[
        ("mapred.fairscheduler.preemtion", "true"),
        ("mapreduce.map.speculative", "true"),
        ("io.sort.mb", "100"),
        ("mapred.fairscheduler.locality.delay", "${delay}"),
        ("mapred.fairscheduler.poolnameproperty", "group.name"),
        ("mapred.fairscheduler.allocation.file", "/etc/hadoop/pools.xml"),
    ]);
    let conf = read(&[("fair-scheduler.xml", pools), ("mapred-site.xml", &properties)]).unwrap();
    assert_eq!(
        conf.warnings,
        [
            "fair-scheduler.xml: line 3: `<minMapz>` is not supported: resched does not know it",
            "fair-scheduler.xml: line 5: `<x>` is not supported: resched does not know it",
            "fair-scheduler.xml: line 6: `<y>` is not supported: resched does not know it",
            "mapred-site.xml: line 2: `mapred.fairscheduler.preemtion` is not supported: resched does not know it; \
             did you mean `mapred.fairscheduler.preemption`?",
            "mapred-site.xml: line 3: `mapreduce.map.speculative` is not supported: `--policy <policy>+<speculator>` says \
             whether slow tasks get backups",
            "mapred-site.xml: line 5: `mapred.fairscheduler.locality.delay` is not supported: `${delay}` refers to another \
             property; put the value itself",
            "mapred-site.xml: line 6: `mapred.fairscheduler.poolnameproperty` is not supported: resched has nothing like \
             `group.name`",
            "mapred-site.xml: line 7: `mapred.fairscheduler.allocation.file` is not supported: copy \
             `/etc/hadoop/pools.xml` to this folder as fair-scheduler.xml",
        ]
    );
    assert!(conf.site.parameters.is_empty());
}

/// By construction: a property that no policy reads and no list has is reported, and bears on the schedule, whatever it is called.
#[test]
fn a_property_that_no_list_has_is_reported() {
    for name in [
        "mapred.jobtracker.tomorrow",
        "mapreduce.job.tomorrow",
        "yarn.tomorrow",
        "yarn.nodemanager.tomorrow",
        "yarn.resourcemanager.tomorrow.enable",
        "yarn.scheduler.capacity.tomorrow",
        "yarn.scheduler.fair.tomorrow",
        "yran.scheduler.minimum-allocation-mb",
        "spark.tomorrow",
        "spark.yarn.tomorrow",
        "spark.dynamicAllocation.tomorrow",
    ] {
        let conf = match name.strip_prefix("spark.") {
            Some(_) => read(&[("spark-defaults.conf", &format!("# first\n{name} 5\n"))]),
            None => read(&[("yarn-site.xml", &configuration(&[(name, "5")]))]),
        };
        let conf = conf.unwrap();
        let [setting] = &conf.site.unread[..] else { panic!("{name}: {:?}", conf.warnings) };
        assert_eq!((setting.setting.as_str(), setting.line, setting.bears), (name, 2, true));
        assert!(setting.why.starts_with("resched does not know it"), "{name}: {}", setting.why);
        assert!(conf.beside.is_empty(), "{name}: {:?}", conf.beside);
    }
    let near = mapred_site(&[("mapreduce.map.memory.mbs", "5")]).unwrap().warnings;
    assert!(near[0].ends_with("did you mean `mapreduce.map.memory.mb`?"), "{near:?}");
    let known = mapred_site(&[("mapreduce.job.running.map.limit", "5"), ("mapreduce.job.running.reduce.limit", "0")]);
    let limited = "mapred-site.xml: line 2: `mapreduce.job.running.map.limit` is not supported: no policy limits the running tasks of a job";
    assert_eq!(known.unwrap().warnings, [limited], "0 is what Hadoop does anyway");
}

/// The same in the files that are no lists of properties: elements, keys, columns and fields.
#[test]
fn what_no_reader_of_rules_knows_is_reported() {
    let conf = ("slurm.conf", "NodeName=n1 CPUs=4\nPartitionName=p Nodes=n1\n");
    for (file, text, name) in [
        (
            "fair-scheduler.xml",
            "<allocations>\n<pool name='a'><tomorrow>1</tomorrow></pool></allocations>",
            "<tomorrow>",
        ),
        (
            "fair-scheduler.xml",
            "<allocations>\n<queue name='a'><tomorrow>1</tomorrow></queue></allocations>",
            "<tomorrow>",
        ),
        ("fair-scheduler.xml", "<allocations><queue name='a'/>\n<tomorrow>1</tomorrow></allocations>", "<tomorrow>"),
        (
            "fairscheduler.xml",
            "<allocations>\n<pool name='a'><tomorrow>1</tomorrow></pool></allocations>",
            "<tomorrow>",
        ),
        ("mapred-queues.xml", "<queues><queue><name>a</name>\n<tomorrow>1</tomorrow></queue></queues>", "<tomorrow>"),
        (
            "mapred-queues.xml",
            "<queues><queue><name>a</name>\n<properties><property key='tomorrow' value='1'/></properties></queue></queues>",
            "tomorrow",
        ),
        ("qos.txt", "Name|Priority|Tomorrow\nhigh|1|5\n", "Tomorrow"),
        ("associations.txt", "Account|User|Share|Tomorrow\nroot||1|5\n", "Tomorrow"),
        ("sacctmgr.cfg", "Cluster - 'x':\nParent - 'root'\nAccount - 'a':Tomorrow=5\n", "Tomorrow"),
        (
            "reservations.txt",
            "\nReservationName=r StartTime=2026-01-01T00:00:00 EndTime=2026-01-02T00:00:00 Nodes=n1 Tomorrow=5\n",
            "Tomorrow",
        ),
    ] {
        let read = read(&[conf, (file, text)]).unwrap();
        let unknown = read.site.unread.iter().find(|found| found.setting == name && found.bears);
        assert!(unknown.is_some_and(|setting| setting.file == file && setting.line > 0), "{file}: {:?}", read.warnings);
    }
}

/// The properties of a usual site, most of them as installers write them.
#[test]
fn the_files_of_a_usual_hadoop_site_report_nothing_needless() {
    let yarn = "yarn.acl.enable yarn.admin.acl yarn.application.classpath yarn.client.nodemanager-connect.max-wait-ms \
        yarn.http.policy yarn.log-aggregation-enable yarn.log-aggregation.retain-seconds yarn.log.server.url \
        yarn.log.server.web-service.url yarn.nodemanager.address yarn.nodemanager.admin-env yarn.nodemanager.aux-services \
        yarn.nodemanager.aux-services.mapreduce_shuffle.class yarn.nodemanager.bind-host \
        yarn.nodemanager.container-executor.class yarn.nodemanager.container-metrics.unregister-delay-ms \
        yarn.nodemanager.container-monitor.interval-ms yarn.nodemanager.delete.debug-delay-sec \
        yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage \
        yarn.nodemanager.disk-health-checker.min-healthy-disks yarn.nodemanager.health-checker.interval-ms \
        yarn.nodemanager.keytab yarn.nodemanager.linux-container-executor.cgroups.hierarchy \
        yarn.nodemanager.linux-container-executor.group yarn.nodemanager.local-dirs yarn.nodemanager.log-dirs \
        yarn.nodemanager.log.retain-seconds yarn.nodemanager.node-labels.provider yarn.nodemanager.principal \
        yarn.nodemanager.recovery.enabled yarn.nodemanager.remote-app-log-dir yarn.nodemanager.resource-monitor.interval-ms \
        yarn.nodemanager.resource.percentage-physical-cpu-limit yarn.nodemanager.vmem-check-enabled \
        yarn.nodemanager.pmem-check-enabled yarn.nodemanager.vmem-pmem-ratio yarn.nodemanager.webapp.https.address \
        yarn.node-labels.fs-store.root-dir yarn.resourcemanager.address yarn.resourcemanager.address.rm1 \
        yarn.resourcemanager.admin.address yarn.resourcemanager.am.max-attempts yarn.resourcemanager.bind-host \
        yarn.resourcemanager.cluster-id yarn.resourcemanager.connect.retry-interval.ms yarn.resourcemanager.ha.enabled \
        yarn.resourcemanager.ha.rm-ids yarn.resourcemanager.hostname yarn.resourcemanager.hostname.rm1 \
        yarn.resourcemanager.nodes.exclude-path yarn.resourcemanager.principal yarn.resourcemanager.proxy-user-privileges.enabled \
        yarn.resourcemanager.recovery.enabled yarn.resourcemanager.resource-tracker.address \
        yarn.resourcemanager.scheduler.address yarn.resourcemanager.state-store.max-completed-applications \
        yarn.resourcemanager.store.class yarn.resourcemanager.system-metrics-publisher.enabled \
        yarn.resourcemanager.webapp.address yarn.resourcemanager.webapp.delegation-token-auth-filter.enabled \
        yarn.resourcemanager.work-preserving-recovery.enabled yarn.resourcemanager.zk-address yarn.resourcemanager.zk-acl \
        yarn.timeline-service.enabled yarn.timeline-service.webapp.address yarn.webapp.ui2.enable yarn.web-proxy.address \
        yarn.resourcemanager.monitor.capacity.preemption.natural_termination_factor.x hadoop.registry.zk.quorum \
        dfs.replication fs.s3a.endpoint hive.exec.parallel io.sort.mb ipc.client.idlethreshold our.own.tool.path";
    let mapred = "mapreduce.framework.name mapreduce.jobhistory.address mapreduce.jobhistory.webapp.address \
        mapreduce.jobhistory.intermediate-done-dir mapreduce.application.classpath mapreduce.admin.map.child.java.opts \
        mapreduce.am.max-attempts mapreduce.cluster.administrators mapreduce.cluster.local.dir mapreduce.client.submit.file.replication \
        mapreduce.job.counters.max mapreduce.job.queuename mapreduce.job.ubertask.enable mapreduce.map.java.opts mapreduce.map.log.level \
        mapreduce.map.output.compress mapreduce.map.output.compress.codec mapreduce.map.sort.spill.percent \
        mapreduce.output.fileoutputformat.compress mapreduce.reduce.java.opts mapreduce.reduce.shuffle.parallelcopies \
        mapreduce.reduce.shuffle.input.buffer.percent mapreduce.shuffle.port mapreduce.task.io.sort.mb mapreduce.task.io.sort.factor \
        mapreduce.task.timeout yarn.app.mapreduce.am.command-opts yarn.app.mapreduce.am.log.level yarn.app.mapreduce.am.staging-dir \
        yarn.app.mapreduce.am.admin-command-opts mapred.job.tracker mapred.local.dir mapred.system.dir mapred.child.java.opts \
        mapred.hosts.exclude mapred.map.tasks mapred.reduce.tasks mapred.compress.map.output mapred.reduce.parallel.copies \
        mapred.job.tracker.handler.count mapred.userlog.retain.hours mapred.task.timeout mapred.jobtracker.restart.recover \
        mapred.queue.default.acl-submit-job tasktracker.http.threads jobtracker.thrift.address mapred.submit.replication";
    let set = |names: &str| {
        let all: Vec<(&str, &str)> = names.split_whitespace().map(|name| (name, "17")).collect();
        (configuration(&all), all.len())
    };
    let ((yarn, in_yarn), (mapred, in_mapred)) = (set(yarn), set(mapred));
    let conf = read(&[("yarn-site.xml", &yarn), ("mapred-site.xml", &mapred)]).unwrap();
    let monitor = |warning: &&String| warning.contains("`yarn.resourcemanager.scheduler.monitor.enable`");
    assert_eq!(conf.warnings.iter().filter(|warning| !monitor(warning)).collect::<Vec<_>>(), [""; 0]);
    let bears = conf.site.unread.iter().filter(|setting| setting.bears).map(ToString::to_string);
    assert!(bears.clone().all(|bear| monitor(&&bear)), "{:?}", conf.warnings);
    assert_eq!(conf.beside.values().sum::<usize>(), in_yarn + in_mapred - 1, "{:?}", conf.beside);
}

#[test]
fn the_defaults_of_a_usual_spark_site_report_nothing_needless() {
    let names = "spark.master spark.eventLog.enabled spark.eventLog.dir spark.eventLog.compress spark.history.fs.logDirectory \
        spark.history.ui.port spark.driver.memory spark.driver.extraJavaOptions spark.driver.extraLibraryPath \
        spark.driver.extraClassPath spark.executor.extraJavaOptions spark.executor.extraClassPath \
        spark.executor.extraLibraryPath spark.executor.heartbeatInterval spark.executorEnv.PYTHONPATH \
        spark.serializer spark.kryoserializer.buffer.max spark.io.compression.codec spark.io.compression.lz4.blockSize \
        spark.yarn.historyServer.address spark.yarn.historyServer.allowTracking spark.yarn.jars spark.yarn.archive \
        spark.yarn.dist.files spark.yarn.appMasterEnv.PYSPARK_PYTHON spark.yarn.am.memory spark.yarn.am.waitTime \
        spark.yarn.preserve.staging.files spark.yarn.submit.file.replication spark.yarn.maxAppAttempts \
        spark.yarn.scheduler.heartbeat.interval-ms spark.yarn.containerLauncherMaxThreads spark.yarn.driver.memoryOverhead \
        spark.sql.shuffle.partitions spark.sql.adaptive.enabled spark.sql.warehouse.dir spark.sql.hive.metastore.version \
        spark.sql.catalogImplementation spark.sql.parquet.fs.optimized.committer.optimization-enabled spark.hadoop.fs.s3a.endpoint \
        spark.hadoop.yarn.timeline-service.enabled spark.shuffle.service.port spark.shuffle.file.buffer spark.shuffle.sort.bypassMergeThreshold \
        spark.memory.fraction spark.storage.memoryFraction spark.network.timeout spark.rpc.message.maxSize spark.ui.port \
        spark.ui.proxyBase spark.authenticate spark.ssl.enabled spark.acls.enable spark.jars.packages spark.local.dir \
        spark.pyspark.python spark.default.parallelism spark.kubernetes.container.image spark.metrics.conf \
        spark.broadcast.blockSize spark.files.fetchFailure.unRegisterOutputOnHost spark.extraListeners spark.rdd.compress \
        spark.blockManager.port spark.task.reaper.enabled spark.worker.cleanup.enabled hive.x";
    let names: Vec<&str> = names.split_whitespace().collect();
    let text: String = names.iter().map(|name| format!("{name} 17\n")).collect();
    let conf = read(&[("spark-defaults.conf", &text)]).unwrap();
    assert_eq!(conf.warnings, [""; 0]);
    assert_eq!(conf.beside.values().sum::<usize>(), names.len(), "{:?}", conf.beside);
}

/// No name is a rule and a topic, or there twice: one of them would have no effect.
#[test]
fn each_name_is_known_once() {
    for names in [HADOOP, SPARK] {
        let rules = names.rules.iter().map(|(begin, ..)| *begin);
        let topics = names.beside.iter().flat_map(|(_, begins)| begins.iter().copied());
        let mut all: Vec<&str> = rules.chain(topics).collect();
        all.sort_unstable();
        let twice: Vec<_> = all.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}

const YARN_QUEUES: &str = "<allocations>
  <queue name='etl'>
    <minResources>2048 mb, 2 vcores</minResources> <maxResources>memory-mb=8192,vcores=16</maxResources>
    <weight>2.0</weight> <maxRunningApps>7</maxRunningApps> <maxAMShare>0.3</maxAMShare>
    <queue name='daily'>
      <schedulingPolicy>fifo</schedulingPolicy> <minResources>512</minResources>
      <minSharePreemptionTimeout>60</minSharePreemptionTimeout>
    </queue>
    <pool name='other'> <schedulingMode>drf</schedulingMode> <maxResources>50% memory</maxResources> </pool>
  </queue>
  <queue name='adhoc'><minMaps>3</minMaps><aclSubmitApps>ann</aclSubmitApps></queue>
  <user name='ann'><maxRunningApps>3</maxRunningApps></user>
  <queueMaxAppsDefault>40</queueMaxAppsDefault>
  <queueMaxAMShareDefault>0.5</queueMaxAMShareDefault>
  <defaultQueueSchedulingPolicy>DRF</defaultQueueSchedulingPolicy>
  <defaultMinSharePreemptionTimeout>30</defaultMinSharePreemptionTimeout>
  <fairSharePreemptionTimeout>90</fairSharePreemptionTimeout>
  <queuePlacementPolicy><rule name='user'/></queuePlacementPolicy>
</allocations>";

#[test]
fn nested_queues_of_yarns_fair_scheduler() {
    let conf = read(&[("fair-scheduler.xml", YARN_QUEUES)]).unwrap();
    assert_eq!(conf.site.pools, None);
    let queues = conf.site.yarn_fair.unwrap();
    let of = |path: &str| queues.get(queues.find(path).unwrap()).settings.clone();
    let etl = FairQueue {
        min_memory_mb: 2048,
        min_vcores: 2,
        max_memory_mb: Some(8192),
        max_vcores: Some(16),
        weight: 2.0,
        max_apps: Some(7),
        max_am_share: Some(0.3),
        ..FairQueue::default()
    };
    let by_default = FairQueue { max_apps: Some(40), ..FairQueue::default() };
    let daily = FairQueue {
        policy: Some(SharePolicy::Fifo),
        min_memory_mb: 512,
        min_share_timeout: Some(60_000),
        ..by_default.clone()
    };
    assert_eq!((of("etl"), of("etl.daily"), of("adhoc")), (etl, daily, by_default.clone()));
    let other = FairQueue { policy: Some(SharePolicy::Drf), max_memory_share: Some(0.5), ..by_default };
    assert_eq!(of("etl.other"), other);
    let root = &queues.get(0).settings;
    assert_eq!((root.min_share_timeout, root.fair_share_timeout, root.max_apps), (Some(30_000), Some(90_000), None));
    let parameters = [("yarn-fair", "share"), ("yarn-fair", "max_am_share")].map(|key| &conf.site.parameters[&key]);
    assert_eq!(parameters, ["drf", "0.5"]);
    let of_line = |line: usize, what: &str, why: &str| {
        format!("fair-scheduler.xml: line {line}: `<{what}>` is not supported: {why}")
    };
    let expected = [
        of_line(11, "aclSubmitApps", "a replay does not check who may submit"),
        of_line(11, "minMaps", "resched does not know it"),
        of_line(18, "queuePlacementPolicy", "`--policy yarn-fair:placement=…` says which queue a job goes to"),
    ];
    assert_eq!(conf.warnings, expected);
}

/// A negative share is no limit in Hadoop. With 0, no queue without a share of its own would run any job.
#[test]
fn a_default_share_of_masters_is_a_share_or_none() {
    let of = |share: &str| {
        let text = format!(
            "<allocations><queue name='a'/>\n<queueMaxAMShareDefault>{share}</queueMaxAMShareDefault></allocations>"
        );
        let conf = read(&[("fair-scheduler.xml", &text)])?;
        PolicySpec::parse("yarn-fair").unwrap().at_site(&Arc::new(conf.site.clone())).unwrap();
        Ok::<_, String>(conf.site.parameters.get(&("yarn-fair", "max_am_share")).cloned())
    };
    let all = || Ok(Some("-1".to_owned()));
    assert_eq!((of("-1"), of("-0.5"), of("0.5")), (all(), all(), Ok(Some("0.5".to_owned()))));
    for zero in ["0", "0.0"] {
        let expected = "fair-scheduler.xml: line 2: <queueMaxAMShareDefault>: expected -1 for no limit, or a share above 0 up to 1";
        assert_eq!(of(zero), Err(format!("{expected}, found `{zero}`; correct it")));
    }
}

#[test]
fn the_root_of_yarns_queues_may_be_written_out() {
    let text =
        "<allocations><queue name='root'><maxRunningApps>9</maxRunningApps><queue name='a'/></queue></allocations>";
    let queues = read(&[("fair-scheduler.xml", text)]).unwrap().site.yarn_fair.unwrap();
    let paths: Vec<&str> = queues.queues().iter().map(|queue| queue.path.as_str()).collect();
    assert_eq!((paths, queues.get(0).settings.max_apps), (vec!["root", "root.a"], Some(9)));
}

#[test]
fn queues_of_yarn_that_cannot_be_are_errors() {
    for (queue, expected) in [
        ("<queue/>", "<queue>: expected an attribute `name`"),
        ("<queue name='a.b'/>", "a name without dots that no other one has, found `a.b`"),
        ("<queue name='a'/><pool name='a'/>", "that no other one has, found `a`"),
        ("<queue name='a'><minResources>5 gb</minResources></queue>", "such as `2048 mb, 4 vcores`, found `5 gb`"),
        ("<queue name='a'><minResources>mb</minResources></queue>", "a number from 0 to 2147483647, found ``"),
        ("<queue name='a'><weight>-1</weight></queue>", "a number from 0 to 1000000000, found `-1`"),
        (
            "<queue name='a'><schedulingPolicy>fifo</schedulingPolicy><queue name='b'/></queue>",
            "fifo is for queues of jobs",
        ),
    ] {
        let error = read(&[("fair-scheduler.xml", &format!("<allocations>{queue}</allocations>"))]).unwrap_err();
        assert!(error.starts_with("fair-scheduler.xml: line 1: ") && error.contains(expected), "{error}");
    }
}

#[test]
fn nested_queues_of_yarns_capacity_scheduler() {
    let of = |rest: &str| format!("yarn.scheduler.capacity.{rest}");
    let text = configuration(&[
        (&of("root.queues"), "etl, adhoc"),
        (&of("root.capacity"), "100"),
        (&of("root.etl.capacity"), "70"),
        (&of("root.etl.maximum-capacity"), "-1"),
        (&of("root.etl.queues"), "daily,other"),
        (&of("root.etl.daily.capacity"), "25.5"),
        (&of("root.adhoc.user-limit-factor"), "2"),
        (&of("root.adhoc.minimum-user-limit-percent"), "50"),
        (&of("root.adhoc.maximum-am-resource-percent"), "0.4"),
        (&of("root.adhoc.state"), "RUNNING"),
        (&of("root.adhoc.state2"), "x"),
        (&of("root.adhoc.acl_submit_applications"), "*"),
        (&of("root.gone.capacity"), "10"),
        (&of("node-locality-delay"), "-1"),
        (&of("maximum-am-resource-percent"), "0.2"),
        (&of("maximum-applications"), "10000"),
    ]);
    let conf = read(&[("capacity-scheduler.xml", &text)]).unwrap();
    assert_eq!(conf.site.mapred_queues, None);
    let queues = conf.site.yarn_queues.unwrap();
    let settings = |path: &str| queues.get(queues.find(path).unwrap()).settings.clone();
    let paths: Vec<&str> = queues.queues().iter().map(|queue| queue.path.as_str()).collect();
    assert_eq!(paths, ["root", "root.etl", "root.adhoc", "root.etl.daily", "root.etl.other"]);
    assert_eq!(settings("etl"), YarnQueue { capacity: Some(70.0), ..YarnQueue::default() });
    assert_eq!((settings("etl.daily").capacity, settings("etl.other").capacity), (Some(25.5), None));
    let adhoc = YarnQueue {
        user_limit_factor: Some(2.0),
        minimum_user_limit: Some(50),
        maximum_am_share: Some(0.4),
        ..YarnQueue::default()
    };
    assert_eq!(settings("adhoc"), adhoc);
    let keys = [("yarn-capacity", "node_locality_delay"), ("yarn-capacity", "am_share"), ("dress", "am_share")];
    assert_eq!(keys.map(|key| conf.site.parameters[&key].as_str()), ["0", "0.2", "0.2"]);
    let of_line = |line: usize, rest: &str, why: &str| {
        format!("capacity-scheduler.xml: line {line}: `{}` is not supported: {why}", of(rest))
    };
    let expected = [
        of_line(12, "root.adhoc.state2", "queues of YARN have no such setting here"),
        of_line(14, "root.gone.capacity", "this queue is in no list of queues"),
    ];
    assert_eq!(conf.warnings, expected);
}

#[test]
fn capacities_of_yarn_that_cannot_be_are_errors() {
    let of = |rest: &str| format!("yarn.scheduler.capacity.{rest}");
    let error = |properties: &[(&str, &str)]| {
        let properties: Vec<(String, &str)> = properties.iter().map(|(name, value)| (of(name), *value)).collect();
        let properties: Vec<(&str, &str)> = properties.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        read(&[("capacity-scheduler.xml", &configuration(&properties))]).unwrap_err()
    };
    let over = error(&[("root.queues", "a,b"), ("root.a.capacity", "60"), ("root.b.capacity", "50")]);
    assert!(over.starts_with("capacity-scheduler.xml: ") && over.contains("add up to 110 %"), "{over}");
    assert!(error(&[("root.queues", "a,a")]).contains("each once, between commas, found `a,a`"));
    assert!(error(&[("root.queues", "a"), ("root.a.capacity", "x")]).contains("line 3: "));
    let deep: Vec<(String, String)> =
        (0..60).map(|depth| (format!("root{}.queues", ".q".repeat(depth)), "q".to_owned())).collect();
    let deep: Vec<(&str, &str)> = deep.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert!(error(&deep).contains("at most 32 levels of queues"));
}

#[test]
fn an_include_is_named() {
    let text =
        "<configuration xmlns:xi='http://www.w3.org/2001/XInclude'>\n<xi:include href='more.xml'/>\n</configuration>";
    let conf = read(&[("yarn-site.xml", text)]).unwrap();
    let expected = "yarn-site.xml: line 2: `xi:include` is not supported: put what `more.xml` holds into this file";
    assert_eq!(conf.warnings, [expected]);
}

#[test]
fn properties_become_parameters_and_settings_of_the_cluster() {
    let conf = mapred_site(&[
        ("mapred.fairscheduler.locality.delay", "7000"),
        ("mapred.fairscheduler.locality.delay.rack", "9000"),
        ("mapred.fairscheduler.preemption", "TRUE"),
        ("mapred.fairscheduler.poolnameproperty", "mapred.job.queue.name"),
        ("mapred.fairscheduler.weightadjuster", "org.apache.hadoop.mapred.NewJobWeightBooster"),
        ("mapred.jobtracker.taskalloc.capacitypad", "0.02"),
        ("mapred.tasktracker.map.tasks.maximum", "3"),
        ("mapreduce.tasktracker.map.tasks.maximum", "5"),
        ("mapred.reduce.slowstart.completed.maps", "0.8"),
        ("mapreduce.tasktracker.outofband.heartbeat", "true"),
        ("mapred.heartbeats.in.second", "40"),
        ("mapred.map.max.attempts", "6"),
        ("mapred.reduce.max.attempts", "6"),
        ("mapred.job.tracker", "master:8021"),
    ]);
    let conf = conf.unwrap();
    assert_eq!(conf.warnings, [""; 0]);
    let of = |policy, key| conf.site.parameters.get(&(policy, key)).map(String::as_str);
    assert_eq!((of("fair", "delay_node"), of("fair", "delay_rack")), (Some("7000"), Some("9000")));
    assert_eq!((of("fair", "preemption"), of("fair", "pools")), (Some("true"), Some("queue")));
    assert_eq!((of("fair", "boost"), of("fifo", "pad_fraction")), (Some("true"), Some("0.02")));
    let expected: Table = "[nodes]\nmap_slots = 5\n[jobs]\nslowstart = 0.8\nmax_attempts = 6\n\
                           [heartbeat]\nout_of_band = true\nper_second = 40\n"
        .parse()
        .unwrap();
    assert_eq!(conf.cluster, expected);
    assert!(resched_sim::ClusterConfig::of_settings(conf.cluster).is_ok());
}

/// Each property by itself, with a value of its range, makes a cluster.
#[test]
fn every_setting_of_the_cluster_is_a_key_of_a_cluster_file() {
    for setting in CLUSTER_SETTINGS {
        for name in setting.hadoop {
            let value = match setting.range {
                // Above the smallest container, and not above the largest one.
                Range::Integer(low, high) => if high > 1_000_000 { 4_096 } else { low.max(1) }.to_string(),
                Range::Number(low, _) => low.to_string(),
                Range::Choice(_) => "org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator".to_owned(),
                Range::Boolean | Range::File | Range::Text => "true".to_owned(),
            };
            let cluster = mapred_site(&[(name, &value)]).unwrap().cluster;
            let config = resched_sim::ClusterConfig::of_settings(cluster.clone());
            assert!(config.is_ok() && !cluster.is_empty(), "{name}: {config:?}");
        }
    }
}

#[test]
fn the_containers_of_yarn_are_settings_of_the_cluster() {
    let yarn = configuration(&[
        ("yarn.nodemanager.resource.memory-mb", "20480"),
        ("yarn.scheduler.maximum-allocation-vcores", "6"),
        ("yarn.resourcemanager.nodemanagers.heartbeat-interval-ms", "500"),
        (
            "yarn.scheduler.capacity.resource-calculator",
            "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
        ),
    ]);
    let mapred = configuration(&[("mapreduce.map.memory.mb", "2048"), ("mapreduce.reduce.cpu.vcores", "2")]);
    let conf = read(&[("yarn-site.xml", &yarn), ("mapred-site.xml", &mapred)]).unwrap();
    assert_eq!(conf.warnings, [""; 0]);
    let containers = resched_sim::ClusterConfig::of_settings(conf.cluster).unwrap().containers;
    assert_eq!((containers.memory_mb, containers.vcores), (Some(20_480), None), "what is not set stays unknown");
    assert_eq!((containers.maximum.memory_mb, containers.maximum.vcores), (8_192, 6));
    assert_eq!((containers.map.memory_mb, containers.reduce.memory_mb, containers.reduce.vcores), (2_048, 1_024, 2));
    assert_eq!(
        (containers.node_heartbeat, containers.calculator),
        (500, resched_sim::cluster_file::Calculator::Dominant)
    );
    let site = configuration(&[("yarn.scheduler.capacity.resource-calculator", "com.example.Calculator")]);
    let warnings = read(&[("yarn-site.xml", &site)]).unwrap().warnings;
    assert!(warnings[0].ends_with("resched has nothing like `com.example.Calculator`"), "{warnings:?}");
}

#[test]
fn two_numbers_of_attempts_are_named() {
    let of = |properties: &[(&str, &str)]| mapred_site(properties).unwrap().warnings;
    assert_eq!(of(&[("mapreduce.reduce.maxattempts", "4")]), [""; 0]);
    assert!(of(&[("mapreduce.reduce.maxattempts", "8")])[0].contains("takes that of maps"));
    assert_eq!(of(&[("mapreduce.reduce.maxattempts", "8"), ("mapred.map.max.attempts", "8")]), [""; 0]);
}

#[test]
fn wrong_values_are_errors_with_file_line_and_expectation() {
    for (name, value, expected) in [
        ("mapred.tasktracker.map.tasks.maximum", "many", "expected 0..100000, found `many`"),
        ("mapred.reduce.slowstart.completed.maps", "1.5", "expected 0..1, found `1.5`"),
        ("mapred.reduce.slowstart.completed.maps", "NaN", "expected 0..1, found `NaN`"),
        ("mapreduce.tasktracker.outofband.heartbeat", "maybe", "expected true|false, found `maybe`"),
        ("mapred.fairscheduler.preemption", "1", "expected true|false, found `1`"),
        ("mapred.fairscheduler.update.interval", "0", "expected 1..3600000, found `0`"),
        ("mapreduce.reduce.maxattempts", "0", "expected a number from 1 to 1000, found `0`"),
    ] {
        let error = mapred_site(&[("a", "b"), (name, value)]).unwrap_err();
        assert_eq!(error, format!("mapred-site.xml: line 3: {name}: {expected}; correct it"));
    }
    for (pool, expected) in [
        ("<minMaps>x</minMaps>", "line 2: <minMaps>: expected a number from 0 to 2147483647, found `x`"),
        ("<minMaps>-1</minMaps>", "found `-1`"),
        ("<minMaps/>", "found ``"),
        ("<weight>0</weight>", "<weight>: expected a number from 0.000001 to 1000000000, found `0`"),
        ("<weight>NaN</weight>", "found `NaN`"),
        ("<schedulingMode>drf</schedulingMode>", "<schedulingMode>: expected fair or fifo, found `drf`"),
        ("<minSharePreemptionTimeout>99999999999999</minSharePreemptionTimeout>", "from 0 to 315360000"),
    ] {
        let text = format!("<allocations><pool name='a'>\n{pool}</pool></allocations>");
        let error = read(&[("fair-scheduler.xml", &text)]).unwrap_err();
        assert!(error.starts_with("fair-scheduler.xml: line 2: ") && error.contains(expected), "{error}");
    }
    let nameless = read(&[("fair-scheduler.xml", "<allocations><pool/></allocations>")]).unwrap_err();
    assert!(nameless.contains("<pool>: expected an attribute `name`, found `none`"), "{nameless}");
    let nameless = read(&[("mapred-site.xml", "<configuration><property/></configuration>")]).unwrap().warnings;
    assert!(nameless[0].contains("`<property>` is not supported: expected a <name> in it"), "{nameless:?}");
}

const QUEUES: &str = "<queues>
  <queue><name>etl</name>
    <properties><property key='capacity' value='60'/><property key='supports-priority' value='true'/></properties>
    <queue><name>daily</name><properties>
      <property key='capacity' value='25'/><property key='minimum-user-limit-percent' value='50'/>
    </properties></queue>
    <queue><name>other</name><state>running</state></queue>
  </queue>
  <queue><name>adhoc</name>
    <properties>
      <property key='maximum-capacity' value='70'/><property key='maximum-initialized-jobs-per-user' value='5'/>
      <property key='user-limit-factor' value='2'/>
    </properties>
    <acl-submit-job>ann</acl-submit-job>
    <state>stopped</state>
  </queue>
</queues>";

#[test]
fn nested_queues_of_mapreduce_1() {
    let conf = read(&[("mapred-queues.xml", QUEUES)]).unwrap();
    let queues = conf.site.mapred_queues.unwrap();
    let of = |path: &str| queues.get(queues.find(path).unwrap()).settings;
    let paths: Vec<&str> = queues.queues().iter().map(|queue| queue.path.as_str()).collect();
    assert_eq!(paths, ["root", "root.etl", "root.etl.daily", "root.etl.other", "root.adhoc"]);
    let etl = CapacityQueue { capacity: Some(60.0), priorities: Some(true), ..CapacityQueue::default() };
    assert_eq!((of("etl"), of("etl.other")), (etl, CapacityQueue::default()));
    assert_eq!((of("etl.daily").capacity, of("etl.daily").minimum_user_limit), (Some(25.0), Some(50)));
    assert_eq!((of("adhoc").maximum_capacity, of("adhoc").jobs_per_user), (Some(70.0), Some(5)));
    assert_eq!(
        conf.warnings,
        [
            "mapred-queues.xml: line 12: `user-limit-factor` is not supported: queues of MapReduce 1 have no such setting \
             here",
            "mapred-queues.xml: line 14: `<acl-submit-job>` is not supported: a replay does not check who may submit",
            "mapred-queues.xml: line 15: `<state>` is not supported: a replay submits jobs to a stopped queue, too",
        ]
    );
}

#[test]
fn queues_of_hadoop_3() {
    let of = |rest: &str| format!("yarn.scheduler.capacity.{rest}");
    let text = configuration(&[
        (&of("root.queues"), "a,b"),
        (&of("root.ordering-policy"), "priority-utilization"),
        (&of("root.user-settings.ann.weight"), "2"),
        (&of("root.max-parallel-apps"), "6"),
        (&of("root.accessible-node-labels.gpu.capacity"), "100"),
        (&of("user.max-parallel-apps"), "4"),
        (&of("user.ann.max-parallel-apps"), "1"),
        (&of("legacy-queue-mode.enabled"), "false"),
        (&of("root.a.capacity"), "[memory=60%,vcores=50%]"),
        (&of("root.a.priority"), "5"),
        (&of("root.a.ordering-policy"), "fair"),
        (&of("root.a.ordering-policy.fair.enable-size-based-weight"), "true"),
        (&of("root.a.user-limit-factor"), "-1"),
        (&of("root.b.capacity"), "[memory=1w,vcores=2w]"),
        (&of("root.b.disable_preemption"), "true"),
        (&of("root.b.accessible-node-labels"), "gpu, ssd"),
        (&of("root.b.accessible-node-labels.gpu.capacity"), "70"),
        (&of("root.b.accessible-node-labels.gpu.maximum-capacity"), "80"),
        (&of("root.b.default-node-label-expression"), "gpu"),
        (&of("per-node-heartbeat.maximum-container-assignments"), "-1"),
        (&of("rack-locality-additional-delay"), "8"),
        ("yarn.resourcemanager.scheduler.monitor.enable", "true"),
        ("yarn.cluster.max-application-priority", "10"),
    ]);
    let conf = read(&[("capacity-scheduler.xml", &text)]).unwrap();
    assert_eq!(conf.warnings, [""; 0]);
    let queues = conf.site.yarn_queues.unwrap();
    let settings = |path: &str| queues.get(queues.find(path).unwrap()).settings.clone();
    let root = queues.get(0).settings.clone();
    assert_eq!((root.order, root.vectors), (Some(Order::PriorityUtilization), Some(true)));
    assert_eq!((root.maximum_parallel_applications, root.parallel_applications_of_user), (Some(6), Some(4)));
    assert_eq!((root.user_weights["ann"], root.parallel_applications_of["ann"]), (2.0, 1));
    let a = YarnQueue {
        capacity: Some(60.0),
        vcores_capacity: Some(50.0),
        priority: Some(5),
        order: Some(Order::Fair),
        size_based_weight: Some(true),
        user_limit_factor: Some(-1.0),
        ..YarnQueue::default()
    };
    assert_eq!(settings("a"), a);
    let b = settings("b");
    assert_eq!((b.weight, b.vcores_weight, b.disable_preemption), (Some(1.0), Some(2.0), Some(true)));
    assert_eq!(
        (b.accessible_labels, b.default_label.as_deref()),
        (Some(vec!["gpu".into(), "ssd".into()]), Some("gpu"))
    );
    assert_eq!((b.labels["gpu"].capacity, b.labels["gpu"].maximum_capacity), (Some(70.0), Some(80.0)));
    let keys = ["most_per_heartbeat", "rack_locality_delay", "preemption", "most_priority"];
    let set = keys.map(|key| conf.site.parameters[&("yarn-capacity", key)].as_str());
    assert_eq!(set, ["1000000", "8", "true", "10"]);
}

#[test]
fn queues_of_0_20_stand_in_two_files() {
    let of_queue = |name: &str| format!("mapred.capacity-scheduler.queue.{name}");
    let capacities = configuration(&[
        (&of_queue("a.b.capacity"), "30"),
        (&of_queue("c.capacity"), "70"),
        (&of_queue("c.maximum-capacity"), "-1"),
        (&of_queue("d.capacity"), "5"),
        ("mapred.capacity-scheduler.init-poll-interval", "2000"),
        ("mapred.capacity-scheduler.default-supports-priority", "true"),
    ]);
    let names = configuration(&[("mapred.queue.names", "a.b, c")]);
    let files = [("capacity-scheduler.xml", capacities.as_str()), ("mapred-site.xml", &names)];
    let conf = read(&files).unwrap();
    let queues = conf.site.mapred_queues.unwrap();
    let capacities: Vec<_> =
        queues.queues().iter().map(|queue| (queue.path.as_str(), queue.settings.capacity)).collect();
    assert_eq!(capacities, [("root", None), ("root.a.b", Some(30.0)), ("root.c", Some(70.0))]);
    let expected = "capacity-scheduler.xml: line 5: `mapred.capacity-scheduler.queue.d.capacity` is not supported: \
                    `mapred.queue.names` lists no such queue";
    assert_eq!(conf.warnings, [expected]);
    let parameters = [("capacity", "init_poll"), ("capacity", "priorities")].map(|key| &conf.site.parameters[&key]);
    assert_eq!(parameters, ["2000", "true"]);

    let overruled = read(&[&files[..], &[("mapred-queues.xml", QUEUES)]].concat()).unwrap();
    let why = "is not supported: mapred-queues.xml says what the queues are";
    assert_eq!(overruled.warnings.iter().filter(|warning| warning.ends_with(why)).count(), 5);
}

#[test]
fn queues_that_cannot_be_are_errors() {
    let queue = |parts: &str| format!("<queues><queue>{parts}</queue><queue><name>b</name></queue></queues>");
    let property = |key: &str, value: &str| {
        queue(&format!("<name>a</name>\n<properties><property key='{key}' value='{value}'/></properties>"))
    };
    for (text, expected) in [
        (
            property("capacity", "x"),
            "mapred-queues.xml: line 2: capacity: expected a number from -100 to 100, found `x`",
        ),
        (property("capacity", "101"), "found `101`"),
        (property("supports-priority", "1"), "line 2: supports-priority: expected true or false, found `1`"),
        (property("minimum-user-limit-percent", "0"), "a number from 1 to 100"),
        (queue("<name>a</name><properties><property key='x'/></properties>"), "attributes `key` and `value`"),
        (queue("<name>a:b</name>"), "line 1: <queue>: expected a <name> without colons"),
        (queue("").replace("<queue></queue>", "").replace("<queue><name>b</name></queue>", ""), "at least one queue"),
        ("<queue/>".to_owned(), "expected <queues>, found `<queue>`"),
    ] {
        let error = read(&[("mapred-queues.xml", &text)]).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    let two = "<queue><name>a</name><properties><property key='capacity' value='60'/></properties></queue>".repeat(2);
    let error = read(&[("mapred-queues.xml", &format!("<queues>{two}</queues>"))]).unwrap_err();
    let expected =
        "mapred-queues.xml: the capacities of the queues below `root` add up to 120 %, above 100 %; correct it";
    assert_eq!(error, expected);
}

#[test]
fn a_folder_without_any_known_file_is_an_error() {
    let error = read(&[("core-site.xml", "<configuration/>")]).unwrap_err();
    assert!(error.contains("expected at least one of ") && error.contains("name another folder"));
    assert!(SiteConf::read(Path::new("/no/such/folder")).is_err());
}

#[test]
fn a_file_is_bounded() {
    let long = format!("<allocations><!--{}--></allocations>", "x".repeat(1 << 20));
    assert!(read(&[("fair-scheduler.xml", &long)]).unwrap_err().contains("at most 1048576 bytes"));
}

#[test]
fn a_site_takes_the_place_of_defaults_and_not_of_what_is_set() {
    let conf = mapred_site(&[("mapred.fairscheduler.locality.delay", "7000")]).unwrap();
    let site = Arc::new(conf.site);
    let spec = |text: &str| PolicySpec::parse(text).unwrap().at_site(&site).unwrap();
    let plain = spec("fair");
    assert_eq!((plain.label(), plain.parameters()["delay_node"].as_str()), ("fair".to_owned(), "7000"));
    assert_eq!(plain.parameters()["preemption"], "false");
    assert_eq!(spec("fair:delay_node=5").parameters()["delay_node"], "5");
    assert_eq!(spec("fair:delay_node=5").parameters()["delay_rack"], "7000");
    let other = read(&[("mapred-site.xml", &configuration(&[("a", "b")]))]).unwrap();
    assert_ne!(conf.files, other.files, "another site has another hash");
}
