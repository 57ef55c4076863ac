//! Which of the things that are said under one name are about one object: a name is used again once its object is gone.

use std::collections::BTreeMap;

use resched_tables::model::Ms;

use super::seen::Seen;

/// The creation that an audit log has is that of the object if they are so near, ms.
const NEAR: Ms = 2_000;

/// What is said of each object that had a name, in the order of their creation. Within an object, the latest state comes last.
pub(super) fn of(all: Vec<Seen>) -> Vec<Vec<Seen>> {
    let births = Births::of(&all);
    let mut objects: Vec<Vec<Seen>> = Vec::new();
    objects.resize_with(births.0.len().max(1), Vec::new);
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

/// The objects of a name: when each was created, and its UID, if they are known.
struct Births(Vec<(Option<Ms>, String)>);

impl Births {
    fn of(all: &[Seen]) -> Self {
        let mut by_uid: BTreeMap<&str, Option<Ms>> = BTreeMap::new();
        for seen in all.iter().filter(|seen| !seen.uid.is_empty()) {
            let created = by_uid.entry(&seen.uid).or_default();
            *created = [*created, seen.created].into_iter().flatten().min();
        }
        let mut births: Vec<(Option<Ms>, String)> =
            by_uid.into_iter().map(|(uid, created)| (created, uid.to_owned())).collect();
        let mut others: Vec<Ms> =
            all.iter().filter(|seen| seen.uid.is_empty()).filter_map(|seen| seen.created).collect();
        others.sort_unstable();
        for created in others {
            let is_it = |birth: Option<Ms>| birth.is_some_and(|birth| (birth - created).abs() <= NEAR);
            if !births.iter().any(|(birth, _)| is_it(*birth)) {
                births.push((Some(created), String::new()));
            }
        }
        births.sort();
        Self(births)
    }

    /// The object that this is said of: by its UID, or else the last that was there then.
    fn place(&self, seen: &Seen) -> usize {
        if !seen.uid.is_empty() {
            return self.0.iter().position(|(_, uid)| *uid == seen.uid).unwrap_or(0);
        }
        let then = seen.created.or(seen.at).or_else(|| seen.latest());
        let was_there = |birth: &(Option<Ms>, String)| {
            birth.0.is_none_or(|birth| then.is_none_or(|then| birth <= then.saturating_add(NEAR)))
        };
        self.0.iter().rposition(was_there).unwrap_or(0)
    }
}
