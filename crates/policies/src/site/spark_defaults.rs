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
