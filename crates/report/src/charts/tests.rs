//! Charts of made-up runs: values stand where they should, and no number of jobs is too few.
#![allow(clippy::unwrap_used)]

use resched_analysis::{Population, Run};
use resched_tables::model::{AttemptRow, JobRow, Locality, Outcome, TaskKind};
use resched_tables::run::{RunCluster, RunInfo, RunTables};

use super::CHARTS;
use crate::scene::{Chosen, Scene};

/// A job: submission, and tasks with their kinds, times and places.
type Job<'a> = (i64, &'a [(TaskKind, i64, i64, Option<Locality>)]);

const NODE: Option<Locality> = Some(Locality::Node);
const RACK: Option<Locality> = Some(Locality::Rack);

/// A run on a node with four map slots and two reduce slots. A job ends with its last task.
fn run(label: &str, seed: u64, jobs: &[Job<'_>]) -> Run {
    let mut rows = RunTables::default();
    for (number, (submit, tasks)) in jobs.iter().enumerate() {
        let job_id = format!("job{number}");
        for (task, &(kind, start, finish, locality)) in tasks.iter().enumerate() {
            rows.attempts.push(AttemptRow {
                job_id: job_id.clone(),
                task_id: task.to_string(),
                kind,
                start: Some(start),
                finish: Some(finish),
                host: Some("<node>".to_owned()),
                locality,
                outcome: Outcome::Success,
                ..AttemptRow::default()
            });
        }
        let finish = tasks.iter().map(|task| task.2).max();
        rows.jobs.push(JobRow {
            job_id,
            queue: Some(format!("<queue {}>", number % 2)),
            submit: Some(*submit),
            finish,
            outcome: Outcome::Success,
            ..JobRow::default()
        });
    }
    let cluster = RunCluster { nodes: 1, racks: 1, map_slots: 4, reduce_slots: 2, ..RunCluster::default() };
    let policy_order = ["fifo", "fair"].iter().position(|known| *known == label).map(|place| place as u32);
    Run::of_rows(RunInfo { label: label.to_owned(), policy_order, seed, cluster, ..RunInfo::default() }, rows)
}

/// The chart of these runs; those with one label are seeds of one policy.
fn draw(name: &str, runs: &[Run]) -> Option<String> {
    let population = Population::of(&runs.iter().collect::<Vec<_>>());
    let mut policies: Vec<(&str, Vec<usize>)> = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        match policies.iter_mut().find(|policy| policy.0 == run.label) {
            Some(policy) => policy.1.push(place),
            None => policies.push((&run.label, vec![place])),
        }
    }
    let chosen: Vec<Chosen<'_>> = policies.iter().map(|(label, runs)| Chosen { label, runs }).collect();
    let chart = CHARTS.iter().find(|chart| chart.name == name).unwrap();
    (chart.draw)(&Scene::new(runs, &population, &chosen)).unwrap()
}

/// The lines of the series in a chart below its legend, by the colour of their first run: corners in pixels.
fn lines(svg: &str, colour: &str) -> Vec<Vec<(i32, i32)>> {
    let strokes =
        svg.lines().filter(|line| line.contains("<polyline") && line.contains(&format!("stroke=\"{colour}\"")));
    let corners = |line: &str| {
        let points = line.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
        let corner = |point: &str| {
            let (x, y) = point.split_once(',').unwrap();
            (x.parse().unwrap(), y.parse().unwrap())
        };
        points.split_whitespace().map(corner).collect()
    };
    strokes.map(corners).skip(1).collect()
}

/// The colours of `fifo` and `srpt`, the first two of a chart of both.
const FIFO: &str = "#015199";

/// True if the heights of a line above its last point are as these shares of the greatest, within a pixel or two.
fn is_shaped(line: &[(i32, i32)], shares: &[f64]) -> bool {
    let ground = line.last().unwrap().1;
    let top = line.iter().map(|point| ground - point.1).max().unwrap();
    let mut left = line.iter().map(|point| f64::from(ground - point.1) / f64::from(top));
    // The shares come in this order, with others between them on the way.
    shares.iter().all(|share| left.any(|found| (found - share).abs() < 0.03))
}

fn map(start: i64, finish: i64) -> (TaskKind, i64, i64, Option<Locality>) {
    (TaskKind::Map, start * 1000, finish * 1000, NODE)
}

fn reduce(start: i64, finish: i64) -> (TaskKind, i64, i64, Option<Locality>) {
    (TaskKind::Reduce, start * 1000, finish * 1000, None)
}

/// One job that waits 10 s, runs two maps and then one, and a reduce that starves for 20 s; another that waits 50 s.
fn two_jobs() -> Run {
    let first = [map(10, 30), map(10, 60), reduce(80, 100)];
    let second = [map(60, 70)];
    run("fifo", 1, &[(0, &first), (10_000, &second)])
}

#[test]
fn every_chart_stands_no_job_and_one() {
    for chart in CHARTS {
        assert_eq!(draw(chart.name, &[run("fifo", 1, &[]), run("fair", 1, &[])]), None, "{}", chart.name);
        let one = run("<fifo>", 1, &[(0, &[map(5, 10), reduce(20, 30)])]);
        if let Some(svg) = draw(chart.name, &[one]) {
            assert!(svg.contains("n = 1 ") && svg.contains("seed 1") && !svg.contains("<fifo>"), "{}", chart.name);
        }
    }
}

/// From 10 s on one job waits less; between 10 and 60 s one, before 10 s one.
#[test]
fn the_queue_has_its_length() {
    let jobs: Vec<Job<'_>> =
        vec![(0, &[(TaskKind::Map, 40_000, 100_000, None)]), (0, &[(TaskKind::Map, 70_000, 100_000, None)])];
    let svg = draw("queue_length", &[run("fifo", 1, &jobs)]).unwrap();
    assert!(is_shaped(&lines(&svg, FIFO)[0], &[1.0, 0.5, 0.0]), "{svg}");
}

/// Two of four map slots are in use, then one; and later one of two reduce slots.
#[test]
fn utilisation_is_the_share_of_slots() {
    let svg = draw("utilisation", &[two_jobs()]).unwrap();
    let found = lines(&svg, FIFO);
    assert!(found.len() == 2 && is_shaped(&found[0], &[0.0, 1.0, 0.5, 0.0]), "{svg}");
    assert!(svg.contains("Map slots (%)") && svg.contains("Reduce slots (%)"));
}

#[test]
fn the_jobs_that_starve_are_shown_while_they_do() {
    let svg = draw("starvation_over_time", &[two_jobs()]).unwrap();
    let line = &lines(&svg, FIFO)[0];
    let (left, right) = (line[0].0, line.last().unwrap().0);
    let top = line.iter().map(|point| point.1).min().unwrap();
    let starved: Vec<f64> = line
        .iter()
        .filter(|point| point.1 == top)
        .map(|point| f64::from(point.0 - left) / f64::from(right - left))
        .collect();
    assert!((starved[0] - 0.6).abs() < 0.02 && (starved.last().unwrap() - 0.8).abs() < 0.02, "{starved:?}");
}

/// From 10 to 70 s, one of two jobs runs all tasks, so Jain's index is 1/2 and a half of the tasks should be those of the other. From 70 to
/// 80 s none runs, and then the only job runs one.
#[test]
fn the_share_error_is_high_while_one_job_has_all() {
    let svg = draw("fairness", &[two_jobs()]).unwrap();
    let found = lines(&svg, FIFO);
    let [index, alone, error, none] = found.as_slice() else { panic!("{found:?}") };
    let is_flat = |line: &[(i32, i32)]| line.iter().all(|point| point.1 == line[line.len() / 2].1);
    assert!([alone, error, none].into_iter().all(|line| is_flat(line)), "{found:?}");
    assert!(index[index.len() / 2].1 > alone[0].1 && error[0].1 < none[0].1, "{found:?}");
}

/// Each job takes twice as long under the second policy, so all ratios are 2: the step stands at two thirds between 1 and 2·√2.
#[test]
fn ratios_and_percentiles_are_against_the_baseline() {
    let (a, b, c) = ([map(0, 10)], [map(0, 20)], [map(0, 40)]);
    let base = run("fair", 1, &[(0, &a), (0, &b)]);
    let twice = run("fifo", 1, &[(0, &b), (0, &c)]);
    let svg = draw("ratio", &[base.clone(), twice.clone()]).unwrap();
    let line = &lines(&svg, FIFO)[0];
    assert!(
        line[0].0 == line[1].0 && line[0].1 > line[1].1 && svg.contains("times that of fair"),
        "one step: {line:?}"
    );
    let guide = &lines(&svg, "#BEBEBE");
    assert!(svg.contains("#BEBEBE") && guide.iter().flatten().all(|point| point.0 < line[0].0), "2 is right of 1");
    // Of 10, 20 and 40 s, the baseline is done with 50, 100 and 100 % of the jobs, the other with 0, 50 and 100 %.
    let svg = draw("pp", &[base, twice]).unwrap();
    let line = &lines(&svg, FIFO)[0];
    let (width, height) = (f64::from(line[3].0 - line[0].0), f64::from(line[0].1 - line[3].1));
    let shares: Vec<(f64, f64)> =
        line.iter().map(|p| (f64::from(p.0 - line[0].0) / width, f64::from(line[0].1 - p.1) / height)).collect();
    let expected = [(0.0, 0.0), (0.5, 0.0), (1.0, 0.5), (1.0, 1.0)];
    let near = shares.iter().zip(expected).all(|(a, b)| (a.0 - b.0).abs() < 0.01 && (a.1 - b.1).abs() < 0.01);
    assert!(near && shares.len() == 4, "{shares:?}");
}

/// An axis, a note and a row may have the label of a policy.
#[test]
fn a_long_and_evil_label_is_cut_and_escaped() {
    let evil = format!("<evil>\u{1}{}", "&long".repeat(50_000));
    let of = |label: &str, seed, end| run(label, seed, &[(0, &[map(0, end)]), (0, &[map(0, 2 * end)])]);
    for chart in CHARTS {
        let runs = [of(&evil, 1, 10), of("fair", 1, 20), of(&evil, 2, 30)];
        if let Some(svg) = draw(chart.name, &runs) {
            assert!(!svg.contains("<evil>") && !svg.contains('\u{1}') && svg.len() < 100_000, "{}", chart.name);
        }
    }
}

#[test]
fn the_difference_is_above_zero_while_a_policy_is_ahead() {
    let base = run("fair", 1, &[(0, &[map(0, 100)]), (0, &[map(50, 100)])]);
    let sooner = run("fifo", 1, &[(0, &[map(0, 100)]), (0, &[map(0, 50)])]);
    let svg = draw("difference", &[base, sooner]).unwrap();
    let line = &lines(&svg, FIFO)[0];
    assert!(is_shaped(line, &[0.0, 1.0, 0.0]) && svg.contains("against fair"), "{svg}");
}

#[test]
fn sizes_have_their_slowdown_and_locality() {
    let small = [map(0, 10)];
    let mut large: Vec<_> = (0..30).map(|_| (TaskKind::Map, 0, 10_000, RACK)).collect();
    large.push((TaskKind::Map, 10_000, 20_000, NODE));
    let runs = [run("fifo", 1, &[(0, &small), (0, &large)])];
    let svg = draw("slowdown_by_size", &runs).unwrap();
    let line = &lines(&svg, FIFO)[0];
    assert!(line.len() == 2 && line[0].0 < line[1].0 && line[0].1 > line[1].1, "1 and 2: {line:?}");
    let found = lines(&draw("locality_by_size", &runs).unwrap(), FIFO);
    assert!(found[0][0].1 < found[0][1].1, "all and hardly any on the node: {found:?}");
    assert_eq!(found[1][0].1, found[1][1].1, "all in the rack: {found:?}");
    assert!(draw("locality_over_time", &runs).unwrap().contains("n = 32 launched maps"));
}

#[test]
fn categories_are_named_and_escaped() {
    let svg = draw("categories", &[two_jobs()]).unwrap();
    assert!(svg.contains("By queue") && svg.contains("&lt;queue 0&gt;: 1 job") && !svg.contains("<queue"), "{svg}");
}

#[test]
fn seeds_have_their_mean_between_the_least_and_the_greatest() {
    let one = |seed, end| run("fifo", seed, &[(0, &[map(0, end)])]);
    assert_eq!(draw("seeds", &[one(1, 10)]), None);
    let svg = draw("seeds", &[one(1, 10), one(2, 20), one(7, 60)]).unwrap();
    assert!(svg.contains("seeds 1, 2, 7") && svg.contains("fifo (3 seeds)"), "{svg}");
    // The first panel's span: from the mean, 30 s, to 10 s and to 60 s.
    let found = lines(&format!("<polyline stroke=\"{FIFO}\" points=\"0,0\"\n{svg}"), FIFO);
    let (down, up) = (f64::from(found[0][0].0 - found[0][1].0), f64::from(found[2][1].0 - found[2][0].0));
    assert!((down / up - 20.0 / 30.0).abs() < 0.02, "{found:?}");
}

#[test]
fn the_overview_has_arrivals_sizes_and_times() {
    let svg = draw("overview", &[two_jobs()]).unwrap();
    for part in ["Arrivals per", "Sizes of jobs", "Run times of tasks", "fifo: n = 2 jobs, 3 maps, 1 reduces"] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
}

/// Twenty jobs of 100 s, one of which has a task of 10,000 s. Charts of jobs that wait or starve have nothing to show later.
#[test]
fn charts_over_time_leave_a_long_tail_out_and_say_so() {
    let short = [map(0, 50), map(50, 100), reduce(80, 100)];
    let long = [map(0, 50), map(50, 100), reduce(80, 10_000)];
    let jobs: Vec<Job<'_>> = (0..20).map(|job| (0, if job == 7 { &long[..] } else { &short[..] })).collect();
    let runs = [run("fifo", 1, &jobs), run("fair", 1, &jobs[..19])];
    for name in ["running_tasks", "gantt", "utilisation", "fairness", "difference"] {
        let svg = draw(name, &runs).unwrap_or_else(|| panic!("{name}"));
        assert!(svg.contains("; cut at 100."), "{name}: {svg}");
    }
    let waiting = [run("fifo", 1, &[(0, &[map(60, 100), reduce(100, 10_000)])])];
    let svg = draw("queue_length", &waiting).unwrap();
    assert!(svg.contains("; nothing from "), "{svg}");
}

#[test]
fn many_jobs_under_many_policies_have_marks_and_shares() {
    let starving = [map(0, 10), reduce(20, 30)];
    let jobs: Vec<Job<'_>> = (0..20).map(|job| (job, &starving[..])).collect();
    let runs: Vec<Run> = (0..8).map(|place| run(&format!("delay:D={place}"), 1, &jobs)).collect();
    let svg = draw("job_times", &runs).unwrap();
    assert!(!svg.contains("mean of") && svg.contains("Job, in order of submission"), "no bar is of two jobs: {svg}");
    assert!(!draw("starvation", &runs).unwrap().contains("mean of"), "each policy has a plot");
    let many: Vec<Job<'_>> = (0..400).map(|job| (job, &starving[..])).collect();
    let svg = draw("locality", &[run("fifo", 1, &many)]).unwrap();
    assert!(svg.contains("Maps (%)") && svg.contains("mean of"), "{svg}");
}

#[test]
fn numbers_that_span_decades_have_a_logarithmic_axis() {
    let waits = [map(90, 100)];
    let of = |label, jobs: usize| {
        let all: Vec<Job<'_>> = (0..100).map(|job| (if job < jobs { 0 } else { 89_999 }, &waits[..])).collect();
        run(label, 1, &all)
    };
    let log = |runs: &[Run]| draw("queue_length", runs).unwrap().contains("below 1 at the foot");
    assert!(!log(&[of("fifo", 100), of("fair", 90)]));
    let early = [map(0, 100)];
    let few: Vec<Job<'_>> = (0..100).map(|job| (0, if job < 2 { &waits[..] } else { &early[..] })).collect();
    assert!(log(&[of("fifo", 100), run("fair", 1, &few)]), "100 and 2 jobs wait");
}

#[test]
fn plots_that_are_far_apart_have_scales_and_units_of_their_own() {
    let [brief, long] = [[map(0, 10), reduce(12, 30)], [map(0, 10), reduce(7_210, 8_000)]];
    let of = |label, tasks: &[_]| {
        let jobs: Vec<Job<'_>> = (0..40).map(|_| (0, tasks)).collect();
        run(label, 1, &jobs)
    };
    let svg = draw("starvation", &[of("fifo", &brief), of("fair", &long), of("srpt", &brief)]).unwrap();
    for part in ["Starvation (s)", "Starvation (h)", "each plot has its own scale"] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
}
