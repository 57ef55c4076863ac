//! The reproduction as one page.

use askama::Template;
use resched_report::{Frame, emphasised, gallery};

use crate::experiment::Knob;
use crate::headline::{Headline, headline};
use crate::markdown::HOW;
use crate::opening::{Opening, REPRODUCED, openings};
use crate::part::{Claim, Part, parts};
use crate::row::RULE;
use crate::runner::Reproduced;
use crate::{Cause, Error, Role, Row, Verdict};

/// The title of the page.
const TITLE: &str = "resched: the papers' experiments, replayed";

#[derive(Template)]
#[template(path = "index.html")]
struct Body<'a> {
    version: &'static str,
    /// How to read the rows, as HTML.
    how: String,
    /// The rule of verdicts, as HTML.
    rule: String,
    /// What the answers of the openings mean, as HTML.
    reproduced: String,
    openings: Vec<Opening>,
    verdicts: Vec<(&'static str, &'static str)>,
    headline: Headline,
    papers: Vec<OfPaper<'a>>,
}

/// The part of a paper.
struct OfPaper<'a> {
    name: &'static str,
    /// Its anchor.
    id: &'static str,
    claims: Vec<Line<'a>>,
    experiments: Vec<Section<'a>>,
    knobs: Vec<Knob>,
    assumptions: Vec<(&'static str, &'static str)>,
}

struct Section<'a> {
    name: &'static str,
    title: &'static str,
    source: &'static str,
    /// The rows that are no claims.
    rows: Vec<Line<'a>>,
    /// Its figures, as HTML; empty for none.
    gallery: String,
}

struct Line<'a> {
    quantity: &'a str,
    source: &'static str,
    unit: &'static str,
    role: &'static str,
    numbers: [String; 4],
    verdict: &'static str,
    class: &'static str,
    /// The open numbers that it was tried over.
    over: Vec<String>,
    /// What kind of thing makes it differ; empty if it agrees.
    cause: &'static str,
    why: &'a str,
}

/// The page. All texts in it are escaped; the figures need not be.
///
/// # Errors
/// [`Error::Defect`] or [`Error::Report`] if a template cannot be filled.
pub(crate) fn page(all: &[Reproduced]) -> Result<String, Error> {
    let body = Body {
        version: env!("CARGO_PKG_VERSION"),
        how: emphasised(HOW),
        rule: emphasised(RULE),
        reproduced: emphasised(REPRODUCED),
        openings: openings(all),
        verdicts: Verdict::ALL.map(|verdict| (verdict.name(), class(verdict))).to_vec(),
        headline: headline(all),
        papers: parts(all).into_iter().map(of_paper).collect::<Result<_, Error>>()?,
    };
    let body = body.render().map_err(|error| Error::Defect(format!("index.html: {error}")))?;
    Ok(Frame { title: TITLE, body: &body, interactive: false }.page()?)
}

fn of_paper(part: Part<'_>) -> Result<OfPaper<'_>, Error> {
    let Part { paper, experiments, claims, knobs, assumptions } = part;
    Ok(OfPaper {
        name: paper.name(),
        id: paper.id(),
        claims: claims.into_iter().map(|Claim { row, over }| line(row, over)).collect(),
        experiments: experiments.into_iter().map(section).collect::<Result<_, Error>>()?,
        knobs,
        assumptions,
    })
}

fn line(row: &Row, over: Vec<String>) -> Line<'_> {
    let Row { quantity, source, unit, role, verdict, why, .. } = row;
    let (verdict, class) = (verdict.name(), class(*verdict));
    let cause = row.cause.map_or("", Cause::name);
    Line { quantity, source, unit, role: role.name(), numbers: row.numbers(), verdict, class, over, cause, why }
}

fn section(reproduced: &Reproduced) -> Result<Section<'_>, Error> {
    let experiment = reproduced.experiment;
    let figures = &reproduced.figures;
    let others = reproduced.rows.iter().filter(|row| row.role != Role::Claim);
    Ok(Section {
        name: experiment.name,
        title: experiment.title,
        source: experiment.source,
        rows: others.map(|row| line(row, Vec::new())).collect(),
        gallery: if figures.is_empty() { String::new() } else { gallery(figures)? },
    })
}

/// The style of a verdict.
fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees | Verdict::AgreesByTolerance => "agrees",
        Verdict::SameDirection => "same",
        Verdict::Undecided => "undecided",
        Verdict::Differs => "differs",
        Verdict::CannotBeReplayed => "cannot",
    }
}
