//! The events of a log that the tables need, each as the JSON object of its line.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use super::retries::Loss;
use super::settings::Settings;
use crate::formats::lenient::number_or_0;

/// An event that the tables need.
pub(super) enum Event {
    LogStart(LogStart),
    ApplicationStart(ApplicationStart),
    ApplicationEnd(ApplicationEnd),
    Environment(Environment),
    ExecutorAdded(ExecutorAdded),
    ExecutorRemoved(ExecutorRemoved),
    BlockManagerAdded(BlockManagerAdded),
    JobStart(JobStart),
    JobEnd(JobEnd),
    Stage(StageInfo),
    TaskStart(TaskStart),
    TaskEnd(Box<TaskEnd>),
    /// The first line of a part of a log of Databricks.
    Part(Part),
    /// A profile of resources: other cores or memory for the tasks of some stages.
    ResourceProfile(ResourceProfile),
    /// An executor or a host gets no tasks of a stage or of the application for some time, because tasks failed there.
    Exclusion,
}

impl ExecutorAdded {
    /// The host of the executor. An executor without one is a machine of its own.
    pub(super) fn host(&self) -> String {
        self.info.host.clone().filter(|host| !host.is_empty()).unwrap_or_else(|| format!("executor-{}", self.id))
    }
}

impl Event {
    /// The event of a line: `Ok(None)` if the tables keep nothing of it, `Err` if it is damaged.
    pub(super) fn parse(line: &str) -> Result<Option<Self>, serde_json::Error> {
        let tag = name(line)?;
        if tag == PART {
            return Ok(Some(Self::Part(serde_json::from_str(line)?)));
        }
        // Spark writes some events of its scheduler with the name of their package, such as exclusions. Others that have one are of SQL
        // and of vendors.
        let short = tag.strip_prefix(PACKAGE).unwrap_or(tag.as_ref());
        let Some(name) = short.strip_prefix("SparkListener") else { return Ok(None) };
        Ok(Some(match name {
            "LogStart" => Self::LogStart(serde_json::from_str(line)?),
            "ApplicationEnd" => Self::ApplicationEnd(serde_json::from_str(line)?),
            "ApplicationStart" => Self::ApplicationStart(serde_json::from_str(line)?),
            "EnvironmentUpdate" => Self::Environment(serde_json::from_str(line)?),
            "ExecutorAdded" => Self::ExecutorAdded(serde_json::from_str(line)?),
            "ExecutorRemoved" => Self::ExecutorRemoved(serde_json::from_str(line)?),
            "BlockManagerAdded" => Self::BlockManagerAdded(serde_json::from_str(line)?),
            "JobStart" => Self::JobStart(serde_json::from_str(line)?),
            "JobEnd" => Self::JobEnd(serde_json::from_str(line)?),
            "StageSubmitted" | "StageCompleted" => Self::Stage(serde_json::from_str::<StageEvent>(line)?.stage),
            "TaskStart" => Self::TaskStart(serde_json::from_str(line)?),
            "TaskEnd" => Self::TaskEnd(Box::new(serde_json::from_str(line)?)),
            "ResourceProfileAdded" => Self::ResourceProfile(serde_json::from_str(line)?),
            _ if EXCLUSIONS.contains(&name) => Self::Exclusion,
            _ => return Ok(None),
        }))
    }
}

/// The first event of a part of a log of Databricks.
const PART: &str = "DBCEventLoggingListenerMetadata";

/// The package of the events of Spark's scheduler.
const PACKAGE: &str = "org.apache.spark.scheduler.";

/// The events that exclude an executor or a host, under their names since 3.1 and before.
const EXCLUSIONS: [&str; 8] = [
    "ExecutorExcluded",
    "ExecutorExcludedForStage",
    "NodeExcluded",
    "NodeExcludedForStage",
    "ExecutorBlacklisted",
    "ExecutorBlacklistedForStage",
    "NodeBlacklisted",
    "NodeBlacklistedForStage",
];

/// The name of a line's event. It is the first entry in every log, so long lines of other events need not be parsed.
pub(super) fn name(line: &str) -> Result<Cow<'_, str>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Tag {
        #[serde(rename = "Event")]
        event: String,
    }
    let first = line.strip_prefix(r#"{"Event":""#).and_then(|rest| rest.split_once('"'));
    match first {
        Some((name, _)) => Ok(Cow::Borrowed(name)),
        None => Ok(Cow::Owned(serde_json::from_str::<Tag>(line)?.event)),
    }
}

/// A part of a log of Databricks.
#[derive(Deserialize)]
pub(super) struct Part {
    /// Its number, from 0.
    #[serde(rename = "Rollover Number")]
    pub(super) number: Option<u64>,
    #[serde(rename = "SparkContext Id")]
    context: Option<Value>,
    #[serde(rename = "Spark Version")]
    pub(super) version: Option<String>,
}

impl Part {
    /// The id of the application's context, which all parts of a log share.
    pub(super) fn context(&self) -> Option<String> {
        match self.context.as_ref()? {
            Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct LogStart {
    #[serde(rename = "Spark Version")]
    pub(super) version: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct ApplicationEnd {
    #[serde(rename = "Timestamp")]
    pub(super) time: Option<i64>,
}

#[derive(Deserialize)]
pub(super) struct ResourceProfile {
    #[serde(rename = "Resource Profile Id")]
    pub(super) id: Option<i64>,
}

#[derive(Deserialize)]
pub(super) struct ApplicationStart {
    #[serde(rename = "App Name")]
    pub(super) name: Option<String>,
    /// Absent in local mode of old versions.
    #[serde(rename = "App ID")]
    pub(super) id: Option<String>,
    #[serde(rename = "App Attempt ID")]
    pub(super) attempt: Option<String>,
    #[serde(rename = "User")]
    pub(super) user: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Environment {
    #[serde(rename = "Spark Properties")]
    pub(super) properties: Settings,
}

#[derive(Deserialize)]
pub(super) struct ExecutorAdded {
    #[serde(rename = "Timestamp")]
    pub(super) time: i64,
    #[serde(rename = "Executor ID")]
    pub(super) id: String,
    #[serde(rename = "Executor Info")]
    pub(super) info: ExecutorInfo,
}

#[derive(Deserialize)]
pub(super) struct ExecutorInfo {
    /// Absent in logs that another program wrote.
    #[serde(rename = "Host")]
    pub(super) host: Option<String>,
    #[serde(rename = "Total Cores")]
    pub(super) cores: Option<i64>,
}

#[derive(Deserialize)]
pub(super) struct ExecutorRemoved {
    #[serde(rename = "Timestamp")]
    pub(super) time: i64,
    #[serde(rename = "Executor ID")]
    pub(super) id: String,
}

/// The only event of 1.0 to 1.2 that names an executor.
#[derive(Deserialize)]
pub(super) struct BlockManagerAdded {
    #[serde(rename = "Timestamp")]
    pub(super) time: Option<i64>,
    #[serde(rename = "Block Manager ID")]
    pub(super) manager: BlockManager,
}

#[derive(Deserialize)]
pub(super) struct BlockManager {
    #[serde(rename = "Executor ID")]
    pub(super) executor: String,
    #[serde(rename = "Host")]
    pub(super) host: String,
}

#[derive(Deserialize)]
pub(super) struct JobStart {
    #[serde(rename = "Job ID")]
    pub(super) id: i64,
    #[serde(rename = "Submission Time")]
    pub(super) submit: Option<i64>,
    #[serde(rename = "Stage Infos", default)]
    pub(super) stages: Vec<StageInfo>,
    #[serde(rename = "Stage IDs", default)]
    pub(super) stage_ids: Vec<i64>,
    #[serde(rename = "Properties")]
    pub(super) properties: Option<JobProperties>,
}

#[derive(Deserialize, Default)]
pub(super) struct JobProperties {
    #[serde(rename = "spark.job.description")]
    pub(super) description: Option<String>,
    #[serde(rename = "spark.scheduler.pool")]
    pub(super) pool: Option<String>,
    #[serde(rename = "spark.yarn.queue")]
    pub(super) queue: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct JobEnd {
    #[serde(rename = "Job ID")]
    pub(super) id: i64,
    #[serde(rename = "Completion Time")]
    pub(super) time: Option<i64>,
    #[serde(rename = "Job Result")]
    pub(super) result: JobResult,
}

#[derive(Deserialize)]
pub(super) struct JobResult {
    #[serde(rename = "Result")]
    pub(super) result: String,
    #[serde(rename = "Exception")]
    pub(super) exception: Option<Exception>,
}

#[derive(Deserialize)]
pub(super) struct Exception {
    #[serde(rename = "Message")]
    pub(super) message: Option<String>,
}

#[derive(Deserialize)]
struct StageEvent {
    #[serde(rename = "Stage Info")]
    stage: StageInfo,
}

#[derive(Deserialize)]
pub(super) struct StageInfo {
    #[serde(rename = "Stage ID")]
    pub(super) id: i64,
    #[serde(rename = "Stage Attempt ID", default, deserialize_with = "number_or_0")]
    pub(super) attempt: i64,
    #[serde(rename = "Stage Name")]
    pub(super) name: Option<String>,
    /// Those that this attempt runs.
    #[serde(rename = "Number of Tasks")]
    pub(super) tasks: Option<i64>,
    /// Absent before 1.4.
    #[serde(rename = "Parent IDs")]
    pub(super) parents: Option<Vec<i64>>,
    #[serde(rename = "Submission Time")]
    pub(super) submit: Option<i64>,
    #[serde(rename = "RDD Info", default)]
    rdds: Vec<RddInfo>,
}

impl StageInfo {
    /// True if its tasks must all start together.
    pub(super) fn is_barrier(&self) -> bool {
        self.rdds.iter().any(|rdd| rdd.barrier == Some(true))
    }
}

#[derive(Deserialize)]
struct RddInfo {
    /// Absent before 2.4.
    #[serde(rename = "Barrier")]
    barrier: Option<bool>,
}

#[derive(Deserialize)]
pub(super) struct TaskStart {
    #[serde(rename = "Stage ID")]
    pub(super) stage: i64,
    #[serde(rename = "Stage Attempt ID", default, deserialize_with = "number_or_0")]
    pub(super) stage_attempt: i64,
    #[serde(rename = "Task Info")]
    pub(super) info: TaskInfo,
}

#[derive(Deserialize)]
pub(super) struct TaskEnd {
    #[serde(rename = "Stage ID")]
    pub(super) stage: i64,
    #[serde(rename = "Stage Attempt ID", default, deserialize_with = "number_or_0")]
    pub(super) stage_attempt: i64,
    #[serde(rename = "Task Type")]
    pub(super) kind: Option<String>,
    #[serde(rename = "Task End Reason")]
    pub(super) reason: EndReason,
    #[serde(rename = "Task Info")]
    pub(super) info: TaskInfo,
    /// Absent for tasks that were lost.
    #[serde(rename = "Task Metrics")]
    pub(super) metrics: Option<Metrics>,
}

#[derive(Deserialize)]
pub(super) struct EndReason {
    #[serde(rename = "Reason")]
    pub(super) reason: String,
    #[serde(rename = "Class Name")]
    pub(super) class: Option<String>,
    #[serde(rename = "Description")]
    pub(super) description: Option<String>,
    #[serde(rename = "Loss Reason")]
    pub(super) loss: Option<String>,
    #[serde(rename = "Kill Reason")]
    pub(super) kill: Option<String>,
    #[serde(rename = "Message")]
    pub(super) message: Option<String>,
    /// From where an output could not be fetched.
    #[serde(rename = "Block Manager Address")]
    from: Option<Address>,
    /// The place of the map that wrote it; from 3.0 on.
    #[serde(rename = "Map Index")]
    map_index: Option<i64>,
    /// The same before 3.0; since then, the id of a task.
    #[serde(rename = "Map ID")]
    map_id: Option<i64>,
}

#[derive(Deserialize)]
struct Address {
    #[serde(rename = "Executor ID")]
    executor: Option<String>,
    #[serde(rename = "Host")]
    host: Option<String>,
}

impl TaskEnd {
    /// The output that this task could not fetch.
    pub(super) fn loss(&self) -> Option<Loss> {
        let reason = &self.reason;
        if reason.reason != "FetchFailed" {
            return None;
        }
        let map = reason.map_index.or(reason.map_id).map(|map| (self.stage, map));
        let from = reason.from.as_ref();
        Some(Loss {
            at: self.info.finish.unwrap_or(0),
            executor: from.and_then(|from| from.executor.clone()),
            host: from.and_then(|from| from.host.clone()),
            map,
        })
    }
}

#[derive(Deserialize)]
pub(super) struct TaskInfo {
    #[serde(rename = "Task ID")]
    pub(super) id: i64,
    /// Its place among the tasks that were submitted together.
    #[serde(rename = "Index")]
    pub(super) index: i64,
    /// Its place in the stage; absent before 3.3.
    #[serde(rename = "Partition ID")]
    pub(super) partition: Option<i64>,
    #[serde(rename = "Attempt", default, deserialize_with = "number_or_0")]
    pub(super) attempt: i64,
    #[serde(rename = "Launch Time")]
    pub(super) launch: Option<i64>,
    #[serde(rename = "Finish Time")]
    pub(super) finish: Option<i64>,
    #[serde(rename = "Executor ID")]
    pub(super) executor: Option<String>,
    #[serde(rename = "Host")]
    pub(super) host: Option<String>,
    #[serde(rename = "Locality")]
    pub(super) locality: Option<String>,
    #[serde(rename = "Speculative")]
    pub(super) speculative: Option<bool>,
}

#[derive(Deserialize, Default)]
pub(super) struct Metrics {
    /// Nanoseconds.
    #[serde(rename = "Executor CPU Time")]
    pub(super) cpu_ns: Option<i64>,
    #[serde(rename = "Shuffle Read Metrics")]
    pub(super) shuffle_read: Option<Amounts>,
    #[serde(rename = "Shuffle Write Metrics")]
    pub(super) shuffle_write: Option<Amounts>,
    #[serde(rename = "Input Metrics")]
    pub(super) input: Option<Amounts>,
    #[serde(rename = "Output Metrics")]
    pub(super) output: Option<Amounts>,
}

/// The numbers in one of the groups of metrics; each group has some of these.
#[derive(Deserialize, Default)]
pub(super) struct Amounts {
    #[serde(rename = "Bytes Read")]
    pub(super) read: Option<i64>,
    #[serde(rename = "Records Read")]
    pub(super) records_read: Option<i64>,
    #[serde(rename = "Bytes Written")]
    pub(super) written: Option<i64>,
    #[serde(rename = "Remote Bytes Read")]
    pub(super) remote_read: Option<i64>,
    #[serde(rename = "Local Bytes Read")]
    pub(super) local_read: Option<i64>,
    #[serde(rename = "Shuffle Bytes Written")]
    pub(super) shuffle_written: Option<i64>,
}
