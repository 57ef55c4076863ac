//! What an answer rests on: the one place where the facts of a comparison are put together.
//!
//! Commands, reports, sweeps and validations ask here, so that the same runs get the same grade whoever looks at them. The facts of each run
//! (`run.json`) come first, then what the runs show together, in what they differ, how far the model is off, and whether the sign holds.

use resched_tables::validity::{Fact, Validity};

use crate::metrics::validity;
use crate::runs::compared::Compared;
use crate::runs::population::Population;
use crate::statistics::sign::{Variants, untested};

/// A comparison, of which the facts are wanted.
#[derive(Debug)]
pub struct Basis<'a, R> {
    /// Its runs, in which only the jobs of the population count.
    pub runs: &'a [R],
    /// The jobs that count in all runs.
    pub population: &'a Population,
    /// In what the runs differ beside their policies.
    pub differences: Vec<Fact>,
    /// Where the model error could hide a difference, or is large.
    pub model_errors: Vec<Fact>,
    /// What the log says of the replay of what ran ([`crate::validation::log::fact`]); `None` if that is no question.
    pub log: Option<Fact>,
    /// Whether the sign was tested.
    pub tested: Tested<'a>,
}

/// Whether the sign of a comparison was tested.
#[derive(Debug)]
pub enum Tested<'a> {
    /// There are no two policies to compare.
    NothingToTest,
    /// In these variants, against the baseline with this label.
    In(&'a Variants, &'a str),
    /// It was not, although there are policies to compare.
    Not,
}

impl<R: Compared> Basis<'_, R> {
    /// The facts of the runs, then those of their comparison, each once.
    pub fn validity(self) -> Validity {
        let mut all = validity::of_runs(self.runs, self.population);
        let signs = match self.tested {
            Tested::NothingToTest => Vec::new(),
            Tested::In(variants, baseline) => variants.facts(baseline),
            Tested::Not => vec![untested()],
        };
        let facts = self.differences.into_iter().chain(self.log).chain(self.model_errors).chain(signs);
        facts.for_each(|fact| all.add(fact));
        all
    }
}

/// The facts about one run by itself, as in a cell of a sweep: nothing is compared.
pub fn of_run<R: Compared>(run: &R) -> Validity {
    validity::of_runs(std::slice::from_ref(run), &Population::of(&[run]))
}
