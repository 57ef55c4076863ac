//! The code speaks in the field's words. These say little, or something else than the field means, and once made it hard to read.

use std::fs;
use std::path::{Path, PathBuf};

/// Words that no name or comment has, and what to write.
const WORDS: &[(&str, &str)] = &[
    ("told", "reported, given, or the name of the thing"),
    ("untold", "unreported"),
    ("tells", "reports, says or distinguishes"),
    ("RunId", "AttemptId: what the engine runs is an attempt; a run is a folder"),
    ("RunView", "AttemptView: what the engine runs is an attempt; a run is a folder"),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The words of a text: parts of names count.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric())
}

#[test]
fn no_private_word_comes_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["crates", "tests", "examples", "fuzz"] {
        sources(&root.join(folder), &mut files);
    }
    files.retain(|file| !file.ends_with("tests/workspace/words.rs"));
    assert!(files.len() > 500, "{}", files.len());
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for (number, line) in text.lines().enumerate() {
            for (word, instead) in WORDS.iter().filter(|(word, _)| words(line).any(|found| found == *word)) {
                found.push(format!("{}:{}: `{word}`; write {instead}", file.display(), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
