//! The flow problem of one instant: the places that maps could go to, and their costs.

use std::collections::BTreeMap;

use resched_sim::hadoop::{Kind, RunId, RunView, View};
use resched_sim::{JobId, Ms, NodeId, RackId, TaskId};
use resched_trace::model::Locality;

use super::network::{Cost, Group, Job, Machine, Problem};

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

/// The costs of places and of waiting.
#[derive(Debug, Clone, Copy)]
pub(super) struct Costs {
    pub(super) psi: f64,
    pub(super) xi: f64,
    pub(super) omega: f64,
    pub(super) split_bytes: f64,
}

impl Costs {
    /// The cost of running a map that reads this many bytes at this level.
    fn place(&self, bytes: Option<u64>, level: Locality) -> Cost {
        let per_gigabyte = match level {
            Locality::Node => 0.0,
            Locality::Rack => self.psi,
            Locality::Off => self.xi,
        };
        // Thousandths: a GB is 10⁹ bytes.
        (per_gigabyte * bytes.map_or(self.split_bytes, |bytes| bytes as f64) / 1e6) as Cost
    }

    /// The cost of leaving a map waiting that was submitted this long ago.
    fn waiting(&self, time: Ms) -> Cost {
        (self.omega * time as f64) as Cost
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
    /// The waiting maps of each group; none if it is a running one.
    pub(super) waiting: Vec<Vec<TaskId>>,
    /// The group and the machine of each running map.
    pub(super) running: Vec<(usize, usize, RunId)>,
}

impl<'v> Draft<'v> {
    /// The machines with slots to give, as `slots` counts them.
    pub(super) fn new(view: View<'v>, costs: Costs, slots: impl Fn(NodeId) -> u32) -> Self {
        let mut machine_of = vec![None; view.node_count()];
        let mut has_room = vec![false; view.rack_count()];
        let mut machines = Vec::new();
        for node in view.nodes() {
            let slots = slots(node);
            if slots > 0 && view.is_live(node) {
                machine_of[node.index()] = Some(machines.len());
                has_room[view.rack(node).index()] = true;
                machines.push(Machine { node, rack: view.rack(node).index(), slots });
            }
        }
        let problem = Problem { machines, racks: view.rack_count(), ..Problem::default() };
        Self { view, costs, problem, machine_of, has_room, waiting: Vec::new(), running: Vec::new() }
    }

    /// Adds a job with its waiting maps.
    pub(super) fn add_job(&mut self, job: JobId, Bounds { least, most }: Bounds) {
        let number = self.problem.jobs.len();
        let waiting = self.costs.waiting(self.view.now() - self.view.job(job).submit());
        self.problem.jobs.push(Job { least, most, waiting });
        let mut groups: BTreeMap<Group, Vec<TaskId>> = BTreeMap::new();
        for task in self.view.waiting_maps(job) {
            groups.entry(self.group(number, task)).or_default().push(task);
        }
        for (group, tasks) in groups {
            self.problem.groups.push((group, tasks.len() as u32));
            self.waiting.push(tasks);
        }
    }

    /// Adds the running maps of the job that was added last. Each stays for less the longer it has run, and at equal cost.
    pub(super) fn add_running(&mut self, job: JobId) {
        let number = self.problem.jobs.len() - 1;
        let mut runs: Vec<_> = self.view.runs(job, Kind::Map).filter(is_movable).collect();
        runs.sort_unstable_by_key(|run| (run.task, run.attempt));
        for run in runs {
            let Some(machine) = self.machine_of[run.node.index()] else { continue };
            let mut group = self.group(number, run.task);
            let level = if self.view.replicas(run.task).is_empty() { Locality::Node } else { run.level };
            let moved = self.costs.place(self.view.input_bytes(run.task), level);
            group.machines.retain(|&(other, _)| other != machine);
            group.machines.push((machine, moved - Cost::from(self.view.now() - run.assigned) - 1));
            self.running.push((self.problem.groups.len(), machine, run.id));
            self.problem.groups.push((group, 1));
            self.waiting.push(Vec::new());
        }
    }

    /// The group of a map.
    fn group(&self, job: usize, task: TaskId) -> Group {
        let (view, bytes) = (self.view, self.view.input_bytes(task));
        let replicas = view.replicas(task);
        let mut racks: Vec<RackId> = replicas.iter().map(|&node| view.rack(node)).collect();
        racks.sort_unstable();
        racks.dedup();
        let worst = match racks.len() {
            0 => Locality::Node,
            known if known == view.rack_count() => Locality::Rack,
            _ => Locality::Off,
        };
        let mut machines: Vec<(usize, Cost)> =
            replicas.iter().filter_map(|node| Some((self.machine_of[node.index()]?, 0))).collect();
        machines.sort_unstable();
        Group {
            job,
            machines,
            racks: racks
                .iter()
                .filter(|rack| self.has_room[rack.index()])
                .map(|rack| (rack.index(), self.costs.place(bytes, Locality::Rack)))
                .collect(),
            anywhere: self.costs.place(bytes, worst),
        }
    }
}

/// Whether a running map may be killed to run elsewhere or later.
pub(super) fn is_movable(run: &RunView) -> bool {
    run.attempt == 0 && !run.dying
}
