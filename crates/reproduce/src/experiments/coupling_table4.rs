//! Coupling, Table IV and Fig. 3: jobs that starve for reduce slots.

use resched_analysis::Run;
use resched_analysis::statistics::distribution::mean;
use resched_report::Line;

use super::coupling::{CLUSTER, COUPLING, FAIR, KNOBS, assumptions, cases, coupling, fair_and_coupling, figures};
use super::measures::{MINUTE, change, completion, job, mean_completion, pseudo_values};
use crate::band::Unknown;
use crate::case::{Case, bundled};
use crate::experiment::{Experiment, Paper};
use crate::on_paper::{OnPaper, by_job, points};
use crate::replays::Replays;
use crate::row::{Draft, row};
use crate::{Band, Published, Row};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "coupling-table4",
    paper: Paper::Coupling,
    source: "Table IV and Fig. 3",
    title: "22 jobs of mixed size that starve for reduce slots",
    knobs: KNOBS,
    assumptions: assumptions![
        "The paper does not name the set of machines. It is taken for B: under Fair no reduce of jobs 1 and 2 is late (S_F = 0.0), \
         which takes their 30 slots; Set A has 14.",
        "Submission times are seconds: the column is called minutes, but the figure's axis ends at 60 minutes.",
        "The numbers of the class RandomWriter, and QMC's reduce, which no baseline number fixes, are guesses (traces/coupling-table4.toml)."
    ],
    cases: || {
        let mut all = fair_and_coupling(bundled!("coupling-table4.toml"))?;
        let literal = ("literal list", coupling!(",list=free"));
        all.append(&mut cases(bundled!("coupling-table4.toml"), &[literal])?);
        let mut set_a = bundled!("coupling-table4.toml").workload()?;
        let cluster = set_a.cluster.get_mut();
        (cluster.nodes, cluster.racks, cluster.data_nodes) = (7, 1, None);
        for (label, policy) in [("Set A: fair", FAIR), ("Set A: coupling", COUPLING)] {
            all.push(Case::new(label, policy, set_a.clone(), &CLUSTER.cluster()?)?);
        }
        for reduce in GREP_REDUCES.into_iter().filter(|reduce| *reduce != CHOSEN_REDUCE) {
            let mut workload = bundled!("coupling-table4.toml").workload()?;
            if let Some(class) = workload.classes.get_mut("grep") {
                class.reduce_mean_s = reduce;
            }
            for (label, policy) in [("fair", FAIR), ("coupling", COUPLING)] {
                let case = Case::new(&with_reduces(reduce, label), policy, workload.clone(), &CLUSTER.cluster()?)?;
                all.push(case.with_few_seeds());
            }
        }
        for (map, rate) in SORTS.into_iter().filter(|(map, _)| *map != CHOSEN_SORT) {
            let mut workload = bundled!("coupling-table4.toml").workload()?;
            if let Some(class) = workload.classes.get_mut("sort") {
                (class.map_mean_s, class.reduce_rate) = (map, Some(rate));
            }
            all.push(Case::new(&with_sorts(map, "coupling"), COUPLING, workload, &CLUSTER.cluster()?)?);
        }
        Ok(all)
    },
    rows,
    bands,
    figures: |replays| {
        let minutes = |run: &Run, number: usize| completion(run, number).map(|ms| ms / MINUTE);
        let jobs = STARVATION.len();
        let times = [
            by_job(replays, ("fair", "fair"), jobs, minutes),
            by_job(replays, ("coupling", "coupling"), jobs, minutes),
            points("paper: fair, shortest and longest of job 3", [(3.0, 0.8), (3.0, 12.1)]),
        ];
        let starved = |case: &str, paper: fn(&(f64, f64)) -> f64| {
            let published = (1..).map(f64::from).zip(STARVATION.iter().map(paper));
            [points("paper", published), by_job(replays, ("replay", case), jobs, starvation)]
        };
        let of = |name, title, y, caption, series: &[Line]| {
            OnPaper { name, title, caption, x: "Job", y, ends: None }.draw(series)
        };
        let (starvation_axis, marks) =
            ("Starvation (min)", "A mark of the replay is a job's mean over the seeds, with its 95 % interval.");
        figures([
            of(
                "coupling-fig3",
                "Processing times (Fig. 3)",
                "Processing time (min)",
                "A mark is a job's mean over the seeds, with its 95 % interval. Of the paper's figure the text gives the ends of job 3 under Fair (§I-C).",
                &times,
            ),
            of(
                "coupling-table4-fair",
                "Starvation under Fair (Table IV, S_F)",
                starvation_axis,
                marks,
                &starved("fair", |both| both.0),
            ),
            of(
                "coupling-table4-coupling",
                "Starvation under Coupling (Table IV, S_C)",
                starvation_axis,
                marks,
                &starved("coupling", |both| both.1),
            ),
        ])
    },
};

/// Table IV: starvation times under Fair and Coupling, min, by job.
const STARVATION: [(f64, f64); 22] = [
    (0.0, 0.0),
    (0.0, 0.0),
    (6.1, 0.0),
    (4.0, 0.0),
    (3.9, 0.0),
    (2.8, 0.0),
    (2.8, 0.0),
    (0.0, 0.2),
    (0.0, 0.0),
    (4.9, 4.5),
    (8.3, 0.9),
    (8.6, 0.6),
    (8.4, 0.2),
    (5.3, 3.5),
    (1.0, 0.0),
    (0.1, 0.0),
    (0.3, 5.0),
    (0.3, 0.0),
    (0.0, 0.0),
    (0.5, 1.1),
    (0.0, 0.0),
    (0.0, 0.0),
];
/// The job that cannot starve.
const WITHOUT_REDUCES: usize = 21;
/// The times of a reduce of a Grep that are tried, s, and that of the rows.
const GREP_REDUCES: [f64; 4] = [45.0, 60.0, CHOSEN_REDUCE, 90.0];
const CHOSEN_REDUCE: f64 = 75.0;

/// The times of a map of a Sort that are tried, s, each with the rate of its reduces, B/s, at which Sort2 alone takes about 20 minutes under
/// Fair; and that of the rows.
const SORTS: [(f64, f64); 4] = [(20.0, 5e6), (25.0, 6e6), (30.0, 7e6), (CHOSEN_SORT, 9e6)];
const CHOSEN_SORT: f64 = 35.0;

/// The label of a case in which a map of a Sort takes so long.
fn with_sorts(map: f64, label: &str) -> String {
    if map == CHOSEN_SORT { label.to_owned() } else { format!("maps of Sort {map} s: {label}") }
}

/// The label of a case in which a reduce of a Grep takes so long.
fn with_reduces(reduce: f64, label: &str) -> String {
    if reduce == CHOSEN_REDUCE { label.to_owned() } else { format!("reduces of Grep {reduce} s: {label}") }
}

/// The claim about job 3.
fn job_3() -> Draft {
    row("§I-C: \"job 3 is 12.8 times faster\"", "Job 3's processing time, Fair / Coupling", "times", Published::Ratio(12.8)).missing(
        "Which repeat S_F is, is not given. S_F is 4.6 in the mean here and not 6.1, and Fair's longest time 6.8 minutes and not 12.1; in the seeds \
         whose S_F is 5 to 6 minutes the ratio is larger. QMC's maps are set by Fair's 0.8 minutes; with 15 s instead of 18 s the ratio is 10.0. \
         By S_F of 6.1 and 0.8 minutes it would be 8.6.",
    )
}

/// One end of the published spread of job 3 under Fair.
fn spread_of_job_3(end: &str, minutes: f64) -> Draft {
    row(
        "§I-C: \"between 0.8 and 12.1 minutes\"",
        format!("Fair: job 3's {end} processing time of five repeats"),
        "min",
        Published::Value(minutes),
    )
    .baseline()
    .missing(
        "The paper does not say what varies between its repeats. Here the tasks' times and the order of heartbeats do.",
    )
}

/// The repeats of the paper's Fig. 3.
const REPEATS: usize = 5;

/// The least or the greatest of each five seeds.
fn of_repeats(values: &[f64], pick: fn(f64, f64) -> f64) -> Vec<f64> {
    values.chunks(REPEATS).filter_map(|repeats| repeats.iter().copied().reduce(pick)).collect()
}

/// A measure of a job's mean processing times under two schedulers. Fig. 3 shows such means, of five trials.
fn of_means(replays: &Replays<'_>, [from, to]: [&str; 2], number: usize, of: fn(f64, f64) -> f64) -> Vec<f64> {
    let times = |case: &str| replays.each(case, |run| completion(run, number));
    pseudo_values(&times(from), &times(to), of)
}

/// The change of a job's mean processing time, %.
fn changes(replays: &Replays<'_>, cases: [&str; 2], number: usize) -> Vec<f64> {
    of_means(replays, cases, number, |from, to| 100.0 * (to / from - 1.0))
}

/// How many times as long a job takes in the mean under the first scheduler.
fn ratios(replays: &Replays<'_>, cases: [&str; 2], number: usize) -> Vec<f64> {
    of_means(replays, cases, number, |from, to| from / to)
}

/// The mean over all jobs of what `of_job` finds of each of them, place by place.
fn over_jobs(of_job: impl Fn(usize) -> Vec<f64>) -> Vec<f64> {
    let jobs: Vec<Vec<f64>> = (1..=STARVATION.len()).map(of_job).collect();
    let places = jobs.iter().map(Vec::len).min().unwrap_or(0);
    let at = |place: usize| -> Vec<f64> { jobs.iter().filter_map(|values| values.get(place).copied()).collect() };
    (0..places).filter_map(|place| mean(&at(place))).collect()
}

/// The mean over the jobs of the changes of their mean processing times, %.
fn mean_change(replays: &Replays<'_>, cases: [&str; 2]) -> Vec<f64> {
    over_jobs(|number| changes(replays, cases, number))
}

/// By how much more a job's processing time is spread over five repeats under Coupling than under Fair, min: the mean of the jobs, for
/// each five seeds.
fn more_varied(replays: &Replays<'_>) -> Vec<f64> {
    let spreads = |case: &str, number: usize| {
        let times = replays.each(case, |run| completion(run, number).map(|ms| ms / MINUTE));
        let (least, most) = (of_repeats(&times, f64::min), of_repeats(&times, f64::max));
        most.into_iter().zip(least).map(|(most, least)| most - least).collect::<Vec<f64>>()
    };
    let more = |number: usize| -> Vec<f64> {
        let both = spreads("fair", number).into_iter().zip(spreads("coupling", number));
        both.map(|(fair, coupling)| coupling - fair).collect()
    };
    over_jobs(more)
}

/// The claim about the mean of all jobs.
fn all_jobs() -> Draft {
    row(
        "§I-C: \"decrease by 39.1 %\"",
        "Mean of the jobs' changes of processing time (Fig. 3)",
        "%",
        Published::Change(-39.1),
    )
    .main()
    .missing("\"On average the job response times decrease by 39.1 %\": the paper does not say how the mean is taken.")
}

fn bands(replays: &Replays<'_>) -> Vec<Band> {
    let unknown = Unknown {
        name: "Time of a reduce of a Grep (s)",
        range: "With these, Fair's starvation times are off by 0.8 to 0.6 minutes, which hardly separates them: five runs with one setting are off from \
                their own mean by 0.7. Fig. 1 (Fair) ends in time with 75 s at most.",
        chosen: CHOSEN_REDUCE,
    };
    let over = |of: &dyn Fn([&str; 2]) -> Vec<Vec<f64>>| {
        GREP_REDUCES.map(|reduce| {
            let [fair, coupling] = ["fair", "coupling"].map(|label| with_reduces(reduce, label));
            (reduce, of([&fair, &coupling]))
        })
    };
    let ratio = over(&|cases| vec![ratios(replays, cases, 3)]);
    let mean = over(&|cases| vec![mean_change(replays, cases)]);
    let small = over(&|cases| FASTER.map(|number| changes(replays, cases, number)).to_vec());
    let all = [
        Band::of_each("coupling-table4-job3", unknown, job_3, ratio),
        Band::of_each("coupling-table4-mean", unknown, all_jobs, mean),
        Band::of_each("coupling-table4-small", unknown, small_jobs, small),
    ];
    let starved = STARVED.map(|number| {
        let found = GREP_REDUCES
            .map(|reduce| (reduce, replays.each(&with_reduces(reduce, "coupling"), |run| starvation(run, number))));
        Band::new(format!("coupling-table4-job{number}-starvation"), unknown, || starves(number), found)
    });
    let sorts = Unknown {
        name: "Time of a map of a Sort (s)",
        range: "With these and reduces of 5 to 9 MB/s Sort2 alone takes 20 minutes under Fair, and the starvation times are off by 1.0 to 0.7 minutes.",
        chosen: CHOSEN_SORT,
    };
    let beside_sorts = BESIDE_SORTS.map(|number| {
        let found =
            SORTS.map(|(map, _)| (map, replays.each(&with_sorts(map, "coupling"), |run| starvation(run, number))));
        Band::new(format!("coupling-table4-job{number}-sorts"), sorts, || starves(number), found)
    });
    all.into_iter().chain(starved).chain(beside_sorts).collect()
}

/// The jobs whose starvation under Coupling is also shown over the times of a Grep's reduce: those whose verdict hangs on it, and others to
/// which it matters.
const STARVED: [usize; 6] = [2, 5, 6, 8, 9, 13];

/// The claim about a job's starvation under Coupling.
fn starves(number: usize) -> Draft {
    let both = number.checked_sub(1).and_then(|place| STARVATION.get(place));
    let (fair, coupling) = both.copied().unwrap_or((f64::NAN, f64::NAN));
    let quantity = format!("Job {number}: S_C, starvation under Coupling");
    off(row("Table IV", quantity, "min", Published::Value(coupling)).beside(fair), number)
}

/// The jobs that the paper names as expedited (§III-C).
const EXPEDITED: [usize; 8] = [3, 4, 5, 6, 7, 11, 12, 13];

/// The jobs that the paper names as "more than 70 %" faster.
const FASTER: [usize; 4] = [3, 6, 12, 13];

/// What it says of them.
fn faster(quantity: String) -> Draft {
    row("§I-C: \"decreases by more than 70 %\"", quantity, "%", Published::Range(-100.0, -70.0))
}

/// The claim about all of them: it holds if it does of each.
fn small_jobs() -> Draft {
    let quantity = "Jobs 3, 6, 12 and 13: processing time (\"more than 70 %\" less), the one that agrees least";
    faster(quantity.to_owned()).ours(OF_JOB_6)
}

/// One of them.
fn small_job(number: usize) -> Draft {
    let part = faster(format!("Job {number}: processing time (\"more than 70 %\" less)")).arithmetic();
    if number == SIXTH { part.ours(OF_JOB_6) } else { part.missing(GREPS) }
}

/// Starvation of a job, min. A job without reduces does not starve.
fn starvation(run: &Run, number: usize) -> Option<f64> {
    let job = job(run, number)?;
    let without_reduces = (job.reduces_done == 0).then_some(0.0);
    Some(job.starvation.or(without_reduces)? / MINUTE)
}

/// Why the reduces of the other jobs may come late.
const OFF: &str = "The slots are taken by the first reduces of the jobs that came later. With maps that wait as under Fair (maps=delay) S_C of job 8 falls \
                   from 1.2 minutes to 0.4 (60 seeds).";
/// The jobs whose starvation hangs on the time of a Grep's reduce: each agrees with one of those tried, and not with another.
const AFTER_GREPS: [usize; 5] = [2, 5, 6, 9, 13];
/// Why theirs may differ.
const REDUCES: &str = "It depends on the time of a Grep's reduce, which the paper does not give: with 60 s instead of 75 s S_C of jobs 2 and 13 is 0.3 and 0.4 \
                       minutes (the band), and Fair's S_F are off by 0.75 minutes instead of 0.7, which hardly separates them.";
/// The jobs whose starvation hangs on the times of Sort's tasks, too.
const BESIDE_SORTS: [usize; 4] = [10, 11, 12, 14];
/// Why theirs may differ.
const SORT: &str = "It depends on the times of Sort's maps and reduces, which the paper does not give: with maps of 20 s and reduces of 5 MB/s S_C of jobs \
                    11, 12 and 14 is 0.9, 0.4 and 4.6 minutes (the band), and Fair's S_F are off by 1.0 minutes instead of 0.7.";
/// The Sort that starves for less whatever its times are, and why.
const FIRST_SORT: usize = 10;
const OF_JOB_10: &str = "Even with Sort's maps of 20 s and reduces of 5 MB/s it is 3.2 minutes (the band), and Fair's S_F are then off by 1.0 minutes instead of \
                         0.7.";
/// The Sorts that do not starve here.
const LAST_SORTS: [usize; 2] = [17, 20];
/// Why they do in the paper is not known.
const NO_SORT: &str = "When job 17's maps end, all its reduces have slots here. Sort's maps of 20 to 40 s and reduces of 2.5 to 12 MB/s, a cost of maps away from \
                       their data of 1.25, and Coupling with all free slots asked at a heartbeat leave job 17's S_C at 0. With maps of 20 s and \
                       reduces of 2.5 MB/s job 20's is 1.0 minutes, and Fair's S_F are off by 1.2. (60 seeds)";
/// Why a starvation time may differ.
fn off(draft: Draft, number: usize) -> Draft {
    match number {
        FIRST_SORT => draft.ours(OF_JOB_10),
        _ if BESIDE_SORTS.contains(&number) => draft.missing(SORT),
        _ if LAST_SORTS.contains(&number) => draft.ours(NO_SORT),
        _ if AFTER_GREPS.contains(&number) => draft.missing(REDUCES),
        _ => draft.ours(OFF),
    }
}
/// A job that gains less than in the paper whatever the time of a reduce is.
const SIXTH: usize = 6;
const OF_JOB_6: &str = "S_F of 2.8 minutes and 70 % less allow the job 1.2 minutes under Coupling. With reduces of 20 s it takes 1.4 minutes and \
                        gains 68 %, and Fair's S_F are off by 0.9 minutes instead of 0.7; longer ones (45 to 90 s) give less. Random \
                        Greps with maps of 15 or 20 s instead of 36 s gain 61 and 59 %. (30 seeds)";
/// Why the other jobs may gain less.
const GREPS: &str = "Under Coupling the job runs as long as its own maps and reduces take. What share of its time that is depends on the time of a reduce, \
                     which Fair's numbers do not fix: see the band.";

fn rows(replays: &Replays<'_>) -> Vec<Row> {
    let fair_of_job_3 = replays.each("fair", |run| completion(run, 3).map(|ms| ms / MINUTE));
    let both = ["fair", "coupling"];
    let mut rows = vec![
        job_3().replayed(&ratios(replays, both, 3)),
        spread_of_job_3("shortest", 0.8).replayed(&of_repeats(&fair_of_job_3, f64::min)),
        spread_of_job_3("longest", 12.1).replayed(&of_repeats(&fair_of_job_3, f64::max)),
        row("Table IV", "Set A: job 1's starvation under Fair", "min", Published::Value(0.0))
            .variant()
            .ours("15 reduces do not fit 14 slots.")
            .replayed(&replays.each("Set A: fair", |run| starvation(run, 1))),
        row("Table IV", "Set A: job 10's starvation under Fair", "min", Published::Value(4.9))
            .variant()
            .ours("14 slots are too few for the reduces of all jobs.")
            .replayed(&replays.each("Set A: fair", |run| starvation(run, 10))),
        all_jobs().replayed(&mean_change(replays, both)),
        row(
            "§I-C: \"most jobs spend less time\"",
            "Jobs with a shorter processing time, of 22",
            "jobs",
            Published::Range(12.0, 22.0),
        )
        .ours(OFF)
        .replayed(&replays.pairs("fair", "coupling", |a, b| {
            let shorter = |number: &usize| completion(b, *number) < completion(a, *number);
            Some((1..=STARVATION.len()).filter(shorter).count() as f64)
        })),
        row(
            "§I-C: \"Fair Scheduler results in a larger variation\"",
            "Spread of a job's processing time over five repeats, mean of the jobs: Coupling less Fair",
            "min",
            Published::Below,
        )
        .missing("The paper does not say what varies between its repeats. Here the tasks' times and the order of heartbeats do.")
        .replayed(&more_varied(replays)),
        row(
            "§II-A: \"up to an order of magnitude\"",
            "Largest ratio of a job's processing times, Fair / Coupling",
            "times",
            Published::Ratio(10.0),
        )
        .arithmetic()
        .missing("It is job 3's in the paper.")
        .replayed(&replays.pairs("fair", "coupling", |a, b| {
            let ratios = (1..=STARVATION.len()).filter_map(|job| Some(completion(a, job)? / completion(b, job)?));
            ratios.reduce(f64::max)
        })),
        row("Fig. 3", "Fair: all jobs end, on an axis to 60 minutes", "min", Published::Range(45.0, 60.0))
            .baseline()
            .ours("The last jobs end when they do under the times of tasks that S_F set.")
            .replayed(&replays.each("fair", |run| {
                run.jobs.iter().filter_map(|job| job.finish).max().map(|end| end as f64 / MINUTE)
            })),
        row("§I-C: \"decrease by 39.1 %\"", "Mean processing time (Fig. 3)", "%", Published::Change(-39.1))
            .variant()
            .ours("The mean of times, in which large jobs weigh more, not of changes.")
            .replayed(&replays.pairs("fair", "coupling", |a, b| change(mean_completion(a), mean_completion(b)))),
        row(
            "§I-C: \"decrease by 39.1 %\"",
            "Wait Scheduling to the letter (list=free): mean of the jobs' changes",
            "%",
            Published::Change(-39.1),
        )
        .variant()
        .replayed(&mean_change(replays, ["fair", "literal list"])),
    ];
    let small = FASTER.map(|number| (number, changes(replays, both, number)));
    rows.extend(small.iter().map(|(number, changes)| small_job(*number).replayed(changes)));
    rows.push(small_jobs().replayed_of_each(small.map(|(_, changes)| changes)));
    rows.push(
        row(
            "§III-C: \"greatly expedite the processing for most of the jobs\"",
            "Processing times of jobs 3 to 7 and 11 to 13: the one that agrees least",
            "%",
            Published::Below,
        )
        .ours(OFF)
        .replayed_of_each(EXPEDITED.map(|number| changes(replays, both, number))),
    );
    for (number, (fair, coupling)) in (1..).zip(STARVATION) {
        rows.extend(starvation_rows(replays, number, fair, coupling));
    }
    rows
}

/// A job's line of Table IV.
fn starvation_rows(replays: &Replays<'_>, number: usize, fair: f64, coupling: f64) -> Vec<Row> {
    let of = |name, paper| row("Table IV", format!("Job {number}: {name}"), "min", Published::Value(paper));
    let of_coupling = starves(number);
    let of_coupling = if number == WITHOUT_REDUCES { of_coupling.arithmetic() } else { of_coupling };
    let mut rows = vec![
        of("S_F, starvation under Fair", fair)
            .calibrated()
            .missing("All S_F set one time of a reduce together.")
            .replayed(&replays.each("fair", |run| starvation(run, number))),
        of_coupling.replayed(&replays.each("coupling", |run| starvation(run, number))),
    ];
    if fair != coupling {
        let sign = if fair > coupling { Published::Above } else { Published::Below };
        let less = |a: &Run, b: &Run| Some(starvation(a, number)? - starvation(b, number)?);
        rows.push(
            off(row("Table IV", format!("Job {number}: S_F − S_C"), "min", sign), number)
                .arithmetic()
                .replayed(&replays.pairs("fair", "coupling", less)),
        );
    }
    rows
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// What a band calls chosen is what the workload has: its case is not replayed again.
    #[test]
    fn chosen_times_are_those_of_the_workload() {
        let workload = bundled!("coupling-table4.toml").workload().unwrap();
        assert_eq!(workload.classes["grep"].reduce_mean_s, CHOSEN_REDUCE);
        let sort = &workload.classes["sort"];
        assert!(SORTS.contains(&(sort.map_mean_s, sort.reduce_rate.unwrap())) && sort.map_mean_s == CHOSEN_SORT);
        assert_eq!(CLUSTER.cluster().unwrap().cost.locality[2], super::super::coupling::CHOSEN_COST);
    }
}
