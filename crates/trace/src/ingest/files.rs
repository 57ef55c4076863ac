//! Which files a request names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::formats::{conf_xml, job_id_in_name};

/// The files to read, in order.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    /// What may be histories.
    pub(super) files: Vec<InputFile>,
    /// Confs that were named themselves, by job id.
    pub(super) confs: BTreeMap<String, PathBuf>,
    /// The folders that were named.
    pub(super) folders: Vec<PathBuf>,
    /// Things in folders that are neither file nor folder, or lead nowhere.
    pub(super) unreadable: u64,
}

/// A file to read.
#[derive(Debug)]
pub(super) struct InputFile {
    pub(super) path: PathBuf,
    /// Its size as stored.
    pub(super) bytes: u64,
    /// The folder of [`Inputs::folders`] that it was found in; `None` if it was named itself.
    pub(super) folder: Option<usize>,
}

/// Finds the files in `paths`: each is a file or a folder of any depth.
pub(super) fn find(paths: &[PathBuf]) -> Result<Inputs, Error> {
    if paths.is_empty() {
        return Err(Error::Request("expected a history file or folder, found none; name at least one".to_owned()));
    }
    let mut inputs = Inputs::default();
    for path in paths {
        let metadata = fs::metadata(path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => Error::Request(format!(
                "{}: expected a history file or folder, found nothing of that name; check the path",
                path.display()
            )),
            _ => Error::io(path, "look at")(source),
        })?;
        let name = name_of(path);
        if metadata.is_dir() {
            inputs.folders.push(path.clone());
            walk(path, &mut inputs)?;
        } else if !metadata.is_file() {
            return Err(Error::Request(format!(
                "{}: expected a file or folder, found a device or pipe; save it to a file first",
                path.display()
            )));
        } else if let Some(job) = job_id_in_name(&name).filter(|_| conf_xml::is_conf_name(&name)) {
            inputs.confs.entry(job).or_insert_with(|| path.clone());
        } else {
            inputs.files.push(InputFile { path: path.clone(), bytes: metadata.len(), folder: None });
        }
    }
    Ok(inputs)
}

/// The last part of a path as text.
pub(super) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Adds the files below `folder`. A folder that was visited before, by whatever path, is passed over: so links may loop.
fn walk(folder: &Path, inputs: &mut Inputs) -> Result<(), Error> {
    let mut visited = BTreeSet::new();
    let root = inputs.folders.len().checked_sub(1);
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(path) = waiting.pop() {
        let Some(metadata) = metadata_in_folder(&path)? else {
            inputs.unreadable += 1;
            continue;
        };
        if metadata.is_dir() {
            let real = fs::canonicalize(&path).map_err(Error::io(&path, "resolve"))?;
            if visited.insert(real) {
                waiting.extend(entries(&path)?.into_iter().rev());
            }
        } else if metadata.is_file() {
            inputs.files.push(InputFile { path, bytes: metadata.len(), folder: root });
        } else {
            inputs.unreadable += 1;
        }
    }
    Ok(())
}

/// What `path` leads to; `None` for a link that leads nowhere.
fn metadata_in_folder(path: &Path) -> Result<Option<Metadata>, Error> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(_) if fs::symlink_metadata(path).is_ok_and(|link| link.is_symlink()) => Ok(None),
        Err(source) => Err(Error::io(path, "look at")(source)),
    }
}

/// The entries of a folder that may lead to histories, sorted.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io(folder, "list"))? {
        let entry = entry.map_err(Error::io(folder, "list"))?;
        if !is_companion(&entry.file_name().to_string_lossy()) {
            paths.push(entry.path());
        }
    }
    paths.sort_unstable();
    Ok(paths)
}

/// Whether a file of this name lies beside histories but is none: hidden files and checksums, summaries, confs.
fn is_companion(name: &str) -> bool {
    name.starts_with('.') || name.ends_with(".summary") || name.ends_with(".crc") || conf_xml::is_conf_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn companions_are_known_by_name() {
        for name in [".x.crc", ".hidden", "job_1_2.summary", "job_1_2_conf.xml", "a.crc"] {
            assert!(is_companion(name), "{name}");
        }
        assert!(!is_companion("job_1_2-1-user.jhist"));
    }

    #[test]
    fn a_folder_is_walked_in_order_of_paths_and_loops_end() -> Result<(), Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        fs::create_dir_all(dir.path().join("done/2018/05"))?;
        for name in ["done/2018/05/b.jhist", "done/2018/05/a.jhist", "done/z", ".hidden"] {
            fs::write(dir.path().join(name), "x")?;
        }
        std::os::unix::fs::symlink(dir.path(), dir.path().join("done/loop"))?;
        std::os::unix::fs::symlink("/nowhere/at/all", dir.path().join("done/broken"))?;
        let inputs = find(&[dir.path().to_path_buf()])?;
        let found: Vec<_> =
            inputs.files.iter().map(|file| file.path.strip_prefix(dir.path())).collect::<Result<_, _>>()?;
        assert_eq!(found, [Path::new("done/2018/05/a.jhist"), Path::new("done/2018/05/b.jhist"), Path::new("done/z")]);
        assert_eq!(inputs.unreadable, 1);
        Ok(())
    }

    #[test]
    fn a_path_to_nothing_is_a_wrong_request() {
        assert!(find(&[PathBuf::from("/no/such/file")]).is_err_and(|error| error.is_request()));
        assert!(find(&[]).is_err_and(|error| error.is_request()));
    }
}
