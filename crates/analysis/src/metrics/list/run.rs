//! The numbers of a run.

use resched_tables::model::TaskKind;

use super::Better;
use crate::metrics::{expense, whole};
use crate::runs::compared::Compared;

/// A number of a run.
#[derive(Debug, Clone, Copy)]
pub struct Number {
    /// Its word in the grammar; empty if it has none. Sweeps have a column of every word.
    pub name: &'static str,
    /// Its name in [`crate::Summary`], [`crate::Details`] and `report.json`.
    pub field: &'static str,
    /// Its name for people, short enough for an axis.
    pub title: &'static str,
    /// Its row in the main table of a report, if it has one.
    pub row: Option<Row>,
    pub(in crate::metrics) null: &'static str,
    pub(crate) way: Way,
}

/// A row of the main table of a report.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Its heading.
    pub title: &'static str,
    /// What its values are.
    pub form: Form,
}

/// What the values of a row are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Whole numbers; unknown is 0.
    Count,
    /// Times, ms.
    Time,
    /// Shares from 0 to 1.
    Share,
    /// Numbers with so many decimals.
    Decimals(usize),
}

/// How a number is computed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Way {
    /// By an expression of the grammar.
    Text(&'static str),
    /// From the timelines, the cluster or the standing of jobs, which the grammar has no words for.
    Run(OfRun),
}

/// A number that is computed from the whole run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfRun {
    pub(crate) better: Better,
    pub(crate) unit: &'static str,
    pub(crate) of: fn(&dyn Compared) -> Option<f64>,
}

impl Number {
    const fn row(self, title: &'static str, form: Form) -> Self {
        Self { row: Some(Row { title, form }), ..self }
    }

    const fn field(self, field: &'static str) -> Self {
        Self { field, ..self }
    }

    const fn null_if(self, null: &'static str) -> Self {
        Self { null, ..self }
    }

    /// In this unit, for a number that is computed from the whole run.
    const fn unit(self, unit: &'static str) -> Self {
        match self.way {
            Way::Run(number) => Self { way: Way::Run(OfRun { unit, ..number }), ..self },
            Way::Text(_) => self,
        }
    }

    /// Without a word: sweeps have no column of it.
    const fn wordless(self) -> Self {
        Self { name: "", ..self }
    }
}

const fn by(name: &'static str, title: &'static str, text: &'static str) -> Number {
    Number { name, field: name, title, null: "no job that counts has one", row: None, way: Way::Text(text) }
}

const fn of(name: &'static str, title: &'static str, better: Better, of: fn(&dyn Compared) -> Option<f64>) -> Number {
    Number { name, field: name, title, null: "", row: None, way: Way::Run(OfRun { better, unit: "", of }) }
}

/// When a share of map launches is unknown.
const NO_PLACE: &str = "no map with a known place of its input was launched";

/// All numbers of a run, in the order of columns and rows. Times are in ms.
pub const NUMBERS: &[Number] = &[
    by("mean_completion", "Mean completion time", "mean(completion)")
        .field("mean_completion_ms")
        .row("Completion time, mean", Form::Time),
    by("median_completion", "Median completion time", "median(completion)")
        .field("median_completion_ms")
        .row("Completion time, median", Form::Time),
    by("p95_completion", "Completion time, p95", "p95(completion)")
        .field("p95_completion_ms")
        .row("Completion time, p95", Form::Time),
    by("mean_completion_small", "Completion, small jobs", "mean(completion) where size = 'small'"),
    by("mean_completion_large", "Completion, large jobs", "mean(completion) where size = 'large'"),
    by("mean_waiting", "Mean waiting time", "mean(waiting)")
        .field("mean_waiting_ms")
        .row("Waiting time, mean", Form::Time),
    by("p95_waiting", "Waiting time, p95", "p95(waiting)").field("p95_waiting_ms").row("Waiting time, p95", Form::Time),
    by("mean_starvation", "Mean starvation time", "mean(starvation)")
        .field("mean_starvation_ms")
        .row("Starvation time, mean", Form::Time),
    by("makespan", "Makespan", "max(finish) - min(submit)").field("makespan_ms").row("Makespan", Form::Time),
    by("mean_slowdown", "Mean slowdown", "mean(slowdown)").row("Slowdown, mean", Form::Decimals(2)),
    by("mean_bounded_slowdown", "Mean bounded slowdown", "mean(bounded_slowdown)")
        .row("Bounded slowdown, mean", Form::Decimals(2)),
    by(
        "node_locality",
        "Node-local maps, share",
        "sum(node_local) / (sum(node_local) + sum(rack_local) + sum(off_rack))",
    )
    .field("node_local")
    .null_if(NO_PLACE)
    .row("Maps node-local", Form::Share),
    by("rack_local", "Rack-local maps, share", "sum(rack_local) / (sum(node_local) + sum(rack_local) + sum(off_rack))")
        .wordless()
        .null_if(NO_PLACE)
        .row("Maps rack-local", Form::Share),
    by("off_rack", "Off-rack maps, share", "sum(off_rack) / (sum(node_local) + sum(rack_local) + sum(off_rack))")
        .wordless()
        .null_if(NO_PLACE)
        .row("Maps off-rack", Form::Share),
    of("map_utilisation", "Map slots used, share", Better::Neither, |run| whole::slots_used(run.run()?, TaskKind::Map))
        .row("Map slots used", Form::Share),
    of("reduce_utilisation", "Reduce slots used, share", Better::Neither, |run| {
        whole::slots_used(run.run()?, TaskKind::Reduce)
    })
    .row("Reduce slots used", Form::Share),
    of("cpu_utilisation", "Processor held, share", Better::Neither, |run| whole::processor_held(run.run()?))
        .row("Processor held", Form::Share),
    of("memory_utilisation", "Memory held, share", Better::Neither, |run| whole::memory_held(run.run()?))
        .row("Memory held", Form::Share),
    of("gpu_utilisation", "GPUs held, share", Better::Neither, |run| whole::gpus_held(run.run()?))
        .row("GPUs held", Form::Share),
    of("fairness", "Jain's index, mean", Better::More, |run| whole::mean_jain_index(run.run()?))
        .field("mean_jain_index")
        .row("Jain's index, mean", Form::Decimals(3)),
    by("user_fairness", "Jain's index of users", "jain(mean(bounded_slowdown) by user)")
        .row("Jain's index of users", Form::Decimals(3)),
    by("mean_queue_length", "Jobs waiting, mean", "sum(in_queue) / makespan")
        .wordless()
        .row("Jobs waiting, mean", Form::Decimals(2)),
    by("jobs_per_hour", "Jobs per hour", "count() * 1h / makespan").row("Jobs per hour", Form::Decimals(1)),
    of("jobs_finished", "Jobs that ended well", Better::Neither, |run| Some(whole::ended_well(run) as f64))
        .wordless()
        .row("Jobs that ended well", Form::Count),
    by("jobs_finished", "Jobs that ended well", "count()").field("jobs_counted").row("Jobs that count", Form::Count),
    by("tasks", "Tasks done", "sum(tasks)").wordless().row("Tasks done", Form::Count),
    by("evictions", "Attempts evicted", "sum(evictions)"),
    of("cost", "Cost", Better::Less, |run| expense::cost(run.run()?)).row("Cost", Form::Decimals(2)),
    of("energy", "Energy", Better::Less, |run| expense::energy_kwh(run.run()?))
        .field("energy_kwh")
        .unit("kWh")
        .row("Energy, kWh", Form::Decimals(1)),
    of("co2", "CO2", Better::Less, |run| expense::co2_kg(run.run()?))
        .field("co2_kg")
        .unit("kg")
        .row("CO2, kg", Form::Decimals(1)),
];
