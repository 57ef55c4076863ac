//! What figures show: some runs with their styles, and the jobs that count, numbered alike in all of them.

use std::collections::BTreeSet;

use resched_analysis::cells::Cells;
use resched_analysis::timeline::span;
use resched_analysis::{JobMetrics, Population, Run};
use resched_trace::words::count;

use crate::axis::{Axis, TimeUnit};
use crate::figure::{Sheet, Swatch};
use crate::look::Look;
use crate::style::{Series, styles};

/// A run in figures.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown<'a> {
    /// The run.
    pub(crate) run: &'a Run,
    /// Its label in legends.
    pub(crate) label: &'a str,
    /// Its style.
    pub(crate) series: Series,
}

/// A policy that figures show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen<'a> {
    /// Its label.
    pub(crate) label: &'a str,
    /// The places of its runs, which differ only in their seed. Most figures show the first one.
    pub(crate) runs: &'a [usize],
}

/// Some runs, and the jobs that count in all of them.
#[derive(Debug, Clone)]
pub struct Scene<'a> {
    /// The first run of each policy.
    pub(crate) runs: Vec<Shown<'a>>,
    /// The jobs of each of these runs in order of submission. The number of a job is its position here, counted from 1.
    pub(crate) jobs: Vec<Vec<&'a JobMetrics>>,
    /// All runs of each policy.
    pub(crate) repeats: Vec<Vec<&'a Run>>,
    /// The place of the run that the others are compared with.
    pub(crate) baseline: usize,
    look: Look,
    title: &'a str,
}

/// How a figure shows time since the first submission.
#[derive(Debug, Clone)]
pub(crate) struct Clock {
    /// The unit of the axis.
    pub(crate) unit: TimeUnit,
    /// From the first submission to the last end of any run.
    pub(crate) axis: Axis,
    /// How long that is, ms.
    pub(crate) longest: i64,
}

impl<'a> Scene<'a> {
    /// The policies `chosen` of `runs`. `population` is that of all runs.
    pub(crate) fn new(runs: &'a [Run], population: &Population, chosen: &[Chosen<'a>]) -> Self {
        let styles = styles(&chosen.iter().map(|policy| policy.label).collect::<Vec<_>>());
        let first = |policy: &Chosen<'a>| policy.runs.first().copied();
        let shown = chosen
            .iter()
            .zip(styles)
            .filter_map(|(policy, series)| Some(Shown { run: runs.get(first(policy)?)?, label: policy.label, series }));
        let jobs = chosen.iter().filter_map(|policy| {
            let (run, rows) = (runs.get(first(policy)?)?, population.rows.get(first(policy)?)?);
            Some(rows.iter().filter_map(|&row| run.jobs.get(row)).collect())
        });
        let repeats = chosen.iter().map(|policy| policy.runs.iter().filter_map(|&run| runs.get(run)).collect());
        Self {
            runs: shown.collect(),
            jobs: jobs.collect(),
            repeats: repeats.collect(),
            baseline: 0,
            look: Look::default(),
            title: "",
        }
    }

    /// The same with another baseline, look and title.
    pub(crate) fn with(self, baseline: usize, look: Look, title: &'a str) -> Self {
        Self { baseline, look, title, ..self }
    }

    /// The size of figures and their text.
    pub(crate) fn look(&self) -> Look {
        self.look
    }

    /// What is around a figure about so many of something. If runs differ in that, the note has the least and the most.
    pub(crate) fn sheet_of(&self, what: &str, counts: impl IntoIterator<Item = usize>) -> Sheet {
        let counts: BTreeSet<usize> = counts.into_iter().collect();
        let number = |n: Option<&usize>| n.map_or(String::new(), |n| count(*n as u64));
        let n = match counts.len() {
            0 | 1 => number(counts.first()),
            _ => format!("{} to {}", number(counts.first()), number(counts.last())),
        };
        self.sheet(&format!("n = {n} {what}"), self.runs.iter().map(|shown| shown.run))
    }

    /// What is around a figure about the jobs of the first run of each policy.
    pub(crate) fn sheet_of_jobs(&self) -> Sheet {
        self.sheet_of("jobs", [self.ids().len()])
    }

    /// What is around a figure about these runs. The note has their seeds.
    pub(crate) fn sheet<'r>(&self, note: &str, runs: impl IntoIterator<Item = &'r Run>) -> Sheet {
        let seeds: BTreeSet<u64> = runs.into_iter().filter_map(|run| run.replay()).map(|info| info.seed).collect();
        let names: Vec<String> = seeds.iter().map(u64::to_string).collect();
        let note = match names.as_slice() {
            [] => note.to_owned(),
            [one] => format!("{note}, seed {one}"),
            several => format!("{note}, seeds {}", several.join(", ")),
        };
        Sheet { look: self.look, title: self.title.to_owned(), note }
    }

    /// The runs in a legend.
    pub(crate) fn entries(&self, swatch: fn(Series) -> Swatch) -> impl Iterator<Item = (Swatch, String)> {
        self.runs.iter().map(move |shown| (swatch(shown.series), shown.label.to_owned()))
    }

    /// The run that the others are compared with, and the others.
    pub(crate) fn compared(&self) -> Option<(&Shown<'a>, Vec<&Shown<'a>>)> {
        let others = self.runs.iter().enumerate().filter(|(place, _)| *place != self.baseline);
        Some((self.runs.get(self.baseline)?, others.map(|(_, shown)| shown).collect()))
    }

    /// How to show time; `None` if no time passes.
    pub(crate) fn clock(&self) -> Option<Clock> {
        let spans = self.runs.iter().filter_map(|shown| span(&shown.run.jobs));
        let longest = spans.map(|(first, last)| last - first).max().filter(|longest| *longest > 0)?;
        Some(Clock::new(longest))
    }

    /// The labels of the runs.
    pub(crate) fn labels(&self) -> Vec<&'a str> {
        self.runs.iter().map(|shown| shown.label).collect()
    }

    /// The ids of the jobs.
    pub(crate) fn ids(&self) -> Vec<&'a str> {
        self.jobs.first().into_iter().flatten().map(|job| job.job_id.as_str()).collect()
    }

    /// A metric of each job, by run.
    pub(crate) fn values(&self, metric: impl Fn(&JobMetrics) -> Option<f64>) -> Vec<Vec<Option<f64>>> {
        self.jobs.iter().map(|jobs| jobs.iter().map(|job| metric(job)).collect()).collect()
    }
}

impl Clock {
    /// The clock of a span, ms.
    pub(crate) fn new(longest: i64) -> Self {
        let unit = TimeUnit::for_max(longest as f64);
        let axis = Axis::exact(format!("Time ({})", unit.name), 0.0, unit.of(longest as f64), 7, 0.0);
        Self { unit, axis, longest }
    }

    /// At most `most` cells of time of a run. Runs have cells of one width.
    pub(crate) fn cells(&self, run: &Run, most: usize) -> Cells {
        let first = span(&run.jobs).map_or(0, |(first, _)| first);
        Cells::new((first, first + self.longest), most)
    }

    /// Values of the cells of a run as points of a curve: in the middles of the cells, as far as the run lasts.
    pub(crate) fn points(
        &self,
        run: &Run,
        cells: Cells,
        values: impl IntoIterator<Item = Option<f64>>,
    ) -> Vec<(f64, Option<f64>)> {
        let (first, last) = span(&run.jobs).unwrap_or((0, 0));
        let times = cells.middles().into_iter().take_while(|time| *time <= last);
        times.zip(values).map(|(time, value)| (self.unit.of((time - first) as f64), value)).collect()
    }
}

/// The largest of some values, 0 for none.
pub(crate) fn largest<'a>(values: impl IntoIterator<Item = &'a Option<f64>>) -> f64 {
    values.into_iter().flatten().fold(0.0, |max, value| max.max(*value))
}
