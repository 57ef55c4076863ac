//! Amounts of named resources in one text: `gres/gpu=2,license/matlab=1`.

/// The amounts of a text by name, in its order. What has no count is left out, and so are counts of nothing.
pub fn amounts(text: &str) -> impl Iterator<Item = (&str, u64)> {
    text.split(',').filter_map(|part| {
        let (name, count) = part.split_once('=')?;
        let count = count.trim().parse().ok().filter(|&count| count > 0)?;
        Some((name.trim(), count))
    })
}

/// Amounts as one text, by name; `None` for none.
pub fn as_text<'a>(amounts: impl IntoIterator<Item = (&'a str, u64)>) -> Option<String> {
    let mut all: Vec<(&str, u64)> = amounts.into_iter().collect();
    all.sort_unstable();
    let parts: Vec<String> = all.iter().map(|(name, count)| format!("{name}={count}")).collect();
    (!parts.is_empty()).then(|| parts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_they_are_written() {
        let text = as_text([("gres/gpu", 2), ("bb", 1)]);
        assert_eq!(text.as_deref(), Some("bb=1,gres/gpu=2"));
        assert_eq!(amounts("bb=1,gres/gpu=2").collect::<Vec<_>>(), [("bb", 1), ("gres/gpu", 2)]);
        assert_eq!(amounts("gpu,a=0,b=-1,c=x,=,").count(), 0);
        assert_eq!(as_text([]), None);
    }
}
