//! What the script of a page needs to explain a job: its phases under each policy, and who made it wait.

use std::collections::BTreeMap;

use resched_analysis::why::{Holder, Phase, WITHOUT_REASONS};
use resched_tables::words;
use serde::Serialize;

use crate::page::measure::Measure;
use crate::why::{Blamed, Named, OfJob, Reasons, Shares};

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
    /// What holders are. Those after the first stand for themselves in the lists: the second as -1, and so on. A job of the scene is its
    /// number, 0 and more. Names follow, downwards.
    holders: [&'static str; Blamed::NAMES.len()],
    /// The names that holders refer to; null if it is unknown.
    words: Vec<Option<String>>,
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
        Self { holders: Blamed::NAMES, words: names.all, jobs, users, queues }
    }
}

/// Names, each once.
#[derive(Default)]
struct Names {
    all: Vec<Option<String>>,
    places: BTreeMap<Option<String>, i64>,
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
                let named = shares.filter(|share| share.0 != Holder::Others);
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
            Holder::Job(Named::Number(number)) => *number as i64,
            Holder::Job(Named::Name(name)) => -(Blamed::NAMES.len() as i64) - self.place(name.as_deref()),
            Holder::Others | Holder::Idle | Holder::Rule => -(blamed.place() as i64),
        }
    }

    fn place(&mut self, name: Option<&str>) -> i64 {
        let next = self.all.len() as i64;
        let place = *self.places.entry(name.map(str::to_owned)).or_insert(next);
        if place == next {
            self.all.push(name.map(|name| words::name(name).into_owned()));
        }
        place
    }
}

/// The time of the jobs in each phase.
pub(crate) fn measures(reasons: &Reasons) -> impl Iterator<Item = Measure> + '_ {
    reasons.phases.iter().map(|&phase| {
        let words = phase.in_words(reasons.system);
        let title = words.get(..1).unwrap_or_default().to_uppercase() + words.get(1..).unwrap_or_default();
        let of_run = |jobs: &Vec<Option<OfJob>>| jobs.iter().map(|job| Some(job.as_ref()?.in_phase(phase))).collect();
        Measure { name: phase.name(), title, unit: "ms", runs: reasons.runs.iter().map(of_run).collect() }
    })
}
