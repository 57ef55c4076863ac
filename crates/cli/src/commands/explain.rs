//! `resched explain`: shows where the time of jobs went, and who held what they waited for.

use std::path::PathBuf;

use resched_analysis::advice::{Advice, advise};
use resched_analysis::validation::log::BesideLog;
use resched_analysis::why::{
    About, BlameRow, Blamed, Culprit, Explanation, Holder, Phase, PhaseTime, TimelineRow, Top, WITHOUT_REASONS, Waited,
    Why,
};
use resched_analysis::{Origin, Run};
use resched_tables::model::Reason;
use resched_tables::reference::nearest;
use resched_tables::store::System;
use serde::Serialize;

use crate::failure::Failure;
use crate::format::FormatArgs;
use crate::grade::{Graded, graded};
use crate::output::{Text, TimeUnit, UNKNOWN, count, of_jobs, of_unit, shortened, table};
use crate::progress::spinner;
use crate::window_args::{ByTheClock, Looked, WindowArgs, Within};

/// Explain why jobs waited: their time by phase, and the jobs that held the slots or machines.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  resched explain R/fair --job job_201009221234_0007    one job, with its time line
  resched explain R/fair --user ann                     all jobs of a user
  resched explain R/fair --queue research --json
  resched explain R/fair --top 10                       the 10 jobs that waited longest, and the 10 that delayed others most
  resched explain R/fair --top 10 --window 22:00..06:00
                                                        the same for last night, if the trace has dates
  resched explain T --job job_201009221234_0007         the observed run, as far as the log shows it

For a run that was replayed with `--decisions`, it also shows why the policy passed over jobs.")]
pub(crate) struct Args {
    /// A run, or a trace (what really ran).
    run: PathBuf,
    /// Explain this job.
    #[arg(long, value_name = "ID", group = "what")]
    job: Option<String>,
    /// Explain the jobs of this user.
    #[arg(long, value_name = "NAME", group = "what")]
    user: Option<String>,
    /// Explain the jobs of this queue or pool.
    #[arg(long, value_name = "NAME", group = "what")]
    queue: Option<String>,
    /// Show the N jobs that waited longest and the N that delayed others most.
    #[arg(long, value_name = "N", group = "what")]
    top: Option<usize>,
    #[command(flatten)]
    window: WindowArgs,
    #[command(flatten)]
    format: FormatArgs,
}

/// The output of `--json`: an explanation or a list, and what of the time it is about.
#[derive(Debug, Serialize)]
struct Answer<'a, T: Serialize> {
    #[serde(flatten)]
    found: &'a T,
    /// The window of the submissions; null if it is all of the time.
    window: Option<Within>,
    /// The times of the job as a clock shows them; null if it is about several jobs, or the trace has no dates.
    by_the_clock: Option<ByTheClock>,
    /// What to change, where the data show it.
    advice: &'a [Advice],
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let spinner = spinner("explain");
    let mut validity = Origin::of(&args.run)?.validity();
    if let Some(beside_log) = BesideLog::of_runs(&[&args.run])? {
        validity.add(beside_log.fact());
    }
    let mut why = Why::open(&args.run)?;
    let (covered, zone) = (why.covered(), args.window.zone());
    let looked = args.window.span(covered)?.map(|span| Looked { span, covered, zone });
    if let Some(looked) = looked {
        if args.job.is_some() {
            return Err(Failure::request(
                "--job explains one job, at whatever time it was submitted; leave the window out",
            ));
        }
        why.narrow(looked.span, zone)?;
    }
    let (window, within) =
        (looked.map(Looked::within), looked.map_or_else(String::new, |looked| format!(", {}", looked.in_words())));
    if let Some(most) = args.top {
        let top = why.top(most);
        let advice = advice(args, &why, looked, |_| true)?;
        spinner.finish_and_clear();
        let reported = Answer { found: &top, window, by_the_clock: None, advice: &advice };
        let rows = top.csv_rows();
        let words = || in_tables(&top, &within) + &advised(&advice) + &graded(&validity);
        return args.format.print(&Graded::of(&reported, &validity), &rows, words);
    }
    let explanation = explanation(args, &why)?;
    let advice = advice(args, &why, looked, |advice| concerns(advice, &explanation.about))?;
    spinner.finish_and_clear();
    let times = match explanation.about {
        About::Job { submit, start, finish, .. } => ByTheClock::of(why.clock(), zone, [submit, start, finish]),
        About::User(_) | About::Queue(_) | About::All => None,
    };
    let (by_the_clock, times) = times.unzip();
    let reported = Answer { found: &explanation, window, by_the_clock, advice: &advice };
    let within = times.map_or(within, |times| format!(": {times}"));
    let words = || in_words(&explanation, &within) + &advised(&advice) + &graded(&validity);
    args.format.print(&Graded::of(&reported, &validity), &explanation.csv_rows(), words)
}

/// The advice that the run shows, as far as it is wanted. In a window, it is about the jobs of the window.
fn advice(
    args: &Args,
    why: &Why,
    looked: Option<Looked>,
    wanted: impl Fn(&Advice) -> bool,
) -> Result<Vec<Advice>, Failure> {
    let mut run = Run::open(&args.run)?;
    if let Some(Looked { span, zone, .. }) = looked {
        run.narrow(span, zone)?;
    }
    Ok(advise(&run, why).into_iter().filter(wanted).collect())
}

/// Whether a piece of advice concerns what is explained. One about a node concerns everybody but a single job.
fn concerns(advice: &Advice, about: &About) -> bool {
    let is_of_all = advice.job_id.is_none();
    match about {
        About::Job { job_id, .. } => advice.job_id.as_ref() == Some(job_id),
        About::User(user) => is_of_all || advice.user.as_ref() == Some(user),
        About::Queue(queue) => is_of_all || advice.queue.as_ref() == Some(queue),
        About::All => true,
    }
}

/// The advice in words.
fn advised(advice: &[Advice]) -> String {
    let lines: String = advice.iter().map(|advice| format!("  {}: {}\n", advice.rule, advice.in_words())).collect();
    if lines.is_empty() { lines } else { format!("\nWhat the data suggest:\n{lines}") }
}

fn explanation(args: &Args, why: &Why) -> Result<Explanation, Failure> {
    let unknown = |what: &str, wanted: &str, known: &mut dyn Iterator<Item = &str>| {
        let hint = nearest(wanted, known);
        Failure::request(format!("{}: expected {what} of the run, found `{wanted}`{hint}", args.run.display()))
    };
    if let Some(id) = &args.job {
        let row = why.job_of_id(id);
        let ids = &mut why.jobs.iter().map(|job| job.job_id.as_str());
        return row.map(|row| why.explain_job(row)).ok_or_else(|| unknown("the id of a job", id, ids));
    }
    if let Some(user) = &args.user {
        let users = &mut why.jobs.iter().filter_map(|job| job.user.as_deref());
        return why.explain_user(user).ok_or_else(|| unknown("a user", user, users));
    }
    if let Some(queue) = &args.queue {
        let queues = &mut why.jobs.iter().filter_map(|job| job.queue.as_deref());
        return why.explain_queue(queue).ok_or_else(|| unknown("a queue", queue, queues));
    }
    Ok(why.explain_all())
}

/// The explanation as sentences and tables.
fn in_words(explanation: &Explanation, within: &str) -> Text {
    let mut text = Text::from(format!("{} under {}{within}\n", explanation.title(), explanation.run));
    text += &explanation.sentences.iter().map(|sentence| format!("  {sentence}\n")).collect::<String>();
    let system = explanation.system;
    // All tables have one unit, so that you can compare their times at a glance.
    let unit = TimeUnit::of(explanation.phases.iter().map(|phase| phase.ms as f64));
    if matches!(explanation.about, About::Job { .. }) {
        text += time_line(explanation, unit);
    }
    text += phases(&explanation.phases, system, unit);
    if !explanation.blame.is_empty() {
        let about = match &explanation.about {
            About::Job { job_id, .. } => Some(job_id.as_str()),
            About::User(_) | About::Queue(_) | About::All => None,
        };
        text += blame(&explanation.blame, about, system, unit);
        text += blamed("by user", &explanation.users, unit);
        text += blamed(system.says("by queue"), &explanation.queues, unit);
    }
    if explanation.left_out > 0 {
        text += &format!("\nleft out: {} without a known completion time\n", of_jobs(explanation.left_out));
    }
    text
}

/// The most causes of waits that are shown; JSON and CSV have all.
const MOST_BLAMED: usize = 10;

fn time(unit: TimeUnit, ms: i64) -> String {
    unit.number(ms as f64)
}

fn text(text: Option<&str>) -> String {
    text.unwrap_or(UNKNOWN).to_owned()
}

/// A phase in words, with whether other tasks ran meanwhile.
fn phase_in_words(phase: Phase, while_running: bool, system: System) -> String {
    let meanwhile = if while_running { ", while other tasks ran" } else { "" };
    format!("{}{meanwhile}", phase.in_words(system))
}

fn time_line(explanation: &Explanation, unit: TimeUnit) -> Text {
    let begin = explanation.timeline.first().map_or(0, |row| row.from);
    let row = |row: &TimelineRow| {
        let phase = phase_in_words(row.phase, row.while_running, explanation.system);
        vec![time(unit, row.from - begin), time(unit, row.to - row.from), phase]
    };
    let [after, lasts] = ["after", "for"].map(|heading| of_unit(heading, unit));
    shortened(&[&after, &lasts, "phase"], explanation.timeline.iter().map(row).collect(), 0..2)
}

fn phases(phases: &[PhaseTime], system: System, unit: TimeUnit) -> Text {
    // Only some policies report reasons, and only if they are kept.
    let has_reasons = phases.iter().any(|phase| phase.reason != Reason::None);
    let reason = |phase: &PhaseTime| has_reasons.then(|| phase.reason.to_string());
    let row = |spent: &PhaseTime| {
        let phase = phase_in_words(spent.phase, spent.while_running, system);
        let share = format!("{:.1} %", 100.0 * spent.share);
        std::iter::once(phase).chain(reason(spent)).chain([time(unit, spent.ms), share]).collect()
    };
    let of_unit = of_unit("time", unit);
    let heading: Vec<&str> =
        std::iter::once("phase").chain(has_reasons.then_some("reason")).chain([of_unit.as_str(), "share"]).collect();
    let times = heading.len() - 2..heading.len();
    shortened(&heading, phases.iter().map(row).collect(), times)
}

/// Who held what was waited for. `about` is the job that is explained, if it is one.
fn blame(blame: &[BlameRow], about: Option<&str>, system: System, unit: TimeUnit) -> Text {
    let all = blame.iter().map(|row| row.ms).sum::<i64>().max(1);
    let row = |row: &BlameRow| {
        let holder = match row.job_id.as_deref() {
            Some(job) if Some(job) == about => "its own tasks",
            Some(job) => job,
            None => holder_in_words(row.holder),
        };
        vec![
            holder.to_owned(),
            text(row.user.as_deref()),
            text(row.queue.as_deref()),
            phase_in_words(row.phase, row.while_running, system),
            time(unit, row.ms),
            format!("{:.1} %", 100.0 * row.ms as f64 / all as f64),
        ]
    };
    let caused = of_unit("wait caused", unit);
    let heading = ["to blame", "user", system.says("queue"), "phase", &caused, "of all waits"];
    let more = match blame.len().saturating_sub(MOST_BLAMED) {
        0 => String::new(),
        more => format!("{} more rows; `--json` and `--csv` print all\n", count(more as u64)),
    };
    Text::from("\n") + table(&heading, blame.iter().take(MOST_BLAMED).map(row).collect(), 4..6) + more
}

/// A holder that is no job.
fn holder_in_words(holder: &'static str) -> &'static str {
    if holder == Holder::Idle::<()>.name() {
        "nobody: it was free"
    } else if holder == Holder::Rule::<()>.name() {
        "a rule or limit"
    } else {
        holder
    }
}

fn blamed(what: &str, blamed: &[Blamed], unit: TimeUnit) -> Text {
    // A job of one task never waits while it runs.
    let columns = if blamed.iter().any(|blamed| blamed.while_running_ms > 0) { 3 } else { 2 };
    let row = |blamed: &Blamed| {
        let is_job = blamed.holder == Holder::Job(()).name();
        let name = if is_job { text(blamed.name.as_deref()) } else { holder_in_words(blamed.holder).to_owned() };
        let cells = [name, time(unit, blamed.waited_ms), time(unit, blamed.while_running_ms)];
        cells.into_iter().take(columns).collect()
    };
    let [waited, running] = ["waited", "while running"].map(|heading| of_unit(heading, unit));
    let heading: Vec<&str> = [what, &waited, &running].into_iter().take(columns).collect();
    shortened(&heading, blamed.iter().map(row).collect(), 1..columns)
}

fn in_tables(top: &Top, within: &str) -> Text {
    let waits = top.waited.iter().map(|job| job.waited_ms as f64);
    let unit = TimeUnit::of(waits.chain(top.made_wait.iter().map(|job| job.waited_ms as f64)));
    let (first, second) = (waited(&top.waited, top.system, unit), made_wait(&top.made_wait, top.system, unit));
    let known = if top.has_reasons { String::new() } else { format!("\n{WITHOUT_REASONS}\n") };
    Text::from(format!("{} under {}{within}\n\n", of_jobs(top.jobs), top.run)) + first + "\n" + second + known
}

fn waited(rows: &[Waited], system: System, unit: TimeUnit) -> Text {
    let times: [fn(&Waited) -> i64; 3] = [|row| row.completion_ms, |row| row.waited_ms, |row| row.while_running_ms];
    let row = |waited: &Waited| {
        let mut cells = vec![waited.job_id.clone(), text(waited.user.as_deref()), text(waited.queue.as_deref())];
        cells.extend(times.iter().map(|of| time(unit, of(waited))));
        cells.push(waited.phase.map_or(UNKNOWN, |phase| phase.in_words(system)).to_owned());
        cells
    };
    let [completion, waits, running] = ["completion", "waited", "while running"].map(|heading| of_unit(heading, unit));
    let heading = ["waited longest", "user", system.says("queue"), &completion, &waits, &running, "mostly"];
    table(&heading, rows.iter().map(row).collect(), 3..6)
}

fn made_wait(rows: &[Culprit], system: System, unit: TimeUnit) -> Text {
    let times: [fn(&Culprit) -> i64; 2] = [|row| row.waited_ms, |row| row.while_running_ms];
    let row = |culprit: &Culprit| {
        let mut cells = vec![culprit.job_id.clone(), text(culprit.user.as_deref()), text(culprit.queue.as_deref())];
        cells.extend(times.iter().map(|of| time(unit, of(culprit))));
        cells
    };
    let [waits, running] = ["waited", "while running"].map(|heading| of_unit(heading, unit));
    let heading = ["delayed others most", "user", system.says("queue"), &waits, &running];
    table(&heading, rows.iter().map(row).collect(), 3..5)
}
