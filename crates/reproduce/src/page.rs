//! The reproduction as one page.

use askama::Template;

use crate::experiment::Knob;
use crate::markdown::{HOW, numbers};
use crate::runner::{Figure, Reproduced};
use crate::{Error, Row, Verdict};

#[derive(Template)]
#[template(path = "index.html")]
struct Page<'a> {
    version: &'static str,
    seeds: u64,
    how: &'static str,
    counts: Vec<(&'static str, &'static str, usize)>,
    experiments: Vec<Section<'a>>,
}

struct Section<'a> {
    name: &'static str,
    title: &'static str,
    paper: &'static str,
    source: &'static str,
    rows: Vec<Line<'a>>,
    knobs: &'static [Knob],
    assumptions: &'static [&'static str],
    figures: &'a [Figure],
}

struct Line<'a> {
    quantity: &'a str,
    unit: &'static str,
    role: &'static str,
    numbers: [String; 4],
    verdict: &'static str,
    class: &'static str,
    why: &'a str,
}

/// The page; whatever stands in it is escaped but for the figures, which are ours.
///
/// # Errors
/// [`Error::Defect`] if the template cannot be filled.
pub(crate) fn page(all: &[Reproduced]) -> Result<String, Error> {
    let rows = || all.iter().flat_map(|reproduced| &reproduced.rows);
    let count =
        |verdict: Verdict| (verdict.name(), class(verdict), rows().filter(|row| row.verdict == verdict).count());
    let page = Page {
        version: env!("CARGO_PKG_VERSION"),
        seeds: all.first().map_or(0, |reproduced| reproduced.seeds),
        how: HOW,
        counts: Verdict::ALL.map(count).to_vec(),
        experiments: all.iter().map(section).collect(),
    };
    page.render().map_err(|error| Error::Defect(format!("index.html: {error}")))
}

fn line(row: &Row) -> Line<'_> {
    let Row { quantity, unit, role, verdict, why, .. } = row;
    let (verdict, class) = (verdict.name(), class(*verdict));
    Line { quantity, unit, role: role.name(), numbers: numbers(row), verdict, class, why }
}

fn section(reproduced: &Reproduced) -> Section<'_> {
    let experiment = reproduced.experiment;
    Section {
        name: experiment.name,
        title: experiment.title,
        paper: experiment.paper.name(),
        source: experiment.source,
        rows: reproduced.rows.iter().map(line).collect(),
        knobs: experiment.knobs,
        assumptions: experiment.assumptions,
        figures: &reproduced.figures,
    }
}

/// The style of a verdict.
fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees => "agrees",
        Verdict::SameDirection => "same",
        Verdict::Differs => "differs",
        Verdict::CannotBeReplayed => "cannot",
    }
}
