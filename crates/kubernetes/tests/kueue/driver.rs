//! Time for a decider: ends, pods that are gone, wake-ups, submissions, then decisions, instant by instant.

use std::collections::BTreeMap;

use resched_kubernetes::kueue::{Decision, Kueue, Model, Submission, WorkloadId};

use crate::world::{World, queue_name};

/// What a decider does in an instant: an admission with flavours as text, or a preemption.
pub(crate) enum Event {
    Admitted { workload: u32, flavors: String },
    Preempted { victim: u32, by: u32, reason: &'static str },
}

/// Kueue, or what stands in for it. Times are milliseconds, workloads numbered in the order of submission.
pub(crate) trait Decider {
    fn submit(&mut self, submission: Submission);
    fn ended(&mut self, now: i64, workload: u32);
    fn gone(&mut self, now: i64, workload: u32);
    fn next_wake(&self) -> Option<i64>;
    fn wake(&mut self, now: i64);
    fn settle(&mut self, now: i64) -> Result<Vec<Event>, String>;
    /// Whether a pending workload is parked, and its reason.
    fn standing(&self, workload: u32) -> Option<(bool, &'static str)>;
}

impl Decider for Kueue {
    fn submit(&mut self, submission: Submission) {
        Self::submit(self, submission).unwrap();
    }

    fn ended(&mut self, now: i64, workload: u32) {
        Self::ended(self, now, WorkloadId(workload)).unwrap();
    }

    fn gone(&mut self, now: i64, workload: u32) {
        Self::gone(self, now, WorkloadId(workload)).unwrap();
    }

    fn next_wake(&self) -> Option<i64> {
        Self::next_wake(self)
    }

    fn wake(&mut self, now: i64) {
        Self::wake(self, now);
    }

    fn settle(&mut self, now: i64) -> Result<Vec<Event>, String> {
        let mut decisions = Vec::new();
        Self::settle(self, now, &mut decisions).map_err(|error| error.to_string())?;
        let event = |decision| match decision {
            Decision::Admitted(id) => {
                let given = self.assigned(id).iter().map(|given| (given.pod_set, given.resource.0, given.flavor.0));
                Event::Admitted { workload: id.0, flavors: flavors(self.model(), given) }
            }
            Decision::Preempted { victim, by, reason } => {
                Event::Preempted { victim: victim.0, by: by.0, reason: reason.name() }
            }
        };
        Ok(decisions.into_iter().map(event).collect())
    }

    fn standing(&self, workload: u32) -> Option<(bool, &'static str)> {
        let (place, reason) = Self::standing(self, WorkloadId(workload))?;
        Some((place == resched_kubernetes::kueue::Place::Parked, reason?.name()))
    }
}

/// Flavours by pod set, as `0:cpu=a|memory=a;1:cpu=b`; the driver puts names in the place of numbers.
pub(crate) fn flavors(model: &Model, given: impl Iterator<Item = (u32, u32, u32)>) -> String {
    let mut sets: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (set, resource, flavor) in given {
        let pair = format!("{}={}", model.resources[resource as usize], model.flavors[flavor as usize].name);
        sets.entry(set).or_default().push(pair);
    }
    let mut parts = Vec::new();
    for (set, mut pairs) in sets {
        pairs.sort();
        parts.push(format!("{set}:{}", pairs.join("|")));
    }
    parts.join(";")
}

/// A row of decisions.csv: time, event, workload, cluster_queue, flavors, reason, by, detail.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Row {
    pub(crate) time: i64,
    pub(crate) event: char,
    pub(crate) workload: String,
    pub(crate) queue: String,
    pub(crate) flavors: String,
    pub(crate) reason: String,
    pub(crate) by: String,
    pub(crate) detail: String,
}

/// What the driver knows of a workload.
#[derive(Default, Clone)]
struct Life {
    attempts: u32,
    admitted: i64,
    /// Seconds of work that are kept.
    done: i64,
    /// The end that counts; an eviction makes it void.
    end: Option<i64>,
    /// Where it stood in its last row.
    parked: Option<bool>,
}

/// Drives a decider through a world.
pub(crate) struct Driver<'a, D> {
    world: &'a World,
    decider: D,
    lives: Vec<Life>,
    /// Ends and pods that are gone, by their second, in the order in which they were fixed.
    ends: BTreeMap<i64, Vec<u32>>,
    gone: BTreeMap<i64, Vec<u32>>,
    /// The order of submission, and how far it is done.
    order: Vec<usize>,
    submitted: usize,
    strays: usize,
    /// The decider's number of each job, and the other way round.
    pending: std::collections::BTreeSet<u32>,
    rows: Vec<Row>,
    /// True if rows of pending workloads are wanted.
    standings: bool,
}

/// Runs a world to its end.
pub(crate) fn run<D: Decider>(world: &World, decider: D, standings: bool) -> Result<(Vec<Row>, D), String> {
    let mut order: Vec<usize> = (0..world.jobs.len()).collect();
    order.sort_by_key(|&at| world.jobs[at].submit);
    let mut driver = Driver {
        world,
        decider,
        lives: vec![Life::default(); world.jobs.len()],
        ends: BTreeMap::new(),
        gone: BTreeMap::new(),
        order,
        submitted: 0,
        strays: 0,
        pending: std::collections::BTreeSet::new(),
        rows: Vec::new(),
        standings,
    };
    while let Some(now) = driver.next().filter(|&now| now <= world.horizon) {
        driver.instant(now)?;
    }
    Ok((driver.rows, driver.decider))
}

impl<D: Decider> Driver<'_, D> {
    fn next(&self) -> Option<i64> {
        let submission = self.order.get(self.submitted).map(|&at| self.world.jobs[at].submit);
        let wake = self.decider.next_wake().map(|wake| wake / self.world.unit);
        let ends = self.ends.keys().next().copied();
        let gone = self.gone.keys().next().copied();
        let stray = self.world.strays.get(self.strays).map(|stray| stray.2);
        [submission, wake, ends, gone, stray].into_iter().flatten().min()
    }

    fn instant(&mut self, now: i64) -> Result<(), String> {
        for id in self.ends.remove(&now).unwrap_or_default() {
            if self.lives[id as usize].end.take_if(|end| *end == now).is_some() {
                self.decider.ended(now * self.world.unit, id);
                self.row(now, 'F', id, |_| {});
            }
        }
        for id in self.gone.remove(&now).unwrap_or_default() {
            self.decider.gone(now * self.world.unit, id);
            self.pending.insert(id);
            self.row(now, 'R', id, |_| {});
        }
        self.decider.wake(now * self.world.unit);
        while let Some(&at) = self.order.get(self.submitted).filter(|&&at| self.world.jobs[at].submit == now) {
            self.decider.submit(self.world.jobs[at].submission.clone());
            self.pending.insert(self.submitted as u32);
            self.submitted += 1;
            self.row(now, 'S', self.submitted as u32 - 1, |_| {});
        }
        while let Some((name, queue, _)) = self.world.strays.get(self.strays).filter(|stray| stray.2 == now) {
            self.strays += 1;
            self.rows.push(Row {
                time: now,
                event: 'S',
                workload: name.clone(),
                queue: queue.clone(),
                ..Row::default()
            });
        }
        for event in self.decider.settle(now * self.world.unit)? {
            self.event(now, event);
        }
        if self.standings {
            self.stand(now);
        }
        Ok(())
    }

    fn job(&self, id: u32) -> &crate::world::Job {
        &self.world.jobs[self.order[id as usize]]
    }

    fn row(&mut self, time: i64, event: char, id: u32, fill: impl FnOnce(&mut Row)) {
        let job = self.job(id);
        let mut row = Row {
            time,
            event,
            workload: job.name.clone(),
            queue: queue_name(&self.world.model, job.submission.queue).to_owned(),
            flavors: String::new(),
            reason: String::new(),
            by: String::new(),
            detail: String::new(),
        };
        fill(&mut row);
        self.rows.push(row);
    }

    fn event(&mut self, now: i64, event: Event) {
        match event {
            Event::Admitted { workload, flavors } => self.admitted(now, workload, &flavors),
            Event::Preempted { victim, by, reason } => {
                let life = &mut self.lives[victim as usize];
                let ran = now - life.admitted;
                life.end = None;
                if self.world.keep {
                    life.done += ran;
                }
                self.gone.entry(now + self.world.eviction).or_default().push(victim);
                let by = self.job(by).name.clone();
                self.row(now, 'P', victim, |row| {
                    row.reason = reason.to_owned();
                    row.by = by;
                    row.detail = format!("ran={ran}");
                });
            }
        }
    }

    fn admitted(&mut self, now: i64, id: u32, flavors: &str) {
        let (run, name) = (self.job(id).run, self.job(id).name.clone());
        let life = &mut self.lives[id as usize];
        life.attempts += 1;
        life.admitted = now;
        life.parked = None;
        let end = self
            .world
            .ends
            .as_ref()
            .map_or(now + run - life.done, |ends| ends.get(&name).copied().unwrap_or(i64::MAX / 2_000));
        life.end = Some(end);
        let attempts = life.attempts;
        self.ends.entry(end).or_default().push(id);
        self.pending.remove(&id);
        let sets: Vec<String> = self.job(id).submission.pod_sets.iter().map(|set| set.name.clone()).collect();
        let named = flavors.split(';').filter_map(|part| part.split_once(':'));
        let named: Vec<String> =
            named.map(|(set, given)| format!("{}:{given}", sets[set.parse::<usize>().unwrap()])).collect();
        self.row(now, 'A', id, |row| {
            row.flavors = named.join(";");
            row.detail = format!("attempt={attempts}");
        });
    }

    fn stand(&mut self, now: i64) {
        for id in self.pending.clone() {
            let Some((parked, reason)) = self.decider.standing(id) else { continue };
            // The truth has no row for one that is woken untried.
            if !parked && reason == "Equivalent" {
                continue;
            }
            if self.lives[id as usize].parked != Some(parked) {
                self.lives[id as usize].parked = Some(parked);
                self.row(now, 'Q', id, |row| {
                    row.reason = reason.to_owned();
                    row.detail = if parked { "parked" } else { "head" }.to_owned();
                });
            }
        }
    }
}
