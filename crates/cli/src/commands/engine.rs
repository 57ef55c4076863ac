//! Work beyond one machine: the engines that are asked to run parts of a sweep or of an ingest.

use std::path::{Path, PathBuf};
use std::process::Command;

use resched_sweep::{Cell, CellStore, Plan};
use resched_trace::store::write_file;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::print;

/// The driver of a Dask cluster.
const DASK_DRIVER: &str = include_str!("../../engines/dask_driver.py");
/// The batch script of a Slurm array.
const SLURM_ARRAY: &str = include_str!("../../engines/slurm_array.sh");
/// The name of that script in the folder of the sweep.
const SLURM_SCRIPT: &str = "slurm_array.sh";

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
    /// resched as the workers find it; without it, this program.
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// How often a task is tried again whose worker was lost.
    #[arg(long, default_value_t = 3)]
    retries: u32,
}

/// How the array is cut.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "With --engine dask or slurm")]
pub(super) struct SlurmArgs {
    /// Cells of one task of the engine; without it, 1 under Dask, and as many under Slurm as give 500 tasks.
    #[arg(long)]
    pub(super) chunk: Option<usize>,
    /// Submit the batch script with sbatch.
    #[arg(long)]
    submit: bool,
}

/// A call of resched for an engine, and the files that it makes.
#[derive(Debug, Serialize)]
pub(super) struct Task {
    pub(super) args: Vec<String>,
    /// By absolute path; what is there need not be made again. None: the call itself knows whether it is done.
    pub(super) results: Vec<PathBuf>,
}

/// What the driver of Dask reads.
#[derive(Debug, Serialize)]
struct Tasks<'a> {
    program: &'a Path,
    folder: &'a Path,
    tasks: &'a [Task],
}

/// Has tasks run by Dask, in this process's folder.
pub(super) fn dask(tasks: &[Task], args: &DaskArgs) -> Result<(), Failure> {
    let (this, folder) = (std::env::current_exe()?, std::env::current_dir()?);
    let plan = Tasks { program: args.program.as_ref().unwrap_or(&this), folder: &folder, tasks };
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

/// The cells of the sweep in `out` as tasks of `chunk` cells each.
pub(super) fn cell_tasks(plan: &Plan, out: &Path, chunk: Option<usize>) -> Result<Vec<Task>, Failure> {
    let sweep = std::path::absolute(out)?;
    let store = CellStore::open(&sweep)?;
    let chunk = chunk.unwrap_or(1).max(1);
    let manifest = sweep.display().to_string();
    let task = |(number, cells): (usize, &[Cell])| {
        let (index, count) = ((number * chunk).to_string(), cells.len().to_string());
        let args = ["sweep", "cell", "--manifest", &manifest, "--index", &index, "--count", &count];
        Task { args: args.map(str::to_owned).into(), results: cells.iter().map(|cell| store.path(&cell.id)).collect() }
    };
    Ok(plan.cells.chunks(chunk).enumerate().map(task).collect())
}

/// Writes the batch script of the sweep in `out`, and submits it if that is asked for.
pub(super) fn slurm(plan: &Plan, out: &Path, args: &SlurmArgs, threads: Option<usize>) -> Result<(), Failure> {
    let (resched, sweep) = (std::env::current_exe()?, std::path::absolute(out)?);
    CellStore::open(&sweep)?;
    let cells = plan.cells.len().max(1);
    let chunk = args.chunk.unwrap_or_else(|| cells.div_ceil(500)).max(1);
    let values = [
        ("@LAST@", (cells.div_ceil(chunk) - 1).to_string()),
        ("@THREADS@", threads.unwrap_or(1).to_string()),
        ("@CHUNK@", chunk.to_string()),
        ("@RESCHED@", quoted(&resched)?),
        ("@SWEEP@", quoted(&sweep)?),
    ];
    let script = values.iter().fold(SLURM_ARRAY.to_owned(), |script, (key, value)| script.replace(key, value));
    let path = out.join(SLURM_SCRIPT);
    write_file(&path, script.as_bytes())?;
    let shown = path.display();
    if !args.submit {
        return print(&format!(
            "{shown}: {cells} cells, {chunk} a task; submit it with `sbatch {shown}`, then `resched sweep merge {}`\n",
            out.display()
        ));
    }
    let status = Command::new("sbatch").arg(&path).status().map_err(|error| {
        Failure::request(format!(
            "sbatch: expected a submission host of Slurm, but it does not start ({error}); submit {shown} there"
        ))
    })?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::work(format!("sbatch ended with {status}; its messages stand above")))
    }
}

/// A path for a script and its #SBATCH lines, where quotes are not understood.
fn quoted(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=,:@".contains(c);
    if text.is_empty() || !text.chars().all(plain) {
        let problem = "expected a path of letters, digits and /._-+=,:@ for a batch script; name another folder";
        return Err(Failure::request(format!("{}: {problem}", path.display())));
    }
    Ok(text.to_owned())
}
