//! Times as Spark's settings have them.

use resched_sim::Ms;

/// A time as Spark writes it, such as `3s`, in ms; without a unit, it is ms already.
pub(crate) fn in_ms(text: &str) -> Option<Ms> {
    with_unit(text, 1)
}

/// A time as Spark writes it, in ms; without a unit, it is in seconds.
pub(crate) fn of_seconds(text: &str) -> Option<Ms> {
    with_unit(text, 1_000)
}

/// A time in ms; without a unit, the number counts so many ms.
fn with_unit(text: &str, usual: Ms) -> Option<Ms> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: Ms = number.parse().ok()?;
    let factor = match unit.trim() {
        "us" => return Some(number / 1_000),
        "" => usual,
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit_or_is_in_ms() {
        let all = ["3s", "3000", "1m", "2 h", "5x", "-1"].map(in_ms);
        assert_eq!(all, [Some(3_000), Some(3_000), Some(60_000), Some(7_200_000), None, None]);
        assert_eq!(["60", "60ms", "1m"].map(of_seconds), [Some(60_000), Some(60), Some(60_000)]);
    }
}
