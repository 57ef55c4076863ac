//! Markers: the JSON files that make a folder a trace, a run, a sweep or a report.
//!
//! A marker ends with a seal, the SHA-256 of all bytes before it:
//!
//! ```text
//! {
//!   "format_version": 3,
//!   …,
//!   "seal": "<64 hexadecimal digits>"
//! }
//! ```
//!
//! So a changed byte is noticed, wherever it is. A marker of an earlier layout may have no seal.

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

/// The layouts of a kind of marker.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// The kind of result, as in "expected a *trace*".
    pub what: &'static str,
    /// The oldest version that this build reads; 0 is a layout without a version.
    pub oldest: u32,
    /// The version that this build writes.
    pub newest: u32,
    /// The first version that has a seal.
    pub sealed: u32,
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
    /// It has none, as in an earlier layout.
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
    }
    let unusable = |problem: String| Unusable { problem, remedy: layout.again.to_owned() };
    let damaged = |error: serde_json::Error| unusable(format!("the file is damaged ({error})"));
    let seal = sealed(bytes);
    if seal == Sealed::Broken {
        return Err(unusable("the file is damaged, or was changed after resched wrote it".to_owned()));
    }
    let Version { format_version: version } = serde_json::from_slice(bytes).map_err(damaged)?;
    let Layout { what, oldest, newest, sealed: first, again } = *layout;
    let known = if oldest == newest { format!("version {newest}") } else { format!("version {oldest} to {newest}") };
    let found = if version == 0 { "no version".to_owned() } else { format!("version {version}") };
    let expected = format!("expected a {what} of {known}, found {found}");
    if version > u64::from(newest) {
        let problem = format!("{expected}, which a newer resched wrote");
        return Err(Unusable { problem, remedy: format!("update resched, or {again}") });
    }
    if version < u64::from(oldest) {
        return Err(unusable(expected));
    }
    if version >= u64::from(first) && seal == Sealed::Absent {
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

/// Whether the bytes are a marker whose seal is whole.
pub fn is_sealed(bytes: &[u8]) -> bool {
    sealed(bytes) == Sealed::Whole && serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::{Value, json};

    use super::*;

    const LAYOUT: Layout = Layout { what: "trace", oldest: 2, newest: 3, sealed: 3, again: "ingest the sources again" };

    fn problem(bytes: &[u8]) -> String {
        decode::<Value>(bytes, &LAYOUT).unwrap_err().to_string()
    }

    #[test]
    fn no_changed_byte_is_overlooked() {
        for value in [json!({"format_version": 3, "a": {"b": "x}"}, "z": {}}), json!({"format_version": 3})] {
            let whole = encode(&value).unwrap();
            let read: Value = decode(&whole, &LAYOUT).unwrap();
            assert_eq!(read["format_version"], 3);
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
    fn an_older_layout_opens_and_a_newer_one_is_refused_politely() {
        assert!(decode::<Value>(br#"{"format_version": 2}"#, &LAYOUT).is_ok());
        assert!(problem(br#"{"format_version": 1}"#).contains("of version 2 to 3, found version 1; ingest"));
        let newer = problem(&encode(&json!({"format_version": 4})).unwrap());
        assert!(newer.contains("found version 4, which a newer resched wrote; update resched, or ingest"), "{newer}");
        assert!(problem(br#"{"format_version": 3}"#).contains("seal is missing"));
        assert!(problem(b"{}").contains("found no version"));
        assert!(problem(b"{").contains("damaged"));
    }
}
