//! `capacity-scheduler.xml`: the queues of the Capacity Scheduler.
//!
//! **Source.** MapReduce 1: `CapacitySchedulerConf` of 0.20 to 1.x, where `mapred.queue.names` lists the queues and
//! `mapred.capacity-scheduler.queue.<queue>.<setting>` sets them. Since 0.21 `mapred-queues.xml` does both. YARN:
//! `CapacitySchedulerConfiguration` of 2014, where `yarn.scheduler.capacity.<path>.queues` lists the queues below another one, from
//! `root` down, and `yarn.scheduler.capacity.<path>.<setting>` sets them.

use std::collections::{BTreeMap, BTreeSet};

use super::hadoop_names::is_default_of_queue;
use super::properties::{Properties, Property};
use super::xml::{Notes, java_float};
use super::{LimitOrigins, SettingOrigin};
use crate::error::Error;
use crate::queues::capacity::CapacityQueue;
use crate::queues::tree::QueueTree;
use crate::queues::yarn_capacity::{Order, YarnQueue};
use crate::unread::Why;

const QUEUE_NAMES: &str = "mapred.queue.names";
const QUEUE: &str = "mapred.capacity-scheduler.queue.";
const YARN: &str = "yarn.scheduler.capacity.";

/// The queues of MapReduce 1, if the properties set any.
pub(super) fn mapred(
    properties: &mut Properties,
    notes: &mut Notes<'_>,
) -> Result<Option<QueueTree<CapacityQueue>>, Error> {
    let names = properties.first(&[QUEUE_NAMES], notes);
    let settings = properties.beginning_with(QUEUE);
    if names.is_none() && settings.is_empty() {
        return Ok(None);
    }
    let names = names.map_or_else(|| "default".to_owned(), |names| names.value);
    let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
    let mut queues: BTreeMap<String, CapacityQueue> =
        names.map(|name| (name.to_owned(), CapacityQueue::default())).collect();
    for property in settings {
        let of_queue = property.name.strip_prefix(QUEUE).and_then(|rest| rest.rsplit_once('.'));
        match of_queue.and_then(|(queue, setting)| Some((queues.get_mut(queue)?, setting))) {
            Some((queue, setting)) => set(queue, setting, &property, notes)?,
            None => {
                let why = format!("`{QUEUE_NAMES}` lists no such queue");
                notes.unsupported(&property.place, &property.name, Why::harmless(&why));
            }
        }
    }
    let mut tree = QueueTree::new(CapacityQueue::default());
    for (name, queue) in queues {
        tree.add(QueueTree::<CapacityQueue>::ROOT, &name, queue);
    }
    Ok(Some(tree))
}

/// Names the settings of queues that have no effect because `mapred-queues.xml` is there.
pub(super) fn name_overruled(properties: &mut Properties, notes: &mut Notes<'_>) {
    let names = properties.first(&[QUEUE_NAMES], notes);
    for property in properties.beginning_with(QUEUE).into_iter().chain(names) {
        let why = Why::harmless("mapred-queues.xml says what the queues are");
        notes.unsupported(&property.place, &property.name, why);
    }
}

/// Sets one thing of a queue of MapReduce 1.
pub(super) fn set(
    queue: &mut CapacityQueue,
    setting: &str,
    property: &Property,
    notes: &mut Notes<'_>,
) -> Result<(), Error> {
    let Property { name, value, place } = property;
    // Hadoop takes a negative percentage for one that is not set.
    let percent = |notes: &Notes<'_>| {
        let percent = notes.number(place, name, value, -100.0, 100.0)?;
        Ok::<_, Error>(Some(percent).filter(|&percent: &f32| percent >= 0.0))
    };
    match setting {
        "capacity" => queue.capacity = percent(notes)?,
        "maximum-capacity" => queue.maximum_capacity = percent(notes)?,
        "minimum-user-limit-percent" => queue.minimum_user_limit = Some(notes.number(place, name, value, 1, 100)?),
        "maximum-initialized-jobs-per-user" => {
            queue.jobs_per_user = Some(notes.number(place, name, value, 1, i32::MAX as u32)?);
        }
        "supports-priority" => match value.to_lowercase().parse() {
            Ok(priorities) => queue.priorities = Some(priorities),
            Err(_) => return Err(notes.wrong(place, name, "true or false", value)),
        },
        _ => notes.unsupported(place, name, "queues of MapReduce 1 have no such setting here"),
    }
    Ok(())
}

/// The queues of YARN, if the properties list any.
pub(super) fn yarn(
    properties: &mut Properties,
    limits: &mut LimitOrigins,
    notes: &mut Notes<'_>,
) -> Result<Option<QueueTree<YarnQueue>>, Error> {
    let mut tree = QueueTree::new(YarnQueue::default());
    let mut place = QueueTree::<YarnQueue>::ROOT;
    while let Some(queue) = tree.queues().get(place) {
        let path = queue.path.clone();
        tree.get_mut(place).settings = yarn_queue(&path, properties, limits, notes)?;
        if let Some(children) = properties.first(&[&format!("{YARN}{path}.queues")], notes) {
            add_children(&mut tree, place, &children, notes)?;
        }
        place += 1;
    }
    name_other_settings(&tree, properties, notes);
    Ok((tree.queues().len() > 1).then_some(tree))
}

/// Adds the queues that are listed for another one.
fn add_children(
    tree: &mut QueueTree<YarnQueue>,
    parent: usize,
    list: &Property,
    notes: &Notes<'_>,
) -> Result<(), Error> {
    let mut names = BTreeSet::new();
    for name in list.value.split(',').map(str::trim) {
        if name.is_empty() || name.contains('.') || !names.insert(name) {
            return Err(notes.wrong(
                &list.place,
                &list.name,
                "names without dots, each once, between commas",
                &list.value,
            ));
        }
        tree.add(parent, name, YarnQueue::default());
    }
    Ok(())
}

/// The settings of a queue of YARN of which a 0 stops jobs, with their keys in files of queues.
const ZERO_KEYS: [(&str, &str); 2] =
    [("maximum-capacity", "maximum_capacity"), ("user-limit-factor", "user_limit_factor")];

/// What is set for a queue of YARN.
fn yarn_queue(
    path: &str,
    properties: &mut Properties,
    limits: &mut LimitOrigins,
    notes: &mut Notes<'_>,
) -> Result<YarnQueue, Error> {
    let mut queue = YarnQueue::default();
    let name = |setting: &str| format!("{YARN}{path}.{setting}");
    if let Some(property) = properties.first(&[&name("capacity")], notes) {
        match capacity(&property, notes)? {
            Amount::Percent(percent, of_vcores) => {
                (queue.capacity, queue.vcores_capacity) = (Some(percent), of_vcores);
            }
            Amount::Weight(weight, of_vcores) => (queue.weight, queue.vcores_weight) = (Some(weight), of_vcores),
            Amount::Absolute(memory_mb, vcores, others) => {
                (queue.memory_mb, queue.vcores, queue.resources) = (memory_mb, vcores, others);
            }
        }
    }
    if let Some(property) = properties.first(&[&name("maximum-capacity")], notes) {
        match capacity(&property, notes)? {
            // Hadoop takes a negative limit for none.
            Amount::Percent(percent, of_vcores) => {
                if of_vcores.is_some() {
                    notes.unsupported(&property.place, &property.name, "a queue has one limit here, that of memory");
                }
                queue.maximum_capacity = Some(percent).filter(|&percent| percent >= 0.0);
            }
            Amount::Weight(..) => {
                return Err(notes.wrong(&property.place, &property.name, "a percentage or resources", &property.value));
            }
            Amount::Absolute(memory_mb, vcores, others) => {
                (queue.maximum_memory_mb, queue.maximum_vcores, queue.maximum_resources) = (memory_mb, vcores, others);
            }
        }
        note_zero(limits, path, &property, queue.maximum_capacity);
    }
    let mut set = |setting: &str, low: f64, high: f64| -> Result<Option<f64>, Error> {
        let Some(property) = properties.first(&[&name(setting)], notes) else { return Ok(None) };
        let number = match setting {
            AM_SHARE => {
                let text = am_share(&property, property.value.clone(), notes);
                notes.number(&property.place, &property.name, &text, low, high)?
            }
            _ => notes.number(&property.place, &property.name, &property.value, low, high)?,
        };
        note_zero(limits, path, &property, Some(number));
        Ok(Some(number))
    };
    queue.minimum_user_limit = set("minimum-user-limit-percent", 1.0, 100.0)?.map(|percent| percent as u32);
    // Any number below 0 stands for none.
    queue.user_limit_factor =
        set("user-limit-factor", -1.0, 1e6)?.map(|factor| if factor < 0.0 { -1.0 } else { factor });
    queue.maximum_am_share = set(AM_SHARE, 0.0, 1.0)?;
    queue.priority = set("priority", -1e9, 1e9)?.map(|priority| priority as i32);
    queue.maximum_parallel_applications = set("max-parallel-apps", 0.0, f64::from(i32::MAX))?.map(|most| most as u32);
    set_order(path, &mut queue, properties, notes)?;
    queue.disable_preemption = flag(&name("disable_preemption"), properties, notes)?;
    queue.disable_preemption_inside = flag(&name("intra-queue-preemption.disable_preemption"), properties, notes)?;
    queue.user_weights = user_weights(path, properties, notes)?;
    set_labels(path, &mut queue, properties, notes)?;
    if path == ROOT {
        set_of_root(&mut queue, properties, notes)?;
    }
    Ok(queue)
}

const ROOT: &str = "root";

/// Which of its queues or applications is served first.
fn set_order(
    path: &str,
    queue: &mut YarnQueue,
    properties: &mut Properties,
    notes: &mut Notes<'_>,
) -> Result<(), Error> {
    let name = format!("{YARN}{path}.ordering-policy");
    if let Some(property) = properties.first(&[&name], notes) {
        queue.order = match property.value.as_str() {
            "utilization" => Some(Order::Utilization),
            "priority-utilization" => Some(Order::PriorityUtilization),
            "fifo" => Some(Order::Fifo),
            "fair" => Some(Order::Fair),
            _ => {
                notes.unsupported(&property.place, &property.name, "queues have no such order here");
                None
            }
        };
    }
    queue.size_based_weight = flag(&format!("{name}.fair.enable-size-based-weight"), properties, notes)?;
    Ok(())
}

/// A property that is true or false.
fn flag(name: &str, properties: &mut Properties, notes: &mut Notes<'_>) -> Result<Option<bool>, Error> {
    let Some(property) = properties.first(&[name], notes) else { return Ok(None) };
    let value = property.value.to_lowercase().parse();
    value.map(Some).map_err(|_| notes.wrong(&property.place, &property.name, "true or false", &property.value))
}

/// How much more than others users may have.
fn user_weights(
    path: &str,
    properties: &mut Properties,
    notes: &mut Notes<'_>,
) -> Result<BTreeMap<String, f64>, Error> {
    let begin = format!("{YARN}{path}.user-settings.");
    let named: Vec<String> = properties.names_beginning_with(&begin).filter(|name| name.ends_with(".weight")).collect();
    let mut weights = BTreeMap::new();
    for name in named {
        let Some(property) = properties.first(&[&name], notes) else { continue };
        let user = name.strip_prefix(&begin).and_then(|rest| rest.strip_suffix(".weight")).unwrap_or_default();
        let weight = notes.number(&property.place, &property.name, &property.value, 0.0, 1e6)?;
        weights.insert(user.to_owned(), weight);
    }
    Ok(weights)
}

/// The node labels of a queue, and its shares of their nodes.
fn set_labels(
    path: &str,
    queue: &mut YarnQueue,
    properties: &mut Properties,
    notes: &mut Notes<'_>,
) -> Result<(), Error> {
    let list = format!("{YARN}{path}.accessible-node-labels");
    if let Some(property) = properties.first(&[&list], notes) {
        let names = property.value.split(',').map(str::trim).filter(|name| !name.is_empty());
        queue.accessible_labels = Some(names.map(str::to_owned).collect());
    }
    if let Some(property) = properties.first(&[&format!("{YARN}{path}.default-node-label-expression")], notes) {
        queue.default_label = Some(property.value.clone()).filter(|label| !label.is_empty());
    }
    let begin = format!("{list}.");
    let named: Vec<String> = properties.names_beginning_with(&begin).collect();
    for name in named {
        let Some((label, setting)) = name.strip_prefix(&begin).and_then(|rest| rest.rsplit_once('.')) else { continue };
        if !matches!(setting, "capacity" | "maximum-capacity") {
            continue;
        }
        let Some(property) = properties.first(&[&name], notes) else { continue };
        let percent = Some(notes.number(&property.place, &property.name, &property.value, 0.0, 100.0)?);
        let share = queue.labels.entry(label.to_owned()).or_default();
        match setting {
            "capacity" => share.capacity = percent,
            _ => share.maximum_capacity = percent,
        }
    }
    Ok(())
}

/// What holds for all queues.
fn set_of_root(queue: &mut YarnQueue, properties: &mut Properties, notes: &mut Notes<'_>) -> Result<(), Error> {
    if let Some(legacy) = flag(&format!("{YARN}legacy-queue-mode.enabled"), properties, notes)? {
        queue.vectors = Some(!legacy);
    }
    let count = |property: &Property, notes: &Notes<'_>| {
        notes.number(&property.place, &property.name, &property.value, 0, i32::MAX as u32)
    };
    if let Some(property) = properties.first(&[&format!("{YARN}user.max-parallel-apps")], notes) {
        queue.parallel_applications_of_user = Some(count(&property, notes)?);
    }
    let begin = format!("{YARN}user.");
    let named: Vec<String> =
        properties.names_beginning_with(&begin).filter(|name| name.ends_with(".max-parallel-apps")).collect();
    for name in named {
        let Some(property) = properties.first(&[&name], notes) else { continue };
        let user = name.strip_prefix(&begin).and_then(|rest| rest.strip_suffix(".max-parallel-apps"));
        queue.parallel_applications_of.insert(user.unwrap_or_default().to_owned(), count(&property, notes)?);
    }
    Ok(())
}

/// Notes that a property sets something of a queue to 0 that then stops jobs.
fn note_zero(limits: &mut LimitOrigins, path: &str, property: &Property, number: Option<f64>) {
    let setting = property.name.rsplit('.').next().unwrap_or_default();
    let key = ZERO_KEYS.iter().find(|(zero_key, _)| *zero_key == setting && number == Some(0.0));
    limits.extend(key.map(|(_, key)| (("yarn-capacity", path.to_owned(), *key), SettingOrigin::of(property))));
}

const AM_SHARE: &str = "maximum-am-resource-percent";

/// The share of masters. YARN takes any number: above 1, masters have no limit of their own, as with 1.
pub(super) fn am_share(property: &Property, text: String, notes: &mut Notes<'_>) -> String {
    let is_more = java_float(&text).parse::<f64>().is_ok_and(|share| share > 1.0 && share.is_finite());
    if !property.name.ends_with(AM_SHARE) || !is_more {
        return text;
    }
    let why = format!("a share of {text} is more than all; masters have no limit of their own, as with 1");
    notes.unsupported(&property.place, &property.name, Why::harmless(&why));
    "1".to_owned()
}

/// What a queue is guaranteed, or may have at most.
enum Amount {
    /// Of its parent, and of its virtual cores if that is another share.
    Percent(f64, Option<f64>),
    /// A part of what its siblings share, and of their virtual cores if that is another one.
    Weight(f64, Option<f64>),
    /// Memory, MB, virtual cores, and others by name.
    Absolute(Option<u64>, Option<u64>, BTreeMap<String, u64>),
}

/// The largest amount.
const MOST: u64 = 1 << 40;

/// Reads a capacity: a percentage, a weight such as `4w`, or resources such as `[memory=10240,vcores=12]`, each of which may be a
/// percentage or a weight.
fn capacity(property: &Property, notes: &mut Notes<'_>) -> Result<Amount, Error> {
    let Property { name, value, place } = property;
    let number = |notes: &Notes<'_>, text: &str, low: f64, high: f64| notes.number(place, name, text.trim(), low, high);
    if let Some(weight) = value.strip_suffix('w') {
        return Ok(Amount::Weight(number(notes, weight, 0.0, 1e9)?, None));
    }
    let Some(inside) = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        let percent = number(notes, value.strip_suffix('%').unwrap_or(value), -100.0, 100.0)?;
        return Ok(Amount::Percent(percent, None));
    };
    let (mut memory, mut vcores, mut others) = (None, None, BTreeMap::new());
    for part in inside.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let expected = "resources such as `[memory=10240,vcores=12]`";
        let (resource, amount) = part.split_once('=').ok_or_else(|| notes.wrong(place, name, expected, value))?;
        match resource.trim() {
            "memory" | "memory-mb" => memory = Some(amount.trim()),
            "vcores" => vcores = Some(amount.trim()),
            other => _ = others.insert(other.to_owned(), amount.trim()),
        }
    }
    let is_relative = |text: &&str| text.ends_with(['%', 'w']);
    match (memory, vcores) {
        (Some(relative), cores) if is_relative(&relative) => {
            if let Some(name_of_other) = others.keys().next() {
                let why = format!("a share of `{name_of_other}` is that of memory here");
                notes.unsupported(place, name, &why);
            }
            let other = cores.filter(|&cores| cores != relative);
            let same_kind = |cores: &&str| cores.ends_with('w') == relative.ends_with('w') && is_relative(cores);
            if other.is_some_and(|cores| !same_kind(&cores)) {
                notes.unsupported(place, name, "a queue has one share here, that of memory");
            }
            let other = other.filter(same_kind);
            let weight = |text: &str| number(notes, text.trim_end_matches('w'), 0.0, 1e9);
            let percent = |text: &str| number(notes, text.trim_end_matches('%'), 0.0, 100.0);
            if relative.ends_with('w') {
                Ok(Amount::Weight(weight(relative)?, other.map(weight).transpose()?))
            } else {
                Ok(Amount::Percent(percent(relative)?, other.map(percent).transpose()?))
            }
        }
        (memory, cores) => {
            if cores.as_ref().is_some_and(is_relative) {
                notes.unsupported(place, name, "a queue has one share here, that of memory");
            }
            let wrong = || notes.wrong(place, name, "an amount such as 10240 or 10Gi", value);
            let memory = memory.map(|text| megabytes(text).ok_or_else(wrong)).transpose()?;
            let cores = cores.filter(|text| !is_relative(text));
            let count = |text: &str| text.parse().ok().filter(|&n| n <= MOST).ok_or_else(wrong);
            let cores = cores.map(count).transpose()?;
            let count_of = |(name, text): (String, &str)| Ok::<_, Error>((name, count(text)?));
            let others = others.into_iter().map(count_of).collect::<Result<_, _>>()?;
            Ok(Amount::Absolute(memory, cores, others))
        }
    }
}

/// An amount of memory in MB, which may have a unit (`10Gi`).
fn megabytes(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let factor = match unit.trim() {
        "" | "M" | "Mi" | "mb" | "MB" => 1,
        "G" | "Gi" | "gb" | "GB" => 1 << 10,
        "T" | "Ti" | "tb" | "TB" => 1 << 20,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor).filter(|&amount| amount <= MOST)
}

/// Settings of a queue whose effect a replay leaves out although they are known, by the beginning of their name.
const NOT_MODELLED: &[(&str, Why<'static>)] = &[
    ("acl_", Why::harmless("a replay does not check who may submit")),
    ("accessible-node-labels", Why::bears("of a label, a queue has only shares here")),
    ("auto-create-child-queue", Why::bears("queues are not made while jobs run")),
    ("auto-queue-creation-v2.enabled", Why::bears("queues are not made while jobs run")),
    ("auto-queue-creation", Why::harmless("queues are not made while jobs run")),
    ("default-application-lifetime", Why::harmless("a job ends as the log says")),
    ("default-application-priority", Why::bears("applications have no priorities")),
    ("leaf-queue-template", Why::harmless("queues are not made while jobs run")),
    ("maximum-allocation", Why::harmless("the log holds the jobs that were accepted")),
    ("maximum-application-lifetime", Why::harmless("a job ends as the log says")),
    ("maximum-applications", Why::harmless("the log holds the jobs that were accepted")),
    ("user-settings.", Why::bears("of a user, only the weight is read")),
];

/// Names what is set for queues of YARN beyond that, but what YARN does anyway.
fn name_other_settings(tree: &QueueTree<YarnQueue>, properties: &mut Properties, notes: &mut Notes<'_>) {
    let rest: Vec<Property> = properties.unknown().cloned().collect();
    let of_queues = rest.iter().filter(|property| property.name.starts_with(&format!("{YARN}root.")));
    for Property { name, value, place } in of_queues {
        properties.first(&[name], notes);
        // The name of a setting may have dots, too.
        let below = |path: &str| name.strip_prefix(YARN)?.strip_prefix(path)?.strip_prefix('.');
        let of_queue = tree.queues().iter().filter_map(|queue| below(&queue.path)).min_by_key(|setting| setting.len());
        let last = name.rsplit('.').next().unwrap_or_default();
        let setting = of_queue.unwrap_or(last);
        let known = NOT_MODELLED.iter().find(|(begin, _)| setting.starts_with(begin) || last.starts_with(begin));
        match last {
            _ if is_default_of_queue(setting, value) => {}
            "state" if value.eq_ignore_ascii_case("running") => {}
            "state" => notes.unsupported(place, name, Why::harmless("a replay submits jobs to a stopped queue, too")),
            "capacity" | "maximum-capacity" | "queues" | "user-limit-factor" | "minimum-user-limit-percent"
                if known.is_none() =>
            {
                notes.unsupported(place, name, Why::harmless("this queue is in no list of queues"));
            }
            _ => notes.unsupported(
                place,
                name,
                known.map_or(Why::bears("queues of YARN have no such setting here"), |(_, why)| *why),
            ),
        }
    }
}
