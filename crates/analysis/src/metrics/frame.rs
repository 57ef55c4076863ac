//! The jobs of a run as a DataFrame of polars.

use polars::prelude::{
    Column, DataFrame, Float64Chunked, IntoColumn, IntoSeries, NewChunkedArray, PlSmallStr, PolarsResult, Series,
    StringChunked,
};

use super::list::QUANTITIES;
use super::named::attribute::{Attribute, Value};
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
        let columns = Columns { run: self, sizes: Sizes::of(self) };
        let attributes = ATTRIBUTES.iter().flat_map(|attribute| columns.of_attribute(attribute));
        let standing = columns.texts("standing", |job| Some(job.standing.as_str()));
        let quantities = QUANTITIES.iter().map(|quantity| columns.numbers(quantity.name, quantity.of));
        let all: Vec<Column> = attributes.chain([standing]).chain(quantities).collect();
        DataFrame::new(self.jobs.len(), all)
    }
}

/// Makes columns of the jobs of a run.
struct Columns<'a> {
    run: &'a Run,
    sizes: Sizes,
}

impl Columns<'_> {
    fn texts<'a>(&'a self, name: &str, of: impl Fn(&'a JobMetrics) -> Option<&'a str>) -> Column {
        let values = self.run.jobs.iter().map(of);
        named(StringChunked::from_iter_options(PlSmallStr::EMPTY, values).into_series(), name)
    }

    fn numbers(&self, name: &str, of: impl Fn(&JobMetrics) -> Option<f64>) -> Column {
        let values = self.run.jobs.iter().map(of);
        named(Float64Chunked::from_iter_options(PlSmallStr::EMPTY, values).into_series(), name)
    }

    fn of_attribute(&self, attribute: &Attribute) -> Vec<Column> {
        let clock = self.run.clock();
        match attribute.value {
            Value::Text(of) => vec![self.texts(attribute.name, of)],
            Value::Number(of, _) => vec![self.numbers(attribute.name, |job| of(job, clock))],
            Value::Either(text, number) => vec![
                self.texts(attribute.name, text),
                self.numbers(&format!("{}_number", attribute.name), |job| number(job, clock)),
            ],
            Value::Class(..) => vec![self.texts(attribute.name, |job| Some(self.sizes.class(job)))],
        }
    }
}

fn named(mut series: Series, name: &str) -> Column {
    series.rename(PlSmallStr::from_str(name));
    series.into_column()
}
