//! `[containers]`: the containers of YARN, their sizes, limits and heartbeats.

use std::collections::BTreeMap;

use crate::{choices, keys};

use super::DAY;
use crate::model::Ms;

keys! {
    /// What the machines offer and how they are shared under YARN, for the policies that schedule containers.
    pub struct Containers: Default {
        /// The memory that a node offers, if the trace does not say. If it is missing in both, commands refuse; with
        /// `--assume`, it is 8192, the default of YARN.
        memory_mb: Option<u32> = None, unit "MB";
        /// The virtual cores that a node offers, like `memory_mb`; with `--assume`, they are 8.
        vcores: Option<u32> = None, unit "vcores";
        /// What a node offers beside memory and virtual cores, such as `{ "yarn.io/gpu" = 4 }`, if the trace does not say: at most two
        /// resources in all. They count where virtual cores do. A job asks for them as the confs of its history say
        /// (`mapreduce.map.resource.yarn.io/gpu`).
        resources: BTreeMap<String, u32> = BTreeMap::new(), serde(skip_serializing_if = "BTreeMap::is_empty");
        /// The most of such a resource that a container may have.
        maximum_resources: BTreeMap<String, u32> = BTreeMap::new(), serde(skip_serializing_if = "BTreeMap::is_empty");
        /// Whether these amounts are only a lower bound, because the nodes of the trace that they were fitted to were never
        /// full. Every output then calls them assumed.
        at_least: bool = false, serde(skip_serializing_if = "std::ops::Not::not");
        /// Whether every node offers these amounts, even if the trace gives others.
        alike: bool = false, serde(skip_serializing_if = "std::ops::Not::not");
        /// The container of an application master.
        am: Size = Size { memory_mb: 1536, vcores: 1 }, rule "up to `maximum`";
        /// The container of a map.
        map: Size = Size { memory_mb: 1024, vcores: 1 }, rule "up to `maximum`";
        /// The container of a reduce.
        reduce: Size = Size { memory_mb: 1024, vcores: 1 }, rule "up to `maximum`";
        /// The smallest container. The others are rounded up to a multiple of it.
        minimum: Size = Size { memory_mb: 1024, vcores: 1 };
        /// The largest container.
        maximum: Size = Size { memory_mb: 8192, vcores: 4 };
        /// Which resources decide whether a container fits, for `yarn-capacity` and `dress`. `yarn-fair` always counts both,
        /// and `yarn-fifo` only memory.
        calculator: Calculator = Calculator::Memory;
        /// The time between two heartbeats of a node. Their start, phase and jitter are those of `[heartbeat]`. A jitter of
        /// half of this time or more is reduced.
        node_heartbeat: Ms = 1000, unit "ms", range 1..=DAY;
        /// The time between two heartbeats of an application master.
        am_heartbeat: Ms = 1000, unit "ms", range 1..=DAY;
        /// How long the waiting maps of a job may go without a new container. Then its master stops reduces to make room for
        /// them, even if the resource manager reports free room (Hadoop since 2.7.3: MAPREDUCE-6302).
        hanging_maps: Ms = 300_000, unit "ms", range 1..=DAY;
    }
}

keys! {
    /// The size of a container.
    pub struct Size: Copy + Eq {
        /// Its memory.
        memory_mb: u32, unit "MB", rule "above 0";
        /// Its virtual cores.
        vcores: u32 = 1, unit "vcores", rule "above 0";
    }
}

impl Size {
    fn fits_in(self, other: Size) -> bool {
        self.memory_mb <= other.memory_mb && self.vcores <= other.vcores
    }

    /// The next multiple of the smallest container, a resource each.
    pub fn rounded_up(self, minimum: Size) -> Size {
        let up = |value: u32, step: u32| value.div_ceil(step.max(1)).max(1).saturating_mul(step.max(1));
        Size { memory_mb: up(self.memory_mb, minimum.memory_mb), vcores: up(self.vcores, minimum.vcores) }
    }
}

choices! {
    /// Which resources decide whether a container fits on a node.
    pub enum Calculator {
        /// Memory alone, as YARN does by default. Virtual cores are neither counted nor checked.
        Memory = "memory",
        /// Memory and virtual cores.
        Dominant = "dominant",
    }
}

impl Containers {
    /// The memory (MB) of a node of which nobody says how much it has: the default of YARN's configuration
    /// (`yarn.nodemanager.resource.memory-mb`).
    pub const ASSUMED_MEMORY_MB: u32 = 8192;
    /// Its virtual cores, likewise (`yarn.nodemanager.resource.cpu-vcores`).
    pub const ASSUMED_VCORES: u32 = 8;

    /// Makes every node offer room for `count` containers of maps.
    pub fn set_room(&mut self, count: u32) {
        let map = self.map.rounded_up(self.minimum);
        self.memory_mb = Some(map.memory_mb.saturating_mul(count));
        self.vcores = Some(map.vcores.saturating_mul(count));
        self.alike = true;
    }

    /// What is wrong with keys that depend on each other, if anything.
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
