//! Divides the totals of a job into tasks, splits and attempts.

use rand_distr::{Distribution, LogNormal};

use super::placement::{Placement, Places};
use resched_tables::Error;
use resched_tables::draws::{Draws, Purpose};
use resched_tables::model::{AttemptRow, JobRow, Locality, Outcome, TaskKind, TaskRecord, TaskRow};
use resched_tables::names::write_task_name;
use resched_tables::sink::Tasks;
use resched_tables::store::columns::Row;

/// The most tasks of one job. A million of them with three replicas each take some 1.5 GB where a job is held as a whole;
/// the largest job of the Facebook traces has 158,500 maps of 128 MiB.
pub const MAX_TASKS: u64 = 1_000_000;

/// How a job divides into tasks and how long they take, before chance.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    /// Maps, at least 1.
    pub(crate) maps: u64,
    /// Reduces; 0 if the maps write the output.
    pub(crate) reduces: u64,
    /// Bytes that all maps read.
    pub(crate) input_bytes: u64,
    /// Bytes that each map reads, except the last, which reads what is left.
    pub(crate) split_bytes: u64,
    /// Bytes that all reduces fetch.
    pub(crate) shuffle_bytes: u64,
    /// Bytes that the job writes.
    pub(crate) output_bytes: u64,
    /// The time of a map that reads nothing, ms.
    pub(crate) map_base_ms: f64,
    /// The additional time of a map for each byte it reads, ms.
    pub(crate) map_ms_per_byte: f64,
    /// How long a reduce fetches after all maps have ended, ms.
    pub(crate) shuffle_ms: f64,
    /// How long a reduce takes after that, ms.
    pub(crate) reduce_ms: f64,
    /// The variation of the times of maps.
    pub(crate) map_times: Variation,
    /// The variation of the times of reduces.
    pub(crate) reduce_times: Variation,
}

/// The variation of the times of equal tasks: a log-normal factor of mean 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Variation(LogNormal<f64>);

impl Variation {
    /// A variation with that coefficient (standard deviation over mean); 0 is none.
    ///
    /// # Errors
    /// [`Error::Request`] if it is negative or not finite.
    pub(crate) fn new(coefficient: f64) -> Result<Self, Error> {
        LogNormal::from_mean_cv(1.0, coefficient).map(Self).map_err(|_| {
            Error::Request(format!("variation: expected a number from 0, found {coefficient}; correct the number"))
        })
    }

    /// The factor for one of the tasks whose draws these are.
    fn factor(&self, draws: Draws, task: u64) -> f64 {
        self.0.sample(&mut draws.of(&[task]).generator())
    }
}

/// Why a job was left without tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the job would have {tasks} tasks, more than the {MAX_TASKS} that are made for one job")]
pub struct TooLarge {
    /// How many tasks it would have.
    pub tasks: u64,
}

/// The tasks of a job: first its maps, then its reduces.
pub(crate) struct Layout<'a> {
    job_id: String,
    submit: i64,
    shape: Shape,
    placement: &'a Placement,
    /// The draws of the times of its maps, of those of its reduces, and of the places of the input of its maps.
    map_draws: Draws,
    reduce_draws: Draws,
    place_draws: Draws,
    /// How many tasks were made.
    made: u64,
    places: Places,
}

impl<'a> Layout<'a> {
    /// Lays out job number `ordinal`, and writes the numbers of its tasks into its row.
    ///
    /// # Errors
    /// [`TooLarge`] if there would be more than [`MAX_TASKS`]; the row is then as it was.
    pub(crate) fn new(
        job: &mut JobRow,
        shape: Shape,
        placement: &'a Placement,
        seed: u64,
        ordinal: u64,
    ) -> Result<Self, TooLarge> {
        let tasks = shape.maps.saturating_add(shape.reduces);
        if tasks > MAX_TASKS {
            return Err(TooLarge { tasks });
        }
        job.declared_maps = Some(signed(shape.maps));
        job.declared_reduces = Some(signed(shape.reduces));
        let (job_id, submit) = (job.job_id.clone(), job.submit.unwrap_or(0));
        let times = Draws::new(seed, Purpose::TaskDuration).of(&[ordinal]);
        Ok(Self {
            job_id,
            submit,
            shape,
            placement,
            map_draws: times.of(&[TaskKind::Map as u64]),
            reduce_draws: times.of(&[TaskKind::Reduce as u64]),
            place_draws: block_draws(seed, ordinal),
            made: 0,
            places: Places::default(),
        })
    }

    /// Its maps read the blocks that job number `ordinal` reads.
    pub(crate) fn read_as(&mut self, seed: u64, ordinal: u64) {
        self.place_draws = block_draws(seed, ordinal);
    }

    fn map(&mut self, index: u64, TaskRecord { task, splits, attempts }: &mut TaskRecord) {
        let shape = &self.shape;
        let read = shape.input_bytes.saturating_sub(shape.split_bytes.saturating_mul(index)).min(shape.split_bytes);
        let passed_on = if shape.reduces == 0 { shape.output_bytes } else { shape.shuffle_bytes };
        let handed = share(passed_on, index, shape.maps);
        let factor = shape.map_times.factor(self.map_draws, index);
        let finish = after(self.submit, (shape.map_base_ms + shape.map_ms_per_byte * read as f64) * factor);
        let is_map_only = shape.reduces == 0;

        self.task(task, TaskKind::Map, index, finish, read, handed);
        let block = (task.task_id.as_str(), signed(read));
        self.placement.place(splits, block, self.place_draws.of(&[index]), &mut self.places);
        let Some(attempt) = only_attempt(task, attempts) else { return };
        attempt.locality = (!splits.is_empty()).then_some(Locality::Node);
        attempt.hdfs_bytes_read = task.input_bytes;
        attempt.hdfs_bytes_written = is_map_only.then_some(signed(handed));
        attempt.map_input_bytes = task.input_bytes;
        attempt.map_output_bytes = (!is_map_only).then_some(signed(handed));
    }

    fn reduce(&self, index: u64, TaskRecord { task, splits, attempts }: &mut TaskRecord) {
        let shape = &self.shape;
        let fetched = share(shape.shuffle_bytes, index, shape.reduces);
        let written = share(shape.output_bytes, index, shape.reduces);
        let factor = shape.reduce_times.factor(self.reduce_draws, index);
        let fetched_at = after(self.submit, shape.shuffle_ms * factor);
        let finish = after(fetched_at, shape.reduce_ms * factor);

        self.task(task, TaskKind::Reduce, index, finish, fetched, written);
        splits.clear();
        let Some(attempt) = only_attempt(task, attempts) else { return };
        attempt.shuffle_finish = Some(fetched_at);
        attempt.sort_finish = Some(fetched_at);
        attempt.hdfs_bytes_written = task.output_bytes;
        attempt.reduce_shuffle_bytes = task.input_bytes;
    }

    fn task(&self, row: &mut TaskRow, kind: TaskKind, index: u64, finish: i64, input: u64, output: u64) {
        row.clear();
        row.job_id.push_str(&self.job_id);
        write_task_id(&mut row.task_id, &self.job_id, kind, index);
        row.kind = kind;
        (row.start, row.finish) = (Some(self.submit), Some(finish));
        row.outcome = Outcome::Success;
        (row.input_bytes, row.output_bytes) = (Some(signed(input)), Some(signed(output)));
    }
}

impl Tasks for Layout<'_> {
    fn next(&mut self, task: &mut TaskRecord) -> bool {
        let index = self.made;
        match index.checked_sub(self.shape.maps) {
            None => self.map(index, task),
            Some(index) if index < self.shape.reduces => self.reduce(index, task),
            Some(_) => return false,
        }
        self.made += 1;
        true
    }
}

/// The draws of the places of the blocks that a job reads.
fn block_draws(seed: u64, ordinal: u64) -> Draws {
    Draws::new(seed, Purpose::BlockPlacement).of(&[ordinal])
}

/// The attempt that did all of `task`: the only one of `attempts`, whose texts are written over.
fn only_attempt<'r>(task: &TaskRow, attempts: &'r mut Vec<AttemptRow>) -> Option<&'r mut AttemptRow> {
    attempts.resize_with(1, AttemptRow::default);
    let row = attempts.first_mut()?;
    row.clear();
    row.job_id.push_str(&task.job_id);
    row.task_id.push_str(&task.task_id);
    row.kind = task.kind;
    (row.start, row.finish) = (task.start, task.finish);
    row.outcome = Outcome::Success;
    Some(row)
}

/// Writes Hadoop's name of a task over `id`.
fn write_task_id(id: &mut String, job_id: &str, kind: TaskKind, index: u64) {
    id.clear();
    write_task_name(job_id, if kind == TaskKind::Reduce { 'r' } else { 'm' }, index, id);
}

/// Part `index` if `total` is divided into `parts` parts, as equal as whole bytes allow.
fn share(total: u64, index: u64, parts: u64) -> u64 {
    let parts = parts.max(1);
    total / parts + u64::from(index < total % parts)
}

/// The instant `duration` ms after `start`, and at least 1 ms after it.
fn after(start: i64, duration: f64) -> i64 {
    // The conversion saturates, and takes what is not a number as 0.
    start.saturating_add((duration.round() as i64).max(1))
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn task_ids_follow_the_job_id() {
        let mut id = "of another task".to_owned();
        write_task_id(&mut id, "job_201003010800_0007", TaskKind::Map, 12);
        assert_eq!(id, "task_201003010800_0007_m_000012");
        for (index, number) in
            [(0, "000000"), (999_999, "999999"), (1_234_567, "1234567"), (u64::MAX, "18446744073709551615")]
        {
            write_task_id(&mut id, "job0", TaskKind::Reduce, index);
            assert_eq!(id, format!("task_job0_r_{number}"));
        }
    }

    #[test]
    fn shares_are_equal_and_complete() {
        let parts: Vec<u64> = (0..3).map(|index| share(11, index, 3)).collect();
        assert_eq!(parts, [4, 4, 3]);
        assert_eq!(share(u64::MAX, 0, 1), u64::MAX);
    }

    #[test]
    fn variation_keeps_the_mean() {
        let variation = Variation::new(0.3).unwrap();
        let draws = Draws::new(1, Purpose::TaskDuration).of(&[0, TaskKind::Map as u64]);
        let factors: Vec<f64> = (0..20_000).map(|task| variation.factor(draws, task)).collect();
        let mean = factors.iter().sum::<f64>() / 20_000.0;
        let deviation = (factors.iter().map(|factor| (factor - mean).powi(2)).sum::<f64>() / 20_000.0).sqrt();
        // Four standard errors of the mean: 4·0.3/√20,000 ≈ 0.0085.
        assert!((mean - 1.0).abs() < 0.0085, "mean {mean}");
        assert!((deviation - 0.3).abs() < 0.01, "deviation {deviation}");
        assert!(Variation::new(-0.1).is_err() && Variation::new(f64::NAN).is_err());
    }

    #[test]
    fn hostile_durations_saturate() {
        assert_eq!(after(i64::MAX - 1, 1e300), i64::MAX);
        assert_eq!(after(5, f64::NAN), 6);
        assert_eq!(after(5, -3.0), 6);
        assert_eq!(after(5, 2.5), 8);
    }
}
