//! Maps by distance from their input, per job (Coupling, Fig. 15).

use resched_analysis::JobMetrics;

use super::chart::Chart;
use crate::Error;
use crate::plot::bars::{Part, What, are_shared, draw_bars};
use crate::plot::style::Fill;
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "locality",
    title: "Maps by locality",
    caption: "Launched maps of each job on a node that holds their input, in the rack of one, and elsewhere (Coupling, Fig. 15). If there \
              are many jobs, the bars show shares, and each job of a bar has the same weight. Maps whose input has no known place are \
              left out.",
    interactive: false,
    folded: false,
    draw,
};

/// The levels of locality, the nearest first.
const LEVELS: [(&str, Fill); 3] =
    [("node-local", Fill::Solid), ("rack-local", Fill::Hatched), ("off-rack", Fill::Pale)];

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    if scene.jobs.iter().flatten().all(|job| job.map_launches == [0; 3]) {
        return Ok(None);
    }
    // Where neighbours share a bar, the numbers would be those of the largest job, and all policies alike.
    let shares = are_shared(scene.look(), scene.count(), scene.runs.len(), LEVELS.len());
    let value = |job: &JobMetrics, level: usize| {
        let launches = job.map_launches.map(u64::from);
        let (maps, all) = (launches.get(level).copied()?, launches.iter().sum::<u64>());
        match shares {
            true => (all > 0).then(|| 100.0 * maps as f64 / all as f64),
            false => Some(maps as f64),
        }
    };
    let part = |(level, (label, fill))| Part {
        label: scene.system().says(label),
        fill,
        values: scene.values(|job| value(job, level)),
    };
    let parts: Vec<Part> = LEVELS.into_iter().enumerate().map(part).collect();
    let number = scene.system().says(if shares { "Maps (%)" } else { "Maps" });
    draw_bars(scene, CHART.name, What::Number(number), &parts)
}
