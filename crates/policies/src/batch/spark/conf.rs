//! The rules of one application: what was set, else what the log says, else Spark's default.

use std::collections::BTreeMap;

use resched_sim::{Ms, Resources};

use super::Settings;
use super::allocation::Limits;
use super::level::Level;
use super::manager::Kind;
use crate::parts::spark_time::{in_ms, of_seconds};
use crate::queues::spark_pools::Mode;

/// Spark's `spark.locality.wait`.
const WAIT: Ms = 3_000;
/// Spark's `spark.scheduler.revive.interval`.
const REVIVE: Ms = 1_000;
/// Spark's `spark.dynamicAllocation.schedulerBacklogTimeout` and `executorIdleTimeout`.
const BACKLOG: Ms = 1_000;
const IDLE: Ms = 60_000;
/// The setting by which an application asks for executors while it runs.
const DYNAMIC: &str = "spark.dynamicAllocation.enabled";
/// No wait and no interval is longer.
pub(super) const LONGEST: Ms = 3_600_000;

/// The settings of an application, as its log has them.
type Logged = BTreeMap<String, String>;

/// The rules of an application.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Conf {
    pub(super) mode: Mode,
    /// How long a task set waits for a preferred machine, and for its rack, ms.
    wait_node: Ms,
    wait_rack: Ms,
    /// True if each launch sets the waits back.
    pub(super) legacy_reset: bool,
    /// The time between two offers of everything, ms.
    pub(super) revive: Ms,
    /// The cores that a task takes, at least what it requests.
    task_cpus: u64,
    /// The cores of an executor; `None`: all that are free of a machine.
    pub(super) executor_cores: Option<u64>,
    /// How many executors it asks for; `None`: as many as it can get.
    pub(super) executors: Option<u64>,
    /// The most cores that the application gets.
    pub(super) cores_max: Option<u64>,
    /// True if the master deals its executors out over workers.
    pub(super) spread_out: bool,
    /// How it asks for executors while it runs; `None`: it asks for all at its start.
    pub(super) dynamic: Option<Limits>,
}

impl Conf {
    pub(super) fn of(set: &Settings, logged: Option<&Logged>) -> Self {
        let text = |key: &str| logged.and_then(|logged| logged.get(key)).map(|text| text.trim());
        let time = |key: &str| text(key).and_then(in_ms).map(|time| time.clamp(0, LONGEST));
        let number = |key: &str| text(key).and_then(|text| text.parse::<u64>().ok()).filter(|&number| number > 0);
        let wait = |given: Option<Ms>, key: &str| {
            given.or(set.wait).or_else(|| time(key)).or_else(|| time("spark.locality.wait")).unwrap_or(WAIT)
        };
        let legacy = || match text("spark.locality.wait.legacyResetOnTaskLaunch") {
            Some(said) => said.eq_ignore_ascii_case("true"),
            None => text("spark.version").is_some_and(is_before_3_1),
        };
        let dealt = || text("spark.deploy.spreadOut").is_none_or(|said| !said.eq_ignore_ascii_case("false"));
        let executor_cores = set.executor_cores.map(u64::from).or_else(|| number("spark.executor.cores"));
        let task_cpus = set.task_cpus.map(u64::from).or_else(|| number("spark.task.cpus")).unwrap_or(0);
        let seconds = |key: &str| text(&dynamic_key(key)).and_then(of_seconds).map(|time| time.clamp(0, LONGEST));
        let count = |given: Option<u32>, key: &str| {
            given.map(u64::from).or_else(|| text(&dynamic_key(key)).and_then(|text| text.parse::<u64>().ok()))
        };
        let is_on = |key: &str| text(key).is_some_and(|said| said.eq_ignore_ascii_case("true"));
        let limits = || {
            let least = count(set.min_executors, "minExecutors").unwrap_or(0);
            let backlog = set.backlog.or_else(|| seconds("schedulerBacklogTimeout")).unwrap_or(BACKLOG);
            let ratio = text(&dynamic_key("executorAllocationRatio")).and_then(|text| text.parse::<f64>().ok());
            Limits {
                least,
                most: count(set.max_executors, "maxExecutors").unwrap_or(u64::from(u32::MAX)).max(least),
                first: count(set.initial_executors, "initialExecutors")
                    .unwrap_or(0)
                    .max(number("spark.executor.instances").unwrap_or(0)),
                ratio: ratio.filter(|ratio| (0.0..=1.0).contains(ratio) && *ratio > 0.0).unwrap_or(1.0),
                backlog,
                sustained: set
                    .sustained_backlog
                    .or_else(|| seconds("sustainedSchedulerBacklogTimeout"))
                    .unwrap_or(backlog),
                idle: set.idle.or_else(|| seconds("executorIdleTimeout")).unwrap_or(IDLE),
                holds_shuffles: !is_on("spark.shuffle.service.enabled"),
                tasks_each: (executor_cores.unwrap_or(1) / task_cpus.max(1)).max(1),
            }
        };
        // The standalone master looks at this setting only if executors come on demand.
        let under_yarn = set.manager != Kind::Standalone;
        let is_dynamic = set.dynamic.unwrap_or_else(|| is_on(DYNAMIC));
        Self {
            mode: set.mode.unwrap_or_else(|| if logged.is_some_and(is_fair) { Mode::Fair } else { Mode::Fifo }),
            wait_node: wait(set.wait_node, "spark.locality.wait.node"),
            wait_rack: wait(set.wait_rack, "spark.locality.wait.rack"),
            legacy_reset: set.legacy_reset.unwrap_or_else(legacy),
            revive: set.revive.or_else(|| time("spark.scheduler.revive.interval")).unwrap_or(REVIVE).max(1),
            task_cpus,
            executor_cores,
            executors: set
                .executors
                .map(u64::from)
                .or_else(|| under_yarn.then(|| number("spark.executor.instances")).flatten()),
            cores_max: set.cores_max.map(u64::from).or_else(|| number("spark.cores.max")),
            spread_out: set.spread_out.unwrap_or_else(dealt),
            dynamic: is_dynamic.then(limits),
        }
    }

    /// How long a task set waits at a level for a nearer executor, ms.
    pub(super) fn wait(&self, level: Level) -> Ms {
        match level {
            Level::Node => self.wait_node,
            Level::Rack => self.wait_rack,
            Level::Process | Level::NoPref | Level::Any => 0,
        }
    }

    /// What an instance of a task takes of an executor, given what it requests.
    pub(super) fn cost(&self, demand: Resources) -> Resources {
        Resources { cpu: demand.cpu.max(self.task_cpus * 1_000), ..demand }
    }
}

/// True if the log of an application says that its pools count.
pub(super) fn is_fair(logged: &Logged) -> bool {
    logged.get("spark.scheduler.mode").is_some_and(|mode| mode.trim().eq_ignore_ascii_case("FAIR"))
}

/// The name of a setting of dynamic allocation.
fn dynamic_key(key: &str) -> String {
    format!("spark.dynamicAllocation.{key}")
}

/// True if a version of Spark sets the waits back at each launch: all before 3.1 do.
fn is_before_3_1(version: &str) -> bool {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(u32::MAX));
    (parts.next().unwrap_or(u32::MAX), parts.next().unwrap_or(u32::MAX)) < (3, 1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::settings::Values;

    fn settings(set: &[(&str, &'static str)]) -> Settings {
        let text = |key: &str| set.iter().find(|(known, _)| *known == key).map(|(_, text)| *text);
        let values = Values::parse(Settings::PARAMETERS, |parameter| text(parameter.key).unwrap_or(parameter.default));
        Settings::read(&values.unwrap()).unwrap()
    }

    fn logged(set: &[(&str, &str)]) -> Logged {
        set.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    fn waits(conf: &Conf) -> [Ms; 3] {
        [Level::Node, Level::Rack, Level::Any].map(|level| conf.wait(level))
    }

    #[test]
    fn waits_are_what_was_set_then_what_was_logged_then_three_seconds() {
        assert_eq!(waits(&Conf::of(&settings(&[]), None)), [3_000, 3_000, 0]);
        let log = logged(&[("spark.locality.wait", "2s"), ("spark.locality.wait.node", "500ms")]);
        assert_eq!(waits(&Conf::of(&settings(&[]), Some(&log))), [500, 2_000, 0]);
        assert_eq!(waits(&Conf::of(&settings(&[("wait", "0")]), Some(&log))), [0, 0, 0]);
        assert_eq!(waits(&Conf::of(&settings(&[("wait", "7"), ("wait_rack", "9")]), Some(&log))), [7, 9, 0]);
    }

    #[test]
    fn what_the_log_says_is_read() {
        let log = logged(&[
            ("spark.scheduler.mode", "FAIR"),
            ("spark.version", "3.0.2"),
            ("spark.task.cpus", "2"),
            ("spark.executor.cores", "4"),
            ("spark.cores.max", "16"),
            ("spark.scheduler.revive.interval", "1min"),
        ]);
        let conf = Conf::of(&settings(&[]), Some(&log));
        assert_eq!((conf.mode, conf.legacy_reset, conf.revive), (Mode::Fair, true, 60_000));
        assert_eq!((conf.executor_cores, conf.cores_max), (Some(4), Some(16)));
        assert_eq!(conf.cost(Resources { cpu: 1_000, memory: 7 }), Resources { cpu: 2_000, memory: 7 });
        let conf = Conf::of(&settings(&[("mode", "fifo"), ("legacy_reset", "false")]), Some(&log));
        assert_eq!((conf.mode, conf.legacy_reset), (Mode::Fifo, false));
        let newer = logged(&[("spark.version", "3.5.6")]);
        assert!(!Conf::of(&settings(&[]), Some(&newer)).legacy_reset);
    }
}
