//! The files of a search: `size.json`, `probes.csv`, the curve (SVG and PNG) and `index.html`.

use askama::Template;
use resched_analysis::metrics::bound::never_bound;
use resched_report::{Figure, Frame, Line, Lines, Shape, alike, draw_lines, emphasised, escaped, gallery};
use resched_tables::store::OwnFiles;

use super::{Answer, Bound, Probe, Sizing, Vary};
use crate::Error;
use crate::interval::{MeanInterval, over_draws};

/// The name of the figure, without extension.
const CURVE: &str = "curve";

/// The names of the files that every search has when it is done.
pub const FILES: [&str; 3] = ["size.json", "probes.csv", "index.html"];

/// A size with its unit, in the words of the system that ran the jobs.
pub fn sized(size: u32, asked: &Sizing) -> String {
    let system = asked.source.system();
    let sized = match asked.vary {
        Vary::Nodes if size == 1 => format!("1 {}", system.says("node")),
        Vary::Nodes => format!("{size} {}", system.says("nodes")),
        Vary::Slots if size == 1 => "1 map slot per node".to_owned(),
        Vary::Slots => format!("{size} map slots per node"),
    };
    match &asked.partition {
        Some(name) => format!("{sized} of {name}"),
        None => sized,
    }
}

/// Writes the answer in place of an earlier one.
///
/// # Errors
/// [`Error::Work`] or [`Error::Store`] if a file cannot be written; [`Error::Report`] if the curve cannot be drawn.
pub fn write(asked: &Sizing, answer: &Answer, sentences: &[String], out: OwnFiles) -> Result<(), Error> {
    let json = serde_json::to_string_pretty(answer).map_err(broken)? + "\n";
    let figure = curve(asked, answer)?;
    let mut files = vec![
        ("size.json".to_owned(), json.into_bytes()),
        ("probes.csv".to_owned(), table(answer)?),
        ("index.html".to_owned(), page(asked, answer, sentences, figure.as_slice())?.into_bytes()),
    ];
    if let Some(figure) = figure {
        files.extend(figure.files()?);
    }
    Ok(out.replace(&files)?)
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::Work(format!("the answer cannot be written: {error}"))
}

/// A row for each size that was tried.
fn table(answer: &Answer) -> Result<Vec<u8>, Error> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(["size", "seeds", "mean", "low", "high", "within_bound", "problem"]).map_err(broken)?;
    for probe in &answer.found.probes {
        let [mean, low, high] = ends(probe).map(|value| value.map_or_else(String::new, |value| value.to_string()));
        let problem = probe.problem.clone().unwrap_or_default();
        let row =
            [probe.size.to_string(), probe.values.len().to_string(), mean, low, high, probe.holds.to_string(), problem];
        table.write_record(row).map_err(broken)?;
    }
    table.into_inner().map_err(broken)
}

/// The mean of a probe, and the ends of its interval.
fn ends(probe: &Probe) -> [Option<f64>; 3] {
    let Some(MeanInterval { mean, low, high }) = probe.mean else { return [None; 3] };
    [Some(mean), low, high]
}

/// The metric over the size, with its intervals, the bound, the size that the source has, and the knee; `None` without points.
fn curve(asked: &Sizing, answer: &Answer) -> Result<Option<Figure>, Error> {
    let (metric, found) = (&asked.metric, &answer.found);
    let point = |probe: &Probe| {
        let MeanInterval { mean, low, high } = probe.mean?;
        let [mean, low, high] = [mean, low.unwrap_or(mean), high.unwrap_or(mean)].map(|value| metric.shown(value));
        Some((f64::from(probe.size), mean, low, high))
    };
    let points: Vec<(f64, f64, f64, f64)> = found.probes.iter().filter_map(point).collect();
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Ok(None) };
    let (bound, words) = match asked.bound {
        Bound::Below(most) => (most, format!("bound: at most {}", metric.in_words(most))),
        Bound::Above(least) => (least, format!("bound: at least {}", metric.in_words(least))),
    };
    let bound = metric.shown(bound);
    let level = vec![(first.0, bound, bound, bound), (last.0, bound, bound, bound)];
    let line = |label: String, points, shape| Line { label, points, shape };
    let at = |size: u32| {
        points.iter().find(|point| point.0 == f64::from(size)).map(|point| (point.0, point.1, point.1, point.1))
    };
    let mark = |size: Option<u32>, what: &str| {
        let size = size?;
        Some(line(format!("{what}: {}", sized(size, asked)), vec![at(size)?], Shape::Joined))
    };
    let marks = [mark(Some(found.own), "own size"), mark(found.knee, "knee"), mark(found.size, "answer")];
    let curves = [line(metric.title.clone(), points.clone(), Shape::Joined), line(words, level, Shape::Curve)];
    let series: Vec<Line> = curves.into_iter().chain(marks.into_iter().flatten()).collect();
    let x = match asked.vary {
        Vary::Nodes => asked.source.system().says("nodes"),
        Vary::Slots => "map slots of a node",
    };
    let y = metric.axis();
    let chart = Lines { name: CURVE, x, logarithmic: true, ends: None, y: &y, band: false, series: &series };
    let svg = draw_lines(&chart, resched_policies::order_of)?;
    Ok(svg.map(|svg| Figure {
        name: CURVE.to_owned(),
        title: format!("{} over {x} under {}", metric.title, answer.policy),
        caption: "The mean over the seeds with its 95 % interval at each size tried. The knee is the point farthest from the line \
                  between the first and the last one, with sizes on a logarithmic scale."
            .to_owned(),
        svg,
    }))
}

#[derive(Template)]
#[template(path = "size.html")]
struct Body<'a> {
    version: &'static str,
    title: String,
    /// The answer in sentences.
    answer: &'a [String],
    grade: &'static str,
    /// What the answer rests on, as HTML.
    caveats: Vec<(&'static str, String)>,
    metric: &'a str,
    rows: Vec<Row>,
    gallery: String,
}

struct Row {
    size: String,
    cells: Vec<String>,
    note: String,
}

fn page(asked: &Sizing, answer: &Answer, sentences: &[String], figures: &[Figure]) -> Result<String, Error> {
    let title = format!("{} under {}", asked.source.name(), answer.policy);
    let cells = alike(&asked.metric, &answer.found.probes.iter().flat_map(ends).collect::<Vec<_>>());
    let row = |(probe, cells): (&Probe, &[String])| Row {
        size: sized(probe.size, asked),
        cells: cells.to_vec(),
        note: note(probe),
    };
    let caveat = |fact: &resched_tables::validity::Fact| {
        (fact.grade.in_words(), emphasised(format!("{} {}", fact.says, fact.remedy).trim()))
    };
    let body = Body {
        version: env!("CARGO_PKG_VERSION"),
        title: title.clone(),
        answer: sentences,
        grade: answer.grade.in_words(),
        caveats: answer.validity.caveats().into_iter().map(caveat).collect(),
        metric: &asked.metric.name,
        rows: answer.found.probes.iter().zip(cells.chunks(3)).map(row).collect(),
        gallery: gallery(figures)?,
    };
    let body = body.render().map_err(|error| Error::Work(format!("index.html cannot be made: {error}")))?;
    let title = format!("resched size: {}", escaped(&title));
    Ok(Frame { title: &title, body: &body, interactive: false }.page()?)
}

/// Whether a probe is within the bound, or why it could not be replayed.
pub fn note(probe: &Probe) -> String {
    probe.problem.clone().unwrap_or_else(|| if probe.holds { "yes" } else { "no" }.to_owned())
}

/// The answer in sentences.
pub fn in_words(asked: &Sizing, answer: &Answer) -> Vec<String> {
    use super::Verdict;
    let Sizing { metric, bound, vary, seeds, .. } = asked;
    let found = &answer.found;
    let bound = match bound {
        Bound::Below(most) => format!("at most {}", metric.in_words(*most)),
        Bound::Above(least) => format!("at least {}", metric.in_words(*least)),
    };
    let name = &metric.name;
    let mut all = vec![match (found.verdict, found.size) {
        (Verdict::Smallest, Some(size)) => {
            let is = if *vary == Vary::Nodes && size == 1 { "is" } else { "are" };
            format!("{} {is} the smallest size that keeps {name} {bound}.", sized(size, asked))
        }
        (Verdict::Always, _) => {
            let why = if answer.from > 1 { "the smallest size to try; lower --from" } else { "and no size is smaller" };
            format!("{name} is already {bound} with {}, {why}.", sized(answer.from, asked))
        }
        _ if !falls(asked, found) => format!(
            "{name} is not {bound} with {}, the largest size to try, and larger sizes are not better; raise the bound.",
            sized(answer.to, asked)
        ),
        _ => format!(
            "{name} is not {bound} with {}, the largest size to try; raise --to or the bound.",
            sized(answer.to, asked)
        ),
    }];
    let at_source = found.probes.iter().find(|probe| probe.size == found.own).and_then(|probe| probe.mean);
    if let Some(probe) = at_source {
        all.push(format!("With its own {}, {name} is {}.", sized(found.own, asked), metric.in_words(probe.mean)));
    }
    if let Some((_, Some(smaller))) = found.at_answer()
        && let Some(problem) = &smaller.problem
    {
        let why = problem.strip_prefix("no: ").unwrap_or(problem);
        all.push(format!("Smaller sizes do not do: with {}, {why}.", sized(smaller.size, asked)));
    }
    all.extend(knee_in_words(asked, found));
    if let Some((smaller, larger)) = found.not_monotone {
        all.push(format!(
            "{} {} worse than {}: the metric does not improve with each machine, so a smaller size may also suffice.",
            sized(larger, asked),
            if larger == 1 { "is" } else { "are" },
            sized(smaller, asked)
        ));
    }
    let intervals = found.probes.iter().filter_map(|probe| probe.mean);
    all.extend(over_draws(intervals, asked.source.has_fixed_jobs()).map(str::to_owned));
    if *seeds == 1 {
        all.push("One seed does not show the spread; give more with --seeds.".to_owned());
    }
    let straddles = |probe: &Probe| {
        let ends = probe.mean.and_then(|found| found.low.zip(found.high));
        ends.is_some_and(|(low, high)| asked.bound.holds(low) != asked.bound.holds(high))
    };
    if let Some((at, smaller)) = found.at_answer()
        && (straddles(at) || smaller.is_some_and(straddles))
    {
        all.push(
            "The bound lies in the interval of the answer or of the next smaller size; use more --seeds for a more certain answer."
                .to_owned(),
        );
    }
    if let Some(probe) = found.decisive() {
        let at = sized(probe.size, asked);
        all.extend(never_bound(&probe.bound).iter().map(|sentence| format!("With {at}: {}", lower_first(sentence))));
    }
    all
}

/// The knee of the curve, with what larger sizes still bring.
fn knee_in_words(asked: &Sizing, found: &super::Sized) -> Option<String> {
    let knee = found.knee?;
    let at = |probe: &&Probe| probe.size == knee;
    let (here, last) = (found.probes.iter().find(at)?, found.probes.iter().rev().find(|probe| probe.mean.is_some())?);
    let [from, to] = [here, last].map(|probe| probe.mean.map(|found| asked.metric.in_words(found.mean)));
    Some(format!(
        "The knee of the curve is at {}: up to {}, {} goes from {} to {} only.",
        sized(knee, asked),
        sized(last.size, asked),
        asked.metric.name,
        from?,
        to?
    ))
}

/// True if the largest size that was tried is better than the smallest.
fn falls(asked: &Sizing, found: &super::Sized) -> bool {
    let cost = |probe: &Probe| Some(asked.metric.cost(probe.mean?.mean));
    let mut costs = found.probes.iter().filter_map(cost);
    match (costs.next(), costs.next_back()) {
        (Some(first), Some(last)) => last < first,
        _ => true,
    }
}

/// A sentence as a part of another.
fn lower_first(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
