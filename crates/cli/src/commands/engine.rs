//! Work beyond one machine: the engines that are asked to run parts of a sweep or of an ingest.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use resched_replay::Threads;
use resched_sweep::{Location, Plan};
use resched_trace::store::write_file;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::print;

/// The driver of a Dask cluster.
const DASK_DRIVER: &str = include_str!("../../engines/dask_driver.py");
/// The batch script of a Slurm array.
const SLURM_ARRAY: &str = include_str!("../../engines/slurm_array.sh");
/// That script and the logs of its tasks, in the folder of the sweep.
const SLURM_FOLDER: &str = "slurm";
const SLURM_SCRIPT: &str = "array.sh";
/// Tasks of an array, if nothing else is said.
const SLURM_TASKS: usize = 500;

/// How to reach Dask.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "With --engine dask")]
pub(super) struct DaskArgs {
    /// The address of a scheduler, such as tcp://host:8786; without it a cluster is started on this machine.
    #[arg(long, value_name = "ADDRESS")]
    scheduler: Option<String>,
    /// Workers of a cluster on this machine; without it, one a core.
    #[arg(long)]
    workers: Option<usize>,
    /// The Python that has `distributed`.
    #[arg(long, default_value = "python3", value_name = "PROGRAM")]
    python: PathBuf,
    /// How often a task is tried again whose worker was lost.
    #[arg(long, default_value_t = 3)]
    retries: u32,
}

/// resched on the machines that do the work.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Beyond this machine")]
pub(super) struct ProgramArgs {
    /// resched as the workers find it; without it, this program.
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
}

impl ProgramArgs {
    fn path(&self) -> Result<PathBuf, Failure> {
        Ok(self.program.clone().map_or_else(std::env::current_exe, Ok)?)
    }
}

/// How cells are handed to an engine.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Beyond this machine")]
pub(super) struct ArrayArgs {
    /// Cells of one task of the engine; without it, 1 under Dask, and as many under Slurm as give 500 tasks.
    #[arg(long)]
    chunk: Option<usize>,
    /// Submit the batch script with sbatch.
    #[arg(long)]
    submit: bool,
}

/// The arguments of a call of resched for an engine.
pub(super) type Task = Vec<String>;

/// What the driver of Dask reads.
#[derive(Debug, Serialize)]
struct Tasks<'a> {
    program: &'a Path,
    folder: &'a Path,
    tasks: &'a [Task],
}

/// Has tasks run by Dask, in this process's folder.
pub(super) fn dask(tasks: &[Task], args: &DaskArgs, program: &ProgramArgs) -> Result<(), Failure> {
    if tasks.is_empty() {
        return Ok(());
    }
    let plan = Tasks { program: &program.path()?, folder: &std::env::current_dir()?, tasks };
    let plan = serde_json::to_vec(&plan).map_err(|error| Failure::work(error.to_string()))?;
    let scratch = tempfile::Builder::new().prefix("resched-dask-").tempdir()?;
    let (driver, file) = (scratch.path().join("dask_driver.py"), scratch.path().join("tasks.json"));
    write_file(&driver, DASK_DRIVER.as_bytes())?;
    write_file(&file, &plan)?;
    let mut command = Command::new(&args.python);
    command.arg(driver).arg(file).args(["--retries", &args.retries.to_string()]);
    if let Some(scheduler) = &args.scheduler {
        command.args(["--scheduler", scheduler]);
    }
    if let Some(workers) = args.workers {
        command.args(["--workers", &workers.to_string()]);
    }
    let python = args.python.display();
    let status = command.status().map_err(|error| {
        Failure::request(format!(
            "{python}: expected a Python with `distributed`, but it does not start ({error}); name it with --python"
        ))
    })?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::work(format!(
        "the driver of Dask ended with {status}; its messages stand above. If `distributed` is missing: {python} -m pip install \
         distributed. A second call makes what is missing"
    )))
}

/// The cells of a sweep that are missing, cut into chunks, and what a worker needs to make one.
struct Chunks {
    /// Where the workers find the plan.
    manifest: Location,
    /// Cells of a chunk.
    size: usize,
    /// The chunks that miss something, by number: chunk `n` begins with cell `n * size`.
    numbers: Vec<usize>,
}

impl Chunks {
    fn new(plan: &Plan, out: &Location, size: usize) -> Result<Self, Failure> {
        let missing = plan.store(out)?.missing(&plan.cells.iter().collect::<Vec<_>>())?;
        let size = size.max(1);
        let mut numbers: Vec<usize> = missing.iter().map(|(place, _)| place / size).collect();
        numbers.dedup();
        eprintln!("{} of {} cells to do, as {} tasks", missing.len(), plan.cells.len(), numbers.len());
        Ok(Self { manifest: plan.results.as_ref().unwrap_or(out).clone(), size, numbers })
    }

    /// The numbers as Slurm writes them: `0-3,7`.
    fn ranges(&self) -> String {
        let ranges = self.numbers.chunk_by(|a, b| a + 1 == *b).filter_map(|range| match range {
            [one] => Some(one.to_string()),
            [first, .., last] => Some(format!("{first}-{last}")),
            [] => None,
        });
        ranges.collect::<Vec<_>>().join(",")
    }
}

/// Has the missing cells of the sweep in `out` made by Dask.
pub(super) fn dask_cells(
    plan: &Plan,
    out: &Location,
    array: &ArrayArgs,
    args: &DaskArgs,
    program: &ProgramArgs,
) -> Result<(), Failure> {
    let Chunks { manifest, size, numbers } = Chunks::new(plan, out, array.chunk.unwrap_or(1))?;
    let (manifest, count) = (manifest.to_string(), size.to_string());
    let task = |number: usize| {
        let index = (number * size).to_string();
        ["sweep", "cell", "--manifest", &manifest, "--index", &index, "--count", &count, "--threads", "1"]
            .map(str::to_owned)
            .into()
    };
    dask(&numbers.into_iter().map(task).collect::<Vec<Task>>(), args, program)
}

/// Writes the batch script of the missing cells of the sweep in `out`, and submits it if that is asked for.
pub(super) fn slurm(
    plan: &Plan,
    out: &Path,
    array: &ArrayArgs,
    program: &ProgramArgs,
    threads: Option<Threads>,
) -> Result<(), Failure> {
    let sweep = std::path::absolute(out)?;
    let size = array.chunk.unwrap_or_else(|| plan.cells.len().div_ceil(SLURM_TASKS));
    let chunks = Chunks::new(plan, &Location::Folder(sweep.clone()), size)?;
    let merge = format!("`resched sweep merge {}`", out.display());
    if chunks.numbers.is_empty() {
        return print(&format!("all cells are done; make the tables with {merge}\n"));
    }
    let values = [
        ("@TASKS@", chunks.ranges()),
        ("@THREADS@", threads.unwrap_or(Threads::ONE).to_string()),
        ("@CHUNK@", chunks.size.to_string()),
        ("@RESCHED@", plain(&program.path()?.display().to_string())?),
        ("@MANIFEST@", plain(&chunks.manifest.to_string())?),
        ("@LOGS@", plain(&sweep.join(SLURM_FOLDER).display().to_string())?),
        ("@SWEEP@", plain(&sweep.display().to_string())?),
    ];
    let script = values.iter().fold(SLURM_ARRAY.to_owned(), |script, (key, value)| script.replace(key, value));
    let path = out.join(SLURM_FOLDER).join(SLURM_SCRIPT);
    // Slurm writes logs only into a folder that is there.
    fs::create_dir_all(out.join(SLURM_FOLDER))?;
    write_file(&path, script.as_bytes())?;
    let shown = path.display();
    if !array.submit {
        return print(&format!(
            "{shown}: {} cells a task; submit it with `sbatch {shown}`, then {merge}\n",
            chunks.size
        ));
    }
    let status = Command::new("sbatch").arg(&path).status().map_err(|error| {
        Failure::request(format!(
            "sbatch: expected a submission host of Slurm, but it does not start ({error}); submit {shown} there"
        ))
    })?;
    if status.success() {
        print(&format!("When the array is done: {merge}\n"))
    } else {
        Err(Failure::work(format!("sbatch ended with {status}; its messages stand above")))
    }
}

/// A path or address for a script and its #SBATCH lines, where quotes are not understood.
fn plain(text: &str) -> Result<String, Failure> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=,:@".contains(c);
    if text.is_empty() || !text.chars().all(is_plain) {
        let problem = "expected a path of letters, digits and /._-+=,:@ for a batch script; name another folder";
        return Err(Failure::request(format!("{text}: {problem}")));
    }
    Ok(text.to_owned())
}
