//! The world of a cell: its source, its machines and its rules. Cells that differ only in their policy share a world.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use resched_policies::PolicySpec;
use resched_replay::{Setup, Source, World, set_machines};
use resched_sim::ClusterConfig;
use resched_tables::store::{Trace, sha256};
use resched_tables::whole;
use resched_workload::Workload as WorkloadFile;
use toml::{Table, Value as Toml};

use crate::Error;
use crate::file::Treatment;
use crate::site::SiteRules;
use crate::source::SourcePath;
use crate::values::Value;
use crate::world_keys::{MAP_SLOTS, NODES, REDUCE_SLOTS, world_path};

/// A world before its first replay.
#[derive(Debug)]
pub(crate) struct WorldSpec {
    /// The world without its seed.
    world: World,
    /// Everything but the seed that distinguishes it from other worlds.
    pub(crate) identity: serde_json::Value,
}

/// A source, before the values of a sweep are set in it.
#[derive(Debug)]
pub(crate) enum Origin {
    /// The text of a workload file, and its path for messages.
    Workload { text: String, path: String },
    /// A trace with its fingerprint.
    Trace { source: Source, fingerprint: String },
}

impl Origin {
    /// The table of a workload file, checked; `None` for a trace.
    fn table(&self) -> Result<Option<Table>, Error> {
        let Self::Workload { text, path } = self else { return Ok(None) };
        WorkloadFile::parse(text, path)?;
        let table =
            text.parse().map_err(|error: toml::de::Error| Error::Request(format!("{path}: {}", error.message())));
        table.map(Some)
    }

    /// Opens it.
    pub(crate) fn open(source: &SourcePath) -> Result<Self, Error> {
        let path = source.path();
        match source {
            SourcePath::Workload(_) => {
                let read = whole::text_up_to(path, whole::MOST_WORKLOAD).map_err(|error| {
                    Error::Request(format!(
                        "{}: expected a workload file, but it cannot be read ({error}); check the path",
                        path.display()
                    ))
                });
                Ok(Self::Workload { text: read?, path: path.display().to_string() })
            }
            SourcePath::Trace(_) => {
                let trace = Trace::open(path)?;
                let fingerprint = trace.fingerprint()?;
                Ok(Self::Trace { source: Source::trace(trace)?, fingerprint })
            }
        }
    }
}

impl WorldSpec {
    /// The world of `source` at a site, under the cluster file at `cluster`, with these values set. The cluster file wins over the
    /// site, and the values win over both.
    ///
    /// # Errors
    /// [`Error::Request`] if a file is wrong, or wrong with a value set.
    pub(crate) fn new(
        (source, origin): (&SourcePath, &Origin),
        cluster: Option<&Path>,
        (site, treatment): (&SiteRules, Treatment),
        values: &[(String, Value)],
    ) -> Result<Self, Error> {
        let rules = match cluster {
            Some(path) => {
                ClusterConfig::settings_over(&site.cluster, path).map_err(|error| Error::Request(error.to_string()))?
            }
            None => site.cluster.clone(),
        };
        let mut draft = Draft { rules, workload: origin.table()?, nodes: None, speedup: 1.0 };
        for (key, value) in values {
            draft.set(key, source, value)?;
        }
        let reported = |error: &dyn std::fmt::Display| Error::Request(with_values(values, error));
        let mut cluster = ClusterConfig::of_settings(draft.rules).map_err(|error| reported(&error))?;
        if let Some(nodes) = draft.nodes {
            set_machines(&mut cluster, draft.workload.as_mut(), nodes);
        }
        let rules = cluster.clone();
        let (source, content) = match (origin, draft.workload) {
            (Origin::Workload { path, .. }, Some(table)) => {
                let text = toml::to_string(&table).map_err(|error| reported(&error))?;
                let parsed = WorkloadFile::parse(&text, path)
                    .map_err(|error| if values.is_empty() { Error::from(error) } else { reported(&error) })?;
                let machines = parsed.cluster().nodes;
                if let Some(count) = rules.nodes.count.filter(|count| *count != machines) {
                    return Err(Error::Request(format!(
                        "{path}: the workload has {machines} machines, the cluster file has {count}; remove nodes.count from the cluster file"
                    )));
                }
                // The workload and the cluster file agree on the number of machines.
                cluster.nodes.count = None;
                let content = sha256(text.as_bytes());
                (Source::workload(parsed, text, path.clone()), content)
            }
            (Origin::Trace { source, fingerprint }, _) => (source.clone(), fingerprint.clone()),
            (Origin::Workload { path, .. }, None) => {
                return Err(Error::Work(format!("{path}: the workload was not read")));
            }
        };
        let speedup = draft.speedup;
        let mut identity = serde_json::json!({ "content": content, "rules": rules, "speedup": speedup });
        if !site.files.is_empty() {
            identity["site"] = serde_json::json!(site.files);
        }
        let Treatment { assume, unfinished, window } = treatment;
        if (unfinished, window) != Default::default() {
            identity["treatment"] = serde_json::json!({ "unfinished": unfinished, "window": format!("{window:?}") });
        }
        let setup =
            Setup { cluster, site: Arc::clone(&site.site), speedup, assume, unfinished, window, ..Setup::default() };
        Ok(Self { world: World::open(&source, setup)?, identity })
    }

    /// Whether another seed may change a replay under this policy.
    ///
    /// # Errors
    /// [`Error::Replay`] if the policy cannot be made.
    pub(crate) fn draws(&self, policy: &PolicySpec) -> Result<bool, Error> {
        Ok(self.world.draws(policy)?)
    }

    /// The world with this seed.
    pub(crate) fn with_seed(&self, seed: u64) -> World {
        self.world.with_seed(seed)
    }
}

/// A world while values are set in it.
struct Draft {
    /// The settings of a cluster file.
    rules: Table,
    /// The workload file, if the source is one.
    workload: Option<Table>,
    /// The number of machines. It is applied last, as it depends on what the cluster file names.
    nodes: Option<u32>,
    speedup: f64,
}

impl Draft {
    /// Sets the value of a key of `[world]`.
    fn set(&mut self, key: &str, source: &SourcePath, value: &Value) -> Result<(), Error> {
        let path = world_path(key, source).map_err(Error::Request)?;
        let wrong = |problem: &str| Error::Request(format!("[world] {key} = {}: {problem}", value.text()));
        let factor = || value.number().ok_or_else(|| wrong("expected a number"));
        if key == NODES {
            let whole = value.number().filter(|number| number.fract() == 0.0 && (1.0..=1e6).contains(number));
            let value = [(key.to_owned(), value.clone())];
            let wrong = || with_values(&value, &"expected a whole number of machines, from 1 to 1000000");
            self.nodes = Some(whole.ok_or_else(|| Error::Request(wrong()))? as u32);
            return Ok(());
        }
        if [MAP_SLOTS, REDUCE_SLOTS].contains(&path.as_str()) && !path.eq(key) {
            set(&mut self.rules, "nodes.alike", Toml::Boolean(true)).map_err(|problem| wrong(&problem))?;
        }
        match path.split_once('.') {
            Some(("cluster", rest)) if key == "remote_penalty" => {
                let factor = factor()?;
                let factors = Toml::Array(vec![Toml::Float(1.0), Toml::Float(factor), Toml::Float(factor)]);
                set(&mut self.rules, rest, factors).map_err(|problem| wrong(&problem))
            }
            Some(("cluster", rest)) => set(&mut self.rules, rest, value.toml()).map_err(|problem| wrong(&problem)),
            Some((_, rest)) => {
                let Some(workload) = &mut self.workload else { return Err(wrong("a trace has none")) };
                set(workload, rest, value.toml()).map_err(|problem| wrong(&problem))
            }
            None => {
                self.speedup = Some(factor()?)
                    .filter(|factor| (1e-6..=1e6).contains(factor))
                    .ok_or_else(|| wrong("expected a number from 1e-6 to 1e6"))?;
                Ok(())
            }
        }
    }
}

/// The text of a problem, with the values of its world if there are any.
pub(crate) fn with_values(values: &[(String, Value)], problem: &dyn std::fmt::Display) -> String {
    let set: Vec<String> = values.iter().map(|(key, value)| format!("{key} = {}", value.text())).collect();
    let place = if set.is_empty() { String::new() } else { format!("with [world] {}: ", set.join(", ")) };
    format!("{place}{problem}")
}

/// Sets `a.b.c` in a table.
fn set(table: &mut Table, path: &str, value: Toml) -> Result<(), String> {
    match path.split_once('.') {
        None => {
            table.insert(path.to_owned(), value);
            Ok(())
        }
        Some((part, rest)) => match table.entry(part).or_insert_with(|| Toml::Table(Table::new())) {
            Toml::Table(inner) => set(inner, rest, value),
            other => Err(format!("`{part}` is {other}, not a table")),
        },
    }
}

/// The files that the parameters of a policy name, by path, with the hashes of their contents; of a folder, those that a site is read
/// from. A changed file makes new cells.
///
/// # Errors
/// [`Error::Request`] if one cannot be read.
pub(crate) fn policy_files(spec: &PolicySpec) -> Result<BTreeMap<String, String>, Error> {
    let files = spec.info.parameters.iter().filter(|parameter| parameter.range == resched_policies::Range::File);
    let named = files.filter_map(|parameter| spec.set.get(parameter.key)).filter(|path| !path.is_empty());
    let mut hashes = BTreeMap::new();
    for name in named {
        let path = Path::new(name);
        if path.is_dir() {
            let in_folder = SiteRules::read(Some(path))?.files;
            hashes.extend(in_folder.into_iter().map(|(file, hash)| (path.join(file).display().to_string(), hash)));
        } else {
            let bytes = whole::bytes(path, whole::MOST_TEXT)
                .map_err(|error| Error::Request(format!("{name}: cannot be read ({error}); check the path")))?;
            hashes.insert(name.clone(), sha256(&bytes));
        }
    }
    Ok(hashes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use super::*;

    /// A folder of quotas identifies a cell as a single file does, so that `--resume` sees an edit.
    #[test]
    fn a_folder_that_a_policy_names_counts_by_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let queues = |cores: u32| {
            let text = format!(
                "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {{name: any}}\n---\n\
                 apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {{name: q}}\n\
                 spec: {{namespaceSelector: {{}}, resourceGroups: [{{coveredResources: [cpu], \
                 flavors: [{{name: any, resources: [{{name: cpu, nominalQuota: {cores}}}]}}]}}]}}\n"
            );
            fs::write(folder.path().join("queues.yaml"), text).unwrap();
            let spec = PolicySpec::parse(&format!("kueue:site={}", folder.path().display())).unwrap();
            policy_files(&spec).unwrap()
        };
        let two = queues(2);
        assert_eq!(two.len(), 1);
        assert_ne!(two, queues(3));
        assert_eq!(two, queues(2));
    }

    /// `--nodes 2` and `[world] nodes = [2]` are one rule: a cluster has no more racks than machines.
    #[test]
    fn a_sweep_resizes_a_workload_as_the_option_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("three-racks.toml");
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/sample-history.toml");
        let text = fs::read_to_string(sample).unwrap().replace("racks = 2", "racks = 3");
        assert!(text.contains("racks = 3"));
        fs::write(&path, text).unwrap();
        let source = SourcePath::Workload(path.clone());
        let origin = Origin::open(&source).unwrap();
        for nodes in [1, 2, 3, 12, 30] {
            let resized = Source::open(&path).unwrap().resized(&mut ClusterConfig::default(), nodes).unwrap();
            let values = [(NODES.to_owned(), Value::of(&Toml::Integer(nodes.into())))];
            let at_home = (&SiteRules::default(), Treatment::default());
            let world = WorldSpec::new((&source, &origin), None, at_home, &values).unwrap();
            assert_eq!(world.identity["content"], resized.fingerprint().unwrap(), "{nodes} machines");
        }
    }
}
