//! The plan of a sweep: its cells, each with an identity, in a manifest that any engine can carry out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use resched_analysis::metrics::named::Metric;
use resched_analysis::statistics::sign::Level;
use resched_replay::Engine;
use resched_tables::store::marker::{self, Layout, Unusable};
use resched_tables::store::sha256;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::cell::Cell;
use crate::cell_store::CellStore;
use crate::design::{Setting, count, settings};
use crate::file::{FileCopy, SweepFile, Variant};
use crate::location::Location;
use crate::site::SiteRules;
use crate::source::SourcePath;
use crate::world::{Origin, WorldSpec, policy_files};

/// The file that makes a folder a sweep.
pub const MARKER: &str = "sweep.json";
const LAYOUT: Layout = Layout { what: "plan", version: 1, by_others: false, again: "plan the sweep again" };
/// The most cells of a sweep, unless `--most-cells` allows more. A million of them take some 1 GB in a plan.
pub const MOST_CELLS: u64 = 1_000_000;
/// The number of characters in the id of a cell: 128 bits of its hash.
const ID_LENGTH: usize = 32;

/// The content of [`MARKER`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    format_version: u32,
    written_by: String,
    /// The sweep's name.
    pub name: String,
    /// The sweep file: its path, and its text when the plan was made.
    pub file: FileCopy,
    /// Where the results of cells are kept, with a copy of the plan for the workers; null if they are kept beside the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<Location>,
    /// True if the sources are production traces, for which `fifo` means `batch-fifo`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    production: bool,
    /// The sources to replay.
    pub(crate) sources: Vec<SourceEntry>,
    /// The cluster files; null stands for default rules.
    pub(crate) clusters: Vec<Option<PathBuf>>,
    /// The folder with the configuration of the site. The hashes of its files are in the ids of the cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) site: Option<PathBuf>,
    /// How thoroughly the sign is tested, if an option says so and not the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub robust: Option<Level>,
    /// The most cells that the sweep may have; it counts only while the plan is made.
    #[serde(skip)]
    most_cells: u64,
    /// The cells. Cells of one world are neighbours.
    pub cells: Vec<Cell>,
}

/// A workload file or a trace, by its absolute path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SourceEntry {
    /// A workload file.
    Workload(PathBuf),
    /// A trace.
    Trace(PathBuf),
}

impl SourceEntry {
    pub(crate) fn path(&self) -> SourcePath {
        match self {
            Self::Workload(path) => SourcePath::Workload(path.clone()),
            Self::Trace(path) => SourcePath::Trace(path.clone()),
        }
    }
}

impl Plan {
    /// Plans a sweep: checks every file and every value, and gives each cell its identity.
    ///
    /// # Errors
    /// [`Error::Request`] for every problem that can be known before the first replay.
    pub fn new(file: &SweepFile) -> Result<Self, Error> {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let sources = file.sources.iter().map(|source| match source {
            SourcePath::Workload(path) => SourceEntry::Workload(absolute(path)),
            SourcePath::Trace(path) => SourceEntry::Trace(absolute(path)),
        });
        let clusters = file.clusters.iter().map(|cluster| cluster.as_deref().map(absolute));
        let mut plan = Self {
            format_version: LAYOUT.version,
            written_by: concat!("resched ", env!("CARGO_PKG_VERSION")).to_owned(),
            name: file.name.clone(),
            file: FileCopy { path: absolute(&file.copy.path), text: file.copy.text.clone() },
            results: None,
            production: file.engine == Engine::Batch,
            sources: sources.collect(),
            clusters: clusters.collect(),
            site: file.site.as_deref().map(absolute),
            robust: None,
            most_cells: file.most_cells,
            cells: Vec::new(),
        };
        plan.cells = cells(file, &plan)?;
        Ok(plan)
    }

    /// Writes the manifest to the folder `dir`, and to the place of the results.
    ///
    /// # Errors
    /// [`Error::Store`] or [`Error::Work`] if it cannot be written.
    pub fn write(&self, dir: &Path) -> Result<(), Error> {
        let json = marker::encode_compact(self);
        let json = json.map_err(|error| Error::Work(format!("the plan cannot be encoded: {error}")))?;
        if let Some(results) = &self.results {
            results.open()?.write(MARKER, json.clone())?;
        }
        Location::Folder(dir.to_path_buf()).open()?.write(MARKER, json)
    }

    /// Reads the manifest at this place.
    ///
    /// # Errors
    /// [`Error::Request`] if there is none, [`Error::Damaged`] if it is damaged or of another version.
    pub fn read(at: &Location) -> Result<Self, Error> {
        let place = at.open()?;
        let shown = place.shown(MARKER);
        let text = place.read(MARKER)?.ok_or_else(|| {
            Error::Request(format!(
                "{shown}: expected the plan of a sweep, found nothing; make it with `resched sweep plan`"
            ))
        })?;
        let damaged = |Unusable { problem, remedy }| Error::Damaged { path: shown, problem, remedy };
        Self::parse(&text).map_err(damaged)
    }

    fn parse(text: &[u8]) -> Result<Self, Unusable> {
        let plan: Self = marker::decode(text, &LAYOUT)?;
        // Ids name files.
        match plan.cells.iter().find(|cell| !cell.id.bytes().all(|byte| byte.is_ascii_hexdigit())) {
            Some(cell) => Err(Unusable {
                problem: format!("it is damaged (expected hexadecimal digits as a cell's id, found `{}`)", cell.id),
                remedy: LAYOUT.again.to_owned(),
            }),
            None => Ok(plan),
        }
    }

    /// The place of the results. `at` is where the plan was read from or written to.
    ///
    /// # Errors
    /// As [`CellStore::open`].
    pub fn store(&self, at: &Location) -> Result<CellStore, Error> {
        CellStore::open(self.results.as_ref().unwrap_or(at))
    }

    /// The number of different seeds of its cells.
    pub fn seeds(&self) -> usize {
        self.cells.iter().map(|cell| cell.seed).collect::<BTreeSet<u64>>().len()
    }

    /// The plan with at least `count` seeds.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn with_seeds(&self, count: usize) -> Result<Self, Error> {
        let sweep = self.sweep()?.with_seeds(count).up_to_cells(Some(self.most_cells));
        Ok(Self { results: self.results.clone(), robust: self.robust, ..Self::new(&sweep)? })
    }

    /// The sweep file as it was when the plan was made.
    ///
    /// # Errors
    /// As [`SweepFile::parse`].
    pub fn sweep(&self) -> Result<SweepFile, Error> {
        // The traces are not opened again: a merge may run where they are not.
        let engine = if self.production { Engine::Batch } else { Engine::Hadoop };
        Ok(SweepFile::parse_for(&self.file.text, &self.file.path, Some(engine))?
            .at_site(self.site.clone())
            .testing(self.robust))
    }
}

/// The cells of a sweep.
fn cells(file: &SweepFile, plan: &Plan) -> Result<Vec<Cell>, Error> {
    let wrong = |problem: String| Error::Request(format!("{}: {problem}", plan.file.path.display()));
    check_count(file).map_err(wrong)?;
    check_engines(file).map_err(wrong)?;
    let worlds = settings(&file.world, &file.design, 0).map_err(|problem| wrong(format!("[world] {problem}")))?;
    let variants: Vec<Vec<Setting>> = (1u64..)
        .zip(&file.variants)
        .map(|(number, variant)| {
            let found = settings(&variant.axes, &file.design, number);
            found.map_err(|problem| wrong(format!("[variants.{}] {problem}", variant.name)))
        })
        .collect::<Result<_, _>>()?;
    let site = SiteRules::read(plan.site.as_deref())?;
    let metrics = file.own_metrics();
    let mut all = Vec::new();
    let mut known = BTreeSet::new();
    for (source, entry) in plan.sources.iter().enumerate() {
        let path = entry.path();
        let origin = Origin::open(&path)?;
        for (cluster, rules) in plan.clusters.iter().enumerate() {
            for (row, world) in worlds.iter().enumerate() {
                let spec = WorldSpec::new((&path, &origin), rules.as_deref(), (&site, file.treatment), world)?;
                let mut drafts = Vec::new();
                for (variant, found) in file.variants.iter().zip(&variants) {
                    // In a sampled design, each setting of the variant goes with one setting of the world.
                    let sampled = file.design.samples.and_then(|_| found.get(row)).map(std::slice::from_ref);
                    let of_world = if file.world.is_empty() { found.as_slice() } else { sampled.unwrap_or(found) };
                    for setting in of_world {
                        let texts: Vec<(String, String)> =
                            setting.iter().map(|(key, value)| (key.clone(), value.text())).collect();
                        let policy = variant.policy_with(&texts).map_err(&wrong)?;
                        let draws = spec.draws(&policy)?;
                        drafts.push((variant, texts, policy, draws));
                    }
                }
                for &seed in &file.seeds {
                    for (variant, texts, policy, draws) in &drafts {
                        let cell = Cell {
                            id: identity(&spec, policy, draws.then_some(seed), metrics)?,
                            variant: variant.name.clone(),
                            policy: policy.label(),
                            settings: varying(variant, texts),
                            world: world.iter().map(|(key, value)| (key.clone(), value.toml())).collect(),
                            source,
                            cluster,
                            seed,
                            draws: *draws,
                        };
                        // Two samples may be equal. Two variants may not, as one would hide the other.
                        if known.insert((cell.id.clone(), cell.variant.clone(), seed)) {
                            all.push(cell);
                        }
                    }
                }
            }
        }
    }
    Ok(all)
}

/// Refuses variants of different engines: their replays know different things of a trace, so that a difference would not be one of
/// policies.
fn check_engines(file: &SweepFile) -> Result<(), String> {
    let of = |batch: bool| file.variants.iter().find(|variant| variant.policy.info.is_batch() == batch);
    match of(false).zip(of(true)) {
        None => Ok(()),
        Some((hadoop, batch)) => Err(format!(
            "[variants.{}] and [variants.{}]: expected policies of one engine, found one for Hadoop and one for production traces; write a \
             sweep for each",
            hadoop.name, batch.name
        )),
    }
}

/// Refuses a sweep with more cells than it may have, before any of them is made.
fn check_count(file: &SweepFile) -> Result<(), String> {
    let worlds = count(&file.world, &file.design);
    let settings = |variant: &Variant| count(&variant.axes, &file.design);
    // In a sampled design, each setting of a variant goes with one setting of the world.
    let paired = file.design.samples.is_some() && !file.world.is_empty();
    let of_world = if paired { file.variants.len() as u64 } else { file.variants.iter().map(settings).sum() };
    let worlds = if paired { file.design.samples.unwrap_or(1).into() } else { worlds };
    let factors = [file.sources.len(), file.clusters.len(), file.seeds.len()].map(|factor| factor as u64);
    let cells = factors.into_iter().chain([worlds, of_world]).fold(1, u64::saturating_mul);
    if cells <= file.most_cells {
        return Ok(());
    }
    Err(format!(
        "expected at most {} cells, found {cells}; use fewer seeds or values, or allow them with --most-cells {cells}",
        file.most_cells
    ))
}

/// The parts of a setting that vary from cell to cell.
fn varying(variant: &Variant, texts: &[(String, String)]) -> BTreeMap<String, String> {
    let varies = |key: &str| variant.axes.iter().any(|axis| axis.key == key && axis.values.varies());
    texts.iter().filter(|(key, _)| varies(key)).cloned().collect()
}

/// The identity of a cell: a hash of its source, machines, rules, policy and seed, of the metrics that it keeps beside those that
/// have a name, and of the version of resched. There is no seed if none changes its result.
pub(crate) fn identity(
    world: &WorldSpec,
    policy: &resched_policies::PolicySpec,
    seed: Option<u64>,
    metrics: &[Metric],
) -> Result<String, Error> {
    let mut value = serde_json::json!({
        "version": env!("CARGO_PKG_VERSION"),
        "world": world.identity,
        "policy": policy.name(),
        "parameters": policy.parameters(),
        "files": policy_files(policy)?,
        "seed": seed,
    });
    if !metrics.is_empty() {
        value["metrics"] = metrics.iter().map(|metric| metric.name.as_str()).collect();
    }
    let mut id = sha256(value.to_string().as_bytes());
    id.truncate(ID_LENGTH);
    Ok(id)
}
