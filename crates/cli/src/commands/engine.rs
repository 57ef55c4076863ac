//! Sweeps beyond one machine: the engines that are asked to run `resched sweep cell`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use resched_sweep::{CellStore, Plan};
use resched_trace::store::write_file;

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

/// This program and the folder, as another process finds them.
fn absolute(out: &Path) -> Result<(PathBuf, PathBuf), Failure> {
    Ok((std::env::current_exe()?, std::path::absolute(out)?))
}

/// Has the missing cells of the sweep in `out` run by Dask.
pub(super) fn dask(plan: &Plan, out: &Path, args: &DaskArgs, chunk: Option<usize>) -> Result<(), Failure> {
    let (resched, sweep) = absolute(out)?;
    let resched = args.program.as_ref().unwrap_or(&resched);
    CellStore::open(&sweep)?;
    let mut driver = tempfile::Builder::new().prefix("resched-dask-").suffix(".py").tempfile()?;
    driver.write_all(DASK_DRIVER.as_bytes())?;
    driver.flush()?;
    let mut command = Command::new(&args.python);
    command.arg(driver.path()).arg("--resched").arg(resched).arg("--sweep").arg(&sweep);
    command.args(["--retries", &args.retries.to_string(), "--chunk", &chunk.unwrap_or(1).max(1).to_string()]);
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
    let cells = plan.cells.len();
    Err(Failure::work(format!(
        "the driver of Dask ended with {status}; its messages stand above. If `distributed` is missing: {python} -m pip install \
         distributed. A second call makes what is missing of the {cells} cells"
    )))
}

/// Writes the batch script of the sweep in `out`, and submits it if that is asked for.
pub(super) fn slurm(plan: &Plan, out: &Path, args: &SlurmArgs, threads: Option<usize>) -> Result<(), Failure> {
    let (resched, sweep) = absolute(out)?;
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
