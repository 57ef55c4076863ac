//! The fields of a record: `name=value` between blanks. A value with blanks is between quotation marks, with a backslash before such a
//! mark.
//!
//! Torque writes blanks in names of jobs as they are. A word without `=` therefore belongs to the value before it.

use super::super::accounting;

/// The fields of a record. Of those that come twice, the last counts.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    all: Vec<(&'a str, &'a str)>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let mut all: Vec<(&str, &str)> = Vec::new();
        let mut rest = text.trim_start();
        while let Some((name, value)) = rest.split_once('=') {
            let (value, after) = value_of(value);
            all.push((name.trim_start(), value));
            rest = after.trim_start();
        }
        Self { all }
    }

    /// A value; empty if there is none.
    pub(super) fn text(&self, name: &str) -> &'a str {
        self.all.iter().rev().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }

    /// The fields whose names begin so, without that beginning.
    pub(super) fn behind(&self, beginning: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.all.iter().filter_map(move |(name, value)| Some((name.strip_prefix(beginning)?, *value)))
    }

    /// A time in seconds since the epoch, as ms; 0 is none.
    pub(super) fn time(&self, name: &str) -> Option<i64> {
        accounting::whole(self.text(name))?.checked_mul(1_000).filter(|&time| time > 0)
    }

    /// A duration, ms.
    pub(super) fn duration(&self, name: &str) -> Option<i64> {
        accounting::duration(self.text(name))
    }
}

/// The value at the start of a text, and what follows it.
fn value_of(text: &str) -> (&str, &str) {
    if let Some(quoted) = text.strip_prefix('"')
        && let Some(end) = end_of_quoted(quoted)
    {
        let (value, rest) = quoted.split_at(end);
        return (value, rest.strip_prefix('"').unwrap_or(rest));
    }
    // It ends before the word that has the next `=` in it.
    let next = text.find('=').unwrap_or(text.len());
    let head = text.get(..next).unwrap_or(text);
    let end = match head.rfind(char::is_whitespace) {
        _ if next == text.len() => text.len(),
        Some(end) => end,
        // `a=b=c`: the value has the mark in it, up to the next blank.
        None => return inner(text),
    };
    let (value, rest) = text.split_at(end);
    (value.trim_end(), rest)
}

/// A value that has `=` in it, such as a `select` statement.
fn inner(text: &str) -> (&str, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    text.split_at(end)
}

/// Where the quotation mark is that ends a quoted text.
fn end_of_quoted(text: &str) -> Option<usize> {
    let mut is_behind_backslash = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' if !is_behind_backslash => return Some(at),
            _ => is_behind_backslash = byte == b'\\' && !is_behind_backslash,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_have_blanks_and_marks_in_them() {
        let text = r#"user=ann account="my \"big\" project" jobname=a b c queue=q Resource_List.select=2:ncpus=16:mem=4gb end=7 x="#;
        let fields = Fields::of(text);
        for (name, value) in [
            ("user", "ann"),
            ("account", r#"my \"big\" project"#),
            ("jobname", "a b c"),
            ("queue", "q"),
            ("Resource_List.select", "2:ncpus=16:mem=4gb"),
            ("end", "7"),
            ("x", ""),
            ("none", ""),
        ] {
            assert_eq!(fields.text(name), value, "{name}");
        }
        assert_eq!(fields.time("end"), Some(7_000));
        assert_eq!(fields.behind("Resource_List.").count(), 1);
    }

    #[test]
    fn a_quotation_mark_that_nothing_ends_is_a_letter() {
        let fields = Fields::of("a=\"x y b=2");
        assert_eq!((fields.text("a"), fields.text("b")), ("\"x y", "2"));
        assert_eq!(Fields::of("").all.len() + Fields::of("no fields here").all.len(), 0);
    }
}
