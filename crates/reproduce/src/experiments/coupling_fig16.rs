//! Coupling, Fig. 16: 200 jobs on 62 machines.

use resched_analysis::Run;
use resched_analysis::distribution::{Distribution, rises_above};

use super::coupling::{FAIR, KNOBS, assumptions, cases, figure, figures};
use super::measures::{MINUTE, change, mean_completion};
use crate::case::bundled;
use crate::experiment::{Experiment, Paper};
use crate::replays::Replays;
use crate::row::row;
use crate::{Published, Row};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "coupling-fig16",
    paper: Paper::Coupling,
    source: "Fig. 16",
    title: "200 jobs in ten batches on 62 machines",
    knobs: KNOBS,
    assumptions: assumptions![
        "Sizes are drawn from the rows of Table IV of each class; the seed draws them, and the times of arrival, anew."
    ],
    cases: || {
        let policies = [
            ("fair", FAIR),
            ("coupling", "coupling"),
            ("fresh list", "coupling:list=fresh"),
            ("no waits", "coupling:wait=off"),
            ("greedy", "coupling:reduces=greedy,wait=off"),
        ];
        cases(bundled!("coupling-fig16.toml"), &policies)
    },
    rows,
    bands: |_| Vec::new(),
    figures: |replays| {
        figures([figure(replays, &["fair", "coupling"], "cdf_jobs", ("coupling-fig16", "Processing times (Fig. 16)"))])
    },
};

/// Processing times of the jobs of all seeds, ms.
fn times(runs: &[Run]) -> Distribution {
    Distribution::new(runs.iter().flat_map(Run::finished_jobs).filter_map(|job| job.completion).map(|ms| ms as f64))
}

fn rows(replays: &Replays<'_>) -> Vec<Row> {
    let (fair, coupling) = (times(replays.of("fair")), times(replays.of("coupling")));
    let below = rises_above(&fair, &coupling);
    let above = rises_above(&coupling, &fair);
    let in_words = |found: Option<(f64, f64)>| {
        found.map_or("–".to_owned(), |(distance, p)| format!("{distance:.3} (p = {p:.2e})"))
    };
    let dominance = format!(
        "Over the jobs of all seeds Coupling's curve rises above Fair's by up to {} and falls below it by up to {} (one-sided \
         Kolmogorov–Smirnov).",
        in_words(above),
        in_words(below)
    );
    let falls = |a: &Run, b: &Run| {
        let of = |run: &Run| times(std::slice::from_ref(run));
        rises_above(&of(a), &of(b)).map(|(distance, _)| distance)
    };
    let rises = |a: &Run, b: &Run| falls(b, a);
    vec![
        row("Mean processing time", "%", Published::Change(-21.3)).ours(WAITS).replayed(&replays.pairs(
            "fair",
            "coupling",
            |a, b| change(mean_completion(a), mean_completion(b)),
        )),
        row(
            "Wait Scheduling among nodes without a reduce of the job: mean processing time",
            "%",
            Published::Change(-21.3),
        )
        .variant()
        .ours(WAITS)
        .replayed(&replays.pairs("fair", "fresh list", |a, b| change(mean_completion(a), mean_completion(b)))),
        row("Without Wait Scheduling: mean processing time", "%", Published::Change(-21.3))
            .variant()
            .ours(WAITS)
            .replayed(&replays.pairs("fair", "no waits", |a, b| change(mean_completion(a), mean_completion(b)))),
        row("Random Peeking alone: mean processing time", "%", Published::Change(-21.3))
            .variant()
            .ours(WAITS)
            .replayed(&replays.pairs("fair", "greedy", |a, b| change(mean_completion(a), mean_completion(b)))),
        row("Median processing time (Coupling's CDF is above Fair's)", "%", Published::Below).ours(WAITS).replayed(
            &replays.pairs("fair", "coupling", |a, b| {
                let median = |run: &Run| times(std::slice::from_ref(run)).median();
                change(median(a), median(b))
            }),
        ),
        row("Most by which Coupling's CDF is above Fair's", "share", Published::Above)
            .arithmetic()
            .ours(dominance.clone())
            .replayed(&replays.pairs("fair", "coupling", rises)),
        row("Most by which Coupling's CDF is below Fair's", "share", Published::Range(0.0, 0.02))
            .ours(dominance)
            .replayed(&replays.pairs("fair", "coupling", falls)),
        row("Fair: longest processing time", "min", Published::Value(35.0))
            .baseline()
            .ours("The largest jobs are those of Table IV; their order and company are drawn.")
            .replayed(
                &replays.each("fair", |run| times(std::slice::from_ref(run)).values().last().map(|ms| ms / MINUTE)),
            ),
    ]
}

/// Why Coupling loses.
const WAITS: &str = "Algorithm 2 launches one reduce of one job at a time, each after up to four rounds of heartbeats, on the whole \
                     cluster. A batch of 20 jobs has some 150 reduces, which then queue for their turn. Read to the letter, the nodes nearest to the \
                     map output stay on its list when they run a reduce of the job, where no second one may start, so that the rounds \
                     for them pass in vain; where they leave the list, or without these waits, most of the loss is gone.";
