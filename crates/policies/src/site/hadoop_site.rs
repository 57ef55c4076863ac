//! The properties of `mapred-site.xml` and `yarn-site.xml` about scheduling, under their names in all versions.
//!
//! **Source.** `DeprecatedProperties` of Hadoop for renamed properties, and the classes that read them. A new name wins
//! over an old one.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::capacity_scheduler;
use super::hadoop_names::{COMPONENTS, HADOOP};
use super::names::Known;
use super::properties::{Properties, Property};
use super::spark_names::SPARK;
use super::xml::{Notes, java_float};
use super::{Origins, PolicyParameter, SPARK_DEFAULTS, SettingOrigin, hadoop_names, spark_names};
use crate::error::Error;
use crate::parameter::{self, AUTO, Range};
use resched_tables::reference::{is_one_letter_off, nearest};

/// A setting of the cluster, and the properties of Hadoop that set it at a site.
#[derive(Debug)]
pub struct ClusterSetting {
    /// Its key in a cluster file, from the section down.
    pub key: &'static str,
    /// The properties, the new name first. The first one that is set counts.
    pub hadoop: &'static [&'static str],
    /// Its range of values.
    pub range: Range,
}

/// The settings of the cluster that the properties of a site set.
pub const CLUSTER_SETTINGS: &[ClusterSetting] = &[
    ClusterSetting {
        key: "nodes.map_slots",
        hadoop: &["mapreduce.tasktracker.map.tasks.maximum", "mapred.tasktracker.map.tasks.maximum"],
        range: Range::Integer(0, 100_000),
    },
    ClusterSetting {
        key: "nodes.reduce_slots",
        hadoop: &["mapreduce.tasktracker.reduce.tasks.maximum", "mapred.tasktracker.reduce.tasks.maximum"],
        range: Range::Integer(0, 100_000),
    },
    ClusterSetting {
        key: "heartbeat.per_second",
        hadoop: &["mapreduce.jobtracker.heartbeats.in.second", "mapred.heartbeats.in.second"],
        range: Range::Integer(1, 1_000_000),
    },
    ClusterSetting {
        key: "heartbeat.least",
        hadoop: &["mapreduce.jobtracker.heartbeat.interval.min"],
        range: Range::Integer(1, 86_400_000),
    },
    ClusterSetting {
        key: "heartbeat.out_of_band",
        hadoop: &["mapreduce.tasktracker.outofband.heartbeat"],
        range: Range::Boolean,
    },
    ClusterSetting {
        key: "heartbeat.expiry",
        hadoop: &["mapreduce.jobtracker.expire.trackers.interval", "mapred.tasktracker.expiry.interval"],
        range: Range::Integer(1, 86_400_000),
    },
    ClusterSetting {
        key: "jobs.slowstart",
        hadoop: &["mapreduce.job.reduce.slowstart.completedmaps", "mapred.reduce.slowstart.completed.maps"],
        range: Range::Number(0.0, 1.0),
    },
    ClusterSetting {
        key: "jobs.max_attempts",
        hadoop: &["mapreduce.map.maxattempts", "mapred.map.max.attempts"],
        range: Range::Integer(1, 1_000),
    },
    ClusterSetting {
        key: "containers.memory_mb",
        hadoop: &["yarn.nodemanager.resource.memory-mb"],
        range: Range::Integer(1, 1_000_000_000),
    },
    ClusterSetting {
        key: "containers.vcores",
        hadoop: &["yarn.nodemanager.resource.cpu-vcores"],
        range: Range::Integer(1, 1_000_000),
    },
    ClusterSetting {
        key: "containers.minimum.memory_mb",
        hadoop: &["yarn.scheduler.minimum-allocation-mb"],
        range: Range::Integer(1, 1_000_000_000),
    },
    ClusterSetting {
        key: "containers.minimum.vcores",
        hadoop: &["yarn.scheduler.minimum-allocation-vcores"],
        range: Range::Integer(1, 1_000_000),
    },
    ClusterSetting {
        key: "containers.maximum.memory_mb",
        hadoop: &["yarn.scheduler.maximum-allocation-mb"],
        range: Range::Integer(1, 1_000_000_000),
    },
    ClusterSetting {
        key: "containers.maximum.vcores",
        hadoop: &["yarn.scheduler.maximum-allocation-vcores"],
        range: Range::Integer(1, 1_000_000),
    },
    ClusterSetting {
        key: "containers.am.memory_mb",
        hadoop: &["yarn.app.mapreduce.am.resource.mb"],
        range: Range::Integer(1, 1_000_000_000),
    },
    ClusterSetting {
        key: "containers.am.vcores",
        hadoop: &["yarn.app.mapreduce.am.resource.cpu-vcores"],
        range: Range::Integer(1, 1_000_000),
    },
    ClusterSetting {
        key: "containers.map.memory_mb",
        hadoop: &["mapreduce.map.memory.mb"],
        range: Range::Integer(1, 1_000_000_000),
    },
    ClusterSetting {
        key: "containers.map.vcores",
        hadoop: &["mapreduce.map.cpu.vcores"],
        range: Range::Integer(1, 1_000_000),
    },
    ClusterSetting {
        key: "containers.reduce.memory_mb",
        hadoop: &["mapreduce.reduce.memory.mb"],
        range: Range::Integer(1, 1_000_000_000),
    },
    ClusterSetting {
        key: "containers.reduce.vcores",
        hadoop: &["mapreduce.reduce.cpu.vcores"],
        range: Range::Integer(1, 1_000_000),
    },
    ClusterSetting {
        key: "containers.node_heartbeat",
        hadoop: &["yarn.resourcemanager.nodemanagers.heartbeat-interval-ms"],
        range: Range::Integer(1, 86_400_000),
    },
    ClusterSetting {
        key: "containers.am_heartbeat",
        hadoop: &["yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms"],
        range: Range::Integer(1, 86_400_000),
    },
    ClusterSetting {
        key: "containers.calculator",
        hadoop: &["yarn.scheduler.capacity.resource-calculator"],
        range: Range::Choice(&["memory", "dominant"]),
    },
];

/// Tries at a reduce; the cluster has one number for both kinds of task.
const REDUCE_ATTEMPTS: &[&str] = &["mapreduce.reduce.maxattempts", "mapred.reduce.max.attempts"];

/// Says where the allocations of a Fair Scheduler stand.
pub(super) const ALLOCATION_FILE: &[&str] =
    &["mapred.fairscheduler.allocation.file", "yarn.scheduler.fair.allocation.file"];

/// The values that the properties give to parameters of policies, by policy and key.
pub(super) fn of_policies(
    parameters: &[PolicyParameter],
    properties: &mut Properties,
    notes: &mut Notes<'_>,
    origins: &mut Origins,
) -> Result<BTreeMap<(&'static str, &'static str), String>, Error> {
    let mut found = BTreeMap::new();
    for &(policy, parameter) in parameters.iter().filter(|(_, parameter)| !parameter.hadoop.is_empty()) {
        let Some(property) = properties.first(parameter.hadoop, notes) else { continue };
        let Some(text) = translated(&property, notes) else { continue };
        let text = capacity_scheduler::am_share(&property, text, notes);
        let text = parameter.of_hadoop(&text);
        let text = if matches!(parameter.range, Range::Number(..)) { java_float(text) } else { text };
        if parameter.parse(text).is_err() {
            return Err(notes.wrong(&property.place, &property.name, parameter.expected(), &property.value));
        }
        found.insert((policy, parameter.key), text.to_owned());
        origins.insert((Some(policy), parameter.key), SettingOrigin::of(&property));
    }
    Ok(found)
}

/// The value that a property stands for, as it is written here; `None`, with a warning, if there is nothing like it.
fn translated(property: &Property, notes: &mut Notes<'_>) -> Option<String> {
    let text = in_our_words(property);
    if text.is_none() {
        let why = format!("resched has nothing like `{}`", property.value);
        notes.unsupported(&property.place, &property.name, &why);
    }
    text
}

fn in_our_words(property: &Property) -> Option<String> {
    let value = match (property.name.as_str(), property.value.as_str()) {
        ("mapred.fairscheduler.poolnameproperty", name) => match name {
            "user.name" | "mapreduce.job.user.name" => "user",
            "mapred.job.queue.name" | "mapreduce.job.queuename" => "queue",
            _ => return None,
        },
        ("mapred.fairscheduler.weightadjuster", class) => match class.rsplit('.').next() {
            Some("NewJobWeightBooster") => "true",
            _ => return None,
        },
        ("yarn.scheduler.capacity.resource-calculator", class) => match class.rsplit('.').next() {
            Some("DefaultResourceCalculator") => "memory",
            Some("DominantResourceCalculator") => "dominant",
            _ => return None,
        },
        // More than any node has.
        ("yarn.scheduler.capacity.per-node-heartbeat.maximum-container-assignments", "-1") => "1000000",
        // -1 is Hadoop's default, and stands for none.
        ("yarn.scheduler.capacity.node-locality-delay", "-1") => "0",
        ("yarn.scheduler.fair.user-as-default-queue", value) => match value.to_lowercase().as_str() {
            "true" => "queue",
            "false" => return None,
            _ => value,
        },
        (_, value) if value.eq_ignore_ascii_case("true") => "true",
        (_, value) if value.eq_ignore_ascii_case("false") => "false",
        (_, value) => value,
    };
    Some(value.to_owned())
}

/// What the properties say of the cluster.
pub(super) fn cluster(
    properties: &mut Properties,
    notes: &mut Notes<'_>,
    origins: &mut Origins,
) -> Result<Table, Error> {
    let mut cluster = Table::new();
    for setting in CLUSTER_SETTINGS {
        let Some(property) = properties.first(setting.hadoop, notes) else { continue };
        let Some(text) = translated(&property, notes) else { continue };
        match setting.range.parse(&text) {
            Some(value) => {
                insert(&mut cluster, setting.key, in_toml(value));
                origins.insert((None, setting.key), SettingOrigin::of(&property));
            }
            None => return Err(notes.wrong(&property.place, &property.name, setting.range, &property.value)),
        }
    }
    further_resources(&mut cluster, properties, notes)?;
    if let Some(property) = properties.first(REDUCE_ATTEMPTS, notes) {
        let found = notes.number(&property.place, &property.name, &property.value, 1, 1_000)?;
        let of_maps = cluster.get("jobs").and_then(|jobs| jobs.get("max_attempts")).and_then(Value::as_integer);
        if of_maps.unwrap_or(DEFAULT_ATTEMPTS) != found {
            let why = "the cluster has one number for both kinds of task, and takes that of maps";
            notes.unsupported(&property.place, &property.name, why);
        }
    }
    Ok(cluster)
}

/// The begin and the end of the properties that say something of a resource beside memory and vcores, whose name stands between, and the
/// key of the cluster under which it stands here, if it does.
const FURTHER: [(&str, &str, &str); 4] = [
    ("yarn.resource-types.", ".minimum-allocation", ""),
    ("yarn.resource-types.", ".increment-allocation", ""),
    ("yarn.nodemanager.resource-type.", "", "resources"),
    ("yarn.resource-types.", ".maximum-allocation", "maximum_resources"),
];

/// What nodes have beside memory and vcores, and the most of it that a container may have.
fn further_resources(cluster: &mut Table, properties: &mut Properties, notes: &mut Notes<'_>) -> Result<(), Error> {
    // It only declares them.
    properties.first(&["yarn.resource-types"], notes);
    for (begin, end, key) in FURTHER {
        let named: Vec<String> = properties.names_beginning_with(begin).filter(|name| name.ends_with(end)).collect();
        for name in named {
            let Some(property) = properties.first(&[&name], notes) else { continue };
            let resource = name.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end)).unwrap_or_default();
            if resource.is_empty() || matches!(resource, "memory-mb" | "memory" | "vcores") {
                continue;
            }
            let amount: u32 = notes.number(&property.place, &property.name, &property.value, 0, 1_000_000_000)?;
            if key.is_empty() {
                if amount > 0 {
                    notes.unsupported(&property.place, &property.name, "containers have no smallest amount of it here");
                }
                continue;
            }
            let containers = cluster.entry("containers").or_insert_with(|| Value::Table(Table::new()));
            let Value::Table(containers) = containers else { continue };
            if let Value::Table(all) = containers.entry(key).or_insert_with(|| Value::Table(Table::new())) {
                all.insert(resource.to_owned(), Value::Integer(amount.into()));
            }
        }
    }
    Ok(())
}

/// Puts a value under a key such as `jobs.slowstart`.
fn insert(table: &mut Table, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            table.insert(key.to_owned(), value);
        }
        Some((section, rest)) => {
            let section = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(section) = section {
                insert(section, rest, value);
            }
        }
    }
}

/// How often a task is tried where nothing is said.
const DEFAULT_ATTEMPTS: i64 = 4;

/// A value as a cluster file has it.
fn in_toml(value: parameter::Value) -> Value {
    match value {
        parameter::Value::Integer(value) => Value::Integer(value),
        parameter::Value::Number(value) => Value::Float(value),
        parameter::Value::Boolean(value) => Value::Boolean(value),
        parameter::Value::Text(value) => Value::String(value),
        parameter::Value::Auto => Value::String(AUTO.to_owned()),
    }
}

/// To how many unknown properties the nearest known one is looked for.
const MOST_COMPARED: usize = 100;

/// Reports the properties that nothing asked for, but those with Hadoop's or Spark's default, and counts those that concern something else.
/// `others` are the settings of another system.
pub(super) fn name_the_rest(
    parameters: &[PolicyParameter],
    properties: &mut Properties,
    others: &BTreeSet<String>,
    files: &BTreeMap<String, String>,
    notes: &mut Notes<'_>,
) {
    let is_read = |name: &str| name == super::FAIR_SCHEDULER || files.contains_key(name);
    let elsewhere = |property: &Property| !property.value.rsplit('/').next().is_some_and(is_read);
    if let Some(property) = properties.first(ALLOCATION_FILE, notes).filter(elsewhere) {
        let why = format!("copy `{}` to this folder as {}", property.value, super::FAIR_SCHEDULER);
        notes.unsupported(&property.place, &property.name, &why);
    }
    let mut compared = 0;
    for property in properties.unknown().filter(|property| !others.contains(&property.name)) {
        let Property { name, place, .. } = property;
        match known(property) {
            Some(Known::Default) => {}
            Some(Known::Beside(topic)) => notes.beside(topic),
            Some(Known::Unread(_)) if property.is_reference() => property.name_reference(notes),
            Some(Known::Unread(why)) => notes.unsupported(place, name, why),
            None => {
                compared += 1;
                let near = (compared <= MOST_COMPARED).then(|| nearest(name, names(parameters)));
                let why = format!("resched does not know it{}", near.unwrap_or_default());
                notes.unsupported(place, name, &why);
            }
        }
    }
}

/// What is known of a property by its name. Names of other components are not ours, unless their first word looks misspelt.
fn known(property: &Property) -> Option<Known> {
    let Property { name, value, place } = property;
    let is_of_spark = place.file == SPARK_DEFAULTS;
    let first = name.split('.').next().unwrap_or_default();
    let components = COMPONENTS.into_iter().chain([spark_names::COMPONENT]);
    if components.clone().any(|component| component == first) {
        return HADOOP.find(name, value).or_else(|| SPARK.find(name, value));
    }
    if components.into_iter().any(|component| is_one_letter_off(first, component)) {
        return None;
    }
    Some(Known::Beside(if is_of_spark { spark_names::FOREIGN } else { hadoop_names::ELSEWHERE }))
}

/// The names of all properties that are known.
fn names(parameters: &[PolicyParameter]) -> impl Iterator<Item = &'static str> {
    let of_policies = parameters.iter().flat_map(|(_, parameter)| parameter.hadoop);
    let of_cluster = CLUSTER_SETTINGS.iter().flat_map(|setting| setting.hadoop);
    let others = REDUCE_ATTEMPTS.iter().chain(ALLOCATION_FILE);
    of_policies.chain(of_cluster).chain(others).copied().chain(HADOOP.rules()).chain(SPARK.rules())
}
