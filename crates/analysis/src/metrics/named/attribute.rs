//! The attributes of a job that filters compare.

use std::borrow::Cow;
use std::sync::Arc;

use super::filter::Subject;

/// An attribute of a job.
#[derive(Debug)]
pub struct Attribute {
    /// Its name.
    pub name: &'static str,
    /// What it is, and which values it has.
    pub meaning: &'static str,
    pub(super) value: Value,
}

/// The text of a job; `None` if it is unknown.
pub(super) type Text = for<'a> fn(&'a Subject<'_>) -> Option<Cow<'a, str>>;

/// The number of a job; `None` if it is unknown.
pub(super) type Number = fn(&Subject<'_>) -> Option<f64>;

/// How the value of an attribute is found.
#[derive(Debug)]
pub(super) enum Value {
    /// A text.
    Text(Text),
    /// A number with its unit.
    Number(Number, &'static str),
    /// A word or a number, as the source has it.
    Either(Text, Number),
    /// Words that may hold for a job. Several may.
    Class(&'static [&'static str], fn(&Subject<'_>, &str) -> bool),
}

const fn text(name: &'static str, meaning: &'static str, of: Text) -> Attribute {
    Attribute { name, meaning, value: Value::Text(of) }
}

const fn number(name: &'static str, unit: &'static str, meaning: &'static str, of: Number) -> Attribute {
    Attribute { name, meaning, value: Value::Number(of, unit) }
}

fn known(text: &Option<Arc<str>>) -> Option<Cow<'_, str>> {
    text.as_deref().map(Cow::Borrowed)
}

/// All attributes. Filters compare [quantities](super::QUANTITIES), too.
pub const ATTRIBUTES: &[Attribute] = &[
    text("job", "the id", |subject| Some(Cow::Borrowed(&subject.job.job_id))),
    text("name", "the name that its user gave it", |subject| known(&subject.job.name)),
    text("user", "who submitted it", |subject| known(&subject.job.user)),
    text("queue", "the queue or pool", |subject| known(&subject.job.queue)),
    text("group", "the larger work that it is a part of", |subject| known(&subject.job.group)),
    text("framework", "what ran it, such as 'mapreduce'", |subject| known(&subject.job.framework)),
    text(OUTCOME, "how it ended: 'SUCCESS', 'FAILED', 'KILLED', …", |subject| {
        Some(Cow::Borrowed(subject.job.outcome.as_str()))
    }),
    Attribute {
        name: "priority",
        meaning: "Hadoop's word, such as 'HIGH', or the source's own number",
        value: Value::Either(
            |subject| subject.job.priority.map(|priority| Cow::Borrowed(priority.as_str())),
            |subject| subject.job.priority_number.map(|number| number as f64),
        ),
    },
    number("scheduling_class", "", "the source's own number for how much it minds waiting", |subject| {
        subject.job.scheduling_class.map(|class| class as f64)
    }),
    number("input", "bytes", "the bytes that its maps read from the file system", |subject| {
        subject.job.input_bytes.map(|bytes| bytes as f64)
    }),
    number(
        "submit_hour",
        "",
        "the hour of the day in which it was submitted, 0 to 23 (UTC, or since the zero of a run whose trace has no dates)",
        |subject| subject.submit.map(|submit| hour_of_day(submit) as f64),
    ),
    Attribute {
        name: "size",
        meaning: "'small': at most as many tasks as the median job; 'large': at least as many as the last of the tenth with most \
                  tasks; 'medium': neither",
        value: Value::Class(&["small", "medium", "large"], |subject, word| match word {
            "small" => subject.is_small,
            "large" => subject.is_large,
            _ => !subject.is_small && !subject.is_large,
        }),
    },
];

/// The attribute that says how a job ended.
pub(super) const OUTCOME: &str = "outcome";

/// The hour of the day at a time in ms, from 0 to 23.
pub(crate) fn hour_of_day(ms: i64) -> i64 {
    ms.div_euclid(3_600_000).rem_euclid(24)
}
