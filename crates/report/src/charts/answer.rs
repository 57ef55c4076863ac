//! The answer in one picture, for a slide: how much sooner jobs end and start, how sure that is, who pays, and the grade.

use super::chart::Chart;
use crate::Error;
use crate::plot::figure::Sheet;
use crate::plot::intervals::{Interval, Intervals, draw_intervals_on};
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "answer",
    title: "The answer in one picture",
    caption: "The change of the mean completion time and of the mean wait against the baseline, each with its 95 % interval: if a line \
              crosses 0, the change may be chance. Below: how many jobs end later and sooner, who loses most, and how sure the answer is.",
    interactive: false,
    folded: false,
    draw,
};

/// The most lines.
const MOST_LINES: usize = 10;

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let Some(slide) = &scene.slide else { return Ok(None) };
    let row = |(name, change, interval): &(String, f64, Option<[f64; 2]>)| {
        let sure = match interval {
            Some([low, high]) => format!(" ({} to {})", number(*low), number(*high)),
            None => " (not tested)".to_owned(),
        };
        let [low, high] = interval.unwrap_or([*change; 2]);
        Interval {
            label: format!("{name}: {} %{sure}", number(*change)),
            published: None,
            found: Some((*change, low, high)),
        }
    };
    let rows: Vec<Interval> = slide.changes.iter().take(MOST_LINES).map(row).collect();
    let sheet = scene.sheet_of_jobs();
    let title = if sheet.title.is_empty() { slide.title.clone() } else { sheet.title };
    let sheet = Sheet { title, note: format!("{} {}", slide.note, sheet.note), ..sheet };
    let chart = Intervals {
        name: CHART.name,
        x: "Change (%); below 0 is sooner",
        legend: ["", "mean, 95 % interval"],
        rows: &rows,
    };
    draw_intervals_on(&sheet, &chart)
}

fn number(change: f64) -> String {
    format!("{change:+.1}").replace('-', "−")
}
