//! Facts are written once, into the tables, by whoever knows them. No crate above guesses them again.

use std::fs;
use std::path::{Path, PathBuf};

/// The crates that read facts and must not guess them.
const READERS: &[&str] = &["sim", "policies", "replay", "analysis", "report", "compare", "sweep", "reproduce"];

/// What a guess looks like, and where the fact stands.
const GUESSES: &[(&str, &str)] = &[
    ("source.format", "`Manifest::system` and `Manifest::engine` say what a source is of"),
    ("sources.iter().any(", "`Manifest::system` and `Manifest::engine` say what a source is of"),
    ("rules.pointer(", "`RunInfo::rules` is a typed `ClusterConfig`"),
    ("rules.get(\"", "`RunInfo::rules` is a typed `ClusterConfig`"),
    ("cluster.memory_mb.is_", "`RunInfo::system` says whether a run had containers"),
    ("reduce_slots == 0", "`RunInfo::engine` says which engine replayed a run"),
    ("fn is_batch(jobs", "`Manifest::engine` says which engine replays a trace"),
    ("fn is_batch(trace", "`Manifest::engine` says which engine replays a trace"),
];

/// Names of formats, as their modules have them, that no word of another meaning shares.
const FORMATS: &[&str] =
    &["\"jhist\"", "\"rumen\"", "\"google2011\"", "\"google2019\"", "\"alibaba2018\"", "\"swf\"", "\"swim\""];

/// The files of code in a folder and below.
pub(crate) fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The code of a file without its tests and comments.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// The guesses in the code of a file, each with its line.
fn guesses(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in code(text) {
        for (guess, fact) in GUESSES.iter().filter(|(guess, _)| line.contains(guess)) {
            found.push(format!("line {}: `{guess}`: {fact}", number + 1));
        }
        for name in FORMATS.iter().filter(|name| line.contains(**name)) {
            found.push(format!("line {}: the name of a format, {name}", number + 1));
        }
    }
    found
}

#[test]
fn no_crate_above_the_tables_guesses_what_they_hold() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for name in READERS {
        let mut files = Vec::new();
        sources(&crates.join(name).join("src"), &mut files);
        assert!(!files.is_empty(), "{name}");
        files.sort();
        for file in files.iter().filter(|file| !file.ends_with("tests.rs")) {
            let text = fs::read_to_string(file).unwrap();
            found.extend(guesses(&text).into_iter().map(|guess| format!("{}: {guess}", file.display())));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_guess_is_found() {
    assert_eq!(guesses("if manifest.sources[0].source.format == \"x\" {}").len(), 1);
    assert_eq!(guesses("let is_google = name.contains(\"google2011\");").len(), 1);
    assert_eq!(guesses("// rules.pointer(\n#[cfg(test)]\nmod tests { info.rules.pointer(1) }").len(), 0);
}
