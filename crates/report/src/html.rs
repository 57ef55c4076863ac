//! The report as one page that needs no other file: tables, charts, provenance.

use std::borrow::Cow;

use askama::Template;
use resched_analysis::compare::Basis;
use resched_analysis::distribution::Dominance;
use resched_analysis::measure::Metric;
use resched_analysis::population::RunPopulation;
use resched_analysis::practical::{Matters, Ratio};
use resched_analysis::{Details, JobMetrics, Origin, Run, Summary};
use resched_trace::validity::{Fact, Grade};

use crate::Error;
use crate::answer::{Answer, Compared};
use crate::groups::{Grouped, Table, slowed_cells};
use crate::page::{Figure, Frame, Style, UNKNOWN, escaped, gallery};

/// The most rows in the table of jobs. More would make the page slow to open.
const MOST_JOBS: usize = 1_000;

#[derive(Template)]
#[template(path = "report.html")]
struct Body<'a> {
    version: &'static str,
    labels: Vec<&'a str>,
    /// The grade of the comparison, and of each run.
    grade: &'static str,
    grades: Vec<&'static str>,
    caveats: Vec<Caveat>,
    answerable: bool,
    population: String,
    left_out: Vec<Row>,
    summary: Vec<Row>,
    baseline: &'a str,
    comparisons: Vec<CompareRow>,
    matters: String,
    weak_tests: String,
    has_seeds: bool,
    groups: Vec<Table>,
    slowed: Vec<Vec<String>>,
    gallery: String,
    jobs: Vec<JobRow>,
    more_jobs: usize,
    provenance: Vec<Row>,
}

/// A row of a table: its name, and a cell per run.
struct Row {
    name: Cow<'static, str>,
    cells: Vec<String>,
}

struct CompareRow {
    metric: &'static str,
    label: String,
    jobs: String,
    /// The changes.
    cells: Vec<String>,
    verdict: String,
    /// What the intervals are over, and the tests.
    tests: Vec<String>,
}

/// A sentence about how far to trust the answer.
struct Caveat {
    grade: &'static str,
    says: String,
    remedy: String,
    /// The runs that it is about; empty if it is about all.
    runs: String,
}

struct JobRow {
    number: usize,
    id: String,
    name: String,
    cells: Vec<String>,
}

/// The style that this page adds to that of all pages.
const STYLE: Style =
    Style { cells: "\ntd.text { overflow-wrap: anywhere; } .grade { font-weight: bold; }", ..Style::NARROW };

/// The page for an answer with these charts.
///
/// # Errors
/// [`Error::Draw`] if the template cannot be filled.
pub(crate) fn page(answer: &Answer, charts: &[Figure]) -> Result<String, Error> {
    let labels = answer.labels();
    let title = format!("resched report: {}", escaped(&labels.join(", ")));
    let jobs = usize::try_from(answer.population.jobs).unwrap_or(usize::MAX);
    let body = Body {
        version: env!("CARGO_PKG_VERSION"),
        labels,
        grade: answer.validity.grade().in_words(),
        grades: answer
            .runs
            .iter()
            .map(|run| run.replay().map_or(UNKNOWN, |info| info.validity.grade().in_words()))
            .collect(),
        caveats: caveats(answer),
        answerable: answer.validity.grade() < Grade::NotAnswerable,
        population: answer.population.in_words(),
        left_out: left_out(answer),
        summary: summary(answer),
        baseline: answer.baseline_label(),
        comparisons: answer.compared.iter().map(|row| compare_row(row, answer.matters)).collect(),
        matters: answer.matters.to_string(),
        weak_tests: weak_tests(answer),
        has_seeds: answer.has_seeds(),
        groups: answer.groups.iter().map(Grouped::table).collect(),
        slowed: answer.slowed.iter().map(slowed_cells).collect(),
        gallery: gallery(charts)?,
        jobs: (0..jobs.min(MOST_JOBS)).filter_map(|number| job_row(answer, number)).collect(),
        more_jobs: jobs.saturating_sub(MOST_JOBS),
        provenance: provenance(&answer.runs),
    };
    let body = body.render().map_err(Error::draw("report.html"))?;
    Frame { title: &title, style: &STYLE, body: &body }.page()
}

fn summary(answer: &Answer) -> Vec<Row> {
    let row = |name: &'static str, cell: &dyn Fn(&Summary, &Details) -> String| Row {
        name: name.into(),
        cells: answer.summaries.iter().map(|(summary, details)| cell(summary, details)).collect(),
    };
    let mut rows = vec![
        row("Jobs that ended well", &|s, _| s.jobs_finished.to_string()),
        row("Jobs that count", &|s, _| s.jobs_counted.to_string()),
        row("Tasks done", &|s, _| s.tasks.to_string()),
        row("Makespan", &|s, _| time(s.makespan_ms.map(|ms| ms as f64))),
        row("Completion time, mean", &|s, _| time(s.mean_completion_ms)),
        row("Completion time, median", &|s, _| time(s.median_completion_ms)),
        row("Waiting time, mean", &|s, _| time(s.mean_waiting_ms)),
        row("Starvation time, mean", &|s, _| time(s.mean_starvation_ms)),
        row("Slowdown, mean", &|_, d| number(d.mean_slowdown, 2)),
        row("Bounded slowdown, mean", &|_, d| number(d.mean_bounded_slowdown, 2)),
        row("Maps node-local / rack-local / off-rack", &|s, _| locality(s)),
        row("Map slots used", &|_, d| percent(d.map_utilisation)),
        row("Reduce slots used", &|_, d| percent(d.reduce_utilisation)),
        row("Processor held", &|_, d| percent(d.cpu_utilisation)),
        row("Memory held", &|_, d| percent(d.memory_utilisation)),
        row("Jain's index, mean", &|_, d| number(d.mean_jain_index, 3)),
        row("Jain's index of users", &|_, d| number(d.user_fairness, 3)),
        row("Jobs per hour", &|_, d| number(d.jobs_per_hour, 1)),
        row("Jobs waiting, mean", &|_, d| number(d.mean_queue_length, 2)),
    ];
    // Starvation, slots and places of input do not apply to every trace.
    rows.retain(|row| row.cells.iter().any(|cell| cell != UNKNOWN));
    rows.extend(answer.metrics.iter().map(|(metric, values)| Row {
        name: metric.title.clone().into(),
        cells: values.iter().map(|&value| of_metric(metric, value)).collect(),
    }));
    rows
}

/// A value of a metric, in the unit in which it is easiest to read.
fn of_metric(metric: &Metric, value: Option<f64>) -> String {
    match metric.unit {
        "ms" => time(value),
        _ => value.map_or(UNKNOWN.to_owned(), |value| metric.in_words(value)),
    }
}

fn locality(summary: &Summary) -> String {
    let Some(counts) = summary.locality else { return UNKNOWN.to_owned() };
    let all = counts.node + counts.rack + counts.off;
    let share = |n: u64| percent(Some(n as f64 / all as f64));
    format!("{} / {} / {}", share(counts.node), share(counts.rack), share(counts.off))
}

/// What a policy's comparison says, cell by cell.
fn compare_row(row: &Compared, matters: Matters) -> CompareRow {
    let found = &row.found;
    let signs = found.sign.map_or(UNKNOWN.to_owned(), |sign| format!("{} / {}", sign.negative, sign.positive));
    let dominance = match found.dominance {
        _ if found.basis == Basis::NotAnswerable => UNKNOWN,
        None => UNKNOWN,
        Some(Dominance::First) => "longer throughout",
        Some(Dominance::Second) => "shorter throughout",
        Some(Dominance::Equal) => "the same",
        Some(Dominance::Neither) => "the curves cross",
    };
    CompareRow {
        metric: row.title,
        label: row.policy.clone(),
        jobs: found.jobs.to_string(),
        cells: vec![
            change(found.ratio_of_means),
            change(found.ratio_of_p50),
            change(found.ratio_of_p95),
            change(found.ratio_of_p99),
            change(found.mean_of_ratios),
        ],
        verdict: found.verdict.in_words(matters),
        tests: vec![
            found.basis.in_words(),
            signs,
            p_value(found.sign.map(|sign| sign.p)),
            p_value(found.signed_rank.map(|test| test.p)),
            dominance.to_owned(),
        ],
    }
}

/// What to know about the tests, if too few parts differ for them.
fn weak_tests(answer: &Answer) -> String {
    let found =
        answer.compared.iter().map(|row| &row.found).find(|found| found.least_p.is_some_and(|least| least > 0.05));
    let Some((basis, sign, least)) = found.and_then(|found| Some((found.basis, found.sign?, found.least_p?))) else {
        return String::new();
    };
    let differ = sign.negative + sign.positive;
    let parts = basis.in_words();
    let few = match differ == basis.parts() as u64 {
        true => format!("With {parts}"),
        false => format!("Where only {differ} of {parts} differ,"),
    };
    format!("{few} no test can reach p < 0.05 (the least is {least:.3}); at least 6 are needed.")
}

/// The caveats of the answer, the worst first, each with the runs that it is about.
fn caveats(answer: &Answer) -> Vec<Caveat> {
    let of_run = |fact: &Fact| {
        let has = |run: &&Run| run.replay().is_some_and(|info| info.validity.facts.contains(fact));
        let runs: Vec<&str> = answer.runs.iter().filter(has).map(|run| run.label.as_str()).collect();
        let all = answer.runs.iter().filter(|run| run.replay().is_some()).count();
        if runs.is_empty() || runs.len() == all { String::new() } else { runs.join(", ") }
    };
    let caveat = |fact: &Fact| Caveat {
        grade: fact.grade.in_words(),
        says: fact.says.clone(),
        remedy: fact.remedy.clone(),
        runs: of_run(fact),
    };
    answer.validity.caveats().into_iter().map(caveat).collect()
}

fn job_row<'a>(answer: &'a Answer, number: usize) -> Option<JobRow> {
    let job = |(run, rows): (&'a Run, &Vec<usize>)| run.jobs.get(*rows.get(number)?);
    let jobs: Vec<&JobMetrics> = answer.runs.iter().zip(&answer.population.rows).filter_map(job).collect();
    Some(JobRow {
        number: number + 1,
        id: jobs.first()?.job_id.clone(),
        name: jobs.iter().find_map(|job| job.name.as_deref()).unwrap_or_default().to_owned(),
        cells: jobs.iter().map(|job| time(job.completion.map(|ms| ms as f64))).collect(),
    })
}

/// How many jobs of each run count by themselves, and why the others do not.
fn left_out(answer: &Answer) -> Vec<Row> {
    let of = |cell: &dyn Fn(&RunPopulation) -> String| answer.population.runs.iter().map(cell).collect();
    vec![
        Row { name: "Jobs that count in it".into(), cells: of(&|run| run.jobs.to_string()) },
        Row { name: "Others".into(), cells: of(&|run| pairs(&run.left_out)) },
    ]
}

fn provenance(runs: &[Run]) -> Vec<Row> {
    let row = |name: &'static str, cell: &dyn Fn(&Run) -> String| Row {
        name: name.into(),
        cells: runs.iter().map(cell).collect(),
    };
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

fn pairs(of: &std::collections::BTreeMap<impl std::fmt::Display, impl std::fmt::Display>) -> String {
    let pairs: Vec<String> = of.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    if pairs.is_empty() { "none".to_owned() } else { pairs.join(", ") }
}

/// A time in ms, in the unit in which it is easiest to read.
pub(crate) fn time(ms: Option<f64>) -> String {
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
/// A relative change, 0 for none, with its sign.
pub(crate) fn percent_change(change: Option<f64>) -> String {
    change.map_or(UNKNOWN.to_owned(), |change| format!("{:+.1} %", 100.0 * change).replace('-', "−"))
}

fn change(ratio: Option<Ratio>) -> String {
    let of = |ratio: f64| format!("{:+.1}", 100.0 * (ratio - 1.0)).replace('-', "−");
    match ratio {
        None => UNKNOWN.to_owned(),
        Some(Ratio { value, interval: Some([low, high]), .. }) => {
            format!("{} % [{}, {}]", of(value), of(low), of(high))
        }
        Some(Ratio { value, .. }) => format!("{} %", of(value)),
    }
}

fn p_value(p: Option<f64>) -> String {
    match p {
        None => UNKNOWN.to_owned(),
        Some(p) if p < 0.001 => "< 0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
    }
}
