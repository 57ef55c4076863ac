//! Configurations of Hadoop 3 as its documentation describes them, made anew: each is read, and what has no effect is named.
#![allow(clippy::unwrap_used)]

use resched_policies::{PolicySpec, SiteConf};

/// A site: its files, and the settings that may change a schedule and have no effect.
struct Example {
    about: &'static str,
    files: &'static [(&'static str, &'static [(&'static str, &'static str)])],
    allocations: Option<&'static str>,
    without_effect: &'static [&'static str],
}

const CAPACITY: &str = "capacity-scheduler.xml";
const YARN: &str = "yarn-site.xml";

const EXAMPLES: [Example; 10] = [
    Example {
        about: "weights, and queues that are made while jobs run (Capacity Scheduler: Flexible Queue Auto Creation)",
        files: &[(
            CAPACITY,
            &[
                ("yarn.scheduler.capacity.root.queues", "default,users"),
                ("yarn.scheduler.capacity.root.default.capacity", "1w"),
                ("yarn.scheduler.capacity.root.users.capacity", "9w"),
                ("yarn.scheduler.capacity.root.users.auto-queue-creation-v2.enabled", "true"),
                ("yarn.scheduler.capacity.root.users.auto-queue-creation-v2.template.capacity", "2w"),
                ("yarn.scheduler.capacity.queue-mappings", "u:%user:root.users.%user"),
            ],
        )],
        allocations: None,
        without_effect: &["auto-queue-creation-v2.enabled"],
    },
    Example {
        about: "absolute resources with GPUs (Configuring Resources in Absolute Form)",
        files: &[
            (
                CAPACITY,
                &[
                    ("yarn.scheduler.capacity.root.queues", "a,b"),
                    ("yarn.scheduler.capacity.root.a.capacity", "[memory=10240,vcores=12,yarn.io/gpu=4]"),
                    ("yarn.scheduler.capacity.root.a.maximum-capacity", "[memory=20480,vcores=24,yarn.io/gpu=8]"),
                    ("yarn.scheduler.capacity.root.b.capacity", "[memory=10Gi,vcores=12]"),
                    (
                        "yarn.scheduler.capacity.resource-calculator",
                        "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
                    ),
                ],
            ),
            ("resource-types.xml", &[("yarn.resource-types", "yarn.io/gpu")]),
            ("node-resources.xml", &[("yarn.nodemanager.resource-type.yarn.io/gpu", "4")]),
        ],
        allocations: None,
        without_effect: &[],
    },
    Example {
        about: "vectors of percentages and weights (legacy queue mode off)",
        files: &[(
            CAPACITY,
            &[
                ("yarn.scheduler.capacity.legacy-queue-mode.enabled", "false"),
                ("yarn.scheduler.capacity.root.queues", "a,b"),
                ("yarn.scheduler.capacity.root.a.capacity", "[memory=60%,vcores=60%]"),
                ("yarn.scheduler.capacity.root.b.capacity", "[memory=1w,vcores=1w]"),
                ("yarn.scheduler.capacity.root.a.maximum-applications", "100"),
            ],
        )],
        allocations: None,
        without_effect: &[],
    },
    Example {
        about: "node labels (Node Labels)",
        files: &[
            (
                CAPACITY,
                &[
                    ("yarn.scheduler.capacity.root.queues", "engineering,marketing"),
                    ("yarn.scheduler.capacity.root.accessible-node-labels.GPU.capacity", "100"),
                    ("yarn.scheduler.capacity.root.engineering.capacity", "60"),
                    ("yarn.scheduler.capacity.root.marketing.capacity", "40"),
                    ("yarn.scheduler.capacity.root.engineering.accessible-node-labels", "GPU"),
                    ("yarn.scheduler.capacity.root.engineering.accessible-node-labels.GPU.capacity", "100"),
                    ("yarn.scheduler.capacity.root.engineering.default-node-label-expression", "GPU"),
                ],
            ),
            (YARN, &[("yarn.node-labels.enabled", "true"), ("yarn.node-labels.fs-store.root-dir", "file:///tmp/l")]),
        ],
        allocations: None,
        without_effect: &["yarn.node-labels.enabled"],
    },
    Example {
        about: "preemption between queues and inside them (Capacity Scheduler: Container Preemption)",
        files: &[(
            YARN,
            &[
                ("yarn.resourcemanager.scheduler.monitor.enable", "true"),
                (
                    "yarn.resourcemanager.scheduler.monitor.policies",
                    "org.apache.hadoop.yarn.server.resourcemanager.monitor.capacity.ProportionalCapacityPreemptionPolicy",
                ),
                ("yarn.resourcemanager.monitor.capacity.preemption.monitoring_interval", "3000"),
                ("yarn.resourcemanager.monitor.capacity.preemption.total_preemption_per_round", "0.3"),
                ("yarn.resourcemanager.monitor.capacity.preemption.intra-queue-preemption.enabled", "true"),
                ("yarn.cluster.max-application-priority", "10"),
            ],
        )],
        allocations: None,
        without_effect: &[],
    },
    Example {
        about: "queue priorities, orders of queues, weights and limits of users",
        files: &[(
            CAPACITY,
            &[
                ("yarn.scheduler.capacity.root.queues", "high,low"),
                ("yarn.scheduler.capacity.root.ordering-policy", "priority-utilization"),
                ("yarn.scheduler.capacity.root.high.capacity", "20"),
                ("yarn.scheduler.capacity.root.high.priority", "10"),
                ("yarn.scheduler.capacity.root.low.capacity", "80"),
                ("yarn.scheduler.capacity.root.low.ordering-policy", "fair"),
                ("yarn.scheduler.capacity.root.low.ordering-policy.fair.enable-size-based-weight", "true"),
                ("yarn.scheduler.capacity.root.low.user-settings.ann.weight", "2.5"),
                ("yarn.scheduler.capacity.root.low.max-parallel-apps", "20"),
                ("yarn.scheduler.capacity.user.max-parallel-apps", "5"),
                ("yarn.scheduler.capacity.root.low.maximum-allocation", "memory-mb=8192,vcores=4"),
                ("yarn.scheduler.capacity.root.low.maximum-application-lifetime", "3600"),
            ],
        )],
        allocations: None,
        without_effect: &[],
    },
    Example {
        about: "how a node is filled: several containers, asynchronous scheduling, multi-node placement",
        files: &[(
            CAPACITY,
            &[
                ("yarn.scheduler.capacity.per-node-heartbeat.multiple-assignments-enabled", "true"),
                ("yarn.scheduler.capacity.per-node-heartbeat.maximum-container-assignments", "-1"),
                ("yarn.scheduler.capacity.per-node-heartbeat.maximum-offswitch-assignments", "4"),
                ("yarn.scheduler.capacity.rack-locality-additional-delay", "-1"),
                ("yarn.scheduler.capacity.schedule-asynchronously.enable", "true"),
                ("yarn.scheduler.capacity.multi-node-placement-enabled", "true"),
            ],
        )],
        allocations: None,
        without_effect: &["schedule-asynchronously", "multi-node-placement-enabled"],
    },
    Example {
        about: "placement rules as JSON, and workflow priorities",
        files: &[(
            CAPACITY,
            &[
                ("yarn.scheduler.capacity.root.queues", "default"),
                ("yarn.scheduler.capacity.root.default.capacity", "100"),
                ("yarn.scheduler.capacity.mapping-rule-format", "json"),
                (
                    "yarn.scheduler.capacity.mapping-rule-json",
                    "{\"rules\":[{\"type\":\"user\",\"matches\":\"*\",\"policy\":\"specified\",\"fallbackResult\":\"reject\"}]}",
                ),
                ("yarn.scheduler.capacity.workflow-priority-mappings", "wf1:root.default:3"),
            ],
        )],
        allocations: None,
        without_effect: &["workflow-priority-mappings"],
    },
    Example {
        about: "the allocation file of the Fair Scheduler",
        files: &[(
            YARN,
            &[
                ("yarn.scheduler.fair.preemption", "true"),
                ("yarn.scheduler.fair.assignmultiple", "true"),
                ("yarn.scheduler.fair.dynamic.max.assign", "true"),
                ("yarn.scheduler.fair.reservable-nodes", "0.05"),
                ("yarn.scheduler.fair.am.preemption", "false"),
            ],
        )],
        allocations: Some(
            "<allocations>
              <queue name=\"sample_queue\">
                <minResources>10000 mb,0vcores</minResources>
                <maxResources>90000 mb,0vcores</maxResources>
                <maxRunningApps>50</maxRunningApps>
                <maxAMShare>0.1</maxAMShare>
                <weight>2.0</weight>
                <schedulingPolicy>fair</schedulingPolicy>
                <queue name=\"sample_sub_queue\"><aclSubmitApps>charlie</aclSubmitApps>
                  <minResources>5000 mb,0vcores</minResources></queue>
                <queue name=\"sample_reservable_queue\"><reservation></reservation></queue>
              </queue>
              <queueMaxAMShareDefault>0.5</queueMaxAMShareDefault>
              <queueMaxResourcesDefault>40000 mb,0vcores</queueMaxResourcesDefault>
              <queue name=\"secondary_group_queue\" type=\"parent\"><weight>3.0</weight>
                <maxChildResources>4096 mb,4vcores</maxChildResources></queue>
              <user name=\"sample_user\"><maxRunningApps>30</maxRunningApps></user>
              <userMaxAppsDefault>5</userMaxAppsDefault>
              <queuePlacementPolicy><rule name=\"specified\" /><rule name=\"primaryGroup\" create=\"false\" />
                <rule name=\"nestedUserQueue\"><rule name=\"secondaryGroupExistingQueue\" create=\"false\" /></rule>
                <rule name=\"default\" queue=\"sample_queue\"/></queuePlacementPolicy>
            </allocations>",
        ),
        without_effect: &["reservation", "queuePlacementPolicy"],
    },
    Example {
        about: "the Fair Scheduler with shares, GPUs and preemption by queue",
        files: &[(YARN, &[("yarn.resource-types", "yarn.io/gpu")])],
        allocations: Some(
            "<allocations>
              <defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy>
              <defaultFairSharePreemptionThreshold>0.8</defaultFairSharePreemptionThreshold>
              <defaultFairSharePreemptionTimeout>120</defaultFairSharePreemptionTimeout>
              <pool name=\"ml\"><minResources>memory-mb=20480,vcores=10,yarn.io/gpu=8</minResources>
                <maxResources>60% memory, 70% cpu</maxResources><allowPreemptionFrom>false</allowPreemptionFrom></pool>
              <pool name=\"adhoc\"><maxResources>40%</maxResources>
                <maxContainerAllocation>vcores=4, memory-mb=8192</maxContainerAllocation></pool>
            </allocations>",
        ),
        without_effect: &[],
    },
];

fn read(example: &Example) -> SiteConf {
    let dir = tempfile::tempdir().unwrap();
    for (file, properties) in example.files {
        let property = |(name, value): &(&str, &str)| {
            let value = value.replace('"', "&quot;");
            format!("<property><name>{name}</name><value>{value}</value></property>\n")
        };
        let properties: String = properties.iter().map(property).collect();
        std::fs::write(dir.path().join(file), format!("<configuration>\n{properties}</configuration>\n")).unwrap();
    }
    if let Some(allocations) = example.allocations {
        std::fs::write(dir.path().join("fair-scheduler.xml"), allocations).unwrap();
    }
    SiteConf::read(dir.path()).unwrap_or_else(|error| panic!("{}: {error}", example.about))
}

#[test]
fn each_site_of_hadoop_3_is_read_and_what_has_no_effect_is_named() {
    let mut wrong = Vec::new();
    for example in &EXAMPLES {
        let conf = read(example);
        let bears: Vec<&str> =
            conf.site.unread.iter().filter(|setting| setting.bears).map(|setting| setting.setting.as_str()).collect();
        let is_expected = |setting: &&&str| example.without_effect.iter().any(|part| setting.contains(part));
        let is_missing = |part: &&&str| !bears.iter().any(|setting| setting.contains(**part));
        let unexpected: Vec<&&str> = bears.iter().filter(|setting| !is_expected(setting)).collect();
        let missing: Vec<&&str> = example.without_effect.iter().filter(is_missing).collect();
        if !unexpected.is_empty() || !missing.is_empty() {
            wrong.push(format!("{}: named {unexpected:?}, not named {missing:?}", example.about));
        }
        let policy = if example.allocations.is_some() { "yarn-fair" } else { "yarn-capacity" };
        PolicySpec::parse(policy).unwrap().at_site(&conf.site.into()).unwrap_or_else(|error| panic!("{error}"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
