//! The rules that hold in every replay of Hadoop, checked while it runs. Tests use them under every policy, and `--check` on a trace.

use std::collections::BTreeMap;

use resched_tables::model::{Locality, Outcome};

use super::ask::Ask;
use super::cluster::Cluster;
use super::kind::Kind;
use super::observer::{Ended, Kept, Launched, MasterEnded, MasterLaunched, Observer, TakenBack, Used};
use super::system::System;
use super::workload::Workload;
use crate::Error;
use crate::cluster_file::Calculator;
use crate::hadoop::resources::Resources;
use crate::ids::{JobId, Ms, NodeId, TaskId};
use crate::observer::{Decided, JobEnded, PassedOver, Reports};

/// Passes on what a replay reports, and ends the replay when that breaks a rule. Call [`Checked::close`] after the replay.
///
/// It judges by the workload, the cluster and the reports alone, not by the state of the engine.
pub struct Checked<'a> {
    workload: &'a Workload,
    cluster: &'a Cluster,
    policy: &'a str,
    inner: &'a mut dyn Observer,
    /// The latest instant that the master has reported.
    clock: Ms,
    /// What is on each node.
    used: Vec<OnNode>,
    /// The attempts that are on a node.
    running: BTreeMap<(TaskId, u32), Launched>,
    /// The application masters that hold a container, by job.
    masters: BTreeMap<JobId, MasterLaunched>,
    /// How many attempts at each task succeeded, and when the first did.
    successes: Vec<(u32, Option<Ms>)>,
    /// When the first reduce of each job ended.
    first_reduces: Vec<Option<Ms>>,
    /// From when to when each reduce that succeeded computed, by node.
    computing: BTreeMap<NodeId, Vec<(Ms, Ms)>>,
    /// How each job ended.
    outcomes: Vec<Option<Outcome>>,
}

/// How many attempts and application masters are on a node.
#[derive(Debug, Clone, Copy, Default)]
struct OnNode {
    /// By kind, as the master knows it.
    tasks: [u32; 2],
    masters: u32,
}

impl<'a> Checked<'a> {
    /// Checks a replay of this workload on this cluster under the policy of this name. `inner` gets every report.
    pub fn new(workload: &'a Workload, cluster: &'a Cluster, policy: &'a str, inner: &'a mut dyn Observer) -> Self {
        let jobs = workload.jobs().len();
        Self {
            workload,
            cluster,
            policy,
            inner,
            clock: Ms::MIN,
            used: vec![OnNode::default(); cluster.nodes().len()],
            running: BTreeMap::new(),
            masters: BTreeMap::new(),
            successes: vec![(0, None); workload.task_count()],
            first_reduces: vec![None; jobs],
            computing: BTreeMap::new(),
            outcomes: vec![None; jobs],
        }
    }

    /// Checks what must hold after the replay.
    ///
    /// # Errors
    /// [`Error::RuleBroken`].
    pub fn close(mut self) -> Result<(), Error> {
        let open = self.outcomes.iter().position(Option::is_none).map(JobId::at);
        self.expect(open.is_none(), "every job ends", || open.map_or_else(String::new, |job| self.job(job)))?;
        let left = self.running.values().next();
        self.expect(left.is_none(), "every attempt ends", || {
            left.map_or_else(String::new, |attempt| self.launch(attempt))
        })?;
        let left = self.masters.values().next();
        self.expect(left.is_none(), "every application master ends", || {
            left.map_or_else(String::new, |master| self.master(master))
        })?;
        for (node, times) in std::mem::take(&mut self.computing) {
            let slots = match self.cluster.system() {
                System::Slots => self.computing_slots(node),
                System::Containers => usize::MAX,
            };
            let most = most_at_once(times);
            self.expect(most <= slots, "no more reduces compute on a node than it has slots for", || {
                format!("node {}: {most} at once", self.cluster.node(node).name)
            })?;
        }
        (0..self.workload.task_count()).map(TaskId::at).try_for_each(|task| self.check_task(task))
    }

    fn computing_slots(&self, node: NodeId) -> usize {
        let admitted = self.cluster.node(node).capacity.reduce_slots() as usize;
        self.cluster.computing(node).map_or(admitted, |slots| slots as usize)
    }

    /// A task of a job that succeeded has succeeded once, and its reduces ended after its maps.
    fn check_task(&self, task: TaskId) -> Result<(), Error> {
        let id = self.workload.job_of(task);
        let job = self.workload.job(id);
        let (successes, first) = self.successes[task.index()];
        let failed = self.outcomes[id.index()] != Some(Outcome::Success);
        let is_map = job.place(task).0 == Kind::Map;
        // A map runs again if the node with its output fails before the job is done.
        let again = is_map && !job.reduces.is_empty() && !self.cluster.outages().is_empty();
        let once = successes == 1 || failed || again && successes > 1;
        self.expect(once, "every task of a job succeeds once", || {
            format!("{} succeeded {successes} times", self.task(task))
        })?;
        let Some(reduced) = self.first_reduces[id.index()].filter(|_| is_map) else { return Ok(()) };
        self.expect(reduced >= first.unwrap_or(Ms::MAX), "a reduce ends after all maps of its job", || {
            format!("a reduce ended at {reduced} ms, {} at {first:?}", self.task(task))
        })
    }

    fn expect(&self, holds: bool, rule: &'static str, found: impl FnOnce() -> String) -> Result<(), Error> {
        if holds {
            return Ok(());
        }
        Err(Error::RuleBroken { policy: self.policy.to_owned(), at: self.clock, rule, found: found() })
    }

    fn check_launch(&mut self, launched: &Launched) -> Result<(), Error> {
        let (workload, cluster) = (self.workload, self.cluster);
        let id = workload.job_of(launched.task);
        let job = workload.job(id);
        let kind = job.place(launched.task).0;
        self.expect(launched.at >= self.clock, "time does not go back", || self.launch(launched))?;
        self.clock = launched.at;
        self.expect(launched.at >= job.submit, "no task starts before its job is submitted", || self.launch(launched))?;
        self.expect(self.outcomes[id.index()].is_none(), "no task starts after its job has ended", || {
            self.launch(launched)
        })?;
        // A container that waits for its map is reported, and lost, when its node fails.
        let down = cluster.outages().iter().any(|down| {
            down.node == launched.node && launched.at > down.from && down.to.is_none_or(|to| launched.at < to)
        });
        self.expect(!down, "no task starts on a node that is down", || self.launch(launched))?;
        let others = self.running.range((launched.task, 0)..=(launched.task, u32::MAX)).next().is_some();
        // With nodes that fail, the master may back up an attempt that is dead, or run a lost map again while a loser is killed.
        let alone = others == launched.backup || !cluster.outages().is_empty();
        self.expect(alone, "only a backup starts beside another attempt at its task", || self.launch(launched))?;
        let level = self.level(launched.task, launched.node);
        self.expect(
            launched.level == level,
            "the distance to the input follows from the places of its blocks",
            || format!("{}; expected {level:?}", self.launch(launched)),
        )?;
        self.used[launched.node.index()].tasks[kind.index()] += 1;
        self.check_room(launched.node, || self.launch(launched))?;
        self.running.insert((launched.task, launched.attempt), *launched);
        Ok(())
    }

    /// Whether a node has room for all that it holds. `latest` says what it got last.
    fn check_room(&self, node: NodeId, latest: impl FnOnce() -> String) -> Result<(), Error> {
        let cluster = self.cluster;
        let OnNode { tasks: [maps, reduces], masters } = self.used[node.index()];
        let demand = Resources::NONE
            .plus(cluster.demand(Kind::Map).times(maps.into()))
            .plus(cluster.demand(Kind::Reduce).times(reduces.into()))
            .plus(cluster.demand_of(Ask::Am).times(masters.into()));
        let capacity = cluster.node(node).capacity;
        // Without DRF, YARN gives out vcores that a node does not have.
        let fits = capacity.memory >= demand.memory && (capacity.cpu >= demand.cpu || !self.counts_both());
        self.expect(fits, "no node holds more than it has room for", || {
            let holds = format!("{maps} maps, {reduces} reduces and {masters} application masters");
            format!("{}; it holds {holds}, and has {capacity:?}", latest())
        })
    }

    fn check_master_launch(&mut self, master_launched: &MasterLaunched) -> Result<(), Error> {
        self.expect(master_launched.at >= self.clock, "time does not go back", || self.master(master_launched))?;
        self.clock = master_launched.at;
        self.expect(
            self.outcomes[master_launched.job.index()].is_none(),
            "no master starts after its job has ended",
            || self.master(master_launched),
        )?;
        let other = self.masters.insert(master_launched.job, *master_launched);
        self.expect(other.is_none(), "a job has one application master at a time", || {
            format!("{}, launched as {other:?}", self.master(master_launched))
        })?;
        self.used[master_launched.node.index()].masters += 1;
        self.check_room(master_launched.node, || self.master(master_launched))
    }

    fn check_master_end(&mut self, master_ended: &MasterEnded) -> Result<(), Error> {
        let launched = self.masters.remove(&master_ended.job).filter(|launched| launched.at <= master_ended.at);
        let found = || format!("{master_ended:?}, launched as {launched:?}");
        self.expect(launched.is_some(), "an application master ends after its launch", found)?;
        let over = self.outcomes[master_ended.job.index()].is_some() || master_ended.outcome == Outcome::Lost;
        self.expect(over, "an application master ends after its job or with its node", found)?;
        if let Some(launched) = launched {
            self.used[launched.node.index()].masters -= 1;
        }
        Ok(())
    }

    fn counts_both(&self) -> bool {
        self.cluster.system() == System::Slots || self.cluster.config.containers.calculator == Calculator::Dominant
    }

    /// How near to its input a task runs on a node, from the definition.
    fn level(&self, task: TaskId, node: NodeId) -> Option<Locality> {
        let rack = self.cluster.node(node).rack;
        let is_map = self.workload.job(self.workload.job_of(task)).place(task).0 == Kind::Map;
        let replicas = if is_map { self.workload.replicas(task) } else { &[] };
        let distance = |&replica: &NodeId| match replica {
            replica if replica == node => Locality::Node,
            replica if self.cluster.node(replica).rack == rack => Locality::Rack,
            _ => Locality::Off,
        };
        replicas.iter().map(distance).min()
    }

    fn check_end(&mut self, ended: &Ended) -> Result<(), Error> {
        let id = self.workload.job_of(ended.task);
        let kind = self.workload.job(id).place(ended.task).0;
        let launched = self.running.remove(&(ended.task, ended.attempt));
        let fits = launched.is_some_and(|launched| self.fit_together(&launched, ended));
        self.expect(fits, "an attempt ends where it was launched, and runs from then on", || {
            format!("{}, launched as {launched:?}, ended as {ended:?}", self.task(ended.task))
        })?;
        self.used[ended.node.index()].tasks[kind.index()] -= 1;
        let never_ends = ended.outcome == Outcome::Incomplete;
        let left_alone = self.outcomes[id.index()] == Some(Outcome::Failed) && !self.cluster.config.jobs.kill_failed;
        self.expect(!never_ends || left_alone && kind == Kind::Reduce, "every attempt ends", || {
            format!("{}: {ended:?}", self.task(ended.task))
        })?;
        let phases = [Some(ended.start), ended.shuffle_finish, ended.sort_finish, ended.finish];
        let in_order = phases.into_iter().flatten().is_sorted()
            && (ended.outcome == Outcome::Incomplete) == ended.finish.is_none();
        self.expect(in_order, "the phases of an attempt follow each other", || {
            format!("{}: {ended:?}", self.task(ended.task))
        })?;
        if let (Some(from), Some(to)) = (ended.sort_finish, ended.finish) {
            self.computing.entry(ended.node).or_default().push((from, to));
        }
        if ended.outcome == Outcome::Success && !ended.discarded {
            let (count, first) = &mut self.successes[ended.task.index()];
            *count += 1;
            *first = first.or(ended.finish);
            if kind == Kind::Reduce {
                let first = &mut self.first_reduces[id.index()];
                *first = (*first).min(ended.finish).or(ended.finish);
            }
        }
        Ok(())
    }

    /// True if an attempt that was launched so may end so.
    fn fit_together(&self, launched: &Launched, ended: &Ended) -> bool {
        let late = ended.start - (launched.at + self.cluster.config.jobs.launch_overhead);
        let by_its_master = self.cluster.system() == System::Containers
            && (0..=self.cluster.config.containers.am_heartbeat).contains(&late);
        let never_ran = match ended.outcome {
            Outcome::Killed => ended.finish == Some(ended.start),
            Outcome::Incomplete => ended.start == self.clock,
            _ => false,
        };
        (late == 0 || by_its_master || never_ran) && launched.node == ended.node && launched.level == ended.level
    }

    fn check_job(&mut self, job_ended: &JobEnded) -> Result<(), Error> {
        let job = self.workload.job(job_ended.job);
        let again = self.outcomes[job_ended.job.index()].replace(job_ended.outcome).is_some();
        self.expect(!again, "every job ends once", || self.job(job_ended.job))?;
        let launched = job_ended.launch.is_some_and(|launch| (job.submit..=job_ended.finish).contains(&launch));
        self.expect(launched, "a job starts between its submission and its end", || format!("{job_ended:?}"))?;
        // What the master does at the end takes no slot, and others go on meanwhile.
        let cleanup = match self.cluster.system() {
            System::Containers => job.edges.cleanup.unwrap_or(self.cluster.config.jobs.cleanup_time),
            System::Slots => 0,
        };
        let known = job_ended.finish - self.cluster.commit(&job.edges) - cleanup;
        self.expect(known >= self.clock, "time does not go back", || {
            format!("{} ended at {known} ms", self.job(job_ended.job))
        })?;
        self.clock = known;
        Ok(())
    }

    fn job(&self, job: JobId) -> String {
        format!("job {}", self.workload.job(job).id)
    }

    fn task(&self, task: TaskId) -> String {
        format!("{} of {}", self.workload.task_name(task), self.job(self.workload.job_of(task)))
    }

    fn master(&self, master_launched: &MasterLaunched) -> String {
        let node = &self.cluster.node(master_launched.node).name;
        format!(
            "the application master of {} at {} ms on node {node}",
            self.job(master_launched.job),
            master_launched.at
        )
    }

    fn launch(&self, launched: &Launched) -> String {
        let node = &self.cluster.node(launched.node).name;
        format!("attempt {} of {} at {} ms on node {node}", launched.attempt, self.task(launched.task), launched.at)
    }
}

/// How many of these times there are at one instant, at most. The end of one does not meet the beginning of the next.
fn most_at_once(times: Vec<(Ms, Ms)>) -> usize {
    let begin_and_end = |(from, to)| [(from, 1), (to, -1_i64)];
    let mut steps: Vec<(Ms, i64)> = times.into_iter().filter(|(from, to)| from < to).flat_map(begin_and_end).collect();
    steps.sort_unstable();
    let at_once = steps.iter().scan(0_i64, |now, (_, step)| {
        *now += step;
        Some(*now)
    });
    at_once.max().map_or(0, |most| most as usize)
}

impl Reports for Checked<'_> {
    fn job_ended(&mut self, ended: &JobEnded) -> Result<(), Error> {
        self.check_job(ended)?;
        self.inner.job_ended(ended)
    }

    fn decided(&mut self, decided: &Decided) -> Result<(), Error> {
        self.inner.decided(decided)
    }

    fn wants_reasons(&self) -> bool {
        self.inner.wants_reasons()
    }

    fn passed_over(&mut self, passed: &PassedOver) -> Result<(), Error> {
        self.inner.passed_over(passed)
    }
}

impl Observer for Checked<'_> {
    fn launched(&mut self, launched: &Launched) -> Result<(), Error> {
        self.check_launch(launched)?;
        self.inner.launched(launched)
    }

    fn master_launched(&mut self, launched: &MasterLaunched) -> Result<(), Error> {
        self.check_master_launch(launched)?;
        self.inner.master_launched(launched)
    }

    fn master_ended(&mut self, ended: &MasterEnded) -> Result<(), Error> {
        self.check_master_end(ended)?;
        self.inner.master_ended(ended)
    }

    fn kept(&mut self, kept: &Kept) -> Result<(), Error> {
        self.inner.kept(kept)
    }

    fn taken_back(&mut self, taken: &TakenBack) -> Result<(), Error> {
        self.inner.taken_back(taken)
    }

    fn notified(&mut self, at: Ms, task: TaskId, attempt: u32) -> Result<(), Error> {
        self.inner.notified(at, task, attempt)
    }

    fn ended(&mut self, ended: &Ended) -> Result<(), Error> {
        self.check_end(ended)?;
        self.inner.ended(ended)
    }

    fn used(&mut self, used: &Used) -> Result<(), Error> {
        self.inner.used(used)
    }
}
