//! The reproduction as Markdown: every row, knob and assumption.

use std::fmt::Write;

use crate::experiment::Paper;
use crate::headline::headline;
use crate::opening::{Main, Opening, REPRODUCED, knobs, openings, papers};
use crate::row::RULE;
use crate::runner::Reproduced;
use crate::{Cause, Verdict};

/// `REPRODUCTION.md`.
pub(crate) fn markdown(all: &[Reproduced]) -> String {
    let mut text = String::from("# The papers' experiments, replayed\n\n");
    text += "| paper | claimed | replayed | reproduced | why not all |\n|---|---|---|---|---|\n";
    // Writing to a string cannot fail.
    for opening in openings(all) {
        let _ = writeln!(text, "{}", line(&opening));
    }
    let _ = writeln!(text, "\n{REPRODUCED}\n");
    let _ = writeln!(text, "{HOW}\n");
    let _ = writeln!(text, "{RULE}\n");
    let headline = headline(all);
    let verdicts = Verdict::ALL.map(Verdict::name).join(" | ");
    let _ = writeln!(
        text,
        "{}\n\n| | rows | {verdicts} |\n|---|{}",
        headline.sentence,
        "---:|".repeat(Verdict::ALL.len() + 1)
    );
    for line in &headline.lines {
        let counts = line.counts.map(|count| count.to_string()).join(" | ");
        let _ = writeln!(text, "| {} | {} | {counts} |", line.name, line.rows);
    }
    for reproduced in all {
        section(&mut text, reproduced);
    }
    for paper in papers(all) {
        knobs_of(&mut text, paper, all);
    }
    text
}

/// A paper's line of the table that opens the page.
fn line(opening: &Opening) -> String {
    let Opening { paper, claimed, main, reproduced, agree, why } = opening;
    let main = main.iter().map(|Main { quantity, paper, replay, verdict }| {
        format!("{quantity}: paper {paper}, replay {replay}, {verdict}")
    });
    let main = main.collect::<Vec<_>>().join("<br>");
    let cells = [paper.name(), claimed, &in_cell(&main), &format!("**{reproduced}**: {agree}"), &in_cell(why)];
    format!("| {} |", cells.join(" | "))
}

/// The knobs of a paper.
fn knobs_of(text: &mut String, paper: Paper, all: &[Reproduced]) {
    let knobs = knobs(paper, all);
    if !knobs.is_empty() {
        let _ = writeln!(text, "\n## Knobs of {}\n", paper.name());
    }
    for knob in knobs {
        let _ = writeln!(text, "* `{}` = {}: {}", knob.place, knob.value, knob.fixed_by);
    }
}

/// How to read the rows.
pub(crate) const HOW: &str = "\
Knobs were set by what a paper reports of its baseline scheduler alone, once per testbed, then frozen. A *claim* is about the policy that \
the paper proposes, and the headline counts claims alone. A *baseline* row is a number of the baseline that fixed no knob; a *calibrated* \
one did, and is no evidence; an *arithmetic* row follows from others or from a formula, or could hardly fail; a *check* has no sentence \
in the paper; a *variant* is a claim under another reading of the paper. A row that does not agree names its cause: *ours* (our model or \
reading, known and not yet corrected), *missing* (the paper does not say what is needed), *paper* (not consistent in itself) or *variant*.";

fn section(text: &mut String, reproduced: &Reproduced) {
    let experiment = reproduced.experiment;
    let paper = experiment.paper.name();
    let _ = writeln!(text, "\n## {}: {}\n\n{paper}, {}.\n", experiment.name, experiment.title, experiment.source);
    text.push_str("| quantity | where | unit | | paper | replay | 95 % interval | seeds | verdict | cause | why |\n");
    text.push_str("|---|---|---|---|---:|---:|---:|---:|---|---|---|\n");
    for row in &reproduced.rows {
        let [paper, replay, interval, seeds] = row.numbers();
        let cells = [
            in_cell(&row.quantity),
            in_cell(row.source),
            row.unit.to_owned(),
            row.role.name().to_owned(),
            paper,
            replay,
            interval,
            seeds,
            row.verdict.name().to_owned(),
            row.cause.map_or("", Cause::name).to_owned(),
            in_cell(&row.why),
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    for band in &reproduced.bands {
        let _ = writeln!(text, "\n{}, over {}: {}", in_cell(&band.claim), band.unknown, band.in_one_sentence());
    }
    if !experiment.assumptions.is_empty() {
        text.push_str("\nAssumptions:\n\n");
    }
    for assumption in experiment.assumptions {
        let _ = writeln!(text, "* {assumption}");
    }
    for figure in &reproduced.figures {
        let _ = writeln!(text, "\n![{}]({}.svg)\n\n{}", in_cell(&figure.title), figure.name, in_cell(&figure.caption));
    }
}

/// A text without characters that end a cell of a table.
fn in_cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
