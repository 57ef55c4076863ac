//! The table of policies and metrics: the best value of each metric is marked, and what may be chance is grey.

use resched_analysis::statistics::compare::Comparison;
use resched_analysis::statistics::distribution::mean;
use resched_analysis::statistics::practical::{Matters, Ratio};
use resched_analysis::{Details, LocalityCounts, Summary};
use resched_tables::words::count;
use serde_json::{Map, Value, json};

use crate::answer::{Answer, Policy};
use crate::page::frame::UNKNOWN;
use crate::page::units::{alike, number, percent, times};

/// The most policies side by side. Further ones have a table of their own, so that no table is wider than a sheet of paper.
const MOST_COLUMNS: usize = 8;

/// What the values of a measure are.
#[derive(Clone, Copy)]
enum Form {
    Count,
    Time,
    Share,
    Number(usize),
}

/// Which value of a measure is the best.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Best {
    Least,
    Most,
    /// None is better than another.
    Neither,
}

/// Which comparison tests a measure: the metric of a job, and the ratio in question.
type Tested = (&'static str, fn(&Comparison) -> Option<Ratio>);

/// A row of the table. Its name is that in `report.json`.
struct Measure {
    name: &'static str,
    title: &'static str,
    form: Form,
    best: Best,
    of: fn(&Summary, &Details) -> Option<f64>,
    tested: Option<Tested>,
}

impl Measure {
    const fn new(
        (name, title): (&'static str, &'static str),
        form: Form,
        best: Best,
        of: fn(&Summary, &Details) -> Option<f64>,
    ) -> Self {
        Self { name, title, form, best, of, tested: None }
    }

    const fn tested(self, metric: &'static str, ratio: fn(&Comparison) -> Option<Ratio>) -> Self {
        Self { tested: Some((metric, ratio)), ..self }
    }
}

/// The rows, from the top.
const MEASURES: &[Measure] = &[
    Measure::new(("mean_completion_ms", "Completion time, mean"), Form::Time, Best::Least, |s, _| s.mean_completion_ms)
        .tested("completion", |found| found.ratio_of_means),
    Measure::new(("median_completion_ms", "Completion time, median"), Form::Time, Best::Least, |s, _| {
        s.median_completion_ms
    })
    .tested("completion", |found| found.ratio_of_p50),
    Measure::new(("p95_completion_ms", "Completion time, p95"), Form::Time, Best::Least, |s, _| s.p95_completion_ms)
        .tested("completion", |found| found.ratio_of_p95),
    Measure::new(("mean_waiting_ms", "Waiting time, mean"), Form::Time, Best::Least, |s, _| s.mean_waiting_ms)
        .tested("waiting", |found| found.ratio_of_means),
    Measure::new(("p95_waiting_ms", "Waiting time, p95"), Form::Time, Best::Least, |s, _| s.p95_waiting_ms)
        .tested("waiting", |found| found.ratio_of_p95),
    Measure::new(("mean_starvation_ms", "Starvation time, mean"), Form::Time, Best::Least, |s, _| s.mean_starvation_ms),
    Measure::new(("makespan_ms", "Makespan"), Form::Time, Best::Least, |s, _| s.makespan_ms.map(|ms| ms as f64)),
    Measure::new(("mean_slowdown", "Slowdown, mean"), Form::Number(2), Best::Least, |_, d| d.mean_slowdown),
    Measure::new(("mean_bounded_slowdown", "Bounded slowdown, mean"), Form::Number(2), Best::Least, |_, d| {
        d.mean_bounded_slowdown
    }),
    Measure::new(("user_fairness", "Jain's index of users"), Form::Number(3), Best::Most, |_, d| d.user_fairness),
    Measure::new(("mean_jain_index", "Jain's index, mean"), Form::Number(3), Best::Most, |_, d| d.mean_jain_index),
    Measure::new(("mean_queue_length", "Jobs waiting, mean"), Form::Number(2), Best::Least, |_, d| d.mean_queue_length),
    Measure::new(("jobs_per_hour", "Jobs per hour"), Form::Number(1), Best::Most, |_, d| d.jobs_per_hour),
    Measure::new(("node_local", "Maps node-local"), Form::Share, Best::Most, |s, _| share(s, |maps| maps.node)),
    Measure::new(("rack_local", "Maps rack-local"), Form::Share, Best::Neither, |s, _| share(s, |maps| maps.rack)),
    Measure::new(("off_rack", "Maps off-rack"), Form::Share, Best::Least, |s, _| share(s, |maps| maps.off)),
    Measure::new(("map_utilisation", "Map slots used"), Form::Share, Best::Neither, |_, d| d.map_utilisation),
    Measure::new(("reduce_utilisation", "Reduce slots used"), Form::Share, Best::Neither, |_, d| d.reduce_utilisation),
    Measure::new(("cpu_utilisation", "Processor held"), Form::Share, Best::Neither, |_, d| d.cpu_utilisation),
    Measure::new(("memory_utilisation", "Memory held"), Form::Share, Best::Neither, |_, d| d.memory_utilisation),
    Measure::new(("jobs_finished", "Jobs that ended well"), Form::Count, Best::Neither, |s, _| {
        Some(s.jobs_finished as f64)
    }),
    Measure::new(("jobs_counted", "Jobs that count"), Form::Count, Best::Neither, |s, _| Some(s.jobs_counted as f64)),
    Measure::new(("tasks", "Tasks done"), Form::Count, Best::Neither, |s, _| Some(s.tasks as f64)),
];

/// The share of the launched maps.
fn share(summary: &Summary, of: fn(&LocalityCounts) -> u64) -> Option<f64> {
    let maps = summary.locality?;
    Some(of(&maps) as f64 / (maps.node + maps.rack + maps.off) as f64)
}

/// A cell of the table.
pub(crate) struct Cell {
    pub(crate) text: String,
    /// Whether no other policy is better, and that is not chance.
    pub(crate) best: bool,
    /// Whether the difference from the baseline may be chance.
    pub(crate) chance: bool,
}

/// A row: its name, and a cell for each policy.
pub(crate) struct Row {
    /// Its name in `report.json`, for the script of the page.
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) cells: Vec<Cell>,
}

/// A part of the table: some policies, side by side.
pub(crate) struct Part {
    pub(crate) labels: Vec<String>,
    pub(crate) grades: Vec<&'static str>,
    pub(crate) rows: Vec<Row>,
}

/// The table, in parts of few policies. Measures that no policy has are left out.
pub(crate) fn overview(answer: &Answer) -> Vec<Part> {
    let rows: Vec<Row> = own_rows(answer).chain(further_rows(answer)).collect();
    let grade = |policy: &Policy| {
        let runs = policy.runs.iter().filter_map(|run| answer.runs.get(*run)?.replay());
        runs.map(|info| info.validity.grade()).max().map_or(UNKNOWN, |grade| grade.in_words())
    };
    let mut rows = rows.into_iter().map(|row| (row.name, row.title, row.cells.into_iter())).collect::<Vec<_>>();
    let part = |policies: &[Policy]| Part {
        labels: policies.iter().map(|policy| policy.label.clone()).collect(),
        grades: policies.iter().map(grade).collect(),
        rows: rows
            .iter_mut()
            .map(|(name, title, cells)| Row {
                name: name.clone(),
                title: title.clone(),
                cells: cells.take(policies.len()).collect(),
            })
            .collect(),
    };
    answer.policies.chunks(MOST_COLUMNS).map(part).collect()
}

fn own_rows(answer: &Answer) -> impl Iterator<Item = Row> {
    MEASURES.iter().filter_map(|measure| {
        let values = of_policies(answer, |run| answer.summaries.get(run).and_then(|(s, d)| (measure.of)(s, d)));
        let known = values.iter().any(Option::is_some);
        let texts = in_words(measure.form, &values);
        known.then(|| row(answer, [measure.name, measure.title], &values, texts, (measure.best, measure.tested)))
    })
}

/// The rows of the metrics that were asked for.
fn further_rows(answer: &Answer) -> impl Iterator<Item = Row> {
    answer.metrics.iter().map(|(metric, of_runs)| {
        let values = of_policies(answer, |run| of_runs.get(run).copied().flatten());
        let best = if metric.less_is_better { Best::Least } else { Best::Most };
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
        Form::Number(decimals) => values.iter().map(|value| number(*value, decimals)).collect(),
    }
}

fn row(
    answer: &Answer,
    [name, title]: [&str; 2],
    values: &[Option<f64>],
    texts: Vec<String>,
    (best, tested): (Best, Option<Tested>),
) -> Row {
    let is_tested = tested.is_some() && answer.is_answerable();
    let ratios: Vec<Option<Ratio>> = answer.policies.iter().map(|policy| ratio(answer, policy, tested)).collect();
    // One job shows nothing about others.
    let best = if answer.population.jobs > 1 { best } else { Best::Neither };
    let best = best_of((values, &texts), &ratios, best, tested.map(|_| answer.baseline), answer.matters);
    let cells = texts.into_iter().enumerate().map(|(place, text)| Cell {
        text,
        best: best == Some(place),
        chance: is_tested && place != answer.baseline && ratios.get(place).is_none_or(may_be_chance),
    });
    Row { name: name.to_owned(), title: title.to_owned(), cells: cells.collect() }
}

/// The ratio of a policy to the baseline in a measure that is tested.
fn ratio(answer: &Answer, policy: &Policy, tested: Option<Tested>) -> Option<Ratio> {
    let (metric, ratio) = tested?;
    let found = answer.compared.iter().find(|row| row.metric == metric && row.policy == policy.label)?;
    ratio(&found.found)
}

/// Whether a policy differs from the baseline beyond chance.
fn is_certain(ratio: &Option<Ratio>) -> bool {
    ratio.is_some_and(Ratio::is_certain)
}

/// Whether a test found no difference. What vanishes has no ratio to test, which is no reason to call it chance.
fn may_be_chance(ratio: &Option<Ratio>) -> bool {
    !is_certain(ratio) && !ratio.is_some_and(Ratio::vanishes)
}

/// The place of the best value, if it looks better than all others. A measure that is tested against a baseline has a best value only if
/// that is certain: the best differs from the baseline, or the baseline from all others. A measure without a test has one only if it is
/// better than all others by an amount that matters.
fn best_of(
    (values, texts): (&[Option<f64>], &[String]),
    ratios: &[Option<Ratio>],
    best: Best,
    baseline: Option<usize>,
    matters: Matters,
) -> Option<usize> {
    let known: Vec<(usize, f64)> =
        values.iter().enumerate().filter_map(|(place, value)| Some((place, (*value)?))).collect();
    if best == Best::Neither || known.len() < 2 {
        return None;
    }
    let cost = |value: f64| if best == Best::Least { value } else { -value };
    let (place, value) = known.iter().copied().min_by(|one, other| cost(one.1).total_cmp(&cost(other.1)))?;
    let looks_alike = |(other, text): (usize, &String)| other != place && texts.get(place) == Some(text);
    let others = || known.iter().filter(|own| own.0 != place);
    let certain = match baseline {
        None => others().all(|own| (own.1 - value).abs() > matters.share() * own.1.abs().max(value.abs())),
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
        let own = MEASURES.iter().map(|measure| {
            let values = of_policies(answer, |run| answer.summaries.get(run).and_then(|(s, d)| (measure.of)(s, d)));
            (measure.name.to_owned(), json!(values.get(place)))
        });
        let further = answer.metrics.iter().map(|(metric, of_runs)| {
            let values = of_policies(answer, |run| of_runs.get(run).copied().flatten());
            (metric.name.clone(), json!(values.get(place)))
        });
        Value::Object(own.chain(further).collect::<Map<String, Value>>())
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
    fn the_best_is_marked_where_it_is_certain() {
        let best = |values: &[f64], ratios: &[Option<Ratio>], of| {
            let values: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
            let texts: Vec<String> = values.iter().map(|value| number(*value, 1)).collect();
            best_of((&values, &texts), ratios, Best::Least, of, Matters::default())
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
