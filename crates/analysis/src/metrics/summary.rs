//! A run in a few numbers.

use std::collections::BTreeMap;

use resched_tables::measures;
use serde::Serialize;

use crate::metrics::list::{Number, Quantity, quantity};
use crate::metrics::named::{Measured, listed};
use crate::runs::run::Run;

measures! {
    /// Map launches by distance from the input. Every launch counts, also one that later failed.
    pub struct LocalityCounts: Copy + Eq + Default + Serialize {
        /// Launches on a node that holds the input.
        node: u64, unit "maps";
        /// Launches in the rack of such a node.
        rack: u64, unit "maps";
        /// Launches elsewhere.
        off: u64, unit "maps";
    }
}

measures! {
    /// What `replay --json` prints of a run; the wall time is added there. All but `jobs_finished` and `events` is over the jobs
    /// that count.
    pub struct Summary: Serialize {
        /// The name of the policy; `observed` for a trace.
        policy: String;
        /// The parameters of the policy.
        params: BTreeMap<String, String>;
        /// How many jobs ended well.
        jobs_finished: u64, unit "jobs";
        /// How many jobs count: those that were submitted in the window and ended well, in every run that is compared.
        jobs_counted: u64, unit "jobs";
        /// From the first submission to the last end of a job.
        makespan_ms: Option<i64>, unit "ms", null "no job counts";
        /// The mean of `completion`.
        mean_completion_ms: Option<f64>, unit "ms", null "no job counts";
        /// The median of `completion`.
        median_completion_ms: Option<f64>, unit "ms", null "no job counts";
        /// The 95th percentile of `completion`.
        p95_completion_ms: Option<f64>, unit "ms", null "no job counts";
        /// The mean of `waiting`.
        mean_waiting_ms: Option<f64>, unit "ms", null "no job that counts has a waiting time";
        /// The 95th percentile of `waiting`.
        p95_waiting_ms: Option<f64>, unit "ms", null "no job that counts has a waiting time";
        /// The mean of `starvation`.
        mean_starvation_ms: Option<f64>, unit "ms", null "no job that counts has a starvation time", source "Coupling §III-C";
        /// Map launches by distance from the input: `node`, `rack` and `off`.
        locality: Option<LocalityCounts>, unit "maps", null "no map with a known place of its input was launched";
        /// How many tasks were done.
        tasks: u64, unit "tasks";
        /// How many events the engine processed.
        events: Option<u64>, unit "events", null "it is a trace";
    }
}

/// A number of a run as the type of its field.
trait Field {
    fn of(number: Option<f64>) -> Self;
}

impl Field for Option<f64> {
    fn of(number: Option<f64>) -> Self {
        number
    }
}

impl Field for Option<i64> {
    fn of(number: Option<f64>) -> Self {
        number.map(|number| number as i64)
    }
}

impl Field for u64 {
    fn of(number: Option<f64>) -> Self {
        number.map_or(0, |number| number as u64)
    }
}

/// The field of that name, by its formula in the list of metrics.
fn field<T: Field>(run: &Measured<'_>, name: &str) -> T {
    T::of(listed().iter().find(|(number, _)| number.field == name).and_then(|metric| run.number(metric)))
}

/// The words of map launches by distance from the input.
const MAPS: [&str; 3] = ["node_local", "rack_local", "off_rack"];

/// The quantities of jobs that a summary, and a comparison of times, need.
pub(crate) fn quantities() -> Vec<&'static Quantity> {
    let is_in_summary = |number: &Number| Summary::MEASURES.iter().any(|measure| measure.name == number.field);
    let of_numbers =
        listed().iter().filter(|(number, _)| is_in_summary(number)).flat_map(|(_, metric)| metric.quantities());
    let words = ["submit", "finish", "completion", "waiting"].into_iter().chain(MAPS).filter_map(quantity);
    let mut all: Vec<&'static Quantity> = of_numbers.chain(words).collect();
    all.sort_by_key(|quantity| quantity.name);
    all.dedup_by_key(|quantity| quantity.name);
    all
}

impl Summary {
    /// The summary of `run`.
    pub fn of(run: &Run) -> Self {
        Self::measured(&Measured::new(run))
    }

    /// The summary of a run that is measured for more, too.
    pub fn measured(measured: &Measured<'_>) -> Self {
        let run = measured.run();
        let [node, rack, off] = MAPS.map(|word| {
            quantity(word).map_or(0, |quantity| measured.values(quantity).iter().map(|maps| *maps as u64).sum())
        });
        let locality = LocalityCounts { node, rack, off };
        Self {
            policy: run.replay().map_or_else(|| run.label().to_owned(), |info| info.policy.clone()),
            params: run.replay().map(|info| info.params.clone()).unwrap_or_default(),
            jobs_finished: field(measured, "jobs_finished"),
            jobs_counted: field(measured, "jobs_counted"),
            makespan_ms: field(measured, "makespan_ms"),
            mean_completion_ms: field(measured, "mean_completion_ms"),
            median_completion_ms: field(measured, "median_completion_ms"),
            p95_completion_ms: field(measured, "p95_completion_ms"),
            mean_waiting_ms: field(measured, "mean_waiting_ms"),
            p95_waiting_ms: field(measured, "p95_waiting_ms"),
            mean_starvation_ms: field(measured, "mean_starvation_ms"),
            locality: (locality != LocalityCounts::default()).then_some(locality),
            tasks: field(measured, "tasks"),
            events: run.replay().map(|info| info.events),
        }
    }
}

/// Declares fields that are numbers of the list of metrics, all of them.
macro_rules! listed_fields {
    (
        $(#[doc = $about:expr])+
        pub struct $name:ident {
            $(
                $(#[doc = $doc:expr])+
                $field:ident : $type:ty $(, unit $unit:literal)? $(, null $null:literal)? $(, source $source:literal)? ;
            )+
        }
    ) => {
        measures! {
            $(#[doc = $about])+
            pub struct $name: Copy + Default + Serialize {
                $($(#[doc = $doc])+ $field: $type $(, unit $unit)? $(, null $null)? $(, source $source)?;)+
            }
        }

        impl $name {
            /// These numbers of `run`.
            pub fn of(run: &Run) -> Self {
                Self::measured(&Measured::new(run))
            }

            /// These numbers of a run that is measured for more, too.
            pub fn measured(run: &Measured<'_>) -> Self {
                Self { $($field: field(run, stringify!($field)),)+ }
            }
        }
    };
}

listed_fields! {
    /// What a report adds to a [`Summary`].
    pub struct Details {
        /// The mean of `slowdown`.
        mean_slowdown: Option<f64>, null "no job that counts has a slowdown";
        /// The mean of `bounded_slowdown`.
        mean_bounded_slowdown: Option<f64>, null "no job that counts has one", source "Feitelson, Rudolph 1998";
        /// The share of the map slots that was used, over the makespan.
        map_utilisation: Option<f64>, null "the slots are unknown, or no map ran";
        /// The share of the reduce slots that was used, over the makespan.
        reduce_utilisation: Option<f64>, null "the slots are unknown, or no reduce ran";
        /// The share of the machines' processor that tasks held, over the makespan. The machines are those at the start.
        cpu_utilisation: Option<f64>, null "the `cpu_time` of a job or the machines are unknown";
        /// The share of the machines' memory that tasks held, over the makespan.
        memory_utilisation: Option<f64>, null "the `memory_time` of a job or the machines are unknown";
        /// The share of the machines' GPUs that tasks held, over the makespan.
        gpu_utilisation: Option<f64>, null "no machine has a GPU, or the `gpu_time` of a job is unknown";
        /// The mean of Jain's index over time, where `x` is the number of running tasks of each of the `n` jobs in the system:
        /// `(Σx)² / (n·Σx²)`. It is 1 if all jobs run equally many tasks and `1/n` if one runs all.
        mean_jain_index: Option<f64>, null "no task runs", source "Jain, Chiu, Hawe 1984";
        /// Jain's index of the users, where `x` is the mean bounded slowdown of each user's jobs that count. It is 1 if all users are
        /// slowed alike.
        user_fairness: Option<f64>, null "fewer than two users are known", source "Jain, Chiu, Hawe 1984";
        /// The number of jobs that count, divided by the makespan.
        jobs_per_hour: Option<f64>, unit "1/h", null "the makespan is unknown or 0";
        /// What the run costs by the prices of the cluster file (`[price]`), in your currency.
        cost: Option<f64>, null "no price is given, or an amount that a price needs is unknown";
        /// What the machines draw by the cluster file (`[power]`), from the first submission to the last end. It is a model.
        energy_kwh: Option<f64>, unit "kWh", null "no power is given, or an amount that a power needs is unknown";
        /// The CO2 of that energy.
        co2_kg: Option<f64>, unit "kg", null "`power.co2` is not given, or the energy is unknown";
        /// The mean number of jobs that are submitted and have not started a task, over the makespan.
        mean_queue_length: Option<f64>, unit "jobs", null "the makespan is unknown or 0";
    }
}
