//! Defect-modify: whether the maps of the IO queue became slower when a job entered the CPU queue. A map is compared with earlier maps of
//! its own job, because the next job of the queue may have longer maps whoever runs beside it.

use std::collections::{BTreeMap, VecDeque};

use resched_sim::hadoop::AttemptEnd;
use resched_sim::{JobId, Ms};

/// The shortest automatic window, maps.
const SHORTEST_WINDOW: usize = 10;

/// The watch over the job that entered the CPU queue last.
#[derive(Debug)]
pub(super) struct Watch {
    threshold: f64,
    /// Jobs and times of the maps that the IO queue finished last, the latest at the back, ms.
    io_maps: VecDeque<(JobId, Ms)>,
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
    /// Mean time of the maps of each job of the IO queue before, ms.
    before: BTreeMap<JobId, f64>,
    /// The maps of these jobs that were started since and have ended: their number, how long they took, and how long they would have
    /// taken before, ms.
    maps: usize,
    time: f64,
    as_before: f64,
}

impl Newcomer {
    /// A job that entered at `since`, after these maps of the IO queue.
    fn new(job: JobId, since: Ms, io_maps: &VecDeque<(JobId, Ms)>) -> Self {
        let mut totals: BTreeMap<JobId, (usize, f64)> = BTreeMap::new();
        for &(of, time) in io_maps {
            let (maps, total) = totals.entry(of).or_default();
            *maps += 1;
            *total += time as f64;
        }
        let before = totals.into_iter().map(|(of, (maps, total))| (of, total / maps as f64)).collect();
        Self { job, since, before, maps: 0, time: 0.0, as_before: 0.0 }
    }

    /// A map of the IO queue that was started since has ended. Without earlier maps of its job there is nothing to compare it with.
    fn see(&mut self, job: JobId, time: Ms) {
        if let Some(before) = self.before.get(&job) {
            self.maps += 1;
            self.time += time as f64;
            self.as_before += before;
        }
    }

    /// True if these maps take `threshold` times as long as before it came, as at least half a window of them shows.
    fn disturbs(&self, threshold: f64, window: usize) -> bool {
        2 * self.maps >= window && self.time >= threshold * self.as_before
    }
}

impl Watch {
    /// A job is suspected if maps of jobs of the IO queue take `threshold` times as long since it came. `window` maps are compared; `None`: as
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
        self.newcomer = (!self.io_maps.is_empty()).then(|| Newcomer::new(job, now, &self.io_maps));
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
        self.io_maps.push_back((ended.job, time));
        let newcomer = self.newcomer.as_mut().filter(|newcomer| ended.start >= newcomer.since)?;
        newcomer.see(ended.job, time);
        newcomer.disturbs(self.threshold, window).then_some(newcomer.job)
    }
}

/// How long a map took, ms; one of no length counts as one of the shortest.
pub(super) fn map_time(ended: &AttemptEnd) -> Ms {
    ended.finish.saturating_sub(ended.start).max(1)
}
