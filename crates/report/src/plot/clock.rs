//! How charts show time: from the first submission to the end of the axis, which leaves out a long tail of few jobs.

use resched_analysis::Run;
use resched_analysis::metrics::cells::Cells;
use resched_analysis::time::over_time::{jobs_done, running};
use resched_tables::clock::Zone;
use resched_tables::words::{TimeUnit, count};

use crate::plot::axis::Axis;
use crate::plot::figure::Sheet;

/// The cells of time at whose ends the axis may end.
const CELLS: usize = 200;
/// The axis is cut if this share of it, or less, is left. Otherwise there is little to gain.
const WORTH_CUTTING: f64 = 0.6;
/// At most one job in so many is in the tail of a run; of few jobs one, but not if it is more than a tenth of them.
const JOBS_PER_TAIL: usize = 100;
const LEAST_JOBS: usize = 10;
/// In a tail run, on average, at most this share of the tasks that run before.
const LOAD_OF_TAIL: f64 = 0.1;

/// How a figure shows time since the first submission.
#[derive(Debug, Clone)]
pub(crate) struct Clock {
    /// The unit of the axis.
    pub(crate) unit: TimeUnit,
    /// From the first submission to the end of what is shown.
    pub(crate) axis: Axis,
    /// How long that is, ms.
    pub(crate) longest: i64,
    /// What lies beyond the end of the axis, in words; empty if nothing does.
    beyond: String,
    /// The date of the first submission (ms since the epoch) and the zone of the axis, if the trace has dates.
    date: Option<(i64, Zone)>,
}

/// The distances of ticks by the clock, ms.
const STEPS: [i64; 24] = {
    const SECOND: i64 = 1_000;
    const MINUTE: i64 = 60 * SECOND;
    const HOUR: i64 = 60 * MINUTE;
    [
        SECOND,
        2 * SECOND,
        5 * SECOND,
        10 * SECOND,
        15 * SECOND,
        30 * SECOND,
        MINUTE,
        2 * MINUTE,
        5 * MINUTE,
        10 * MINUTE,
        15 * MINUTE,
        30 * MINUTE,
        HOUR,
        2 * HOUR,
        3 * HOUR,
        6 * HOUR,
        12 * HOUR,
        DAY,
        2 * DAY,
        7 * DAY,
        14 * DAY,
        28 * DAY,
        91 * DAY,
        364 * DAY,
    ]
};
const DAY: i64 = 86_400_000;
/// The most ticks of an axis by the clock, whose labels are long.
const MOST_TICKS: i64 = 5;

impl Clock {
    /// The clock of a span, ms.
    pub(crate) fn new(longest: i64) -> Self {
        let unit = TimeUnit::for_axis(longest as f64);
        let axis = Axis::exact(format!("Time ({})", unit.name()), 0.0, unit.amount(longest as f64), 7, 0.0);
        Self { unit, axis, longest, beyond: String::new(), date: None }
    }

    /// The same with an axis by the clock, if there is a date.
    pub(crate) fn dated(self, date: Option<(i64, Zone)>) -> Self {
        let by_the_clock = date.and_then(|(zero, zone)| self.by_the_clock(zero, zone));
        let axis = match by_the_clock {
            Some((title, ticks)) => self.axis.labelled(title, ticks),
            None => self.axis,
        };
        Self { axis, date, ..self }
    }

    /// The title of an axis by the clock, and its ticks at round times of the day.
    fn by_the_clock(&self, zero: i64, zone: Zone) -> Option<(String, Vec<(f64, String)>)> {
        let step = STEPS.into_iter().find(|step| self.longest / step <= MOST_TICKS)?;
        let ahead = i64::from(zone.ahead(zero)) * 60_000;
        let (first, last) = (zone.day(zero)?, zone.day(zero.checked_add(self.longest)?)?);
        let first_tick =
            zero.checked_add(ahead)?.checked_add(step - 1)?.div_euclid(step).checked_mul(step)?.checked_sub(ahead)?;
        let label = |at: i64| {
            let time = zone.time_of_day(at, step < 60_000)?;
            let is_day = step >= DAY || (first != last && time == "00:00");
            // A day in the title's year needs no year.
            if is_day { zone.day(at)?.get(5..).map(str::to_owned) } else { Some(time) }
        };
        let tick = |number: i64| {
            let at = first_tick.checked_add(number.checked_mul(step)?)?;
            (at - zero <= self.longest).then_some(())?;
            Some((self.unit.amount((at - zero) as f64), label(at)?))
        };
        let ticks: Vec<(f64, String)> = (0..=MOST_TICKS).map_while(tick).collect();
        let zone_name = zone.to_string();
        let days = if first == last { first } else { format!("{first} to {last}") };
        (ticks.len() > 1).then(|| (format!("{days} ({zone_name})"), ticks))
    }

    /// The clock of all the time of some runs; `None` if no time passes.
    pub(crate) fn whole(runs: &[&Run]) -> Option<Self> {
        let spans = runs.iter().filter_map(|run| run.jobs.span());
        spans.map(|(first, last)| last - first).max().filter(|longest| *longest > 0).map(Self::new)
    }

    /// The same without a tail in which few jobs of any run still run few tasks: it would press all others to the left.
    pub(crate) fn without_tail(&self, runs: &[&Run]) -> Self {
        let mut end = self.longest;
        let mut shorter = tails(runs, end);
        // The cells of a shorter span are finer.
        while shorter as f64 <= WORTH_CUTTING * end as f64 {
            end = shorter;
            shorter = tails(runs, end);
        }
        if end == self.longest {
            return self.clone();
        }
        let cut = Self::new(shorter).dated(self.date);
        let beyond: Vec<(usize, f64)> = runs.iter().map(|run| cut.beyond(run)).collect();
        let jobs = beyond.iter().map(|run| run.0).max().unwrap_or(0);
        let share = beyond.iter().map(|run| run.1).fold(0.0, f64::max);
        let words = format!(
            "cut at {}: at most {} {} on, to {}, with {:.1} % of the task time",
            cut.in_words(cut.longest),
            count(jobs as u64),
            if jobs == 1 { "job goes" } else { "jobs go" },
            cut.in_words(self.longest),
            100.0 * share,
        );
        Self { beyond: words, ..cut }
    }

    /// The same up to `end` (ms), from where on there is nothing to show.
    pub(crate) fn before_nothing(&self, end: i64) -> Self {
        let cut = Self::new(end).dated(self.date);
        Self { beyond: format!("nothing from {} to {}", cut.in_words(end), cut.in_words(self.longest)), ..cut }
    }

    /// A sheet that also says what lies beyond the end of the axis.
    pub(crate) fn on(&self, sheet: Sheet) -> Sheet {
        if self.beyond.is_empty() {
            return sheet;
        }
        Sheet { note: format!("{}; {}", sheet.note, self.beyond), ..sheet }
    }

    /// At most `most` cells of time of a run. Runs have cells of one width.
    pub(crate) fn cells(&self, run: &Run, most: usize) -> Cells {
        let first = begin(run);
        Cells::new((first, first.saturating_add(self.longest)), most)
    }

    /// Values of the cells of a run as points of a curve: in the middles of the cells, as far as the run lasts.
    pub(crate) fn points(
        &self,
        run: &Run,
        cells: Cells,
        values: impl IntoIterator<Item = Option<f64>>,
    ) -> Vec<(f64, Option<f64>)> {
        let (first, last) = run.jobs.span().unwrap_or((0, 0));
        let times = cells.middles().into_iter().take_while(|time| *time <= last);
        times.zip(values).map(|(time, value)| (self.unit.amount((time - first) as f64), value)).collect()
    }

    /// A time in words.
    fn in_words(&self, ms: i64) -> String {
        format!("{:.1} {}", self.unit.amount(ms as f64), self.unit.name())
    }

    /// How many jobs of a run end after the axis does, and the share of the time of all tasks that lies there.
    fn beyond(&self, run: &Run) -> (usize, f64) {
        let end = begin(run).saturating_add(self.longest);
        let jobs = run.finished_jobs().filter(|job| job.finish.is_some_and(|finish| finish > end)).count();
        let (mut all, mut late) = (0.0, 0.0);
        for task in run.counted_intervals() {
            all += (task.finish - task.start) as f64;
            late += (task.finish - task.start.max(end)).max(0) as f64;
        }
        (jobs, if all > 0.0 { late / all } else { 0.0 })
    }
}

/// The first submission of a run, ms.
fn begin(run: &Run) -> i64 {
    run.jobs.span().map_or(0, |(first, _)| first)
}

/// Where the tail of every run begins, ms since its first submission, if the axis ends at `end`.
fn tails(runs: &[&Run], end: i64) -> i64 {
    let clock = Clock::new(end);
    runs.iter().map(|run| tail(run, &clock)).max().unwrap_or(end)
}

/// Where the tail of a run begins, ms since its first submission: from there on, few jobs run few tasks. The end of the clock if there is
/// no such place.
fn tail(run: &Run, clock: &Clock) -> i64 {
    let cells = clock.cells(run, CELLS);
    let jobs = run.finished_jobs().count();
    let few = (jobs / JOBS_PER_TAIL).max(1).min(jobs / LEAST_JOBS);
    let loads = running(run, |_| true, cells);
    let (mut before, mut after) = (0.0, loads.iter().sum::<f64>());
    let mut place = 0.0;
    let begins = jobs_done(&run.jobs, cells).into_iter().zip(&loads).position(|(done, load)| {
        before += load;
        after -= load;
        place += 1.0;
        let rest = loads.len() as f64 - place;
        let is_calm = rest > 0.0 && after / rest <= LOAD_OF_TAIL * before / place;
        is_calm && jobs as f64 - done <= few as f64
    });
    let edges = cells.edges();
    let end = begins.and_then(|cell| edges.get(cell + 1)).copied();
    end.map_or(clock.longest, |end| end - begin(run))
}

#[cfg(test)]
mod tests {
    use resched_tables::model::{AttemptRow, JobRow, Outcome};
    use resched_tables::run::{RunInfo, RunTables};

    use super::*;

    /// A run of jobs from 0 on with that many tasks, which end at that time (s).
    fn run(jobs: &[(usize, i64)]) -> Run {
        let mut rows = RunTables::default();
        for (number, &(tasks, end)) in jobs.iter().enumerate() {
            let job_id = number.to_string();
            let finish = Some(1_000 * end);
            rows.attempts.extend((0..tasks).map(|task| AttemptRow {
                job_id: job_id.clone(),
                task_id: task.to_string(),
                start: Some(0),
                finish,
                outcome: Outcome::Success,
                ..AttemptRow::default()
            }));
            let outcome = Outcome::Success;
            rows.jobs.push(JobRow { job_id, submit: Some(0), finish, outcome, ..JobRow::default() });
        }
        Run::of_rows(RunInfo::default(), rows)
    }

    /// The end of the axis (s), and the note.
    fn shown(runs: &[&Run]) -> Option<(i64, String)> {
        let clock = Clock::whole(runs)?.without_tail(runs);
        let note = clock.on(Sheet { note: "n = 20 jobs".to_owned(), ..Sheet::default() }).note;
        Some((clock.longest / 1_000, note))
    }

    #[test]
    fn an_axis_of_a_trace_with_dates_is_by_the_clock() {
        let shown = |longest, zone: &str| {
            // 2011-05-01T21:50:00Z
            let date = zone.parse().ok().map(|zone| (1_304_286_600_000, zone));
            let axis = Clock::new(longest).dated(date).axis;
            (axis.title.clone(), axis.ticks.iter().map(|tick| axis.label(*tick)).collect::<Vec<_>>().join(" "))
        };
        let hour = 3_600_000;
        assert_eq!(shown(hour, "UTC"), ("2011-05-01 (UTC)".to_owned(), "22:00 22:15 22:30 22:45".to_owned()));
        let night = ("2011-05-01 to 2011-05-02 (UTC)".to_owned(), "22:00 05-02 02:00 04:00 06:00".to_owned());
        assert_eq!(shown(9 * hour, "UTC"), night);
        assert_eq!(shown(9 * hour, "+02:00").1, "05-02 02:00 04:00 06:00 08:00");
        assert_eq!(shown(20_000, "UTC").1, "21:50:00 21:50:05 21:50:10 21:50:15 21:50:20");
        assert_eq!(shown(96 * hour, "UTC").1, "05-02 05-03 05-04 05-05");
        assert_eq!(Clock::new(hour).dated(None).axis.title, "Time (min)");
    }

    #[test]
    fn a_long_tail_of_one_job_is_cut_and_noted() {
        let short = run(&[(9, 100); 20]);
        let mut jobs = [(9, 100); 20];
        jobs[7] = (1, 10_000);
        let long = run(&jobs);
        let words = "n = 20 jobs; cut at 100.5 s: at most 1 job goes on, to 10000.0 s, with 36.5 % of the task time";
        assert_eq!(shown(&[&short, &long]), Some((100, words.to_owned())));
    }

    #[test]
    fn what_is_no_tail_of_few_jobs_stays() {
        let whole = |jobs: &[(usize, i64)]| shown(&[&run(jobs)]);
        let note = |end| Some((end, "n = 20 jobs".to_owned()));
        assert_eq!(whole(&[(9, 100); 20]), note(100));
        let with = |last: &[(usize, i64)]| [vec![(9, 100); 20], last.to_vec()].concat();
        assert_eq!(whole(&with(&[(1, 10_000), (1, 10_000)])), note(10_000), "two of 22 jobs are many");
        assert_eq!(whole(&with(&[(90, 10_000)])), note(10_000), "it runs half of all tasks");
        assert_eq!(whole(&with(&[(1, 120)])), note(120), "there is little to gain");
        assert_eq!(whole(&[(9, 100), (1, 10_000)]), note(10_000), "one of two jobs is many");
        assert_eq!(shown(&[]), None);
    }
}
