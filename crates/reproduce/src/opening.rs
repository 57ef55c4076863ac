//! The opening of the page: one line for each paper, from what it claims to whether that was reproduced.

use crate::experiment::{Knob, Paper};
use crate::runner::Reproduced;
use crate::{Band, Cause, Reach, Role, Row};

/// A line of the table that opens the page.
pub(crate) struct Opening {
    /// The paper.
    pub(crate) paper: Paper,
    /// What it claims.
    pub(crate) claimed: &'static str,
    /// Its main claims with the paper's number and the replay's.
    pub(crate) main: Vec<Main>,
    /// Yes, partly or no.
    pub(crate) reproduced: &'static str,
    /// How many of its claims agree.
    pub(crate) agree: String,
    /// What keeps the others from agreeing.
    pub(crate) why: String,
}

/// A main claim.
pub(crate) struct Main {
    /// The quantity.
    pub(crate) quantity: String,
    /// The paper's number, with its unit.
    pub(crate) paper: String,
    /// The replay's number and interval, with the unit.
    pub(crate) replay: String,
    /// The verdict.
    pub(crate) verdict: &'static str,
}

/// What *yes*, *partly* and *no* mean.
pub(crate) const REPRODUCED: &str = "*Yes* means that at least three quarters of a paper's claims agree, *no* that fewer than one quarter do, and *partly* all between.";

/// The papers whose experiments were replayed, in order.
pub(crate) fn papers(all: &[Reproduced]) -> Vec<Paper> {
    let mut papers: Vec<Paper> = all.iter().map(|reproduced| reproduced.experiment.paper).collect();
    papers.sort_unstable();
    papers.dedup();
    papers
}

/// The knobs of a paper, each once.
pub(crate) fn knobs(paper: Paper, all: &[Reproduced]) -> Vec<Knob> {
    let mut knobs: Vec<Knob> = Vec::new();
    for reproduced in all.iter().filter(|reproduced| reproduced.experiment.paper == paper) {
        for knob in reproduced.experiment.knobs {
            if !knobs.contains(knob) {
                knobs.push(*knob);
            }
        }
    }
    knobs
}

/// The lines of the papers whose experiments were replayed.
pub(crate) fn openings(all: &[Reproduced]) -> Vec<Opening> {
    papers(all).into_iter().map(|paper| opening(paper, all)).collect()
}

fn opening(paper: Paper, all: &[Reproduced]) -> Opening {
    let of_paper = || all.iter().filter(move |reproduced| reproduced.experiment.paper == paper);
    let claims: Vec<&Row> =
        of_paper().flat_map(|reproduced| &reproduced.rows).filter(|row| row.role == Role::Claim).collect();
    let bands: Vec<&Band> = of_paper().flat_map(|reproduced| &reproduced.bands).collect();
    let agree = claims.iter().filter(|row| row.verdict.agrees()).count();
    let main = of_paper()
        .flat_map(|reproduced| &reproduced.rows)
        .filter(|row| row.main && row.role == Role::Claim)
        .map(in_words)
        .collect();
    Opening {
        paper,
        claimed: paper.claim(),
        main,
        reproduced: reproduced(agree, claims.len()),
        agree: format!("{agree} of {} claims agree", claims.len()),
        why: [causes(&claims), over(&bands), paper.missing().to_owned()].join(" ").trim().to_owned(),
    }
}

/// By the rule of [`REPRODUCED`].
fn reproduced(agree: usize, claims: usize) -> &'static str {
    match (4 * agree, claims) {
        (_, 0) => "no claim was replayed",
        (four, claims) if four >= 3 * claims => "yes",
        (four, claims) if four < claims => "no",
        _ => "partly",
    }
}

fn in_words(row: &Row) -> Main {
    let [paper, replay, interval, _] = row.numbers();
    let with_unit = |number: String| if row.unit.is_empty() { number } else { format!("{number} {}", row.unit) };
    Main {
        quantity: row.quantity.clone(),
        paper: with_unit(paper),
        replay: format!("{} ({interval})", with_unit(replay)),
        verdict: row.verdict.name(),
    }
}

/// What keeps claims from agreeing: the kinds of causes that there are, with their numbers.
fn causes(claims: &[&Row]) -> String {
    let of = |(cause, words): &(Cause, &str)| {
        let count = claims.iter().filter(|row| row.cause == Some(*cause)).count();
        (count > 0).then(|| format!("{count} {words}"))
    };
    let kinds = [
        (Cause::Ours, "by our model"),
        (Cause::Missing, "because the paper lacks data"),
        (Cause::Paper, "because the paper is not consistent"),
    ];
    let found: Vec<String> = kinds.iter().filter_map(of).collect();
    if found.is_empty() { String::new() } else { format!("Others do not: {}.", found.join(", ")) }
}

/// In how much of the range of open numbers the claims hold that hang on one.
fn over(bands: &[&Band]) -> String {
    let of = |(reach, words): &(Reach, &str)| {
        let count = bands.iter().filter(|band| band.agrees() == *reach).count();
        (count > 0).then(|| format!("{count} {words}"))
    };
    let reaches = [(Reach::Everywhere, "in all of it"), (Reach::Part, "in a part"), (Reach::Nowhere, "in none")];
    let found: Vec<String> = reaches.iter().filter_map(of).collect();
    if found.is_empty() {
        return String::new();
    }
    format!("Claims tried over the range of an open number agree: {}.", found.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paper_is_reproduced_by_quarters() {
        assert_eq!(
            [(3, 4), (2, 4), (1, 4), (1, 5), (0, 0)].map(|(agree, claims)| reproduced(agree, claims)),
            ["yes", "partly", "partly", "no", "no claim was replayed"]
        );
    }
}
