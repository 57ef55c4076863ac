//! Maps by distance from their input, against the size of their job (Delay Scheduling, Figs. 4 and 5).

use resched_analysis::metrics::by_size::by_size;

use super::against_size::{Measure, draw_against_size};
use super::chart::Chart;
use crate::Error;
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "locality_by_size",
    title: "Locality by size of job",
    caption: "The share of the maps that were launched on a node that holds their input, and in the rack of one or nearer, for jobs with \
              about the same number of maps (Delay Scheduling, Figs. 4 and 5). Each mark is at the geometric mean of its jobs.",
    interactive: false,
    folded: true,
    draw,
};

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let near = |levels: usize| {
        move |jobs: &[&resched_analysis::JobMetrics]| {
            let launches = jobs.iter().map(|job| job.map_launches.map(u64::from));
            let sizes = by_size(launches.map(|levels| (levels.iter().sum(), levels)));
            let share = |launches: &[[u64; 3]]| {
                let near: u64 = launches.iter().flat_map(|levels_of| levels_of.iter().take(levels)).sum();
                100.0 * near as f64 / launches.iter().flatten().sum::<u64>() as f64
            };
            sizes.into_iter().map(|class| (class.size, share(&class.jobs))).collect()
        }
    };
    let system = scene.system();
    let share = |title, levels| Measure::share(system.says(title), near(levels));
    let measures = [share("On the node (%)", 1), share("In the rack (%)", 2)];
    draw_against_size(scene, CHART.name, system.says("Maps of the job"), &measures)
}
