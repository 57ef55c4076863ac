//! What changes over a run, cell by cell: for charts over time.
//!
//! Each function looks at every attempt once, so that a run of millions takes no longer than to read it.

use resched_tables::model::{Locality, TaskKind};

use crate::metrics::cells::{Cells, Load};
use crate::runs::jobs::JobMetrics;
use crate::runs::run::Run;
use crate::runs::standing::counting;
use crate::time::timeline::{Steps, jain_index};

/// The mean number of tasks of the jobs that count that run, of the kinds that `of` accepts.
pub fn running(run: &Run, of: impl Fn(TaskKind) -> bool, cells: Cells) -> Vec<f64> {
    let mut load = Load::new(cells);
    for task in run.counted_intervals().filter(|task| of(task.kind)) {
        load.add(task.start, task.finish, 1.0);
    }
    load.means()
}

/// The processor that the jobs that count hold, in cores. A task holds the mean of its job ([`JobMetrics::cpus_of_attempt`]). `None` if it
/// is known for no job.
pub fn cores_held(run: &Run, cells: Cells) -> Option<Vec<f64>> {
    let cores: Vec<Option<f64>> = run.jobs.iter().map(JobMetrics::cpus_of_attempt).collect();
    cores.iter().any(Option::is_some).then(|| {
        let mut load = Load::new(cells);
        for task in run.counted_intervals() {
            if let Some(cores) = cores.get(task.job).copied().flatten() {
                load.add(task.start, task.finish, cores);
            }
        }
        load.means()
    })
}

/// Jain's index ([`jain_index`]), the mean over the part of each cell in which it is defined; `None` where it never is.
pub fn fairness(run: &Run, cells: Cells) -> Vec<Option<f64>> {
    let index = jain_index(&run.jobs, &run.intervals);
    let defined = Steps { points: index.points.iter().map(|&(time, value)| (time, f64::from(value > 0.0))).collect() };
    let edges = cells.edges();
    let parts = index.cell_means(&edges).into_iter().zip(defined.cell_means(&edges));
    parts.map(|(area, time)| (time > 0.0).then(|| area / time)).collect()
}

/// How many maps of the jobs that count were launched in each cell, by locality: on a node with their input, in its rack, elsewhere.
/// As in [`JobMetrics::map_launches`], every launch counts.
pub fn launches(run: &Run, cells: Cells) -> Vec<[u64; 3]> {
    let mut counts = vec![[0; 3]; cells.count()];
    for map in run.counted_intervals().filter(|task| task.kind == TaskKind::Map) {
        let level = map.locality.map(|locality| match locality {
            Locality::Node => 0,
            Locality::Rack => 1,
            Locality::Off => 2,
        });
        if let Some((cell, level)) = cells.of(map.start).and_then(|cell| counts.get_mut(cell)).zip(level) {
            cell[level] += 1;
        }
    }
    counts
}

/// How many jobs starve: from the end of the last map of a job that counts, for its starvation time. The area below the function is
/// the sum of the starvation times.
pub fn starving(run: &Run) -> Steps {
    let mut last_maps: Vec<Option<i64>> = vec![None; run.jobs.len()];
    for map in run.counted_intervals().filter(|task| task.kind == TaskKind::Map && task.succeeded) {
        if let Some(last) = last_maps.get_mut(map.job) {
            *last = (*last).max(Some(map.finish));
        }
    }
    let spans = run.jobs.iter().zip(last_maps).filter_map(|(job, from)| {
        let starved = job.starvation.map(|ms| ms.round() as i64).filter(|ms| *ms > 0)?;
        from.map(|from| (from, from.saturating_add(starved)))
    });
    Steps::from_changes(spans.flat_map(|(from, to)| [(from, 1), (to, -1)]))
}

/// How many of the jobs that count were done by the end of each cell.
pub fn jobs_done(jobs: &[JobMetrics], cells: Cells) -> Vec<f64> {
    let mut ends = vec![0u32; cells.count()];
    let last = ends.len() - 1;
    let end = cells.edges().last().copied();
    for finish in counting(jobs).filter_map(|job| job.finish) {
        // The last job may end as the last cell does.
        let cell = if Some(finish) == end { Some(last) } else { cells.of(finish) };
        if let Some(count) = cell.and_then(|cell| ends.get_mut(cell)) {
            *count += 1;
        }
    }
    let mut done = 0;
    ends.into_iter()
        .map(|count| {
            done += count;
            f64::from(done)
        })
        .collect()
}

/// How many of the jobs that count were submitted in each cell.
pub fn arrivals(jobs: &[JobMetrics], cells: Cells) -> Vec<f64> {
    let mut counts = vec![0.0; cells.count()];
    for submit in counting(jobs).filter_map(|job| job.submit) {
        if let Some(count) = cells.of(submit).and_then(|cell| counts.get_mut(cell)) {
            *count += 1.0;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use resched_tables::model::{AttemptRow, JobRow, Outcome};
    use resched_tables::run::{RunInfo, RunTables};

    use super::*;

    /// Job `a` has two maps from 0 to 40 and from 10 to 50 and a reduce from 70 to 100, job `b` a map from 20 to 60.
    fn run() -> Run {
        let job = |id: &str, submit, finish| JobRow {
            job_id: id.to_owned(),
            submit: Some(submit),
            finish: Some(finish),
            outcome: Outcome::Success,
            ..JobRow::default()
        };
        let task = |job: &str, task: &str, kind, times: (i64, i64), locality| AttemptRow {
            job_id: job.to_owned(),
            task_id: task.to_owned(),
            kind,
            start: Some(times.0),
            finish: Some(times.1),
            outcome: Outcome::Success,
            host: Some(format!("node{}", times.0)),
            locality,
            cpu_request: Some(2000),
            ..AttemptRow::default()
        };
        let attempts = vec![
            task("a", "m0", TaskKind::Map, (0, 40), Some(Locality::Node)),
            task("a", "m1", TaskKind::Map, (10, 50), Some(Locality::Rack)),
            task("b", "m0", TaskKind::Map, (20, 60), None),
            task("a", "r0", TaskKind::Reduce, (70, 100), None),
        ];
        let rows = RunTables { jobs: vec![job("a", 0, 100), job("b", 15, 60)], attempts, ..RunTables::default() };
        Run::of_rows(RunInfo::default(), rows)
    }

    #[test]
    fn what_runs_starves_and_ends_is_found_cell_by_cell() {
        let run = run();
        let cells = Cells::new((0, 100), 5);
        assert_eq!(running(&run, |kind| kind == TaskKind::Map, cells), [1.5, 3.0, 1.5, 0.0, 0.0]);
        assert_eq!(cores_held(&run, cells), Some(vec![3.0, 6.0, 3.0, 1.0, 2.0]));
        assert_eq!(launches(&run, cells), [[1, 1, 0], [0; 3], [0; 3], [0; 3], [0; 3]]);
        assert_eq!(starving(&run).points, [(50, 1.0), (70, 0.0)]);
        assert_eq!(jobs_done(&run.jobs, cells), [0.0, 0.0, 0.0, 1.0, 2.0]);
        assert_eq!(jobs_done(&run.jobs, Cells::new((0, 80), 2)), [0.0, 1.0], "the other job ends later");
        assert_eq!(arrivals(&run.jobs, cells), [2.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(run.nodes, ["node0", "node10", "node20", "node70"]);
    }

    /// With two jobs in the system and tasks of one only, the index is 1/2; from 60 to 70 no task runs.
    #[test]
    fn fairness_is_a_mean_over_the_time_in_which_it_is_defined() {
        let found = fairness(&run(), Cells::new((0, 100), 5));
        let expected = [(15.0 + 5.0 * 0.5) / 20.0, 0.9, (10.0 * 0.5 * 1.0 + 10.0 * 0.5) / 20.0];
        let Some(&[first, second, _, fourth, fifth]) = found.first_chunk() else { panic!("{found:?}") };
        assert_eq!((first, fourth, fifth), (Some(expected[0]), Some(1.0), Some(1.0)));
        assert!(second.is_some_and(|second| (second - expected[1]).abs() < 1e-12), "{found:?}");
    }
}
