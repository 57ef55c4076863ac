//! What the site says, and what you set in its place.

use std::sync::Arc;

use resched_kubernetes::kueue::{
    self, BorrowWithinCohort, FairSharing, Flavor, FlavorId, Group, Kueue, Model, Policy as Preempts, Queue, Quota,
    ResourceId, Strategy as Shares,
};
use resched_kubernetes::objects;
use resched_sim::Ms;
use resched_sim::batch::Work;

use crate::error::Error;
use crate::info::Idle;
use crate::settings::{File, Values, choices, settings};
use crate::site::{Site, kubernetes};

choices! {
    /// What becomes of the work of an evicted workload.
    pub(super) enum OnEviction {
        /// It is lost.
        Restart = "restart",
        /// It is kept.
        Keep = "keep",
        /// It is kept up to the last checkpoint.
        Checkpoint = "checkpoint",
    }
}

choices! {
    /// When fair sharing preempts.
    pub(super) enum Strategy {
        /// By the final share, then by the initial one.
        Both = "both",
        /// By the final share alone.
        Final = "final",
        /// By the initial share alone.
        Initial = "initial",
    }
}

choices! {
    /// How a ClusterQueue takes its workloads.
    pub(super) enum Queueing {
        /// The head blocks the queue.
        Strict = "StrictFIFO",
        /// What does not fit is set aside.
        BestEffort = "BestEffortFIFO",
    }
}

choices! {
    /// When the search for a flavour stops.
    pub(super) enum Search {
        /// At one that could do.
        Stops = "MayStopSearch",
        /// The next one is tried.
        GoesOn = "TryNextFlavor",
    }
}

choices! {
    /// What of several flavours counts first.
    pub(super) enum Preference {
        /// Borrowing before preempting.
        Borrowing = "BorrowingOverPreemption",
        /// Preempting before borrowing.
        Preempting = "PreemptionOverBorrowing",
    }
}

choices! {
    /// Whom a workload may preempt in its queue.
    pub(super) enum Within {
        /// Nobody.
        Never = "Never",
        /// Lower priorities.
        Lower = "LowerPriority",
        /// Lower priorities, and newer ones of the same.
        Newer = "LowerOrNewerEqualPriority",
    }
}

choices! {
    /// Whom a workload may preempt in queues that borrow.
    pub(super) enum Reclaim {
        /// Nobody.
        Never = "Never",
        /// Lower priorities.
        Lower = "LowerPriority",
        /// All.
        Any = "Any",
    }
}

choices! {
    /// Whether a queue that borrows may preempt in other queues.
    pub(super) enum WhileBorrowing {
        /// Nobody.
        Never = "Never",
        /// Lower priorities.
        Lower = "LowerPriority",
    }
}

choices! {
    /// Which of two workloads of equal priority comes first that were created in the same second.
    pub(super) enum SameSecond {
        /// A draw, as the random UIDs of Kubernetes make it.
        Drawn = "drawn",
        /// The one that stands first in the trace.
        Listed = "listed",
    }
}

settings! {
    /// What you can set.
    pub(super) struct Settings {
        /// folder with the site's objects, in the place of --site-conf
        site: File = "site" {},
        /// the work of an evicted workload: lost, kept, or kept up to the last checkpoint
        on_eviction: OnEviction = "on_eviction" { choice: OnEviction::Restart, },
        /// the work between two checkpoints (on_eviction=checkpoint)
        checkpoint_seconds: i64 = "checkpoint_seconds" { default: 3_600, range: 1..=8_640_000, unit: "s" },
        /// how long the pods of an evicted workload take to end; they hold its quota meanwhile
        eviction_seconds: i64 = "eviction_seconds" { default: 30, range: 0..=86_400, unit: "s" },
        /// how long after quota is freed the parked workloads are looked at again
        requeue_seconds: i64 = "requeue_seconds" { default: 1, range: 0..=86_400, unit: "s" },
        /// fair sharing; auto: as the site's Configuration
        fair_sharing: Option<bool> = "fair_sharing" { auto: Nothing },
        /// how fair sharing preempts: by final or initial share, or both; auto: as the site
        strategy: Option<Strategy> = "strategy" { auto: Nothing },
        /// queueingStrategy of all ClusterQueues; auto: as the site
        queueing_strategy: Option<Queueing> = "queueing_strategy" { auto: Nothing },
        /// flavorFungibility.whenCanBorrow of all ClusterQueues; auto: as the site
        when_can_borrow: Option<Search> = "when_can_borrow" { auto: Nothing },
        /// flavorFungibility.whenCanPreempt of all ClusterQueues; auto: as the site
        when_can_preempt: Option<Search> = "when_can_preempt" { auto: Nothing },
        /// flavorFungibility.preference of all ClusterQueues; auto: as the site
        preference: Option<Preference> = "preference" { auto: Nothing },
        /// preemption.withinClusterQueue of all ClusterQueues; auto: as the site
        within_cluster_queue: Option<Within> = "within_cluster_queue" { auto: Nothing },
        /// preemption.reclaimWithinCohort of all ClusterQueues; auto: as the site
        reclaim_within_cohort: Option<Reclaim> = "reclaim_within_cohort" { auto: Nothing },
        /// preemption.borrowWithinCohort of all ClusterQueues; auto: as the site
        borrow_within_cohort: Option<WhileBorrowing> = "borrow_within_cohort" { auto: Nothing },
        /// quotas instead of the site's, joined by `;`: QUEUE/FLAVOR/RESOURCE=N, also of cohorts
        quota: String = "quota" {},
        /// who is first of equal priority in the same second: drawn, or as listed in the trace
        same_second: SameSecond = "same_second" { choice: SameSecond::Drawn, },
    }
}

/// A resource that no ClusterQueue covers.
pub(super) const UNCOVERED: &str = "";

impl Settings {
    /// The objects that count: those of the folder that a parameter names, else those of the site.
    ///
    /// # Errors
    /// A folder or an object that cannot be read.
    pub(super) fn objects(&self, site: &Site) -> Result<Arc<objects::Site>, Error> {
        match self.site.path() {
            Some(folder) => kubernetes::read_folder(folder),
            None => Ok(site.kubernetes.clone().unwrap_or_default()),
        }
    }

    pub(super) fn eviction_ms(&self) -> Ms {
        self.eviction_seconds * 1_000
    }

    pub(super) fn work(&self) -> Work {
        match self.on_eviction {
            OnEviction::Restart => Work::Lost,
            OnEviction::Keep => Work::Kept,
            OnEviction::Checkpoint => Work::Checkpoints(self.checkpoint_seconds * 1_000),
        }
    }

    /// The model of a site with what is set in its place.
    ///
    /// # Errors
    /// A quota that no queue or cohort of the site has; quotas that cannot be counted.
    pub(super) fn model(&self, site: &objects::Site) -> Result<Model, Error> {
        let mut model = if site.queues.is_empty() { unlimited() } else { site.model(["cpu", "memory", UNCOVERED]) };
        model.settings.requeue_ms = self.requeue_seconds * 1_000;
        self.set_sharing(&mut model);
        self.set_queues(&mut model);
        self.set_quotas(&mut model, !site.queues.is_empty())?;
        Kueue::new(model.clone()).map_err(|error| Error::Site(error.to_string()))?;
        Ok(model)
    }

    fn set_sharing(&self, model: &mut Model) {
        let sharing = &mut model.settings.fair_sharing;
        match self.fair_sharing {
            Some(true) => _ = sharing.get_or_insert_default(),
            Some(false) => *sharing = None,
            None => {}
        }
        if let (Some(sharing), Some(strategy)) = (sharing, self.strategy) {
            *sharing = match strategy {
                Strategy::Both => FairSharing::default(),
                Strategy::Final => FairSharing { first: Shares::FinalShare, then_initial: false },
                Strategy::Initial => FairSharing { first: Shares::InitialShare, then_initial: false },
            };
        }
    }

    fn set_queues(&self, model: &mut Model) {
        for queue in &mut model.queues {
            let (preemption, fungibility) = (&mut queue.preemption, &mut queue.fungibility);
            set(&mut queue.strict, self.queueing_strategy.map(|strategy| strategy == Queueing::Strict));
            set(&mut fungibility.stop_to_borrow, self.when_can_borrow.map(|search| search == Search::Stops));
            set(&mut fungibility.stop_to_preempt, self.when_can_preempt.map(|search| search == Search::Stops));
            set(&mut fungibility.preempt_first, self.preference.map(|preference| preference == Preference::Preempting));
            set(
                &mut preemption.within,
                self.within_cluster_queue.map(|within| match within {
                    Within::Never => Preempts::Never,
                    Within::Lower => Preempts::LowerPriority,
                    Within::Newer => Preempts::LowerOrNewerEqualPriority,
                }),
            );
            set(
                &mut preemption.reclaim,
                self.reclaim_within_cohort.map(|reclaim| match reclaim {
                    Reclaim::Never => Preempts::Never,
                    Reclaim::Lower => Preempts::LowerPriority,
                    Reclaim::Any => Preempts::Any,
                }),
            );
            match self.borrow_within_cohort {
                // The threshold of the site stays.
                Some(WhileBorrowing::Lower) => {
                    _ = preemption.borrow.get_or_insert(BorrowWithinCohort { threshold: None });
                }
                Some(WhileBorrowing::Never) => preemption.borrow = None,
                None => {}
            }
        }
    }

    /// Sets the quotas. As long as no site is known, only their form is checked.
    fn set_quotas(&self, model: &mut Model, is_site: bool) -> Result<(), Error> {
        for part in self.quota.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let set = OneQuota::parse(part).and_then(|quota| if is_site { quota.set(model, part) } else { Ok(()) });
            set.map_err(|problem| Error::Parameter(format!("quota: {problem}")))?;
        }
        Ok(())
    }
}

/// One ClusterQueue that holds nothing back, for a site without any.
fn unlimited() -> Model {
    let (flavor, resources) = (FlavorId(0), [ResourceId(0), ResourceId(1)]);
    let nominal = objects::LARGEST;
    let quota = |resource| Quota { flavor, resource, nominal, borrowing: None, lending: None };
    let queue = Queue {
        groups: vec![Group { resources: resources.to_vec(), flavors: vec![flavor] }],
        quotas: resources.map(quota).to_vec(),
        ..Queue::new("unlimited")
    };
    Model {
        resources: ["cpu", "memory", UNCOVERED].map(str::to_owned).to_vec(),
        flavors: vec![Flavor { name: "any".to_owned(), ..Flavor::default() }],
        queues: vec![queue],
        settings: kueue::Settings { ignore_undeclared: true, ..kueue::Settings::default() },
        ..Model::default()
    }
}

fn set<T>(of_site: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *of_site = value;
    }
}

/// A quota that is set, such as `research/a100/nvidia.com/gpu=8`.
struct OneQuota<'t> {
    /// The ClusterQueue or the cohort.
    node: &'t str,
    flavor: &'t str,
    resource: &'t str,
    amount: i64,
}

impl<'t> OneQuota<'t> {
    fn parse(part: &'t str) -> Result<Self, String> {
        let form = || format!("expected QUEUE/FLAVOR/RESOURCE=AMOUNT, found `{part}`");
        let (path, amount) = part.split_once('=').ok_or_else(form)?;
        let mut names = path.splitn(3, '/').map(str::trim);
        let (Some(node), Some(flavor), Some(resource)) = (names.next(), names.next(), names.next()) else {
            return Err(form());
        };
        let amount = objects::amount(resource, amount.trim());
        Ok(Self {
            node,
            flavor,
            resource,
            amount: amount.map_err(|found| format!("expected an amount, found {found}"))?,
        })
    }

    fn set(&self, model: &mut Model, part: &str) -> Result<(), String> {
        let Self { node, flavor, resource, amount } = *self;
        let flavor_id = model.flavors.iter().position(|other| other.name == flavor);
        let resource_id = model.resources.iter().position(|other| other == resource);
        let queues = model.queues.iter_mut().filter(|queue| queue.name == node).flat_map(|queue| &mut queue.quotas);
        let cohorts =
            model.cohorts.iter_mut().filter(|cohort| cohort.name == node).flat_map(|cohort| &mut cohort.quotas);
        let is_it = |quota: &&mut Quota| {
            (Some(quota.flavor.0 as usize), Some(quota.resource.0 as usize)) == (flavor_id, resource_id)
        };
        let mut found = queues.chain(cohorts).filter(is_it).peekable();
        if found.peek().is_none() {
            return Err(format!(
                "no ClusterQueue or Cohort `{node}` has {resource} of the flavor `{flavor}`; correct `{part}`"
            ));
        }
        found.for_each(|quota| quota.nominal = amount);
        Ok(())
    }
}

/// Finds the parameters that do nothing.
pub(super) fn find_idle(values: &Values, site: &Site) -> Result<Vec<Idle>, Error> {
    let set = Settings::read(values)?;
    let objects = set.objects(site)?;
    let of_site = objects.configuration.as_ref().is_some_and(|object| object.fair_sharing.is_some());
    let shares = set.fair_sharing.unwrap_or(of_site);
    let idle = |says: &str, remedy: &str| Idle { says: says.to_owned(), remedy: remedy.to_owned() };
    let mut all = Vec::new();
    if objects.queues.is_empty() {
        let remedy = "Give the folder with the site's YAML by --site-conf.";
        all.push(idle("no ClusterQueue is given, so that no quota holds a workload back", remedy));
    }
    if values.is_set("checkpoint_seconds") && set.on_eviction != OnEviction::Checkpoint {
        let remedy = "Add on_eviction=checkpoint, or leave it out.";
        all.push(idle(
            "checkpoint_seconds has no effect, because the work of an evicted workload has no checkpoints",
            remedy,
        ));
    }
    if set.strategy.is_some() && !shares {
        all.push(idle("strategy has no effect without fair sharing", "Add fair_sharing=true, or leave it out."));
    }
    if set.borrow_within_cohort.is_some() && shares {
        all.push(idle(
            "borrow_within_cohort has no effect with fair sharing",
            "Add fair_sharing=false, or leave it out.",
        ));
    }
    Ok(all)
}
