//! The log that a world replays, and the world as the log has it.

use std::path::Path;
use std::sync::Arc;

use resched_policies::Site;
use resched_tables::run::RunSite;
use resched_tables::store::{Manifest, Scaled, System};

use crate::Error;
use crate::source::Origin;
use crate::world::{Setup, World};

/// What really ran.
#[derive(Debug, Clone, Copy)]
pub struct Log<'w> {
    /// The folder of its trace.
    pub dir: &'w Path,
    /// The manifest of its trace.
    pub manifest: &'w Manifest,
}

impl Log<'_> {
    /// True if the starts of its tasks were observed: the sources give them, and no rule made them.
    pub fn is_observed(&self) -> bool {
        self.manifest.has_observed_starts()
    }

    /// True if its load is not that of what ran: the trace was made of another with other gaps, or of a part of its jobs or machines.
    pub fn is_scaled(&self) -> bool {
        Scaled::of(self.manifest).is_some_and(|scaled| [scaled.jobs, scaled.time, scaled.nodes] != [1.0; 3])
    }

    /// How many jobs were running when the log began and are left out of it.
    pub fn running_at_start(&self) -> u64 {
        self.manifest.skipped.get("job-running-at-start").copied().unwrap_or(0)
    }
}

impl World {
    /// The log that this world replays; `None` if it is no trace of something that took place.
    pub fn log(&self) -> Option<Log<'_>> {
        match self.source.origin() {
            Origin::Trace(trace) => Some(trace)
                .filter(|trace| !trace.manifest().is_of_workload())
                .map(|trace| Log { dir: trace.dir(), manifest: trace.manifest() }),
            Origin::Workload { .. } | Origin::Tables { .. } => None,
        }
    }

    /// The world without what can only be a question: another number of machines than the trace or the cluster file names, outages, other gaps
    /// between arrivals, and a site's settings of Spark, but with its pools. `None` if it asks none of these.
    ///
    /// # Errors
    /// As [`World::open`].
    pub fn as_logged(&self) -> Result<Option<Self>, Error> {
        let mut cluster = self.setup.cluster.clone();
        (cluster.nodes.clones, cluster.machines.clones) = (None, None);
        cluster.outages.clear();
        // The log of a Spark application has its own settings, so those of a site are a question. It lacks the pools.
        let pools = self.setup.site_files.as_ref().and_then(RunSite::of_pools);
        let of_log = self.source.system() == System::Spark && self.setup.site_files != pools;
        if cluster == self.setup.cluster && self.setup.speedup == 1.0 && !of_log {
            return Ok(None);
        }
        let setup = Setup { cluster, speedup: 1.0, ..self.setup.clone() };
        let only_pools = || Site { spark_pools: self.setup.site.spark_pools.clone(), ..Site::default() };
        let setup = if of_log { Setup { site: Arc::new(only_pools()), site_files: pools, ..setup } } else { setup };
        self.anew(setup).map(Some)
    }

    /// The schedulers that usually run a system such as that of its source ([`crate::usual_schedulers`]).
    ///
    /// # Errors
    /// [`Error::Policy`] if the program contradicts itself.
    pub fn usual_schedulers(&self) -> Result<Vec<resched_policies::PolicySpec>, Error> {
        crate::usual_schedulers(&self.source)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use resched_tables::engine::RunEngine;
    use resched_tables::store::TraceWriter;

    use super::*;

    /// The log of a Spark application has its settings, so those of a site are a question. It lacks the pools.
    #[test]
    fn of_a_site_of_spark_only_the_pools_are_what_ran() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("T");
        let manifest = Manifest { engine: RunEngine::Batch, system: Some(System::Spark), ..Manifest::default() };
        TraceWriter::create(path.clone()).unwrap().finish(manifest.stamped()).unwrap();
        let logged = |files: &[&str]| {
            let files = files.iter().map(|&name| (name.to_owned(), String::new())).collect();
            let site_files = Some(RunSite { files, ..RunSite::default() });
            let setup = Setup { site_files, ..Setup::default() };
            let world = World::open(&crate::Source::open(&path).unwrap(), setup).unwrap();
            world.as_logged().unwrap().map(|logged| logged.setup.site_files)
        };
        let pools = RunSite::SPARK_POOLS;
        assert_eq!(logged(&[pools]), None, "nothing in it is a question");
        assert_eq!(logged(&["spark-defaults.conf"]), Some(None));
        let kept = logged(&[pools, "spark-defaults.conf"]).flatten().unwrap();
        assert!(kept.files.keys().eq([pools]));
    }
}
