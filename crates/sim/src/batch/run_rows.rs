//! The rows of a run of a production trace.
//!
//! Each start of an instance, or of a gang as a whole, is a row of `attempts`. A gang on several machines has `hosts` instead of a host.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;
use resched_tables::demand::{Demand, gpus};
use resched_tables::model::TaskKind;
use resched_tables::named::{amounts, as_text};
use resched_tables::placed::MOST;
use resched_tables::run::{Names, RowSink, RunAttempt};
use resched_tables::store::Batch;

use super::dimensions::{Asked, Dimensions};
use super::machines::Machines;
use super::observer::{Ended, Launched, Observer};
use super::workload::Workload;
use crate::Error;
use crate::ids::{AttemptId, JobId, TaskId};
use crate::run_tables::{Recorder, RowSource, known};

/// The source of the rows. Attempts stand in the order of their ends.
pub struct BatchRows<'w> {
    workload: &'w Workload,
    machines: &'w Machines,
    /// True if tasks compete for memory.
    memory_is_limited: bool,
    others: Others,
    /// Where gangs run that run on several machines, and how many of their instances on each.
    gangs: HashMap<AttemptId, Box<[(u32, u32)]>>,
    flavors: Flavors,
}

/// The flavours that runs were given, each combination once.
#[derive(Default)]
struct Flavors {
    texts: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
    of_runs: HashMap<AttemptId, u32>,
}

impl Flavors {
    fn give(&mut self, run: AttemptId, flavors: &Arc<str>) {
        let Self { texts, numbers, of_runs } = self;
        let number = *numbers.entry(Arc::clone(flavors)).or_insert_with(|| {
            texts.push(Arc::clone(flavors));
            texts.len() as u32 - 1
        });
        of_runs.insert(run, number);
    }
}

/// The resources beside processor and memory that attempts hold, each combination once. What no machine lists is not counted in a replay,
/// so nothing holds it or waits for it.
#[derive(Default)]
struct Others {
    texts: Vec<String>,
    /// The GPUs of each combination.
    gpus: Vec<u64>,
    /// The number of each task's combination and 1; 0 for none. Empty if no task needs anything.
    of_tasks: Vec<u32>,
}

impl Others {
    fn of(workload: &Workload, machines: &Machines) -> Self {
        let mut made = Self::default();
        if workload.needs.kinds().is_empty() {
            return made;
        }
        let dimensions = Dimensions::of(machines);
        let asked: Vec<Asked> = workload.needs.kinds().iter().map(|needs| dimensions.asked(needs)).collect();
        let mut known: HashMap<(u32, u64), u32> = HashMap::new();
        for (place, task) in workload.tasks().iter().enumerate() {
            let kind = workload.needs.kind(place);
            let instances = if task.gang { u64::from(task.instances) } else { 1 };
            let number = *known.entry((kind, instances)).or_insert_with(|| {
                let Some(Asked { of_machine, of_cluster }) = asked.get(kind as usize) else { return 0 };
                let of_machine = of_machine.iter().map(|&(dim, n)| (dimensions.name(dim), n));
                // Where quotas alone decide, no machine lists what jobs hold.
                let needs = workload.needs.kinds().get(kind as usize).filter(|_| machines.are_boundless());
                let unlisted = needs.into_iter().flat_map(|needs| &needs.resources).map(|(name, n)| (&**name, *n));
                let of_machine = of_machine.chain(unlisted).map(|(name, n)| (name, n.saturating_mul(instances)));
                let of_cluster = of_cluster.iter().map(|&(dim, n)| (dimensions.name(dim), n));
                let Some(text) = as_text(of_machine.chain(of_cluster)) else { return 0 };
                made.gpus.push(gpus(amounts(&text)));
                made.texts.push(text);
                made.texts.len() as u32
            });
            made.of_tasks.push(number);
        }
        made
    }

    fn number(&self, task: TaskId) -> Option<u32> {
        self.of_tasks.get(task.index())?.checked_sub(1)
    }
}

/// Gives the rows of a replay to a sink.
pub type RunRows<'w> = Recorder<'w, BatchRows<'w>>;

impl<'w> BatchRows<'w> {
    fn new(workload: &'w Workload, machines: &'w Machines) -> Self {
        let memory_is_limited = machines.memory_is_limited();
        Self {
            workload,
            machines,
            memory_is_limited,
            others: Others::of(workload, machines),
            gangs: HashMap::new(),
            flavors: Flavors::default(),
        }
    }
}

impl<'w> Recorder<'w, BatchRows<'w>> {
    /// Starts without rows.
    pub fn new(workload: &'w Workload, machines: &'w Machines, sink: &'w mut dyn RowSink) -> Self {
        Self::of(BatchRows::new(workload, machines), sink)
    }

    /// Ends the rows with the jobs. Returns the number of rows of each table.
    ///
    /// # Errors
    /// The error of the sink.
    pub fn finish(mut self) -> Result<BTreeMap<String, u64>, Error> {
        self.close()
    }
}

impl Observer for Recorder<'_, BatchRows<'_>> {
    fn launched(&mut self, launched: &Launched<'_>) -> Result<(), Error> {
        if (2..=MOST).contains(&launched.places.len()) && self.keeps_places() {
            let places = launched.places.iter().map(|(node, instances)| (node.0, *instances)).collect();
            self.source.gangs.insert(launched.run, places);
        }
        if let Some(flavors) = launched.flavors {
            self.source.flavors.give(launched.run, flavors);
        }
        Ok(())
    }

    fn ended(&mut self, ended: &Ended) -> Result<(), Error> {
        let taken = match self.source.gangs.remove(&ended.run) {
            Some(places) => self.take_ended_on(ended, places),
            None => self.take_ended(ended),
        };
        self.source.flavors.of_runs.remove(&ended.run);
        taken
    }
}

impl Names for BatchRows<'_> {
    fn job_id(&self, job: u32) -> &str {
        self.workload.job(JobId(job)).id
    }

    fn write_task_id(&self, _: u32, task: Option<u32>, id: &mut String) {
        if let Some(task) = task {
            id.push_str(self.workload.task_name(TaskId(task)));
        }
    }

    fn resources(&self, number: u32) -> &str {
        self.others.texts.get(number as usize).map_or("", String::as_str)
    }

    fn gpus(&self, number: u32) -> u64 {
        self.others.gpus.get(number as usize).copied().unwrap_or(0)
    }

    fn flavors(&self, number: u32) -> &str {
        self.flavors.texts.get(number as usize).map_or("", |text| text)
    }

    fn node(&self, node: u32) -> (&str, Option<&str>) {
        let machine = self.machines.nodes().get(node as usize);
        machine.map_or(("", None), |machine| (machine.name.as_str(), machine.rack.as_deref()))
    }
}

impl RowSource for BatchRows<'_> {
    type Ended = Ended;

    fn jobs(&self) -> usize {
        self.workload.jobs().len()
    }

    fn is_incomplete(&self, job: JobId) -> bool {
        self.workload.is_incomplete(job)
    }

    fn add_jobs(&self, jobs: Range<usize>, batch: &mut Batch<'_>) {
        let demands: Vec<Demand> = jobs.clone().map(|place| self.workload.demand(JobId::at(place))).collect();
        let jobs = || jobs.clone().filter_map(|place| self.workload.jobs().get(place));
        batch.set_texts("job_id", jobs().map(|job| job.id));
        batch.set_known_texts("name", jobs().map(|job| job.name));
        batch.set_known_texts("user", jobs().map(|job| known(job.user)));
        batch.set_known_texts("queue", jobs().map(|job| known(job.queue)));
        batch.set_known_texts("group", jobs().map(|job| known(job.group)));
        batch.set_known_texts("framework", jobs().map(|job| job.framework));
        batch.set_numbers("priority_number", &jobs().map(|job| Some(job.priority)).collect());
        batch.set_numbers("scheduling_class", &jobs().map(|job| job.scheduling_class).collect());
        batch.set_known_texts("qos", jobs().map(|job| known(job.qos)));
        batch.set_numbers("submit", &jobs().map(|job| (!job.before).then_some(job.submit)).collect());
        batch.set_numbers("requested_time", &jobs().map(|job| job.requested_time).collect());
        let number = |of: fn(&Demand) -> Option<i64>| demands.iter().map(of).collect();
        batch.set_numbers("demand_cpu", &number(|demand| demand.cpu));
        batch.set_numbers("demand_memory", &number(|demand| demand.memory.filter(|bytes| *bytes > 0)));
        batch.set_numbers("demand_machines", &number(|demand| demand.machines));
        let resources: Vec<Option<String>> = demands.iter().map(Demand::resources).collect();
        batch.set_known_texts("demand_resources", resources.iter().map(Option::as_deref));
    }

    #[inline]
    fn attempt(&self, ended: &Ended) -> RunAttempt {
        let task = self.workload.task(ended.task);
        let held = task.demand.times(u64::from(ended.instances));
        RunAttempt {
            job: task.job.0,
            task: Some(ended.task.0),
            kind: TaskKind::Other,
            attempt: ended.attempt,
            queued: Some(ended.queued),
            start: Some(ended.start),
            shuffle_finish: None,
            sort_finish: None,
            finish: Some(ended.finish),
            outcome: ended.outcome,
            node: ended.node.filter(|_| !self.machines.are_boundless()).map(|node| node.0),
            locality: ended.locality,
            speculative: None,
            error: None,
            cpu_request: i64::try_from(held.cpu).ok(),
            memory_request: i64::try_from(held.memory).ok().filter(|_| self.memory_is_limited),
            resources: self.others.number(ended.task),
            flavors: self.flavors.of_runs.get(&ended.run).copied(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use resched_tables::model::Outcome;
    use resched_tables::sink::Collected;

    use super::*;
    use crate::batch::log::Log;
    use crate::batch::{JobSpec, Needs, StageSpec, TaskSpec, Try};
    use crate::{ClusterConfig, Resources};

    #[test]
    fn an_attempt_holds_what_all_its_instances_take_and_a_licence_once() {
        let needs = Needs {
            resources: vec![("gres/gpu".into(), 2), ("gres/unlisted".into(), 1)],
            licenses: vec![("license/a".into(), 1)],
            ..Needs::default()
        };
        let task = |instances: u32, gang: bool, needs: &Needs| TaskSpec {
            demand: Resources { cpu: 1, memory: 0 },
            instances,
            gang,
            tries: vec![Try { outcome: Outcome::Success, run: 1 }],
            needs: needs.clone(),
            ..TaskSpec::default()
        };
        let tasks = vec![task(1, false, &Needs::default()), task(3, true, &needs), task(3, false, &needs)];
        let spec = JobSpec { stages: vec![StageSpec { tasks, ..StageSpec::default() }], ..JobSpec::default() };
        let (workload, _) = Workload::new(vec![spec], 0).unwrap();
        let file = "[machines]\nlicenses = \"license/a=1\"\n[[machines.named]]\nhosts = \"n1\"\ncores = 4.0\nmemory = 8\n\
                    resources = \"gres/gpu=8\"\n";
        let (config, log) = (ClusterConfig::parse(file).unwrap(), Collected::default());
        let machines =
            Machines::of_log(&config, &Log::Memory(&log), &BTreeMap::new(), &mut BTreeMap::default()).unwrap();
        let others = Others::of(&workload, &machines);
        let text = |task: u32| others.number(TaskId(task)).map(|number| others.texts[number as usize].as_str());
        assert_eq!([0, 1, 2].map(text), [None, Some("gres/gpu=6,license/a=1"), Some("gres/gpu=2,license/a=1")]);
    }
}
