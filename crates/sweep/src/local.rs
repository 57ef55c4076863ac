//! Replays cells on the cores of this machine. Each world is made once and shared.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use resched_analysis::metrics::named::Metric;
use resched_analysis::{Gathered, Run};
use resched_policies::PolicySpec;
use resched_replay::{Nothing, ReadBy, ReadyPolicy, Threads, World};

use crate::Error;
use crate::cell::Cell;
use crate::cell_store::CellStore;
use crate::file::Treatment;
use crate::plan::{Plan, identity};
use crate::results::CellResult;
use crate::site::SiteRules;
use crate::world::{Origin, WorldSpec, with_values};

/// The number of threads that store results. If the process is killed, as many more cells are lost.
const WRITERS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(3);

/// The progress that a sweep reports.
#[derive(Debug, Clone, Copy)]
pub enum Progress<'a> {
    /// The sweep begins.
    Begin {
        /// The number of all cells.
        cells: u64,
        /// The number of cells that are done already.
        done: u64,
    },
    /// A cell is done.
    Done(&'a Cell),
}

/// How cells are replayed.
#[derive(Debug, Clone, Copy)]
pub struct Replaying {
    /// On how many threads.
    pub threads: Threads,
    /// True if each replay is checked against the rules of its engine ([`resched_replay::Setup::check`]).
    pub check: bool,
}

impl From<Threads> for Replaying {
    /// Without a check.
    fn from(threads: Threads) -> Self {
        Self { threads, check: false }
    }
}

/// The callback that receives progress.
pub type OnProgress<'a> = &'a (dyn Fn(Progress<'_>) + Sync);

/// Identifies a world without its seed: source, cluster and values, as in the plan.
type SpecKey = (usize, usize, String);

fn key(cell: &Cell) -> SpecKey {
    let values: Vec<String> = cell.world.iter().map(|(key, value)| format!("{key}={value}")).collect();
    (cell.source, cell.cluster, values.join(","))
}

/// Values that cells share, by key. The first cell that asks makes the value while the others wait; the last one frees it.
struct Shelf<K, T>(Mutex<BTreeMap<K, Shared<T>>>);

struct Shared<T> {
    made: Arc<OnceLock<Result<Arc<T>, Error>>>,
    /// The number of cells that still need it.
    cells: usize,
}

impl<K: Ord, T> Shelf<K, T> {
    /// For cells with these keys.
    fn new(keys: impl Iterator<Item = K>) -> Self {
        let mut shelf = BTreeMap::new();
        for key in keys {
            shelf.entry(key).or_insert_with(|| Shared { made: Arc::default(), cells: 0 }).cells += 1;
        }
        Self(Mutex::new(shelf))
    }

    fn get(&self, key: &K, make: impl FnOnce() -> Result<T, Error>) -> Result<Arc<T>, Error> {
        let shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = shelf.get(key).map(|shared| Arc::clone(&shared.made));
        drop(shelf);
        let shared = shared.ok_or_else(|| Error::Work("a cell was replayed twice".to_owned()))?;
        shared.get_or_init(|| make().map(Arc::new)).as_ref().map(Arc::clone).map_err(Error::again)
    }

    /// A cell is done with it.
    fn release(&self, key: &K) {
        let mut shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = shelf.get_mut(key) {
            shared.cells = shared.cells.saturating_sub(1);
            if shared.cells == 0 {
                shelf.remove(key);
            }
        }
    }
}

/// The worlds of the cells of a plan.
pub(crate) struct Worlds<'a> {
    plan: &'a Plan,
    /// The metrics that cells keep beside those that have a name.
    metrics: Vec<Metric>,
    treatment: Treatment,
    /// True if replays are checked.
    check: bool,
    origins: Vec<OnceLock<Origin>>,
    site: OnceLock<SiteRules>,
    specs: Shelf<SpecKey, WorldSpec>,
    worlds: Shelf<(SpecKey, u64), World>,
}

impl<'a> Worlds<'a> {
    /// For the cells that are to be replayed, with a check or without.
    ///
    /// # Errors
    /// As [`Plan::sweep`].
    pub(crate) fn new(plan: &'a Plan, cells: &[&Cell], check: bool) -> Result<Self, Error> {
        let sweep = plan.sweep()?;
        Ok(Self {
            plan,
            metrics: sweep.own_metrics().to_vec(),
            treatment: sweep.treatment,
            check,
            origins: plan.sources.iter().map(|_| OnceLock::new()).collect(),
            site: OnceLock::new(),
            specs: Shelf::new(cells.iter().map(|cell| key(cell))),
            worlds: Shelf::new(cells.iter().map(|cell| (key(cell), cell.seed))),
        })
    }

    fn origin(&self, source: usize) -> Result<&Origin, Error> {
        let missing = || Error::Work(format!("the plan has no source {source}; plan the sweep again"));
        let (slot, entry) = self.origins.get(source).zip(self.plan.sources.get(source)).ok_or_else(missing)?;
        if let Some(origin) = slot.get() {
            return Ok(origin);
        }
        let origin = Origin::open(&entry.path())?;
        Ok(slot.get_or_init(|| origin))
    }

    fn make_spec(&self, cell: &Cell) -> Result<WorldSpec, Error> {
        let origin = self.origin(cell.source)?;
        let missing = || Error::Work("the plan names a file that it does not list; plan the sweep again".to_owned());
        let source = self.plan.sources.get(cell.source).ok_or_else(missing)?.path();
        let rules = self.plan.clusters.get(cell.cluster).ok_or_else(missing)?;
        WorldSpec::new((&source, origin), rules.as_deref(), (self.site()?, self.treatment), &cell.world_values())
    }

    fn site(&self) -> Result<&SiteRules, Error> {
        if let Some(site) = self.site.get() {
            return Ok(site);
        }
        let site = SiteRules::read(self.plan.site.as_deref())?;
        Ok(self.site.get_or_init(|| site))
    }

    /// The world of a cell, and its policy.
    pub(crate) fn of(&self, cell: &Cell) -> Result<(Arc<World>, ReadyPolicy), Error> {
        let key = key(cell);
        let spec = self.specs.get(&key, || self.make_spec(cell))?;
        let policy = PolicySpec::parse(&cell.policy).map_err(|error| Error::Work(error.to_string()))?;
        if identity(&spec, &policy, cell.draws.then_some(cell.seed), &self.metrics)? != cell.id {
            let problem = "a workload, trace, cluster, site or allocations file has changed since the plan, or the version of resched";
            return Err(Error::Work(format!(
                "cell {} ({}): {problem}; plan the sweep again",
                cell.id,
                cell.in_words()
            )));
        }
        let make = || {
            let world = spec.with_seed(cell.seed).checked(self.check);
            world.check(&policy).map_err(|error| failed(cell, &error))?;
            Ok(world)
        };
        let world = self.worlds.get(&(key, cell.seed), make)?;
        let policy = world.ready(&policy).map_err(|error| failed(cell, &error))?;
        Ok((world, policy))
    }

    /// A cell is done with its world.
    fn release(&self, cell: &Cell) {
        self.worlds.release(&(key(cell), cell.seed));
        self.specs.release(&key(cell));
    }

    /// Replays a cell.
    ///
    /// # Errors
    /// [`Error::Work`] if its files have changed since the plan, or the replay fails.
    pub(crate) fn replay(&self, cell: &Cell) -> Result<CellResult, Error> {
        let result = self.of(cell).and_then(|(world, policy)| {
            let mut gathered = Gathered::default();
            let info = world.replay(&policy, ReadBy(&mut gathered)).map_err(|error| failed(cell, &error))?;
            Ok(CellResult::of(&Run::of_gathered(info, gathered), &self.metrics))
        });
        self.release(cell);
        result
    }
}

/// The error of a cell. A wrong request, for example a cluster file that does not fit the trace, has the same text as in every other
/// command. If the sweep varies the world, the error also names the values of this world.
fn failed(cell: &Cell, error: &resched_replay::Error) -> Error {
    if !error.is_request() {
        return Error::Work(format!("cell {}: {error}", cell.in_words()));
    }
    Error::Request(with_values(&cell.world_values(), error))
}

/// Replays all cells of a plan on this thread and keeps nothing. Benchmarks subtract this time to get the overhead of a sweep.
///
/// # Errors
/// As [`carry_out`].
pub fn replay_alone(plan: &Plan) -> Result<(), Error> {
    let cells: Vec<&Cell> = plan.cells.iter().collect();
    let worlds = Worlds::new(plan, &cells, false)?;
    cells.iter().try_for_each(|cell| {
        let (world, policy) = worlds.of(cell)?;
        world.replay(&policy, Nothing)?;
        drop(world);
        worlds.release(cell);
        Ok(())
    })
}

/// Replays the `cells` of a plan that are not done, and stores each result.
///
/// # Errors
/// The first error in the order of the cells. Results that are stored before it stay.
pub fn carry_out(
    plan: &Plan,
    cells: &[&Cell],
    store: &CellStore,
    how: Replaying,
    reported: OnProgress<'_>,
) -> Result<(), Error> {
    // Two variants may be the same policy. They share one result, and two threads must not write it at once.
    let mut ids = BTreeSet::new();
    let missing = store.missing(cells)?.into_iter().map(|(_, cell)| cell);
    let missing: Vec<&Cell> = missing.filter(|cell| ids.insert(&cell.id)).collect();
    reported(Progress::Begin { cells: cells.len() as u64, done: (cells.len() - missing.len()) as u64 });
    let worlds = Worlds::new(plan, &missing, how.check)?;
    let make = |cell: &&Cell| worlds.replay(cell)?.encode(&cell.id);
    let keep = |cell: &&Cell, file| {
        store.put(&cell.id, file)?;
        reported(Progress::Done(cell));
        Ok(())
    };
    how.threads.and_keep(&missing, make, WRITERS, keep)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use super::*;
    use crate::file::SweepFile;

    /// A sweep of one cell in this folder.
    fn plan(folder: &std::path::Path) -> Plan {
        let workload = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/sample-history.toml");
        fs::copy(workload, folder.join("w.toml")).unwrap();
        let path = folder.join("s.toml");
        fs::write(&path, "name = \"one\"\nworkload = \"w.toml\"\nseeds = [7]\n[variants.fifo]\n").unwrap();
        Plan::new(&SweepFile::read(&path).unwrap()).unwrap()
    }

    #[test]
    fn the_replay_of_each_cell_is_checked_on_request() {
        let folder = tempfile::tempdir().unwrap();
        let plan = plan(folder.path());
        let cells: Vec<&Cell> = plan.cells.iter().collect();
        for check in [false, true] {
            let (world, _) = Worlds::new(&plan, &cells, check).unwrap().of(&plan.cells[0]).unwrap();
            assert!(format!("{world:?}").contains(&format!("check: {check}")));
        }
    }

    #[test]
    fn a_broken_rule_names_its_cell() {
        let folder = tempfile::tempdir().unwrap();
        let (policy, found) = ("fifo".to_owned(), "node n1: 3".to_owned());
        let broken = resched_sim::Error::RuleBroken { policy, at: 5, rule: "no node is overfull", found };
        let error = failed(&plan(folder.path()).cells[0], &broken.into());
        assert!(!error.is_request());
        let rule =
            "cell fifo, fifo, seed 7: policy `fifo` at 5 ms: expected that no node is overfull, found node n1: 3;";
        assert!(error.to_string().starts_with(rule), "{error}");
    }
}
