//! Distribution of the maps' run times (Coupling, Fig. 8).

use resched_analysis::Run;
use resched_analysis::statistics::distribution::Distribution;
use resched_tables::model::TaskKind;

use super::chart::Chart;
use crate::Error;
use crate::plot::curves::draw_curves;
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "cdf_maps",
    title: "Distribution of run times of maps",
    caption: "Share of the successful map attempts that ran at most this long (Coupling, Fig. 8).",
    interactive: false,
    folded: false,
    draw,
};

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let times = |run: &Run| {
        let maps = run.counted_intervals().filter(|attempt| attempt.kind == TaskKind::Map && attempt.succeeded);
        Distribution::new(maps.map(|attempt| (attempt.finish - attempt.start) as f64))
    };
    let times: Vec<Distribution> = scene.runs.iter().map(|shown| times(shown.run)).collect();
    draw_curves(scene, CHART.name, &times, ("Map run time", "maps"))
}
