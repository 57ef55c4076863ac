//! Makes tasks for jobs whose source gives only sizes (SWIM). The manifest names the rules.
//!
//! Nothing here is observed: [`MADE`] lists the columns that the rules fill. A job has a map for each split of its
//! input, and its number of reduces follows from the size of its shuffle. Each task has one attempt that succeeded. It
//! starts when the job is submitted and runs on a node with its input. So finish − start is the node-local run time,
//! which a replay scales by the place of the task (`docs/model/locality.md`). The host is unknown.

mod layout;
mod placement;

use serde::{Deserialize, Serialize};

use resched_tables::Error;
use resched_tables::model::{JobRecord, JobRow, NodeRow};
use resched_tables::names::{host_name, rack_name, rack_of};
use resched_tables::sink::Tasks;

pub(crate) use layout::{Layout, Shape, Variation};
pub use layout::{MAX_TASKS, TooLarge};
pub use placement::MAX_NODES;
pub(crate) use placement::{Impossible, Placement};

/// The columns that are made, as `table.column`. A trace's manifest lists them.
pub const MADE: &[&str] = &[
    "jobs.declared_maps",
    "jobs.declared_reduces",
    "tasks.task_id",
    "tasks.kind",
    "tasks.start",
    "tasks.finish",
    "tasks.outcome",
    "tasks.input_bytes",
    "tasks.output_bytes",
    "attempts.attempt",
    "attempts.start",
    "attempts.shuffle_finish",
    "attempts.sort_finish",
    "attempts.finish",
    "attempts.outcome",
    "attempts.locality",
    "attempts.hdfs_bytes_read",
    "attempts.hdfs_bytes_written",
    "attempts.map_input_bytes",
    "attempts.map_output_bytes",
    "attempts.reduce_shuffle_bytes",
    "splits.ordinal",
    "splits.host",
    "splits.rack",
    "splits.bytes",
];

/// The columns of the machines that are made along with the tasks.
pub const MADE_NODES: &[&str] = &["nodes.host", "nodes.rack"];

/// How tasks are made from the sizes of a job. SWIM gives no task counts or times, so every value is an assumption.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    /// Bytes of input of a map; the last map of a job takes what is left. Default 128 MiB, a common block size of the
    /// time.
    pub split_bytes: u64,
    /// Bytes of input that a map processes in a second. Default 10 MB/s.
    pub map_rate: u64,
    /// How long a task takes in addition to its bytes (start of the JVM, set-up), ms. Default 1,000.
    pub overhead_ms: u64,
    /// Bytes of shuffle of a reduce. Default 1 GiB.
    pub reduce_bytes: u64,
    /// The most reduces of a job. Default 1,000, about as many as 600 nodes with two reduce slots run at once: Hadoop's
    /// documentation advises against more.
    pub max_reduces: u64,
    /// Bytes that a reduce fetches in a second after all maps have ended. Default 20 MB/s.
    pub shuffle_rate: u64,
    /// Bytes of fetched input that a reduce processes in a second; sorting is part of the fetching. Default 20 MB/s.
    pub reduce_rate: u64,
    /// Bytes of output that a reduce writes in a second. Default 20 MB/s.
    pub output_rate: u64,
    /// Coefficient of variation of the times of equal tasks (log-normal, the mean is kept). Default 0.3; 0 is none.
    pub variation: f64,
    /// Replicas of each block; 0 leaves the places of the input unknown. Default 3.
    pub replication: u32,
    /// Machines that hold the input, named by [`host_name`]. Default 600, about the reported size of Facebook's cluster
    /// of 2009; the workload itself does not give it.
    pub nodes: u32,
    /// Racks that they fill, named by [`rack_name`] and filled as [`rack_of`] says. Default 30.
    pub racks: u32,
}

impl Rules {
    /// Machine `node` of the cluster, counted from 0.
    pub fn node(&self, node: u32) -> NodeRow {
        NodeRow {
            host: host_name(node),
            rack: Some(rack_name(rack_of(node, self.nodes, self.racks))),
            ..NodeRow::default()
        }
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            split_bytes: 128 << 20,
            map_rate: 10_000_000,
            overhead_ms: 1_000,
            reduce_bytes: 1 << 30,
            max_reduces: 1_000,
            shuffle_rate: 20_000_000,
            reduce_rate: 20_000_000,
            output_rate: 20_000_000,
            variation: 0.3,
            replication: 3,
            nodes: 600,
            racks: 30,
        }
    }
}

/// Makes the tasks of jobs. They depend only on the rules, the seed and the job's number, not on earlier jobs.
#[derive(Debug, Clone)]
pub struct Synthesiser {
    rules: Rules,
    placement: Placement,
    variation: Variation,
    seed: u64,
}

impl Synthesiser {
    /// A synthesiser that follows `rules`.
    ///
    /// # Errors
    /// [`Error::Request`] if a rate or a size is 0, the variation negative or the cluster impossible.
    pub fn new(rules: &Rules, seed: u64) -> Result<Self, Error> {
        for (name, value) in [
            ("split_bytes", rules.split_bytes),
            ("map_rate", rules.map_rate),
            ("reduce_bytes", rules.reduce_bytes),
            ("max_reduces", rules.max_reduces),
            ("shuffle_rate", rules.shuffle_rate),
            ("reduce_rate", rules.reduce_rate),
            ("output_rate", rules.output_rate),
        ] {
            if value == 0 {
                return Err(Error::Request(format!("{name}: expected a number above 0, found 0; correct the number")));
            }
        }
        let holders: Vec<u32> = (0..rules.nodes.min(MAX_NODES)).collect();
        Ok(Self {
            placement: Placement::new(rules.nodes, rules.racks, &holders, rules.replication)?,
            variation: Variation::new(rules.variation)?,
            rules: rules.clone(),
            seed,
        })
    }

    /// Gives job number `ordinal` of the trace its tasks, in place of any it had. Sizes that are unknown count as 0.
    ///
    /// # Errors
    /// [`TooLarge`] if there would be more than [`MAX_TASKS`]; the record is then as it was.
    pub fn synthesise(&self, record: &mut JobRecord, ordinal: u64) -> Result<(), TooLarge> {
        record.tasks = self.tasks(&mut record.job, ordinal)?.all();
        Ok(())
    }

    /// The tasks of job number `ordinal`, whose numbers are written into its row.
    ///
    /// # Errors
    /// As [`Self::synthesise`].
    pub fn tasks(&self, job: &mut JobRow, ordinal: u64) -> Result<impl Tasks + use<'_>, TooLarge> {
        Layout::new(job, self.shape(job), &self.placement, self.seed, ordinal)
    }

    fn shape(&self, job: &JobRow) -> Shape {
        let rules = &self.rules;
        let size = |bytes: Option<i64>| bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0);
        let input_bytes = size(job.input_bytes);
        let shuffle_bytes = size(job.shuffle_bytes);
        let output_bytes = size(job.output_bytes);
        let reduces = shuffle_bytes.div_ceil(rules.reduce_bytes).min(rules.max_reduces);
        let per_reduce = |bytes: u64, rate: u64| bytes as f64 / reduces.max(1) as f64 / rate as f64 * 1_000.0;
        Shape {
            maps: input_bytes.div_ceil(rules.split_bytes).max(1),
            reduces,
            input_bytes,
            split_bytes: rules.split_bytes,
            shuffle_bytes,
            output_bytes,
            map_base_ms: rules.overhead_ms as f64,
            map_ms_per_byte: 1_000.0 / rules.map_rate as f64,
            shuffle_ms: per_reduce(shuffle_bytes, rules.shuffle_rate),
            reduce_ms: rules.overhead_ms as f64
                + per_reduce(shuffle_bytes, rules.reduce_rate)
                + per_reduce(output_bytes, rules.output_rate),
            map_times: self.variation,
            reduce_times: self.variation,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use resched_tables::model::{JobRow, Locality, Outcome, TaskKind, TaskRecord};

    fn job(input: i64, shuffle: i64, output: i64) -> JobRecord {
        JobRecord {
            job: JobRow {
                job_id: "job0".to_owned(),
                submit: Some(5_000),
                input_bytes: Some(input),
                shuffle_bytes: Some(shuffle),
                output_bytes: Some(output),
                ..JobRow::default()
            },
            ..JobRecord::default()
        }
    }

    fn exact() -> Rules {
        Rules { variation: 0.0, ..Rules::default() }
    }

    fn made(rules: &Rules, seed: u64, ordinal: u64, mut record: JobRecord) -> JobRecord {
        Synthesiser::new(rules, seed).unwrap().synthesise(&mut record, ordinal).unwrap();
        record
    }

    fn of_kind(record: &JobRecord, kind: TaskKind) -> Vec<&TaskRecord> {
        record.tasks.iter().filter(|task| task.task.kind == kind).collect()
    }

    #[test]
    fn a_job_by_hand() {
        // 300 MB in splits of 128 MiB (134,217,728 B): two whole ones and one of 31,564,544 B.
        // Maps: 1 s + 13.4217728 s = 14,422 ms, and 1 s + 3.1564544 s = 4,156 ms.
        // 3 GB of shuffle by 1 GiB: 3 reduces of 1 GB each, fetched at 20 MB/s in 50 s.
        // Then 1 s + 1 GB at 20 MB/s (50 s) + 0.3 GB at 20 MB/s (15 s) = 66 s.
        let record = made(&exact(), 1, 0, job(300_000_000, 3_000_000_000, 900_000_000));
        assert_eq!((record.job.declared_maps, record.job.declared_reduces), (Some(3), Some(3)));

        let maps = of_kind(&record, TaskKind::Map);
        let read: Vec<_> = maps.iter().map(|map| map.task.input_bytes.unwrap()).collect();
        assert_eq!(read, [134_217_728, 134_217_728, 31_564_544]);
        let finish: Vec<_> = maps.iter().map(|map| map.attempts[0].finish.unwrap()).collect();
        assert_eq!(finish, [5_000 + 14_422, 5_000 + 14_422, 5_000 + 4_156]);
        assert_eq!(maps[2].task.task_id, "task_job0_m_000002");
        assert_eq!(maps[0].task.output_bytes, Some(1_000_000_000));
        assert_eq!(maps[0].attempts[0].map_output_bytes, Some(1_000_000_000));
        assert_eq!(maps[0].attempts[0].hdfs_bytes_written, None);
        for map in &maps {
            let [attempt] = map.attempts.as_slice() else { panic!("one attempt, found {}", map.attempts.len()) };
            assert_eq!((attempt.start, attempt.outcome), (Some(5_000), Outcome::Success));
            assert_eq!((attempt.locality, &attempt.host, &attempt.rack), (Some(Locality::Node), &None, &None));
            assert_eq!(map.splits.len(), 3);
            assert!(map.splits.iter().all(|split| split.bytes == map.task.input_bytes));
        }

        let reduces = of_kind(&record, TaskKind::Reduce);
        assert_eq!(reduces.len(), 3);
        for reduce in reduces {
            let attempt = &reduce.attempts[0];
            assert_eq!(attempt.shuffle_finish, Some(5_000 + 50_000));
            assert_eq!(attempt.sort_finish, attempt.shuffle_finish);
            assert_eq!(attempt.finish, Some(5_000 + 50_000 + 66_000));
            assert_eq!(attempt.locality, None);
            assert_eq!((reduce.task.input_bytes, reduce.task.output_bytes), (Some(1_000_000_000), Some(300_000_000)));
            assert!(reduce.splits.is_empty());
        }
    }

    #[test]
    fn no_shuffle_means_no_reduces_and_no_input_still_a_map() {
        let record = made(&exact(), 1, 0, job(0, 0, 14_347));
        let [map] = record.tasks.as_slice() else { panic!("one task, found {}", record.tasks.len()) };
        assert_eq!(map.attempts[0].finish, Some(6_000));
        assert_eq!(map.attempts[0].hdfs_bytes_written, Some(14_347));
        assert_eq!(map.attempts[0].map_output_bytes, None);
        assert_eq!(record.job.declared_reduces, Some(0));
    }

    #[test]
    fn reduces_are_at_least_one_and_at_most_the_maximum() {
        assert_eq!(made(&exact(), 1, 0, job(1, 1, 1)).job.declared_reduces, Some(1));
        assert_eq!(made(&exact(), 1, 0, job(1, (1 << 30) + 1, 1)).job.declared_reduces, Some(2));
        assert_eq!(made(&exact(), 1, 0, job(1, 85_000_000_000_000, 1)).job.declared_reduces, Some(1_000));
    }

    #[test]
    fn the_same_seed_gives_the_same_tasks_and_another_others() {
        let rules = Rules::default();
        let record = job(2_000_000_000, 2_000_000_000, 5);
        let first = made(&rules, 1, 3, record.clone());
        assert_eq!(first, made(&rules, 1, 3, record.clone()));
        assert_ne!(first.tasks, made(&rules, 2, 3, record.clone()).tasks);
        assert_ne!(first.tasks, made(&rules, 1, 4, record).tasks);
        let durations: std::collections::BTreeSet<_> = first.tasks.iter().map(|task| task.task.finish).collect();
        assert!(durations.len() > 10, "whole maps take different times");
    }

    #[test]
    fn hostile_sizes_are_refused_and_leave_the_job_as_it_was() {
        let before = job(i64::MAX, i64::MAX, i64::MAX);
        let mut record = before.clone();
        let error = Synthesiser::new(&exact(), 1).unwrap().synthesise(&mut record, 0).unwrap_err();
        // 2⁶³ − 1 over 2²⁷, rounded up, and 1,000 reduces.
        assert_eq!(error.tasks, (1 << 36) + 1_000);
        assert_eq!(record, before);
    }

    #[test]
    fn rules_that_cannot_be_followed_are_refused() {
        for rules in [
            Rules { split_bytes: 0, ..exact() },
            Rules { output_rate: 0, ..exact() },
            Rules { variation: -1.0, ..exact() },
            Rules { racks: 601, ..exact() },
            Rules { nodes: u32::MAX, ..exact() },
        ] {
            assert!(Synthesiser::new(&rules, 1).is_err_and(|error| error.is_request()), "{rules:?}");
        }
    }

    #[test]
    fn made_columns_exist() {
        use resched_tables::model::{AttemptRow, SplitRow, TaskRow};
        use resched_tables::store::columns::Row;
        let columns: Vec<String> = [
            (JobRow::TABLE, JobRow::schema()),
            (TaskRow::TABLE, TaskRow::schema()),
            (AttemptRow::TABLE, AttemptRow::schema()),
            (SplitRow::TABLE, SplitRow::schema()),
        ]
        .iter()
        .flat_map(|(table, schema)| schema.fields().iter().map(move |field| format!("{table}.{}", field.name())))
        .collect();
        for column in MADE {
            assert!(columns.iter().any(|name| name == column), "{column}");
        }
    }
}
