//! Where a report comes from: what the runs have in common, in what they differ, and the commands that make it again.

use std::path::PathBuf;

use resched_analysis::{Origin, Run};
use resched_tables::run::{RunCluster, RunInfo, Unfinished};
use resched_tables::validity::Grade;
use resched_tables::words::count;

use crate::Options;
use crate::answer::Answer;
use crate::page::title::several;

/// A fact about some of the runs.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    /// The runs; empty for all.
    pub(crate) runs: String,
}

/// A fact about a run.
type Of = fn(&Run) -> Option<String>;

/// The facts, in the order of the page.
const FACTS: &[(&str, Of)] = &[
    ("Written by", |run| {
        Some(match &run.origin {
            Origin::Replay(info) => info.written_by.clone(),
            Origin::Observed(manifest) => manifest.written_by.clone(),
        })
    }),
    ("Trace", |run| {
        Some(match &run.origin {
            Origin::Replay(info) => info.trace.path.clone(),
            Origin::Observed(manifest) => sources(manifest.sources.iter().map(|source| &source.path)),
        })
    }),
    ("SHA-256", |run| {
        Some(match &run.origin {
            Origin::Replay(info) => info.trace.sha256.clone(),
            Origin::Observed(manifest) => sources(manifest.sources.iter().map(|source| &source.sha256)),
        })
    }),
    ("Cluster", |run| run.replay().map(|info| cluster(info.cluster))),
    ("Cost model", |run| run.replay().map(|info| info.cost_model.clone())),
    ("Reduce model", |run| run.replay().map(|info| info.reduce_model.clone())),
    ("Seed", |run| run.replay().map(|info| info.seed.to_string())),
    ("Left out", |run| Some(left_out(run))),
    ("Parameters", |run| run.replay().map(|info| pairs(&info.params))),
];

/// The facts about the runs. A fact that is the same for several runs stands once.
pub(crate) fn facts(runs: &[Run]) -> Vec<Row> {
    FACTS.iter().flat_map(|(name, of)| rows(name, runs, *of)).collect()
}

fn rows(name: &'static str, runs: &[Run], of: Of) -> Vec<Row> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for run in runs {
        let Some(value) = of(run) else { continue };
        match found.iter_mut().find(|(other, _)| *other == value) {
            Some((_, labels)) => labels.push(&run.label),
            None => found.push((value, vec![&run.label])),
        }
    }
    let row = |(value, labels): (String, Vec<&str>)| {
        let all = labels.len() == runs.len();
        Row { name, value, runs: if all { String::new() } else { labels.join(", ") } }
    };
    found.into_iter().map(row).collect()
}

fn cluster(of: RunCluster) -> String {
    let offers = match (of.memory_mb, of.vcores) {
        (Some(memory), Some(vcores)) => format!("{} MB of memory and {}", count(memory), several(vcores, "vcore")),
        (None, Some(vcores)) => several(vcores, "core"),
        (Some(memory), None) => format!("{} MB of memory", count(memory)),
        (None, None) => {
            format!("{} and {}", several(of.map_slots, "map slot"), several(of.reduce_slots, "reduce slot"))
        }
    };
    format!("{} in {}, {offers}", several(of.nodes, "node"), several(of.racks, "rack"))
}

fn left_out(run: &Run) -> String {
    let mut skipped = match &run.origin {
        Origin::Replay(info) => info.skipped.clone(),
        Origin::Observed(manifest) => manifest.skipped.clone(),
    };
    run.skipped.iter().for_each(|(cause, n)| *skipped.entry(cause.clone()).or_default() += n);
    pairs(&skipped)
}

/// The first few of the sources of a trace.
fn sources<'a>(of: impl ExactSizeIterator<Item = &'a String>) -> String {
    let n = of.len();
    let mut shown: Vec<String> = of.take(3).cloned().collect();
    if n > shown.len() {
        shown.push(format!("and {} more", n - shown.len()));
    }
    shown.join(", ")
}

/// Names with their values, as text.
pub(crate) fn pairs(of: &std::collections::BTreeMap<impl std::fmt::Display, impl std::fmt::Display>) -> String {
    let pairs: Vec<String> = of.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    if pairs.is_empty() { "none".to_owned() } else { pairs.join(", ") }
}

/// The commands that make the report again, and the cluster files that they name: (name, content).
pub(crate) struct Again {
    pub(crate) commands: String,
    /// True if a command needs the configuration of a site.
    pub(crate) site: bool,
    pub(crate) files: Vec<(String, String)>,
}

/// The commands that make the runs in `folders` and their report again.
pub(crate) fn again(answer: &Answer, folders: &[PathBuf], options: &Options) -> Again {
    let mut files: Vec<(String, String)> = Vec::new();
    let mut replays: Vec<(String, String)> = Vec::new();
    for (run, folder) in answer.runs.iter().zip(folders) {
        let Some(info) = run.replay() else { continue };
        let folder = folder.parent().unwrap_or(folder).display().to_string();
        let (start, end) = replay(info, &mut files, &folder);
        match replays.iter_mut().find(|(_, known)| *known == end) {
            Some((policies, _)) => policies.push_str(&policy(info)),
            None => replays.push((start + &policy(info), end)),
        }
    }
    let mut commands: Vec<String> = replays.into_iter().map(|(start, end)| start + &end).collect();
    commands.push(report(folders, options));
    let site = answer.runs.iter().filter_map(Run::replay).any(|info| info.site.is_some());
    Again { commands: commands.join("\n"), site, files }
}

fn policy(info: &RunInfo) -> String {
    format!(" --policy {}", word(&info.label))
}

/// A command that replays under some policies, without them: its beginning and its end.
fn replay(info: &RunInfo, files: &mut Vec<(String, String)>, folder: &str) -> (String, String) {
    let mut end = String::new();
    if let Some(file) = cluster_file(info, files) {
        end += &format!(" --cluster {file}");
    }
    // A run knows the files of the site, not their folder.
    if info.site.is_some() {
        end += " --site-conf SITE";
    }
    // What was assumed once must be allowed to be assumed again.
    let is_assumed = |about: &str| ["slots", "capacity", "sizes"].contains(&about);
    if info.validity.facts.iter().any(|fact| fact.grade > Grade::Measured && is_assumed(&fact.about)) {
        end += " --assume";
    }
    match info.unfinished {
        Unfinished::Drop => {}
        Unfinished::Cap => end += " --unfinished cap",
        Unfinished::Estimate => end += " --unfinished estimate",
    }
    if let Some(window) = info.window {
        // The option is on the clock of the trace.
        let zero = info.clock.map_or(0, |clock| clock.zero);
        end += &format!(" --window {}..{}", window.from.saturating_add(zero), window.to.saturating_add(zero));
    }
    end += &format!(" --seed {} --out {}", info.seed, word(folder));
    (format!("resched replay {}", word(&info.trace.path)), end)
}

/// The name of the cluster file with the rules of a replay, which is added to `files`. `None` if they cannot be written as one.
fn cluster_file(info: &RunInfo, files: &mut Vec<(String, String)>) -> Option<String> {
    let content = toml::to_string(&toml::Table::try_from(&info.rules).ok()?).ok()?;
    if let Some((name, _)) = files.iter().find(|(_, other)| *other == content) {
        return Some(name.clone());
    }
    let name = if files.is_empty() { "cluster.toml".to_owned() } else { format!("cluster-{}.toml", files.len() + 1) };
    files.push((name.clone(), content));
    Some(name)
}

fn report(folders: &[PathBuf], options: &Options) -> String {
    let mut command = "resched report".to_owned();
    for folder in folders {
        command += &format!(" {}", word(&folder.display().to_string()));
    }
    if let Some(baseline) = &options.baseline {
        command += &format!(" --baseline {}", word(baseline));
    }
    if options.matters != resched_analysis::statistics::practical::Matters::default() {
        command += &format!(" --matters {}", word(&options.matters.to_string().replace(' ', "")));
    }
    for metric in &options.metrics {
        command += &format!(" --metric {}", word(&metric.name));
    }
    command + " --out REPORT"
}

/// A word of a shell command, in quotation marks if it needs them.
fn word(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=+,@%".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell_are_quoted_if_needed() {
        let quoted = ["delay:D=24", "a b", "it's", "$(rm)", ""].map(word);
        assert_eq!(quoted, ["delay:D=24", "'a b'", "'it'\\''s'", "'$(rm)'", "''"]);
    }
}
