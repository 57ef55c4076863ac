//! The settings of an application that scheduling depends on.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

/// The names that are kept.
const NAMES: [&str; 9] = [
    "spark.task.cpus",
    "spark.executor.cores",
    "spark.executor.memory",
    "spark.executor.instances",
    "spark.cores.max",
    "spark.deploy.spreadOut",
    "spark.shuffle.reduceLocality.enabled",
    "spark.shuffle.service.enabled",
    QUEUE,
];
/// The beginnings of further names that are kept.
const BEGINNINGS: [&str; 4] = ["spark.scheduler.", "spark.locality.", "spark.dynamicAllocation.", "spark.speculation"];
/// YARN's queue of the application.
const QUEUE: &str = "spark.yarn.queue";
/// The most names that are held while a log is read. What of them is kept is decided elsewhere.
const MOST_HELD: usize = 1_000;

/// The settings of an application that scheduling depends on, by name.
#[derive(Debug, Default)]
pub(super) struct Settings {
    own: BTreeMap<String, String>,
    /// How many were too many to hold.
    pub(super) left_out: u64,
}

impl Settings {
    /// All of them.
    pub(super) fn all(&self) -> &BTreeMap<String, String> {
        &self.own
    }

    /// Cores that a task takes.
    pub(super) fn task_cpus(&self) -> i64 {
        self.number("spark.task.cpus").filter(|&cpus| cpus > 0).unwrap_or(1)
    }

    /// Memory of an executor, bytes.
    pub(super) fn executor_memory(&self) -> Option<i64> {
        bytes(self.own.get("spark.executor.memory")?)
    }

    /// The memory of a task if its executor runs as many as it can. `cores` is the executor's size if no setting gives
    /// it.
    pub(super) fn task_memory(&self, cores: Option<i64>) -> Option<i64> {
        let tasks = self.number("spark.executor.cores").or(cores)?.checked_div(self.task_cpus())?.max(1);
        Some(self.executor_memory()? / tasks)
    }

    /// The queue of a job with this pool and this queue of YARN, as its own properties give them.
    ///
    /// A pool is what Spark's scheduler sees of a job. A job that names none is in the pool `default` if pools count, which is so in the
    /// mode `FAIR`. Otherwise, the queue of YARN that serves the application says more.
    pub(super) fn queue(&self, pool: Option<String>, of_yarn: Option<String>) -> String {
        let named = |text: &String| !text.is_empty();
        let of_yarn = || of_yarn.or_else(|| self.own.get(QUEUE).cloned()).filter(named).filter(|_| !self.is_fair());
        pool.filter(named).or_else(of_yarn).unwrap_or_else(|| "default".to_owned())
    }

    fn is_fair(&self) -> bool {
        self.own.get("spark.scheduler.mode").is_some_and(|mode| mode.eq_ignore_ascii_case("FAIR"))
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.own.get(name)?.trim().parse().ok()
    }
}

/// True if scheduling depends on the setting of this name.
fn is_kept(name: &str) -> bool {
    NAMES.contains(&name) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

/// Keeps the settings that are wanted, and reads over the others, whatever they hold.
impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Wanted;
        impl<'de> Visitor<'de> for Wanted {
            type Value = Settings;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("settings by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Settings, A::Error> {
                let mut settings = Settings::default();
                while let Some(name) = map.next_key::<String>()? {
                    if is_kept(&name) {
                        settings.take(name, map.next_value()?);
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(settings)
            }
        }
        deserializer.deserialize_map(Wanted)
    }
}

impl Settings {
    fn take(&mut self, name: String, value: Value) {
        let value = match value {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            Value::Bool(is_on) => is_on.to_string(),
            Value::Null => return,
            Value::Array(_) | Value::Object(_) => {
                self.left_out += 1;
                return;
            }
        };
        if self.own.len() >= MOST_HELD && !self.own.contains_key(&name) {
            self.left_out += 1;
            return;
        }
        self.own.insert(name, value);
    }
}

/// A size as Spark's settings have it: a number and a unit of powers of 1024, or MiB without a unit.
fn bytes(text: &str) -> Option<i64> {
    let text = text.trim().to_ascii_lowercase();
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end)?;
    let unit: i64 = match unit {
        "b" => 1,
        "k" | "kb" => 1 << 10,
        "" | "m" | "mb" => 1 << 20,
        "g" | "gb" => 1 << 30,
        "t" | "tb" => 1 << 40,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(unit)
}
