//! Which keys of the cluster file each engine reads. A key that was set and that the engine of a policy does not read is a fact of its answers.

use std::collections::BTreeSet;

use resched_policies::Engine;
use resched_sim::ClusterConfig;
use resched_sim::cluster_file::{Machines, keys_of};
use resched_tables::validity::{Fact, Grade};
use toml::{Table, Value};

/// The keys that an engine reads, by their beginnings: a key counts for the longest that it has. A key below none of them is read by none, so
/// that a new one is reported until it is listed here.
const READ: &[(&str, &[Engine])] = &[
    // For people.
    ("description", BOTH),
    // Standard errors: variants use them, replays do not.
    ("fitted", BOTH),
    // For metrics.
    ("price", BOTH),
    ("power", BOTH),
    ("nodes", HADOOP),
    // A log of Hadoop has a core for each slot under the policies for production traces.
    ("nodes.map_slots", BOTH),
    ("nodes.reduce_slots", BOTH),
    ("nodes.alike", BOTH),
    ("nodes.at_least", BOTH),
    ("heartbeat", HADOOP),
    ("jobs", HADOOP),
    ("jobs.first_submit", BOTH),
    ("cost", HADOOP),
    ("cost.host_factors", BOTH),
    ("cost.locality", BOTH),
    ("cost.slow_nodes", BOTH),
    ("outages", BOTH),
    ("containers", HADOOP),
    ("am", HADOOP),
    ("machines", BATCH),
];

const BOTH: &[Engine] = &[Engine::Hadoop, Engine::Batch];
const HADOOP: &[Engine] = &[Engine::Hadoop];
const BATCH: &[Engine] = &[Engine::Batch];

/// Keys that one option sets for both engines: one of them is enough.
const TOGETHER: [(&str, &str); 4] = [
    ("nodes.count", "machines.count"),
    ("nodes.count", "machines.clones"),
    ("nodes.clones", "machines.count"),
    ("nodes.clones", "machines.clones"),
];

/// How many keys a fact lists.
const MOST_LISTED: usize = 5;

/// True if an engine reads a key of the cluster file, such as `heartbeat.interval`.
pub fn is_read_by(key: &str, engine: Engine) -> bool {
    let is_below = |begin: &str| key.strip_prefix(begin).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let longest = READ.iter().filter(|(begin, _)| is_below(begin)).max_by_key(|(begin, _)| begin.len());
    longest.is_some_and(|(_, engines)| engines.contains(&engine))
}

/// The fact about the keys that were set and that an engine does not read.
pub(crate) fn without_effect(config: &ClusterConfig, engine: Engine) -> Option<Fact> {
    let idle: Vec<String> = set_keys(config).into_iter().filter(|key| !is_read_by(key, engine)).collect();
    let with_other = |key: &String| {
        let others = TOGETHER.iter().filter_map(|&(a, b)| match key.as_str() {
            key if key == a => Some(b),
            key if key == b => Some(a),
            _ => None,
        });
        let value = value_at(config, key);
        value.is_some() && others.into_iter().any(|other| value_at(config, other) == value)
    };
    let idle: Vec<String> = idle.into_iter().filter(|key| !with_other(key)).collect();
    if idle.is_empty() {
        return None;
    }
    let mut listed: Vec<String> = idle.iter().take(MOST_LISTED).map(|key| format!("`{key}`")).collect();
    if idle.len() > MOST_LISTED {
        listed.push(format!("{} more", idle.len() - MOST_LISTED));
    }
    let have = if idle.len() == 1 { "has" } else { "have" };
    let under = match engine {
        Engine::Batch => "the policies for production traces",
        Engine::Hadoop => "Hadoop's policies",
    };
    let says =
        format!("{} (of the cluster file, the site or an option) {have} no effect under {under}.", listed.join(", "));
    let remedy = "Remove what the question is not about; what it is about cannot be answered by these policies.";
    Some(Fact::new("settings", Grade::Assumed, says).with_remedy(remedy))
}

/// The keys whose values are not the defaults.
fn set_keys(config: &ClusterConfig) -> BTreeSet<String> {
    let (set, mut usual) = (table(config), table(&ClusterConfig::default()));
    // It is left out where it has only defaults.
    if let Ok(machines) = Table::try_from(Machines::default()) {
        usual.insert("machines".to_owned(), Value::Table(machines));
    }
    keys_of(&set).into_iter().filter(|key| at(&set, key) != at(&usual, key)).collect()
}

fn table(config: &ClusterConfig) -> Table {
    Table::try_from(config).unwrap_or_default()
}

fn value_at(config: &ClusterConfig, key: &str) -> Option<Value> {
    at(&table(config), key).cloned()
}

/// The value of a key. The last part of a key may have dots, such as a host of `cost.host_factors`.
fn at<'t>(table: &'t Table, key: &str) -> Option<&'t Value> {
    if let Some(value) = table.get(key) {
        return Some(value);
    }
    key.match_indices('.').find_map(|(dot, _)| {
        let below = table.get(key.get(..dot)?)?.as_table()?;
        at(below, key.get(dot + 1..)?)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use resched_tables::reference::{Header, Table as Keys, Value as _};

    use super::*;

    fn says(text: &str, engine: Engine) -> Option<String> {
        without_effect(&ClusterConfig::parse(text).unwrap(), engine).map(|fact| fact.says)
    }

    #[test]
    fn a_key_that_the_engine_does_not_read_is_said_unless_it_is_the_default() {
        let text = "[heartbeat]\nexpiry = 600000\njitter = 5\n[machines]\ncount = 2\ncores = 4.0\n";
        assert_eq!(
            says(text, Engine::Batch).unwrap(),
            "`heartbeat.jitter` (of the cluster file, the site or an option) has no effect under the policies for production traces."
        );
        assert_eq!(
            says(text, Engine::Hadoop).unwrap(),
            "`machines.cores`, `machines.count` (of the cluster file, the site or an option) have no effect under Hadoop's policies."
        );
        assert_eq!(says("[heartbeat]\nexpiry = 600000\n", Engine::Batch), None);
    }

    #[test]
    fn an_option_for_both_engines_is_read_by_each() {
        for text in ["", "[nodes]\ncount = 3\n"] {
            let mut config = ClusterConfig::parse(text).unwrap();
            config.resize(7);
            for engine in [Engine::Hadoop, Engine::Batch] {
                assert_eq!(without_effect(&config, engine), None, "{text} {engine:?}");
            }
        }
    }

    /// All keys of a table, from the section down.
    fn all(keys: &Keys, above: &str, found: &mut Vec<String>) {
        for key in &keys.keys {
            let name = if above.is_empty() { key.name.to_owned() } else { format!("{above}.{}", key.name) };
            match &key.shape.table {
                Some(table) if key.shape.header == Header::One => all(table, &name, found),
                _ => found.push(name),
            }
        }
    }

    /// By construction: a new key is read by an engine that says so, or it is reported.
    #[test]
    fn each_key_of_the_cluster_file_is_read_by_some_engine() {
        let mut keys = Vec::new();
        all(ClusterConfig::shape().table.as_ref().unwrap(), "", &mut keys);
        assert!(keys.len() > 60, "{keys:?}");
        for key in keys {
            let read = [Engine::Hadoop, Engine::Batch].into_iter().any(|engine| is_read_by(&key, engine));
            assert!(read, "`{key}`: say in READ which engines read it");
        }
    }
}
