//! A cell of a sweep: one replay, with its identity and its settings.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::design::Setting;
use crate::values::Value;

/// One replay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The hash of all that its result depends on; the name of its file.
    pub id: String,
    /// The variant, by its name in the sweep file.
    pub variant: String,
    /// The policy with its parameters.
    pub policy: String,
    /// What of the variant varies.
    pub settings: BTreeMap<String, String>,
    /// What of the world is set.
    pub(crate) world: BTreeMap<String, toml::Value>,
    /// The place of what is replayed among the manifest's sources.
    pub source: usize,
    /// The place of its cluster file among the manifest's.
    pub cluster: usize,
    /// The seed.
    pub seed: u64,
}

impl Cell {
    /// The values of its world.
    pub(crate) fn world_values(&self) -> Setting {
        self.world.iter().map(|(key, value)| (key.clone(), Value::of(value))).collect()
    }

    /// All that varies of it, of the world and of the variant, as it is written.
    pub fn texts(&self) -> BTreeMap<String, String> {
        let world = self.world.iter().map(|(key, value)| (key.clone(), Value::of(value).text()));
        world.chain(self.settings.clone()).collect()
    }

    /// In a few words, for messages.
    pub fn told(&self) -> String {
        let world: Vec<String> =
            self.world.iter().map(|(key, value)| format!("{key}={}, ", Value::of(value).text())).collect();
        format!("{}, {}, {}seed {}", self.variant, self.policy, world.concat(), self.seed)
    }
}
