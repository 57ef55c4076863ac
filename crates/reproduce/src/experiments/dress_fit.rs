//! Draws of the DRESS paper's jobs that fit what it reports of its baseline.
//!
//! **What it does.** [`in_turn`] finds when jobs wait and end if containers are granted one by one in the order of submission. That is
//! what YARN's Capacity Scheduler does with one queue, but for heartbeats, so that its times are those of a replay to some per cent. [`approach`]
//! draws single jobs anew, and keeps what brings the published numbers of the baseline nearer. Nothing of DRESS is looked at.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A job.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Job {
    /// When it is submitted, s.
    pub(super) submit: f64,
    /// Its stages: how many containers each asks for, and how long they run, s. The next begins when all of them have ended.
    pub(super) stages: Vec<(u32, f64)>,
}

/// When a job's first task starts and its last one ends, s since its submission.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Times {
    /// Its wait.
    pub(super) wait: f64,
    /// Its completion time.
    pub(super) completion: f64,
}

/// From a grant to the first work of a master or a task: its start-up and a heartbeat, ms.
const START_UP: i64 = 17_700;

/// What may happen next, in the order in which it counts at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Submitted,
    MasterRuns,
    /// So many containers have ended.
    Ended(u32),
}

/// Where a job stands.
#[derive(Debug, Clone, Default)]
struct State {
    wants_master: bool,
    /// What it asks for.
    asked: u32,
    stage: usize,
    /// Containers of the stage that have not ended.
    left: u32,
    first_start: Option<i64>,
    end: Option<i64>,
}

impl State {
    fn begin(&mut self, stage: usize, containers: u32) {
        (self.stage, self.asked, self.left) = (stage, containers, containers);
    }
}

fn ms(seconds: f64) -> i64 {
    (1e3 * seconds) as i64
}

/// The times of jobs that get containers of a cluster one by one, in the order of submission. Each job also has a master.
pub(super) fn in_turn(jobs: &[Job], containers: u32) -> Vec<Times> {
    let submitted = jobs.iter().enumerate().map(|(number, job)| Reverse((ms(job.submit), number, Event::Submitted)));
    let mut events: BinaryHeap<Reverse<(i64, usize, Event)>> = submitted.collect();
    let mut states = vec![State::default(); jobs.len()];
    let mut free = containers;
    while let Some(&Reverse((now, ..))) = events.peek() {
        while let Some(&Reverse((_, job, event))) = events.peek().filter(|next| next.0.0 == now) {
            events.pop();
            let (state, stages) = (&mut states[job], &jobs[job].stages);
            match event {
                Event::Submitted => state.wants_master = true,
                Event::MasterRuns => state.begin(0, stages.first().map_or(0, |stage| stage.0)),
                Event::Ended(count) => {
                    free += count;
                    state.left -= count;
                    match (state.left, stages.get(state.stage + 1)) {
                        (0, Some(&(next, _))) => state.begin(state.stage + 1, next),
                        (0, None) => {
                            state.end = Some(now);
                            free += 1;
                        }
                        _ => {}
                    }
                }
            }
        }
        for (job, state) in states.iter_mut().enumerate() {
            if free > 0 && std::mem::take(&mut state.wants_master) {
                free -= 1;
                events.push(Reverse((now + START_UP, job, Event::MasterRuns)));
            }
            let granted = free.min(state.asked);
            if granted > 0 {
                (free, state.asked) = (free - granted, state.asked - granted);
                let start = now + START_UP;
                state.first_start.get_or_insert(start);
                let time = jobs[job].stages.get(state.stage).map_or(0.0, |stage| stage.1);
                events.push(Reverse((start + ms(time), job, Event::Ended(granted))));
            }
            if free == 0 {
                break;
            }
        }
    }
    let since = |job: &Job, at: Option<i64>| at.map_or(f64::INFINITY, |at| at as f64 / 1e3 - job.submit);
    let times =
        |(job, state): (&Job, &State)| Times { wait: since(job, state.first_start), completion: since(job, state.end) };
    jobs.iter().zip(&states).map(times).collect()
}

/// How near the worst of the published numbers must come, as a share of it.
const NEAR: f64 = 0.02;
/// How many changes are tried at most.
const STEPS: usize = 3_000;

/// Changes a draw step by step until `distance` is small, and keeps what does not make it larger. `change` makes another draw of this one,
/// or `None` if that would not be one.
pub(super) fn approach<D>(first: D, distance: impl Fn(&D) -> f64, mut change: impl FnMut(&D) -> Option<D>) -> D {
    let mut nearest = (distance(&first), first);
    for _ in 0..STEPS {
        if nearest.0 <= NEAR {
            break;
        }
        if let Some(other) = change(&nearest.1) {
            let found = distance(&other);
            if found <= nearest.0 {
                nearest = (found, other);
            }
        }
    }
    nearest.1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(submit: f64, stages: &[(u32, f64)]) -> Job {
        Job { submit, stages: stages.to_vec() }
    }

    #[test]
    fn jobs_take_containers_in_turn() {
        // Of four containers, the first job takes one for its master at 0 and two at 17.7, from 35.4 to 135.4. The second's master
        // takes the last at 5; its tasks wait for the three that are free at 135.4.
        let times = in_turn(&[job(0.0, &[(2, 100.0)]), job(5.0, &[(3, 10.0)])], 4);
        assert_eq!(times, [Times { wait: 35.4, completion: 135.4 }, Times { wait: 148.1, completion: 158.1 }]);
    }

    #[test]
    fn a_stage_begins_when_the_one_before_has_ended() {
        let times = in_turn(&[job(0.0, &[(2, 100.0), (1, 50.0)])], 3);
        assert_eq!(times, [Times { wait: 35.4, completion: 203.1 }]);
    }

    #[test]
    fn a_draw_comes_nearer_and_never_goes_away() {
        let mut steps = [5.0, 12.0, 9.0, 9.6, 0.0].into_iter();
        let found = approach(0.0_f64, |at| (at / 10.0 - 1.0).abs(), |_| steps.next());
        assert_eq!(found, 9.6, "9.6 is near enough: what comes after it is not tried");
    }
}
