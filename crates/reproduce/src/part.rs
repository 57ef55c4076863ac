//! A paper's part of the page: its claims first, then what stands beside them.

use crate::experiment::{Knob, Paper};
use crate::opening::{knobs, papers};
use crate::runner::Reproduced;
use crate::{Band, Reach, Role, Row};

/// The part of a paper.
pub(crate) struct Part<'a> {
    /// The paper.
    pub(crate) paper: Paper,
    /// Its experiments.
    pub(crate) experiments: Vec<&'a Reproduced>,
    /// Its claims, in the order of the experiments.
    pub(crate) claims: Vec<Claim<'a>>,
    /// Its knobs, each once.
    pub(crate) knobs: Vec<Knob>,
    /// Its assumptions, each once: those of all experiments first, then those of one, with what that one repeats.
    pub(crate) assumptions: Vec<(&'static str, &'static str)>,
}

/// A claim with what it hangs on.
pub(crate) struct Claim<'a> {
    /// Its row.
    pub(crate) row: &'a Row,
    /// The numbers that the paper leaves open and that were tried, each with in how much of its range the claim agrees.
    pub(crate) over: Vec<String>,
}

/// The parts of the papers whose experiments were replayed.
pub(crate) fn parts(all: &[Reproduced]) -> Vec<Part<'_>> {
    papers(all).into_iter().map(|paper| part(paper, all)).collect()
}

fn part(paper: Paper, all: &[Reproduced]) -> Part<'_> {
    let experiments: Vec<&Reproduced> = all.iter().filter(|reproduced| reproduced.experiment.paper == paper).collect();
    let claims =
        experiments.iter().flat_map(|reproduced| reproduced.rows.iter().map(|row| claim(row, &reproduced.bands)));
    Part {
        paper,
        claims: claims.filter(|claim| claim.row.role == Role::Claim).collect(),
        knobs: knobs(paper, all),
        assumptions: assumptions(&experiments),
        experiments,
    }
}

fn claim<'a>(row: &'a Row, bands: &[Band]) -> Claim<'a> {
    let over = bands.iter().filter(|band| band.row == row.quantity).map(over);
    Claim { row, over: over.collect() }
}

/// In how much of the range of an open number a claim agrees.
fn over(band: &Band) -> String {
    let words = match band.agrees() {
        Reach::Everywhere => "in all of it",
        Reach::Part => "in a part",
        Reach::Nowhere => "in none of it",
    };
    let value = |point: Option<&(f64, Row)>| point.map_or(f64::NAN, |point| point.0);
    format!("{}, {} to {}: {words}", band.unknown, value(band.points.first()), value(band.points.last()))
}

fn assumptions(experiments: &[&Reproduced]) -> Vec<(&'static str, &'static str)> {
    let of_all = |text: &str| experiments.iter().all(|reproduced| reproduced.experiment.assumptions.contains(&text));
    let first = experiments.first().map_or(&[][..], |reproduced| reproduced.experiment.assumptions);
    let shared = first.iter().filter(|text| of_all(text)).map(|&text| ("", text));
    let single = experiments.iter().flat_map(|reproduced| {
        reproduced.experiment.assumptions.iter().map(|&text| (reproduced.experiment.source, text))
    });
    let mut found: Vec<(&str, &str)> = shared.collect();
    for (source, text) in single {
        if found.iter().all(|(_, known)| *known != text) {
            found.push((source, text));
        }
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::band::Unknown;
    use crate::row::row;
    use crate::{Published, find};

    #[test]
    fn a_claim_has_the_open_numbers_that_it_was_tried_over() {
        let claim_of = |quantity: &str| row("", quantity, "%", Published::Change(-20.0));
        let unknown = Unknown { name: "Load", range: "", chosen: 1.0 };
        let measured = [(1.0, vec![-21.0, -21.0]), (2.0, vec![-1.0, -1.0])];
        let bands = [Band::new("band", unknown, || claim_of("gain"), measured)];
        let row = claim_of("gain").replayed(&[-21.0, -21.0]);
        assert_eq!(claim(&row, &bands).over, ["Load, 1 to 2: in a part"]);
        assert!(claim(&claim_of("loss").replayed(&[]), &bands).over.is_empty());
    }

    #[test]
    fn an_assumption_of_several_experiments_stands_once() {
        let all: Vec<Reproduced> = find(&["coupling-fig1".to_owned(), "coupling-fig12".to_owned()])
            .unwrap()
            .into_iter()
            .map(|experiment| Reproduced { experiment, rows: vec![], bands: vec![], figures: vec![], seeds: 1 })
            .collect();
        let parts = parts(&all);
        let found = &parts[0].assumptions;
        assert_eq!(found.iter().filter(|(source, _)| source.is_empty()).count(), 2);
        assert!(found.iter().any(|(source, _)| *source == "Figs. 1 and 2"), "{found:?}");
        let mut texts: Vec<&str> = found.iter().map(|(_, text)| *text).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), found.len());
    }
}
