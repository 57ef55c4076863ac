//! The table of policies and metrics: the best value of each metric is marked, and what may be chance is grey.

use std::collections::BTreeSet;

use resched_analysis::metrics::list::{Better, Form, Number, Row};
use resched_analysis::metrics::named::{Metric, Tested, listed};
use resched_analysis::statistics::distribution::mean;
use resched_analysis::statistics::practical::{Matters, Ratio};
use resched_tables::words::count;
use serde_json::{Map, Value, json};

use crate::answer::Answer;
use crate::compared::Policy;
use crate::page::frame::UNKNOWN;
use crate::page::units::{alike, number, percent, times};

/// The most policies side by side. Further ones have a table of their own, so that no table is wider than a sheet of paper.
const MOST_COLUMNS: usize = 8;

/// The rows of the list of metrics: each number with its row.
pub(crate) fn listed_rows() -> impl Iterator<Item = (&'static Number, &'static Metric, Row)> {
    listed().iter().filter_map(|(number, metric)| Some((*number, metric, number.row?)))
}

/// A cell of the table.
pub(crate) struct Cell {
    pub(crate) text: String,
    /// True if no other policy is better, and that is not chance.
    pub(crate) best: bool,
    /// What a test says about the difference from the baseline.
    pub(crate) tested: Outcome,
}

/// What a test says about the difference of a policy from the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The difference is significant, or nothing that a test could be about.
    Clear,
    /// The interval holds no difference.
    NotSignificant,
    /// There is no interval: the log is too short, or too few jobs lie beyond a percentile.
    NotTested,
}

impl Outcome {
    /// Of a ratio to the baseline. What vanishes has no ratio to test, which is no reason to call it chance.
    pub(crate) fn of(ratio: Option<Ratio>) -> Self {
        match ratio {
            Some(ratio) if ratio.vanishes() || ratio.is_certain() => Self::Clear,
            Some(Ratio { interval: Some(_), .. }) => Self::NotSignificant,
            _ => Self::NotTested,
        }
    }

    /// The class of a cell or a row on the page; empty if it has none.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Clear => "",
            Self::NotSignificant => "chance",
            Self::NotTested => "untested",
        }
    }

    /// The same for those who do not see colours.
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Self::Clear => "",
            Self::NotSignificant => "not significant",
            Self::NotTested => "not tested",
        }
    }
}

/// A row: its name, and a cell for each policy.
pub(crate) struct TableRow {
    /// Its name in `report.json`, for the script of the page.
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) cells: Vec<Cell>,
}

/// A part of the table: some policies, side by side.
pub(crate) struct Part {
    pub(crate) labels: Vec<String>,
    /// The grade of each policy by its runs alone; empty if that is the same for all, so that a page has one grade.
    pub(crate) grades: Vec<&'static str>,
    pub(crate) rows: Vec<TableRow>,
}

/// The table, in parts of few policies. Measures that no policy has are left out.
pub(crate) fn overview(answer: &Answer) -> Vec<Part> {
    let rows: Vec<TableRow> = own_rows(answer).chain(further_rows(answer)).collect();
    let grade = |policy: &Policy| {
        let runs = policy.runs.iter().filter_map(|run| answer.runs.get(*run)?.replay());
        runs.map(|info| info.validity.grade()).max().map_or(UNKNOWN, |grade| grade.in_words())
    };
    let mut rows = rows.into_iter().map(|row| (row.name, row.title, row.cells.into_iter())).collect::<Vec<_>>();
    let differ = answer.policies.iter().map(grade).collect::<BTreeSet<_>>().len() > 1;
    let part = |policies: &[Policy]| Part {
        labels: policies.iter().map(|policy| policy.label.clone()).collect(),
        grades: policies.iter().filter(|_| differ).map(grade).collect(),
        rows: rows
            .iter_mut()
            .map(|(name, title, cells)| TableRow {
                name: name.clone(),
                title: title.clone(),
                cells: cells.take(policies.len()).collect(),
            })
            .collect(),
    };
    answer.policies.chunks(MOST_COLUMNS).map(part).collect()
}

fn own_rows(answer: &Answer) -> impl Iterator<Item = TableRow> {
    listed_rows().filter_map(|(number, metric, listed)| {
        let values = of_number(answer, number, listed.form);
        let known = values.iter().any(Option::is_some);
        let texts = in_words(listed.form, &values);
        known.then(|| {
            row(
                answer,
                [number.field, answer.system().says(listed.title)],
                &values,
                texts,
                (metric.better(), metric.tested()),
            )
        })
    })
}

/// A number of each policy.
fn of_number(answer: &Answer, number: &Number, form: Form) -> Vec<Option<f64>> {
    let otherwise = (form == Form::Count).then_some(0.0);
    let of_run = |run: usize| answer.numbers.get(run).and_then(|numbers| *numbers.get(number.field)?).or(otherwise);
    of_policies(answer, of_run)
}

/// The rows of the metrics that were asked for.
fn further_rows(answer: &Answer) -> impl Iterator<Item = TableRow> {
    answer.metrics.iter().map(|(metric, of_runs)| {
        let values = of_policies(answer, |run| of_runs.get(run).copied().flatten());
        let best = if metric.less_is_better { Better::Less } else { Better::More };
        row(answer, [&metric.name, &metric.title], &values, alike(metric, &values), (best, None))
    })
}

/// A value of each policy: the mean over its runs.
fn of_policies(answer: &Answer, of_run: impl Fn(usize) -> Option<f64>) -> Vec<Option<f64>> {
    let of_policy = |policy: &Policy| {
        let values: Vec<f64> = policy.runs.iter().filter_map(|&run| of_run(run)).collect();
        mean(&values)
    };
    answer.policies.iter().map(of_policy).collect()
}

fn in_words(form: Form, values: &[Option<f64>]) -> Vec<String> {
    let each = |word: fn(Option<f64>) -> String| values.iter().map(|value| word(*value)).collect();
    match form {
        Form::Time => times(values),
        Form::Count => each(|value| value.map_or(UNKNOWN.to_owned(), |value| count(value.round() as u64))),
        Form::Share => each(percent),
        Form::Decimals(decimals) => values.iter().map(|value| number(*value, decimals)).collect(),
    }
}

fn row(
    answer: &Answer,
    [name, title]: [&str; 2],
    values: &[Option<f64>],
    texts: Vec<String>,
    (best, tested): (Better, Option<Tested>),
) -> TableRow {
    let is_tested = tested.is_some() && answer.is_answerable();
    let ratios: Vec<Option<Ratio>> = answer.policies.iter().map(|policy| ratio(answer, policy, tested)).collect();
    // One job shows nothing about others.
    let best = if answer.population.jobs > 1 { best } else { Better::Neither };
    let best = best_of((values, &texts), &ratios, best, tested.map(|_| answer.baseline), answer.matters);
    let cells = texts.into_iter().enumerate().map(|(place, text)| Cell {
        text,
        best: best == Some(place),
        tested: match is_tested && place != answer.baseline {
            true => Outcome::of(ratios.get(place).copied().flatten()),
            false => Outcome::Clear,
        },
    });
    TableRow { name: name.to_owned(), title: title.to_owned(), cells: cells.collect() }
}

/// The ratio of a policy to the baseline in a measure that is tested.
fn ratio(answer: &Answer, policy: &Policy, tested: Option<Tested>) -> Option<Ratio> {
    let (metric, ratio) = tested?;
    let found = answer.compared.iter().find(|row| row.metric == metric && row.policy == policy.label)?;
    ratio(&found.found)
}

/// True if a policy differs from the baseline beyond chance.
fn is_certain(ratio: &Option<Ratio>) -> bool {
    ratio.is_some_and(Ratio::is_certain)
}

/// The place of the best value, if it looks better than all others. A measure that is tested against a baseline has a best value only if
/// that is certain: the best differs from the baseline, or the baseline from all others. A measure without a test has one only if it is
/// better than all others by an amount that matters.
fn best_of(
    (values, texts): (&[Option<f64>], &[String]),
    ratios: &[Option<Ratio>],
    best: Better,
    baseline: Option<usize>,
    matters: Matters,
) -> Option<usize> {
    let known: Vec<(usize, f64)> =
        values.iter().enumerate().filter_map(|(place, value)| Some((place, (*value)?))).collect();
    if best == Better::Neither || known.len() < 2 {
        return None;
    }
    let cost = |value: f64| if best == Better::Less { value } else { -value };
    let (place, value) = known.iter().copied().min_by(|one, other| cost(one.1).total_cmp(&cost(other.1)))?;
    let looks_alike = |(other, text): (usize, &String)| other != place && texts.get(place) == Some(text);
    let others = || known.iter().filter(|other| other.0 != place);
    let certain = match baseline {
        None => others().all(|other| (other.1 - value).abs() > matters.share() * other.1.abs().max(value.abs())),
        Some(baseline) if baseline == place => {
            ratios.iter().enumerate().all(|(other, ratio)| other == baseline || is_certain(ratio))
        }
        Some(_) => ratios.get(place).is_some_and(is_certain),
    };
    (certain && !texts.iter().enumerate().any(looks_alike)).then_some(place)
}

/// The means of a policy's runs by name, for `report.json`.
pub(crate) fn means(answer: &Answer) -> Vec<Value> {
    let of = |place: usize| {
        let listed = listed_rows().map(|(number, _, listed)| {
            (number.field.to_owned(), json!(of_number(answer, number, listed.form).get(place)))
        });
        let further = answer.metrics.iter().map(|(metric, of_runs)| {
            let values = of_policies(answer, |run| of_runs.get(run).copied().flatten());
            (metric.name.clone(), json!(values.get(place)))
        });
        Value::Object(listed.chain(further).collect::<Map<String, Value>>())
    };
    (0..answer.policies.len()).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_value(value: f64, half: f64) -> Option<Ratio> {
        Some(Ratio { interval: Some([value - half, value + half]), ..Ratio::bare(value) })
    }

    #[test]
    fn what_was_not_tested_is_not_called_insignificant() {
        let outcomes = [of_value(0.8, 0.1), of_value(0.95, 0.1), Some(Ratio::bare(0.05)), Some(Ratio::bare(0.0)), None];
        let [clear, chance, untested] = [Outcome::Clear, Outcome::NotSignificant, Outcome::NotTested];
        assert_eq!(outcomes.map(Outcome::of), [clear, chance, untested, clear, untested]);
    }

    #[test]
    fn the_best_is_marked_where_it_is_certain() {
        let best = |values: &[f64], ratios: &[Option<Ratio>], of| {
            let values: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
            let texts: Vec<String> = values.iter().map(|value| number(*value, 1)).collect();
            best_of((&values, &texts), ratios, Better::Less, of, Matters::default())
        };
        let [sure, unsure] = [of_value(0.8, 0.1), of_value(0.95, 0.1)];
        assert_eq!(best(&[3.0, 2.0, 2.5], &[], None), Some(1));
        assert_eq!(best(&[3.0, 2.01, 2.02], &[], None), None, "they look alike");
        assert_eq!(best(&[3.0, 2.0, 2.0], &[], None), None, "a tie");
        assert_eq!(best(&[300.0, 299.0], &[], None), None, "no test, and the difference does not matter");
        assert_eq!(best(&[3.0, 2.0], &[None, sure], Some(0)), Some(1));
        assert_eq!(best(&[3.0, 2.9], &[None, unsure], Some(0)), None);
        assert_eq!(best(&[2.0, 3.0, 2.9], &[None, of_value(1.5, 0.1), of_value(1.4, 0.1)], Some(0)), Some(0));
        assert_eq!(best(&[2.0, 3.0, 2.1], &[None, of_value(1.5, 0.1), of_value(1.05, 0.1)], Some(0)), None);
    }
}
