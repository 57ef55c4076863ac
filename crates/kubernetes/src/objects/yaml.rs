//! YAML as a tree in which every value knows its line, with limits on size, depth and aliases.

use std::collections::{HashMap, HashSet};

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput};

use super::error::{Error, Place, Wrong};

/// Bytes of one file.
pub const LARGEST_FILE: usize = 64 << 20;
/// Lists and maps within each other.
pub const DEEPEST: usize = 64;
/// Values of one file, with those that aliases repeat.
pub const MOST_VALUES: usize = 4 << 20;

/// A value with its place.
#[derive(Debug, Clone)]
pub struct Node {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The value.
    pub value: Value,
}

/// A value.
#[derive(Debug, Clone)]
pub enum Value {
    /// Nothing: `null`, `~`, or no text at all.
    Null,
    /// A number, word or text, as it is written.
    Scalar {
        /// The text.
        text: String,
        /// True if it stands in quotes, so that it is text whatever it looks like.
        quoted: bool,
    },
    /// A list.
    List(Vec<Node>),
    /// Keys and values in the order of the file. No key comes twice.
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// The text of a scalar.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The value of a key of a map.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|(name, _)| name.text() == Some(key)).map(|(_, value)| value),
            _ => None,
        }
    }

    /// What it is, for an error.
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Null => "nothing".to_owned(),
            Value::Scalar { text, .. } => format!("{:?}", text.chars().take(80).collect::<String>()),
            Value::List(list) => format!("a list of {}", list.len()),
            Value::Map(entries) => format!("a map of {}", entries.len()),
        }
    }
}

/// The documents of a file; empty ones are left out.
///
/// # Errors
///
/// If the text is no YAML, is larger or deeper than the limits, or a map has a key twice.
pub fn read(file: &str, text: &str) -> Result<Vec<Node>, Error> {
    let mut reader = Reader { file, anchors: HashMap::new(), values: 0 };
    if text.len() > LARGEST_FILE {
        return Err(reader.error((1, 1), "at most 64 MiB", &format!("{} bytes", text.len()), "divide the file"));
    }
    let mut parser = Parser::new_from_str(text);
    let mut documents = Vec::new();
    while let Some((event, span)) = reader.next(&mut parser)? {
        if matches!(
            event,
            Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing
        ) {
            reader.forget_anchors(&event);
            continue;
        }
        let node = reader.node(&mut parser, event, span, 0)?;
        if !matches!(node.value, Value::Null) {
            documents.push(node);
        }
    }
    Ok(documents)
}

struct Reader<'a> {
    file: &'a str,
    /// The values of anchors, and how many values each has.
    anchors: HashMap<usize, (Node, usize)>,
    values: usize,
}

type Events<'a> = Parser<'a, StrInput<'a>>;

fn place(span: Span) -> (u32, u32) {
    let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    (small(span.start.line()), small(span.start.col() + 1))
}

impl<'a> Reader<'a> {
    fn error(&self, (line, column): (u32, u32), expected: &str, found: &str, remedy: &str) -> Error {
        let place = Place { file: self.file.to_owned(), line: line as usize, column: column as usize };
        let (expected, found, remedy) = (expected.to_owned(), found.to_owned(), remedy.to_owned());
        Error::new(Wrong { place, field: None, expected, found, remedy })
    }

    fn next(&self, parser: &mut Events<'a>) -> Result<Option<(Event<'a>, Span)>, Error> {
        match parser.next_event() {
            None => Ok(None),
            Some(Ok(event)) => Ok(Some(event)),
            Some(Err(error)) => {
                let marker = error.marker();
                let at = place(Span::new(*marker, *marker));
                Err(self.error(at, "YAML", error.info(), "correct the file"))
            }
        }
    }

    /// An anchor is known in its document alone.
    fn forget_anchors(&mut self, event: &Event<'_>) {
        if matches!(event, Event::DocumentEnd) {
            self.anchors.clear();
        }
    }

    fn count(&mut self, at: (u32, u32), values: usize) -> Result<(), Error> {
        self.values = self.values.saturating_add(values);
        if self.values > MOST_VALUES {
            let remedy = "divide the file, or write out its aliases";
            return Err(self.error(at, "at most 4 Mi values in a file, those of aliases included", "more", remedy));
        }
        Ok(())
    }

    fn node(&mut self, parser: &mut Events<'a>, event: Event<'a>, span: Span, depth: usize) -> Result<Node, Error> {
        let at = place(span);
        if depth > DEEPEST {
            return Err(self.error(at, "at most 64 lists and maps within each other", "more", "correct the file"));
        }
        let before = self.values;
        self.count(at, 1)?;
        let (value, anchor) = match event {
            Event::Alias(anchor) => return self.alias(at, anchor),
            Event::Scalar(text, style, anchor, _) => (scalar(&text, style), anchor),
            Event::SequenceStart(anchor, _) => (Value::List(self.list(parser, depth)?), anchor),
            Event::MappingStart(anchor, _) => (Value::Map(self.map(parser, depth)?), anchor),
            _ => return Err(self.error(at, "a value", "the end of a value", "correct the file")),
        };
        let node = Node { line: at.0, column: at.1, value };
        if anchor > 0 {
            let values = self.values - before;
            self.count(at, values)?;
            self.anchors.insert(anchor, (node.clone(), values));
        }
        Ok(node)
    }

    fn alias(&mut self, at: (u32, u32), anchor: usize) -> Result<Node, Error> {
        let Some(values) = self.anchors.get(&anchor).map(|(_, values)| *values) else {
            return Err(self.error(
                at,
                "an alias of a value that is complete",
                "one of a value around it",
                "write it out",
            ));
        };
        self.count(at, values)?;
        let node = self.anchors.get(&anchor).map(|(node, _)| node.clone());
        node.ok_or_else(|| self.error(at, "an alias of an anchor", "an unknown one", "write it out"))
    }

    fn list(&mut self, parser: &mut Events<'a>, depth: usize) -> Result<Vec<Node>, Error> {
        let mut list = Vec::new();
        while let Some((event, span)) = self.next(parser)? {
            if matches!(event, Event::SequenceEnd) {
                break;
            }
            list.push(self.node(parser, event, span, depth + 1)?);
        }
        Ok(list)
    }

    fn map(&mut self, parser: &mut Events<'a>, depth: usize) -> Result<Vec<(Node, Node)>, Error> {
        let mut entries: Vec<(Node, Node)> = Vec::new();
        let mut keys = HashSet::new();
        while let Some((event, span)) = self.next(parser)? {
            if matches!(event, Event::MappingEnd) {
                break;
            }
            let key = self.node(parser, event, span, depth + 1)?;
            let at = (key.line, key.column);
            let name = key.text().map(str::to_owned);
            let Some(name) = name else {
                return Err(self.error(at, "a name as key", &key.describe(), "correct the file"));
            };
            let Some((event, span)) = self.next(parser)? else { break };
            let value = self.node(parser, event, span, depth + 1)?;
            if !keys.insert(name) {
                return Err(self.error(at, "each key once", &format!("{} again", key.describe()), "remove one"));
            }
            entries.push((key, value));
        }
        Ok(entries)
    }
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    let quoted = style != ScalarStyle::Plain;
    if !quoted && matches!(text, "" | "~" | "null" | "Null" | "NULL") {
        return Value::Null;
    }
    Value::Scalar { text: text.to_owned(), quoted }
}
