//! The report as one page that needs no other file: sentences, tables, charts, provenance.

use std::path::PathBuf;

use askama::Template;
use resched_analysis::statistics::compare::Basis;
use resched_analysis::statistics::distribution::Dominance;
use resched_analysis::{JobMetrics, Run};
use resched_tables::validity::Fact;

use crate::answer::Answer;
use crate::charts::Chart;
use crate::compared::Compared;
use crate::page::data::page_data;
use crate::page::frame::{Figure, Frame, UNKNOWN, emphasised, gallery_beside};
use crate::page::groups::{Table, slowed_cells};
use crate::page::model_error;
use crate::page::overview::{self, Outcome, overview};
use crate::page::provenance::{self, Again, again, pairs};
use crate::page::sentences::{Sentences, differences, sentences};
use crate::page::short::ShortNames;
use crate::page::title;
use crate::page::units::{change, p_value, times};
use crate::scene::Scene;
use crate::timelines::Timelines;
use crate::why::Reasons;
use crate::{Error, Options};

/// The rows in the table of jobs that stand in the page itself. Its script knows all jobs.
const MOST_JOBS: usize = 50;

/// The most pieces of advice in the page. `report.json` has all.
const MOST_ADVICE: usize = 6;

#[derive(Template)]
#[template(path = "report.html")]
struct Body<'a> {
    version: &'static str,
    /// What the page answers.
    question: String,
    /// The policies.
    labels: Vec<&'a str>,
    /// Trace, cluster and dates.
    about: String,
    sentences: Sentences,
    /// The grade of the comparison.
    grade: &'static str,
    /// What the grade means.
    graded: &'static str,
    caveats: Vec<Caveat>,
    /// What to change, where the data show it: the policies that show it, what it is about and what to change.
    advice: Vec<(String, &'a str, &'a str)>,
    answerable: bool,
    population: String,
    /// In what policies differ from the baseline beside the policy.
    differences: Vec<String>,
    /// The model error: which replays are shown and why, their tables, and whether charts show what ran; `None` without a trace.
    beside: Option<(String, Vec<model_error::Table>, bool)>,
    /// For each run: its label, how many jobs count in it by itself, and why the others do not.
    left_out: Vec<(&'a str, u64, String)>,
    overview: Vec<overview::Part>,
    baseline: &'a str,
    comparisons: Vec<CompareRow>,
    matters: String,
    weak_tests: String,
    has_seeds: bool,
    groups: Vec<Table>,
    /// What the system calls a queue, as a heading.
    queue: &'static str,
    slowed: Vec<Vec<String>>,
    gallery: String,
    /// The titles of the charts that are folded away, and the charts.
    folded: String,
    folded_gallery: String,
    /// The runs that charts and jobs are of.
    shown: Vec<&'a str>,
    jobs: Vec<JobRow>,
    more_jobs: usize,
    again: Again,
    provenance: Vec<provenance::Row>,
    /// What the script needs.
    data: String,
}

struct CompareRow {
    metric: &'static str,
    /// The name of the metric and the place of the policy, for the script of the page.
    name: &'static str,
    place: usize,
    label: String,
    jobs: String,
    /// The changes, each with its interval.
    cells: Vec<(String, String)>,
    verdict: String,
    /// The class of the row, by what a test says about the difference of the means.
    class: &'static str,
    /// What the intervals are over, and the tests.
    tests: Vec<String>,
}

/// A sentence about how far to trust the answer. Its texts are HTML.
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

/// What a page is made of.
pub(crate) struct Content<'a> {
    pub(crate) answer: &'a Answer,
    pub(crate) scene: &'a Scene<'a>,
    pub(crate) timelines: &'a Timelines,
    pub(crate) reasons: &'a Reasons,
    pub(crate) charts: &'a [(&'static Chart, Figure)],
}

/// The page for an answer about the runs in `folders`.
///
/// # Errors
/// [`Error::Draw`] if the template cannot be filled.
pub(crate) fn page(content: &Content<'_>, folders: &[PathBuf], options: &Options) -> Result<String, Error> {
    let Content { answer, scene, timelines, reasons, charts } = *content;
    let labels: Vec<&str> = answer.policies.iter().map(|policy| policy.label.as_str()).collect();
    let about = title::about(answer, folders, scene.zero(), options.zone);
    let question = title::question(answer);
    let names = ShortNames::of(answer);
    let title = names.on_title(&format!("{question} {about} – resched"));
    let jobs = scene.count();
    let of = |folded: bool| charts.iter().filter(move |(chart, _)| chart.folded == folded);
    let gallery =
        |folded: bool| gallery_beside(of(folded).map(|(chart, figure)| (figure, chart.interactive)).collect());
    let body = Body {
        version: env!("CARGO_PKG_VERSION"),
        question,
        labels,
        about,
        sentences: sentences(answer),
        grade: answer.validity.grade().in_words(),
        graded: answer.validity.grade().as_sentence(),
        caveats: caveats(answer),
        advice: reasons
            .advice
            .iter()
            .take(MOST_ADVICE)
            .map(|(reason, runs)| (runs.join(", "), &*reason.says, &*reason.change))
            .collect(),
        answerable: answer.is_answerable(),
        population: answer.population.in_words(),
        differences: differences(answer),
        beside: answer
            .beside
            .as_ref()
            .map(|beside| (emphasised(&beside.says), beside.tables(answer.system()), beside.drawn)),
        left_out: left_out(answer),
        overview: overview(answer),
        baseline: answer.baseline_label(),
        comparisons: answer.compared.iter().map(|row| compare_row(row, answer)).collect(),
        matters: answer.matters.to_string(),
        weak_tests: weak_tests(answer),
        has_seeds: answer.has_seeds(),
        groups: answer.groups.iter().map(|group| group.table(answer.system())).collect(),
        queue: answer.system().says("Queue"),
        slowed: slowed_cells(&answer.slowed),
        gallery: gallery(false)?,
        folded: of(true).map(|(chart, _)| answer.system().says(chart.title)).collect::<Vec<_>>().join("; "),
        folded_gallery: gallery(true)?,
        shown: scene.labels(),
        jobs: (0..jobs.min(MOST_JOBS)).filter_map(|number| job_row(scene, number)).collect(),
        more_jobs: jobs.saturating_sub(MOST_JOBS),
        again: again(answer, folders, options),
        provenance: provenance::facts(&answer.runs),
        data: page_data(answer, scene, timelines, reasons, (&names, options.zone))?,
    };
    let body = names.on_page(&body.render().map_err(Error::draw("report.html"))?);
    Frame { title: &title, body: &body, interactive: true }.page()
}

/// What a policy's comparison says, cell by cell.
fn compare_row(row: &Compared, answer: &Answer) -> CompareRow {
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
        name: row.metric,
        place: answer.policies.iter().position(|policy| policy.label == row.policy).unwrap_or(0),
        label: row.policy.clone(),
        jobs: found.jobs.to_string(),
        cells: vec![
            change(found.ratio_of_means),
            change(found.ratio_of_p50),
            change(found.ratio_of_p95),
            change(found.ratio_of_p99),
            change(found.mean_of_ratios),
        ],
        verdict: found.verdict.on_times(answer.matters),
        class: match found.basis {
            Basis::NotAnswerable => "",
            _ => Outcome::of(found.ratio_of_means).class(),
        },
        tests: vec![
            found.basis.in_words(),
            signs,
            p_value(found.sign.map(|sign| sign.p)),
            p_value(found.signed_rank.map(|test| test.p)),
            dominance.to_owned(),
        ],
    }
}

/// What to know about the tests: why there are none, or too few parts differ for them.
fn weak_tests(answer: &Answer) -> String {
    let why = answer.compared.iter().map(|row| row.found.basis.why_no_interval()).find(|why| !why.is_empty());
    let found =
        answer.compared.iter().map(|row| &row.found).find(|found| found.least_p.is_some_and(|least| least > 0.05));
    let Some((basis, sign, least)) = found.and_then(|found| Some((found.basis, found.sign?, found.least_p?))) else {
        return why.unwrap_or_default();
    };
    let differ = sign.negative + sign.positive;
    let parts = basis.in_words();
    let few = match differ == basis.parts() as u64 {
        true => format!("With {parts}"),
        false => format!("Where only {differ} of {parts} differ,"),
    };
    let weak = format!("{few} no test can reach p < 0.05 (the least is {least:.3}); at least 6 are needed.");
    why.into_iter().chain([weak]).collect::<Vec<_>>().join(" ")
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
        says: emphasised(&fact.says),
        remedy: emphasised(&fact.remedy),
        runs: of_run(fact),
    };
    answer.validity.caveats().into_iter().map(caveat).collect()
}

fn job_row(scene: &Scene<'_>, number: usize) -> Option<JobRow> {
    let jobs: Vec<&JobMetrics> = scene.jobs.iter().filter_map(|jobs| jobs.get(number).copied()).collect();
    Some(JobRow {
        number: number + 1,
        id: jobs.first()?.job_id.clone(),
        name: jobs.iter().find_map(|job| job.name.as_deref()).unwrap_or_default().to_owned(),
        cells: times(&jobs.iter().map(|job| job.completion.map(|ms| ms as f64)).collect::<Vec<_>>()),
    })
}

/// How many jobs of each run count by themselves, and why the others do not.
fn left_out(answer: &Answer) -> Vec<(&str, u64, String)> {
    let runs = answer.population.runs.iter().zip(answer.labels());
    runs.map(|(run, label)| (label, run.jobs, pairs(&run.left_out))).collect()
}
