//! The toy scheduler with quotas a second time: slow, on plain lists, and with nothing of the engine.

use resched_sim::Ms;
use resched_sim::batch::{Eviction, Work};

use crate::quotas_toy::Row;

/// A job: its tasks have cores and GPUs an instance, instances, and a run time.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) submit: Ms,
    pub(crate) priority: i64,
    pub(crate) queue: &'static str,
    pub(crate) tasks: Vec<(u64, u64, u32, Ms)>,
}

#[derive(Debug, Clone, PartialEq)]
enum State {
    Waits,
    /// Since when, and the machine of each instance.
    Runs(Ms, Vec<usize>),
    /// It was evicted. Until when it holds the machine of each instance.
    Leaves(Ms, Vec<usize>),
    Ended,
}

struct World<'a> {
    rows: &'a [Row],
    jobs: &'a [Job],
    /// What each machine has.
    machines: Vec<[u64; 2]>,
    eviction: Eviction,
    /// The state of each task, by job.
    states: Vec<Vec<State>>,
    /// How much of each task is done that need not be done again, by job.
    done: Vec<Vec<Ms>>,
    now: Ms,
    /// What was admitted in this pass.
    fresh: Vec<usize>,
    /// When each job was evicted last.
    evicted: Vec<Option<Ms>>,
    ran: Vec<(usize, Ms, Ms, bool)>,
}

fn plus(one: [u64; 2], other: [u64; 2]) -> [u64; 2] {
    [one[0] + other[0], one[1] + other[1]]
}

fn within(one: [u64; 2], most: [u64; 2]) -> bool {
    one[0] <= most[0] && one[1] <= most[1]
}

impl World<'_> {
    fn row(&self, queue: &str) -> &Row {
        self.rows.iter().find(|row| row.0 == queue).unwrap()
    }

    /// True if a queue is another, or lies below it.
    fn is_below(queue: &str, above: &str) -> bool {
        above == "root" || queue == above || queue.starts_with(&format!("{above}."))
    }

    /// What a job's tasks take together that are in such a state.
    fn of_job(&self, job: usize, wanted: impl Fn(&State) -> bool) -> [u64; 2] {
        let tasks = self.jobs[job].tasks.iter().zip(&self.states[job]).filter(|(_, state)| wanted(state));
        tasks.fold([0; 2], |sum, (&(cpus, gpus, count, _), _)| {
            plus(sum, [cpus * u64::from(count), gpus * u64::from(count)])
        })
    }

    /// What runs of a queue and of those below it, without some jobs.
    fn used(&self, queue: &str, without: &[usize]) -> [u64; 2] {
        let jobs =
            (0..self.jobs.len()).filter(|job| Self::is_below(self.jobs[*job].queue, queue) && !without.contains(job));
        jobs.fold([0; 2], |sum, job| plus(sum, self.of_job(job, |state| matches!(state, State::Runs(..)))))
    }

    fn may(&self, queue: &str, wanted: [u64; 2], without: &[usize]) -> bool {
        self.rows.iter().filter(|row| Self::is_below(queue, row.0)).all(|&(name, nominal, most)| {
            let most = if name == "root" { Some(nominal) } else { most };
            most.is_none_or(|most| within(plus(self.used(name, without), wanted), most))
        })
    }

    fn borrows(&self, queue: &str, without: &[usize]) -> bool {
        !within(self.used(queue, without), self.row(queue).1)
    }

    /// The start of what runs of a job.
    fn since(&self, job: usize) -> Option<Ms> {
        self.states[job].iter().find_map(|state| if let State::Runs(since, _) = state { Some(*since) } else { None })
    }

    fn victims(&self, queue: &str, wanted: [u64; 2]) -> Option<Vec<usize>> {
        let mut victims = Vec::new();
        let mut running: Vec<(Ms, usize)> =
            (0..self.jobs.len()).filter_map(|job| Some((self.since(job)?, job))).collect();
        running.sort_unstable();
        for (_, job) in running.into_iter().rev() {
            if self.may(queue, wanted, &victims) {
                break;
            }
            let is_fresh = self.fresh.contains(&job);
            if self.jobs[job].queue != queue && !is_fresh && self.borrows(self.jobs[job].queue, &victims) {
                victims.push(job);
            }
        }
        self.may(queue, wanted, &victims).then_some(victims)
    }

    /// The machine of each instance of the tasks of a job that wait, each the first that has room; `None` if one finds none.
    fn places(&self, job: usize) -> Option<Vec<Vec<usize>>> {
        let mut free = self.machines.clone();
        for (of, states) in self.jobs.iter().zip(&self.states) {
            for (&(cpus, gpus, ..), state) in of.tasks.iter().zip(states) {
                let (State::Runs(_, places) | State::Leaves(_, places)) = state else { continue };
                places.iter().for_each(|&machine| free[machine] = [free[machine][0] - cpus, free[machine][1] - gpus]);
            }
        }
        let mut all = Vec::new();
        for (&(cpus, gpus, count, _), state) in self.jobs[job].tasks.iter().zip(&self.states[job]) {
            let mut places = Vec::new();
            for _ in 0..if *state == State::Waits { count } else { 0 } {
                let machine = free.iter().position(|&free| within([cpus, gpus], free))?;
                free[machine] = [free[machine][0] - cpus, free[machine][1] - gpus];
                places.push(machine);
            }
            all.push(places);
        }
        Some(all)
    }

    fn number(&self, job: usize, task: usize) -> usize {
        self.jobs[..job].iter().map(|job| job.tasks.len()).sum::<usize>() + task
    }

    /// Returns whether anything was evicted. What is evicted waits from the next pass on.
    fn pass(&mut self) -> bool {
        let waits = |world: &Self, job: usize| {
            world.jobs[job].submit <= world.now
                && world.states[job].contains(&State::Waits)
                && world.evicted[job] != Some(world.now)
        };
        let mut order: Vec<usize> = (0..self.jobs.len()).filter(|&job| waits(self, job)).collect();
        order.sort_by_key(|&job| (-self.jobs[job].priority, job));
        let mut has_evicted = false;
        self.fresh.clear();
        for job in order {
            let (queue, wanted) = (self.jobs[job].queue, self.of_job(job, |state| *state == State::Waits));
            if !self.may(queue, wanted, &[]) {
                if !within(plus(self.used(queue, &[]), wanted), self.row(queue).1) {
                    continue;
                }
                let Some(victims) = self.victims(queue, wanted) else { continue };
                for victim in victims {
                    self.evict(victim);
                    has_evicted = true;
                }
            }
            let Some(places) = self.places(job) else { continue };
            self.fresh.push(job);
            for (task, places) in places.into_iter().enumerate() {
                if self.states[job][task] == State::Waits {
                    self.states[job][task] = State::Runs(self.now, places);
                }
            }
        }
        has_evicted
    }

    fn evict(&mut self, job: usize) {
        self.evicted[job] = Some(self.now);
        for task in 0..self.states[job].len() {
            if let State::Runs(since, places) = self.states[job][task].clone() {
                self.ran.push((self.number(job, task), since, self.now, true));
                let holds = self.eviction.holds;
                self.states[job][task] = if holds > 0 { State::Leaves(self.now + holds, places) } else { State::Waits };
                let done = self.done[job][task] + self.now - since;
                self.done[job][task] = match self.eviction.work {
                    Work::Lost => 0,
                    Work::Kept => done,
                    Work::Checkpoints(each) => done / each * each,
                };
            }
        }
    }

    fn end(&mut self) {
        for job in 0..self.jobs.len() {
            for task in 0..self.states[job].len() {
                if let State::Runs(since, _) = self.states[job][task]
                    && since + self.jobs[job].tasks[task].3 - self.done[job][task] == self.now
                {
                    self.ran.push((self.number(job, task), since, self.now, false));
                    self.states[job][task] = State::Ended;
                }
                if matches!(self.states[job][task], State::Leaves(until, _) if until == self.now) {
                    self.states[job][task] = State::Waits;
                }
            }
        }
    }

    fn next(&self) -> Option<Ms> {
        let submits = self.jobs.iter().map(|job| job.submit).filter(|&submit| submit > self.now);
        let tasks = (0..self.jobs.len()).flat_map(|job| (0..self.jobs[job].tasks.len()).map(move |task| (job, task)));
        let ends = tasks.filter_map(|(job, task)| match self.states[job][task] {
            State::Runs(since, _) => Some(since + self.jobs[job].tasks[task].3 - self.done[job][task]),
            State::Leaves(until, _) => Some(until),
            State::Waits | State::Ended => None,
        });
        submits.chain(ends).min()
    }
}

/// What ran of each task, as (task, start, end, whether it was evicted), in order. Jobs that can never run are left out, as in the engine
/// they wait for ever. The clock begins at `zero`.
pub(crate) fn ran(
    rows: &[Row],
    (machines, each): (u32, [u64; 2]),
    eviction: Eviction,
    jobs: &[Job],
    zero: Ms,
) -> Vec<(usize, Ms, Ms, bool)> {
    let states = jobs.iter().map(|job| vec![State::Waits; job.tasks.len()]).collect();
    let done = jobs.iter().map(|job| vec![0; job.tasks.len()]).collect();
    let machines = vec![each; machines as usize];
    let mut world = World {
        rows,
        jobs,
        machines,
        eviction,
        states,
        done,
        now: zero - 1,
        fresh: Vec::new(),
        evicted: vec![None; jobs.len()],
        ran: Vec::new(),
    };
    while let Some(now) = world.next() {
        world.now = now;
        world.end();
        while world.pass() {}
    }
    world.ran.iter_mut().for_each(|ran| (ran.1, ran.2) = (ran.1 - zero, ran.2 - zero));
    world.ran.sort_unstable();
    world.ran
}
