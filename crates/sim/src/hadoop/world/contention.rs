//! The stages of attempts under the model `contention`, and the resources that they use.

use resched_tables::model::{Locality, Outcome};

use super::World;
use crate::hadoop::contention::{CPU, DISK, NET_IN, NET_OUT, Replan, SHARED, Stage, Use, Workbench};
use crate::hadoop::kind::Kind;
use crate::ids::{AttemptId, JobId, NodeId, TaskId};

impl World<'_> {
    /// An attempt has been launched and does its first work.
    pub(crate) fn begin_work(&mut self, id: AttemptId) {
        let run = &self.runs[id.index()];
        let (job, node, kind, task) = (run.job, run.node, run.kind, run.task);
        let (time, fails) = (run.course.run.max(0) as f64, run.course.outcome == Outcome::Failed);
        // One whose master died while it was being launched never starts; a reduce that fails does so at its logged time.
        if run.start != self.now || kind == Kind::Reduce && fails {
            return self.leave_bench(id);
        }
        let now = self.now;
        let Some(mut bench) = self.bench.take() else { return };
        if kind == Kind::Map {
            bench.begin(id, Stage::Map, time, now);
            bench.set_uses(id, self.uses_of_map(&bench, task, node, time), now);
        } else {
            bench.begin(id, Stage::Fetch, self.jobs[job.index()].fluid.time(), now);
            bench.set_uses(id, self.uses_of_fetch(job, node), now);
        }
        self.bench = Some(bench);
    }

    /// A reduce has fetched all that there is; if no more will come it sorts and reduces.
    pub(crate) fn fetched(&mut self, id: AttemptId) {
        let now = self.now;
        let run = &mut self.runs[id.index()];
        let state = &self.jobs[run.job.index()];
        if state.maps_done.is_none() {
            return;
        }
        run.shuffle_finish = Some(now);
        let time = (run.course.sort + run.course.run).max(0) as f64;
        let Some(config) = &self.cluster.config.cost.contention else { return };
        let bytes = config.reduce_disk * state.fluid.made();
        let uses = |bench: &Workbench| computing(bench, run.node, time, bytes);
        let Some(bench) = &mut self.bench else { return };
        bench.begin(id, Stage::Compute, time, now);
        bench.set_uses(id, std::iter::once(uses(bench)), now);
    }

    /// A map of a job has left so many bytes on a node for each of its reduces: those that fetch have more to do.
    pub(crate) fn feed(&mut self, job: JobId, bytes: f64, from: NodeId) {
        let now = self.now;
        let Some(mut bench) = self.bench.take() else { return };
        for &id in &self.jobs[job.index()].runs[Kind::Reduce.index()] {
            if bench.stage(id) == Some(Stage::Fetch) {
                let node = self.runs[id.index()].node;
                match bench.add(id, self.jobs[job.index()].fluid.time_of(bytes), now) {
                    Replan::Keep => {}
                    Replan::Resume => bench.set_uses(id, self.uses_of_fetch_from(from, node), now),
                    Replan::All => bench.set_uses(id, self.uses_of_fetch(job, node), now),
                }
            }
        }
        self.bench = Some(bench);
    }

    /// An attempt is over.
    pub(crate) fn leave_bench(&mut self, id: AttemptId) {
        let now = self.now;
        if let Some(bench) = &mut self.bench {
            bench.end(id, now);
        }
    }

    fn uses_of_map(
        &self,
        bench: &Workbench,
        task: TaskId,
        node: NodeId,
        time: f64,
    ) -> impl Iterator<Item = Use> + use<> {
        let input = self.workload.input_bytes(task).unwrap_or(0) as f64;
        let output = self.workload.output_bytes(task).unwrap_or(0) as f64;
        let replicas = self.workload.replicas(task);
        let far = !replicas.is_empty() && self.level(task, node) != Locality::Node;
        let mut used = computing(bench, node, time, if far { output } else { input + output });
        let source = far.then(|| {
            let rate = input / time.max(1.0);
            used.rates[NET_IN] = rate;
            Use { node: self.source(replicas, task, node), rates: rates(&[(DISK, rate), (NET_OUT, rate)]) }
        });
        [Some(used), source].into_iter().flatten()
    }

    /// The replica that a map reads: one in its rack if there is any.
    fn source(&self, replicas: &[NodeId], task: TaskId, node: NodeId) -> NodeId {
        let rack = self.cluster.node(node).rack;
        let near = replicas.iter().copied().find(|&replica| self.cluster.node(replica).rack == rack);
        near.unwrap_or(replicas[task.index() % replicas.len()])
    }

    /// What a reduce needs to fetch all that the maps of its job left, from wherever it lies.
    fn uses_of_fetch(&self, job: JobId, node: NodeId) -> impl Iterator<Item = Use> {
        let left = &self.jobs[job.index()].map_output;
        let all: f64 = left.iter().sum();
        let part = move |bytes: f64| if all > 0.0 { bytes / all } else { 0.0 };
        let here = left.get(node.index()).copied().map_or(0.0, part);
        let others = left.iter().enumerate().filter(move |&(source, &bytes)| source != node.index() && bytes > 0.0);
        self.fetching(node, here, others.map(move |(source, &bytes)| (NodeId::at(source), part(bytes))))
    }

    /// What a reduce needs to fetch what one map left.
    fn uses_of_fetch_from(&self, source: NodeId, node: NodeId) -> impl Iterator<Item = Use> + use<> {
        let here = if source == node { 1.0 } else { 0.0 };
        self.fetching(node, here, (source != node).then_some((source, 1.0)).into_iter())
    }

    /// What a reduce needs to fetch of its own node so large a part, and of others so large ones. It writes all of it.
    fn fetching<I: Iterator<Item = (NodeId, f64)>>(
        &self,
        node: NodeId,
        here: f64,
        others: I,
    ) -> impl Iterator<Item = Use> + use<I> {
        let cost = &self.cluster.config.cost;
        let (rate, cores) =
            (cost.shuffle_rate / 1000.0, cost.contention.map_or(0.0, |contention| contention.fetch_cores));
        let of_fetch = [(CPU, cores), (DISK, rate * (1.0 + here)), (NET_IN, rate * (1.0 - here))];
        let used = Use { node, rates: rates(&of_fetch) };
        let far = move |(node, part)| Use { node, rates: rates(&[(DISK, rate * part), (NET_OUT, rate * part)]) };
        std::iter::once(used).chain(others.map(far))
    }
}

fn rates(some: &[(usize, f64)]) -> [f64; SHARED] {
    let mut all = [0.0; SHARED];
    some.iter().for_each(|&(thing, rate)| all[thing] = rate);
    all
}

/// What uses a node for so long, alone, and its disk for so many bytes meanwhile: the rest of the time it computes.
fn computing(bench: &Workbench, node: NodeId, time: f64, bytes: f64) -> Use {
    let time = time.max(1.0);
    let cpu = (1.0 - bench.disk_time(bytes) / time).max(0.0);
    Use { node, rates: rates(&[(CPU, cpu), (DISK, bytes / time)]) }
}
