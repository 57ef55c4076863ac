//! The replays at one size.

use std::sync::OnceLock;

use resched_analysis::metrics::bound::together;
use resched_analysis::metrics::named::Measured;
use resched_analysis::metrics::validity::WAITING;
use resched_analysis::statistics::sign::Level;
use resched_analysis::{Gathered, Outline, Run, answer};
use resched_compare::log::beside_log;
use resched_policies::PolicyInfo;
use resched_replay::{ClusterConfig, Engine, ReadBy, ReadyPolicy, Setup, Source, Threads, World};
use resched_sim::hadoop::System;
use resched_tables::standing::Standing;
use resched_tables::validity::{Fact, Validity};
use resched_tables::words::counted;

use super::kept::{Kept, KeptReplay};
use super::{Probe, Sizing, Step, Vary, partition};
use crate::Error;
use crate::interval::MeanInterval;
use crate::results::bound;

/// Checks what the replays would not.
pub(super) fn check(asked: &Sizing) -> Result<(), Error> {
    let wrong = |problem: &str| Err(Error::Request(problem.to_owned()));
    if asked.from == 0 {
        return wrong("--from 0: expected a smallest size of at least 1; correct --from");
    }
    if let Some(to) = asked.to.filter(|to| asked.from > *to) {
        let from = asked.from;
        return wrong(&format!(
            "--from {from} --to {to}: expected a smallest size that is not above the largest; exchange them, or correct one"
        ));
    }
    if asked.seeds == 0 {
        return wrong("expected at least one seed; correct --seeds");
    }
    if asked.vary == Vary::Slots && (asked.source.engine() == Engine::Batch || asked.policy.info.is_batch()) {
        return wrong("a machine has no slots under the policies for production traces; vary nodes");
    }
    if asked.partition.is_some() && (asked.policy.info.name != "slurm" || asked.vary != Vary::Nodes) {
        return wrong(
            "only the nodes of a partition vary, under the policy `slurm`; correct --partition, --policy or --vary",
        );
    }
    Ok(())
}

/// A search: the question, the world at the size that the source has, and the replays that are done.
pub(super) struct Search<'a> {
    pub(super) asked: &'a Sizing,
    /// The source on its own machines.
    home: World,
    /// The size that the source has.
    pub(super) own: u32,
    /// The largest size to try.
    pub(super) to: u32,
    kept: &'a Kept,
    pub(super) threads: Threads,
    reported: &'a (dyn Fn(Step<'_>) + Sync),
    /// How many jobs fit at no size.
    never_fit: OnceLock<u64>,
    /// How many jobs never started at the first size that was tried.
    never_started: OnceLock<u64>,
}

impl<'a> Search<'a> {
    /// What the log says of the replay of what ran, on the machines that the source has.
    ///
    /// # Errors
    /// Errors of the trace.
    pub(super) fn judged(&self) -> Result<Option<Fact>, Error> {
        if self.asked.robust == Level::Off {
            return Ok(None);
        }
        let policies = std::slice::from_ref(&self.asked.policy);
        Ok(beside_log::<Outline>(&self.home, policies, &[], &self.asked.policy.label(), self.threads)?
            .map(|found| found.fact()))
    }

    /// # Errors
    /// Errors of the source or the cluster.
    pub(super) fn new(
        asked: &'a Sizing,
        kept: &'a Kept,
        threads: Threads,
        reported: &'a (dyn Fn(Step<'_>) + Sync),
    ) -> Result<Self, Error> {
        let home = World::open(&asked.source, asked.setup.clone())?;
        let cluster = home.cluster(&asked.policy)?;
        let own = match asked.vary {
            Vary::Nodes => match &asked.partition {
                Some(name) => partition::nodes_of(&asked.setup, name)?.into(),
                None => cluster.nodes,
            },
            Vary::Slots => cluster.map_slots.div_ceil(cluster.nodes.max(1)),
        };
        let own = u32::try_from(own).unwrap_or(u32::MAX).max(1);
        let to = asked.to.unwrap_or_else(|| own.saturating_mul(LARGEST).max(LEAST_LARGEST)).max(asked.from);
        let (never_fit, never_started) = (OnceLock::new(), OnceLock::new());
        Ok(Self { asked, home, own, to, kept, threads, reported, never_fit, never_started })
    }

    /// Replays the source at this size, once for each seed that is not kept.
    pub(super) fn probe(&self, size: u32) -> Result<Probe, Error> {
        let Self { asked, kept, reported, .. } = self;
        let first = asked.setup.seed;
        let seeds: Vec<u64> = (0..asked.seeds).map(|step| first.wrapping_add(step)).collect();
        let missing: Vec<u64> = seeds.iter().copied().filter(|&seed| kept.get(size, seed).is_none()).collect();
        if !missing.is_empty() {
            let (world, policy) = match self.world(size) {
                Ok(found) => found,
                Err(error) if self.is_about_the_size(size, &error) => return Ok(self.refused(size, error.to_string())),
                Err(error) => return Err(error.into()),
            };
            if let Some(problem) = self.lacks_room(&world)? {
                return Ok(self.refused(size, problem));
            }
            reported(Step::Size { size, jobs: world.jobs(&asked.policy).saturating_mul(missing.len() as u64) });
            self.threads.in_order(&missing, |&seed| self.replay((&world, &policy), size, seed))?;
        }
        let replays: Vec<KeptReplay> = seeds.iter().filter_map(|&seed| kept.get(size, seed)).collect();
        let never = replays.iter().map(|replay| replay.never_started).max().unwrap_or(0);
        if never > *self.never_started.get_or_init(|| never) {
            return Ok(self.refused(size, format!("no: {} of the log can never start", counted(never, "job"))));
        }
        let values: Vec<f64> = replays.iter().map(|replay| replay.value).collect();
        let mean = MeanInterval::of(&values);
        let holds = mean.is_some_and(|found| asked.bound.holds(found.mean));
        let mut validity = Validity::default();
        // That nothing waits is an answer here, as policies are not compared.
        let facts = replays.iter().flat_map(|replay| &replay.validity.facts).filter(|fact| fact.about != WAITING);
        facts.for_each(|fact| validity.add(fact.clone()));
        let bound = together(replays.iter().map(|replay| &replay.bound));
        let probe = Probe { size, values, mean, holds, problem: None, validity, bound };
        reported(Step::Probed(&probe));
        Ok(probe)
    }

    /// A size at which the source cannot be replayed as it is. To leave jobs out would compare sizes by different work.
    fn refused(&self, size: u32, problem: String) -> Probe {
        let probe = Probe { size, problem: Some(problem), ..Probe::default() };
        (self.reported)(Step::Probed(&probe));
        probe
    }

    /// Which jobs cannot run on the machines of this world, though they can on those of the largest size.
    fn lacks_room(&self, world: &World) -> Result<Option<String>, Error> {
        let policy = &self.asked.policy;
        let too_large = world.too_large(policy)?;
        if too_large.jobs == 0 {
            return Ok(None);
        }
        let never = match self.never_fit.get() {
            Some(&known) => known,
            None => {
                let at_home = self.home.too_large(policy)?.jobs;
                let never = if at_home == 0 { 0 } else { self.world(self.to)?.0.too_large(policy)?.jobs };
                *self.never_fit.get_or_init(|| never)
            }
        };
        let more = if (too_large.first.len() as u64) < too_large.jobs { ", …" } else { "" };
        let says = || {
            format!(
                "no: {} of the log cannot run ({}{more})",
                counted(too_large.jobs, "job"),
                too_large.first.join(", ")
            )
        };
        Ok((too_large.jobs > never).then(says))
    }

    /// Replays the source at this size with this seed, and keeps the result.
    fn replay(&self, (world, policy): (&World, &ReadyPolicy), size: u32, seed: u64) -> Result<(), Error> {
        let Self { asked, kept, reported, .. } = self;
        let (mut gathered, mut before) = (Gathered::default(), 0);
        let mut progress = |jobs: u64| {
            reported(Step::Jobs(jobs.saturating_sub(before)));
            before = jobs;
        };
        let info = world.with_seed(seed).replay_with(policy, ReadBy(&mut gathered), &mut progress)?;
        let run = Run::of_gathered(info, gathered);
        let value = asked.metric.of(&Measured::new(&run)).ok_or_else(|| {
            let (name, things) = (
                &asked.metric.name,
                if asked.vary == Vary::Nodes { asked.source.system().says("nodes") } else { "slots" },
            );
            Error::Request(format!("with {size} {things}, {name} is unknown; choose another metric"))
        })?;
        let never_started = run.jobs.iter().filter(|job| job.standing == Standing::NeverStarted).count() as u64;
        kept.add(size, seed, KeptReplay { value, validity: answer::of_run(&run), bound: bound(&run), never_started })?;
        reported(Step::Replayed { size, value });
        Ok(())
    }

    /// The world at this size, and the policy, which was checked in it.
    pub(super) fn world(&self, size: u32) -> Result<(World, ReadyPolicy), resched_replay::Error> {
        let Sizing { source, setup, policy, vary, .. } = self.asked;
        if *vary == Vary::Nodes && size == self.own {
            return Ok((self.home.with_seed(setup.seed), self.home.check(policy)?));
        }
        if let Some(name) = &self.asked.partition {
            let world = World::open(source, partition::resized(setup, name, size))?;
            let policy = world.check(policy)?;
            return Ok((world, policy));
        }
        let mut cluster = setup.cluster.clone();
        let source: Source = match vary {
            Vary::Nodes => source.clone().resized(&mut cluster, size)?,
            Vary::Slots => {
                with_slots(&mut cluster, policy.info, size);
                source.clone()
            }
        };
        let world = World::open(&source, Setup { cluster, ..setup.clone() })?;
        let policy = world.check(policy)?;
        Ok((world, policy))
    }

    /// True if the source cannot be replayed because of the size: a container may not fit on the smallest machines, or a job on the
    /// smallest cluster. What is also wrong at the largest size has another cause.
    fn is_about_the_size(&self, size: u32, error: &resched_replay::Error) -> bool {
        error.is_request() && size < self.to && self.world(self.to).is_ok()
    }
}

/// Without a largest size, this many times the size that the source has.
const LARGEST: u32 = 4;
/// But at least this.
const LEAST_LARGEST: u32 = 1_000;

/// Gives every machine `size` map slots, or the resources of as many containers.
fn with_slots(cluster: &mut ClusterConfig, policy: &PolicyInfo, size: u32) {
    if policy.system() == Some(System::Containers) {
        cluster.containers.set_room(size);
        return;
    }
    let [maps, reduces] = cluster.nodes.slots().map(u64::from);
    let reduces = (u64::from(size) * reduces).div_ceil(maps.max(1));
    cluster.nodes.map_slots = Some(size);
    cluster.nodes.reduce_slots = Some(u32::try_from(reduces).unwrap_or(u32::MAX));
    cluster.nodes.alike = true;
}
