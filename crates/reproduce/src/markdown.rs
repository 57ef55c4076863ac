//! The reproduction as Markdown: every row, knob and assumption.

use std::fmt::Write;

use crate::headline::headline;
use crate::opening::{Opening, openings};
use crate::row::RULE;
use crate::runner::Reproduced;
use crate::{Cause, Verdict};

/// `REPRODUCTION.md`.
pub(crate) fn markdown(all: &[Reproduced]) -> String {
    let mut text = String::from("# The papers' experiments, replayed\n\n");
    text += "The paper's number beside the mean of the replays, with its 95 % interval by Student's t over the seeds of the row.\n\n";
    // Writing to a string cannot fail.
    for Opening { paper, sentences } in openings(all) {
        let _ = writeln!(text, "**{}.** {}\n", paper.name(), sentences.join(" "));
    }
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
    text
}

/// How to read the rows.
pub(crate) const HOW: &str = "\
Knobs were set by what a paper reports of its baseline scheduler alone, once per testbed, then frozen. A *claim* is about the policy that \
the paper proposes, and the headline counts claims alone. A *baseline* row is a number of the baseline that fixed no knob; a *calibrated* one \
did, and is no evidence; an *arithmetic* row follows from others or from a formula, or could hardly fail; a *check* stands for no sentence of \
the paper; a *variant* is a claim under another reading of what the paper leaves open. A row that does not agree names its cause: *ours* (our model or reading, known and not yet \
mended), *missing* (the paper does not say what is needed), *paper* (not consistent in itself) or *variant*.";

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
    if !experiment.knobs.is_empty() {
        text.push_str("\nKnobs:\n\n");
    }
    for knob in experiment.knobs {
        let _ = writeln!(text, "* `{}` = {}: {}", knob.place, knob.value, knob.fixed_by);
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
