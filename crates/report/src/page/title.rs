//! What a page is about, for its title: trace, cluster and dates.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use resched_analysis::{Origin, Run};
use resched_tables::clock::Zone;
use resched_tables::words::{self, count};

use crate::answer::Answer;

/// The trace, the cluster and the dates of the runs in `folders`, in words. `zero` is the date of the first submission, if it is known.
pub(crate) fn about(answer: &Answer, folders: &[PathBuf], zero: Option<i64>, zone: Zone) -> String {
    let traces = distinct(answer.runs.iter().zip(folders).map(|(run, folder)| trace(run, folder)));
    let clusters = distinct(answer.runs.iter().filter_map(Run::replay).map(|info| {
        let [nodes, racks] = [(info.cluster.nodes, info.system.says("node")), (info.cluster.racks, "rack")]
            .map(|(n, what)| several(n, what));
        if info.cluster.racks == 0 { nodes } else { format!("{nodes} in {racks}") }
    }));
    let longest = answer.runs.iter().filter_map(|run| run.jobs.span()).map(|(first, last)| last - first).max();
    let dates = zero.zip(longest).map(|(zero, longest)| zone.days(zero, zero.saturating_add(longest)));
    [traces.join(" and "), clusters.join(" or "), dates.unwrap_or_default()]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(", ")
}

/// What a page answers, as a question.
pub(crate) fn question(answer: &Answer) -> String {
    let baseline = words::name(answer.baseline_label());
    let replays: Vec<Cow<'_, str>> = answer
        .policies
        .iter()
        .filter(|policy| policy.runs.iter().any(|run| answer.runs.get(*run).is_some_and(|run| run.replay().is_some())))
        .map(|policy| words::name(&policy.label))
        .collect();
    let others: Vec<&str> = replays.iter().map(AsRef::as_ref).filter(|label| *label != baseline).collect();
    match (replays.is_empty(), others.as_slice()) {
        (true, _) => "How did jobs fare?".to_owned(),
        (false, []) => format!("How do jobs fare under {baseline}?"),
        (false, [other]) => format!("Do jobs end sooner under {other} than under {baseline}?"),
        (false, [first @ .., last]) => {
            format!("Under which policy do jobs end soonest: {baseline}, {} or {last}?", first.join(", "))
        }
    }
}

/// The name of the trace of a run: the last part of its path.
fn trace(run: &Run, folder: &Path) -> String {
    let path = match &run.origin {
        Origin::Replay(info) => Path::new(&info.trace.path),
        Origin::Observed(_) => folder,
    };
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// So many of something.
pub(crate) fn several(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{} {what}s", count(number)) }
}

/// Each text once, in the order in which they first appear.
fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for text in texts {
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}
