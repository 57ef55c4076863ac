//! The reproduction as Markdown: every row, knob and assumption.

use std::fmt::Write;

use crate::Verdict;
use crate::runner::Reproduced;

/// `REPRODUCTION.md`.
pub(crate) fn markdown(all: &[Reproduced]) -> String {
    let mut text = String::from("# The papers' experiments, replayed\n\n");
    let rows = || all.iter().flat_map(|reproduced| &reproduced.rows);
    let seeds = all.first().map_or(0, |reproduced| reproduced.seeds);
    text += "The paper's number beside the mean of the replays, with its 95 % interval by Student's t over the seeds";
    // Writing to a string cannot fail.
    let _ = writeln!(text, " (1 to {seeds}).\n{HOW}\n");
    for verdict in Verdict::ALL {
        let _ = writeln!(text, "* {}: {}", verdict.name(), rows().filter(|row| row.verdict == verdict).count());
    }
    for reproduced in all {
        section(&mut text, reproduced);
    }
    text
}

/// How to read the rows.
pub(crate) const HOW: &str = "\
Knobs were set by what a paper tells of its baseline scheduler alone, once per testbed, then frozen. A *calibrated* row is a
baseline's number that fixed a knob and is no evidence; a *baseline* row is another number of the baseline; a *claim* is about
the policy that the paper proposes; a *variant* is a claim under another reading of what the paper leaves open.";

fn section(text: &mut String, reproduced: &Reproduced) {
    let experiment = reproduced.experiment;
    let paper = experiment.paper.name();
    let _ = writeln!(text, "\n## {}: {}\n\n{paper}, {}.\n", experiment.name, experiment.title, experiment.source);
    text.push_str("| quantity | unit | | paper | replay | 95 % interval | seeds | verdict | why |\n");
    text.push_str("|---|---|---|---:|---:|---:|---:|---|---|\n");
    for row in &reproduced.rows {
        let [paper, replay, interval, seeds] = row.numbers();
        let cells = [
            in_cell(&row.quantity),
            row.unit.to_owned(),
            row.role.name().to_owned(),
            paper,
            replay,
            interval,
            seeds,
            row.verdict.name().to_owned(),
            in_cell(&row.why),
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
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
