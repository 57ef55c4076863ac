//! The page of a search: the winner, all settings that were tried, and what the answer rests on.

use askama::Template;
use resched_report::{Figure, Frame, emphasised, escaped, gallery};

use super::found::{Candidate, Tuned};
use crate::Error;
use crate::interval::MeanInterval;

/// The most rows of the table. More would make the page slow to open; `candidates.csv` has all.
const MOST_ROWS: usize = 500;

#[derive(Template)]
#[template(path = "tune.html")]
struct Body<'a> {
    version: &'static str,
    name: &'a str,
    /// The answer in a sentence.
    answer: String,
    baseline: &'a str,
    replays: u64,
    /// What the intervals are over.
    intervals: &'static str,
    grade: &'static str,
    /// What the answer rests on, as HTML.
    caveats: Vec<(&'static str, String)>,
    metrics: &'a [&'a str],
    rows: Vec<Row<'a>>,
    more: usize,
    gallery: String,
}

struct Row<'a> {
    rank: usize,
    policy: &'a str,
    seeds: u64,
    objective: String,
    metrics: Vec<String>,
    bounds: &'static str,
    front: &'static str,
}

/// The page of an outcome with the relative metrics of these names.
///
/// # Errors
/// [`Error::Work`] or [`Error::Report`] if a template cannot be filled.
pub(super) fn page(tuned: &Tuned, metrics: &[&str], figures: &[Figure]) -> Result<String, Error> {
    let body = Body {
        version: env!("CARGO_PKG_VERSION"),
        name: &tuned.name,
        answer: answer(tuned),
        baseline: &tuned.baseline,
        replays: tuned.replays,
        intervals: tuned.intervals.unwrap_or_default(),
        grade: tuned.validity.grade().in_words(),
        caveats: tuned
            .validity
            .caveats()
            .into_iter()
            .map(|fact| (fact.grade.in_words(), emphasised(format!("{} {}", fact.says, fact.remedy).trim())))
            .collect(),
        metrics,
        rows: tuned.candidates.iter().take(MOST_ROWS).zip(1..).map(|(found, rank)| row(found, rank, metrics)).collect(),
        more: tuned.candidates.len().saturating_sub(MOST_ROWS),
        gallery: gallery(figures)?,
    };
    let body = body.render().map_err(|error| Error::Work(format!("index.html cannot be made: {error}")))?;
    let title = format!("resched: {}", escaped(&tuned.name));
    Ok(Frame { title: &title, body: &body, interactive: false }.page()?)
}

/// The winner, if one is known to hold all bounds.
fn answer(tuned: &Tuned) -> String {
    let tried = tuned.candidates.len();
    match tuned.candidates.first() {
        Some(best) if best.within_bounds => format!(
            "Of {tried} settings, {} is the best that holds all bounds: its objective is {} times that of {} ({} seeds).",
            best.policy,
            in_words(&best.objective),
            tuned.baseline,
            best.seeds
        ),
        Some(_) => format!("None of {tried} settings is known to hold all bounds."),
        None => "No setting was tried.".to_owned(),
    }
}

fn row<'a>(found: &'a Candidate, rank: usize, metrics: &[&str]) -> Row<'a> {
    let metric = |name: &&str| found.relative.get(*name).map_or_else(String::new, in_words);
    Row {
        rank,
        policy: &found.policy,
        seeds: found.seeds,
        objective: in_words(&found.objective),
        metrics: metrics.iter().map(metric).collect(),
        bounds: if found.within_bounds { "held" } else { "broken" },
        front: if found.on_front { "yes" } else { "" },
    }
}

/// A ratio with its interval, unless that has no width.
fn in_words(found: &MeanInterval) -> String {
    let ends = found.ends().filter(|(low, high)| low != high);
    let ends = ends.map_or_else(String::new, |(low, high)| format!(" [{low:.3}, {high:.3}]"));
    format!("{:.3}{ends}", found.mean)
}
