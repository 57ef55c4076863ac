//! Records as JSON: an object in each line (OCS since version 9).

use std::borrow::Cow;

use serde::Deserialize;

use super::super::json::Text;
use super::{Record, time};

/// The fields of an object that are used.
#[derive(Debug, Deserialize)]
struct Object<'a> {
    job_number: u64,
    #[serde(default)]
    task_number: u64,
    #[serde(default)]
    start_time: i64,
    #[serde(default)]
    end_time: i64,
    submission_time: i64,
    #[serde(borrow, default)]
    owner: Text<'a>,
    #[serde(borrow, default)]
    group: Text<'a>,
    #[serde(borrow, default)]
    project: Text<'a>,
    #[serde(borrow, default)]
    department: Text<'a>,
    #[serde(borrow, default)]
    qname: Text<'a>,
    #[serde(borrow, default)]
    hostname: Text<'a>,
    #[serde(borrow, default)]
    granted_pe: Text<'a>,
    #[serde(borrow, default)]
    job_name: Text<'a>,
    #[serde(borrow, default)]
    category: Text<'a>,
    #[serde(default)]
    priority: i64,
    #[serde(default)]
    slots: i64,
    #[serde(default)]
    failed: i64,
    #[serde(default)]
    exit_status: i64,
    #[serde(borrow)]
    pe_task_id: Option<Text<'a>>,
    #[serde(default)]
    usage: Usage,
}

#[derive(Debug, Default, Deserialize)]
struct Usage {
    #[serde(default)]
    usage: Used,
    cpu: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
struct Used {
    cpu: Option<f64>,
}

/// True if a line is such an object.
pub(super) fn is_one(line: &str) -> bool {
    line.starts_with('{') && line.contains("\"submission_time\"") && line.contains("\"job_number\"")
}

/// The record of a line, or which field cannot be read.
pub(super) fn parse(line: &str) -> Result<Record<'_>, &'static str> {
    let object: Object<'_> = serde_json::from_str(line).map_err(|_| "object")?;
    let text = |text: Text<'_>| Cow::<'_, str>::Owned(text.into_owned());
    let cpu = object.usage.usage.cpu.or(object.usage.cpu);
    Ok(Record {
        job: object.job_number,
        task: object.task_number,
        is_step: object.pe_task_id.is_some_and(|id| !matches!(id.as_str(), "" | "NONE")),
        queue: text(object.qname),
        host: text(object.hostname),
        group: text(object.group),
        owner: text(object.owner),
        name: text(object.job_name),
        project: text(object.project),
        department: text(object.department),
        environment: text(object.granted_pe),
        category: text(object.category),
        priority: Some(object.priority).filter(|&priority| priority != 0),
        submit: time(object.submission_time).ok_or("submission_time")?,
        start: time(object.start_time),
        end: time(object.end_time),
        failed: object.failed,
        status: object.exit_status,
        slots: object.slots,
        cpu_ms: cpu.filter(|cpu| *cpu >= 0.0).and_then(super::super::swf::milliseconds),
        reservation: Cow::Borrowed(""),
    })
}
