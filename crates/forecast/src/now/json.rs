//! `squeue --json`. A number is plain in old versions of Slurm, and `{"set": true, "infinite": false, "number": 5}` in later ones; a state
//! is a text or a list of texts.

use std::collections::BTreeMap;

use resched_sim::Ms;
use serde_json::Value;

use super::listed::{Listed, ids};

/// The jobs of a list, and when it was made, ms.
pub(super) fn parse(text: &str, skipped: &mut BTreeMap<String, u64>) -> Result<(Vec<Listed>, Option<Ms>), String> {
    let list: Value = serde_json::from_str(text).map_err(|error| {
        format!("line {}, column {}: expected JSON, found another text ({error})", error.line(), error.column())
    })?;
    let Some(jobs) = list.get("jobs").and_then(Value::as_array) else {
        return Err(
            "expected the list `jobs` of `squeue --json`, found none; write it with `squeue --json > NOW`".to_owned()
        );
    };
    let at = list.get("last_update").and_then(number).map(seconds).filter(|at| *at > 0);
    let all = jobs.iter().flat_map(|job| {
        let listed_job = listed(job);
        let names = match array_of(job) {
            Some(array) => ids(&array, skipped),
            None => vec![listed_job.id.clone()],
        };
        names.into_iter().map(move |id| Listed { id, ..listed_job.clone() })
    });
    Ok((all.collect(), at))
}

/// The tasks that one entry stands for: `7_[1-3]`, or one of them: `7_1`. `None` if it is no array.
fn array_of(job: &Value) -> Option<String> {
    let array = job.get("array_job_id").and_then(number).filter(|id| *id > 0)?;
    let tasks = job.get("array_task_string").and_then(Value::as_str).filter(|tasks| !tasks.is_empty());
    let task = job.get("array_task_id").and_then(number);
    tasks.map(|tasks| format!("{array}_[{tasks}]")).or_else(|| Some(format!("{array}_{}", task?)))
}

fn listed(job: &Value) -> Listed {
    let text = |name: &str| job.get(name).map(words).unwrap_or_default();
    let count = |name: &str| job.get(name).and_then(number);
    let time = |name: &str| count(name).map(seconds).filter(|at| *at > 0);
    Listed {
        id: count("job_id").map_or_else(String::new, |id| id.to_string()),
        user: text("user_name"),
        name: text("name"),
        queue: text("partition"),
        account: text("account"),
        qos: text("qos"),
        state: text("job_state"),
        reason: text("state_reason"),
        priority: count("priority"),
        submit: time("submit_time"),
        eligible: time("eligible_time"),
        start: time("start_time"),
        elapsed: None,
        limit: count("time_limit").and_then(|minutes| minutes.checked_mul(60_000)).filter(|limit| *limit > 0),
        machines: count("node_count").or_else(|| count("nodes")),
        cpus: count("cpus"),
        exclusive: text("exclusive").contains("true") || text("shared").starts_with("none"),
    }
}

/// A number, plain or in its wrapping; `None` if it is not set or infinite.
fn number(value: &Value) -> Option<i64> {
    let is = |name: &str| value.get(name).and_then(Value::as_bool);
    match value {
        Value::Number(plain) => plain.as_i64(),
        Value::String(text) => text.parse().ok(),
        Value::Object(_) if is("set") != Some(false) && is("infinite") != Some(true) => value.get("number")?.as_i64(),
        _ => None,
    }
}

/// A text, or a list of texts with commas.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
        _ => String::new(),
    }
}

fn seconds(seconds: i64) -> Ms {
    seconds.saturating_mul(1_000)
}
