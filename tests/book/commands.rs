//! The commands of the pages run and print what the pages show, and their figures are what the commands draw.
//!
//! Each page has a folder of its own with the bundled `traces`; the README and the pages of `docs/start` share one, in turn, as in the clone
//! of somebody who works through them. A block of `sh` is run line by line; the block of `text` after it is what the
//! last line printed, with `[..]` for any part of a line and `...` for any lines. Other blocks whose first line names a file, such as
//! `# C.toml`, are written to that file. A block of `console` cannot run here; its options must exist. `<!-- test: before` begins commands
//! that are run first and not shown; `<!-- test: skip, because … -->` says why a block of `sh` is not run.

use std::fs;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use snapbox::IntoData;
use snapbox::filter::NormalizeToExpected;
use tempfile::TempDir;

use crate::pages::{Page, Part, pages, root};

/// The most lines of an output that a page shows.
const MOST_LINES: usize = 50;
/// The column whose cells are another each time.
const WALL: &str = "  replayed in";

/// What came of a page.
#[derive(Default)]
struct Tried {
    commands: usize,
    checked: usize,
    skipped: usize,
    figures: usize,
    /// Commands that failed, and figures that they did not draw.
    failures: Vec<String>,
    /// Outputs and figures that are not those of the page.
    differences: Vec<String>,
}

fn overwrites() -> bool {
    std::env::var("BOOK").is_ok_and(|word| word == "overwrite")
}

/// The commands of a block: a line that ends in `\` goes on, and what stands after ` # ` is a remark.
fn lines(block: &str) -> Vec<String> {
    let joined = block.replace("\\\n", " ");
    let without_remark = |line: &str| line.split(" #").next().unwrap_or_default().trim().to_owned();
    joined
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .map(without_remark)
        .filter(|line| !line.is_empty())
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
            None if !line.starts_with(' ') => width = None,
            None => {}
        }
        let letters = line.chars().take(width.unwrap_or(usize::MAX));
        lines.push(letters.collect::<String>().trim_end().to_owned());
    }
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES);
        lines.push("...".to_owned());
    }
    lines.join("\n") + "\n"
}

/// What the page should show: `expected`, where it holds with its gaps, and else the output.
fn compared(output: &str, expected: &str) -> String {
    let gaps = NormalizeToExpected::new().redact();
    gaps.normalize(shown(output).into_data(), &expected.into_data()).to_string()
}

/// The folder in which the commands of a page run.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(root().join("traces"), folder.path().join("traces")).unwrap();
        Self(folder)
    }

    /// Runs a command. Returns what it printed.
    fn run(&self, line: &str) -> Result<String, String> {
        let words = shlex::split(line).ok_or_else(|| format!("{line}: expected words of a shell"))?;
        if words.first().is_none_or(|word| word != "resched") {
            return Err(format!(
                "{line}: only `resched` is run here; write `<!-- test: skip, because … -->` before the block"
            ));
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_resched"));
        let ran = command.args(&words[1..]).current_dir(self.0.path()).env_remove("RESCHED_THREADS").output().unwrap();
        if ran.status.success() {
            Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
        } else {
            Err(format!("{line}: {}\n{}", ran.status, String::from_utf8_lossy(&ran.stderr)))
        }
    }
}

/// Checks that the options of a command exist.
fn check_options(line: &str) -> Result<(), String> {
    let words = shlex::split(line).ok_or_else(|| format!("{line}: expected words of a shell"))?;
    let error = resched_cli::command().try_get_matches_from(words).err();
    let shows = |error: &clap::Error| {
        matches!(error.kind(), clap::error::ErrorKind::DisplayHelp | clap::error::ErrorKind::DisplayVersion)
    };
    error.filter(|error| !shows(error)).map_or(Ok(()), |error| Err(format!("{line}: {error}")))
}

/// Pages that are worked through one after the other in one clone.
fn is_of_the_start(page: &Page) -> bool {
    page.name == "README.md" || page.name.starts_with("docs/start/")
}

/// The pages that share a folder, in order.
fn by_folder(pages: &[Page]) -> Vec<Vec<&Page>> {
    let (start, others): (Vec<&Page>, Vec<&Page>) = pages.iter().partition(|page| is_of_the_start(page));
    std::iter::once(start).chain(others.into_iter().map(|page| vec![page])).collect()
}

/// What the pages of the start leave in a clone although Git does not ignore it.
fn left_in_clone(folder: &Folder) -> Vec<String> {
    let ignored = fs::read_to_string(root().join(".gitignore")).unwrap();
    let names = fs::read_dir(folder.0.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "traces" && !ignored.lines().any(|line| line == format!("/{name}"))).collect()
}

fn try_page(page: &Page, folder: &Folder) -> Tried {
    let mut tried = Tried::default();
    let mut output = String::new();
    // Texts of the page to be replaced.
    let mut changes = Vec::new();
    let run = |line: &str, tried: &mut Tried| {
        tried.commands += 1;
        folder.run(line).unwrap_or_else(|problem| {
            tried.failures.push(problem);
            String::new()
        })
    };
    for part in page.parts() {
        match part {
            Part::Before(commands) => lines(commands).iter().for_each(|line| drop(run(line, &mut tried))),
            Part::Block { language, range, skip } => {
                let text = &page.text[range.clone()];
                match language.as_str() {
                    "sh" if skip.is_some() => tried.skipped += 1,
                    "sh" => lines(text).iter().for_each(|line| output = run(line, &mut tried)),
                    "text" if skip.is_some() => tried.skipped += 1,
                    "text" => {
                        let now = compared(&output, text);
                        if now != text {
                            let difference = difference(text, &now);
                            changes.push((range, now));
                            tried.differences.push(difference);
                        }
                    }
                    "console" => {
                        let commands = lines(text);
                        let written_out = |line: &&String| {
                            line.starts_with("resched ") && !line.contains(['…', '<', '|', '$', '>', '&'])
                        };
                        for line in commands.iter().filter(written_out) {
                            tried.checked += 1;
                            tried.failures.extend(check_options(line).err());
                        }
                    }
                    _ => {
                        let name = text.lines().next().and_then(|line| line.strip_prefix("# "));
                        if let Some(name) = name.filter(|name| name.contains('.') && !name.contains([' ', '/'])) {
                            fs::write(folder.0.path().join(name), text).unwrap();
                        }
                    }
                }
            }
            Part::Figure { drawn, shown } => {
                tried.figures += 1;
                let shown = root().join(&page.name).parent().unwrap().join(shown);
                match fs::read(folder.0.path().join(drawn)) {
                    Err(error) => tried.failures.push(format!("{drawn}: {error}")),
                    Ok(bytes) if fs::read(&shown).is_ok_and(|known| known == bytes) => {}
                    Ok(bytes) if overwrites() => fs::write(&shown, bytes).unwrap(),
                    Ok(_) => tried.differences.push(format!("{}: differs from {drawn}", shown.display())),
                }
            }
        }
    }
    if overwrites() && tried.failures.is_empty() && !changes.is_empty() {
        let mut text = page.text.clone();
        for (range, now) in changes.into_iter().rev() {
            text.replace_range(range, &now);
        }
        fs::write(root().join(&page.name), text).unwrap();
    }
    tried
}

/// The first lines in which two texts differ.
fn difference(page: &str, now: &str) -> String {
    let differ = page.lines().zip(now.lines()).find(|(one, other)| one != other);
    differ.map_or_else(
        || "an output has another length".to_owned(),
        |(one, other)| format!("page:    {one}\n command: {other}"),
    )
}

#[test]
#[allow(clippy::print_stderr, reason = "a test says how much it tried")]
fn commands_do_what_the_pages_say() {
    let pages = pages();
    let by_folder = by_folder(&pages);
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(pages) = by_folder.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let folder = Folder::new();
                    for page in pages {
                        let mut tried = try_page(page, &folder);
                        if is_of_the_start(page) {
                            let left = left_in_clone(&folder).into_iter();
                            tried.failures.extend(left.map(|name| format!("`{name}` is not in .gitignore")));
                        }
                        results.lock().unwrap().push((page.name.as_str(), tried));
                    }
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap();
    results.sort_by_key(|(name, _)| *name);
    let sum = |of: fn(&Tried) -> usize| results.iter().map(|(_, tried)| of(tried)).sum::<usize>();
    eprintln!(
        "{} pages: {} commands ran, {} were checked, {} blocks skipped with a reason, {} figures",
        results.len(),
        sum(|tried| tried.commands),
        sum(|tried| tried.checked),
        sum(|tried| tried.skipped),
        sum(|tried| tried.figures)
    );
    let all = |of: fn(&Tried) -> &Vec<String>| {
        let lines =
            results.iter().flat_map(|(name, tried)| of(tried).iter().map(move |problem| format!("{name}: {problem}")));
        lines.collect::<Vec<_>>().join("\n")
    };
    let (failures, differences) = (all(|tried| &tried.failures), all(|tried| &tried.differences));
    assert!(failures.is_empty(), "{failures}");
    let hint = "to renew what the pages show, run: BOOK=overwrite cargo test --workspace --test book";
    assert!(differences.is_empty() || overwrites(), "{differences}\n{hint}");
}

#[test]
fn the_outputs_of_pages_can_differ() {
    assert_eq!(compared("a 1\nb\n", "a [..]\nb\n"), "a [..]\nb\n");
    assert_eq!(compared("a\nb\nc\n", "a\n...\n"), "a\n...\n");
    assert_ne!(compared("a\nx\n", "a\nb\n"), "a\nb\n");
    assert_eq!(lines("resched a \\\n  b # remark\n# all\n\n"), ["resched a    b"]);
}

#[test]
fn every_block_names_a_language_that_a_test_knows() {
    const KNOWN: [&str; 13] =
        ["sh", "text", "console", "toml", "conf", "python", "rust", "json", "", "xml", "html", "sql", "yaml"];
    let mut problems = Vec::new();
    for page in pages() {
        for part in page.parts() {
            if let Part::Block { language, .. } = part
                && !KNOWN.contains(&language.as_str())
            {
                problems.push(format!("{}: a block of `{language}`", page.name));
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}
