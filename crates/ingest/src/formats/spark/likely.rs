//! Which further hosts tasks prefer, beside those on which they ran.
//!
//! A log shows one preferred host of a task, or none, but where a task could have run decides how long another schedule lets it wait. What the
//! scheduler did not do shows more. A task does not prefer a host
//!
//! * on which a task of its stage with a higher index was launched while it waited, or any under `ANY`: of the tasks that prefer a host,
//!   Spark launches the one with the lowest index, and others only if there is none;
//! * of which a core was free for [`REACTION`] while it waited, after another task: each core that is free is offered to all stages, and none
//!   refuses a host that it prefers.
//!
//! What is neither shown nor ruled out is drawn for each task, as often as tasks prefer the host. How often they do is estimated from all
//! tasks so far.
//!
//! In three logs of a real scheduler, tasks that prefer 2.0 hosts in the mean are given 2.1 to 2.5.

use std::collections::BTreeMap;

use rand::RngExt;
use resched_tables::draws::{Purpose, stream};
use resched_tables::store::LIKELY_HOSTS;

use super::preferred::{Key, Places, SEED, Shown};

/// The most hosts of an application whose tasks are given further ones.
pub(super) const MOST_HOSTS: usize = 64;
/// How long a core must be free before it is taken to have been refused, ms.
const REACTION: i64 = 150;
/// The most times at which cores of a host were free that are held.
const MOST_TIMES: usize = 10_000;
/// The steps of an estimate. It moves little after that.
const STEPS: usize = 30;
/// The most tasks without a known host that an estimate looks at.
const MOST_ELSEWHERE: usize = 500;

/// A set of hosts, by number.
type Hosts = u64;

/// A task that may prefer hosts.
pub(super) struct Task<'a> {
    pub(super) key: Key,
    /// When its stage was submitted, ms.
    pub(super) submit: Option<i64>,
    pub(super) shown: Shown<'a>,
}

/// What a log shows of its hosts so far.
#[derive(Debug, Default)]
pub(super) struct Likely {
    numbers: BTreeMap<String, usize>,
    /// The executors that are there: the numbers of their hosts, and how many tasks they run at once.
    executors: BTreeMap<String, (usize, i64)>,
    cores: Vec<Cores>,
    /// True if there are too many hosts.
    is_large: bool,
    /// True if a task was not seen to start or to end, so that free cores are not known.
    misses_starts: bool,
    popularity: Popularity,
}

/// The cores of a host.
#[derive(Debug, Default)]
struct Cores {
    all: i64,
    used: i64,
    /// Since when any is free, and when some were before that, long enough to count.
    free: Option<i64>,
    times: Vec<(i64, i64)>,
}

impl Cores {
    fn change(&mut self, [all, used]: [i64; 2], at: i64) {
        self.all = self.all.saturating_add(all).max(0);
        self.used = self.used.saturating_add(used).max(0);
        match (self.free, self.used < self.all) {
            // A new executor is offered late: it is not known to be refused before it has run something.
            (None, true) if used < 0 => self.free = Some(at),
            (Some(since), false) => {
                self.free = None;
                if at.saturating_sub(since) >= REACTION && self.times.len() < MOST_TIMES {
                    self.times.push((since, at));
                }
            }
            _ => {}
        }
    }

    /// True if any was free for long enough in a time.
    fn were_free(&self, from: i64, until: i64) -> bool {
        let first = self.times.partition_point(|&(_, end)| end <= from);
        let now = self.free.map(|since| (since, i64::MAX));
        let times = self.times.get(first..).unwrap_or_default().iter().copied().chain(now);
        let mut times = times.take_while(|&(since, _)| since < until);
        times.any(|(since, end)| end.min(until).saturating_sub(since.max(from)) >= REACTION)
    }
}

/// What the tasks so far show of how often each host is preferred.
#[derive(Debug, Default)]
struct Popularity {
    tasks: f64,
    /// By host: how many tasks are known to prefer it, and of how many of those with a known host it is open.
    preferred: Vec<f64>,
    open: Vec<f64>,
    /// How many tasks are known not to prefer it.
    ruled_out: Vec<f64>,
    /// Of tasks without a known host, the hosts that are ruled out.
    elsewhere: Vec<Hosts>,
}

impl Popularity {
    /// Takes note of a task.
    fn see(&mut self, task: Known) {
        self.tasks += 1.0;
        let is_elsewhere = task.preferred == 0;
        if is_elsewhere && self.elsewhere.len() < MOST_ELSEWHERE {
            self.elsewhere.push(task.ruled_out);
        }
        for host in 0..self.preferred.len() {
            let is = |set: Hosts| f64::from(u8::from(set & (1 << host) != 0));
            self.preferred[host] += is(task.preferred);
            self.ruled_out[host] += is(task.ruled_out);
            self.open[host] += if !is_elsewhere && task.is_open(host) { 1.0 } else { 0.0 };
        }
    }

    /// How likely a task prefers each host: the estimate of maximum likelihood, if each task prefers each host with a probability of
    /// the host's, and at least one. What is open is expected by the last estimate, and tasks without any host are added.
    fn estimate(&self) -> Vec<f64> {
        let share = |(preferred, ruled_out): (&f64, &f64)| preferred / (preferred + ruled_out).max(1.0);
        let mut likely: Vec<f64> = self.preferred.iter().zip(&self.ruled_out).map(share).collect();
        for _ in 0..STEPS {
            let mut sums: Vec<f64> =
                (0..likely.len()).map(|host| self.preferred[host] + self.open[host] * likely[host]).collect();
            for &ruled_out in &self.elsewhere {
                let is_open = |host: usize| ruled_out & (1 << host) == 0;
                let none: f64 =
                    (0..likely.len()).filter(|&host| is_open(host)).map(|host| 1.0 - likely[host]).product();
                for host in (0..likely.len()).filter(|&host| none < 1.0 && is_open(host)) {
                    sums[host] += (likely[host] / (1.0 - none)).min(1.0);
                }
            }
            let none: f64 = likely.iter().map(|likely| 1.0 - likely).product();
            let all = self.tasks / (1.0 - none).max(f64::MIN_POSITIVE);
            likely = sums.iter().map(|sum| (sum / all.max(1.0)).clamp(0.0, 1.0)).collect();
        }
        likely
    }
}

/// What is known of a task.
#[derive(Debug, Clone, Copy)]
struct Known {
    preferred: Hosts,
    ruled_out: Hosts,
}

impl Known {
    fn is_open(self, host: usize) -> bool {
        (self.preferred | self.ruled_out) & (1 << host) == 0
    }
}

impl Likely {
    /// An executor has come that runs so many tasks at once.
    pub(super) fn executor_came(&mut self, executor: &str, host: &str, tasks: i64, at: i64) {
        let number = match self.numbers.get(host) {
            Some(&number) => number,
            None if self.numbers.len() >= MOST_HOSTS => {
                self.is_large = true;
                return;
            }
            None => {
                self.numbers.insert(host.to_owned(), self.numbers.len());
                self.cores.push(Cores::default());
                self.numbers.len() - 1
            }
        };
        let before = self.executors.insert(executor.to_owned(), (number, tasks)).map_or(0, |(_, tasks)| tasks);
        self.cores[number].change([tasks - before, 0], at);
    }

    /// An executor has gone.
    pub(super) fn executor_went(&mut self, executor: &str, at: i64) {
        if let Some((number, tasks)) = self.executors.remove(executor) {
            self.cores[number].change([-tasks, 0], at);
        }
    }

    /// The number of a host.
    pub(super) fn number(&self, host: Option<&str>) -> Option<usize> {
        self.numbers.get(host?).copied()
    }

    /// A task has started on a host.
    pub(super) fn started(&mut self, host: Option<usize>, at: Option<i64>) {
        self.change(host, 1, at);
    }

    /// A task has ended on a host.
    pub(super) fn ended(&mut self, host: Option<usize>, at: Option<i64>) {
        self.change(host, -1, at);
    }

    fn change(&mut self, host: Option<usize>, used: i64, at: Option<i64>) {
        match (host, at) {
            (Some(host), Some(at)) => self.cores[host].change([0, used], at),
            (Some(_), None) => self.miss_start(),
            (None, _) => {}
        }
    }

    /// A task was not seen to start, or not to end.
    pub(super) fn miss_start(&mut self) {
        self.misses_starts = true;
    }

    /// Nobody asks any more what was free before.
    pub(super) fn forget(&mut self, before: i64) {
        for cores in &mut self.cores {
            let over = cores.times.partition_point(|&(_, end)| end <= before);
            cores.times.drain(..over);
        }
    }

    /// The hosts that the tasks of a job prefer. The tasks come in the order of their keys.
    pub(super) fn places(&mut self, tasks: Vec<Task<'_>>) -> Places {
        if self.is_large || self.numbers.is_empty() {
            return Places::inferred(tasks.into_iter().map(|task| (task.key, task.shown)));
        }
        let tasks: Vec<Task<'_>> = tasks.into_iter().filter(|task| !task.shown.shows_nothing()).collect();
        let known: Vec<Known> = tasks
            .chunk_by(|a, b| a.key.0 == b.key.0)
            .flat_map(|stage| {
                let served = self.served(stage);
                stage.iter().map(|task| self.known(task, &served)).collect::<Vec<_>>()
            })
            .collect();
        let likely = self.learn(&known);
        let mut names = vec![""; self.numbers.len()];
        self.numbers.iter().for_each(|(name, &number)| names[number] = name);
        let mut places = Places { rule: LIKELY_HOSTS, ..Places::default() };
        for (task, known) in tasks.iter().zip(&known) {
            let drawn = draw(task, *known, &likely);
            let mut hosts: Vec<String> = task.shown.preferred().map(str::to_owned).collect();
            hosts.extend((0..names.len()).filter(|host| drawn & (1 << host) != 0).map(|host| names[host].to_owned()));
            places.drawn += u64::from(drawn.count_ones());
            if hosts.is_empty() {
                places.outside.insert(task.key);
            } else {
                places.hosts.insert(task.key, hosts);
            }
        }
        places
    }

    /// Learns from the tasks of a job. Returns how likely a task prefers each host.
    fn learn(&mut self, tasks: &[Known]) -> Vec<f64> {
        let Popularity { preferred, open, ruled_out, .. } = &mut self.popularity;
        for counts in [preferred, open, ruled_out] {
            counts.resize(self.numbers.len(), 0.0);
        }
        tasks.iter().for_each(|&task| self.popularity.see(task));
        self.popularity.estimate()
    }

    /// The first launches of the tasks of a stage, by host.
    fn served(&self, stage: &[Task<'_>]) -> Vec<Served> {
        let mut served = vec![Served::default(); self.numbers.len()];
        for task in stage {
            let Some((host, launch)) = task.shown.first() else { continue };
            let Some(&number) = self.numbers.get(host) else { continue };
            let of_host = &mut served[number];
            if task.shown.prefers(host) {
                of_host.near.push((task.key.2, launch));
            } else {
                of_host.far = of_host.far.min(launch);
            }
        }
        served.iter_mut().for_each(Served::close);
        served
    }

    fn known(&self, task: &Task<'_>, served: &[Served]) -> Known {
        let set = |host: &str| self.numbers.get(host).map_or(0, |&number| 1 << number);
        let preferred = task.shown.preferred().map(set).fold(0, |all, one| all | one);
        let mut known = Known { preferred, ruled_out: task.shown.others().map(set).fold(0, |all, one| all | one) };
        known.ruled_out &= !preferred;
        let Some((_, launch)) = task.shown.first() else { return known };
        for (host, served) in served.iter().enumerate() {
            if !known.is_open(host) {
                continue;
            }
            let free = |submit: i64| !self.misses_starts && self.cores[host].were_free(submit, launch);
            if served.passes_over(task.key.2, launch) || task.submit.is_some_and(free) {
                known.ruled_out |= 1 << host;
            }
        }
        known
    }
}

/// The tasks of a stage that were launched on a host.
#[derive(Debug, Clone)]
struct Served {
    /// Those that prefer it: the place of the task in the stage, in order, and the earliest launch of this task and those after it.
    near: Vec<(i64, i64)>,
    /// The earliest launch of one that does not.
    far: i64,
}

impl Default for Served {
    fn default() -> Self {
        Self { near: Vec::new(), far: i64::MAX }
    }
}

impl Served {
    fn close(&mut self) {
        let mut earliest = i64::MAX;
        for (_, launch) in self.near.iter_mut().rev() {
            earliest = earliest.min(*launch);
            *launch = earliest;
        }
    }

    /// True if others were launched there before the task in this place, which would have been first if it preferred the host.
    fn passes_over(&self, place: i64, launch: i64) -> bool {
        let behind = self.near.partition_point(|&(other, _)| other <= place);
        self.far < launch || self.near.get(behind).is_some_and(|&(_, earliest)| earliest < launch)
    }
}

/// Draws further hosts for a task; at least one, if it has none and there is one that it may prefer.
fn draw(task: &Task<'_>, known: Known, likely: &[f64]) -> Hosts {
    let entity = [task.key.0, task.key.2].map(i64::unsigned_abs);
    let mut draws = stream(SEED, Purpose::PreferredHost, &entity);
    let mut drawn = 0;
    // The probability of none of those that are left.
    let mut none: f64 =
        likely.iter().enumerate().filter(|&(host, _)| known.is_open(host)).map(|(_, chance)| 1.0 - chance).product();
    for (host, &likelihood) in likely.iter().enumerate().filter(|&(host, &chance)| known.is_open(host) && chance > 0.0)
    {
        let needs = known.preferred == 0 && drawn == 0;
        let chance = if needs && none < 1.0 { likelihood / (1.0 - none) } else { likelihood };
        if draws.random::<f64>() < chance {
            drawn |= 1 << host;
        }
        none = if likelihood < 1.0 { none / (1.0 - likelihood) } else { 0.0 };
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::super::preferred::Seen;
    use super::*;

    /// Hosts with so many cores from 0 on.
    fn hosts(cores: &[(&str, i64)]) -> Likely {
        let mut likely = Likely::default();
        cores.iter().for_each(|&(host, tasks)| likely.executor_came(host, host, tasks, 0));
        likely
    }

    /// All cores are taken from 0 on.
    fn busy(cores: &[(&str, i64)]) -> Likely {
        let mut likely = hosts(cores);
        for &(host, tasks) in cores {
            let number = likely.number(Some(host));
            (0..tasks).for_each(|_| likely.started(number, Some(0)));
        }
        likely
    }

    fn ran<'a>(place: i64, level: &'a str, host: &'a str, launch: i64) -> Task<'a> {
        let seen = Seen { level: Some(level), host: Some(host), launch: Some(launch), is_first: true };
        Task { key: (3, 0, place), submit: Some(100), shown: Shown::by([seen].into_iter()) }
    }

    fn of(places: &Places, place: i64) -> Vec<&str> {
        places.hosts.get(&(3, 0, place)).map(|hosts| hosts.iter().map(String::as_str).collect()).unwrap_or_default()
    }

    #[test]
    fn a_host_with_a_free_core_is_not_preferred() {
        let mut likely = busy(&[("a", 1), ("b", 1), ("c", 1)]);
        likely.ended(Some(2), Some(1_000));
        let places = likely.places((0..40).map(|place| ran(place, "NODE_LOCAL", "a", 2_000 + place)).collect());
        assert_eq!((of(&places, 7), places.drawn), (vec!["a"], 0), "nobody ran on b, and c was free");
        let mut short = busy(&[("a", 1), ("b", 1)]);
        short.ended(Some(1), Some(1_000));
        short.started(Some(1), Some(1_100));
        assert!(!short.cores[1].were_free(0, 5_000), "that may have been the time in which Spark reacts");
        short.ended(Some(1), Some(2_000));
        assert!(short.cores[1].were_free(0, 2_150) && !short.cores[1].were_free(0, 2_149));
        short.started(Some(1), Some(3_000));
        assert!(short.cores[1].were_free(2_800, 9_000) && !short.cores[1].were_free(2_900, 9_000));
    }

    /// Tasks are launched on both hosts in the order of their indices, as if each preferred both.
    #[test]
    fn hosts_that_nothing_rules_out_are_drawn_as_often_as_tasks_prefer_them() {
        let tasks = |hosts: [&'static str; 2]| {
            (0..40).map(move |place| ran(place, "NODE_LOCAL", hosts[place as usize % 2], 200 + place))
        };
        let both = busy(&[("a", 1), ("b", 1)]).places(tasks(["a", "b"]).collect());
        assert!((0..40).all(|place| of(&both, place).len() == 2), "{both:?}");
        // Those of `b` waited until those of `a` had been served: none of them prefers `a`.
        let apart: Vec<Task<'_>> = (0..40)
            .map(|place| {
                if place % 2 == 0 {
                    ran(place, "NODE_LOCAL", "a", 200 + place)
                } else {
                    ran(place, "NODE_LOCAL", "b", 900 + place)
                }
            })
            .collect();
        let places = busy(&[("a", 1), ("b", 1)]).places(apart);
        assert_eq!(of(&places, 1), ["b"]);
        assert!(of(&places, 39).len() == 2 || of(&places, 39) == ["b"]);
    }

    #[test]
    fn a_task_that_ran_elsewhere_gets_a_host_if_there_is_one() {
        let mut likely = busy(&[("a", 1), ("b", 1), ("c", 1)]);
        let near = (0..10).map(|place| ran(place, "NODE_LOCAL", "a", 150 + place));
        let places = likely.places(near.chain([ran(20, "ANY", "c", 140)]).collect());
        assert_eq!(of(&places, 20), ["a"]);
        let places = busy(&[("c", 1)]).places(vec![ran(20, "ANY", "c", 140)]);
        assert_eq!((of(&places, 20).len(), places.outside.len()), (0, 1));
    }

    #[test]
    fn earlier_jobs_count() {
        let mut likely = busy(&[("a", 1), ("b", 1)]);
        likely.places((0..40).map(|place| ran(place, "NODE_LOCAL", "b", 200 + place)).collect());
        let places = likely.places(vec![ran(0, "NODE_LOCAL", "a", 300)]);
        assert_eq!(of(&places, 0), ["a", "b"]);
        assert_eq!(likely.popularity.preferred[1], 40.0);
    }

    #[test]
    fn many_hosts_and_logs_without_starts_are_left_as_they_are() {
        let names: Vec<String> = (0..=MOST_HOSTS).map(|number| format!("h{number}")).collect();
        let mut many = Likely::default();
        names.iter().for_each(|name| many.executor_came(name, name, 1, 0));
        let places = many.places(vec![ran(0, "NODE_LOCAL", "h0", 300)]);
        assert_eq!(of(&places, 0), ["h0"]);
        let mut without = hosts(&[("a", 1), ("b", 1)]);
        without.miss_start();
        let tasks = |place: i64| ran(place, "NODE_LOCAL", if place % 2 == 0 { "a" } else { "b" }, 900 + place);
        assert_eq!(of(&without.places((0..40).map(tasks).collect()), 5).len(), 2, "free cores are not known");
    }
}
