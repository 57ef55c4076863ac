//! Delay scheduling by waiting time, as in Hadoop: how long jobs wait for a node, then for a rack, with their data.

use resched_sim::Ms;
use resched_tables::model::Locality;

use super::{MAP, Naive, REDUCE};

/// What a job's wait depends on.
#[derive(Debug, Clone)]
pub(super) struct Wait {
    last_level: Locality,
    waited: Ms,
    /// It was asked for a map at the last consultation and launched none.
    skipped: bool,
}

impl Default for Wait {
    fn default() -> Self {
        Self { last_level: Locality::Node, waited: 0, skipped: false }
    }
}

impl Naive<'_> {
    /// Without pools: the jobs in the order of naive fair sharing.
    pub(super) fn delay_time(&mut self, node: usize, delays: [Ms; 2]) {
        if self.free(node, MAP) > 0 {
            self.begin_waits();
            while self.free(node, MAP) > 0
                && self
                    .fair_order(MAP)
                    .into_iter()
                    .any(|job| !self.jobs[job].waiting[MAP].is_empty() && self.launch_map_in_reach(job, node, delays))
            {
            }
        }
        while self.free(node, REDUCE) > 0 && self.fair_reduce(node) {}
    }

    /// A node is consulted: the jobs that were skipped have waited since the last consultation of any node.
    pub(super) fn begin_waits(&mut self) {
        for wait in self.waits.iter_mut().filter(|wait| wait.skipped) {
            wait.waited += self.now - self.last_consultation;
            wait.skipped = false;
        }
        self.last_consultation = self.now;
        self.launched_here = vec![false; self.jobs.len()];
    }

    /// Asks a job for a map within its reach. Returns whether it launched one.
    pub(super) fn launch_map_in_reach(&mut self, job: usize, node: usize, delays: [Ms; 2]) -> bool {
        let automatic = 15_000.min(self.world.interval() * 3 / 2);
        let [t1, t2] = delays.map(|delay| if delay < 0 { automatic } else { delay });
        let Wait { last_level, waited, .. } = self.waits[job];
        let farthest = match last_level {
            _ if self.has_unplaced_maps(job) => Locality::Off,
            Locality::Node if waited >= t1 + t2 => Locality::Off,
            Locality::Node if waited >= t1 => Locality::Rack,
            Locality::Node => Locality::Node,
            Locality::Rack if waited >= t2 => Locality::Off,
            Locality::Rack => Locality::Rack,
            Locality::Off => Locality::Off,
        };
        let found = self.find_map(job, node, farthest);
        if let Some(map) = found {
            let level = self.level(job, map, node);
            self.launch(job, MAP, map, node, level);
            // A map without locations runs as one far from its input.
            self.waits[job].last_level = level.unwrap_or(Locality::Off);
            self.waits[job].waited = 0;
            self.launched_here[job] = true;
        }
        self.waits[job].skipped = !self.launched_here[job];
        found.is_some()
    }
}
