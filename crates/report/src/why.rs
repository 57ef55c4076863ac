//! Why each job took its time under each policy: what the page of a report says of a job, and the tables `phases` and `blame`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::tables::{JobBlameRow, JobPhaseRow};
use resched_analysis::advice::{Advice, advise};
use resched_analysis::why::{Holder, InShort, Phase, Shares as InShortShares, Why};
use resched_tables::store::{FileEntry, System, TableWriter};

use crate::Error;
use crate::answer::Answer;
use crate::scene::Scene;

/// How the report names a job, or the jobs of a user or queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Named {
    /// The job of that number of the scene, counted from 0.
    Number(usize),
    /// A job that is not in the scene, a user or a queue; `None` if it is unknown.
    Name(Option<Arc<str>>),
}

/// Who made a job wait.
pub(crate) type Blamed = Holder<Named>;

/// Who made a job wait, and for how long, ms: those with names first, the most first.
pub(crate) type Shares = Vec<(Blamed, i64)>;

/// Why a job took its time under a policy.
#[derive(Debug, Clone)]
pub(crate) struct OfJob {
    /// How long it was in each phase, ms, in the order of [`Phase::ALL`].
    pub(crate) phases: [i64; Phase::ALL.len()],
    /// Its phases in the order of time, each with its length in equal parts of its completion time.
    pub(crate) track: Vec<(Phase, u16)>,
    /// Which jobs made it wait.
    pub(crate) jobs: Shares,
    /// Which users, if there are several.
    pub(crate) users: Option<Shares>,
    /// Which queues, if there are several.
    pub(crate) queues: Option<Shares>,
}

/// Why the jobs of the scene took their time.
#[derive(Debug, Default)]
pub(crate) struct Reasons {
    /// The phases in which some job was, in their order.
    pub(crate) phases: Vec<Phase>,
    /// The jobs of the page under each policy, in the order of submission; `None` where nothing is known.
    pub(crate) runs: Vec<Vec<Option<OfJob>>>,
    /// Whether all runs keep why their policy passed over jobs.
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
        let ids = scene.ids();
        let numbers: HashMap<&str, usize> = ids.iter().enumerate().map(|(number, id)| (*id, number)).collect();
        let mut found = Self { are_kept: true, system: answer.system(), ..Self::default() };
        for run in answer.policies.iter().filter_map(|policy| policy.runs.first()) {
            let Some(folder) = folders.get(*run) else { continue };
            let why = Why::open(folder)?;
            found.are_kept &= why.has_reasons;
            if let Some(own) = answer.runs.get(*run) {
                found.add_advice(advise(own, &why), &own.label);
            }
            let mut rows: Vec<Option<usize>> = vec![None; ids.len()];
            for row in why.counted() {
                let number = why.jobs.get(row).and_then(|job| numbers.get(job.job_id.as_str()));
                if let Some(place) = number.and_then(|&number| rows.get_mut(number)) {
                    *place = Some(row);
                }
            }
            let shown: Vec<Option<usize>> = rows.into_iter().step_by(every).collect();
            let mut in_short = why.in_short(shown.iter().copied().flatten());
            let namer = Namer { why: &why, numbers: &numbers };
            let of_job = |row: &Option<usize>| row.and_then(|_| in_short.next()).map(|job| namer.of_job(job));
            let jobs: Vec<Option<OfJob>> = shown.iter().map(of_job).collect();
            found.runs.push(jobs);
        }
        // A log knows other phases than a replay, so what really ran is not explained beside replays.
        if answer.observed.is_some() {
            found.runs.push(vec![None; ids.len().div_ceil(every.max(1))]);
        }
        let some = |phase: &Phase| found.runs.iter().flatten().flatten().any(|job| job.in_phase(*phase) > 0);
        found.phases = Phase::ALL.into_iter().filter(some).collect();
        Ok(found)
    }

    /// Adds the advice of a run. What several runs show alike stands once.
    fn add_advice(&mut self, advice: Vec<Advice>, label: &str) {
        for own in advice {
            match self.advice.iter_mut().find(|(known, _)| known.says == own.says && known.change == own.change) {
                Some((_, labels)) => labels.push(label.to_owned()),
                None => self.advice.push((own, vec![label.to_owned()])),
            }
        }
        self.advice.sort_by_key(|(own, _)| std::cmp::Reverse(own.time_ms));
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
        for (shown, jobs) in scene.runs.iter().zip(&self.runs) {
            for (id, job) in ids.iter().step_by(every).zip(jobs) {
                let Some(job) = job else { continue };
                // As `jobs.parquet` has it, with its seed if the policy has several.
                let [run, job_id] = [shown.run.label.as_str(), id].map(str::to_owned);
                for (phase, ms) in Phase::ALL.iter().zip(job.phases).filter(|own| own.1 > 0) {
                    let (run, job_id) = (run.clone(), job_id.clone());
                    phases.append(&JobPhaseRow { run, job_id, phase: phase.name().to_owned(), time: ms })?;
                }
                for (by, (blamed, ms)) in job.shares() {
                    let (holder, name) = (blamed.name(), name_of(blamed, &ids));
                    let [run, job_id, by, holder] = [&run, &job_id, by, holder].map(str::to_owned);
                    blame.append(&JobBlameRow { run, job_id, by, holder, name, time: *ms })?;
                }
            }
        }
        Ok([phases.finish()?.entry, blame.finish()?.entry])
    }
}

impl OfJob {
    /// How long it was in a phase, ms.
    pub(crate) fn in_phase(&self, phase: Phase) -> i64 {
        self.phases.get(phase as usize).copied().unwrap_or(0)
    }

    /// Who made it wait, by job, user and queue.
    fn shares(&self) -> impl Iterator<Item = (&'static str, &(Blamed, i64))> {
        let lists = [("job", Some(&self.jobs)), ("user", self.users.as_ref()), ("queue", self.queues.as_ref())];
        lists.into_iter().flat_map(|(by, list)| list.into_iter().flatten().map(move |share| (by, share)))
    }
}

/// The name of those to blame, as the table of blame has it.
fn name_of(blamed: &Blamed, ids: &[&str]) -> Option<String> {
    match blamed {
        Holder::Job(Named::Number(number)) => ids.get(*number).map(|id| (*id).to_owned()),
        Holder::Job(Named::Name(name)) => name.as_deref().map(str::to_owned),
        Holder::Others | Holder::Idle | Holder::Rule => None,
    }
}

/// Names those who are to blame.
struct Namer<'a> {
    why: &'a Why,
    /// The numbers of the jobs of the scene.
    numbers: &'a HashMap<&'a str, usize>,
}

impl Namer<'_> {
    fn of_job(&self, job: InShort) -> OfJob {
        let InShort { phases, track, jobs, users, queues, .. } = job;
        let of = |row: usize| self.why.jobs.get(row);
        let user = |row: usize| Named::Name(of(row).and_then(|job| job.user.clone()));
        let queue = |row: usize| Named::Name(of(row).and_then(|job| job.queue.clone()));
        let job = |row: usize| {
            let id = of(row).map(|job| job.job_id.as_str());
            let number = id.and_then(|id| self.numbers.get(id));
            number.map_or_else(|| Named::Name(id.map(Arc::from)), |&number| Named::Number(number))
        };
        OfJob {
            phases,
            track,
            jobs: listed(&jobs, job),
            users: users.map(|users| listed(&users, user)),
            queues: queues.map(|queues| listed(&queues, queue)),
        }
    }
}

fn listed(shares: &InShortShares, name: impl Fn(usize) -> Named) -> Shares {
    let named = shares.named.iter().map(|&(row, ms)| (Holder::Job(name(row)), ms));
    let rest = [(Holder::Others, shares.others), (Holder::Idle, shares.idle), (Holder::Rule, shares.rule)];
    named.chain(rest.into_iter().filter(|&(_, ms)| ms > 0)).collect()
}
