//! The page of a sweep: ranking, figures, comparisons, and the file it came from.

use std::collections::BTreeMap;

use askama::Template;
use resched_analysis::compare::Estimate;
use resched_analysis::measure::Metric;
use resched_analysis::practical::{Matters, Ratio};
use resched_report::{Figure, Frame, UNKNOWN, alike, emphasised, escaped, gallery};
use resched_trace::validity::Grade;

use crate::Error;
use crate::merge::Merged;
use crate::statistics::{Difference, DominanceRow, Group, Tests, differences, dominance, ranking, validity};

/// The most rows of a table. More would make the page slow to open; the complete tables are beside it.
const MOST_ROWS: usize = 500;
/// A difference with a corrected p-value below this is set in bold.
const LEVEL: f64 = 0.05;

#[derive(Template)]
#[template(path = "index.html")]
struct Body<'a> {
    version: &'static str,
    name: &'a str,
    about: &'a str,
    metric: String,
    cells: usize,
    settings: usize,
    seeds: usize,
    /// The answer in a few sentences.
    answer: Vec<String>,
    /// How far the answer can be trusted.
    grade: &'static str,
    caveats: Vec<Caveat>,
    matters: String,
    /// What to know about tests over so few seeds.
    weak_tests: String,
    /// Whether there is more than one source or cluster.
    places: bool,
    ranking: Vec<Ranked>,
    more_ranked: usize,
    gallery: String,
    comparisons: Vec<Compared>,
    more_compared: usize,
    file: &'a str,
}

/// A sentence about how far to trust the answer, as HTML, and how many cells it is about.
struct Caveat {
    grade: &'static str,
    says: String,
    remedy: String,
    cells: usize,
}

struct Ranked {
    rank: usize,
    label: String,
    place: String,
    seeds: usize,
    mean: String,
    interval: String,
}

struct Compared {
    label: String,
    baseline: String,
    metric: String,
    cells: Vec<String>,
    sure: bool,
}

/// The page. Texts of the sweep file are escaped; the figures need not be.
///
/// # Errors
/// [`Error::Work`] or [`Error::Report`] if a template cannot be filled.
pub(crate) fn page(merged: &Merged, figures: &[Figure]) -> Result<String, Error> {
    let groups = merged.groups();
    let metric = &merged.file.metric;
    let metrics = merged.file.metrics();
    let ranked = ranking(&groups, metric);
    // The sweep's metric first, then the others.
    let mut compared = differences(&groups, &merged.file);
    compared.sort_by_key(|found| found.metric != metric.name);
    let dominance: BTreeMap<usize, DominanceRow> =
        dominance(&groups, &merged.file).into_iter().map(|row| (row.group, row)).collect();
    let (facts, counts) = validity(&groups, &merged.file);
    let mut caveats: Vec<Caveat> = facts
        .facts
        .iter()
        .zip(counts)
        .map(|(fact, cells)| Caveat {
            grade: fact.grade.in_words(),
            says: emphasised(&fact.says),
            remedy: emphasised(&fact.remedy),
            cells,
        })
        .collect();
    // The worst first.
    caveats.sort_by_key(|caveat| caveat.grade != Grade::NotAnswerable.in_words());
    let body = Body {
        grade: facts.grade().in_words(),
        caveats,
        answer: answer(merged, &groups, &ranked, &compared),
        matters: merged.file.matters.to_string(),
        weak_tests: weak_tests(&compared),
        version: env!("CARGO_PKG_VERSION"),
        name: &merged.file.name,
        about: &merged.file.about,
        metric: metric.title.to_lowercase(),
        cells: merged.plan.cells.len(),
        settings: groups.len(),
        seeds: groups.iter().map(Group::seeds).max().unwrap_or(0),
        places: merged.plan.sources.len() > 1 || merged.plan.clusters.len() > 1,
        more_ranked: ranked.len().saturating_sub(MOST_ROWS),
        ranking: ranked
            .iter()
            .take(MOST_ROWS)
            .enumerate()
            .filter_map(|(number, (place, found))| ranked_row(merged, number + 1, groups.get(*place)?, *found))
            .collect(),
        gallery: gallery(figures)?,
        more_compared: compared.len().saturating_sub(MOST_ROWS),
        comparisons: compared
            .iter()
            .take(MOST_ROWS)
            .filter_map(|found| {
                compared_row(&groups, &metrics, found, dominance.get(&found.group), merged.file.matters)
            })
            .collect(),
        file: &merged.plan.file.text,
    };
    let body = body.render().map_err(|error| Error::Work(format!("index.html cannot be made: {error}")))?;
    let title = format!("resched: {}", escaped(&merged.file.name));
    Ok(Frame { title: &title, body: &body, interactive: false }.page()?)
}

/// The best setting with its interval, and how many settings differ from the baseline.
fn answer(merged: &Merged, groups: &[Group<'_>], ranked: &[(usize, Estimate)], compared: &[Difference]) -> Vec<String> {
    let metric = &merged.file.metric;
    let Some((best, found)) = ranked.first().and_then(|(place, found)| Some((groups.get(*place)?, *found))) else {
        return vec!["No setting has a value of this metric.".to_owned()];
    };
    let [mean, low, high] = in_one_unit(metric, found);
    let of = metric.title.to_lowercase();
    let first = format!(
        "Of {} settings, {} is the best by {of}: {mean} (95 % interval {low} to {high}, {} seeds).",
        groups.len(),
        best.label(),
        best.seeds()
    );
    let own: Vec<&Difference> = compared.iter().filter(|row| row.metric == metric.name).collect();
    let certain = |less: bool| {
        let better = |row: &&&Difference| metric.cost(row.difference.value) < 0.0;
        let sure = own.iter().filter(|row| is_sure(row));
        sure.filter(|row| better(row) == less).count()
    };
    let against = format!(
        "Against the baseline, {} are better and {} worse; {} show no significant difference in {of} (Wilcoxon, Holm).",
        certain(true),
        certain(false),
        own.iter().filter(|row| !is_sure(row)).count()
    );
    if own.is_empty() { vec![first] } else { vec![first, against] }
}

/// Whether a difference is not by chance, after the correction for the number of settings.
fn is_sure(found: &Difference) -> bool {
    found.tests.is_some_and(|tests| tests.holm < LEVEL)
}

/// What to know about the tests if there are too few seeds for them.
fn weak_tests(compared: &[Difference]) -> String {
    let weak = compared
        .iter()
        .find_map(|row| row.tests.filter(|tests| tests.least > LEVEL).map(|tests| (row.seeds, tests.least)));
    weak.map_or_else(String::new, |(seeds, least)| {
        format!("With {seeds} seeds no test can reach p < {LEVEL} (the least is {least:.3}); at least 6 are needed.")
    })
}

fn ranked_row(merged: &Merged, rank: usize, group: &Group<'_>, found: Estimate) -> Option<Ranked> {
    let [mean, low, high] = in_one_unit(&merged.file.metric, found);
    Some(Ranked {
        rank,
        label: group.label(),
        place: merged.place_name(group.place),
        seeds: group.seeds(),
        mean,
        interval: format!("{low} to {high}"),
    })
}

fn compared_row(
    groups: &[Group<'_>],
    metrics: &[Metric],
    found: &Difference,
    dominance: Option<&DominanceRow>,
    matters: Matters,
) -> Option<Compared> {
    let metric = metrics.iter().find(|metric| metric.name == found.metric)?;
    let side = |side: Option<f64>| side.map_or_else(|| UNKNOWN.to_owned(), |by| format!("{by:.3}"));
    let percent = |ratio: f64| format!("{:+.1}", 100.0 * (ratio - 1.0));
    let change = match found.ratio {
        None => UNKNOWN.to_owned(),
        Some(Ratio { value, interval: Some([low, high]), .. }) => {
            format!("{} % [{}, {}]", percent(value), percent(low), percent(high))
        }
        Some(Ratio { value, .. }) => format!("{} %", percent(value)),
    };
    let p = |of: fn(&Tests) -> f64| found.tests.as_ref().map_or_else(|| UNKNOWN.to_owned(), |tests| p_value(of(tests)));
    let [difference, low, high] = in_one_unit(metric, found.difference);
    Some(Compared {
        label: groups.get(found.group)?.label(),
        baseline: groups.get(found.baseline)?.label(),
        metric: metric.title.clone(),
        cells: vec![
            change,
            found.verdict.in_words(matters),
            difference,
            if found.tests.is_some() { format!("{low} to {high}") } else { UNKNOWN.to_owned() },
            p(|tests| tests.sign),
            p(|tests| tests.signed_rank),
            p(|tests| tests.holm),
            side(dominance.and_then(|row| row.above)),
            side(dominance.and_then(|row| row.below)),
        ],
        sure: is_sure(found),
    })
}

/// A number and the ends of its interval.
fn in_one_unit(metric: &Metric, found: Estimate) -> [String; 3] {
    let mut words = alike(metric, &[found.value, found.low, found.high].map(Some)).into_iter();
    std::array::from_fn(|_| words.next().unwrap_or_default())
}

fn p_value(p: f64) -> String {
    if p < 1e-4 { format!("{p:.1e}") } else { format!("{p:.4}") }
}
