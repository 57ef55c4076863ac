//! Where the golden schedules are, and which of them there are.

use std::path::{Path, PathBuf};

/// A folder of shared files. Without it, the test is skipped.
fn shared(folder: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = std::env::var_os("RESCHED_SHARED").map_or_else(|| root.join("../shared"), PathBuf::from);
    let path = shared.join(folder);
    if path.exists() {
        return Some(path);
    }
    let required = std::env::var("RESCHED_REQUIRE_SHARED").is_ok_and(|value| value == "1");
    assert!(!required, "{} is missing", path.display());
    eprintln!("skipped: {} not found", path.display());
    None
}

/// The folders of the schedules of Hadoop 3.4.1 and of August 2014.
pub(crate) struct Folders {
    pub(crate) of_3: PathBuf,
    pub(crate) of_2014: PathBuf,
}

impl Folders {
    pub(crate) fn find() -> Option<Self> {
        Some(Self { of_3: shared("oracle-yarn-3")?, of_2014: shared("oracle-yarn")? })
    }

    /// A file in the one folder that has it.
    pub(crate) fn with(&self, file: &str) -> Option<PathBuf> {
        [&self.of_3, &self.of_2014].map(|root| root.join(file)).into_iter().find(|path| path.exists())
    }

    /// The configurations of one of them.
    pub(crate) fn configurations(root: &Path) -> serde_json::Value {
        serde_json::from_str(&std::fs::read_to_string(root.join("configs/configs.json")).unwrap()).unwrap()
    }
}

/// The schedules of the manifest: worlds and configurations.
pub(crate) fn manifest(root: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(root.join("golden/manifest.csv")).unwrap();
    let row = |line: &str| {
        let mut fields = line.split(',').map(str::to_owned);
        Some((fields.next()?, fields.next()?))
    };
    text.lines().skip(1).filter_map(row).collect()
}

/// True if the schedule of that name is to be replayed.
pub(crate) fn is_chosen(name: &str) -> bool {
    let chosen = std::env::var("RESCHED_SCHEDULES").unwrap_or_default();
    chosen.is_empty() || chosen.split(',').any(|word| format!("{name}-").contains(word))
}
