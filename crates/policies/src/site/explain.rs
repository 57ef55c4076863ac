//! What the configuration of a site means, as TOML with the place that each value comes from.

use std::fmt::{Display, Write};

use serde::Serialize;
use toml::{Table, Value};

use super::{
    CAPACITY_SCHEDULER, FAIR_SCHEDULER, MAPRED_QUEUES, SPARK_POOLS, SettingOrigin, SiteConf, kubernetes, slurm,
};
use crate::error::Error;
use crate::queues::tree::QueueTree;

impl SiteConf {
    /// The configuration as one TOML document. `[cluster]` has the keys of a cluster file, `[policies]` parameters, and the rest the
    /// keys of files of pools (`allocations=FILE`) and queues (`queues=FILE`).
    ///
    /// # Errors
    /// [`Error::Defect`] if a value cannot be written as TOML.
    pub fn explain(&self) -> Result<String, Error> {
        let mut text = String::new();
        for (name, sha256) in &self.files {
            line(&mut text, format_args!("# {name} (SHA-256 {})", sha256.get(..12).unwrap_or(sha256)));
        }
        self.explain_cluster(&mut text);
        self.explain_policies(&mut text);
        let site = &self.site;
        if let Some(pools) = &site.pools {
            section(&mut text, FAIR_SCHEDULER, "fair", "pools of MapReduce 1, as in `allocations=FILE`", pools)?;
        }
        if let Some(tree) = &site.yarn_fair {
            section(&mut text, FAIR_SCHEDULER, "yarn-fair", "queues of YARN, as in `queues=FILE`", &queues(tree)?)?;
        }
        if let Some(tree) = &site.mapred_queues {
            let file = if self.files.contains_key(MAPRED_QUEUES) { MAPRED_QUEUES } else { CAPACITY_SCHEDULER };
            section(&mut text, file, "capacity", "queues of MapReduce 1, as in `queues=FILE`", &queues(tree)?)?;
        }
        if let Some(tree) = &site.yarn_queues {
            let about = "queues of YARN, as in `queues=FILE`";
            section(&mut text, CAPACITY_SCHEDULER, "yarn-capacity", about, &queues(tree)?)?;
        }
        if let Some(pools) = &site.spark_pools {
            section(&mut text, SPARK_POOLS, "spark", "pools of Spark", pools)?;
        }
        if let Some(conf) = &site.slurm {
            let files: Vec<&str> = slurm::FILES.into_iter().filter(|&file| self.files.contains_key(file)).collect();
            let about = "partitions, nodes, qualities of service and associations of Slurm";
            section(&mut text, &files.join(", "), "slurm", about, conf)?;
        }
        if let Some(site) = &site.kubernetes {
            let about = "queues, cohorts, flavors and priorities of Kueue; a quota with its queue in front is a name for `quota=`";
            section(&mut text, "*.yaml", "kueue", about, &kubernetes::explained(site))?;
        }
        Ok(text)
    }

    /// The settings of the cluster, section by section.
    fn explain_cluster(&self, text: &mut String) {
        let mut last = String::new();
        let cluster = Value::Table(self.cluster.clone());
        let of_cluster = self.origins.iter().filter(|((policy, _), _)| policy.is_none());
        let mut settings: Vec<(&str, &str, &Value, &SettingOrigin)> = of_cluster
            .filter_map(|((_, path), origin)| {
                let value = path.split('.').try_fold(&cluster, |at, part| at.get(part))?;
                let (table, key) = path.rsplit_once('.').unwrap_or(("", path));
                Some((table, key, value, origin))
            })
            .collect();
        settings.sort_by_key(|&(table, key, ..)| (table, key));
        for (table, key, value, origin) in settings {
            header(text, &mut last, format!("cluster.{table}"));
            setting(text, key, value, origin);
        }
    }

    /// The parameters of policies, policy by policy.
    fn explain_policies(&self, text: &mut String) {
        let mut last = String::new();
        for (&(policy, key), value) in &self.site.parameters {
            header(text, &mut last, format!("policies.{policy}"));
            match self.origins.get(&(Some(policy), key)) {
                Some(origin) => setting(text, key, as_toml(value), origin),
                None => line(text, format_args!("{key} = {}", as_toml(value))),
            }
        }
    }
}

/// The text of a parameter as a value of TOML.
fn as_toml(text: &str) -> Value {
    let number = || text.parse().map(Value::Integer).or_else(|_| text.parse().map(Value::Float)).ok();
    text.parse().map(Value::Boolean).ok().or_else(number).unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Adds a line.
fn line(text: &mut String, content: impl Display) {
    // Writing to a text cannot fail.
    let _ = writeln!(text, "{content}");
}

/// Begins a table unless it is the last one.
fn header(text: &mut String, last: &mut String, name: String) {
    if *last != name {
        line(text, format_args!("\n[{name}]"));
        *last = name;
    }
}

fn setting(
    text: &mut String,
    key: &str,
    value: impl Display,
    SettingOrigin { property, file, line: at }: &SettingOrigin,
) {
    line(text, format_args!("{key} = {value} # {property} ({file}, line {at})"));
}

/// The queues of a scheduler under the keys of their file.
fn queues<S: Serialize>(tree: &QueueTree<S>) -> Result<Table, Error> {
    let mut all = Table::new();
    let mut file = Table::new();
    for (place, queue) in tree.queues().iter().enumerate() {
        let settings = table(&queue.settings)?;
        if place > 0 {
            let path = queue.path.strip_prefix("root.").unwrap_or(&queue.path);
            all.insert(path.to_owned(), Value::Table(settings));
        } else if !settings.is_empty() {
            file.insert("root".to_owned(), Value::Table(settings));
        }
    }
    file.insert("queues".to_owned(), Value::Table(all));
    Ok(file)
}

fn table(value: &impl Serialize) -> Result<Table, Error> {
    Table::try_from(value).map_err(|error| Error::Defect(format!("the site cannot be written as TOML ({error})")))
}

/// Adds what a file says of queues or pools, below the name of the policy that reads it.
fn section(text: &mut String, file: &str, policy: &str, about: &str, rules: &impl Serialize) -> Result<(), Error> {
    let below: Table = [(policy.to_owned(), Value::Table(table(rules)?))].into_iter().collect();
    let below: Table = [("rules".to_owned(), Value::Table(below))].into_iter().collect();
    line(text, format_args!("\n# {file}: {about}\n{}", below.to_string().trim_end()));
    Ok(())
}
