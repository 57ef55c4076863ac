//! The world of a cell: its source, its machines and its rules. Cells that differ only in their policy share a world.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use resched_policies::PolicySpec;
use resched_replay::{Setup, Source, World};
use resched_sim::ClusterConfig;
use resched_trace::store::{Trace, sha256};
use resched_trace::workload::Workload as WorkloadFile;
use toml::{Table, Value as Toml};

use crate::Error;
use crate::source::SourcePath;
use crate::values::Value;
use crate::world_keys::world_path;

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
    /// Opens it.
    pub(crate) fn open(source: &SourcePath) -> Result<Self, Error> {
        let path = source.path();
        match source {
            SourcePath::Workload(_) => {
                let read = fs::read_to_string(path).map_err(|error| {
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
    /// The world of `source` under the cluster file at `cluster`, with these values set.
    ///
    /// # Errors
    /// [`Error::Request`] if a file is wrong, or wrong with a value set.
    pub(crate) fn new(
        (source, origin): (&SourcePath, &Origin),
        cluster: Option<&Path>,
        values: &[(String, Value)],
    ) -> Result<Self, Error> {
        let mut rules = Table::new();
        if let Some(path) = cluster {
            let read = |error| {
                Error::Request(format!("{}: cannot read the cluster file ({error}); check the path", path.display()))
            };
            ClusterConfig::read(path).map_err(|error| Error::Request(error.to_string()))?;
            rules = fs::read_to_string(path)
                .map_err(read)?
                .parse()
                .map_err(|error: toml::de::Error| Error::Request(format!("{}: {}", path.display(), error.message())))?;
        }
        let mut workload = match origin {
            Origin::Workload { text, path } => {
                WorkloadFile::parse(text, path)?;
                Some(text.parse::<Table>().map_err(|error| Error::Request(format!("{path}: {}", error.message())))?)
            }
            Origin::Trace { .. } => None,
        };
        let mut speedup = 1.0;
        for (key, value) in values {
            let path = world_path(key, source).map_err(Error::Request)?;
            let wrong = |problem: &str| Error::Request(format!("[world] {key} = {}: {problem}", value.text()));
            match path.split_once('.') {
                Some(("cluster", rest)) => {
                    let penalty = key == "remote_penalty";
                    let factor = || value.number().ok_or_else(|| wrong("expected a number"));
                    let value = if penalty {
                        let factor = factor()?;
                        Toml::Array(vec![Toml::Float(1.0), Toml::Float(factor), Toml::Float(factor)])
                    } else {
                        value.toml()
                    };
                    set(&mut rules, rest, value).map_err(|problem| wrong(&problem))?;
                }
                Some((_, rest)) => {
                    let Some(workload) = &mut workload else { return Err(wrong("a trace has none")) };
                    set(workload, rest, value.toml()).map_err(|problem| wrong(&problem))?;
                }
                None => {
                    speedup = value
                        .number()
                        .filter(|factor| (1e-6..=1e6).contains(factor))
                        .ok_or_else(|| wrong("expected a number from 1e-6 to 1e6"))?;
                }
            }
        }
        let told = |error: &dyn std::fmt::Display| Error::Request(with_values(values, error));
        let rules = ClusterConfig::of_settings(rules).map_err(|error| told(&error))?;
        let mut cluster = rules.clone();
        let (source, content) = match (origin, workload) {
            (Origin::Workload { path, .. }, Some(table)) => {
                let text = toml::to_string(&table).map_err(|error| told(&error))?;
                let parsed = WorkloadFile::parse(&text, path)
                    .map_err(|error| if values.is_empty() { Error::from(error) } else { told(&error) })?;
                let own = parsed.cluster().nodes;
                if let Some(count) = rules.nodes.count.filter(|count| *count != own) {
                    return Err(Error::Request(format!(
                        "{path}: the workload has {own} machines, the cluster file has {count}; remove nodes.count from the cluster file"
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
        let identity = serde_json::json!({ "content": content, "rules": rules, "speedup": speedup });
        let world = World::open(&source, Setup { cluster, speedup, ..Setup::default() })?;
        Ok(Self { world, identity })
    }

    /// The world with this seed.
    pub(crate) fn with_seed(&self, seed: u64) -> World {
        self.world.with_seed(seed)
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

/// The files that the parameters of a policy name, by path, with the hashes of their contents. A changed file makes new cells.
///
/// # Errors
/// [`Error::Request`] if one cannot be read.
pub(crate) fn policy_files(spec: &PolicySpec) -> Result<BTreeMap<String, String>, Error> {
    let files = spec.info.parameters.iter().filter(|parameter| parameter.range == resched_policies::Range::File);
    let named = files.filter_map(|parameter| spec.set.get(parameter.key)).filter(|path| !path.is_empty());
    named
        .map(|path| {
            let bytes = fs::read(path)
                .map_err(|error| Error::Request(format!("{path}: cannot be read ({error}); check the path")))?;
            Ok((path.clone(), sha256(&bytes)))
        })
        .collect()
}
