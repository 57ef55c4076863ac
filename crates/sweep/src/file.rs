//! The sweep file (TOML): what varies, and over what.
//!
//! ```toml
//! name = "delay-D"
//! about = "How long should jobs wait for their data?"
//! workload = "../delay-locality.toml"     # or a list; `trace = "…"` for an ingested one; paths count from this file
//! cluster = "../clusters/delay.toml"      # or a list; left out: the trace's own machines, and default rules
//! site = "/etc/hadoop/conf"               # the configuration of a site; left out: the defaults of policies
//! seeds = 15                              # 1 to 15, or a list
//! baseline = "naive-fair"                 # the variant that the others are compared with; left out: the first
//! metric = "mean_completion"              # the metric of the figures and of the ranking
//! second = "node_locality"                # the other axis of the Pareto front
//! metrics = ["p95(waiting) where queue = 'adhoc'"]   # further ones, for the tables
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
//! [variants.naive-fair]                   # a policy of the registry; if the variant has another name, `policy` names it
//!
//! [variants.delay]
//! D = [0, 2, 4, 8]                        # a value, a list, { from, to, steps, scale = "log" }, { mean, deviation }
//! ```

mod parse;
mod places;
mod variant;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use resched_analysis::metrics::named::{Metric, known};
use resched_analysis::statistics::practical::Matters;
use resched_analysis::statistics::sign::Level;
use resched_policies::PolicySpec;
use resched_replay::{Engine, Unfinished, Window};
use resched_tables::reference::{Shape, Value};
use resched_tables::{choices, keys};
use serde::{Deserialize, Serialize};
use toml::{Spanned, Value as Toml};

use crate::source::SourcePath;
use crate::tune_section::TuneSection;
use crate::values::{Spread, Values};

/// The most seeds of a sweep.
pub const MOST_SEEDS: u64 = 100_000;

/// A sweep, read and checked.
#[derive(Debug, Clone)]
pub struct SweepFile {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub about: String,
    /// The sources to replay.
    pub(crate) sources: Vec<SourcePath>,
    /// The engine of all sources.
    pub(crate) engine: Engine,
    /// Cluster files; `None` for the rules of an empty one.
    pub(crate) clusters: Vec<Option<PathBuf>>,
    /// The folder with the configuration of the site.
    pub(crate) site: Option<PathBuf>,
    /// The seeds, without repeats.
    pub(crate) seeds: Vec<u64>,
    /// The index of the variant that the others are compared with.
    pub(crate) baseline: usize,
    /// What figures and the ranking are about.
    pub(crate) metric: Metric,
    /// The other axis of the Pareto front.
    pub(crate) second: Metric,
    /// The metrics that cells keep beside those that have a name.
    pub(crate) own: Vec<Metric>,
    /// The bound beyond which a difference matters.
    pub(crate) matters: Matters,
    /// How traces are taken.
    pub(crate) treatment: Treatment,
    /// How thoroughly the sign is tested.
    pub(crate) robust: Level,
    pub(crate) design: Design,
    /// The values of the world that vary, by key.
    pub(crate) world: Vec<Axis>,
    /// The policies.
    pub(crate) variants: Vec<Variant>,
    /// The objective and the bounds of `resched tune`.
    pub(crate) tune: Option<TuneSection>,
    /// The most cells that it may have.
    pub(crate) most_cells: u64,
    /// The path that it was read from, as the user wrote it, and its text.
    pub(crate) copy: FileCopy,
}

/// A file and its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileCopy {
    /// Its path.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// How the traces of a sweep are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct Treatment {
    /// True if defaults may be used for missing slot counts and machine sizes.
    pub(crate) assume: bool,
    /// How to treat work that is unfinished when a trace ends.
    pub(crate) unfinished: Unfinished,
    /// The part of a trace whose jobs count.
    #[serde(skip)]
    pub(crate) window: Window,
}

keys! {
    /// How the settings are chosen.
    pub(crate) struct Design: Default + Copy {
        /// Which settings are tried. The parameters of each variant and the keys of `[world]` make a design each.
        kind: DesignKind = DesignKind::Grid;
        /// How many settings a sampled design has. The grid does not take it; the other kinds need it.
        samples: Option<u32> = None, unit "settings";
        /// The seed of the samples.
        seed: u64 = 0;
    }
}

choices! {
    /// Which settings are tried.
    pub(crate) enum DesignKind {
        /// All combinations of values.
        Grid = "grid",
        /// Settings drawn independently.
        Random = "random",
        /// A Latin hypercube: each range is cut into as many parts as there are samples, and each part is used once.
        LatinHypercube = "latin-hypercube",
    }
}

/// A key and its values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    pub(crate) key: String,
    pub(crate) values: Values,
    /// True if it takes only whole numbers.
    pub(crate) integer: bool,
}

/// A policy with its varying parameters.
#[derive(Debug, Clone)]
pub(crate) struct Variant {
    /// Its name.
    pub(crate) name: String,
    /// The policy, with the parameters that the key `policy` sets.
    pub(crate) policy: PolicySpec,
    /// Its parameters, by key. A parameter of the speculator has the key `speculator.key`.
    pub(crate) axes: Vec<Axis>,
}

impl Variant {
    /// True if one of its parameters takes more than one value.
    pub(crate) fn varies(&self) -> bool {
        self.axes.iter().any(|axis| axis.values.varies())
    }

    /// The policy with these values set.
    ///
    /// # Errors
    /// If a value is out of its range.
    pub(crate) fn policy_with(&self, values: &[(String, String)]) -> Result<PolicySpec, String> {
        self.policy.with_values(values).map_err(|error| error.to_string())
    }
}

/// One value or a list.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
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

impl Value for OneOrMore {
    fn shape() -> Shape {
        Shape::plain("path, or list of paths")
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
enum Seeds {
    Count(u64),
    List(Vec<u64>),
}

impl Value for Seeds {
    fn shape() -> Shape {
        Shape::plain("integer, or list of integers")
    }
}

/// A table whose keys are checked one by one. Each keeps its position in the file.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize)]
#[serde(transparent)]
struct Keys(BTreeMap<Spanned<String>, Spanned<Toml>>);

impl Value for Keys {
    fn shape() -> Shape {
        Shape::plain("table of values")
    }
}

keys! {
    /// A sweep file: the parameters that vary, and the jobs. Paths in it are relative to its folder.
    struct Raw {
        /// The name of the sweep.
        name: String;
        /// What the sweep is about.
        about: String = String::new();
        /// The workload files to replay. A sweep needs these or `trace`, and may have both.
        workload: Option<OneOrMore> = None;
        /// The traces to replay.
        trace: Option<OneOrMore> = None;
        /// The cluster files. If you leave it out, the machines are those of the trace, under the default rules.
        cluster: Option<OneOrMore> = None;
        /// A folder with the configuration of a site ([site](../site.md)). Its settings replace the defaults of policies and
        /// of the cluster. The cluster files and the variants take precedence over them.
        site: Option<PathBuf> = None, rule "path";
        /// Whether to use defaults for missing slots and machine sizes. Without it, missing values are an error.
        assume: bool = false;
        /// How to treat work that is unfinished when a trace ends ([production traces](../production-traces.md)). If you
        /// leave it out, it is `drop`.
        unfinished: Option<Spanned<String>> = None, rule "`drop`, `cap` or `estimate`";
        /// The part of the traces whose jobs count, such as `+1h..+5h`. If you leave it out, it is all of them.
        window: Option<Spanned<String>> = None, rule "two times with `..` between them";
        /// How many seeds there are, counted from 1, or the seeds themselves. If you leave it out, the only seed is 1.
        seeds: Option<Spanned<Seeds>> = None, rule format!("up to {MOST_SEEDS} seeds, each once");
        /// The variant that the others are compared with. If you leave it out, it is the first by name.
        baseline: Option<Spanned<String>> = None, rule "a name below `variants`";
        /// The metric of the figures and of the ranking ([metrics](metrics.md)). If you leave it out, it is `mean_completion`.
        metric: Option<Spanned<String>> = None, rule "a metric";
        /// The other axis of the Pareto front. If you leave it out, it is `makespan`.
        second: Option<Spanned<String>> = None, rule "a metric";
        /// Further metrics, for the tables.
        metrics: Vec<Spanned<String>> = Vec::new(), rule "metrics";
        /// The relative difference above which a difference matters in practice. If you leave it out, it is 5 %.
        matters: Option<Spanned<String>> = None, rule "a percentage, such as \"5%\"";
        /// How thoroughly to test whether each setting stays better or worse than the baseline if unknown values vary: `full`,
        /// `quick` or `off` ([how](../how-sure.md)). If you leave it out, it is `off`.
        robust: Option<Spanned<String>> = None, rule "full, quick or off";
        /// How the settings are chosen.
        design: Design = Design::default();
        /// The keys of the world that vary, with their values. All variants are replayed in the same worlds.
        world: Keys = Keys::default(), rule "keys of a world, see below";
        /// The policies. The name is that of a policy of the registry, or any other if the key `policy` names the policy. Other
        /// keys are parameters of the policy, and `speculator.key` those of its speculator ([policies](../policies.md)).
        variants: BTreeMap<Spanned<String>, Keys>, rule "at least one";
        /// The objective and the bounds of `resched tune`.
        tune: Option<Spanned<TuneSection>> = None;
    }
}

impl SweepFile {
    /// The keys of a sweep file, for its reference page.
    pub fn shape() -> Shape {
        Raw::shape()
    }

    /// The keys of a table that stands for many values of a parameter, for the same page.
    pub fn values_shape() -> Shape {
        Spread::shape()
    }

    /// The metric of the figures and of the ranking.
    pub fn metric(&self) -> &Metric {
        &self.metric
    }

    /// The metrics of its tables: those that have a name, then its own.
    pub(crate) fn metrics(&self) -> Vec<Metric> {
        known().iter().chain(&self.own).cloned().collect()
    }

    /// The metrics that cells keep beside those that have a name.
    pub(crate) fn own_metrics(&self) -> &[Metric] {
        &self.own
    }

    /// The sweep at the site whose configuration is in the folder `site`, if one is given, instead of the site that the file names.
    #[must_use]
    pub fn at_site(self, site: Option<PathBuf>) -> Self {
        Self { site: site.or(self.site), ..self }
    }

    /// The sweep with this test of the sign, if one is given, instead of the one that the file asks for.
    #[must_use]
    pub fn testing(self, robust: Option<Level>) -> Self {
        Self { robust: robust.unwrap_or(self.robust), ..self }
    }

    /// The sweep, which may have as many cells as this, if a number is given, instead of the default.
    #[must_use]
    pub fn up_to_cells(self, most: Option<u64>) -> Self {
        Self { most_cells: most.unwrap_or(self.most_cells), ..self }
    }

    /// The file with at least `count` seeds. New seeds follow the largest; after the largest number of all, they go on from 0.
    pub(crate) fn with_seeds(mut self, count: usize) -> Self {
        let named: BTreeSet<u64> = self.seeds.iter().copied().collect();
        let next = self.seeds.last().map_or(1, |last| last.wrapping_add(1));
        let further = (0..=u64::MAX).map(|step| next.wrapping_add(step)).filter(|seed| !named.contains(seed));
        self.seeds.extend(further.take(count.saturating_sub(named.len())));
        self
    }
}
