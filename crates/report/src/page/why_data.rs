//! What the script of a page needs to explain a job: its phases under each policy, and who made it wait.

use std::rc::Rc;

use resched_analysis::why::{Holder, Phase, WITHOUT_REASONS};
use resched_tables::words;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::page::measure::Measure;
use crate::why::{Blamed, Lists, Named, OfRun, Reasons, Share};

/// What explains the time of a job. `parts` and `facts` are names of measures.
#[derive(Serialize)]
pub(crate) struct PageWhy<'a> {
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
    tracks: Tracks<'a>,
    blame: Blame<'a>,
}

/// Who made each job wait under each policy.
#[derive(Serialize)]
struct Blame<'a> {
    /// What holders are. Those after the first stand for themselves in the lists: the second as -1, and so on. A job of the scene is its
    /// number, 0 and more. Names follow, downwards.
    holders: [&'static str; Blamed::NAMES.len()],
    /// The names that holders refer to; null if it is unknown.
    words: Vec<Option<String>>,
    jobs: Holders<'a>,
    /// `None` if all jobs are of one user.
    users: Option<Holders<'a>>,
    /// `None` if there is one queue.
    queues: Option<Holders<'a>>,
}

impl<'a> PageWhy<'a> {
    /// `facts` are the measures that say more.
    pub(crate) fn new(reasons: &'a Reasons, facts: Vec<&'static str>) -> Self {
        Self {
            parts: reasons.phases.iter().map(|phase| phase.name()).collect(),
            waits: reasons.phases.iter().filter(|phase| phase.is_wait()).map(|phase| phase.name()).collect(),
            facts,
            note: if reasons.are_kept { "" } else { WITHOUT_REASONS },
            tracks: Tracks(reasons),
            blame: Blame::new(reasons),
        }
    }
}

impl<'a> Blame<'a> {
    fn new(reasons: &'a Reasons) -> Self {
        let any = |of: Of| reasons.runs.iter().any(|run| of(run).is_some()).then_some(of);
        let [users, queues]: [Option<Of>; 2] = [any(|run| run.users.as_ref()), any(|run| run.queues.as_ref())];
        let jobs: Of = |run| Some(&run.jobs);
        let lists: Vec<Of> = [Some(jobs), users, queues].into_iter().flatten().collect();
        let (words, numbers) = named(reasons, &lists);
        let is_known = reasons.runs.iter().any(|run| run.known.contains(&true));
        let runs = if is_known { reasons.runs.as_slice() } else { &[] };
        let holders = |of| Holders { runs, of, numbers: Rc::clone(&numbers) };
        let [users, queues] = [users, queues].map(|of| of.map(holders));
        Self { holders: Blamed::NAMES, words, jobs: holders(jobs), users, queues }
    }
}

/// Which lists of a run are meant.
type Of = fn(&OfRun) -> Option<&Lists<Share>>;

/// The shares of a job that the page has.
fn shares(run: &OfRun, of: Of, job: usize) -> impl Iterator<Item = &Share> {
    let shares = of(run).map(|lists| lists.get(job)).unwrap_or_default();
    shares.iter().filter(|share| share.0 != Holder::Others)
}

/// The names in the order in which they come in these lists, and the number of each by its place in [`Reasons::names`].
fn named(reasons: &Reasons, lists: &[Of]) -> (Vec<Option<String>>, Rc<[i64]>) {
    let mut words = Vec::new();
    let mut numbers: Vec<Option<i64>> = vec![None; reasons.names.len()];
    let jobs = |run: &OfRun| 0..run.known.len();
    let runs = lists.iter().flat_map(|of| reasons.runs.iter().map(move |run| (run, *of)));
    for (blamed, _) in runs.flat_map(|(run, of)| jobs(run).flat_map(move |job| shares(run, of, job))) {
        let Holder::Job(Named::Name(name)) = blamed else { continue };
        if let (Some(number @ None), Some(name)) = (numbers.get_mut(*name as usize), reasons.names.get(*name as usize))
        {
            *number = Some(words.len() as i64);
            words.push(name.as_deref().map(|name| words::name(name).into_owned()));
        }
    }
    (words, numbers.into_iter().map(Option::unwrap_or_default).collect())
}

/// Values that are made while they are written: as lists of lists they would take more memory than the page.
struct Each<F>(F);

impl<I: Iterator<Item: Serialize>, F: Fn() -> I> Serialize for Each<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// The phases of each job under each policy.
struct Tracks<'a>(&'a Reasons);

impl Serialize for Tracks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let place = |phase: Phase| self.0.phases.iter().position(|known| *known == phase).unwrap_or(0) as u64;
        let numbers = |&(phase, parts): &(Phase, u16)| [place(phase), u64::from(parts)];
        let track = |run: &'_ OfRun, job| run.track.get(job).iter().flat_map(numbers).collect::<Vec<u64>>();
        serializer.collect_seq(
            self.0.runs.iter().map(|run| Each(move || (0..run.known.len()).map(move |job| track(run, job)))),
        )
    }
}

/// The holders of each job under each policy. What is left of the waits is on all others.
struct Holders<'a> {
    runs: &'a [OfRun],
    of: Of,
    /// The numbers of names.
    numbers: Rc<[i64]>,
}

impl Holders<'_> {
    /// A number of each holder.
    fn each(&self, number: impl Fn(&Share) -> i64 + Copy) -> impl Serialize {
        let of_job = move |run, job| shares(run, self.of, job).map(number).collect::<Vec<i64>>();
        let jobs = |run: &OfRun| 0..run.known.len();
        Each(move || self.runs.iter().map(move |run| Each(move || jobs(run).map(move |job| of_job(run, job)))))
    }

    fn number(&self, blamed: Blamed) -> i64 {
        match blamed {
            Holder::Job(Named::Number(number)) => i64::from(number),
            Holder::Job(Named::Name(name)) => {
                -(Blamed::NAMES.len() as i64) - self.numbers.get(name as usize).copied().unwrap_or(0)
            }
            Holder::Others | Holder::Idle | Holder::Rule => -(blamed.place() as i64),
        }
    }
}

impl Serialize for Holders<'_> {
    /// Who is to blame, and for how long (ms). Both lists stand alone, since they pack better.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut both = serializer.serialize_struct("Holders", 2)?;
        both.serialize_field("who", &self.each(|(blamed, _)| self.number(*blamed)))?;
        both.serialize_field("times", &self.each(|(_, ms)| *ms))?;
        both.end()
    }
}

/// The time of the jobs in each phase.
pub(crate) fn measures(reasons: &Reasons) -> impl Iterator<Item = Measure> + '_ {
    reasons.phases.iter().map(|&phase| {
        let words = phase.in_words(reasons.system);
        let title = words.get(..1).unwrap_or_default().to_uppercase() + words.get(1..).unwrap_or_default();
        let of_run = |run: &OfRun| (0..run.known.len()).map(|job| run.in_phase(job, phase)).collect();
        Measure { name: phase.name(), title, unit: "ms", runs: reasons.runs.iter().map(of_run).collect() }
    })
}
