//! The use of a node by its tasks over time.

use super::SHARED;
use crate::ids::Ms;

/// What a node's tasks have used since the last sample.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Meter {
    /// Up to when `sum` counts, ms.
    at: Ms,
    /// What is used now: cores, and bytes per ms.
    rate: [f64; SHARED],
    /// True if tasks wait for the disk.
    disk_is_full: bool,
    /// Used since the last sample: core-ms and bytes.
    sum: [f64; SHARED],
    /// Idle core-ms in which tasks waited for the disk.
    waited: f64,
}

impl Meter {
    fn advance(&mut self, now: Ms, cores: f64) {
        let time = (now - self.at) as f64;
        for (sum, rate) in self.sum.iter_mut().zip(self.rate) {
            *sum += rate * time;
        }
        if self.disk_is_full && cores.is_finite() {
            self.waited += (cores - self.rate[0]).max(0.0) * time;
        }
        self.at = now;
    }

    /// From now on so much more (or less) is used.
    pub(super) fn change(&mut self, now: Ms, cores: f64, by: impl Iterator<Item = f64>) {
        self.advance(now, cores);
        for (rate, by) in self.rate.iter_mut().zip(by) {
            *rate += by;
        }
    }

    /// From now on nothing is used: what rounding left is forgotten.
    pub(super) fn rest(&mut self, now: Ms, cores: f64) {
        self.advance(now, cores);
        self.rate = [0.0; SHARED];
    }

    pub(super) fn set_disk(&mut self, now: Ms, cores: f64, is_full: bool) {
        if self.disk_is_full != is_full {
            self.advance(now, cores);
            self.disk_is_full = is_full;
        }
    }

    /// What was used since the last sample, and the idle core-ms in which tasks waited for the disk.
    pub(super) fn sample(&mut self, now: Ms, cores: f64) -> ([f64; SHARED], f64) {
        self.advance(now, cores);
        (std::mem::take(&mut self.sum), std::mem::take(&mut self.waited))
    }
}
