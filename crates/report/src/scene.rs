//! What figures show: some runs with their styles, and the jobs that count, numbered alike in all of them.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use resched_analysis::metrics::named::SizeBy;
use resched_analysis::statistics::sign::Variants;
use resched_analysis::{JobMetrics, Population, Run};
use resched_tables::clock::Zone;
use resched_tables::run::RunCluster;
use resched_tables::store::System;
use resched_tables::words::count;

use crate::plot::clock::Clock;
use crate::plot::figure::{Sheet, Swatch};
use crate::plot::look::Look;
use crate::plot::style::{Series, styles};

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

/// The answer in short, for one picture of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Slide {
    /// The question.
    pub(crate) title: String,
    /// Each policy in each time: its name, the change and the ends of its interval, in per cent.
    pub(crate) changes: Vec<(String, f64, Option<[f64; 2]>)>,
    /// Who pays, and how sure the answer is.
    pub(crate) note: String,
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
    /// The rows of these jobs in each of these runs.
    pub(crate) rows: Vec<&'a [usize]>,
    /// All runs of each policy.
    pub(crate) repeats: Vec<Vec<&'a Run>>,
    /// The place of the run that the others are compared with.
    pub(crate) baseline: usize,
    /// How to show time, from when it is first asked for: to find it takes a look at every task.
    clocks: OnceCell<Option<[Clock; 2]>>,
    look: Look,
    title: &'a str,
    /// The comparison in variants of its world, if it was tested in them.
    pub(crate) variants: Option<&'a Variants>,
    /// The answer in short, if policies are compared.
    pub(crate) slide: Option<Slide>,
    /// The zone of times by the clock.
    zone: Zone,
}

impl<'a> Scene<'a> {
    /// What ran the jobs: charts are in the words of this system.
    pub(crate) fn system(&self) -> System {
        System::of_all(self.runs.iter().filter_map(|shown| shown.run.replay()).map(|info| info.system))
    }

    /// What the size of a job is. Where it is CPUs, charts of what runs show these.
    pub(crate) fn size_by(&self) -> SizeBy {
        self.runs.first().map_or(SizeBy::Tasks, |shown| SizeBy::of_run(shown.run))
    }

    /// The cluster of a run; of what really ran, that of the first replay.
    pub(crate) fn cluster(&self, run: &Run) -> RunCluster {
        let replays = self.runs.iter().filter_map(|shown| shown.run.replay());
        run.replay().into_iter().chain(replays).map(|info| info.cluster).next().unwrap_or_default()
    }

    /// The policies `chosen` of `runs`. `population` is that of all runs.
    pub(crate) fn new(runs: &'a [Run], population: &'a Population, chosen: &[Chosen<'a>]) -> Self {
        let first = |policy: &Chosen<'a>| policy.runs.first().copied();
        let order = |policy: &Chosen<'a>| runs.get(first(policy)?)?.replay()?.policy_order;
        let styles = styles(&chosen.iter().map(|policy| (policy.label, order(policy))).collect::<Vec<_>>());
        let shown = chosen
            .iter()
            .zip(styles)
            .filter_map(|(policy, series)| Some(Shown { run: runs.get(first(policy)?)?, label: policy.label, series }));
        let of_run = |policy: &Chosen<'a>| Some((runs.get(first(policy)?)?, population.rows.get(first(policy)?)?));
        let jobs = chosen.iter().filter_map(of_run);
        let jobs = jobs.map(|(run, rows)| rows.iter().filter_map(|&row| run.jobs.get(row)).collect());
        let rows = chosen.iter().filter_map(of_run).map(|(_, rows)| rows.as_slice());
        let repeats = chosen.iter().map(|policy| policy.runs.iter().filter_map(|&run| runs.get(run)).collect());
        Self {
            runs: shown.collect(),
            jobs: jobs.collect(),
            rows: rows.collect(),
            repeats: repeats.collect(),
            baseline: 0,
            clocks: OnceCell::new(),
            look: Look::default(),
            title: "",
            variants: None,
            slide: None,
            zone: Zone::default(),
        }
    }

    /// The same with another baseline, look and title.
    pub(crate) fn with(self, baseline: usize, look: Look, title: &'a str) -> Self {
        Self { baseline, look, title, ..self }
    }

    /// The same with the test of its sign.
    pub(crate) fn tested(self, variants: Option<&'a Variants>) -> Self {
        Self { variants, ..self }
    }

    /// The same with the answer in short.
    pub(crate) fn answering(self, slide: Option<Slide>) -> Self {
        Self { slide, ..self }
    }

    /// The same with times in another zone.
    pub(crate) fn at(self, zone: Zone) -> Self {
        Self { zone, ..self }
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
        self.sheet_of("jobs", [self.count()])
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

    /// True if the run at this place is compared with the baseline: what really ran is not.
    pub(crate) fn is_compared(&self, place: usize) -> bool {
        place != self.baseline && self.runs.get(place).is_some_and(|shown| shown.run.replay().is_some())
    }

    /// The run that the others are compared with, and the others.
    pub(crate) fn compared(&self) -> Option<(&Shown<'a>, Vec<&Shown<'a>>)> {
        let others = self.runs.iter().enumerate().filter(|(place, _)| self.is_compared(*place));
        Some((self.runs.get(self.baseline)?, others.map(|(_, shown)| shown).collect()))
    }

    /// How to show time, and the same for all of it; `None` if no time passes.
    pub(crate) fn clocks(&self) -> Option<&[Clock; 2]> {
        let runs = || self.runs.iter().map(|shown| shown.run).collect::<Vec<_>>();
        let whole = || Some(Clock::whole(&runs())?.dated(self.zero().map(|zero| (zero, self.zone))));
        let clocks = || whole().map(|whole| [whole.without_tail(&runs()), whole]);
        self.clocks.get_or_init(clocks).as_ref()
    }

    /// How to show time; `None` if no time passes.
    pub(crate) fn clock(&self) -> Option<&Clock> {
        self.clocks().map(|[clock, _]| clock)
    }

    /// The date of the first submission, from which figures count time, ms since the epoch; `None` if the trace has no dates.
    pub(crate) fn zero(&self) -> Option<i64> {
        let run = self.runs.first()?.run;
        run.clock().date(run.jobs.span()?.0)
    }

    /// The labels of the runs.
    pub(crate) fn labels(&self) -> Vec<&'a str> {
        self.runs.iter().map(|shown| shown.label).collect()
    }

    /// How many jobs there are.
    pub(crate) fn count(&self) -> usize {
        self.jobs.first().map_or(0, Vec::len)
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

/// The largest of some values, 0 for none.
pub(crate) fn largest<'a>(values: impl IntoIterator<Item = &'a Option<f64>>) -> f64 {
    values.into_iter().flatten().fold(0.0, |max, value| max.max(*value))
}
