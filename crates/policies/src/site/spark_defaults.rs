//! `spark-defaults.conf`: a property a line, with white space, `=` or `:` between its name and its value.
//!
//! **Source.** `Utils.getPropertiesFromFile` of Spark 3.5, which reads it as a file of Java properties. Lines that go on in the next, and
//! escapes, are not read.

use super::SPARK_DEFAULTS;
use super::properties::{Properties, Property};
use super::xml::{Notes, Place};
use crate::input::Input;
use crate::parts::spark_time::{in_ms, of_seconds};
use crate::unread::Why;

/// Properties that decide nothing here, or that something else decides.
const ELSEWHERE: &[(&str, Why<'static>)] = &[
    (
        "spark.scheduler.allocation.file",
        Why::on(Input::SparkPools, "put that file into this folder, as fairscheduler.xml"),
    ),
    ("spark.locality.wait.process", Why::bears("no trace says what executors have cached")),
    ("spark.speculation", Why::bears("a replay starts no second attempts")),
    ("spark.dynamicAllocation.cachedExecutorIdleTimeout", Why::bears("no trace says what executors have cached")),
    ("spark.dynamicAllocation.shuffleTracking.timeout", Why::bears("the output of a job is kept until it ends")),
];

/// Properties about scheduling that are not replayed, by the beginning of their names, with the values that change nothing. The longest
/// beginning counts.
const NOT_MODELLED: &[(&str, &[&str], Why<'static>)] = &[
    ("spark.barrier.", &[], Why::bears("the tasks of a barrier stage start as others do")),
    ("spark.blacklist.", &["false"], EXCLUDED),
    ("spark.dynamicAllocation.", &[], UNKNOWN),
    (
        "spark.dynamicAllocation.executorAllocationRatio",
        &["1", "1.0"],
        Why::bears("an executor is asked for each task that waits"),
    ),
    (
        "spark.dynamicAllocation.shuffleTracking.enabled",
        &[],
        Why::harmless("the output of a job is kept until it ends"),
    ),
    ("spark.excludeOnFailure.", &["false"], EXCLUDED),
    ("spark.executor.memory", &[], OFFERED),
    ("spark.executor.resource.", &[], OFFERED),
    ("spark.locality.", &[], UNKNOWN),
    ("spark.scheduler.", &[], UNKNOWN),
    ("spark.scheduler.barrier.", &[], Why::bears("the tasks of a barrier stage start as others do")),
    ("spark.scheduler.listenerbus.", &[], Why::harmless("it concerns events and changes no schedule")),
    ("spark.scheduler.maxRegisteredResourcesWaitingTime", &["30s", "30000"], REGISTERED),
    ("spark.scheduler.minRegisteredResourcesRatio", &["0.0", "0"], REGISTERED),
    ("spark.speculation.", &[], Why::harmless("without `spark.speculation`, it does nothing")),
    ("spark.stage.", &[], TRIED),
    ("spark.task.maxFailures", &["4"], TRIED),
    ("spark.task.resource.", &[], Why::bears("tasks ask for processors alone")),
];

const EXCLUDED: Why<'static> = Why::bears("executors are not excluded after failures");
const OFFERED: Why<'static> = Why::harmless("the log says what each executor offers");
const REGISTERED: Why<'static> = Why::bears("tasks start as soon as an executor has registered");
const TRIED: Why<'static> = Why::harmless("the log says how often each task was tried");
const UNKNOWN: Why<'static> = Why::bears("resched does not know it");

/// Names the properties about scheduling that nothing asked for.
pub(super) fn name_the_rest(properties: &Properties, notes: &mut Notes<'_>) {
    for Property { name, value, place } in properties.unknown() {
        let known =
            NOT_MODELLED.iter().filter(|(begin, ..)| name.starts_with(begin)).max_by_key(|(begin, ..)| begin.len());
        if let Some((_, neutral, why)) = known
            && !neutral.iter().any(|own| own.eq_ignore_ascii_case(value))
        {
            notes.unsupported(place, name, *why);
        }
    }
}

/// Reads the properties of a file.
pub(super) fn read(bytes: &[u8], properties: &mut Properties, notes: &mut Notes<'_>) {
    for (line, text) in (1..).zip(String::from_utf8_lossy(bytes).lines()) {
        let text = text.trim();
        let place = Place::of(SPARK_DEFAULTS, line);
        if text.is_empty() || text.starts_with('#') || text.starts_with('!') {
            continue;
        }
        let Some((name, value)) = parts(text) else {
            notes.unsupported(place, text, "it has no value");
            continue;
        };
        if let Some((_, why)) = ELSEWHERE.iter().find(|(known, _)| *known == name) {
            if name == "spark.speculation" && value.eq_ignore_ascii_case("false") {
                continue;
            }
            notes.unsupported(place, name, *why);
            continue;
        }
        properties.put(Property { name: name.to_owned(), value: in_our_words(name, value), place });
    }
}

/// The name and the value of a line.
fn parts(line: &str) -> Option<(&str, &str)> {
    let end = line.find(|c: char| c.is_whitespace() || c == '=' || c == ':')?;
    let (name, rest) = line.split_at(end);
    let value = rest.trim_start().trim_start_matches(['=', ':']).trim();
    (!name.is_empty() && !value.is_empty()).then_some((name, value))
}

/// A value as parameters have it: times in ms, and words in small letters.
fn in_our_words(name: &str, value: &str) -> String {
    let is_time =
        name.starts_with("spark.locality.wait") && !name.ends_with("OnTaskLaunch") || name.ends_with(".interval");
    let is_in_seconds = name.starts_with("spark.dynamicAllocation.") && name.ends_with("Timeout");
    let time = if is_in_seconds { of_seconds(value) } else { in_ms(value).filter(|_| is_time) };
    match time {
        Some(time) => time.to_string(),
        None if name == "spark.scheduler.mode" => value.to_lowercase(),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_name_and_a_value() {
        for line in [
            "spark.locality.wait 3s",
            "spark.locality.wait=3s",
            "spark.locality.wait : 3s",
            "spark.locality.wait\t=  3s",
        ] {
            assert_eq!(parts(line), Some(("spark.locality.wait", "3s")), "{line}");
        }
        assert_eq!(parts("spark.locality.wait"), None);
        assert_eq!(in_our_words("spark.locality.wait.node", "2s"), "2000");
        assert_eq!(in_our_words("spark.scheduler.mode", "FAIR"), "fair");
        assert_eq!(in_our_words("spark.cores.max", "12"), "12");
    }
}
