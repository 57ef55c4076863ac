//! What the script of a page needs to explain a job: its phases under each policy, and who made it wait.

use std::collections::BTreeMap;

use resched_analysis::why::Phase;
use resched_tables::words;
use serde::Serialize;

use crate::page::data::Measure;
use crate::why::{Blamed, OfJob, Reasons, Shares};

/// What to know of the phases if a run does not keep why its policy passed over jobs.
const WITHOUT_REASONS: &str = "A run that was replayed without --decisions does not know why its policy passed over a job: there, every \
                               wait for a place counts as one for a free place, even if the job held out for its data or had reached a limit.";

/// What explains the time of a job. `parts` and `facts` are names of measures.
#[derive(Serialize)]
pub(crate) struct PageWhy {
    /// The phases, in order; they add up to its completion time.
    parts: Vec<&'static str>,
    /// Those of them that are waits.
    waits: Vec<&'static str>,
    /// What else is known.
    facts: Vec<&'static str>,
    /// What to know of the phases; empty if nothing.
    note: &'static str,
    /// The phases of each job under each policy in the order of time: the place in `parts` and the length, by turns. Lengths are shares of
    /// their sum.
    tracks: Vec<Vec<Vec<u64>>>,
    blame: Blame,
}

/// Who made each job wait under each policy.
#[derive(Serialize)]
struct Blame {
    /// The names that holders refer to.
    words: Vec<String>,
    jobs: Lists,
    /// `None` if all jobs are of one user.
    users: Option<Lists>,
    /// `None` if there is one queue.
    queues: Option<Lists>,
}

/// The holders of each job under each policy. What is left of the waits is on all others. Both lists stand alone, since they pack better.
#[derive(Serialize, Default)]
struct Lists {
    /// Who is to blame.
    who: Vec<Vec<Vec<i64>>>,
    /// For how long, ms.
    times: Vec<Vec<Vec<i64>>>,
}

/// Holders that are no job of the scene, whose numbers are 0 and more. The names follow, downwards.
const IDLE: i64 = -1;
const RULE: i64 = -2;
const UNKNOWN: i64 = -3;
const FIRST_NAME: i64 = -4;

impl PageWhy {
    /// `facts` are the measures that say more.
    pub(crate) fn new(reasons: &Reasons, facts: Vec<&'static str>) -> Self {
        let place = |phase: Phase| reasons.phases.iter().position(|own| *own == phase).unwrap_or(0) as u64;
        let track = |job: &Option<OfJob>| {
            let track = job.iter().flat_map(|job| &job.track);
            track.flat_map(|&(phase, parts)| [place(phase), u64::from(parts)]).collect()
        };
        Self {
            parts: reasons.phases.iter().map(|phase| phase.name()).collect(),
            waits: reasons.phases.iter().filter(|phase| phase.is_wait()).map(|phase| phase.name()).collect(),
            facts,
            note: if reasons.are_kept { "" } else { WITHOUT_REASONS },
            tracks: reasons.runs.iter().map(|jobs| jobs.iter().map(track).collect()).collect(),
            blame: Blame::new(reasons),
        }
    }
}

impl Blame {
    fn new(reasons: &Reasons) -> Self {
        let mut names = Names::default();
        let mut lists = |of: fn(&OfJob) -> Option<&Shares>| names.lists(reasons, of);
        let jobs = lists(|job| Some(&job.jobs)).unwrap_or_default();
        let users = lists(|job| job.users.as_ref());
        let queues = lists(|job| job.queues.as_ref());
        Self { words: names.all, jobs, users, queues }
    }
}

/// Names, each once.
#[derive(Default)]
struct Names {
    all: Vec<String>,
    places: BTreeMap<String, i64>,
}

impl Names {
    /// The lists of all jobs; `None` if no job has one.
    fn lists(&mut self, reasons: &Reasons, of: fn(&OfJob) -> Option<&Shares>) -> Option<Lists> {
        if !reasons.runs.iter().flatten().flatten().any(|job| of(job).is_some()) {
            return None;
        }
        let mut lists = Lists::default();
        for jobs in &reasons.runs {
            let named = |job: &Option<OfJob>| -> (Vec<i64>, Vec<i64>) {
                let shares = job.as_ref().and_then(of).into_iter().flatten();
                let named = shares.filter(|share| share.0 != Blamed::Others);
                named.map(|(blamed, ms)| (self.holder(blamed), *ms)).unzip()
            };
            let (who, times) = jobs.iter().map(named).unzip();
            lists.who.push(who);
            lists.times.push(times);
        }
        Some(lists)
    }

    fn holder(&mut self, blamed: &Blamed) -> i64 {
        match blamed {
            Blamed::Job(number) => *number as i64,
            Blamed::Named(Some(name)) => self.number(name),
            Blamed::Named(None) | Blamed::Others => UNKNOWN,
            Blamed::Idle => IDLE,
            Blamed::Rule => RULE,
        }
    }

    fn number(&mut self, name: &str) -> i64 {
        if let Some(&place) = self.places.get(name) {
            return FIRST_NAME - place;
        }
        let place = self.all.len() as i64;
        self.all.push(words::name(name).into_owned());
        self.places.insert(name.to_owned(), place);
        FIRST_NAME - place
    }
}

/// The time of the jobs in each phase.
pub(crate) fn measures(reasons: &Reasons) -> impl Iterator<Item = Measure> + '_ {
    reasons.phases.iter().map(|&phase| {
        let words = phase.in_words();
        let title = words.get(..1).unwrap_or_default().to_uppercase() + words.get(1..).unwrap_or_default();
        let of_run = |jobs: &Vec<Option<OfJob>>| jobs.iter().map(|job| Some(job.as_ref()?.in_phase(phase))).collect();
        Measure { name: phase.name(), title, unit: "ms", runs: reasons.runs.iter().map(of_run).collect() }
    })
}
