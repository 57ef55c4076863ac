//! Where the input of a job's maps is, listed once when the job arrives.

use resched_sim::hadoop::{Kind, View};
use resched_sim::{JobId, NodeId, RackId, TaskId};
use resched_tables::model::Locality;

use super::costs::Costs;
use super::network::Cost;

/// The places of the input of a job's maps.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    /// By the place of the map in its job.
    maps: Vec<Input>,
    first: usize,
    /// The maps with input in each rack.
    in_rack: Vec<Vec<TaskId>>,
    /// The maps by what they cost where nothing is near.
    alike: Vec<Alike>,
}

/// Where the input of a map is, and what the map costs elsewhere.
#[derive(Debug)]
pub(super) struct Input {
    /// The nodes that hold it, by id.
    pub(super) nodes: Vec<NodeId>,
    /// Their racks, by id, each once.
    pub(super) racks: Vec<RackId>,
    /// The cost on another node of these racks.
    pub(super) rack: Cost,
    /// The cost on the worst node of all.
    pub(super) anywhere: Cost,
}

/// Maps with the same cost on the worst node, by number.
#[derive(Debug)]
struct Alike {
    anywhere: Cost,
    maps: Vec<TaskId>,
    /// None before this place waits.
    head: usize,
}

impl Inputs {
    /// Lists the maps of a job.
    pub(super) fn of(job: JobId, view: View<'_>, costs: Costs) -> Self {
        let mut inputs = Self { in_rack: vec![Vec::new(); view.rack_count()], ..Self::default() };
        for task in view.job(job).tasks(Kind::Map) {
            if inputs.maps.is_empty() {
                inputs.first = task.index();
            }
            let input = Input::of(task, view, costs);
            input.racks.iter().for_each(|rack| inputs.in_rack[rack.index()].push(task));
            match inputs.alike.binary_search_by_key(&input.anywhere, |alike| alike.anywhere) {
                Ok(place) => inputs.alike[place].maps.push(task),
                Err(place) => {
                    inputs.alike.insert(place, Alike { anywhere: input.anywhere, maps: vec![task], head: 0 });
                }
            }
            inputs.maps.push(input);
        }
        inputs
    }

    /// The input of a map of the job.
    pub(super) fn of_map(&self, task: TaskId) -> &Input {
        &self.maps[task.index() - self.first]
    }

    /// The maps with input in a rack, by number.
    pub(super) fn in_rack(&self, rack: RackId) -> &[TaskId] {
        &self.in_rack[rack.index()]
    }

    /// All maps but the first ones that do not wait: for each cost on the worst node those with that cost, by number.
    pub(super) fn by_worst_cost(&self) -> impl Iterator<Item = (Cost, &[TaskId])> {
        self.alike.iter().map(|alike| (alike.anywhere, &alike.maps[alike.head..]))
    }

    /// Passes over the first maps of each cost that do not wait.
    pub(super) fn pass_over_launched(&mut self, view: View<'_>) {
        for Alike { maps, head, .. } in &mut self.alike {
            *head += maps[*head..].iter().take_while(|&&task| !view.waits(task)).count();
        }
    }

    /// A map waits again.
    pub(super) fn map_waits(&mut self) {
        self.alike.iter_mut().for_each(|alike| alike.head = 0);
    }
}

impl Input {
    fn of(task: TaskId, view: View<'_>, costs: Costs) -> Self {
        let bytes = view.input_bytes(task);
        let mut nodes = view.replicas(task).to_vec();
        nodes.sort_unstable();
        let mut racks: Vec<RackId> = nodes.iter().map(|&node| view.rack(node)).collect();
        racks.sort_unstable();
        racks.dedup();
        let worst = match racks.len() {
            0 => Locality::Node,
            known if known == view.rack_count() => Locality::Rack,
            _ => Locality::Off,
        };
        Self { nodes, racks, rack: costs.place(bytes, Locality::Rack), anywhere: costs.place(bytes, worst) }
    }
}
