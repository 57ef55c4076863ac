//! Tests whether a comparison of policies keeps its sign under what the data leaves open.
//!
//! ```text
//! World, policies, their runs ──▶ Plan ──▶ a world for each variant ──▶ replay every policy ──▶ Variants (variants.json)
//!                                  │       (resched_replay::UNKNOWNS)                             read by resched_analysis::statistics::sign
//!                                  └─ quick: consecutive jobs that compare as all jobs do
//! ```
//!
//! The full test replays all jobs in every variant. The quick one does so where the trace is small; otherwise it replays a part of the jobs,
//! so that it takes a share of the time of the replay itself. Work is counted in tasks, never in seconds, so that the same comparison is tested in
//! the same way on every machine.

mod quantities;
mod sample;

use resched_analysis::Compared;
use resched_analysis::runs::beside::VariedRun;
use resched_analysis::statistics::sign::{DRAWS, Level, NotTried, Quantities, Sample, Variants, Varied};
use resched_replay::{Engine, PolicySpec, Threads, Timed, Times, Variant, World};

use crate::Error;

/// A comparison that is to be tested.
pub struct Asked<'a, R> {
    /// The world in which it was replayed.
    pub world: &'a World,
    /// Its policies. All are for one engine.
    pub policies: &'a [PolicySpec],
    /// Their runs, in the same order, in which only the jobs count that count in all.
    pub runs: &'a [R],
    /// How thoroughly to test it.
    pub level: Level,
    /// With how many seeds, its own among them. By default, five if the test is short, and else three.
    pub seeds: Option<u64>,
}

/// The seeds of a short test beside that of the comparison. So many show how far draws move a difference.
const OTHER_DRAWS: u64 = 4;
/// The same of a longer test.
const FEW_DRAWS: u64 = 2;

impl<R> Clone for Asked<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Asked<'_, R> {}

/// A test that is about to start.
pub struct Plan<'a, R> {
    asked: Asked<'a, R>,
    engine: Engine,
    sample: Option<Sample>,
    variants: Vec<Variant>,
    not_tried: Vec<NotTried>,
}

/// The quick test of a small trace of Hadoop replays at most so many tasks under each policy, which takes about a tenth of a second.
const FREE: u64 = 12_000;
/// The same of a production trace, whose replay has no heartbeats.
const FREE_BATCH: u64 = 60_000;
/// Of a larger trace, it replays at most one in so many of the tasks that the comparison itself replays.
const SHARE: u64 = 4;

impl<'a, R: Compared + Sync> Plan<'a, R> {
    /// Finds the variants of the world, and what of its jobs to try them on.
    ///
    /// # Errors
    /// [`Error::Replay`] if the world cannot be loaded.
    pub fn of(asked: Asked<'a, R>) -> Result<Self, Error> {
        let engine = asked.policies.first().map_or(Engine::Hadoop, |policy| policy.info.engine());
        let mut plan = Self { asked, engine, sample: None, variants: Vec::new(), not_tried: Vec::new() };
        let Some(first) = asked.policies.first().filter(|_| asked.policies.len() > 1 && asked.level != Level::Off)
        else {
            return Ok(plan);
        };
        let draws = asked.seeds.map_or(OTHER_DRAWS, |seeds| seeds.saturating_sub(1));
        plan.variants = asked.world.variants(asked.policies, draws)?;
        if asked.level == Level::Quick {
            plan.make_quick(&asked.world.tasks_of_jobs(first)?);
        }
        Ok(plan)
    }

    /// How many replays it makes.
    pub fn replays(&self) -> u64 {
        let worlds = self.variants.len() + usize::from(self.sample.is_some());
        (worlds * self.asked.policies.len()) as u64
    }

    /// Leaves out what would take too long.
    fn make_quick(&mut self, tasks: &[u64]) {
        let all: u64 = tasks.iter().sum();
        let free = if self.engine == Engine::Batch { FREE_BATCH } else { FREE };
        let most = free.max(all / SHARE);
        if all.saturating_mul(self.variants.len() as u64) <= most {
            return;
        }
        if self.asked.seeds.is_none() {
            self.draw_less();
        }
        if all > free {
            self.leave_out("it needs to read the trace again", Variant::loads_again);
        }
        let worlds = self.variants.len() as u64 + 1;
        let window = sample::find(self.asked.runs, tasks, most / worlds);
        let cost: u64 = tasks.get(window.clone()).unwrap_or_default().iter().sum();
        let affordable = (most / cost.max(1)).saturating_sub(u64::from(window.len() < tasks.len())).max(1);
        self.keep_first(usize::try_from(affordable).unwrap_or(usize::MAX));
        if window.len() < tasks.len() {
            self.sample = Some(Sample {
                jobs: window.len() as u64,
                of_jobs: tasks.len() as u64,
                first: window.start as u64,
                tasks: cost,
                of_tasks: all,
            });
        }
    }

    /// Leaves out draws that only a short test makes.
    fn draw_less(&mut self) {
        let mut draws = 0;
        self.variants.retain(|variant| {
            draws += u64::from(variant.unknown.name == DRAWS);
            variant.unknown.name != DRAWS || draws <= FEW_DRAWS
        });
    }

    /// Keeps so many variants: the first of each unknown, then the second of each, and so on. Seeds that were asked for stay.
    fn keep_first(&mut self, most: usize) {
        let mut order: Vec<(usize, usize)> = Vec::new();
        for (place, variant) in self.variants.iter().enumerate() {
            let before =
                self.variants.iter().take(place).filter(|other| other.unknown.name == variant.unknown.name).count();
            order.push((before, place));
        }
        order.sort_unstable();
        let is_asked = |place: usize| {
            self.asked.seeds.is_some() && self.variants.get(place).is_some_and(|variant| variant.unknown.name == DRAWS)
        };
        let (asked, others): (Vec<usize>, Vec<usize>) =
            order.into_iter().map(|(_, place)| place).partition(|place| is_asked(*place));
        let kept: Vec<usize> = asked.into_iter().chain(others.into_iter().take(most)).collect();
        let mut place = 0;
        self.leave_out("it is beyond the budget of the quick test", |_| {
            place += 1;
            !kept.contains(&(place - 1))
        });
    }

    fn leave_out(&mut self, why: &str, mut is_left_out: impl FnMut(&Variant) -> bool) {
        let (left_out, kept) = std::mem::take(&mut self.variants).into_iter().partition(|variant| is_left_out(variant));
        self.variants = kept;
        self.not_tried.extend(left_out.iter().map(|variant| not_tried(variant, why)));
    }

    /// Replays every policy in every variant. `replayed` is called after each replay. `runs` are the labels and hashes of the runs, in the
    /// order of the policies.
    ///
    /// # Errors
    /// [`Error::Replay`] if the sample cannot be replayed. A variant that cannot is listed as not tried.
    pub fn run(self, runs: Vec<VariedRun>, threads: Threads, replayed: &(dyn Fn() + Sync)) -> Result<Variants, Error> {
        let mut found = Variants::new(self.asked.level, runs);
        found.whole = self.asked.runs.iter().map(quantities::of_run).collect();
        found.not_tried.clone_from(&self.not_tried);
        let part;
        let world = match self.sample {
            Some(Sample { first, jobs, .. }) => {
                let first = usize::try_from(first).unwrap_or(usize::MAX);
                let jobs = usize::try_from(jobs).unwrap_or(usize::MAX);
                part = self.asked.world.part(self.engine, first..first.saturating_add(jobs))?;
                &part
            }
            None => self.asked.world,
        };
        found.sample = self.sample;
        // Without a sample, the runs themselves are what variants are compared with.
        found.base = match self.sample {
            Some(_) => {
                let timed = threads.in_order(self.asked.policies, |policy| replay(world, policy, replayed))?;
                quantities::of_times(&timed)
            }
            None => found.whole.clone(),
        };
        // Each policy in each variant is a piece of work of its own, so that few variants keep all threads busy, too.
        let policies = self.asked.policies;
        let pieces: Vec<(&Variant, &PolicySpec)> =
            self.variants.iter().flat_map(|variant| policies.iter().map(move |policy| (variant, policy))).collect();
        let mut tried = threads
            .in_order(&pieces, |(variant, policy)| {
                let world = world.variant(self.engine, variant).map_err(Error::from);
                Ok::<_, Error>(world.and_then(|world| replay(&world, policy, replayed)))
            })?
            .into_iter();
        for variant in &self.variants {
            let of_variant: Vec<Result<Timed, Error>> = tried.by_ref().take(policies.len()).collect();
            match of_variant
                .into_iter()
                .collect::<Result<Vec<Timed>, Error>>()
                .map(|timed| quantities::of_times(&timed))
            {
                Ok(values) if values == found.base => found.without_effect.push(varied(variant, values)),
                Ok(values) => found.variants.push(varied(variant, values)),
                Err(error) => found.not_tried.push(not_tried(variant, &error.to_string())),
            }
        }
        Ok(found)
    }
}

/// The times of the jobs under a policy.
fn replay(world: &World, policy: &PolicySpec, replayed: &(dyn Fn() + Sync)) -> Result<Timed, Error> {
    let timed = world.replay(policy, Times)?;
    replayed();
    Ok(timed)
}

fn varied(variant: &Variant, values: Vec<Quantities>) -> Varied {
    let unknown = variant.unknown;
    Varied {
        unknown: unknown.name.to_owned(),
        title: unknown.title.to_owned(),
        says: variant.says.clone(),
        from: unknown.from.to_owned(),
        values,
    }
}

fn not_tried(variant: &Variant, why: &str) -> NotTried {
    NotTried { unknown: variant.unknown.name.to_owned(), says: variant.says.clone(), why: why.to_owned() }
}
