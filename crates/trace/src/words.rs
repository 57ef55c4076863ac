//! Numbers as people read them.

use num_format::{Locale, ToFormattedString};

/// A whole number with commas between its thousands, as in "345,562".
pub fn count(number: u64) -> String {
    number.to_formatted_string(&Locale::en)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }
}
