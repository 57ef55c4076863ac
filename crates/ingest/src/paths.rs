//! What the names of files say.

use std::path::{Path, PathBuf};

use crate::formats::{conf_xml, spark};

/// True if a path stands for standard input, which can be read only once: `-`. A file of that name is `./-`.
pub(super) fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The last part of a path as text.
pub(super) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// True if a folder of this name may hold a log that rolls over.
pub(super) fn is_rolling_log(folder: &Path) -> bool {
    name_of(folder).starts_with("eventlog_v2_")
}

/// The files of a log that rolls over, `events_<n>_<application>` in the order of their numbers. A compacted one (`….compact`) stands
/// for those up to its number.
pub(super) fn parts_of_log(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut parts: Vec<(u64, bool, PathBuf)> = Vec::new();
    for path in files {
        let name = name_of(&path);
        let number =
            name.strip_prefix("events_").and_then(|rest| rest.split_once('_')).and_then(|(n, _)| n.parse().ok());
        if let Some(number) = number {
            parts.push((number, name.ends_with(".compact"), path));
        }
    }
    let compacted = parts.iter().filter(|(_, compact, _)| *compact).map(|(number, ..)| *number).max();
    parts.retain(|(number, compact, _)| Some(*number) > compacted || (*compact && Some(*number) == compacted));
    parts.sort_unstable();
    parts.into_iter().map(|(.., path)| path).collect()
}

/// True if a file of this name lies beside histories but is not one: hidden files and checksums, summaries, confs, preferred hosts.
pub(super) fn is_companion(name: &str) -> bool {
    name == spark::PREFERRED
        || name.starts_with('.')
        || name.ends_with(".summary")
        || name.ends_with(".crc")
        || conf_xml::is_conf_name(name)
}
