//! `resched forecast`: when waiting jobs start, and how sure that is.

use std::path::PathBuf;

use resched_forecast::{
    Answer, Asked, Backtest, Beside, JobAnswer, Now, Options, Prepared, Report, Score, answer, backtest, encode,
    moments, validity_of,
};
use resched_policies::PolicySpec;
use resched_replay::Source;
use resched_tables::clock::{Covered, Moment, Period, Zone};
use resched_tables::store::{StagedFile, Trace};
use serde::Serialize;
use serde_json::Value;

use super::replay::{one_policy, policies};
use crate::failure::Failure;
use crate::format::FormatArgs;
use crate::grade::{Graded, caveats};
use crate::out::ForceArg;
use crate::output::{Text, UNKNOWN, count, duration, table};
use crate::progress::ForecastProgress;
use crate::threads::ThreadsArg;
use crate::world_args::{MachineArgs, warn_of_rules};
use crate::written::left_out;

/// A limit on `--draws`; more do not change quantiles at 10 and 90 % much.
const MOST_DRAWS: i64 = 100_000;

/// A limit on `--backtest`.
const MOST_MOMENTS: i64 = 100_000;

/// Forecast when waiting jobs start, with how sure that is, and test such forecasts on the log.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  resched forecast T --policy slurm --site-conf /etc/slurm --backtest 200 --out F\n  resched forecast T --at 2026-03-01T08:00 --policy easy --job 4711\n  resched forecast T --at +30d --policy easy --backtest 200 --json\n  resched forecast NOW --history T --policy slurm --site-conf /etc/slurm --backtest 200"
)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true).args(["at", "backtest", "history"]))]
pub(crate) struct Args {
    /// A trace of jobs that request processors or machines, such as one of Slurm's. With --history, the jobs that run and wait now: the
    /// output of `squeue --json`, of `squeue -o` with the names of its columns, or of `sacct -a -X -P -s R,PD`.
    #[arg(value_name = "TRACE|NOW")]
    trace: PathBuf,
    /// The trace of the past, if the first argument is the list of jobs that run and wait now.
    #[arg(long, value_name = "TRACE")]
    history: Option<PathBuf>,
    /// The policy that schedules the cluster, written as for `replay`.
    #[arg(long, value_name = "POLICY")]
    policy: String,
    /// Forecast from the state at this time, with what was known then: ms of the trace's clock, a time after the first submission such as
    /// +30d, or a date such as 2026-03-01T08:00. With --history, when the list of jobs was made, if it does not say it.
    #[arg(long, value_name = "TIME")]
    at: Option<Moment>,
    /// The id of a waiting job. Repeat the option for more [default: all that wait].
    #[arg(long = "job", value_name = "ID")]
    jobs: Vec<String>,
    /// Also print the chance that a job starts by this time.
    #[arg(long, value_name = "TIME")]
    by: Option<Moment>,
    /// Also forecast the jobs with another time limit, such as limit=2h.
    #[arg(long, value_name = "limit=TIME", requires = "jobs", value_parser = limit_of)]
    what_if: Option<i64>,
    /// Also forecast a job of each queue and size that is submitted at that time: a table for your users.
    #[arg(long)]
    groups: bool,
    /// Test forecasts at so many past moments, each from what was known then. With --at, moments before that time; they also correct the
    /// forecast.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST_MOMENTS))]
    backtest: Option<u32>,
    /// In the back-test, also try this policy at the same moments: the log may fit it better. Repeat the option for more [default: easy and
    /// batch-fifo; `none` for none].
    #[arg(long, value_name = "POLICY", requires = "backtest")]
    beside: Vec<String>,
    /// How many futures are drawn at each moment.
    #[arg(long, value_name = "N", default_value_t = resched_forecast::DRAWS, value_parser = clap::value_parser!(u32).range(10..=MOST_DRAWS))]
    draws: u32,
    /// Of how many of the last jobs like it the law of a job's run time is made. Fewer follow a change faster, and are less sure.
    #[arg(long, value_name = "N", default_value_t = Options::default().window as u32, value_parser = clap::value_parser!(u32).range(2..))]
    last_jobs: u32,
    /// The folder for the table of the back-test, backtest.parquet.
    #[arg(long, value_name = "DIR", requires = "backtest")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
    #[command(flatten)]
    machines: MachineArgs,
    /// The time zone of the times shown, and of your times without one: UTC, +02:00, Europe/Berlin.
    #[arg(long, value_name = "ZONE", default_value_t, allow_hyphen_values = true)]
    timezone: Zone,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    format: FormatArgs,
}

/// The schedulers that a back-test tries beside yours by default.
const BESIDE: [&str; 2] = ["easy", "batch-fifo"];

/// The limit in `limit=2h`, ms.
fn limit_of(text: &str) -> Result<i64, String> {
    let expected = || format!("`{text}`: expected limit=TIME, such as limit=2h or limit=90min");
    let time = text.trim().strip_prefix("limit=").ok_or_else(expected)?;
    resched_forecast::time_of(time).filter(|ms| *ms > 0).ok_or_else(expected)
}

/// What is printed as JSON.
#[derive(Debug, Serialize)]
struct Printed<'a> {
    policy: &'a str,
    #[serde(flatten)]
    answer: Option<&'a Answer>,
    #[serde(flatten)]
    backtest: Option<&'a Report>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let table = args.out.as_ref().map(|dir| args.force.file(&dir.join("backtest.parquet")));
    let mut file = table.map(StagedFile::create).transpose()?;
    let history = args.history.as_ref().unwrap_or(&args.trace);
    let (source, setup) = args.machines.open(history)?;
    let trace = Trace::open(history)?;
    let policy = one_policy(&args.policy, source.engine(), "forecast under each alone")?;
    let all: Vec<PolicySpec> = std::iter::once(policy).chain(others(args, &source)?).collect();
    let asked_at = args.at.map(|at| instant(at, source.covered()?, args.timezone)).transpose()?;
    let now = args.history.as_ref().map(|_| list(args, &source, asked_at)).transpose()?;
    let at = now.as_ref().map_or(asked_at, |now| now.at);
    let prepared = match now {
        Some(now) => Prepared::with_now(&trace, now, setup, &all)?,
        None => Prepared::open(&source, &trace, setup, &all)?,
    };
    warn_of_rules(prepared.policies().get(..1).unwrap_or_default());
    let tested = args.backtest.map(|count| test(args, &prepared, count, at)).transpose()?;
    if let (Some(file), Some((tested, _))) = (&mut file, &tested) {
        file.write_all(&encode(&tested.rows, prepared.past())?)?;
    }
    let by = args.by.map(|by| instant(by, source.covered()?, args.timezone)).transpose()?;
    let of_tests = tested.as_ref().map(|(tested, _)| tested);
    let answered = at.map(|at| forecast(args, &prepared, (at, by), of_tests)).transpose()?;
    if let Some(file) = file {
        file.commit()?;
    }
    let (policy, report) = (args.policy.as_str(), tested.as_ref().map(|(_, report)| report));
    let validity = validity_of(tested.as_ref().map(|(tested, report)| (tested, report)), answered.as_ref());
    let printed = Printed { policy, answer: answered.as_ref(), backtest: report };
    let zone = source.is_dated().then_some(args.timezone);
    let rows = rows(answered.as_ref(), report)?;
    args.format.print(&Graded::of(&printed, &validity), &rows, || {
        report.map_or_else(Text::default, tested_in_words)
            + answered.as_ref().map_or_else(Text::default, |answer| in_words(answer, zone))
            + &caveats(&validity)
            + &left_out(&prepared.past().skipped)
    })
}

/// The rows of CSV: the waiting jobs, or the scores of the back-test.
fn rows(answer: Option<&Answer>, report: Option<&Report>) -> Result<Vec<Value>, Failure> {
    let encoded = match (answer, report) {
        (Some(answer), _) => answer.jobs.iter().map(serde_json::to_value).collect(),
        (None, Some(report)) => {
            let scores = [("raw", &report.raw), ("judge_raw", &report.judge_raw), ("judge", &report.judge)];
            let row = |(what, score)| serde_json::to_value(Scored { what, score });
            scores.into_iter().map(row).collect::<Result<Vec<_>, _>>()
        }
        (None, None) => Ok(Vec::new()),
    };
    encoded.map_err(|error| Failure::work(error.to_string()))
}

/// A row of CSV with the scores of some of the forecasts.
#[derive(Debug, Serialize)]
struct Scored<'a> {
    what: &'a str,
    #[serde(flatten)]
    score: &'a Option<Score>,
}

/// The list of the jobs that run and wait now.
fn list(args: &Args, source: &Source, at: Option<i64>) -> Result<Now, Failure> {
    if !source.is_dated() {
        let problem = "--history: its times do not count from a date, so a list of jobs has no place in it; ingest the log of the cluster";
        return Err(Failure::request(problem));
    }
    Ok(Now::read(&args.trace, args.timezone, at)?)
}

/// The policies that the back-test tries beside.
fn others(args: &Args, source: &Source) -> Result<Vec<PolicySpec>, Failure> {
    let asked: Vec<String> = match (args.backtest, args.beside.as_slice()) {
        (None, _) => Vec::new(),
        (Some(_), []) => BESIDE.iter().map(|&name| name.to_owned()).filter(|name| *name != args.policy).collect(),
        (Some(_), given) => given.iter().filter(|name| *name != "none").cloned().collect(),
    };
    policies(&asked, source.engine())
}

/// A time that you gave, ms of the clock of the trace.
fn instant(at: Moment, covered: Covered, zone: Zone) -> Result<i64, Failure> {
    let span = Period { from: None, to: Some(at) }.within(&covered, zone).map_err(Failure::request)?;
    Ok(span.to.unwrap_or(covered.last))
}

/// What the options say of draws and laws; the rest has its defaults.
fn options(args: &Args) -> Options {
    Options { draws: args.draws, seed: args.machines.seed, window: args.last_jobs as usize, ..Options::default() }
}

/// The back-test, and what it says beside other schedulers.
fn test(args: &Args, prepared: &Prepared, count: u32, at: Option<i64>) -> Result<(Backtest, Report), Failure> {
    let seed = args.machines.seed;
    let moments = moments(prepared.past(), count, at, seed)?;
    let policies = prepared.policies();
    let progress = ForecastProgress::new((moments.len() * policies.len()) as u64);
    let mut all = Vec::with_capacity(policies.len());
    for (place, policy) in policies.iter().enumerate() {
        let tested =
            backtest(prepared.model(place, options(args))?, &moments, args.threads.get(), &|| progress.tested())?;
        all.push((policy.asked().label(), tested));
    }
    let mut all = all.into_iter();
    let (label, first) = all.next().ok_or_else(|| Failure::request("--policy: expected one, found none"))?;
    let others: Vec<(String, Backtest)> = all.collect();
    let report = Report::of(&label, &first, &others, prepared.past(), seed);
    Ok((first, report))
}

/// The forecast at a time, and the chance of a start by another.
fn forecast(
    args: &Args,
    prepared: &Prepared,
    (at, by): (i64, Option<i64>),
    tested: Option<&Backtest>,
) -> Result<Answer, Failure> {
    let asked = Asked { jobs: args.jobs.clone(), by, limit: args.what_if, groups: args.groups };
    Ok(answer(prepared.model(0, options(args))?, at, &asked, tested, args.threads.get())?)
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| UNKNOWN.to_owned(), |share| format!("{:.0} %", 100.0 * share))
}

/// The back-test: raw coverage first.
fn tested_in_words(report: &Report) -> Text {
    let [drawn, used] = report.moments;
    let head = format!(
        "Back-test of `{}`: {} starts at {} of {} moments; {} jobs never started and do not count.\n",
        report.policy,
        count(report.rows),
        count(used),
        count(drawn),
        count(report.never_started)
    );
    let row = |name: &str, score: &Option<Score>| {
        let score = score.as_ref()?;
        let covered = |level: &str| {
            let share = score.coverage.get(level)?;
            Some(format!("{:.0} % [{:.0}, {:.0}]", 100.0 * share.value, 100.0 * share.low, 100.0 * share.high))
        };
        let cell = |level: &str| covered(level).unwrap_or_else(|| UNKNOWN.to_owned());
        let losses = [Some(score.pinball_ms.value), score.crps_ms, Some(score.median_error_ms)].map(duration);
        Some([vec![name.to_owned(), count(score.rows), cell("50"), cell("80"), cell("95")], losses.to_vec()].concat())
    };
    let rows = [
        row("raw, all moments", &report.raw),
        row("raw, second half", &report.judge_raw),
        row("corrected, second half", &report.judge),
    ];
    let heading = ["intervals", "starts", "in 50 %", "in 80 %", "in 95 %", "pinball loss", "CRPS", "median error"];
    let scores = table(&heading, rows.into_iter().flatten().collect(), 1..heading.len());
    let other = |beside: &Beside| {
        let times = beside.times.map_or_else(
            || UNKNOWN.to_owned(),
            |time| format!("{:.2} [{:.2}, {:.2}]", time.value, time.low, time.high),
        );
        vec![beside.name.clone(), count(beside.rows), percent(beside.within), duration(beside.pinball_ms), times]
    };
    let rows = report.baselines.iter().chain(&report.others).map(other).collect();
    let heading = ["on the same moments", "starts", "in 80 %", "pinball loss", "times the loss"];
    Text::from(head) + scores + "\n" + table(&heading, rows, 1..heading.len()) + classes(report)
}

/// The forecasts by queue and by size.
fn classes(report: &Report) -> Text {
    let queues = report.by_queue.iter().map(|(name, class)| (name.as_str(), class));
    let sizes = report.by_size.iter().map(|(name, class)| (*name, class));
    let row = |(name, class): (&str, &resched_forecast::Class)| {
        vec![
            name.to_owned(),
            count(class.rows),
            percent(Some(class.coverage_of_80.value)),
            duration(Some(class.pinball_ms)),
        ]
    };
    let heading = ["raw, by queue and size", "starts", "in 80 %", "pinball loss"];
    Text::from("\n") + table(&heading, queues.chain(sizes).map(row).collect(), 1..heading.len())
}

/// The forecasts of waiting jobs.
fn in_words(answer: &Answer, zone: Option<Zone>) -> Text {
    let head = format!(
        "\nAt {}: {} jobs run, {} wait, {} are held or wait for other things. {} futures.{}\n",
        zone.map_or_else(|| format!("{} ms", answer.at), |zone| zone.show(answer.at)),
        count(answer.running),
        count(answer.waiting),
        count(answer.held),
        answer.draws,
        if answer.corrected { " Intervals are corrected by the back-test." } else { "" }
    );
    let after = |at: i64| duration(Some((at - answer.at) as f64));
    let job =
        |job: &JobAnswer| {
            let [low, median, high] = job.start;
            let when = zone.map_or_else(|| format!("{median} ms"), |zone| zone.show(median));
            let mut row = vec![job.job_id.clone(), job.queue.clone(), after(low), after(median), after(high), when];
            row.push(percent(job.chance));
            row.push(job.after.first().map_or_else(
                || UNKNOWN.to_owned(),
                |after| format!("{} ({})", after.job_id, percent(Some(after.share))),
            ));
            row
        };
    let heading =
        ["job", "queue", "starts in (10 %)", "median", "90 %", "median start", "by then", "waits for the end of"];
    let mut text = Text::from(head);
    if !answer.jobs.is_empty() {
        text += table(&heading, answer.jobs.iter().map(job).collect(), 2..5);
    }
    for job in &answer.jobs {
        if let Some(other) = job.what_if {
            text += &what_if(job, other);
        }
    }
    let group = |group: &resched_forecast::Group| {
        let [low, median, high] = group.wait_ms.map(|wait| duration(Some(wait as f64)));
        vec![group.queue.clone(), group.size.to_owned(), low, median, high, group.like.clone()]
    };
    if answer.groups.is_empty() {
        return text;
    }
    let heading = ["submitted now: queue", "size", "waits (10 %)", "median", "90 %", "like job"];
    text + "\n" + table(&heading, answer.groups.iter().map(group).collect(), 2..5)
}

/// What another limit changes.
fn what_if(job: &JobAnswer, other: [i64; 3]) -> String {
    let sooner = (job.raw_start[1] - other[1]) as f64;
    let change = match sooner {
        sooner if sooner > 0.0 => format!("{} sooner", duration(Some(sooner))),
        sooner if sooner < 0.0 => format!("{} later", duration(Some(-sooner))),
        _ => "at the same time".to_owned(),
    };
    format!("With the other limit, job {} starts {change} (median of the draws).\n", job.job_id)
}
