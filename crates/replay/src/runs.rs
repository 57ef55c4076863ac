//! One folder for the folders of several runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use resched_policies::PolicySpec;
use resched_trace::run;
use resched_trace::store::StagedDir;

use crate::run_list::note;
use crate::{Error, FolderLock};

/// A folder for runs, with a folder for each policy. It is locked until this is dropped.
#[derive(Debug)]
pub struct RunFolders {
    dirs: Vec<PathBuf>,
    _lock: FolderLock,
}

impl RunFolders {
    /// Checks that the runs of all `policies` can be written to `out`, and locks it.
    ///
    /// # Errors
    /// [`Error::Request`] if `out` is a trace or a run itself or another command writes it, if something other than a run stands
    /// where one should, or if two policies are the same.
    pub fn open(out: &Path, policies: &[PolicySpec]) -> Result<Self, Error> {
        if [run::MARKER, "trace.json"].iter().any(|marker| out.join(marker).is_file()) {
            let problem = "expected a folder for runs, found a trace or a run; name another --out";
            return Err(Error::Request(format!("{}: {problem}", out.display())));
        }
        let mut seen = BTreeSet::new();
        let folder = |policy: &PolicySpec| {
            let name = file_name(&policy.label());
            if !seen.insert(name.clone()) {
                return Err(Error::Request(format!("policy `{}` is listed twice; leave one out", policy.label())));
            }
            let dir = out.join(name);
            StagedDir::check(&dir, run::MARKER)?;
            Ok(dir)
        };
        let dirs = policies.iter().map(folder).collect::<Result<_, Error>>()?;
        Ok(Self { dirs, _lock: FolderLock::inside(out)? })
    }

    /// Notes the order of the runs in their folder, for [`crate::runs_in`].
    ///
    /// # Errors
    /// [`Error::Sim`] if it cannot be written.
    pub fn note_order(&self, out: &Path) -> Result<(), Error> {
        note(out, &self.dirs)
    }

    /// The folder of each policy's run, in the order of the policies.
    pub fn dirs(&self) -> &[PathBuf] {
        &self.dirs
    }
}

/// A label without the characters that a file name cannot have.
fn file_name(label: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.:=,+".contains(c) { c } else { '_' };
    label.chars().map(plain).collect()
}
