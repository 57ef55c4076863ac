//! The log that a world replays, and the world as the log has it.

use std::path::Path;
use std::sync::Arc;

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
    /// True if the starts of its tasks were observed: no rule made them.
    pub fn is_observed(&self) -> bool {
        self.manifest.made_whole("attempts.start").is_none()
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
    /// between arrivals, and a site's settings of Spark. `None` if it asks none of these.
    ///
    /// # Errors
    /// As [`World::open`].
    pub fn as_logged(&self) -> Result<Option<Self>, Error> {
        let mut cluster = self.setup.cluster.clone();
        (cluster.nodes.clones, cluster.machines.clones) = (None, None);
        cluster.outages.clear();
        // The log of a Spark application has its own settings, so those of a site are a question.
        let of_log = self.source.system() == System::Spark && self.setup.site_files.is_some();
        if cluster == self.setup.cluster && self.setup.speedup == 1.0 && !of_log {
            return Ok(None);
        }
        let setup = Setup { cluster, speedup: 1.0, ..self.setup.clone() };
        let setup = if of_log { Setup { site: Arc::default(), site_files: None, ..setup } } else { setup };
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
