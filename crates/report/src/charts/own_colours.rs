//! The jobs that have a colour of their own in charts of all jobs.

use std::cmp::Reverse;

use resched_analysis::JobMetrics;
use resched_analysis::metrics::named::SizeBy;
use resched_tables::words::count;

use crate::plot::figure::Swatch;
use crate::plot::style::{Fill, GREY, area_colour};
use crate::scene::Scene;

/// The number of jobs with their own colour.
const OWN_COLOUR: usize = 7;

/// The ids of the jobs with most slot time over all runs, or that held most CPUs for most time, in order of submission, with their numbers.
pub(crate) fn largest_jobs<'a>(scene: &Scene<'a>) -> Vec<(usize, &'a str)> {
    let by = scene.size_by();
    let of_job = |job: &&JobMetrics| match by {
        SizeBy::Tasks => job.slot_time,
        // The conversion saturates.
        SizeBy::Cpus => (job.slot_time as f64 * job.cpus_of_attempt().unwrap_or(0.0)) as i64,
    };
    let slot_time = |number: usize| {
        let jobs = scene.jobs.iter().filter_map(|run| run.get(number));
        jobs.map(of_job).fold(0i64, i64::saturating_add)
    };
    // Of equal ones, those that were submitted first.
    let mut jobs: Vec<(Reverse<i64>, usize)> =
        (0..scene.count()).map(|number| (Reverse(slot_time(number)), number)).collect();
    if jobs.len() > OWN_COLOUR {
        jobs.select_nth_unstable(OWN_COLOUR);
        jobs.truncate(OWN_COLOUR);
    }
    jobs.sort_unstable_by_key(|job| job.1);
    let with_id = |(_, number): (_, usize)| Some((number, scene.jobs.first()?.get(number)?.job_id.as_str()));
    jobs.into_iter().filter_map(with_id).collect()
}

/// The rows of these jobs in a run that has the jobs of a scene in these rows.
pub(crate) fn rows_of(largest: &[(usize, &str)], rows: &[usize]) -> Vec<usize> {
    largest.iter().filter_map(|&(number, _)| rows.get(number).copied()).collect()
}

/// The legend of these jobs, of `jobs` in all.
pub(super) fn entries(jobs: usize, largest: &[(usize, &str)]) -> Vec<(Swatch, String)> {
    let of_job = |(layer, (number, _)): (usize, &(usize, &str))| {
        (Swatch::Box(area_colour(layer), Fill::Solid), format!("job {}", number + 1))
    };
    let others = match jobs - largest.len() {
        0 => None,
        1 => Some("1 other job".to_owned()),
        n => Some(format!("{} other jobs", count(n as u64))),
    };
    let others = others.map(|label| (Swatch::Box(GREY, Fill::Solid), label));
    largest.iter().enumerate().map(of_job).chain(others).collect()
}
