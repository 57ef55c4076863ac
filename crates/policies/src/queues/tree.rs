//! The tree of queues of the Capacity Schedulers and YARN's Fair Scheduler.

use std::collections::BTreeMap;

/// How many queues may lie below each other, the root not counted. A file with more is a mistake.
pub(crate) const DEEPEST: usize = 32;

/// The names on the path of a queue from below the root, which need not be named, down to the queue itself.
pub(crate) fn names_on(path: &str) -> impl Iterator<Item = &str> {
    let mut names = path.split('.').peekable();
    names.next_if_eq(&"root");
    names.filter(|name| !name.is_empty())
}

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
    /// Its settings.
    pub settings: S,
}

/// Queues under one root. A queue is named by its place; parents come before their children.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueTree<S> {
    queues: Vec<Queue<S>>,
    /// The place of each queue by its parent's place and its own name; of several, the first.
    by_name: BTreeMap<usize, BTreeMap<String, usize>>,
    /// The place of each queue by its path; of several, the first.
    by_path: BTreeMap<String, usize>,
    /// The places of all queues of a name, in order.
    of_name: BTreeMap<String, Vec<usize>>,
}

impl<S> QueueTree<S> {
    /// The place of the root.
    pub const ROOT: usize = 0;

    /// A tree of a root alone, named `root`.
    pub fn new(settings: S) -> Self {
        let root = Queue { name: "root".to_owned(), path: "root".to_owned(), parent: None, children: vec![], settings };
        let mut tree =
            Self { queues: Vec::new(), by_name: BTreeMap::new(), by_path: BTreeMap::new(), of_name: BTreeMap::new() };
        tree.push(root);
        tree
    }

    /// A tree of queues named by their paths below the root, `etl` and `etl.daily`. A queue must be named for those below it.
    ///
    /// # Errors
    /// The path that is wrong, and why, in a sentence.
    pub fn from_paths(root: S, queues: BTreeMap<String, S>) -> Result<Self, String> {
        let mut tree = Self::new(root);
        let mut places = BTreeMap::new();
        // In the order of their paths, a parent comes before its children.
        for (path, settings) in queues {
            let (parent, name) = path.rsplit_once('.').unwrap_or(("", &path));
            let parent = match (parent, places.get(parent)) {
                ("", _) => Self::ROOT,
                (_, Some(&place)) => place,
                (_, None) => return Err(format!("queues.\"{path}\": there is no queue `{parent}` above it")),
            };
            if name.is_empty() {
                return Err(format!("queues.\"{path}\": its name is empty"));
            }
            let place = tree.add(parent, name, settings);
            places.insert(path, place);
        }
        Ok(tree)
    }

    /// Adds a queue below another and returns its place.
    pub fn add(&mut self, parent: usize, name: &str, settings: S) -> usize {
        let place = self.queues.len();
        let path = format!("{}.{name}", self.queues[parent].path);
        self.queues[parent].children.push(place);
        self.by_name.entry(parent).or_default().entry(name.to_owned()).or_insert(place);
        self.push(Queue { name: name.to_owned(), path, parent: Some(parent), children: Vec::new(), settings });
        place
    }

    fn push(&mut self, queue: Queue<S>) {
        let place = self.queues.len();
        self.by_path.entry(queue.path.clone()).or_insert(place);
        self.of_name.entry(queue.name.clone()).or_default().push(place);
        self.queues.push(queue);
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

    /// True if jobs may be submitted to a queue: it has no children.
    pub fn is_leaf(&self, place: usize) -> bool {
        self.queues[place].children.is_empty()
    }

    /// The places of the queues without children, in order.
    pub fn leaves(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.queues.len()).filter(|&place| self.is_leaf(place))
    }

    /// The queue of this name directly below another.
    pub fn child(&self, parent: usize, name: &str) -> Option<usize> {
        self.by_name.get(&parent)?.get(name).copied()
    }

    /// The queue of this path (with or without `root.`), or else the first leaf of this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        let below_root = format!("root.{name}");
        let by_path = [name, &below_root].into_iter().filter_map(|path| self.by_path.get(path).copied()).min();
        by_path.or_else(|| self.of_name.get(name)?.iter().copied().find(|&place| self.is_leaf(place)))
    }

    /// How many queues lie between a queue and the root, itself included; 0 for the root.
    pub(crate) fn depth(&self, place: usize) -> usize {
        self.with_ancestors(place).count() - 1
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
        assert_eq!([0, a, b].map(|place| tree.depth(place)), [0, 1, 2]);
    }

    /// A queue is found as by a look at all of them in order, also where names repeat.
    #[test]
    fn the_first_queue_of_a_path_or_a_name_is_found() {
        let mut tree = QueueTree::new(());
        for (parent, name) in
            [(0, "root"), (0, "a"), (1, "a"), (1, "b"), (2, "b"), (0, "a"), (6, "c"), (4, "a"), (3, "root.a")]
        {
            tree.add(parent, name, ());
        }
        let by_path = |name: &str| {
            let of_path = |queue: &Queue<()>| queue.path == name || queue.path.strip_prefix("root.") == Some(name);
            tree.queues().iter().position(of_path)
        };
        let by_scan = |name: &str| by_path(name).or_else(|| tree.leaves().find(|&leaf| tree.get(leaf).name == name));
        for name in
            ["", "root", "root.root", "a", "b", "c", "root.a", "a.b", "root.root.a", "root.a.c", "d", "root.b.a"]
        {
            assert_eq!(tree.find(name), by_scan(name), "{name}");
            for parent in 0..tree.queues().len() {
                let mut children = tree.get(parent).children.iter().copied();
                assert_eq!(tree.child(parent, name), children.find(|&child| tree.get(child).name == name), "{name}");
            }
        }
    }

    #[test]
    fn a_path_may_begin_with_the_root() {
        let names = |path| names_on(path).collect::<Vec<_>>();
        assert_eq!((names("root.a.b"), names("a..b")), (vec!["a", "b"], vec!["a", "b"]));
        assert_eq!((names("root"), names("rooted"), names("a.root")), (vec![], vec!["rooted"], vec!["a", "root"]));
    }

    #[test]
    fn a_tree_can_be_made_from_paths() {
        let of = |paths: &[&str]| QueueTree::from_paths((), paths.iter().map(|&path| (path.to_owned(), ())).collect());
        let tree = of(&["a", "b", "a.x"]).unwrap();
        assert_eq!(tree.leaves().map(|leaf| tree.get(leaf).path.as_str()).collect::<Vec<_>>(), ["root.a.x", "root.b"]);
        assert_eq!(tree.child(0, "b"), tree.find("b"));
        assert!(of(&["a.x"]).unwrap_err().contains("no queue `a`"));
        assert!(of(&["a", "a."]).unwrap_err().contains("empty"));
    }
}
