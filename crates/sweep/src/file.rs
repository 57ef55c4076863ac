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

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range as Span;
use std::path::{Path, PathBuf};

use resched_policies::{Parameter, PolicySpec, Range, nearest};
use serde::{Deserialize, Serialize};
use toml::{Spanned, Value as Toml};

use crate::Error;
use crate::metrics::{METRICS, Metric};
use crate::tune::TuneSection;
use crate::values::Values;
use crate::world::{WORLD_KEYS, world_path};

/// The most seeds of a sweep.
const MOST_SEEDS: u64 = 100_000;

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

/// A workload file or a trace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SourcePath {
    Workload(PathBuf),
    Trace(PathBuf),
}

impl SourcePath {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Workload(path) | Self::Trace(path) => path,
        }
    }
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
        let text = format!("{}{}", written(self.policy.info.name, &own), speculator.unwrap_or_default());
        PolicySpec::parse(&text).map_err(|error| error.to_string())
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

/// Says where in the file what is wrong.
struct Places<'a> {
    text: &'a str,
    path: String,
}

impl Places<'_> {
    fn error(&self, span: Option<Span<usize>>, problem: &str) -> Error {
        let place = span.map(|span| {
            let before = self.text.get(..span.start).unwrap_or(self.text);
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            format!("line {line}, column {column}: ")
        });
        Error::Request(format!("{}: {}{problem}", self.path, place.unwrap_or_default()))
    }
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

    /// Reads a sweep file; paths in it count from its folder.
    ///
    /// # Errors
    /// [`Error::Request`] that names the line and column of what is wrong, and the nearest known key.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path).map_err(|error| {
            let shown = path.display();
            Error::Request(format!(
                "{shown}: expected a sweep file (TOML), but it cannot be read ({error}); check the path"
            ))
        })?;
        Self::parse(&text, path)
    }

    /// Reads the text of a sweep file at `path`.
    ///
    /// # Errors
    /// As [`SweepFile::read`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        let places = Places { text, path: path.display().to_string() };
        let raw: Raw = toml::from_str(text).map_err(|error| places.error(error.span(), &explained(&error)))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let sources = sources(raw.workload, raw.trace, folder).map_err(|problem| places.error(None, &problem))?;
        let clusters = raw.cluster.map_or_else(
            || vec![None],
            |paths| paths.into_vec().into_iter().map(|path| Some(folder.join(path))).collect(),
        );
        let seeds = seeds(raw.seeds, &places)?;
        let grid = raw.design.kind == DesignKind::Grid;
        if grid == raw.design.samples.is_some() {
            let problem = if grid {
                "a grid takes no `samples`; leave them out, or choose another kind"
            } else {
                "a sampled design needs `samples`"
            };
            return Err(places.error(None, problem));
        }
        let world =
            raw.world.iter().map(|(key, value)| world_axis(key, value, &sources, &places)).collect::<Result<_, _>>()?;
        let variants = raw
            .variants
            .iter()
            .map(|(name, keys)| variant(name, keys, &places))
            .collect::<Result<Vec<Variant>, Error>>()?;
        if variants.is_empty() {
            return Err(places.error(None, "expected at least one variant, found none; add [variants.fifo]"));
        }
        let baseline = match &raw.baseline {
            None => 0,
            Some(name) => variants.iter().position(|variant| variant.name == *name.as_ref()).ok_or_else(|| {
                let hint = nearest(name.as_ref(), variants.iter().map(|variant| variant.name.as_str()));
                places.error(Some(name.span()), &format!("no variant is called `{}`{hint}", name.as_ref()))
            })?,
        };
        let metric = metric_named(raw.metric.as_ref(), "mean_completion", &places)?;
        let second = metric_named(raw.second.as_ref(), "makespan", &places)?;
        let tune = raw.tune.map(|tune| {
            let span = tune.span();
            let section = tune.into_inner();
            section.check(&variants).map_err(|problem| places.error(Some(span), &problem))?;
            Ok::<_, Error>(section)
        });
        Ok(Self {
            name: raw.name,
            about: raw.about,
            sources,
            clusters,
            seeds,
            baseline,
            metric,
            second,
            design: raw.design,
            world,
            variants,
            tune: tune.transpose()?,
            copy: FileCopy { path: path.to_path_buf(), text: text.to_owned() },
        })
    }
}

/// What the TOML reader found, with the nearest known key.
fn explained(error: &toml::de::Error) -> String {
    let message = error.message().trim_end();
    let mut quoted = message.split('`').skip(1).step_by(2);
    match (message.starts_with("unknown "), quoted.next()) {
        (true, Some(unknown)) => format!("{message}{}", nearest(unknown, quoted)),
        _ => message.to_owned(),
    }
}

fn sources(workload: Option<OneOrMore>, trace: Option<OneOrMore>, folder: &Path) -> Result<Vec<SourcePath>, String> {
    let list = |paths: Option<OneOrMore>| paths.map(OneOrMore::into_vec).unwrap_or_default();
    let workloads = list(workload).into_iter().map(|path| SourcePath::Workload(folder.join(path)));
    let traces = list(trace).into_iter().map(|path| SourcePath::Trace(folder.join(path)));
    let mut all: Vec<SourcePath> = workloads.chain(traces).collect();
    if all.is_empty() {
        return Err("expected `workload` or `trace`, found neither; name what is to be replayed".to_owned());
    }
    let named = all.len();
    all.sort();
    all.dedup();
    if all.len() < named { Err("a workload or trace is named twice; leave one out".to_owned()) } else { Ok(all) }
}

fn seeds(seeds: Option<Spanned<Seeds>>, places: &Places<'_>) -> Result<Vec<u64>, Error> {
    let Some(seeds) = seeds else { return Ok(vec![1]) };
    let span = seeds.span();
    let list: Vec<u64> = match seeds.into_inner() {
        Seeds::Count(count) if count <= MOST_SEEDS => (1..=count).collect(),
        Seeds::Count(_) => Vec::new(),
        Seeds::List(mut list) => {
            let named = list.len();
            list.sort_unstable();
            list.dedup();
            if list.len() < named { Vec::new() } else { list }
        }
    };
    if list.is_empty() || list.len() as u64 > MOST_SEEDS {
        return Err(places.error(Some(span), &format!("expected 1 to {MOST_SEEDS} seeds, or a list without repeats")));
    }
    Ok(list)
}

fn metric_named(name: Option<&Spanned<String>>, default: &str, places: &Places<'_>) -> Result<&'static Metric, Error> {
    let wanted = name.map_or(default, |name| name.as_ref().as_str());
    Metric::named(wanted).map_err(|problem| places.error(name.map(Spanned::span), &problem))
}

fn world_axis(
    key: &Spanned<String>,
    value: &Spanned<Toml>,
    sources: &[SourcePath],
    places: &Places<'_>,
) -> Result<Axis, Error> {
    let name = key.as_ref();
    for source in sources {
        world_path(name, source).map_err(|problem| {
            let hint = nearest(name, WORLD_KEYS.iter().map(|known| known.name));
            places.error(Some(key.span()), &format!("{problem}{hint}"))
        })?;
    }
    let values = Values::parse(value.as_ref())
        .map_err(|problem| places.error(Some(value.span()), &format!("{name}: {problem}")))?;
    let integer = WORLD_KEYS.iter().any(|known| known.name == *name && known.integer);
    Ok(Axis { key: name.clone(), values, integer })
}

fn variant(name: &Spanned<String>, keys: &Keys, places: &Places<'_>) -> Result<Variant, Error> {
    let policy_key = keys.iter().find(|(key, _)| key.as_ref() == "policy");
    let (text, span) = match policy_key {
        None => (name.as_ref().clone(), name.span()),
        Some((_, value)) => match value.as_ref() {
            Toml::String(text) => (text.clone(), value.span()),
            other => return Err(places.error(Some(value.span()), &format!("policy: expected a text, found {other}"))),
        },
    };
    let policy = PolicySpec::parse(&text).map_err(|error| places.error(Some(span), &error.to_string()))?;
    let mut axes = Vec::new();
    for (key, value) in keys.iter().filter(|(key, _)| key.as_ref() != "policy") {
        let parameter = parameter(&policy, key.as_ref()).map_err(|problem| places.error(Some(key.span()), &problem))?;
        let error = |problem: String| places.error(Some(value.span()), &format!("{}: {problem}", key.as_ref()));
        let values = Values::parse(value.as_ref()).map_err(error)?;
        axes.push(Axis { key: key.as_ref().clone(), values, integer: matches!(parameter.range, Range::Integer(..)) });
    }
    let variant = Variant { name: name.as_ref().clone(), policy, axes };
    // The ends of what is possible are tried, so that nothing is refused after the first cell.
    for axis in &variant.axes {
        let values = match &axis.values {
            Values::List(list) => list.clone(),
            spread => vec![spread.quantile(0.0, axis.integer), spread.quantile(1.0, axis.integer)],
        };
        for value in values {
            let (_, place) = keys.iter().find(|(key, _)| *key.as_ref() == axis.key).unzip();
            let set = [(axis.key.clone(), value.text())];
            variant.policy_with(&set).map_err(|problem| places.error(place.map(Spanned::span), &problem))?;
        }
    }
    Ok(variant)
}

/// The parameter of a policy, or of its speculator as `speculator.key`.
fn parameter(policy: &PolicySpec, key: &str) -> Result<&'static Parameter, String> {
    let (name, parameters, key) = match (key.split_once('.'), &policy.speculator) {
        (Some((name, key)), Some(own)) if name == own.info.name => (own.info.name, own.info.parameters, key),
        (Some((name, _)), _) => return Err(format!("`{}` has no speculator `{name}`", policy.label())),
        (None, _) => (policy.info.name, policy.info.parameters, key),
    };
    parameters.iter().find(|parameter| parameter.key == key).ok_or_else(|| {
        let hint = nearest(key, parameters.iter().map(|parameter| parameter.key));
        format!("`{name}` has no parameter `{key}`{hint}; see `resched policies {name}`")
    })
}

/// The names of all metrics, for a message.
pub(crate) fn metric_names() -> impl Iterator<Item = &'static str> {
    METRICS.iter().map(|metric| metric.name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const HEAD: &str = "name = \"x\"\nworkload = \"w.toml\"\n";

    fn parse(text: &str) -> Result<SweepFile, Error> {
        SweepFile::parse(&format!("{HEAD}{text}"), Path::new("folder/s.toml"))
    }

    fn problem(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_sweep_is_read() {
        let file = parse(
            "seeds = 3\nbaseline = \"fair\"\n[world]\nnodes = [10, 20]\n[variants.delay]\nD = [0, 8]\n[variants.fair]\n\
             [variants.slow]\npolicy = \"fifo+late\"\n\"late.cap\" = { from = 0.1, to = 0.5, steps = 3 }\n",
        )
        .unwrap();
        assert_eq!(file.sources, [SourcePath::Workload(PathBuf::from("folder/w.toml"))]);
        assert_eq!((file.seeds.as_slice(), file.baseline), (&[1, 2, 3][..], 1));
        let slow = file.variants.last().unwrap();
        let policy = slow.policy_with(&[("late.cap".to_owned(), "0.3".to_owned())]).unwrap();
        assert_eq!(policy.label(), "fifo+late:cap=0.3");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place_and_the_nearest_word() {
        for (text, expected) in [
            ("seds = 3\n[variants.fifo]\n", "s.toml: line 3, column 1: unknown field `seds`"),
            ("seds = 3\n[variants.fifo]\n", "did you mean `seeds`?"),
            ("[variants.dely]\n", "line 3, column 11: unknown policy `dely`; did you mean `delay`?"),
            ("[variants.delay]\nd = 3\n", "line 4, column 1: `delay` has no parameter `d`; did you mean `D`?"),
            ("[variants.delay]\nD = [3, -1]\n", "line 4, column 5: policy `delay`: D: expected"),
            ("[variants.delay]\nD = { from = 3, to = 1 }\n", "line 4, column 5: D: expected from < to"),
            ("[world]\nnods = 3\n[variants.fifo]\n", "line 4, column 1: expected one of"),
            ("[world]\nnods = 3\n[variants.fifo]\n", "did you mean `nodes`?"),
            (
                "baseline = \"fare\"\n[variants.fair]\n",
                "line 3, column 12: no variant is called `fare`; did you mean `fair`?",
            ),
            ("metric = \"mean_completoin\"\n[variants.fifo]\n", "did you mean `mean_completion`?"),
            ("seeds = [1, 1]\n[variants.fifo]\n", "line 3, column 9: expected 1 to"),
            ("[design]\nkind = \"random\"\n[variants.fifo]\n", "needs `samples`"),
            ("[variants]\n", "at least one variant"),
        ] {
            let found = problem(text);
            assert!(found.contains(expected), "{text}\n{found}");
        }
    }
}
