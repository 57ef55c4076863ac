//! `mapred-queues.xml`: the queues of MapReduce 1 since 0.21, each with its properties, one in the other.
//!
//! **Source.** `QueueConfigurationParser` of Hadoop MapReduce, June 2011; the properties are those of the Capacity Scheduler.

use super::capacity_scheduler::set;
use super::properties::Property;
use super::xml::{Element, Notes};
use crate::error::Error;
use crate::queues::capacity::CapacityQueue;
use crate::queues::tree::QueueTree;
use crate::unread::Why;

/// Reads `<queues>`.
pub(super) fn read(root: Element<'_>, notes: &mut Notes<'_>) -> Result<QueueTree<CapacityQueue>, Error> {
    let mut tree = QueueTree::new(CapacityQueue::default());
    for element in root.children() {
        match element.name() {
            "queue" => add(&mut tree, QueueTree::<CapacityQueue>::ROOT, element, notes)?,
            _ => notes.unsupported(element.place(), &element.tag(), "only <queue> is read here"),
        }
    }
    Ok(tree)
}

/// Adds a queue and those in it below another one.
fn add(
    tree: &mut QueueTree<CapacityQueue>,
    parent: usize,
    element: Element<'_>,
    notes: &mut Notes<'_>,
) -> Result<(), Error> {
    let name = element.child("name").map(|name| name.text()).filter(|name| !name.is_empty() && !name.contains(':'));
    let name = name.ok_or_else(|| notes.wrong(element.place(), "<queue>", "a <name> without colons in it", "none"))?;
    let place = tree.add(parent, &name, CapacityQueue::default());
    for part in element.children() {
        match part.name() {
            "name" => {}
            "queue" => add(tree, place, part, notes)?,
            "properties" => {
                for property in part.children() {
                    set_property(&mut tree.get_mut(place).settings, property, notes)?;
                }
            }
            "state" if part.text() == "running" => {}
            "state" => {
                let why = Why::harmless("a replay submits jobs to a stopped queue, too");
                notes.unsupported(part.place(), "<state>", why);
            }
            "acl-submit-job" | "acl-administer-jobs" => {
                notes.unsupported(part.place(), &part.tag(), Why::harmless("a replay does not check who may submit"));
            }
            _ => notes.unsupported(part.place(), &part.tag(), "resched does not know it"),
        }
    }
    Ok(())
}

fn set_property(queue: &mut CapacityQueue, element: Element<'_>, notes: &mut Notes<'_>) -> Result<(), Error> {
    match (element.name(), element.attribute("key"), element.attribute("value")) {
        ("property", Some(key), Some(value)) => {
            let (name, value) = (key.trim().to_owned(), value.trim().to_owned());
            let setting = name.clone();
            set(queue, &setting, &Property { name, value, place: element.place() }, notes)
        }
        _ => Err(notes.wrong(
            element.place(),
            &element.tag(),
            "<property> with the attributes `key` and `value`",
            "none",
        )),
    }
}
