//! The reproduction as Markdown: every row, knob and assumption.

use std::fmt::Write;

use crate::headline::headline;
use crate::opening::{Main, Opening, REPRODUCED, openings};
use crate::part::{Claim, Part, parts};
use crate::row::RULE;
use crate::runner::Reproduced;
use crate::{Cause, Role, Verdict};

/// `REPRODUCTION.md`.
pub(crate) fn markdown(all: &[Reproduced]) -> String {
    let mut text = String::from("# The papers' experiments, replayed\n\n");
    text += "| paper | claimed | replayed | reproduced | why not all |\n|---|---|---|---|---|\n";
    // Writing to a string cannot fail.
    for opening in openings(all) {
        let _ = writeln!(text, "{}", line(&opening));
    }
    let _ = writeln!(text, "\n{REPRODUCED}\n");
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
    for part in parts(all) {
        of_paper(&mut text, &part);
    }
    let _ = writeln!(text, "\n## How to read this\n\n{HOW}\n\n{RULE}");
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

/// The part of a paper.
fn of_paper(text: &mut String, part: &Part<'_>) {
    let _ = writeln!(text, "\n## {}", part.paper.name());
    if !part.claims.is_empty() {
        text.push_str(
            "\n| claim | where | unit | paper | replay | 95 % interval | verdict | agrees over | cause | why |\n",
        );
        text.push_str("|---|---|---|---:|---:|---:|---|---|---|---|\n");
    }
    for Claim { row, over } in &part.claims {
        let [paper, replay, interval, _] = row.numbers();
        let cells = [
            in_cell(&row.quantity),
            in_cell(row.source),
            row.unit.to_owned(),
            paper,
            replay,
            interval,
            row.verdict.name().to_owned(),
            in_cell(&over.join("; ")),
            row.cause.map_or("", Cause::name).to_owned(),
            in_cell(&row.why),
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    for reproduced in &part.experiments {
        section(text, reproduced);
    }
    if !part.knobs.is_empty() {
        let _ = writeln!(text, "\n### Knobs of {}\n", part.paper.name());
    }
    for knob in &part.knobs {
        let _ = writeln!(text, "* `{}` = {}: {}", knob.place, knob.value, knob.fixed_by);
    }
    if !part.assumptions.is_empty() {
        let _ = writeln!(text, "\n### Assumptions for {}\n", part.paper.name());
    }
    for (source, assumption) in &part.assumptions {
        let of = if source.is_empty() { String::new() } else { format!("{source}: ") };
        let _ = writeln!(text, "* {of}{assumption}");
    }
}

/// How to read the rows.
pub(crate) const HOW: &str = "\
Knobs were set by what a paper reports of its baseline scheduler alone, once per testbed, then frozen. A *claim* is about the policy that \
the paper proposes, and the headline counts claims alone. A *baseline* row is a number of the baseline that fixed no knob; a *calibrated* \
one did, and is no evidence; an *arithmetic* row follows from others or from a formula, or could hardly fail; a *check* has no sentence \
in the paper; a *variant* is a claim under another reading of the paper. A row that does not agree names its cause: *ours* (our model or \
reading, known and not yet corrected), *missing* (the paper does not say what is needed), *paper* (not consistent in itself) or *variant*.";

/// What an experiment has beside its claims: other rows, bands, figures.
fn section(text: &mut String, reproduced: &Reproduced) {
    let experiment = reproduced.experiment;
    let _ = writeln!(text, "\n### {}: {} ({})\n", experiment.source, experiment.title, experiment.name);
    let others: Vec<&crate::Row> = reproduced.rows.iter().filter(|row| row.role != Role::Claim).collect();
    if !others.is_empty() {
        text.push_str(
            "| quantity | where | unit | | paper | replay | 95 % interval | seeds | verdict | cause | why |\n",
        );
        text.push_str("|---|---|---|---|---:|---:|---:|---:|---|---|---|\n");
    }
    for row in others {
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
    for figure in &reproduced.figures {
        let _ = writeln!(text, "\n![{}]({}.svg)\n\n{}", in_cell(&figure.title), figure.name, in_cell(&figure.caption));
    }
}

/// A text without characters that end a cell of a table.
fn in_cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
