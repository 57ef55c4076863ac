//! `runs.json` in a folder of runs: their order, which their names do not say.

use std::fs;
use std::path::{Path, PathBuf};

use resched_tables::run;
use resched_tables::store::marker::{self, Layout};
use resched_tables::store::{MANIFEST, write_file};
use resched_tables::whole;
use serde::{Deserialize, Serialize};

use crate::Error;

/// The file.
const NAME: &str = "runs.json";

const LAYOUT: Layout = Layout {
    what: "list of runs",
    version: 1,
    by_others: false,
    again: "remove it; the runs are then in the order of their names",
};

/// The content of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct RunList {
    format_version: u32,
    /// The names of the runs' folders, in the order in which they were asked for. The first is the baseline of a report.
    runs: Vec<String>,
}

/// Notes in the folder `out` that it holds these runs, in this order. Earlier runs come after them.
///
/// # Errors
/// [`Error::Trace`] if the file cannot be written.
pub(crate) fn note<'d>(out: &Path, dirs: impl Iterator<Item = &'d Path>) -> Result<(), Error> {
    let name = |dir: &Path| dir.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut runs: Vec<String> = dirs.filter_map(name).collect();
    let earlier: Vec<String> = listed(out)?.into_iter().filter(|name| !runs.contains(name)).collect();
    runs.extend(earlier);
    let path = out.join(NAME);
    let json = marker::encode(&RunList { format_version: LAYOUT.version, runs });
    let json = json.map_err(|error| resched_tables::Error::io(&path, "write the file")(error.into()))?;
    Ok(write_file(&path, &json)?)
}

/// The names in the list of a folder; none if there is no list.
fn listed(out: &Path) -> Result<Vec<String>, Error> {
    let path = out.join(NAME);
    match whole::marker(&path) {
        Ok(bytes) => {
            let list: Result<RunList, _> = marker::decode(&bytes, &LAYOUT);
            list.map(|list| list.runs).map_err(|unusable| Error::Request(format!("{}: {unusable}", path.display())))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(resched_tables::Error::io(&path, "read")(error).into()),
    }
}

/// The path itself if it is a run or a trace; otherwise the runs directly inside the folder, in the order in which `replay` was asked
/// for them. Runs that came there in another way follow by name.
///
/// # Errors
/// [`Error::Request`] if there are none, the folder cannot be read or its list is damaged.
pub fn runs_in(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let is_run = |dir: &Path| dir.join(run::MARKER).is_file();
    if is_run(path) || path.join(MANIFEST).is_file() {
        return Ok(vec![path.to_path_buf()]);
    }
    let shown = path.display();
    let entries = fs::read_dir(path).map_err(|error| {
        Error::Request(format!("{shown}: cannot read the folder ({error}); name a run, or a folder of runs"))
    })?;
    let mut runs: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|dir| is_run(dir)).collect();
    if runs.is_empty() {
        let message =
            "expected a run (run.json) or a trace (trace.json), found neither; make runs with `resched replay`";
        return Err(Error::Request(format!("{shown}: {message}")));
    }
    let order = listed(path)?;
    let place =
        |dir: &PathBuf| order.iter().position(|name| dir.file_name().is_some_and(|folder| folder == name.as_str()));
    runs.sort_by_cached_key(|dir| (place(dir).unwrap_or(usize::MAX), dir.clone()));
    Ok(runs)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn runs_keep_the_order_of_replay() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path();
        let run = |name: &str| {
            fs::create_dir(out.join(name)).unwrap();
            fs::write(out.join(name).join(run::MARKER), "{}").unwrap();
            out.join(name)
        };
        let [fifo, fair, easy, alien] = ["fifo", "fair", "easy", "alien"].map(run);
        assert_eq!(runs_in(out).unwrap(), [&alien, &easy, &fair, &fifo].map(Clone::clone), "by name without a list");
        note(out, [fifo.as_path(), &fair].into_iter()).unwrap();
        note(out, [easy.as_path(), &fifo].into_iter()).unwrap();
        assert_eq!(runs_in(out).unwrap(), [easy, fifo.clone(), fair, alien]);
        assert_eq!(runs_in(&fifo).unwrap(), [fifo]);
        fs::write(out.join(NAME), "damaged").unwrap();
        assert!(runs_in(out).unwrap_err().to_string().contains("damaged"));
        assert!(runs_in(&out.join("none")).unwrap_err().to_string().contains("cannot read the folder"));
    }
}
