//! The reproduction as text: every row, knob and assumption.

use std::fmt::Write;

use crate::runner::Reproduced;
use crate::{Published, Row, Verdict};

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
        let [paper, replay, interval, seeds] = numbers(row);
        let cells = [
            escaped(&row.quantity),
            row.unit.to_owned(),
            row.role.name().to_owned(),
            paper,
            replay,
            interval,
            seeds,
            row.verdict.name().to_owned(),
            escaped(&row.why),
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
        let _ = writeln!(text, "\n![{}]({}.svg)\n\n{}", escaped(&figure.title), figure.name, escaped(&figure.caption));
    }
}

/// The paper's number, the replay's, its interval and how many seeds it is over, as they stand in a table.
pub(crate) fn numbers(row: &Row) -> [String; 4] {
    let paper = match row.published {
        Published::Value(value) => number(value),
        Published::Change(value) => signed(value),
        Published::Range(low, high) => format!("{} to {}", number(low), number(high)),
        Published::Above => "> 0".to_owned(),
        Published::Below => "< 0".to_owned(),
    };
    let put = |value: f64| if matches!(row.published, Published::Change(_)) { signed(value) } else { number(value) };
    let Some(found) = row.replay else { return [paper, "–".to_owned(), "–".to_owned(), "–".to_owned()] };
    let interval = match row.seeds {
        0 => "exact".to_owned(),
        1 => "–".to_owned(),
        _ => format!("{} to {}", put(found.low), put(found.high)),
    };
    let seeds = if row.seeds == 0 { "–".to_owned() } else { row.seeds.to_string() };
    [paper, put(found.value), interval, seeds]
}

/// With four digits or so.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 1_000.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 || size == 0.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.replace('-', "−")
}

fn signed(value: f64) -> String {
    if value > 0.0 { format!("+{}", number(value)) } else { number(value) }
}

/// Without what would end a cell.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::row;

    #[test]
    fn numbers_have_a_few_digits_and_changes_a_sign() {
        assert_eq!([7635.4, 16.15, 0.5714, 28.0, -3.0].map(number), ["7635", "16.1", "0.571", "28", "−3"]);
        let found = row("", "%", Published::Change(-16.1)).replayed(&[10.0, 10.0]);
        assert_eq!(numbers(&found), ["−16.1", "+10", "+10 to +10", "2"]);
        let exact = row("", "%", Published::Value(92.9)).exact(92.86);
        assert_eq!(numbers(&exact), ["92.9", "92.9", "exact", "–"]);
    }
}
