//! What the script of a page needs: the jobs in columns, the timelines, and how each policy looks.
//!
//! Numbers are whole, and those that grow are differences, so that a day of a large cluster stays a few MB. The tables
//! beside the page have the same numbers.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufWriter;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use resched_analysis::JobMetrics;
use resched_analysis::metrics::groups::{By, group_of_each};
use resched_analysis::metrics::list::{Form, Number, Page, QUANTITIES, Quantity, Row};
use resched_analysis::metrics::named::{Metric, SizeBy, Sizes};
use resched_analysis::runs::who::Who;
use resched_tables::clock::Zone;
use resched_tables::words;
use serde::Serialize;
use serde_json::Value;

use crate::Error;
use crate::answer::Answer;
use crate::page::formula::covers;
use crate::page::measure::{Measure, Numbers};
use crate::page::overview::listed_rows;
use crate::page::short::ShortNames;
use crate::page::units::Rules;
use crate::page::why_data::{self, PageWhy};
use crate::plot::style::{OBSERVED, area_colour, dash};
use crate::scene::{Scene, Shown};
use crate::timelines::Timelines;
use crate::why::Reasons;

/// The most rows of jobs in a page, over all policies. Of more jobs, every second, third and so on is in the page.
pub(crate) const MOST_ROWS: usize = 500_000;

/// The data of a page.
#[derive(Serialize)]
struct PageData<'a> {
    rules: Rules,
    policies: Vec<Look<'a>>,
    baseline: usize,
    /// The places of the policies that are compared with it.
    compared: Vec<usize>,
    /// True if the data can answer which policy is better.
    answerable: bool,
    /// True if waits are over the jobs of the page. Otherwise, jobs that failed have waited, too, and the page does not have them: it shows no
    /// waits of a window.
    waits: bool,
    /// The clock of the trace; `None` if it has no dates.
    clock: Option<PageClock>,
    /// What the clock of the run shows at the first submission, ms.
    first: i64,
    /// From the first submission to the last end in any run, ms.
    span: i64,
    jobs: Jobs<'a>,
    measures: Vec<Measure>,
    /// Measures that are what others leave of a whole.
    rests: Vec<Rest>,
    /// Measures without numbers of their own, each with the one whose numbers it has.
    same: Vec<[&'static str; 2]>,
    /// The measures that charts and tables show by choice.
    choices: Vec<&'static str>,
    /// The rows of the main table that follow from the measures.
    rows: Vec<PageRow>,
    why: PageWhy<'a>,
    timelines: &'a Timelines,
    /// The colours of the jobs that have a layer of their own.
    colours: Vec<String>,
}

/// When the first job was submitted, and how clocks show it.
#[derive(Serialize)]
struct PageClock {
    /// The first submission, ms since the epoch.
    zero: i64,
    /// The place whose clocks are shown; `None` if they are a fixed time ahead of UTC.
    place: Option<&'static str>,
    /// By how many minutes the clocks are ahead of UTC then.
    ahead: i32,
}

/// How a policy looks.
#[derive(Serialize)]
struct Look<'a> {
    label: Cow<'a, str>,
    /// Its colour; none for what really ran, which has that of the text.
    colour: Option<String>,
    /// The form of its marks, 0 to 7.
    form: usize,
    /// The lengths of its line, by turns drawn and left out, pixels; empty for a solid line.
    dash: &'static [u32],
    /// True if it is what really ran, which is no policy and compared with none.
    observed: bool,
}

/// The jobs that count, in the order of submission.
#[derive(Serialize)]
struct Jobs<'a> {
    /// How many count.
    all: usize,
    /// Every how many-th of them is here.
    every: usize,
    ids: Vec<Cow<'a, str>>,
    names: Words<'a>,
    users: Words<'a>,
    queues: Words<'a>,
    /// What the system calls a queue.
    queue: &'static str,
    /// When they were submitted: ms since the one before.
    submits: Vec<i64>,
    tasks: Vec<u32>,
    /// 0 for the smaller half, 2 for the largest tenth, 1 for the rest.
    sizes: Vec<u8>,
    /// True if the size of a job is its CPUs.
    by_cpus: bool,
    /// Further ways to group them.
    ways: Vec<Way>,
}

/// A way to group the jobs.
#[derive(Serialize)]
struct Way {
    by: &'static str,
    /// True if the groups have an order of their own, in which they stand.
    ordered: bool,
    names: Vec<String>,
    /// The place of the group of each job.
    of: Vec<usize>,
}

/// The ways that the script finds in other data.
const OF_SCRIPT: [By; 4] = [By::User, By::Queue, By::Size, By::Hour];

/// Texts that many jobs share: each stands once.
#[derive(Serialize, Default)]
struct Words<'a> {
    words: Vec<Cow<'a, str>>,
    /// The text of each job; empty if no job has one.
    of: Vec<Option<usize>>,
}

/// A measure that is what others leave of the completion time. The page is smaller without its numbers.
#[derive(Serialize)]
struct Rest {
    name: &'static str,
    less: Vec<&'static str>,
}

/// A row of the main table, with which the script computes it for the jobs of a window.
#[derive(Serialize)]
struct PageRow {
    name: &'static str,
    /// `time`, `share`, `count` or `decimals`.
    form: &'static str,
    decimals: usize,
    /// A number, or a list of a word and its arguments.
    formula: Value,
}

/// The unit of a plain number, which is whole in the data of the page.
const TEN_THOUSANDTHS: &str = "1e-4";

/// By how much a value of a quantity is multiplied before it is rounded to a whole number.
fn scale(quantity: &Quantity) -> f64 {
    if unit(quantity) == TEN_THOUSANDTHS { 1e4 } else { 1.0 }
}

fn unit(quantity: &Quantity) -> &'static str {
    match (quantity.unit, quantity.counts) {
        ("", "") => TEN_THOUSANDTHS,
        ("", counts) => counts,
        (unit, _) => unit,
    }
}

/// The rows of the main table whose formulas need only quantities of jobs that the page has. `waits`: it has all jobs that waited.
fn rows(waits: bool) -> Vec<PageRow> {
    let row = |number: &Number, metric: &Metric, row: Row| {
        let (form, decimals) = match row.form {
            Form::Count => ("count", 0),
            Form::Time => ("time", 0),
            Form::Share => ("share", 0),
            Form::Decimals(decimals) => ("decimals", decimals),
        };
        let formula = metric.formula().filter(|formula| waits || covers(formula) == Who::Ended)?;
        Some(PageRow { name: number.field, form, decimals, formula })
    };
    listed_rows().filter_map(|(number, metric, listed)| row(number, metric, listed)).collect()
}

/// The data as JSON, packed with gzip and written in base64: a third of its size, and without a character that HTML knows.
///
/// # Errors
/// [`Error::Draw`] if they cannot be encoded.
pub(crate) fn page_data(
    answer: &Answer,
    scene: &Scene<'_>,
    timelines: &Timelines,
    reasons: &Reasons,
    (names, zone): (&ShortNames, Zone),
) -> Result<String, Error> {
    let (all, every) = (scene.count(), every(scene));
    let waits = answer.population.started == answer.population.jobs;
    let spans = scene.runs.iter().filter_map(|shown| shown.run.jobs.span()).map(|(first, last)| last - first);
    let mut measures = measures(scene, every);
    let same = same(&mut measures);
    let facts = measures.iter().filter(|measure| !measure.runs.is_empty()).map(|measure| measure.name);
    let facts = facts.filter(|name| *name != "completion").collect();
    let mut measures: Vec<Measure> = measures.into_iter().chain(why_data::measures(reasons)).collect();
    let phases: Vec<&'static str> = reasons.phases.iter().map(|phase| phase.name()).collect();
    let rests: Vec<Rest> =
        [&["waiting", "execution"][..], &phases].into_iter().filter_map(|parts| rest(&mut measures, parts)).collect();
    let first = scene.runs.first().and_then(|shown| shown.run.jobs.span()).map_or(0, |(first, _)| first);
    let of_label = |label: &str| answer.policies.iter().position(|policy| policy.label == label);
    let compared: BTreeSet<usize> = answer.compared.iter().filter_map(|row| of_label(&row.policy)).collect();
    let data = PageData {
        rules: Rules::new(),
        compared: compared.into_iter().collect(),
        answerable: answer.is_answerable(),
        waits,
        clock: scene.zero().map(|zero| PageClock { zero, place: zone.place(), ahead: zone.ahead(zero) }),
        first,
        policies: scene.runs.iter().map(|shown| look(shown, names)).collect(),
        baseline: answer.baseline,
        span: spans.max().unwrap_or(0),
        jobs: jobs(answer, scene, all, every),
        why: PageWhy::new(reasons, facts),
        rests,
        same,
        choices: QUANTITIES
            .iter()
            .filter(|quantity| quantity.page == Page::Choice)
            .map(|quantity| quantity.name)
            .collect(),
        rows: rows(waits),
        measures,
        timelines,
        colours: (0..timelines.own.len()).map(|layer| hex(area_colour(layer))).collect(),
    };
    // The highest level takes six times as long as this one and leaves a fourteenth less.
    let packed = GzEncoder::new(Vec::new(), Compression::new(5));
    // The encoder of JSON writes a few bytes at a time.
    let mut packed = BufWriter::with_capacity(64 << 10, packed);
    serde_json::to_writer(&mut packed, &data).map_err(Error::draw("report.html"))?;
    let packed = packed.into_inner().map_err(|error| Error::draw("report.html")(error.into_error()))?;
    Ok(BASE64_STANDARD.encode(packed.finish().map_err(Error::draw("report.html"))?))
}

/// Every how many-th job is in the page.
pub(crate) fn every(scene: &Scene<'_>) -> usize {
    every_of(scene.count() * scene.runs.len())
}

fn every_of(rows: usize) -> usize {
    rows.div_ceil(MOST_ROWS).max(1)
}

fn look<'a>(shown: &Shown<'a>, names: &'a ShortNames) -> Look<'a> {
    let series = shown.series;
    Look {
        label: words::name(names.of_label(shown.label)),
        colour: (series != OBSERVED).then(|| hex(series.colour)),
        form: series.form,
        dash: dash(series.form),
        observed: shown.run.replay().is_none(),
    }
}

/// A colour as CSS writes it.
fn hex(colour: plotters::style::RGBColor) -> String {
    format!("#{:02x}{:02x}{:02x}", colour.0, colour.1, colour.2)
}

/// The jobs. What they are called, and when they were submitted, is the same in all runs; the first knows it.
fn jobs<'a>(answer: &Answer, scene: &Scene<'a>, all: usize, every: usize) -> Jobs<'a> {
    let shown: Vec<&JobMetrics> = scene.jobs.first().into_iter().flatten().step_by(every).copied().collect();
    let sizes = scene.runs.first().map(|shown| Sizes::of(shown.run));
    let size = |job: &JobMetrics| match sizes {
        Some(sizes) if sizes.is_small(job) => 0,
        Some(sizes) if sizes.is_large(job) => 2,
        _ => 1,
    };
    let first = shown.first().and_then(|job| job.submit).unwrap_or(0);
    let mut before = first;
    let since = |job: &&JobMetrics| {
        let submit = job.submit.unwrap_or(before);
        let since = submit.saturating_sub(before);
        before = submit;
        since
    };
    // The first run may be what really ran without names, or a replay that has them.
    let named = |of: fn(&JobMetrics) -> Option<&str>| {
        let run = scene.jobs.iter().find(|jobs| jobs.iter().any(|job| of(job).is_some()));
        run.map_or_else(Words::default, |jobs| Words::of(jobs.iter().step_by(every).map(|job| of(job))))
    };
    Jobs {
        all,
        every,
        ids: shown.iter().map(|job| words::name(&job.job_id)).collect(),
        names: named(|job| job.name.as_deref()),
        users: named(|job| job.user.as_deref()),
        queues: named(|job| job.queue.as_deref()),
        queue: scene.system().says("queue"),
        submits: shown.iter().map(since).collect(),
        tasks: shown.iter().map(|job| job.tasks_done).collect(),
        sizes: shown.iter().map(|job| size(job)).collect(),
        by_cpus: sizes.is_some_and(|sizes| sizes.by() == SizeBy::Cpus),
        ways: ways(answer, scene, &shown),
    }
}

/// The groups of these jobs, in each way that has a table.
fn ways(answer: &Answer, scene: &Scene<'_>, jobs: &[&JobMetrics]) -> Vec<Way> {
    let Some(shown) = scene.runs.first() else { return Vec::new() };
    let of_script = |by: &By| OF_SCRIPT.contains(by);
    let ways = answer.groups.iter().map(|group| group.by).filter(|by| !of_script(by));
    let way = |by: By| {
        let (names, of) = group_of_each(shown.run, jobs, by, Zone::default());
        let names = names.iter().map(|name| words::name(name).into_owned()).collect();
        Way { by: by.word(), ordered: by.is_ordered(), names, of }
    };
    ways.map(way).collect()
}

impl<'a> Words<'a> {
    fn of(texts: impl Iterator<Item = Option<&'a str>>) -> Self {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let mut found = Self::default();
        for text in texts {
            let place = text.map(|text| {
                *places.entry(text).or_insert_with(|| {
                    found.words.push(words::name(text));
                    found.words.len() - 1
                })
            });
            found.of.push(place);
        }
        found
    }
}

/// Takes out the numbers of the largest of the `parts`, if they add up to the completion time of every job.
fn rest(measures: &mut [Measure], parts: &[&'static str]) -> Option<Rest> {
    let of = |name: &str| measures.iter().find(|measure| measure.name == name).map(|measure| &measure.runs);
    let whole = of("completion")?;
    let runs = parts.iter().map(|part| of(part)).collect::<Option<Vec<_>>>()?;
    let value = |runs: &[Numbers], run: usize, job: usize| runs.get(run)?.get(job);
    let sum = |run, job| runs.iter().try_fold(0i64, |sum, part| sum.checked_add(value(part, run, job)?));
    let adds_up = |run: usize, jobs: &Numbers| {
        jobs.iter().enumerate().all(|(job, whole)| whole.is_some() && sum(run, job) == whole)
    };
    if !whole.iter().enumerate().all(|(run, jobs)| adds_up(run, jobs)) {
        return None;
    }
    let size = |part: &&'static str| {
        of(part).into_iter().flatten().flat_map(Numbers::iter).flatten().map(i128::from).sum::<i128>()
    };
    let name = *parts.iter().max_by_key(|part| size(part))?;
    let measure = measures.iter_mut().find(|measure| measure.name == name)?;
    measure.runs = Vec::new();
    Some(Rest { name, less: parts.iter().copied().filter(|part| *part != name).collect() })
}

/// Takes out the numbers of facts that are those of an earlier measure.
fn same(measures: &mut [Measure]) -> Vec<[&'static str; 2]> {
    let mut found = Vec::new();
    let is_fact = |name: &str| QUANTITIES.iter().any(|quantity| quantity.name == name && quantity.page == Page::Fact);
    for place in 1..measures.len() {
        let (before, rest) = measures.split_at_mut(place);
        let Some(next) = rest.first_mut().filter(|next| is_fact(next.name)) else { continue };
        if let Some(other) = before.iter().find(|other| other.unit == next.unit && other.runs == next.runs) {
            found.push([next.name, other.name]);
            next.runs = Vec::new();
        }
    }
    found
}

/// The quantities of the jobs that the page has, without those that are nothing for all of them.
fn measures(scene: &Scene<'_>, every: usize) -> Vec<Measure> {
    let of_page = QUANTITIES.iter().filter(|quantity| quantity.page != Page::Absent);
    let of_page: Vec<(&Quantity, f64)> = of_page.map(|quantity| (quantity, scale(quantity))).collect();
    // Rows of jobs are large, so that all quantities of a job are taken at once.
    let of_run = |jobs: &Vec<&JobMetrics>| {
        let room = jobs.len().div_ceil(every);
        let mut all: Vec<Numbers> = of_page.iter().map(|_| Numbers::with_room(room)).collect();
        for job in jobs.iter().step_by(every) {
            for (numbers, (quantity, scale)) in all.iter_mut().zip(&of_page) {
                numbers.push((quantity.of)(job).map(|value| (scale * value).round() as i64));
            }
        }
        all.into_iter()
    };
    let mut of_runs: Vec<_> = scene.jobs.iter().map(of_run).collect();
    let mut of_quantity = |quantity| measure(quantity, of_runs.iter_mut().filter_map(Iterator::next).collect());
    of_page.iter().filter_map(|&(quantity, _)| of_quantity(quantity)).collect()
}

/// A quantity of the jobs of each run; `None` if it is nothing for all of them.
fn measure(quantity: &Quantity, runs: Vec<Numbers>) -> Option<Measure> {
    // Times that are zero for all say something; of other numbers, only what some job has is worth its place.
    let is_time = quantity.page == Page::Choice;
    let is_known = runs.iter().flat_map(Numbers::iter).flatten().any(|value| is_time || value != 0);
    let title = quantity.title.to_owned();
    (is_known || quantity.name == "completion").then_some(Measure {
        name: quantity.name,
        title,
        unit: unit(quantity),
        runs,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_at_the_limit_has_all_jobs_and_a_larger_one_every_second() {
        let rows = [0, 1, MOST_ROWS, MOST_ROWS + 1, 2 * MOST_ROWS, 2 * MOST_ROWS + 1];
        assert_eq!(rows.map(every_of), [1, 1, 1, 2, 2, 3]);
    }
}
