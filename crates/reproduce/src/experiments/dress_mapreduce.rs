//! DRESS, Figs. 8 and 9: 20 MapReduce jobs.

use resched_analysis::Run;
use resched_analysis::statistics::distribution::mean;

use super::coupling::figures;
use super::dress::{ASSUMPTIONS, KNOBS, by_draw, compared, completions, shorter_waits, waits};
use super::dress_fit::Times;
use super::dress_twenty::TwentyJobs;
use super::measures::{change, completion, longer_wait, waiting};
use crate::case::bundled;
use crate::experiment::{Experiment, Paper};
use crate::replays::Replays;
use crate::row::row;
use crate::{Published, Row};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "dress-mapreduce",
    paper: Paper::Dress,
    source: "Figs. 8 and 9",
    title: "20 MapReduce jobs, six of them small",
    knobs: KNOBS,
    assumptions: ASSUMPTIONS,
    cases: || JOBS.cases(),
    rows,
    bands: |replays| JOBS.bands(replays),
    figures: |replays| {
        let caption =
            "The mean of each job over the seeds, with its 95 % interval. The paper's text gives job 9 (§V-B2).";
        figures([
            waits(replays, ("dress-fig8", "Waiting times (Fig. 8)", caption), &[(9, NINTH, 19.981)]),
            completions(replays, "dress-fig9", "Completion times (Fig. 9)"),
        ])
    },
};

/// How long job 9 waits under Capacity in the paper, s.
const NINTH: f64 = 189.246;

/// How far job 9's wait under Capacity is from that, as a share of it.
fn distance(times: &[Times]) -> f64 {
    times.get(8).map_or(f64::INFINITY, |job| (job.wait / NINTH - 1.0).abs())
}

/// The claim about the number of jobs that gain.
const GAINERS: &str = "Jobs that gain, of 20 / half of the jobs";

/// Its jobs.
const JOBS: TwentyJobs = TwentyJobs {
    name: EXPERIMENT.name,
    workload: bundled!("dress-mapreduce.toml"),
    small: [4, 5, 6, 8, 10, 11],
    fit: 8,
    distance,
    fitting: &[0.5, 1.0, 1.5],
    place: "§V-B2: \"25.7 %\"",
    figure: "Fig. 9",
    gain: -25.7,
};

/// The changes of all jobs that `keep` takes, averaged, %.
fn mean_of(a: &Run, b: &Run, keep: fn(f64) -> bool) -> Option<f64> {
    let changes = (1..=20).filter_map(|job| change(completion(a, job), completion(b, job)));
    mean(&changes.filter(|change| keep(*change)).collect::<Vec<_>>())
}

fn rows(replays: &Replays<'_>) -> Vec<Row> {
    let paired = |of: &dyn Fn(&Run, &Run) -> Option<f64>| replays.pairs("capacity", "dress", of);
    let wait = |label: &str| replays.each(label, |run| waiting(run, 9).map(|ms| ms / 1e3));
    let mut rows = vec![
        by_draw(
            row("§V-B2: \"19.981 s vs 189.246 s\"", "Capacity: wait of job 9 (Fig. 8)", "s", Published::Value(NINTH))
                .calibrated(),
            &wait("capacity"),
        ),
        compared(
            row("§V-B2: \"19.981 s vs 189.246 s\"", "DRESS: wait of job 9 (Fig. 8)", "s", Published::Value(19.981)),
            "",
            JOBS.fitting,
            |_, to| wait(to),
        ),
        row(
            "§V-B2: \"waiting times for Jobs 1 to 9 are significantly shorter than others\"",
            "Capacity: mean wait of jobs 1 to 9, less that of the others",
            "s",
            Published::Below,
        )
        .baseline()
        .missing("No job's demand or run time is given (§V-A2).")
        .replayed(&replays.each("capacity", |run| shorter_waits(run, 9))),
        row(
            "§V-B2: \"waiting times for Jobs 1 to 9 are significantly shorter than others\"",
            "DRESS: mean wait of jobs 1 to 9, less that of the others",
            "s",
            Published::Below,
        )
        .arithmetic()
        .missing("No job's demand or run time is given (§V-A2).")
        .replayed(&replays.each("dress", |run| shorter_waits(run, 9))),
        row(
            "§V-B2: \"a similar trend can be discovered\"",
            "Waits of jobs 4, 5, 6, 8, 10 and 11, DRESS less Capacity: the one that agrees least",
            "s",
            Published::Below,
        )
        .ours("Jobs 4, 5, 6 and 8 start at once under both here, as §V-B2 says of jobs 1 to 9: their waits cannot fall. Jobs 10 and 11 wait under Capacity, and do not gain in all draws.")
        .replayed_of_each(
            JOBS.small.map(|job| paired(&|a, b| longer_wait(a, b, job))),
        ),
        row("§VI: \"achieves a stable overall system performance\"", "Change of the makespan", "%", Published::Change(0.0))
            .arithmetic()
            .missing("No job's demand or run time is given (§V-A2).")
            .replayed(&paired(&|a, b| {
                let makespan = |run: &Run| run.jobs.makespan().map(|ms| ms as f64);
                change(makespan(a), makespan(b))
            })),
        row("§V-B2: \"Job 7 has been delayed\"", "Wait of job 7, DRESS less Capacity", "s", Published::Above)
            .ours("Job 7 fits beside jobs 1 to 6 here, and has its first container before the reserve of later small jobs grows.")
            .replayed(&paired(&|a, b| longer_wait(a, b, 7))),
        JOBS.small_gain_row(JOBS.small_gain(), replays),
        by_draw(
            row(
                "§V-B2: \"12 jobs are decreased by 18.5 %\"",
                "Completion of the jobs that gain, mean (12 in the paper)",
                "%",
                Published::Change(-18.5),
            )
            .arithmetic(),
            &paired(&|a, b| mean_of(a, b, |change| change < 0.0)),
        ),
        by_draw(
            row(
                "§V-B2: \"other 8 jobs are increased by 8.2 %\"",
                "Completion of the jobs that lose, mean (8 in the paper)",
                "%",
                Published::Change(8.2),
            )
            .arithmetic(),
            &paired(&|a, b| mean_of(a, b, |change| change > 0.0)),
        ),
        // By chance ten of 20 gain, so that 12 jobs within a quarter would be no finding: what counts is how many more than half they are.
        compared(row("§V-B2: \"12 jobs\"", GAINERS, "times", Published::Ratio(1.2)), "", JOBS.fitting, |from, to| {
            let gain = |a: &Run, b: &Run| (1..=20).filter(|job| completion(b, *job) < completion(a, *job)).count();
            replays.pairs(from, to, |a, b| Some(gain(a, b) as f64 / 10.0))
        }),
    ];
    for (job, percent) in [(9, -23.2), (12, -17.5), (13, -10.0), (7, 29.3), (14, 12.2), (15, 13.8)] {
        let claim = row("§V-B2", format!("Completion of job {job}"), "%", Published::Change(percent));
        rows.push(compared(claim, "", JOBS.fitting, |from, to| {
            replays.pairs(from, to, |a, b| change(completion(a, job), completion(b, job)))
        }));
    }
    rows
}

#[cfg(test)]
mod tests {
    #[test]
    fn draws_fit_capacitys_wait_of_job_9_as_said() {
        super::JOBS.check_fits();
    }
}
