//! Machines shared between users, jobs or queues: whoever has the least for its weight is served next (progressive filling).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use resched_sim::batch::{Amount, Ended, Job, Offer, View};
use resched_sim::{TaskId, Violation};
use serde::Deserialize;

use super::queue::Queue;
use crate::settings::{File, choices, parameter};

choices! {
    /// Who shares.
    pub(super) enum By {
        User = "user",
        Queue = "queue",
        Group = "group",
        Job = "job",
        Priority = "priority",
        Class = "class",
    }
}

impl By {
    fn name(self, job: &Job) -> String {
        match self {
            Self::User => job.user.clone(),
            Self::Queue => job.queue.clone(),
            Self::Group => job.group.clone(),
            Self::Job => job.id.clone(),
            Self::Priority => job.priority.to_string(),
            Self::Class => job.scheduling_class.map(|class| class.to_string()).unwrap_or_default(),
        }
    }
}

/// What the part of a party is measured by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// Its processor.
    Cpu,
    /// The resource of which it has the larger share.
    Dominant,
}

impl Measure {
    fn share(self, used: Amount, total: Amount) -> f64 {
        match self {
            Self::Cpu => Amount { memory: 0, ..used }.dominant_share(total),
            Self::Dominant => used.dominant_share(total),
        }
    }
}

parameter! {
    /// TOML file with a table a name, [name], that holds weight and max (a share from 0 to 1)
    pub(super) WEIGHTS: File = "weights" {}
}

parameter! {
    /// how many of its tasks are tried, in their order, until one finds room
    pub(super) DEPTH: u32 = "depth" { default: 10, range: 1..=1_000_000_000, unit: "tasks" }
}

/// What a file says of a party.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Claim {
    /// Of two, one with double the weight gets double the part.
    pub(super) weight: f64,
    /// The largest share of the machines that it may have.
    pub(super) max: f64,
}

impl Default for Claim {
    fn default() -> Self {
        Self { weight: 1.0, max: 1.0 }
    }
}

/// Reads the file of claims; without one, all have the same.
pub(super) fn read_claims(file: &File) -> Result<BTreeMap<String, Claim>, String> {
    let Some(path) = file.path() else { return Ok(BTreeMap::new()) };
    let text = std::fs::read_to_string(Path::new(path)).map_err(|error| format!("weights: {path}: {error}"))?;
    let claims: BTreeMap<String, Claim> =
        toml::from_str(&text).map_err(|error| format!("weights: {path}: {}", error.to_string().trim_end()))?;
    for (name, claim) in &claims {
        if !(1e-6..=1e6).contains(&claim.weight) || !(0.0..=1.0).contains(&claim.max) {
            return Err(format!(
                "weights: {path}: `{name}`: expected a weight from 0.000001 to 1000000 and a max from 0 to 1, found {} and {}",
                claim.weight, claim.max
            ));
        }
    }
    Ok(claims)
}

/// The rules of sharing.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) by: By,
    pub(super) measure: Measure,
    pub(super) claims: BTreeMap<String, Claim>,
    /// Whether a party may have more than what its weight is of all weights, while others leave it.
    pub(super) elastic: bool,
    pub(super) by_priority: bool,
    pub(super) depth: u32,
}

/// All who share, with their tasks that wait.
#[derive(Debug)]
pub(super) struct Shares {
    rules: Rules,
    parties: Vec<Party>,
    names: BTreeMap<String, usize>,
    /// By job.
    of_jobs: Vec<usize>,
    /// The parties with tasks that wait, by what they have for their weight, then in the order in which they came.
    hungry: BTreeSet<(u64, usize)>,
    /// Room for those that are served no more in a pass.
    passed: Vec<usize>,
    /// The weights of all, of those in the file that have not come too.
    weights: f64,
}

#[derive(Debug)]
struct Party {
    queue: Queue,
    used: Amount,
    claim: Claim,
    /// Its place among the hungry; `None` if nothing of it waits.
    key: Option<u64>,
}

impl Shares {
    pub(super) fn new(rules: Rules) -> Self {
        let weights = rules.claims.values().map(|claim| claim.weight).sum();
        Self {
            rules,
            parties: Vec::new(),
            names: BTreeMap::new(),
            of_jobs: Vec::new(),
            hungry: BTreeSet::new(),
            passed: Vec::new(),
            weights,
        }
    }

    /// The party of a task.
    fn of(&mut self, task: TaskId, view: View<'_>) -> usize {
        let job = view.task(task).job;
        if let Some(&party) = self.of_jobs.get(job.index()).filter(|&&party| party != usize::MAX) {
            return party;
        }
        let name = self.rules.by.name(view.job(job));
        let next = self.parties.len();
        let party = *self.names.entry(name).or_insert_with_key(|name| {
            let known = self.rules.claims.get(name).copied();
            if known.is_none() {
                self.weights += Claim::default().weight;
            }
            self.parties.push(Party {
                queue: Queue::new(self.rules.by_priority),
                used: Amount::NONE,
                claim: known.unwrap_or_default(),
                key: None,
            });
            next
        });
        self.of_jobs.resize(self.of_jobs.len().max(job.index() + 1), usize::MAX);
        self.of_jobs[job.index()] = party;
        party
    }

    pub(super) fn queued(&mut self, task: TaskId, view: View<'_>) {
        let party = self.of(task, view);
        self.parties[party].queue.add(task, view);
        self.put(party, view.total());
    }

    pub(super) fn ended(&mut self, ended: &Ended, view: View<'_>) {
        let party = self.of(ended.task, view);
        let own = &mut self.parties[party];
        own.used = own.used.minus(view.task(ended.task).unit());
        if own.key.is_some() {
            self.put(party, view.total());
        }
    }

    pub(super) fn machines_changed(&mut self, view: View<'_>) {
        for party in 0..self.parties.len() {
            if self.parties[party].key.is_some() {
                self.put(party, view.total());
            }
        }
    }

    /// Gives a party its place among the hungry, if anything of it waits.
    fn put(&mut self, party: usize, total: Amount) {
        let own = &mut self.parties[party];
        if let Some(key) = own.key.take() {
            self.hungry.remove(&(key, party));
        }
        if own.queue.first().is_some() {
            // Shares are not negative: their bits stand in their order.
            let key = (self.rules.measure.share(own.used, total) / own.claim.weight).to_bits();
            own.key = Some(key);
            self.hungry.insert((key, party));
        }
    }

    pub(super) fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let total = offer.view().total();
        self.passed.clear();
        while let Some((_, party)) = self.hungry.pop_first() {
            self.parties[party].key = None;
            if self.serve(party, offer)? {
                self.put(party, total);
            } else {
                self.passed.push(party);
            }
        }
        let passed = std::mem::take(&mut self.passed);
        for &party in &passed {
            self.put(party, total);
        }
        self.passed = passed;
        Ok(())
    }

    /// Starts a unit of a party, all that find room if nobody else waits. Returns whether there was any.
    fn serve(&mut self, party: usize, offer: &mut Offer<'_, '_>) -> Result<bool, Violation> {
        let alone = self.hungry.is_empty() && self.passed.is_empty();
        let limit = self.limit(party);
        let own = &mut self.parties[party];
        let mut next = own.queue.first();
        for _ in 0..self.rules.depth {
            let Some(place) = next else { break };
            let (task, view) = (place.task, offer.view());
            let unit = view.task(task).unit();
            let share = |used: Amount| self.rules.measure.share(used, view.total());
            // A party may always run one task.
            let is_within = limit >= 1.0 || own.used == Amount::NONE || share(own.used.plus(unit)) <= limit;
            let most = if alone && limit >= 1.0 { u32::MAX } else { 1 };
            let started = if is_within { offer.start(task, most)? } else { 0 };
            own.used = own.used.plus(unit.times(u64::from(started)));
            if offer.view().waiting(task) == 0 {
                own.queue.remove(place);
            }
            if started > 0 {
                return Ok(true);
            }
            next = own.queue.after(place);
        }
        Ok(false)
    }

    /// The largest share that a party may have.
    fn limit(&self, party: usize) -> f64 {
        let claim = self.parties[party].claim;
        if self.rules.elastic { claim.max } else { claim.max.min(claim.weight / self.weights) }
    }
}

macro_rules! shares_as_policy {
    ($name:ident) => {
        impl resched_sim::batch::Policy for $name {
            fn queued(&mut self, task: resched_sim::TaskId, view: resched_sim::batch::View<'_>) {
                self.0.queued(task, view);
            }
            fn ended(&mut self, ended: &resched_sim::batch::Ended, view: resched_sim::batch::View<'_>) {
                self.0.ended(ended, view);
            }
            fn machines_changed(&mut self, view: resched_sim::batch::View<'_>) {
                self.0.machines_changed(view);
            }
            fn schedule(
                &mut self,
                offer: &mut resched_sim::batch::Offer<'_, '_>,
            ) -> Result<(), resched_sim::Violation> {
                self.0.schedule(offer)
            }
        }
    };
}
pub(super) use shares_as_policy;
