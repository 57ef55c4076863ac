//! The XML of configuration files: bounded in size, without document types, each element with the line where it begins.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

use resched_tables::whole;
use roxmltree::{Document, Node, ParsingOptions};

use super::names::Topic;
use crate::error::Error;
use crate::input::Input;
use crate::queues::tree;
use crate::unread::{Unread, Why};

/// The longest time, s.
const DECADE: i64 = 315_360_000;
/// The most bytes of a file that are read; a real one has some 50 KB.
pub(super) const LONGEST: u64 = 1 << 20;
/// The most elements, texts and comments of a file.
pub(super) const MOST_NODES: u32 = 100_000;
/// How deep elements may lie in each other: as deep as queues may, with the root around them and `<properties><property>` in
/// the last.
pub(super) const DEEPEST: usize = tree::DEEPEST + 3;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) file: Cow<'static, str>,
    /// From 1.
    pub(super) line: usize,
}

impl Place {
    pub(super) const fn of(file: &'static str, line: usize) -> Self {
        Self { file: Cow::Borrowed(file), line }
    }
}

impl From<&Place> for Place {
    fn from(place: &Place) -> Self {
        place.clone()
    }
}

/// The notes about the files of a folder.
#[derive(Debug)]
pub(super) struct Notes<'a> {
    dir: &'a Path,
    /// What is read now: what a note is about that says nothing else.
    of: Input,
    unread: Vec<Unread>,
    /// How many settings concern something else than schedules, by topic.
    beside: BTreeMap<Topic, usize>,
}

impl<'a> Notes<'a> {
    pub(super) fn new(dir: &'a Path) -> Self {
        Self { dir, of: Input::Hadoop, unread: Vec::new(), beside: BTreeMap::new() }
    }

    /// What follows is about this.
    pub(super) fn about(&mut self, of: Input) {
        self.of = of;
    }

    /// Notes that something of a file has no effect, and why. A reason that does not say more bears on the schedule, so that answers rest
    /// on an assumption; [`Why::harmless`] does not.
    pub(super) fn unsupported<'w>(&mut self, place: impl Into<Place>, what: &str, why: impl Into<Why<'w>>) {
        let (Place { file, line }, Why { text, bears, of }) = (place.into(), why.into());
        let (file, setting, why) = (file.into_owned(), what.to_owned(), text.to_owned());
        let of = of.or_else(|| of_property(what)).unwrap_or(self.of);
        self.unread.push(Unread { file, line, setting, why, bears, of });
    }

    /// Counts a setting that concerns something else than schedules.
    pub(super) fn beside(&mut self, topic: Topic) {
        *self.beside.entry(topic).or_default() += 1;
    }

    /// Notes that a value is not what it should be, and that it is left out as the daemon leaves it out.
    pub(super) fn odd(&mut self, place: impl Into<Place>, what: &str, expected: impl Display, found: &str) {
        let why = format!("expected {expected}, found `{found}`");
        self.unsupported(place, what, &why);
    }

    /// A part that a file may do without: if it is not what it should be, it is left out, with a note.
    pub(super) fn lenient<T>(&mut self, place: &Place, what: &str, read: Result<T, Error>) -> Option<T> {
        let text = match read {
            Ok(read) => return Some(read),
            Err(error) => error.to_string(),
        };
        let why = text.split_once(&format!("line {}: ", place.line)).map_or(text.as_str(), |(_, why)| why);
        self.unsupported(place, what, why.strip_suffix("; correct it").unwrap_or(why));
        None
    }

    /// The error that something of a file is not what it should be.
    pub(super) fn wrong(&self, place: impl Into<Place>, what: &str, expected: impl Display, found: &str) -> Error {
        let Place { file, line } = place.into();
        let path = self.dir.join(file.as_ref());
        let path = path.display();
        Error::Site(format!("{path}: line {line}: {what}: expected {expected}, found `{found}`; correct it"))
    }

    /// A number between two others, both included.
    pub(super) fn number<T>(&self, place: impl Into<Place>, what: &str, text: &str, low: T, high: T) -> Result<T, Error>
    where
        T: FromStr + PartialOrd + Display,
    {
        let is_real = T::from_str("0.5").is_ok();
        let text_of_number = if is_real { java_float(text) } else { text };
        let number = text_of_number.parse().ok().filter(|number| (&low..=&high).contains(&number));
        number.ok_or_else(|| self.wrong(place, what, format!("a number from {low} to {high}"), text))
    }

    /// The settings without effect, each once, by their places; and how many concern something else, by topic.
    pub(super) fn into_unread(mut self) -> (Vec<Unread>, BTreeMap<Topic, usize>) {
        self.unread.sort();
        self.unread.dedup();
        (self.unread, self.beside)
    }
}

/// A real number as Java reads it: `1.0f` and `1.0d` are 1.
pub(super) fn java_float(text: &str) -> &str {
    let stripped = text.trim_end_matches(['f', 'F', 'd', 'D']);
    if text.len() - stripped.len() == 1 && stripped.parse::<f64>().is_ok() { stripped } else { text }
}

/// What a property is about, by the beginning of its name.
fn of_property(name: &str) -> Option<Input> {
    let of = |(begin, input): &(&str, Input)| name.starts_with(begin).then_some(*input);
    PROPERTIES.iter().find_map(of)
}

/// How the names of the properties of a scheduler begin.
const PROPERTIES: [(&str, Input); 6] = [
    ("mapred.capacity-scheduler.", Input::MapredQueues),
    ("mapred.fairscheduler.", Input::Pools),
    ("mapred.queue.", Input::MapredQueues),
    ("spark.", Input::Spark),
    ("yarn.scheduler.capacity.", Input::YarnQueues),
    ("yarn.scheduler.fair.", Input::YarnFairQueues),
];

/// An element.
#[derive(Clone, Copy)]
pub(super) struct Element<'a> {
    node: Node<'a, 'a>,
    file: &'a str,
    /// Where the lines end.
    ends: &'a [usize],
}

impl<'a> Element<'a> {
    pub(super) fn place(&self) -> Place {
        let at = self.node.range().start;
        Place { file: Cow::Owned(self.file.to_owned()), line: 1 + self.ends.partition_point(|&end| end < at) }
    }

    pub(super) fn name(&self) -> &'a str {
        self.node.tag_name().name()
    }

    /// Its name as messages have it.
    pub(super) fn tag(&self) -> String {
        format!("<{}>", self.name())
    }

    pub(super) fn is_include(&self) -> bool {
        self.node.tag_name().namespace() == Some("http://www.w3.org/2001/XInclude") && self.name() == "include"
    }

    pub(super) fn children(&self) -> impl Iterator<Item = Element<'a>> + use<'a> {
        let Self { node, file, ends } = *self;
        node.children().filter(Node::is_element).map(move |node| Element { node, file, ends })
    }

    pub(super) fn child(&self, name: &str) -> Option<Element<'a>> {
        self.children().find(|child| child.name() == name)
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&'a str> {
        self.node.attribute(name)
    }

    /// What stands in it between its children, without blanks around.
    pub(super) fn text(&self) -> String {
        let texts = self.node.children().filter(Node::is_text).filter_map(|node| node.text());
        texts.collect::<String>().trim().to_owned()
    }

    /// The number that stands in it.
    pub(super) fn number<T>(&self, notes: &Notes<'_>, low: T, high: T) -> Result<T, Error>
    where
        T: FromStr + PartialOrd + Display,
    {
        notes.number(self.place(), &self.tag(), &self.text(), low, high)
    }

    /// Its attribute `name`.
    pub(super) fn named(&self, notes: &Notes<'_>) -> Result<String, Error> {
        let name = self.attribute("name").map(str::trim).filter(|name| !name.is_empty());
        let missing = || notes.wrong(self.place(), &self.tag(), "an attribute `name`", "none");
        name.map(str::to_owned).ok_or_else(missing)
    }

    /// A number of jobs or tasks.
    pub(super) fn count(&self, notes: &Notes<'_>) -> Result<u32, Error> {
        self.number(notes, 0, i32::MAX as u32)
    }

    /// A time that the file gives in seconds, ms.
    pub(super) fn seconds(&self, notes: &Notes<'_>) -> Result<i64, Error> {
        self.number(notes, 0, DECADE).map(|seconds| seconds * 1000)
    }
}

/// The bytes of a file.
pub(super) fn bytes(path: &Path) -> Result<Vec<u8>, Error> {
    bytes_up_to(path, LONGEST)
}

/// The bytes of a file of at most so many.
pub(super) fn bytes_up_to(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let file = whole::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes));
    file.map_err(|error| Error::Site(format!("{}: cannot read the file ({error}); check it", path.display())))?;
    if bytes.len() as u64 > most {
        let problem = format!("expected at most {most} bytes, found more");
        return Err(Error::Site(format!("{}: {problem}; leave out what does not concern scheduling", path.display())));
    }
    Ok(bytes)
}

/// Reads a file whose root element has this name, and gives that element to `read`.
pub(super) fn read<T>(
    bytes: &[u8],
    file: &str,
    root: &str,
    notes: &mut Notes<'_>,
    read: impl FnOnce(Element<'_>, &mut Notes<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    read_one_of(bytes, file, &[root], notes, read)
}

/// As [`read`], of a file whose root element has one of several names.
pub(super) fn read_one_of<T>(
    bytes: &[u8],
    file: &str,
    roots: &[&str],
    notes: &mut Notes<'_>,
    read: impl FnOnce(Element<'_>, &mut Notes<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let path = notes.dir.join(file);
    let path = path.display();
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        Error::Site(format!("{path}: expected UTF-8, found another byte at {at}; save the file as UTF-8"))
    })?;
    let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| Error::Site(match error {
        roxmltree::Error::DtdDetected => {
            format!(
                "{path}: expected no document type, found `<!DOCTYPE`; take it out: it may define entities without end"
            )
        }
        error => {
            // That the end is missing is known at the end; the reader has no place for it.
            let unclosed = matches!(error, roxmltree::Error::UnclosedRootNode);
            let line = if unclosed { text.lines().count() } else { error.pos().row as usize };
            format!("{path}: line {line}: the XML is broken: {error}; correct it")
        }
    }))?;
    let ends: Vec<usize> = text.match_indices('\n').map(|(end, _)| end).collect();
    let element = Element { node: document.root_element(), file, ends: &ends };
    if let Some(deep) = document.descendants().find(|node| node.ancestors().take(DEEPEST + 2).count() > DEEPEST + 1) {
        let place = Element { node: deep, ..element }.place();
        return Err(notes.wrong(place, "the file", format!("elements at most {DEEPEST} deep"), "more"));
    }
    if !roots.contains(&element.name()) {
        let expected: Vec<String> = roots.iter().map(|root| format!("<{root}>")).collect();
        return Err(notes.wrong(element.place(), "the file", expected.join(" or "), &element.tag()));
    }
    read(element, notes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The text of the root `<a>`, or the error.
    fn text(xml: &[u8]) -> Result<String, String> {
        read(xml, "mapred-site.xml", "a", &mut Notes::new(Path::new("conf")), |root, _| Ok(root.text()))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn texts_are_put_together_and_escapes_resolved() {
        let read = text(b"<?xml version=\"1.0\"?><!-- x --><a> b &amp; <!-- y -->c &#x64;<![CDATA[<e>]]> </a>");
        assert_eq!(read.unwrap(), "b & c d<e>");
    }

    #[test]
    fn broken_files_are_refused_with_their_place() {
        for (xml, parts) in [
            (
                &b"<a>\n<b></a>"[..],
                &["conf/mapred-site.xml: line 2: the XML is broken: expected 'b' tag", "correct it"][..],
            ),
            (b"", &["the XML is broken: "]),
            (b"<a>\n\n<b>", &["line 3: the XML is broken: "]),
            (b"<a>\xff</a>", &["expected UTF-8", "byte at 3"]),
            (b"<b/>", &["line 1: the file: expected <a>, found `<b>`"]),
            (b"<a><x:b/></a>", &["line 1: ", "x"]),
        ] {
            let error = text(xml).unwrap_err();
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
    }

    #[test]
    fn a_file_at_the_limit_is_read_and_a_larger_one_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mapred-site.xml");
        std::fs::write(&path, " ".repeat(LONGEST as usize)).unwrap();
        assert_eq!(bytes(&path).unwrap().len() as u64, LONGEST);
        std::fs::write(&path, " ".repeat(LONGEST as usize + 1)).unwrap();
        let problem = bytes(&path).unwrap_err().to_string();
        assert!(problem.contains("expected at most 1048576 bytes, found more; leave out what"), "{problem}");
    }

    /// The document itself is one of them.
    #[test]
    fn as_many_elements_as_the_limit_are_read_and_not_one_more() {
        let of = |elements: usize| text(format!("<a>{}</a>", "<b/>".repeat(elements - 2)).as_bytes());
        assert_eq!(of(MOST_NODES as usize), Ok(String::new()));
        let problem = of(MOST_NODES as usize + 1).unwrap_err();
        assert!(problem.contains("the XML is broken: ") && problem.contains("limit"), "{problem}");
    }

    #[test]
    fn elements_lie_as_deep_as_the_limit_and_not_deeper() {
        let of = |depth: usize| text(("<a>".repeat(depth) + &"</a>".repeat(depth)).as_bytes());
        assert_eq!(of(DEEPEST), Ok(String::new()));
        assert!(of(DEEPEST + 1).unwrap_err().contains("expected elements at most 35 deep, found `more`"));
    }

    #[test]
    fn a_bomb_does_not_go_off() {
        let bomb = b"<!DOCTYPE a [<!ENTITY x \"boom\"><!ENTITY y \"&x;&x;\">]><a>&y;</a>";
        assert!(text(bomb).unwrap_err().contains("`<!DOCTYPE`; take it out"));
        assert!(text(b"<a>&y;</a>").unwrap_err().contains("line 1"));
        let deep = "<a>".repeat(60) + &"</a>".repeat(60);
        assert!(text(deep.as_bytes()).unwrap_err().contains("at most 35 deep"));
        let many = format!("<a>{}</a>", "<b/>".repeat(200_000));
        assert!(text(many.as_bytes()).is_err());
        let nested = "<a>".repeat(50_000) + &"</a>".repeat(50_000);
        assert!(text(nested.as_bytes()).unwrap_err().contains("deep"));
    }
}
