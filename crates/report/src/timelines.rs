//! What happens over time in each run: the data of the interactive charts, and of `timelines.csv`.

use resched_analysis::Run;
use resched_analysis::metrics::named::SizeBy;
use resched_analysis::time::timeline::{Steps, queue_length};
use resched_tables::model::TaskKind;
use resched_tables::words::{self, csv_cell};
use serde::Serialize;

use crate::Error;
use crate::cells::{Layers, edges};
use crate::charts::running_tasks::Running;
use crate::charts::{delta, own_colours, resources, running_tasks as by_job};
use crate::scene::{Scene, Shown};

/// The most cells of time of a line: more than a screen has pixels. A line with fewer steps is kept as it is.
const CELLS: usize = 2_000;

/// A quantity of each run over time.
#[derive(Debug, Serialize)]
pub(crate) struct Timeline {
    /// Its name in `timelines.csv`.
    pub(crate) name: &'static str,
    /// Its title.
    pub(crate) title: &'static str,
    /// The unit of its values.
    pub(crate) unit: &'static str,
    /// What it shows.
    pub(crate) caption: &'static str,
    /// Edges of the cells of time, ms since the first submission.
    pub(crate) edges: Vec<i64>,
    /// The mean in each cell, by run; empty if a run has none.
    #[serde(serialize_with = "crate::cells::rounded")]
    pub(crate) runs: Vec<Vec<f64>>,
}

/// The running tasks of a kind, or the CPUs held, in each run, by job.
#[derive(Debug, Serialize)]
pub(crate) struct Stack {
    /// Its name in `timelines.csv`.
    pub(crate) name: &'static str,
    /// Its title.
    pub(crate) title: &'static str,
    /// The unit of its values.
    pub(crate) unit: &'static str,
    pub(crate) runs: Vec<Layers>,
}

/// Everything over time.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Timelines {
    pub(crate) lines: Vec<Timeline>,
    /// The numbers of the jobs that have a layer of their own.
    pub(crate) own: Vec<usize>,
    pub(crate) stacks: Vec<Stack>,
}

/// What runs, with its name, title, unit and caption.
type Kind = (Running, &'static str, &'static str, &'static str, &'static str);

/// The kinds of tasks.
const TASKS: &[Kind] = &[
    (Running::Tasks(TaskKind::Map), "running_maps", "Running maps", "tasks", RUNNING),
    (Running::Tasks(TaskKind::Reduce), "running_reduces", "Running reduces", "tasks", RUNNING),
    (Running::Tasks(TaskKind::Other), "running_tasks", "Running tasks", "tasks", RUNNING),
];
/// Where jobs ask for CPUs.
const CPUS: &[Kind] = &[
    (Running::Cpus, "cpus_held", "CPUs held", "CPUs", "The CPUs that the jobs that count hold."),
    (Running::Tasks(TaskKind::Other), "running_tasks", "Running tasks", "tasks", RUNNING),
];
const RUNNING: &str = "Running tasks of the jobs that count.";

impl Timelines {
    /// The timelines of the runs of a scene.
    pub(crate) fn new(scene: &Scene<'_>) -> Self {
        let kinds = match scene.size_by() {
            SizeBy::Tasks => TASKS,
            SizeBy::Cpus => CPUS,
        };
        let running = kinds.iter().filter_map(|&(what, name, title, unit, caption)| {
            let steps = scene.runs.iter().map(|shown| what.steps(shown.run, shown.run.counted_intervals())).collect();
            line(scene, (name, title, unit), caption, steps)
        });
        let waiting = scene.runs.iter().map(|shown| queue_length(&shown.run.jobs)).collect();
        let caption = "Jobs that have been submitted and have not started a task.";
        let queue = line(scene, ("waiting_jobs", "Jobs that wait", "jobs"), caption, waiting);
        let kept = scene.runs.iter().map(|shown| Steps { points: since_zero(shown.run, delta::steps(shown.run)) });
        let delta = line(scene, (delta::CHART.name, delta::CHART.title, "share"), delta::CHART.caption, kept.collect());
        let used = resources::MEASURES.into_iter().zip(["cpu", "io_wait", "disk", "network"]).filter_map(
            |((title, value), name)| {
                let steps = |run: &Run| Steps { points: since_zero(run, resources::means(run, value)) };
                let steps = scene.runs.iter().map(|shown| steps(shown.run)).collect();
                line(scene, (name, title, ""), "Means over all nodes.", steps)
            },
        );
        let lines = queue.into_iter().chain(running).chain(delta).chain(used).collect();
        let largest = own_colours::largest_jobs(scene);
        // The first is what the system counts by.
        let stacked = if kinds == CPUS { &kinds[..1] } else { kinds };
        let stacks = stacked.iter().filter_map(|&(what, name, title, unit, _)| {
            let of_run = |(shown, rows): (&Shown<'_>, &&[usize])| {
                let largest = own_colours::rows_of(&largest, rows);
                by_job::Layers::new(shown.run, what, &largest, i64::MAX).of_jobs()
            };
            let runs: Vec<Layers> = scene.runs.iter().zip(&scene.rows).map(of_run).collect();
            let any = runs.iter().flat_map(|run| &run.jobs).flatten().any(|tasks| *tasks > 0.0);
            any.then_some(Stack { name, title, unit, runs })
        });
        let stacks = stacks.collect();
        Self { lines, own: largest.iter().map(|(number, _)| number + 1).collect(), stacks }
    }

    /// `timelines.csv`: a row for each cell of time. Rows of a job have its number in the order of submission.
    ///
    /// # Errors
    /// [`Error::Draw`] if it cannot be encoded.
    pub(crate) fn csv(&self, labels: &[&str]) -> Result<Vec<u8>, Error> {
        let broken = |error: csv::Error| Error::draw("timelines.csv")(error);
        let mut table = csv::Writer::from_writer(Vec::new());
        table.write_record(["timeline", "run", "job", "from_ms", "to_ms", "mean"]).map_err(broken)?;
        let mut write = |name: &str, label: &str, job: &str, edges: &[i64], values: &[f64]| {
            edges.windows(2).zip(values).try_for_each(|(cell, value)| {
                let &[from, to] = cell else { return Ok(()) };
                let label = words::name(label);
                let label = csv_cell(&label);
                table.write_record([name, &label, job, &from.to_string(), &to.to_string(), &value.to_string()])
            })
        };
        for line in &self.lines {
            for (values, label) in line.runs.iter().zip(labels) {
                write(line.name, label, "", &line.edges, values).map_err(broken)?;
            }
        }
        let jobs: Vec<String> = self.own.iter().map(usize::to_string).chain(["others".to_owned()]).collect();
        for stack in &self.stacks {
            for (layers, label) in stack.runs.iter().zip(labels) {
                for (values, job) in layers.jobs.iter().zip(&jobs) {
                    write(stack.name, label, job, &layers.edges, values).map_err(broken)?;
                }
            }
        }
        table.into_inner().map_err(Error::draw("timelines.csv"))
    }
}

/// Steps that count from the first submission, as they do from the zero of the clock.
fn since_zero(run: &Run, steps: Vec<(i64, f64)>) -> Vec<(i64, f64)> {
    let first = run.jobs.span().map_or(0, |(first, _)| first);
    steps.into_iter().map(|(time, value)| (first.saturating_add(time), value)).collect()
}

/// A quantity over time; `None` if it is nothing in all runs. All runs share their cells, so that they can be read side by side.
fn line(
    scene: &Scene<'_>,
    (name, title, unit): (&'static str, &'static str, &'static str),
    caption: &'static str,
    steps: Vec<Steps>,
) -> Option<Timeline> {
    if steps.iter().all(|steps| steps.max() <= 0.0) {
        return None;
    }
    let spans: Vec<(i64, i64)> = scene.runs.iter().map(|shown| shown.run.jobs.span().unwrap_or((0, 0))).collect();
    let longest = spans.iter().map(|(first, last)| last - first).max().unwrap_or(0);
    let times =
        steps.iter().zip(&spans).flat_map(|(steps, (first, _))| steps.points.iter().map(move |at| at.0 - first));
    let edges = edges(times, longest, CELLS);
    let means = |(steps, (first, _)): (&Steps, &(i64, i64))| {
        let edges_of_run: Vec<i64> = edges.iter().map(|edge| edge.saturating_add(*first)).collect();
        if steps.points.is_empty() { Vec::new() } else { steps.cell_means(&edges_of_run) }
    };
    let runs = steps.iter().zip(&spans).map(means).collect();
    Some(Timeline { name, title, unit, caption, edges, runs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_steps_have_even_cells() {
        assert_eq!(edges([3, 9, 3, 20].into_iter(), 10, 4), [0, 3, 9, 10]);
        assert_eq!(edges([3, 9, 5].into_iter(), 10, 4), [0, 2, 5, 7, 10]);
        assert_eq!(edges(std::iter::empty(), 0, 4), [0]);
    }
}
