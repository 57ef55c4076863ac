//! What is compared, of runs and of replays of which only the times of jobs are kept.

use resched_analysis::runs::compared::rows_among;
use resched_analysis::runs::standing::standing;
use resched_analysis::runs::who::Who;
use resched_analysis::statistics::sign::Quantities;
use resched_analysis::{Compared, JobMetrics};
use resched_replay::{JobTimes, Timed};

/// The quantities of a run, over its jobs that count; waiting over those that started.
pub(crate) fn of_run<R: Compared>(run: &R) -> Quantities {
    let known = |word: &str| -> Vec<f64> {
        let numbers = run.numbers(word);
        let who = if word == "waiting" { Who::Started } else { Who::Ended };
        rows_among(run, who).filter_map(|row| numbers.get(row)).collect()
    };
    let first = known("submit").into_iter().reduce(f64::min);
    let last = known("finish").into_iter().reduce(f64::max);
    let makespan = first.zip(last).filter(|(first, last)| first <= last).map(|(first, last)| last - first);
    Quantities::of(&known("completion"), &known("waiting"), makespan)
}

/// The quantities of replays of the same jobs, over the jobs that count in all.
pub(crate) fn of_times(all: &[Timed]) -> Vec<Quantities> {
    let jobs = all.iter().map(|timed| timed.jobs.len()).max().unwrap_or(0);
    let counts = |timed: &Timed, place: usize| timed.jobs.get(place).is_some_and(|times| counts(times, timed));
    let counting: Vec<usize> = (0..jobs).filter(|&place| all.iter().all(|timed| counts(timed, place))).collect();
    let started = |timed: &Timed, place: usize| timed.jobs.get(place).is_some_and(|times| started(times, timed));
    let starting: Vec<usize> = (0..jobs).filter(|&place| all.iter().all(|timed| started(timed, place))).collect();
    let of = |timed: &Timed| {
        let times = || counting.iter().filter_map(|&place| timed.jobs.get(place));
        let since_submit = |places: &[usize], at: fn(&JobTimes) -> Option<i64>| -> Vec<f64> {
            let times = places.iter().filter_map(|&place| timed.jobs.get(place));
            times.filter_map(|times| Some((at(times)? - times.submit?).max(0) as f64)).collect()
        };
        let first = times().filter_map(|times| times.submit).min();
        let last = times().filter_map(|times| times.finish).max();
        let makespan = first.zip(last).map(|(first, last)| (last - first) as f64);
        let completions = since_submit(&counting, |times| times.finish);
        Quantities::of(&completions, &since_submit(&starting, |times| times.start), makespan)
    };
    all.iter().map(of).collect()
}

/// True if a job counts, by the rule of all commands.
fn counts(times: &JobTimes, of: &Timed) -> bool {
    judged(times, of).is_among(Who::Ended)
}

/// True if its waiting counts.
fn started(times: &JobTimes, of: &Timed) -> bool {
    judged(times, of).is_among(Who::Started)
}

fn judged(times: &JobTimes, of: &Timed) -> JobMetrics {
    let JobTimes { submit, start, finish, outcome, .. } = *times;
    let waiting = submit.zip(start).map(|(submit, start)| start - submit);
    let job = JobMetrics { submit, waiting, finish, outcome, ..JobMetrics::default() };
    JobMetrics { standing: standing(&job, of.window, false), ..job }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use resched_analysis::{Gathered, Population, Run};
    use resched_replay::{PolicySpec, ReadBy, Setup, Source, Times, World};

    use super::*;

    #[test]
    fn times_alone_give_what_the_tables_of_a_run_give() {
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/sample-history.toml");
        let world = World::open(&Source::open(sample).unwrap(), Setup::default()).unwrap();
        let policies = ["fifo", "delay:D=4", "yarn-fair", "batch-drf"].map(|name| PolicySpec::parse(name).unwrap());
        let mut runs = policies.each_ref().map(|policy| {
            let mut gathered = Gathered::default();
            let info = world.replay(policy, ReadBy(&mut gathered)).unwrap();
            Run::of_gathered(info, gathered)
        });
        Population::share(&mut runs);
        let timed = policies.each_ref().map(|policy| world.replay(policy, Times).unwrap());
        assert_eq!(of_times(&timed), runs.each_ref().map(of_run));
        assert!(of_run(&runs[0]).mean_waiting.is_some());
    }
}
