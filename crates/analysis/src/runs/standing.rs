//! Whether a job counts in its run. The rule is written here once.

use hashbrown::{HashMap, HashSet};
use resched_tables::engine::RunEngine;
use resched_tables::model::Outcome;
use resched_tables::run::RunWindow;
use resched_tables::standing::Standing;

use crate::metrics::list::JobMetrics;
use crate::runs::origin::Origin;
use crate::runs::who::Who;

impl JobMetrics {
    /// True if a number over these jobs covers it.
    pub fn is_among(&self, who: Who) -> bool {
        use Standing::{Counts, Failed, Killed, NotInAll, Unfinished};
        match (who, self.standing) {
            (Who::Ended, standing) => standing == Counts,
            // Of some jobs that ended well, no log says when they started.
            (Who::Started, Counts) => !self.not_started_in_all,
            (Who::Started, Failed | Killed | NotInAll | Unfinished) => {
                self.waiting.is_some() && !self.not_started_in_all
            }
            (Who::Started, _) => false,
        }
    }

    /// Leaves it out of the numbers over these jobs, because it is not among them in another run.
    pub fn leave_out(&mut self, who: Who) {
        match who {
            Who::Ended => self.standing = Standing::NotInAll,
            Who::Started => self.not_started_in_all = true,
        }
    }
}

/// Whether a job with this outcome and these times counts in a run with that window, or why not.
///
/// The window comes first: what became of a job outside it does not matter. An unknown outcome with a finish counts, as many sources
/// have no outcomes. In a replay, everything that can start ends.
pub fn standing(job: &JobMetrics, window: Option<RunWindow>, is_replay: bool) -> Standing {
    let outside = |submit: i64| window.is_some_and(|window| !(window.from..window.to).contains(&submit));
    match (job.outcome, job.submit, job.finish) {
        (_, Some(submit), _) if outside(submit) => Standing::OutsideWindow,
        (Outcome::Failed | Outcome::Lost, ..) => Standing::Failed,
        (Outcome::Killed | Outcome::Evicted, ..) => Standing::Killed,
        (.., None) if is_replay => Standing::NeverStarted,
        (Outcome::Incomplete, ..) | (.., None) => Standing::Unfinished,
        (_, None, _) => Standing::BeforeTrace,
        (_, Some(submit), Some(finish)) if finish < submit => Standing::ImpossibleTimes,
        _ => Standing::Counts,
    }
}

/// Gives the jobs of a run or trace of that origin, with that window, their standing. Of two jobs with one id, the first may count.
pub fn set_standings(jobs: &mut [JobMetrics], origin: &Origin, window: Option<RunWindow>) {
    let is_replay = matches!(origin, Origin::Replay(info) if info.engine == RunEngine::Batch);
    let repeated = repeated(jobs.iter().map(job_id));
    for job in jobs.iter_mut() {
        job.standing = standing(job, window, is_replay);
    }
    for row in repeated {
        if let Some(job) = jobs.get_mut(row) {
            job.standing = Standing::RepeatedId;
        }
    }
}

/// The rows of the ids that stand in an earlier row, too.
pub(crate) fn repeated<'a>(ids: impl Iterator<Item = &'a str> + Clone) -> Vec<usize> {
    if are_in_order(ids.clone()) {
        return Vec::new();
    }
    let mut seen = HashSet::new();
    ids.enumerate().filter_map(|(row, id)| (!seen.insert(id)).then_some(row)).collect()
}

/// True if ids are in the order of their numbers, as they mostly are. Then none of them can be another.
pub(crate) fn are_in_order<'a>(ids: impl Iterator<Item = &'a str>) -> bool {
    ids.map(|id| (id.len(), id)).is_sorted_by(|one, other| one < other)
}

pub(crate) fn job_id(job: &JobMetrics) -> &str {
    &job.job_id
}

/// The jobs that count.
pub fn counting(jobs: &[JobMetrics]) -> impl Iterator<Item = &JobMetrics> {
    jobs.iter().filter(|job| job.standing == Standing::Counts)
}

/// The jobs that count in both of two runs, in the order of the first: `(in the first, in the second)`.
pub fn pairs<'a>(first: &'a [JobMetrics], second: &'a [JobMetrics]) -> Vec<(&'a JobMetrics, &'a JobMetrics)> {
    pairs_among(first, second, Who::Ended)
}

/// The jobs that are among these in both of two runs, as [`pairs`].
pub fn pairs_among<'a>(
    first: &'a [JobMetrics],
    second: &'a [JobMetrics],
    who: Who,
) -> Vec<(&'a JobMetrics, &'a JobMetrics)> {
    // Replays of one trace have the same jobs in the same rows, and of jobs with one id at most one counts.
    if first.len() == second.len() && first.iter().map(job_id).eq(second.iter().map(job_id)) {
        let both = first.iter().zip(second);
        return both.filter(|(one, two)| [one, two].iter().all(|job| job.is_among(who))).collect();
    }
    let among = |jobs: &'a [JobMetrics]| jobs.iter().filter(move |job| job.is_among(who));
    let by_id: HashMap<&str, &JobMetrics> = among(second).map(|job| (job_id(job), job)).collect();
    among(first).filter_map(|job| Some((job, *by_id.get(job_id(job))?))).collect()
}
