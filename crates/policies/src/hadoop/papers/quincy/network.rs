//! The network whose cheapest flow is Quincy's schedule (`docs/model/baselines.md`).
//!
//! ```text
//!          least, then most           tasks             places            free slots
//! source ───────────────▶ job ───────────────▶ group ───────────▶ machine ──────────▶ sink
//!    │                                           ├──▶ rack ──────────▲                  ▲
//!    │                                           └──▶ cluster ──▶ rack                  │
//!    └──────────────────────────── left waiting ────────────────────────────────────────┘
//! ```
//!
//! Tasks of a job that could run at the same places for the same costs are one group, so the network does not grow with their number. In
//! the paper each task has an arc to its job's "unscheduled" node, at the cost of leaving it waiting. Here that cost is taken off its way
//! to a place, and one arc past all nodes stands for the tasks that wait: the cheapest flow is the same, and only as many units
//! flow as there are slots.

use resched_sim::NodeId;

use super::flow::{Flow, Network};

/// Costs in thousandths of the paper's unit: one GB from the own rack at ψ = 1, one second of a task's run.
pub(super) type Cost = i128;

/// The bounds of costs in a network, whose numbers have 64 bits.
#[derive(Debug, Clone, Copy)]
struct Range {
    /// No cost is further from zero; absurd ones are cut.
    most: Cost,
    /// More than all costs of a way together: what goes before all else costs so much less.
    dear: Cost,
}

/// A machine with free slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Machine {
    pub(super) node: NodeId,
    /// The number of its rack, from 0.
    pub(super) rack: usize,
    pub(super) slots: u32,
}

/// A job with tasks to place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Job {
    /// How many must be placed before any task beyond the `least` of its job is.
    pub(super) least: u32,
    /// How many may be placed.
    pub(super) most: u32,
    /// The cost of leaving one waiting.
    pub(super) waiting: Cost,
}

/// Tasks of one job with the same costs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Group {
    /// The place of its job in the problem.
    pub(super) job: usize,
    /// Machines, by their places in the problem, with the cost of each.
    pub(super) machines: Vec<(usize, Cost)>,
    /// Racks with the cost of their worst machine.
    pub(super) racks: Vec<(usize, Cost)>,
    /// The cost of the worst machine of all.
    pub(super) anywhere: Cost,
}

/// What is to be placed, and where there is room.
#[derive(Debug, Clone, Default)]
pub(super) struct Problem {
    pub(super) machines: Vec<Machine>,
    pub(super) racks: usize,
    pub(super) jobs: Vec<Job>,
    /// Each with how many tasks it has.
    pub(super) groups: Vec<(Group, u32)>,
}

/// A number of tasks of a group that go to a machine. Group and machine are given by their places in the problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Placement {
    pub(super) group: usize,
    pub(super) machine: usize,
    pub(super) tasks: u32,
}

/// An arc of the network, by its number.
type Arc = usize;

/// The arcs whose flow is the answer.
struct Arcs {
    /// From a group to a machine.
    direct: Vec<(usize, usize, Arc)>,
    /// From a group to a rack.
    to_rack: Vec<(usize, usize, Arc)>,
    /// From a group to the cluster.
    to_any: Vec<(usize, Arc)>,
    /// From the cluster to a rack.
    down: Vec<(usize, Arc)>,
    /// From a rack to a machine.
    into: Vec<(usize, usize, Arc)>,
}

impl Arcs {
    /// None yet, but room for those of a problem.
    fn with_room_for(problem: &Problem) -> Self {
        let groups = || problem.groups.iter().map(|(group, _)| group);
        Self {
            direct: Vec::with_capacity(groups().map(|group| group.machines.len()).sum()),
            to_rack: Vec::with_capacity(groups().map(|group| group.racks.len()).sum()),
            to_any: Vec::with_capacity(problem.groups.len()),
            down: Vec::with_capacity(problem.racks),
            into: Vec::with_capacity(problem.machines.len()),
        }
    }

    /// For how many arcs of a network this is room, with those to the jobs, the groups and the sink.
    fn room(&self, jobs: usize) -> usize {
        let [groups, machines] = [self.to_any.capacity(), self.into.capacity()];
        self.direct.capacity() + self.to_rack.capacity() + self.down.capacity() + 2 * (groups + machines + jobs) + 1
    }
}

impl Problem {
    /// The cheapest placement of the tasks. Where placing a task costs as much as leaving it, it is placed.
    pub(super) fn solve(&self) -> Vec<Placement> {
        let units = self.units();
        if units == 0 {
            return Vec::new();
        }
        let (network, arcs) = self.network(units, self.range(units));
        self.placements(&network.flow(SOURCE, SINK, units as i64), &arcs)
    }

    /// By how much each cost can grow before one is cut.
    pub(super) fn spare(&self) -> Cost {
        self.fits(self.units().max(1)) - self.largest()
    }

    /// How many units flow at most.
    fn units(&self) -> u64 {
        let slots: u64 = self.machines.iter().map(|machine| u64::from(machine.slots)).sum();
        let tasks: u64 = self.groups.iter().map(|&(_, tasks)| u64::from(tasks)).sum();
        slots.min(tasks)
    }

    fn nodes(&self) -> Cost {
        (FIRST + self.jobs.len() + self.groups.len() + self.racks + self.machines.len()) as Cost
    }

    /// The bounds of the costs if so many units flow.
    fn range(&self, units: u64) -> Range {
        let most = self.largest().min(self.fits(units));
        Range { most, dear: 4 * self.nodes() * (most + 1) }
    }

    /// The largest cost that fits if so many units flow.
    fn fits(&self, units: u64) -> Cost {
        // The solver adds up the costs of all units, each on a way through all nodes at most.
        Cost::from(i64::MAX) / (32 * self.nodes() * Cost::from(units))
    }

    /// The cost that is farthest from zero.
    fn largest(&self) -> Cost {
        let waiting = self.jobs.iter().map(|job| job.waiting);
        let places = self.groups.iter().flat_map(|(group, _)| {
            let near = group.machines.iter().chain(&group.racks).map(|&(_, cost)| cost);
            near.chain([group.anywhere])
        });
        waiting.chain(places).map(Cost::saturating_abs).max().unwrap_or(0)
    }

    fn network(&self, units: u64, Range { most, dear }: Range) -> (Network, Arcs) {
        let cut = |cost: Cost| cost.clamp(-most, most);
        // Of equally cheap ways the solver follows that through the highest numbers, so the first of each kind gets the highest.
        let ends = [self.jobs.len(), self.groups.len(), self.racks, self.machines.len()].map({
            let mut end = FIRST;
            move |count| {
                end += count;
                end
            }
        });
        let [job, group, rack, machine] = ends.map(|end| move |place: usize| end - 1 - place);
        let mut arcs = Arcs::with_room_for(self);
        let mut network = Network::new(ends[3], arcs.room(self.jobs.len()));
        let mut add = |from, to, capacity: u64, cost: Cost| network.add(from, to, capacity as i64, cost as i64);

        // The solver wants no negative cost: every way from source to sink is dearer by the same.
        let longest = self.jobs.iter().map(|job| cut(job.waiting)).max().unwrap_or(0);
        let places = self.groups.iter().flat_map(|(group, _)| group.machines.iter().map(|&(_, cost)| cut(cost)));
        let cheapest = places.min().unwrap_or(0).min(0);
        // One more, so that at equal cost a task is placed.
        add(SOURCE, SINK, units, dear + longest - cheapest + 1);

        for (number, wanted) in self.jobs.iter().enumerate() {
            let least = wanted.least.min(wanted.most);
            add(SOURCE, job(number), u64::from(least), longest - cut(wanted.waiting));
            add(SOURCE, job(number), u64::from(wanted.most - least), dear + longest - cut(wanted.waiting));
        }
        let mut slots_of_rack = vec![0_u64; self.racks];
        for (number, offered) in self.machines.iter().enumerate() {
            let slots = u64::from(offered.slots);
            slots_of_rack[offered.rack] += slots;
            arcs.into.push((offered.rack, number, add(rack(offered.rack), machine(number), slots, 0)));
            add(machine(number), SINK, slots, 0);
        }
        for (number, &slots) in slots_of_rack.iter().enumerate() {
            arcs.down.push((number, add(CLUSTER, rack(number), slots, 0)));
        }
        for (number, (places, tasks)) in self.groups.iter().enumerate() {
            let tasks = u64::from(*tasks);
            add(job(places.job), group(number), tasks, 0);
            for &(place, cost) in &places.machines {
                arcs.direct.push((number, place, add(group(number), machine(place), tasks, cut(cost) - cheapest)));
            }
            for &(place, cost) in &places.racks {
                arcs.to_rack.push((number, place, add(group(number), rack(place), tasks, cut(cost) - cheapest)));
            }
            arcs.to_any.push((number, add(group(number), CLUSTER, tasks, cut(places.anywhere) - cheapest)));
        }
        (network, arcs)
    }

    /// Follows the flow from the groups to the machines. Who comes first through a rack gets its first machine.
    fn placements(&self, flow: &Flow, arcs: &Arcs) -> Vec<Placement> {
        let flow = |arc: Arc| flow.through(arc);
        let mut placements: Vec<Placement> = Vec::new();
        let mut place = |group, machine, tasks| {
            if tasks > 0 {
                placements.push(Placement { group, machine, tasks });
            }
        };
        arcs.direct.iter().for_each(|&(group, machine, arc)| place(group, machine, flow(arc)));
        let mut into: Vec<Vec<(usize, u32)>> = vec![Vec::new(); self.racks];
        arcs.into.iter().rev().for_each(|&(rack, machine, arc)| into[rack].push((machine, flow(arc))));
        let mut through = |group: usize, rack: usize, mut tasks: u32| {
            while tasks > 0 {
                let Some((machine, room)) = into[rack].last_mut() else { break };
                let taken = tasks.min(*room);
                place(group, *machine, taken);
                (tasks, *room) = (tasks - taken, *room - taken);
                if *room == 0 {
                    into[rack].pop();
                }
            }
        };
        arcs.to_rack.iter().for_each(|&(group, rack, arc)| through(group, rack, flow(arc)));
        let mut down = arcs.down.iter().map(|&(rack, arc)| (rack, flow(arc))).filter(|&(_, room)| room > 0);
        let mut next = down.next();
        for &(group, arc) in &arcs.to_any {
            let mut tasks = flow(arc);
            while let (true, Some((rack, room))) = (tasks > 0, next) {
                let taken = tasks.min(room);
                through(group, rack, taken);
                tasks -= taken;
                next = if room > taken { Some((rack, room - taken)) } else { down.next() };
            }
        }
        placements
    }
}

const SOURCE: usize = 0;
const SINK: usize = 1;
const CLUSTER: usize = 2;
const FIRST: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cases::cases;
    use crate::testing::some_nodes;
    use proptest::prelude::*;

    /// More than any cost.
    const DEAR: Cost = 1 << 80;

    /// Machines by (rack, slots).
    fn machines(specs: &[(usize, u32)]) -> Vec<Machine> {
        let nodes = some_nodes(specs.len());
        nodes.into_iter().zip(specs).map(|(node, &(rack, slots))| Machine { node, rack, slots }).collect()
    }

    /// Where a task goes that has 2 GB of input in rack 0, there on `m1` if that has a slot, if its waiting costs so much.
    fn placed(machines: Vec<Machine>, m1: Option<usize>, waiting: Cost) -> Option<usize> {
        let local = m1.map(|machine| (machine, 0)).into_iter().collect();
        let group = Group { job: 0, machines: local, racks: vec![(0, 2_000)], anywhere: 4_000 };
        let jobs = vec![Job { least: 0, most: 1, waiting }];
        let placements = Problem { machines, racks: 2, jobs, groups: vec![(group, 1)] }.solve();
        assert!(placements.len() <= 1);
        placements.first().map(|placement| placement.machine)
    }

    #[test]
    fn a_task_takes_a_worse_place_when_waiting_has_become_dearer() {
        let all = || machines(&[(0, 1), (0, 1), (1, 1)]);
        assert_eq!(placed(all(), Some(0), 5_000), Some(0), "m1, which costs nothing");
        let rack = || machines(&[(0, 1)]);
        assert_eq!(placed(rack(), None, 1_999), None);
        assert_eq!(placed(rack(), None, 2_000), Some(0), "m2 after 4 s");
        let far = || machines(&[(1, 1)]);
        assert_eq!(placed(far(), None, 3_999), None);
        assert_eq!(placed(far(), None, 4_000), Some(0), "any after 8 s");
        assert_eq!(placed(far(), None, 5_000), Some(0), "after 10 s");
    }

    #[test]
    fn the_sum_decides_and_not_the_first_task() {
        // Both tasks could have machine 0 for nothing; the second has nowhere else to go so cheaply.
        let group = |machines, anywhere| (Group { job: 0, machines, racks: vec![], anywhere }, 1);
        let problem = Problem {
            machines: machines(&[(0, 1), (0, 1)]),
            racks: 1,
            jobs: vec![Job { least: 0, most: 2, waiting: 9 }],
            groups: vec![group(vec![(0, 0), (1, 1)], 9), group(vec![(0, 0)], 8)],
        };
        let placements = problem.solve();
        assert_eq!(
            placements.iter().map(|placement| (placement.group, placement.machine)).collect::<Vec<_>>(),
            [(0, 1), (1, 0)]
        );
    }

    /// What placing a task of the group on a machine costs at least.
    fn cost(problem: &Problem, group: usize, machine: usize) -> Cost {
        let (preferred, rack) = (&problem.groups[group].0, problem.machines[machine].rack);
        let direct = preferred.machines.iter().filter(|&&(place, _)| place == machine).map(|&(_, cost)| cost);
        let in_rack = preferred.racks.iter().filter(|&&(place, _)| place == rack).map(|&(_, cost)| cost);
        direct.chain(in_rack).chain([preferred.anywhere]).min().unwrap_or(preferred.anywhere)
    }

    /// How good a placement is, less being better, given as the groups and machines of all placed tasks.
    fn total(problem: &Problem, placed: &[(usize, usize)]) -> Cost {
        let mut of_job = vec![0; problem.jobs.len()];
        let mut total = 0;
        for &(group, machine) in placed {
            let preferred = &problem.groups[group].0;
            of_job[preferred.job] += 1;
            let needed = of_job[preferred.job] <= problem.jobs[preferred.job].least;
            total +=
                cost(problem, group, machine) - problem.jobs[preferred.job].waiting - 1 - if needed { DEAR } else { 0 };
        }
        total
    }

    /// The best over all placements of the groups from `group` on.
    fn best(
        problem: &Problem,
        group: usize,
        left: u32,
        slots: &mut Vec<u32>,
        placed: &mut Vec<(usize, usize)>,
    ) -> Cost {
        if group == problem.groups.len() {
            return total(problem, placed);
        }
        let more = left - 1;
        let next = if more == 0 { group + 1 } else { group };
        let more = if more == 0 { problem.groups.get(next).map_or(0, |&(_, tasks)| tasks) } else { more };
        let mut least = best(problem, next, more, slots, placed);
        let job = problem.groups[group].0.job;
        let of_job = placed.iter().filter(|&&(other, _)| problem.groups[other].0.job == job).count() as u32;
        for machine in 0..slots.len() {
            if slots[machine] > 0 && of_job < problem.jobs[job].most {
                slots[machine] -= 1;
                placed.push((group, machine));
                least = least.min(best(problem, next, more, slots, placed));
                placed.pop();
                slots[machine] += 1;
            }
        }
        least
    }

    fn problem() -> impl Strategy<Value = Problem> {
        let machine = (0..2_usize, 0..=2_u32);
        let job = (0..=2_u32, 0..=2_u32, 0..=9_i128);
        let of_machines = prop::collection::btree_map(0..3_usize, -6..=9_i128, 0..=2);
        let of_racks = prop::collection::btree_map(0..2_usize, 0..=9_i128, 0..=2);
        let group = (0..2_usize, of_machines, of_racks, 0..=9_i128, 1..=2_u32).prop_map(
            |(job, machines, racks, anywhere, tasks)| {
                let (machines, racks) = (machines.into_iter().collect(), racks.into_iter().collect());
                (Group { job, machines, racks, anywhere }, tasks)
            },
        );
        let all =
            (prop::collection::vec(machine, 3), prop::collection::vec(job, 2), prop::collection::vec(group, 1..=3));
        all.prop_map(|(places, jobs, groups)| {
            let job = |(least, more, waiting)| Job { least, most: least + more, waiting };
            Problem { machines: machines(&places), racks: 2, jobs: jobs.into_iter().map(job).collect(), groups }
        })
    }

    proptest! {
        #![proptest_config(cases(500))]

        #[test]
        fn no_placement_is_cheaper(problem in problem()) {
            let placements = problem.solve();
            let placed: Vec<(usize, usize)> = placements
                .iter()
                .flat_map(|placement| std::iter::repeat_n((placement.group, placement.machine), placement.tasks as usize))
                .collect();
            for (number, machine) in problem.machines.iter().enumerate() {
                prop_assert!(placed.iter().filter(|pair| pair.1 == number).count() <= machine.slots as usize);
            }
            for (number, &(_, tasks)) in problem.groups.iter().enumerate() {
                prop_assert!(placed.iter().filter(|pair| pair.0 == number).count() <= tasks as usize);
            }
            let mut slots = problem.machines.iter().map(|machine| machine.slots).collect();
            let first = problem.groups[0].1;
            prop_assert_eq!(total(&problem, &placed), best(&problem, 0, first, &mut slots, &mut Vec::new()));
        }
    }
}
