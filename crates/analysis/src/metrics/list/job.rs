//! The metrics of a job.

use std::sync::{Arc, LazyLock};

use resched_tables::measures;
use resched_tables::model::{MAPREDUCE, Outcome, Priority};
use resched_tables::standing::Standing;

use super::Better;
use crate::metrics::formulas;
use crate::runs::attempts::OfJob;
use crate::runs::who::Who;

/// A quantity of a job, which metrics aggregate and filters compare.
#[derive(Debug)]
pub struct Quantity {
    /// Its word in the grammar.
    pub name: &'static str,
    /// Its name in [`JobMetrics`] and in tables.
    pub field: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Its unit in the grammar: `ms`, `bytes`, `MB·s`, or empty for a plain number.
    pub unit: &'static str,
    /// What a plain number counts, such as `tasks`; empty for a ratio.
    pub counts: &'static str,
    /// Which values are better.
    pub better: Better,
    /// Whether the page of a report has it.
    pub page: Page,
    /// Which jobs numbers of it are over.
    pub who: Who,
    /// Its value; `None` if it is unknown.
    pub of: fn(&JobMetrics) -> Option<f64>,
}

/// Whether the page of a report has a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// No.
    Absent,
    /// As a number that explains a job.
    Fact,
    /// As a time that charts and tables show by choice.
    Choice,
}

/// What a job that started has, whatever became of it: its waits, and what it took of the cluster.
const OF_STARTED: [&str; 8] =
    ["waiting", "starvation", "queueing", "in_queue", "cpu_time", "memory_time", "gpu_time", "evictions"];

/// The units of the grammar. Other units say what is counted.
const DIMENSIONS: [&str; 3] = ["ms", "bytes", "MB·s"];

impl Quantity {
    fn new(
        [name, field, title, unit]: [&'static str; 4],
        better: Better,
        page: Page,
        of: fn(&JobMetrics) -> Option<f64>,
    ) -> Self {
        let (unit, counts) = if DIMENSIONS.contains(&unit) { (unit, "") } else { ("", unit) };
        let who = if OF_STARTED.contains(&name) { Who::Started } else { Who::Ended };
        Self { name, field, title, unit, counts, better, page, who, of }
    }
}

/// What is known of a job beside its own row: what its attempts add up to, and its launch in the table of jobs, ms.
pub(crate) struct Known<'a> {
    pub(crate) attempts: &'a OfJob,
    pub(crate) launch: Option<i64>,
}

/// A value of a job that may be a quantity.
trait Value {
    fn number(&self) -> Option<f64>;
}

impl Value for Option<i64> {
    fn number(&self) -> Option<f64> {
        self.map(|number| number as f64)
    }
}

impl Value for Option<f64> {
    fn number(&self) -> Option<f64> {
        *self
    }
}

impl Value for i64 {
    fn number(&self) -> Option<f64> {
        Some(*self as f64)
    }
}

impl Value for u32 {
    fn number(&self) -> Option<f64> {
        Some(f64::from(*self))
    }
}

/// Declares the fields of a job. `quantity word "Title" Better Page` makes a field a quantity, and `by` gives its formula, which may use the
/// fields before it.
macro_rules! job_metrics {
    (
        $(#[doc = $about:expr])+
        pub struct $name:ident {
            $(
                $(#[doc = $doc:expr])+
                $field:ident : $type:ty $(, unit $unit:literal)? $(, null $null:literal)? $(, source $source:literal)?
                    $(, quantity $word:ident $title:literal $better:ident $page:ident)? $(, by $formula:expr)? ;
            )+
        }
    ) => {
        measures! {
            $(#[doc = $about])+
            pub struct $name: Default {
                $($(#[doc = $doc])+ $field: $type $(, unit $unit)? $(, null $null)? $(, source $source)?;)+
            }
        }

        impl $name {
            /// Computes the fields that have a formula, in their order.
            pub(crate) fn compute(&mut self, known: &Known<'_>) {
                $($(
                    self.$field = self.by(known, $formula);
                )?)+
            }

            fn by<T>(&self, known: &Known<'_>, formula: fn(&$name, &Known<'_>) -> T) -> T {
                formula(self, known)
            }

            /// The fields that are quantities.
            fn quantities() -> Vec<Quantity> {
                let unit = |field: &str| $name::MEASURES.iter().find(|measure| measure.name == field).map_or("", |measure| measure.unit);
                vec![$($(
                    Quantity::new(
                        [stringify!($word), stringify!($field), $title, unit(stringify!($field))],
                        Better::$better,
                        Page::$page,
                        |job| Value::number(&job.$field),
                    ),
                )?)+]
            }
        }
    };
}

impl JobMetrics {
    /// The CPUs that one of its attempts holds, as a mean: from what its attempts held, or else what it asks for, spread over its tasks.
    /// `None` if neither is known.
    pub fn cpus_of_attempt(&self) -> Option<f64> {
        let held = self.cpu_time.filter(|_| self.slot_time > 0).map(|time| time / self.slot_time as f64);
        held.or_else(|| Some(self.cpus? / f64::from(self.tasks_done.max(1))))
    }

    /// When its waiting begins: when it was submitted, or when it could start, if that is later.
    pub fn begin(&self) -> Option<i64> {
        self.submit.map(|submit| self.eligible.map_or(submit, |eligible| eligible.max(submit)))
    }
}

job_metrics! {
    /// The metrics of a job. [`crate::metrics::formulas`] has the longer formulas.
    pub struct JobMetrics {
        /// The id of the job.
        job_id: String;
        /// The name its user gave it.
        name: Option<Arc<str>>, null "unknown";
        /// Who submitted it.
        user: Option<Arc<str>>, null "unknown";
        /// The queue or pool it was submitted to.
        queue: Option<Arc<str>>, null "unknown";
        /// The Spark application or the user group that it belongs to.
        group: Option<Arc<str>>, null "unknown";
        /// What ran it, such as `mapreduce` or `spark`.
        framework: Option<Arc<str>>, null "unknown";
        /// Its priority, as one of Hadoop's five levels.
        priority: Option<Priority>, null "unknown, or the source has numbers";
        /// Its priority, as a number of the source; larger is served first.
        priority_number: Option<i64>, null "unknown, or the source has words";
        /// Latency sensitivity, as in the source.
        scheduling_class: Option<i64>, null "the source has none";
        /// The bytes that its maps read from the file system.
        input_bytes: Option<i64>, unit "bytes", null "unknown";
        /// The quality of service that it was submitted under (Slurm).
        qos: Option<Arc<str>>, null "unknown";
        /// The CPUs that it asks for: those of the tasks of its largest stage together. In a trace of relative amounts, machines.
        cpus: Option<f64>, unit "CPUs", null "unknown, or the trace or run was written before resched kept it",
            quantity cpus "CPUs asked for" Neither Fact;
        /// The GPUs that it asks for.
        gpus: Option<i64>, unit "GPUs", null "as for `cpus`",
            quantity gpus "GPUs asked for" Neither Fact;
        /// The machines that it asks for.
        nodes: Option<i64>, unit "nodes", null "as for `cpus`, or any number will do",
            quantity nodes "Nodes asked for" Neither Fact;
        /// The memory that it asks for.
        memory: Option<i64>, unit "bytes", null "as for `cpus`, or the cluster does not limit memory",
            quantity memory "Memory asked for" Neither Absent;
        /// The longest run time that its user asked for.
        limit: Option<i64>, unit "ms", null "its user gave none",
            quantity limit "Time limit" Neither Absent;
        /// When the job was submitted.
        submit: Option<i64>, unit "ms", null "unknown", quantity submit "Submission of the job" Neither Absent;
        /// The time from which the job could start, if that is later than its submission: it was held, had a start time, or waited for
        /// other jobs. The scheduler is not responsible for the time before.
        eligible: Option<i64>, unit "ms", null "it could start when it was submitted, or the source does not say";
        /// When the job ended.
        finish: Option<i64>, unit "ms", null "unknown", quantity finish "End of the job" Less Absent;
        /// How the job ended.
        outcome: Outcome;
        /// Whether the job counts in means, tables and figures, or why not. A job counts if it was submitted in the window of the
        /// run and ended well: its outcome is `SUCCESS`, or the source gives no outcome but a finish. If runs are compared, it
        /// must count in all of them.
        standing: Standing;
        /// Whether its waiting counts in no number, although it started: it did not start in every run that is compared.
        not_started_in_all: bool;
        /// Completion time: `finish − submit`, or `finish − eligible` for a job that could start only later.
        completion: Option<i64>, unit "ms", null "submission or finish is unknown",
            source "Coupling (job processing time), DRESS",
            quantity completion "Completion time" Less Choice,
            by |job, _| formulas::completion_time(job.finish, job.begin());
        /// Waiting time: `first_start − submit`, or `first_start − eligible`. `first_start` is the earliest start of an attempt, without
        /// set-up and clean-up. If no attempt is known, it is the launch in the table of jobs.
        waiting: Option<i64>, unit "ms", null "submission or first start is unknown", source "DRESS",
            quantity waiting "Waiting time" Less Choice,
            by |job, known| formulas::waiting_time(known.attempts.first_start, known.launch, job.begin());
        /// Execution time: `completion − waiting`.
        execution: Option<i64>, unit "ms", null "completion or waiting is unknown", source "DRESS",
            quantity execution "Execution time" Less Choice,
            by |job, _| formulas::execution_time(job.completion, job.waiting);
        /// Starvation time: the mean of `start(r) − last_map_finish` over the reduces `r` that were first launched when the last map
        /// had completed, or later. It is 0 if all reduces were launched before.
        starvation: Option<f64>, unit "ms", null "the job launched no Hadoop reduces, or completed no maps",
            source "Coupling §III-C",
            quantity starvation "Starvation of reduces, mean" Less Fact,
            // The reduces of other sources do not wait for maps: there, the word is a label.
            by |job, known| {
                known.attempts.starvation.filter(|_| job.framework.as_deref().is_none_or(|framework| framework == MAPREDUCE))
            };
        /// Queueing time of its tasks: the mean of `start − queued` over its attempts.
        queueing: Option<f64>, unit "ms", null "no attempt has both times",
            quantity queueing "Queueing of its tasks, mean" Less Fact,
            by |_, known| known.attempts.queueing;
        /// Slowdown: `completion / (longest_map + longest_reduce_tail)`. The divisor is the time that the job would take alone on
        /// an unlimited cluster with these run times: its longest successful map, and the longest time that a reduce worked once
        /// its input was there. It measures waiting, not bad placement.
        slowdown: Option<f64>, null "completion is unknown, or the divisor is 0",
            quantity slowdown "Slowdown" Less Fact,
            by |job, known| {
                formulas::slowdown(job.completion, known.attempts.longest_map, known.attempts.longest_reduce_tail)
            };
        /// Bounded slowdown: `max(1, completion / max(execution, 10 s))`.
        bounded_slowdown: Option<f64>, null "completion or waiting is unknown", source "Feitelson, Rudolph 1998",
            quantity bounded_slowdown "Bounded slowdown" Less Fact,
            by |job, _| formulas::bounded_slowdown(job.completion, job.execution);
        /// The sum of the run times of all attempts.
        slot_time: i64, unit "ms",
            quantity slot_time "Run times of all attempts" Less Fact,
            by |_, known| known.attempts.slot_time;
        /// The processor that its attempts held, times their run times: ms of a core.
        cpu_time: Option<f64>, unit "ms", null "it is not a replay of a production trace",
            quantity cpu_time "Processor held, ms of a core" Less Absent,
            by |_, known| known.attempts.cpu_held.map(|held| held / 1e3);
        /// The memory that its attempts held, times their run times. An MB is 2^20 bytes.
        memory_time: Option<f64>, unit "MB·s", null "it is not a replay of a production trace, or memory is not limited",
            quantity memory_time "Memory held, times run times" Less Absent,
            by |_, known| known.attempts.memory_held.map(|held| held / (1_048_576.0 * 1e3));
        /// The GPUs that its attempts held, times their run times: ms of a GPU.
        gpu_time: Option<f64>, unit "ms",
            null "it is not a replay of a production trace, no machine lists GPUs, or the run was written before resched kept it",
            quantity gpu_time "GPUs held, ms of a GPU" Less Absent,
            by |job, known| formulas::gpu_time(known.attempts.gpus_held, job.gpus, job.slot_time);
        /// How many of its attempts were evicted to make room for others.
        evictions: u32, unit "attempts",
            quantity evictions "Attempts that made room for others" Less Fact,
            by |_, known| known.attempts.evictions;
        /// How many tasks were done: tasks with a successful attempt.
        tasks_done: u32, unit "tasks", quantity tasks "Tasks done" Neither Fact,
            by |_, known| known.attempts.tasks_done;
        /// How many of these were maps.
        maps_done: u32, unit "tasks", quantity maps "Maps done" Neither Absent,
            by |_, known| known.attempts.maps_done;
        /// How many of these were reduces.
        reduces_done: u32, unit "tasks", quantity reduces "Reduces done" Neither Absent,
            by |_, known| known.attempts.reduces_done;
        /// How many maps were launched on a node with the input, in the rack of such a node, and elsewhere. For Spark and production
        /// traces: all tasks with a preferred place. Attempts that later failed or were killed count, too.
        map_launches: [u32; 3], unit "maps", source "Coupling, Fig. 15",
            by |_, known| known.attempts.map_launches;
    }
}

/// The quantities that follow from the fields.
fn derived() -> Vec<Quantity> {
    use Better::{Less, More, Neither};
    use Page::{Absent, Fact};
    let fact = |name, title, unit, better, page, of| Quantity::new([name, name, title, unit], better, page, of);
    vec![
        fact("in_queue", "Time to its first task, or to its end if none is known", "ms", Less, Fact, |job| {
            job.waiting.or(job.completion).number()
        }),
        fact("node_local", "Maps node-local", "maps", More, Fact, |job| maps(job, 0)),
        fact("rack_local", "Maps rack-local", "maps", Neither, Fact, |job| maps(job, 1)),
        fact("off_rack", "Maps off-rack", "maps", Less, Fact, |job| maps(job, 2)),
        fact("node_locality", "Share of its maps on a node with their input", "", More, Absent, |job| share(job, 0)),
        fact("rack_locality", "Share of its maps in the rack of such a node", "", Neither, Absent, |job| share(job, 1)),
        fact("off_locality", "Share of its maps elsewhere", "", Less, Absent, |job| share(job, 2)),
    ]
}

/// The map launches at a distance from their input.
fn maps(job: &JobMetrics, distance: usize) -> Option<f64> {
    job.map_launches.get(distance)?.number()
}

/// The share of the map launches at a distance from their input.
fn share(job: &JobMetrics, distance: usize) -> Option<f64> {
    let all: u64 = job.map_launches.map(u64::from).iter().sum();
    (all > 0).then_some(maps(job, distance)? / all as f64)
}

/// The quantity of that word.
pub(crate) fn quantity(name: &str) -> Option<&'static Quantity> {
    QUANTITIES.iter().find(|quantity| quantity.name == name)
}

/// All quantities.
pub static QUANTITIES: LazyLock<Vec<Quantity>> =
    LazyLock::new(|| JobMetrics::quantities().into_iter().chain(derived()).collect());
