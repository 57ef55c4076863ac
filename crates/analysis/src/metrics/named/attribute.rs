//! The attributes of a job that filters compare.

use super::filter::Class;
use super::getters::{Number, Text};

/// An attribute of a job.
#[derive(Debug)]
pub struct Attribute {
    /// Its name.
    pub name: &'static str,
    /// What it is, and which values it has.
    pub meaning: &'static str,
    pub(crate) value: Value,
}

/// How the value of an attribute is found.
#[derive(Debug)]
pub(crate) enum Value {
    /// A text.
    Text(Text),
    /// A number with its unit.
    Number(Number, &'static str),
    /// A word or a number, as the source has it.
    Either(Text, Number),
    /// Words that may hold for a job. Several may.
    Class(&'static [&'static str], Class),
}

const fn text(name: &'static str, meaning: &'static str, of: Text) -> Attribute {
    Attribute { name, meaning, value: Value::Text(of) }
}

const fn number(name: &'static str, unit: &'static str, meaning: &'static str, of: Number) -> Attribute {
    Attribute { name, meaning, value: Value::Number(of, unit) }
}

/// All attributes. Filters compare [quantities](super::QUANTITIES), too.
pub const ATTRIBUTES: &[Attribute] = &[
    text("job", "the id", |job| Some(&job.job_id)),
    text("name", "the name that its user gave it", |job| job.name.as_deref()),
    text("user", "who submitted it", |job| job.user.as_deref()),
    text("queue", "the queue or pool", |job| job.queue.as_deref()),
    text("group", "the application, the account or the user group that it belongs to", |job| job.group.as_deref()),
    text("qos", "the quality of service that it was submitted under (Slurm)", |job| job.qos.as_deref()),
    text("framework", "what ran it, such as 'mapreduce'", |job| job.framework.as_deref()),
    text(OUTCOME, "how it ended: 'SUCCESS', 'FAILED', 'KILLED', …", |job| Some(job.outcome.as_str())),
    Attribute {
        name: "priority",
        meaning: "one of Hadoop's levels, such as 'HIGH', or a number of the source",
        value: Value::Either(
            |job| job.priority.map(|priority| priority.as_str()),
            |job, _| job.priority_number.map(|number| number as f64),
        ),
    },
    number("scheduling_class", "", "latency sensitivity, as in the source", |job, _| {
        job.scheduling_class.map(|class| class as f64)
    }),
    number("input", "bytes", "the bytes that its maps read from the file system", |job, _| {
        job.input_bytes.map(|bytes| bytes as f64)
    }),
    number(
        "submit_hour",
        "",
        "the hour of the day in which it was submitted, 0 to 23 (in UTC, or counted from the start of a run whose trace has no dates)",
        |job, clock| job.submit.map(|submit| hour_of_day(clock.date(submit).unwrap_or(submit)) as f64),
    ),
    Attribute {
        name: SIZE,
        meaning: "'small': at most as many tasks as the median job; 'large': among the tenth of the jobs with the most tasks (with \
                  ties); 'medium': the others. For Slurm and batch systems, by CPUs instead of tasks",
        value: Value::Class(&["small", "medium", "large"], |sizes, job, word| match word {
            "small" => sizes.is_small(job),
            "large" => sizes.is_large(job),
            _ => !sizes.is_small(job) && !sizes.is_large(job),
        }),
    },
];

/// The attribute that says how a job ended.
pub(super) const OUTCOME: &str = "outcome";
/// The attribute of its class of size.
pub(crate) const SIZE: &str = "size";

/// The hour of the day at a time in ms, from 0 to 23.
pub(crate) fn hour_of_day(ms: i64) -> i64 {
    ms.div_euclid(3_600_000).rem_euclid(24)
}
