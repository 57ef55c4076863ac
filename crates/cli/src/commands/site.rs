//! `resched site show`: what the configuration of a site means, and how it fits a trace.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Subcommand;
use resched_policies::{Finding, Input, PolicySpec, SettingOrigin, Site, SiteConf, in_words};
use resched_replay::{ClusterConfig, Source, unknown_hosts};
use resched_tables::validity::Fact;
use resched_tables::words::counted;
use serde::Serialize;

use super::replay::policies;
use crate::failure::Failure;
use crate::format::FormatArgs;

/// Show what the configuration of a site means, and check it against a trace.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  resched site show /etc/hadoop/conf\n  resched site show /etc/hadoop/conf --trace T --policy capacity"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Print the settings of a site as TOML, each with its property and file. With --trace, also print the queues, pools and users of
    /// the trace without a rule, and the rules without a job.
    Show {
        /// The folder with the configuration (mapred-site.xml, fair-scheduler.xml, slurm.conf, …).
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// The trace, or the workload file, to check it against.
        #[arg(long, value_name = "TRACE|WORKLOAD.toml")]
        trace: Option<PathBuf>,
        /// A policy to check. Repeat the option for more [default: the policies that read these files].
        #[arg(long = "policy", value_name = "POLICY", requires = "trace")]
        policies: Vec<String>,
        #[command(flatten)]
        format: FormatArgs,
    },
}

/// A value of the site.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    /// The policy whose parameter it is; null for the cluster.
    policy: Option<&'a str>,
    key: &'a str,
    #[serde(flatten)]
    origin: &'a SettingOrigin,
}

/// The output of `--json`.
#[derive(Debug, Serialize)]
struct Shown<'a> {
    files: &'a BTreeMap<String, String>,
    /// The whole configuration, as the TOML has it.
    settings: toml::Table,
    /// Where its values come from.
    origins: Vec<Answer<'a>>,
    warnings: &'a [String],
    /// How many settings concern something else than schedules, by topic.
    beside: &'a BTreeMap<&'static str, usize>,
    /// The findings about each policy; null without a trace.
    findings: Option<BTreeMap<String, Vec<Finding>>>,
    /// What has no effect on each policy, and what the cluster lacks, as every answer says it; null without a trace.
    facts: Option<BTreeMap<String, Vec<Fact>>>,
}

/// What the check against a trace found, by policy.
#[derive(Debug, Default)]
struct Checked {
    findings: BTreeMap<String, Vec<Finding>>,
    facts: BTreeMap<String, Vec<Fact>>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let Verb::Show { dir, trace, policies: named, format } = &args.verb;
    let conf = SiteConf::read(dir)?;
    let text = conf.explain()?;
    let mut checked = None;
    if let Some(trace) = trace {
        let source = Source::open(trace)?;
        let asked = if named.is_empty() { usual(&conf.site) } else { named.clone() };
        let jobs = source.submitters()?;
        let site = Arc::new(conf.site.clone().with_log_version(source.scheduler_version()));
        let present = Input::of_site(&site, &jobs);
        let cluster = ClusterConfig::of_settings(conf.cluster.clone())?;
        let hosts: Vec<Fact> = unknown_hosts(&cluster, &source)?.into_iter().collect();
        let mut found = Checked::default();
        for policy in policies(&asked, source.engine())? {
            let policy: PolicySpec = policy.at_site(&site)?;
            found.findings.insert(policy.label(), policy.findings(&jobs)?);
            let facts = policy.without_effect(&present)?.into_iter().chain(hosts.iter().cloned()).collect();
            found.facts.insert(policy.label(), facts);
        }
        checked = Some(found);
    }
    let settings = text.parse().map_err(|error: toml::de::Error| Failure::work(error.to_string()))?;
    let origin = |(&(policy, key), origin)| Answer { policy, key, origin };
    let origins: Vec<Answer<'_>> = conf.origins.iter().map(origin).collect();
    let (findings, facts) = checked.map(|Checked { findings, facts }| (findings, facts)).unzip();
    let (files, warnings, beside) = (&conf.files, &conf.warnings, &conf.beside);
    let shown = Shown { files, settings, origins, warnings, beside, findings, facts };
    format.print(&shown, &shown.origins, || {
        text + &comments("Without effect:", warnings)
            + &comments("Not about schedules:", &in_numbers(beside))
            + &as_text(shown.findings.as_ref())
            + &facts_as_text(shown.facts.as_ref())
    })
}

/// How many settings concern each topic, a line each.
fn in_numbers(beside: &BTreeMap<&'static str, usize>) -> Vec<String> {
    let line = |(topic, number): (&&str, &usize)| format!("{}: {topic}", counted(*number as u64, "setting"));
    beside.iter().map(line).collect()
}

/// The policies that the files of a site are for.
fn usual(site: &Site) -> Vec<String> {
    let files = [
        ("fair", site.pools.is_some()),
        ("yarn-fair", site.yarn_fair.is_some()),
        ("capacity", site.mapred_queues.is_some()),
        ("yarn-capacity", site.yarn_queues.is_some()),
        ("slurm", site.slurm.is_some()),
        ("kueue", site.kubernetes.is_some()),
    ];
    files.into_iter().filter(|(_, set)| *set).map(|(name, _)| name.to_owned()).collect()
}

/// The findings as comments of the TOML.
fn as_text(checked: Option<&BTreeMap<String, Vec<Finding>>>) -> String {
    let Some(findings) = checked else { return String::new() };
    if findings.is_empty() {
        return comments("The files have no queues or pools to check; name a policy with --policy", &[String::new()]);
    }
    let lines = findings.iter().flat_map(|(policy, found)| {
        if found.is_empty() {
            vec![format!("{policy}: every job has a rule, and every rule has a job")]
        } else {
            in_words(policy, found)
        }
    });
    comments("Against the trace:", &lines.collect::<Vec<_>>())
}

/// The facts of answers as comments of the TOML, each once.
fn facts_as_text(checked: Option<&BTreeMap<String, Vec<Fact>>>) -> String {
    let mut lines: Vec<String> = Vec::new();
    for Fact { says, remedy, .. } in checked.into_iter().flat_map(BTreeMap::values).flatten() {
        let line = format!("{says} {remedy}");
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    comments("Every answer then rests on these assumptions:", &lines)
}

fn comments(heading: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.iter().filter(|line| !line.is_empty()).map(|line| format!("#   {line}\n")).collect();
    format!("\n# {heading}\n{lines}")
}
