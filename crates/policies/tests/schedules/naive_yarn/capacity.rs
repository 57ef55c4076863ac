//! YARN's Capacity Scheduler (`docs/model/yarn-policies.md`, and C1 to C7 of `docs/yarn.md`).

use std::cmp::Ordering;

use resched_sim::cluster_file::Calculator;
use resched_tables::model::Locality;

use super::{Amount, Cluster, PRIORITIES, Reservation, round_up};

const ROOT: usize = 0;

/// A queue and its settings; shares in percent of the queue above.
#[derive(Debug, Clone)]
pub(crate) struct Queue {
    pub(crate) name: String,
    /// Its place among the queues; the root is its own.
    pub(crate) parent: usize,
    pub(crate) capacity: f64,
    pub(crate) maximum: f64,
    pub(crate) user_limit: u32,
    pub(crate) user_limit_factor: f64,
    pub(crate) am_share: f64,
}

/// The settings. The first queue is the root; a queue comes after the one above it.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) queues: Vec<Queue>,
    pub(crate) node_locality_delay: i64,
}

#[derive(Debug, Clone, Default)]
struct App {
    leaf: usize,
    here: bool,
    active: bool,
    /// By priority.
    missed: [i64; 3],
    rereservations: [i64; 3],
    headroom: i64,
}

/// The scheduler.
pub(crate) struct Capacity {
    settings: Settings,
    apps: Vec<App>,
    calculator: Calculator,
    total: Amount,
    step: Amount,
    /// Where there are no vcores to count, memory alone decides.
    absolute: Vec<Shares>,
}

/// Shares in single precision, of the cluster but for `of_parent`.
#[derive(Debug, Clone, Copy)]
struct Shares {
    capacity: f32,
    maximum: f32,
    of_parent: f32,
}

/// What a look at a queue gave: a container, or a reservation, as one so near.
type Assigned = Option<Locality>;

impl Capacity {
    pub(crate) fn new(settings: &Settings, cluster: &Cluster<'_>) -> Self {
        let mut absolute: Vec<Shares> = Vec::new();
        for (place, queue) in settings.queues.iter().enumerate() {
            if place == ROOT {
                absolute.push(Shares { capacity: 1.0, maximum: 1.0, of_parent: 1.0 });
                continue;
            }
            let above = absolute[queue.parent];
            let (capacity, of_parent) = (queue.capacity as f32 / 100.0, queue.maximum as f32 / 100.0);
            absolute.push(Shares {
                capacity: above.capacity * capacity,
                maximum: above.maximum * of_parent,
                of_parent,
            });
        }
        Self {
            settings: settings.clone(),
            apps: vec![App::default(); cluster.world.jobs.len()],
            calculator: cluster.calculator,
            total: cluster.total(),
            step: cluster.minimum(),
            absolute,
        }
    }

    // Applications come and go.

    pub(crate) fn arrive(&mut self, cluster: &Cluster<'_>, app: usize) {
        let name = format!("queue{}", cluster.world.jobs[app].queue);
        let leaves = || (1..self.settings.queues.len()).filter(|&queue| self.is_leaf(queue));
        // Decision of the policy: a job of an unknown queue goes to the first leaf.
        let named = leaves().find(|&queue| self.settings.queues[queue].name == name);
        let leaf = named.or_else(|| leaves().next()).expect("a leaf");
        self.apps[app] = App { leaf, here: true, ..App::default() };
        self.activate(cluster, leaf);
    }

    pub(crate) fn leave(&mut self, cluster: &Cluster<'_>, app: usize) {
        (self.apps[app].here, self.apps[app].active) = (false, false);
        self.activate(cluster, self.apps[app].leaf);
    }

    /// The number of active applications of a queue, and of a user in it, is limited.
    fn activate(&mut self, cluster: &Cluster<'_>, leaf: usize) {
        let Queue { user_limit, user_limit_factor, am_share, .. } = self.settings.queues[leaf];
        let containers = self.ratio(self.total, self.step);
        let most = |share: f32| ((containers * am_share as f32 * share).ceil() as usize).max(1);
        let most_active = most(self.absolute[leaf].maximum);
        let by_capacity = most(self.absolute[leaf].capacity) as f32;
        let of_user = ((by_capacity * (user_limit as f32 / 100.0) * user_limit_factor as f32).ceil() as usize).max(1);
        for app in 0..self.apps.len() {
            if !self.apps[app].here || self.apps[app].active || self.apps[app].leaf != leaf {
                continue;
            }
            let user = |app: usize| cluster.world.jobs[app].user;
            let active =
                || (0..self.apps.len()).filter(|&other| self.apps[other].active && self.apps[other].leaf == leaf);
            if active().count() >= most_active {
                return;
            }
            self.apps[app].active = active().filter(|&other| user(other) == user(app)).count() < of_user;
        }
    }

    /// The stored headroom, never negative.
    pub(crate) fn headroom(&self, app: usize) -> i64 {
        self.apps[app].headroom.max(0)
    }

    // A node's heartbeat.

    pub(crate) fn node_update(&mut self, cluster: &mut Cluster<'_>, node: usize) {
        if let Some(Reservation { app, priority, .. }) = cluster.reserved[node] {
            if cluster.asked(app, priority) == 0 {
                // Nobody wants it any more.
                self.unreserve(cluster, app, priority, node);
            } else if cluster.fits(priority, node) {
                // It was charged for when it was reserved; and its opportunities and headroom stay.
                self.apps[app].rereservations[priority] = 0;
                cluster.grant(app, priority, node);
            } else {
                // C1.
                self.apps[app].rereservations[priority] += 1;
            }
        }
        if self.has_room(cluster, node) {
            self.assign_in_parent(cluster, ROOT, node);
        }
    }

    fn unreserve(&mut self, cluster: &mut Cluster<'_>, app: usize, priority: usize, node: usize) {
        cluster.reserved[node] = None;
        self.apps[app].rereservations[priority] = 0;
    }

    /// C5.
    fn has_room(&self, cluster: &Cluster<'_>, node: usize) -> bool {
        cluster.reserved[node].is_none() && self.compare(cluster.free(node), self.step) != Ordering::Less
    }

    fn assign_in_parent(&mut self, cluster: &mut Cluster<'_>, queue: usize, node: usize) -> Assigned {
        let mut last = None;
        while self.has_room(cluster, node) {
            if self.share(self.used(cluster, queue), self.total) >= self.absolute[queue].maximum {
                break;
            }
            let Some(near) = self.assign_in_children(cluster, queue, node) else { break };
            last = Some(near);
            // One container a look below the root; one far from its data ends the heartbeat.
            if queue != ROOT || near == Locality::Off {
                break;
            }
        }
        last
    }

    fn assign_in_children(&mut self, cluster: &mut Cluster<'_>, queue: usize, node: usize) -> Assigned {
        let below = |&child: &usize| child != ROOT && self.settings.queues[child].parent == queue;
        let mut children: Vec<usize> = (0..self.settings.queues.len()).filter(below).collect();
        // C3.
        children.sort_by(|&one, &other| {
            let used = [one, other].map(|child| self.used_capacity(cluster, child));
            let path = |child| self.path(child);
            used[0].partial_cmp(&used[1]).expect("a number").then_with(|| path(one).cmp(&path(other)))
        });
        children.into_iter().find_map(|child| {
            if self.is_leaf(child) {
                self.assign_in_leaf(cluster, child, node)
            } else {
                self.assign_in_parent(cluster, child, node)
            }
        })
    }

    fn assign_in_leaf(&mut self, cluster: &mut Cluster<'_>, leaf: usize, node: usize) -> Assigned {
        for app in 0..self.apps.len() {
            if !self.apps[app].active || self.apps[app].leaf != leaf {
                continue;
            }
            for priority in PRIORITIES {
                if !self.needs_containers(cluster, app, priority) {
                    continue;
                }
                let required = cluster.size(priority);
                let limit = self.user_limit(cluster, app, required);
                self.apps[app].headroom = self.new_headroom(cluster, app, limit);
                if self.share(self.used(cluster, leaf).plus(required), self.total) > self.absolute[leaf].maximum {
                    return None;
                }
                if self.compare(self.used_by_user(cluster, app), limit) == Ordering::Greater {
                    break;
                }
                self.apps[app].missed[priority] += 1;
                match self.assign(cluster, app, priority, node) {
                    Some(near) => {
                        self.apps[app].headroom = self.apps[app].headroom.max(0) - required.memory;
                        if near != Locality::Off {
                            self.apps[app].missed[priority] = 0;
                        }
                        return Some(near);
                    }
                    None => break,
                }
            }
        }
        None
    }

    /// Gives an application a container, or keeps the node for it, if the node is near enough.
    fn assign(&mut self, cluster: &mut Cluster<'_>, app: usize, priority: usize, node: usize) -> Assigned {
        let missed = self.apps[app].missed[priority];
        let nodes = cluster.world.machines.len() as i64;
        let (on_host, in_rack) = (cluster.asked_on(app, priority, node), cluster.asked_in_rack(app, priority, node));
        let asked = cluster.asked(app, priority);
        let near = if in_rack > 0 && on_host > 0 {
            Locality::Node
        } else if in_rack > 0 && nodes.min(self.settings.node_locality_delay) < missed {
            Locality::Rack
        } else if asked as f32 * self.wait_factor(cluster, app, priority) < missed as f32 {
            Locality::Off
        } else {
            return None;
        };
        if !cluster.fits(priority, node) {
            cluster.reserve(app, priority, node);
            // C1.
            self.apps[app].rereservations[priority] = 0;
        } else if asked > 0 {
            cluster.grant(app, priority, node);
        } else {
            // It would only have reserved.
            return None;
        }
        Some(near)
    }

    /// C2.
    fn wait_factor(&self, cluster: &Cluster<'_>, app: usize, priority: usize) -> f32 {
        let (hosts, racks) = if priority == super::MAP { cluster.places(app) } else { Default::default() };
        ((hosts.len() + racks.len()) as f32 / cluster.world.machines.len() as f32).min(1.0)
    }

    /// C1.
    fn needs_containers(&self, cluster: &Cluster<'_>, app: usize, priority: usize) -> bool {
        let kept = |reservation: &&Reservation| (reservation.app, reservation.priority) == (app, priority);
        let reserved = cluster.reserved.iter().flatten().filter(kept).count() as i64;
        let mut wanted = cluster.asked(app, priority);
        if reserved > 0 {
            let largest = cluster.maximum();
            let size = self.ratio(cluster.size(priority), largest);
            let rest = self.ratio(largest.minus(self.step), largest);
            let repeated = self.apps[app].rereservations[priority] as f32 / reserved as f32;
            wanted += (repeated * (1.0 - size.min(rest))) as i64;
        }
        wanted > reserved
    }

    /// What a user may have, with whole pairs of memory and vcores (C7).
    fn user_limit(&self, cluster: &Cluster<'_>, app: usize, required: Amount) -> Amount {
        let leaf = self.apps[app].leaf;
        let Queue { user_limit, user_limit_factor, .. } = self.settings.queues[leaf];
        let guarantee = self.larger(self.part_up(self.absolute[leaf].capacity), required);
        let used = self.used(cluster, leaf);
        let current = if self.compare(used, guarantee) == Ordering::Less { guarantee } else { used.plus(required) };
        let mut users: Vec<usize> = (0..self.apps.len())
            .filter(|&other| self.apps[other].here && self.apps[other].leaf == leaf && cluster.asks(other))
            .map(|other| cluster.world.jobs[other].user)
            .collect();
        users.sort_unstable();
        users.dedup();
        let ceil = |value: i64, by: i64| if by == 0 { 0 } else { (value + by - 1) / by };
        let equal = current.each(|value| ceil(value, users.len() as i64));
        let least = current.each(|value| ceil(value * i64::from(user_limit), 100));
        let most = guarantee.each(|value| (value as f64 * f64::from(user_limit_factor as f32)) as i64);
        self.rounded_up(self.smaller(self.larger(equal, least), most))
    }

    /// C4.
    fn new_headroom(&self, cluster: &Cluster<'_>, app: usize, limit: Amount) -> i64 {
        let share = self.most_available(cluster, self.apps[app].leaf);
        let down = |value: i64, step: i64| (value as f64 * f64::from(share)) as i64 / step * step;
        let most = Amount {
            memory: down(self.total.memory, self.step.memory),
            vcores: down(self.total.vcores, self.step.vcores),
        };
        self.smaller(limit, most).memory - self.used_by_user(cluster, app).memory
    }

    /// C4: the share of the cluster that a queue could have besides what its siblings use.
    fn most_available(&self, cluster: &Cluster<'_>, queue: usize) -> f32 {
        if queue == ROOT {
            return self.absolute[ROOT].maximum;
        }
        let parent = self.settings.queues[queue].parent;
        let above = self.most_available(cluster, parent);
        let of_parent = self.total.each(|value| (value as f64 * f64::from(above)) as i64);
        let nothing = match self.calculator {
            Calculator::Memory => of_parent.memory == 0,
            Calculator::Dominant => of_parent.memory == 0 || of_parent.vcores == 0,
        };
        if nothing {
            return 0.0;
        }
        let siblings = self.used(cluster, parent).minus(self.used(cluster, queue));
        self.absolute[queue].of_parent.min(1.0 - self.ratio(siblings, of_parent)) * above
    }

    // What there is, counted.

    fn is_leaf(&self, queue: usize) -> bool {
        !self.settings.queues.iter().skip(1).any(|other| other.parent == queue)
    }

    fn path(&self, queue: usize) -> String {
        let settings = &self.settings.queues[queue];
        if queue == ROOT { settings.name.clone() } else { format!("{}.{}", self.path(settings.parent), settings.name) }
    }

    fn is_below(&self, leaf: usize, queue: usize) -> bool {
        leaf == queue || leaf != ROOT && self.is_below(self.settings.queues[leaf].parent, queue)
    }

    /// Containers and reservations of applications.
    fn used_by_apps(&self, cluster: &Cluster<'_>, wanted: impl Fn(usize) -> bool) -> Amount {
        let apps = (0..self.apps.len()).filter(|&app| self.apps[app].here && wanted(app));
        Amount::sum(apps.map(|app| cluster.used_by(app).plus(cluster.reserved_by(app))))
    }

    fn used(&self, cluster: &Cluster<'_>, queue: usize) -> Amount {
        self.used_by_apps(cluster, |app| self.is_below(self.apps[app].leaf, queue))
    }

    fn used_by_user(&self, cluster: &Cluster<'_>, app: usize) -> Amount {
        let user = |app: usize| (self.apps[app].leaf, cluster.world.jobs[app].user);
        self.used_by_apps(cluster, |other| user(other) == user(app))
    }

    /// C3: used / trunc(cluster × capacity), in single precision.
    fn used_capacity(&self, cluster: &Cluster<'_>, queue: usize) -> f32 {
        let guarantee = self.total.each(|value| (value as f64 * f64::from(self.absolute[queue].capacity)) as i64);
        let nothing = match self.calculator {
            Calculator::Memory => guarantee.memory == 0,
            Calculator::Dominant => guarantee == Amount::default(),
        };
        if nothing { 0.0 } else { self.share(self.used(cluster, queue), guarantee) }
    }

    // The calculators.

    /// The larger and the smaller share of the cluster.
    fn shares(&self, amount: Amount) -> [f32; 2] {
        let memory = amount.memory as f32 / self.total.memory as f32;
        let vcores = amount.vcores as f32 / self.total.vcores as f32;
        [memory.max(vcores), memory.min(vcores)]
    }

    /// C6.
    fn compare(&self, one: Amount, other: Amount) -> Ordering {
        match self.calculator {
            Calculator::Memory => one.memory.cmp(&other.memory),
            Calculator::Dominant => self.shares(one).partial_cmp(&self.shares(other)).expect("numbers"),
        }
    }

    fn larger(&self, one: Amount, other: Amount) -> Amount {
        if self.compare(one, other) == Ordering::Less { other } else { one }
    }

    fn smaller(&self, one: Amount, other: Amount) -> Amount {
        if self.compare(one, other) == Ordering::Greater { other } else { one }
    }

    /// How many times `other` an amount is, by the resource of which it is more.
    fn ratio(&self, one: Amount, other: Amount) -> f32 {
        let memory = one.memory as f32 / other.memory as f32;
        match self.calculator {
            Calculator::Memory => memory,
            Calculator::Dominant => memory.max(one.vcores as f32 / other.vcores as f32),
        }
    }

    /// The same, by the dominant shares of both.
    fn share(&self, one: Amount, other: Amount) -> f32 {
        match self.calculator {
            Calculator::Memory => one.memory as f32 / other.memory as f32,
            Calculator::Dominant => self.shares(one)[0] / self.shares(other)[0],
        }
    }

    /// A share of the cluster, rounded up to whole containers.
    fn part_up(&self, share: f32) -> Amount {
        let part = |value: i64| value as f64 * f64::from(share);
        self.rounded_up(match self.calculator {
            Calculator::Memory => self.total.each(|value| (part(value) + 0.5) as i64),
            // C7.
            Calculator::Dominant => self.total.each(|value| part(value).ceil() as i64),
        })
    }

    fn rounded_up(&self, amount: Amount) -> Amount {
        Amount { memory: round_up(amount.memory, self.step.memory), vcores: round_up(amount.vcores, self.step.vcores) }
    }
}
