//! The book as mdBook builds it: without a warning, with no dead link, and readable without a network.
//!
//! The program is that of `RESCHED_MDBOOK`. Without it, the test skips itself, unless `RESCHED_REQUIRE_MDBOOK` is set.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::pages::root;

/// The values of an attribute in a page of HTML.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let begin = format!(" {attribute}=\"");
    html.split(&begin).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// The page that a browser shows for this one. A page that redirects keeps the place that a link names.
fn redirected(pages: &BTreeMap<PathBuf, String>, page: PathBuf) -> PathBuf {
    const REFRESH: &str = "<meta http-equiv=\"refresh\" content=\"0; URL=";
    let to = pages.get(&page).and_then(|html| html.split_once(REFRESH)?.1.split('"').next());
    match to {
        Some(to) => page.with_file_name(to),
        None => page,
    }
}

#[test]
#[allow(clippy::print_stderr, reason = "a test says why it is skipped")]
fn the_book_builds_and_is_whole() {
    let Some(program) = std::env::var_os("RESCHED_MDBOOK") else {
        assert!(std::env::var_os("RESCHED_REQUIRE_MDBOOK").is_none(), "RESCHED_MDBOOK is not set");
        eprintln!("skipped: set RESCHED_MDBOOK to the program `mdbook`");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let built = Command::new(program)
        .arg("build")
        .arg(root().join("docs"))
        .arg("--dest-dir")
        .arg(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&built.stderr).into_owned();
    assert!(built.status.success() && !said.contains("WARN") && !said.contains("ERROR"), "{said}");

    let mut all = Vec::new();
    files(folder.path(), &mut all);
    let pages: BTreeMap<PathBuf, String> = all
        .iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "html"))
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect();
    let ids: BTreeMap<&Path, BTreeSet<&str>> =
        pages.iter().map(|(path, html)| (path.as_path(), values(html, "id").into_iter().collect())).collect();
    let mut problems = Vec::new();
    for (path, html) in &pages {
        let name = path.strip_prefix(folder.path()).unwrap();
        // One page with all pages links within itself; the page for a wrong address does not know where it is.
        if name == Path::new("print.html") || name == Path::new("404.html") {
            continue;
        }
        for source in values(html, "src").into_iter().filter(|source| source.contains("//")) {
            problems.push(format!("{}: {source} comes over the network", name.display()));
        }
        for link in values(html, "href").into_iter().chain(values(html, "src")) {
            if link.contains("//") || link.starts_with("mailto:") || link.is_empty() {
                continue;
            }
            let (file, id) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let Ok(target) = target.canonicalize() else {
                problems.push(format!("{}: {link}: no such file", name.display()));
                continue;
            };
            let known = ids.get(redirected(&pages, target).as_path());
            if !id.is_empty() && known.is_some_and(|known| !known.contains(id)) {
                problems.push(format!("{}: {link}: no such place", name.display()));
            }
        }
    }
    assert!(pages.len() > 60, "{} pages", pages.len());
    assert!(problems.is_empty(), "{problems:#?}");
}
