//! How long jobs run that run or wait: laws of run times, from jobs like them, given how long they have run.
//!
//! **Law.** The Kaplan–Meier estimate over the last [`WINDOW`] jobs of the same user and name that had started; else of the same user,
//! else of all, then as shares of the limit. It is coarser only if fewer than [`LEAST`] values exceed the time that the job has run. A job
//! that reached its limit counts as "at the limit", and its mass goes to the limit of the job that is drawn. Mass beyond the last value,
//! where only jobs are that still run, goes there too.
//!
//! **Campaigns.** The jobs that one user submits under one name within minutes of each other are alike: if each had a draw of its own, the
//! forecast would be too sure. So in each future, all jobs of a campaign take their run times from one earlier campaign, or, with chance
//! m/(m+2), from those m of their own that have ended.
//!
//! **Source.** Kaplan and Meier 1958; run times from history: Downey 1997, Smith, Taylor and Foster 1999.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::{Rng, RngExt};
use resched_sim::Ms;
use resched_tables::draws::{Draws, Purpose};

use crate::past::{Job, Past, Seen};

/// How many jobs a law is made of, at most.
pub(crate) const WINDOW: usize = 1_000;

/// How many values must exceed the time that a job has run.
pub(crate) const LEAST: usize = 2;

/// By how much a job runs longer than it has run, if nothing is known of how much longer, ms.
const A_LITTLE: Ms = 1_000;

/// How long a job ran.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Value {
    /// Ms, or the share of its limit; infinite for a job that reached its limit.
    amount: f64,
    /// The campaign of the job that had it.
    campaign: u32,
}

/// Jobs like another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Like {
    Kind(u32),
    User(u32),
    All,
}

/// Run times of jobs that are alike, as they are known at a moment.
#[derive(Debug)]
struct Sample {
    is_share: bool,
    /// Those of jobs that have ended, ascending.
    ended: Vec<Value>,
    /// For how long those have run that still run, ascending.
    running: Vec<f64>,
    /// Those of the jobs of each campaign that have ended.
    of_campaigns: BTreeMap<u32, Vec<f64>>,
}

/// The law of a run time, given that it exceeds what has passed of it.
#[derive(Debug)]
pub(crate) struct Law {
    sample: Arc<Sample>,
    /// The first of its values that may come.
    first: usize,
    /// The chance of each value that may come and those before it. What is missing to 1 is at the limit.
    sums: Vec<f64>,
}

/// The samples of a moment, made as they are asked for.
pub(crate) struct Samples<'p> {
    past: &'p Past,
    at: Ms,
    window: usize,
    made: BTreeMap<Like, Arc<Sample>>,
    fresh: BTreeMap<Like, Option<Arc<Law>>>,
}

impl<'p> Samples<'p> {
    pub(crate) fn new(past: &'p Past, at: Ms, window: usize) -> Self {
        Self { past, at, window, made: BTreeMap::new(), fresh: BTreeMap::new() }
    }

    /// The law of a job that has run for `elapsed` ms, or that waits. `None` if the past has no two such jobs.
    pub(crate) fn law(&mut self, job: &Job, elapsed: Option<Ms>) -> Option<Arc<Law>> {
        [Like::Kind(job.kind), Like::User(job.user), Like::All].into_iter().find_map(|like| {
            if elapsed.is_none() {
                if let Some(known) = self.fresh.get(&like) {
                    return known.clone();
                }
                let law = Law::new(&self.sample(like), None).map(Arc::new);
                self.fresh.insert(like, law.clone());
                return law;
            }
            let sample = self.sample(like);
            let passed = match (sample.is_share, elapsed, job.limit) {
                (true, Some(elapsed), Some(limit)) => Some(elapsed as f64 / limit as f64),
                (true, Some(_), None) => return None,
                (_, elapsed, _) => elapsed.map(|elapsed| elapsed as f64),
            };
            Law::new(&sample, passed).map(Arc::new)
        })
    }

    fn sample(&mut self, like: Like) -> Arc<Sample> {
        let Self { past, at, window, made, .. } = self;
        Arc::clone(made.entry(like).or_insert_with(|| Arc::new(Sample::new(past, *at, like, *window))))
    }
}

impl Sample {
    fn new(past: &Past, at: Ms, like: Like, window: usize) -> Self {
        let (list, is_share) = match like {
            Like::Kind(kind) => (past.of_kind.get(kind as usize), false),
            Like::User(user) => (past.of_user.get(user as usize), true),
            Like::All => (Some(&past.all), true),
        };
        let mut made = Self { is_share, ended: Vec::new(), running: Vec::new(), of_campaigns: BTreeMap::new() };
        for &place in past.last_started(list.map_or(&[], Vec::as_slice), at, window) {
            let Some(job) = past.jobs.get(place as usize) else { continue };
            let unit = match (is_share, job.limit) {
                (true, Some(limit)) => limit as f64,
                (true, None) => continue,
                (false, _) => 1.0,
            };
            match job.seen(at) {
                Seen::Ran { run } => {
                    let at_limit = job.limit.is_some_and(|limit| run >= limit);
                    let amount = if at_limit { f64::INFINITY } else { run as f64 / unit };
                    made.ended.push(Value { amount, campaign: job.campaign });
                    made.of_campaigns.entry(job.campaign).or_default().push(amount);
                }
                Seen::Runs { elapsed, .. } => made.running.push(elapsed as f64 / unit),
                Seen::Nothing | Seen::Waits { .. } | Seen::Left => {}
            }
        }
        // Equal values keep the order of their starts.
        made.ended.sort_by(|one, other| one.amount.total_cmp(&other.amount));
        made.running.sort_by(f64::total_cmp);
        made
    }
}

impl Law {
    /// The law of what exceeds `passed`; `None` if too few values do.
    fn new(sample: &Arc<Sample>, passed: Option<f64>) -> Option<Self> {
        let exceeds = |amount: f64| passed.is_none_or(|passed| amount > passed);
        let first = sample.ended.partition_point(|value| !exceeds(value.amount));
        let values = sample.ended.get(first..).unwrap_or_default();
        if values.len() < LEAST {
            return None;
        }
        let still = sample.running.partition_point(|elapsed| !exceeds(*elapsed));
        let mut running = sample.running.get(still..).unwrap_or_default().iter().peekable();
        let mut at_risk = (values.len() + running.len()) as f64;
        let (mut survival, mut sum, mut sums) = (1.0, 0.0, Vec::with_capacity(values.len()));
        for value in values {
            // Of equal times, those that ended come before those that still run.
            while running.next_if(|elapsed| **elapsed < value.amount).is_some() {
                at_risk -= 1.0;
            }
            let mass: f64 = survival / at_risk;
            survival -= mass;
            at_risk -= 1.0;
            sum += mass;
            sums.push(sum);
        }
        Some(Self { sample: Arc::clone(sample), first, sums })
    }

    /// The value at a level from 0 to 1; `None`: beyond the last, where only jobs are that still run.
    fn at(&self, level: f64) -> Option<&Value> {
        self.sample.ended.get(self.first + self.sums.partition_point(|sum| *sum <= level))
    }

    /// A run time of a job with this limit that is so long in the law, ms; `None` if it is a share and the job has no limit.
    fn in_ms(&self, amount: f64, limit: Option<Ms>) -> Option<f64> {
        if self.sample.is_share { limit.map(|limit| amount * limit as f64) } else { Some(amount) }
    }
}

/// A job that runs or waits at a moment.
#[derive(Debug, Clone)]
pub(crate) struct Open {
    /// Its place in the past.
    pub(crate) place: u32,
    /// When it started; `None`: it waits.
    pub(crate) start: Option<Ms>,
    /// For how long it has run, ms; `None`: it waits.
    pub(crate) elapsed: Option<Ms>,
    pub(crate) limit: Option<Ms>,
    /// True if it is a job like this one that is submitted at the moment.
    pub(crate) is_new: bool,
    campaign: u32,
    law: Option<Arc<Law>>,
}

/// The jobs that run or wait at a moment, with the laws of their run times.
#[derive(Debug, Default)]
pub(crate) struct Opens {
    pub(crate) jobs: Vec<Open>,
    campaigns: BTreeMap<u32, Campaign>,
    /// How many of them have no law, as the past has no job like them.
    pub(crate) lawless: u64,
}

/// A campaign of which jobs run or wait.
#[derive(Debug)]
struct Campaign {
    /// Its own jobs that have ended: how long they ran, ms, or infinite at the limit.
    ended: Vec<f64>,
    /// The law of its jobs, given that it exceeds the longest time that any of them has run.
    law: Option<Arc<Law>>,
}

/// How run times are drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    /// True if the jobs of a campaign share their draw.
    pub(crate) campaigns: bool,
    pub(crate) seed: u64,
}

impl Opens {
    /// Adds a job that runs or waits.
    pub(crate) fn add(&mut self, past: &Past, place: u32, samples: &mut Samples<'_>) {
        let Some(job) = past.jobs.get(place as usize) else { return };
        let (start, elapsed) = match job.seen(samples.at) {
            Seen::Runs { start, elapsed } => (Some(start), Some(elapsed)),
            _ => (None, None),
        };
        let law = samples.law(job, elapsed);
        self.lawless += u64::from(law.is_none());
        self.jobs.push(Open { place, start, elapsed, limit: job.limit, is_new: false, campaign: job.campaign, law });
    }

    /// Adds a job like one of the past that is submitted at the moment. It belongs to no campaign.
    pub(crate) fn add_new(&mut self, past: &Past, place: u32, samples: &mut Samples<'_>) {
        let Some(job) = past.jobs.get(place as usize) else { return };
        let (limit, law) = (job.limit, samples.law(job, None));
        self.jobs.push(Open { place, start: None, elapsed: None, limit, is_new: true, campaign: u32::MAX, law });
    }

    /// Where a job of the past is among its jobs, which are in the order of the past.
    pub(crate) fn place_of(&self, place: u32) -> Option<usize> {
        let known = self.jobs.iter().take_while(|open| !open.is_new).count();
        self.jobs.get(..known)?.binary_search_by_key(&place, |open| open.place).ok()
    }

    /// Finds what the campaigns of its jobs have in common, once all are there.
    pub(crate) fn join(&mut self, past: &Past, samples: &mut Samples<'_>) {
        let mut longest: BTreeMap<u32, (u32, Option<Ms>)> = BTreeMap::new();
        for open in &self.jobs {
            let of_campaign = longest.entry(open.campaign).or_insert((open.place, open.elapsed));
            if open.elapsed > of_campaign.1 {
                *of_campaign = (open.place, open.elapsed);
            }
        }
        for (campaign, (place, elapsed)) in longest {
            let Some(job) = past.jobs.get(place as usize) else { continue };
            let members = past.of_campaign.get(campaign as usize).into_iter().flatten();
            let ended = members.filter_map(|&place| {
                let job = past.jobs.get(place as usize)?;
                let Seen::Ran { run } = job.seen(samples.at) else { return None };
                Some(if job.limit.is_some_and(|limit| run >= limit) { f64::INFINITY } else { run as f64 })
            });
            let ended = ended.collect();
            self.campaigns.insert(campaign, Campaign { ended, law: samples.law(job, elapsed) });
        }
    }

    /// How long each of its jobs runs in all in a drawn future, ms.
    pub(crate) fn draw(&self, choice: Choice, moment: Ms, draw: u64) -> Vec<Ms> {
        let draws = Draws::new(choice.seed, Purpose::ForecastRun).of(&[moment as u64, draw]);
        let mut sources: BTreeMap<u32, Source<'_>> = BTreeMap::new();
        for (&number, campaign) in self.campaigns.iter().filter(|_| choice.campaigns) {
            sources.insert(number, campaign.source(&mut draws.of(&[0, number.into()]).generator()));
        }
        self.jobs
            .iter()
            .map(|open| {
                let mut drawn = draws.of(&[1, open.place.into()]).generator();
                let shared = sources.get(&open.campaign).and_then(|source| source.run(open, &mut drawn));
                shared.unwrap_or_else(|| open.alone(&mut drawn))
            })
            .collect()
    }
}

/// Where the jobs of a campaign take their run times from in one future.
enum Source<'c> {
    /// Those of their own that have ended.
    Own(&'c [f64]),
    /// One earlier campaign.
    Other(&'c Law, u32),
    /// They all reach their limits, or nothing is known.
    Limit,
    Nothing,
}

impl Campaign {
    fn source(&self, drawn: &mut impl Rng) -> Source<'_> {
        let ended = self.ended.len() as f64;
        if drawn.random::<f64>() < ended / (ended + 2.0) {
            return Source::Own(&self.ended);
        }
        match &self.law {
            None => Source::Nothing,
            Some(law) => law.at(drawn.random()).map_or(Source::Limit, |value| Source::Other(law, value.campaign)),
        }
    }
}

impl Source<'_> {
    /// How long a job runs, if the source has a time that exceeds what has passed.
    fn run(&self, open: &Open, drawn: &mut impl Rng) -> Option<Ms> {
        let mut may: Vec<f64> = match self {
            Self::Nothing => return None,
            Self::Limit => return Some(open.at_limit()),
            Self::Own(ended) => ended.to_vec(),
            Self::Other(law, campaign) => {
                let all = law.sample.of_campaigns.get(campaign).into_iter().flatten();
                all.filter_map(|amount| law.in_ms(*amount, open.limit)).collect()
            }
        };
        let passed = open.elapsed.map_or(-1.0, |elapsed| elapsed as f64);
        may.retain(|amount| *amount > passed);
        let amount = *may.get(drawn.random_range(0..may.len().max(1)))?;
        Some(open.capped(amount))
    }
}

impl Open {
    /// How long it runs by its law alone.
    fn alone(&self, drawn: &mut impl Rng) -> Ms {
        let level = drawn.random();
        let amount = self.law.as_ref().and_then(|law| law.in_ms(law.at(level)?.amount, self.limit));
        amount.map_or_else(|| self.at_limit(), |amount| self.capped(amount))
    }

    /// A run time that exceeds what has passed, and ends at the limit.
    fn capped(&self, amount: f64) -> Ms {
        let most = self.at_limit();
        if amount.is_finite() && (self.limit.is_none() || amount < most as f64) {
            self.longer(amount.round() as Ms)
        } else {
            most
        }
    }

    /// How long it runs if it reaches its limit. Without a limit, it runs as long again as it has run.
    pub(crate) fn at_limit(&self) -> Ms {
        let elapsed = self.elapsed.unwrap_or(0);
        self.longer(self.limit.unwrap_or_else(|| elapsed.saturating_mul(2)))
    }

    fn longer(&self, run: Ms) -> Ms {
        run.max(self.elapsed.map_or(0, |elapsed| elapsed.saturating_add(A_LITTLE)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::past::tests::past;

    /// The chance of each value of a law.
    fn masses(law: &Law) -> Vec<(f64, f64)> {
        let values = law.sample.ended[law.first..].iter().map(|value| value.amount);
        let before = std::iter::once(0.0).chain(law.sums.iter().copied());
        values.zip(law.sums.iter().zip(before)).map(|(value, (sum, before))| (value, sum - before)).collect()
    }

    fn are_near(found: &[(f64, f64)], expected: &[(f64, f64)]) {
        let near = |(one, other): (&(f64, f64), &(f64, f64))| one.0 == other.0 && (one.1 - other.1).abs() < 1e-9;
        assert!(found.len() == expected.len() && found.iter().zip(expected).all(near), "{found:?} {expected:?}");
    }

    /// Of one kind: ended after 10, 20, 30 and at its limit of 100; one has run for 15.
    #[test]
    fn a_law_is_the_kaplan_meier_estimate_given_what_has_passed() {
        let past = past(&[
            ("ann", "a", 0, 0, Some(10)),
            ("ann", "a", 100, 100, Some(20)),
            ("ann", "a", 200, 200, Some(30)),
            ("ann", "a", 300, 300, Some(100)),
            ("ann", "a", 985, 985, None),
        ]);
        let mut samples = Samples::new(&past, 1_000, WINDOW);
        let law = samples.law(&past.jobs[0], None).unwrap();
        // At 20, two of the five that began are gone, one of them unseen: 4/5 · 1/3 each.
        let third = 0.8 / 3.0;
        are_near(&masses(&law), &[(10.0, 0.2), (20.0, third), (30.0, third), (f64::INFINITY, third)]);
        let law = samples.law(&past.jobs[0], Some(17)).unwrap();
        are_near(&masses(&law), &[(20.0, 1.0 / 3.0), (30.0, 1.0 / 3.0), (f64::INFINITY, 1.0 / 3.0)]);
        // Beyond 30, only one of the kind is left: the law of all is as good, in shares of the limit.
        assert!(samples.law(&past.jobs[0], Some(31)).is_none(), "no two jobs ran longer");
    }

    #[test]
    fn a_new_name_takes_the_law_of_its_user_and_a_new_user_that_of_all() {
        let past = past(&[
            ("ann", "a", 0, 0, Some(10)),
            ("ann", "b", 100, 100, Some(20)),
            ("ben", "c", 200, 200, Some(30)),
            ("ann", "d", 900, 900, None),
            ("zoe", "e", 900, 900, None),
        ]);
        let mut samples = Samples::new(&past, 1_000, WINDOW);
        let of = |law: Arc<Law>| masses(&law).into_iter().map(|mass| mass.0).collect::<Vec<_>>();
        assert_eq!(of(samples.law(&past.jobs[3], None).unwrap()), [0.1, 0.2]);
        assert_eq!(of(samples.law(&past.jobs[4], None).unwrap()), [0.1, 0.2, 0.3]);
    }

    #[test]
    fn jobs_of_a_campaign_share_an_earlier_one() {
        // Two campaigns of ann, an hour apart: one short, one long. A third waits.
        let hour = 3_600_000;
        let all: Vec<_> = (0..2).flat_map(|part| (0..4).map(move |job| (part, job))).collect();
        let mut rows: Vec<(&str, &str, Ms, Ms, Option<Ms>)> = Vec::new();
        for (part, job) in all {
            let at = part * hour + job * 1_000;
            rows.push(("ann", "a", at, at, Some([10, 60][part as usize] + job)));
        }
        let now = 3 * hour;
        (0..3).for_each(|job| rows.push(("ann", "a", now - 3 + job, now + hour, Some(5))));
        let past = past(&rows);
        let mut samples = Samples::new(&past, now, WINDOW);
        let mut opens = Opens::default();
        (8..11).for_each(|place| opens.add(&past, place, &mut samples));
        opens.join(&past, &mut samples);
        let draw = |campaigns, draw| opens.draw(Choice { campaigns, seed: 1 }, now, draw);
        let is_mixed = |runs: &Vec<Ms>| runs.iter().any(|run| *run < 50) && runs.iter().any(|run| *run > 50);
        assert_eq!((0..200).map(|number| draw(true, number)).filter(is_mixed).count(), 0);
        let mixed = (0..200).map(|number| draw(false, number)).filter(is_mixed).count();
        assert!((120..180).contains(&mixed), "three of four triples are mixed: {mixed}");
        let short = (0..400).map(|number| draw(true, number)).filter(|runs| runs[0] < 50).count();
        assert!((150..250).contains(&short), "both are as likely: {short}");
    }
}
