//! The longest line of a history file, and the marks that part a concatenated one.

/// The longest line, and the longest record, that is kept (bytes).
pub(crate) const LONGEST: usize = 16 << 20;

/// The file name in a line `\f!!FILE=<name>!!`, which begins a part of a concatenated file.
pub(super) fn section_name(line: &str) -> Option<&str> {
    line.strip_prefix('\u{c}').unwrap_or(line).strip_prefix("!!FILE=")?.strip_suffix("!!")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_mark_may_lack_the_form_feed() {
        assert_eq!(section_name("\u{c}!!FILE=a_conf.xml!!"), Some("a_conf.xml"));
        assert_eq!(section_name("!!FILE=a!!"), Some("a"));
        assert_eq!(section_name("Job !!FILE=a!!"), None);
    }
}
