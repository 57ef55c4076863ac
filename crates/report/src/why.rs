//! Why each job took its time under each policy: what the page of a report says of a job, and the tables `phases` and `blame`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::tables::{JobBlameRow, JobPhaseRow};
use resched_analysis::JobMetrics;
use resched_analysis::advice::{Advice, advise};
use resched_analysis::why::{Holder, InShort, Phase, Shares as InShortShares, Why};
use resched_tables::store::{FileEntry, System, TableWriter};

use crate::Error;
use crate::answer::Answer;
use crate::scene::Scene;

/// How the report names a job, or the jobs of a user or queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// The job of that number of the scene, counted from 0.
    Number(u32),
    /// A job that is not in the scene, a user or a queue: its place in [`Reasons::names`].
    Name(u32),
}

/// Who made a job wait.
pub(crate) type Blamed = Holder<Named>;

/// Who made a job wait, and for how long, ms: those with names first, the most first.
pub(crate) type Share = (Blamed, i64);

/// A list for each job, one after the other: a report has some hundred thousand of them.
#[derive(Debug, Clone)]
pub(crate) struct Lists<T> {
    all: Vec<T>,
    ends: Vec<u32>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { all: Vec::new(), ends: Vec::new() }
    }
}

impl<T> Lists<T> {
    fn push(&mut self, list: impl IntoIterator<Item = T>) {
        self.all.extend(list);
        self.ends.push(self.all.len() as u32);
    }

    /// The list of that job.
    pub(crate) fn get(&self, job: usize) -> &[T] {
        let from = job.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let to = self.ends.get(job).copied().unwrap_or(from);
        self.all.get(from as usize..to as usize).unwrap_or_default()
    }
}

/// Why the jobs of the page took their time under a policy, in the order of submission. Of a job of which nothing is known, all lists are
/// empty.
#[derive(Debug, Clone, Default)]
pub(crate) struct OfRun {
    /// Of which jobs something is known.
    pub(crate) known: Vec<bool>,
    /// How long a job was in each phase, ms, without those in which it never was.
    pub(crate) phases: Lists<(Phase, i64)>,
    /// The phases of a job in the order of time, each with its length in equal parts of its completion time.
    pub(crate) track: Lists<(Phase, u16)>,
    /// Which jobs made it wait.
    pub(crate) jobs: Lists<Share>,
    /// Which users, if there are several.
    pub(crate) users: Option<Lists<Share>>,
    /// Which queues, if there are several.
    pub(crate) queues: Option<Lists<Share>>,
}

/// Why the jobs of the scene took their time.
#[derive(Debug, Default)]
pub(crate) struct Reasons {
    /// The phases in which some job was, in their order.
    pub(crate) phases: Vec<Phase>,
    /// The jobs of the page under each policy.
    pub(crate) runs: Vec<OfRun>,
    /// The names of those who made jobs wait, each once; `None` if it is unknown.
    pub(crate) names: Vec<Option<Arc<str>>>,
    /// True if all runs keep why their policy passed over jobs.
    pub(crate) are_kept: bool,
    /// What ran the jobs.
    pub(crate) system: System,
    /// What to change, where a run shows it: the advice, and the labels of the policies whose runs show it.
    pub(crate) advice: Vec<(Advice, Vec<String>)>,
}

impl Reasons {
    /// Finds them for every `every`-th job of the scene.
    ///
    /// # Errors
    /// [`Error::Analysis`] if a run cannot be read.
    pub(crate) fn new(answer: &Answer, scene: &Scene<'_>, every: usize, folders: &[PathBuf]) -> Result<Self, Error> {
        let jobs = scene.count();
        let mut found = Self { are_kept: true, system: answer.system(), ..Self::default() };
        let mut names = Names::default();
        for &place in answer.policies.iter().filter_map(|policy| policy.runs.first()) {
            let Some(folder) = folders.get(place) else { continue };
            let Some(run) = answer.runs.get(place) else { continue };
            let mut numbers: Vec<Option<u32>> = vec![None; run.jobs.len()];
            for (number, row) in (0..).zip(answer.population.rows.get(place).into_iter().flatten()) {
                if let Some(of_row) = numbers.get_mut(*row) {
                    *of_row = Some(number);
                }
            }
            let why = Why::open_again(folder, run)?;
            found.are_kept &= why.has_reasons;
            found.add_advice(advise(run, &why), &run.label);
            let mut rows: Vec<Option<usize>> = vec![None; jobs];
            for row in why.counted() {
                let number = numbers.get(row).copied().flatten();
                if let Some(place) = number.and_then(|number| rows.get_mut(number as usize)) {
                    *place = Some(row);
                }
            }
            let shown: Vec<Option<usize>> = rows.into_iter().step_by(every).collect();
            let mut in_short = why.in_short(shown.iter().copied().flatten());
            let mut namer = Namer { why: &why, numbers: &numbers, names: &mut names };
            let mut of_run = OfRun::default();
            for row in &shown {
                of_run.push(row.and_then(|_| in_short.next()), &mut namer);
            }
            found.runs.push(of_run);
        }
        // A log knows other phases than a replay, so what really ran is not explained beside replays.
        if answer.observed.is_some() {
            found.runs.push(OfRun { known: vec![false; jobs.div_ceil(every.max(1))], ..OfRun::default() });
        }
        let mut phases = [false; Phase::ALL.len()];
        found.runs.iter().flat_map(|run| &run.phases.all).for_each(|(phase, _)| phases[*phase as usize] = true);
        found.phases = Phase::ALL.into_iter().filter(|phase| phases[*phase as usize]).collect();
        found.names = names.all;
        Ok(found)
    }

    /// Adds the advice of a run. What several runs show alike stands once.
    fn add_advice(&mut self, advice: Vec<Advice>, label: &str) {
        for advice in advice {
            match self.advice.iter_mut().find(|(known, _)| known.says == advice.says && known.change == advice.change) {
                Some((_, labels)) => labels.push(label.to_owned()),
                None => self.advice.push((advice, vec![label.to_owned()])),
            }
        }
        self.advice.sort_by_key(|(advice, _)| std::cmp::Reverse(advice.time_ms));
    }

    /// Writes `phases.parquet` and `blame.parquet` into `dir`, with what the page says of the jobs. Returns their entries in the list of
    /// files.
    ///
    /// # Errors
    /// [`Error::Store`] if they cannot be written.
    pub(crate) fn write(&self, scene: &Scene<'_>, every: usize, dir: &Path) -> Result<[FileEntry; 2], Error> {
        let ids = scene.ids();
        let mut phases = TableWriter::<JobPhaseRow>::create(dir)?;
        let mut blame = TableWriter::<JobBlameRow>::create(dir)?;
        for (shown, blamed) in scene.runs.iter().zip(&self.runs) {
            for (job, id) in ids.iter().step_by(every).enumerate() {
                // As `jobs.parquet` has it, with its seed if the policy has several.
                let [run, job_id] = [shown.run.label.as_str(), id].map(str::to_owned);
                for &(phase, ms) in blamed.phases.get(job) {
                    let (run, job_id) = (run.clone(), job_id.clone());
                    phases.append(&JobPhaseRow { run, job_id, phase: phase.name().to_owned(), time: ms })?;
                }
                for (by, (blamed, ms)) in blamed.shares(job) {
                    let (holder, name) = (blamed.name(), self.name_of(*blamed, &ids));
                    let [run, job_id, by, holder] = [&run, &job_id, by, holder].map(str::to_owned);
                    blame.append(&JobBlameRow { run, job_id, by, holder, name, time: *ms })?;
                }
            }
        }
        Ok([phases.finish()?.entry, blame.finish()?.entry])
    }

    /// The name of those to blame, as the table of blame has it.
    fn name_of(&self, blamed: Blamed, ids: &[&str]) -> Option<String> {
        match blamed {
            Holder::Job(Named::Number(number)) => ids.get(number as usize).map(|id| (*id).to_owned()),
            Holder::Job(Named::Name(name)) => self.names.get(name as usize)?.as_deref().map(str::to_owned),
            Holder::Others | Holder::Idle | Holder::Rule => None,
        }
    }
}

impl OfRun {
    /// Adds the next job.
    fn push(&mut self, job: Option<InShort>, namer: &mut Namer<'_>) {
        self.known.push(job.is_some());
        let Some(InShort { phases, track, jobs, users, queues, .. }) = job else {
            self.phases.push([]);
            self.track.push([]);
            let lists = [Some(&mut self.jobs), self.users.as_mut(), self.queues.as_mut()];
            return lists.into_iter().flatten().for_each(|list| list.push([]));
        };
        self.phases.push(Phase::ALL.into_iter().zip(phases).filter(|(_, ms)| *ms > 0));
        self.track.push(track);
        self.jobs.push(listed(&jobs, |row| namer.job(row)));
        // Whether there are several is known of the run, and so from its first job on.
        let jobs = self.known.len();
        let mut add = |lists: &mut Option<Lists<Share>>,
                       shares: Option<InShortShares>,
                       name: fn(&JobMetrics) -> &Option<Arc<str>>| {
            let Some(shares) = shares else { return };
            let lists = lists.get_or_insert_default();
            lists.ends.resize(jobs - 1, 0);
            lists.push(listed(&shares, |row| namer.named(row, name)));
        };
        add(&mut self.users, users, |job| &job.user);
        add(&mut self.queues, queues, |job| &job.queue);
    }

    /// How long a job was in a phase, ms; `None` if nothing is known of it.
    pub(crate) fn in_phase(&self, job: usize, phase: Phase) -> Option<i64> {
        let waited = self.phases.get(job).iter().find(|waited| waited.0 == phase);
        self.known.get(job).filter(|known| **known).map(|_| waited.map_or(0, |waited| waited.1))
    }

    /// Who made a job wait, by job, user and queue.
    fn shares(&self, job: usize) -> impl Iterator<Item = (&'static str, &Share)> {
        let lists = [("job", Some(&self.jobs)), ("user", self.users.as_ref()), ("queue", self.queues.as_ref())];
        lists.into_iter().flat_map(move |(by, list)| {
            list.into_iter().flat_map(move |list| list.get(job)).map(move |share| (by, share))
        })
    }
}

/// Names those who are to blame.
struct Namer<'a> {
    why: &'a Why,
    /// The number in the scene of the job in each row; none of a job that is not in it.
    numbers: &'a [Option<u32>],
    names: &'a mut Names,
}

/// Names, each once.
#[derive(Default)]
struct Names {
    all: Vec<Option<Arc<str>>>,
    places: HashMap<Option<Arc<str>>, u32>,
}

impl Names {
    fn place(&mut self, name: Option<Arc<str>>) -> Named {
        let place = *self.places.entry(name.clone()).or_insert_with(|| {
            self.all.push(name);
            self.all.len() as u32 - 1
        });
        Named::Name(place)
    }
}

impl Namer<'_> {
    /// The job in that row.
    fn job(&mut self, row: usize) -> Named {
        match self.numbers.get(row).copied().flatten() {
            Some(number) => Named::Number(number),
            None => self.names.place(self.why.jobs.get(row).map(|job| Arc::from(job.job_id.as_str()))),
        }
    }

    /// The user or the queue of the job in that row.
    fn named(&mut self, row: usize, of: fn(&JobMetrics) -> &Option<Arc<str>>) -> Named {
        self.names.place(self.why.jobs.get(row).and_then(|job| of(job).clone()))
    }
}

fn listed(shares: &InShortShares, mut name: impl FnMut(usize) -> Named) -> impl Iterator<Item = Share> {
    let named = shares.named.iter().map(move |&(row, ms)| (Holder::Job(name(row)), ms));
    let rest = [(Holder::Others, shares.others), (Holder::Idle, shares.idle), (Holder::Rule, shares.rule)];
    named.chain(rest.into_iter().filter(|&(_, ms)| ms > 0))
}
