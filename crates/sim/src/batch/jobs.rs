//! The jobs of a workload, in few bytes: a trace may have many millions.

use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::names::Names;
use crate::Error;
use crate::ids::{JobId, Ms};

/// A job, as it was submitted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Job {
    /// Its id in the trace.
    pub id: String,
    /// Its name.
    pub name: Option<Arc<str>>,
    /// Its user, `""` if unknown.
    pub user: Arc<str>,
    /// Its queue, `""` if unknown.
    pub queue: Arc<str>,
    /// The application or user group that it belongs to, `""` if unknown.
    pub group: Arc<str>,
    /// The framework that ran it.
    pub framework: Option<Arc<str>>,
    /// Its priority; larger is served first.
    pub priority: i64,
    /// What its user took off its priority (Slurm).
    pub nice: i64,
    /// How sensitive it is to waiting, if the trace says so.
    pub scheduling_class: Option<i64>,
    /// The quality of service that it was submitted under (Slurm), `""` if unknown.
    pub qos: Arc<str>,
    /// The reservation of machines that it may use (Slurm), `""` if none.
    pub reservation: Arc<str>,
    /// The heterogeneous job that it is a component of (Slurm), `""` if none.
    pub together: Arc<str>,
    /// When it is submitted, ms of the simulated clock.
    pub submit: Ms,
    /// From when on it may start, ms of the simulated clock, if that is later than its submission.
    pub eligible: Option<Ms>,
    /// The longest run time that its user requested, ms.
    pub requested_time: Option<Ms>,
    /// True if it was there before the trace began: when it was submitted is not known.
    pub before: bool,
    /// True if a task of it had not ended when the trace ended and is not replayed.
    pub incomplete: bool,
    /// True if it succeeded in the trace, whatever became of single tasks.
    pub succeeded: bool,
}

/// A job of a workload, as it was submitted. See [`Job`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobView<'a> {
    /// Its id in the trace.
    pub id: &'a str,
    /// Its name.
    pub name: Option<&'a str>,
    /// Its user, `""` if unknown.
    pub user: &'a str,
    /// Its queue, `""` if unknown.
    pub queue: &'a str,
    /// The application or user group that it belongs to, `""` if unknown.
    pub group: &'a str,
    /// The framework that ran it.
    pub framework: Option<&'a str>,
    /// Its priority; larger is served first.
    pub priority: i64,
    /// What its user took off its priority (Slurm).
    pub nice: i64,
    /// How sensitive it is to waiting, if the trace says so.
    pub scheduling_class: Option<i64>,
    /// The quality of service that it was submitted under (Slurm), `""` if unknown.
    pub qos: &'a str,
    /// The reservation of machines that it may use (Slurm), `""` if none.
    pub reservation: &'a str,
    /// The heterogeneous job that it is a component of (Slurm), `""` if none.
    pub together: &'a str,
    /// When it is submitted, ms of the simulated clock.
    pub submit: Ms,
    /// From when on it may start, ms of the simulated clock, if that is later than its submission.
    pub eligible: Option<Ms>,
    /// The longest run time that its user requested, ms.
    pub requested_time: Option<Ms>,
    /// True if it was there before the trace began: when it was submitted is not known.
    pub before: bool,
    /// True if a task of it had not ended when the trace ended and is not replayed.
    pub incomplete: bool,
    /// True if it succeeded in the trace, whatever became of single tasks.
    pub succeeded: bool,
}

/// A job that is submitted again. Times are ms of the same simulated clock as those of the workload that it is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Again {
    /// The job that it is like.
    pub job: JobId,
    /// When it is submitted.
    pub submit: Ms,
    /// From when on it may start, if that is later than its submission.
    pub eligible: Option<Ms>,
    /// The longest run time that its user requests; `None`: that of the job that it is like.
    pub requested_time: Option<Ms>,
    /// How long each of its tasks runs, not negative.
    pub run: Ms,
}

impl Job {
    /// The job as a workload shows it.
    pub(super) fn as_view(&self) -> JobView<'_> {
        JobView {
            id: &self.id,
            name: self.name.as_deref(),
            user: &self.user,
            queue: &self.queue,
            group: &self.group,
            framework: self.framework.as_deref(),
            priority: self.priority,
            nice: self.nice,
            scheduling_class: self.scheduling_class,
            qos: &self.qos,
            reservation: &self.reservation,
            together: &self.together,
            submit: self.submit,
            eligible: self.eligible,
            requested_time: self.requested_time,
            before: self.before,
            incomplete: self.incomplete,
            succeeded: self.succeeded,
        }
    }
}

/// The jobs of a workload.
#[derive(Debug, Clone, Default)]
pub struct Jobs {
    ids: Names,
    rows: Vec<Row>,
    /// Shared with what is made of a part of the jobs.
    commons: Arc<Vec<Common>>,
    texts: Arc<Names>,
}

/// What is a job's own. Its id stands elsewhere.
#[derive(Debug, Clone, Copy)]
struct Row {
    submit: Ms,
    eligible: Option<Ms>,
    requested_time: Option<Ms>,
    /// Its name and what it has in common with others, by number.
    name: Option<Text>,
    common: u32,
    before: bool,
    incomplete: bool,
    succeeded: bool,
}

/// What many jobs have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Common {
    user: Text,
    queue: Text,
    group: Text,
    framework: Option<Text>,
    priority: i64,
    nice: i64,
    scheduling_class: Option<i64>,
    qos: Text,
    reservation: Text,
    together: Text,
}

/// The number of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Text(u32);

impl Jobs {
    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The job at a place in the order of submission. Always inline: what the caller does not look at is then not looked up either.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub fn get(&self, place: usize) -> Option<JobView<'_>> {
        let row = self.rows.get(place)?;
        let common = self.commons.get(row.common as usize)?;
        let text = |text: Text| self.texts.get(text.0 as usize);
        Some(JobView {
            id: self.ids.get(place),
            name: row.name.map(text),
            user: text(common.user),
            queue: text(common.queue),
            group: text(common.group),
            framework: common.framework.map(text),
            priority: common.priority,
            nice: common.nice,
            scheduling_class: common.scheduling_class,
            qos: text(common.qos),
            reservation: text(common.reservation),
            together: text(common.together),
            submit: row.submit,
            eligible: row.eligible,
            requested_time: row.requested_time,
            before: row.before,
            incomplete: row.incomplete,
            succeeded: row.succeeded,
        })
    }

    /// As [`Jobs::get`], for a place that has one.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub(super) fn at(&self, place: usize) -> JobView<'_> {
        self.get(place).unwrap_or(NOBODY)
    }

    /// When the job at a place is submitted.
    #[inline]
    pub(super) fn submit(&self, place: usize) -> Option<Ms> {
        self.rows.get(place).map(|row| row.submit)
    }

    /// All of them, in the order of submission.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = JobView<'_>> + DoubleEndedIterator {
        (0..self.len()).map(|place| self.at(place))
    }

    /// Some of them by themselves.
    pub(super) fn part(&self, jobs: Range<usize>) -> Self {
        let mut part = Self { commons: Arc::clone(&self.commons), texts: Arc::clone(&self.texts), ..Self::default() };
        part.rows.extend_from_slice(self.rows.get(jobs.clone()).unwrap_or_default());
        jobs.for_each(|job| part.ids.copy(&self.ids, job));
        part
    }

    /// Some of them, each submitted anew.
    pub(super) fn again(&self, jobs: &[Again]) -> Self {
        let mut again = Self { commons: Arc::clone(&self.commons), texts: Arc::clone(&self.texts), ..Self::default() };
        for job in jobs {
            let Some(&row) = self.rows.get(job.job.index()) else { continue };
            let requested_time = job.requested_time.or(row.requested_time);
            again.ids.copy(&self.ids, job.job.index());
            again.rows.push(Row { submit: job.submit, eligible: job.eligible, requested_time, before: false, ..row });
        }
        again
    }

    /// The same jobs in that order.
    pub(super) fn in_order(self, order: &[u32]) -> Self {
        let mut ids = Names::default();
        order.iter().for_each(|&old| ids.copy(&self.ids, old as usize));
        let rows = order.iter().filter_map(|&old| self.rows.get(old as usize).copied()).collect();
        Self { ids, rows, ..self }
    }

    /// Changes when each is submitted.
    pub(super) fn set_submits(&mut self, new: impl Fn(Ms) -> Ms) {
        for row in &mut self.rows {
            let (before, after) = (row.submit, new(row.submit));
            row.submit = after;
            // A submission far outside of the trace is moved: how much later the job may start stays.
            row.eligible = row.eligible.map(|at| after.saturating_add(at.saturating_sub(before)));
        }
    }

    /// Jobs with dependencies start once these have ended: when they could start in the log is an outcome of its schedule.
    pub(super) fn forget_eligible(&mut self, place: usize) {
        if let Some(row) = self.rows.get_mut(place) {
            row.eligible = None;
        }
    }

    /// From when on each of some jobs may start: the earliest of these instants.
    pub(super) fn share_eligible(&mut self, places: &[u32]) {
        let known = |&place: &u32| self.rows.get(place as usize).map(|row| row.eligible.unwrap_or(row.submit));
        let earliest = places.iter().filter_map(known).min();
        for &place in places {
            if let Some(row) = self.rows.get_mut(place as usize) {
                row.eligible = earliest.filter(|&at| at > row.submit);
            }
        }
    }

    /// Sets the longest run time of each job for which none was requested, given its place.
    pub(super) fn set_unrequested(&mut self, time: impl Fn(usize) -> Ms) {
        for (place, row) in self.rows.iter_mut().enumerate().filter(|(_, row)| row.requested_time.is_none()) {
            row.requested_time = Some(time(place));
        }
    }
}

/// A job without properties.
const NOBODY: JobView<'static> = JobView {
    id: "",
    name: None,
    user: "",
    queue: "",
    group: "",
    framework: None,
    priority: 0,
    nice: 0,
    scheduling_class: None,
    qos: "",
    reservation: "",
    together: "",
    submit: 0,
    eligible: None,
    requested_time: None,
    before: false,
    incomplete: false,
    succeeded: false,
};

/// Jobs under construction, with what finds the texts that are there already.
#[derive(Debug, Default)]
pub(super) struct NewJobs {
    pub(super) jobs: Jobs,
    known_texts: HashTable<Text>,
    known_commons: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl NewJobs {
    /// Adds a job.
    ///
    /// # Errors
    /// [`Error::Config`] if the texts take more than 4 GB.
    pub(super) fn push(&mut self, job: JobView<'_>) -> Result<(), Error> {
        let name = job.name.map(|name| self.text(name, None)).transpose()?;
        // Mostly a job has the texts of the one before.
        let last = self.jobs.rows.last().and_then(|row| self.jobs.commons.get(row.common as usize)).copied();
        let common = Common {
            user: self.text(job.user, last.map(|last| last.user))?,
            queue: self.text(job.queue, last.map(|last| last.queue))?,
            group: self.text(job.group, last.map(|last| last.group))?,
            framework: match job.framework {
                Some(framework) => Some(self.text(framework, last.and_then(|last| last.framework))?),
                None => None,
            },
            priority: job.priority,
            nice: job.nice,
            scheduling_class: job.scheduling_class,
            qos: self.text(job.qos, last.map(|last| last.qos))?,
            reservation: self.text(job.reservation, last.map(|last| last.reservation))?,
            together: self.text(job.together, last.map(|last| last.together))?,
        };
        let common = self.common(common)?;
        self.jobs.ids.push(job.id)?;
        let JobView { submit, eligible, requested_time, before, incomplete, succeeded, .. } = job;
        self.jobs.rows.push(Row { submit, eligible, requested_time, name, common, before, incomplete, succeeded });
        Ok(())
    }

    /// The number of a text, which may be `likely`.
    fn text(&mut self, text: &str, likely: Option<Text>) -> Result<Text, Error> {
        let Self { jobs: Jobs { texts, .. }, known_texts, hasher, .. } = self;
        if let Some(likely) = likely.filter(|likely| texts.get(likely.0 as usize) == text) {
            return Ok(likely);
        }
        let hash = hasher.hash_one(text);
        if let Some(&known) = known_texts.find(hash, |known| texts.get(known.0 as usize) == text) {
            return Ok(known);
        }
        let new = Text(number(texts.len())?);
        Arc::make_mut(texts).push(text)?;
        known_texts.insert_unique(hash, new, |known| hasher.hash_one(texts.get(known.0 as usize)));
        Ok(new)
    }

    fn common(&mut self, common: Common) -> Result<u32, Error> {
        let Self { jobs: Jobs { commons, .. }, known_commons, hasher, .. } = self;
        let of = |common: &Common| hasher.hash_one(common);
        let hash = of(&common);
        if let Some(&known) = known_commons.find(hash, |&known| commons.get(known as usize) == Some(&common)) {
            return Ok(known);
        }
        let new = number(commons.len())?;
        Arc::make_mut(commons).push(common);
        known_commons.insert_unique(hash, new, |&known| commons.get(known as usize).map_or(0, of));
        Ok(new)
    }
}

fn number(length: usize) -> Result<u32, Error> {
    u32::try_from(length).map_err(|_| Error::Config("more than 4 billion jobs; cut the trace".to_owned()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_what_was_added() {
        let text = |number: usize| ["", "ann", "bob", "a"][number % 4];
        let ids: Vec<String> = (0..200).map(|number: usize| format!("job-{number}")).collect();
        let all: Vec<JobView<'_>> = (0..200)
            .map(|number| JobView {
                id: &ids[number],
                name: (number % 3 > 0).then(|| ids[number / 2].as_str()),
                user: text(number),
                queue: text(number / 2),
                group: text(number / 3),
                framework: (number % 5 > 0).then(|| text(number / 7)),
                priority: number as i64 % 4,
                nice: number as i64 / 50,
                scheduling_class: (number % 7 > 0).then_some(number as i64 % 2),
                qos: text(number / 5),
                reservation: text(number / 6),
                together: text(number / 8),
                submit: number as Ms,
                eligible: (number % 6 > 0).then_some(2 * number as Ms),
                requested_time: (number % 2 > 0).then_some(number as Ms),
                before: number % 9 == 0,
                incomplete: number % 8 == 0,
                succeeded: number % 10 == 0,
            })
            .collect();
        let mut new = NewJobs::default();
        all.iter().for_each(|&job| new.push(job).unwrap());
        assert_eq!(new.jobs.iter().collect::<Vec<_>>(), all);
        assert!(new.jobs.texts.len() < 4 + 100 + 1, "each text is kept once");
        assert_eq!(new.jobs.part(40..70).iter().collect::<Vec<_>>(), all[40..70]);
        let turned = new.jobs.in_order(&(0..200).rev().collect::<Vec<u32>>());
        assert!(turned.iter().rev().eq(all.iter().copied()));
    }
}
