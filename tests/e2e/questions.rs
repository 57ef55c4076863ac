//! The answers of `docs/questions.md` and the commands of `docs/spark.md`, as a reader would get them: their commands run, and print what
//! the page shows.
//!
//! `UPDATE_DOCS=1` writes what the commands print into the pages.

use std::fs;

use crate::support::{Dir, repository};

/// The most lines of an output that the page shows.
const MOST_LINES: usize = 50;
/// The line that stands for the lines that are left out.
const MORE: &str = "…";
/// The column whose cells are another each time.
const WALL: &str = "  replayed in";

/// A block of code of a page.
struct Block<'a> {
    language: &'a str,
    text: &'a str,
}

/// The page in parts: texts and blocks of code by turns.
fn parts(page: &str) -> Vec<(&str, Option<Block<'_>>)> {
    let mut parts = page.split("```");
    let mut found = Vec::new();
    while let Some(text) = parts.next() {
        let block = parts.next().and_then(|block| block.split_once('\n'));
        found.push((text, block.map(|(language, text)| Block { language, text })));
    }
    found
}

/// The words of a line of a shell that quotes with `"` only.
fn words(line: &str) -> Vec<&str> {
    line.split('"')
        .enumerate()
        .flat_map(|(number, part)| match number % 2 {
            0 => part.split_whitespace().collect(),
            _ => vec![part],
        })
        .collect()
}

/// The beginning of an output, without what differs from one time to the next.
fn shown(output: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    // How many letters of a line are shown, below the heading of a table with that column.
    let mut width = None;
    for line in output.trim_end().lines() {
        match line.find(WALL) {
            Some(at) => width = Some(line[..at].chars().count()),
            None if line.is_empty() => width = None,
            None => {}
        }
        let letters = line.chars().take(width.unwrap_or(usize::MAX));
        lines.push(letters.collect::<String>().trim_end().to_owned());
    }
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES);
        lines.push(MORE.to_owned());
    }
    lines.join("\n") + "\n"
}

#[test]
fn the_page_shows_what_its_commands_print() {
    let (commands, questions) = check("questions");
    assert!(commands >= 12 && questions >= 8, "{commands} commands, {questions} questions");
}

#[test]
fn the_page_of_spark_shows_what_its_commands_print() {
    assert_eq!(check("spark").0, 3);
}

/// Runs the commands of a page. Returns how many there are, and how many sections.
fn check(name: &str) -> (usize, usize) {
    let dir = Dir::new();
    std::os::unix::fs::symlink(repository("traces"), dir.path("traces")).unwrap();
    let path = repository(&format!("docs/{name}.md"));
    let page = fs::read_to_string(&path).unwrap();
    let (mut commands, mut questions) = (0, 0);
    let (mut output, mut again) = (String::new(), String::new());
    for (text, block) in parts(&page) {
        again += text;
        questions += text.matches("\n## ").count();
        let Some(Block { language, text }) = block else { continue };
        let text = match language {
            "toml" | "conf" => {
                dir.write(text.lines().next().unwrap().trim_start_matches("# "), text);
                text.to_owned()
            }
            "text" => shown(&output),
            _ => {
                assert!(text.lines().count() <= 2, "an answer is at most two commands: {text}");
                for line in text.lines() {
                    let words = words(line);
                    assert_eq!(words[0], "resched", "{line}");
                    output = dir.ok(&words[1..]);
                    assert!(!output.trim().is_empty(), "{line}");
                    commands += 1;
                }
                text.to_owned()
            }
        };
        again += &format!("```{language}\n{text}```");
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &again).unwrap();
    }
    let hint = format!("to update docs/{name}.md, run: UPDATE_DOCS=1 cargo test --workspace --test e2e questions");
    assert!(again == page || std::env::var_os("UPDATE_DOCS").is_some(), "{hint}\n{}", difference(&page, &again));
    (commands, questions)
}

/// The first lines in which two texts differ.
fn difference(one: &str, other: &str) -> String {
    let differ = one.lines().zip(other.lines()).find(|(one, other)| one != other);
    differ.map_or_else(String::new, |(one, other)| format!("page:    {one}\ncommand: {other}"))
}
