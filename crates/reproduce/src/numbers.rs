//! The numbers of a row, for people.

use resched_report::UNKNOWN;

use crate::{Published, Row};

impl Row {
    /// The paper's number, the replay's, its interval and the number of seeds, as a table shows them.
    pub fn numbers(&self) -> [String; 4] {
        let paper = match self.published {
            Published::Value(value) | Published::Ratio(value) => number(value),
            Published::Change(value) => signed(value),
            Published::Range(low, high) => format!("{} to {}", number(low), number(high)),
            Published::Above => "> 0".to_owned(),
            Published::Below => "< 0".to_owned(),
        };
        let put =
            |value: f64| if matches!(self.published, Published::Change(_)) { signed(value) } else { number(value) };
        let Some(found) = self.replay else {
            return [paper, UNKNOWN.to_owned(), UNKNOWN.to_owned(), UNKNOWN.to_owned()];
        };
        let interval = match self.seeds {
            0 => "exact".to_owned(),
            1 => UNKNOWN.to_owned(),
            _ => format!("{} to {}", put(found.low), put(found.high)),
        };
        let seeds = if self.seeds == 0 { UNKNOWN.to_owned() } else { self.seeds.to_string() };
        [paper, put(found.value), interval, seeds]
    }
}

/// A number with about four digits.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 1_000.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 || size == 0.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.replace('-', "−")
}

/// A number with its sign, except for 0.
fn signed(value: f64) -> String {
    if value > 0.0 { format!("+{}", number(value)) } else { number(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::row;

    #[test]
    fn numbers_have_a_few_digits_and_changes_a_sign() {
        assert_eq!([7635.4, 16.15, 0.5714, 28.0, -3.0].map(number), ["7635", "16.1", "0.571", "28", "−3"]);
        let found = row("", "", "%", Published::Change(-16.1)).replayed(&[10.0, 10.0]);
        assert_eq!(found.numbers(), ["−16.1", "+10", "+10 to +10", "2"]);
        let exact = row("", "", "%", Published::Value(92.9)).exact(92.86, 0.05);
        assert_eq!(exact.numbers(), ["92.9", "92.9", "exact", "–"]);
    }
}
