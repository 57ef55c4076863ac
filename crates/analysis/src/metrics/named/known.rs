//! The metrics that have a name.

use super::evaluate::Measured;

/// A metric with a name.
#[derive(Debug)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// Its name for people, short enough for an axis.
    pub title: &'static str,
    /// When it is unknown.
    pub null: &'static str,
    pub(super) way: Way,
}

/// How a metric with a name is computed.
#[derive(Debug)]
pub(super) enum Way {
    /// By an expression of the grammar.
    Text(&'static str),
    /// From the whole run.
    Run(OfRun),
}

/// A number of the whole run.
#[derive(Debug)]
pub(super) struct OfRun {
    pub(super) unit: &'static str,
    pub(super) less_is_better: bool,
    /// What it is.
    pub(super) meaning: &'static str,
    pub(super) of: fn(&Measured<'_>) -> Option<f64>,
}

impl Known {
    /// What it is: an expression of the grammar in backquotes, or a sentence.
    pub fn meaning(&self) -> String {
        match &self.way {
            Way::Text(text) => format!("`{text}`"),
            Way::Run(run) => run.meaning.to_owned(),
        }
    }
}

const fn short(name: &'static str, title: &'static str, text: &'static str) -> Known {
    Known { name, title, null: "no job that counts has one", way: Way::Text(text) }
}

/// A share or a number of the whole run, of which more is better.
const fn more(
    name: &'static str,
    title: &'static str,
    (meaning, null): (&'static str, &'static str),
    of: fn(&Measured<'_>) -> Option<f64>,
) -> Known {
    Known { name, title, null, way: Way::Run(OfRun { unit: "", less_is_better: false, meaning, of }) }
}

/// All metrics that have a name. Times are in ms.
pub const KNOWN: &[Known] = &[
    short("mean_completion", "Mean completion time", "mean(completion)"),
    short("median_completion", "Median completion time", "median(completion)"),
    short("p95_completion", "Completion time, p95", "p95(completion)"),
    short("mean_completion_small", "Completion, small jobs", "mean(completion) where size = 'small'"),
    short("mean_completion_large", "Completion, large jobs", "mean(completion) where size = 'large'"),
    short("mean_waiting", "Mean waiting time", "mean(waiting)"),
    short("p95_waiting", "Waiting time, p95", "p95(waiting)"),
    short("mean_starvation", "Mean starvation time", "mean(starvation)"),
    Known {
        name: "makespan",
        title: "Makespan",
        null: "no job has ended",
        way: Way::Run(OfRun {
            unit: "ms",
            less_is_better: true,
            meaning: "From the first submission to the last end of a job.",
            of: |run| run.summary().makespan_ms.map(|ms| ms as f64),
        }),
    },
    short("mean_slowdown", "Mean slowdown", "mean(slowdown)"),
    short("mean_bounded_slowdown", "Mean bounded slowdown", "mean(bounded_slowdown)"),
    more(
        "node_locality",
        "Node-local maps, share",
        (
            "The share of map launches on a node that holds the input.",
            "no map with a known place of its input was launched",
        ),
        |run| {
            let counts = run.summary().locality?;
            Some(counts.node as f64 / (counts.node + counts.rack + counts.off) as f64)
        },
    ),
    more("map_utilisation", "Map slots used, share", ("`map_utilisation` of the details.", "as there"), |run| {
        run.details().map_utilisation
    }),
    more(
        "reduce_utilisation",
        "Reduce slots used, share",
        ("`reduce_utilisation` of the details.", "as there"),
        |run| run.details().reduce_utilisation,
    ),
    more("cpu_utilisation", "Processor held, share", ("`cpu_utilisation` of the details.", "as there"), |run| {
        run.details().cpu_utilisation
    }),
    more("memory_utilisation", "Memory held, share", ("`memory_utilisation` of the details.", "as there"), |run| {
        run.details().memory_utilisation
    }),
    more("fairness", "Jain's index, mean", ("`mean_jain_index` of the details.", "as there"), |run| {
        run.details().mean_jain_index
    }),
    more("user_fairness", "Jain's index of users", ("`user_fairness` of the details.", "as there"), |run| {
        run.details().user_fairness
    }),
    more("jobs_per_hour", "Jobs per hour", ("`jobs_per_hour` of the details.", "as there"), |run| {
        run.details().jobs_per_hour
    }),
    Known { null: "never", ..short("jobs_finished", "Jobs that ended well", "count()") },
    short("evictions", "Attempts evicted", "sum(evictions)"),
];
