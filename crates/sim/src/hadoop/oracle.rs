//! The run times of tasks, which only an oracle may see.

use crate::cluster_file::ReduceModel;
use crate::hadoop::cost::undisturbed;
use crate::hadoop::kind::Kind;
use crate::hadoop::world::World;
use crate::ids::{JobId, Ms, TaskId};

/// The run times of the replay, for references that no real scheduler can match. See [`crate::hadoop::View::oracle`].
///
/// A time is that of the task's successful try, under the cost model of the replay: a map's beside its input, a reduce's from
/// its start to its end if all maps of its job are done before.
#[derive(Clone, Copy)]
pub struct Oracle<'a> {
    pub(crate) world: &'a World<'a>,
}

impl<'a> Oracle<'a> {
    /// How long a task will take, ms; `None` if the log holds no success of it.
    pub fn run_time(&self, task: TaskId) -> Option<Ms> {
        undisturbed(self.world.workload, self.world.cluster, task)
    }

    /// [`Oracle::run_time`] of each task of a kind of a job, by number.
    pub fn run_times(self, job: JobId, kind: Kind) -> impl Iterator<Item = Option<Ms>> + use<'a> {
        self.world.workload.job(job).tasks(kind).map(move |task| self.run_time(TaskId(task)))
    }

    /// How much longer the shuffle of a reduce lasts after the last map if the reduce started before that map ended,
    /// ms. Negative if it is shorter; 0 if the log does not say.
    pub fn first_wave_shuffle(&self, job: JobId) -> Ms {
        let entry = self.world.workload.job(job);
        let logged = (self.world.cluster.config.cost.reduce == ReduceModel::R1)
            .then(|| Some(entry.first_shuffle? - entry.typical_shuffle?));
        logged.flatten().unwrap_or(0)
    }
}
