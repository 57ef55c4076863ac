//! Two runs over time: how far one is ahead of the other.

use resched_analysis::Run;
use resched_analysis::metrics::cells::Cells;
use resched_analysis::time::over_time::{jobs_done, running};

use super::chart::Chart;
use super::over_time::{Measure, cells_of, draw_over_time};
use crate::Error;
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "difference",
    title: "Difference from the baseline",
    caption: "How many more jobs are done by a time than under the baseline, and how many more tasks run, as means over short times. The \
              baseline is the line at 0. Above it, a policy is ahead.",
    interactive: false,
    folded: false,
    draw,
};

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let Some((base, _)) = scene.compared().filter(|(_, others)| !others.is_empty()) else { return Ok(None) };
    let start = base.run.jobs.span().map_or(0, |(first, _)| first);
    let less = |of: fn(&Run, Cells) -> Vec<f64>| {
        move |run: &Run, cells: Cells| {
            let of_base = of(base.run, cells.from(start));
            // What really ran is not compared.
            if run.replay().is_none() {
                return vec![None; of_base.len()];
            }
            of(run, cells).into_iter().zip(of_base).map(|(value, base)| Some(value - base)).collect()
        }
    };
    let measures = [
        Measure::new("Δ jobs done", less(|run, cells| jobs_done(&run.jobs, cells))),
        Measure::new("Δ running tasks", less(|run, cells| running(run, |_| true, cells))),
    ];
    let mut sheet = scene.sheet_of_jobs();
    sheet.note = format!("{}; against {}", sheet.note, base.label);
    draw_over_time(scene, CHART.name, &sheet, cells_of(scene), &measures)
}
