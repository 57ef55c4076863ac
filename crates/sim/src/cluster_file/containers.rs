//! `[containers]`: the containers of YARN, their sizes, limits and heartbeats.

use serde::{Deserialize, Serialize};

use crate::ids::Ms;

/// The containers of a cluster under YARN (policies A.9).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Containers {
    /// Memory that a node offers, MB, where the trace does not say.
    pub memory_mb: u32,
    /// Virtual cores that a node offers, where the trace does not say.
    pub vcores: u32,
    /// The container of an application master.
    pub am: Size,
    /// The container of a map.
    pub map: Size,
    /// The container of a reduce.
    pub reduce: Size,
    /// The smallest container; others are rounded up to a multiple of it.
    pub minimum: Size,
    /// The largest container.
    pub maximum: Size,
    /// Which resources decide whether a container fits.
    pub calculator: Calculator,
    /// Time between two heartbeats of a node, ms. Their start, phase and jitter are those of `[heartbeat]`; a jitter of half of this
    /// time or more is cut to less.
    pub node_heartbeat: Ms,
    /// Time between two heartbeats of an application master, ms.
    pub am_heartbeat: Ms,
    /// Once none of a job's waiting maps has been given a container for so long, its master stops reduces for them, whatever room
    /// it is told there is, ms (Hadoop since 2.7.3: MAPREDUCE-6302).
    pub hanging_maps: Ms,
}

impl Default for Containers {
    fn default() -> Self {
        let size = |memory_mb| Size { memory_mb, vcores: 1 };
        Self {
            memory_mb: 8192,
            vcores: 8,
            am: size(1536),
            map: size(1024),
            reduce: size(1024),
            minimum: size(1024),
            maximum: Size { memory_mb: 8192, vcores: 4 },
            calculator: Calculator::Memory,
            node_heartbeat: 1000,
            am_heartbeat: 1000,
            hanging_maps: 300_000,
        }
    }
}

/// The size of a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Memory, MB.
    pub memory_mb: u32,
    /// Virtual cores.
    #[serde(default = "one")]
    pub vcores: u32,
}

fn one() -> u32 {
    1
}

impl Size {
    fn fits_in(self, other: Size) -> bool {
        self.memory_mb <= other.memory_mb && self.vcores <= other.vcores
    }

    /// The next multiple of the smallest container, a resource each.
    pub(crate) fn rounded_up(self, minimum: Size) -> Size {
        let up = |value: u32, step: u32| value.div_ceil(step.max(1)).max(1).saturating_mul(step.max(1));
        Size { memory_mb: up(self.memory_mb, minimum.memory_mb), vcores: up(self.vcores, minimum.vcores) }
    }
}

/// Which resources decide whether a container fits on a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Calculator {
    /// Memory alone, as YARN does unless told otherwise: vcores are neither counted nor checked.
    Memory,
    /// Memory and vcores.
    Dominant,
}

impl Containers {
    /// What is wrong with the numbers, if anything.
    pub(super) fn check(&self) -> Result<(), String> {
        let positive = |name: &str, size: Size| {
            if size.memory_mb > 0 && size.vcores > 0 {
                Ok(())
            } else {
                Err(format!("containers.{name}: expected memory and vcores above 0"))
            }
        };
        positive("minimum", self.minimum)?;
        for (name, size) in [("am", self.am), ("map", self.map), ("reduce", self.reduce)] {
            positive(name, size)?;
            let Size { memory_mb, vcores } = size.rounded_up(self.minimum);
            if !size.rounded_up(self.minimum).fits_in(self.maximum) {
                let most = self.maximum;
                return Err(format!(
                    "containers.{name}: expected at most {} MB and {} vcores (containers.maximum), found {memory_mb} MB \
                     and {vcores} vcores after rounding up to containers.minimum",
                    most.memory_mb, most.vcores
                ));
            }
        }
        let times = [
            ("node_heartbeat", self.node_heartbeat),
            ("am_heartbeat", self.am_heartbeat),
            ("hanging_maps", self.hanging_maps),
        ];
        for (name, beat) in times {
            if !(1..=86_400_000).contains(&beat) {
                return Err(format!("containers.{name}: expected a number from 1 to 86400000, found {beat}"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_container_beyond_the_largest_is_refused() {
        let rules = Containers { map: Size { memory_mb: 8193, vcores: 1 }, ..Containers::default() };
        assert!(rules.check().unwrap_err().contains("containers.map: expected at most 8192 MB"));
        let rules = Containers { minimum: Size { memory_mb: 0, vcores: 1 }, ..Containers::default() };
        assert!(rules.check().unwrap_err().contains("containers.minimum"));
        assert!(Containers::default().check().is_ok());
    }
}
