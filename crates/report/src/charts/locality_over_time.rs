//! Maps by distance from their input, over time.

use resched_analysis::JobMetrics;
use resched_analysis::time::over_time::launches;

use super::chart::Chart;
use super::over_time::{FEW_CELLS, Measure, draw_over_time};
use crate::Error;
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "locality_over_time",
    title: "Locality over time",
    caption: "Of the maps that were launched in a short time, the share on a node that holds their input, and the share in the rack of \
              one or nearer. Maps whose input has no known place are left out. A line is interrupted where none was launched.",
    interactive: false,
    folded: true,
    draw,
};

/// A share of fewer maps than this is mostly chance, so that a cell of time has so many on average. As maps come in bursts, there are few
/// cells even of many maps.
const MAPS_OF_CELL: usize = 20;
/// The fewest cells of time, however few maps there are.
const FEWEST_CELLS: usize = 8;

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let near = |levels: usize| {
        let title = if levels > 1 { "In the rack (%)" } else { "On the node (%)" };
        Measure::new(scene.system().says(title), move |run, cells| {
            let share = |maps: [u64; 3]| {
                let (near, all) = (maps.iter().take(levels).sum::<u64>(), maps.iter().sum::<u64>());
                (all > 0).then(|| 100.0 * near as f64 / all as f64)
            };
            launches(run, cells).into_iter().map(share).collect()
        })
    };
    let maps =
        |jobs: &Vec<&JobMetrics>| jobs.iter().flat_map(|job| job.map_launches).map(u64::from).sum::<u64>() as usize;
    let maps: Vec<usize> = scene.jobs.iter().map(maps).collect();
    let fewest = maps.iter().copied().min().unwrap_or(0);
    let cells = (fewest / MAPS_OF_CELL).clamp(FEWEST_CELLS, FEW_CELLS);
    draw_over_time(
        scene,
        CHART.name,
        &scene.sheet_of(scene.system().says("launched maps"), maps),
        cells,
        &[near(1), near(2)],
    )
}
