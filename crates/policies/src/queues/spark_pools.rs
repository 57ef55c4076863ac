//! The pools of Spark's fair scheduler, as `fairscheduler.xml` holds them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::settings::choices;

choices! {
    /// What comes first in a pool, or among pools.
    #[derive(Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Mode {
        /// The earlier job.
        Fifo = "fifo",
        /// Who has the least for its weight.
        Fair = "fair",
    }
}

/// What a pool is given.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PoolConf {
    /// What comes first inside it.
    pub mode: Mode,
    /// How much it gets of what nobody is owed.
    pub weight: f64,
    /// How many tasks it may run before others get more than they are owed.
    pub min_share: u32,
}

impl Default for PoolConf {
    fn default() -> Self {
        Self { mode: Mode::Fifo, weight: 1.0, min_share: 0 }
    }
}

/// Pools by name. A pool that is not named has the default.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SparkPools {
    /// The pools.
    pub pools: BTreeMap<String, PoolConf>,
}

impl SparkPools {
    /// The pool of a job that names none.
    pub const DEFAULT: &'static str = "default";

    /// What a pool is given.
    pub(crate) fn of(&self, name: &str) -> PoolConf {
        self.pools.get(name).copied().unwrap_or_default()
    }
}
