//! A cell of a sweep: one replay, with its identity and its settings.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::design::Setting;
use crate::values::Value;

/// One replay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The hash of everything that its result depends on. It names the file of the result.
    pub id: String,
    /// The name of its variant in the sweep file.
    pub variant: String,
    /// The policy with its parameters.
    pub policy: String,
    /// The varying parameters of the variant, as they are written.
    pub settings: BTreeMap<String, String>,
    /// The keys of `[world]` with their values.
    pub(crate) world: BTreeMap<String, toml::Value>,
    /// The index of its source in the plan.
    pub source: usize,
    /// The index of its cluster file in the plan.
    pub cluster: usize,
    /// The seed.
    pub seed: u64,
    /// True if another seed may give another result. If not, cells that differ only in their seed share one result.
    #[serde(default = "yes", skip_serializing_if = "is_so")]
    pub draws: bool,
}

fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_so(draws: &bool) -> bool {
    *draws
}

impl Cell {
    /// The values of its world.
    pub(crate) fn world_values(&self) -> Setting {
        self.world.iter().map(|(key, value)| (key.clone(), Value::of(value))).collect()
    }

    /// All its settings, of the world and of the variant, as they are written.
    pub fn texts(&self) -> BTreeMap<String, String> {
        let world = self.world.iter().map(|(key, value)| (key.clone(), Value::of(value).text()));
        world.chain(self.settings.clone()).collect()
    }

    /// A short description for messages.
    pub fn in_words(&self) -> String {
        let world: Vec<String> =
            self.world.iter().map(|(key, value)| format!("{key}={}, ", Value::of(value).text())).collect();
        format!("{}, {}, {}seed {}", self.variant, self.policy, world.concat(), self.seed)
    }
}
