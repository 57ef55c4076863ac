//! The value of a metric for a run.
//!
//! What a filter leaves is added up in the order of the jobs, so that a number has the same bits on every machine.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use hashbrown::HashMap;
use resched_tables::standing::Standing;
use statrs::statistics::Statistics;

use super::Metric;
use super::attribute::OUTCOME;
use super::filter::{Context, Filter};
use super::formula::{Aggregate, Formula, Statistic};
use super::sizes::Sizes;
use crate::metrics::list::{Number, Quantity};
use crate::runs::compared::{Compared, rows_among};
use crate::runs::who::Who;
use crate::statistics::distribution::{mean, quantile};
use crate::{JobMetrics, Run};

/// A run, with what several metrics need of it. It is computed once, when a metric first needs it.
pub struct Measured<'a> {
    run: &'a dyn Compared,
    sizes: OnceCell<Sizes>,
    counted: [OnceCell<Vec<&'a JobMetrics>>; 2],
    /// The rows of the jobs that count, and of those that started.
    rows: [OnceCell<Vec<usize>>; 2],
    /// The known values of quantities over all jobs that count, in the order of the jobs.
    values: RefCell<BTreeMap<&'static str, Rc<[f64]>>>,
    /// The numbers of the list that were asked for, by their fields.
    numbers: RefCell<BTreeMap<&'static str, Option<f64>>>,
}

impl<'a> Measured<'a> {
    /// A run to be measured.
    pub fn new(run: &'a Run) -> Self {
        Self::of(run)
    }

    /// A run to be measured, perhaps only an outline: of that, only the metrics of a summary are known.
    pub fn of(run: &'a dyn Compared) -> Self {
        Self {
            run,
            sizes: OnceCell::new(),
            counted: Default::default(),
            rows: Default::default(),
            values: RefCell::default(),
            numbers: RefCell::default(),
        }
    }

    /// The run.
    pub fn run(&self) -> &'a dyn Compared {
        self.run
    }

    /// A number of the list with its metric ([`listed`](super::listed)); `None` if it is unknown for the run.
    pub fn number(&self, (number, metric): &(&'static Number, Metric)) -> Option<f64> {
        let known = self.numbers.borrow().get(number.field).copied();
        known.unwrap_or_else(|| {
            let found = metric.of(self);
            self.numbers.borrow_mut().insert(number.field, found);
            found
        })
    }

    /// The rows of these jobs.
    fn rows(&self, who: Who) -> &[usize] {
        self.rows[who as usize].get_or_init(|| rows_among(self.run, who).collect())
    }

    /// These jobs; none of an outline.
    fn counted(&self, who: Who) -> &[&'a JobMetrics] {
        let of_run = |run: &'a Run| run.jobs.iter().filter(move |job| job.is_among(who));
        self.counted[who as usize].get_or_init(|| self.run.run().into_iter().flat_map(of_run).collect())
    }

    fn context(&self, run: &Run) -> Context {
        Context { sizes: *self.sizes.get_or_init(|| Sizes::of(run)), clock: run.clock() }
    }

    /// The jobs for which the filter holds: of these, or of all of the window if it names the outcome.
    fn jobs(&self, filter: Option<&Filter>, who: Who) -> Cow<'_, [&'a JobMetrics]> {
        let Some((filter, run)) = filter.zip(self.run.run()) else { return Cow::Borrowed(self.counted(who)) };
        let all: Cow<'_, [&'a JobMetrics]> = if filter.names(OUTCOME) {
            run.jobs.iter().filter(|job| job.standing != Standing::OutsideWindow).collect()
        } else {
            Cow::Borrowed(self.counted(who))
        };
        let context = self.context(run);
        all.iter().copied().filter(|job| filter.holds(job, &context) == Some(true)).collect()
    }

    /// The known values of a quantity over the jobs that it is over, in the order of the jobs.
    pub(crate) fn values(&self, quantity: &'static Quantity) -> Rc<[f64]> {
        let made = || {
            let numbers = self.run.numbers(quantity.name);
            self.rows(quantity.who).iter().filter_map(|row| numbers.get(*row)).collect()
        };
        Rc::clone(self.values.borrow_mut().entry(quantity.name).or_insert_with(made))
    }
}

impl Formula {
    pub(super) fn of(&self, run: &Measured<'_>) -> Option<f64> {
        match self {
            Self::Run(number) => (number.of)(run.run()),
            // No number of a whole run is below 0; of clocks that disagree, a difference may be.
            Self::Whole(formula) => formula.of(run).filter(|number| *number >= 0.0),
            Self::Number(number, _) => Some(*number),
            Self::Pair(operator, parts) => {
                let [one, other] = parts.as_ref();
                Some(operator.of(one.of(run)?, other.of(run)?))
            }
            Self::Jobs(Aggregate::Count, None) => Some(run.rows(Who::Ended).len() as f64),
            Self::Jobs(Aggregate::Of(statistic, quantity), None) => statistic.of(&run.values(quantity)),
            Self::Jobs(aggregate, filter) => aggregate.of(&run.jobs(filter.as_ref(), aggregate.who()), run),
            Self::Jain(aggregate, by, filter) => {
                let jobs = run.jobs(filter.as_ref(), aggregate.who());
                let mut groups: HashMap<&str, Vec<&JobMetrics>> = HashMap::new();
                for job in jobs.iter() {
                    if let Some(group) = (by.of)(job) {
                        groups.entry(group).or_default().push(job);
                    }
                }
                let mut groups: Vec<(&str, Vec<&JobMetrics>)> = groups.into_iter().collect();
                groups.sort_unstable_by_key(|group| group.0);
                jain(&groups.iter().filter_map(|(_, jobs)| aggregate.of(jobs, run)).collect::<Vec<_>>())
            }
        }
    }
}

impl Aggregate {
    /// Which jobs it is over.
    fn who(&self) -> Who {
        match self {
            Self::Count | Self::Share(_) => Who::Ended,
            Self::Of(_, quantity) => quantity.who,
        }
    }

    /// The aggregate of some jobs of a run.
    fn of<'a>(&self, jobs: &[&'a JobMetrics], run: &Measured<'a>) -> Option<f64> {
        match self {
            Self::Count => Some(jobs.len() as f64),
            Self::Share(which) => {
                let context = run.context(run.run.run()?);
                let count = jobs.iter().filter(|job| which.holds(job, &context) == Some(true)).count();
                (!jobs.is_empty()).then(|| count as f64 / jobs.len() as f64)
            }
            Self::Of(statistic, quantity) => {
                statistic.of(&jobs.iter().filter_map(|job| (quantity.of)(job)).collect::<Vec<_>>())
            }
        }
    }
}

/// Jain's index of some numbers, `(Σx)² / (n·Σx²)` (Jain, Chiu, Hawe 1984); `None` of fewer than two.
fn jain(numbers: &[f64]) -> Option<f64> {
    let squares: f64 = numbers.iter().map(|x| x * x).sum();
    (numbers.len() > 1).then(|| numbers.iter().sum::<f64>().powi(2) / (numbers.len() as f64 * squares))
}

impl Statistic {
    /// The statistic of a sample; `None` if it has too few values.
    fn of(self, sample: &[f64]) -> Option<f64> {
        if sample.is_empty() {
            return None;
        }
        match self {
            Self::Mean => mean(sample),
            Self::Min => sample.iter().copied().reduce(f64::min),
            Self::Max => sample.iter().copied().reduce(f64::max),
            Self::Sum => Some(sample.iter().sum()),
            Self::Deviation => Some(sample.iter().std_dev()).filter(|deviation| deviation.is_finite()),
            Self::Quantile(share) => quantile(sample, share),
        }
    }
}
