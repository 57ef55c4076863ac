//! Defect-modify: whether the maps of the IO queue became slower when a job entered the CPU queue.

use std::collections::VecDeque;

use resched_sim::hadoop::AttemptEnd;
use resched_sim::{JobId, Ms};

/// The shortest automatic window, maps.
const SHORTEST_WINDOW: usize = 10;

/// The watch over the job that entered the CPU queue last.
#[derive(Debug)]
pub(super) struct Watch {
    threshold: f64,
    /// Times of the maps that the IO queue finished last, the latest at the back, ms.
    io_maps: VecDeque<Ms>,
    /// How many of them are kept; `None` before the first job.
    window: Option<usize>,
    newcomer: Option<Newcomer>,
}

/// The job that entered the CPU queue last.
#[derive(Debug)]
struct Newcomer {
    job: JobId,
    /// When it entered, ms.
    since: Ms,
    /// Mean time of the maps of the IO queue before, ms.
    before: f64,
    /// Number and total time of those that were started since and have ended, ms.
    maps: usize,
    time: f64,
}

impl Newcomer {
    fn see(&mut self, time: Ms) {
        self.maps += 1;
        self.time += time as f64;
    }

    /// Whether maps of the IO queue take `threshold` times as long since it came, as at least half a window of them shows.
    fn disturbs(&self, threshold: f64, window: usize) -> bool {
        2 * self.maps >= window && self.time / self.maps as f64 >= threshold * self.before
    }
}

impl Watch {
    /// A job is suspected if maps of the IO queue take `threshold` times as long since it came. `window` maps are compared; `None`: as
    /// many as [`Watch::fix_window`] finds.
    pub(super) fn new(threshold: f64, window: Option<usize>) -> Self {
        Self { threshold, io_maps: VecDeque::new(), window, newcomer: None }
    }

    /// Sets an automatic window to all map slots of the IO queue.
    pub(super) fn fix_window(&mut self, slots: impl FnOnce() -> usize) {
        self.window.get_or_insert_with(|| slots().max(SHORTEST_WINDOW));
    }

    /// A job has entered the CPU queue. Without a map of the IO queue there is nothing that it could slow down.
    pub(super) fn begin(&mut self, job: JobId, now: Ms) {
        let time: f64 = self.io_maps.iter().map(|&time| time as f64).sum();
        let maps = self.io_maps.len();
        let newcomer = || Newcomer { job, since: now, before: time / maps as f64, maps: 0, time: 0.0 };
        self.newcomer = (maps > 0).then(newcomer);
    }

    /// A job has left its queue.
    pub(super) fn end(&mut self, job: JobId) {
        self.newcomer.take_if(|newcomer| newcomer.job == job);
    }

    /// A map of the IO queue has done its work. Returns the newcomer if it turns out to slow the IO queue down.
    pub(super) fn io_map_ended(&mut self, ended: &AttemptEnd) -> Option<JobId> {
        let window = self.window?;
        let time = map_time(ended);
        if self.io_maps.len() == window {
            self.io_maps.pop_front();
        }
        self.io_maps.push_back(time);
        let newcomer = self.newcomer.as_mut().filter(|newcomer| ended.start >= newcomer.since)?;
        newcomer.see(time);
        newcomer.disturbs(self.threshold, window).then_some(newcomer.job)
    }
}

/// How long a map took, ms; one of no length counts as one of the shortest.
pub(super) fn map_time(ended: &AttemptEnd) -> Ms {
    ended.finish.saturating_sub(ended.start).max(1)
}
