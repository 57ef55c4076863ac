//! Splits concatenated JSON objects, as Rumen and the Scheduler Load Simulator write them, and borrows the texts in JSON.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, ErrorKind};

use memchr::memchr3;
use serde::de::{Deserialize, Deserializer, Visitor};

/// A text, borrowed from the input if it stands there without escapes. (Serde's own [`Cow`] in an [`Option`] never borrows.)
#[derive(Debug, Default, PartialEq)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl Text<'_> {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn into_owned(self) -> String {
        self.0.into_owned()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_string(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text)))
    }
}

/// A stream of concatenated objects, one at a time. A damaged object costs only itself.
///
/// Brackets are counted outside strings. Blanks, commas and square brackets between objects are skipped, so an array of
/// objects is read as well. In an indented file, a brace in the first column belongs to a top-level object, whatever
/// the count says. Reading continues there after an object that was cut.
pub(super) struct Objects<'r> {
    input: &'r mut dyn BufRead,
    /// Most bytes that one object may have.
    limit: usize,
    text: Vec<u8>,
    /// The beginning of what was skipped last.
    skipped: Vec<u8>,
    cursor: Cursor,
}

/// So much of what is skipped is kept.
const KEPT_OF_JUNK: usize = 64 << 10;

/// An item of [`Objects`].
#[derive(Debug, PartialEq)]
pub(super) enum Piece<'t> {
    /// The text of an object, which may still be damaged.
    Object {
        /// The line on which it starts, from 1.
        line: u64,
        /// From its opening brace to its closing one.
        text: &'t [u8],
    },
    /// Something other than an object, or an object beyond the limit. It was skipped.
    Junk,
}

impl<'r> Objects<'r> {
    /// The objects in `input`, none longer than `limit` bytes.
    pub(super) fn new(input: &'r mut dyn BufRead, limit: usize) -> Self {
        Self {
            input,
            limit,
            text: Vec::new(),
            skipped: Vec::new(),
            cursor: Cursor { line: 1, place: Place::FirstColumn },
        }
    }

    /// The next piece; `None` at the end of the input.
    pub(super) fn next(&mut self) -> io::Result<Option<Piece<'_>>> {
        match self.find_object()? {
            Found::Nothing => return Ok(None),
            Found::Junk => return Ok(Some(Piece::Junk)),
            Found::Object => {}
        }
        let line = self.cursor.line;
        let whole = self.take_object()?;
        Ok(Some(if whole { Piece::Object { line, text: &self.text } } else { Piece::Junk }))
    }

    /// The beginning of what was skipped last, up to 64 KiB.
    pub(super) fn skipped(&self) -> &[u8] {
        &self.skipped
    }

    /// Skips to the next object's opening brace.
    fn find_object(&mut self) -> io::Result<Found> {
        let mut junk = false;
        loop {
            let chunk = fill(self.input)?;
            if chunk.is_empty() {
                return Ok(if junk { Found::Junk } else { Found::Nothing });
            }
            let mut used = 0;
            let mut found = false;
            for &byte in chunk {
                match byte {
                    b'{' if !junk || self.cursor.is_top() => {
                        found = true;
                        break;
                    }
                    b' ' | b'\t' | b'\r' | b'\n' | b',' | b'[' | b']' if !junk => {}
                    _ => {
                        if !std::mem::replace(&mut junk, true) {
                            self.skipped.clear();
                        }
                        if self.skipped.len() < KEPT_OF_JUNK {
                            self.skipped.push(byte);
                        }
                    }
                }
                self.cursor.pass(byte);
                used += 1;
            }
            self.input.consume(used);
            if found {
                return Ok(if junk { Found::Junk } else { Found::Object });
            }
        }
    }

    /// Collects an object up to its closing brace, or up to where another starts or the input ends. Returns whether it
    /// stayed within the limit.
    fn take_object(&mut self) -> io::Result<bool> {
        self.text.clear();
        let mut whole = true;
        let mut brackets = Brackets::default();
        loop {
            let chunk = fill(self.input)?;
            if chunk.is_empty() {
                return Ok(whole);
            }
            let mut used = 0;
            let mut end = false;
            while let Some((&byte, rest)) = chunk.get(used..).and_then(<[u8]>::split_first) {
                let step = brackets.pass(byte, &self.cursor);
                end = step != Step::Inside;
                if step == Step::Restart {
                    break;
                }
                self.cursor.pass(byte);
                used += 1;
                if end {
                    break;
                }
                if !self.cursor.is_top() {
                    used += brackets.pass_plain(rest);
                }
            }
            whole = whole && self.text.len() + used <= self.limit;
            if whole {
                self.text.extend_from_slice(&chunk[..used]);
            }
            self.input.consume(used);
            if end {
                return Ok(whole);
            }
        }
    }
}

/// `fill_buf`, repeated if a signal interrupts it.
fn fill(input: &mut dyn BufRead) -> io::Result<&[u8]> {
    while let Err(error) = input.fill_buf() {
        if error.kind() != ErrorKind::Interrupted {
            return Err(error);
        }
    }
    input.fill_buf()
}

/// The first byte that is no blank, which is left in the input.
pub(super) fn first_byte(input: &mut dyn BufRead) -> io::Result<Option<u8>> {
    loop {
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let blanks = chunk.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        match chunk.get(blanks) {
            Some(&byte) => return Ok(Some(byte)),
            None if chunk.is_empty() => return Ok(None),
            None => input.consume(blanks),
        }
    }
}

pub(super) fn next_byte(input: &mut dyn BufRead) -> io::Result<Option<u8>> {
    let byte = input.fill_buf()?.first().copied();
    input.consume(usize::from(byte.is_some()));
    Ok(byte)
}

/// What comes next in the input.
enum Found {
    Nothing,
    Junk,
    Object,
}

/// Where in the text the next byte stands.
struct Cursor {
    line: u64,
    place: Place,
}

/// Where in its line a byte stands.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    FirstColumn,
    /// Only blanks are between it and a closing brace in the first column (Rumen writes `} {`).
    AfterBrace,
    Elsewhere,
}

impl Cursor {
    fn is_top(&self) -> bool {
        self.place != Place::Elsewhere
    }

    fn pass(&mut self, byte: u8) {
        self.place = match (byte, self.place) {
            (b'\n', _) => Place::FirstColumn,
            (b'}', Place::FirstColumn) | (b' ' | b'\t' | b'\r', Place::AfterBrace) => Place::AfterBrace,
            _ => Place::Elsewhere,
        };
        self.line += u64::from(byte == b'\n');
    }
}

/// The brackets of one object.
#[derive(Default)]
struct Brackets {
    depth: u64,
    in_string: bool,
    escaped: bool,
    /// The last byte outside strings that was no blank.
    previous: u8,
    /// Whether the object's second line starts with a blank; unknown within the first.
    indented: Option<bool>,
}

/// The effect of a byte on the object that is being collected.
#[derive(PartialEq)]
enum Step {
    /// The object continues.
    Inside,
    /// This byte ends the object.
    Close,
    /// Another object starts with this byte, so this one was cut.
    Restart,
}

impl Brackets {
    fn pass(&mut self, byte: u8, cursor: &Cursor) -> Step {
        let first_column = cursor.place == Place::FirstColumn;
        if first_column && self.depth > 0 && self.indented.is_none() && !matches!(byte, b'\r' | b'\n') {
            self.indented = Some(matches!(byte, b' ' | b'\t'));
        }
        if self.in_string {
            self.pass_in_string(byte);
            return Step::Inside;
        }
        let indented = self.indented == Some(true);
        match byte {
            b'{' if self.depth > 0 && cursor.is_top() && (indented || !expects_value(self.previous)) => {
                return Step::Restart;
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 || (byte == b'}' && first_column && indented) {
                    return Step::Close;
                }
            }
            b'"' => self.in_string = true,
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            self.previous = byte;
        }
        Step::Inside
    }

    /// Passes the bytes up to the next one that matters, none of which stands in the first column. Returns how many.
    fn pass_plain(&mut self, bytes: &[u8]) -> usize {
        if self.escaped {
            return 0;
        }
        if self.in_string {
            return memchr3(b'"', b'\\', b'\n', bytes).unwrap_or(bytes.len());
        }
        let end = bytes.iter().position(|&byte| MARKS[usize::from(byte)]).unwrap_or(bytes.len());
        let plain = bytes.iter().take(end).rfind(|byte| !byte.is_ascii_whitespace());
        self.previous = plain.copied().unwrap_or(self.previous);
        end
    }

    fn pass_in_string(&mut self, byte: u8) {
        match byte {
            // JSON has no raw newline in a string: the line was cut, and the next one is outside again.
            b'\n' => {
                self.in_string = false;
                self.escaped = false;
            }
            _ if self.escaped => self.escaped = false,
            b'\\' => self.escaped = true,
            b'"' => self.in_string = false,
            _ => {}
        }
    }
}

/// The bytes that matter outside of strings.
const MARKS: [bool; 256] = marks(b"{}[]\"\n");

const fn marks(bytes: &[u8]) -> [bool; 256] {
    let mut marks = [false; 256];
    let mut at = 0;
    while at < bytes.len() {
        marks[bytes[at] as usize] = true;
        at += 1;
    }
    marks
}

/// True if a value must follow this byte.
fn expects_value(byte: u8) -> bool {
    matches!(byte, b':' | b',' | b'[')
}

/// The keys of the first object in `head`, as far as `head` goes, escapes left as they are; none if it is no object.
pub(super) fn top_level_keys(head: &[u8]) -> Vec<&str> {
    let mut keys = Vec::new();
    let mut depth = 0u64;
    let mut text = None;
    let mut bytes = head.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => break,
            b'}' | b']' => depth -= 1,
            b'"' => {
                let end = string_end(&mut bytes);
                text = end.and_then(|end| head.get(at + 1..end)).filter(|_| depth == 1);
            }
            b':' => keys.extend(text.take().and_then(|key| std::str::from_utf8(key).ok())),
            byte if byte.is_ascii_whitespace() => {}
            _ if depth == 0 => break,
            _ => {}
        }
    }
    keys
}

/// The place of the quote that ends a string.
fn string_end<'h>(bytes: &mut impl Iterator<Item = (usize, &'h u8)>) -> Option<usize> {
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'"' => return Some(at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use resched_tables::draws::{Purpose, stream};

    /// The pieces of `text`, `None` for junk, read in chunks of `chunk` bytes.
    fn pieces(text: &str, chunk: usize, limit: usize) -> Result<Vec<Option<String>>, io::Error> {
        let mut input = io::BufReader::with_capacity(chunk, text.as_bytes());
        let mut objects = Objects::new(&mut input, limit);
        let mut found = Vec::new();
        while let Some(piece) = objects.next()? {
            found.push(match piece {
                Piece::Object { text, .. } => Some(String::from_utf8_lossy(text).into_owned()),
                Piece::Junk => None,
            });
        }
        Ok(found)
    }

    /// Cuts `text` at every chunk size and compares with `expected`.
    fn check(text: &str, expected: &[Option<&str>]) -> Result<(), io::Error> {
        for chunk in 1..=text.len() {
            let found = pieces(text, chunk, 1000)?;
            let found: Vec<_> = found.iter().map(|piece| piece.as_deref()).collect();
            assert_eq!(found, expected, "chunks of {chunk} bytes");
        }
        Ok(())
    }

    #[test]
    fn objects_follow_one_another_in_any_layout() -> Result<(), io::Error> {
        check("{\"a\": 1}\n{\"b\": {}}", &[Some("{\"a\": 1}"), Some("{\"b\": {}}")])?;
        check("{\n \"a\" : 1\n} {\n \"b\" : 2\n}\n", &[Some("{\n \"a\" : 1\n}"), Some("{\n \"b\" : 2\n}")])?;
        check("[{\"a\":\"}{\\\"\"},\n{}]", &[Some("{\"a\":\"}{\\\"\"}"), Some("{}")])?;
        check("{\n\"a\": [\n{\n},\n{\n}\n]\n}", &[Some("{\n\"a\": [\n{\n},\n{\n}\n]\n}")])
    }

    #[test]
    fn an_object_that_is_cut_does_not_take_the_next_with_it() -> Result<(), io::Error> {
        check("{\n \"a\" : [ {\n{\n \"b\" : 2\n}", &[Some("{\n \"a\" : [ {\n"), Some("{\n \"b\" : 2\n}")])?;
        check("{\n \"a\" : \"x\n} {\n \"b\" : 2\n}", &[Some("{\n \"a\" : \"x\n}"), Some("{\n \"b\" : 2\n}")])?;
        check("{\"a\": [1\n{\"b\":2}", &[Some("{\"a\": [1\n"), Some("{\"b\":2}")])?;
        check("{} nonsense {\n{\"b\":2}", &[Some("{}"), None, Some("{\"b\":2}")])?;
        check("{\"a\": ", &[Some("{\"a\": ")])
    }

    /// In chunks of one byte, nothing is passed without a look at it.
    #[test]
    fn bytes_that_are_passed_at_once_make_no_difference() -> Result<(), io::Error> {
        let whole =
            "{\n \"a\" : [ { \"b\" : \"x\\\"{\" }, 7 ],\r\n \"c\" : {\n }\n} {\n\"d\": \"\u{e9}}\", \"e\": [\n{}]}\n";
        for round in 0..2_000 {
            let mut rng = stream(1, Purpose::JobChoice, &[round]);
            let mut bytes = whole.as_bytes().to_vec();
            for _ in 0..3 {
                let place = rng.random_range(0..bytes.len());
                let marks = b"{}[]\"\\\n ,x";
                bytes[place] = marks[rng.random_range(0..marks.len())];
            }
            let text = String::from_utf8_lossy(&bytes);
            assert_eq!(pieces(&text, 1, 1000)?, pieces(&text, 1000, 1000)?, "{text}");
        }
        Ok(())
    }

    #[test]
    fn an_object_beyond_the_limit_is_passed_over() -> Result<(), io::Error> {
        let found = pieces("{\"a\": 123456}\n{}", 4, 5)?;
        assert_eq!(found, [None, Some("{}".to_owned())]);
        Ok(())
    }

    #[test]
    fn a_piece_knows_its_line() -> Result<(), io::Error> {
        let mut input = "{\n}\n\n {}".as_bytes();
        let mut objects = Objects::new(&mut input, 100);
        assert!(matches!(objects.next()?, Some(Piece::Object { line: 1, .. })));
        assert!(matches!(objects.next()?, Some(Piece::Object { line: 4, .. })));
        assert!(objects.next()?.is_none());
        Ok(())
    }

    #[test]
    fn only_the_keys_of_the_first_object_count() {
        assert_eq!(top_level_keys(br#" {"a": {"b": 1}, "c\"": ["d"], "e": "f", "g"} {"h": 1}"#), ["a", "c\\\"", "e"]);
        assert_eq!(top_level_keys(br#"{"a": 1, "b": "cut off her"#), ["a", "b"]);
        assert!(top_level_keys(b"[]").is_empty());
        assert!(top_level_keys(b"job {\"a\":1}").is_empty());
        assert!(top_level_keys(b"").is_empty());
    }
}
