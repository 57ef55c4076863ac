//! The flow problem of one instant: the places that maps could go to, and their costs.

use std::collections::BTreeMap;

use resched_sim::hadoop::{AttemptId, AttemptView, Kind, View};
use resched_sim::{JobId, NodeId, RackId, TaskId};
use resched_tables::model::{Locality, Reason};

use super::costs::Costs;
use super::inputs::{Input, Inputs};
use super::network::{Cost, Group, Job, Machine, Placement, Problem};

/// How many maps of a job should run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) least: u32,
    pub(super) most: u32,
}

impl Bounds {
    /// How many more, if so many run.
    pub(super) fn beyond(self, running: u32) -> Self {
        Self { least: self.least.saturating_sub(running), most: self.most.saturating_sub(running) }
    }
}

/// A problem, and what its groups stand for.
pub(super) struct Draft<'v> {
    view: View<'v>,
    costs: Costs,
    pub(super) problem: Problem,
    /// The place of each node among the problem's machines.
    machine_of: Vec<Option<usize>>,
    /// Whether each rack has a machine of the problem. No map flows through the others, and leaving them out puts many maps into one
    /// group: when few slots are free, the network is small.
    has_room: Vec<bool>,
    /// Those that have one.
    racks: Vec<RackId>,
    /// The slots of all machines together.
    slots: usize,
    /// The jobs of the problem.
    jobs: Vec<JobId>,
    /// The waiting maps of each group; none if it is a running one.
    pub(super) waiting: Vec<Vec<TaskId>>,
    /// The group and the machine of each running map.
    pub(super) running: Vec<(usize, usize, AttemptId)>,
}

impl<'v> Draft<'v> {
    /// The machines with slots to give, as `slots` counts them.
    pub(super) fn new(view: View<'v>, costs: Costs, slots: impl Fn(NodeId) -> u32) -> Self {
        let mut machine_of = vec![None; view.node_count()];
        let mut has_room = vec![false; view.rack_count()];
        let (mut machines, mut racks, mut all_slots) = (Vec::new(), Vec::new(), 0);
        for node in view.nodes() {
            let slots = slots(node);
            if slots > 0 && view.is_live(node) {
                machine_of[node.index()] = Some(machines.len());
                let rack = view.rack(node);
                if !std::mem::replace(&mut has_room[rack.index()], true) {
                    racks.push(rack);
                }
                all_slots += slots as usize;
                machines.push(Machine { node, rack: rack.index(), slots });
            }
        }
        let problem = Problem { machines, racks: view.rack_count(), ..Problem::default() };
        Self {
            view,
            costs,
            problem,
            machine_of,
            has_room,
            racks,
            slots: all_slots,
            jobs: Vec::new(),
            waiting: Vec::new(),
            running: Vec::new(),
        }
    }

    /// Adds a job with its waiting maps. Of maps that are alike, it takes no more than there are slots.
    pub(super) fn add_job(&mut self, job: JobId, Bounds { least, most }: Bounds, inputs: &Inputs) {
        let number = self.problem.jobs.len();
        let waiting = self.costs.waiting(self.view.now() - self.view.job(job).submit());
        self.problem.jobs.push(Job { least, most, waiting });
        self.jobs.push(job);
        let mut groups: BTreeMap<Group, Vec<TaskId>> = BTreeMap::new();
        self.add_near(number, inputs, &mut groups);
        self.add_far(number, inputs, &mut groups);
        for (group, tasks) in groups {
            self.problem.groups.push((group, tasks.len() as u32));
            self.waiting.push(tasks);
        }
    }

    /// Sorts the waiting maps with input in a rack with room into groups. Each is found through the first such rack, so those of
    /// one group come by number.
    fn add_near(&self, job: usize, inputs: &Inputs, groups: &mut BTreeMap<Group, Vec<TaskId>>) {
        for &rack in &self.racks {
            let maps = inputs.in_rack(rack).iter().copied().filter(|&task| self.view.waits(task));
            for task in maps {
                let input = inputs.of_map(task);
                if self.racks_with_room(input).next() == Some(rack) {
                    groups.entry(self.group(job, input)).or_default().push(task);
                }
            }
        }
    }

    /// Sorts the other waiting maps into groups.
    fn add_far(&self, job: usize, inputs: &Inputs, groups: &mut BTreeMap<Group, Vec<TaskId>>) {
        for (anywhere, maps) in inputs.by_worst_cost() {
            let is_far = |task: TaskId| self.racks_with_room(inputs.of_map(task)).next().is_none();
            let far = maps.iter().copied().filter(|&task| self.view.waits(task) && is_far(task));
            let far: Vec<TaskId> = far.take(self.slots).collect();
            if !far.is_empty() {
                groups.insert(Group { job, machines: Vec::new(), racks: Vec::new(), anywhere }, far);
            }
        }
    }

    /// Adds the running maps of the job that was added last. Each stays for less the longer it has run, and at equal cost.
    pub(super) fn add_running(&mut self, job: JobId, inputs: &Inputs) {
        let number = self.problem.jobs.len() - 1;
        let mut runs: Vec<_> = self.view.runs(job, Kind::Map).filter(is_movable).collect();
        runs.sort_unstable_by_key(|run| (run.task, run.attempt));
        for run in runs {
            let Some(machine) = self.machine_of[run.node.index()] else { continue };
            let mut group = self.group(number, inputs.of_map(run.task));
            let level = if self.view.replicas(run.task).is_empty() { Locality::Node } else { run.level };
            let moved = self.costs.place(self.view.input_bytes(run.task), level);
            group.machines.retain(|&(other, _)| other != machine);
            group.machines.push((machine, moved - Cost::from(self.view.now() - run.assigned) - 1));
            self.running.push((self.problem.groups.len(), machine, run.id));
            self.problem.groups.push((group, 1));
            self.waiting.push(Vec::new());
        }
    }

    /// The jobs of which maps are left waiting though slots are left, and why: the job has its fair share, or every place that is free
    /// costs more than to wait for a nearer one. If no slot is left, all wait only for their turn.
    pub(super) fn left(&self, placements: &[Placement]) -> Vec<(JobId, Reason)> {
        let mut left = Vec::new();
        if !self.view.wants_reasons() {
            return left;
        }
        let mut placed = vec![0; self.jobs.len()];
        placements.iter().for_each(|placement| placed[self.problem.groups[placement.group].0.job] += placement.tasks);
        let is_full = placed.iter().map(|&tasks| tasks as usize).sum::<usize>() >= self.slots;
        for ((&job, groups), placed) in self.jobs.iter().zip(&self.problem.jobs).zip(placed) {
            if !is_full && placed < self.view.job(job).ready(Kind::Map) {
                left.push((job, if placed >= groups.most { Reason::Reserve } else { Reason::Locality }));
            }
        }
        left
    }

    /// The group of a map.
    fn group(&self, job: usize, input: &Input) -> Group {
        let machine = |node: &NodeId| Some((self.machine_of[node.index()]?, 0));
        Group {
            job,
            machines: input.nodes.iter().filter_map(machine).collect(),
            racks: self.racks_with_room(input).map(|rack| (rack.index(), input.rack)).collect(),
            anywhere: input.anywhere,
        }
    }

    /// The racks with input of a map in which a machine has room.
    fn racks_with_room(&self, input: &Input) -> impl Iterator<Item = RackId> {
        input.racks.iter().copied().filter(|rack| self.has_room[rack.index()])
    }
}

/// True if a running map may be killed to run elsewhere or later.
pub(super) fn is_movable(run: &AttemptView) -> bool {
    run.attempt == 0 && !run.dying
}
