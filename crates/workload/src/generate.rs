//! From a workload file to jobs and machines.

use std::collections::BTreeMap;

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1};

use super::{Arrivals, Class, Cluster, Size, Workload};
use crate::synthesise::{Layout, Placement, Shape, Variation};
use resched_tables::Error;
use resched_tables::draws::{Purpose, stream};
use resched_tables::model::{JobRecord, JobRow, MAPREDUCE, NodeChange, NodeRow, Outcome, Priority};
use resched_tables::names::{host_name, rack_name, rack_of};
use resched_tables::sink::Sink;

/// Makes the machines and jobs of a workload, jobs by time of submission (ms from the workload's start).
///
/// The tasks are as [`crate::synthesise`] makes them. One seed gives one trace; a job's draws depend on the seed and
/// its number only.
///
/// # Errors
/// The errors of the sink; [`Error::Request`] if the workload was not checked by [`Workload::parse`] and cannot be
/// made.
pub fn generate(workload: &Workload, seed: u64, sink: &mut dyn Sink) -> Result<(), Error> {
    let cluster = workload.cluster();
    let placement = cluster.placement()?;
    for node in 0..cluster.nodes {
        sink.node(cluster.node(node));
    }
    let cluster_id = workload.history.as_ref().map_or("0", |history| history.cluster_id.as_str());
    // By file: the job that reads it first, whose draws place its blocks.
    let mut files: BTreeMap<&str, u64> = BTreeMap::new();
    for (ordinal, planned) in (0_u64..).zip(plan(workload, seed)) {
        let class = workload.classes.get(planned.class).ok_or_else(|| {
            Error::Request(format!("class `{}` is not in the workload; add [classes.{0}]", planned.class))
        })?;
        let shape = class.shape(planned.size, cluster.split_bytes)?;
        let job_id = format!("job_{cluster_id}_{:04}", ordinal + 1);
        let mut job = planned.row(job_id, &shape);
        let nowhere = Placement::default();
        let places = if class.reads_input { &placement } else { &nowhere };
        let mut tasks = Layout::new(&mut job, shape, places, seed, ordinal)
            .map_err(|error| Error::Request(format!("job {}: {error}; make it smaller", ordinal + 1)))?;
        if let Some(file) = planned.input {
            tasks.read_as(seed, *files.entry(file).or_insert(ordinal));
        }
        sink.made_job(JobRecord { job, ..JobRecord::default() }, &mut tasks)?;
    }
    Ok(())
}

/// Refuses a workload with more than `most` tasks, before any of them is made. `path` is its name, and `remedy` says what to do.
pub(super) fn check_tasks(
    workload: &Workload,
    seed: u64,
    path: &str,
    most: u64,
    remedy: impl Fn(u64) -> String,
) -> Result<(), Error> {
    let of = |size: Size| u64::from(size.maps.get()).saturating_add(size.reduces.into());
    let tasks = plan(workload, seed).iter().fold(0, |all: u64, job| all.saturating_add(of(job.size)));
    if tasks <= most {
        return Ok(());
    }
    Err(Error::Request(format!("{path}: expected at most {most} tasks in all jobs, found {tasks}; {}", remedy(tasks))))
}

/// A job of the workload before it has tasks.
struct Planned<'a> {
    submit: i64,
    class: &'a str,
    size: Size,
    name: &'a str,
    input: Option<&'a str>,
    user: Option<&'a str>,
    queue: Option<&'a str>,
    priority: Priority,
}

impl Planned<'_> {
    fn row(&self, job_id: String, shape: &Shape) -> JobRow {
        let bytes = |bytes| i64::try_from(bytes).ok();
        JobRow {
            job_id,
            name: Some(self.name.to_owned()),
            user: self.user.map(str::to_owned),
            queue: Some(self.queue.unwrap_or("default").to_owned()),
            priority: Some(self.priority),
            framework: Some(MAPREDUCE.to_owned()),
            submit: Some(self.submit),
            outcome: Outcome::Success,
            input_bytes: bytes(shape.input_bytes),
            shuffle_bytes: bytes(shape.shuffle_bytes),
            output_bytes: bytes(shape.output_bytes),
            ..JobRow::default()
        }
    }
}

/// All jobs, by time of submission; those of one instant in the order of the file.
fn plan(workload: &Workload, seed: u64) -> Vec<Planned<'_>> {
    let mut planned = Vec::new();
    for jobs in &workload.jobs {
        let class = jobs.class.get_ref();
        planned.extend((0..jobs.repeat.get()).map(|round| Planned {
            submit: ms(jobs.submit_s + f64::from(round) * jobs.every_s),
            class,
            size: Size { maps: jobs.maps, reduces: jobs.reduces },
            name: jobs.name.as_deref().unwrap_or(class),
            input: jobs.input.as_deref(),
            user: jobs.user.as_deref(),
            queue: jobs.queue.as_deref(),
            priority: jobs.priority,
        }));
    }
    if let Some(arrivals) = &workload.arrivals {
        planned.extend(arrive(arrivals.get_ref(), seed));
    }
    planned.sort_by_key(|job| job.submit);
    planned
}

/// The jobs that arrive by chance.
fn arrive(arrivals: &Arrivals, seed: u64) -> Vec<Planned<'_>> {
    let mixes: BTreeMap<(u64, u64), _> = arrivals
        .mix
        .iter()
        .flat_map(|mix| std::iter::repeat_n(mix, mix.jobs as usize))
        .zip(0_u64..)
        // Sorting by random keys is a fair shuffle; the number makes equal keys differ.
        .map(|(mix, number)| ((stream(seed, Purpose::JobChoice, &[0, number]).next_u64(), number), mix))
        .collect();
    let submits = submissions(arrivals, seed);
    mixes
        .into_iter()
        .zip(submits)
        .filter_map(|(((_, number), mix), submit)| {
            let mut rng = stream(seed, Purpose::JobChoice, &[1, number]);
            let size = *mix.sizes.get(rng.random_range(0..mix.sizes.len().max(1)))?;
            let class = mix.class.get_ref();
            let (user, queue) = (mix.user.as_deref(), mix.queue.as_deref());
            Some(Planned { submit, class, size, name: class, input: None, user, queue, priority: Priority::Normal })
        })
        .collect()
}

/// When the jobs of all batches are submitted. A batch's head is its first job.
pub(super) fn submissions(arrivals: &Arrivals, seed: u64) -> impl Iterator<Item = i64> {
    let gap = move |batch: u32, job: u32, mean: f64| -> f64 {
        let unit: f64 = Exp1.sample(&mut stream(seed, Purpose::JobArrival, &[u64::from(batch), u64::from(job)]));
        unit * mean
    };
    let (jobs, within, between) = (arrivals.jobs_per_batch.get(), arrivals.gap_mean_s, arrivals.batch_gap_mean_s);
    let heads = (0..arrivals.batches.get()).scan(arrivals.start_s, move |head, batch| {
        *head += if batch == 0 { 0.0 } else { gap(batch, 0, between) };
        Some((batch, *head))
    });
    heads.flat_map(move |(batch, head)| {
        (0..jobs).scan(head, move |at, job| {
            *at += if job == 0 { 0.0 } else { gap(batch, job, within) };
            Some(ms(*at))
        })
    })
}

impl Cluster {
    fn node(&self, node: u32) -> NodeRow {
        NodeRow {
            host: host_name(node),
            rack: Some(rack_name(rack_of(node, self.nodes, self.racks))),
            event: NodeChange::Add,
            map_slots: Some(self.map_slots.into()),
            reduce_slots: Some(self.reduce_slots.into()),
            ..NodeRow::default()
        }
    }
}

impl Class {
    /// A job of that size, each of its maps with a split of `split_bytes`.
    fn shape(&self, size: Size, split_bytes: u64) -> Result<Shape, Error> {
        let maps = u64::from(size.maps.get());
        let reduces = u64::from(size.reduces);
        let volume = split_bytes.saturating_mul(maps);
        let shuffled = if reduces > 0 { volume as f64 * self.map_selectivity } else { 0.0 };
        let fetched = shuffled / reduces.max(1) as f64;
        let written = if reduces > 0 { shuffled } else { volume as f64 } * self.output_selectivity;
        Ok(Shape {
            maps,
            reduces,
            input_bytes: if self.reads_input { volume } else { 0 },
            split_bytes,
            // The conversions saturate.
            shuffle_bytes: shuffled.round() as u64,
            output_bytes: written.round() as u64,
            map_base_ms: self.map_mean_s * 1_000.0,
            map_ms_per_byte: 0.0,
            shuffle_ms: fetched / self.shuffle_rate * 1_000.0,
            reduce_ms: (self.reduce_mean_s + self.reduce_rate.map_or(0.0, |rate| fetched / rate)) * 1_000.0,
            map_times: Variation::new(self.map_variation)?,
            reduce_times: Variation::new(self.reduce_variation)?,
        })
    }
}

/// Seconds as whole milliseconds.
fn ms(seconds: f64) -> i64 {
    (seconds * 1_000.0).round() as i64
}
