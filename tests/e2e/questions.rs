//! The answers of `docs/questions.md`, as a reader would get them.

use std::fs;

use crate::support::{Dir, repository};

/// The blocks of code of a page, each with its language.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let mut blocks = page.split("```").skip(1).step_by(2);
    std::iter::from_fn(|| blocks.next()?.split_once('\n')).collect()
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

#[test]
fn the_recipes_of_the_page_run() {
    let dir = Dir::new();
    std::os::unix::fs::symlink(repository("traces"), dir.path("traces")).unwrap();
    let page = fs::read_to_string(repository("docs/questions.md")).unwrap();
    let mut commands = 0;
    for (language, text) in blocks(&page) {
        if language == "toml" {
            let name = text.lines().next().unwrap().trim_start_matches("# ");
            dir.write(name, text);
            continue;
        }
        for line in text.lines() {
            let words = words(line);
            assert_eq!(words[0], "resched", "{line}");
            let told = dir.ok(&words[1..]);
            assert!(!told.trim().is_empty(), "{line}");
            commands += 1;
        }
    }
    assert!(commands >= 12, "{commands}");
}
