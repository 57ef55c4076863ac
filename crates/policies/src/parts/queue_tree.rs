//! A tree of queues, as the Capacity Schedulers and YARN's Fair Scheduler have it.

/// A queue.
#[derive(Debug, Clone, PartialEq)]
pub struct Queue<S> {
    /// Its own name.
    pub name: String,
    /// The names from the root down to it, joined by dots.
    pub path: String,
    /// Its parent's place in the tree; `None` for the root.
    pub parent: Option<usize>,
    /// Its children's places, in the order in which they were added.
    pub children: Vec<usize>,
    /// What is set for it.
    pub settings: S,
}

/// Queues under one root. A queue is named by its place; parents come before their children.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueTree<S> {
    queues: Vec<Queue<S>>,
}

impl<S> QueueTree<S> {
    /// The place of the root.
    pub const ROOT: usize = 0;

    /// A tree of a root alone, named `root`.
    pub fn new(settings: S) -> Self {
        let root = Queue { name: "root".to_owned(), path: "root".to_owned(), parent: None, children: vec![], settings };
        Self { queues: vec![root] }
    }

    /// Adds a queue below another and returns its place.
    pub fn add(&mut self, parent: usize, name: &str, settings: S) -> usize {
        let place = self.queues.len();
        let path = format!("{}.{name}", self.queues[parent].path);
        self.queues[parent].children.push(place);
        self.queues.push(Queue { name: name.to_owned(), path, parent: Some(parent), children: Vec::new(), settings });
        place
    }

    /// All queues, by place.
    pub fn queues(&self) -> &[Queue<S>] {
        &self.queues
    }

    /// The queue at a place.
    pub fn get(&self, place: usize) -> &Queue<S> {
        &self.queues[place]
    }

    /// The queue at a place, to change its settings.
    pub fn get_mut(&mut self, place: usize) -> &mut Queue<S> {
        &mut self.queues[place]
    }

    /// Whether jobs may be submitted to a queue: it has no children.
    pub fn is_leaf(&self, place: usize) -> bool {
        self.queues[place].children.is_empty()
    }

    /// The places of the queues without children, in order.
    pub fn leaves(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.queues.len()).filter(|&place| self.is_leaf(place))
    }

    /// The queue of this path (with or without `root.`), or else the first leaf of this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        let of_path = |queue: &Queue<S>| queue.path == name || queue.path.strip_prefix("root.") == Some(name);
        let by_path = self.queues.iter().position(of_path);
        by_path.or_else(|| self.leaves().find(|&leaf| self.queues[leaf].name == name))
    }

    /// A queue and all above it, up to the root.
    pub fn with_ancestors(&self, place: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(place), |&place| self.queues[place].parent)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn queues_are_found_by_path_and_by_name() {
        let mut tree = QueueTree::new(());
        let a = tree.add(QueueTree::<()>::ROOT, "a", ());
        let b = tree.add(a, "b", ());
        assert_eq!(tree.get(b).path, "root.a.b");
        assert_eq!((tree.find("root.a.b"), tree.find("a.b"), tree.find("b")), (Some(b), Some(b), Some(b)));
        assert_eq!((tree.find("a"), tree.find("c")), (Some(a), None));
        assert_eq!(tree.leaves().collect::<Vec<_>>(), [b]);
        assert_eq!(tree.with_ancestors(b).collect::<Vec<_>>(), [b, a, 0]);
    }
}
