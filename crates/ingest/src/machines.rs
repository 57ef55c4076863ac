//! The machines of a trace: those of a topology, and those that are seen in histories.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use resched_tables::model::{JobRecord, NodeChange, NodeRow};

use super::far::Times;

/// What identifies an event of a machine: host, owner, time, and what happened.
type Happened = (String, Option<String>, Option<i64>, NodeChange);

#[derive(Default)]
pub(super) struct Machines {
    reported: Vec<NodeRow>,
    /// The events, and the place of each row.
    reported_events: BTreeMap<Happened, usize>,
    /// The racks that each host was seen in.
    seen: HashMap<String, BTreeSet<String>>,
    /// The first and the last time of the jobs.
    times: Times,
}

impl Machines {
    /// Takes a row of a source. If an event comes again, the first counts.
    pub(super) fn report(&mut self, node: NodeRow) {
        self.place(node);
    }

    /// Takes a row about a machine that is as large as its use in a source shows. If it comes again, the most processor counts.
    pub(super) fn report_used(&mut self, node: NodeRow) {
        let cpu = node.cpu;
        let place = self.place(node);
        if let Some(known) = self.reported.get_mut(place) {
            known.cpu = known.cpu.max(cpu);
        }
    }

    /// The place of the row about this event, which is added if it is new.
    fn place(&mut self, node: NodeRow) -> usize {
        let next = self.reported.len();
        let event = (node.host.clone(), node.group.clone(), node.time, node.event);
        let place = *self.reported_events.entry(event).or_insert(next);
        if place == next {
            self.reported.push(node);
        }
        place
    }

    /// True if a source listed machines.
    pub(super) fn are_reported(&self) -> bool {
        !self.reported.is_empty()
    }

    /// Notes the hosts of a job, whose racks are resolved.
    pub(super) fn see(&mut self, record: &JobRecord) {
        let job = &record.job;
        self.times.see([job.submit, job.launch, job.finish]);
        for task in &record.tasks {
            self.times.see(task.attempts.iter().flat_map(|attempt| [attempt.start, attempt.finish]));
            for split in &task.splits {
                self.see_host(&split.host, &split.rack);
            }
            for attempt in &task.attempts {
                self.see_host(&attempt.host, &attempt.rack);
            }
        }
    }

    /// Mends the events that are far from all jobs: they are damage. A machine that comes then was there
    /// from the start, and another event is left out. Returns how many there were.
    pub(super) fn mend_times(&mut self) -> u64 {
        let times = self.times;
        let is_far = |node: &NodeRow| times.is_far(node.time);
        let far = self.reported.iter().filter(|node| is_far(node)).count() as u64;
        self.reported.retain(|node| node.event == NodeChange::Add || !is_far(node));
        self.reported.iter_mut().filter(|node| is_far(node)).for_each(|node| node.time = None);
        far
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
    use crate::far::LONGEST_RUN;
    use resched_tables::model::{AttemptRow, JobRow, TaskRecord};

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
    fn an_event_far_from_all_jobs_is_damage() {
        let mut machines = Machines::default();
        let event = |host: &str, time, event| NodeRow { host: host.to_owned(), time, event, ..NodeRow::default() };
        let near = [
            event("a", None, NodeChange::Add),
            event("b", Some(1_000 - LONGEST_RUN), NodeChange::Add),
            event("b", Some(2_000 + LONGEST_RUN), NodeChange::Remove),
        ];
        near.iter().for_each(|node| machines.report(node.clone()));
        machines.report(event("c", Some(i64::MAX), NodeChange::Add));
        machines.report(event("c", Some(2_001 + LONGEST_RUN), NodeChange::Remove));
        machines.report(event("d", Some(i64::MIN), NodeChange::Add));
        assert_eq!(machines.mend_times(), 0, "without jobs, nothing is known");
        let job = JobRow { submit: Some(1_000), finish: Some(2_000), ..JobRow::default() };
        machines.see(&JobRecord { job, ..JobRecord::default() });
        assert_eq!(machines.mend_times(), 3);
        let mended = ["c", "d"].map(|host| event(host, None, NodeChange::Add));
        assert_eq!(machines.into_rows(), [&near[..], &mended[..]].concat());
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
    fn of_a_machine_that_is_sized_by_its_use_the_largest_counts() {
        let mut machines = Machines::default();
        for (host, cpu) in [("a", 3_000), ("b", 1_000), ("a", 5_000), ("a", 4_000)] {
            machines.report_used(NodeRow { host: host.to_owned(), cpu: Some(cpu), ..NodeRow::default() });
        }
        let rows: Vec<_> = machines.into_rows().into_iter().map(|row| (row.host, row.cpu)).collect();
        assert_eq!(rows, [("a".to_owned(), Some(5_000)), ("b".to_owned(), Some(1_000))]);
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
