//! A second scheduler of Slurm, written from the rules and not from the policy: plain sets of machines, every look of both loops, and every
//! search from the first end on. On random worlds, under the rules of both versions, the policy starts the same jobs at the same time and
//! on the same machines.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use resched_policies::PolicySpec;
use resched_sim::batch::{Checked, Ended, Launched, Observer, load_records, replay_seeded};
use resched_sim::{ClusterConfig, Error, Ms, Reports, Scope};
use resched_tables::model::{AttemptRow, JobRecord, JobRow, NodeRow, Outcome, TaskRecord, TaskRow};
use resched_tables::sink::Collected;

use crate::cases::cases;

const CORES: u32 = 4;
const SECOND: Ms = 1_000;
const MINUTE: Ms = 60_000;
/// When in its second the main loop looks, and when in its period backfill first runs.
const PHASES: [Ms; 2] = [999, 499];
/// The clock of the trace at its first submission: no whole half minute.
const ZERO: Ms = 1_700_000_017_001;

/// A job, as a site would ask for it.
#[derive(Debug, Clone)]
struct Job {
    submit: Ms,
    instances: u32,
    /// So many machines, with the same on each.
    machines: Option<u32>,
    exclusive: bool,
    /// min.
    limit: Ms,
    run: Ms,
}

/// A world, and which of the rules of 24.11 hold.
#[derive(Debug, Clone)]
struct World {
    machines: usize,
    jobs: Vec<Job>,
    rules: [bool; 5],
    /// How many jobs get a reservation; 0: all.
    reservations: u32,
    bf_interval: Ms,
}

const RULES: [&str; 5] = ["bf_round_up", "bf_from_later", "bf_cut_bundles", "bf_overlap_first", "bf_next_slot"];

fn worlds() -> impl Strategy<Value = World> {
    let rules = prop_oneof![2 => Just([false; 5]), 2 => Just([true; 5]), 1 => any::<[bool; 5]>()];
    let set = (rules, prop_oneof![3 => Just(0_u32), 1 => 1..=2_u32], prop_oneof![Just(5_000), Just(30_000)]);
    (2..=6_usize, set).prop_flat_map(|(machines, (rules, reservations, bf_interval))| {
        let most = machines as u32 * CORES;
        let shape = (1..=most, prop::option::weighted(0.3, 1..=machines as u32), prop::bool::weighted(0.15));
        let times = (0..400_i64, 1..=8_i64, 1..=105_i64);
        let job = (shape, times).prop_map(|((instances, on, exclusive), (submit, limit, percent))| {
            // As many on each machine, and no more than it has.
            let (instances, machines) = match on {
                Some(on) => ((instances / on).clamp(1, CORES) * on, Some(on)),
                None => (instances, None),
            };
            let run = limit * MINUTE * percent / 100 / SECOND * SECOND + 1;
            Job { submit: submit * SECOND, instances, machines, exclusive, limit, run }
        });
        vec(job, 1..=14).prop_map(move |mut jobs| {
            jobs.sort_by_key(|job| job.submit);
            let first = jobs[0].submit;
            jobs.iter_mut().for_each(|job| job.submit -= first);
            World { machines, jobs, rules, reservations, bf_interval }
        })
    })
}

/// How many instances of a job on which machines.
type Places = Vec<(usize, u32)>;
/// A start: the job, when, and where.
type Start = (usize, Ms, Places);

/// What is taken of each machine: its cores, how many jobs it has, and whether one has it for itself.
#[derive(Debug, Clone)]
struct Taken(Vec<(u32, u32, bool)>);

impl Taken {
    fn add(&mut self, job: &Job, places: &Places) {
        for &(machine, count) in places {
            let (cores, jobs, closed) = &mut self.0[machine];
            (*cores, *jobs, *closed) = (*cores + count, *jobs + 1, job.exclusive);
        }
    }

    fn remove(&mut self, places: &Places) {
        for &(machine, count) in places {
            let (cores, jobs, closed) = &mut self.0[machine];
            (*cores, *jobs, *closed) = (*cores - count, *jobs - 1, false);
        }
    }

    /// Where a job finds room on these machines: in the smallest run of consecutive ones that holds it, else in the largest first.
    fn place(&self, job: &Job, open: &BTreeSet<usize>) -> Option<Places> {
        // What it takes of each of its machines is one part, which is what rooms are counted in.
        let part = job.machines.map_or(1, |machines| job.instances / machines);
        let room = |&machine: &usize| {
            let (cores, jobs, closed) = self.0[machine];
            let room = if closed || (job.exclusive && jobs > 0) { 0 } else { (CORES - cores) / part };
            (room > 0).then_some((machine, room))
        };
        let mut runs: Vec<Vec<(usize, u32)>> = Vec::new();
        for (machine, room) in open.iter().filter_map(room) {
            match runs.last_mut().filter(|run| run.last().unwrap().0 + 1 == machine) {
                Some(run) => run.push((machine, room)),
                None => runs.push(vec![(machine, room)]),
            }
        }
        let size = |run: &Vec<(usize, u32)>| run.iter().map(|node| node.1).sum::<u32>();
        runs.sort_by_key(|run| (size(run), run[0].0));
        let mut left = job.machines.unwrap_or(job.instances);
        let mut places = Vec::new();
        while left > 0 {
            let holds = |run: &Vec<(usize, u32)>| match job.machines {
                None => size(run) >= left,
                Some(_) => run.len() >= left as usize,
            };
            let largest = runs.iter().map(size).max()?;
            let holding = runs.iter().position(holds);
            let run = runs.remove(holding.or_else(|| runs.iter().position(|run| size(run) == largest))?);
            let enough = if job.machines.is_some() { 1 } else { left };
            let one = run.iter().filter(|node| node.1 >= enough).min_by_key(|node| (node.1, node.0));
            if let Some(&(machine, _)) = one.filter(|_| holding.is_some() && (job.machines.is_none() || left == 1)) {
                places.push((machine, enough * part));
                break;
            }
            for (machine, room) in run {
                let taken = if job.machines.is_some() { left.min(1) } else { room.min(left) };
                if taken > 0 {
                    places.push((machine, taken * part));
                }
                left -= taken;
            }
        }
        places.sort_unstable();
        Some(places)
    }
}

/// A job that runs: its end by its limit, and when it really ends.
#[derive(Debug, Clone)]
struct Run {
    limit: Ms,
    end: Ms,
    job: usize,
    places: Places,
}

/// The table of a cycle: which machines are not reserved from when to when.
type Table = Vec<(Ms, Ms, BTreeSet<usize>)>;

fn reserve(table: &mut Table, from: Ms, until: Ms, machines: &BTreeSet<usize>) {
    for at in [from, until] {
        if let Some(place) = table.iter().position(|slot| slot.0 < at && at < slot.1) {
            let later = (at, table[place].1, table[place].2.clone());
            table[place].1 = at;
            table.insert(place + 1, later);
        }
    }
    for slot in table.iter_mut().filter(|slot| slot.0 >= from && slot.1 <= until) {
        slot.2 = &slot.2 - machines;
    }
    if let Some(place) = (1..table.len()).find(|&place| table[place - 1].2 == table[place].2) {
        table[place - 1].1 = table.remove(place).1;
    }
}

struct Naive<'w> {
    world: &'w World,
    taken: Taken,
    running: Vec<Run>,
    waiting: Vec<usize>,
    starts: Vec<Start>,
}

impl Naive<'_> {
    fn all(&self) -> BTreeSet<usize> {
        (0..self.world.machines).collect()
    }

    /// The second of the trace's clock in which an instant is.
    fn second(at: Ms) -> Ms {
        at - (at + ZERO).rem_euclid(SECOND)
    }

    fn start(&mut self, job: usize, now: Ms, places: Places) {
        let asked = &self.world.jobs[job];
        self.taken.add(asked, &places);
        let limit = Self::second(now) + asked.limit * MINUTE;
        self.running.push(Run { limit, end: now + asked.run, job, places: places.clone() });
        self.waiting.retain(|&other| other != job);
        self.starts.push((job, now, places));
    }

    fn main_loop(&mut self, now: Ms) {
        for job in self.waiting.clone() {
            let Some(places) = self.taken.place(&self.world.jobs[job], &self.all()) else { break };
            self.start(job, now, places);
        }
    }

    fn rounded(at: Ms) -> Ms {
        at - (at + ZERO).rem_euclid(MINUTE)
    }

    fn slot(&self, job: &Job, at: Ms) -> (Ms, Ms) {
        let more = if self.world.rules[0] { MINUTE - 1 } else { 0 };
        (Self::rounded(at), Self::rounded(at + job.limit * MINUTE + more))
    }

    fn backfill(&mut self, at: Ms) {
        let now = Self::second(at);
        let mut table: Table = vec![(now, now + 86_400_000, self.all())];
        let mut reserved = 0;
        for job in self.waiting.clone() {
            let asked = &self.world.jobs[job];
            let only_now = self.world.reservations > 0 && reserved >= self.world.reservations;
            let Some((start, places)) = self.plan(asked, now, &table, only_now) else { continue };
            let machines: BTreeSet<usize> = places.iter().map(|place| place.0).collect();
            let (from, until) = self.slot(asked, start);
            if start > now {
                reserve(&mut table, from, until, &machines);
                reserved += 1;
                continue;
            }
            self.start(job, at, places);
            if asked.exclusive && until > now {
                reserve(&mut table, now, until, &machines);
            }
        }
    }

    /// When and where a job starts by the table.
    fn plan(&self, job: &Job, now: Ms, table: &Table, only_now: bool) -> Option<(Ms, Places)> {
        let [_, from_later, cut_bundles, overlap_first, next_slot] = self.world.rules;
        let mut from = now;
        for _ in 0..1_000 {
            let until = from + job.limit * MINUTE;
            let (mut open, mut later) = (self.all(), None);
            for (place, slot) in table.iter().enumerate().filter(|(_, slot)| slot.1 > from) {
                let next = table.get(place + 1);
                let gains = |next: &(Ms, Ms, BTreeSet<usize>)| {
                    next.2.iter().any(|node| !(open.contains(node) && slot.2.contains(node)))
                };
                if later.is_none() && next.is_some_and(gains) {
                    later = Some(slot.1);
                }
                if slot.0 > until {
                    if next_slot && later.is_none() && place + 2 < table.len() {
                        later = next.map(|next| next.1);
                    }
                    break;
                }
                open = &open & &slot.2;
            }
            let found =
                self.search(job, [now, if from_later { from } else { now }], later.filter(|_| cut_bundles), &open);
            let Some((at, places)) = found.map(|(at, places)| (at.max(from), places)) else {
                from = later.filter(|_| !only_now)?;
                continue;
            };
            if at <= now {
                return Some((now, places));
            }
            if only_now {
                return None;
            }
            let (begin, end) = self.slot(job, at);
            let is_open = |slot: &(Ms, Ms, BTreeSet<usize>)| places.iter().all(|place| slot.2.contains(&place.0));
            let overlaps = table.iter().any(|slot| slot.1 > begin && slot.0 < end && !is_open(slot));
            if later.is_some_and(|later| at > later) && !(overlap_first && overlaps) {
                from = later?;
            } else if overlaps {
                from = if at > from {
                    at
                } else if overlap_first {
                    at + MINUTE
                } else {
                    later?
                };
            } else if at > now + 86_400_000 {
                return None;
            } else {
                return Some((at, places));
            }
        }
        None
    }

    /// When and where a job finds room on these machines, if no end behind `until` counts.
    fn search(
        &self,
        job: &Job,
        [now, from]: [Ms; 2],
        until: Option<Ms>,
        open: &BTreeSet<usize>,
    ) -> Option<(Ms, Places)> {
        let mut taken = self.taken.clone();
        let mut ends: Vec<&Run> = self.running.iter().collect();
        ends.sort_by_key(|run| (run.limit, run.job));
        let mut ends = ends.into_iter().peekable();
        while let Some(run) = ends.next_if(|run| from > now && run.limit < from) {
            taken.remove(&run.places);
        }
        if let Some(places) = taken.place(job, open) {
            return Some((from, places));
        }
        let (mut width, mut origin) = (30 * SECOND, None);
        loop {
            let mut last = None;
            while let Some(run) = ends.next_if(|run| until.is_none_or(|until| run.limit <= until)) {
                if !run.places.iter().any(|place| open.contains(&place.0)) {
                    continue;
                }
                let half = 30 * SECOND;
                let origin = *origin.get_or_insert(run.limit + half - (run.limit + ZERO).rem_euclid(half));
                taken.remove(&run.places);
                last = Some(run.limit);
                if ends.peek().is_some_and(|next| next.limit > origin + width) {
                    break;
                }
            }
            if let Some(places) = taken.place(job, open) {
                return Some((last?.max(now + SECOND), places));
            }
            last?;
            width *= 2;
            while ends.peek().is_some_and(|next| next.limit > origin.unwrap() + width) {
                width *= 2;
            }
        }
    }
}

impl World {
    /// The starts by the rules alone.
    fn naive(&self) -> Vec<Start> {
        let taken = Taken(vec![(0, 0, false); self.machines]);
        let mut naive = Naive { world: self, taken, running: Vec::new(), waiting: Vec::new(), starts: Vec::new() };
        let (mut next, mut marks) = (0, [false; 2]);
        let (mut last_main, mut last_full, mut last_backfill) = (Ms::MIN / 2, None, None);
        for second in 0..1_000_000 {
            let looks = [(second * SECOND + PHASES[1], true), (second * SECOND + PHASES[0], false)];
            for (now, is_backfill) in looks {
                while next < self.jobs.len() && self.jobs[next].submit <= now {
                    naive.waiting.push(next);
                    last_full.get_or_insert(self.jobs[next].submit);
                    marks = [true; 2];
                    next += 1;
                }
                let over = naive.running.iter().filter(|run| run.end <= now).map(|run| run.places.clone());
                for places in over.collect::<Vec<_>>() {
                    naive.taken.remove(&places);
                    marks = [true; 2];
                }
                naive.running.retain(|run| run.end > now);
                if is_backfill {
                    let is_time = match last_backfill {
                        Some(last) => now >= last + self.bf_interval,
                        None => (now - PHASES[1]) % self.bf_interval == 0,
                    };
                    if marks[1] && is_time {
                        naive.backfill(now);
                        (last_backfill, marks[1]) = (Some(now), !naive.waiting.is_empty());
                    }
                    continue;
                }
                let is_full = last_full.is_some_and(|last| now >= last + MINUTE);
                if (marks[0] && now >= last_main + 3 * SECOND) || is_full {
                    naive.main_loop(now);
                    (last_main, marks[0]) = (now, false);
                    last_full = if is_full { Some(now) } else { last_full };
                }
            }
            if next == self.jobs.len() && naive.waiting.is_empty() {
                return naive.starts;
            }
        }
        panic!("jobs wait for ever: {:?}", naive.waiting);
    }

    /// The starts by the policy.
    fn policy(&self) -> Vec<Start> {
        let outcome = Outcome::Success;
        let job = |(number, drawn): (usize, &Job)| {
            let id = number.to_string();
            let job = JobRow {
                job_id: id.clone(),
                framework: Some("slurm".to_owned()),
                submit: Some(ZERO + drawn.submit),
                requested_time: Some(drawn.limit * MINUTE),
                outcome,
                ..JobRow::default()
            };
            let task = TaskRow {
                job_id: id.clone(),
                task_id: id.clone(),
                outcome,
                cpu_request: Some(1_000 * i64::from(drawn.machines.map_or(1, |machines| drawn.instances / machines))),
                instances: Some(drawn.machines.unwrap_or(drawn.instances).into()),
                gang: Some(true),
                machines: drawn.machines.map(i64::from),
                exclusive: Some(drawn.exclusive),
                ..TaskRow::default()
            };
            let run_time = Some(drawn.run);
            let attempt = AttemptRow { job_id: id.clone(), task_id: id, run_time, outcome, ..AttemptRow::default() };
            let tasks = vec![TaskRecord { task, attempts: vec![attempt], splits: Vec::new() }];
            JobRecord { job, tasks, counters: Vec::new() }
        };
        let node =
            |number| NodeRow { host: format!("n{number}"), cpu: Some(i64::from(CORES) * 1_000), ..NodeRow::default() };
        let tables = Collected {
            engine: resched_tables::run::RunEngine::Batch,
            jobs: self.jobs.iter().enumerate().map(job).collect(),
            nodes: (0..self.machines).map(node).collect(),
            ..Collected::default()
        };
        let loaded = load_records(&tables, &ClusterConfig::default(), &Scope::default()).unwrap();
        let rules = RULES.iter().zip(self.rules).map(|(rule, holds)| format!(",{rule}={holds}"));
        let [phase, bf_phase] = PHASES;
        let set = format!(
            "slurm:phase={phase},bf_phase={bf_phase},bf_interval={},reservations={}{}",
            self.bf_interval,
            self.reservations,
            rules.collect::<String>()
        );
        let mut seen = Seen::default();
        let mut made = PolicySpec::parse(&set).unwrap().build_batch().unwrap();
        let mut checked = Checked::new(&loaded.workload, &loaded.machines, "slurm", &mut seen);
        replay_seeded(&loaded.workload, &loaded.machines, ("slurm", &mut *made), 1, &mut checked, &mut |_| {}).unwrap();
        checked.close().unwrap();
        let of = |number: usize| loaded.workload.jobs().get(number).unwrap().id.parse().unwrap();
        let each = |job: usize| self.jobs[job].machines.map_or(1, |machines| self.jobs[job].instances / machines);
        let start = |(task, at, places): Start| {
            let job: usize = of(task);
            (job, at, places.into_iter().map(|(machine, count)| (machine, count * each(job))).collect())
        };
        seen.0.into_iter().map(start).collect()
    }
}

#[derive(Default)]
struct Seen(Vec<Start>);

impl Reports for Seen {}

impl Observer for Seen {
    fn launched(&mut self, launched: &Launched<'_>) -> Result<(), Error> {
        let places = launched.places.iter().map(|&(node, count)| (node.index(), count)).collect();
        self.0.push((launched.task.index(), launched.at, places));
        Ok(())
    }

    fn ended(&mut self, _: &Ended) -> Result<(), Error> {
        Ok(())
    }
}

proptest! {
    #![proptest_config(Config { rng_seed: RngSeed::Fixed(24), ..cases(60) })]

    #[test]
    fn the_policy_does_as_the_rules_of_both_versions_say(world in worlds()) {
        prop_assert_eq!(world.policy(), world.naive());
    }
}

proptest! {
    #![proptest_config(Config { rng_seed: RngSeed::Fixed(2_205), ..cases(5_000) })]

    /// `cargo test -p resched-policies --test schedules in_many_worlds -- --ignored`
    #[test]
    #[ignore = "minutes; 60 worlds always run"]
    fn the_policy_does_as_the_rules_say_in_many_worlds(world in worlds()) {
        prop_assert_eq!(world.policy(), world.naive());
    }
}
