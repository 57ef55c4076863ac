//! The profile of a job, and the bounds on its completion time (`docs/model/baselines.md`, ARIA).

use resched_sim::Ms;
use resched_sim::hadoop::Kind;

/// The tasks of one kind of a job.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stage {
    /// How many there are.
    pub tasks: u32,
    /// How long one takes in the mean, ms.
    pub mean: f64,
    /// How long the longest takes, ms.
    pub longest: f64,
}

impl Stage {
    /// How long it takes at least and at most if no one of so many slots idles while a task waits, ms: `n·avg/k` and
    /// `(n − 1)·avg/k + max`.
    pub fn bounds(&self, slots: u32) -> (f64, f64) {
        let slots = f64::from(slots.max(1));
        let others = f64::from(self.tasks.saturating_sub(1));
        (self.work() / slots, others * self.mean / slots + if self.tasks > 0 { self.longest } else { 0.0 })
    }

    /// All its tasks one after the other, ms.
    pub fn work(&self) -> f64 {
        f64::from(self.tasks) * self.mean
    }
}

/// The known run times of a job.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Profile {
    /// Its maps.
    pub maps: Stage,
    /// Its reduces, each with a shuffle that starts after the last map.
    pub reduces: Stage,
    /// By how much the shuffle of the first wave of reduces lasts longer after the last map (less, if negative), ms.
    pub first_shuffle: f64,
}

impl Profile {
    /// Its tasks of a kind.
    pub fn stage(&self, kind: Kind) -> &Stage {
        match kind {
            Kind::Map => &self.maps,
            Kind::Reduce => &self.reduces,
        }
    }

    /// All its tasks one after the other, ms.
    pub fn work(&self) -> f64 {
        self.maps.work() + self.reduces.work()
    }

    /// The lower bound of its completion time alone on so many slots of each kind, ms. It never uses more slots than it has
    /// tasks, so a job of one task takes as long as that task.
    pub fn alone(&self, slots: impl Fn(Kind) -> u32) -> f64 {
        let low = |kind| self.stage(kind).bounds(slots(kind).min(self.stage(kind).tasks)).0;
        (low(Kind::Map) + low(Kind::Reduce) + self.first_shuffle).max(0.0)
    }

    /// When it should have ended, ms, if it may take `factor` times as long as alone on the cluster.
    pub fn deadline(&self, submit: Ms, factor: f64, slots: impl Fn(Kind) -> u32) -> Ms {
        submit.saturating_add((factor * self.alone(slots)).ceil() as Ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_a_stage() {
        let stage = Stage { tasks: 10, mean: 10.0, longest: 16.0 };
        assert_eq!(stage.bounds(4), (25.0, 38.5));
        assert_eq!(Stage::default().bounds(4), (0.0, 0.0));
    }

    #[test]
    fn a_job_alone_uses_no_more_slots_than_it_has_tasks() {
        let maps = Stage { tasks: 6, mean: 10.0, longest: 10.0 };
        let reduces = Stage { tasks: 1, mean: 7.0, longest: 7.0 };
        let profile = Profile { maps, reduces, first_shuffle: -2.0 };
        assert_eq!(profile.alone(|_| 3), 25.0);
        assert_eq!(profile.alone(|_| 100), 15.0);
        assert_eq!(profile.deadline(1_000, 1.5, |_| 100), 1_023);
    }
}
