//! Finds the files that a request names.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use resched_objects::Address;

use super::inputs::{InputFile, Inputs};
use super::origins::Origins;
use super::paths::{is_companion, is_rolling_log, is_standard_input, name_of, parts_of_log};
use super::remote;
use super::rolled;

use crate::formats::{conf_xml, job_id_in_name};
use resched_tables::Error;

/// Finds the files in `paths`: each is a file, a folder of any depth, or an address of an object store.
pub(super) fn find(paths: &[PathBuf]) -> Result<Inputs, Error> {
    if paths.is_empty() {
        return Err(Error::Request("expected a history file or folder, found none; name at least one".to_owned()));
    }
    let mut inputs = Inputs::default();
    let mut origins = Origins::default();
    for path in paths {
        let path = &match Address::new(path.clone()).map_err(|problem| not_an_address(path, &problem))? {
            Address::Path(path) => path,
            Address::Objects(url) => {
                remote::find(&url, &mut inputs, &mut origins)?;
                continue;
            }
        };
        if is_standard_input(path) {
            inputs.files.push(InputFile { path: path.clone(), rest: Vec::new(), bytes: 0, folder: None });
            continue;
        }
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
            check_not_only_links(path, &inputs)?;
        } else if !metadata.is_file() {
            return Err(Error::Request(format!(
                "{}: expected a file or folder, found a device or pipe; save it to a file first",
                path.display()
            )));
        } else if let Some(job) = job_id_in_name(&name).filter(|_| conf_xml::is_conf_name(&name)) {
            inputs.confs.entry(job).or_insert_with(|| path.clone());
        } else {
            inputs.files.push(InputFile { path: path.clone(), rest: Vec::new(), bytes: metadata.len(), folder: None });
        }
    }
    inputs.origins = Arc::new(origins);
    rolled::join(&mut inputs);
    Ok(inputs)
}

fn not_an_address(path: &Path, problem: &str) -> Error {
    Error::Request(format!("{}: {problem}; correct it", path.display()))
}

/// A folder from which nothing is read because all in it are links that lead elsewhere.
fn check_not_only_links(folder: &Path, inputs: &Inputs) -> Result<(), Error> {
    if !inputs.files.is_empty() || inputs.outside == 0 {
        return Ok(());
    }
    Err(Error::Request(format!(
        "{}: expected job histories, found only links that lead out of this folder ({}), which are not followed; name their \
         targets",
        folder.display(),
        inputs.outside
    )))
}

/// True if `path` is a link that leads out of the folder whose real path is `root`.
pub(super) fn leads_out(path: &Path, root: &Path) -> bool {
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    is_link && fs::canonicalize(path).is_ok_and(|real| !real.starts_with(root))
}

/// Adds the files below `folder`. A folder that was visited before, by any path, is skipped, so links may form a loop. Links that lead
/// out of the folder are counted and not followed: whoever filled the folder must not choose what else is read.
fn walk(folder: &Path, inputs: &mut Inputs) -> Result<(), Error> {
    let mut visited = BTreeSet::new();
    let top = fs::canonicalize(folder).map_err(Error::io(folder, "resolve"))?;
    let root = inputs.folders.len().checked_sub(1);
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(path) = waiting.pop() {
        if path != folder && leads_out(&path, &top) {
            inputs.outside += 1;
            continue;
        }
        let Some(metadata) = metadata_in_folder(&path)? else {
            inputs.unreadable += 1;
            continue;
        };
        if metadata.is_dir() {
            let real = fs::canonicalize(&path).map_err(Error::io(&path, "resolve"))?;
            if visited.insert(real) {
                let found = entries(&path)?;
                let parts: Vec<PathBuf> = found.iter().filter(|part| !leads_out(part, &top)).cloned().collect();
                if let Some(log) = rolling_log(&path, &parts, root)? {
                    inputs.outside += (found.len() - parts.len()) as u64;

                    inputs.files.push(log);
                } else {
                    waiting.extend(found.into_iter().rev());
                }
            }
        } else if metadata.is_file() {
            inputs.files.push(InputFile { path, rest: Vec::new(), bytes: metadata.len(), folder: root });
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

/// The log in a folder `eventlog_v2_<application>` of Spark 3. Nothing else in the folder is a log.
fn rolling_log(folder: &Path, entries: &[PathBuf], root: Option<usize>) -> Result<Option<InputFile>, Error> {
    if !is_rolling_log(folder) {
        return Ok(None);
    }
    let files = entries.iter().filter(|path| path.is_file()).cloned().collect();
    let mut paths = parts_of_log(files).into_iter();
    let Some(path) = paths.next() else { return Ok(None) };
    let rest: Vec<PathBuf> = paths.collect();
    let mut bytes = 0u64;
    for path in std::iter::once(&path).chain(&rest) {
        bytes = bytes.saturating_add(fs::metadata(path).map_err(Error::io(path, "look at"))?.len());
    }
    Ok(Some(InputFile { path, rest, bytes, folder: root }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn companions_are_known_by_name() {
        for name in [".x.crc", ".hidden", "job_1_2.summary", "job_1_2_conf.xml", "a.crc", "preferred.csv"] {
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
    fn links_out_of_a_folder_are_not_followed() -> Result<(), Box<dyn std::error::Error>> {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir()?;
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("logs/sub/eventlog_v2_app_1"))?;
        fs::create_dir_all(at("logs-too/deep"))?;
        for name in ["logs/a", "logs/sub/b", "logs/sub/eventlog_v2_app_1/events_1_app_1", "logs-too/deep/c", "secret"] {
            fs::write(at(name), "x")?;
        }
        symlink("../secret", at("logs/file"))?;
        symlink(at("logs-too"), at("logs/folder"))?;
        symlink("/", at("logs/all"))?;
        symlink("sub/b", at("logs/within"))?;
        symlink(at("secret"), at("logs/sub/eventlog_v2_app_1/events_2_app_1"))?;
        symlink("logs", at("named"))?;
        for (name, count) in [("logs", 4), ("named", 4), ("logs-too", 0)] {
            let inputs = find(&[at(name)])?;
            assert_eq!((inputs.outside, inputs.unreadable), (count, 0), "{name}");
            let is_below = |file: &InputFile| file.path.starts_with(at(name)) && file.rest.is_empty();
            assert!(!inputs.files.is_empty() && inputs.files.iter().all(is_below), "{:?}", inputs.files);
        }
        assert_eq!(find(&[at("logs")])?.files.len(), 4);
        fs::create_dir(at("empty"))?;
        symlink(at("logs"), at("empty/link"))?;
        let problem = find(&[at("empty")]).unwrap_err().to_string();
        assert!(problem.contains("found only links that lead out of this folder (1)"), "{problem}");
        assert_eq!(find(&[at("empty/link")])?.files.len(), 4, "a link that is named is followed");
        Ok(())
    }

    #[test]
    fn a_log_that_rolls_over_is_one_input() -> Result<(), Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        let folder = dir.path().join("logs/eventlog_v2_app_1");
        fs::create_dir_all(&folder)?;
        let write = |name: &str| fs::write(folder.join(name), "xy");
        for name in ["appstatus_app_1", "events_1_app_1", "events_2_app_1", "events_10_app_1.zstd", "notes"] {
            write(name)?;
        }
        let found = |path: &Path| -> Result<_, Error> {
            let inputs = find(&[path.to_path_buf()])?;
            let [file] = inputs.files.as_slice() else { panic!("{inputs:?}") };
            Ok((
                std::iter::once(&file.path).chain(&file.rest).map(|path| name_of(path)).collect::<Vec<_>>(),
                file.bytes,
            ))
        };
        let whole = ["events_1_app_1", "events_2_app_1", "events_10_app_1.zstd"].map(str::to_owned);
        assert_eq!(found(dir.path())?, (whole.to_vec(), 6));
        assert_eq!(found(&folder)?.0, whole);
        write("events_2_app_1.compact")?;
        assert_eq!(found(&folder)?.0, ["events_2_app_1.compact", "events_10_app_1.zstd"]);
        Ok(())
    }

    #[test]
    fn standard_input_is_a_file_of_its_own() -> Result<(), Error> {
        let inputs = find(&[PathBuf::from("-")])?;
        let [file] = inputs.files.as_slice() else { panic!("{inputs:?}") };
        assert!(is_standard_input(&file.path) && file.folder.is_none());
        assert!(!is_standard_input(Path::new("./-")));
        Ok(())
    }

    #[test]
    fn a_path_to_nothing_is_a_wrong_request() {
        assert!(find(&[PathBuf::from("/no/such/file")]).is_err_and(|error| error.is_request()));
        assert!(find(&[]).is_err_and(|error| error.is_request()));
    }
}
