//! What a forecast must beat: forecasts from the last waits of the queue, and the replay with every job at its limit.

use resched_sim::Ms;

use crate::past::{Job, Past};
use crate::quantiles::quantiles;

/// How many of the last waits are taken.
pub(crate) const LAST_WAITS: usize = 100;

/// How many of them must be longer than the job has waited.
const LEAST: usize = 10;

/// The level of the bound of the last waits, and how sure it is.
const BOUND: f64 = 0.95;

/// The last waits of the queue of each job, as they are known at a moment.
pub(crate) struct LastWaits<'p> {
    past: &'p Past,
    at: Ms,
    all: Vec<Ms>,
    of_queues: Vec<Vec<Ms>>,
}

impl<'p> LastWaits<'p> {
    pub(crate) fn new(past: &'p Past, at: Ms) -> Self {
        let mut of_queues: Vec<Vec<Ms>> = vec![Vec::new(); past.queues.len()];
        let started = past.last_started(&past.all, at, past.all.len());
        let waits = || started.iter().rev().filter_map(|place| past.jobs.get(*place as usize));
        let mut all = Vec::new();
        for job in waits() {
            let Some(wait) = job.waited(at) else { continue };
            if all.len() < LAST_WAITS {
                all.push(wait);
            }
            if let Some(of_queue) = of_queues.get_mut(job.queue as usize).filter(|of_queue| of_queue.len() < LAST_WAITS)
            {
                of_queue.push(wait);
            }
        }
        Self { past, at, all, of_queues }
    }

    /// The waits of its queue that are longer than a job has waited, ascending; else those of all queues.
    fn longer(&self, job: &Job, least: usize) -> Option<Vec<Ms>> {
        let so_far = self.at - job.submit;
        let of_queue = self.of_queues.get(job.queue as usize).map_or(&[][..], Vec::as_slice);
        [of_queue, &self.all].into_iter().find_map(|waits| {
            let mut longer: Vec<Ms> = waits.iter().copied().filter(|wait| *wait > so_far).collect();
            longer.sort_unstable();
            (longer.len() >= least).then_some(longer)
        })
    }

    /// When the job starts by the last waits, given how long it has waited, at all levels.
    pub(crate) fn quantiles(&self, job: &Job) -> [Ms; 9] {
        let so_far = self.at - job.submit;
        let known = || {
            let waits = self.past.all.iter().filter_map(|place| self.past.jobs.get(*place as usize)?.waited(self.at));
            let mut longer: Vec<Ms> = waits.filter(|wait| *wait > so_far).collect();
            longer.sort_unstable();
            longer
        };
        let longer = self.longer(job, LEAST).unwrap_or_else(known);
        quantiles(&longer, so_far + so_far / 2 + 60_000).map(|wait| job.submit.saturating_add(wait))
    }

    /// The bound that the start does not exceed with 95 %, with 95 % confidence: the order statistic of the binomial bound (QBETS: Nurmi,
    /// Brevik and Wolski 2007). `None` if there are too few waits for one.
    pub(crate) fn bound(&self, job: &Job) -> Option<Ms> {
        let longer = self.longer(job, 1)?;
        let place = bound_place(longer.len())?;
        longer.get(place).map(|wait| job.submit.saturating_add(*wait))
    }
}

/// Of so many values in order, the place of the first that exceeds the quantile at [`BOUND`] with as much confidence.
fn bound_place(count: usize) -> Option<usize> {
    // The chance that at most `place` of the values lie below the quantile.
    let mut chance = (1.0 - BOUND).powi(i32::try_from(count).ok()?);
    let mut sum = chance;
    for place in 0..count {
        if sum >= BOUND {
            return Some(place);
        }
        chance *= (count - place) as f64 / (place + 1) as f64 * BOUND / (1.0 - BOUND);
        sum += chance;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0.95^59 is the first power below 0.05: by 59 values, the largest exceeds the quantile with 95 %.
    #[test]
    fn the_bound_needs_59_waits() {
        assert_eq!(bound_place(58), None);
        assert_eq!(bound_place(59), Some(58));
        assert_eq!(bound_place(100), Some(98), "binom.ppf(0.95, 100, 0.95) = 98");
    }
}
