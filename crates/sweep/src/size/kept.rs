//! The replays of a search, kept in a folder, so that an interrupted search goes on where it was.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use resched_tables::run::RunBound;
use resched_tables::store::marker::{self, Layout};
use resched_tables::store::{sha256, write_file};
use resched_tables::validity::Validity;
use resched_tables::whole;
use serde::{Deserialize, Serialize};

use super::{Sizing, Vary};
use crate::Error;
use crate::world::policy_files;

/// The file of the replays, which makes a folder that of a search.
pub const MARKER: &str = "probes.json";
const LAYOUT: Layout = Layout {
    what: "list of probes",
    version: 1,
    by_others: false,
    again: "remove it, or name another --out, and search again",
};

/// A replay that is done.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KeptReplay {
    /// The metric.
    pub(super) value: f64,
    pub(super) validity: Validity,
    pub(super) bound: BTreeMap<String, RunBound>,
    /// How many jobs could never start.
    pub(super) never_started: u64,
}

/// The replays of a search that are done, by size and seed.
#[derive(Debug)]
pub struct Kept {
    /// The file, and what the replays in it answer; `None` if nothing is kept on disk.
    file: Option<(PathBuf, Question)>,
    replays: Mutex<BTreeMap<(u32, u64), KeptReplay>>,
}

/// What the value of a replay depends on, besides size and seed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Question {
    version: String,
    /// SHA-256.
    trace: String,
    /// SHA-256 of the rules of the cluster and the files of the site.
    cluster: String,
    policy: String,
    metric: String,
    /// What varies.
    vary: String,
    /// What becomes of unfinished work, the window, and whether sizes may be assumed.
    treatment: String,
}

impl Question {
    fn of(asked: &Sizing) -> Result<Self, Error> {
        let Sizing { source, setup, policy, metric, vary, partition, .. } = asked;
        let rules = serde_json::json!({ "rules": setup.cluster, "speedup": setup.speedup, "site": setup.site_files });
        let policy = serde_json::json!({
            "policy": policy.name(), "parameters": policy.at_site(&setup.site)?.parameters(), "files": policy_files(policy)?,
        });
        let treatment = (setup.unfinished, format!("{:?}", setup.window), setup.assume, &setup.known);
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            trace: source.fingerprint()?,
            cluster: sha256(rules.to_string().as_bytes()),
            policy: policy.to_string(),
            metric: metric.name.clone(),
            vary: match (vary, partition) {
                (Vary::Nodes, None) => "nodes".to_owned(),
                (Vary::Nodes, Some(name)) => format!("nodes of {name}"),
                (Vary::Slots, _) => "slots".to_owned(),
            },
            treatment: serde_json::json!(treatment).to_string(),
        })
    }

    /// What differs from another question.
    fn differences(&self, other: &Self) -> Vec<&'static str> {
        let parts = [
            ("version of resched", &self.version, &other.version),
            ("trace", &self.trace, &other.trace),
            ("cluster", &self.cluster, &other.cluster),
            ("policy", &self.policy, &other.policy),
            ("metric", &self.metric, &other.metric),
            ("--vary or --partition", &self.vary, &other.vary),
            ("--unfinished, --window, --assume or --validation", &self.treatment, &other.treatment),
        ];
        parts.into_iter().filter(|(_, part, other)| part != other).map(|(name, ..)| name).collect()
    }
}

/// The content of [`MARKER`].
#[derive(Debug, Serialize, Deserialize)]
struct Content {
    format_version: u32,
    question: Question,
    replays: Vec<Row>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Row {
    size: u32,
    seed: u64,
    /// The number in full. A number of JSON may lose its last digit when it is read.
    value: String,
    #[serde(default, skip_serializing_if = "Validity::is_empty")]
    validity: Validity,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    bound: BTreeMap<String, RunBound>,
    #[serde(default, skip_serializing_if = "is_zero")]
    never_started: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Kept {
    /// Keeps nothing on disk.
    pub fn nowhere() -> Self {
        Self { file: None, replays: Mutex::default() }
    }

    /// Keeps replays in this folder, which exists, and goes on with those that are there. The bound, the range of sizes and the number
    /// of seeds may have changed since.
    ///
    /// # Errors
    /// [`Error::Request`] if they are of another trace, cluster, policy or metric; [`Error::Damaged`]; [`Error::Store`].
    pub fn inside(dir: &Path, asked: &Sizing) -> Result<Self, Error> {
        let (path, question) = (dir.join(MARKER), Question::of(asked)?);
        let bytes = match whole::marker(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let kept = Self { file: Some((path, question)), replays: Mutex::default() };
                kept.save(&BTreeMap::new())?;
                return Ok(kept);
            }
            Err(error) => {
                let remedy = "name another --out";
                return Err(Error::Request(format!("{}: cannot be read ({error}); {remedy}", path.display())));
            }
        };
        let damaged = |problem: String, remedy: &str| Error::Damaged {
            path: path.display().to_string(),
            problem,
            remedy: remedy.to_owned(),
        };
        let content: Content =
            marker::decode(&bytes, &LAYOUT).map_err(|found| damaged(found.problem, &found.remedy))?;
        let others = content.question.differences(&question);
        if !others.is_empty() {
            return Err(Error::Request(format!(
                "{}: holds the probes of a search with another {}; name another --out",
                dir.display(),
                others.join(", another ")
            )));
        }
        let replay = |Row { size, seed, value, validity, bound, never_started }| {
            let value = value.parse().map_err(|_| damaged(format!("it is damaged (value `{value}`)"), LAYOUT.again))?;
            Ok(((size, seed), KeptReplay { value, validity, bound, never_started }))
        };
        let replays = content.replays.into_iter().map(replay).collect::<Result<_, Error>>()?;
        Ok(Self { file: Some((path, question)), replays: Mutex::new(replays) })
    }

    /// The number of replays that are kept on disk.
    pub fn count(&self) -> usize {
        let replays = self.replays.lock().unwrap_or_else(PoisonError::into_inner);
        if self.file.is_some() { replays.len() } else { 0 }
    }

    pub(super) fn get(&self, size: u32, seed: u64) -> Option<KeptReplay> {
        self.replays.lock().unwrap_or_else(PoisonError::into_inner).get(&(size, seed)).cloned()
    }

    /// Keeps a replay. The file is whole at any time.
    pub(super) fn add(&self, size: u32, seed: u64, replay: KeptReplay) -> Result<(), Error> {
        let mut replays = self.replays.lock().unwrap_or_else(PoisonError::into_inner);
        replays.insert((size, seed), replay);
        self.save(&replays)
    }

    fn save(&self, replays: &BTreeMap<(u32, u64), KeptReplay>) -> Result<(), Error> {
        let Some((path, question)) = &self.file else { return Ok(()) };
        let row = |(&(size, seed), replay): (&(u32, u64), &KeptReplay)| {
            let KeptReplay { value, validity, bound, never_started } = replay.clone();
            Row { size, seed, value: value.to_string(), validity, bound, never_started }
        };
        let replays = replays.iter().map(row).collect();
        let content = Content { format_version: LAYOUT.version, question: question.clone(), replays };
        let json = marker::encode(&content)
            .map_err(|error| Error::Work(format!("{}: cannot be encoded ({error})", path.display())))?;
        Ok(write_file(path, &json)?)
    }
}
