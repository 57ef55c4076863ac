//! Which of the things that are said under one name are about one object: a name is used again once its object is gone.

use std::collections::{BTreeMap, BTreeSet};

use resched_tables::model::Ms;

use super::seen::Seen;

/// The creation that an audit log has is that of the object if they are so near, ms.
const NEAR: Ms = 2_000;

/// What is said of each object that had a name, in the order of their creation. Within an object, the latest state comes last.
pub(super) fn of(all: Vec<Seen>) -> Vec<Vec<Seen>> {
    let births = Births::of(&all);
    let mut objects: Vec<Vec<Seen>> = Vec::new();
    objects.resize_with(births.created.len().max(1), Vec::new);
    for seen in all {
        if let Some(object) = objects.get_mut(births.place(&seen)) {
            object.push(seen);
        }
    }
    objects.retain(|object| !object.is_empty());
    for object in &mut objects {
        object.sort_by_key(|seen| (seen.version, seen.latest()));
    }
    objects
}

/// The objects of a name: when each was created, by that time, and which one has a UID.
struct Births {
    created: Vec<Option<Ms>>,
    by_uid: BTreeMap<String, usize>,
}

impl Births {
    fn of(all: &[Seen]) -> Self {
        let mut by_uid: BTreeMap<&str, Option<Ms>> = BTreeMap::new();
        for seen in all.iter().filter(|seen| !seen.uid.is_empty()) {
            let created = by_uid.entry(&seen.uid).or_default();
            *created = [*created, seen.created].into_iter().flatten().min();
        }
        let mut known: BTreeSet<Ms> = by_uid.values().flatten().copied().collect();
        let mut births: Vec<(Option<Ms>, &str)> = by_uid.into_iter().map(|(uid, created)| (created, uid)).collect();
        let others: BTreeSet<Ms> =
            all.iter().filter(|seen| seen.uid.is_empty()).filter_map(|seen| seen.created).collect();
        for created in others {
            let near = created.saturating_sub(NEAR)..=created.saturating_add(NEAR);
            if known.range(near).next().is_none() {
                known.insert(created);
                births.push((Some(created), ""));
            }
        }
        births.sort_unstable();
        let named = births.iter().enumerate().filter(|(_, (_, uid))| !uid.is_empty());
        let by_uid = named.map(|(place, (_, uid))| ((*uid).to_owned(), place)).collect();
        Self { created: births.into_iter().map(|(created, _)| created).collect(), by_uid }
    }

    /// The object that this is said of: by its UID, or else the last that was there then.
    fn place(&self, seen: &Seen) -> usize {
        if let Some(place) = self.by_uid.get(&seen.uid) {
            return *place;
        }
        let then = seen.created.or(seen.at).or_else(|| seen.latest());
        last_then(&self.created, then, NEAR)
    }
}

/// The last of those that were created before a time, or so soon after it; else the first. They are sorted by their creation; what has none
/// was there from the start.
pub(super) fn last_then(created: &[Option<Ms>], then: Option<Ms>, near: Ms) -> usize {
    let was_there = |created: &Option<Ms>| {
        created.is_none_or(|created| then.is_none_or(|then| created <= then.saturating_add(near)))
    };
    created.partition_point(was_there).saturating_sub(1)
}
