//! How long work that was cut off would have run: the product-limit estimator of Kaplan and Meier (1958).
//!
//! An attempt that ended shows its run time. An attempt that the end of the trace, an eviction or a lost machine cut off
//! shows only that it ran at least so long. The estimator takes both into account. Leaving the cut attempts out would
//! make tasks look shorter than they are, because long attempts are cut most often.
//!
//! Attempt times are counted in bins that grow by 1 %, so that memory does not grow with the trace. An attempt that had run
//! for `c` gets a draw from the times beyond `c`. Beyond the longest time that was seen to end, the hazard is constant:
//! that of the last tenth of the ends. If more than a tenth of a class runs longer than that, as services do, the trace
//! does not show when they end, and such a draw has no answer.

use std::collections::BTreeMap;

use rand::RngExt;
use resched_tables::draws::{Purpose, stream};

use crate::ids::Ms;
use crate::loading::LONGEST;

/// The factor between the ends of a bin.
const GROWTH: f64 = 1.01;
/// The most classes with an estimate of their own.
const MOST_CLASSES: usize = 256;
/// The fewest ends that give a class its own estimate.
const LEAST_ENDS: u64 = 30;
/// The share of the ends that the hazard beyond the last of them comes from.
const TAIL: f64 = 0.1;
/// The largest share of a class that may run longer than any that was seen to end.
const MOST_BEYOND: f64 = 0.1;

/// What makes tasks alike: their kind, and the priority and the scheduling class of their job.
pub(super) type Class = (u8, i64, i64);

/// Attempt times, counted.
#[derive(Debug, Clone, Default)]
struct Counts {
    /// By bin: attempts that ended by themselves, and attempts that were cut off.
    bins: Vec<[u64; 2]>,
    ends: u64,
}

impl Counts {
    fn add(&mut self, run: Ms, ended: bool) {
        let bin = bin(run);
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, [0; 2]);
        }
        if let Some(counts) = self.bins.get_mut(bin) {
            counts[usize::from(!ended)] += 1;
        }
        self.ends += u64::from(ended);
    }

    fn curve(&self) -> Curve {
        let mut at_risk: u64 = self.bins.iter().map(|counts| counts[0] + counts[1]).sum();
        let mut survival = 1.0;
        let mut steps = Vec::new();
        // From where the last tenth of the ends begins: ends, and time at risk.
        let (mut seen, mut tail_ends, mut tail_time) = (0, 0.0, 0.0);
        let from = (self.ends as f64 * (1.0 - TAIL)).ceil();
        for (place, &[ended, cut]) in self.bins.iter().enumerate() {
            if seen as f64 >= from {
                tail_ends += ended as f64;
                tail_time += at_risk as f64 * (middle(place + 1) - middle(place));
            }
            if ended > 0 && at_risk > 0 {
                survival *= 1.0 - ended as f64 / at_risk as f64;
                steps.push((middle(place), survival));
            }
            seen += ended;
            at_risk -= ended + cut;
        }
        let hazard = if tail_ends > 0.0 && tail_time > 0.0 { tail_ends / tail_time } else { 0.0 };
        Curve { steps, hazard }
    }
}

/// The bin of a run time.
fn bin(run: Ms) -> usize {
    ((run.max(0) as f64 + 1.0).ln() / GROWTH.ln()) as usize
}

/// The run time in the middle of a bin, ms.
fn middle(bin: usize) -> f64 {
    GROWTH.powf(bin as f64 + 0.5) - 1.0
}

/// The share of tasks that run longer than a time.
#[derive(Debug, Clone, Default)]
struct Curve {
    /// (time in ms, share that runs longer), times ascending.
    steps: Vec<(f64, f64)>,
    /// Ends per ms beyond the last step.
    hazard: f64,
}

impl Curve {
    /// The time by which all but a share of `u` of the tasks have ended that ran for at least `seen` ms; `None` if the trace does not show
    /// it.
    fn beyond(&self, seen: Ms, u: f64) -> Option<Ms> {
        let seen = seen.max(0) as f64;
        let before = self.steps.partition_point(|step| step.0 <= seen);
        let survived = before.checked_sub(1).and_then(|last| self.steps.get(last)).map_or(1.0, |step| step.1);
        let wanted = u * survived;
        if let Some(step) = self.steps.iter().skip(before).find(|step| step.1 <= wanted) {
            return Some(step.0 as Ms);
        }
        let (last, left) = self.steps.last().copied().unwrap_or((0.0, 1.0));
        let from = last.max(seen);
        if self.hazard <= 0.0 || left > MOST_BEYOND {
            return None;
        }
        let more = (left / wanted.max(f64::MIN_POSITIVE)).ln().max(0.0) / self.hazard;
        Some((from + more).min(LONGEST as f64) as Ms)
    }
}

/// Counts run times by class.
#[derive(Debug, Default)]
pub(super) struct Observed {
    all: Counts,
    classes: BTreeMap<Class, Counts>,
}

impl Observed {
    /// An attempt that ran for `run` ms; `ended` if it ended by itself.
    pub(super) fn add(&mut self, class: Class, run: Ms, ended: bool) {
        self.all.add(run, ended);
        if self.classes.len() < MOST_CLASSES || self.classes.contains_key(&class) {
            self.classes.entry(class).or_default().add(run, ended);
        }
    }

    /// The estimate of each class with enough ends, and that of all together for the others.
    pub(super) fn estimate(self) -> Survival {
        let known = self.classes.into_iter().filter(|(_, counts)| counts.ends >= LEAST_ENDS);
        Survival { all: self.all.curve(), classes: known.map(|(class, counts)| (class, counts.curve())).collect() }
    }
}

/// The estimates by class.
#[derive(Debug)]
pub(super) struct Survival {
    all: Curve,
    classes: BTreeMap<Class, Curve>,
}

impl Survival {
    /// A run time for an attempt that had run for `seen` ms: at least that. The draw depends on the seed, the task and
    /// the number of the attempt only. `None` if the trace does not show how long such an attempt runs.
    pub(super) fn draw(&self, class: Class, seen: Ms, seed: u64, (task, attempt): (&str, usize)) -> Option<Ms> {
        let curve = self.classes.get(&class).unwrap_or(&self.all);
        let entity: Vec<u64> = task.bytes().map(u64::from).chain([attempt as u64]).collect();
        let u: f64 = stream(seed, Purpose::UnfinishedTask, &entity).random();
        curve.beyond(seen, 1.0 - u).map(|run| run.max(seen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASS: Class = (0, 0, 0);

    fn survival(runs: &[(Ms, bool)]) -> Survival {
        let mut observed = Observed::default();
        for &(run, ended) in runs {
            observed.add(CLASS, run, ended);
        }
        observed.estimate()
    }

    /// The example of Kaplan and Meier's paper: ends at 8, 31, 54, 92 (hundreds of ms here); cut at 10, 27, 70, 121. With 8, 5, 4 and 2
    /// attempts at risk, the share that runs longer is 7/8, · 4/5 = .7, · 3/4 = .525, · 1/2 = .2625.
    #[test]
    fn the_curve_takes_cut_times_into_account() {
        let runs = [(8, true), (10, false), (27, false), (31, true), (54, true), (70, false), (92, true), (121, false)];
        let found = survival(&runs.map(|(run, ended)| (run * 100, ended)));
        let shares: Vec<f64> = found.all.steps.iter().map(|step| step.1).collect();
        for (share, expected) in shares.iter().zip([0.875, 0.7, 0.525, 0.2625]) {
            assert!((share - expected).abs() < 1e-9, "{shares:?}");
        }
        let times: Vec<f64> = found.all.steps.iter().map(|step| step.0).collect();
        for (time, expected) in times.iter().zip([800.0, 3_100.0, 5_400.0, 9_200.0]) {
            assert!((time / expected - 1.0).abs() < 0.01, "{times:?}");
        }
        // Of those that ran for 31, three quarters run longer than 54.
        assert!(found.all.beyond(3_200, 0.76).is_some_and(|run| (5_350..5_450).contains(&run)));
    }

    /// Exponential times of mean 10 s, cut at 40 s: the draws' mean is 10 s beyond what was seen, as it has no memory.
    #[test]
    fn what_was_cut_runs_on_as_the_others_do() {
        let mut observed = Observed::default();
        let mut rng = stream(1, Purpose::UnfinishedTask, &[]);
        for _ in 0..20_000 {
            let run = (-10_000.0 * (1.0 - rng.random::<f64>()).ln()) as Ms;
            observed.add(CLASS, run.min(40_000), run < 40_000);
        }
        let found = observed.estimate();
        let name = |n: usize| format!("task {n}");
        let draws: Vec<Ms> = (0..4_000).filter_map(|n| found.draw(CLASS, 8_000, 1, (&name(n), 0))).collect();
        let mean = draws.iter().sum::<Ms>() as f64 / draws.len() as f64;
        assert!((mean / 18_000.0 - 1.0).abs() < 0.05, "{mean}");
        assert!(draws.iter().all(|&run| run >= 8_000));
        assert_eq!(found.draw(CLASS, 8_000, 1, ("task 3", 0)), draws.get(3).copied());
    }

    #[test]
    fn what_no_task_was_seen_to_do_is_not_known() {
        let found = survival(&[(500, false), (900, false)]);
        assert_eq!(found.draw(CLASS, 700, 1, ("t", 0)), None);
        assert_eq!(survival(&[]).draw(CLASS, 0, 1, ("t", 0)), None);
        let services = survival(&[(500, true), (900, false), (900, false)]);
        assert_eq!(services.draw(CLASS, 700, 1, ("t", 0)), None, "two of three run longer than any that ended");
    }
}
