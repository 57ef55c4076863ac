//! `capacity-scheduler.xml`: the queues of the Capacity Scheduler.
//!
//! **Source.** MapReduce 1: `CapacitySchedulerConf` of 0.20 to 1.x, where `mapred.queue.names` lists the queues and
//! `mapred.capacity-scheduler.queue.<queue>.<setting>` sets them. Since 0.21 `mapred-queues.xml` does both.

use std::collections::BTreeMap;

use super::properties::{Properties, Property};
use super::xml::Notes;
use crate::capacity::CapacityQueue;
use crate::parts::queue_tree::QueueTree;

const QUEUE_NAMES: &str = "mapred.queue.names";
const QUEUE: &str = "mapred.capacity-scheduler.queue.";

/// The queues of MapReduce 1, if the properties set any.
pub(super) fn mapred(
    properties: &mut Properties,
    notes: &mut Notes<'_>,
) -> Result<Option<QueueTree<CapacityQueue>>, String> {
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
            None => notes.unsupported(property.place, &property.name, &format!("`{QUEUE_NAMES}` lists no such queue")),
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
        notes.unsupported(property.place, &property.name, "mapred-queues.xml says what the queues are");
    }
}

/// Sets one thing of a queue of MapReduce 1.
pub(super) fn set(
    queue: &mut CapacityQueue,
    setting: &str,
    property: &Property,
    notes: &mut Notes<'_>,
) -> Result<(), String> {
    let Property { name, value, place } = property;
    // Hadoop takes a negative percentage for one that is not set.
    let percent = |notes: &Notes<'_>| {
        let percent = notes.number(*place, name, value, -100.0, 100.0)?;
        Ok::<_, String>(Some(percent).filter(|&percent: &f32| percent >= 0.0))
    };
    match setting {
        "capacity" => queue.capacity = percent(notes)?,
        "maximum-capacity" => queue.maximum_capacity = percent(notes)?,
        "minimum-user-limit-percent" => queue.minimum_user_limit = Some(notes.number(*place, name, value, 1, 100)?),
        "maximum-initialized-jobs-per-user" => {
            queue.jobs_per_user = Some(notes.number(*place, name, value, 1, i32::MAX as u32)?);
        }
        "supports-priority" => match value.to_lowercase().parse() {
            Ok(priorities) => queue.priorities = Some(priorities),
            Err(_) => return Err(notes.wrong(*place, name, "true or false", value)),
        },
        _ => notes.unsupported(*place, name, "the queues of MapReduce 1 have nothing like it here"),
    }
    Ok(())
}
