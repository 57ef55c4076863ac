//! `--out` and `--force`: where a command writes its result.

use std::path::{Path, PathBuf};

use resched_tables::store::{Claim, Out, StagedFile, changed_files};

use crate::output::print_message;

/// The folder or file of a result.
#[derive(Debug, clap::Args)]
pub(crate) struct ForceArg {
    /// Replace an existing file, or a result that was changed after resched wrote it, and print what is replaced. Without this
    /// option, the command refuses. All other files stay.
    #[arg(long)]
    force: bool,
}

impl ForceArg {
    /// The result at `path`. With --force, the changed files that will be replaced are named. `marker` is the file that every folder
    /// of this kind holds.
    pub(crate) fn out(&self, path: &Path, marker: &str) -> Out {
        let out = self.plain(path);
        if out.force && Claim::check(&out, marker).is_ok() {
            report_replaced(path, &changed_files(path, marker));
        }
        out
    }

    /// The file at `path`. With --force, it is named if it will be replaced.
    pub(crate) fn file(&self, path: &Path) -> Out {
        let out = self.plain(path);
        if out.force && path.is_file() && StagedFile::check(&out).is_ok() {
            print_message(&format!("--force: replacing {}", path.display()));
        }
        out
    }

    /// The result at `path`, whose changed files somebody else names.
    pub(crate) fn plain(&self, path: &Path) -> Out {
        Out { path: path.to_path_buf(), force: self.force }
    }
}

/// Names the files in `dir` that --force replaces.
pub(crate) fn report_replaced(dir: &Path, names: &[String]) {
    for name in names {
        let path: PathBuf = dir.join(name);
        print_message(&format!(
            "--force: replacing {}, although it was changed after resched wrote it",
            path.display()
        ));
    }
}
