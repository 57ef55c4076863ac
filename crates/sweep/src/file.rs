//! The sweep file (TOML): what varies, and over what.
//!
//! ```toml
//! name = "delay-D"
//! about = "How long should jobs wait for their data?"
//! workload = "../delay-locality.toml"     # or a list; `trace = "…"` for an ingested one; paths count from this file
//! cluster = "../clusters/delay.toml"      # or a list; left out: the trace's own machines, and default rules
//! seeds = 15                              # 1 to 15, or a list
//! baseline = "naive-fair"                 # the variant that the others are compared with; left out: the first
//! metric = "mean_completion"              # what figures and the ranking are about
//! second = "node_locality"                # the other axis of the Pareto front
//!
//! [design]                                # left out: all combinations
//! kind = "latin-hypercube"                # or "grid", "random"
//! samples = 64
//! seed = 1
//!
//! [world]                                 # the same for all variants: common random numbers
//! nodes = [50, 100]
//! "cluster.jobs.slowstart" = [0.05, 0.8]
//!
//! [variants.naive-fair]                   # a policy of the registry; `policy` names it where the variant is called otherwise
//!
//! [variants.delay]
//! D = [0, 2, 4, 8]                        # a value, a list, { from, to, steps, scale = "log" }, { mean, deviation }
//! ```

mod parse;
mod places;
mod variant;

use std::collections::BTreeMap;
use std::path::PathBuf;

use resched_policies::PolicySpec;
use serde::{Deserialize, Serialize};
use toml::{Spanned, Value as Toml};

use crate::metrics::Metric;
use crate::source::SourcePath;
use crate::tune_section::TuneSection;
use crate::values::Values;

/// A sweep, read and checked.
#[derive(Debug, Clone)]
pub struct SweepFile {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub about: String,
    /// What is replayed.
    pub(crate) sources: Vec<SourcePath>,
    /// Cluster files; `None` for the rules of an empty one.
    pub(crate) clusters: Vec<Option<PathBuf>>,
    /// The seeds, each once.
    pub(crate) seeds: Vec<u64>,
    /// The place of the variant that the others are compared with.
    pub(crate) baseline: usize,
    /// What figures and the ranking are about.
    pub(crate) metric: &'static Metric,
    /// The other axis of the Pareto front.
    pub(crate) second: &'static Metric,
    pub(crate) design: Design,
    /// What varies of the world, by key.
    pub(crate) world: Vec<Axis>,
    /// The policies.
    pub(crate) variants: Vec<Variant>,
    /// What `resched tune` looks for.
    pub(crate) tune: Option<TuneSection>,
    /// Where it was read, as it was named, and its text.
    pub(crate) copy: FileCopy,
}

/// A file and its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileCopy {
    /// Its path.
    pub path: PathBuf,
    /// What it held.
    pub text: String,
}

/// How the settings are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Design {
    pub(crate) kind: DesignKind,
    pub(crate) samples: Option<u32>,
    pub(crate) seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DesignKind {
    #[default]
    Grid,
    Random,
    LatinHypercube,
}

/// A key and what it takes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    pub(crate) key: String,
    pub(crate) values: Values,
    /// Whether only whole numbers make sense.
    pub(crate) integer: bool,
}

/// A policy with what varies of it.
#[derive(Debug, Clone)]
pub(crate) struct Variant {
    /// What it is called.
    pub(crate) name: String,
    /// The policy, with the parameters that `policy` fixes.
    pub(crate) policy: PolicySpec,
    /// Its parameters, by key; a speculator's as `speculator.key`.
    pub(crate) axes: Vec<Axis>,
}

impl Variant {
    /// Whether one of its parameters takes more than one value.
    pub(crate) fn varies(&self) -> bool {
        self.axes.iter().any(|axis| axis.values.varies())
    }

    /// The policy with these values set.
    ///
    /// # Errors
    /// That a value is out of its range.
    pub(crate) fn policy_with(&self, values: &[(String, String)]) -> Result<PolicySpec, String> {
        let (mut own, mut speculators) = (self.policy.set.clone(), BTreeMap::new());
        if let Some(speculator) = &self.policy.speculator {
            speculators.clone_from(&speculator.set);
        }
        for (key, value) in values {
            match key.split_once('.') {
                Some((_, key)) => speculators.insert(key.to_owned(), value.clone()),
                None => own.insert(key.clone(), value.clone()),
            };
        }
        let written = |name: &str, set: &BTreeMap<String, String>| {
            let pairs: Vec<String> = set.iter().map(|(key, value)| format!("{key}={value}")).collect();
            if pairs.is_empty() { name.to_owned() } else { format!("{name}:{}", pairs.join(",")) }
        };
        let speculator = self.policy.speculator.as_ref();
        let speculator = speculator.map(|spec| format!("+{}", written(spec.info.name, &speculators)));
        PolicySpec::parse(&format!("{}{}", written(self.policy.info.name, &own), speculator.unwrap_or_default()))
    }
}

/// One thing or several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(PathBuf),
    More(Vec<PathBuf>),
}

impl OneOrMore {
    fn into_vec(self) -> Vec<PathBuf> {
        match self {
            Self::One(path) => vec![path],
            Self::More(paths) => paths,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Seeds {
    Count(u64),
    List(Vec<u64>),
}

/// A table whose keys are checked one by one, with their places.
type Keys = BTreeMap<Spanned<String>, Spanned<Toml>>;

/// The file as it stands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: String,
    #[serde(default)]
    about: String,
    workload: Option<OneOrMore>,
    trace: Option<OneOrMore>,
    cluster: Option<OneOrMore>,
    seeds: Option<Spanned<Seeds>>,
    baseline: Option<Spanned<String>>,
    metric: Option<Spanned<String>>,
    second: Option<Spanned<String>>,
    #[serde(default)]
    design: Design,
    #[serde(default)]
    world: Keys,
    variants: BTreeMap<Spanned<String>, Keys>,
    tune: Option<Spanned<TuneSection>>,
}

impl SweepFile {
    /// What figures and the ranking are about.
    pub fn metric(&self) -> &'static Metric {
        self.metric
    }

    /// The same with so many seeds at least: the next numbers follow the largest.
    pub(crate) fn with_seeds(mut self, count: usize) -> Self {
        let next = self.seeds.last().map_or(1, |last| last.saturating_add(1));
        let missing = count.saturating_sub(self.seeds.len()) as u64;
        self.seeds.extend(next..next.saturating_add(missing));
        self
    }
}
