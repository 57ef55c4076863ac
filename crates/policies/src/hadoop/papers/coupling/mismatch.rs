//! Which job may launch a reduce: Algorithm 1 of the Coupling paper (`docs/model/coupling.md`).

use resched_sim::hadoop::{JobView, Kind, View};
use resched_sim::{JobId, NodeId};
use resched_tables::draws::Purpose;
use resched_tables::model::Reason;

use super::tie;

/// How far a job has come with its maps and its reduces.
#[derive(Debug, Clone, Copy)]
struct Progress {
    maps: u32,
    finished_maps: u32,
    /// Not launched yet.
    pending_maps: u32,
    reduces: u32,
    /// Not launched yet.
    pending_reduces: u32,
}

impl Progress {
    fn of(job: JobView<'_>) -> Self {
        Self {
            maps: job.desired(Kind::Map),
            finished_maps: job.finished(Kind::Map),
            pending_maps: job.waiting(Kind::Map),
            reduces: job.desired(Kind::Reduce),
            pending_reduces: job.waiting(Kind::Reduce),
        }
    }

    /// By how much the share of launched reduces lags behind the share of finished maps. The ramp is over when the share of
    /// finished maps reaches `δ = 1 − e^{−R/threshold}`. A job that has launched all its maps comes before all others, the one
    /// with the fewest reduces left first.
    fn mismatch(&self, threshold: f64) -> f64 {
        if self.pending_reduces == 0 {
            return 0.0;
        }
        if self.pending_maps == 0 {
            return 4.0 + 1.0 / f64::from(self.pending_reduces);
        }
        let reduces = f64::from(self.reduces);
        let ramp = 1.0 - (-reduces / threshold).exp();
        let maps_per_reduce = ramp * f64::from(self.maps) / reduces;
        let launched = f64::from(self.reduces - self.pending_reduces);
        (f64::from(self.finished_maps) / maps_per_reduce - (launched + 1.0)) / reduces
    }
}

/// The mismatches of all jobs.
#[derive(Debug)]
pub(super) struct Mismatches {
    threshold: f64,
}

impl Mismatches {
    pub(super) fn new(threshold: f64) -> Self {
        Self { threshold }
    }

    fn of(&self, job: JobId, view: View<'_>) -> f64 {
        Progress::of(view.job(job)).mismatch(self.threshold)
    }

    /// Says the jobs that have launched as many reduces as their maps allow.
    fn report_ramp(&self, view: View<'_>) {
        if view.wants_reasons() {
            for &job in view.jobs() {
                let reason = if self.of(job, view) > 0.0 { Reason::None } else { Reason::Ramp };
                view.pass_over(job, Kind::Reduce, reason);
            }
        }
    }

    /// The job with the largest one if that is positive, drawn among equals; of those with a reduce to launch that pass the test.
    pub(super) fn largest(&self, node: NodeId, view: View<'_>, passes: impl Fn(JobId) -> bool) -> Option<JobId> {
        self.report_ramp(view);
        if view.ready(Kind::Reduce) == 0 {
            return None;
        }
        let ready = view.jobs().iter().copied().filter(|&job| view.job(job).ready(Kind::Reduce) > 0);
        let of_jobs = ready.map(|job| (self.of(job, view), job));
        let positive = || of_jobs.clone().filter(|&(of_job, job)| of_job > 0.0 && passes(job));
        let largest = positive().map(|(share, _)| share).max_by(f64::total_cmp)?;
        let mut equals = positive().filter(|&(share, _)| share == largest).map(|(_, job)| job);
        let first = equals.next()?;
        let Some(second) = equals.next() else { return Some(first) };
        let draw = |job: &JobId| tie(view, Purpose::ReduceCandidate, *job, node, view.now());
        [first, second].into_iter().chain(equals).min_by_key(draw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mismatch(
        (maps, reduces, finished_maps, pending_maps, running, finished): (u32, u32, u32, u32, u32, u32),
    ) -> f64 {
        let pending_reduces = reduces - running - finished;
        Progress { maps, finished_maps, pending_maps, reduces, pending_reduces }.mismatch(3.0)
    }

    #[test]
    fn mismatch_of_jobs_large_and_small() {
        for (counts, expected) in [
            ((427, 8, 49, 300, 0, 0), -0.001_677),
            ((427, 8, 50, 300, 0, 0), 0.000_840),
            ((427, 8, 100, 200, 1, 0), 0.001_680),
            ((427, 8, 200, 150, 4, 0), -0.121_641),
            ((148, 15, 9, 120, 0, 0), -0.005_443),
            ((148, 15, 10, 120, 0, 0), 0.001_359),
            ((148, 15, 74, 40, 5, 0), 0.103_392),
            ((8, 1, 2, 1, 0, 0), -0.118_068),
            ((8, 1, 3, 1, 0, 0), 0.322_897),
            ((5, 1, 0, 0, 0, 0), 5.0),
            ((64, 27, 64, 0, 10, 0), 4.058_824),
            ((30, 2, 30, 0, 1, 0), 5.0),
            ((224, 27, 112, 50, 10, 2), 0.018_580),
        ] {
            assert!((mismatch(counts) - expected).abs() < 1e-6, "{counts:?}: {}", mismatch(counts));
        }
        assert_eq!(mismatch((148, 6, 148, 0, 4, 2)), 0.0, "all are launched");
        assert_eq!(mismatch((0, 4, 0, 0, 0, 0)), 4.25, "no maps at all");
    }

    #[test]
    fn share_of_maps_before_the_first_reduce() {
        for (reduces, share) in [
            (1, 0.28347),
            (2, 0.24329),
            (3, 0.21071),
            (5, 0.16222),
            (6, 0.14411),
            (8, 0.11631),
            (12, 0.08181),
            (15, 0.06622),
            (27, 0.03703),
        ] {
            let maps = 100_000;
            let first = (0..maps).find(|&finished| mismatch((maps, reduces, finished, 1, 0, 0)) > 0.0);
            let first = first.map_or(1.0, |first| f64::from(first) / f64::from(maps));
            assert!((first - share).abs() <= 1.5e-5, "{reduces} reduces: {first}");
        }
    }

    #[test]
    fn a_job_with_maps_left_never_comes_before_one_without() {
        for reduces in 1..=60 {
            assert!(mismatch((1_000, reduces, 999, 1, 0, 0)) < 4.0);
        }
    }
}
