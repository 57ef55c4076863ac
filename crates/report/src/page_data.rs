//! What the script of a page needs: the jobs in columns, the timelines, and how each policy looks.
//!
//! Numbers are whole, and those that grow are differences, so that a day of a large cluster stays a few MB. `jobs.parquet` has the same
//! numbers, and `timelines.csv` those over time.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use resched_analysis::JobMetrics;
use resched_analysis::measure::Sizes;
use resched_analysis::timeline::span;
use resched_trace::words;
use serde::Serialize;

use crate::Error;
use crate::answer::Answer;
use crate::phases::{PhaseOfJobs, Phases};
use crate::scene::{Scene, Shown};
use crate::style::{OBSERVED, area_colour, dash};
use crate::timelines::Timelines;

/// The most rows of jobs in a page, over all policies. Of more jobs, every second, third and so on is in the page.
pub(crate) const MOST_ROWS: usize = 500_000;

/// The data of a page.
#[derive(Serialize)]
struct PageData<'a> {
    policies: Vec<Look<'a>>,
    baseline: usize,
    /// From the first submission to the last end in any run, ms.
    span: i64,
    jobs: Jobs<'a>,
    measures: Vec<Measure>,
    why: Why,
    timelines: &'a Timelines,
    /// The colours of the jobs that have a layer of their own.
    colours: Vec<String>,
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
    /// When they were submitted: ms since the one before.
    submits: Vec<i64>,
    tasks: Vec<u64>,
    /// 0 for the smaller half, 2 for the largest tenth, 1 for the rest.
    sizes: Vec<u8>,
}

/// Texts that many jobs share: each stands once.
#[derive(Serialize, Default)]
struct Words<'a> {
    words: Vec<Cow<'a, str>>,
    /// The text of each job; empty if no job has one.
    of: Vec<Option<usize>>,
}

/// A number of each job in each run.
#[derive(Serialize)]
struct Measure {
    name: &'static str,
    title: String,
    /// `ms`, or what is counted.
    unit: &'static str,
    runs: Vec<Vec<Option<i64>>>,
}

/// What explains the time of a job. Each is the name of a measure.
#[derive(Serialize)]
struct Why {
    /// The parts that add up to its completion time, in order.
    parts: Vec<&'static str>,
    /// What else is known.
    facts: Vec<&'static str>,
    /// What to know of the parts; empty if nothing.
    note: &'static str,
}

/// Name, title and unit of a measure, and its value for a job.
type Kind = ((&'static str, &'static str, &'static str), fn(&JobMetrics) -> Option<i64>);

/// The measures that can be chosen, and then those that explain them. Those that no job has are left out.
const KINDS: &[Kind] = &[
    (("completion", "Completion time", "ms"), |job| job.completion),
    (("waiting", "Waiting time", "ms"), |job| job.waiting),
    (("execution", "Execution time", "ms"), |job| job.execution),
    (("starvation", "Starvation of reduces, mean", "ms"), |job| job.starvation.map(|ms| ms.round() as i64)),
    (("queueing", "Queueing of its tasks, mean", "ms"), |job| job.queueing.map(|ms| ms.round() as i64)),
    (("slot_time", "Run times of all attempts", "ms"), |job| Some(job.slot_time)),
    (("node_local", "Maps node-local", "maps"), |job| launches(job, 0)),
    (("rack_local", "Maps rack-local", "maps"), |job| launches(job, 1)),
    (("off_rack", "Maps off-rack", "maps"), |job| launches(job, 2)),
    (("evictions", "Attempts that made room for others", "attempts"), |job| whole(job.evictions)),
];

/// What to know of the phases if a run does not keep why its policy passed over jobs.
const WITHOUT_REASONS: &str = "A run that was replayed without --decisions does not know why its policy passed over a job: there, every \
                               wait for a place counts as one for a free place, even if the job held out for its data or had reached a limit.";

/// The measures that add up to the completion time if phases are not known.
const PARTS: [&str; 2] = ["waiting", "execution"];

fn whole(number: u64) -> Option<i64> {
    i64::try_from(number).ok()
}

/// The maps that were launched so far from their input.
fn launches(job: &JobMetrics, distance: usize) -> Option<i64> {
    job.map_launches.get(distance).copied().and_then(whole)
}

/// The data as JSON, packed with gzip and written in base64: a third of its size, and without a character that HTML knows.
///
/// # Errors
/// [`Error::Draw`] if they cannot be encoded.
pub(crate) fn page_data(
    answer: &Answer,
    scene: &Scene<'_>,
    timelines: &Timelines,
    phases: &Phases,
) -> Result<String, Error> {
    let all = scene.ids().len();
    let every = (all * scene.runs.len()).div_ceil(MOST_ROWS).max(1);
    let spans = scene.runs.iter().filter_map(|shown| span(&shown.run.jobs)).map(|(first, last)| last - first);
    let measures = KINDS.iter().filter_map(|kind| measure(scene, kind, every));
    let measures: Vec<Measure> = measures.chain(phases.of_jobs.iter().map(|phase| of_phase(phase, every))).collect();
    let known = |name: &&'static str| measures.iter().any(|measure| measure.name == *name);
    let of_phases: Vec<&'static str> = phases.of_jobs.iter().map(|(phase, _)| phase.name()).collect();
    let parts = if of_phases.is_empty() { PARTS.to_vec() } else { of_phases };
    let facts: Vec<&'static str> =
        KINDS.iter().map(|kind| kind.0.0).filter(|name| *name != "completion" && !parts.contains(name)).collect();
    let data = PageData {
        policies: scene.runs.iter().map(look).collect(),
        baseline: answer.baseline,
        span: spans.max().unwrap_or(0),
        jobs: jobs(scene, all, every),
        why: Why {
            parts: parts.into_iter().filter(known).collect(),
            facts: facts.into_iter().filter(known).collect(),
            note: if phases.have_reasons { "" } else { WITHOUT_REASONS },
        },
        measures,
        timelines,
        colours: (0..timelines.own.len()).map(|layer| hex(area_colour(layer))).collect(),
    };
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    serde_json::to_writer(&mut packed, &data).map_err(Error::draw("report.html"))?;
    Ok(BASE64_STANDARD.encode(packed.finish().map_err(Error::draw("report.html"))?))
}

fn look<'a>(shown: &Shown<'a>) -> Look<'a> {
    let series = shown.series;
    Look {
        label: words::name(shown.label),
        colour: (series != OBSERVED).then(|| hex(series.colour)),
        form: series.form,
        dash: dash(series.form),
    }
}

/// A colour as CSS writes it.
fn hex(colour: plotters::style::RGBColor) -> String {
    format!("#{:02x}{:02x}{:02x}", colour.0, colour.1, colour.2)
}

/// The jobs. What they are called, and when they were submitted, is the same in all runs; the first knows it.
fn jobs<'a>(scene: &Scene<'a>, all: usize, every: usize) -> Jobs<'a> {
    let own: Vec<&JobMetrics> = scene.jobs.first().into_iter().flatten().step_by(every).copied().collect();
    let sizes = scene.runs.first().map(|shown| Sizes::of(shown.run));
    let size = |job: &JobMetrics| match sizes {
        Some(sizes) if sizes.is_small(job) => 0,
        Some(sizes) if sizes.is_large(job) => 2,
        _ => 1,
    };
    let first = own.first().and_then(|job| job.submit).unwrap_or(0);
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
        ids: own.iter().map(|job| words::name(&job.job_id)).collect(),
        names: named(|job| job.name.as_deref()),
        users: named(|job| job.user.as_deref()),
        queues: named(|job| job.queue.as_deref()),
        submits: own.iter().map(since).collect(),
        tasks: own.iter().map(|job| job.tasks_done).collect(),
        sizes: own.iter().map(|job| size(job)).collect(),
    }
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

/// The time of the jobs in a phase.
fn of_phase((phase, runs): &PhaseOfJobs, every: usize) -> Measure {
    let words = phase.in_words();
    let title = words.get(..1).unwrap_or_default().to_uppercase() + words.get(1..).unwrap_or_default();
    let runs = runs.iter().map(|jobs| jobs.iter().step_by(every).copied().collect()).collect();
    Measure { name: phase.name(), title, unit: "ms", runs }
}

/// A measure of the jobs; `None` if it is nothing for all of them.
fn measure(scene: &Scene<'_>, ((name, title, unit), of): &Kind, every: usize) -> Option<Measure> {
    let of_run = |jobs: &Vec<&JobMetrics>| jobs.iter().step_by(every).map(|job| of(job)).collect::<Vec<_>>();
    let runs: Vec<Vec<Option<i64>>> = scene.jobs.iter().map(of_run).collect();
    let is_known = runs.iter().flatten().flatten().any(|value| *value != 0);
    (is_known || *name == "completion").then_some(Measure { name, title: (*title).to_owned(), unit, runs })
}
