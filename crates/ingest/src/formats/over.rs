//! Rows that are written over others, whose memory is used again.

/// `text` in the memory of `old`.
pub(super) fn over(old: &mut String, text: &str) -> String {
    let mut written = std::mem::take(old);
    text.clone_into(&mut written);
    written
}

/// As [`over`], for texts that may be unknown.
pub(super) fn over_known<'t>(old: &mut Option<String>, text: impl Into<Option<&'t str>>) -> Option<String> {
    text.into().map(|text| over(old.get_or_insert_default(), text))
}
