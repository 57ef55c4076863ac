//! The objects of a Kubernetes site: Kueue's queues, cohorts, flavours and settings, as YAML or JSON.
//!
//! All `*.yaml`, `*.yml` and `*.json` files of the folder are read that hold objects of Kubernetes, in the order of their names.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use resched_kubernetes::kueue::{BorrowWithinCohort, FairSharing, Policy, Strategy};
use resched_kubernetes::objects::{self, ClusterQueue, Note, ResourceGroup, yaml};
use toml::{Table, Value};

use super::xml::{self, Notes, Place};
use crate::error::Error;
use crate::unread::Why;

/// The most files of a folder that are read.
pub(super) const MOST_FILES: usize = 1_000;
/// The bytes of all of them together.
pub(super) const MOST_BYTES: u64 = yaml::LARGEST_FILE as u64;
/// The names of such files end so.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];
/// Fields of Kueue's configuration that change no decision.
const HARMLESS: [&str; 13] = [
    "clientConnection",
    "controller",
    "health",
    "integrations",
    "internalCertManagement",
    "leaderElection",
    "managedJobsNamespaceSelector",
    "manageJobsWithoutQueueName",
    "metrics",
    "namespace",
    "objectRetentionPolicies",
    "tls",
    "webhook",
];

/// The text of each file of a folder that holds objects of Kubernetes, by its name.
///
/// # Errors
/// A folder or file that cannot be read; too many or too large files; no UTF-8.
pub(super) fn files(dir: &Path) -> Result<BTreeMap<String, String>, Error> {
    files_up_to(dir, MOST_FILES, MOST_BYTES)
}

fn files_up_to(dir: &Path, most: usize, most_bytes: u64) -> Result<BTreeMap<String, String>, Error> {
    let unread = |error: &dyn std::fmt::Display| {
        Error::Site(format!("{}: cannot read the folder ({error}); check it", dir.display()))
    };
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|error| unread(&error))? {
        let path = entry.map_err(|error| unread(&error))?.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        if ending.is_some_and(|ending| ENDINGS.contains(&ending)) && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.len() > most {
        let found = paths.len();
        return Err(Error::Site(format!(
            "{}: expected at most {most} files of YAML, found {found}; keep those of Kueue",
            dir.display()
        )));
    }
    let (mut all, mut left) = (BTreeMap::new(), most_bytes);
    for path in paths {
        let bytes = xml::bytes_up_to(&path, left)?;
        left = left.saturating_sub(bytes.len() as u64);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = String::from_utf8(bytes).map_err(|_| {
            Error::Site(format!("{}: expected text in UTF-8, found other bytes; correct it", path.display()))
        })?;
        if has_objects(&text) {
            all.insert(name, text);
        }
    }
    Ok(all)
}

/// True if a text names the kind of an object anywhere.
fn has_objects(text: &str) -> bool {
    let is_kind = |line: &str| {
        let line = line.trim_start_matches([' ', '\t', '-', '{', '"', '\'']);
        line.strip_prefix("kind").is_some_and(|rest| rest.trim_start_matches(['"', '\'']).trim_start().starts_with(':'))
    };
    text.lines().any(is_kind) || text.contains("\"kind\":")
}

/// The objects in these files.
fn objects(dir: &Path, files: &BTreeMap<String, String>) -> Result<objects::Site, Error> {
    objects::Site::read(files.iter().map(|(name, text)| (name.as_str(), text.as_str())))
        .map_err(|error| Error::Site(format!("{}{}{error}", dir.display(), std::path::MAIN_SEPARATOR)))
}

/// The objects of a folder, for a parameter that names it.
///
/// # Errors
/// As for `--site-conf`; also if there is no ClusterQueue.
pub(crate) fn read_folder(folder: &str) -> Result<Arc<objects::Site>, Error> {
    let dir = Path::new(folder);
    let site = objects(dir, &files(dir)?)?;
    if site.queues.is_empty() {
        let problem = "expected YAML with the ClusterQueues of Kueue, found none; name another folder";
        return Err(Error::Site(format!("{folder}: {problem}")));
    }
    Ok(Arc::new(site))
}

/// The objects of the folder of a site; `None` if it has none of Kueue. What has no effect becomes a note.
///
/// # Errors
/// An object that cannot be read.
pub(super) fn read(
    dir: &Path,
    files: &BTreeMap<String, String>,
    notes: &mut Notes<'_>,
) -> Result<Option<Arc<objects::Site>>, Error> {
    let site = objects(dir, files)?;
    let is_kueue = !(site.queues.is_empty() && site.cohorts.is_empty() && site.flavors.is_empty());
    if !is_kueue && site.configuration.is_none() {
        return Ok(None);
    }
    for note in &site.notes {
        note_field(note, notes);
    }
    for lost in &site.lost_queues {
        let why = "its ClusterQueue is not there, so that its workloads wait for ever, as in Kueue";
        notes.unsupported(in_file(lost.place()), "LocalQueue", Why::harmless(why));
    }
    let first = files.keys().next().cloned().unwrap_or_default();
    for (kind, count) in &site.skipped {
        let place = Place { file: Cow::Owned(first.clone()), line: 1 };
        let why = format!("{count} objects of this kind in the folder are not read");
        notes.unsupported(place, kind, Why::harmless(&why));
    }
    Ok(Some(Arc::new(site)))
}

fn in_file(place: &objects::Place) -> Place {
    Place { file: Cow::Owned(place.file.clone()), line: place.line }
}

fn note_field(note: &Note, notes: &mut Notes<'_>) {
    let is_harmless = note.object.starts_with("Configuration")
        && HARMLESS.contains(&note.field.split('.').next().unwrap_or_default());
    let why = if is_harmless {
        Why::harmless("it changes no decision about quotas")
    } else {
        Why::bears("it is not modelled")
    };
    notes.unsupported(in_file(&note.place), &format!("{}: {}", note.object, note.field), why);
}

/// What the objects say, as a table for people. A path of `quotas` with its queue in front is what `quota=` takes.
pub(super) fn explained(site: &objects::Site) -> Table {
    let mut all = Table::new();
    if let Some(sharing) = site.configuration.as_ref().and_then(|configuration| configuration.fair_sharing.as_ref()) {
        all.insert("fair_sharing".to_owned(), Value::String(strategies(sharing).to_owned()));
    }
    let mut put = |key: &str, table: Table| {
        if !table.is_empty() {
            all.insert(key.to_owned(), Value::Table(table));
        }
    };
    let locals = site.local_queues.iter();
    put(
        "local_queues",
        locals.map(|local| (format!("{}/{}", local.namespace, local.name), local.queue.clone().into())).collect(),
    );
    put("priorities", site.priorities.iter().map(|priority| (priority.name.clone(), priority.value.into())).collect());
    put(
        "cluster_queues",
        site.queues.iter().map(|object| (object.name.clone(), Value::Table(queue(object)))).collect(),
    );
    let cohort = |cohort: &objects::Cohort| {
        let mut table = Table::new();
        table.insert("at".to_owned(), cohort.place.to_string().into());
        if let Some(parent) = &cohort.parent {
            table.insert("parent".to_owned(), parent.clone().into());
        }
        table.insert("weight".to_owned(), cohort.weight.into());
        table.insert("quotas".to_owned(), Value::Table(quotas(&cohort.groups)));
        (cohort.name.clone(), Value::Table(table))
    };
    put("cohorts", site.cohorts.iter().map(cohort).collect());
    put("flavors", site.flavors.iter().map(|object| (object.name.clone(), Value::Table(flavor(object)))).collect());
    all
}

fn strategies(FairSharing { first, then_initial }: &FairSharing) -> &'static str {
    match (first, then_initial) {
        (Strategy::FinalShare, true) => "LessThanOrEqualToFinalShare, LessThanInitialShare",
        (Strategy::FinalShare, false) => "LessThanOrEqualToFinalShare",
        (Strategy::InitialShare, _) => "LessThanInitialShare",
    }
}

fn queue(cluster_queue: &ClusterQueue) -> Table {
    let mut table = Table::new();
    let mut put = |key: &str, value: Value| _ = table.insert(key.to_owned(), value);
    put("at", cluster_queue.place.to_string().into());
    if let Some(cohort) = &cluster_queue.cohort {
        put("cohort", cohort.clone().into());
    }
    put("queueing_strategy", if cluster_queue.strict { "StrictFIFO" } else { "BestEffortFIFO" }.into());
    put("namespaces", cluster_queue.namespaces.as_ref().map_or("none", |_| "selected").into());
    put("within_cluster_queue", word(cluster_queue.preemption.within).into());
    put("reclaim_within_cohort", word(cluster_queue.preemption.reclaim).into());
    match cluster_queue.preemption.borrow {
        None => put("borrow_within_cohort", "Never".into()),
        Some(BorrowWithinCohort { threshold }) => {
            put("borrow_within_cohort", "LowerPriority".into());
            threshold.into_iter().for_each(|most| put("max_priority_threshold", most.into()));
        }
    }
    let search = |stops: bool| if stops { "MayStopSearch" } else { "TryNextFlavor" };
    put("when_can_borrow", search(cluster_queue.fungibility.stop_to_borrow).into());
    put("when_can_preempt", search(cluster_queue.fungibility.stop_to_preempt).into());
    put("weight", cluster_queue.weight.into());
    put("quotas", Value::Table(quotas(&cluster_queue.groups)));
    table
}

fn word(policy: Policy) -> &'static str {
    match policy {
        Policy::Never => "Never",
        Policy::LowerPriority => "LowerPriority",
        Policy::LowerOrNewerEqualPriority => "LowerOrNewerEqualPriority",
        Policy::Any => "Any",
    }
}

/// Quotas by flavour and resource, in the units of the tables: thousandths of a core, bytes, pieces.
fn quotas(groups: &[ResourceGroup]) -> Table {
    let of_flavors = groups.iter().flat_map(|group| &group.flavors);
    let all = of_flavors.flat_map(|flavor| flavor.resources.iter().map(move |quota| (&flavor.name, quota)));
    let quota = |(flavor, quota): (&String, &objects::ResourceQuota)| {
        let mut table = Table::new();
        table.insert("nominal".to_owned(), quota.nominal.into());
        for (key, limit) in [("borrowing_limit", quota.borrowing), ("lending_limit", quota.lending)] {
            table.extend(limit.map(|limit| (key.to_owned(), limit.into())));
        }
        (format!("{flavor}/{}", quota.name), Value::Table(table))
    };
    all.map(quota).collect()
}

fn flavor(resource_flavor: &objects::ResourceFlavor) -> Table {
    let mut table = Table::new();
    table.insert("at".to_owned(), resource_flavor.place.to_string().into());
    let labels: Table = resource_flavor.labels.iter().map(|(key, value)| (key.clone(), value.clone().into())).collect();
    table.insert("labels".to_owned(), Value::Table(labels));
    let taints: Vec<Value> = resource_flavor
        .taints
        .iter()
        .map(|taint| format!("{}={}:{}", taint.key, taint.value, taint.effect).into())
        .collect();
    table.insert("taints".to_owned(), Value::Array(taints));
    table
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::SiteConf;
    use super::*;

    const QUEUE: &str = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata:\n  name: main\nspec:\n  stopPolicy: Hold\n  \
                         namespaceSelector: {}\n  resourceGroups:\n  - coveredResources: [cpu]\n    flavors:\n    - name: any\n      \
                         resources:\n      - name: cpu\n        nominalQuota: 1500m\n        borrowingLimit: 2\n";
    const FLAVOR: &str =
        "{\"apiVersion\": \"kueue.x-k8s.io/v1beta2\", \"kind\": \"ResourceFlavor\", \"metadata\": {\"name\": \"any\"}}";

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        files.iter().for_each(|(name, text)| std::fs::write(dir.path().join(name), text).unwrap());
        dir
    }

    #[test]
    fn objects_are_read_beside_other_files_and_fields_without_effect_are_named() {
        let config = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nmetrics:\n  bindAddress: :8080\n\
                      waitForPodsReady:\n  timeout: 5m\n";
        let node = "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n";
        let files = [
            ("a.yaml", QUEUE),
            ("b.json", FLAVOR),
            ("c.yml", config),
            ("values.yaml", "replicas: 2\n"),
            ("n.yaml", node),
        ];
        let dir = folder(&files);
        let conf = SiteConf::read(dir.path()).unwrap();
        let site = conf.site.kubernetes.as_ref().unwrap();
        assert_eq!((site.queues.len(), site.flavors.len()), (1, 1));
        assert_eq!(conf.files.keys().collect::<Vec<_>>(), ["a.yaml", "b.json", "c.yml", "n.yaml"]);
        let notes: Vec<_> =
            conf.site.unread.iter().map(|unread| (unread.file.as_str(), unread.line, unread.bears)).collect();
        assert_eq!(notes, [("a.yaml", 1, false), ("a.yaml", 6, true), ("c.yml", 3, false), ("c.yml", 5, true)]);
        let text = conf.explain().unwrap();
        for part in ["nominal = 1500", "borrowing_limit = 2000", "a.yaml:1:1", "BestEffortFIFO"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        text.parse::<Table>().unwrap();
    }

    #[test]
    fn what_is_wrong_is_named_with_its_file_and_line() {
        let dir = folder(&[("q.yaml", QUEUE)]);
        let error = SiteConf::read(dir.path()).unwrap_err().to_string();
        assert!(error.contains("q.yaml:1:1") && error.contains("\"any\", which no object defines"), "{error}");
        let dir = folder(&[("values.yaml", "replicas: 2\n")]);
        let error = SiteConf::read(dir.path()).unwrap_err().to_string();
        assert!(error.contains("*.yaml of Kueue, found none"), "{error}");
        let error = read_folder(dir.path().to_str().unwrap()).unwrap_err().to_string();
        assert!(error.contains("ClusterQueues of Kueue, found none"), "{error}");
    }

    #[test]
    fn as_many_files_as_the_limit_are_read_and_not_one_more() {
        let dir = folder(&[("a.yaml", QUEUE), ("b.yaml", FLAVOR)]);
        assert_eq!(files_up_to(dir.path(), 2, 10_000).unwrap().len(), 2);
        let error = files_up_to(dir.path(), 1, 10_000).unwrap_err().to_string();
        assert!(error.contains("expected at most 1 files of YAML, found 2"), "{error}");
    }

    #[test]
    fn files_have_as_many_bytes_in_all_as_the_limit_and_not_one_more() {
        let dir = folder(&[("a.yaml", QUEUE), ("b.yaml", FLAVOR)]);
        let bytes = (QUEUE.len() + FLAVOR.len()) as u64;
        assert_eq!(files_up_to(dir.path(), 2, bytes).unwrap().len(), 2);
        assert!(files_up_to(dir.path(), 2, bytes - 1).is_err());
    }
}
