//! What the data of a world leaves open, and the variants in which an answer is tried out.
//!
//! A replay needs more than a trace holds: how much longer a map takes away from its input, how often nodes call, how many slots
//! nobody gave. Each such thing is an [`Unknown`], declared once, with its range and where the range comes from. It is open in a world if neither
//! the trace nor the cluster file, the site or an option gives it; what `resched calibrate` fitted varies by its error.
//!
//! A policy or a format that brings a new unknown adds a line to [`UNKNOWNS`].

mod hadoop;
mod production;
mod yarn;

use resched_policies::{Engine, PolicySpec};
use resched_sim::ClusterConfig;
use resched_sim::batch::MissingLimit;
use resched_sim::hadoop::System;
use resched_tables::run::Unfinished;
use resched_tables::store::Manifest;

use crate::Error;
use crate::facts::SIGMAS;
use crate::world::{Hadoop, Setup, World};

/// Something that decides the times of jobs and that the data may leave open.
#[derive(Debug, Clone, Copy)]
pub struct Unknown {
    /// Its name, one word.
    pub name: &'static str,
    /// Its title, such as `cost of distance`.
    pub title: &'static str,
    /// Where its range comes from.
    pub from: &'static str,
    /// The variants of a world in which it is open; none if it is not.
    variants: fn(&Open<'_>) -> Changes,
}

/// What is different in each variant of an unknown, in words and as a change.
type Changes = Result<Vec<(String, Change)>, Error>;

/// All unknowns, in the order in which they are tried: those that have turned signs first.
pub const UNKNOWNS: &[Unknown] = &[
    hadoop::LOCALITY,
    hadoop::HEARTBEAT,
    hadoop::SLOTS,
    hadoop::STARTS,
    hadoop::PLACES,
    hadoop::SLOWSTART,
    hadoop::RUN_TIMES,
    yarn::CAPACITY,
    yarn::CONTAINERS,
    yarn::MASTERS,
    yarn::HEARTBEAT,
    production::SIZES,
    production::REQUESTS,
    production::UNFINISHED,
    production::LIMITS,
    DRAWS,
];

/// What is drawn with the seed.
const DRAWS: Unknown = Unknown {
    name: "draws",
    title: "draws of the replay",
    from: "other seeds",
    variants: |open| {
        let (usual, loads) = (open.setup().seed, open.world.load_depends_on_seed());
        let drawn = |step: u64| {
            let seed = usual.wrapping_add(step);
            (format!("with other draws (seed {seed})"), Change::Seed { seed, loads })
        };
        Ok((1..=open.draws).map(drawn).collect())
    },
};

/// The same world with another value for something that the data leaves open.
#[derive(Debug, Clone)]
pub struct Variant {
    /// The unknown.
    pub unknown: &'static Unknown,
    /// What is different, as the end of a sentence: `without a cost of distance`.
    pub says: String,
    change: Change,
}

impl Variant {
    /// True if the source is read again for it, so that it costs as much as opening the world.
    pub fn loads_again(&self) -> bool {
        matches!(self.change, Change::Setup(_)) || matches!(self.change, Change::Seed { loads: true, .. })
    }
}

/// What is different in a variant.
#[derive(Debug, Clone)]
enum Change {
    /// The rules of the cluster, which do not change what is loaded.
    Rules(Box<ClusterConfig>),
    /// What decides how the source is loaded.
    Setup(Box<Setup>),
    /// The seed of all draws, and whether the source depends on it.
    Seed { seed: u64, loads: bool },
    /// The places of input, drawn from this seed.
    Places(u64),
    /// Jobs without a walltime limit get one.
    Limits(MissingLimit),
}

impl Change {
    fn rules(config: ClusterConfig) -> Self {
        Self::Rules(Box::new(config))
    }
}

/// A world, as its unknowns look at it.
struct Open<'w> {
    world: &'w World,
    engine: Engine,
    /// The systems of the policies that are compared.
    systems: Vec<System>,
    /// How many other seeds are tried; none if the seed decides nothing.
    draws: u64,
}

impl Open<'_> {
    fn setup(&self) -> &Setup {
        &self.world.setup
    }

    fn config(&self) -> &ClusterConfig {
        &self.world.setup.cluster
    }

    fn manifest(&self) -> Option<&Manifest> {
        self.world.manifest()
    }

    fn hadoop(&self) -> Result<&Hadoop, Error> {
        self.world.hadoop("variant")
    }

    /// True if a policy is replayed under this system of Hadoop.
    fn is_under(&self, system: System) -> bool {
        self.engine == Engine::Hadoop && self.systems.contains(&system)
    }

    /// True if a key of the cluster file has its default and nobody gave that.
    fn is_open<T: PartialEq>(&self, key: &str, of: impl Fn(&ClusterConfig) -> T) -> bool {
        let given = |name: &String| name == key || name.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
        of(self.config()) == of(&ClusterConfig::default()) && !self.setup().given.iter().any(given)
    }

    /// The standard error of a key that was fitted.
    fn error_of(&self, key: &str) -> Option<f64> {
        self.config().fitted.get(key).copied().filter(|error| *error > 0.0)
    }

    /// The rules with a change.
    fn with(&self, change: impl FnOnce(&mut ClusterConfig)) -> Change {
        let mut config = self.config().clone();
        change(&mut config);
        Change::rules(config)
    }
}

/// The same world, set up otherwise.
fn setup_with(open: &Open<'_>, change: impl FnOnce(&mut Setup)) -> Change {
    let mut setup = open.setup().clone();
    change(&mut setup);
    Change::Setup(Box::new(setup))
}

impl World {
    /// Whether another seed may lead to another replay under this policy. If not, a replay with one seed is that with all.
    ///
    /// # Errors
    /// [`Error::Policy`] if the policy cannot be made.
    pub fn draws(&self, policy: &PolicySpec) -> Result<bool, Error> {
        Ok(match policy.info.engine() {
            Engine::Hadoop => true,
            Engine::Batch => {
                let slow_are_drawn = self.setup.cluster.cost.slow_nodes.share > 0.0;
                slow_are_drawn || self.load_depends_on_seed() || policy.build_batch()?.draws()
            }
        })
    }

    /// The variants in which a comparison of these policies is to be tried: every value of every unknown that is open here, in the order
    /// of [`UNKNOWNS`]. Variants of one unknown differ from the world in that alone. `draws`: how many other seeds there are, if the seed decides
    /// anything.
    ///
    /// # Errors
    /// As [`World::check`].
    pub fn variants(&self, policies: &[PolicySpec], draws: u64) -> Result<Vec<Variant>, Error> {
        let Some(first) = policies.first() else { return Ok(Vec::new()) };
        let systems = policies.iter().filter_map(|policy| policy.info.system()).collect();
        let drawn = policies.iter().map(|policy| self.draws(policy)).collect::<Result<Vec<_>, _>>()?.contains(&true);
        let draws = if drawn { draws } else { 0 };
        let open = Open { world: self, engine: first.info.engine(), systems, draws };
        let mut all = Vec::new();
        for unknown in UNKNOWNS {
            let variants = (unknown.variants)(&open)?;
            all.extend(variants.into_iter().map(|(says, change)| Variant { unknown, says, change }));
        }
        Ok(all)
    }

    /// The world of a variant, for policies of this engine.
    ///
    /// # Errors
    /// Errors of the source or the cluster; [`Error::Sim`] if the machines cannot have such rules.
    pub fn variant(&self, engine: Engine, variant: &Variant) -> Result<Self, Error> {
        match &variant.change {
            Change::Rules(config) => {
                config.check()?;
                self.under_rules((**config).clone())
            }
            Change::Setup(setup) => {
                setup.cluster.check()?;
                self.anew((**setup).clone())
            }
            Change::Seed { seed, .. } => Ok(self.with_seed(*seed)),
            Change::Places(seed) => {
                self.changed(engine, |workload, cluster| workload.move_input(&cluster.nodes_by_rack(), *seed), |_| {})
            }
            Change::Limits(limit) => self.changed(engine, |_, _| {}, |workload| workload.limit_unlimited(*limit)),
        }
    }
}

/// The other ways to treat unfinished work.
fn other_ways(unfinished: Unfinished) -> impl Iterator<Item = Unfinished> {
    [Unfinished::Drop, Unfinished::Cap, Unfinished::Estimate].into_iter().filter(move |way| *way != unfinished)
}
