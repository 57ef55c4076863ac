//! The opening of the page: four sentences for each paper.

use crate::experiment::Paper;
use crate::runner::Reproduced;
use crate::{Band, Cause, Reach, Role, Row, Verdict};

/// What a paper claims, what the replay finds, how sure that is, and what is missing.
pub(crate) struct Opening {
    /// The paper.
    pub(crate) paper: Paper,
    /// The four sentences.
    pub(crate) sentences: [String; 4],
}

/// The openings of the papers whose experiments were replayed.
pub(crate) fn openings(all: &[Reproduced]) -> Vec<Opening> {
    let mut papers: Vec<Paper> = all.iter().map(|reproduced| reproduced.experiment.paper).collect();
    papers.sort_unstable();
    papers.dedup();
    papers.into_iter().map(|paper| opening(paper, all)).collect()
}

fn opening(paper: Paper, all: &[Reproduced]) -> Opening {
    let own = || all.iter().filter(move |reproduced| reproduced.experiment.paper == paper);
    let claims: Vec<&Row> = own().flat_map(|own| &own.rows).filter(|row| row.role == Role::Claim).collect();
    let main: Vec<&Row> = own().flat_map(|own| &own.rows).filter(|row| row.main).collect();
    let bands: Vec<&Band> = own().flat_map(|own| &own.bands).collect();
    let seeds = claims.iter().map(|row| row.seeds).max().unwrap_or(0);
    let sentences = [
        paper.claim().to_owned(),
        found(&claims, &main),
        sure(seeds, &claims, &bands),
        format!("{} {}", causes(&claims), paper.missing()),
    ];
    Opening { paper, sentences }
}

fn count(rows: &[&Row], is: impl Fn(&Row) -> bool) -> usize {
    rows.iter().filter(|row| is(row)).count()
}

fn found(claims: &[&Row], main: &[&Row]) -> String {
    let agree = count(claims, |row| row.verdict.agrees());
    let same = count(claims, |row| row.verdict == Verdict::SameDirection);
    let main: Vec<String> = main.iter().map(|row| in_words(row)).collect();
    let main = if main.is_empty() { String::new() } else { format!(": {}", main.join("; ")) };
    format!("In the replay {agree} of {} claims agree and {same} point the same way{main}.", claims.len())
}

/// The replay's number of a row beside the paper's.
fn in_words(row: &Row) -> String {
    let [paper, replay, interval, _] = row.numbers();
    let unit = if row.unit.is_empty() { String::new() } else { format!(" {}", row.unit) };
    format!("{} {replay}{unit} ({interval}), in the paper {paper}", row.quantity)
}

fn sure(seeds: usize, claims: &[&Row], bands: &[&Band]) -> String {
    let tolerance = count(claims, |row| row.verdict == Verdict::AgreesByTolerance);
    let undecided = count(claims, |row| row.verdict == Verdict::Undecided);
    let of = |reach: Reach| bands.iter().filter(|band| band.holds() == reach).count();
    let bands = if bands.is_empty() {
        "no claim was tried over a number that the paper does not give".to_owned()
    } else {
        format!(
            "of {} claims that were tried over a number that the paper does not give, {} agree or point the same way in all of \
             its range, {} in a part and {} nowhere",
            bands.len(),
            of(Reach::Everywhere),
            of(Reach::Part),
            of(Reach::Nowhere)
        )
    };
    format!(
        "Over up to {seeds} seeds, {tolerance} claims agree by tolerance alone and {undecided} are undecided; {bands}."
    )
}

fn causes(claims: &[&Row]) -> String {
    let of = |cause: Cause| count(claims, |row| row.cause == Some(cause));
    let rest = count(claims, |row| !row.verdict.agrees());
    let [ours, missing, paper] = [Cause::Ours, Cause::Missing, Cause::Paper].map(of);
    format!(
        "Of the {rest} claims that do not agree, {missing} need what the paper does not say, {paper} are not consistent in it, and \
         {ours} are our model's."
    )
}
