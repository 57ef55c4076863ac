//! The commands, one file each.

mod anonymise;
mod calibrate;
mod completions;
mod demo;
mod diff;
mod engine;
mod explain;
mod export;
mod forecast;
pub(crate) mod gate;
mod generate;
mod groups;
pub(crate) mod ingest;
mod ingest_steps;
mod inspect;
mod known;
mod man;
mod new_policy;
mod policies;
mod replay;
mod report;
#[cfg(feature = "papers")]
mod reproduce;
#[cfg(not(feature = "papers"))]
#[path = "no_reproduce.rs"]
mod reproduce;
mod scale;
mod site;
mod size;
mod sweep;
mod tune;
mod validate;
mod verify;

use clap::Subcommand;

use crate::failure::Failure;

/// Declares the commands: the name of a variant is the name of the command, in the order of the help.
macro_rules! commands {
    ($($variant:ident($arguments:ty) => $run:path,)+) => {
        /// A command with its arguments.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command { $($variant($arguments),)+ }

        impl Command {
            /// Carries it out.
            pub(crate) fn run(&self) -> Result<(), Failure> {
                match self { $(Self::$variant(arguments) => $run(arguments),)+ }
            }
        }
    };
}

commands! {
    Ingest(ingest::Args) => ingest::run,
    IngestPlan(ingest_steps::PlanArgs) => ingest_steps::plan,
    IngestShard(ingest_steps::ShardArgs) => ingest_steps::shard,
    IngestMerge(ingest_steps::MergeArgs) => ingest_steps::merge,
    Inspect(inspect::Args) => inspect::run,
    Replay(replay::Args) => replay::run,
    Report(report::Args) => report::run,
    Explain(explain::Args) => explain::run,
    Diff(diff::Args) => diff::run,
    Gate(gate::Args) => gate::run,
    Validate(validate::Args) => validate::run,
    Forecast(Box<forecast::Args>) => forecast::run,
    Calibrate(calibrate::Args) => calibrate::run,
    Site(site::Args) => site::run,
    Reproduce(reproduce::Args) => reproduce::run,
    Sweep(Box<sweep::Args>) => sweep::run,
    Tune(tune::Args) => tune::run,
    Size(size::Args) => size::run,
    Generate(generate::Args) => generate::run,
    Export(export::Args) => export::run,
    Anonymise(anonymise::Args) => anonymise::run,
    Scale(scale::Args) => scale::run,
    Policies(policies::Args) => policies::run,
    NewPolicy(new_policy::Args) => new_policy::run,
    Verify(verify::Args) => verify::run,
    Demo(demo::Args) => demo::run,
    Completions(completions::Args) => completions::run,
    Man(man::Args) => man::run,
}
