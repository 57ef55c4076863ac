//! Every link of a page leads to a file that is there, and to a heading that it has. Every page is in the list of pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Tag, TagEnd};

use crate::pages::{Page, pages, root};

/// The name by which a link finds a heading: as GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    kept.chars()
        .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'))
        .map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}

/// The anchors of the headings of a page.
fn anchors(page: &Page) -> BTreeSet<String> {
    let (mut found, mut heading) = (BTreeSet::new(), None::<String>);
    for (event, _) in page.events() {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    *heading += &text;
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let name = anchor(&heading.take().unwrap_or_default());
                let again = (1..).map(|number| format!("{name}-{number}"));
                let free = std::iter::once(name.clone()).chain(again).find(|name| !found.contains(name));
                found.extend(free);
            }
            _ => {}
        }
    }
    found
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// The links of a page, images among them.
fn links(page: &Page) -> Vec<String> {
    let anchor_of = |event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url.into_string()),
        _ => None,
    };
    page.events().filter_map(|(event, _)| anchor_of(event)).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let pages = pages();
    let headings: BTreeMap<&str, BTreeSet<String>> =
        pages.iter().map(|page| (page.name.as_str(), anchors(page))).collect();
    let mut problems = Vec::new();
    for page in &pages {
        let folder = Path::new(&page.name).parent().unwrap();
        for link in links(page) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (path, heading) = link.split_once('#').unwrap_or((&link, ""));
            let target = if path.is_empty() { PathBuf::from(&page.name) } else { plain(&folder.join(path)) };
            if !root().join(&target).exists() {
                problems.push(format!("{}: {link}: no such file", page.name));
            } else if page.name.starts_with("docs/") && !target.starts_with("docs") {
                problems
                    .push(format!("{}: {link}: leads out of the book, which is read without the sources", page.name));
            }
            let known = headings.get(target.to_str().unwrap());
            if !heading.is_empty() && known.is_some_and(|known| !known.contains(heading)) {
                problems.push(format!("{}: {link}: no such heading", page.name));
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

/// The sources, of which comments, errors and help name pages.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, found);
        } else if path
            .extension()
            .is_some_and(|ending| matches!(ending.to_str(), Some("rs" | "py" | "toml" | "pyi" | "js")))
        {
            found.push(path);
        }
    }
}

#[test]
fn every_page_that_the_code_cites_is_there() {
    let mut files = Vec::new();
    for folder in ["crates", "tests", "examples", "python/src", "python/python", "python/tests", "traces"] {
        sources(&root().join(folder), &mut files);
    }
    let (mut problems, mut cited) = (Vec::new(), 0);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for (at, _) in text.match_indices("docs/") {
            let path: String = text[at..]
                .chars()
                .take_while(|letter| letter.is_ascii_alphanumeric() || "/-_.".contains(*letter))
                .collect();
            let Some(path) = path.find(".md").map(|end| &path[..end + 3]) else { continue };
            cited += 1;
            if !root().join(path).exists() {
                problems.push(format!("{}: {path}", file.display()));
            }
        }
    }
    assert!(cited > 80, "{cited} pages are cited");
    assert!(problems.is_empty(), "these pages are cited and are not there: {problems:#?}");
}

#[test]
fn no_source_cites_what_a_reader_cannot_have() {
    // In parts, so that this file does not find itself.
    let private = [
        ["spec/", "policies"],
        ["spec/", "formats"],
        ["RULES", ".md"],
        ["DESIGN", ".md"],
        ["peers", ".md"],
        ["house", ".md"],
    ];
    let private: Vec<String> = private
        .iter()
        .map(|parts| parts.concat())
        .chain(["second-", "third-"].map(|part| format!("{part}reading")))
        .collect();
    let mut files: Vec<PathBuf> = pages().into_iter().map(|page| root().join(page.name)).collect();
    for folder in
        ["crates", "tests", "examples", "python/src", "python/python", "python/tests", "traces", "release", "benches"]
    {
        sources(&root().join(folder), &mut files);
    }
    let mut problems = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        problems.extend(
            private
                .iter()
                .filter(|word| text.contains(word.as_str()))
                .map(|word| format!("{}: {word}", file.display())),
        );
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn every_page_is_in_the_list_once() {
    let pages = pages();
    // With some pages only, the list may not be among them.
    let Some(list) = pages.iter().find(|page| page.name == "docs/SUMMARY.md") else {
        assert!(std::env::var_os("BOOK_PAGES").is_some(), "docs/SUMMARY.md is missing");
        return;
    };
    let listed: Vec<String> = links(list).iter().map(|link| format!("docs/{link}")).collect();
    for page in pages.iter().filter(|page| page.name.starts_with("docs/") && page.name != "docs/SUMMARY.md") {
        let times = listed.iter().filter(|name| **name == page.name).count();
        assert_eq!(times, 1, "{} is {times} times in docs/SUMMARY.md", page.name);
    }
}
