//! Which files of a folder belong together: a trace is of one cluster.
//!
//! The format of a file decides first. Histories, Rumen traces and topologies of Hadoop go together, and so do the parts of other logs.
//! In formats where a file is a whole trace, each file is a cluster of its own. A folder with more than one group is refused, with the
//! list of its groups; [`super::split`] makes a trace of each.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::inputs::{InputFile, Inputs};
use super::origins::Origins;
use super::paths::name_of;
use super::source::SourceFile;
use crate::formats::{FORMATS, TABLE_FORMATS};
use resched_tables::Error;

/// How many groups a message lists.
pub(super) const MOST_LISTED: usize = 20;

/// Files that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    /// Its name, for the folder of its trace.
    pub(super) name: String,
    /// The places of its files among all.
    pub(super) files: Vec<usize>,
}

/// The groups of these files, by name. Files in no known format belong to none.
pub(super) fn groups<'a>(files: impl IntoIterator<Item = (usize, &'a InputFile)>, origins: &Origins) -> Vec<Group> {
    let mut found: BTreeMap<Family, Vec<(usize, &Path)>> = BTreeMap::new();
    for (place, file) in files {
        if let Some(family) = family(file, origins) {
            found.entry(family).or_default().push((place, &file.path));
        }
    }
    let mut groups = Vec::new();
    for (Family { name: family, is_whole }, files) in found {
        if !is_whole {
            let files = files.into_iter().map(|(place, _)| place).collect();
            groups.push(Group { name: family.to_owned(), files });
            continue;
        }
        let mut names = BTreeMap::new();
        for (place, path) in files {
            let name = format!("{family}-{}", stem(path));
            let again: &mut u32 = names.entry(name.clone()).or_default();
            *again += 1;
            let name = if *again > 1 { format!("{name}-{again}") } else { name };
            groups.push(Group { name, files: vec![place] });
        }
    }
    groups
}

/// The name of a file up to its first dot.
fn stem(path: &Path) -> String {
    let name = name_of(path);
    name.split('.').find(|part| !part.is_empty()).unwrap_or("trace").to_owned()
}

/// Formats whose files may be of one cluster.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Family {
    name: &'static str,
    /// True if each file is a cluster of its own.
    is_whole: bool,
}

/// The formats that go together with a file's; `None` if it is in none that is known, or cannot be read.
fn family(file: &InputFile, origins: &Origins) -> Option<Family> {
    let mut silent = ();
    // The ingest itself reports what cannot be read.
    let source = SourceFile::open(&file.path, &[], origins, &mut silent).ok()?;
    let head = source.head();
    if head.is_empty() {
        return None;
    }
    if let Some(format) = FORMATS.iter().find(|format| (format.sniff)(head)) {
        return Some(Family { name: format.group, is_whole: format.is_whole });
    }
    let path = file.path.display().to_string();
    let table = TABLE_FORMATS.iter().find(|format| (format.sniff)(head, &path).is_some());
    table.map(|format| Family { name: format.name, is_whole: false })
}

/// Refuses a folder that holds the files of more than one cluster. Files that you name one by one, and folders beside each other, are
/// taken as you name them.
///
/// Of the files of one folder with one extension, only the first is looked at, as they are of one kind. Where each is a cluster of
/// its own, two are looked at.
///
/// # Errors
/// [`Error::Request`] with the groups.
pub(super) fn check(inputs: &Inputs) -> Result<(), Error> {
    for (number, folder) in inputs.folders.iter().enumerate() {
        let of_folder = || inputs.files.iter().enumerate().filter(|(_, file)| file.folder == Some(number));
        let mut seen: BTreeMap<(PathBuf, OsString), u32> = BTreeMap::new();
        let sample = of_folder().filter(|(_, file)| {
            let parent = file.path.parent().unwrap_or(folder).to_path_buf();
            let extension = file.path.extension().unwrap_or_default().to_os_string();
            let times = seen.entry((parent, extension)).or_default();
            *times += 1;
            *times <= 2
        });
        if groups(sample, &inputs.origins).len() > 1 {
            return Err(Error::Request(refused(folder, inputs, &groups(of_folder(), &inputs.origins))));
        }
    }
    Ok(())
}

/// The message about a folder with several groups.
fn refused(folder: &Path, inputs: &Inputs, groups: &[Group]) -> String {
    let mut text = format!(
        "{}: expected the files of one cluster, found those of {}; name the files or the folder of one of them, or write a trace of each \
         with --split:",
        folder.display(),
        groups.len()
    );
    for Group { name, files } in groups.iter().take(MOST_LISTED) {
        let first = files.first().and_then(|&place| inputs.files.get(place));
        let first = first.map_or(folder, |file| &file.path);
        let first = first.strip_prefix(folder).unwrap_or(first).display();
        // Writing to a text cannot fail.
        let _ = match files.len() {
            1 => write!(text, "\n  {name}: {first}"),
            n => write!(text, "\n  {name}: {n} files, the first is {first}"),
        };
    }
    if groups.len() > MOST_LISTED {
        let _ = write!(text, "\n  and {} more", groups.len() - MOST_LISTED);
    }
    text
}
