//! The limits of qualities of service and of associations: what their running jobs may have together.
//!
//! **Source.** Slurm's *Resource Limits* and runs of a real Slurm: a job stopped by a limit does not stop those behind it.
//!
//! **Decisions.** The limits of a job's QOS, of its partition's QOS and of its associations all hold. Limits on submitted jobs do not count:
//! the log has only jobs that were accepted.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use resched_sim::Ms;
use resched_sim::batch::JobView;
use resched_tables::model::Reason;
use smallvec::SmallVec;

use crate::queues::slurm::{JobLimits, Limits, MAX_WALL, SlurmConf};
use crate::submitters::Submitter;

/// What a job takes of limits.
#[derive(Debug, Clone, Default)]
pub(super) struct Amounts {
    pub(super) cpus: u64,
    pub(super) nodes: u64,
    /// Other resources by name; `mem` in bytes.
    pub(super) resources: Vec<(Arc<str>, u64)>,
}

impl Amounts {
    fn of(&self, name: &str) -> u64 {
        self.resources.iter().filter(|(resource, _)| **resource == *name).map(|(_, amount)| amount).sum()
    }
}

/// What a job counts towards.
#[derive(Debug, Clone, Default)]
pub(super) struct Claims {
    counters: SmallVec<[u32; 2]>,
    /// True if it alone is more than is allowed.
    is_too_much: bool,
}

/// What jobs have together of a limit.
#[derive(Debug)]
struct Counter {
    limit: Rc<Limits>,
    /// Why a job waits that would have too much.
    reason: Reason,
    cpus: u64,
    nodes: u64,
    jobs: u64,
    resources: BTreeMap<String, u64>,
}

/// Whose limit it is, and for whom it counts.
type Key = (String, &'static str, String);

/// The counters of all limits.
#[derive(Debug, Default)]
pub(super) struct Counters {
    all: Vec<Counter>,
    places: BTreeMap<Key, u32>,
}

impl Counters {
    /// What a job counts towards that asks for this.
    pub(super) fn claims(
        &mut self,
        conf: &SlurmConf,
        job: JobView<'_>,
        partition: &str,
        (amounts, limit): (&Amounts, Ms),
    ) -> Claims {
        let mut claims = Claims::default();
        let asks = Submitter { queue: partition, user: job.user, group: job.group, qos: job.qos };
        for (holder, limits) in conf.limits_of(asks) {
            self.claim(limits, &holder.to_string(), job, (amounts, limit), &mut claims);
        }
        claims
    }

    /// Adds what a job counts towards of some limits.
    fn claim(
        &mut self,
        limits: &JobLimits,
        whose: &str,
        job: JobView<'_>,
        (amounts, limit): (&Amounts, Ms),
        claims: &mut Claims,
    ) {
        claims.is_too_much |= !exceeded(limits, (amounts, Some(limit))).is_empty();
        let kinds = [
            (&limits.group, "", "", Reason::QueueLimit),
            (&limits.per_user, "user", job.user, Reason::UserLimit),
            (&limits.per_account, "account", job.group, Reason::QueueLimit),
        ];
        for (limit, kind, of, reason) in kinds.into_iter().filter(|(limit, ..)| !limit.is_empty()) {
            let next = self.all.len() as u32;
            let place = *self.places.entry((whose.to_owned(), kind, of.to_owned())).or_insert(next);
            if place == next {
                self.all.push(Counter {
                    limit: Rc::new(limit.clone()),
                    reason,
                    cpus: 0,
                    nodes: 0,
                    jobs: 0,
                    resources: BTreeMap::new(),
                });
            }
            claims.counters.push(place);
        }
    }

    /// Why a job may not start now; `None` if it may.
    pub(super) fn reason(&self, claims: &Claims, amounts: &Amounts) -> Option<Reason> {
        if claims.is_too_much {
            return Some(Reason::QueueLimit);
        }
        let full = |&&place: &&u32| self.all.get(place as usize).is_some_and(|counter| counter.is_full(amounts));
        let place = claims.counters.iter().find(full)?;
        self.all.get(*place as usize).map(|counter| counter.reason)
    }

    /// A job starts.
    pub(super) fn start(&mut self, claims: &Claims, amounts: &Amounts) {
        self.change(claims, amounts, u64::saturating_add);
    }

    /// A job ends.
    pub(super) fn end(&mut self, claims: &Claims, amounts: &Amounts) {
        self.change(claims, amounts, u64::saturating_sub);
    }

    fn change(&mut self, claims: &Claims, amounts: &Amounts, change: fn(u64, u64) -> u64) {
        for &place in &claims.counters {
            let Some(limit) = self.all.get_mut(place as usize) else { continue };
            limit.cpus = change(limit.cpus, amounts.cpus);
            limit.nodes = change(limit.nodes, amounts.nodes);
            limit.jobs = change(limit.jobs, 1);
            for name in limit.limit.resources.keys() {
                let used = limit.resources.entry(name.clone()).or_default();
                *used = change(*used, amounts.of(name));
            }
        }
    }
}

impl Counter {
    fn is_full(&self, amounts: &Amounts) -> bool {
        let above = |most: Option<u64>, used: u64, more: u64| most.is_some_and(|most| used.saturating_add(more) > most);
        let mut others = self.limit.resources.iter();
        let used = |name: &String| self.resources.get(name).copied().unwrap_or(0);
        above(self.limit.cpus, self.cpus, amounts.cpus)
            || above(self.limit.nodes, self.nodes, amounts.nodes)
            || above(self.limit.jobs, self.jobs, 1)
            || others.any(|(name, &most)| above(Some(most), used(name), amounts.of(name)))
    }
}

/// The keys of the limits that one job exceeds alone, which asks for this and, if that is known, for so long.
pub(super) fn exceeded(limits: &JobLimits, (amounts, time): (&Amounts, Option<Ms>)) -> Vec<&'static str> {
    let above = |most: Option<u64>, amount: u64| most.is_some_and(|most| amount > most);
    let mut all = Vec::new();
    for (limit, keys) in limits.with_keys() {
        let mut named = limit.resources.iter();
        let has_more = named.any(|(name, &most)| amounts.of(name) > most);
        let found = [
            (keys.cpus, above(limit.cpus, amounts.cpus)),
            (keys.nodes, above(limit.nodes, amounts.nodes)),
            (keys.resources, has_more),
        ];
        all.extend(found.into_iter().filter(|(_, is_more)| *is_more).map(|(key, _)| key));
    }
    let is_longer = limits.max_wall.zip(time).is_some_and(|(most, time)| time > most);
    all.extend(is_longer.then_some(MAX_WALL));
    all
}
