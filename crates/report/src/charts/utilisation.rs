//! How much of the cluster is in use, over time.

use resched_analysis::Run;
use resched_analysis::metrics::cells::Cells;
use resched_analysis::time::over_time::{cores_held, running};
use resched_tables::model::TaskKind;
use resched_tables::run::RunCluster;

use super::chart::Chart;
use super::over_time::{Measure, cells_of, draw_over_time};
use crate::Error;
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "utilisation",
    title: "Utilisation",
    caption: "The share of the map slots, of the reduce slots, or of the processor that is in use, as means over short times. The \
              processor is that of the machines at the start. Each task counts with the mean amount of its job. If the number of slots is \
              not known, the chart shows the tasks that run.",
    interactive: false,
    folded: true,
    draw,
};

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let measures = [
        Measure::new("Map slots (%)", |run, cells| used(run, TaskKind::Map, |cluster| cluster.map_slots, cells)),
        Measure::new("Reduce slots (%)", |run, cells| {
            used(run, TaskKind::Reduce, |cluster| cluster.reduce_slots, cells)
        }),
        Measure::new("CPUs held (%)", |run, cells| processor(scene, run, cells)),
        Measure::new("Running tasks", |run, cells| tasks(scene, run, cells)),
    ];
    draw_over_time(scene, CHART.name, &scene.sheet_of_jobs(), cells_of(scene), &measures)
}

fn cluster(run: &Run) -> RunCluster {
    run.replay().map(|info| info.cluster).unwrap_or_default()
}

fn used(run: &Run, kind: TaskKind, slots: fn(&RunCluster) -> u64, cells: Cells) -> Vec<Option<f64>> {
    let slots = slots(&cluster(run));
    if slots == 0 || !run.intervals.iter().any(|task| task.kind == kind) {
        return Vec::new();
    }
    percent(&running(run, |running| running == kind, cells), slots as f64)
}

fn processor(scene: &Scene<'_>, run: &Run, cells: Cells) -> Vec<Option<f64>> {
    // What really ran held the nodes that the replays have.
    let cores = scene.cluster(run).vcores.filter(|cores| *cores > 0);
    let held = cores.and_then(|cores| Some((cores, cores_held(run, cells)?)));
    held.map(|(cores, held)| percent(&held, cores as f64)).unwrap_or_default()
}

/// The tasks that run, where nothing else is known of the cluster.
fn tasks(scene: &Scene<'_>, run: &Run, cells: Cells) -> Vec<Option<f64>> {
    let RunCluster { map_slots, reduce_slots, vcores, .. } = scene.cluster(run);
    let known = map_slots + reduce_slots > 0 || vcores.is_some();
    if known { Vec::new() } else { running(run, |_| true, cells).into_iter().map(Some).collect() }
}

fn percent(used: &[f64], of: f64) -> Vec<Option<f64>> {
    used.iter().map(|used| Some(100.0 * used / of)).collect()
}
