//! The machines that the rows of a log report.

use std::collections::BTreeMap;

use resched_tables::model::{NodeChange, NodeRow};

use super::{Machine, Machines, NORMALISED, SizeRule, named_amounts, words};
use crate::Error;
use crate::cluster_file::Placement;
use crate::ids::Ms;
use crate::loading::{LONGEST, Skipped};
use crate::resources::Resources;

/// The rows of a log about machines.
pub(super) struct Reported {
    pub(super) rows: Vec<NodeRow>,
}

/// A possible number that is not 0: Alibaba writes 0 for an unknown number.
fn amount(number: Option<i64>, most: u64) -> Option<u64> {
    number.and_then(|number| u64::try_from(number).ok()).filter(|number| (1..=most).contains(number))
}

fn cpu(row: &NodeRow) -> Option<u64> {
    amount(row.cpu, Machines::MOST.cpu)
}

fn memory(row: &NodeRow) -> Option<u64> {
    amount(row.memory, Machines::MOST.memory)
}

/// What was offered by some rows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Offered {
    now: Resources,
    pub(super) most: Resources,
    pub(super) since: Option<Ms>,
    /// When another application left the machine last before that.
    pub(super) freed: Option<Ms>,
    /// When it went without being there. What comes at that instant does not stay.
    gone: Option<Ms>,
}

/// Joins the rows of each machine that offers executors of applications: the machine offers what they had together at most, from the
/// first on. That an executor goes does not make the machine smaller, as it mostly goes because its application ends. Also
/// returns what each application had of each machine. If executors came `on_demand`, when the first came does not say since when there
/// was a machine: it was there before.
pub(super) fn by_application(
    rows: Vec<NodeRow>,
    on_demand: bool,
) -> (Vec<NodeRow>, BTreeMap<(String, String), Offered>) {
    let (mut grouped, mut rest): (Vec<NodeRow>, Vec<NodeRow>) = rows.into_iter().partition(|row| row.group.is_some());
    // Of what happens at one instant, what goes makes room for what comes.
    grouped.sort_by_key(|row| (row.time, row.event != NodeChange::Remove));
    let mut executors: BTreeMap<(String, String), Offered> = BTreeMap::new();
    let mut hosts: BTreeMap<String, (Offered, Option<String>)> = BTreeMap::new();
    for row in grouped {
        let amounts = Resources { cpu: cpu(&row).unwrap_or(0), memory: memory(&row).unwrap_or(0) };
        let after = if row.event == NodeChange::Remove { Resources::NONE } else { amounts };
        let first = Offered { since: row.time, ..Offered::default() };
        let (host, rack) = hosts.entry(row.host.clone()).or_insert((first, None));
        let freed = host.freed;
        let executor = executors.entry((row.host, row.group.unwrap_or_default())).or_insert(Offered { freed, ..first });
        if row.event == NodeChange::Remove {
            host.freed = row.time;
            executor.gone = row.time.filter(|_| executor.now == Resources::NONE);
        }
        let stays = row.time.is_none() || executor.gone != row.time;
        host.now = host.now.minus(executor.now).plus(after);
        executor.now = after;
        host.most = host.most.max(host.now);
        executor.most = executor.most.max(executor.now);
        if !stays {
            host.now = host.now.minus(executor.now);
            executor.now = Resources::NONE;
        }
        *rack = rack.take().or(row.rack);
    }
    hosts.retain(|host, _| rest.iter().all(|row| row.host != *host));
    rest.extend(hosts.into_iter().map(|(host, (Offered { most, since, .. }, rack))| NodeRow {
        host,
        rack,
        time: since.filter(|_| !on_demand),
        event: NodeChange::Add,
        cpu: i64::try_from(most.cpu).ok().filter(|&cpu| cpu > 0),
        memory: i64::try_from(most.memory).ok().filter(|&memory| memory > 0),
        ..NodeRow::default()
    }));
    (rest, executors)
}

impl Reported {
    /// The median of a number over the rows that give it.
    fn median(&self, number: impl Fn(&NodeRow) -> Option<u64>) -> Option<u64> {
        let mut all: Vec<u64> = self.rows.iter().filter_map(number).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied()
    }

    /// The resources of a machine whose size the trace does not give, and where they are from. `hadoop` is the processor of a machine
    /// of Hadoop, and whether it is known.
    pub(super) fn usual(
        &self,
        cpu_set: Option<u64>,
        memory_set: Option<u64>,
        normalised: bool,
        hadoop: Option<(u64, bool)>,
    ) -> Option<(Resources, SizeRule)> {
        let slots = |row: &NodeRow| amount(Some(row.map_slots?.saturating_add(row.reduce_slots.unwrap_or(0))), 1 << 20);
        let median = self.median(cpu);
        let by_slots = || self.median(slots).map(|slots| slots * 1000);
        let whole = (normalised && median.is_none()).then_some(NORMALISED);
        let memory = memory_set.or_else(|| self.median(memory)).or(whole.map(|whole| whole.memory)).unwrap_or(0);
        let (cpu, rule) = None
            .or(cpu_set.map(|cpu| (cpu, SizeRule::Given)))
            .or(median.map(|cpu| (cpu, SizeRule::Median)))
            .or_else(|| by_slots().map(|cpu| (cpu, SizeRule::Slots)))
            .or(whole.map(|whole| (whole.cpu, SizeRule::Assumed)))
            .or(hadoop.map(|(cpu, known)| (cpu, if known { SizeRule::Slots } else { SizeRule::Assumed })))?;
        Some((Resources { cpu, memory }, rule))
    }

    /// The machines by name, and their changes.
    pub(super) fn followed(
        mut self,
        usual: Resources,
        placement: Placement,
        skipped: &mut Skipped,
    ) -> Result<Machines, Error> {
        // A null time is the start. At one instant, the order of the trace counts.
        self.rows.sort_by_key(|row| row.time);
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        for row in &self.rows {
            names.entry(row.host.clone()).or_default();
        }
        let mut nodes = Vec::with_capacity(names.len());
        for (name, place) in &mut names {
            *place = nodes.len();
            nodes.push(Machine { name: name.clone(), ..Machine::default() });
        }
        // The resources that each machine offers while it is there.
        let mut offers: Vec<Resources> = vec![Resources::NONE; nodes.len()];
        let mut changes = Vec::new();
        let mut unknown = 0;
        let mut note = |cause: &str| *skipped.entry(cause.to_owned()).or_insert(0) += 1;
        for row in &self.rows {
            let place = names[&row.host];
            if offers[place] == Resources::NONE && (cpu(row).is_none() || (usual.memory > 0 && memory(row).is_none())) {
                unknown += 1;
                note("machine-of-unknown-size");
            }
            let known = |before: u64, usual: u64| if before > 0 { before } else { usual };
            let offer = &mut offers[place];
            offer.cpu = cpu(row).unwrap_or_else(|| known(offer.cpu, usual.cpu));
            offer.memory = memory(row).unwrap_or_else(|| known(offer.memory, usual.memory));
            let capacity = if row.event == NodeChange::Remove { Resources::NONE } else { *offer };
            nodes[place].learn(row);
            match row.time {
                None => nodes[place].capacity = capacity,
                Some(at) if (-LONGEST..=LONGEST).contains(&at) => changes.push((at, place, capacity)),
                Some(_) => note("machine-event-at-impossible-time"),
            }
        }
        Ok(Machines { unknown, ..Machines::new(nodes, &changes, placement)? })
    }
}

impl Machine {
    /// Takes from a row of the log what is not known yet.
    fn learn(&mut self, row: &NodeRow) {
        if self.rack.is_none() {
            self.rack.clone_from(&row.rack);
        }
        if let Some(resources) = row.resources.as_deref().filter(|_| self.resources.is_empty()) {
            self.resources = named_amounts(resources);
        }
        if let Some(features) = row.features.as_deref().filter(|_| self.features.is_empty()) {
            self.features = words(features);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn row(host: &str, time: Option<i64>, event: NodeChange, cpu: Option<i64>, memory: Option<i64>) -> NodeRow {
        NodeRow { host: host.to_owned(), time, event, cpu, memory, ..NodeRow::default() }
    }

    fn amount(cpu: u64, memory: u64) -> Resources {
        Resources { cpu, memory }
    }

    fn followed(rows: Vec<NodeRow>, usual: Resources) -> (Machines, Skipped) {
        let mut skipped = Skipped::new();
        let reported = Reported { rows };
        (reported.followed(usual, Placement::FirstFit, &mut skipped).unwrap(), skipped)
    }

    #[test]
    fn machines_come_go_and_change_as_reported() {
        use NodeChange::{Add, Remove, Update};
        let rows = vec![
            row("b", Some(50), Update, Some(2_000), None),
            row("b", None, Add, Some(4_000), Some(8)),
            row("a", Some(20), Add, Some(1_000), Some(4)),
            row("b", Some(60), Remove, Some(0), Some(0)),
            row("b", Some(70), Add, None, None),
        ];
        let (mut machines, skipped) = followed(rows, amount(1, 1));
        assert!(skipped.is_empty());
        let capacity =
            |machines: &Machines| -> Vec<Resources> { machines.nodes().iter().map(|node| node.capacity).collect() };
        assert_eq!(capacity(&machines), [Resources::NONE, amount(4_000, 8)]);
        let reported: Vec<_> =
            machines.changes().iter().map(|change| (change.at, change.node.index(), change.capacity)).collect();
        let expected =
            [(20, 0, amount(1_000, 4)), (50, 1, amount(2_000, 8)), (60, 1, Resources::NONE), (70, 1, amount(2_000, 8))];
        assert_eq!(reported, expected);
        machines.start_at(-15, 5);
        assert_eq!(capacity(&machines), [amount(1_000, 4), amount(4_000, 8)]);
        assert_eq!(machines.changes().first().map(|change| change.at), Some(35));
        assert_eq!(machines.largest(), amount(4_000, 8));
    }

    #[test]
    fn what_a_machine_has_is_in_the_rows_of_the_log() {
        let with = |resources: &str, features: &str| NodeRow {
            resources: Some(resources.to_owned()),
            features: Some(features.to_owned()),
            ..row("b", Some(5), NodeChange::Add, Some(1_000), None)
        };
        let (machines, _) =
            followed(vec![row("b", None, NodeChange::Add, None, None), with("gres/gpu=1", "fast")], amount(1, 0));
        let [machine] = machines.nodes() else { panic!("one machine") };
        assert_eq!(
            (&machine.resources[..], &machine.features[..]),
            (&[(Arc::from("gres/gpu"), 1)][..], &[Arc::from("fast")][..])
        );
    }

    /// Executors of `b` take the place of those of `a`: the machine never offered more than both had at once.
    #[test]
    fn a_machine_offers_what_its_executors_had_together_at_most() {
        use NodeChange::{Add, Remove, Update};
        let of = |group: &str, row: NodeRow| NodeRow { group: Some(group.to_owned()), ..row };
        let rows = vec![
            of("a", row("h", Some(10), Add, Some(2_000), Some(4))),
            of("a", row("i", Some(10), Add, Some(1_000), Some(2))),
            of("b", row("h", Some(20), Add, Some(1_000), Some(1))),
            of("b", row("h", Some(30), Update, Some(2_000), Some(2))),
            of("a", row("h", Some(30), Remove, None, None)),
            of("a", row("i", Some(30), Remove, None, None)),
            of("b", row("h", Some(90), Remove, None, None)),
            row("j", None, Add, Some(1_000), Some(2)),
        ];
        let (rows, executors) = by_application(rows, false);
        // An executor that comes and goes at one instant leaves nothing behind.
        let brief = vec![
            of("a", row("h", Some(10), Add, Some(3_000), None)),
            of("a", row("h", Some(10), Remove, None, None)),
            of("b", row("h", Some(20), Add, Some(4_000), None)),
        ];
        assert_eq!(by_application(brief, false).0[0].cpu, Some(4_000));
        let machines: Vec<_> = rows.iter().map(|row| (row.host.as_str(), row.time, row.cpu, row.memory)).collect();
        let expected = [
            ("j", None, Some(1_000), Some(2)),
            ("h", Some(10), Some(3_000), Some(5)),
            ("i", Some(10), Some(1_000), Some(2)),
        ];
        assert_eq!(machines, expected);
        let most: Vec<_> = executors
            .iter()
            .map(|((host, group), executor)| (host.as_str(), group.as_str(), executor.most.cpu))
            .collect();
        assert_eq!(most, [("h", "a", 2_000), ("h", "b", 2_000), ("i", "a", 1_000)]);
    }

    #[test]
    fn what_is_not_known_of_a_machine_is_usual() {
        let some = |cpu, memory| row("x", None, NodeChange::Add, cpu, memory);
        let reported = |rows| Reported { rows };
        let medians =
            reported(vec![some(Some(5), None), some(Some(1), Some(7)), some(Some(3), None), some(None, None)]);
        assert_eq!(medians.usual(None, None, true, None), Some((amount(3, 7), SizeRule::Median)));
        assert_eq!(medians.usual(Some(9), Some(8), true, None), Some((amount(9, 8), SizeRule::Given)));
        let unknown = reported(vec![some(None, None), some(Some(0), Some(-1))]);
        assert_eq!(unknown.usual(None, None, true, None), Some((NORMALISED, SizeRule::Assumed)));
        assert_eq!(unknown.usual(None, None, false, None), None);
        assert_eq!(
            unknown.usual(Some(9), None, false, None),
            Some((amount(9, 0), SizeRule::Given)),
            "memory is not limited"
        );
        let slots = NodeRow { map_slots: Some(2), reduce_slots: Some(1), ..some(None, None) };
        let four = |known| Some((4_000, known));
        assert_eq!(
            reported(vec![slots]).usual(None, None, false, four(false)),
            Some((amount(3_000, 0), SizeRule::Slots))
        );
        assert_eq!(unknown.usual(None, None, false, four(true)), Some((amount(4_000, 0), SizeRule::Slots)));
        assert_eq!(unknown.usual(None, None, false, four(false)), Some((amount(4_000, 0), SizeRule::Assumed)));
        let (machines, skipped) = followed(vec![some(None, None)], amount(3, 7));
        assert_eq!(machines.total(), amount(3, 7));
        assert_eq!(skipped.get("machine-of-unknown-size"), Some(&1));
    }
}
