//! DRESS, Figs. 10 to 13: mixed jobs, of which 10 to 40 % are small.

use resched_analysis::statistics::distribution::mean;
use resched_report::{Figure, Line, Lines, Shape, draw_lines};

use super::dress::{
    ASSUMPTIONS, Demands, Distance, KNOBS, LENGTH, LENGTHS, LENGTHS_TRIED, by_draw, compared, lengths, mean_change,
    with_length,
};
use super::dress_fit::Times;
use super::measures::{completion, longer_wait};
use crate::case::{Case, bundled};
use crate::experiment::{Experiment, Paper};
use crate::replays::Replays;
use crate::row::{Draft, row};
use crate::{Band, Error, Published, Row};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "dress-mixed",
    paper: Paper::Dress,
    source: "Figs. 10 to 13",
    title: "Mixed jobs, of which 10 to 40 % are small",
    knobs: KNOBS,
    assumptions: ASSUMPTIONS,
    cases,
    rows,
    bands,
    figures,
};

/// The jobs that are small at 10, 20, 30 and 40 %, two more each.
const SMALL: [usize; 8] = [6, 8, 11, 14, 4, 17, 9, 19];
/// Shares, and the published mean change of the small jobs' completion, %.
const SHARES: [(usize, f64); 4] = [(10, -76.1), (20, -36.2), (30, -21.9), (40, -23.7)];

/// The small jobs at 10 %, and their completion under Capacity and under DRESS, s.
const AT_TEN: [(usize, f64, f64); 2] = [(6, 484.5, 111.3), (8, 540.3, 134.4)];

/// How far the worse of these two completion times is from the paper's under Capacity, as a share of it.
fn distance(times: &[Times]) -> f64 {
    let far = |&(job, capacity, _): &(usize, f64, f64)| {
        let found = job.checked_sub(1).and_then(|place| times.get(place));
        found.map_or(f64::INFINITY, |found| (found.completion / capacity - 1.0).abs())
    };
    AT_TEN.iter().map(far).fold(0.0, f64::max)
}

/// What is drawn at a share. At 10 % the paper has two numbers of Capacity, to which the draws are fitted.
fn demands(share: usize) -> Demands {
    let fitted: Distance = distance;
    Demands::new(&small(share), 5, (share == 10).then_some(fitted))
}

/// The small jobs at a share.
fn small(share: usize) -> Vec<usize> {
    SMALL.into_iter().take(share / 5).collect()
}

fn cases() -> Result<Vec<Case>, Error> {
    let workload = bundled!("dress-mixed.toml").workload()?;
    let of_share = |(share, _): &(usize, f64)| lengths(&prefix(*share), &workload, &demands(*share));
    Ok(SHARES.iter().map(of_share).collect::<Result<Vec<_>, Error>>()?.concat())
}

/// What the labels of the cases of a share begin with.
fn prefix(share: usize) -> String {
    format!("{share} %: ")
}

/// The claim at a share.
fn claim(share: usize, published: f64) -> Draft {
    let quantity = format!("{share} %: completion of the small jobs, mean change");
    let claim = row("§V-B3", quantity, "%", Published::Change(published)).missing(LENGTHS);
    if share == 10 || share == 40 { claim.main() } else { claim }
}

fn bands(replays: &Replays<'_>) -> Vec<Band> {
    let of_share = |(share, published): (usize, f64)| {
        let found = LENGTHS_TRIED.map(|length| (length, changes(replays, share, length, "dress")));
        Band::new(format!("dress-mixed-{share}"), LENGTH, || claim(share, published), found)
    };
    SHARES.into_iter().map(of_share).collect()
}

/// The mean change of the small jobs' completion at a share, %, by seed.
fn changes(replays: &Replays<'_>, share: usize, length: f64, policy: &str) -> Vec<f64> {
    let jobs = small(share);
    let [capacity, policy] = ["capacity", policy].map(|name| format!("{}{name}", with_length(&prefix(share), length)));
    replays.pairs(&capacity, &policy, |a, b| mean_change(a, b, &jobs))
}

fn rows(replays: &Replays<'_>) -> Vec<Row> {
    let mut rows = vec![
        row("§V-B3", "10 %: mean of the changes of jobs 6 and 8", "%", Published::Change(-76.1))
            .exact(-50.0 * AT_TEN.iter().map(|(_, capacity, dress)| 1.0 - dress / capacity).sum::<f64>(), 0.05),
    ];
    for (share, published) in SHARES {
        let jobs = small(share);
        rows.push(compared(claim(share, published), &prefix(share), &LENGTHS_TRIED, |from, to| {
            replays.pairs(from, to, |a, b| mean_change(a, b, &jobs))
        }));
        rows.push(
            row("§V-B3", format!("{share} %, δ of 10 % at least: the same"), "%", Published::Change(published))
                .variant()
                .missing(LENGTHS)
                .replayed(&changes(replays, share, 1.0, "floor")),
        );
    }
    rows.push(
        row(
            "§V-B3: \"a similar trend as we found from previous experiments\"",
            "Waits of the small jobs, mean, DRESS less Capacity: the share that agrees least",
            "s",
            Published::Below,
        )
        .missing(LENGTHS)
        .replayed_of_each(SHARES.map(|(share, _)| {
            let [capacity, dress] = ["capacity", "dress"].map(|name| prefix(share) + name);
            replays.pairs(&capacity, &dress, |a, b| {
                let less = |job| longer_wait(a, b, job);
                mean(&small(share).into_iter().filter_map(less).collect::<Vec<_>>())
            })
        })),
    );
    rows.push(
        row(
            "§I: \"with limited impacts on large jobs\"",
            "Completion of the large jobs, mean change: the share that agrees least",
            "%",
            Published::Change(0.0),
        )
        .ours(
            "Large jobs wait for what small ones take first: they complete 1 % later at 10 %, and 16 % later at 40 %.",
        )
        .replayed_of_each(SHARES.map(|(share, _)| {
            let large: Vec<usize> = (1..=20).filter(|job| !small(share).contains(job)).collect();
            let [capacity, dress] = ["capacity", "dress"].map(|name| prefix(share) + name);
            replays.pairs(&capacity, &dress, |a, b| mean_change(a, b, &large))
        })),
    );
    for (job, capacity, dress) in AT_TEN {
        let of = |label: &str| replays.each(label, |run| completion(run, job).map(|ms| ms / 1e3));
        rows.push(by_draw(
            row("§V-B3", format!("10 %, Capacity: completion of job {job}"), "s", Published::Value(capacity))
                .calibrated(),
            &of("10 %: capacity"),
        ));
        // The claim is the mean of both jobs' changes, as the sentence has it.
        let part = row("§V-B3", format!("10 %, DRESS: completion of job {job}"), "s", Published::Value(dress));
        rows.push(compared(part.arithmetic(), &prefix(10), &LENGTHS_TRIED, |_, to| of(to)));
    }
    rows
}

fn figures(replays: &Replays<'_>) -> Result<Vec<Figure>, Error> {
    let paper = SHARES.map(|(share, change)| (share as f64, 100.0 + change, 100.0 + change, 100.0 + change)).to_vec();
    let point = |policy: &str, share: usize| {
        let found = resched_analysis::statistics::repeats::t_interval(&changes(replays, share, 1.0, policy))?;
        Some((share as f64, 100.0 + found.value, 100.0 + found.low, 100.0 + found.high))
    };
    let all = |policy| SHARES.iter().filter_map(|(share, _)| point(policy, *share)).collect();
    let series = [
        Line { label: "paper".to_owned(), points: paper, shape: Shape::Points },
        Line { label: "DRESS".to_owned(), points: all("dress"), shape: Shape::Joined },
        Line { label: "DRESS, δ of 10 % at least".to_owned(), points: all("floor"), shape: Shape::Joined },
    ];
    let chart = Lines {
        name: "dress-fig10",
        x: "Small jobs (%)",
        logarithmic: false,
        ends: None,
        y: "DRESS / Capacity (%)",
        band: false,
        series: &series,
    };
    let figure = |svg| Figure {
        name: "dress-fig10".to_owned(),
        title: "What small jobs gain by their share (Figs. 10 to 13)".to_owned(),
        caption:
            "By how much the completion time of the small jobs falls from Capacity to DRESS, on average; whiskers are \
                  95 % intervals over the seeds."
                .to_owned(),
        svg,
    };
    Ok(draw_lines(&chart, resched_policies::order_of)?.map(figure).into_iter().collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::dress::fitted_of_ten;
    use super::*;

    #[test]
    fn draws_fit_capacitys_completions_at_ten_per_cent() {
        for length in LENGTHS_TRIED {
            let demands = demands(10).with_length(length);
            let near = fitted_of_ten(&bundled!("dress-mixed.toml").workload().unwrap(), &demands);
            assert!(near >= 9, "{near} of 10 with {length}");
        }
    }
}
