//! `fair-scheduler.xml` as YARN reads it: queues below each other, with resources instead of slots.
//!
//! **Source.** `AllocationFileLoaderService` and `FairSchedulerConfiguration` of Hadoop YARN, August 2014, and their successors
//! of Hadoop 3.4 (`AllocationFileParser`, `AllocationFileQueueParser`). `<pool>` is another word for `<queue>`. Times are seconds.

use std::collections::{BTreeMap, BTreeSet};

use super::xml::{Element, Notes};
use super::{SettingOrigin, Site};
use crate::error::Error;
use crate::queues::file::check;
use crate::queues::tree::QueueTree;
use crate::queues::yarn_fair::{FairQueue, SharePolicy};
use crate::unread::Why;

/// The policy that reads these queues.
const POLICY: &str = "yarn-fair";

/// Elements that YARN knows and MapReduce 1 does not: a file with one of them is YARN's.
const OF_YARN: &[&str] = &[
    "allowPreemptionFrom",
    "defaultFairSharePreemptionThreshold",
    "defaultFairSharePreemptionTimeout",
    "defaultQueueSchedulingMode",
    "defaultQueueSchedulingPolicy",
    "fairSharePreemptionThreshold",
    "maxAMShare",
    "maxChildResources",
    "maxResources",
    "maxRunningApps",
    "minResources",
    "queue",
    "queueMaxAMShareDefault",
    "queueMaxAppsDefault",
    "queueMaxResourcesDefault",
    "schedulingPolicy",
    "userMaxAppsDefault",
];

/// Elements that YARN knows but a replay does not follow, each with the reason.
const UNSUPPORTED: &[(&str, Why<'static>)] = &[
    ("aclAdministerApps", Why::harmless("a replay does not check who may submit")),
    ("aclSubmitApps", Why::harmless("a replay does not check who may submit")),
    ("maxContainerAllocation", Why::harmless("the log holds the jobs that were accepted")),
    ("queuePlacementPolicy", Why::bears("`--policy yarn-fair:placement=…` says which queue a job goes to")),
    ("reservation", Why::bears("reservations of users are not replayed")),
];

/// True if a file is YARN's.
pub(super) fn is_yarn(element: Element<'_>) -> bool {
    let unsupported = |name: &str| UNSUPPORTED.iter().any(|(other, _)| *other == name);
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
    let mut defaults = Defaults::default();
    for element in root.children() {
        of_all(&mut tree.get_mut(top).settings, &mut defaults, element, site, notes)?;
    }
    defaults.fill(&mut tree);
    check(&tree).map_err(|problem| notes.wrong(root.place(), "the queues", "those that YARN takes", &problem))?;
    site.yarn_fair = Some(tree);
    Ok(())
}

/// What holds for queues that do not say.
#[derive(Default)]
struct Defaults {
    most_apps: Option<u32>,
    most: Option<Amounts>,
}

impl Defaults {
    fn fill(&self, tree: &mut QueueTree<FairQueue>) {
        for place in 0..tree.queues().len() {
            let settings = &mut tree.get_mut(place).settings;
            if place != QueueTree::<FairQueue>::ROOT {
                settings.max_apps = settings.max_apps.or(self.most_apps);
            }
            let Some(most) = &self.most else { continue };
            let limits = [settings.max_memory_mb, settings.max_vcores];
            let shares = [settings.max_memory_share, settings.max_vcores_share];
            if limits == [None; 2] && shares == [None; 2] {
                most.limit(settings);
            }
            let limits = [settings.max_child_memory_mb, settings.max_child_vcores];
            let shares = [settings.max_child_memory_share, settings.max_child_vcores_share];
            if limits == [None; 2] && shares == [None; 2] {
                most.limit_children(settings);
            }
        }
    }
}

/// Reads an element that holds for all queues or users.
fn of_all(
    top: &mut FairQueue,
    defaults: &mut Defaults,
    element: Element<'_>,
    site: &mut Site,
    notes: &mut Notes<'_>,
) -> Result<(), Error> {
    match element.name() {
        "defaultMinSharePreemptionTimeout" => top.min_share_timeout = Some(element.seconds(notes)?),
        "defaultFairSharePreemptionTimeout" => top.fair_share_timeout = Some(element.seconds(notes)?),
        "fairSharePreemptionTimeout" => {
            let timeout = element.seconds(notes)?;
            top.fair_share_timeout.get_or_insert(timeout);
        }
        "defaultFairSharePreemptionThreshold" => top.fair_share_threshold = Some(element.number(notes, 0.0, 1.0)?),
        "queueMaxAppsDefault" => {
            let most = element.count(notes)?;
            defaults.most_apps = Some(most);
            site.parameters.insert((POLICY, "queue_max_apps"), most.to_string());
            site.note_zero((POLICY, "", "max_apps"), element);
        }
        "queueMaxResourcesDefault" => defaults.most = Some(resources(element, notes)?),
        "userMaxAppsDefault" => {
            site.parameters.insert((POLICY, "user_max_apps"), element.count(notes)?.to_string());
        }
        "user" => user(element, site, notes)?,
        "queueMaxAMShareDefault" => masters(element, site, notes)?,
        "defaultQueueSchedulingPolicy" | "defaultQueueSchedulingMode" => {
            if let Some((name, _)) = policy(element, notes) {
                site.parameters.insert((POLICY, "share"), name);
            }
        }
        "queue" | "pool" => {}
        _ => unsupported(element, notes),
    }
    Ok(())
}

/// Reads the share of masters of queues that do not say.
fn masters(element: Element<'_>, site: &mut Site, notes: &mut Notes<'_>) -> Result<(), Error> {
    let share: f64 = element.number(notes, -1.0, 1.0)?;
    // With 0, no queue without a share of its own runs any job.
    if share == 0.0 {
        let expected = "-1 for no limit, or a share above 0 up to 1";
        return Err(notes.wrong(element.place(), &element.tag(), expected, &element.text()));
    }
    let share = if share < 0.0 { -1.0 } else { share };
    site.parameters.insert((POLICY, "max_am_share"), share.to_string());
    Ok(())
}

/// Reads the limit of a user.
fn user(element: Element<'_>, site: &mut Site, notes: &mut Notes<'_>) -> Result<(), Error> {
    let name = element.named(notes)?;
    for part in element.children() {
        match part.name() {
            "maxRunningApps" => _ = site.yarn_fair_users.insert(name.clone(), part.count(notes)?),
            // The name of MapReduce 1.
            "maxRunningJobs" => {
                let why = Why::harmless("YARN passes it over; its name there is `maxRunningApps`");
                notes.unsupported(part.place(), &part.tag(), why);
            }
            _ => unsupported(part, notes),
        }
    }
    Ok(())
}

/// Names what has no effect.
fn unsupported(element: Element<'_>, notes: &mut Notes<'_>) {
    let known = UNSUPPORTED.iter().find(|(name, _)| *name == element.name());
    let why = known.map_or(Why::bears("resched does not know it"), |(_, why)| *why);
    notes.unsupported(element.place(), &element.tag(), why);
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
            "minResources" => guarantee(&mut queue, part, notes)?,
            "maxResources" => {
                let most = resources(part, notes)?;
                most.limit(&mut queue);
                let zeros = [("max_memory_mb", most.memory_mb), ("max_vcores", most.vcores)];
                for (key, _) in zeros.into_iter().filter(|(_, most)| *most == Some(0)) {
                    site.limits.insert((POLICY, path.clone(), key), SettingOrigin::of_element(part));
                }
            }
            "maxChildResources" => resources(part, notes)?.limit_children(&mut queue),
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
            "fairSharePreemptionThreshold" => queue.fair_share_threshold = Some(part.number(notes, 0.0, 1.0)?),
            "allowPreemptionFrom" => queue.preemptable = Some(part.text().eq_ignore_ascii_case("true")),
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

/// Reads what a queue is guaranteed.
fn guarantee(queue: &mut FairQueue, element: Element<'_>, notes: &mut Notes<'_>) -> Result<(), Error> {
    let Amounts { memory_mb, vcores, shares, others } = resources(element, notes)?;
    if shares != [None; 2] {
        let why = "a share of the cluster; give memory in mb and vcores";
        notes.unsupported(element.place(), &element.tag(), why);
    }
    (queue.min_memory_mb, queue.min_vcores) = (memory_mb.unwrap_or(0), vcores.unwrap_or(0));
    queue.min_resources = others;
    Ok(())
}

/// What a queue is guaranteed or may have at most, as far as it is given.
#[derive(Default)]
struct Amounts {
    memory_mb: Option<u32>,
    vcores: Option<u32>,
    /// Shares of the cluster's memory and virtual cores.
    shares: [Option<f64>; 2],
    /// Other resources by name.
    others: BTreeMap<String, u32>,
}

impl Amounts {
    /// Makes them the most that a queue may have.
    fn limit(&self, queue: &mut FairQueue) {
        (queue.max_memory_mb, queue.max_vcores) = (self.memory_mb, self.vcores);
        queue.max_resources.clone_from(&self.others);
        [queue.max_memory_share, queue.max_vcores_share] = self.shares;
    }

    /// Makes them the most that a queue may have that is made below another one.
    fn limit_children(&self, queue: &mut FairQueue) {
        (queue.max_child_memory_mb, queue.max_child_vcores) = (self.memory_mb, self.vcores);
        [queue.max_child_memory_share, queue.max_child_vcores_share] = self.shares;
    }
}

/// Memory (MB) and virtual cores: `2048 mb, 4 vcores` or `memory-mb=2048, vcores=4`; a number alone is memory. Each may be a percentage of
/// the cluster, as in `50% memory, 40% cpu`; a percentage alone is of both.
fn resources(element: Element<'_>, notes: &mut Notes<'_>) -> Result<Amounts, Error> {
    let text = element.text().to_lowercase();
    let mut found = Amounts::default();
    let percent = |notes: &Notes<'_>, text: &str| {
        notes
            .number::<f64>(element.place(), &element.tag(), text.trim(), 0.0, 100.0)
            .map(|percent| Some(percent / 100.0))
    };
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (number, unit) = match part.split_once('=') {
            Some((unit, number)) => (number.trim(), unit.trim()),
            None => part.split_at(part.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(part.len())),
        };
        // `memory=50%`, or `50% memory`.
        let share = number.strip_suffix('%').or_else(|| unit.trim().starts_with('%').then_some(number));
        let unit = unit.trim().trim_start_matches('%').trim();
        let amount = match (unit, share) {
            ("", Some(share)) => {
                found.shares = [percent(notes, share)?; 2];
                continue;
            }
            ("memory" | "memory-mb" | "mb", Some(share)) => {
                found.shares[0] = percent(notes, share)?;
                continue;
            }
            ("cpu" | "vcores", Some(share)) => {
                found.shares[1] = percent(notes, share)?;
                continue;
            }
            ("mb" | "memory-mb" | "memory" | "", None) => &mut found.memory_mb,
            ("vcores" | "vcore", None) => &mut found.vcores,
            (other, _) if !part.contains('=') => {
                let expected = "resources such as `2048 mb, 4 vcores`";
                return Err(notes.wrong(element.place(), &element.tag(), expected, &format!("{number} {other}")));
            }
            (other, None) => {
                let amount = notes.number(element.place(), &element.tag(), number, 0, i32::MAX as u32)?;
                found.others.insert(other.to_owned(), amount);
                continue;
            }
            (other, Some(_)) => {
                let why = format!("a queue has shares of memory and vcores here, and none of `{other}`");
                notes.unsupported(element.place(), &element.tag(), &why);
                continue;
            }
        };
        *amount = Some(notes.number(element.place(), &element.tag(), number, 0, i32::MAX as u32)?);
    }
    Ok(found)
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
