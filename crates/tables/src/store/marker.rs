//! Markers: the JSON files that make a folder a trace, a run, a sweep or a report.
//!
//! A marker ends with a seal, the SHA-256 of all bytes before it:
//!
//! ```text
//! {
//!   "format_version": 1,
//!   …,
//!   "seal": "<64 hexadecimal digits>"
//! }
//! ```
//!
//! So a changed byte is noticed, wherever it is. Only a trace that another tool made may have no seal, and then no list of files.

use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::hash::sha256;
use super::inventory::{Inventory, inside};

/// What stands before the digits of the seal.
const SEAL: &[u8] = b",\n  \"seal\": \"";
/// What stands after them.
const END: &[u8] = b"\"\n}\n";
/// The hexadecimal digits of a SHA-256.
const DIGITS: usize = 64;

/// The layout of a kind of marker.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// The kind of result, as in "expected a *trace*".
    pub what: &'static str,
    /// The version that this build writes and reads.
    pub version: u32,
    /// True if other tools may make such a result. Their marker has neither a seal nor a list of files.
    pub by_others: bool,
    /// How to make the result again, as in "*ingest the sources again*".
    pub again: &'static str,
}

/// Why a marker cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// What is wrong.
    pub problem: String,
    /// What you can do.
    pub remedy: String,
}

impl std::error::Error for Unusable {}

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; {}", self.problem, self.remedy)
    }
}

/// A value as sealed JSON. It must be an object with at least one field.
///
/// # Errors
/// The error of serde, if the value cannot be JSON.
pub fn encode(value: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    Ok(seal(serde_json::to_vec_pretty(value)?))
}

/// Like [`encode`], on one line, for markers that may be large.
///
/// # Errors
/// As [`encode`].
pub fn encode_compact(value: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    Ok(seal(serde_json::to_vec(value)?))
}

/// Puts a seal on the JSON of an object.
fn seal(mut json: Vec<u8>) -> Vec<u8> {
    while json.last().is_some_and(|&last| last == b'}' || last.is_ascii_whitespace()) {
        // Only the brace of the object itself, and what is around it.
        if json.pop() == Some(b'}') {
            break;
        }
    }
    json.truncate(json.trim_ascii_end().len());
    let digits = sha256(&json);
    json.extend_from_slice(SEAL);
    json.extend_from_slice(digits.as_bytes());
    json.extend_from_slice(END);
    json
}

/// The state of the seal of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sealed {
    /// It has none.
    Absent,
    /// Nothing was changed.
    Whole,
    /// Something was.
    Broken,
}

pub(super) fn sealed(bytes: &[u8]) -> Sealed {
    let parts = bytes.strip_suffix(END).and_then(|rest| rest.split_last_chunk::<DIGITS>());
    let parts = parts.and_then(|(rest, digits)| Some((rest.strip_suffix(SEAL)?, digits)));
    match parts {
        Some((json, digits)) if sha256(json).as_bytes() == digits => Sealed::Whole,
        Some(_) => Sealed::Broken,
        // In a text, the quotes would be escaped.
        None if bytes.windows(b"\"seal\"".len()).any(|window| window == b"\"seal\"") => Sealed::Broken,
        None => Sealed::Absent,
    }
}

/// Reads a marker, after its seal and its version.
///
/// # Errors
/// [`Unusable`] if it is damaged, was changed, or has a layout that this build does not know.
pub fn decode<T: DeserializeOwned>(bytes: &[u8], layout: &Layout) -> Result<T, Unusable> {
    #[derive(serde::Deserialize)]
    struct Version {
        #[serde(default)]
        format_version: u64,
        files: Option<IgnoredAny>,
    }
    let unusable = |problem: String| Unusable { problem, remedy: layout.again.to_owned() };
    let damaged = |error: serde_json::Error| unusable(format!("the file is damaged ({error})"));
    let seal = sealed(bytes);
    if seal == Sealed::Broken {
        return Err(unusable("the file is damaged, or was changed after resched wrote it".to_owned()));
    }
    let Version { format_version: found, files } = serde_json::from_slice(bytes).map_err(damaged)?;
    let Layout { what, version, by_others, again } = *layout;
    if found == 0 {
        return Err(unusable(format!("expected a {what} of version {version}, found no version")));
    }
    if found > u64::from(version) {
        let problem =
            format!("expected a {what} of version {version}, found version {found}, which a newer resched wrote");
        return Err(Unusable { problem, remedy: format!("update resched, or {again}") });
    }
    if seal == Sealed::Absent && (files.is_some() || !by_others) {
        return Err(unusable("the file is damaged (its seal is missing)".to_owned()));
    }
    serde_json::from_slice(bytes).map_err(damaged)
}

/// The files that a marker of any kind lists; `None` if it is damaged, or of a layout without a list.
pub fn listed(bytes: &[u8]) -> Option<Inventory> {
    #[derive(serde::Deserialize)]
    struct Listed {
        #[serde(deserialize_with = "inside")]
        files: Inventory,
    }
    let Listed { files } = serde_json::from_slice(bytes).ok()?;
    (sealed(bytes) == Sealed::Whole).then_some(files)
}

/// True if the bytes are a marker whose seal is whole.
pub fn is_sealed(bytes: &[u8]) -> bool {
    sealed(bytes) == Sealed::Whole && serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::{Value, json};

    use super::*;

    const LAYOUT: Layout = Layout { what: "run", version: 1, by_others: false, again: "replay the trace again" };

    fn problem(bytes: &[u8]) -> String {
        decode::<Value>(bytes, &LAYOUT).unwrap_err().to_string()
    }

    #[test]
    fn no_changed_byte_is_overlooked() {
        for value in [json!({"format_version": 1, "a": {"b": "x}"}, "z": {}}), json!({"format_version": 1})] {
            let whole = encode(&value).unwrap();
            let read: Value = decode(&whole, &LAYOUT).unwrap();
            assert_eq!(read["format_version"], 1);
            for place in 0..whole.len() {
                for other in [b'2', b' ', b'"', whole[place] ^ 1, 0] {
                    let mut changed = whole.clone();
                    changed[place] = other;
                    assert!(changed == whole || decode::<Value>(&changed, &LAYOUT).is_err(), "byte {place}: {other}");
                }
                assert!(decode::<Value>(&whole[..place], &LAYOUT).is_err(), "cut at {place}");
            }
        }
    }

    #[test]
    fn a_list_leads_nowhere_else() {
        let entry = crate::store::FileEntry::default();
        let found = |name: &str| listed(&encode(&json!({"files": {name: entry}})).unwrap());
        assert!(found("jobs.parquet").is_some() && found("jobs/part-00000.parquet").is_some());
        for name in ["", "/etc/passwd", "..", "../other", "jobs/../../other", "./x"] {
            assert!(found(name).is_none(), "{name}");
        }
    }

    #[test]
    fn a_newer_layout_is_refused_politely() {
        let newer = problem(&encode(&json!({"format_version": 2})).unwrap());
        let expected =
            "expected a run of version 1, found version 2, which a newer resched wrote; update resched, or replay";
        assert!(newer.contains(expected), "{newer}");
        assert!(problem(b"{}").contains("found no version"));
        assert!(problem(b"{").contains("damaged"));
    }

    #[test]
    fn only_what_other_tools_may_make_has_no_seal() {
        let foreign = Layout { by_others: true, ..LAYOUT };
        let unlisted = br#"{"format_version": 1}"#;
        let listed = br#"{"format_version": 1, "files": {}}"#;
        assert!(problem(unlisted).contains("seal is missing"));
        assert!(decode::<Value>(unlisted, &foreign).is_ok());
        assert!(decode::<Value>(listed, &foreign).unwrap_err().problem.contains("seal is missing"));
    }
}
