//! Who gives executors to applications: the standalone master, or YARN with the queues of one of its schedulers.
//!
//! YARN gives out executors one by one. The Capacity Scheduler goes down to the queue that uses the smallest part of its guarantee, as long as
//! it is below its limit, and serves the applications there in their order. The Fair Scheduler goes down to the queue, and then to the
//! application, that is below its guarantee or uses the least for its weight (`policies::yarn_capacity`, `policies::yarn_fair`).
//! What counts are cores, as executors of one size are compared; what the application masters take does not.

use std::cmp::Ordering;

use crate::error::Error;
use crate::parts::yarn_order::{Standing, fair_order};
use crate::queues::file::one_queue;
use crate::queues::yarn_capacity::{self, Shares};
use crate::queues::{FairQueue, QueueTree, SharePolicy, YarnQueue};
use crate::settings::choices;
use crate::site::Site;

choices! {
    /// Who gives executors to applications.
    pub(in crate::batch) enum Kind {
        /// The standalone master.
        Standalone = "standalone",
        /// YARN's Capacity Scheduler.
        Capacity = "capacity",
        /// YARN's Fair Scheduler.
        Fair = "fair",
    }
}

/// An application that has executors or asks for some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) app: usize,
    /// The place of its queue.
    pub(super) queue: usize,
    /// The cores that it has.
    pub(super) used: u64,
    /// The cores of the executor that it asks for next; `None`: it asks for none, or there is no room for it.
    pub(super) asks: Option<u64>,
}

/// Who gives executors to applications.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Manager {
    /// First come, first served.
    Standalone,
    /// Queues with guarantees, and the shares of each.
    Capacity(QueueTree<YarnQueue>, Vec<Shares>),
    /// Queues with weights.
    Fair(QueueTree<FairQueue>),
}

impl Manager {
    /// With the queues of the site; without any, there is one.
    ///
    /// # Errors
    /// The queues contradict each other.
    pub(super) fn new(kind: Kind, site: &Site) -> Result<Self, Error> {
        Ok(match kind {
            Kind::Standalone => Self::Standalone,
            Kind::Capacity => {
                let tree = site.yarn_queues.clone().unwrap_or_else(one_queue);
                let shares = yarn_capacity::shares(&tree, None).map_err(Error::File)?;
                Self::Capacity(tree, shares)
            }
            Kind::Fair => Self::Fair(site.yarn_fair.clone().unwrap_or_else(one_queue)),
        })
    }

    /// The place of the queue of this name. The Fair Scheduler makes one that it does not know.
    pub(super) fn queue(&mut self, name: &str) -> usize {
        match self {
            Self::Standalone => 0,
            Self::Capacity(tree, _) => tree.leaf_named(name).unwrap_or_else(|| tree.fallback()),
            Self::Fair(tree) => match tree.find(name) {
                Some(place) if tree.is_leaf(place) && place != QueueTree::<FairQueue>::ROOT => place,
                Some(parent) => default_of(tree, parent),
                None => tree.add(QueueTree::<FairQueue>::ROOT, name, FairQueue::default()),
            },
        }
    }

    /// The application that gets the next executor, of members in the order in which they registered. `cluster`: the cores
    /// of all machines.
    pub(super) fn next(&self, members: &[Member], cluster: u64) -> Option<usize> {
        match self {
            Self::Standalone => members.iter().find(|member| member.asks.is_some()).map(|member| member.app),
            Self::Capacity(tree, shares) => {
                let used = sums(tree, members, |member| member.used);
                by_capacity(tree, QueueTree::<YarnQueue>::ROOT, &|place| (shares[place], used[place]), members, cluster)
            }
            Self::Fair(tree) => {
                let used = sums(tree, members, |member| member.used);
                let demand = sums(tree, members, |member| member.used + member.asks.unwrap_or(0));
                by_fairness(tree, QueueTree::<FairQueue>::ROOT, &|place| [used[place], demand[place]], members)
            }
        }
    }
}

/// The queue for those that name a queue with others below it.
fn default_of(tree: &mut QueueTree<FairQueue>, parent: usize) -> usize {
    const DEFAULT: &str = crate::queues::file::DEFAULT_QUEUE;
    tree.child(parent, DEFAULT).unwrap_or_else(|| tree.add(parent, DEFAULT, FairQueue::default()))
}

/// A sum over the members of each queue and of all below it.
fn sums<S>(tree: &QueueTree<S>, members: &[Member], of: impl Fn(&Member) -> u64) -> Vec<u64> {
    let mut sums = vec![0; tree.queues().len()];
    for member in members {
        tree.with_ancestors(member.queue).for_each(|place| sums[place] += of(member));
    }
    sums
}

/// Who asks in a queue, in the order in which they registered.
fn asking(members: &[Member], queue: usize) -> impl Iterator<Item = &Member> {
    members.iter().filter(move |member| member.queue == queue && member.asks.is_some())
}

/// `of` gives the shares of a queue, and the cores that it uses.
fn by_capacity(
    tree: &QueueTree<YarnQueue>,
    place: usize,
    of: &dyn Fn(usize) -> (Shares, u64),
    members: &[Member],
    cluster: u64,
) -> Option<usize> {
    let (shares, used) = of(place);
    if used as f64 >= f64::from(shares.limit) * cluster as f64 {
        return None;
    }
    if tree.is_leaf(place) {
        return asking(members, place).next().map(|member| member.app);
    }
    let part = |child: usize| {
        let (shares, used) = of(child);
        used as f32 / (shares.capacity * cluster as f32)
    };
    let mut children = tree.get(place).children.clone();
    // A queue without a guarantee comes last.
    children.sort_by(|&a, &b| part(a).total_cmp(&part(b)).then_with(|| tree.get(a).path.cmp(&tree.get(b).path)));
    children.into_iter().find_map(|child| by_capacity(tree, child, of, members, cluster))
}

/// `of` gives the cores that a queue uses, and those that it could use.
fn by_fairness(
    tree: &QueueTree<FairQueue>,
    place: usize,
    of: &dyn Fn(usize) -> [u64; 2],
    members: &[Member],
) -> Option<usize> {
    let most = |place: usize| tree.get(place).settings.max_vcores.map_or(u64::MAX, u64::from);
    if tree.is_leaf(place) {
        let fits = |member: &&Member| of(place)[0] + member.asks.unwrap_or(0) <= most(place);
        let mut fitting: Vec<&Member> = asking(members, place).filter(fits).collect();
        if tree.get(place).settings.policy != Some(SharePolicy::Fifo) {
            fitting.sort_by_key(|member| member.used);
        }
        return fitting.first().map(|member| member.app);
    }
    if of(place)[0] >= most(place) {
        return None;
    }
    let standing = |child: usize| {
        let settings = &tree.get(child).settings;
        let [used, demand] = of(child);
        Standing { used, min_share: u64::from(settings.min_vcores).min(demand), weight: settings.weight as f32 }
    };
    let by_share = |&a: &usize, &b: &usize| -> Ordering {
        fair_order(&standing(a), &standing(b)).then_with(|| tree.get(a).path.cmp(&tree.get(b).path))
    };
    let mut children = tree.get(place).children.clone();
    children.sort_by(by_share);
    children.into_iter().find_map(|child| by_fairness(tree, child, of, members))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::queues::file::parse;

    /// Gives out executors of 2 cores of a cluster, to one application in each of these queues, which each want so many.
    fn given(manager: &mut Manager, cluster: u64, wanted: &[(&str, u64)]) -> Vec<u64> {
        let member = |(app, &(queue, _)): (usize, &(&str, u64))| Member {
            app,
            queue: manager.queue(queue),
            used: 0,
            asks: Some(2),
        };
        let mut members: Vec<Member> = wanted.iter().enumerate().map(member).collect();
        let mut left = cluster;
        while left >= 2
            && let Some(app) = manager.next(&members, cluster)
        {
            members[app].used += 2;
            left -= 2;
            if members[app].used >= 2 * wanted[app].1 {
                members[app].asks = None;
            }
        }
        members.iter().map(|member| member.used / 2).collect()
    }

    fn capacity(text: &str) -> Manager {
        let site = Site { yarn_queues: Some(parse(text).unwrap()), ..Site::default() };
        Manager::new(Kind::Capacity, &site).unwrap()
    }

    fn fair(text: &str) -> Manager {
        let site = Site { yarn_fair: Some(parse(text).unwrap()), ..Site::default() };
        Manager::new(Kind::Fair, &site).unwrap()
    }

    #[test]
    fn the_master_serves_first_come_first_served() {
        assert_eq!(given(&mut Manager::Standalone, 20, &[("a", 7), ("b", 9)]), [7, 3]);
    }

    #[test]
    fn queues_get_their_guarantees_and_what_others_leave_up_to_their_limits() {
        let mut manager = capacity("[queues.a]\ncapacity = 70\n[queues.b]\ncapacity = 30\nmaximum_capacity = 50\n");
        assert_eq!(given(&mut manager, 20, &[("b", 9), ("a", 9)]), [3, 7]);
        assert_eq!(given(&mut manager, 20, &[("b", 9), ("a", 1)]), [5, 1]);
        assert_eq!(given(&mut manager, 20, &[("a", 4), ("a", 9), ("b", 9)]), [4, 3, 3], "in one queue in their order");
        let mut one = Manager::new(Kind::Capacity, &Site::default()).unwrap();
        assert_eq!(given(&mut one, 20, &[("x", 8), ("y", 9)]), [8, 2]);
    }

    #[test]
    fn queues_share_by_weight_beyond_what_they_are_owed() {
        let mut manager = fair("[queues.a]\nweight = 3.0\n[queues.b]\nmin_vcores = 12\n[queues.c]\nmax_vcores = 4\n");
        assert_eq!(given(&mut manager, 20, &[("a", 9), ("b", 9)]), [4, 6]);
        assert_eq!(given(&mut manager, 20, &[("a", 9), ("b", 2), ("c", 9)]), [6, 2, 2]);
        let mut one = fair("[queues.q]\n[queues.f]\npolicy = 'fifo'\n");
        assert_eq!(given(&mut one, 20, &[("q", 9), ("q", 9)]), [5, 5]);
        assert_eq!(given(&mut one, 20, &[("f", 7), ("f", 9)]), [7, 3]);
        assert_eq!(given(&mut one, 20, &[("new", 9), ("q", 9)]), [5, 5], "an unknown queue is made");
    }
}
