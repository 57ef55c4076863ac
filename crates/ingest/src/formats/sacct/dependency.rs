//! What a job waits for by `--dependency`.
//!
//! **Source.** sbatch(1), `--dependency`: `afterany`, `afterok` and `afternotok` wait for the end of jobs, of whole arrays, or of single
//! tasks of arrays; `aftercorr` lets each task of an array wait for the task of the same number of another; `singleton` waits for all
//! earlier jobs of the same name and user.
//!
//! `after` waits for a start, and `?` for any of several. The tables have no place for these: the job is eligible when it was in the list.

use super::id::{Id, Part};
use super::values::whole;

/// What a job waits for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Dependency {
    pub(super) ends: Vec<End>,
    /// True if it waits for all earlier jobs of its name and user.
    pub(super) singleton: bool,
}

/// The end of a job, of all tasks of an array, or of one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct End {
    /// A whole id stands for all parts of the job.
    pub(super) of: Id,
    pub(super) must: Must,
}

/// How it must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Must {
    /// In any way.
    Any,
    /// With success.
    Succeed,
    /// Without success.
    Fail,
}

impl Dependency {
    /// Reads the text for a job; `None` if it asks for anything else than ends.
    pub(super) fn parse(text: &str, waiting: Id) -> Option<Self> {
        let mut found = Self::default();
        for clause in text.split(',') {
            if clause == "singleton" {
                found.singleton = true;
                continue;
            }
            let (kind, list) = clause.split_once(':')?;
            let must = match kind {
                "afterany" => Must::Any,
                "afterok" | "aftercorr" => Must::Succeed,
                "afternotok" => Must::Fail,
                _ => return None,
            };
            for id in list.split(':') {
                let of = id_of(id)?;
                let of = if kind == "aftercorr" { corresponding(of, waiting) } else { of };
                found.ends.push(End { of, must });
            }
        }
        found.ends.sort_unstable();
        found.ends.dedup();
        Some(found)
    }
}

/// The id of a job or of a task of an array.
fn id_of(text: &str) -> Option<Id> {
    let number = |digits: &str| whole(digits).and_then(|number| u64::try_from(number).ok());
    match text.split_once('_') {
        Some((array, task)) => Some(Id { number: number(array)?, part: Part::Task(number(task)?), again: 0 }),
        None => number(text).map(Id::whole),
    }
}

/// The task of an array for which a task of another waits.
fn corresponding(array: Id, waiting: Id) -> Id {
    if let (Part::Whole, Part::Task(_)) = (array.part, waiting.part) {
        Id { part: waiting.part, ..array }
    } else {
        array
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(text: &str, waiting: Id) -> Option<Vec<(String, Must)>> {
        let found = Dependency::parse(text, waiting)?;
        Some(found.ends.into_iter().map(|end| (end.of.to_string(), end.must)).collect())
    }

    #[test]
    fn every_kind_that_waits_for_ends_is_read() {
        let waiting = Id { number: 30, part: Part::Task(4), again: 0 };
        for (text, expected) in [
            ("afterok:11,afterany:12:9", vec![("9", Must::Any), ("11", Must::Succeed), ("12", Must::Any)]),
            ("afterok:15_3", vec![("15_3", Must::Succeed)]),
            ("aftercorr:19", vec![("19_4", Must::Succeed)]),
            ("afternotok:7,singleton", vec![("7", Must::Fail)]),
            ("singleton", Vec::new()),
        ] {
            let expected = expected.into_iter().map(|(id, must)| (id.to_owned(), must)).collect();
            assert_eq!(ends(text, waiting), Some(expected), "{text}");
        }
        assert!(Dependency::parse("singleton", waiting).is_some_and(|found| found.singleton));
        for other in ["after:13", "after:13+5", "afterok:1?afterok:2", "afterok:1,after:2", "expand:4", "afterok:x", ""]
        {
            assert_eq!(ends(other, waiting), None, "{other}");
        }
        assert_eq!(ends("aftercorr:19", Id::whole(30)), Some(vec![("19".to_owned(), Must::Succeed)]));
    }
}
