//! Machines shared between users, jobs or queues: the one with the least for its weight is served next (progressive
//! filling).

use std::collections::{BTreeMap, BTreeSet};

use resched_sim::batch::{Amounts, Ended, Offer, Policy, View};
use resched_sim::{Resources, TaskId, Violation};

use super::claims::{By, Claim, read_claims};
use super::queue::Queue;
use crate::error::Error;
use crate::parts::by_id::ByJob;
use crate::settings::{File, parameter};

/// What the part of a party is measured by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// Its processor.
    Cpu,
    /// The dimension of which it has the largest share.
    Dominant,
}

impl Measure {
    fn share(self, used: &Amounts, total: &Amounts) -> f64 {
        match self {
            Self::Cpu => Resources { memory: 0, ..used.main }.dominant_share(total.main),
            Self::Dominant => used.dominant_share(total),
        }
    }
}

parameter! {
    /// TOML file with a table [name] for each of these, which holds weight and max (a share from 0 to 1)
    pub(super) WEIGHTS: File = "weights" {}
}

parameter! {
    /// most tasks of each of these that are tried, in their order, until one finds room
    pub(super) DEPTH: u32 = "depth" { default: 10, range: 1..=1_000_000_000, unit: "tasks" }
}

/// The rules of sharing.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) by: By,
    pub(super) measure: Measure,
    pub(super) claims: BTreeMap<String, Claim>,
    /// True if a party may have more than what its weight is of all weights, while others leave it.
    pub(super) elastic: bool,
    pub(super) by_priority: bool,
    pub(super) depth: u32,
}

impl Rules {
    /// The rules of the parameters that all these policies have. Parties take what others leave.
    ///
    /// # Errors
    /// What is wrong with the file of weights.
    pub(super) fn new(measure: Measure, by: By, weights: &File, by_priority: bool, depth: u32) -> Result<Self, Error> {
        let claims = read_claims(weights).map_err(Error::File)?;
        Ok(Self { by, measure, claims, elastic: true, by_priority, depth })
    }
}

/// All who share, with their tasks that wait.
#[derive(Debug)]
pub(super) struct Shares {
    rules: Rules,
    parties: Vec<Party>,
    names: BTreeMap<String, usize>,
    /// By job.
    of_jobs: ByJob<Option<usize>>,
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
    used: Amounts,
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
            of_jobs: ByJob::default(),
            hungry: BTreeSet::new(),
            passed: Vec::new(),
            weights,
        }
    }

    /// The party of a task.
    fn of(&mut self, task: TaskId, view: View<'_>) -> usize {
        let job = view.task(task).job;
        if let Some(party) = self.of_jobs[job] {
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
                used: Amounts::default(),
                claim: known.unwrap_or_default(),
                key: None,
            });
            next
        });
        self.of_jobs[job] = Some(party);
        party
    }

    /// Gives a party its place among the hungry, if anything of it waits.
    fn put(&mut self, party: usize, total: &Amounts) {
        let state = &mut self.parties[party];
        if let Some(key) = state.key.take() {
            self.hungry.remove(&(key, party));
        }
        if state.queue.first().is_some() {
            // Shares are not negative: their bits stand in their order.
            let key = (self.rules.measure.share(&state.used, total) / state.claim.weight).to_bits();
            state.key = Some(key);
            self.hungry.insert((key, party));
        }
    }

    /// Starts a unit of a party, all that find room if nobody else waits. Returns whether there was any.
    fn serve(&mut self, party: usize, offer: &mut Offer<'_, '_>) -> Result<bool, Violation> {
        let alone = self.hungry.is_empty() && self.passed.is_empty();
        let limit = self.limit(party);
        let state = &mut self.parties[party];
        let mut next = state.queue.first();
        for _ in 0..self.rules.depth {
            let Some(place) = next else { break };
            let (task, view) = (place.task, offer.view());
            let unit = view.unit(task);
            let share_with = |used: &Amounts| {
                let mut both = used.clone();
                both.add(&unit);
                self.rules.measure.share(&both, view.all())
            };
            // A party may always run one task.
            let is_within = limit >= 1.0 || state.used.is_none() || share_with(&state.used) <= limit;
            let most = if alone && limit >= 1.0 { u32::MAX } else { 1 };
            let started = if is_within { offer.start(task, most)? } else { 0 };
            if !is_within {
                offer.view().pass_over(task, self.rules.by.limit(), None);
            }
            state.used.add(&unit.times(u64::from(started)));
            if offer.view().waiting(task) == 0 {
                state.queue.remove(place);
            }
            if started > 0 {
                return Ok(true);
            }
            next = state.queue.after(place);
        }
        Ok(false)
    }

    /// The largest share that a party may have.
    fn limit(&self, party: usize) -> f64 {
        let claim = self.parties[party].claim;
        if self.rules.elastic { claim.max } else { claim.max.min(claim.weight / self.weights) }
    }
}

impl Policy for Shares {
    fn task_waits(&mut self, task: TaskId, view: View<'_>) {
        let party = self.of(task, view);
        self.parties[party].queue.add(task, view);
        self.put(party, view.all());
    }

    fn task_finished(&mut self, ended: &Ended, view: View<'_>) {
        let party = self.of(ended.task, view);
        let state = &mut self.parties[party];
        state.used.take(&view.unit(ended.task));
        if state.key.is_some() {
            self.put(party, view.all());
        }
    }

    fn nodes_changed(&mut self, view: View<'_>) {
        for party in 0..self.parties.len() {
            if self.parties[party].key.is_some() {
                self.put(party, view.all());
            }
        }
    }

    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        self.passed.clear();
        while let Some((_, party)) = self.hungry.pop_first() {
            self.parties[party].key = None;
            if self.serve(party, offer)? {
                self.put(party, offer.view().all());
            } else {
                self.passed.push(party);
            }
        }
        let passed = std::mem::take(&mut self.passed);
        for &party in &passed {
            self.put(party, offer.view().all());
        }
        self.passed = passed;
        Ok(())
    }
}
