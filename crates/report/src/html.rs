//! The report as one page that needs no other file: tables, charts, provenance.

use askama::Template;
use resched_analysis::compare::{Comparison, Estimate, compare};
use resched_analysis::distribution::Dominance;
use resched_analysis::{Details, JobMetrics, Origin, Run, Summary};

use crate::Error;
use crate::page::{Figure, Frame, Style, UNKNOWN, escaped, gallery};
use crate::roster::Roster;

/// The most rows in the table of jobs. More would make the page slow to open.
const MOST_JOBS: usize = 1_000;
/// The seed of the intervals if no replay names one.
const SEED: u64 = 1;

#[derive(Template)]
#[template(path = "report.html")]
struct Body<'a> {
    version: &'static str,
    labels: Vec<&'a str>,
    summary: Vec<Row>,
    comparisons: Vec<CompareRow>,
    resamples: usize,
    gallery: String,
    jobs: Vec<JobRow>,
    more_jobs: usize,
    provenance: Vec<Row>,
}

/// A row of a table: its name, and a cell per run.
struct Row {
    name: &'static str,
    cells: Vec<String>,
}

struct CompareRow {
    metric: &'static str,
    label: String,
    jobs: String,
    cells: Vec<String>,
}

struct JobRow {
    number: usize,
    id: String,
    name: String,
    cells: Vec<String>,
}

/// The style that this page adds to that of all pages.
const STYLE: Style = Style { cells: "\ntd.text { overflow-wrap: anywhere; }", ..Style::NARROW };

/// The page for `runs` with these charts.
///
/// # Errors
/// [`Error::Draw`] if the template cannot be filled.
pub(crate) fn page(runs: &[Run], charts: &[Figure]) -> Result<String, Error> {
    let comparisons = comparisons(runs);
    let roster = Roster::new(runs);
    let labels: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
    let title = format!("resched report: {}", escaped(&labels.join(", ")));
    let body = Body {
        version: env!("CARGO_PKG_VERSION"),
        labels,
        summary: summary(runs),
        resamples: comparisons.iter().map(|(_, _, found)| found.resamples).min().unwrap_or(0),
        comparisons: comparisons.iter().map(|(metric, run, found)| compare_row(metric, run, found)).collect(),
        gallery: gallery(charts)?,
        jobs: (0..roster.ids.len().min(MOST_JOBS)).map(|number| job_row(&roster, number)).collect(),
        more_jobs: roster.ids.len().saturating_sub(MOST_JOBS),
        provenance: provenance(runs),
    };
    let body = body.render().map_err(Error::draw("report.html"))?;
    Frame { title: &title, style: &STYLE, body: &body }.page()
}

fn summary(runs: &[Run]) -> Vec<Row> {
    let found: Vec<(Summary, Details)> = runs.iter().map(|run| (Summary::of(run), Details::of(run))).collect();
    let row = |name, cell: &dyn Fn(&Summary, &Details) -> String| Row {
        name,
        cells: found.iter().map(|(summary, details)| cell(summary, details)).collect(),
    };
    vec![
        row("Jobs finished", &|s, _| s.jobs_finished.to_string()),
        row("Tasks done", &|s, _| s.tasks.to_string()),
        row("Makespan", &|s, _| time(s.makespan_ms.map(|ms| ms as f64))),
        row("Completion time, mean", &|s, _| time(s.mean_completion_ms)),
        row("Completion time, median", &|s, _| time(s.median_completion_ms)),
        row("Waiting time, mean", &|s, _| time(s.mean_waiting_ms)),
        row("Starvation time, mean", &|s, _| time(s.mean_starvation_ms)),
        row("Slowdown, mean", &|_, d| number(d.mean_slowdown, 2)),
        row("Maps node-local / rack-local / off-rack", &|s, _| locality(s)),
        row("Map slots used", &|_, d| percent(d.map_utilisation)),
        row("Reduce slots used", &|_, d| percent(d.reduce_utilisation)),
        row("Jain's index, mean", &|_, d| number(d.mean_jain_index, 3)),
        row("Jobs per hour", &|_, d| number(d.jobs_per_hour, 1)),
        row("Jobs waiting, mean", &|_, d| number(d.mean_queue_length, 2)),
    ]
}

fn locality(summary: &Summary) -> String {
    let Some(counts) = summary.locality else { return UNKNOWN.to_owned() };
    let all = counts.node + counts.rack + counts.off;
    let share = |n: u64| percent(Some(n as f64 / all as f64));
    format!("{} / {} / {}", share(counts.node), share(counts.rack), share(counts.off))
}

/// A metric to compare, by its name in the table.
type Metric = (&'static str, fn(&JobMetrics) -> Option<f64>);

/// Every run after the first, compared with the first.
fn comparisons(runs: &[Run]) -> Vec<(&'static str, &Run, Comparison)> {
    let metrics: [Metric; 2] = [
        ("Completion time", |job| job.completion.map(|ms| ms as f64)),
        ("Waiting time", |job| job.waiting.map(|ms| ms as f64)),
    ];
    let Some((first, others)) = runs.split_first() else { return Vec::new() };
    let seed = first.replay().map_or(SEED, |info| info.seed);
    let of_metric = |(name, metric): Metric| {
        others.iter().map(move |run| (name, run, compare(&first.jobs, &run.jobs, metric, seed)))
    };
    metrics.into_iter().flat_map(of_metric).collect()
}

fn compare_row(metric: &'static str, run: &Run, found: &Comparison) -> CompareRow {
    let unpaired = match found.unpaired {
        0 => String::new(),
        n => format!(" ({n} in one run only)"),
    };
    let signs = found.sign.map_or(UNKNOWN.to_owned(), |sign| format!("{} / {}", sign.negative, sign.positive));
    let dominance = match found.dominance {
        Dominance::First => "longer throughout",
        Dominance::Second => "shorter throughout",
        Dominance::Equal => "the same",
        Dominance::Neither => "the curves cross",
    };
    CompareRow {
        metric,
        label: run.label.clone(),
        jobs: format!("{}{unpaired}", found.pairs.len()),
        cells: vec![
            change(found.mean_of_ratios),
            change(found.ratio_of_means),
            change(found.median_ratio),
            signs,
            p_value(found.sign.map(|sign| sign.p)),
            p_value(found.signed_rank.map(|test| test.p)),
            dominance.to_owned(),
        ],
    }
}

fn job_row(roster: &Roster<'_>, number: usize) -> JobRow {
    let of_runs = || roster.runs.iter().map(|jobs| jobs.get(number).copied().flatten());
    JobRow {
        number: number + 1,
        id: roster.ids.get(number).copied().unwrap_or_default().to_owned(),
        name: of_runs().flatten().find_map(|job| job.name.clone()).unwrap_or_default(),
        cells: of_runs().map(|job| time(job.and_then(|job| job.completion).map(|ms| ms as f64))).collect(),
    }
}

fn provenance(runs: &[Run]) -> Vec<Row> {
    let row = |name, cell: &dyn Fn(&Run) -> String| Row { name, cells: runs.iter().map(cell).collect() };
    let replay = |cell: fn(&resched_trace::run::RunInfo) -> String| {
        move |run: &Run| run.replay().map_or(UNKNOWN.to_owned(), cell)
    };
    vec![
        row("Written by", &|run| match &run.origin {
            Origin::Replay(info) => info.written_by.clone(),
            Origin::Observed(manifest) => manifest.written_by.clone(),
        }),
        row("Trace", &|run| match &run.origin {
            Origin::Replay(info) => info.trace.path.clone(),
            Origin::Observed(manifest) => sources(manifest.sources.iter().map(|source| &source.path)),
        }),
        row("SHA-256", &|run| match &run.origin {
            Origin::Replay(info) => info.trace.sha256.clone(),
            Origin::Observed(manifest) => sources(manifest.sources.iter().map(|source| &source.sha256)),
        }),
        row("Policy", &replay(|info| info.policy.clone())),
        row("Parameters", &replay(|info| pairs(&info.params))),
        row(
            "Cluster",
            &replay(|info| {
                let c = info.cluster;
                let (nodes, racks, maps, reduces) = (c.nodes, c.racks, c.map_slots, c.reduce_slots);
                let offers = match (c.memory_mb, c.vcores) {
                    (Some(memory), Some(vcores)) => format!("{memory} MB and {vcores} vcores"),
                    _ => format!("{maps} map and {reduces} reduce slots"),
                };
                format!("{nodes} nodes in {racks} racks, {offers}")
            }),
        ),
        row("Cost model", &replay(|info| info.cost_model.clone())),
        row("Reduce model", &replay(|info| info.reduce_model.clone())),
        row("Seed", &replay(|info| info.seed.to_string())),
        row("Left out", &|run| {
            let mut skipped = match &run.origin {
                Origin::Replay(info) => info.skipped.clone(),
                Origin::Observed(manifest) => manifest.skipped.clone(),
            };
            run.skipped.iter().for_each(|(cause, n)| *skipped.entry(cause.clone()).or_default() += n);
            pairs(&skipped)
        }),
    ]
}

/// The first few of the sources of a trace.
fn sources<'a>(of: impl ExactSizeIterator<Item = &'a String>) -> String {
    let n = of.len();
    let mut shown: Vec<String> = of.take(3).cloned().collect();
    if n > shown.len() {
        shown.push(format!("and {} more", n - shown.len()));
    }
    shown.join(", ")
}

fn pairs(of: &std::collections::BTreeMap<String, impl std::fmt::Display>) -> String {
    let pairs: Vec<String> = of.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    if pairs.is_empty() { "none".to_owned() } else { pairs.join(", ") }
}

/// A time in ms, in the unit in which it is easiest to read.
fn time(ms: Option<f64>) -> String {
    let Some(ms) = ms else { return UNKNOWN.to_owned() };
    match ms {
        ms if ms < 1e3 => format!("{ms:.0} ms"),
        ms if ms < 120e3 => format!("{:.1} s", ms / 1e3),
        ms if ms < 7_200e3 => format!("{:.1} min", ms / 60e3),
        ms => format!("{:.1} h", ms / 3_600e3),
    }
}

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or(UNKNOWN.to_owned(), |value| format!("{value:.decimals$}"))
}

fn percent(share: Option<f64>) -> String {
    share.map_or(UNKNOWN.to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

/// A ratio as a change in per cent, with its interval.
fn change(ratio: Option<Estimate>) -> String {
    let of = |ratio: f64| format!("{:+.1}", 100.0 * (ratio - 1.0)).replace('-', "−");
    ratio.map_or(UNKNOWN.to_owned(), |r| format!("{} % [{}, {}]", of(r.value), of(r.low), of(r.high)))
}

fn p_value(p: Option<f64>) -> String {
    match p {
        None => UNKNOWN.to_owned(),
        Some(p) if p < 0.001 => "< 0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
    }
}
