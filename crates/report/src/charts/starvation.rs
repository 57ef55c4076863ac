//! Starvation time per job.

use super::chart::Chart;
use crate::Error;
use crate::plot::bars::{Part, What, draw_bars};
use crate::plot::style::Fill;
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "starvation",
    title: "Starvation time",
    caption: "The mean time from the end of a job's last map to the launch of its reduces, over the reduces that were launched after it \
              (Coupling, Table IV).",
    interactive: false,
    folded: false,
    draw,
};

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let values = scene.values(|job| job.starvation);
    let part = Part { label: "", fill: Fill::Solid, values };
    draw_bars(scene, CHART.name, What::Time("Starvation"), &[part])
}
