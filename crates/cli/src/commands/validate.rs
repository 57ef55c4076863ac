//! `resched validate`: replays a trace under the scheduler that ran it, and reports the error of the replay.

mod against;
mod answer;
mod by_size;
mod guessed;

use std::path::PathBuf;

use resched_analysis::validation::Skip;
use resched_compare::validate::{Against, How, Validated, most_probable, observed, run_backfill_as_logged, validate};
use resched_replay::{World, usual_schedulers};
use resched_sim::Skipped;
use resched_tables::store::System;
use resched_tables::validity::Validity;

use self::against::AgainstArgs;
use self::answer::{Column, ROWS};
use crate::failure::Failure;
use crate::format::FormatArgs;
use crate::grade::caveats;
use crate::output::{Text, count, table};
use crate::policy_value::PolicyValue;
use crate::progress::ReplayBars;
use crate::threads::ThreadsArg;
use crate::world_args::{WorldArgs, warn_of_rules};
use crate::written::left_out;

/// A limit on `--seeds`; more replays of one trace do not show more about its draws.
const MOST_SEEDS: u64 = 1_000;

/// Replay a trace under the scheduler that ran it, and report the error.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  resched validate T --policy fifo --cluster C.toml --seeds 5\n  resched validate T --csv\n  resched validate T \
                  --policy spark --against OTHER --skip warm-up --seeds 20"
)]
pub(crate) struct Args {
    /// A trace with observed attempts.
    trace: PathBuf,
    /// The policy that ran it, written as for `replay`. Repeat the option to see which policy explains the trace best
    /// [default: the most probable of the usual schedulers].
    #[arg(long = "policy", value_name = "POLICY", value_parser = PolicyValue, hide_possible_values = true)]
    policies: Vec<String>,
    #[command(flatten)]
    world: WorldArgs,
    #[command(flatten)]
    against: AgainstArgs,
    /// The number of replays of each policy, each with the next seed. Errors are means over the replays.
    #[arg(long, default_value_t = 1, value_name = "K", value_parser = clap::value_parser!(u64).range(1..=MOST_SEEDS))]
    seeds: u64,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let assumed = args.policies.is_empty();
    let skip = Skip(args.against.skip.clone());
    let against = Against::open(&args.against.against, skip, observed(&args.trace)?)?;
    let (source, mut setup) = args.world.open(&args.trace)?;
    let backfill_ran_at = run_backfill_as_logged(&args.trace, &mut setup)?;
    let mut policies = if assumed { usual_schedulers(&source)? } else { Vec::new() };
    policies.extend(super::replay::policies(&args.policies, source.engine())?);
    let world = World::open(&source, setup)?;
    let ready = policies.iter().map(|policy| world.check(policy)).collect::<Result<Vec<_>, _>>()?;
    warn_of_rules(&ready);
    let seeds = (0..args.seeds).map(|step| args.world.seed.wrapping_add(step)).collect();
    let how = How { seeds, threads: args.threads.get(), assumed, backfill_ran_at };
    let mut reported = validate(&world, &ready, &against, &how, &ReplayBars::default())?;
    if assumed {
        reported = most_probable(reported, &args.trace)?.into_iter().collect();
    }
    args.format.print_lines(&reported, || in_words(&reported, against.truth.jobs.len(), &world.skipped()))
}

/// What a job that is not compared counts for.
const OF_ALL: &str =
    "map run times, places of maps and running tasks cover all jobs in both runs, because failed jobs also held slots";

/// The table that compares the policies, and what was left out.
fn in_words(reported: &[Validated], jobs: usize, skipped: &Skipped) -> Text {
    let noise = reported.first().and_then(Validated::noise);
    let columns: Vec<Vec<String>> =
        reported.iter().chain(&noise).map(|validated| Column(validated).cells(jobs)).collect();
    let compares = reported.iter().any(|validated| validated.against.is_some());
    let system = System::of_all(reported.iter().map(|validated| validated.system));
    let is_shown = |(_, (_, of_others)): &(usize, &(&str, bool))| compares || !of_others;
    // A row about maps says nothing where there are none.
    let is_known = |(place, _): &(usize, &(&str, bool))| {
        system.is_hadoop() || columns.iter().any(|column| column.get(*place).is_some_and(|cell| cell != "-"))
    };
    let row = |(place, (name, _)): (usize, &(&str, bool))| {
        let cells = columns.iter().map(|column| column.get(place).cloned().unwrap_or_default());
        std::iter::once(system.says(name).to_owned()).chain(cells).collect()
    };
    let heading: Vec<&str> = std::iter::once("error of the replay")
        .chain(reported.iter().chain(&noise).map(|validated| validated.label.as_str()))
        .collect();
    let mut text =
        table(&heading, ROWS.iter().enumerate().filter(is_shown).filter(is_known).map(row).collect(), 1..heading.len());
    if let Some(validated) = reported.first() {
        text += &against::in_words(validated.against.as_ref());
    }
    for (validated, at) in reported.iter().filter_map(|validated| Some((validated, validated.backfill_ran_at?))) {
        text += &format!(
            "{}: backfill ran when it ran in the log (bf_ran_at={at}); a replay draws that time, so its error may be larger.\n",
            validated.label
        );
    }
    for validated in reported {
        let by_size = by_size::in_words(validated);
        text += if reported.len() > 1 { Text::from(format!("\n{}", validated.label)) + by_size } else { by_size };
    }
    for validated in reported {
        if let Some(causes) = validated
            .replays
            .first()
            .map(|replay| &replay.validation.not_compared)
            .filter(|reasons| !reasons.is_empty())
        {
            let causes: Vec<String> = causes.iter().map(|(cause, &n)| format!("{} × {cause}", count(n))).collect();
            text += &format!("{}: not compared: {}\n", validated.label, causes.join(", "));
        }
    }
    if reported.iter().flat_map(|validated| &validated.replays).any(|replay| !replay.validation.not_compared.is_empty())
    {
        // Other systems have no numbers of the tasks of all jobs.
        let of_all = if system.asks_for_cpus() { String::new() } else { format!("; {}", system.says(OF_ALL)) };
        text += &format!("Completion times and makespans cover the jobs compared{of_all}.\n");
    }
    for validated in reported {
        if let Some(guess) = &validated.guess {
            let compared = validated.replays.first().map_or(0, |replay| replay.validation.jobs_compared);
            text += &guessed::in_words(guess, &validated.label, compared);
        }
    }
    let all = reported.iter().fold(Validity::default(), |all, validated| all.and(&validated.validity));
    text + &caveats(&all) + &left_out(skipped)
}
