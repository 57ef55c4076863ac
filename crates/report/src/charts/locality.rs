//! Maps by distance from their input, per job (Coupling, Fig. 15).

use super::chart::Chart;
use crate::Error;
use crate::bars::{Part, draw_bars};
use crate::scene::Scene;
use crate::style::Fill;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "locality",
    title: "Maps by locality",
    caption: "Launched maps of each job on a node that holds their input, in the rack of one, and elsewhere (Coupling, \
              Fig. 15). Maps whose input has no known place are left out.",
    draw,
};

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let part = |label, fill, level: usize| Part {
        label,
        fill,
        values: scene.values(|job| job.map_launches.get(level).map(|&maps| maps as f64)),
    };
    let parts =
        [part("node-local", Fill::Solid, 0), part("rack-local", Fill::Hatched, 1), part("off-rack", Fill::Pale, 2)];
    draw_bars(scene, CHART.name, "Maps", &parts)
}
