//! Jobs arrive and end.

use super::map_index::MapIndex;
use super::{JobPhase, World};
use crate::hadoop::kind::Kind;
use crate::ids::{JobId, TaskId};

impl World<'_> {
    pub(crate) fn submit(&mut self, job: JobId) {
        let spec = self.workload.job(job);
        let (maps, reduces) = (spec.count(Kind::Map), spec.count(Kind::Reduce));
        self.version += 1;
        self.changes.note_job(job);
        // One whose set-up took long comes before those that were submitted after it.
        let place = self.active.partition_point(|&other| other < job);
        self.active.insert(place, job);
        self.ready[0] += u64::from(maps);
        self.remaining[0] += u64::from(maps);
        if reduces > 0 {
            self.desired_with_reduces[0] += u64::from(maps);
            self.desired_with_reduces[1] += u64::from(reduces);
        }
        let index = MapIndex::build(self.workload, self.cluster, spec.maps.clone());
        let state = &mut self.jobs[job.index()];
        state.phase = JobPhase::Active;
        state.maps = Some(Box::new(index));
        state.output_in_bytes = self.follows_output
            && reduces > 0
            && spec.maps.clone().all(|map| self.workload.output_bytes(TaskId(map)).is_some());
        if state.slowstart == 0 {
            self.release_reduces(job);
        }
        if maps == 0 {
            self.jobs[job.index()].maps_done = Some(self.now);
        }
        self.mark_ready(job, Kind::Map);
        self.mark_ready(job, Kind::Reduce);
        self.ask_for_am(job);
    }

    /// The reduces of every job may start as soon as it has arrived.
    pub(crate) fn ignore_slowstart(&mut self) {
        self.jobs.iter_mut().for_each(|job| job.slowstart = 0);
    }

    /// The reduces of this job may start from now on.
    pub(super) fn release_reduces(&mut self, job: JobId) {
        let state = &self.jobs[job.index()];
        self.ready[1] += u64::from(state.waiting[1]);
        self.remaining[1] += u64::from(self.workload.job(job).count(Kind::Reduce) - state.finished[1]);
        self.mark_ready(job, Kind::Reduce);
    }

    /// Takes note of whether a job has tasks of a kind that could be launched.
    #[inline]
    pub(super) fn mark_ready(&mut self, job: JobId, kind: Kind) {
        if self.yarn.is_none() {
            let is_ready = self.jobs[job.index()].phase == JobPhase::Active && self.ready_of(job, kind) > 0;
            self.ready_jobs[kind.index()].set(job.0, is_ready);
        }
    }

    /// True if a job is active and a task of a kind of it could be launched.
    #[inline]
    pub(crate) fn any_ready(&self, job: JobId, kind: Kind) -> bool {
        if self.yarn.is_none() {
            return self.ready_jobs[kind.index()].contains(job.0);
        }
        self.jobs[job.index()].phase == JobPhase::Active && self.ready_of(job, kind) > 0
    }

    /// The first active job after `after`, or the first of all, of which a task of a kind could be launched.
    pub(crate) fn next_ready(&self, kind: Kind, after: Option<JobId>) -> Option<JobId> {
        let least = after.map_or(0, |job| job.0 + 1);
        if self.yarn.is_none() {
            return self.ready_jobs[kind.index()].first_from(least).map(JobId);
        }
        let later = &self.active[self.active.partition_point(|job| job.0 < least)..];
        later.iter().copied().find(|&job| self.ready_of(job, kind) > 0)
    }

    pub(crate) fn reduces_may_start(&self, job: JobId) -> bool {
        let state = &self.jobs[job.index()];
        state.finished[0] >= state.slowstart
    }

    /// Takes a job that has ended out of all sums.
    pub(crate) fn end_job(&mut self, job: JobId) {
        let spec = self.workload.job(job);
        let counts = [spec.count(Kind::Map), spec.count(Kind::Reduce)];
        let reduces_ready = self.reduces_may_start(job);
        let state = &mut self.jobs[job.index()];
        state.phase = JobPhase::Over;
        state.maps = None;
        state.map_output = Vec::new();
        let left = |kind: usize| u64::from(counts[kind] - state.finished[kind]);
        self.ready[0] -= u64::from(state.waiting[0]);
        self.remaining[0] -= left(0);
        if reduces_ready {
            self.ready[1] -= u64::from(state.waiting[1]);
            self.remaining[1] -= left(1);
        }
        for kind in 0..2 {
            self.running[kind] -= u64::from(state.running[kind]);
            self.backups[kind] -= u64::from(state.backups[kind]);
        }
        if counts[1] > 0 {
            self.desired_with_reduces[0] -= u64::from(counts[0]);
            self.desired_with_reduces[1] -= u64::from(counts[1]);
        }
        if let Ok(place) = self.active.binary_search(&job) {
            self.active.remove(place);
        }
        self.mark_ready(job, Kind::Map);
        self.mark_ready(job, Kind::Reduce);
        self.withdraw(job);
        self.changes.note_job(job);
        self.version += 1;
    }

    /// True if all tasks of a job are done.
    pub(crate) fn is_done(&self, job: JobId) -> bool {
        let (spec, state) = (self.workload.job(job), &self.jobs[job.index()]);
        state.finished == [spec.count(Kind::Map), spec.count(Kind::Reduce)]
    }
}
