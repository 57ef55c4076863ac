//! What Hadoop does with a property that is not set, for the properties about scheduling that resched does not replay. A property with that
//! value changes nothing.
//!
//! **Source.** `capacity-scheduler.xml`, `yarn-default.xml` and `mapred-default.xml` of Hadoop 1.2, 2.10 and 3.4, and
//! `CapacitySchedulerConfiguration`.

use super::properties::Property;
use crate::unread::Why;

/// The properties, each with the values that change nothing.
const DEFAULTS: &[(&str, &[&str])] = &[
    ("mapreduce.job.speculative.slownodethreshold", &["1.0", "1"]),
    ("mapreduce.job.speculative.slowtaskthreshold", &["1.0", "1"]),
    ("mapreduce.job.speculative.speculativecap", &["0.1"]),
    ("mapreduce.jobtracker.heartbeats.scaling.factor", &["1.0", "1", "0.01"]),
    ("mapreduce.jobtracker.taskscheduler.maxrunningtasks.perjob", &[]),
    ("mapreduce.map.speculative", &["false"]),
    ("mapreduce.reduce.speculative", &["false"]),
    ("mapred.fairscheduler.eventlog.enabled", &["false"]),
    ("mapred.map.tasks.speculative.execution", &["false"]),
    ("mapred.reduce.tasks.speculative.execution", &["false"]),
    ("mapred.speculative.execution.slowNodeThreshold", &["1.0", "1"]),
    ("mapred.speculative.execution.slowTaskThreshold", &["1.0", "1"]),
    ("mapred.speculative.execution.speculativeCap", &["0.1"]),
    ("yarn.scheduler.capacity.application.fail-fast", &["false"]),
    ("yarn.scheduler.capacity.legacy-queue-mode.enabled", &["true"]),
    ("yarn.scheduler.capacity.maximum-applications", &["10000"]),
    ("yarn.scheduler.capacity.multi-node-placement-enabled", &["false"]),
    ("yarn.scheduler.capacity.per-node-heartbeat.maximum-offswitch-assignments", &["1"]),
    ("yarn.scheduler.capacity.per-node-heartbeat.maximum-container-assignments", &["1", "-1"]),
    ("yarn.scheduler.capacity.per-node-heartbeat.multiple-assignments-enabled", &["true"]),
    ("yarn.scheduler.capacity.queue-mappings-override.enable", &["false"]),
    ("yarn.scheduler.capacity.rack-locality-additional-delay", &["-1"]),
    ("yarn.scheduler.capacity.rack-locality-full-reset", &["true"]),
    ("yarn.scheduler.capacity.reservations-continue-look-all-nodes", &["true"]),
    ("yarn.scheduler.capacity.schedule-asynchronously.enable", &["false"]),
    ("yarn.scheduler.capacity.user-metrics.enable", &["false"]),
    ("yarn.scheduler.capacity.workflow-priority-mappings-override.enable", &["false"]),
    ("yarn.scheduler.fair.allow-undeclared-pools", &["true"]),
    ("yarn.scheduler.fair.continuous-scheduling-enabled", &["false"]),
    ("yarn.scheduler.fair.dynamic.max.assign", &["true"]),
    ("yarn.scheduler.fair.locality-delay-node-ms", &["-1"]),
    ("yarn.scheduler.fair.locality-delay-rack-ms", &["-1"]),
    ("yarn.scheduler.fair.preemption.cluster-utilization-threshold", &["0.8", "0.8f"]),
    ("yarn.scheduler.fair.update-interval-ms", &["500"]),
    ("yarn.scheduler.include-port-in-node-name", &["false"]),
];

/// The settings of a queue of YARN's Capacity Scheduler, below its path, likewise.
const OF_QUEUES: &[(&str, &[&str])] = &[
    ("acl_administer_queue", &["*"]),
    ("acl_application_max_priority", &["*"]),
    ("acl_submit_applications", &["*"]),
    ("accessible-node-labels", &["*"]),
    ("auto-create-child-queue.enabled", &["false"]),
    ("auto-queue-creation-v2.enabled", &["false"]),
    ("config-node-label-expression", &[]),
    ("default-application-lifetime", &["-1"]),
    ("default-application-priority", &["0"]),
    ("disable_preemption", &["false"]),
    ("intra-queue-preemption.disable_preemption", &["false"]),
    ("maximum-application-lifetime", &["-1"]),
    ("maximum-applications", &["-1", "10000"]),
    ("ordering-policy", &["fifo", "utilization"]),
    ("priority", &["0"]),
    ("reservable", &["false"]),
];

/// Properties whose effect a replay leaves out although they are known, by the beginning of their name.
const NOT_MODELLED: &[(&str, Why<'static>)] = &[
    ("yarn.scheduler.capacity.application.fail-fast", Why::harmless("a replay has no failing configuration")),
    (
        "yarn.scheduler.capacity.maximum-applications",
        Why::bears("the applications of a queue are limited by their masters alone"),
    ),
    ("yarn.scheduler.capacity.multi-node-placement", Why::bears("nodes are served at their heartbeats alone")),
    ("yarn.scheduler.capacity.per-node-heartbeat.", Why::bears("a node gets containers as Hadoop's default says")),
    ("yarn.scheduler.capacity.queue-mappings", Why::harmless("the log says which queue each job was in")),
    ("yarn.scheduler.capacity.rack-locality-", Why::bears("requests wait for their rack as in the version of 2014")),
    ("yarn.scheduler.capacity.schedule-asynchronously.", Why::bears("nodes are served at their heartbeats alone")),
    ("yarn.scheduler.capacity.user-metrics.", Why::harmless("it concerns metrics and changes no schedule")),
    ("yarn.scheduler.capacity.workflow-priority-mappings", Why::bears("applications have no priorities")),
    ("yarn.scheduler.fair.allow-undeclared-pools", Why::harmless("the log says which queue each job was in")),
    (
        "yarn.scheduler.fair.user-as-default-queue",
        Why::bears("`placement` of the policy says which queue a job goes to"),
    ),
];

/// Whether a property has the value that it has without being set.
pub(super) fn is_default(property: &Property) -> bool {
    let value = property.value.trim();
    let is = |values: &[&str]| values.iter().any(|own| own.eq_ignore_ascii_case(value));
    DEFAULTS.iter().any(|(name, values)| *name == property.name && is(values))
}

/// Whether a setting of a queue, by its name below the path of the queue, has the value that it has without being set.
pub(super) fn is_default_of_queue(setting: &str, value: &str) -> bool {
    let is = |values: &[&str]| values.iter().any(|own| own.eq_ignore_ascii_case(value.trim()));
    OF_QUEUES.iter().any(|(name, values)| *name == setting && is(values))
}

/// Why a known property is not replayed.
pub(super) fn not_modelled(name: &str) -> Option<Why<'static>> {
    NOT_MODELLED.iter().find(|(begin, _)| name.starts_with(begin)).map(|(_, why)| *why)
}
