//! `resched calibrate`: fits a cluster file to the attempts of a trace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use resched_analysis::calibration::{
    Calibration, Fitted, LEAST_STAGES, Machines, Maker, Offer, Slots, StageFactors, calibrate, cluster_file,
};
use resched_policies::SiteConf;
use resched_sim::ClusterConfig;
use resched_tables::run;
use resched_tables::store::{StagedFile, Trace, sha256};
use resched_tables::whole;
use resched_tables::words::counted;
use serde::Serialize;

use super::known::{Known, known, with_known};
use crate::failure::Failure;
use crate::format::{FormatArgs, values_of};
use crate::grade::{Graded, graded};
use crate::out::ForceArg;
use crate::output::{Text, count, table};
use crate::world_args::warn;

/// Fit slots, heartbeats, locality factors and rates from the attempts of a trace, and write them as a cluster file.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  resched calibrate T --out C.toml\n  resched calibrate T --out C.toml --site-conf /etc/hadoop/conf"
)]
pub(crate) struct Args {
    /// A trace with observed attempts, or a run of `replay`.
    trace: PathBuf,
    /// The cluster file (TOML) to write, for `replay --cluster`. An earlier, unchanged result of `calibrate` is replaced.
    #[arg(long, value_name = "CLUSTER.toml")]
    out: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    /// A folder with the configuration of your site. Its settings of the cluster are used as they are, and not fitted.
    #[arg(long, value_name = "DIR")]
    site_conf: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArgs,
}

#[derive(Debug, Serialize)]
struct Answer<'a> {
    trace: &'a str,
    sha256: &'a str,
    /// The settings that the site knows, by their keys in the cluster file.
    known: BTreeMap<&'a str, &'a toml::Value>,
    #[serde(flatten)]
    calibration: &'a Calibration,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut out = args.force.file(&args.out);
    out.force |= is_unchanged(&args.out);
    let mut file = StagedFile::create(out)?;
    let sha256 = fingerprint(&args.trace)?;
    let site = args.site_conf.as_deref().map(SiteConf::read).transpose()?.unwrap_or_default();
    warn(&site.warnings);
    let known = known(&site);
    let found = calibrate(&args.trace)?;
    let version = concat!("resched ", env!("CARGO_PKG_VERSION")).to_owned();
    let maker = Maker { version, path: args.trace.display().to_string(), sha256 };
    let text = with_known(&cluster_file(&found, &maker), &known);
    let fitted = ClusterConfig::parse(&text).map_err(|error| {
        Failure::work(format!(
            "{}: the fitted cluster file is not valid ({error}); please report this",
            args.out.display()
        ))
    })?;
    if (ClusterConfig { description: String::new(), ..fitted }) == ClusterConfig::default() {
        return Err(nothing_fitted(args, &found));
    }
    file.write_all(sealed(&text).as_bytes())?;
    file.commit()?;
    let validity = found.validity();
    let reported =
        || in_words(&found) + known_in_words(&known) + &graded(&validity) + &format!("\n{}\n", args.out.display());
    let settings = known.iter().map(|setting| (setting.key, setting.value)).collect();
    let value = Answer { trace: &maker.path, sha256: &maker.sha256, known: settings, calibration: &found };
    args.format.print(&Graded::of(&value, &validity), &values_of(&value)?, reported)
}

/// The failure of a fit that has found no value of a cluster file.
fn nothing_fitted(args: &Args, found: &Calibration) -> Failure {
    let Machines { cpu, memory } = found.machines;
    let cores = cpu.at_least.map(|load| format!("at least {:.3} cores", load / 1_000.0));
    let bytes = memory.at_least.map(|load| format!("at least {load:.0} bytes of memory"));
    let bounds: Vec<String> = [cores, bytes].into_iter().flatten().collect();
    let bounds = match bounds.is_empty() {
        true => String::new(),
        false => format!(" Its machines offer {}, but were never full.", bounds.join(" and ")),
    };
    let few = found.spark.filter(|factors| factors.factors[1].value.is_none()).map_or_else(String::new, |factors| {
        let stages = factors.stages[1];
        format!(
            " Too few tasks ran away from their preferred hosts to fit the cost of distance: {} in {}; at least {LEAST_STAGES} stages with \
             tasks at both levels are needed.",
            counted(factors.factors[1].n, "task"),
            counted(stages, "stage")
        )
    });
    let why = "the trace does not determine any value of a cluster file, so no file is written";
    let remedy = match found.spark {
        Some(_) => "write the factors as `locality` in `[cost]` of a cluster file, or fit a longer log",
        None => "fit a trace of job histories, or write the sizes of your machines into a cluster file",
    };
    Failure::request(format!("{}: {why}.{bounds}{few} Instead, {remedy}", args.trace.display()))
}

/// What the last line of a file that `calibrate` wrote begins with. The hash of the lines above follows.
const SEAL: &str = "# As fitted. SHA-256 of the lines above: ";

fn sealed(text: &str) -> String {
    format!("{text}{SEAL}{}\n", sha256(text.as_bytes()))
}

/// Whether `calibrate` wrote the file, and nobody has changed it since.
fn is_unchanged(path: &Path) -> bool {
    let text = whole::text(path).unwrap_or_default();
    text.rfind(SEAL).and_then(|end| text.get(..end)).is_some_and(|fitted| sealed(fitted) == text)
}

/// The SHA-256 that identifies the trace or run.
fn fingerprint(dir: &Path) -> Result<String, Failure> {
    let marker = dir.join(run::MARKER);
    if !marker.is_file() {
        return Ok(Trace::open(dir)?.fingerprint()?);
    }
    let bytes = whole::marker(&marker)
        .map_err(|error| Failure::work(format!("{}: cannot be read ({error})", marker.display())))?;
    Ok(sha256(&bytes))
}

/// The settings that the site knows, as a table.
fn known_in_words(known: &[Known<'_>]) -> Text {
    if known.is_empty() {
        return Text::default();
    }
    let row = |known: &Known<'_>| vec![known.key.to_owned(), known.value.to_string(), known.place()];
    Text::from("\n")
        + table(&["known from the site, not fitted", "value", "from"], known.iter().map(row).collect(), 1..2)
}

fn in_words(found: &Calibration) -> Text {
    if let Some(factors) = found.spark {
        return table(&["what", "estimate", "95 % interval", "from"], spark_rows(factors), 1..3);
    }
    let slots = |what: &str, slots: Slots| {
        let most = slots.most.map_or_else(|| NOT.to_owned(), |most| most.to_string());
        let reached = format!("{} of {} nodes", count(slots.reached), count(slots.nodes));
        let error = slots.standard_error.map_or_else(|| "-".to_owned(), |error| format!("{error:.2}"));
        vec![what.to_owned(), most, error, reached]
    };
    let ms = |value: f64| format!("{value:.0} ms");
    let factor = |value: f64| format!("{value:.3}");
    let rate = |value: f64| format!("{:.4} MB/s", value / 1e6);
    let shuffle = if found.shuffle_rate.from_late_reduces { "late reduces" } else { "early reduces" };
    let [rack, off] = found.locality;
    let mut rows = vec![
        slots("map slots of a node", found.map_slots),
        slots("reduce slots of a node", found.reduce_slots),
        row("heartbeat interval", found.heartbeat.interval, &ms, "gaps or reports"),
        row("launch overhead", found.heartbeat.launch_overhead, &ms, "maps or gaps"),
        row("initialisation of a job", found.edges.init, &ms, "jobs"),
        row("set-up task", found.edges.setup, &ms, "jobs"),
        row("clean-up task", found.edges.cleanup, &ms, "jobs"),
        row("locality wait of a delay scheduler, at most", found.locality_wait, &ms, "maps elsewhere"),
        row("backups by task", found.speculation.share, &factor, "tasks"),
        row("age of a task when it gets a backup", found.speculation.age, &ms, "backups"),
        row("slow-start, at most", found.slowstart, &factor, "jobs"),
        row("run time of maps in the rack of their input / on its node", rack, &factor, "maps"),
        row("run time of maps elsewhere / on its node", off, &factor, "maps"),
        row("map rate", found.map_rate, &rate, "maps"),
        row("reduce rate", found.reduce_rate, &rate, "reduces"),
        row("shuffle rate of a reduce", found.shuffle_rate.rate, &rate, shuffle),
    ];
    if found.heartbeat.at_once {
        let from = "gaps or reports".to_owned();
        rows.push(vec!["nodes report at once when a task ends".to_owned(), "yes".to_owned(), "-".to_owned(), from]);
    }
    rows.extend(machine_rows(found.machines));
    let hosts = found.host_factors.iter();
    rows.extend(
        hosts.map(|(host, fitted)| row(&format!("run time on host {host:?} / elsewhere"), *fitted, &factor, "maps")),
    );
    table(&["what", "estimate", "standard error", "from"], rows, 1..4)
}

/// The sizes of machines, as far as the trace has requests.
fn machine_rows(Machines { cpu, memory }: Machines) -> Vec<Vec<String>> {
    let cores = |size: f64| format!("{:.3} cores", size / 1_000.0);
    let gib = |size: f64| format!("{:.3} GiB", size / f64::from(1 << 30));
    let both =
        [("processor of a machine", cpu, &cores as &dyn Fn(f64) -> String), ("memory of a machine", memory, &gib)];
    let row = |(what, offer, learn): (&str, Offer, &dyn Fn(f64) -> String)| {
        let size = offer.size.map_or_else(|| NOT.to_owned(), learn);
        let from = format!("{} of {} machines full", count(offer.full), count(offer.machines));
        vec![what.to_owned(), size, "-".to_owned(), from]
    };
    both.into_iter().filter(|row| row.1.machines > 0).map(row).collect()
}

/// How much longer tasks of Spark take away from the machines that they prefer.
fn spark_rows(found: StageFactors) -> Vec<Vec<String>> {
    let names = ["run time at RACK_LOCAL / at NODE_LOCAL", "run time at ANY / at NODE_LOCAL"];
    let row = |((name, fitted), stages): ((&str, Fitted), u64)| {
        let interval = fitted
            .value
            .zip(fitted.standard_error)
            .map(|(factor, error)| [-1.0, 1.0].map(|sign| factor + sign * Z * error));
        let interval = interval.map_or_else(|| "-".to_owned(), |[low, high]| format!("{low:.3} to {high:.3}"));
        let value = fitted.value.map_or_else(|| NOT.to_owned(), |factor| format!("{factor:.3}"));
        let few = if stages < LEAST_STAGES { ", too few" } else { "" };
        vec![
            name.to_owned(),
            value,
            interval,
            format!("{} tasks in {}{few}", count(fitted.n), counted(stages, "stage")),
        ]
    };
    names.into_iter().zip(found.factors).zip(found.stages).map(row).collect()
}

/// How many standard errors a 95 % interval goes to each side.
const Z: f64 = 1.96;

/// Printed instead of an estimate if there is too little data.
const NOT: &str = "not determined";

fn row(what: &str, fitted: Fitted, learn: &dyn Fn(f64) -> String, unit: &str) -> Vec<String> {
    vec![
        what.to_owned(),
        fitted.value.map_or_else(|| NOT.to_owned(), learn),
        fitted.standard_error.map_or_else(|| "-".to_owned(), learn),
        format!("{} {unit}", count(fitted.n)),
    ]
}
