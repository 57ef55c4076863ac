//! One folder for the folders of several runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use resched_policies::PolicySpec;
use resched_tables::run::{self, RunTrace};
use resched_tables::store::{Claim, FolderLock, MANIFEST, Out, place, refuse_link, sha256};

use crate::run_list::note;
use crate::{Error, World};

/// A folder for runs, with a folder for each policy. It is locked until this is dropped.
#[derive(Debug)]
pub struct RunFolders {
    out: PathBuf,
    dirs: Vec<Out>,
    _lock: FolderLock,
}

impl RunFolders {
    /// Checks that the runs of all `policies` in `world` can be written to `out`, and locks it.
    ///
    /// # Errors
    /// [`Error::Request`] if `out` is a trace or a run itself or another command writes it, if something other than a run stands
    /// where one should, if two policies are the same, or if runs of another trace would stay beside the new ones. [`Error::Sim`] if the
    /// source cannot be identified.
    pub fn open(out: impl Into<Out>, policies: &[PolicySpec], world: &World) -> Result<Self, Error> {
        let Out { path: out, force } = out.into();
        // A path through one of the runs would lead nowhere while that is replaced.
        let out = place(&out)?;
        if [run::MARKER, MANIFEST].iter().any(|marker| out.join(marker).is_file()) {
            let problem = "expected a folder for runs, found a trace or a run; name another --out";
            return Err(Error::Request(format!("{}: {problem}", out.display())));
        }
        let mut seen = BTreeSet::new();
        let folder = |policy: &PolicySpec| {
            let name = file_name(&policy.label());
            if !seen.insert(name.clone()) {
                return Err(Error::Request(format!("policy `{}` is listed twice; leave one out", policy.label())));
            }
            let dir = Out { path: out.join(name), force };
            refuse_link(&dir.path)?;
            Claim::check(&dir, run::MARKER)?;
            Ok(dir)
        };
        let dirs = policies.iter().map(folder).collect::<Result<Vec<_>, Error>>()?;
        let lock = FolderLock::inside(&out)?;
        refuse_runs_of_others(&out, &dirs, world)?;
        Ok(Self { out, dirs, _lock: lock })
    }

    /// Notes the order of the runs in their folder, for [`crate::runs_in`].
    ///
    /// # Errors
    /// [`Error::Sim`] if it cannot be written.
    pub fn note_order(&self) -> Result<(), Error> {
        note(&self.out, self.dirs.iter().map(|dir| dir.path.as_path()))
    }

    /// The folder that holds the runs.
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// The folder of each policy's run, in the order of the policies.
    pub fn dirs(&self) -> &[Out] {
        &self.dirs
    }
}

/// Refuses to add to runs of another trace: a folder of runs is reported as one comparison. Runs that are replaced do not matter.
fn refuse_runs_of_others(out: &Path, replaced: &[Out], world: &World) -> Result<(), Error> {
    let Ok(entries) = fs::read_dir(out) else { return Ok(()) };
    let mut stay: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    stay.retain(|dir| dir.join(run::MARKER).is_file() && replaced.iter().all(|new| new.path != *dir));
    stay.sort();
    // What cannot be read is reported when it is compared.
    for (dir, there) in stay.iter().filter_map(|dir| Some((dir, run::read(dir).ok()?.trace))) {
        let new = world.trace()?;
        if there.sha256 != new.sha256 && (there.workload.is_none() || there.workload != new.workload) {
            let named =
                |trace: &RunTrace| format!("{} ({})", trace.path, trace.sha256.get(..12).unwrap_or(&trace.sha256));
            return Err(Error::Request(format!(
                "{}: expected runs of {} only, found {}, a run of {}; name another --out, or remove that run",
                out.display(),
                named(&new),
                dir.file_name().unwrap_or_default().display(),
                named(&there)
            )));
        }
    }
    Ok(())
}

/// The longest part of a label in the name of a folder. While a run is written, its folder has a longer, hidden name, and most systems
/// allow no name beyond 255 bytes.
const LONGEST: usize = 180;

/// A label without the characters that a file name cannot have. The rest of a long one is replaced by its hash.
fn file_name(label: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.:=,+".contains(c) { c } else { '_' };
    let name: String = label.chars().map(plain).collect();
    match name.get(..LONGEST) {
        Some(start) if name.len() > LONGEST => {
            format!("{start}~{}", sha256(label.as_bytes()).get(..16).unwrap_or_default())
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_named_by_its_label_and_a_long_one_by_its_hash_too() {
        assert_eq!(file_name("fair:allocations=a b/c.toml+late"), "fair:allocations=a_b_c.toml+late");
        let long = |end: &str| file_name(&format!("slurm:{}{end}", "bf_max_job_user=1000,".repeat(20)));
        let (one, other) = (long("a"), long("b"));
        assert!(one.len() < 200 && one != other && one.starts_with("slurm:bf_max"), "{one} {other}");
        let longest = "x".repeat(LONGEST);
        assert_eq!(file_name(&longest), longest);
    }
}
