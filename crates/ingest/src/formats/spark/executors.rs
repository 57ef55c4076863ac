//! The executors of an application, and the machines that they make up.

use std::collections::BTreeMap;

use resched_tables::model::{NodeChange, NodeRow};

/// The most arrivals and departures of executors that are kept; more are counted.
pub(crate) const MOST_EVENTS: usize = 100_000;
/// The longest name of an executor or host (bytes).
const LONGEST_NAME: usize = 512;

/// The events of executors so far.
#[derive(Default)]
pub(super) struct Executors {
    /// The executors that are present, with their hosts.
    present: BTreeMap<String, String>,
    /// When executors left.
    left: BTreeMap<String, i64>,
    events: Vec<Change>,
    left_out: u64,
}

struct Change {
    time: Option<i64>,
    executor: String,
    host: String,
    /// `None` if it left.
    offers: Option<Offer>,
}

/// The resources of an executor.
#[derive(Clone, Copy, Default)]
struct Offer {
    cores: Option<i64>,
    has_memory: bool,
}

impl Executors {
    /// An executor arrived, or the log says more about it.
    pub(super) fn add(&mut self, executor: String, host: String, time: Option<i64>, cores: Option<i64>) {
        if self.present.get(&executor) == Some(&host)
            && let Some(reported) = self.events.iter_mut().rev().find(|change| change.executor == executor)
            && let Some(offers) = &mut reported.offers
        {
            offers.cores = offers.cores.or(cores);
            return;
        }
        if self.events.len() >= MOST_EVENTS || executor.len() > LONGEST_NAME || host.len() > LONGEST_NAME {
            self.left_out += 1;
            return;
        }
        self.present.insert(executor.clone(), host.clone());
        // The driver of local mode runs tasks, but is not an executor with its own memory.
        let has_memory = executor != "driver";
        self.events.push(Change { time, executor, host, offers: Some(Offer { cores, has_memory }) });
    }

    /// An executor left.
    pub(super) fn remove(&mut self, executor: &str, time: i64) {
        let Some(host) = self.present.remove(executor) else { return };
        if self.events.len() >= MOST_EVENTS {
            self.left_out += 1;
            return;
        }
        self.left.insert(executor.to_owned(), time);
        self.events.push(Change { time: Some(time), executor: executor.to_owned(), host, offers: None });
    }

    /// The application ended, and with it the executors that were still there.
    pub(super) fn end(&mut self, time: i64) {
        for executor in self.present.keys().cloned().collect::<Vec<_>>() {
            self.remove(&executor, time);
        }
    }

    /// When an executor left.
    pub(super) fn left_at(&self, executor: &str) -> Option<i64> {
        self.left.get(executor).copied()
    }

    /// True if none ever came.
    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// How many arrivals and departures were too many to keep.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The host of an executor that is present.
    pub(super) fn host(&self, executor: &str) -> Option<&str> {
        self.present.get(executor).map(String::as_str)
    }

    /// The cores of the first executor whose cores are known.
    pub(super) fn cores(&self) -> Option<i64> {
        self.events.iter().find_map(|change| change.offers?.cores)
    }

    /// The rows of the nodes table, if each executor has that much memory and is of this application.
    pub(super) fn into_rows(self, memory: Option<i64>, application: &str) -> Vec<NodeRow> {
        // The name of an owner is in each row. Only damage is that long.
        let group = (application.len() <= LONGEST_NAME).then(|| application.to_owned());
        let mut hosts: BTreeMap<String, BTreeMap<String, Offer>> = BTreeMap::new();
        let mut rows: Vec<NodeRow> = Vec::new();
        for change in self.events {
            let executors = hosts.entry(change.host.clone()).or_default();
            let was_there = !executors.is_empty();
            match change.offers {
                Some(offers) => executors.insert(change.executor, offers),
                None => executors.remove(&change.executor),
            };
            let event = match (was_there, executors.is_empty()) {
                (_, true) => NodeChange::Remove,
                (true, false) => NodeChange::Update,
                (false, false) => NodeChange::Add,
            };
            let sum = |of: &dyn Fn(&Offer) -> Option<i64>| {
                executors.values().map(of).reduce(|sum, one| sum?.checked_add(one?)).flatten()
            };
            let row = NodeRow {
                host: change.host,
                time: change.time,
                event,
                cpu: sum(&|offers| offers.cores?.checked_mul(1_000)),
                memory: sum(&|offers| memory.filter(|_| offers.has_memory)),
                group: group.clone(),
                ..NodeRow::default()
            };
            // Changes of one instant are one change.
            match rows.iter_mut().rev().take_while(|last| last.time == row.time).find(|last| {
                last.host == row.host
                    && (last.event == event
                        || [(NodeChange::Add, NodeChange::Update), (NodeChange::Update, NodeChange::Remove)]
                            .contains(&(last.event, event)))
            }) {
                Some(last) => {
                    (last.cpu, last.memory) = (row.cpu, row.memory);
                    if event == NodeChange::Remove {
                        last.event = event;
                    }
                }
                None => rows.push(row),
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_arrivals_as_the_limit_are_kept_and_the_rest_is_counted() {
        let mut executors = Executors::default();
        for number in 0..=MOST_EVENTS {
            assert_eq!(executors.left_out(), 0, "{number}");
            executors.add(format!("e{number}"), "h".to_owned(), Some(number as i64), Some(1));
        }
        assert_eq!((executors.events.len(), executors.left_out()), (MOST_EVENTS, 1));
        executors.remove("e0", 9);
        assert_eq!((executors.events.len(), executors.left_out()), (MOST_EVENTS, 2));
    }
}
