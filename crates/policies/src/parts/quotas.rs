//! Quotas of queues in a tree: what each may hold of every dimension, what it holds, and what it has borrowed.
//!
//! A queue has a nominal amount, which is its own, and may hold more while the root has it: it borrows what others leave. What a queue
//! holds counts for all queues above it, too. A dimension that a nominal amount does not have is one of which there is nothing.

use resched_sim::batch::Amounts;

use crate::queues::QueueTree;

/// What a queue may hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Quota {
    /// What is its own. That of the root is all there is.
    pub nominal: Amounts,
    /// The most that it may hold with what it borrows; `None`: as much as there is.
    pub most: Option<Amounts>,
}

/// The quotas of a tree of queues, and what is held. Queues are named by their places in the tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Quotas {
    tree: QueueTree<Quota>,
    /// What each queue holds with those below it.
    used: Vec<Amounts>,
}

impl Quotas {
    /// Nothing is held.
    pub fn new(tree: QueueTree<Quota>) -> Self {
        let used = vec![Amounts::default(); tree.queues().len()];
        Self { tree, used }
    }

    /// The queues.
    pub fn tree(&self) -> &QueueTree<Quota> {
        &self.tree
    }

    /// What a queue holds with those below it.
    pub fn used(&self, queue: usize) -> &Amounts {
        &self.used[queue]
    }

    /// True if a queue may hold so much more: it and all above it stay within the most that they may hold, and the root within what there
    /// is.
    pub fn can_admit(&self, queue: usize, amounts: &Amounts) -> bool {
        let may = |place: usize| {
            let most = self.tree.get(place).settings.most.as_ref();
            most.is_none_or(|most| most.hold_both(&self.used[place], amounts))
        };
        let root = QueueTree::<Quota>::ROOT;
        self.tree.with_ancestors(queue).all(may)
            && self.tree.get(root).settings.nominal.hold_both(&self.used[root], amounts)
    }

    /// True if a queue holds no more than its own with so much more.
    pub fn is_nominal(&self, queue: usize, amounts: &Amounts) -> bool {
        self.tree.get(queue).settings.nominal.hold_both(&self.used[queue], amounts)
    }

    /// What a queue holds beyond its own.
    pub fn borrowed(&self, queue: usize) -> Amounts {
        let mut borrowed = self.used[queue].clone();
        borrowed.take(&self.tree.get(queue).settings.nominal);
        borrowed
    }

    /// A queue holds so much more. Whether it may is not asked.
    pub fn admit(&mut self, queue: usize, amounts: &Amounts) {
        let Self { tree, used } = self;
        tree.with_ancestors(queue).for_each(|place| used[place].add(amounts));
    }

    /// It gives so much back.
    pub fn release(&mut self, queue: usize, amounts: &Amounts) {
        let Self { tree, used } = self;
        tree.with_ancestors(queue).for_each(|place| used[place].take(amounts));
    }
}

#[cfg(test)]
mod tests {
    use resched_sim::Resources;

    use super::*;

    fn cpu(cpu: u64) -> Amounts {
        Amounts::of(Resources { cpu, memory: 0 })
    }

    #[test]
    fn what_a_queue_holds_counts_for_all_above_it() {
        let quota = |nominal: u64, most: Option<u64>| Quota { nominal: cpu(nominal), most: most.map(cpu) };
        let mut tree = QueueTree::new(quota(10, None));
        let team = tree.add(0, "team", quota(4, Some(6)));
        let [a, b] = [tree.add(team, "a", quota(2, None)), tree.add(team, "b", quota(2, Some(3)))];
        let other = tree.add(0, "other", quota(6, None));
        let mut quotas = Quotas::new(tree);
        assert!(quotas.can_admit(a, &cpu(6)) && !quotas.can_admit(a, &cpu(7)), "its team may hold 6");
        assert!(quotas.can_admit(b, &cpu(3)) && !quotas.can_admit(b, &cpu(4)));
        assert!(quotas.is_nominal(a, &cpu(2)) && !quotas.is_nominal(a, &cpu(3)));
        quotas.admit(a, &cpu(5));
        assert_eq!([a, b, team, 0].map(|queue| quotas.used(queue).main.cpu), [5, 0, 5, 5]);
        assert_eq!([a, team, other].map(|queue| quotas.borrowed(queue).main.cpu), [3, 1, 0]);
        assert!(quotas.can_admit(b, &cpu(1)) && !quotas.can_admit(b, &cpu(2)));
        assert!(quotas.can_admit(other, &cpu(5)) && !quotas.can_admit(other, &cpu(6)), "the root has 10");
        quotas.release(a, &cpu(5));
        assert_eq!(quotas, Quotas::new(quotas.tree().clone()));
    }
}
