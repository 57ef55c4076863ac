//! The objects of a file, one at a time: those of a list, of lists that follow each other, and objects that follow each other.
//!
//! ```text
//! {"kind": "List", "items": [ {…}, {…} ]} {"kind": "List", "items": [ {…} ]} {…} {…}
//!                             ─┬─  ─┬─                                 ─┬─    ─┬─ ─┬─   ◀── pieces
//! ```
//!
//! A list is never held: its first key `items` opens it. Brackets are counted outside of strings. `kubectl` indents, so a brace at the
//! place of the first of its item ends that item, whatever the count says: a damaged object costs itself alone.

use std::io::{self, BufRead, ErrorKind};

use memchr::memchr3;

/// The objects of a file.
pub(super) struct Pieces<'r> {
    input: &'r mut dyn BufRead,
    scanner: Scanner,
}

/// An item of [`Pieces`].
#[derive(Debug, PartialEq)]
pub(super) enum Piece<'t> {
    /// The text of an object, which may still be damaged.
    Object {
        /// The line on which it starts, from 1.
        line: u64,
        /// The kind that its list gives its items: `Pod` for a `PodList`; empty without one.
        kind: &'t str,
        /// From its opening brace to its closing one.
        text: &'t [u8],
    },
    /// Something other than an object, or an object beyond the limit.
    Junk,
}

impl<'r> Pieces<'r> {
    /// The objects in `input`, none longer than `limit` bytes.
    pub(super) fn new(input: &'r mut dyn BufRead, limit: usize) -> Self {
        Self { input, scanner: Scanner::new(limit) }
    }

    /// The next piece; `None` at the end of the input.
    pub(super) fn next(&mut self) -> io::Result<Option<Piece<'_>>> {
        let found = loop {
            let chunk = match self.input.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                chunk => chunk?,
            };
            if chunk.is_empty() {
                break self.scanner.end();
            }
            let (used, found) = self.scanner.scan(chunk);
            self.input.consume(used);
            if found.is_some() {
                break found;
            }
        };
        Ok(found.map(|found| match found {
            Found::Object if self.scanner.is_whole => {
                let Scanner { first_line, kind, text, .. } = &self.scanner;
                Piece::Object { line: *first_line, kind, text }
            }
            Found::Object | Found::Junk => Piece::Junk,
        }))
    }
}

/// What a byte completes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Found {
    Object,
    Junk,
}

/// Where the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    /// Before an object: of a list, or at the top.
    Between,
    Object,
    /// In something that is no object.
    Junk,
    /// Behind the items of a list.
    Tail,
}

/// What becomes of a byte.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    /// It is passed.
    On,
    /// It is the last of what was found.
    Done(Found),
    /// It begins something else, and is left.
    Stop(Found),
}

struct Scanner {
    /// The most bytes of an object.
    limit: usize,
    text: Vec<u8>,
    /// True if the object is within the limit.
    is_whole: bool,
    place: Place,
    line: u64,
    first_line: u64,
    /// The blanks since the beginning of the line; `None` behind another byte.
    blanks: Option<usize>,
    /// The blanks before the opening brace of the object, if it is the first of its line.
    indent: Option<usize>,
    /// Whether its second line is indented deeper than its first; `None` within the first.
    is_indented: Option<bool>,
    /// True if the next objects are items of a list, and the blanks before the first of them.
    in_list: bool,
    item_indent: Option<usize>,
    /// The kind of its items, as the list says it.
    kind: String,
    depth: u64,
    in_string: bool,
    is_escaped: bool,
    /// Where the last string begins in the text, and where it ends.
    string: (usize, usize),
    /// The last byte outside of strings that is no blank.
    previous: u8,
}

impl Scanner {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            text: Vec::new(),
            is_whole: true,
            place: Place::Between,
            line: 1,
            first_line: 1,
            blanks: Some(0),
            indent: None,
            is_indented: None,
            in_list: false,
            item_indent: None,
            kind: String::new(),
            depth: 0,
            in_string: false,
            is_escaped: false,
            string: (0, 0),
            previous: 0,
        }
    }

    /// Passes bytes up to the next thing that is found. Returns how many.
    fn scan(&mut self, chunk: &[u8]) -> (usize, Option<Found>) {
        let mut used = 0;
        while let Some((&byte, rest)) = chunk.get(used..).and_then(<[u8]>::split_first) {
            match self.step(byte) {
                Step::On => {}
                Step::Stop(found) => return (used, Some(found)),
                Step::Done(found) => {
                    self.pass(byte);
                    return (used + 1, Some(found));
                }
            }
            self.pass(byte);
            used += 1 + self.pass_plain(rest);
        }
        (used, None)
    }

    /// What the end of the input completes.
    fn end(&mut self) -> Option<Found> {
        match std::mem::replace(&mut self.place, Place::Between) {
            Place::Object => Some(Found::Object),
            Place::Junk => Some(Found::Junk),
            Place::Between | Place::Tail => None,
        }
    }

    fn step(&mut self, byte: u8) -> Step {
        match self.place {
            Place::Between => self.between(byte),
            Place::Object => self.in_object(byte),
            Place::Junk => self.in_junk(byte),
            Place::Tail => self.in_tail(byte),
        }
    }

    fn between(&mut self, byte: u8) -> Step {
        match byte {
            b'{' => self.begin(byte),
            b']' if self.in_list => (self.place, self.depth) = (Place::Tail, 1),
            b',' | b'[' | b']' | b'}' => {}
            byte if byte.is_ascii_whitespace() => {}
            _ => self.place = Place::Junk,
        }
        Step::On
    }

    /// Begins an object.
    fn begin(&mut self, byte: u8) {
        self.text.clear();
        self.text.push(byte);
        (self.place, self.is_whole, self.first_line) = (Place::Object, true, self.line);
        (self.depth, self.in_string, self.is_escaped, self.previous) = (1, false, false, byte);
        (self.indent, self.is_indented, self.string) = (self.blanks, None, (0, 0));
        if !self.in_list {
            self.kind.clear();
        } else if self.item_indent.is_none() {
            self.item_indent = self.blanks;
        }
    }

    fn in_object(&mut self, byte: u8) -> Step {
        if self.in_string {
            self.in_string(byte);
            self.push(byte);
            return Step::On;
        }
        let is_first_of_line = self.blanks.is_some() && self.line > self.first_line;
        if is_first_of_line && self.is_indented.is_none() && !byte.is_ascii_whitespace() {
            self.is_indented = Some(self.blanks > self.indent);
        }
        let is_at_its_brace = is_first_of_line && self.blanks == self.indent;
        let is_indented = self.is_indented == Some(true);
        match byte {
            b'{' if is_at_its_brace && (is_indented || !matches!(self.previous, b':' | b',' | b'[')) => {
                self.place = Place::Between;
                // This one was cut.
                return Step::Stop(Found::Object);
            }
            b'[' if self.opens_items() => {
                self.open_list();
                return Step::On;
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth -= 1;
                if self.depth == 0 || (byte == b'}' && is_at_its_brace && is_indented) {
                    self.push(byte);
                    self.place = Place::Between;
                    return Step::Done(Found::Object);
                }
            }
            b'"' => (self.in_string, self.string) = (true, (self.text.len() + 1, 0)),
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            self.previous = byte;
        }
        self.push(byte);
        Step::On
    }

    fn in_string(&mut self, byte: u8) {
        match byte {
            // JSON has no line feed in a string: the line was cut.
            b'\n' => (self.in_string, self.is_escaped) = (false, false),
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' => self.is_escaped = true,
            b'"' => (self.in_string, self.string.1) = (false, self.text.len()),
            _ => {}
        }
    }

    /// True if a bracket is that behind the key `items` of a list at the top.
    fn opens_items(&self) -> bool {
        let (start, end) = self.string;
        let is_key = self.depth == 1 && self.previous == b':' && self.is_whole && !self.in_list;
        is_key && self.text.get(start..end) == Some(b"items")
    }

    fn open_list(&mut self) {
        let of_list = value_of(&self.text, "\"kind\"").unwrap_or_default();
        self.kind = of_list.strip_suffix("List").unwrap_or_default().to_owned();
        (self.in_list, self.item_indent, self.place) = (true, None, Place::Between);
        self.text.clear();
    }

    fn in_junk(&mut self, byte: u8) -> Step {
        let is_in_place = match (self.blanks, self.item_indent.filter(|_| self.in_list)) {
            (Some(blanks), Some(indent)) => blanks <= indent,
            (blanks, _) => blanks.is_some(),
        };
        match byte {
            b'{' if is_in_place => {
                self.place = Place::Between;
                Step::Stop(Found::Junk)
            }
            b']' if is_in_place && self.in_list => {
                (self.place, self.depth) = (Place::Tail, 1);
                Step::Done(Found::Junk)
            }
            _ => Step::On,
        }
    }

    fn in_tail(&mut self, byte: u8) -> Step {
        if self.in_string {
            self.in_string(byte);
            return Step::On;
        }
        match byte {
            // The list was cut, and the next one begins.
            b'{' if self.blanks == Some(0) => {
                self.close_list();
                return self.between(byte);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth -= 1;
                if self.depth == 0 {
                    self.close_list();
                }
            }
            b'"' => self.in_string = true,
            _ => {}
        }
        Step::On
    }

    fn close_list(&mut self) {
        (self.in_list, self.item_indent, self.place) = (false, None, Place::Between);
    }

    fn push(&mut self, byte: u8) {
        self.extend(&[byte]);
    }

    fn extend(&mut self, bytes: &[u8]) {
        self.is_whole = self.is_whole && self.text.len() + bytes.len() <= self.limit;
        if self.is_whole {
            self.text.extend_from_slice(bytes);
        }
    }

    /// Notes where a byte stands in its line.
    fn pass(&mut self, byte: u8) {
        self.blanks = match byte {
            b'\n' => Some(0),
            b' ' | b'\t' => self.blanks.map(|blanks| blanks + 1),
            b'\r' => self.blanks,
            _ => None,
        };
        self.line += u64::from(byte == b'\n');
    }

    /// Passes the bytes up to the next one that matters. Returns how many.
    fn pass_plain(&mut self, bytes: &[u8]) -> usize {
        if self.place != Place::Object || self.blanks.is_some() || self.is_escaped {
            return 0;
        }
        let end = if self.in_string {
            memchr3(b'"', b'\\', b'\n', bytes).unwrap_or(bytes.len())
        } else {
            let end = bytes.iter().position(|&byte| MARKS[usize::from(byte)]).unwrap_or(bytes.len());
            let plain = bytes.iter().take(end).rfind(|byte| !byte.is_ascii_whitespace());
            self.previous = plain.copied().unwrap_or(self.previous);
            end
        };
        self.extend(bytes.get(..end).unwrap_or_default());
        end
    }
}

/// The bytes that matter outside of strings.
const MARKS: [bool; 256] = {
    let mut marks = [false; 256];
    let bytes = b"{}[]\"\n";
    let mut at = 0;
    while at < bytes.len() {
        marks[bytes[at] as usize] = true;
        at += 1;
    }
    marks
};

/// The text behind the first such key, which stands in quotes.
pub(super) fn value_of<'t>(text: &'t [u8], key: &str) -> Option<&'t str> {
    let at = memchr::memmem::find(text, key.as_bytes())?;
    let after = text.get(at + key.len()..)?.trim_ascii_start().strip_prefix(b":")?;
    let value = after.trim_ascii_start().strip_prefix(b"\"")?;
    let end = memchr::memchr(b'"', value)?;
    std::str::from_utf8(value.get(..end)?).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The pieces of `text`: kind, line and text, or `None` for junk.
    fn pieces(text: &str, chunk: usize, limit: usize) -> Vec<Option<(String, u64, String)>> {
        let mut input = io::BufReader::with_capacity(chunk, text.as_bytes());
        let mut pieces = Pieces::new(&mut input, limit);
        let mut found = Vec::new();
        while let Some(piece) = pieces.next().unwrap() {
            found.push(match piece {
                Piece::Object { line, kind, text } => {
                    Some((kind.to_owned(), line, String::from_utf8_lossy(text).into_owned()))
                }
                Piece::Junk => None,
            });
        }
        found
    }

    /// Cuts `text` at every chunk size, and compares the texts without blanks with `expected`; empty for junk.
    fn check(text: &str, expected: &[(&str, u64, &str)]) {
        for chunk in 1..=text.len() {
            let found: Vec<_> = pieces(text, chunk, 1000).into_iter().map(Option::unwrap_or_default).collect();
            let squeezed = |text: &str| text.split_whitespace().collect::<String>();
            let found: Vec<_> = found.iter().map(|(kind, line, text)| (kind.as_str(), *line, squeezed(text))).collect();
            let expected: Vec<_> = expected.iter().map(|(kind, line, text)| (*kind, *line, squeezed(text))).collect();
            assert_eq!(found, expected, "chunks of {chunk} bytes");
        }
    }

    #[test]
    fn objects_come_from_lists_and_by_themselves() {
        let list = concat!(
            "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n        {\n            \"a\": 1\n        },\n",
            "        {\n            \"b\": [\n                {}\n            ]\n        }\n    ],\n",
            "    \"kind\": \"List\",\n    \"metadata\": {\n        \"x\": \"]}\"\n    }\n}\n"
        );
        let both = format!("{list}{list}");
        check(&both, &[("", 4, "{\"a\":1}"), ("", 7, "{\"b\":[{}]}"), ("", 21, "{\"a\":1}"), ("", 24, "{\"b\":[{}]}")]);
        check(
            "{\"kind\":\"PodList\",\"metadata\":{\"kind\":\"x\"},\"items\":[{\"a\":{\"items\":[1]}},{}]}{\"c\":1}\n{\"d\":1}\n",
            &[("Pod", 1, "{\"a\":{\"items\":[1]}}"), ("Pod", 1, "{}"), ("", 1, "{\"c\":1}"), ("", 2, "{\"d\":1}")],
        );
        check("[{\"a\":\"}{\\\"\"},\n{}]", &[("", 1, "{\"a\":\"}{\\\"\"}"), ("", 2, "{}")]);
        check("{\"items\": []}\n{\"items\": null}", &[("", 2, "{\"items\":null}")]);
    }

    #[test]
    fn a_damaged_item_costs_itself_alone() {
        let list = |item: &str| {
            format!("{{\n \"items\": [\n  {item},\n  {{\n   \"b\": 1\n  }}\n ],\n \"kind\": \"List\"\n}}\n{{}}\n")
        };
        let next = |line: u64| [("", line, "{\"b\":1}"), ("", line + 6, "{}")];
        let of = |first: &'static str, line: u64| [[("", 3, first)].as_slice(), &next(line)].concat();
        // A brace too few, a quote too few, an end that is missing.
        check(&list("{\n   \"a\": {\n  }"), &of("{\"a\":{}", 6));
        check(&list("{\n   \"a\": \"x\n  }"), &of("{\"a\":\"x}", 6));
        check(&list("{\n   \"a\": ["), &of("{\"a\":[,", 5));
        // A brace too many: the rest of the item is junk.
        let found = pieces(&list("{\n   \"a\": 1}, \"c\": {\n   },\n   \"d\": [\n    {\n    }\n   ]\n  }"), 7, 1000);
        let texts: Vec<_> = found.iter().map(|piece| piece.as_ref().map(|(.., text)| text.len())).collect();
        assert_eq!(texts, [Some(12), None, Some(15), Some(2)]);
    }

    #[test]
    fn an_object_beyond_the_limit_is_passed_over() {
        let found = pieces("{\"items\":[{\"a\": 123456},{}]}", 4, 10);
        assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true]);
        let found = pieces("{\"a\": \n{\"b\": 1}\nx {\n{}", 4, 100);
        let texts: Vec<_> = found.iter().map(|piece| piece.as_ref().map(|(.., text)| text.as_str())).collect();
        assert_eq!(texts, [Some("{\"a\": \n{\"b\": 1}\nx {\n"), Some("{}")]);
    }

    #[test]
    fn a_value_is_found_behind_its_key() {
        assert_eq!(value_of(b"{\"kind\" : \"Pod\"", "\"kind\""), Some("Pod"));
        assert_eq!(value_of(b"{\"kind\": 1}", "\"kind\""), None);
        assert_eq!(value_of(b"{\"kind\": \"cut", "\"kind\""), None);
    }
}
