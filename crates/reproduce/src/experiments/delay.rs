//! Shared by the experiments of the Delay Scheduling paper.

use resched_analysis::Run;
use resched_analysis::statistics::repeats::t_interval;
use resched_report::{Figure, Line, Lines, Shape, draw_lines};

use crate::Error;
use crate::case::{Bundled, bundled};
use crate::experiment::Knob;
use crate::replays::Replays;

/// The rules of the replays.
pub(super) const CLUSTER: Bundled = bundled!("clusters/delay.toml");

/// The knobs.
pub(super) const KNOBS: &[Knob] =
    &[Knob { place: "cost.locality", value: "1, 2, 2", fixed_by: "the paper: local maps are \"up to 2x\" faster" }];

/// The assumptions of every experiment of the paper.
pub(super) const ASSUMPTIONS: &[&str] =
    &["100 machines in one rack, heartbeats every 3 s; the workloads are invented, as the paper's notes give none."];

/// The share of local maps of the jobs that `keep` takes by their name, %.
pub(super) fn locality(run: &Run, keep: fn(&str) -> bool) -> Option<f64> {
    let jobs = run.jobs.iter().filter(|job| job.name.as_deref().is_some_and(keep));
    let launches = jobs.map(|job| job.map_launches.map(u64::from));
    let [local, all] = launches.fold([0, 0], |[local, all], maps| [local + maps[0], all + maps.iter().sum::<u64>()]);
    (all > 0).then(|| 100.0 * local as f64 / all as f64)
}

/// True if a job is one of the small ones, by its name.
pub(super) fn small(name: &str) -> bool {
    name == "small"
}

/// The figure of such lines; none if there is nothing to draw.
pub(super) fn figure(chart: &Lines<'_>, title: &str, caption: &str) -> Result<Vec<Figure>, Error> {
    let figure =
        |svg| Figure { name: chart.name.to_owned(), title: title.to_owned(), caption: caption.to_owned(), svg };
    Ok(draw_lines(chart, resched_policies::order_of)?.map(figure).into_iter().collect())
}

/// The line of a share (%) over the cases of a series, each at its parameter, with its interval.
pub(super) fn series(
    replays: &Replays<'_>,
    label: &str,
    cases: &[(f64, String)],
    of: impl Fn(&Run) -> Option<f64> + Copy,
) -> Line {
    let point = |(parameter, case): &(f64, String)| {
        let found = t_interval(&replays.each(case, of))?;
        // A share has no more than 100 %, whatever the interval says.
        Some((*parameter, found.value, found.low, found.high.min(100.0)))
    };
    Line { label: label.to_owned(), points: cases.iter().filter_map(point).collect(), shape: Shape::Joined }
}
