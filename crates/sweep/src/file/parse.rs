//! Reads a sweep file and checks it. [`SweepFile`] describes its keys.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use resched_analysis::metrics::named::{Metric, known};
use resched_analysis::statistics::practical::Matters;
use resched_analysis::statistics::sign::Level;
use resched_policies::nearest;
use resched_replay::Engine;
use resched_tables::whole;
use toml::{Spanned, Value as Toml};

use super::places::{Places, explained};
use super::variant::variant;
use super::{Axis, Design, DesignKind, FileCopy, MOST_SEEDS, OneOrMore, Raw, Seeds, SweepFile, Treatment, Variant};
use crate::Error;
use crate::design::MOST_SETTINGS;
use crate::plan::MOST_CELLS;
use crate::source::{SourcePath, engine_of};
use crate::tune_section::TuneSection;
use crate::values::Values;
use crate::world_keys::{WORLD_KEYS, world_path};

impl SweepFile {
    /// Reads a sweep file. Paths in it start from its folder.
    ///
    /// # Errors
    /// [`Error::Request`], with the line and column of the problem, and the nearest known key.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = whole::text(path).map_err(|error| {
            let shown = path.display();
            Error::Request(format!(
                "{shown}: expected a sweep file (TOML), but it cannot be read ({error}); check the path"
            ))
        })?;
        Self::parse(&text, path)
    }

    /// Reads the text of a sweep file at `path`. It opens the traces, as they decide which policies the names mean.
    ///
    /// # Errors
    /// As [`SweepFile::read`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        Self::parse_for(text, path, None)
    }

    /// Reads the text of a sweep file at `path` whose sources are for this engine, if that is known.
    pub(crate) fn parse_for(text: &str, path: &Path, engine: Option<Engine>) -> Result<Self, Error> {
        let places = Places { text, path: path.display().to_string() };
        let raw: Raw = toml::from_str(text).map_err(|error| places.error(error.span(), &explained(&error)))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let sources = sources(raw.workload, raw.trace, folder).map_err(|problem| places.error(None, &problem))?;
        let engine = engine.map_or_else(|| engine_of(&sources), Ok);
        let engine =
            engine.map_err(|error| if error.is_request() { places.error(None, &error.to_string()) } else { error })?;
        let clusters = clusters(raw.cluster, folder);
        let site = raw.site.map(|site| folder.join(site));
        let seeds = seeds(raw.seeds, &places)?;
        check_design(raw.design).map_err(|problem| places.error(None, &problem))?;
        let world = raw
            .world
            .0
            .iter()
            .map(|(key, value)| world_axis(key, value, &sources, &places))
            .collect::<Result<_, _>>()?;
        let variants = raw
            .variants
            .iter()
            .map(|(name, keys)| variant(name, keys, engine, &places))
            .collect::<Result<Vec<Variant>, Error>>()?;
        if variants.is_empty() {
            return Err(places.error(None, "expected at least one variant, found none; add [variants.fifo]"));
        }
        let baseline = raw.baseline.map_or(Ok(0), |name| baseline(&name, &variants, &places))?;
        let metric = metric_named(raw.metric.as_ref(), "mean_completion", &places)?;
        let second = metric_named(raw.second.as_ref(), "makespan", &places)?;
        let matters: Matters = parsed(raw.matters, &places)?;
        let treatment = Treatment {
            assume: raw.assume,
            unfinished: parsed(raw.unfinished, &places)?,
            window: parsed(raw.window, &places)?,
        };
        let robust = if raw.robust.is_some() { parsed(raw.robust, &places)? } else { Level::Off };
        let tune = raw.tune.map(|tune| {
            let span = tune.span();
            let section = tune.into_inner();
            checked(section, &variants).map_err(|problem| places.error(Some(span), &problem))
        });
        let tune = tune.transpose()?;
        let further = raw.metrics.iter().map(|text| metric_named(Some(text), "", &places));
        let mut named = vec![metric.clone(), second.clone()];
        named.extend(further.collect::<Result<Vec<Metric>, Error>>()?);
        named.extend(tune.iter().flat_map(TuneSection::metrics));
        Ok(Self {
            own: without_name(named),
            name: raw.name,
            about: raw.about,
            sources,
            engine,
            clusters,
            site,
            seeds,
            baseline,
            metric,
            second,
            matters,
            treatment,
            robust,
            design: raw.design,
            world,
            variants,
            tune,
            most_cells: MOST_CELLS,
            copy: FileCopy { path: path.to_path_buf(), text: text.to_owned() },
        })
    }
}

/// The section `[tune]`, checked.
/// The value of a text, or the default.
fn parsed<T: Default + FromStr<Err = String>>(text: Option<Spanned<String>>, places: &Places) -> Result<T, Error> {
    let Some(text) = text else { return Ok(T::default()) };
    text.as_ref().parse().map_err(|problem: String| places.error(Some(text.span()), &problem))
}

fn checked(section: TuneSection, variants: &[Variant]) -> Result<TuneSection, String> {
    section.check()?;
    if variants.iter().any(Variant::varies) {
        return Ok(section);
    }
    Err("no variant has a parameter that varies, so there is nothing to tune; give a parameter a range".to_owned())
}

fn sources(workload: Option<OneOrMore>, trace: Option<OneOrMore>, folder: &Path) -> Result<Vec<SourcePath>, String> {
    let list = |paths: Option<OneOrMore>| paths.map(OneOrMore::into_vec).unwrap_or_default();
    let workloads = list(workload).into_iter().map(|path| SourcePath::Workload(folder.join(path)));
    let traces = list(trace).into_iter().map(|path| SourcePath::Trace(folder.join(path)));
    let mut all: Vec<SourcePath> = workloads.chain(traces).collect();
    if all.is_empty() {
        return Err("expected `workload` or `trace`, found neither; name what to replay".to_owned());
    }
    let named = all.len();
    all.sort();
    all.dedup();
    if all.len() < named { Err("a workload or trace is named twice; leave one out".to_owned()) } else { Ok(all) }
}

fn clusters(paths: Option<OneOrMore>, folder: &Path) -> Vec<Option<PathBuf>> {
    let Some(paths) = paths else { return vec![None] };
    paths.into_vec().into_iter().map(|path| Some(folder.join(path))).collect()
}

fn check_design(design: Design) -> Result<(), String> {
    match (design.kind, design.samples) {
        (DesignKind::Grid, Some(_)) => {
            Err("a grid takes no `samples`; leave them out, or choose another kind".to_owned())
        }
        (DesignKind::Random | DesignKind::LatinHypercube, None) => Err("a sampled design needs `samples`".to_owned()),
        (_, Some(samples)) if samples as usize > MOST_SETTINGS => Err(format!(
            "design.samples: expected at most {MOST_SETTINGS}, found {samples}; give {MOST_SETTINGS} or fewer"
        )),
        _ => Ok(()),
    }
}

/// The index of the variant of that name.
fn baseline(name: &Spanned<String>, variants: &[Variant], places: &Places<'_>) -> Result<usize, Error> {
    let wanted = name.as_ref();
    variants.iter().position(|variant| variant.name == *wanted).ok_or_else(|| {
        let hint = nearest(wanted, variants.iter().map(|variant| variant.name.as_str()));
        places.error(Some(name.span()), &format!("no variant is called `{wanted}`{hint}"))
    })
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

fn metric_named(name: Option<&Spanned<String>>, default: &str, places: &Places<'_>) -> Result<Metric, Error> {
    let wanted = name.map_or(default, |name| name.as_ref().as_str());
    Metric::named(wanted).map_err(|problem| places.error(name.map(Spanned::span), &problem.to_string()))
}

/// The metrics that have no name, each once, in order.
fn without_name(metrics: Vec<Metric>) -> Vec<Metric> {
    let mut found: Vec<Metric> = Vec::new();
    for metric in metrics {
        if !known().iter().chain(&found).any(|other| other.name == metric.name) {
            found.push(metric);
        }
    }
    found
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
    fn as_many_seeds_as_the_limit_and_not_one_more() {
        let of = |seeds: String| parse(&format!("seeds = {seeds}\n[variants.fifo]\n"));
        let listed = |most: u64| format!("{:?}", (1..=most).collect::<Vec<_>>());
        for seeds in [MOST_SEEDS.to_string(), listed(MOST_SEEDS)] {
            assert_eq!(of(seeds).unwrap().seeds.len() as u64, MOST_SEEDS);
        }
        for seeds in [(MOST_SEEDS + 1).to_string(), listed(MOST_SEEDS + 1)] {
            let problem = of(seeds).unwrap_err().to_string();
            assert!(problem.contains("line 3, column 9: expected 1 to 100000 seeds"), "{problem}");
        }
    }

    #[test]
    fn as_many_samples_as_the_limit_and_not_one_more() {
        let of = |samples: usize| {
            parse(&format!(
                "[design]\nkind = \"random\"\nsamples = {samples}\n[variants.delay]\nD = {{ from = 1, to = 64 }}\n"
            ))
        };
        assert_eq!(of(MOST_SETTINGS).unwrap().design.samples, Some(MOST_SETTINGS as u32));
        let problem = of(MOST_SETTINGS + 1).unwrap_err().to_string();
        assert!(problem.contains("design.samples: expected at most 1000000, found 1000001"), "{problem}");
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
