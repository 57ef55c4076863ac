//! A task set: the tasks of a stage, what waits of them, and how long the stage waits for a nearer executor.
//!
//! Names are those of Spark's `TaskSetManager`; `docs/spark.md` has how its replays compare with real runs.

use std::collections::{BTreeMap, BTreeSet};

use resched_sim::{JobId, Ms, NodeId, Resources, TaskId};

use super::conf::Conf;
use super::executors::Alive;
use super::level::Level;

/// A task of a set.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) task: TaskId,
    /// What each of its instances takes of an executor.
    pub(super) cost: Resources,
    /// How many instances start together, for a gang.
    pub(super) gang: Option<u32>,
    /// The machines that it prefers, and their racks.
    hosts: Vec<NodeId>,
    racks: Vec<u32>,
    /// Units that wait.
    pending: u32,
}

/// The answer to an offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answer {
    /// The index of the task that was taken, and the level that it is given.
    pub(super) taken: Option<(u32, Level)>,
    /// True if nothing was taken because the set waits for a nearer executor.
    pub(super) rejected: bool,
}

/// The executor that is offered, as far as a set looks at it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot {
    pub(super) node: NodeId,
    pub(super) rack: Option<u32>,
    pub(super) now: Ms,
}

/// The task sets that there are, by the number of their stage.
#[derive(Debug, Default)]
pub(super) struct Sets {
    by_stage: Vec<Option<Box<TaskSet>>>,
    /// The stages that have one.
    there: BTreeSet<u32>,
}

impl Sets {
    pub(super) fn add(&mut self, stage: u32, set: TaskSet) {
        let place = stage as usize;
        if self.by_stage.len() <= place {
            self.by_stage.resize_with(place + 1, || None);
        }
        self.by_stage[place] = Some(Box::new(set));
        self.there.insert(stage);
    }

    pub(super) fn get(&self, stage: u32) -> Option<&TaskSet> {
        self.by_stage.get(stage as usize)?.as_deref()
    }

    pub(super) fn get_mut(&mut self, stage: u32) -> Option<&mut TaskSet> {
        self.by_stage.get_mut(stage as usize)?.as_deref_mut()
    }

    /// Does something with each.
    pub(super) fn each(&mut self, mut act: impl FnMut(&mut TaskSet)) {
        for &stage in &self.there {
            self.by_stage[stage as usize].as_deref_mut().into_iter().for_each(&mut act);
        }
    }

    /// The job of a set has ended.
    pub(super) fn end(&mut self, stage: u32) {
        if self.there.remove(&stage) {
            self.by_stage[stage as usize] = None;
        }
    }
}

/// The tasks of a stage.
#[derive(Debug)]
pub(super) struct TaskSet {
    pub(super) job: JobId,
    /// The number of the application, and of the pool in it.
    pub(super) app: usize,
    pub(super) pool: usize,
    /// By index.
    members: Vec<Member>,
    /// Indices that may wait, those that are taken first last.
    hosts: BTreeMap<NodeId, Vec<u32>>,
    racks: BTreeMap<u32, Vec<u32>>,
    no_prefs: Vec<u32>,
    all: Vec<u32>,
    /// Units that wait: all, those that prefer a machine, and those that prefer one with a rack.
    waiting: u32,
    with_hosts: u32,
    with_racks: u32,
    /// Units that run.
    pub(super) running: u32,
    /// The least that a task takes.
    least: Resources,
    /// True if it has been submitted.
    pub(super) is_submitted: bool,
    levels: Vec<Level>,
    /// The place of the present level among them.
    current: usize,
    timer: Ms,
    /// True if nothing was rejected since the timer was set back.
    pub(super) quiet: bool,
}

impl TaskSet {
    /// A set without tasks.
    pub(super) fn new(job: JobId, app: usize) -> Self {
        Self {
            job,
            app,
            pool: 0,
            members: Vec::new(),
            hosts: BTreeMap::new(),
            racks: BTreeMap::new(),
            no_prefs: Vec::new(),
            all: Vec::new(),
            waiting: 0,
            with_hosts: 0,
            with_racks: 0,
            running: 0,
            least: Resources { cpu: u64::MAX, memory: u64::MAX },
            is_submitted: false,
            levels: vec![Level::Any],
            current: 0,
            timer: 0,
            quiet: true,
        }
    }

    /// Adds the task with the next index, of which so many units wait.
    pub(super) fn add(
        &mut self,
        task: TaskId,
        (cost, gang): (Resources, Option<u32>),
        units: u32,
        hosts: &[NodeId],
        rack: impl Fn(NodeId) -> Option<u32>,
    ) {
        let mut racks: Vec<u32> = hosts.iter().filter_map(|&host| rack(host)).collect();
        racks.sort_unstable();
        racks.dedup();
        self.least = self.least.min(cost);
        self.members.push(Member { task, cost, gang, hosts: hosts.to_vec(), racks, pending: units });
    }

    /// All tasks are known: they wait, the lowest index first.
    pub(super) fn submit(&mut self, now: Ms, alive: Alive<'_>) {
        self.is_submitted = true;
        for index in (0..self.members.len() as u32).rev() {
            let units = std::mem::take(&mut self.members[index as usize].pending);
            self.wait(index, units);
        }
        self.levels = self.valid_levels(alive);
        (self.current, self.timer) = (0, now);
    }

    /// A unit of a task waits again, before all others.
    pub(super) fn retry(&mut self, task: TaskId) {
        if let Some(index) = self.members.iter().position(|member| member.task == task) {
            self.wait(index as u32, 1);
        }
    }

    fn wait(&mut self, index: u32, units: u32) {
        let member = &mut self.members[index as usize];
        member.pending += units;
        self.waiting += units;
        self.all.push(index);
        if member.hosts.is_empty() {
            self.no_prefs.push(index);
            return;
        }
        self.with_hosts += units;
        for &host in &member.hosts {
            self.hosts.entry(host).or_default().push(index);
        }
        if !member.racks.is_empty() {
            self.with_racks += units;
        }
        for &rack in &member.racks {
            self.racks.entry(rack).or_default().push(index);
        }
    }

    /// How many units wait.
    pub(super) fn waiting(&self) -> u32 {
        self.waiting
    }

    /// The least that a task takes.
    pub(super) fn least(&self) -> Resources {
        self.least
    }

    /// The task with an index.
    pub(super) fn member(&self, index: u32) -> &Member {
        &self.members[index as usize]
    }

    /// A task that waits.
    pub(super) fn first_waiting(&self) -> Option<TaskId> {
        self.members.iter().find(|member| member.pending > 0).map(|member| member.task)
    }

    /// Its levels, the most local first.
    pub(super) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The levels that can be had: `computeValidLocalityLevels`.
    fn valid_levels(&self, alive: Alive<'_>) -> Vec<Level> {
        let mut levels = Vec::new();
        let any_alive = self.hosts.keys().any(|&host| alive.on(host));
        let any_near = || self.racks.keys().any(|&rack| alive.in_rack(rack));
        levels.extend((self.with_hosts > 0 && any_alive).then_some(Level::Node));
        levels.extend((self.waiting > self.with_hosts).then_some(Level::NoPref));
        levels.extend((self.with_racks > 0 && any_near()).then_some(Level::Rack));
        levels.push(Level::Any);
        levels
    }

    /// Executors have come or gone: `recomputeLocality`.
    pub(super) fn recompute(&mut self, alive: Alive<'_>) {
        let (before, level) = (self.current, self.levels[self.current]);
        let new = self.valid_levels(alive);
        let old = std::mem::replace(&mut self.levels, new);
        self.current = self.place_of(level);
        if self.current > before
            && let Some(&added) = self.levels.iter().find(|level| !old.contains(level))
        {
            self.current = self.place_of(added);
        }
    }

    /// The place of the first level that is not more local than this one.
    fn place_of(&self, level: Level) -> usize {
        self.levels.iter().position(|&other| other >= level).unwrap_or(self.levels.len() - 1)
    }

    /// The level up to which it takes executors now: `getAllowedLocalityLevel`.
    fn level_now(&mut self, now: Ms, conf: &Conf) -> Level {
        while self.current + 1 < self.levels.len() {
            let level = self.levels[self.current];
            let wait = conf.wait(level);
            if !self.waits_at(level) {
                self.timer = now;
            } else if now - self.timer >= wait {
                self.timer += wait;
            } else {
                break;
            }
            self.current += 1;
        }
        self.levels[self.current]
    }

    /// As [`TaskSet::level_now`] if nothing waits.
    pub(super) fn pass_all_levels(&mut self, now: Ms) {
        if self.current + 1 < self.levels.len() {
            (self.timer, self.current) = (now, self.levels.len() - 1);
        }
    }

    fn waits_at(&self, level: Level) -> bool {
        match level {
            Level::Process => false,
            Level::Node => self.with_hosts > 0,
            Level::NoPref => self.waiting > self.with_hosts,
            Level::Rack => self.with_racks > 0,
            Level::Any => true,
        }
    }

    /// Answers an offer of an executor, at most at a level: `resourceOffer`. `fits` says whether there is room for a task.
    pub(super) fn offer(&mut self, spot: Spot, most: Level, conf: &Conf, fits: &dyn Fn(&Member) -> bool) -> Answer {
        let allowed = if most == Level::NoPref { most } else { most.min(self.level_now(spot.now, conf)) };
        let taken = self.find(spot, allowed, fits);
        if let Some((index, level)) = taken {
            self.take(index);
            if conf.legacy_reset && most != Level::NoPref {
                self.reset(level, spot.now);
            }
        }
        let rejected = taken.is_none() && most == Level::Any && allowed < Level::Any && self.waiting > 0;
        Answer { taken, rejected }
    }

    /// The task for an executor: `dequeueTask`.
    fn find(&mut self, spot: Spot, allowed: Level, fits: &dyn Fn(&Member) -> bool) -> Option<(u32, Level)> {
        let members = &self.members;
        let top = |stack: &mut Vec<u32>| {
            while let Some(&index) = stack.last() {
                let member = &members[index as usize];
                if member.pending > 0 {
                    return Some(index).filter(|_| fits(member));
                }
                stack.pop();
            }
            None
        };
        let mut found = None;
        if allowed >= Level::Node {
            found = self.hosts.get_mut(&spot.node).and_then(top).map(|index| (index, Level::Node));
        }
        if found.is_none() && allowed >= Level::NoPref {
            found = top(&mut self.no_prefs).map(|index| (index, Level::Process));
        }
        if found.is_none() && allowed >= Level::Rack {
            let stack = spot.rack.and_then(|rack| self.racks.get_mut(&rack));
            found = stack.and_then(top).map(|index| (index, Level::Rack));
        }
        if found.is_none() && allowed >= Level::Any {
            found = top(&mut self.all).map(|index| (index, Level::Any));
        }
        found
    }

    fn take(&mut self, index: u32) {
        let member = &mut self.members[index as usize];
        member.pending -= 1;
        self.waiting -= 1;
        self.running += 1;
        self.with_hosts -= u32::from(!member.hosts.is_empty());
        self.with_racks -= u32::from(!member.racks.is_empty());
    }

    /// Starts to wait anew at a level: `resetDelayScheduleTimer`.
    pub(super) fn reset(&mut self, level: Level, now: Ms) {
        self.timer = now;
        self.current = self.place_of(level);
    }
}
