//! The machines of a trace: those of a topology, and those that are seen in histories.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use resched_tables::model::{JobRecord, NodeChange, NodeRow};

/// What identifies an event of a machine: host, owner, time, and what happened.
type Happened = (String, Option<String>, Option<i64>, NodeChange);

#[derive(Default)]
pub(super) struct Machines {
    reported: Vec<NodeRow>,
    reported_events: BTreeSet<Happened>,
    /// The racks that each host was seen in.
    seen: HashMap<String, BTreeSet<String>>,
}

impl Machines {
    /// Takes a row of a source. If an event comes again, the first counts.
    pub(super) fn report(&mut self, node: NodeRow) {
        if self.reported_events.insert((node.host.clone(), node.group.clone(), node.time, node.event)) {
            self.reported.push(node);
        }
    }

    /// Whether a source listed machines.
    pub(super) fn are_reported(&self) -> bool {
        !self.reported.is_empty()
    }

    /// Notes the hosts of a job, whose racks are resolved.
    pub(super) fn see(&mut self, record: &JobRecord) {
        for task in &record.tasks {
            for split in &task.splits {
                self.see_host(&split.host, &split.rack);
            }
            for attempt in &task.attempts {
                self.see_host(&attempt.host, &attempt.rack);
            }
        }
    }

    fn see_host(&mut self, host: &Option<String>, rack: &Option<String>) {
        let Some(host) = host else { return };
        let racks = match self.seen.get_mut(host) {
            Some(racks) => racks,
            None => self.seen.entry(host.clone()).or_default(),
        };
        if let Some(rack) = rack.as_ref().filter(|rack| !racks.contains(*rack)) {
            racks.insert(rack.clone());
        }
    }

    /// How many hosts were seen that are missing from the sources that list machines.
    pub(super) fn outside(&self) -> u64 {
        if self.reported.is_empty() {
            return 0;
        }
        let reported: BTreeSet<&str> = self.reported.iter().map(|node| node.host.as_str()).collect();
        self.seen.keys().filter(|host| !reported.contains(host.as_str())).count() as u64
    }

    /// The rows of the nodes table, in the order of the sources. If no source lists machines, the rows are the hosts
    /// that were seen, by rack and name, those without a rack first. Such machines were there from the start.
    pub(super) fn into_rows(self) -> Vec<NodeRow> {
        if !self.reported.is_empty() {
            return self.reported;
        }
        let places = self.seen.into_iter().flat_map(|(host, racks)| {
            let unknown = racks.is_empty().then_some(None);
            unknown.into_iter().chain(racks.into_iter().map(Some)).map(move |rack| (rack, host.clone()))
        });
        let seen: BTreeSet<(Option<String>, String)> = places.collect();
        seen.into_iter().map(|(rack, host)| NodeRow { host, rack, ..NodeRow::default() }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use resched_tables::model::{AttemptRow, TaskRecord};

    fn attempt(host: &str, rack: Option<&str>) -> AttemptRow {
        AttemptRow { host: Some(host.to_owned()), rack: rack.map(str::to_owned), ..AttemptRow::default() }
    }

    fn seen() -> Machines {
        let mut machines = Machines::default();
        let attempts = vec![
            attempt("b", None),
            attempt("c", Some("/r1")),
            attempt("lone", None),
            attempt("b", Some("/r2")),
            attempt("t2", Some("/r9")),
        ];
        let task = TaskRecord { attempts, ..TaskRecord::default() };
        machines.see(&JobRecord { tasks: vec![task], ..JobRecord::default() });
        machines
    }

    fn rows(machines: Machines) -> Vec<(Option<String>, String)> {
        machines.into_rows().into_iter().map(|row| (row.rack, row.host)).collect()
    }

    fn row(rack: Option<&str>, host: &str) -> (Option<String>, String) {
        (rack.map(str::to_owned), host.to_owned())
    }

    #[test]
    fn seen_machines_stand_by_rack_and_host() {
        let expected = [row(None, "lone"), row(Some("/r1"), "c"), row(Some("/r2"), "b"), row(Some("/r9"), "t2")];
        assert_eq!(seen().outside(), 0);
        assert_eq!(rows(seen()), expected);
    }

    #[test]
    fn a_source_that_reports_of_machines_reports_of_all() {
        let mut machines = seen();
        for host in ["t2", "t1", "t2"] {
            machines.report(NodeRow { host: host.to_owned(), ..NodeRow::default() });
        }
        assert_eq!(machines.outside(), 3, "lone, b and c");
        assert_eq!(rows(machines), [row(None, "t2"), row(None, "t1")]);
    }

    #[test]
    fn an_event_of_another_application_is_another_event() {
        let mut machines = Machines::default();
        for group in [Some("a"), Some("b"), Some("a"), None] {
            machines.report(NodeRow { host: "h".to_owned(), group: group.map(str::to_owned), ..NodeRow::default() });
        }
        let groups: Vec<Option<String>> = machines.into_rows().into_iter().map(|row| row.group).collect();
        assert_eq!(groups, [Some("a".to_owned()), Some("b".to_owned()), None]);
    }
}
