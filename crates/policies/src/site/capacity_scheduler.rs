//! `capacity-scheduler.xml`: the queues of the Capacity Scheduler.
//!
//! **Source.** MapReduce 1: `CapacitySchedulerConf` of 0.20 to 1.x, where `mapred.queue.names` lists the queues and
//! `mapred.capacity-scheduler.queue.<queue>.<setting>` sets them. Since 0.21 `mapred-queues.xml` does both. YARN:
//! `CapacitySchedulerConfiguration` of 2014, where `yarn.scheduler.capacity.<path>.queues` lists the queues below another one, from
//! `root` down, and `yarn.scheduler.capacity.<path>.<setting>` sets them.

use std::collections::{BTreeMap, BTreeSet};

use super::properties::{Properties, Property};
use super::xml::Notes;
use super::{LimitOrigins, SettingOrigin};
use crate::error::Error;
use crate::queues::capacity::CapacityQueue;
use crate::queues::tree::QueueTree;
use crate::queues::yarn_capacity::YarnQueue;

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
            None => notes.unsupported(&property.place, &property.name, &format!("`{QUEUE_NAMES}` lists no such queue")),
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
        notes.unsupported(&property.place, &property.name, "mapred-queues.xml says what the queues are");
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
    name_other_settings(properties, notes);
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
    let mut set = |setting: &str, low: f64, high: f64| -> Result<Option<f64>, Error> {
        let Some(property) = properties.first(&[&format!("{YARN}{path}.{setting}")], notes) else { return Ok(None) };
        let Property { name, value, place } = &property;
        if value.starts_with('[') || value.ends_with('w') {
            notes.unsupported(place, name, "only a percentage is read, not resources or a weight");
            return Ok(None);
        }
        let number = notes.number(place, name, value, low, high)?;
        let key = ZERO_KEYS.iter().find(|(own, _)| *own == setting && number == 0.0);
        limits.extend(key.map(|(_, key)| (("yarn-capacity", path.to_owned(), *key), SettingOrigin::of(&property))));
        Ok(Some(number))
    };
    Ok(YarnQueue {
        capacity: set("capacity", 0.0, 100.0)?,
        // Hadoop takes a negative limit for none.
        maximum_capacity: set("maximum-capacity", -100.0, 100.0)?.filter(|&percent| percent >= 0.0),
        minimum_user_limit: set("minimum-user-limit-percent", 1.0, 100.0)?.map(|percent| percent as u32),
        user_limit_factor: set("user-limit-factor", 0.0, 1e6)?,
        maximum_am_share: set("maximum-am-resource-percent", 0.0, 1.0)?,
    })
}

/// Names what is set for queues of YARN beyond that, but that they run, which they do.
fn name_other_settings(properties: &mut Properties, notes: &mut Notes<'_>) {
    let rest: Vec<Property> = properties.unknown().cloned().collect();
    let of_queues = rest.iter().filter(|property| property.name.starts_with(&format!("{YARN}root.")));
    for Property { name, value, place } in of_queues {
        properties.first(&[name], notes);
        let setting = name.rsplit('.').next().unwrap_or_default();
        match setting {
            "state" if value.eq_ignore_ascii_case("running") => {}
            "state" => notes.unsupported(place, name, "a replay submits jobs to a stopped queue, too"),
            _ if setting.starts_with("acl_") => {
                notes.unsupported(place, name, "a replay does not check who may submit");
            }
            "capacity" | "maximum-capacity" | "queues" | "user-limit-factor" | "minimum-user-limit-percent" => {
                notes.unsupported(place, name, "this queue is in no list of queues");
            }
            _ => notes.unsupported(place, name, "queues of YARN have no such setting here"),
        }
    }
}
