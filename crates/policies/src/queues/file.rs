//! Files of queues: from a path to a checked tree, in the same steps for every scheduler.
//!
//! ```text
//! path ──▶ text ──▶ settings by queue ──▶ QueueTree ──check──▶ the policy
//! site/*.xml ────────────────────────────────┘
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::toml;
use super::tree::{DEEPEST, QueueTree};

/// The queue of jobs that name none, or one that does not exist.
pub(crate) const DEFAULT_QUEUE: &str = "default";

/// The settings of a queue of a scheduler.
pub(crate) trait QueueSettings: Default + DeserializeOwned {
    /// Whether its file may have a table `[root]`, which holds for all queues.
    const HAS_ROOT: bool = false;

    /// Checks what is set for the queues of a tree.
    ///
    /// # Errors
    /// The queue and the key that are wrong, and what is expected.
    fn check(tree: &QueueTree<Self>) -> Result<(), String>;
}

/// A file of queues, by their paths: `[queues.etl]`, and below it `[queues."etl.daily"]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueueFile<S> {
    root: Option<S>,
    #[serde(default)]
    queues: BTreeMap<String, S>,
}

/// Reads a file of queues.
///
/// # Errors
/// As [`toml::read`].
pub(crate) fn read<S: QueueSettings>(path: &str) -> Result<QueueTree<S>, String> {
    toml::read(path, "queues", parse)
}

/// Reads the text of a file of queues.
///
/// # Errors
/// The line or the queue that is wrong, and why.
pub(crate) fn parse<S: QueueSettings>(text: &str) -> Result<QueueTree<S>, String> {
    let file: QueueFile<S> = toml::parse(text)?;
    if file.root.is_some() && !S::HAS_ROOT {
        return Err("root: expected tables `[queues.name]` only; the root has the whole cluster".to_owned());
    }
    let tree = QueueTree::from_paths(file.root.unwrap_or_default(), file.queues)?;
    check(&tree)?;
    Ok(tree)
}

/// Checks a tree of queues, whichever file it comes from.
///
/// # Errors
/// The queue that is wrong, and why.
pub(crate) fn check<S: QueueSettings>(tree: &QueueTree<S>) -> Result<(), String> {
    // Its depth comes first: nothing may walk a tree that is too deep.
    if let Some(deep) = (0..tree.queues().len()).find(|&place| tree.depth(place) > DEEPEST) {
        let path = &tree.get(deep).path;
        return Err(format!("queue `{path}`: expected at most {DEEPEST} levels of queues"));
    }
    S::check(tree)
}

/// One queue that has the whole cluster.
pub(crate) fn one_queue<S: QueueSettings>() -> QueueTree<S> {
    let mut tree = QueueTree::new(S::default());
    tree.add(QueueTree::<S>::ROOT, DEFAULT_QUEUE, S::default());
    tree
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::queues::{CapacityQueue, FairQueue, YarnQueue};

    #[test]
    fn every_file_of_queues_is_read_in_the_same_way() {
        fn reads<S: QueueSettings>() {
            let error = |text: &str| parse::<S>(text).map(|_| ()).unwrap_err();
            assert!(parse::<S>("[queues.a]\n[queues.\"a.b\"]\n").unwrap().find("a.b").is_some());
            assert!(error("[queues.\"a.b\"]\n").contains("no queue `a`"));
            assert!(error("[queues.a]\n[queues.\"a.\"]\n").contains("empty"));
            assert!(error("[queues.a]\n\nweigth = 1.0\n").starts_with("line 3: unknown field `weigth`"));
            let deep: String =
                (1..=33).map(|depth| format!("[queues.\"{}\"]\n", ["a"; 33][..depth].join("."))).collect();
            assert!(error(&deep).contains("at most 32 levels of queues"));
            assert_eq!(parse::<S>("[root]\n[queues.a]\n").is_ok(), S::HAS_ROOT);
        }
        reads::<CapacityQueue>();
        reads::<YarnQueue>();
        reads::<FairQueue>();
    }

    #[test]
    fn errors_name_the_file_and_the_remedy() {
        let missing = read::<FairQueue>("no/such.toml").unwrap_err();
        assert!(missing.starts_with("no/such.toml: cannot read the queues (") && missing.ends_with("check the path"));
    }
}
