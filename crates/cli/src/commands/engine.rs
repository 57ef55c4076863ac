//! Dask and Slurm, which run parts of a sweep or of an ingest on other machines.

use std::ffi::OsString;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use resched_replay::Threads;
use resched_sweep::{Location, Plan};
use resched_tables::store::write_file;
use serde::Serialize;

use crate::children::{Ended, Program};
use crate::failure::Failure;
use crate::output::{print, print_message};

/// The Python program that gives tasks to a Dask cluster.
const DASK_DRIVER: &str = include_str!("../../engines/dask_driver.py");
/// The template of the batch script of a Slurm array.
const SLURM_ARRAY: &str = include_str!("../../engines/slurm_array.sh");
/// The folder for the script and for the logs of its tasks, inside the folder of the sweep.
const SLURM_FOLDER: &str = "slurm";
const SLURM_SCRIPT: &str = "array.sh";
/// The number of tasks of an array without `--chunk`.
const SLURM_TASKS: usize = 500;

/// Options of Dask.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "With --engine dask")]
pub(super) struct DaskArgs {
    /// The address of a scheduler, for example tcp://host:8786. Without it, a cluster is started on this machine.
    #[arg(long, value_name = "ADDRESS")]
    scheduler: Option<String>,
    /// The number of tasks that run at once in a cluster on this machine [default: one per core].
    #[arg(long)]
    workers: Option<NonZeroUsize>,
    /// A Python with the package `distributed`.
    #[arg(long, default_value = "python3", value_name = "PROGRAM")]
    python: PathBuf,
    /// How often to repeat a task if its worker is lost.
    #[arg(long, default_value_t = 3)]
    retries: u32,
}

/// The program `resched` on the machines that do the work.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Beyond this machine")]
pub(super) struct ProgramArgs {
    /// The path of resched on the workers [default: this program's path].
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
}

impl ProgramArgs {
    /// The program, and its first arguments if it is an interpreter.
    fn words(&self) -> Result<Vec<String>, Failure> {
        if let Some(program) = &self.program {
            return Ok(vec![program.display().to_string()]);
        }
        let (program, first) = crate::program::program().map_err(|error| {
            Failure::work(format!("cannot find the path of resched ({error}); name it with --program"))
        })?;
        let first = first.iter().map(|word| word.to_string_lossy().into_owned());
        Ok([program.display().to_string()].into_iter().chain(first).collect())
    }
}

/// How cells are grouped into tasks.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Beyond this machine")]
pub(super) struct ArrayArgs {
    /// The number of cells in one task [default: 1 with Dask; with Slurm, enough for 500 tasks].
    #[arg(long)]
    chunk: Option<usize>,
    /// Submit the batch script of Slurm with sbatch.
    #[arg(long)]
    submit: bool,
}

/// The arguments of one call of resched.
pub(super) type Task = Vec<String>;

/// The input of the driver of Dask, as one line of JSON.
#[derive(Debug, Serialize)]
struct Tasks<'a> {
    program: &'a [String],
    folder: &'a Path,
    /// What every task gets after its own arguments, so that it ends with its worker.
    last: [String; 1],
    tasks: &'a [Task],
}

/// Runs tasks on Dask, in the folder of this process.
pub(super) fn dask(tasks: &[Task], args: &DaskArgs, program: &ProgramArgs) -> Result<(), Failure> {
    if tasks.is_empty() {
        return Ok(());
    }
    let folder = std::env::current_dir().map_err(|error| {
        Failure::work(format!("cannot find the current folder ({error}); change to another folder"))
    })?;
    let last = [format!("--{}", crate::END_WITH_STDIN)];
    let program = program.words()?;
    let plan = Tasks { program: &program, folder: &folder, last, tasks };
    let mut plan = serde_json::to_vec(&plan).map_err(|error| Failure::work(error.to_string()))?;
    plan.push(b'\n');
    let python = args.python.display();
    match args.driver().run(&plan).map_err(cannot_keep)? {
        Ended::Done(_) => Ok(()),
        Ended::NotStarted(reason) => Err(Failure::request(format!(
            "{python}: expected a Python with `distributed`, but it does not start: {reason}; name another --python"
        ))),
        Ended::Failed(status) => Err(Failure::work(format!(
            "the driver of Dask ended with {status}; see its messages above. If `distributed` is missing, install it: {python} -m \
             pip install distributed. Run the same command again to finish the missing cells"
        ))),
    }
}

impl DaskArgs {
    fn driver(&self) -> Program<'_> {
        let mut args: Vec<OsString> = ["-c", DASK_DRIVER, "--retries"].map(Into::into).into();
        args.push(self.retries.to_string().into());
        if let Some(scheduler) = &self.scheduler {
            args.extend(["--scheduler".into(), scheduler.into()]);
        }
        if let Some(workers) = self.workers {
            args.extend(["--workers".into(), workers.to_string().into()]);
        }
        Program { name: self.python.as_os_str(), args, scratch: true }
    }
}

/// The failure to start a keeper, which is this program.
fn cannot_keep(error: std::io::Error) -> Failure {
    Failure::work(format!(
        "cannot start the process that ends other programs together with resched ({error}); try again"
    ))
}

/// The missing cells of a sweep, cut into chunks, and what a worker needs to run a chunk.
struct Chunks {
    /// The place where workers read the plan.
    manifest: Location,
    /// The number of cells in a chunk.
    size: usize,
    /// The numbers of the chunks with missing cells. Chunk `n` begins with cell `n * size`.
    numbers: Vec<usize>,
}

impl Chunks {
    fn new(plan: &Plan, out: &Location, size: usize) -> Result<Self, Failure> {
        let missing = plan.store(out)?.missing(&plan.cells.iter().collect::<Vec<_>>())?;
        let size = size.max(1);
        let mut numbers: Vec<usize> = missing.iter().map(|(place, _)| place / size).collect();
        numbers.dedup();
        print_message(&format!("{} of {} cells to do, as {} tasks", missing.len(), plan.cells.len(), numbers.len()));
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

/// The option of `resched sweep cell` that checks each replay.
const CHECK: &str = "--check";

/// Replays the missing cells of the sweep in `out` on Dask, with a check or without.
pub(super) fn dask_cells(
    plan: &Plan,
    out: &Location,
    check: bool,
    array: &ArrayArgs,
    args: &DaskArgs,
    program: &ProgramArgs,
) -> Result<(), Failure> {
    let Chunks { manifest, size, numbers } = Chunks::new(plan, out, array.chunk.unwrap_or(1))?;
    let (manifest, count) = (manifest.to_string(), size.to_string());
    let task = |number: usize| {
        let index = (number * size).to_string();
        let words = ["sweep", "cell", "--manifest", &manifest, "--index", &index, "--count", &count, "--threads", "1"];
        words.into_iter().chain(check.then_some(CHECK)).map(str::to_owned).collect()
    };
    dask(&numbers.into_iter().map(task).collect::<Vec<Task>>(), args, program)
}

/// Writes the batch script for the missing cells of the sweep in `out`, each with so many threads, with a check or without. Submits it
/// if the user asks for it.
pub(super) fn slurm(
    plan: &Plan,
    out: &Path,
    (threads, check): (Option<Threads>, bool),
    array: &ArrayArgs,
    program: &ProgramArgs,
) -> Result<(), Failure> {
    let sweep = std::path::absolute(out).map_err(|error| cannot_write(out, &error))?;
    let size = array.chunk.unwrap_or_else(|| plan.cells.len().div_ceil(SLURM_TASKS));
    let chunks = Chunks::new(plan, &Location::Folder(sweep.clone()), size)?;
    let merge = format!("`resched sweep merge {}`", out.display());
    if chunks.numbers.is_empty() {
        return print(format!("all cells are done; make the tables with {merge}\n"));
    }
    let program = program.words()?;
    let values = [
        ("@TASKS@", chunks.ranges()),
        ("@THREADS@", threads.unwrap_or(Threads::ONE).to_string()),
        ("@CHUNK@", chunks.size.to_string()),
        ("@CHECK@", if check { format!(" {CHECK}") } else { String::new() }),
        ("@RESCHED@", program.iter().map(|word| plain(word)).collect::<Result<Vec<_>, _>>()?.join(" ")),
        ("@MANIFEST@", plain(&chunks.manifest.to_string())?),
        ("@LOGS@", plain(&sweep.join(SLURM_FOLDER).display().to_string())?),
        ("@SWEEP@", plain(&sweep.display().to_string())?),
    ];
    let script = values.iter().fold(SLURM_ARRAY.to_owned(), |script, (key, value)| script.replace(key, value));
    let path = out.join(SLURM_FOLDER).join(SLURM_SCRIPT);
    // Slurm does not make the folder of its logs.
    fs::create_dir_all(out.join(SLURM_FOLDER)).map_err(|error| cannot_write(&out.join(SLURM_FOLDER), &error))?;
    write_file(&path, script.as_bytes())?;
    let shown = path.display();
    if !array.submit {
        return print(format!(
            "{shown}: {} cells per task; submit it with `sbatch {shown}`, then run {merge}\n",
            chunks.size
        ));
    }
    let sbatch = Program { name: "sbatch".as_ref(), args: vec![path.as_os_str().to_owned()], scratch: false };
    match sbatch.run(&[]).map_err(cannot_keep)? {
        Ended::Done(reported) => print(format!("{reported}When the array is done, run {merge}\n")),
        Ended::NotStarted(reason) => Err(Failure::request(format!(
            "sbatch: cannot start it: {reason}; submit {shown} on a host that has sbatch"
        ))),
        Ended::Failed(status) => Err(Failure::work(format!("sbatch ended with {status}; see its messages above"))),
    }
}

fn cannot_write(folder: &Path, error: &std::io::Error) -> Failure {
    Failure::request(format!("{}: cannot write into this folder ({error}); name another --out", folder.display()))
}

/// Checks that a path or address needs no quotes: #SBATCH lines do not understand them.
fn plain(text: &str) -> Result<String, Failure> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=,:@".contains(c);
    if text.is_empty() || !text.chars().all(is_plain) {
        let problem = "a batch script needs a path of letters, digits and /._-+=,:@; name another folder";
        return Err(Failure::request(format!("{text}: {problem}")));
    }
    Ok(text.to_owned())
}
