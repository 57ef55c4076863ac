//! The jobs of a run as a DataFrame of polars.

use polars::prelude::{Column, DataFrame, IntoColumn, IntoSeries, PlSmallStr, PolarsResult, Series};

use super::list::QUANTITIES;
use super::named::attribute::{Attribute, Value};
use super::named::columns::Columns;
use super::named::{ATTRIBUTES, Sizes};
use crate::{JobMetrics, Run};

impl Run {
    /// The jobs of the run as a DataFrame of polars, for your own analysis: a row for each job, in the order of the jobs table, whether it
    /// counts or not. The columns are the attributes and then the quantities that expressions such as
    /// `p95(completion) where queue = 'adhoc'` name ([`ATTRIBUTES`], [`QUANTITIES`]), and `standing`, which is `counts` for the jobs of
    /// all numbers. A priority that is a number is the column `priority_number`. Unknown is null, and times are in ms.
    ///
    /// ```
    /// use resched_analysis::Run;
    /// use resched_analysis::polars::prelude::*;
    /// use resched_tables::model::{JobRow, Outcome};
    /// use resched_tables::run::{RunInfo, RunTables};
    ///
    /// # fn main() -> PolarsResult<()> {
    /// let job = |id: &str, queue: &str, finish| JobRow {
    ///     job_id: id.to_owned(),
    ///     queue: Some(queue.to_owned()),
    ///     submit: Some(0),
    ///     finish: Some(finish),
    ///     outcome: Outcome::Success,
    ///     ..JobRow::default()
    /// };
    /// let jobs = vec![job("a", "adhoc", 10_000), job("b", "prod", 60_000), job("c", "adhoc", 30_000)];
    /// let run = Run::of_rows(RunInfo::default(), RunTables { jobs, ..RunTables::default() });
    ///
    /// let frame = run.jobs_frame()?;
    /// let adhoc = frame.column("queue")?.str()?.equal("adhoc");
    /// let completion = frame.filter(&adhoc)?.column("completion")?.f64()?.clone();
    /// assert_eq!((completion.mean(), completion.max()), (Some(20_000.0), Some(30_000.0)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of polars, if two columns have one name.
    pub fn jobs_frame(&self) -> PolarsResult<DataFrame> {
        let jobs: Vec<&JobMetrics> = self.jobs.iter().collect();
        let columns = Columns { jobs: &jobs, sizes: Sizes::of(self), clock: self.clock() };
        let attributes = ATTRIBUTES.iter().flat_map(|own| of_attribute(&columns, own));
        let standing = columns.text(|job| Some(job.standing.as_str())).into_series();
        let quantities = QUANTITIES.iter().map(|own| named(columns.number(own.of).into_series(), own.name));
        let all: Vec<Column> = attributes.chain([named(standing, "standing")]).chain(quantities).collect();
        DataFrame::new(jobs.len(), all)
    }
}

/// The columns of an attribute.
fn of_attribute(columns: &Columns<'_, '_>, own: &Attribute) -> Vec<Column> {
    let clock = columns.clock;
    match own.value {
        Value::Text(of) => vec![named(columns.text(of).into_series(), own.name)],
        Value::Number(of, _) => vec![named(columns.number(|job| of(job, clock)).into_series(), own.name)],
        Value::Either(text, number) => vec![
            named(columns.text(text).into_series(), own.name),
            named(columns.number(|job| number(job, clock)).into_series(), &format!("{}_number", own.name)),
        ],
        Value::Class(..) => vec![named(columns.classes().into_series(), own.name)],
    }
}

fn named(mut series: Series, name: &str) -> Column {
    series.rename(PlSmallStr::from_str(name));
    series.into_column()
}
