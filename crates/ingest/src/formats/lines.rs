//! Lines of bounded length.

use std::borrow::Cow;
use std::io::{self, BufRead};

use memchr::memchr;

/// A line without its end.
pub(super) enum Line<'a> {
    /// The line as text; bytes that are no UTF-8 are replaced.
    Text(Cow<'a, str>),
    /// It was longer than the limit.
    TooLong,
}

/// Reads lines without ever holding more bytes than the limit.
pub(super) struct Lines<'a> {
    input: &'a mut dyn BufRead,
    /// The longest line that is kept (bytes).
    longest: usize,
    line: Vec<u8>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(input: &'a mut dyn BufRead, longest: usize) -> Self {
        Self { input, longest, line: Vec::new() }
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
            let end = memchr(b'\n', chunk);
            let text = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            too_long |= self.line.len().saturating_add(text.len()) > self.longest;
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
        Ok(Some(Line::Text(text_of(text))))
    }
}

/// The bytes as text; those that are no UTF-8 are replaced. [`String::from_utf8_lossy`] takes eight times as long for text without
/// any.
pub(super) fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// The first whole lines of a file's head, as far as they are text. The last one may be cut by the end of `head`, so it
/// is left out unless it is alone.
pub(super) fn head_lines(head: &[u8]) -> Vec<&str> {
    let mut lines: Vec<&[u8]> = head.split(|&byte| byte == b'\n').collect();
    if lines.len() > 1 {
        lines.pop();
    }
    lines.into_iter().filter_map(|line| std::str::from_utf8(line).ok()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn collect(bytes: &[u8], longest: usize) -> Vec<Option<String>> {
        let mut input = bytes;
        let mut lines = Lines::new(&mut input, longest);
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
        assert_eq!(collect(b"a\r\n\nb\xffc\nlast", 10), expected);
        assert!(collect(b"", 10).is_empty());
    }

    #[test]
    fn a_line_over_the_limit_is_passed_over_as_one() {
        assert_eq!(collect(b"1234567\nnext\n", 6), [None, Some("next".to_owned())]);
        assert_eq!(collect(b"123456\n", 6), [Some("123456".to_owned())]);
    }
}
