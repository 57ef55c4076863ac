//! Lines of a history file, of bounded length, and the marks that part a concatenated one.

use std::io::{self, BufRead};

/// The longest line, and the longest record, that is kept (bytes).
pub(super) const LONGEST: usize = 16 << 20;

/// A line without its end.
pub(super) enum Line<'a> {
    /// The line as text; bytes that are no UTF-8 are replaced.
    Text(std::borrow::Cow<'a, str>),
    /// It was longer than [`LONGEST`].
    TooLong,
}

/// Reads lines without ever holding more than [`LONGEST`] bytes.
pub(super) struct Lines<'a> {
    input: &'a mut dyn BufRead,
    line: Vec<u8>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(input: &'a mut dyn BufRead) -> Self {
        Self { input, line: Vec::new() }
    }

    /// The next line, `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let (mut any, mut too_long) = (false, false);
        loop {
            let chunk = match self.input.fill_buf() {
                Ok([]) => break,
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            any = true;
            let end = chunk.iter().position(|&byte| byte == b'\n');
            let text = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            too_long |= self.line.len().saturating_add(text.len()) > LONGEST;
            if !too_long {
                self.line.extend_from_slice(text);
            }
            let used = text.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                break;
            }
        }
        if !any {
            return Ok(None);
        }
        if too_long {
            return Ok(Some(Line::TooLong));
        }
        let text = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        Ok(Some(Line::Text(String::from_utf8_lossy(text))))
    }
}

/// The file name in a line `\f!!FILE=<name>!!`, which begins a part of a concatenated file.
pub(super) fn section_name(line: &str) -> Option<&str> {
    line.strip_prefix('\u{c}').unwrap_or(line).strip_prefix("!!FILE=")?.strip_suffix("!!")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn collect(bytes: &[u8]) -> Vec<Option<String>> {
        let mut input = bytes;
        let mut lines = Lines::new(&mut input);
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push(match line {
                Line::Text(text) => Some(text.into_owned()),
                Line::TooLong => None,
            });
        }
        found
    }

    #[test]
    fn lines_end_with_either_line_end_and_bad_utf8_is_replaced() {
        let expected = ["a", "", "b\u{fffd}c", "last"].map(|line| Some(line.to_owned()));
        assert_eq!(collect(b"a\r\n\nb\xffc\nlast"), expected);
        assert!(collect(b"").is_empty());
    }

    #[test]
    fn a_line_over_the_limit_is_passed_over_as_one() {
        let mut bytes = vec![b'x'; LONGEST + 1];
        bytes.extend_from_slice(b"\nnext\n");
        assert_eq!(collect(&bytes), [None, Some("next".to_owned())]);
        assert_eq!(collect(&vec![b'x'; LONGEST]).first().unwrap().as_ref().unwrap().len(), LONGEST);
    }

    #[test]
    fn a_section_mark_may_lack_the_form_feed() {
        assert_eq!(section_name("\u{c}!!FILE=a_conf.xml!!"), Some("a_conf.xml"));
        assert_eq!(section_name("!!FILE=a!!"), Some("a"));
        assert_eq!(section_name("Job !!FILE=a!!"), None);
    }
}
