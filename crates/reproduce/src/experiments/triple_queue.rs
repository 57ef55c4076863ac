//! Triple-Queue, Table I and Figs. 5 to 7: three users with five jobs each.

use std::num::NonZeroU32;

use resched_analysis::Run;
use resched_analysis::distribution::mean;
use resched_analysis::timeline::{makespan, span};
use resched_policies::parts::predict::{Class, MapLoad, classify};
use resched_sim::ClusterConfig;
use resched_trace::model::TaskKind;
use resched_trace::workload::{Jobs, Workload};

use crate::case::{Case, bundled};
use crate::experiment::{Experiment, Knob, Paper};
use crate::replays::Replays;
use crate::row::row;
use crate::{Error, Published, Row};

use super::coupling::{figure, figures};
use super::measures::change;

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "triple-queue",
    paper: Paper::TripleQueue,
    source: "Table I and Figs. 5 to 7",
    title: "TeraSort, Grep-Count and WordCount, five times each",
    knobs: &[
        Knob {
            place: "triple-queue.toml: reduce_mean_s of terasort and wordcount",
            value: "690 s",
            fixed_by: "the best makespan under Hadoop's own scheduler, 7635 s",
        },
        Knob {
            place: "triple-queue.toml: classes.grep.reduce_mean_s",
            value: "52 s",
            fixed_by: "\"a little\" of the job; chosen",
        },
        Knob {
            place: "shared nodes: reduce_mean_s of terasort and wordcount",
            value: "395 s",
            fixed_by: "the best makespan under Hadoop's own scheduler, 7635 s",
        },
        Knob {
            place: "triple-queue-contention.toml: cost.contention.disk",
            value: "134.2 MB/s",
            fixed_by: "Table I: eight maps of TeraSort at once read and write 128 MiB each in 8 s",
        },
    ],
    assumptions: &[
        "Each user submits a job when the previous one has ended: submissions are found by replaying until none moves any more.",
        "All six machines work; 48 reduces a job; the native scheduler is FIFO.",
        "Rows on shared nodes: 8 cores a machine and Gigabit network (the paper); a map of TeraSort takes 4.3 s alone (31.2 MB/s); two of the \
         six orders.",
        "DIOR is 31.2 MB/s in the formulas, as the paper has it, although it was measured with one task a machine.",
    ],
    cases,
    rows,
    bands: |_| Vec::new(),
    figures: |replays| {
        figures([figure(replays, &["order 1"], "running_tasks", ("triple-queue", "Running tasks under FIFO"))])
    },
};

/// The orders of the users' first submissions: for each user, in the order of the file, when they submit, s.
const ORDERS: [[f64; 3]; 6] =
    [[0.0, 1.0, 2.0], [0.0, 2.0, 1.0], [1.0, 0.0, 2.0], [2.0, 0.0, 1.0], [1.0, 2.0, 0.0], [2.0, 1.0, 0.0]];

fn cases() -> Result<Vec<Case>, Error> {
    let rules = bundled!("clusters/triple-queue.toml").cluster()?;
    let mut all = of_orders(ORDERS.len(), ("order", "fifo"), &bundled!("triple-queue.toml").workload()?, &rules)?;
    let workload = shared_nodes()?;
    let rules = bundled!("clusters/triple-queue-contention.toml").cluster()?;
    for (label, policy) in [(NATIVE, "fifo"), (OWN, "triple-queue")] {
        all.extend(of_orders(SHARED_ORDERS, (label, policy), &workload, &rules)?);
    }
    for (label, jobs) in ALONE.into_iter().zip(&workload.jobs) {
        let alone = Workload { jobs: vec![Jobs { repeat: NonZeroU32::MIN, ..jobs.clone() }], ..workload.clone() };
        all.push(Case::new(label, "fifo", alone, &rules)?);
    }
    Ok(all)
}

/// Labels of the replays on shared nodes: under both schedulers, and each job alone.
const NATIVE: &str = "shared nodes, fifo, order";
const OWN: &str = "shared nodes, triple-queue, order";
const ALONE: [&str; 3] = ["TeraSort alone", "Grep-Count alone", "WordCount alone"];

/// How many of the orders are replayed on shared nodes, which takes longer.
const SHARED_ORDERS: usize = 2;
/// The time of a map of TeraSort alone: 128 MiB at the 31.2 MB/s that the paper measured with one task a machine, s.
const TERASORT_MAP: f64 = 4.3;
/// The times of reduces of TeraSort and WordCount alone, s. Set from the native scheduler's best makespan.
const REDUCE: f64 = 395.0;

/// The workload with the times that tasks take alone on a node.
fn shared_nodes() -> Result<Workload, Error> {
    let mut workload = bundled!("triple-queue.toml").workload()?;
    for (name, class) in &mut workload.classes {
        match name.as_str() {
            "terasort" => (class.map_mean_s, class.reduce_mean_s) = (TERASORT_MAP, REDUCE),
            "wordcount" => class.reduce_mean_s = REDUCE,
            _ => {}
        }
    }
    Ok(workload)
}

fn of_orders(
    orders: usize,
    (label, policy): (&str, &str),
    workload: &Workload,
    rules: &ClusterConfig,
) -> Result<Vec<Case>, Error> {
    let of_order = |(number, order): (usize, &[f64; 3])| {
        let mut workload = workload.clone();
        workload.jobs.iter_mut().zip(order).for_each(|(jobs, submit)| jobs.submit_s = *submit);
        Ok(Case::new(&format!("{label} {}", number + 1), policy, workload, rules)?.closed())
    };
    ORDERS.iter().take(orders).enumerate().map(of_order).collect()
}

/// A measure of each order with one seed.
fn by_order(replays: &Replays<'_>, label: &str, measure: impl Fn(&Run) -> Option<f64>) -> Vec<Vec<f64>> {
    let of_order = |number| replays.each(&format!("{label} {number}"), &measure);
    let orders: Vec<Vec<f64>> = (1..=ORDERS.len()).map(of_order).filter(|values| !values.is_empty()).collect();
    let seeds = orders.iter().map(Vec::len).min().unwrap_or(0);
    (0..seeds).map(|seed| orders.iter().filter_map(|order| order.get(seed).copied()).collect()).collect()
}

/// Table I: input and output of a map, MB; its time, s; its class.
const TABLE: [(&str, f64, f64, f64, Class); 4] = [
    ("TeraSort", 64.0, 64.0, 8.0, Class::Io),
    ("Grep-Count", 64.0, 1.0, 92.0, Class::Cpu),
    ("WordCount", 64.0, 64.0, 35.0, Class::Sway),
    ("DIO", 64.0, 64.0, 4.1, Class::Io),
];

/// The makespan, s.
fn seconds(run: &Run) -> Option<f64> {
    makespan(&run.jobs).map(|ms| ms as f64 / 1e3)
}

/// Maps per second, from the first submission to the end of the last map.
fn throughput(run: &Run) -> Option<f64> {
    let (first, _) = span(&run.jobs)?;
    let maps = || run.intervals.iter().filter(|interval| interval.kind == TaskKind::Map && interval.succeeded);
    let last = maps().map(|map| map.finish).max()?;
    Some(maps().count() as f64 / ((last - first) as f64 / 1e3))
}

/// The change of the mean over the orders from the native scheduler to Triple-Queue, seed by seed, %.
fn gains(replays: &Replays<'_>, measure: fn(&Run) -> Option<f64>) -> Vec<f64> {
    let pairs = by_order(replays, NATIVE, measure).into_iter().zip(by_order(replays, OWN, measure));
    pairs.filter_map(|(native, own)| change(mean(&native), mean(&own))).collect()
}

/// The share of the cores that works while a job's maps run, in the mean over the nodes, %.
fn cores_of_maps(run: &Run) -> Option<f64> {
    let maps = || run.intervals.iter().filter(|interval| interval.kind == TaskKind::Map);
    let (first, last) = (maps().map(|map| map.start).min()?, maps().map(|map| map.finish).max()?);
    let rows = run.resources.iter().filter(|row| (first..=last).contains(&row.time));
    mean(&rows.map(|row| 100.0 * row.cpu).collect::<Vec<_>>())
}

/// The source of the rows on shared nodes.
const SHARED: &str = "By the cost model of contention (clusters/triple-queue-contention.toml), in which tasks of different kinds use \
                      different things of a machine; reduces are bound by the processor, whatever their job.";
/// Why throughputs have no number.
const NO_UNIT: &str = "The unit is not given: 3600 maps in 7635 s are 0.47 a second, not 5.89, and the ratio of best to worst is not \
                       that of the makespans.";

fn rows(replays: &Replays<'_>) -> Vec<Row> {
    let value = Published::Value;
    let classes = TABLE.map(|(name, input, output, time, class)| {
        let map = MapLoad { input, output, shuffle_out: output, shuffle_in: output, time };
        let found = classify(8.0, 31.2, &map);
        row(format!("{name} is classed as {}", class_name(class)), "yes", value(1.0))
            .exact(f64::from(found == class), 0.0)
    });
    let by_seed = by_order(replays, "order", seconds);
    let shared = by_order(replays, NATIVE, seconds);
    let best = |orders: &Vec<f64>| orders.iter().copied().reduce(f64::min);
    let extreme = |pick: fn(f64, f64) -> f64| -> Vec<f64> {
        by_seed.iter().filter_map(|orders| orders.iter().copied().reduce(pick)).collect()
    };
    let others = vec![
        row("Native: best makespan over the orders of the users", "s", value(7635.0))
            .calibrated()
            .ours("Fixed by reduce_mean_s.")
            .replayed(&extreme(f64::min)),
        row("Native: worst makespan over the orders of the users", "s", value(8540.0))
            .baseline()
            .ours("Without contention the orders differ only in which reduces run beside which maps.")
            .replayed(&extreme(f64::max)),
        row("Native: best throughput (unit unknown)", "?", value(5.89)).baseline().missing(NO_UNIT).cannot(),
        row("Native: worst throughput (unit unknown)", "?", value(5.44)).baseline().missing(NO_UNIT).cannot(),
        row("Shared nodes, native: best makespan", "s", value(7635.0))
            .calibrated()
            .ours("Fixed by what reduces take alone.")
            .replayed(&shared.iter().filter_map(best).collect::<Vec<_>>()),
        row("Throughput of maps, in the mean over the orders", "%", Published::Change(30.0))
            .ours(SHARED)
            .replayed(&gains(replays, throughput)),
        row("Makespan, in the mean over the orders", "%", Published::Change(-20.0))
            .ours(SHARED)
            .replayed(&gains(replays, seconds)),
        row("Processor use of Grep-Count (Fig. 5)", "%", value(100.0))
            .baseline()
            .ours(SHARED)
            .replayed(&replays.each(ALONE[1], cores_of_maps)),
        row("Processor use of WordCount before its reduces (Fig. 5)", "%", value(80.0))
            .baseline()
            .ours(SHARED)
            .replayed(&replays.each(ALONE[2], cores_of_maps)),
        row("Processor use of TeraSort (Fig. 5), against WordCount's", "%", Published::Below)
            .baseline()
            .ours(SHARED)
            .replayed(&replays.pairs(ALONE[2], ALONE[0], |a, b| change(cores_of_maps(a), cores_of_maps(b)))),
    ];
    classes.into_iter().chain(others).collect()
}

fn class_name(class: Class) -> &'static str {
    match class {
        Class::Cpu => "CPU-bound",
        Class::Io => "I/O-bound",
        Class::Sway => "sway",
    }
}
