//! The lines of `slurm.conf`: comments, lines that go on, other files that are included, and `Key=Value` pairs.
//!
//! **Source.** `parse_config.c` of 22.05. A key may have blanks around its `=`, as `scontrol show config` prints it.

use std::borrow::Cow;
use std::path::{Component, Path};

use super::super::xml::{Notes, Place};
use super::Open;
use crate::error::Error;

/// The most bytes of all files together.
pub(in crate::site) const MOST_BYTES: usize = 4 << 20;
/// The most files that are included, one by another or not.
pub(in crate::site) const MOST_INCLUDED: usize = 100;

/// A line with its pairs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) place: Place,
    pub(super) pairs: Vec<(String, String)>,
}

/// Reads the lines of a file and of those that it includes, in order.
pub(super) fn read(
    bytes: &[u8],
    file: &'static str,
    open: Open<'_>,
    notes: &mut Notes<'_>,
) -> Result<Vec<Line>, Error> {
    let mut lines = Vec::new();
    let (mut included, mut total) = (0, bytes.len());
    let mut rest: Vec<(Place, String)> = texts(bytes, Cow::Borrowed(file));
    rest.reverse();
    while let Some((place, text)) = rest.pop() {
        let text = text.trim();
        if let Some(name) = included_file(text) {
            included += 1;
            if included > MOST_INCLUDED {
                return Err(notes.wrong(place, "Include", format!("at most {MOST_INCLUDED} of them"), name));
            }
            let (name, inner) = include(&place, name, open, notes)?;
            total += inner.len();
            if total > MOST_BYTES {
                return Err(notes.wrong(place, "Include", format!("at most {MOST_BYTES} bytes in all"), "more"));
            }
            let mut inner = texts(&inner, Cow::Owned(name));
            inner.reverse();
            rest.append(&mut inner);
            continue;
        }
        let pairs = pairs(text);
        if pairs.is_empty() && !is_heading(text) {
            notes.unsupported(&place, text, "it has no value");
        }
        if !pairs.is_empty() {
            lines.push(Line { place, pairs });
        }
    }
    Ok(lines)
}

/// The lines with content, comments taken away and lines that go on put together.
fn texts(bytes: &[u8], file: Cow<'static, str>) -> Vec<(Place, String)> {
    let mut all: Vec<(Place, String)> = Vec::new();
    let mut goes_on = false;
    for (line, text) in (1..).zip(String::from_utf8_lossy(bytes).lines()) {
        let text = without_comment(text);
        let (text, more) = match text.trim_end().strip_suffix('\\') {
            Some(text) => (text.to_owned(), true),
            None => (text, false),
        };
        match all.last_mut().filter(|_| goes_on) {
            Some((_, before)) => *before += &text,
            None => all.push((Place { file: file.clone(), line }, text)),
        }
        goes_on = more;
    }
    all.retain(|(_, text)| !text.trim().is_empty());
    all
}

/// A line up to its comment. `\#` is no comment.
fn without_comment(text: &str) -> String {
    let start =
        text.match_indices('#').map(|(at, _)| at).find(|&at| !text.get(..at).unwrap_or_default().ends_with('\\'));
    text.get(..start.unwrap_or(text.len())).unwrap_or_default().replace("\\#", "#")
}

/// The file that a line includes.
fn included_file(text: &str) -> Option<&str> {
    let (word, name) = text.split_once(char::is_whitespace)?;
    word.eq_ignore_ascii_case("include").then(|| name.trim()).filter(|name| !name.starts_with('='))
}

/// The name and the bytes of a file of the same folder. A file that is elsewhere on the cluster may lie here under its own name.
fn include(place: &Place, name: &str, open: Open<'_>, notes: &Notes<'_>) -> Result<(String, Vec<u8>), Error> {
    let is_inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let wrong = |expected: &str| notes.wrong(place, "Include", expected, name);
    if !is_inside {
        let name_of_file = Path::new(name)
            .file_name()
            .map_or_else(String::new, |name_of_file| name_of_file.to_string_lossy().into_owned());
        let expected = "a file of this folder, or one that lies here under the same name (copy it here)";
        let bytes = if name_of_file.is_empty() { None } else { open(&name_of_file)? };
        return Ok((name_of_file, bytes.ok_or_else(|| wrong(expected))?));
    }
    Ok((name.to_owned(), open(name)?.ok_or_else(|| wrong("a file of this folder (copy it here)"))?))
}

/// The pairs of a line.
pub(super) fn pairs(text: &str) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while let Some((key, after)) = rest.split_once('=') {
        // What stands before the last word of a key belongs to the value before it, such as `30 sec`.
        let spaced = key.ends_with(char::is_whitespace);
        let key = key.trim_end();
        let (before, key) =
            key.rsplit_once(char::is_whitespace).map_or(("", key), |(before, key)| (before.trim(), key));
        append(&mut pairs, before);
        let after = if spaced { after.trim_start_matches([' ', '\t']) } else { after };
        let (value, left) = value(after);
        pairs.push((key.to_owned(), value.to_owned()));
        rest = left.trim_start();
    }
    append(&mut pairs, rest.trim_end());
    pairs
}

/// Adds words to the last value: values with blanks have no quotes in what `scontrol` prints.
fn append(pairs: &mut [(String, String)], words: &str) {
    if let Some((_, value)) = pairs.last_mut().filter(|_| !words.is_empty()) {
        if !value.is_empty() {
            value.push(' ');
        }
        value.push_str(words);
    }
}

/// The value at the start of a text, and what comes after.
fn value(text: &str) -> (&str, &str) {
    if let Some((value, rest)) = text.strip_prefix('"').and_then(|text| text.split_once('"')) {
        return (value, rest);
    }
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

/// True if a line without values stands between them in what `scontrol show config` prints.
fn is_heading(text: &str) -> bool {
    text.ends_with(':') || text.starts_with("Configuration data as of") || text.starts_with("Slurmctld(")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<(String, String)> {
        pairs(text)
    }

    fn as_text(pairs: &[(String, String)]) -> String {
        pairs.iter().map(|(key, value)| format!("{key}={value};")).collect()
    }

    #[test]
    fn a_line_is_pairs_of_keys_and_values() {
        for (text, expected) in [
            ("NodeName=n0 CPUs=16 State=UNKNOWN", "NodeName=n0;CPUs=16;State=UNKNOWN;"),
            ("KillWait                = 30 sec", "KillWait=30 sec;"),
            ("PriorityFlags           = ", "PriorityFlags=;"),
            ("SchedulerParameters=bf_interval=5,defer", "SchedulerParameters=bf_interval=5,defer;"),
            ("PriorityWeightTRES = CPU=1000,Mem=2", "PriorityWeightTRES=CPU=1000,Mem=2;"),
            ("Reason=\"a b\" State=DOWN", "Reason=a b;State=DOWN;"),
            ("TaskPluginParam         = (null type)", "TaskPluginParam=(null type);"),
            ("A=1 B = 2 x C=3", "A=1;B=2 x;C=3;"),
            ("=", "=;"),
            ("words alone", ""),
            ("K=\"open", "K=\"open;"),
        ] {
            assert_eq!(as_text(&of(text)), expected, "{text}");
        }
    }

    #[test]
    fn comments_go_and_lines_go_on() {
        let text = b"# all\nA=1 # rest\nB=1,\\\n  2 \\\n# c\nC=\\#x\n\nD=\\";
        let found: Vec<_> = texts(text, "f".into()).into_iter().map(|(place, text)| (place.line, text)).collect();
        let expected = [(2, "A=1 "), (3, "B=1,  2 "), (6, "C=#x"), (8, "D=")];
        assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
    }
}
