//! `fair-scheduler.xml` as YARN reads it: queues below each other, with resources instead of slots.
//!
//! **Source.** `AllocationFileLoaderService` and `FairSchedulerConfiguration` of Hadoop YARN, August 2014, and their successors
//! for the forms of resources. `<pool>` is another word for `<queue>`. Times are seconds.

use std::collections::BTreeSet;

use super::xml::{Element, Notes};
use super::{SettingOrigin, Site};
use crate::error::Error;
use crate::queues::file::check;
use crate::queues::tree::QueueTree;
use crate::queues::yarn_fair::{FairQueue, SharePolicy};

/// The policy that reads these queues.
const POLICY: &str = "yarn-fair";

/// Elements that YARN knows and MapReduce 1 does not: a file with one of them is YARN's.
const OF_YARN: &[&str] = &[
    "defaultFairSharePreemptionTimeout",
    "defaultQueueSchedulingMode",
    "defaultQueueSchedulingPolicy",
    "maxAMShare",
    "maxResources",
    "maxRunningApps",
    "minResources",
    "queue",
    "queueMaxAMShareDefault",
    "queueMaxAppsDefault",
    "schedulingPolicy",
];

/// Elements that YARN knows but a replay does not follow, each with the reason.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("aclAdministerApps", "a replay does not check who may submit"),
    ("aclSubmitApps", "a replay does not check who may submit"),
    ("allowPreemptionFrom", "containers of every queue may be killed"),
    ("defaultFairSharePreemptionThreshold", "a queue starves below half its fair share"),
    ("fairSharePreemptionThreshold", "a queue starves below half its fair share"),
    ("maxChildResources", "set <maxResources> of the queues below"),
    ("queueMaxResourcesDefault", "set <maxResources> of the queues"),
    ("queuePlacementPolicy", "`--policy yarn-fair:placement=…` says which queue a job goes to"),
    ("reservation", "reservations of users are not replayed"),
    ("user", "the jobs of a user are not limited under YARN"),
    ("userMaxAppsDefault", "the jobs of a user are not limited under YARN"),
];

/// Whether a file is YARN's.
pub(super) fn is_yarn(element: Element<'_>) -> bool {
    let unsupported = |name: &str| name != "user" && UNSUPPORTED.iter().any(|(other, _)| *other == name);
    let of_yarn = |name| OF_YARN.contains(&name) || unsupported(name);
    of_yarn(element.name()) || element.children().any(is_yarn)
}

/// Reads `<allocations>`.
pub(super) fn read(root: Element<'_>, site: &mut Site, notes: &mut Notes<'_>) -> Result<(), Error> {
    let queues: Vec<Element<'_>> = root.children().filter(is_queue).collect();
    let mut tree = QueueTree::new(FairQueue::default());
    let top = QueueTree::<FairQueue>::ROOT;
    match queues[..] {
        // The root may be written out; then it is alone.
        [queue] if queue.named(notes)?.eq_ignore_ascii_case("root") => fill(&mut tree, top, queue, site, notes)?,
        _ => add(&mut tree, top, &queues, site, notes)?,
    }
    let mut most_apps = None;
    for element in root.children() {
        let settings = &mut tree.get_mut(top).settings;
        match element.name() {
            "defaultMinSharePreemptionTimeout" => settings.min_share_timeout = Some(element.seconds(notes)?),
            "defaultFairSharePreemptionTimeout" => settings.fair_share_timeout = Some(element.seconds(notes)?),
            "fairSharePreemptionTimeout" => {
                let timeout = element.seconds(notes)?;
                settings.fair_share_timeout.get_or_insert(timeout);
            }
            "queueMaxAppsDefault" => {
                most_apps = Some(element.count(notes)?);
                site.note_zero((POLICY, "", "max_apps"), element);
            }
            "queueMaxAMShareDefault" => {
                let share: f64 = element.number(notes, -1.0, 1.0)?;
                // A negative share is no limit, which is the default. With 0, no queue without a share of its own runs any job.
                if share == 0.0 {
                    let expected = "-1 for no limit, or a share above 0 up to 1";
                    return Err(notes.wrong(element.place(), &element.tag(), expected, &element.text()));
                }
                if share > 0.0 {
                    site.parameters.insert((POLICY, "max_am_share"), share.to_string());
                }
            }
            "defaultQueueSchedulingPolicy" | "defaultQueueSchedulingMode" => {
                if let Some((name, _)) = policy(element, notes) {
                    site.parameters.insert(("yarn-fair", "share"), name);
                }
            }
            "queue" | "pool" => {}
            _ => unsupported(element, notes),
        }
    }
    for place in (0..tree.queues().len()).filter(|&place| place != top) {
        let settings = &mut tree.get_mut(place).settings;
        settings.max_apps = settings.max_apps.or(most_apps);
    }
    check(&tree).map_err(|problem| notes.wrong(root.place(), "the queues", "those that YARN takes", &problem))?;
    site.yarn_fair = Some(tree);
    Ok(())
}

/// Names what has no effect.
fn unsupported(element: Element<'_>, notes: &mut Notes<'_>) {
    let known = UNSUPPORTED.iter().find(|(name, _)| *name == element.name());
    notes.unsupported(element.place(), &element.tag(), known.map_or("YARN does not know it", |(_, why)| why));
}

fn is_queue(element: &Element<'_>) -> bool {
    matches!(element.name(), "queue" | "pool")
}

/// Adds queues below another one.
fn add(
    tree: &mut QueueTree<FairQueue>,
    parent: usize,
    queues: &[Element<'_>],
    site: &mut Site,
    notes: &mut Notes<'_>,
) -> Result<(), Error> {
    let mut names = BTreeSet::new();
    for &queue in queues {
        let name = queue.named(notes)?;
        if name.contains('.') || !names.insert(name.clone()) {
            return Err(notes.wrong(queue.place(), &queue.tag(), "a name without dots that no other one has", &name));
        }
        let place = tree.add(parent, &name, FairQueue::default());
        fill(tree, place, queue, site, notes)?;
    }
    Ok(())
}

/// Reads what is set for a queue, and the queues below it.
fn fill(
    tree: &mut QueueTree<FairQueue>,
    place: usize,
    element: Element<'_>,
    site: &mut Site,
    notes: &mut Notes<'_>,
) -> Result<(), Error> {
    let path = tree.get(place).path.clone();
    let mut queue = FairQueue::default();
    for part in element.children() {
        match part.name() {
            "minResources" => {
                if let Some((memory, vcores)) = resources(part, notes)? {
                    queue.min_memory_mb = memory.unwrap_or(0);
                    queue.min_vcores = vcores.unwrap_or(0);
                }
            }
            "maxResources" => {
                if let Some((memory, vcores)) = resources(part, notes)? {
                    (queue.max_memory_mb, queue.max_vcores) = (memory, vcores);
                    let zeros = [("max_memory_mb", memory), ("max_vcores", vcores)];
                    for (key, _) in zeros.into_iter().filter(|(_, most)| *most == Some(0)) {
                        site.limits.insert((POLICY, path.clone(), key), SettingOrigin::of_element(part));
                    }
                }
            }
            "maxRunningApps" => {
                queue.max_apps = Some(part.count(notes)?);
                site.note_zero((POLICY, &path, "max_apps"), part);
            }
            "weight" => queue.weight = part.number(notes, 0.0, 1e9)?,
            "maxAMShare" => {
                queue.max_am_share = Some(part.number(notes, -1.0, 1.0)?);
                site.note_zero((POLICY, &path, "max_am_share"), part);
            }
            "minSharePreemptionTimeout" => queue.min_share_timeout = Some(part.seconds(notes)?),
            "fairSharePreemptionTimeout" => queue.fair_share_timeout = Some(part.seconds(notes)?),
            "schedulingPolicy" | "schedulingMode" => {
                queue.policy = policy(part, notes).map(|(_, policy)| policy).or(queue.policy);
            }
            "queue" | "pool" => {}
            _ => unsupported(part, notes),
        }
    }
    tree.get_mut(place).settings = queue;
    let below: Vec<Element<'_>> = element.children().filter(is_queue).collect();
    add(tree, place, &below, site, notes)
}

/// Memory in MB and vcores, as far as they are given.
type Amounts = (Option<u32>, Option<u32>);

/// Memory (MB) and virtual cores: `2048 mb, 4 vcores` or `memory-mb=2048, vcores=4`; a number alone is memory. Shares of the
/// cluster are not supported.
fn resources(element: Element<'_>, notes: &mut Notes<'_>) -> Result<Option<Amounts>, Error> {
    let text = element.text().to_lowercase();
    if text.contains('%') {
        notes.unsupported(element.place(), &element.tag(), "a share of the cluster; give memory in mb and vcores");
        return Ok(None);
    }
    let (mut memory, mut vcores) = (None, None);
    for part in text.split(',').map(str::trim) {
        let (number, unit) = match part.split_once('=') {
            Some((unit, number)) => (number.trim(), unit.trim()),
            None => part.split_at(part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len())),
        };
        let amount = match unit.trim() {
            "mb" | "memory-mb" | "" => &mut memory,
            "vcores" => &mut vcores,
            _ => {
                return Err(notes.wrong(
                    element.place(),
                    &element.tag(),
                    "resources such as `2048 mb, 4 vcores`",
                    part,
                ));
            }
        };
        *amount = Some(notes.number(element.place(), &element.tag(), number, 0, i32::MAX as u32)?);
    }
    Ok(Some((memory, vcores)))
}

/// How what is below a queue shares, with the name of it; `None`, with a warning, for a class of the site's own.
fn policy(element: Element<'_>, notes: &mut Notes<'_>) -> Option<(String, SharePolicy)> {
    let name = element.text().to_lowercase();
    if let Some(policy) = SharePolicy::named(&name) {
        return Some((name, policy));
    }
    notes.unsupported(element.place(), &element.tag(), &format!("`{name}` is not fair, drf or fifo"));
    None
}
