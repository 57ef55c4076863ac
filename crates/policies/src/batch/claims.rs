//! The parties that share the machines, and their claims from a file.

use std::collections::BTreeMap;

use resched_sim::batch::JobView;
use resched_tables::model::Reason;
use serde::Deserialize;

use crate::queues::toml;
use crate::settings::{File, choices};

choices! {
    /// The kind of party that shares the machines.
    pub(super) enum By {
        User = "user",
        Queue = "queue",
        Group = "group",
        Job = "job",
        Priority = "priority",
        Class = "class",
    }
}

impl By {
    /// Why a job waits whose party may have no more.
    pub(super) fn limit(self) -> Reason {
        match self {
            Self::User => Reason::UserLimit,
            Self::Queue | Self::Group | Self::Job | Self::Priority | Self::Class => Reason::QueueLimit,
        }
    }

    /// The name of a job's party.
    pub(super) fn name(self, job: JobView<'_>) -> String {
        match self {
            Self::User => job.user.to_owned(),
            Self::Queue => job.queue.to_owned(),
            Self::Group => job.group.to_owned(),
            Self::Job => job.id.to_owned(),
            Self::Priority => job.priority.to_string(),
            Self::Class => job.scheduling_class.map(|class| class.to_string()).unwrap_or_default(),
        }
    }
}

/// The claims of a party in a file.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Claim {
    /// Its weight. A party with double the weight gets double the part.
    pub(super) weight: f64,
    /// The largest share of the machines that it may have.
    pub(super) max: f64,
}

impl Default for Claim {
    fn default() -> Self {
        Self { weight: 1.0, max: 1.0 }
    }
}

/// Reads the file of claims; without one, all have the same.
pub(super) fn read_claims(file: &File) -> Result<BTreeMap<String, Claim>, String> {
    let Some(path) = file.path() else { return Ok(BTreeMap::new()) };
    toml::read(path, "weights", parse_claims)
}

fn parse_claims(text: &str) -> Result<BTreeMap<String, Claim>, String> {
    let claims: BTreeMap<String, Claim> = toml::parse(text)?;
    for (name, claim) in &claims {
        let Claim { weight, max } = claim;
        if !(1e-6..=1e6).contains(weight) {
            return Err(format!("`{name}`: weight: expected a number from 0.000001 to 1000000, found {weight}"));
        }
        if !(0.0..=1.0).contains(max) {
            return Err(format!("`{name}`: max: expected a share from 0 to 1, found {max}"));
        }
    }
    Ok(claims)
}
