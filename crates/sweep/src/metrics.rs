//! The metrics of a cell. Each is a function of a run.

use resched_analysis::compare::Estimate;
use resched_analysis::distribution::{Distribution, mean};
use resched_analysis::{Details, JobMetrics, Run, Summary};
use resched_policies::nearest;

/// A metric of a run.
#[derive(Debug)]
pub struct Metric {
    /// Its name in a sweep file and in tables.
    pub name: &'static str,
    /// Its name for people, short enough for an axis.
    pub title: &'static str,
    /// Its unit: `ms`, or empty for a plain number or a share from 0 to 1.
    pub unit: &'static str,
    /// How it is computed.
    pub meaning: &'static str,
    /// When it is unknown.
    pub null: &'static str,
    /// Whether less is better.
    pub less_is_better: bool,
    /// The metric of a run; `None` where it is unknown.
    of: fn(&Measured<'_>) -> Option<f64>,
}

/// A run, with numbers that several metrics need.
struct Measured<'a> {
    run: &'a Run,
    summary: Summary,
    details: Details,
    /// Jobs with at most this many tasks are the smaller half.
    small: u64,
    /// Jobs with at least this many tasks are the largest tenth.
    large: u64,
}

impl Measured<'_> {
    fn completions(&self, keep: impl Fn(&JobMetrics) -> bool) -> Distribution {
        let jobs = self.run.finished_jobs().filter(|job| keep(job));
        Distribution::new(jobs.filter_map(|job| job.completion).map(|ms| ms as f64))
    }

    fn values(&self, of: fn(&JobMetrics) -> Option<f64>) -> Distribution {
        Distribution::new(self.run.finished_jobs().filter_map(of))
    }
}

/// The metric of a run.
type Formula = fn(&Measured<'_>) -> Option<f64>;

const fn time(name: &'static str, title: &'static str, meaning: &'static str, of: Formula) -> Metric {
    Metric { name, title, unit: "ms", meaning, null: "no job that counts has one", less_is_better: true, of }
}

const fn share(
    name: &'static str,
    title: &'static str,
    meaning: &'static str,
    null: &'static str,
    of: Formula,
) -> Metric {
    Metric { name, title, unit: "", meaning, null, less_is_better: false, of }
}

/// All metrics. Times are in ms, over the jobs that count. The size of a job is the number of its tasks that were done.
pub const METRICS: &[Metric] = &[
    time("mean_completion", "Mean completion time", "The mean of `completion`.", |m| m.summary.mean_completion_ms),
    time("median_completion", "Median completion time", "The median of `completion`.", |m| {
        m.summary.median_completion_ms
    }),
    time("p95_completion", "Completion time, p95", "The 95th percentile of `completion`.", |m| {
        m.completions(|_| true).quantile(0.95)
    }),
    time(
        "mean_completion_small",
        "Completion, small jobs",
        "The mean of `completion` over the small jobs: those with at most as many tasks as the median job.",
        |m| m.completions(|job| job.tasks_done <= m.small).mean(),
    ),
    time(
        "mean_completion_large",
        "Completion, large jobs",
        "The mean of `completion` over the large jobs: those with at least as many tasks as the last of the tenth with most tasks.",
        |m| m.completions(|job| job.tasks_done >= m.large).mean(),
    ),
    time("mean_waiting", "Mean waiting time", "The mean of `waiting`.", |m| m.summary.mean_waiting_ms),
    time("p95_waiting", "Waiting time, p95", "The 95th percentile of `waiting`.", |m| {
        m.values(|job| job.waiting.map(|ms| ms as f64)).quantile(0.95)
    }),
    time("mean_starvation", "Mean starvation time", "The mean of `starvation`.", |m| m.summary.mean_starvation_ms),
    Metric {
        name: "makespan",
        title: "Makespan",
        unit: "ms",
        meaning: "From the first submission to the last end of a job.",
        null: "no job counts",
        less_is_better: true,
        of: |m| m.summary.makespan_ms.map(|ms| ms as f64),
    },
    Metric {
        name: "mean_slowdown",
        title: "Mean slowdown",
        unit: "",
        meaning: "The mean of `slowdown`.",
        null: "no job that counts has one",
        less_is_better: true,
        of: |m| mean(&m.run.finished_jobs().filter_map(|job| job.slowdown).collect::<Vec<_>>()),
    },
    share(
        "node_locality",
        "Node-local maps, share",
        "The share of map launches on a node that holds the input.",
        "no map was launched",
        |m| {
            let counts = m.summary.locality;
            let all = counts.node + counts.rack + counts.off;
            (all > 0).then(|| counts.node as f64 / all as f64)
        },
    ),
    share("map_utilisation", "Map slots used, share", "`map_utilisation` of the details.", "as there", |m| {
        m.details.map_utilisation
    }),
    share("reduce_utilisation", "Reduce slots used, share", "`reduce_utilisation` of the details.", "as there", |m| {
        m.details.reduce_utilisation
    }),
    share("fairness", "Jain's index, mean", "`mean_jain_index`.", "as there", |m| m.details.mean_jain_index),
    share("jobs_per_hour", "Jobs per hour", "`jobs_per_hour` of the details.", "as there", |m| m.details.jobs_per_hour),
    share("jobs_finished", "Jobs that ended well", "How many jobs ended well.", "never", |m| {
        Some(m.summary.jobs_finished as f64)
    }),
];

impl Metric {
    /// The metric of that name.
    ///
    /// # Errors
    /// If there is none. The error names the nearest metric.
    pub fn named(name: &str) -> Result<&'static Self, String> {
        METRICS.iter().find(|metric| metric.name == name).ok_or_else(|| {
            let known: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
            let hint = nearest(name, known.iter().copied());
            format!("unknown metric `{name}`{hint}; the metrics are {}", known.join(", "))
        })
    }

    /// The value, negated if more is better, so that less is always better.
    pub(crate) fn cost(&self, value: f64) -> f64 {
        if self.less_is_better { value } else { -value }
    }

    /// Its title with the unit of [`Metric::shown`].
    pub(crate) fn axis(&self) -> String {
        if self.unit == "ms" { format!("{} (s)", self.title) } else { self.title.to_owned() }
    }

    /// The value as charts and tables show it: times in seconds.
    pub(crate) fn shown(&self, value: f64) -> f64 {
        if self.unit == "ms" { value / 1e3 } else { value }
    }

    /// A point of a chart at `x`, with its interval.
    pub(crate) fn point(&self, x: f64, found: Estimate) -> (f64, f64, f64, f64) {
        (x, self.shown(found.value), self.shown(found.low), self.shown(found.high))
    }

    /// A value with its unit, for people.
    pub(crate) fn in_words(&self, value: f64) -> String {
        if self.unit == "ms" { format!("{:.1} s", self.shown(value)) } else { format!("{value:.4}") }
    }
}

/// All known metrics of a run, in the order of [`METRICS`].
pub(crate) fn measure(run: &Run) -> Vec<(&'static Metric, f64)> {
    let sizes = Distribution::new(run.finished_jobs().map(|job| job.tasks_done as f64));
    let size = |rank: usize| sizes.values().get(rank).copied().unwrap_or(0.0) as u64;
    let jobs = sizes.values().len();
    let measured = Measured {
        run,
        summary: Summary::of(run),
        details: Details::of(run),
        small: size(jobs.saturating_sub(1) / 2),
        large: size(jobs - jobs.div_ceil(10)),
    };
    METRICS
        .iter()
        .filter_map(|metric| Some((metric, (metric.of)(&measured).filter(|value| value.is_finite())?)))
        .collect()
}
