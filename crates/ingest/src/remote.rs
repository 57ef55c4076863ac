//! Finds the sources under an address of an object store. They are taken as a folder with the same files is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use resched_objects::{Object, Objects, Url};

use super::inputs::{InputFile, Inputs};
use super::origins::{Origins, of_store};
use super::paths::{is_companion, is_rolling_log, name_of, parts_of_log};
use crate::formats::{conf_xml, job_id_in_name};
use resched_tables::Error;

/// Adds the object at an address, or those below it.
pub(super) fn find(url: &Url, inputs: &mut Inputs, origins: &mut Origins) -> Result<(), Error> {
    let objects = Arc::new(Objects::open(url).map_err(of_store)?);
    let top = PathBuf::from(objects.shown(""));
    if let Some(object) = objects.object().map_err(of_store)? {
        add_named(top, object, inputs, origins);
        return Ok(());
    }
    let listed = objects.list().map_err(of_store)?;
    if listed.is_empty() {
        return Err(Error::Request(format!(
            "{}: expected a history or a prefix of histories, found no object there; check the address",
            top.display()
        )));
    }
    inputs.folders.push(top.clone());
    add_listed(&top, listed, inputs, origins);
    Ok(())
}

/// An object that was named.
fn add_named(path: PathBuf, object: Object, inputs: &mut Inputs, origins: &mut Origins) {
    let name = name_of(&path);
    match job_id_in_name(&name).filter(|_| conf_xml::is_conf_name(&name)) {
        Some(job) => {
            inputs.confs.entry(job).or_insert_with(|| path.clone());
        }
        None => {
            let file = InputFile { path: path.clone(), rest: Vec::new(), bytes: object.bytes(), folder: None };
            inputs.files.push(file);
        }
    }
    origins.add(path, object);
}

/// Objects below an address, in the order in which a folder is walked.
fn add_listed(top: &Path, listed: Vec<Object>, inputs: &mut Inputs, origins: &mut Origins) {
    let all: BTreeMap<PathBuf, Object> = listed.into_iter().map(|object| (top.join(object.name()), object)).collect();
    let sizes = all.iter().map(|(path, object)| (path.as_path(), object.bytes())).collect();
    let root = inputs.folders.len().checked_sub(1);
    inputs.files.extend(arrange(top, &sizes, root));
    for (path, object) in all {
        origins.add(path, object);
    }
}

/// The files to read of these paths with sizes, all of which are below `top`.
fn arrange(top: &Path, sizes: &BTreeMap<&Path, u64>, root: Option<usize>) -> Vec<InputFile> {
    let mut paths: Vec<&Path> = Vec::new();
    let following = sizes.keys().skip(1).map(Some).chain([None]);
    for ((path, bytes), next) in sizes.iter().zip(following) {
        // Tools mark a folder by an empty object of its name.
        let is_mark = *bytes == 0 && next.is_some_and(|next| next.starts_with(path));
        let is_hidden =
            path.strip_prefix(top).is_ok_and(|below| below.iter().any(|part| is_companion(&part.to_string_lossy())));
        if !is_mark && !is_hidden {
            paths.push(path);
        }
    }
    let logs = rolling_logs(top, &paths);
    let mut files = Vec::new();
    let mut done = BTreeSet::new();
    for path in paths {
        // The ancestors of a path begin with itself and its parent.
        let folder = path.ancestors().skip(1).filter(|folder| logs.contains_key(folder)).last();
        let parts = match folder {
            Some(folder) if !done.insert(folder) => continue,
            Some(folder) => logs.get(folder).cloned().unwrap_or_default(),
            None => vec![path.to_path_buf()],
        };
        let bytes =
            parts.iter().filter_map(|part| sizes.get(part.as_path())).fold(0u64, |sum, part| sum.saturating_add(*part));
        let mut parts = parts.into_iter();
        files.extend(parts.next().map(|path| InputFile { path, rest: parts.collect(), bytes, folder: root }));
    }
    files
}

/// The parts of each log that rolls over, in order, by its folder.
fn rolling_logs<'a>(top: &Path, paths: &[&'a Path]) -> BTreeMap<&'a Path, Vec<PathBuf>> {
    let mut folders: BTreeMap<&Path, Vec<PathBuf>> = BTreeMap::new();
    for path in paths {
        let folder = path.parent().filter(|folder| folder.starts_with(top) && is_rolling_log(folder));
        if let Some(folder) = folder {
            folders.entry(folder).or_default().push(path.to_path_buf());
        }
    }
    let logs = folders.into_iter().map(|(folder, paths)| (folder, parts_of_log(paths)));
    logs.filter(|(_, parts)| !parts.is_empty()).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use super::super::files::find;
    use super::*;

    /// A folder and a prefix with the same files give the same sources in the same order.
    #[test]
    fn objects_are_arranged_as_the_files_of_a_folder() {
        let dir = tempfile::tempdir().unwrap();
        let names = [
            "b.zstd",
            "a/log",
            "a.b/log",
            "a-b",
            "preferred.csv",
            ".hidden/log",
            "job_1_1_conf.xml",
            "eventlog_v2_app-1/events_10_app-1.zstd",
            "eventlog_v2_app-1/events_2_app-1",
            "eventlog_v2_app-1/events_1_app-1",
            "eventlog_v2_app-1/appstatus_app-1.inprogress",
            "eventlog_v2_app-1/deeper/log",
            "eventlog_v2_app-2/events_3_app-2.compact",
            "eventlog_v2_app-2/events_2_app-2",
            "eventlog_v2_app-2/events_4_app-2",
            "eventlog_v2_none/other",
            "deep/eventlog_v2_app-3/events_1_app-3.lz4",
            "app-9.inprogress",
        ];
        for name in names {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
        let paths: Vec<PathBuf> = names.iter().map(|name| dir.path().join(name)).collect();
        let mut sizes: BTreeMap<&Path, u64> =
            paths.iter().zip(names).map(|(path, name)| (path.as_path(), name.len() as u64)).collect();
        // As tools mark folders.
        let marks = ["a", "eventlog_v2_app-1", "deep"].map(|name| dir.path().join(name));
        sizes.extend(marks.iter().map(|path| (path.as_path(), 0)));
        let shown = |files: &[InputFile]| -> Vec<_> {
            files.iter().map(|file| (file.path.clone(), file.rest.clone(), file.bytes, file.folder)).collect()
        };
        let expected = find(&[dir.path().to_path_buf()]).unwrap();
        assert_eq!(shown(&arrange(dir.path(), &sizes, Some(0))), shown(&expected.files));
        assert_eq!(expected.files.len(), 9);
    }
}
