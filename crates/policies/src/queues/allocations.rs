//! The allocation file of the Fair Scheduler in TOML.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::queues::toml;

/// The claims of the pools.
///
/// ```toml
/// fair_share_timeout = 30000      # ms below half its fair share before a pool preempts; leave it out: never
/// [pools.etl]
/// min_maps = 20
/// weight = 2.0
/// ```
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Allocations {
    /// How long a pool stays below half its fair share before it preempts, ms.
    pub fair_share_timeout: Option<i64>,
    /// How long a pool stays below its guarantee before it preempts, ms; for pools that set none.
    pub min_share_timeout: Option<i64>,
    /// How many jobs of one user run at once; for users that are not named.
    pub user_max_jobs: Option<u32>,
    /// How many jobs of a user run at once, by name.
    pub users: BTreeMap<String, u32>,
    /// The pools, by name.
    pub pools: BTreeMap<String, PoolConfig>,
    /// The claims of a pool that is not named.
    pub unnamed: PoolConfig,
}

/// The claims of one pool.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct PoolConfig {
    /// Map slots that it is guaranteed.
    pub min_maps: u32,
    /// Reduce slots that it is guaranteed.
    pub min_reduces: u32,
    /// Map slots that it may use at most.
    pub max_maps: Option<u32>,
    /// Reduce slots that it may use at most.
    pub max_reduces: Option<u32>,
    /// Its weight against the other pools.
    pub weight: f64,
    /// How many of its jobs run at once.
    pub max_jobs: Option<u32>,
    /// How its jobs share its slots.
    pub mode: PoolMode,
    /// How long it stays below its guarantee before it preempts, ms.
    pub min_share_timeout: Option<i64>,
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self {
            min_maps: 0,
            min_reduces: 0,
            max_maps: None,
            max_reduces: None,
            weight: 1.0,
            max_jobs: None,
            mode: PoolMode::Fair,
            min_share_timeout: None,
        }
    }
}

/// How the jobs of a pool share its slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PoolMode {
    /// By fair sharing.
    Fair,
    /// By priority and submission.
    Fifo,
}

impl Allocations {
    /// Reads an allocation file.
    ///
    /// # Errors
    /// The wrong line or key, and the remedy.
    pub fn read(path: &str) -> Result<Self, String> {
        toml::read(path, "allocations", Self::parse)
    }

    /// How long a pool stays below its guarantee before it preempts, ms; `None`: it never does.
    pub fn min_share_timeout_of(&self, pool: &PoolConfig) -> Option<i64> {
        pool.min_share_timeout.or(self.min_share_timeout)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let allocations: Self = toml::parse(text)?;
        let named = allocations.pools.iter().map(|(name, pool)| (format!("pools.{name}"), pool));
        for (name, pool) in named.chain([("unnamed".to_owned(), &allocations.unnamed)]) {
            if !(pool.weight > 0.0 && pool.weight <= 1e9) {
                return Err(format!("{name}.weight: expected a number above 0, found {}", pool.weight));
            }
        }
        Ok(allocations)
    }

    /// The claims of the pool of that name.
    pub fn pool(&self, name: &str) -> &PoolConfig {
        self.pools.get(name).unwrap_or(&self.unnamed)
    }

    /// How many jobs of that user run at once; `None`: any number.
    pub fn jobs_of_user(&self, name: &str) -> Option<u32> {
        self.users.get(name).copied().or(self.user_max_jobs)
    }

    /// True if the number of a user's jobs that run at once is limited.
    pub fn limits_users(&self) -> bool {
        self.user_max_jobs.is_some() || !self.users.is_empty()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_allocation_file_is_checked() {
        let read = Allocations::parse("[pools.a]\nmin_maps = 20\nmode = 'fifo'\n").unwrap();
        assert_eq!((read.pools["a"].min_maps, read.pools["a"].mode), (20, PoolMode::Fifo));
        assert!(Allocations::parse("[pools.a]\nminmaps = 20\n").unwrap_err().contains("min_maps"));
        assert!(Allocations::parse("[pools.a]\nweight = 0.0\n").unwrap_err().contains("above 0"));
        assert!(Allocations::parse("[unnamed]\nweight = nan\n").unwrap_err().contains("unnamed.weight"));
    }

    #[test]
    fn who_is_not_named_has_the_defaults_of_the_file() {
        let read = "user_max_jobs = 3\n[users]\nann = 7\n[unnamed]\nmax_jobs = 5\n[pools.a]\nmin_maps = 1\n";
        let read = Allocations::parse(read).unwrap();
        assert_eq!((read.jobs_of_user("ann"), read.jobs_of_user("bob")), (Some(7), Some(3)));
        assert_eq!((read.pool("a").max_jobs, read.pool("b").max_jobs), (None, Some(5)));
        assert!(read.limits_users() && !Allocations::default().limits_users());
    }
}
