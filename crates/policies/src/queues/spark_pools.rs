//! The pools of Spark's fair scheduler, as `fairscheduler.xml` holds them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::queues::toml;
use crate::settings::choices;

choices! {
    /// What comes first in a pool, or among pools.
    #[derive(Deserialize, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Mode {
        /// The earlier job.
        Fifo = "fifo",
        /// Who has the least for its weight.
        Fair = "fair",
    }
}

/// What a pool is given.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
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
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SparkPools {
    /// The pools.
    pub pools: BTreeMap<String, PoolConf>,
}

impl SparkPools {
    /// The pool of a job that names none.
    pub const DEFAULT: &'static str = "default";

    /// Reads a file of pools (TOML): a table `[pools.NAME]` for each, with the keys `mode`, `weight` and `min_share`.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    pub(crate) fn read(path: &str) -> Result<Self, String> {
        toml::read(path, "pools", Self::parse)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let pools: Self = toml::parse(text)?;
        match pools.pools.iter().find(|(_, pool)| !(1e-6..=1e9).contains(&pool.weight)) {
            Some((name, pool)) => {
                Err(format!("pool `{name}`: weight: expected a number from 1e-6 to 1e9, found {}", pool.weight))
            }
            None => Ok(pools),
        }
    }

    /// What a pool is given.
    pub(crate) fn of(&self, name: &str) -> PoolConf {
        self.pools.get(name).copied().unwrap_or_default()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_pools_is_read_and_checked() {
        let pools =
            SparkPools::parse("[pools.adhoc]\nmode = 'fair'\nweight = 2\nmin_share = 4\n[pools.etl]\n").unwrap();
        assert_eq!(pools.of("adhoc"), PoolConf { mode: Mode::Fair, weight: 2.0, min_share: 4 });
        assert_eq!((pools.of("etl"), pools.of("other")), (PoolConf::default(), PoolConf::default()));
        let error = |text: &str| SparkPools::parse(text).unwrap_err();
        assert!(error("[pools.a]\nweight = 0\n").contains("pool `a`: weight: expected a number from 1e-6"));
        assert!(error("[pools.a]\nweights = 1\n").contains("weights"));
        assert!(error("[pools.a]\nmode = 'fairly'\n").contains("fairly"));
    }
}
