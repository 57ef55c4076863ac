//! The words of a line: numbers, and texts between quotation marks, in which such a mark is written twice.

use std::borrow::Cow;

use smallvec::SmallVec;

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word<'a> {
    /// One without quotation marks.
    Bare(&'a str),
    Text(Cow<'a, str>),
}

/// The words of a line.
#[derive(Debug)]
pub(super) struct Words<'a> {
    pub(super) all: SmallVec<[Word<'a>; 128]>,
}

impl<'a> Words<'a> {
    pub(super) fn of(line: &'a str) -> Self {
        let mut all = SmallVec::new();
        let mut rest = line.trim_start();
        while !rest.is_empty() {
            let (word, after) = match rest.strip_prefix('"') {
                Some(quoted) => text(quoted),
                None => {
                    let end = rest.find(' ').unwrap_or(rest.len());
                    let (bare, after) = rest.split_at(end);
                    (Word::Bare(bare.trim_end()), after)
                }
            };
            all.push(word);
            rest = after.trim_start();
        }
        Self { all }
    }
}

/// The text up to the mark that ends it, and what follows.
fn text(quoted: &str) -> (Word<'_>, &str) {
    let mut from = 0;
    let mut has_marks = false;
    loop {
        let found = quoted.get(from..).and_then(|rest| rest.find('"'));
        let Some(end) = found.map(|at| at + from) else { return (Word::Text(Cow::Borrowed(quoted)), "") };
        let after = quoted.get(end + 1..).unwrap_or_default();
        if after.starts_with('"') {
            (from, has_marks) = (end + 2, true);
            continue;
        }
        let text = quoted.get(..end).unwrap_or_default();
        let text = if has_marks { Cow::Owned(text.replace("\"\"", "\"")) } else { Cow::Borrowed(text) };
        return (Word::Text(text), after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_may_have_blanks_and_marks_in_it() {
        let words = Words::of("\"A\" 1 -1.5 \"\" \"a \"\"b\"\" c\" \"\"\"exec\"\"\" \"end");
        let text = |text: &str| Word::Text(Cow::Owned(text.to_owned()));
        let expected = [
            text("A"),
            Word::Bare("1"),
            Word::Bare("-1.5"),
            text(""),
            text("a \"b\" c"),
            text("\"exec\""),
            text("end"),
        ];
        assert_eq!(words.all.as_slice(), expected);
        assert!(Words::of("").all.is_empty());
    }
}
