//! The pages of the book, in parts.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// A page: a Markdown file.
pub(crate) struct Page {
    /// Its path from the root of the repository.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A part of a page that a test looks at.
pub(crate) enum Part<'a> {
    /// A block of code: its language, where its text stands in the page, and why it is not run, if the page says so.
    Block { language: String, range: Range<usize>, skip: Option<&'a str> },
    /// Commands that are run before all others and not shown.
    Before(&'a str),
    /// A figure: the file that the commands draw, and the image that the page shows.
    Figure { drawn: &'a str, shown: String },
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The Markdown files of a folder and those in it, by path.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
}

/// All pages, or those that `BOOK_PAGES` names.
pub(crate) fn pages() -> Vec<Page> {
    let root = root();
    let mut files =
        vec![root.join("README.md"), root.join("CONTRIBUTING.md"), root.join("CHANGELOG.md"), root.join("SECURITY.md")];
    collect(&root.join("docs"), &mut files);
    files.sort();
    let wanted = std::env::var("BOOK_PAGES").unwrap_or_default();
    let page = |file: PathBuf| {
        let name = file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        name.starts_with(&wanted).then(|| Page { name, text: fs::read_to_string(&file).unwrap() })
    };
    files.into_iter().filter_map(page).collect()
}

impl Page {
    /// The events of its Markdown, with the places of their texts.
    pub(crate) fn events(&self) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
        Parser::new_ext(&self.text, Options::ENABLE_TABLES | Options::ENABLE_GFM).into_offset_iter()
    }

    /// Whether a program makes it.
    pub(crate) fn is_made(&self) -> bool {
        self.text.lines().take(6).any(|line| line.contains("do not edit"))
    }

    /// Its parts, in order.
    pub(crate) fn parts(&self) -> Vec<Part<'_>> {
        let mut parts = Vec::new();
        // The language and the extent of the block that is being read.
        let mut block: Option<(String, Range<usize>)> = None;
        let (mut skip, mut drawn) = (None, None);
        for (event, range) in self.events() {
            match event {
                Event::Start(Tag::HtmlBlock) => {
                    let comment =
                        self.text[range].trim().strip_prefix("<!--").map_or("", |text| text.trim_end_matches("-->"));
                    let comment = comment.trim();
                    if let Some(reason) = comment.strip_prefix("test: skip, because ") {
                        skip = Some(reason);
                    } else if let Some(commands) = comment.strip_prefix("test: before") {
                        parts.push(Part::Before(commands));
                    } else if let Some(path) = comment.strip_prefix("figure: ") {
                        drawn = Some(path);
                    } else if comment.starts_with("test:") || comment.starts_with("figure:") {
                        panic!("{}: unknown comment: {comment}", self.name);
                    }
                }
                Event::Start(Tag::CodeBlock(kind)) => {
                    let language = match kind {
                        CodeBlockKind::Fenced(language) => language.into_string(),
                        CodeBlockKind::Indented => String::new(),
                    };
                    block = Some((language, range.end..range.start));
                }
                Event::Text(_) => {
                    if let Some((_, whole)) = &mut block {
                        *whole = whole.start.min(range.start)..whole.end.max(range.end);
                    }
                }
                Event::End(TagEnd::CodeBlock) => {
                    let (language, whole) = block.take().unwrap();
                    let range = if whole.is_empty() { range.end..range.end } else { whole };
                    parts.push(Part::Block { language, range, skip: skip.take() });
                }
                Event::Start(Tag::Image { dest_url, .. }) => {
                    if let Some(drawn) = drawn.take() {
                        parts.push(Part::Figure { drawn, shown: dest_url.into_string() });
                    }
                }
                _ => {}
            }
        }
        assert!(
            drawn.is_none() && skip.is_none(),
            "{}: a comment for the test has no block or image after it",
            self.name
        );
        parts
    }
}
