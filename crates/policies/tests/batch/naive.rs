//! EASY and conservative backfilling a second time, on one pool of processors: slow, and written from the papers alone.
//!
//! Nothing is kept between two instants but what runs, what waits and what was promised; each question is answered by looking at
//! all of it.

use std::ops::Range;

use resched_sim::Ms;

/// A rigid job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rigid {
    pub(crate) submit: Ms,
    pub(crate) run: Ms,
    /// How long it was said to run.
    pub(crate) said: Ms,
    pub(crate) width: u64,
}

/// A job of a simulation.
#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Waits,
    Runs(Ms),
    Ended(Ms),
}

struct Pool<'a> {
    jobs: &'a [Rigid],
    width: u64,
    states: Vec<State>,
    now: Ms,
    /// The jobs before this one have ended.
    first: usize,
}

impl Pool<'_> {
    /// The jobs that have come, without the first ones if these have ended.
    fn present(&self) -> Range<usize> {
        self.first..self.jobs.partition_point(|job| job.submit <= self.now)
    }

    fn waiting(&self) -> Vec<usize> {
        self.present().filter(|&job| self.states[job] == State::Waits).collect()
    }

    /// What runs, with when it is thought to end: in the next millisecond if it should have ended.
    fn running(&self) -> Vec<(Ms, usize)> {
        let thought = |job: usize| match self.states[job] {
            State::Runs(start) => Some(((start + self.jobs[job].said).max(self.now + 1), job)),
            _ => None,
        };
        let mut running: Vec<_> = self.present().filter_map(thought).collect();
        running.sort_unstable();
        running
    }

    fn free(&self) -> u64 {
        self.width - self.running().iter().map(|&(_, job)| self.jobs[job].width).sum::<u64>()
    }

    fn start(&mut self, job: usize) {
        assert!(self.free() >= self.jobs[job].width);
        self.states[job] = State::Runs(self.now);
    }

    /// Ends what ends now. Returns whether anything did at another time than it was said to.
    fn end(&mut self) -> bool {
        let mut surprise = false;
        for job in self.present() {
            let Rigid { run, said, .. } = self.jobs[job];
            if let State::Runs(start) = self.states[job]
                && start + run == self.now
            {
                self.states[job] = State::Ended(start);
                surprise |= run != said.max(1);
            }
        }
        while matches!(self.states.get(self.first), Some(State::Ended(_))) {
            self.first += 1;
        }
        surprise
    }

    /// The next end or submission; the same instant again if something of no length has just started.
    fn next(&self) -> Option<Ms> {
        let end = |job: usize| match self.states[job] {
            State::Runs(start) => Some(start + self.jobs[job].run),
            _ => None,
        };
        let submit = self.jobs.get(self.present().end).map(|job| job.submit);
        self.present().filter_map(end).chain(submit).min()
    }

    fn starts(self) -> Vec<Ms> {
        let start = |state: &State| match *state {
            State::Ended(start) => start,
            other => panic!("{other:?} at the end"),
        };
        self.states.iter().map(start).collect()
    }
}

fn pool(jobs: &[Rigid], width: u64) -> Pool<'_> {
    Pool { jobs, width, states: vec![State::Waits; jobs.len()], now: -1, first: 0 }
}

/// When each job starts under EASY.
pub(crate) fn easy(jobs: &[Rigid], width: u64) -> Vec<Ms> {
    let mut pool = pool(jobs, width);
    while let Some(now) = pool.next() {
        pool.now = now;
        pool.end();
        while let Some(&first) = pool.waiting().first() {
            if pool.free() < jobs[first].width {
                backfill(&mut pool, first);
                break;
            }
            pool.start(first);
        }
    }
    pool.starts()
}

fn backfill(pool: &mut Pool<'_>, first: usize) {
    let free_at = |at: Ms| {
        pool.free()
            + pool.running().iter().filter(|&&(end, _)| end <= at).map(|&(_, job)| pool.jobs[job].width).sum::<u64>()
    };
    let need = pool.jobs[first].width;
    let shadow = pool.running().iter().map(|&(end, _)| end).find(|&end| free_at(end) >= need).unwrap();
    let mut extra = free_at(shadow) - need;
    for job in pool.waiting().into_iter().skip(1) {
        let Rigid { said, width, .. } = pool.jobs[job];
        if width > pool.free() {
            continue;
        }
        if pool.now + said > shadow {
            if width > extra {
                continue;
            }
            extra -= width;
        }
        pool.start(job);
    }
}

/// When each job starts under conservative backfilling.
pub(crate) fn conservative(jobs: &[Rigid], width: u64) -> Vec<Ms> {
    let mut pool = pool(jobs, width);
    let mut promised: Vec<Option<Ms>> = vec![None; jobs.len()];
    while let Some(now) = pool.next() {
        pool.now = now;
        let surprise = pool.end();
        let waiting = pool.waiting();
        let broken = waiting.iter().any(|&job| promised[job].is_some_and(|at| at < now))
            || pool.running().iter().any(|&(end, job)| match pool.states[job] {
                State::Runs(start) => start + jobs[job].said.max(1) < end,
                _ => false,
            });
        let known: Vec<usize> = waiting.iter().copied().filter(|&job| promised[job].is_some()).collect();
        if broken {
            known.iter().for_each(|&job| promised[job] = None);
        }
        let mut moves = surprise || broken;
        while moves {
            moves = false;
            for &job in &known {
                let before = promised[job].take();
                promised[job] = Some(earliest(&pool, &promised, job));
                moves |= promised[job] != before;
            }
        }
        for &job in &waiting {
            if promised[job].is_none() {
                promised[job] = Some(earliest(&pool, &promised, job));
            }
        }
        for job in waiting {
            if promised[job] == Some(now) {
                pool.start(job);
                promised[job] = None;
            }
        }
    }
    pool.starts()
}

/// The earliest instant at which a job fits beside all that runs and is promised.
fn earliest(pool: &Pool<'_>, promised: &[Option<Ms>], job: usize) -> Ms {
    let length = |job: usize| pool.jobs[job].said.max(1);
    let mut taken: Vec<(Ms, Ms, u64)> =
        pool.running().iter().map(|&(end, job)| (pool.now, end, pool.jobs[job].width)).collect();
    let plan = |other: usize| promised[other].map(|at| (at, at + length(other), pool.jobs[other].width));
    taken.extend(pool.waiting().into_iter().filter_map(plan));
    let fits = |start: Ms| {
        let end = start + length(job);
        // What is taken rises only where something begins.
        let instants = taken.iter().map(|&(from, ..)| from).filter(|&from| start < from && from < end).chain([start]);
        instants.into_iter().all(|at| {
            let used: u64 =
                taken.iter().filter(|&&(from, to, _)| from <= at && at < to).map(|&(.., width)| width).sum();
            used + pool.jobs[job].width <= pool.width
        })
    };
    let mut candidates: Vec<Ms> = taken.iter().map(|&(_, to, _)| to).chain([pool.now]).collect();
    candidates.sort_unstable();
    candidates.into_iter().find(|&start| fits(start)).unwrap()
}
