//! Finds the conf of a job: in the same file, beside it, or among those that were named.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::files::leads_out;
use super::inputs::Inputs;
use super::origins::Origins;
use super::paths::name_of;
use super::source::SourceFile;
use crate::formats::conf_xml::{self, JobConf};
use crate::formats::{job_id_in_name, text_history};
use resched_tables::Error;
use resched_tables::model::{JobRecord, TaskKind};
use resched_tables::named::as_text;
use resched_tables::store::Source;

/// The format of a conf in the manifest.
pub(super) const CONF_FORMAT: &str = "hadoop-conf";

/// The confs that the file being read may need.
pub(super) struct Confs<'a> {
    named: &'a BTreeMap<String, PathBuf>,
    origins: &'a Origins,
    /// The folder of the file, and the confs in it.
    folder: Option<(PathBuf, BTreeMap<String, PathBuf>)>,
    /// The confs within the file.
    within: BTreeMap<String, JobConf>,
}

/// A conf that was found.
pub(super) struct Found {
    pub(super) conf: JobConf,
    /// The file it came from, if that is a separate file.
    pub(super) source: Option<Source>,
    /// True if it could be read to its end.
    pub(super) whole: bool,
}

/// What was found when a file was entered.
pub(super) struct Entered {
    /// Confs within the file that are damaged.
    pub(super) damaged: u64,
    /// Confs beside the file that are links out of the folder, and are not read.
    pub(super) outside: u64,
}

impl<'a> Confs<'a> {
    pub(super) fn new(inputs: &'a Inputs) -> Self {
        Self { named: &inputs.confs, origins: &inputs.origins, folder: None, within: BTreeMap::new() }
    }

    /// Prepares for the jobs of a file. A concatenated file is read once more for its confs, which may stand after
    /// their histories. They are small, so jobs need not be held back. `root` is the folder that was named and that the file is in; without
    /// it, confs must be in the folder of the file.
    pub(super) fn enter(&mut self, path: &Path, root: Option<&Path>, concatenated: bool) -> Result<Entered, Error> {
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut outside = 0;
        if self.folder.as_ref().is_none_or(|(folder, _)| folder != parent) {
            let (confs, left_out) = match self.origins.object(path) {
                Some(_) => (by_job(self.origins.confs_beside(path)), 0),
                None => confs_in(parent, root.unwrap_or(parent)),
            };
            self.folder = Some((parent.to_path_buf(), confs));
            outside = left_out;
        }
        self.within = BTreeMap::new();
        if !concatenated {
            return Ok(Entered { damaged: 0, outside });
        }
        let mut silent = ();
        let mut source = SourceFile::open(path, &[], self.origins, &mut silent)?;
        let (confs, damaged) = text_history::read_confs(&mut source.content()).map_err(Error::io(path, "read"))?;
        self.within = confs;
        Ok(Entered { damaged, outside })
    }

    /// The conf of a job. Most jobs of most formats have none, so that it lies in a box: an empty one takes no time to hand over.
    pub(super) fn find(&mut self, job_id: &str) -> Result<Option<Box<Found>>, Error> {
        if let Some(conf) = self.within.get(job_id) {
            return Ok(Some(Box::new(Found { conf: conf.clone(), source: None, whole: true })));
        }
        let beside = self.folder.as_ref().and_then(|(_, confs)| confs.get(job_id));
        let Some(path) = beside.or_else(|| self.named.get(job_id)) else { return Ok(None) };
        let mut silent = ();
        let mut file = SourceFile::open(path, &[], self.origins, &mut silent)?;
        let (conf, whole) = conf_xml::parse(&mut file.content());
        let (mut source, cut) = file.close(path, CONF_FORMAT)?;
        Ok(Some(Box::new(Found { conf, source: source.pop(), whole: whole && !cut })))
    }
}

/// The confs in a folder by job id, and how many of them are links that lead out of `root`. A folder that cannot be listed has none.
/// That is no error, because the file in it could be opened.
fn confs_in(folder: &Path, root: &Path) -> (BTreeMap<String, PathBuf>, u64) {
    let root = fs::canonicalize(root).unwrap_or_default();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| job_of_conf(path).is_some() && path.is_file()).collect();
    paths.sort_unstable();
    let all = paths.len();
    paths.retain(|path| !leads_out(path, &root));
    let outside = (all - paths.len()) as u64;
    (by_job(paths), outside)
}

/// The confs among these paths by job id.
fn by_job(paths: impl IntoIterator<Item = PathBuf>) -> BTreeMap<String, PathBuf> {
    let mut confs = BTreeMap::new();
    for path in paths {
        if let Some(job) = job_of_conf(&path) {
            confs.entry(job).or_insert(path);
        }
    }
    confs
}

/// The job whose conf a file of this name is.
fn job_of_conf(path: &Path) -> Option<String> {
    let name = name_of(path);
    job_id_in_name(&name).filter(|_| !name.starts_with('.') && conf_xml::is_conf_name(&name))
}

/// Fills in values that the history lacks. A job's own request is that of its maps.
pub(super) fn apply(conf: JobConf, record: &mut JobRecord) {
    let job = &mut record.job;
    job.queue = job.queue.take().or(conf.queue);
    job.name = job.name.take().or(conf.name);
    job.declared_maps = job.declared_maps.or(conf.maps);
    job.declared_reduces = job.declared_reduces.or(conf.reduces);
    job.requested_memory = job.requested_memory.or(conf.map_memory);
    job.requested_cpu = job.requested_cpu.or(conf.map_cpu);
    let [of_maps, of_reduces] =
        conf.resources.map(|all| as_text(all.iter().map(|(name, &amount)| (name.as_str(), amount))));
    for task in &mut record.tasks {
        let (memory, cpu, resources) = match task.task.kind {
            TaskKind::Map => (conf.map_memory, conf.map_cpu, &of_maps),
            TaskKind::Reduce => (conf.reduce_memory, conf.reduce_cpu, &of_reduces),
            TaskKind::Setup | TaskKind::Cleanup | TaskKind::Master | TaskKind::Other => (None, None, &None),
        };
        task.task.memory_request = task.task.memory_request.or(memory);
        task.task.cpu_request = task.task.cpu_request.or(cpu);
        if task.task.resources.is_none() {
            task.task.resources.clone_from(resources);
        }
    }
}
