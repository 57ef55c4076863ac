//! Texts about Spark are asked for by the usual text. One that nobody asks for any more would silently have no effect.

use std::fs;
use std::path::Path;

use crate::facts::sources;

const FILE: &str = "crates/tables/src/system_words.rs";

/// A source with texts of several lines on one.
fn on_one_line(text: &str) -> String {
    let mut parts = text.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.trim_start())
}

/// The usual texts of a list of pairs.
fn usual(list: &str) -> Vec<&str> {
    let entries = list.split("(\"").skip(1).chain(list.split("(\n        \"").skip(1));
    entries.filter_map(|entry| Some(entry.split_once("\",")?.0)).collect()
}

#[test]
fn each_usual_text_is_a_text_of_the_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    sources(&root.join("crates"), &mut files);
    files.retain(|file| !file.ends_with(FILE));
    let code: String = files.iter().map(|file| on_one_line(&fs::read_to_string(file).unwrap())).collect();
    let words = on_one_line(&fs::read_to_string(root.join(FILE)).unwrap());
    let lists: Vec<&str> =
        words.split("&[(&str, &str)] = &[").skip(1).map(|list| list.split("\n];").next().unwrap()).collect();
    let [spark, batch, slurm, phrases] = lists[..] else { panic!("{} lists", lists.len()) };
    let (texts, phrases) = ([usual(spark), usual(batch), usual(slurm)].concat(), usual(phrases));
    assert!(texts.len() > 30 && phrases.len() > 8, "{texts:?} {phrases:?}");
    let is_stale = |text: &&&str| !code.contains(&format!("\"{text}\""));
    let stale: Vec<&&str> =
        texts.iter().filter(is_stale).chain(phrases.iter().filter(|phrase| !code.contains(**phrase))).collect();
    assert!(stale.is_empty(), "nobody asks {FILE} for {stale:?}");
}
