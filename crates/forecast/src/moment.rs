//! The forecast at one moment: its state, its laws, and its drawn futures.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rand::Rng;
use resched_policies::PolicySpec;
use resched_sim::Ms;
use resched_sim::batch::{Again, Loaded, Machines};
use resched_tables::draws::{Purpose, stream};

use crate::Error;
use crate::arrivals::{Arrival, BLOCK, arrivals};
use crate::future::{Entry, Role, Started, simulate};
use crate::laws::{Choice, Open, Opens, Samples, WINDOW};
use crate::past::{Job, Past, Seen};

/// The longest that a future lasts, ms: 120 days.
pub(crate) const LONGEST_FUTURE: Ms = 120 * 86_400_000;

/// How many futures are drawn by default.
pub const DRAWS: u32 = 100;

/// How a forecast is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How many futures are drawn.
    pub draws: u32,
    /// The seed of all draws.
    pub seed: u64,
    /// How many jobs a law of run times is made of, at most.
    pub window: usize,
    /// True if the jobs of a campaign share their draw.
    pub campaigns: bool,
    /// True if jobs come after the moment.
    pub arrivals: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { draws: DRAWS, seed: 1, window: WINDOW, campaigns: true, arrivals: true }
    }
}

/// What forecasts are made of: the past, the machines, a policy, and how.
#[derive(Clone, Copy)]
pub struct Model<'m> {
    /// The jobs of the log.
    pub past: &'m Past,
    /// What they ask for, and the machines.
    pub loaded: &'m Loaded,
    /// The policy, with the settings of its site.
    pub policy: &'m PolicySpec,
    /// How forecasts are made.
    pub options: Options,
}

/// The state of the cluster at a moment, with the laws of the run times of its jobs.
pub struct Moment<'m> {
    model: Model<'m>,
    /// When it is, ms of the clock of the trace.
    pub at: Ms,
    machines: Machines,
    opens: Opens,
    /// The jobs that are asked, by their places among those that are open.
    asked: Vec<u32>,
    /// A limit that the asked jobs get in the place of theirs.
    what_if: Option<Ms>,
    /// How many jobs wait for something else than machines.
    pub held: u64,
}

/// The forecast of one job.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// Its place among the jobs of the past.
    pub place: u32,
    /// When it starts in each of the futures, ascending, ms of the clock of the trace.
    pub starts: Vec<Ms>,
    /// In how many of the futures it did not start at all within `LONGEST_FUTURE`.
    pub never: u32,
    /// The jobs whose end let it start, by their places in the past, each with the number of futures; the most frequent first.
    pub after: Vec<(u32, u32)>,
}

/// What one future showed.
pub(crate) struct Drawn {
    started: Started,
    /// The place in the past of each of its jobs.
    places: Vec<u32>,
}

impl<'m> Moment<'m> {
    /// The state at a moment, ms of the clock of the trace. `choose` picks those that are asked of the jobs that wait, by their places in
    /// the past.
    pub fn new(model: Model<'m>, at: Ms, choose: impl FnOnce(Vec<u32>) -> Vec<u32>) -> Self {
        let past = model.past;
        let mut samples = Samples::new(past, at, model.options.window);
        let (mut opens, mut held, mut waiting) = (Opens::default(), 0, Vec::new());
        for (job, place) in past.submitted(at).iter().zip(0_u32..) {
            match job.seen(at) {
                Seen::Runs { .. } => opens.add(past, place, &mut samples),
                Seen::Waits { held: false } => {
                    opens.add(past, place, &mut samples);
                    waiting.push(place);
                }
                Seen::Waits { held: true } => held += 1,
                Seen::Nothing | Seen::Ran { .. } | Seen::Left => {}
            }
        }
        opens.join(past, &mut samples);
        let chosen = choose(waiting);
        let is_chosen = |(place, open): (u32, &Open)| chosen.contains(&open.place).then_some(place);
        let asked = (0_u32..).zip(&opens.jobs).filter_map(is_chosen).collect();
        let machines = model.loaded.machines.as_of(at - model.loaded.clock.zero);
        Self { model, at, machines, opens, asked, what_if: None, held }
    }

    /// The same if the asked jobs had another limit, ms.
    #[must_use]
    pub fn with_limit(self, limit: Ms) -> Self {
        Self { what_if: Some(limit), ..self }
    }

    /// The same with a job that is submitted at the moment and asked, too: one like a job of the past, by its place there.
    #[must_use]
    pub fn and_submit(mut self, place: u32) -> Self {
        let mut samples = Samples::new(self.model.past, self.at, self.model.options.window);
        self.asked.push(self.opens.jobs.len() as u32);
        self.opens.add_new(self.model.past, place, &mut samples);
        self
    }

    /// How many jobs run.
    pub fn running(&self) -> u64 {
        self.opens.jobs.iter().filter(|open| open.start.is_some()).count() as u64
    }

    /// How many jobs wait for machines.
    pub fn waiting(&self) -> u64 {
        self.opens.jobs.len() as u64 - self.running()
    }

    /// How many of these have no law of run times, as the past has no two jobs like them.
    pub fn lawless(&self) -> u64 {
        self.opens.lawless
    }

    /// How many of these have no limit.
    pub fn without_limit(&self) -> u64 {
        self.opens.jobs.iter().filter(|open| open.limit.is_none()).count() as u64
    }

    /// The jobs that are asked, by their places in the past.
    pub fn asked(&self) -> Vec<u32> {
        self.asked.iter().filter_map(|place| Some(self.opens.jobs.get(*place as usize)?.place)).collect()
    }

    /// One future after the other. `horizon` is how far jobs come at first, and grows as far as it must.
    ///
    /// # Errors
    /// Errors of the policy.
    pub(crate) fn draw(&self, draw: u64, horizon: &mut Ms) -> Result<Drawn, Error> {
        let Options { seed, campaigns, .. } = self.model.options;
        let mut runs = self.opens.draw(Choice { campaigns, seed }, self.at, draw);
        if let Some(limit) = self.what_if {
            self.asked.iter().for_each(|place| {
                if let Some(run) = runs.get_mut(*place as usize) {
                    *run = (*run).min(limit);
                }
            });
        }
        let own_seed = stream(seed, Purpose::ForecastRun, &[self.at as u64, draw, 2]).next_u64();
        loop {
            let come = if self.model.options.arrivals { self.arrivals(draw, *horizon, &runs) } else { Vec::new() };
            let (entries, places) = self.entries(&runs, come);
            let now = self.at - self.model.loaded.clock.zero;
            let world = (self.model.loaded, &self.machines);
            let started = simulate(world, self.model.policy, now, own_seed, &entries)?;
            let is_within = |start: &Option<Ms>| start.is_some_and(|start| start <= now + *horizon);
            let is_over = !self.model.options.arrivals || *horizon >= LONGEST_FUTURE;
            if is_over || started.starts.iter().all(is_within) {
                return Ok(Drawn { started, places });
            }
            *horizon = (*horizon * 2).min(LONGEST_FUTURE);
        }
    }

    /// The future in which every job reaches its limit and nobody comes.
    ///
    /// # Errors
    /// Errors of the policy.
    pub(crate) fn at_limits(&self) -> Result<Vec<Option<Ms>>, Error> {
        let runs: Vec<Ms> = self.opens.jobs.iter().map(Open::at_limit).collect();
        let (entries, _) = self.entries(&runs, Vec::new());
        let now = self.at - self.model.loaded.clock.zero;
        let world = (self.model.loaded, &self.machines);
        let started = simulate(world, self.model.policy, now, self.model.options.seed, &entries)?;
        Ok(started.starts.into_iter().map(|start| start.map(|start| start + self.model.loaded.clock.zero)).collect())
    }

    /// The jobs to come, each with its place in the past. `runs` has the drawn run times of those that are open.
    fn arrivals(&self, draw: u64, horizon: Ms, runs: &[Ms]) -> Vec<(u32, Again)> {
        let Model { past, loaded, options, .. } = self.model;
        let come = arrivals(past, self.at, self.at + horizon, options.seed, draw);
        let as_again = |arrival: Arrival| {
            let job = past.jobs.get(arrival.place as usize)?;
            // What has not ended yet is open, and in this future it runs as long as was drawn.
            let drawn = || runs.get(self.opens.place_of(arrival.place)?).copied();
            let again = Again {
                job: job.like,
                submit: arrival.submit - loaded.clock.zero,
                eligible: None,
                requested_time: job.limit,
                run: arrival.run.or_else(drawn)?,
            };
            Some((arrival.place, again))
        };
        come.into_iter().filter_map(as_again).collect()
    }

    /// All jobs of a future, in the order of submission.
    fn entries(&self, runs: &[Ms], come: Vec<(u32, Again)>) -> (Vec<Entry>, Vec<u32>) {
        let Model { past, loaded, .. } = self.model;
        let zero = loaded.clock.zero;
        let mut all: Vec<(u32, Entry)> = Vec::with_capacity(runs.len() + come.len());
        for ((open, &run), place) in self.opens.jobs.iter().zip(runs).zip(0_u32..) {
            let Some(job) = past.jobs.get(open.place as usize) else { continue };
            let asked = self.asked.binary_search(&place).ok();
            let role = match (open.start, asked) {
                (Some(_), _) => Role::Runs,
                (None, Some(asked)) => Role::Asked(asked as u32),
                (None, None) => Role::Other,
            };
            let submit = open.start.unwrap_or(if open.is_new { self.at } else { job.submit });
            let eligible = (open.start.is_none() && self.at > submit).then_some(self.at - zero);
            let requested_time = self.what_if.filter(|_| asked.is_some()).or(job.limit);
            let again = Again { job: job.like, submit: submit - zero, eligible, requested_time, run };
            all.push((open.place, Entry { again, role }));
        }
        all.extend(come.into_iter().map(|(place, again)| (place, Entry { again, role: Role::Other })));
        let key = |entry: &(u32, Entry)| (entry.1.again.submit, entry.1.again.job);
        all.sort_by_key(key);
        all.into_iter().map(|(place, entry)| (entry, place)).unzip()
    }

    /// The forecasts of the asked jobs, from these futures.
    pub(crate) fn gather(&self, drawn: &[Drawn]) -> Vec<Forecast> {
        let zero = self.model.loaded.clock.zero;
        let of = |(number, place): (usize, u32)| {
            let starts = drawn.iter().map(|future| future.started.starts.get(number).copied().flatten());
            let latest = self.at.saturating_add(LONGEST_FUTURE);
            let never = starts.clone().filter(Option::is_none).count() as u32;
            let mut starts: Vec<Ms> = starts.map(|start| start.map_or(latest, |start| start + zero)).collect();
            starts.sort_unstable();
            let mut after = BTreeMap::new();
            for future in drawn {
                if let Some(ended) = future.started.after.get(number).copied().flatten()
                    && let Some(place) = future.places.get(ended as usize)
                {
                    *after.entry(*place).or_insert(0_u32) += 1;
                }
            }
            let mut after: Vec<(u32, u32)> = after.into_iter().collect();
            after.sort_by_key(|&(place, count)| (Reverse(count), place));
            Forecast { place, starts, never, after }
        };
        self.asked().into_iter().enumerate().map(of).collect()
    }

    /// How many of the jobs that run had not started by the moment in these futures, on average: this policy would not have started them.
    pub(crate) fn misplaced(drawn: &[Drawn]) -> f64 {
        drawn.iter().map(|future| future.started.misplaced as f64).sum::<f64>() / drawn.len().max(1) as f64
    }

    /// All futures of this moment, one after the other.
    ///
    /// # Errors
    /// Errors of the policy.
    pub(crate) fn draw_all(&self) -> Result<Vec<Drawn>, Error> {
        let mut horizon = FIRST_HORIZON;
        (0..u64::from(self.model.options.draws)).map(|draw| self.draw(draw, &mut horizon)).collect()
    }

    /// A job of the past.
    pub fn job(&self, place: u32) -> Option<&'m Job> {
        self.model.past.jobs.get(place as usize)
    }
}

/// How far jobs come at first, ms.
pub(crate) const FIRST_HORIZON: Ms = 2 * BLOCK;
