//! The tasks of one kind that a log lists for a job, in its order.

use std::ops::Range;

use crate::hadoop::kind::Kind;
use crate::hadoop::workload::UsualNames;
use crate::ids::NodeId;

/// The listed tasks of one kind of the current job. Its memory is used again for the next.
pub(super) struct Side<T> {
    pub(super) kind: Kind,
    listed: Vec<ListedTask>,
    /// The tries at all of them.
    pub(super) tries: Vec<T>,
    /// The replicas of all of them.
    pub(super) replicas: Vec<NodeId>,
    names: String,
    usual: UsualNames,
    /// True if each has the usual id for its place.
    all_usual: bool,
}

/// A listed task, of which each part ends where that of the next begins.
struct ListedTask {
    name_end: usize,
    tries_end: usize,
    replicas_end: usize,
    bytes: [Option<u64>; 2],
}

impl<T> Side<T> {
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            listed: Vec::new(),
            tries: Vec::new(),
            replicas: Vec::new(),
            names: String::new(),
            usual: UsualNames::default(),
            all_usual: true,
        }
    }

    /// Begins with a job of that id.
    pub(super) fn begin(&mut self, job: &str) {
        self.listed.clear();
        self.tries.clear();
        self.replicas.clear();
        self.names.clear();
        self.usual.begin(job, self.kind);
        self.all_usual = true;
    }

    /// Ends a task of that id and of these input and output bytes: its tries and replicas are those added since the last end.
    pub(super) fn end_task(&mut self, name: &str, bytes: [Option<u64>; 2]) {
        if self.all_usual {
            self.all_usual = self.usual.name() == name;
            self.usual.advance();
        }
        self.names.push_str(name);
        let (name_end, tries_end, replicas_end) = (self.names.len(), self.tries.len(), self.replicas.len());
        self.listed.push(ListedTask { name_end, tries_end, replicas_end, bytes });
    }

    /// How many tasks are listed.
    pub(super) fn len(&self) -> usize {
        self.listed.len()
    }

    /// For each of `count` places the listed task that stands there; `None` if each has the usual id for its place.
    pub(super) fn places(&self, count: usize) -> Option<Vec<Option<usize>>> {
        (!self.all_usual).then(|| self.places_by_number(count))
    }

    /// For each of `count` places the listed task that stands there: each at the number at the end of its id. If these numbers are
    /// not distinct and below `count`, the tasks stand in the order of the log.
    fn places_by_number(&self, count: usize) -> Vec<Option<usize>> {
        let mut places: Vec<Option<usize>> = vec![None; count];
        let is_numbered = (0..self.len()).all(|position| {
            let place = task_number(self.name(position)).and_then(|number| places.get_mut(number));
            place.is_some_and(|place| place.replace(position).is_none())
        });
        if is_numbered {
            return places;
        }
        (0..count).map(|position| (position < self.len()).then_some(position)).collect()
    }

    /// The id of a listed task.
    pub(super) fn name(&self, position: usize) -> &str {
        self.names.get(self.range(position, |task| task.name_end)).unwrap_or_default()
    }

    /// The tries at a listed task.
    pub(super) fn tries(&self, position: usize) -> &[T] {
        self.tries.get(self.range(position, |task| task.tries_end)).unwrap_or_default()
    }

    /// The replicas of a listed task.
    pub(super) fn replicas(&self, position: usize) -> &[NodeId] {
        self.replicas.get(self.range(position, |task| task.replicas_end)).unwrap_or_default()
    }

    /// The input and output bytes of a listed task.
    pub(super) fn bytes(&self, position: usize) -> [Option<u64>; 2] {
        self.listed.get(position).map(|task| task.bytes).unwrap_or_default()
    }

    #[inline]
    fn range(&self, position: usize, end: impl Fn(&ListedTask) -> usize) -> Range<usize> {
        let start = position.checked_sub(1).and_then(|before| self.listed.get(before)).map_or(0, &end);
        start..self.listed.get(position).map_or(start, end)
    }
}

/// The number at the end of a task's id.
fn task_number(name: &str) -> Option<usize> {
    name.rsplit('_').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use resched_tables::draws::{Purpose, stream};

    use super::*;
    use crate::hadoop::workload::usual_task_name;

    /// Lists of usual ids, some with an odd one, one left out, or two exchanged.
    #[test]
    fn tasks_of_usual_ids_stand_where_their_numbers_say() {
        let mut draws = stream(1, Purpose::BlockPlacement, &[]);
        let mut side = Side::<()>::new(Kind::Reduce);
        let mut usual = 0;
        for _ in 0..2_000 {
            let length = draws.random_range(0..6_u32);
            let mut names: Vec<String> =
                (0..length).map(|number| usual_task_name("job_7_0002", Kind::Reduce, number)).collect();
            if let Some(name) = names.get_mut(draws.random_range(0..9)) {
                *name = match draws.random_range(0..4) {
                    0 => usual_task_name("job_7_0002", Kind::Reduce, draws.random_range(0..7)),
                    1 => usual_task_name("job_7_0002", Kind::Map, draws.random_range(0..7)),
                    2 => "task_1".to_owned(),
                    _ => "x".to_owned(),
                };
            }
            side.begin("job_7_0002");
            names.iter().for_each(|name| side.end_task(name, [None; 2]));
            let count = side.len() + draws.random_range(0..3);
            let by_number = side.places_by_number(count);
            match side.places(count) {
                None => {
                    usual += 1;
                    let places = (0..count).map(|place| (place < side.len()).then_some(place));
                    assert_eq!(by_number, places.collect::<Vec<_>>());
                    assert!(
                        (0..side.len())
                            .all(|one| side.name(one) == usual_task_name("job_7_0002", Kind::Reduce, one as u32))
                    );
                }
                Some(places) => assert_eq!(places, by_number),
            }
        }
        assert!((500..1_900).contains(&usual), "{usual} of 2,000 lists were usual");
    }
}
