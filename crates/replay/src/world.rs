//! A source on a cluster with a seed: the world that policies are replayed in.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use once_cell::sync::OnceCell;
use resched_policies::queues::slurm::SlurmConf;
use resched_policies::{Engine, Family, Finding, Input, PolicySpec, Site, Submitters, policies_of};
use resched_sim::batch::TooLarge;
use resched_sim::cluster_file::NamedMachines;
use resched_sim::hadoop::{self, Cluster, Kind};
use resched_sim::{ClusterConfig, Scope, Skipped, Window, batch};
use resched_tables::clock::Instant;
use resched_tables::model::NodeRow;
use resched_tables::run::{
    FORMAT_VERSION, RunClock, RunCluster, RunInfo, RunSite, RunTrace, RunValidation, Unfinished,
};
use resched_tables::sink::Collected;
use resched_tables::store::{Manifest, System as TraceSystem, Trace};
use resched_tables::validity::{Fact, Validity};
use resched_workload::make_trace;

use crate::Error;
use crate::binding::without_bytes;
use crate::facts;
use crate::keys;
use crate::ready::ReadyPolicy;
use crate::run::{self, BatchRun, HadoopRun, Pending};
use crate::scheduler::Scheduler;
use crate::sink::Sink;
use crate::source::{Origin, Source};

/// The machines and the rules of a replay.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The cluster file. By default, the source's own machines.
    pub cluster: ClusterConfig,
    /// The keys of the cluster file that you, your site or an option gave, such as `heartbeat.interval`. Any other key that has its
    /// default is an assumption ([`crate::UNKNOWNS`]). By default, none.
    pub given: BTreeSet<String>,
    /// The configuration of a Hadoop site. Its settings replace the defaults of policies. By default, there is none.
    pub site: Arc<Site>,
    /// The files of the site, for `run.json`.
    pub site_files: Option<RunSite>,
    /// The seed of all draws. By default, 1.
    pub seed: u64,
    /// The factor by which the times between arrivals are divided. By default, 1.
    pub speedup: f64,
    /// What becomes of work that had not ended when the trace ended. By default, its jobs count in no metric.
    pub unfinished: Unfinished,
    /// The part of the trace whose jobs count in metrics. By default, all of it.
    pub window: Window,
    /// What a batch task is taken to request that gives no request, in thousandths of a core. By default, a core.
    pub unknown_request: Option<u64>,
    /// The seed from which the preferred machines are drawn again that the log does not show. By default, those of the trace stay.
    pub places: Option<u64>,
    /// True if slots and sizes of machines may be assumed that nobody gives. By default not: they decide who waits.
    pub assume: bool,
    /// What else is known about the answers of this world, such as the error of a validation. By default, nothing.
    pub known: Validity,
    /// The validation that `known` has a fact about, for `run.json`. By default, there is none.
    pub validation: Option<RunValidation>,
    /// True if each replay is checked against the rules of its engine while it runs ([`hadoop::Checked`], [`batch::Checked`]). By
    /// default not. A replay that breaks a rule ends with an error.
    pub check: bool,
    /// True if only what batch jobs ask for is loaded, and not how they ran ([`resched_sim::Scope::requests`]). By default not.
    pub requests: bool,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            cluster: ClusterConfig::default(),
            given: BTreeSet::new(),
            site: Arc::default(),
            site_files: None,
            seed: 1,
            speedup: 1.0,
            unfinished: Unfinished::default(),
            window: Window::default(),
            unknown_request: None,
            places: None,
            assume: false,
            known: Validity::default(),
            validation: None,
            check: false,
            requests: false,
        }
    }
}

/// Machines and jobs that policies are replayed in. They are loaded once, for the first policy that needs them, and shared by
/// all threads.
#[derive(Debug)]
pub struct World {
    pub(crate) source: Source,
    pub(crate) setup: Setup,
    parts: Arc<Parts>,
    /// Seeds change the times of jobs, not their queues and users.
    submitters: Arc<OnceCell<Submitters>>,
}

/// The loaded parts of a source.
#[derive(Debug, Default)]
struct Parts {
    hadoop: OnceCell<Hadoop>,
    batch: OnceCell<batch::Loaded>,
    /// What identifies the trace, and how many jobs it has.
    identity: OnceCell<(String, Option<u64>)>,
    /// What the batch tasks ask for that some policies do not look at.
    asked: OnceCell<BTreeSet<Input>>,
    /// The machines of the trace that the cluster lacks, as a fact.
    unknown_hosts: OnceCell<Option<Fact>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Hadoop {
    pub(crate) loaded: Arc<hadoop::Loaded>,
    /// The machines, to be put under the system of each policy.
    pub(crate) cluster: Cluster,
    /// The rows that describe the machines of a source that is not on disk.
    nodes: Arc<[NodeRow]>,
}

impl Hadoop {
    /// The kinds of tasks that its jobs have.
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        let jobs = self.loaded.workload.jobs();
        Kind::BOTH.into_iter().filter(|&kind| jobs.iter().any(|job| job.count(kind) > 0)).collect()
    }
}

impl World {
    /// The world of a source.
    ///
    /// # Errors
    /// [`Error::Request`] if the cluster cannot be described in `run.json`, or no job was submitted in the window. Other errors of the source or the cluster
    /// appear when it is loaded, by [`World::check`] at the latest.
    pub fn open(source: &Source, mut setup: Setup) -> Result<Self, Error> {
        let relative = matches!(source.origin(), Origin::Trace(_)) && !source.is_dated();
        let dated = |end: Option<Instant>| matches!(end, Some(Instant::Date(_)));
        if relative && (dated(setup.window.from) || dated(setup.window.to)) {
            let problem = "its times do not count from a date; give the window in ms, or as times like +2h";
            return Err(Error::Request(format!("{}: {problem}", source.name())));
        }
        source.check_window(setup.window)?;
        if setup.site.log_version.as_deref() != source.scheduler_version() {
            setup.site = Arc::new(Site::clone(&setup.site).with_log_version(source.scheduler_version()));
        }
        Ok(Self { source: source.clone(), setup, parts: Arc::default(), submitters: Arc::default() })
    }

    /// The same world with other draws. Both worlds share all data that does not depend on the seed.
    pub fn with_seed(&self, seed: u64) -> Self {
        let differs = seed != self.setup.seed && self.load_depends_on_seed();
        Self {
            source: self.source.clone(),
            setup: Setup { seed, ..self.setup.clone() },
            parts: if differs { Arc::default() } else { Arc::clone(&self.parts) },
            submitters: Arc::clone(&self.submitters),
        }
    }

    /// The seed of all draws.
    pub fn seed(&self) -> u64 {
        self.setup.seed
    }

    /// The same world, whose replays are checked or not ([`Setup::check`]).
    pub fn checked(mut self, check: bool) -> Self {
        self.setup.check = check;
        self
    }

    /// The same jobs under other rules, on the same machines. The loaded data is shared: the rules must not change what loading makes of
    /// it, which are `nodes.count`, `nodes.clones`, `cost.host_factors` and the keys of `[jobs]` other than `slowstart`.
    ///
    /// # Errors
    /// Errors of the source or the cluster.
    pub(crate) fn under_rules(&self, cluster: ClusterConfig) -> Result<Self, Error> {
        let Hadoop { loaded, nodes, .. } = self.hadoop("variant")?;
        let machines = match self.source.origin() {
            Origin::Trace(trace) => Cluster::for_trace(cluster.clone(), trace)?,
            Origin::Tables { .. } | Origin::Workload { .. } => Cluster::of_rows(cluster.clone(), nodes)?,
        };
        let hadoop = Hadoop { loaded: Arc::clone(loaded), cluster: machines, nodes: Arc::clone(nodes) };
        self.with(
            Setup { cluster, ..self.setup.clone() },
            Parts { hadoop: OnceCell::with_value(hadoop), ..Parts::default() },
        )
    }

    /// The same world whose jobs are changed after they were loaded for the engine.
    ///
    /// # Errors
    /// Errors of the source or the cluster.
    pub(crate) fn changed(
        &self,
        engine: Engine,
        hadoop: impl FnOnce(&mut hadoop::Workload, &Cluster),
        batch: impl FnOnce(&mut batch::Workload),
    ) -> Result<Self, Error> {
        let parts = match engine {
            Engine::Hadoop => {
                let mut world = self.hadoop("variant")?.clone();
                hadoop(&mut Arc::make_mut(&mut world.loaded).workload, &world.cluster);
                Parts { hadoop: OnceCell::with_value(world), ..Parts::default() }
            }
            Engine::Batch => {
                let mut world = self.batch()?.clone();
                batch(&mut world.workload);
                Parts { batch: OnceCell::with_value(world), ..Parts::default() }
            }
        };
        self.with(self.setup.clone(), parts)
    }

    /// The same source in another setup, with nothing loaded.
    ///
    /// # Errors
    /// As [`World::open`].
    pub(crate) fn anew(&self, setup: Setup) -> Result<Self, Error> {
        self.with(setup, Parts::default())
    }

    fn with(&self, setup: Setup, parts: Parts) -> Result<Self, Error> {
        let world = Self::open(&self.source, setup)?;
        Ok(Self { parts: Arc::new(parts), submitters: Arc::clone(&self.submitters), ..world })
    }

    /// Some of the jobs for an engine by themselves, by their places in the order of submission, on the same machines under the same rules.
    ///
    /// # Errors
    /// Errors of the source or the cluster.
    pub fn part(&self, engine: Engine, jobs: Range<usize>) -> Result<Self, Error> {
        // Only the part is copied, as the whole may be large.
        let parts = match engine {
            Engine::Hadoop => {
                let Hadoop { loaded, cluster, nodes } = self.hadoop("sample")?;
                let loaded = Arc::new(loaded.part(jobs));
                let part = Hadoop { loaded, cluster: cluster.clone(), nodes: Arc::clone(nodes) };
                Parts { hadoop: OnceCell::with_value(part), ..Parts::default() }
            }
            Engine::Batch => {
                let part = self.batch()?.part(jobs);
                Parts { batch: OnceCell::with_value(part), ..Parts::default() }
            }
        };
        self.with(self.setup.clone(), parts)
    }

    /// How many tasks each job has that a policy replays, in the order of submission.
    ///
    /// # Errors
    /// Errors of the source or the cluster.
    pub fn tasks_of_jobs(&self, policy: &PolicySpec) -> Result<Vec<u64>, Error> {
        Ok(match policy.info.engine() {
            Engine::Hadoop => {
                let jobs = self.hadoop(&policy.label())?.loaded.workload.jobs().iter();
                jobs.map(|job| (job.maps.len() + job.reduces.len()) as u64).collect()
            }
            Engine::Batch => {
                let workload = &self.batch()?.workload;
                let mut tasks = vec![0; workload.jobs().len()];
                for task in workload.tasks() {
                    if let Some(of_job) = tasks.get_mut(task.job.index()) {
                        *of_job += u64::from(task.units());
                    }
                }
                tasks
            }
        })
    }

    /// A workload file is generated with the seed; the blocks of a trace are placed with it if the cluster has other machines, and what had
    /// not ended may get a drawn run time.
    pub(crate) fn load_depends_on_seed(&self) -> bool {
        let nodes = &self.setup.cluster.nodes;
        matches!(self.source.origin(), Origin::Workload { .. })
            || nodes.count.is_some()
            || nodes.clones.is_some()
            || self.setup.unfinished == Unfinished::Estimate
    }

    /// Loads the data that the policy needs, and checks that the policy can be replayed here. Replays of what it returns check nothing
    /// again. If you do not call it, each replay does this.
    ///
    /// # Errors
    /// Errors of the source or the cluster; [`Error::Request`] if the policy is for another engine; [`Error::Policy`]
    /// if it cannot be made at the site.
    pub fn check(&self, policy: &PolicySpec) -> Result<ReadyPolicy, Error> {
        let (at_site, found) = match policy.info.engine() {
            Engine::Hadoop => {
                let hadoop = self.hadoop(&policy.label())?;
                let at_site = self.at_site(policy)?;
                self.known(facts::unknown_slots(&hadoop.cluster.for_policy(&*at_site.build()?)?, &hadoop.kinds()))?;
                (at_site, Vec::new())
            }
            Engine::Batch => {
                let batch = self.batch()?;
                self.known(facts::unknown_sizes(&batch.machines))?;
                let at_site = self.at_site(policy)?;
                let mut found = at_site.too_large(&batch.workload)?;
                found.extend(at_site.missing_files(&batch.workload)?);
                (at_site, found)
            }
        };
        self.ready_at_site(policy, at_site, found)
    }

    /// The policy with the settings of the site. It reads the jobs of the source if the policy has queues or pools, but loads nothing else:
    /// whether the source and the cluster suit it is found by [`World::check`], or by its replay.
    ///
    /// # Errors
    /// [`Error::Policy`] if the policy cannot be made at the site; errors of the source.
    pub fn ready(&self, policy: &PolicySpec) -> Result<ReadyPolicy, Error> {
        self.ready_at_site(policy, self.at_site(policy)?, Vec::new())
    }

    /// `found` are the findings that the loaded jobs show.
    fn ready_at_site(
        &self,
        asked: &PolicySpec,
        at_site: PolicySpec,
        found: Vec<Finding>,
    ) -> Result<ReadyPolicy, Error> {
        let mut findings = found;
        let mut of_site = BTreeSet::new();
        let has_site = self.setup.site.is_configured();
        if has_site || at_site.has_rules() {
            let jobs = self.submitters.get_or_try_init(|| self.source.submitters())?;
            of_site = Input::of_site(&self.setup.site, jobs);
            if at_site.has_rules() {
                findings.extend(at_site.findings(jobs)?);
            }
        }
        Ok(ReadyPolicy::new([asked.clone(), at_site], findings, of_site))
    }

    /// The jobs and machines of a production trace. They are loaded if they were not before.
    ///
    /// # Errors
    /// Errors of the source or the cluster.
    pub fn loaded(&self) -> Result<&batch::Loaded, Error> {
        let loaded = self.batch()?;
        self.known(facts::unknown_sizes(&loaded.machines))?;
        Ok(loaded)
    }

    /// How many jobs a policy replays; 0 before anything is loaded for such a policy ([`World::check`]).
    pub fn jobs(&self, policy: &PolicySpec) -> u64 {
        let jobs = match policy.info.engine() {
            Engine::Hadoop => self.parts.hadoop.get().map(|hadoop| hadoop.loaded.workload.jobs().len()),
            Engine::Batch => self.parts.batch.get().map(|loaded| loaded.workload.jobs().len()),
        };
        jobs.unwrap_or(0) as u64
    }

    /// The cluster that a policy runs on, as `run.json` describes it. It is loaded if it was not before.
    ///
    /// # Errors
    /// Errors of the source or the cluster, and of a policy that cannot be made.
    pub fn cluster(&self, policy: &PolicySpec) -> Result<RunCluster, Error> {
        match policy.info.engine() {
            Engine::Hadoop => {
                let hadoop = self.hadoop(&policy.label())?;
                Ok(hadoop.cluster.for_policy(&*self.at_site(policy)?.build()?)?.in_short())
            }
            Engine::Batch => Ok(self.batch()?.machines.in_short()),
        }
    }

    /// How many jobs of the source cannot run on its machines as they are, and the ids of the first of them. Under a policy for Hadoop,
    /// every job can.
    ///
    /// # Errors
    /// Errors of the source or the cluster.
    pub fn too_large(&self, policy: &PolicySpec) -> Result<TooLarge, Error> {
        match policy.info.engine() {
            Engine::Hadoop => Ok(TooLarge::default()),
            Engine::Batch => Ok(self.batch()?.too_large.clone()),
        }
    }

    /// Counts of what was left out or mended when the source was loaded, by cause. If the two engines differ, the
    /// larger count.
    pub fn skipped(&self) -> Skipped {
        let mut all = self.parts.hadoop.get().map(|hadoop| hadoop.loaded.skipped.clone()).unwrap_or_default();
        for (cause, &n) in self.parts.batch.get().into_iter().flat_map(|loaded| &loaded.skipped) {
            let known = all.entry(cause.clone()).or_default();
            *known = n.max(*known);
        }
        all
    }

    /// Replays a policy. The policy is one of the registry (`&PolicySpec`) or your own ([`Scheduler`]); the sink takes the rows.
    ///
    /// # Errors
    /// As [`World::check`]; errors of the policy or the engine; errors of keeping the rows.
    pub fn replay<'p, S: Sink>(&self, policy: impl Into<Scheduler<'p>>, sink: S) -> Result<S::Output, Error> {
        self.replay_with(policy, sink, &mut |_| {})
    }

    /// As [`World::replay`]; `progress` is called now and then with the number of jobs that have ended.
    ///
    /// # Errors
    /// As [`World::replay`].
    pub fn replay_with<'p, S: Sink>(
        &self,
        policy: impl Into<Scheduler<'p>>,
        sink: S,
        progress: &mut dyn FnMut(u64),
    ) -> Result<S::Output, Error> {
        match policy.into() {
            Scheduler::Registry(spec) => self.replay_ready(&self.ready(spec)?, sink, progress),
            Scheduler::Ready(policy) => self.replay_ready(policy, sink, progress),
            Scheduler::Hadoop(name, policy) => self.replay_hadoop(policy, self.info(name, name), sink, progress),
            Scheduler::Batch(name, policy) => self.replay_batch(policy, self.info(name, name), sink, progress),
        }
    }

    fn replay_ready<S: Sink>(
        &self,
        policy: &ReadyPolicy,
        sink: S,
        progress: &mut dyn FnMut(u64),
    ) -> Result<S::Output, Error> {
        let spec = policy.spec();
        let info = self.info(spec.label(), spec.name());
        let of_work = match spec.info.engine() {
            Engine::Hadoop => BTreeSet::new(),
            Engine::Batch => {
                let loaded = self.batch()?;
                if loaded.machines.are_boundless() && !Input::Kueue.is_understood_by(spec.info) {
                    return Err(Error::Request(facts::needs_machines(&spec.name())));
                }
                self.parts.asked.get_or_init(|| Input::of_work(loaded, facts::SMALL)).clone()
            }
        };
        let info = RunInfo { params: spec.parameters(), validity: policy.validity(&of_work)?, ..info };
        match spec.info.engine() {
            Engine::Hadoop => self.replay_hadoop(&mut *spec.build()?, info, sink, progress),
            Engine::Batch => self.replay_batch(&mut *spec.build_batch()?, info, sink, progress),
        }
    }

    fn replay_hadoop<S: Sink>(
        &self,
        policy: &mut dyn hadoop::Policy,
        info: RunInfo,
        sink: S,
        progress: &mut dyn FnMut(u64),
    ) -> Result<S::Output, Error> {
        let hadoop = self.hadoop(&info.label)?;
        let Hadoop { loaded, cluster, .. } = hadoop;
        let cluster = &cluster.for_policy(policy)?;
        let kinds = &hadoop.kinds();
        self.known(facts::unknown_slots(cluster, kinds))?;
        let hadoop::Loaded { workload, skipped, window, clock, .. } = &**loaded;
        let name = &info.label.clone();
        let info = RunInfo {
            engine: Engine::Hadoop,
            system: cluster.system().in_tables(),
            cluster: cluster.in_short(),
            skipped: skipped.clone(),
            window: *window,
            clock: self.dated(*clock),
            validity: facts::of_hadoop((cluster, kinds), loaded, self.manifest(), self.setup.unfinished)
                .and(&Validity { facts: without_bytes(&self.setup.cluster, workload).into_iter().collect() })
                .and(&Validity {
                    facts: keys::without_effect(&self.setup.cluster, Engine::Hadoop).into_iter().collect(),
                })
                .and(&self.setup.known)
                .and(&info.validity),
            trace: self.trace()?,
            ..info
        };
        sink.take(
            Pending(run::Engine::Hadoop(HadoopRun {
                workload,
                cluster,
                policy,
                progress,
                name,
                seed: self.setup.seed,
                check: self.setup.check,
            })),
            info,
        )
    }

    fn replay_batch<S: Sink>(
        &self,
        policy: &mut dyn batch::Policy,
        info: RunInfo,
        sink: S,
        progress: &mut dyn FnMut(u64),
    ) -> Result<S::Output, Error> {
        let loaded = self.batch()?;
        self.known(facts::unknown_sizes(&loaded.machines))?;
        let name = &info.label.clone();
        let info = RunInfo {
            engine: Engine::Batch,
            system: self
                .manifest()
                .and_then(|manifest| manifest.system)
                .filter(|system| !system.is_hadoop())
                .unwrap_or(TraceSystem::Batch),
            cluster: loaded.machines.in_short(),
            skipped: loaded.skipped.clone(),
            window: loaded.window,
            clock: self.dated(loaded.clock),
            validity: facts::of_batch(loaded, self.manifest(), self.setup.unfinished, self.fitted_distance())
                .and(&Validity {
                    facts: keys::without_effect(&self.setup.cluster, Engine::Batch).into_iter().collect(),
                })
                .and(&Validity { facts: self.unknown_hosts()?.cloned().into_iter().collect() })
                .and(&facts::of_limits(&loaded.work, policy.has_limits()))
                .and(&self.setup.known)
                .and(&info.validity),
            trace: self.trace()?,
            ..info
        };
        sink.take(
            Pending(run::Engine::Batch(BatchRun {
                loaded,
                policy,
                progress,
                name,
                seed: self.setup.seed,
                check: self.setup.check,
            })),
            info,
        )
    }

    /// The fact about machines that the trace names and the cluster does not. A number of machines that you ask for is no such fault.
    fn unknown_hosts(&self) -> Result<Option<&Fact>, Error> {
        Ok(self.parts.unknown_hosts.get_or_try_init(|| unknown_hosts(&self.setup.cluster, &self.source))?.as_ref())
    }

    /// The clock of a run with whether the source has dates; `None` if the run has other gaps between arrivals.
    fn dated(&self, clock: RunClock) -> Option<RunClock> {
        (self.setup.speedup == 1.0).then(|| RunClock { dated: self.source.is_dated(), ..clock })
    }

    /// Refuses what nobody gives and what may not be assumed. A workload file, and a trace that was generated
    /// from one, is a world of its own and says all there is.
    fn known(&self, unknown: Option<String>) -> Result<(), Error> {
        match unknown.filter(|_| !self.setup.assume && self.manifest().is_some()) {
            Some(problem) => Err(Error::Request(format!("{}: {problem}", self.source.name()))),
            None => Ok(()),
        }
    }

    /// The manifest of a trace of something that took place.
    pub(crate) fn manifest(&self) -> Option<&Manifest> {
        match self.source.origin() {
            Origin::Trace(trace) => Some(trace.manifest()).filter(|manifest| !manifest.is_of_workload()),
            Origin::Workload { .. } | Origin::Tables { .. } => None,
        }
    }

    /// The policy with the settings of the site.
    fn at_site(&self, policy: &PolicySpec) -> Result<PolicySpec, Error> {
        let site = &self.setup.site;
        if **site == Site::default() { Ok(policy.clone()) } else { Ok(policy.at_site(site)?) }
    }

    /// The part of `run.json` that all runs in this world share, with the names of this run.
    fn info(&self, label: impl Into<String>, policy: impl Into<String>) -> RunInfo {
        let cost = &self.setup.cluster.cost;
        let label = label.into();
        RunInfo {
            format_version: FORMAT_VERSION,
            written_by: concat!("resched ", env!("CARGO_PKG_VERSION")).to_owned(),
            policy_order: resched_policies::order_of(&label),
            label,
            policy: policy.into(),
            rules: self.setup.cluster.clone(),
            site: self.setup.site_files.clone(),
            cost_model: cost.model().to_owned(),
            reduce_model: cost.reduce.name().to_owned(),
            seed: self.setup.seed,
            unfinished: self.setup.unfinished,
            validation: self.setup.validation.clone(),
            ..RunInfo::default()
        }
    }

    /// The source, as `run.json` names it.
    ///
    /// # Errors
    /// [`Error::Sim`] if it cannot be identified.
    pub fn trace(&self) -> Result<RunTrace, Error> {
        let (sha256, jobs) = self.parts.identity.get_or_try_init(|| match self.source.origin() {
            Origin::Trace(trace) => identity_of(trace.manifest()),
            Origin::Workload { .. } => identity_of(&self.generate()?.1),
            Origin::Tables { sha256, tables } => Ok((sha256.clone(), u64::try_from(tables.jobs.len()).ok())),
        })?;
        let (path, workload) = (self.source.name().to_owned(), self.source.workload_identity());
        let is_log = self.log().is_some_and(|log| log.is_observed());
        Ok(RunTrace { path, sha256: sha256.clone(), workload, jobs: *jobs, is_log })
    }

    /// Machines and jobs for a policy for Hadoop, of which `label` is the name.
    pub(crate) fn hadoop(&self, label: &str) -> Result<&Hadoop, Error> {
        if self.source.engine() == Engine::Batch {
            let names: Vec<&str> = policies_of(Family::Batch).map(|info| info.name).collect();
            return Err(Error::Request(format!(
                "policy `{label}` schedules Hadoop's maps and reduces, but {} has none; choose one of {}",
                self.source.name(),
                names.join(", ")
            )));
        }
        self.parts.hadoop.get_or_try_init(|| {
            let (config, scope) = (self.setup.cluster.clone(), &self.scope());
            let mut hadoop = match self.source.origin() {
                Origin::Trace(trace) => hadoop_of_trace(trace, config, scope)?,
                Origin::Tables { tables, .. } => hadoop_of_tables(tables, config, scope)?,
                Origin::Workload { .. } => hadoop_of_tables(&self.made()?, config, scope)?,
            };
            if let Some(loaded) = Arc::get_mut(&mut hadoop.loaded) {
                loaded.workload.hasten(self.setup.speedup);
            }
            Ok(hadoop)
        })
    }

    /// Machines and jobs for a batch policy.
    pub(crate) fn batch(&self) -> Result<&batch::Loaded, Error> {
        if self.setup.speedup != 1.0 {
            let problem =
                "the arrivals of production traces cannot be varied; make another trace with `resched scale --time`";
            return Err(Error::Request(problem.to_owned()));
        }
        self.parts.batch.get_or_try_init(|| {
            let config = &self.setup.cluster;
            let scope = self.scope();
            match self.source.origin() {
                Origin::Trace(trace) => Ok(batch::load(trace, config, &scope)?),
                Origin::Tables { tables, .. } => Ok(batch::load_records(tables, config, &scope)?),
                Origin::Workload { .. } => Ok(batch::load_records(&self.made()?, config, &scope)?),
            }
        })
    }

    /// How the source is loaded.
    fn scope(&self) -> Scope {
        let Setup { unfinished, window, seed, unknown_request, places, requests, .. } = self.setup;
        let locality = self.setup.cluster.cost.locality;
        let is_given = |key: &String| key == "cost.locality" || key.starts_with("cost.locality.");
        let given = self.setup.given.iter().any(is_given) || locality != ClusterConfig::default().cost.locality;
        let groups = Arc::new(self.setup.site.slurm.as_ref().map_or_else(BTreeMap::new, SlurmConf::groups_of_nodes));
        Scope {
            unfinished,
            window,
            seed,
            unknown_request,
            locality: given.then_some(locality),
            places,
            groups,
            requests,
        }
    }

    /// The standard error of the cost of distance elsewhere, if the cluster file has one that was fitted.
    fn fitted_distance(&self) -> Option<f64> {
        self.setup.cluster.fitted.get("cost.locality.off").copied()
    }

    /// The tables of a workload file. They are dropped once machines and jobs are made from them. Only the data that
    /// identifies them is kept.
    fn made(&self) -> Result<Collected, Error> {
        let (tables, manifest) = self.generate()?;
        self.parts.identity.get_or_try_init(|| identity_of(&manifest))?;
        Ok(tables)
    }

    fn generate(&self) -> Result<(Collected, Manifest), Error> {
        let Origin::Workload { workload, text } = self.source.origin() else { return Err(Error::Lost) };
        Ok(make_trace(workload, text, self.source.name(), self.setup.seed)?)
    }
}

/// The fact about machines that a trace names and the cluster does not; `None` if the cluster names none, or you ask for another number.
///
/// # Errors
/// [`Error::Sim`] if the trace cannot be read.
pub fn unknown_hosts(cluster: &ClusterConfig, source: &Source) -> Result<Option<Fact>, Error> {
    let machines = &cluster.machines;
    if machines.named.is_empty() || machines.clones.is_some() {
        return Ok(None);
    }
    let known: BTreeSet<String> = machines.named.iter().flat_map(NamedMachines::names).collect();
    Ok(facts::unknown_hosts(&known, &source.hosts()?))
}

/// What identifies a trace, and how many jobs it has.
fn identity_of(manifest: &Manifest) -> Result<(String, Option<u64>), Error> {
    Ok((manifest.fingerprint()?, manifest.rows.get("jobs").copied()))
}

fn hadoop_of_trace(trace: &Trace, config: ClusterConfig, scope: &Scope) -> Result<Hadoop, Error> {
    let cluster = Cluster::for_trace(config, trace)?;
    Ok(Hadoop { loaded: Arc::new(hadoop::load(trace, &cluster, scope)?), cluster, nodes: Arc::default() })
}

fn hadoop_of_tables(tables: &Collected, config: ClusterConfig, scope: &Scope) -> Result<Hadoop, Error> {
    let cluster = Cluster::of_rows(config, &tables.nodes)?;
    let loaded = Arc::new(hadoop::load_records(&tables.jobs, &cluster, scope)?);
    Ok(Hadoop { loaded, cluster, nodes: tables.nodes.clone().into() })
}
