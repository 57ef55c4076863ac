//! An application on its way into the tables: its settings, and the jobs that have not been passed on yet.

use std::collections::{BTreeMap, BTreeSet};

use super::event::{
    Amounts, ApplicationStart, EndReason, Event, JobEnd, JobStart, Metrics, Part, StageInfo, TaskEnd, TaskInfo,
};
use super::executors::Executors;
use super::likely::{Likely, Task as Source};
use super::preferred::{self, Key, Places, Preferred, Seen, Shown};
use super::retries::{self, Done, Loss, Missing};
use super::settings::Settings;
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::{AttemptRow, JobRecord, JobRow, Locality, Outcome, TaskKind, TaskRecord, TaskRow};
use resched_tables::sink::Sink;

/// The most jobs that run at once. Beyond them, the oldest is passed on as it is.
pub(crate) const MOST_JOBS: usize = 10_000;
/// About how many bytes of stages and attempts are held, enough for a million attempts; more are left out and counted.
pub(crate) const MOST_HELD: usize = 512 << 20;
/// About how many bytes the entries of a task in maps take.
const SIZE_OF_ENTRY: usize = 300;
/// The longest text of an attempt that is kept (bytes), as everywhere.
const LONGEST_TEXT: usize = 16 << 10;

/// The most later attempts at a stage of which tasks are matched with those of the first. Spark gives up after four in a row.
pub(crate) const MOST_RETRIES: usize = 100;
/// The most outputs that could not be fetched that are kept of a job.
pub(crate) const MOST_LOSSES: usize = 10_000;

/// The executor that block managers of the driver name.
const DRIVERS: [&str; 2] = ["driver", "<driver>"];

/// The setting under which the version of Spark stands.
const VERSION: &str = "spark.version";

/// The part of an application's log that was read so far.
pub(super) struct Application<'p> {
    /// The name of the log, for an application without an id.
    file: String,
    /// The application's id, once a job needs it or the log gives it.
    id: Option<String>,
    /// The id of the context of Databricks, which stands for a missing id of the application.
    context: Option<String>,
    /// How many parts of a log that rolls over came, as far as they have numbers.
    parts: u64,
    attempt: Option<String>,
    name: Option<String>,
    user: Option<String>,
    settings: Settings,
    /// The version of Spark.
    version: Option<String>,
    executors: Executors,
    /// The hosts that tasks prefer, if a file gives them.
    preferred: Option<&'p Preferred>,
    /// What else they may prefer.
    likely: Likely,
    /// Jobs that run, or that have running tasks.
    jobs: BTreeMap<i64, Job>,
    /// The jobs that each stage belongs to.
    stages: BTreeMap<i64, BTreeSet<i64>>,
    /// About how many bytes the jobs take.
    held: usize,
    any_job: bool,
}

/// A job that was started.
struct Job {
    submit: Option<i64>,
    name: Option<String>,
    /// Its pool, or its queue of YARN.
    queue: String,
    end: Option<(Option<i64>, Outcome)>,
    stages: BTreeMap<i64, Stage>,
    /// The outputs that its tasks could not fetch.
    losses: Vec<Loss>,
    /// The attempts at each task, by Spark's own attempt number, which grows in the order of launches.
    tasks: BTreeMap<Key, Tries>,
    running: usize,
    /// About how many bytes it takes.
    held: usize,
}

#[derive(Default)]
struct Stage {
    name: Option<String>,
    /// The stages that it waits for; `None` if the log does not have them.
    parents: Option<Vec<i64>>,
    is_barrier: bool,
    /// When each attempt at it was submitted.
    submits: BTreeMap<i64, i64>,
    /// How many tasks each attempt has.
    sizes: BTreeMap<i64, usize>,
    kind: TaskKind,
}

/// The attempts at a task. Most tasks have one, and a node of a map has room for eleven, so that they stand in boxes.
type Tries = BTreeMap<i64, Box<Try>>;

/// An attempt at a task.
struct Try {
    info: TaskInfo,
    stage_attempt: i64,
    /// How it ended; `None` while it runs.
    end: Option<(Outcome, Option<String>)>,
    metrics: Kept,
}

/// The metrics that the tables keep, each `None` if it is unknown.
#[derive(Default)]
struct Kept {
    read: Option<i64>,
    records_read: Option<i64>,
    written: Option<i64>,
    shuffle_written: Option<i64>,
    /// From other executors and from its own.
    fetched: Option<i64>,
    cpu_ns: Option<i64>,
}

impl Kept {
    fn of(metrics: &Metrics) -> Self {
        let fetched = amount(&metrics.shuffle_read, |read| match (read.remote_read, read.local_read) {
            (None, None) => None,
            (remote, local) => Some(remote.unwrap_or(0).saturating_add(local.unwrap_or(0))),
        });
        Self {
            read: amount(&metrics.input, |input| input.read),
            records_read: amount(&metrics.input, |input| input.records_read),
            written: amount(&metrics.output, |output| output.written),
            shuffle_written: amount(&metrics.shuffle_write, |output| output.shuffle_written),
            fetched,
            cpu_ns: known(metrics.cpu_ns),
        }
    }
}

impl<'p> Application<'p> {
    pub(super) fn new(file: &str, preferred: Option<&'p Preferred>) -> Self {
        Self {
            file: file.to_owned(),
            id: None,
            context: None,
            parts: 0,
            attempt: None,
            name: None,
            user: None,
            settings: Settings::default(),
            version: None,
            executors: Executors::default(),
            preferred,
            likely: Likely::default(),
            jobs: BTreeMap::new(),
            stages: BTreeMap::new(),
            held: 0,
            any_job: false,
        }
    }

    /// True if a job was started.
    pub(super) fn has_jobs(&self) -> bool {
        self.any_job
    }

    /// True if a part of a log belongs to another application.
    pub(super) fn is_of_another(&self, part: &Part) -> bool {
        self.context.is_some() && part.context().is_some_and(|context| self.context != Some(context))
    }

    /// A part of a log that rolls over begins.
    fn part(&mut self, part: Part, sink: &mut dyn Sink) {
        self.context = self.context.take().or_else(|| part.context());
        if let Some(number) = part.number {
            sink.skip(cause::MISSING_PART_OF_LOG, number.saturating_sub(self.parts));
            self.parts = self.parts.max(number.saturating_add(1));
        }
        self.version = part.version.or(self.version.take());
    }

    pub(super) fn take(&mut self, event: Event, sink: &mut dyn Sink) -> Result<(), Error> {
        match event {
            Event::Part(part) => self.part(part, sink),
            Event::LogStart(start) => self.version = start.version,
            Event::ApplicationEnd(end) => {
                if let Some(time) = known(end.time) {
                    self.executors.end(time);
                }
            }
            Event::ResourceProfile(profile) => {
                sink.skip(cause::RESOURCE_PROFILE, u64::from(profile.id.unwrap_or(0) != 0))
            }
            Event::Exclusion => sink.skip(cause::EXCLUDED_EXECUTOR, 1),
            Event::ApplicationStart(ApplicationStart { name, id, attempt, user }) => {
                (self.name, self.user, self.attempt) = (name, user, attempt);
                self.id = id.filter(|id| !id.is_empty());
            }
            Event::Environment(environment) => self.settings = environment.properties,
            Event::ExecutorAdded(added) => {
                let host = added.host();
                sink.skip(cause::EXECUTOR_WITHOUT_HOST, u64::from(added.info.host.is_none()));
                if let Some(cores) = known(added.info.cores) {
                    let tasks = cores / self.settings.task_cpus();
                    self.likely.executor_came(&added.id, &host, tasks, added.time);
                }
                self.executors.add(added.id, host, known(Some(added.time)), known(added.info.cores));
            }
            Event::BlockManagerAdded(added) if DRIVERS.contains(&added.manager.executor.as_str()) => {}
            Event::BlockManagerAdded(added) => {
                self.executors.add(added.manager.executor, added.manager.host, known(added.time), None);
            }
            Event::ExecutorRemoved(removed) => {
                self.likely.executor_went(&removed.id, removed.time);
                self.executors.remove(&removed.id, removed.time);
            }
            Event::JobStart(start) => return self.start(start, sink),
            Event::JobEnd(end) => return self.end(end, sink),
            Event::Stage(stage) => {
                if let Some(job) = self.job_of(stage.id) {
                    job.learn(stage);
                }
            }
            Event::TaskStart(mut start) => {
                self.name_host(&mut start.info);
                self.task(start.stage, Try::running(start.info, start.stage_attempt), sink);
            }
            Event::TaskEnd(end) => return self.task_end(*end, sink),
        }
        Ok(())
    }

    /// Calls the host of a task as its executor called it: clusters know hosts under several names.
    fn name_host(&self, info: &mut TaskInfo) {
        if let Some(host) = info.executor.as_deref().and_then(|executor| self.executors.host(executor)) {
            info.host = Some(host.to_owned());
        }
    }

    /// Passes on what is left: jobs that did not end before the log, or whose tasks did not.
    pub(super) fn finish(mut self, sink: &mut dyn Sink) -> Result<(), Error> {
        while let Some(&id) = self.jobs.keys().next() {
            self.hand_over(id, sink)?;
        }
        if self.executors.left_out() > 0 {
            sink.skip(cause::TOO_MANY_EXECUTORS, self.executors.left_out());
        }
        self.pass_settings(sink);
        let memory = self.settings.executor_memory();
        let application = self.name_of_group().to_owned();
        for row in self.executors.into_rows(memory, &application) {
            sink.node(row);
        }
        Ok(())
    }

    /// Passes on the settings that scheduling depends on, if the application did or held anything.
    fn pass_settings(&self, sink: &mut dyn Sink) {
        sink.skip(cause::SETTING_LEFT_OUT, self.settings.left_out);
        if !self.any_job && self.executors.is_empty() {
            return;
        }
        let mut settings = self.settings.all().clone();
        settings.extend(self.version.clone().map(|version| (VERSION.to_owned(), version)));
        sink.application(self.name_of_group(), &settings);
    }

    /// The application as in `jobs.group`.
    fn name_of_group(&self) -> &str {
        self.id.as_deref().or(self.context.as_deref()).unwrap_or(&self.file)
    }

    fn start(&mut self, start: JobStart, sink: &mut dyn Sink) -> Result<(), Error> {
        if self.jobs.contains_key(&start.id) {
            sink.skip(cause::REPEATED_JOB_START, 1);
            return Ok(());
        }
        while self.jobs.len() >= MOST_JOBS || self.held > MOST_HELD {
            let Some(&oldest) = self.jobs.keys().next() else { break };
            self.hand_over(oldest, sink)?;
        }
        self.any_job = true;
        let properties = start.properties.unwrap_or_default();
        let mut job = Job {
            submit: known(start.submit),
            name: properties.description,
            queue: self.settings.queue(properties.pool, properties.queue),
            end: None,
            stages: start.stage_ids.into_iter().map(|stage| (stage, Stage::default())).collect(),
            losses: Vec::new(),
            tasks: BTreeMap::new(),
            running: 0,
            held: 0,
        };
        start.stages.into_iter().for_each(|stage| job.learn(stage));
        job.held = job.stages.values().map(Stage::size).sum::<usize>() + job.name.as_ref().map_or(0, String::len);
        self.held += job.held;
        for &stage in job.stages.keys() {
            self.stages.entry(stage).or_default().insert(start.id);
        }
        self.jobs.insert(start.id, job);
        Ok(())
    }

    fn end(&mut self, end: JobEnd, sink: &mut dyn Sink) -> Result<(), Error> {
        match self.jobs.get_mut(&end.id) {
            Some(job) if job.end.is_none() => job.end = Some((known(end.time), outcome_of_job(&end))),
            _ => sink.skip(cause::JOB_END_WITHOUT_START, 1),
        }
        self.hand_over_if_done(end.id, sink)
    }

    /// The job that a stage runs for: the oldest of those that need it and have not been passed on.
    fn job_of(&mut self, stage: i64) -> Option<&mut Job> {
        let id = self.stages.get(&stage)?.first()?;
        self.jobs.get_mut(id)
    }

    fn task(&mut self, stage: i64, attempt: Try, sink: &mut dyn Sink) {
        if self.held > MOST_HELD {
            self.likely.miss_start();
            return sink.skip(cause::TOO_MANY_ATTEMPTS, 1);
        }
        let size = attempt.size();
        let host = self.likely.number(attempt.info.host.as_deref());
        let (launch, has_ended) = (known_time(attempt.info.launch), attempt.end.is_some());
        let Some(job) = self.job_of(stage) else {
            self.likely.miss_start();
            return sink.skip(cause::TASK_WITHOUT_JOB, 1);
        };
        let tries = job.tasks.entry(attempt.key(stage)).or_default();
        if tries.contains_key(&attempt.info.id) {
            return sink.skip(cause::REPEATED_TASK_START, 1);
        }
        job.running += usize::from(attempt.end.is_none());
        tries.insert(attempt.info.id, Box::new(attempt));
        job.held += size;
        self.held += size;
        if has_ended {
            self.likely.miss_start();
        } else {
            self.likely.started(host, launch);
        }
    }

    /// The end of a task, which may come twice: if the output of a task that had ended is lost, the log reports it as
    /// `Resubmitted`.
    fn task_end(&mut self, end: TaskEnd, sink: &mut dyn Sink) -> Result<(), Error> {
        let (stage, number) = (end.stage, end.info.id);
        let kind = kind(end.kind.as_deref());
        let loss = end.loss();
        let mut ended = Try::ended(end);
        self.name_host(&mut ended.info);
        let key = ended.key(stage);
        let Some(job) = self.job_of(stage) else {
            sink.skip(cause::TASK_WITHOUT_JOB, 1);
            return Ok(());
        };
        if let Some(of) = job.stages.get_mut(&stage).filter(|of| of.kind == TaskKind::Other) {
            of.kind = kind;
        }
        if let Some(loss) = loss.filter(|_| job.losses.len() < MOST_LOSSES) {
            job.losses.push(loss);
        }
        let mut more = 0;
        let mut over = None;
        match job.tasks.get_mut(&key).and_then(|tries| tries.get_mut(&number)) {
            Some(given) if given.end.is_some() => sink.skip(cause::REPEATED_TASK_END, 1),
            Some(given) => {
                // Its executor may be gone by now.
                ended.info.host = given.info.host.take().or(ended.info.host);
                more = ended.size().saturating_sub(given.size());
                over = Some((ended.info.host.clone(), known_time(ended.info.finish)));
                **given = ended;
                job.held += more;
                job.running = job.running.saturating_sub(1);
            }
            None => self.task(stage, ended, sink),
        }
        self.held += more;
        if let Some((host, finish)) = over {
            self.likely.ended(self.likely.number(host.as_deref()), finish);
        }
        match self.stages.get(&stage).and_then(|jobs| jobs.first()).copied() {
            Some(job) => self.hand_over_if_done(job, sink),
            None => Ok(()),
        }
    }

    fn hand_over_if_done(&mut self, id: i64, sink: &mut dyn Sink) -> Result<(), Error> {
        match self.jobs.get(&id) {
            Some(job) if job.end.is_some() && job.running == 0 => self.hand_over(id, sink),
            _ => Ok(()),
        }
    }

    fn hand_over(&mut self, id: i64, sink: &mut dyn Sink) -> Result<(), Error> {
        let Some(mut job) = self.jobs.remove(&id) else { return Ok(()) };
        sink.skip(cause::STAGE_RETRY_GUESSED, job.match_retries(&self.executors));
        for stage in job.stages.keys() {
            if let Some(jobs) = self.stages.get_mut(stage) {
                jobs.remove(&id);
                if jobs.is_empty() {
                    self.stages.remove(stage);
                }
            }
        }
        self.held = self.held.saturating_sub(job.held);
        let ran: BTreeSet<i64> = job.tasks.keys().map(|&(stage, ..)| stage).collect();
        let barriers = job.stages.iter().filter(|(stage, of)| of.is_barrier && ran.contains(stage)).count();
        sink.skip(cause::BARRIER_STAGE, barriers as u64);
        let places = self.places(&job);
        if let Some(oldest) = self.jobs.values().filter_map(|job| job.submit).min() {
            self.likely.forget(oldest);
        }
        sink.skip(cause::PREFERRED_HOSTS_UNKNOWN, places.outside.len() as u64);
        if places.drawn > 0 {
            sink.made("splits.host", places.rule, places.drawn);
        }
        sink.job(self.record(id, job, &ran, places))
    }

    /// The hosts that the tasks of a job prefer, in stages that wait for no other.
    fn places(&mut self, job: &Job) -> Places {
        let is_of = |stage: i64, wanted: fn(&Stage) -> bool| job.stages.get(&stage).is_some_and(wanted);
        let Some(given) = self.preferred else {
            let sources = job.tasks.iter().filter(|((stage, ..), _)| is_of(*stage, Stage::is_source));
            let tasks = sources.map(|(&key, tries)| job.source(key, tries)).collect();
            return self.likely.places(tasks);
        };
        let firsts =
            job.tasks.keys().filter(|(stage, attempt, _)| *attempt == 0 && is_of(*stage, Stage::may_be_source));
        Places::given(firsts.copied(), given, self.name_of_group())
    }

    fn record(&self, id: i64, job: Job, ran: &BTreeSet<i64>, mut places: Places) -> JobRecord {
        let application = self.name_of_group();
        let job_id = match &self.attempt {
            Some(attempt) => format!("{application}_{attempt}_job_{id}"),
            None => format!("{application}_job_{id}"),
        };
        let cpus = self.settings.task_cpus();
        let memory = self.settings.task_memory(self.executors.cores());
        let mut tasks = Vec::with_capacity(job.tasks.len());
        for ((stage, stage_attempt, place), tries) in job.tasks {
            let Some(of) = job.stages.get(&stage) else { continue };
            let parents = of.parents.iter().flatten().filter(|parent| ran.contains(parent)).map(i64::to_string);
            let task_id = match stage_attempt {
                0 => format!("{job_id}_s{stage}_{place}"),
                again => format!("{job_id}_s{stage}.{again}_{place}"),
            };
            let row = TaskRow {
                job_id: job_id.clone(),
                task_id,
                kind: of.kind,
                stage: Some(stage.to_string()),
                depends_on: parents.collect(),
                cpu_request: cpus.checked_mul(1_000),
                memory_request: memory,
                ..TaskRow::default()
            };
            let key = (stage, stage_attempt, place);
            let hosts = places.hosts.remove(&key);
            let splits = match places.outside.contains(&key) {
                true => preferred::outside(&row.task_id),
                false => preferred::rows(&row.task_id, hosts.iter().flatten().map(String::as_str)),
            };
            let prefers = hosts.is_none_or(|hosts| !hosts.is_empty());
            tasks.push(TaskRecord { splits, ..of.task(row, tries, prefers) });
        }
        let attempts = || tasks.iter().flat_map(|task| &task.attempts);
        let succeeded = || attempts().filter(|attempt| attempt.outcome == Outcome::Success);
        let sum = |of: fn(&AttemptRow) -> Option<i64>| succeeded().filter_map(of).reduce(i64::saturating_add);
        let last_stage = job.stages.values().rev().find_map(|stage| stage.name.clone());
        let first_submit = || job.stages.values().filter_map(|stage| stage.submits.values().min().copied()).min();
        let (finish, outcome) = job.end.unwrap_or((None, Outcome::Incomplete));
        let row = JobRow {
            job_id,
            name: job.name.or(last_stage).or_else(|| self.name.clone()),
            user: self.user.clone(),
            queue: Some(job.queue),
            group: Some(application.to_owned()),
            framework: Some("spark".to_owned()),
            submit: job.submit.or_else(first_submit),
            launch: attempts().filter_map(|attempt| attempt.start).min(),
            finish,
            outcome,
            input_bytes: sum(|attempt| attempt.hdfs_bytes_read),
            shuffle_bytes: sum(|attempt| attempt.reduce_shuffle_bytes),
            output_bytes: sum(|attempt| attempt.hdfs_bytes_written),
            ..JobRow::default()
        };
        JobRecord { job: row, tasks, counters: Vec::new() }
    }
}

impl Job {
    /// Takes the values of a stage's row. A later row adds to an earlier one.
    fn learn(&mut self, given: StageInfo) {
        let stage = self.stages.entry(given.id).or_default();
        stage.is_barrier |= given.is_barrier();
        stage.name = given.name.or(stage.name.take());
        if let Some(parents) = given.parents.filter(|parents| !parents.is_empty() || stage.parents.is_none()) {
            stage.parents = Some(parents);
        }
        if let Some(submit) = known(given.submit) {
            stage.submits.insert(given.attempt, submit);
        }
        if let Some(tasks) = given.tasks.and_then(|tasks| usize::try_from(tasks).ok()) {
            stage.sizes.insert(given.attempt, tasks);
        }
    }
}

impl Stage {
    /// About how many bytes it takes, including its entries in maps.
    fn size(&self) -> usize {
        let name = self.name.as_ref().map_or(0, String::len);
        2 * size_of::<Self>() + name + self.parents.as_ref().map_or(0, Vec::len) * size_of::<i64>()
    }

    /// True if it reads its input from storage, and not from other stages. A log before 1.4 does not say it.
    fn is_source(&self) -> bool {
        self.parents.as_ref().is_some_and(Vec::is_empty)
    }

    /// The same, or unknown.
    fn may_be_source(&self) -> bool {
        self.parents.as_ref().is_none_or(Vec::is_empty)
    }

    /// A task of this stage with its attempts. `prefers`: whether it prefers any place, as far as its level depends on that.
    fn task(&self, mut task: TaskRow, tries: Tries, prefers: bool) -> TaskRecord {
        if let Some(success) = tries.values().find(|attempt| attempt.outcome() == Outcome::Success) {
            let metrics = &success.metrics;
            task.input_bytes = metrics.read;
            task.input_records = metrics.records_read;
            task.output_bytes = if task.kind == TaskKind::Map { metrics.shuffle_written } else { metrics.written };
            task.finish = known_time(success.info.finish);
            task.outcome = Outcome::Success;
        } else if let Some(last) = tries.values().next_back() {
            let runs = tries.values().any(|attempt| attempt.end.is_none());
            task.outcome = if runs { Outcome::Incomplete } else { last.outcome() };
            task.finish = known_time(last.info.finish).filter(|_| !runs);
        }
        task.start = tries.values().filter_map(|attempt| known_time(attempt.info.launch)).min();
        let attempts = (0..)
            .zip(tries.into_values())
            .map(|(number, attempt)| self.attempt(&task, number, *attempt, prefers))
            .collect();
        TaskRecord { task, splits: Vec::new(), attempts }
    }

    fn attempt(&self, task: &TaskRow, number: i64, attempt: Try, prefers: bool) -> AttemptRow {
        let outcome = attempt.outcome();
        let Try { info, stage_attempt, end, metrics } = attempt;
        AttemptRow {
            job_id: task.job_id.clone(),
            task_id: task.task_id.clone(),
            kind: task.kind,
            attempt: number,
            queued: self
                .submits
                .get(&stage_attempt)
                .copied()
                .filter(|_| info.attempt == 0 && info.speculative != Some(true)),
            start: known_time(info.launch),
            finish: known_time(info.finish),
            outcome,
            host: info.host.filter(|host| !host.is_empty()),
            locality: info.locality.as_deref().and_then(locality).filter(|_| prefers),
            speculative: info.speculative,
            error: end.and_then(|(_, error)| error),
            hdfs_bytes_read: metrics.read,
            hdfs_bytes_written: metrics.written,
            map_output_bytes: metrics.shuffle_written,
            reduce_shuffle_bytes: metrics.fetched,
            cpu_ms: metrics.cpu_ns.map(|ns| ns / 1_000_000),
            ..AttemptRow::default()
        }
    }
}

impl Job {
    /// Brings the tasks of later attempts at a stage to those of the first, where the log does not say which they repeat. Returns how many are
    /// a guess.
    fn match_retries(&mut self, executors: &Executors) -> u64 {
        let mut retries: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
        for (stage, attempt, _) in self.tasks.keys().filter(|(_, attempt, _)| *attempt > 0) {
            retries.entry(*stage).or_default().insert(*attempt);
        }
        let mut guessed = 0;
        for (stage, attempts) in retries {
            for attempt in attempts.into_iter().take(MOST_RETRIES) {
                guessed += self.match_retry((stage, attempt), executors);
            }
        }
        // Those beyond the limit stay tasks of their own.
        guessed + self.tasks.keys().filter(|(_, attempt, _)| *attempt > 0).count() as u64
    }

    fn match_retry(&mut self, (stage, attempt): (i64, i64), executors: &Executors) -> u64 {
        let Some(of) = self.stages.get(&stage) else { return 0 };
        let tasks = |attempt: i64| self.tasks.range((stage, attempt, i64::MIN)..=(stage, attempt, i64::MAX));
        // Indices are dense. Only damage has one far beyond the tasks that were seen.
        let most = 2 * (tasks(0).count() + tasks(attempt).count());
        let size = |attempt: i64| {
            let last = tasks(attempt).next_back().map_or(0, |(key, _)| key.2.saturating_add(1));
            usize::try_from(last).unwrap_or(0).max(of.sizes.get(&attempt).copied().unwrap_or(0)).min(most)
        };
        let launches =
            || tasks(attempt).flat_map(|(_, tries)| tries.values().filter_map(|tried| known_time(tried.info.launch)));
        let submit = of.submits.get(&attempt).copied().or_else(|| launches().min()).unwrap_or(i64::MAX);
        let done = tasks(0).filter_map(|(key, tries)| Some((key.2, done(tries, submit)?))).collect();
        let is_child = |child: i64| {
            let parents = self.stages.get(&child).and_then(|child| child.parents.as_ref());
            parents.is_none_or(|parents| parents.contains(&stage))
        };
        let left_at = |executor: &str| executors.left_at(executor);
        let sizes = (size(0), size(attempt));
        let Missing { partitions, is_guess } =
            retries::missing(sizes, &done, (submit, &self.losses), left_at, is_child);
        let moved: Vec<Key> = tasks(attempt).map(|(key, _)| *key).collect();
        let mut guessed = 0;
        for key in moved {
            let partition = usize::try_from(key.2).ok().and_then(|index| partitions.get(index).copied());
            let Some(partition) = partition else { continue };
            if let Some(tries) = self.tasks.remove(&key) {
                self.tasks.entry((stage, 0, partition)).or_default().extend(tries);
                guessed += u64::from(is_guess);
            }
        }
        guessed
    }

    /// What the attempts at a task show about the hosts that it prefers.
    fn source<'a>(&self, key: Key, tries: &'a Tries) -> Source<'a> {
        Source {
            key,
            submit: self.stages.get(&key.0).and_then(|stage| stage.submits.get(&0).copied()),
            shown: Shown::by(tries.values().map(|attempt| attempt.seen())),
        }
    }
}

impl Try {
    fn running(info: TaskInfo, stage_attempt: i64) -> Self {
        Self { info, stage_attempt, end: None, metrics: Kept::default() }
    }

    /// About how many bytes it takes, with its entries in maps.
    fn size(&self) -> usize {
        let texts = [&self.info.executor, &self.info.host, &self.info.locality];
        let error = self.end.as_ref().and_then(|(_, error)| error.as_ref());
        let texts: usize = texts.into_iter().flatten().chain(error).map(String::len).sum();
        size_of::<Self>() + SIZE_OF_ENTRY + texts
    }

    fn ended(end: TaskEnd) -> Self {
        let outcome = outcome_of_task(&end.reason.reason);
        let error = error(end.reason);
        let metrics = end.metrics.as_ref().map(Kept::of).unwrap_or_default();
        Self { info: end.info, stage_attempt: end.stage_attempt, end: Some((outcome, error)), metrics }
    }

    /// What it shows about the hosts that its task prefers.
    fn seen(&self) -> Seen<'_> {
        let info = &self.info;
        Seen {
            level: info.locality.as_deref(),
            host: info.host.as_deref(),
            launch: known_time(info.launch),
            is_first: info.attempt == 0 && self.stage_attempt == 0 && info.speculative != Some(true),
        }
    }

    fn outcome(&self) -> Outcome {
        self.end.as_ref().map_or(Outcome::Incomplete, |(outcome, _)| *outcome)
    }

    /// The task that it is an attempt at. A later attempt at a stage numbers only the tasks that it repeats. Without the place in the
    /// stage (Spark 3.3 and later), they are matched with those of the first when the job is whole.
    fn key(&self, stage: i64) -> Key {
        match self.info.partition.filter(|&partition| partition >= 0) {
            Some(partition) => (stage, 0, partition),
            None => (stage, self.stage_attempt, self.info.index),
        }
    }
}

/// The last success of a task before the stage was submitted again.
fn done(tries: &Tries, submit: i64) -> Option<Done<'_>> {
    let ended = tries.values().filter(|attempt| attempt.outcome() == Outcome::Success);
    let ended = ended.filter_map(|attempt| Some((known_time(attempt.info.finish)?, &attempt.info)));
    let (at, info) = ended.filter(|(at, _)| *at <= submit).max_by_key(|(at, _)| *at)?;
    Some(Done { at, executor: info.executor.as_deref(), host: info.host.as_deref() })
}

/// A number, unless it is one of those that stand for unknown.
fn known(number: Option<i64>) -> Option<i64> {
    number.filter(|&number| number >= 0)
}

/// A time of a task; 0 while it has not come.
fn known_time(ms: Option<i64>) -> Option<i64> {
    ms.filter(|&ms| ms > 0)
}

fn amount(group: &Option<Amounts>, of: impl Fn(&Amounts) -> Option<i64>) -> Option<i64> {
    known(of(group.as_ref()?))
}

fn kind(name: Option<&str>) -> TaskKind {
    match name {
        Some("ShuffleMapTask") => TaskKind::Map,
        Some("ResultTask") => TaskKind::Reduce,
        _ => TaskKind::Other,
    }
}

fn locality(name: &str) -> Option<Locality> {
    match name {
        "NODE_LOCAL" => Some(Locality::Node),
        "RACK_LOCAL" => Some(Locality::Rack),
        "ANY" => Some(Locality::Off),
        // `NO_PREF`, or `PROCESS_LOCAL`, which Spark also reports for a task without a preference.
        _ => None,
    }
}

fn outcome_of_task(reason: &str) -> Outcome {
    match reason {
        "Success" => Outcome::Success,
        "TaskKilled" | "Resubmitted" | "TaskCommitDenied" => Outcome::Killed,
        _ => Outcome::Failed,
    }
}

/// A job that somebody cancelled is reported as failed, with the reason.
fn outcome_of_job(end: &JobEnd) -> Outcome {
    let message = end.result.exception.as_ref().and_then(|exception| exception.message.as_deref()).unwrap_or_default();
    match end.result.result.as_str() {
        "JobSucceeded" => Outcome::Success,
        "JobFailed" if message.starts_with(&format!("Job {} cancelled", end.id)) => Outcome::Killed,
        "JobFailed" => Outcome::Failed,
        _ => Outcome::Unknown,
    }
}

/// The error text of a task that did not succeed.
fn error(reason: EndReason) -> Option<String> {
    if reason.reason == "Success" {
        return None;
    }
    let first = reason.class.unwrap_or(reason.reason);
    let more = reason.description.or(reason.loss).or(reason.kill).or(reason.message).filter(|more| !more.is_empty());
    let mut error = more.map_or_else(|| first.clone(), |more| format!("{first}: {more}"));
    error.truncate(error.floor_char_boundary(LONGEST_TEXT));
    Some(error)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use resched_tables::sink::Collected;

    /// An application with one job of one stage, which has taken these ends of tasks: the number of the attempt, the id and the reason.
    fn with_ends(ends: impl Iterator<Item = (usize, usize, &'static str)>) -> Application<'static> {
        let mut application = Application::new("log", None);
        let mut sink = Collected::default();
        let mut take = |line: &str| application.take(Event::parse(line).unwrap().unwrap(), &mut sink).unwrap();
        take(r#"{"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":5,"Stage IDs":[0]}"#);
        for (attempt, id, reason) in ends {
            take(&format!(
                r#"{{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":{attempt},"Task Type":"ResultTask","Task End Reason":{reason},"Task Info":{{"Task ID":{id},"Index":0,"Launch Time":{id},"Finish Time":{id}}}}}"#
            ));
        }
        application
    }

    #[test]
    fn outputs_that_are_lost_are_kept_up_to_the_limit() {
        let lost = r#"{"Reason":"FetchFailed","Block Manager Address":{"Executor ID":"1","Host":"h","Port":1},"Shuffle ID":0,"Map ID":0,"Map Index":0,"Reduce ID":0,"Message":"x"}"#;
        for (ends, kept) in [(MOST_LOSSES, MOST_LOSSES), (MOST_LOSSES + 1, MOST_LOSSES)] {
            let application = with_ends((0..ends).map(|id| (0, id, lost)));
            assert_eq!(application.jobs.values().map(|job| job.losses.len()).sum::<usize>(), kept);
        }
    }

    #[test]
    fn attempts_at_a_stage_are_matched_up_to_the_limit() {
        let ended = r#"{"Reason":"Success"}"#;
        for (attempts, beyond) in [(MOST_RETRIES, 0), (MOST_RETRIES + 1, 1)] {
            let mut application = with_ends((0..=attempts).map(|attempt| (attempt, attempt, ended)));
            let job = application.jobs.values_mut().next().unwrap();
            job.match_retries(&Executors::default());
            assert_eq!(job.tasks.keys().filter(|(_, attempt, _)| *attempt > 0).count(), beyond);
        }
    }

    /// Attempts of this size would take as much memory.
    #[test]
    fn attempts_are_held_up_to_the_limit_and_not_beyond() {
        let line = r#"{"Event":"SparkListenerTaskEnd","Stage ID":0,"Task Type":"ResultTask","Task End Reason":{"Reason":"Success"},"Task Info":{"Task ID":7,"Index":0,"Launch Time":5,"Finish Time":9}}"#;
        for (held, expected) in [(MOST_HELD, (1, None)), (MOST_HELD + 1, (0, Some(1)))] {
            let mut application = Application::new("log", None);
            let mut sink = Collected::default();
            let job = r#"{"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":5,"Stage IDs":[0]}"#;
            application.take(Event::parse(job).unwrap().unwrap(), &mut sink).unwrap();
            application.held = held;
            application.take(Event::parse(line).unwrap().unwrap(), &mut sink).unwrap();
            let attempts = application.jobs.values().map(|job| job.tasks.len()).sum::<usize>();
            assert_eq!((attempts, sink.skipped.get("too-many-attempts").copied()), expected);
        }
    }
}
