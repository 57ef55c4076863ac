//! Cells on this machine: on all its cores, each world made once and shared.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};

use resched_policies::PolicySpec;

use crate::Error;
use crate::cell_store::CellStore;
use crate::plan::{Cell, Plan, identity};
use crate::results::CellResult;
use crate::world::{Origin, World, WorldSpec};

/// Threads that keep results; with the process so many more cells in flight are lost.
const WRITERS: usize = 4;

/// What a sweep tells while it works.
#[derive(Debug, Clone, Copy)]
pub enum Progress<'a> {
    /// There are so many cells, of which so many are done already.
    Begin {
        /// All cells.
        cells: u64,
        /// Those that need not be replayed.
        done: u64,
    },
    /// A cell is done.
    Done(&'a Cell),
}

/// Who is told.
pub type Told<'a> = &'a (dyn Fn(Progress<'_>) + Sync);

/// The world of a cell as it is found in a plan: its source, cluster, values and seed.
type WorldKey = (usize, usize, String, u64);

/// Makes the worlds of a plan's cells, each once, and gives it up after its last cell.
pub(crate) struct Worlds<'a> {
    plan: &'a Plan,
    origins: Vec<OnceLock<Arc<Origin>>>,
    /// By source, cluster and values: what the seeds of a world have in common, so that its files are read once.
    specs: Mutex<BTreeMap<(usize, usize, String), Arc<WorldSpec>>>,
    made: Mutex<BTreeMap<WorldKey, Shared>>,
}

/// A world that cells wait for, and how many of them.
struct Shared {
    world: Arc<OnceLock<Result<Arc<Made>, String>>>,
    cells: usize,
}

/// A world with what identifies it.
struct Made {
    spec: Arc<WorldSpec>,
    world: World,
}

fn lost() -> Error {
    Error::Work("another cell ended badly".to_owned())
}

fn key(cell: &Cell) -> WorldKey {
    let values: Vec<String> = cell.world.iter().map(|(key, value)| format!("{key}={value}")).collect();
    (cell.source, cell.cluster, values.join(","), cell.seed)
}

impl<'a> Worlds<'a> {
    /// For the cells that are to be replayed.
    pub(crate) fn new(plan: &'a Plan, cells: &[&Cell]) -> Self {
        let mut made: BTreeMap<WorldKey, Shared> = BTreeMap::new();
        for cell in cells {
            made.entry(key(cell)).or_insert_with(|| Shared { world: Arc::default(), cells: 0 }).cells += 1;
        }
        Self {
            plan,
            origins: plan.sources.iter().map(|_| OnceLock::new()).collect(),
            specs: Mutex::default(),
            made: Mutex::new(made),
        }
    }

    fn origin(&self, source: usize) -> Result<Arc<Origin>, Error> {
        let missing = || Error::Work(format!("the plan has no source {source}; plan the sweep again"));
        let (slot, entry) = self.origins.get(source).zip(self.plan.sources.get(source)).ok_or_else(missing)?;
        if let Some(origin) = slot.get() {
            return Ok(Arc::clone(origin));
        }
        let origin = Arc::new(Origin::open(&entry.path())?);
        Ok(Arc::clone(slot.get_or_init(|| origin)))
    }

    fn spec(&self, cell: &Cell) -> Result<Arc<WorldSpec>, Error> {
        let (source, cluster, values, _) = key(cell);
        let key = (source, cluster, values);
        if let Some(spec) = self.specs.lock().map_err(|_| lost())?.get(&key) {
            return Ok(Arc::clone(spec));
        }
        let origin = self.origin(cell.source)?;
        let missing = || Error::Work("the plan names a file that it does not list; plan the sweep again".to_owned());
        let source = self.plan.sources.get(cell.source).ok_or_else(missing)?.path();
        let rules = self.plan.clusters.get(cell.cluster).ok_or_else(missing)?;
        let spec = Arc::new(WorldSpec::new((&source, &origin), rules.as_deref(), &cell.world_values())?);
        Ok(Arc::clone(self.specs.lock().map_err(|_| lost())?.entry(key).or_insert(spec)))
    }

    fn make(&self, cell: &Cell) -> Result<Made, Error> {
        let spec = self.spec(cell)?;
        let world = spec.make(cell.seed).map_err(|error| Error::Work(format!("{}: {error}", cell.told())))?;
        Ok(Made { spec, world })
    }

    /// The world of a cell; made by the first that asks while the others wait.
    fn of(&self, cell: &Cell) -> Result<Arc<Made>, Error> {
        let slot = {
            let made = self.made.lock().map_err(|_| lost())?;
            made.get(&key(cell)).map(|shared| Arc::clone(&shared.world)).ok_or_else(lost)?
        };
        slot.get_or_init(|| self.make(cell).map(Arc::new).map_err(|error| error.to_string()))
            .clone()
            .map_err(Error::Work)
    }

    /// A cell is done with its world.
    fn release(&self, cell: &Cell) {
        let Ok(mut made) = self.made.lock() else { return };
        let key = key(cell);
        if let Some(shared) = made.get_mut(&key) {
            shared.cells = shared.cells.saturating_sub(1);
            if shared.cells == 0 {
                made.remove(&key);
            }
        }
    }

    /// Replays a cell.
    ///
    /// # Errors
    /// [`Error::Work`] if its files have changed since the plan, or the replay fails.
    pub(crate) fn replay(&self, cell: &Cell) -> Result<CellResult, Error> {
        let result = self.of(cell).and_then(|made| {
            let policy = PolicySpec::parse(&cell.policy).map_err(|error| Error::Work(error.to_string()))?;
            if identity(&made.spec, &policy, cell.seed)? != cell.id {
                let problem = "a workload, trace, cluster or allocations file has changed since the plan, or the version of resched";
                return Err(Error::Work(format!("cell {} ({}): {problem}; plan the sweep again", cell.id, cell.told())));
            }
            Ok(CellResult::of(&made.world.replay(&cell.policy, &policy)?))
        });
        self.release(cell);
        result
    }
}

/// Replays all cells of a plan on this thread and keeps nothing: what a sweep takes beyond this is its own. For benchmarks.
///
/// # Errors
/// As [`carry_out`].
pub fn replay_alone(plan: &Plan) -> Result<(), Error> {
    let cells: Vec<&Cell> = plan.cells.iter().collect();
    let worlds = Worlds::new(plan, &cells);
    cells.iter().try_for_each(|cell| {
        let policy = PolicySpec::parse(&cell.policy).map_err(|error| Error::Work(error.to_string()))?;
        let made = worlds.of(cell)?;
        let ended = made.world.replay_only(&policy);
        drop(made);
        worlds.release(cell);
        ended
    })
}

/// Replays `cells` of a plan on so many threads, but for those that are done, and keeps each result.
///
/// # Errors
/// The first error in the order of the cells; what was done before stays done.
pub fn carry_out(plan: &Plan, cells: &[&Cell], store: &CellStore, threads: usize, told: Told<'_>) -> Result<(), Error> {
    let missing: Vec<&Cell> = store.missing(cells)?.into_iter().map(|(_, cell)| cell).collect();
    told(Progress::Begin { cells: cells.len() as u64, done: (cells.len() - missing.len()) as u64 });
    let worlds = Worlds::new(plan, &missing);
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let errors: Mutex<BTreeMap<usize, Error>> = Mutex::default();
    let fail = |place: usize, error: Error| {
        failed.store(true, Ordering::Relaxed);
        if let Ok(mut errors) = errors.lock() {
            errors.insert(place, error);
        }
    };
    // The disk or the network is waited for by threads of their own, while the next cells are replayed.
    let (made, files) = sync_channel::<(usize, Vec<u8>)>(0);
    let files = Mutex::new(files);
    let take = || files.lock().ok()?.recv().ok();
    let write = || {
        while let Some((place, file)) = take() {
            let Some(cell) = missing.get(place) else { return };
            match store.put(&cell.id, file) {
                Ok(()) => told(Progress::Done(cell)),
                Err(error) => fail(place, error),
            }
        }
    };
    let work = |made: SyncSender<(usize, Vec<u8>)>| {
        while !failed.load(Ordering::Relaxed) {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(cell) = missing.get(place) else { return };
            match worlds.replay(cell).and_then(|result| result.encode(&cell.id)) {
                // Sending fails if all writers are gone; none goes before the workers.
                Ok(file) => drop(made.send((place, file))),
                Err(error) => fail(place, error),
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, missing.len().max(1)) {
            let made = made.clone();
            scope.spawn(|| work(made));
        }
        // The writers end when the last worker has.
        drop(made);
        for _ in 0..WRITERS.min(missing.len()) {
            scope.spawn(write);
        }
    });
    let errors = errors.into_inner().unwrap_or_default();
    errors.into_values().next().map_or(Ok(()), Err)
}
