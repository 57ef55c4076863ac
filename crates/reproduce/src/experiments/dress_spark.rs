//! DRESS, Figs. 6 and 7, Table II: 20 Spark jobs.

use resched_analysis::Run;
use resched_analysis::statistics::distribution::Distribution;

use super::coupling::{figure, figures};
use super::dress::{
    ASSUMPTIONS, KNOBS, LENGTH, LENGTHS, LENGTHS_TRIED, by_draw, compared, completions, reserve, reserves,
    shorter_waits, waits, with_length,
};
use super::dress_fit::Times;
use super::dress_twenty::TwentyJobs;
use super::measures::{change, completion, longer_wait, waiting};
use crate::case::bundled;
use crate::experiment::{Experiment, Paper};
use crate::replays::Replays;
use crate::row::{Draft, row};
use crate::{Band, Published, Row};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "dress-spark",
    paper: Paper::Dress,
    source: "Figs. 6, 7 and Table II",
    title: "20 Spark jobs, six of them small",
    knobs: KNOBS,
    assumptions: ASSUMPTIONS,
    cases: || {
        let demands = JOBS.demands();
        Ok([JOBS.cases()?, reserves(&JOBS.workload.workload()?, &demands)?].concat())
    },
    rows,
    bands,
    figures: |replays| {
        let labels = ["capacity", "dress"];
        let caption =
            "The mean of each job over the seeds, with its 95 % interval. The paper's text gives jobs 3 and 7 (§V-B1).";
        figures([
            waits(replays, ("dress-fig6", "Waiting times (Fig. 6)", caption), WAITS),
            completions(replays, "dress-fig7", "Completion times (Fig. 7)"),
            figure(
                replays,
                &labels,
                "delta",
                ("dress-delta", "The reserve δ", "The share of the cluster that is kept for small jobs."),
            ),
        ])
    },
};

/// How far the worst of Capacity's six numbers is from the paper's, as a share of it.
fn distance(times: &[Times]) -> f64 {
    let of = |of: fn(&Times) -> f64| Distribution::new(times.iter().map(of));
    let (waits, completions) = (of(|job| job.wait), of(|job| job.completion));
    // One job comes every 5 s.
    let ends = times.iter().enumerate().map(|(place, job)| 5.0 * place as f64 + job.completion);
    let found = [
        ends.reduce(f64::max),
        waits.mean(),
        waits.median(),
        completions.mean(),
        completions.median(),
        times.get(6).map(|job| job.wait),
    ];
    let published = TABLE.iter().map(|(_, capacity, ..)| *capacity).chain(WAITS.first().map(|wait| wait.1));
    let far =
        published.zip(found).map(|(paper, found)| found.map_or(f64::INFINITY, |found| (found / paper - 1.0).abs()));
    far.fold(0.0, f64::max)
}

/// Waits of single jobs under Capacity and under DRESS, s.
const WAITS: &[(usize, f64, f64)] = &[(7, 304.705, 28.903), (3, 35.519, 98.863)];

/// Its jobs.
const JOBS: TwentyJobs = TwentyJobs {
    name: EXPERIMENT.name,
    workload: bundled!("dress-spark.toml"),
    small: [4, 5, 7, 9, 10, 12],
    fit: 6,
    distance,
    fitting: &[0.5, 1.0, 1.5],
    place: "§V-B1: \"27.6 %\"",
    figure: "Fig. 7",
    gain: -27.6,
};

fn bands(replays: &Replays<'_>) -> Vec<Band> {
    let medians = TABLE.iter().filter(|(name, ..)| name.starts_with("median")).map(|&(name, _, dress, _, of)| {
        let found = LENGTHS_TRIED.map(|length| (length, replays.each(&(with_length("", length) + "dress"), of)));
        let figure = format!("dress-{}-length", name.replace(' ', "-"));
        Band::new(figure, LENGTH, || of_dress(name, dress), found)
    });
    JOBS.bands(replays).into_iter().chain(medians).collect()
}

/// DRESS's number in a line of Table II.
fn of_dress(name: &str, dress: f64) -> Draft {
    row("Table II", format!("DRESS: {name}"), "s", Published::Value(dress)).arithmetic().missing(LENGTHS)
}

/// The jobs' times in seconds.
fn times(run: &Run, of: fn(&resched_analysis::JobMetrics) -> Option<i64>) -> Distribution {
    Distribution::new(run.finished_jobs().filter_map(of).map(|ms| ms as f64 / 1e3))
}

/// A line of Table II: what, Capacity's and DRESS's number, the change in %, and how to measure it.
type Line = (&'static str, f64, f64, f64, fn(&Run) -> Option<f64>);

/// Table II, s.
const TABLE: [Line; 5] = [
    ("makespan", 1028.6, 1035.2, 0.64, |run| run.jobs.makespan().map(|ms| ms as f64 / 1e3)),
    ("mean waiting time", 310.1, 264.5, -14.7, |run| times(run, |job| job.waiting).mean()),
    ("median waiting time", 381.0, 190.3, -50.0, |run| times(run, |job| job.waiting).median()),
    ("mean completion time", 570.1, 532.2, -6.6, |run| times(run, |job| job.completion).mean()),
    ("median completion time", 542.8, 325.1, -40.1, |run| times(run, |job| job.completion).median()),
];
fn rows(replays: &Replays<'_>) -> Vec<Row> {
    let value = Published::Value;
    let mut rows = Vec::new();
    for (name, capacity, dress, percent, of) in TABLE {
        let baseline = row("Table II", format!("Capacity: {name}"), "s", value(capacity)).calibrated();
        rows.push(by_draw(baseline, &replays.each("capacity", of)));
        rows.push(compared(of_dress(name, dress), "", JOBS.fitting, |_, to| replays.each(to, of)));
        rows.push(compared(
            row("Table II", format!("Change of the {name}"), "%", Published::Change(percent)),
            "",
            JOBS.fitting,
            |from, to| replays.pairs(from, to, |a, b| change(of(a), of(b))),
        ));
    }
    let wait = |label: &str, number| replays.each(label, move |run| waiting(run, number).map(|ms| ms / 1e3));
    for &(job, capacity, dress) in WAITS {
        let baseline = row("§V-B1", format!("Capacity: wait of job {job} (Fig. 6)"), "s", value(capacity));
        let baseline = baseline.calibrated();
        rows.push(by_draw(baseline, &wait("capacity", job)));
        rows.push(
            row("§V-B1", format!("DRESS: wait of job {job} (Fig. 6)"), "s", value(dress))
                .ours(reserve(|label| wait(label, job)))
                .replayed(&wait("dress", job)),
        );
    }
    rows.push(
        row("§V-B1: \"more than 10x less\"", "Wait of job 7, Capacity / DRESS", "times", Published::Ratio(10.5))
            .arithmetic()
            .ours("It follows from both waits.")
            .replayed(&replays.pairs("capacity", "dress", |a, b| Some(waiting(a, 7)? / waiting(b, 7)?.max(1.0)))),
    );
    let same = |quantity: String| {
        row("§V-B1: \"The same trend is found at Job 9, 10, and 12\"", quantity, "s", Published::Below)
            .missing("No job's demand or run time is given (§V-A2).")
    };
    let shorter = [9, 10, 12].map(|job| {
        let less = |a: &Run, b: &Run| longer_wait(a, b, job);
        (job, replays.pairs("capacity", "dress", less))
    });
    rows.extend(
        shorter
            .iter()
            .map(|(job, less)| same(format!("Wait of job {job}, DRESS less Capacity")).arithmetic().replayed(less)),
    );
    let of_small = JOBS.small.map(|job| replays.pairs("capacity", "dress", |a, b| longer_wait(a, b, job)));
    rows.push(
        row(
            "§V-B1: \"significantly reduce the waiting times of these small jobs\"",
            "Waits of jobs 4, 5, 7, 9, 10 and 12, DRESS less Capacity: the one that agrees least",
            "s",
            Published::Below,
        )
        .ours("Jobs 4 and 5 start at once under both here, as §V-B1 says of jobs 1 to 6: their waits cannot fall.")
        .replayed_of_each(of_small),
    );
    rows.push(
        row(
            "§V-B1: \"the waiting times of Jobs 1 to 6 are much shorter than others\"",
            "DRESS: mean wait of jobs 1 to 6, less that of the others",
            "s",
            Published::Below,
        )
        .arithmetic()
        .missing("No job's demand or run time is given (§V-A2).")
        .replayed(&replays.each("dress", |run| shorter_waits(run, 6))),
    );
    rows.push(
        row(
            "§V-B1: \"with a maximum 51.2% reduced completion time for Job 7\"",
            "Job 7's change of completion, less the largest gain of the other small jobs",
            "points",
            Published::Below,
        )
        .arithmetic()
        .missing("No job's demand or run time is given (§V-A2).")
        .replayed(&replays.pairs("capacity", "dress", |a, b| {
            let of = |job: usize| change(completion(a, job), completion(b, job));
            let others = JOBS.small.into_iter().filter(|job| *job != 7).filter_map(of);
            Some(of(7)? - others.reduce(f64::min)?)
        })),
    );
    rows.push(
        same("Waits of jobs 9, 10 and 12, DRESS less Capacity: the one that agrees least".to_owned())
            .replayed_of_each(shorter.map(|(_, less)| less)),
    );
    rows.push(
        row(
            "§V-B1: \"waiting times of Jobs 1 to 6 are much shorter than others\"",
            "Capacity: mean wait of jobs 1 to 6, less that of the others",
            "s",
            Published::Below,
        )
        .baseline()
        .missing("No job's demand or run time is given (§V-A2).")
        .replayed(&replays.each("capacity", |run| shorter_waits(run, 6))),
    );
    rows.push(JOBS.small_gain_row(JOBS.small_gain().main(), replays));
    for (from, to, name) in [
        ("capacity", "submission", "jobs by submission"),
        ("capacity", "floor", "δ of 10 % at least"),
        ("whole capacity", "whole dress", "whole requests under both"),
        ("whole capacity", "dress", "whole requests under Capacity alone"),
    ] {
        rows.push(
            row("§V-B1: \"27.6 %\"", format!("Completion of the small jobs, {name}"), "%", Published::Change(-27.6))
                .variant()
                .missing("The paper does not say whether a request starts whole, whether a reserve is kept without small jobs, nor what its sorting orders.")
                .replayed(&JOBS.gains(replays, from, to)),
        );
    }
    rows.push(compared(
        row(
            "§V-B1: \"maximum 51.2 %\"",
            "Completion of the small jobs, largest change (job 7's)",
            "%",
            Published::Change(-51.2),
        ),
        "",
        JOBS.fitting,
        |from, to| {
            let largest = |a: &Run, b: &Run| {
                JOBS.small.iter().filter_map(|job| change(completion(a, *job), completion(b, *job))).reduce(f64::min)
            };
            replays.pairs(from, to, largest)
        },
    ));
    for (job, percent) in [(3, 32.0), (13, 10.2), (14, 6.1)] {
        let claim = row(
            "§V-B1: \"32.0 %, 10.2 %, 6.1 %\"",
            format!("Completion of job {job}"),
            "%",
            Published::Change(percent),
        );
        let changes =
            |from: &str, to: &str| replays.pairs(from, to, |a, b| change(completion(a, job), completion(b, job)));
        rows.push(if job == 3 {
            claim.ours(reserve(|label| changes("capacity", label))).replayed(&changes("capacity", "dress"))
        } else {
            compared(claim, "", JOBS.fitting, changes)
        });
    }
    rows.push(
        row(
            "§V-B1: \"on average 16.1 %\"",
            "Completion of jobs 3, 13, 14, mean (arithmetic)",
            "%",
            Published::Change(16.1),
        )
        .exact((32.0 + 10.2 + 6.1) / 3.0, 0.05),
    );
    rows
}

#[cfg(test)]
mod tests {
    #[test]
    fn draws_fit_capacitys_numbers_as_said() {
        super::JOBS.check_fits();
    }
}
