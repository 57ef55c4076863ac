//! How far apart the seeds of a policy are.

use resched_analysis::Run;
use resched_analysis::runs::who::Who;
use resched_analysis::statistics::distribution::mean;
use resched_tables::words::{TimeUnit, count};

use super::chart::Chart;
use crate::Error;
use crate::plot::axis::Axis;
use crate::plot::rows::{Row, Rows, Span, draw_rows};
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "seeds",
    title: "Spread over the seeds",
    caption: "Mean completion time, mean waiting time and makespan of each policy. The mark is the mean over its seeds, and the line goes \
              from the least to the greatest value. Drawn if a policy has several seeds.",
    interactive: false,
    folded: true,
    draw,
};

/// A number of a run, ms.
type Measure = (&'static str, fn(&Run) -> Option<f64>);

const MEASURES: [Measure; 3] = [
    ("Mean completion time", |run| of_jobs(run, Who::Ended, |job| job.completion)),
    ("Mean waiting time", |run| of_jobs(run, Who::Started, |job| job.waiting)),
    ("Makespan", |run| run.jobs.makespan().map(|ms| ms as f64)),
];

fn of_jobs(run: &Run, who: Who, time: fn(&resched_analysis::JobMetrics) -> Option<i64>) -> Option<f64> {
    mean(&run.jobs_among(who).filter_map(time).map(|ms| ms as f64).collect::<Vec<_>>())
}

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    if scene.repeats.iter().all(|runs| runs.len() < 2) {
        return Ok(None);
    }
    let panels: Vec<Rows> = MEASURES.into_iter().filter_map(|measure| panel(scene, measure)).collect();
    if panels.is_empty() {
        return Ok(None);
    }
    let sheet =
        scene.sheet(&format!("n = {} jobs", count(scene.count() as u64)), scene.repeats.iter().flatten().copied());
    draw_rows(&sheet, CHART.name, [], &panels).map(Some)
}

/// A row for each policy that has the number.
fn panel(scene: &Scene<'_>, (title, of): Measure) -> Option<Rows> {
    let found: Vec<Vec<f64>> =
        scene.repeats.iter().map(|runs| runs.iter().filter_map(|run| of(run)).collect()).collect();
    let all = || found.iter().flatten().copied();
    let (least, most) = (all().reduce(f64::min)?, all().reduce(f64::max)?);
    let unit = TimeUnit::for_axis(most);
    let margin = ((most - least) * 0.1).max(most.abs() * 0.01);
    let x = Axis::exact(
        format!("{title} ({})", unit.name()),
        unit.amount((least - margin).max(0.0)),
        unit.amount(most + margin),
        6,
        0.0,
    );
    let row = |(shown, values): (&crate::scene::Shown<'_>, &Vec<f64>)| {
        let [low, high] = [f64::min, f64::max].map(|of| values.iter().copied().reduce(of));
        let value = unit.amount(mean(values)?);
        let ends = [unit.amount(low?), unit.amount(high?)];
        let n = values.len();
        let label = format!("{} ({n} seed{})", shown.label, if n == 1 { "" } else { "s" });
        Some(Row { label, spans: vec![Span { series: shown.series, value, ends }] })
    };
    let rows = scene.runs.iter().zip(&found).filter_map(row).collect();
    Some(Rows { title: String::new(), x, rows })
}
