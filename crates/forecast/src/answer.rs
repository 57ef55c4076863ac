//! The answer for one moment: when each waiting job starts, what it waits for, and what would bring it sooner.

use std::collections::{BTreeMap, BTreeSet};

use resched_policies::PolicySpec;
use resched_replay::{ReadyPolicy, Setup, Source, Threads, World};
use resched_sim::Ms;
use resched_tables::call::checkpoint;
use resched_tables::records;
use resched_tables::run::RunTrace;
use resched_tables::sink::Collected;
use resched_tables::store::Trace;
use resched_tables::validity::{Fact, Grade, Validity};
use serde::Serialize;

use crate::Error;
use crate::backtest::Backtest;
use crate::correct::{Made, corrected, correction};
use crate::moment::{Drawn, FIRST_HORIZON, Forecast, Model, Moment, Options};
use crate::now::Now;
use crate::past::{Past, entries_of};
use crate::quantiles::quantiles;
use crate::report::{Report, size_class};

/// How many of the jobs whose end lets a job start are named.
const NAMED: usize = 5;

/// A log with its world and its schedulers, ready for forecasts.
#[derive(Debug)]
pub struct Prepared {
    world: World,
    past: Past,
    policies: Vec<ReadyPolicy>,
}

impl Prepared {
    /// Loads a log, and checks that these policies can be simulated there. What the log says of how jobs ran is kept apart from what they
    /// asked for.
    ///
    /// # Errors
    /// Errors of the trace, the cluster or a policy.
    pub fn open(source: &Source, trace: &Trace, setup: Setup, policies: &[PolicySpec]) -> Result<Self, Error> {
        let world = World::open(source, Setup { requests: true, ..setup })?;
        let policies = policies.iter().map(|policy| world.check(policy)).collect::<Result<_, _>>()?;
        let past = Past::of_trace(trace, &world.loaded()?.workload)?;
        Ok(Self { world, past, policies })
    }

    /// As [`Prepared::open`], with the jobs that run and wait now beside the past, which is all that is in the log: what it has of the
    /// jobs of the list, and of others that had not ended, is replaced by the list.
    ///
    /// # Errors
    /// As [`Prepared::open`].
    pub fn with_now(trace: &Trace, now: Now, setup: Setup, policies: &[PolicySpec]) -> Result<Self, Error> {
        let at = now.at.unwrap_or(Ms::MAX);
        let source = records::Source::open(trace.dir())?;
        let listed: BTreeSet<&str> = now.jobs.iter().map(|job| job.job.job_id.as_str()).collect();
        let mut skipped = now.skipped.clone();
        let mut jobs = Vec::new();
        for record in source.records()? {
            let record = record?;
            if listed.contains(record.job.job_id.as_str()) {
                continue;
            }
            if record.job.finish.is_none_or(|finish| finish > at) {
                *skipped.entry("job-of-the-past-that-is-not-listed".to_owned()).or_default() += 1;
                continue;
            }
            jobs.push(record);
        }
        jobs.extend(now.jobs);
        let manifest = trace.manifest();
        let tables = Collected {
            jobs,
            nodes: source.nodes()?,
            skipped: manifest.skipped.clone(),
            engine: manifest.engine,
            ..Collected::default()
        };
        let named =
            RunTrace { path: trace.dir().display().to_string(), sha256: trace.fingerprint()?, ..RunTrace::default() };
        let entries = entries_of(&tables.jobs)?;
        let world = World::open(&Source::tables(tables, named), Setup { requests: true, ..setup })?;
        let policies = policies.iter().map(|policy| world.check(policy)).collect::<Result<_, _>>()?;
        let mut past = Past::of_entries(entries, &world.loaded()?.workload);
        for (cause, count) in skipped {
            *past.skipped.entry(cause).or_default() += count;
        }
        Ok(Self { world, past, policies })
    }

    /// The jobs of the log.
    pub fn past(&self) -> &Past {
        &self.past
    }

    /// The policies, with the settings of the site.
    pub fn policies(&self) -> &[ReadyPolicy] {
        &self.policies
    }

    /// What forecasts under a policy are made of, by its place among those that were given.
    ///
    /// # Errors
    /// [`Error::Request`] if there is no such policy.
    pub fn model(&self, policy: usize, options: Options) -> Result<Model<'_>, Error> {
        let ready =
            self.policies.get(policy).ok_or_else(|| Error::Request("expected a policy, found none".to_owned()))?;
        Ok(Model { past: &self.past, loaded: self.world.loaded()?, policy: ready.spec(), options })
    }
}

/// What is asked of a moment.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// The ids of the jobs; empty: all that wait.
    pub jobs: Vec<String>,
    /// The chance of a start by when is wanted, ms of the clock of the trace.
    pub by: Option<Ms>,
    /// Another limit of these jobs, ms.
    pub limit: Option<Ms>,
    /// True if jobs of each queue and size that are submitted now are forecast, too.
    pub groups: bool,
}

/// The forecasts at a moment. Times are ms of the clock of the trace.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// The moment.
    pub at: Ms,
    /// How many jobs run, wait for machines, and wait for something else.
    pub running: u64,
    /// How many wait for machines.
    pub waiting: u64,
    /// How many are held, or wait for other jobs or for their time.
    pub held: u64,
    /// How many futures were drawn.
    pub draws: u32,
    /// True if the quantiles are corrected by a back-test.
    pub corrected: bool,
    /// The jobs, in the order of submission.
    pub jobs: Vec<JobAnswer>,
    /// Jobs that are submitted now, by queue and size.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
    /// Jobs without a law of run times, and without a limit, of all that run or wait.
    #[serde(skip)]
    pub(crate) lacks: [u64; 2],
    #[serde(skip)]
    pub(crate) misplaced: f64,
}

/// The forecast of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobAnswer {
    /// Its id.
    pub job_id: String,
    /// Its queue.
    pub queue: String,
    /// The number of machines that it asks for, if it is known.
    pub machines: Option<u32>,
    /// When it was submitted.
    pub submit: Ms,
    /// When it starts, at 10, 50 and 90 %.
    pub start: [Ms; 3],
    /// The same of the draws as they are, before the correction.
    pub raw_start: [Ms; 3],
    /// The share of futures in which it does not start at all.
    pub never: f64,
    /// The chance that it starts by the time that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    /// The jobs whose end lets it start, with the share of futures.
    pub after: Vec<After>,
    /// When it starts with the other limit, at 10, 50 and 90 %, uncorrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what_if: Option<[Ms; 3]>,
}

/// A job that must end first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct After {
    /// Its id.
    pub job_id: String,
    /// In which share of the futures its end lets the other one start.
    pub share: f64,
}

/// The wait of a job that is submitted at the moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// Its queue.
    pub queue: String,
    /// Its class of sizes.
    pub size: &'static str,
    /// The last job of that queue and size, which it is like.
    pub like: String,
    /// How long it waits, ms, at 10, 50 and 90 %.
    pub wait_ms: [Ms; 3],
}

fn three(all: [Ms; 9]) -> [Ms; 3] {
    [all[2], all[4], all[6]]
}

/// All futures of a moment, several at once.
fn drawn(moment: &Moment<'_>, draws: u32, threads: Threads) -> Result<Vec<Drawn>, Error> {
    // The first shows how far jobs must come.
    let mut horizon = FIRST_HORIZON;
    let first = moment.draw(0, &mut horizon)?;
    let rest: Vec<u64> = (1..u64::from(draws)).collect();
    let rest = threads.in_order(&rest, |&draw| {
        checkpoint();
        let mut until = horizon;
        moment.draw(draw, &mut until)
    })?;
    Ok(std::iter::once(first).chain(rest).collect())
}

/// The forecasts at a moment. `tested` is a back-test of moments before, by which they are corrected.
///
/// # Errors
/// [`Error::Request`] if an asked job does not wait then; errors of the policy.
pub fn answer(
    model: Model<'_>,
    at: Ms,
    asked: &Asked,
    tested: Option<&Backtest>,
    threads: Threads,
) -> Result<Answer, Error> {
    let places = asked_places(model.past, at, &asked.jobs)?;
    let choose = |waiting: Vec<u32>| if asked.jobs.is_empty() { waiting } else { places.clone() };
    let moment = Moment::new(model, at, choose);
    let added = tested.and_then(|tested| {
        let made: Vec<Made> = tested.rows.iter().map(crate::Row::made).collect();
        correction(&made, at)
    });
    let (running, waiting, held) = (moment.running(), moment.waiting(), moment.held);
    let lacks = [moment.lawless(), moment.without_limit()];
    let mut jobs = Vec::new();
    let mut misplaced = 0.0;
    if !moment.asked().is_empty() {
        let futures = drawn(&moment, model.options.draws, threads)?;
        misplaced = Moment::misplaced(&futures);
        let all = moment.gather(&futures);
        jobs = all.iter().filter_map(|gathered| job_answer(model, gathered, at, asked, added)).collect();
        if let Some(limit) = asked.limit {
            let other = Moment::new(model, at, choose).with_limit(limit);
            let futures = drawn(&other, model.options.draws, threads)?;
            for (job, gathered) in jobs.iter_mut().zip(other.gather(&futures)) {
                job.what_if = Some(three(quantiles(&gathered.starts, at)));
            }
        }
    }
    let groups = if asked.groups { groups(model, at, threads)? } else { Vec::new() };
    let (draws, corrected) = (model.options.draws, added.is_some());
    Ok(Answer { at, running, waiting, held, draws, corrected, jobs, groups, lacks, misplaced })
}

/// The places of the asked jobs in the past.
fn asked_places(past: &Past, at: Ms, ids: &[String]) -> Result<Vec<u32>, Error> {
    let find = |id: &String| {
        let found = (0_u32..).zip(past.submitted(at)).filter(|(_, job)| job.id == *id);
        let waits = found.clone().find(|(_, job)| job.waits(at)).map(|found| found.0);
        waits.ok_or_else(|| {
            let found = match found.count() {
                0 => "no job of that id had been submitted",
                _ => "it does not wait for machines",
            };
            Error::Request(format!(
                "job {id}: expected a job that waits at that time, found none: {found}; name another with --job"
            ))
        })
    };
    let mut places = ids.iter().map(find).collect::<Result<Vec<u32>, _>>()?;
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

fn job_answer(
    model: Model<'_>,
    forecast: &Forecast,
    at: Ms,
    asked: &Asked,
    added: Option<[f64; 9]>,
) -> Option<JobAnswer> {
    let past = model.past;
    let job = past.jobs.get(forecast.place as usize)?;
    let raw = quantiles(&forecast.starts, at);
    let count = forecast.starts.len().max(1) as f64;
    let after = forecast.after.iter().take(NAMED).filter_map(|&(place, futures)| {
        Some(After { job_id: past.jobs.get(place as usize)?.id.clone(), share: f64::from(futures) / count })
    });
    Some(JobAnswer {
        job_id: job.id.clone(),
        queue: past.queue(job).to_owned(),
        machines: job.machines,
        submit: job.submit,
        start: three(corrected(&Made { asked_at: at, quantiles: raw, start: None }, added)),
        raw_start: three(raw),
        never: f64::from(forecast.never) / count,
        chance: asked.by.map(|by| forecast.starts.partition_point(|start| *start <= by) as f64 / count),
        after: after.collect(),
        what_if: None,
    })
}

/// The waits of jobs that are submitted at the moment, each like the last job of its queue and size.
fn groups(model: Model<'_>, at: Ms, threads: Threads) -> Result<Vec<Group>, Error> {
    let past = model.past;
    let mut last: BTreeMap<(&str, u32, &'static str), u32> = BTreeMap::new();
    for (job, place) in past.submitted(at).iter().zip(0_u32..) {
        if let Some((order, size)) = size_class(job.machines) {
            last.insert((past.queue(job), order, size), place);
        }
    }
    let all: Vec<((&str, u32, &'static str), u32)> = last.into_iter().collect();
    threads.in_order(&all, |&((queue, _, size), place)| {
        checkpoint();
        let moment = Moment::new(model, at, |_| Vec::new()).and_submit(place);
        let futures = moment.draw_all()?;
        let starts = moment.gather(&futures).into_iter().next().map(|gathered| gathered.starts).unwrap_or_default();
        let wait_ms = three(quantiles(&starts, at)).map(|start| start - at);
        let like = past.jobs.get(place as usize).map_or_else(String::new, |job| job.id.clone());
        Ok(Group { queue: queue.to_owned(), size, like, wait_ms })
    })
}

/// What an answer rests on: a back-test and what it says, if there is one, and the state at the moment.
pub fn validity_of(tested: Option<(&Backtest, &Report)>, answer: Option<&Answer>) -> Validity {
    let mut validity = match tested {
        Some((tested, report)) => report.validity(tested),
        None => {
            let says = "No back-test: whether such intervals hold on this cluster is not known.";
            let remedy = "Add --backtest 200.";
            Validity { facts: vec![Fact::new("back-test", Grade::Assumed, says).with_remedy(remedy)] }
        }
    };
    if let Some(answer) = answer {
        state_facts(answer).into_iter().for_each(|fact| validity.add(fact));
    }
    validity
}

/// What is missing in the state at the moment.
fn state_facts(answer: &Answer) -> Vec<Fact> {
    let mut facts = Vec::new();
    let [lawless, without_limit] = answer.lacks;
    let mut add = |about: &str, says: String| facts.push(Fact::new(about, Grade::Assumed, says));
    if lawless > 0 {
        let says = format!("{} like no two jobs before, and taken to run up to the limit.", are(lawless));
        add("run-times", says);
    }
    if without_limit > 0 {
        let says = format!(
            "{} without a limit; a scheduler that plans is taken to know how long they run.",
            are(without_limit)
        );
        add("limits", says);
    }
    if answer.misplaced > 0.5 {
        let says = format!(
            "This policy had not started {:.1} of the jobs that run, on average: machines or rules of the cluster are others.",
            answer.misplaced
        );
        add("capacity", says);
    }
    let never = answer.jobs.iter().filter(|job| job.never > 0.0).count() as u64;
    if never > 0 {
        add("never-start", format!("{} not started within 120 days in some futures.", have(never)));
    }
    facts
}

fn are(jobs: u64) -> String {
    if jobs == 1 { "1 job that runs or waits is".to_owned() } else { format!("{jobs} jobs that run or wait are") }
}

fn have(jobs: u64) -> String {
    if jobs == 1 { "1 job has".to_owned() } else { format!("{jobs} jobs have") }
}

/// A time as people write it, ms: `2h`, `90min`, `1d`, or as Slurm writes it: `90` minutes, `1:30:00`, `1-12:00:00`. `None` if it is none.
pub fn time_of(text: &str) -> Option<Ms> {
    let text = text.trim();
    if let Ok(ms) = humantime_of(text) {
        return Some(ms);
    }
    let (days, rest) = text.split_once('-').map_or((0, text), |(days, rest)| (days.parse().unwrap_or(-1), rest));
    let parts: Vec<i64> =
        rest.split(':').map(|part| part.parse().ok().filter(|part| *part >= 0)).collect::<Option<_>>()?;
    let seconds = match (text.contains('-'), parts.as_slice()) {
        (false, [minutes]) => minutes.checked_mul(60)?,
        (false, [minutes, seconds]) => minutes.checked_mul(60)?.checked_add(*seconds)?,
        (true, [hours]) => hours.checked_mul(3_600)?,
        (true, [hours, minutes]) => hours.checked_mul(3_600)?.checked_add(minutes.checked_mul(60)?)?,
        (_, [hours, minutes, seconds]) => {
            hours.checked_mul(3_600)?.checked_add(minutes.checked_mul(60)?)?.checked_add(*seconds)?
        }
        _ => return None,
    };
    let all = Some(days).filter(|days| (0..=36_600).contains(days))? * 86_400 + seconds;
    all.checked_mul(1_000)
}

/// A number with a unit.
fn humantime_of(text: &str) -> Result<Ms, ()> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).ok_or(())?;
    let (number, unit) = text.split_at(end);
    let number: i64 = number.parse().map_err(|_| ())?;
    let unit = match unit.trim() {
        "s" | "sec" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(()),
    };
    number.checked_mul(unit).ok_or(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_written_as_people_or_slurm_write_them() {
        let hour = 3_600_000;
        for (text, expected) in [
            ("2h", 2 * hour),
            ("90min", hour + hour / 2),
            ("90", hour + hour / 2),
            ("1:30:00", hour + hour / 2),
            ("1-12:00:00", 36 * hour),
            ("2-0", 48 * hour),
            ("1d", 24 * hour),
        ] {
            assert_eq!(time_of(text), Some(expected), "{text}");
        }
        for wrong in ["", "h", "2x", "1:2:3:4", "-1", "99999-0", "1e9", "9223372036854775807"] {
            assert_eq!(time_of(wrong), None, "{wrong}");
        }
    }
}
