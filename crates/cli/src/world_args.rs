//! The options that describe the world of a replay: machines, site and seed. They mean the same in every command.
//!
//! ```text
//! defaults ◀ --site-conf ◀ --cluster ◀ --nodes, --slots, --cores, --memory      (the right one wins)
//! ```

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use bytesize::ByteSize;
use resched_policies::{SiteConf, in_words};
use resched_replay::{Engine, ReadyPolicy, RunSite, Setup, Source, Unfinished};
use resched_sim::ClusterConfig;
use resched_sim::cluster_file::keys_of;
use resched_sweep::{SweepFile, site_warnings};

use crate::failure::Failure;
use crate::output::print_message;
use crate::validation_file::Validation;
use crate::window_args::{EndArgs, WindowArg};

/// A limit on `--nodes`; a larger number is a slip.
const MOST_NODES: i64 = 1_000_000;

/// The world of a replay.
#[derive(Debug, clap::Args)]
pub(crate) struct WorldArgs {
    /// The cluster file (TOML); `resched calibrate` writes one [default: the trace's own machines].
    #[arg(long, value_name = "CLUSTER.toml")]
    cluster: Option<PathBuf>,
    /// A folder with the configuration of your site: Hadoop's (mapred-site.xml, fair-scheduler.xml, …), Spark's
    /// (spark-defaults.conf, fairscheduler.xml) or Slurm's (slurm.conf, qos.txt, …). Its settings replace the defaults. --policy,
    /// --cluster and the options below take precedence over them.
    #[arg(long, value_name = "DIR")]
    site_conf: Option<PathBuf>,
    /// The number of machines. The machines of the trace or of the cluster file are cut or cloned to this number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST_NODES))]
    nodes: Option<u32>,
    /// The map slots and reduce slots of every Hadoop machine, for example 2+2. They replace those of the trace.
    #[arg(long, value_name = "MAPS+REDUCES")]
    slots: Option<Slots>,
    /// The cores of a machine under the policies for production traces. With --nodes, they apply to all machines; otherwise, to
    /// machines without a size in the trace. If the trace gives sizes as shares, like Google's, the largest machine has 1000.
    #[arg(long, value_name = "C")]
    cores: Option<f64>,
    /// The memory of such a machine: bytes, or a number with a unit such as 64GiB or 64GB. If the trace gives sizes as shares, the
    /// largest machine has 1TB.
    #[arg(long, value_name = "BYTES", requires = "cores")]
    memory: Option<ByteSize>,
    /// Use defaults for missing slots and machine sizes. Without it, missing values are an error.
    #[arg(long)]
    assume: bool,
    /// How to treat work that is unfinished when the trace ends: `drop` lets it hold its place until then and leaves its jobs out of
    /// all metrics. `cap` counts it as done after its observed time. `estimate` draws the rest from the Kaplan–Meier estimate of its
    /// class.
    #[arg(long, value_name = "drop|cap|estimate", default_value = "drop")]
    unfinished: Unfinished,
    #[command(flatten)]
    pub(crate) window: WindowArg,
    /// The model error of this trace, as `resched validate --json` prints it. Every answer then shows this error.
    #[arg(long, value_name = "VALIDATION.json")]
    validation: Option<PathBuf>,
    /// The seed of all random draws.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

/// The slots of a machine, written `MAPS+REDUCES`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slots {
    maps: u32,
    reduces: u32,
}

impl FromStr for Slots {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let slots = text.split_once('+').and_then(|(maps, reduces)| {
            Some(Self { maps: maps.trim().parse().ok()?, reduces: reduces.trim().parse().ok()? })
        });
        slots.ok_or_else(|| "expected map slots + reduce slots, for example 2+2".to_owned())
    }
}

/// The machines and the site of a world in which no replay is measured.
#[derive(Debug, clap::Args)]
pub(crate) struct MachineArgs {
    /// The cluster file (TOML) [default: the machines of the site, else those of the trace].
    #[arg(long, value_name = "CLUSTER.toml")]
    cluster: Option<PathBuf>,
    /// A folder with the configuration of your site, such as slurm.conf. Its settings replace the defaults. --policy and --cluster take
    /// precedence over them.
    #[arg(long, value_name = "DIR")]
    site_conf: Option<PathBuf>,
    /// The seed of all random draws.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

impl MachineArgs {
    /// Opens the source at `path`, and makes the setup of its world. Prints the warnings about the site.
    pub(crate) fn open(&self, path: &Path) -> Result<(Source, Setup), Failure> {
        let args = WorldArgs {
            cluster: self.cluster.clone(),
            site_conf: self.site_conf.clone(),
            nodes: None,
            slots: None,
            cores: None,
            memory: None,
            assume: false,
            unfinished: Unfinished::default(),
            window: WindowArg::default(),
            validation: None,
            seed: self.seed,
        };
        args.open(path)
    }
}

/// The option `--site-conf` of commands whose worlds a file describes.
#[derive(Debug, clap::Args)]
pub(crate) struct SiteArg {
    /// A folder with the configuration of your site, in place of the `site` that the file names.
    #[arg(long, value_name = "DIR")]
    site_conf: Option<PathBuf>,
}

impl SiteArg {
    /// Reads a sweep file for this site. Prints the warnings about the site.
    pub(crate) fn read(&self, path: &Path) -> Result<SweepFile, Failure> {
        let file = SweepFile::read(path)?.at_site(self.site_conf.clone());
        warn(&site_warnings(&file)?);
        Ok(file)
    }
}

/// Warns about queues and pools of these policies, or of their site, that do not fit the jobs of their world.
pub(crate) fn warn_of_rules(policies: &[ReadyPolicy]) {
    let mut lines = Vec::new();
    for policy in policies {
        for line in in_words(&policy.spec().name(), policy.findings()) {
            // Policies that differ in a parameter mostly have the same findings.
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    warn(&lines);
}

/// Prints warnings, one line each.
pub(crate) fn warn(warnings: &[String]) {
    for warning in warnings {
        print_message(&format!("warning: {warning}"));
    }
}

impl WorldArgs {
    /// Opens the source at `path`, and makes the setup of its world. Prints the warnings about the site.
    pub(crate) fn open(&self, path: &Path) -> Result<(Source, Setup), Failure> {
        self.open_within(path, &EndArgs::default())
    }

    /// As [`WorldArgs::open`], with the ends of a window that were given by themselves.
    pub(crate) fn open_within(&self, path: &Path, ends: &EndArgs) -> Result<(Source, Setup), Failure> {
        let source = Source::open(path)?;
        let site = self.site_conf.as_deref().map(SiteConf::read).transpose()?.unwrap_or_default();
        let SiteConf { site, cluster, files, warnings, .. } = site;
        let (mut cluster, given) = match &self.cluster {
            Some(path) => ClusterConfig::read_given(&cluster, path)?,
            None => {
                let given = keys_of(&cluster);
                (ClusterConfig::of_settings(cluster)?, given)
            }
        };
        warn(&warnings);
        self.set(&mut cluster, source.engine())?;
        let source = match self.nodes {
            Some(nodes) => source.resized(&mut cluster, nodes)?,
            None => source,
        };
        let validation = self.validation.as_deref().map(|path| self.validated(path, &source)).transpose()?;
        let site_files = self.site_conf.is_some().then_some(RunSite { files, warnings });
        let known = validation.as_ref().map(|file| file.in_facts(&cluster)).unwrap_or_default();
        let setup = Setup {
            cluster,
            given,
            site: Arc::new(site),
            site_files,
            seed: self.seed,
            unfinished: self.unfinished,
            window: self.window.of_source(ends, &source)?,
            assume: self.assume,
            known,
            validation: validation.map(|file| file.best),
            ..Setup::default()
        };
        Ok((source, setup))
    }

    /// The validation of this trace.
    fn validated(&self, path: &Path, source: &Source) -> Result<Validation, Failure> {
        let validation = Validation::read(path)?;
        let Some(sha256) = source.trace_fingerprint()? else {
            return Err(Failure::request(format!(
                "--validation: expected a trace of a real cluster, found {}, which has no validation; leave --validation out",
                source.name()
            )));
        };
        validation.check_trace(source.name(), &sha256)?;
        Ok(validation)
    }

    /// Sets the sizes of machines that the options give.
    fn set(&self, cluster: &mut ClusterConfig, engine: Engine) -> Result<(), Failure> {
        if let Some(Slots { maps, reduces }) = self.slots {
            if engine == Engine::Batch {
                let problem = "--slots: a production trace has no slots; give --nodes and --cores";
                return Err(Failure::request(problem));
            }
            (cluster.nodes.map_slots, cluster.nodes.reduce_slots) = (Some(maps), Some(reduces));
            cluster.nodes.alike = true;
            cluster.is_given("nodes.map_slots");
            cluster.is_given("nodes.reduce_slots");
        }
        if let Some(cores) = self.cores {
            cluster.machines.cores = Some(cores);
            cluster.machines.count = self.nodes.or(cluster.machines.count);
            cluster.machines.named.clear();
        }
        cluster.machines.memory = self.memory.map(|memory| memory.as_u64()).or(cluster.machines.memory);
        Ok(cluster.check()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each option of a world can leave without effect, and where that is said.
    const BEARS: [(&str, &str); 12] = [
        ("cluster", "keys of the file: `resched_replay::is_read_by`"),
        ("site_conf", "settings and rules: `resched_policies::{Unread, Input}`"),
        ("nodes", "both engines read it"),
        ("slots", "refused for production traces; a key of the cluster file otherwise"),
        ("cores", "a key of the cluster file"),
        ("memory", "a key of the cluster file"),
        ("assume", "facts about slots and sizes"),
        ("unfinished", "the fact about unfinished work"),
        ("window", "the population of each metric"),
        ("validation", "refused for another trace; a fact otherwise"),
        ("seed", "draws"),
        ("timezone", "how times are written and read"),
    ];

    /// By construction: whoever adds an option says where its answers say that it has no effect.
    #[test]
    fn each_option_of_a_world_is_accounted_for() {
        use clap::Args as _;
        let command = WorldArgs::augment_args(clap::Command::new("x"));
        let options: Vec<&str> = command.get_arguments().map(|argument| argument.get_id().as_str()).collect();
        let known = |id: &&str| BEARS.iter().any(|(name, _)| name == id);
        let unknown: Vec<&&str> = options.iter().filter(|id| !known(id)).collect();
        assert!(unknown.is_empty(), "say in BEARS where {unknown:?} are reported if they have no effect");
    }

    #[test]
    fn slots_are_two_numbers() {
        assert_eq!("2+2".parse(), Ok(Slots { maps: 2, reduces: 2 }));
        assert_eq!("16 + 0".parse(), Ok(Slots { maps: 16, reduces: 0 }));
        for wrong in ["2", "2+", "+2", "2+2+2", "-1+2", "a+b", ""] {
            assert!(wrong.parse::<Slots>().is_err(), "{wrong}");
        }
    }
}
