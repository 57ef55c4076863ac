//! The files of a search: `tuned.json`, `candidates.csv`, `index.html` and, if there are two metrics, a figure.

use resched_analysis::metrics::named::Metric;
use resched_report::{Cloud, Figure, Scatter, draw_scatter};
use resched_tables::store::OwnFiles;
use resched_tables::words::csv_cell;

use super::found::{Candidate, Tuned};
use super::objective::metrics;
use super::page::page;
use crate::Error;
use crate::interval::MeanInterval;
use crate::statistics::front_of;
use crate::tune_section::TuneSection;

/// The name of the table and of the figure, without extension.
const CANDIDATES: &str = "candidates";

/// The name of the page.
pub(super) const PAGE: &str = "index.html";

/// Writes the outcome in place of an earlier one.
///
/// # Errors
/// [`Error::Work`] or [`Error::Store`] if a file cannot be written; [`Error::Report`] if the figure cannot be drawn.
pub(super) fn write(tuned: &Tuned, section: &TuneSection, out: OwnFiles) -> Result<(), Error> {
    let json = serde_json::to_string_pretty(tuned).map_err(broken)? + "\n";
    let metrics: Vec<&str> = metrics(section).into_iter().collect();
    let mut files = vec![
        (super::MARKER.to_owned(), json.into_bytes()),
        (format!("{CANDIDATES}.csv"), table(&tuned.candidates, &metrics)?),
    ];
    let figure = figure(&tuned.candidates, &metrics)?;
    let page = page(tuned, &metrics, figure.as_slice())?;
    if let Some(figure) = figure {
        files.extend(figure.files()?);
    }
    files.push((PAGE.to_owned(), page.into_bytes()));
    Ok(out.replace(&files)?)
}

/// The figure, if there are two metrics.
fn figure(candidates: &[Candidate], metrics: &[&str]) -> Result<Option<Figure>, Error> {
    let mut named = metrics.iter().filter_map(|name| Metric::named(name).ok());
    let (Some(x), Some(y)) = (named.next(), named.next()) else { return Ok(None) };
    let figure = |svg| Figure {
        name: CANDIDATES.to_owned(),
        title: format!("{} against {}", y.title, x.title),
        caption: "Both are relative to the baseline. The line is the front of the settings that hold the bounds."
            .to_owned(),
        svg,
    };
    Ok(picture(candidates, &x, &y)?.map(figure))
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::Work(format!("the outcome of the search cannot be written: {error}"))
}

/// A row for each candidate: its objective and its metrics, each with its interval.
fn table(candidates: &[Candidate], metrics: &[&str]) -> Result<Vec<u8>, Error> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let heading = ["rank", "policy", "seeds", "within_bounds", "on_front"].map(str::to_owned);
    let interval_of = |name: &str| [name.to_owned(), format!("{name}_low"), format!("{name}_high")];
    let columns = std::iter::once("objective").chain(metrics.iter().copied()).flat_map(interval_of);
    table.write_record(heading.into_iter().chain(columns).map(|cell| csv_cell(&cell).into_owned())).map_err(broken)?;
    for (number, found) in candidates.iter().enumerate() {
        let texts = [
            (number + 1).to_string(),
            csv_cell(&found.policy).into_owned(),
            found.seeds.to_string(),
            found.within_bounds.to_string(),
            found.on_front.to_string(),
        ];
        let relative = metrics.iter().map(|metric| found.relative.get(*metric));
        let numbers = std::iter::once(Some(&found.objective)).chain(relative).flat_map(numbers);
        table.write_record(texts.into_iter().chain(numbers)).map_err(broken)?;
    }
    table.into_inner().map_err(broken)
}

fn numbers(found: Option<&MeanInterval>) -> [String; 3] {
    let text = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
    found.map_or_else(Default::default, |found| [Some(found.mean), found.low, found.high].map(text))
}

/// The candidates in two metrics, with their front.
fn picture(candidates: &[Candidate], x: &Metric, y: &Metric) -> Result<Option<String>, Error> {
    let points = |keep: fn(&Candidate) -> bool| -> Vec<(f64, f64)> {
        let point = |found: &Candidate| Some((found.relative.get(&x.name)?.mean, found.relative.get(&y.name)?.mean));
        candidates.iter().filter(|found| keep(found)).filter_map(point).collect()
    };
    let cloud = |label: &str, keep| Cloud { label: label.to_owned(), points: points(keep) };
    let series =
        [cloud("within bounds", |found| found.within_bounds), cloud("bounds broken", |found| !found.within_bounds)];
    let front = front_of(&points(|found| found.on_front), x, y);
    let place = |found: &Candidate| Some((found.relative.get(&x.name)?.mean, found.relative.get(&y.name)?.mean));
    let name = |point: &(f64, f64)| {
        let here = candidates.iter().find(|found| found.on_front && place(found) == Some(*point));
        here.map_or_else(String::new, |found| found.policy.clone())
    };
    let labels: Vec<String> = front.iter().map(name).collect();
    let title = |metric: &Metric| format!("{}, baseline = 1", metric.title);
    let chart =
        Scatter { name: CANDIDATES, x: &title(x), y: &title(y), series: &series, front: &front, labels: &labels };
    Ok(draw_scatter(&chart, resched_policies::order_of)?)
}
