//! The values that a format cannot hold, counted column by column.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::Output;
use resched_tables::model::{AttemptRow, CounterRow, JobRecord, JobRow, SplitRow, TaskRow};
use resched_tables::store::columns::Row;

/// Rows of a table are counted so many at a time.
const PIECE: usize = 4_096;

/// The values of the columns of a trace that may be null.
#[derive(Default)]
pub(super) struct Losses {
    jobs: Values<JobRow>,
    tasks: Values<TaskRow>,
    attempts: Values<AttemptRow>,
    splits: Values<SplitRow>,
    counters: Values<CounterRow>,
    counted: BTreeMap<String, u64>,
}

/// Rows of a table that are not counted yet.
struct Values<R: Row> {
    builders: R::Builders,
    rows: usize,
}

impl<R: Row> Default for Values<R> {
    fn default() -> Self {
        Self { builders: R::Builders::default(), rows: 0 }
    }
}

impl<R: Row> Values<R> {
    fn add(&mut self, row: &R, counted: &mut BTreeMap<String, u64>) {
        row.append(&mut self.builders);
        self.rows += 1;
        if self.rows == PIECE {
            self.count(counted);
        }
    }

    fn count(&mut self, counted: &mut BTreeMap<String, u64>) {
        self.rows = 0;
        for (field, column) in R::schema().fields().iter().zip(R::finish(&mut self.builders)) {
            let values = values(&column);
            // What every row has is the frame of the table, and no format lacks it.
            if values > 0 && (field.is_nullable() || matches!(field.data_type(), DataType::List(_))) {
                *counted.entry(format!("{}.{}", R::TABLE, field.name())).or_default() += values;
            }
        }
    }
}

/// How many rows of a column have a value, or a list with one.
fn values(column: &ArrayRef) -> u64 {
    let some = match column.as_list_opt::<i32>() {
        Some(lists) => (0..lists.len()).filter(|&row| lists.value_length(row) > 0).count(),
        None => column.len() - column.logical_null_count(),
    };
    some as u64
}

impl Losses {
    /// Takes the values of a job.
    pub(super) fn add(&mut self, record: &JobRecord) {
        let Self { jobs, tasks, attempts, splits, counters, counted } = self;
        jobs.add(&record.job, counted);
        for task in &record.tasks {
            tasks.add(&task.task, counted);
            task.attempts.iter().for_each(|attempt| attempts.add(attempt, counted));
            task.splits.iter().for_each(|split| splits.add(split, counted));
        }
        record.counters.iter().for_each(|counter| counters.add(counter, counted));
    }

    /// Counts all values as left out but those of the columns that the format keeps.
    pub(super) fn report(mut self, kept: &[&str], output: &mut Output<'_>) {
        let Self { jobs, tasks, attempts, splits, counters, counted } = &mut self;
        jobs.count(counted);
        tasks.count(counted);
        attempts.count(counted);
        splits.count(counted);
        counters.count(counted);
        counted.retain(|column, _| !kept.contains(&column.as_str()));
        output.exported.left_out.append(counted);
    }
}
