//! What a machine can check of plain English, in pages and help texts. `docs/developers/style.md` has the rules.

use pulldown_cmark::{Event, Tag, TagEnd};

use crate::pages::{Page, pages};

/// The most words of a sentence.
const MOST_WORDS: usize = 35;
/// Words that begin a clause, and those that must not follow: `what nobody gives` is `missing values`.
const RELATIVE: [&str; 4] = ["what", "which", "who", "whom"];
const NEGATED: [&str; 5] = ["nobody", "no-one", "none", "nothing", "nowhere"];
/// Words and phrases that this project once used in a sense of its own, and what to write.
const PRIVATE: &[(&str, &str)] = &[
    // In parts, as `tests/workspace/words.rs` keeps them out of the code.
    (concat!("to", "ld"), "reported, given"),
    (concat!("tel", "ls"), "reports, shows"),
    ("tell of", "report"),
    ("is dear", "is expensive"),
    ("not answerable", "Cannot answer: …"),
    ("whosoever", "anyone who"),
    ("the other way round", "the reverse"),
    ("nobody gives", "missing"),
];

/// The sentences of the running text of a page, and of its lists: neither code, tables nor headings. A piece of code is one word.
fn sentences(page: &Page) -> Vec<String> {
    let (mut sentences, mut text) = (Vec::new(), String::new());
    let mut left_out = 0;
    for (event, _) in page.events() {
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::Table(_) | Tag::Heading { .. }) => left_out += 1,
            Event::End(TagEnd::CodeBlock | TagEnd::Table | TagEnd::Heading(_)) => {
                left_out -= 1;
                sentences.append(&mut split(&text));
                text.clear();
            }
            _ if left_out > 0 => {}
            Event::Text(part) => text += &part,
            Event::Code(_) => text += "code",
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            Event::End(TagEnd::Paragraph | TagEnd::Item) | Event::Start(Tag::Item | Tag::List(_)) => {
                sentences.append(&mut split(&text));
                text.clear();
            }
            _ => {}
        }
    }
    sentences.append(&mut split(&text));
    sentences
}

/// The sentences of a text: they end with a full stop, a question mark or an exclamation mark before a space.
fn split(text: &str) -> Vec<String> {
    let (mut sentences, mut from) = (Vec::new(), 0);
    for (at, mark) in text.match_indices(['.', '?', '!']) {
        let after = &text[at + mark.len()..];
        let next = after.trim_start_matches(['"', ')', '*', '”']);
        if next.is_empty() || next.starts_with(' ') {
            sentences.push(text[from..at + 1].trim().to_owned());
            from = at + 1;
        }
    }
    sentences.push(text[from..].trim().to_owned());
    sentences.retain(|sentence| sentence.chars().any(char::is_alphabetic));
    sentences
}

fn words(sentence: &str) -> Vec<String> {
    let trim = |word: &str| word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    sentence.split([' ', '/', '–']).map(trim).filter(|word| !word.is_empty()).collect()
}

/// What is wrong with a sentence.
fn faults(sentence: &str) -> Vec<String> {
    let words = words(sentence);
    let mut faults = Vec::new();
    if words.len() > MOST_WORDS {
        faults.push(format!("{} words; split it at {MOST_WORDS}", words.len()));
    }
    for pair in words.windows(2) {
        // "So that nothing stays free" is plain.
        let person = pair[0] == "that" && matches!(pair[1].as_str(), "nobody" | "no-one");
        if person || RELATIVE.contains(&pair[0].as_str()) && NEGATED.contains(&pair[1].as_str()) {
            faults.push(format!("`{} {}`: name the thing", pair[0], pair[1]));
        }
    }
    let joined = format!(" {} ", words.join(" "));
    let private = PRIVATE.iter().filter(|(word, _)| joined.contains(&format!(" {word} ")));
    faults.extend(private.map(|(word, instead)| format!("`{word}`; write: {instead}")));
    faults
}

#[test]
fn sentences_of_the_pages_are_plain() {
    let mut problems = Vec::new();
    // The page of the rules shows what they forbid.
    for page in pages().iter().filter(|page| page.name != "docs/developers/style.md") {
        for sentence in sentences(page) {
            problems.extend(faults(&sentence).into_iter().map(|fault| format!("{}: {fault}: {sentence}", page.name)));
        }
    }
    assert!(problems.is_empty(), "{}\n{} sentences", problems.join("\n"), problems.len());
}

#[test]
fn help_texts_are_plain() {
    fn check(command: &clap::Command, problems: &mut Vec<String>) {
        let texts = command.get_arguments().filter_map(|argument| argument.get_long_help().or(argument.get_help()));
        let about = command.get_long_about().or(command.get_about());
        for text in texts.chain(about).chain(command.get_after_help()) {
            for sentence in text.to_string().split("\n").flat_map(split) {
                let found = faults(&sentence);
                problems.extend(found.into_iter().map(|fault| format!("{}: {fault}: {sentence}", command.get_name())));
            }
        }
        command.get_subcommands().for_each(|subcommand| check(subcommand, problems));
    }
    let mut problems = Vec::new();
    check(&resched_cli::command(), &mut problems);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn faults_are_found() {
    assert_eq!(split("One. Two, e.g.this? \"Three!\" Four"), ["One.", "Two, e.g.this?", "\"Three!", "\" Four"]);
    assert_eq!(faults("Slots that nobody gives are missing.").len(), 2);
    assert!(faults(&"word ".repeat(36)).len() == 1 && faults(&"word ".repeat(35)).is_empty());
    assert_eq!(faults("A disk is dear."), ["`is dear`; write: is expensive"]);
}

/// Pages that are longer than a page should be. The list only shrinks.
const LONG: &[&str] = &[];
/// The most lines of a page.
const MOST_LINES: usize = 150;

#[test]
fn pages_are_short() {
    let is_written = |page: &&Page| page.name.starts_with("docs/") && page.name != "docs/SUMMARY.md" && !page.is_made();
    let mut problems = Vec::new();
    for page in pages().iter().filter(is_written) {
        let lines = page.text.lines().count();
        if (lines > MOST_LINES) != LONG.contains(&page.name.as_str()) {
            problems.push(format!("{} has {lines} lines of {MOST_LINES}", page.name));
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}
