//! Percentiles of completion times against those under the baseline.

use resched_analysis::statistics::distribution::Distribution;

use super::chart::Chart;
use crate::Error;
use crate::plot::axis::Axis;
use crate::plot::figure::Swatch;
use crate::plot::panels::{Curve, Panel, SINGLE, draw_panels};
use crate::scene::{Scene, Shown};

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "pp",
    title: "Percentiles against the baseline",
    caption: "The share of the jobs that a policy completes within a time, against the share that the baseline completes within the same \
              time (a percentile–percentile plot; Wilk, Gnanadesikan 1968). Above the diagonal, the policy completes more jobs in that \
              time.",
    interactive: false,
    folded: true,
    draw,
};

/// The points of a curve: two per pixel.
const POINTS: usize = 800;

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let Some((base, others)) = scene.compared() else { return Ok(None) };
    let times = |shown: &Shown<'_>| {
        Distribution::new(shown.run.finished_jobs().filter_map(|job| job.completion).map(|ms| ms as f64))
    };
    let of_base = times(base);
    if others.is_empty() || of_base.values().is_empty() {
        return Ok(None);
    }
    let share = |title: String| Axis::from_zero(title, 100.0, 5);
    let curve = |shown: &&Shown<'_>| Curve {
        points: against(&of_base, &times(shown)).into_iter().map(|(base, share)| (base, Some(share))).collect(),
        series: shown.series,
        marked: false,
    };
    let (x, y) = (share(format!("Jobs done under {} (%)", base.label)), share("Jobs done (%)".to_owned()));
    let guides = vec![[(0.0, 0.0), (100.0, 100.0)]];
    let panel = Panel { guides, ..Panel::new(x, y, SINGLE, others.iter().map(curve).collect()) };
    let entries = others.iter().map(|shown| (Swatch::Line(shown.series), shown.label.to_owned()));
    draw_panels(&scene.sheet_of_jobs(), CHART.name, entries, &[panel]).map(Some)
}

/// The shares (%) of both that are at most as long, for times of either.
fn against(base: &Distribution, run: &Distribution) -> Vec<(f64, f64)> {
    let all = Distribution::new(base.values().iter().chain(run.values()).copied());
    let at = |(time, _): (f64, f64)| (100.0 * base.cdf(time), 100.0 * run.cdf(time));
    std::iter::once((0.0, 0.0)).chain(all.curve(POINTS).into_iter().map(at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_that_is_faster_lies_above_the_diagonal() {
        let of = |values: [f64; 2]| Distribution::new(values);
        assert_eq!(
            against(&of([10.0, 20.0]), &of([5.0, 20.0])),
            [(0.0, 0.0), (0.0, 50.0), (50.0, 50.0), (100.0, 100.0)]
        );
        assert_eq!(against(&of([1.0, 2.0]), &of([1.0, 2.0])), [(0.0, 0.0), (50.0, 50.0), (100.0, 100.0)]);
    }
}
