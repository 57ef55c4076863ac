//! Amounts as Kubernetes writes them: `100m`, `2Gi`, `1e3`.

/// The amount in thousandths, rounded up as the API does.
///
/// # Errors
/// What is wrong with the text: no number, an unknown suffix, or a number outside of what 63 bits hold.
pub fn thousandths(text: &str) -> Result<i64, String> {
    let bad = |why: &str| format!("expected an amount such as `100m`, `4` or `2Gi`, found `{text}`: {why}");
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (number, suffix) = rest.split_at(end);
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && part.is_empty() || part.contains('.') {
        return Err(bad("it has no number"));
    }
    let mut digits: i128 = 0;
    for digit in whole.bytes().chain(part.bytes()) {
        digits = digits * 10 + i128::from(digit - b'0');
        if digits > 1 << 90 {
            return Err(bad("it is too large"));
        }
    }
    let (times, mut tens) = factor(suffix).ok_or_else(|| bad("its suffix is unknown"))?;
    tens += 3 - i32::try_from(part.len()).map_err(|_| bad("it is too long"))?;
    scaled(digits, times, tens).map(|value| sign * value).ok_or_else(|| bad("it is too large"))
}

/// The amount as a whole number, rounded up.
///
/// # Errors
/// As [`thousandths`].
pub fn whole(text: &str) -> Result<i64, String> {
    // Bytes of a large node are beyond 63 bits in thousandths, so a suffix that is a power of two is taken whole.
    if let Some(number) = text.strip_suffix('i').and_then(|rest| rest.strip_suffix(|c: char| c.is_ascii_alphabetic()))
        && let Ok(number) = number.parse::<i64>()
        && let Some((times, _)) = factor(&text[text.len() - 2..])
    {
        let value = i128::from(number) * times;
        return i64::try_from(value).map_err(|_| format!("expected an amount below 2^63, found `{text}`"));
    }
    let thousandths = thousandths(text)?;
    Ok(thousandths.div_euclid(1000) + i64::from(thousandths.rem_euclid(1000) != 0))
}

/// What a suffix stands for: a whole number times a power of ten.
fn factor(suffix: &str) -> Option<(i128, i32)> {
    Some(match suffix {
        "" => (1, 0),
        "n" => (1, -9),
        "u" => (1, -6),
        "m" => (1, -3),
        "k" => (1, 3),
        "M" => (1, 6),
        "G" => (1, 9),
        "T" => (1, 12),
        "P" => (1, 15),
        "E" => (1, 18),
        "Ki" => (1 << 10, 0),
        "Mi" => (1 << 20, 0),
        "Gi" => (1 << 30, 0),
        "Ti" => (1 << 40, 0),
        "Pi" => (1 << 50, 0),
        "Ei" => (1 << 60, 0),
        exponent => {
            let power: i32 = exponent.strip_prefix(['e', 'E'])?.parse().ok()?;
            (1, power)
        }
    })
}

fn scaled(digits: i128, times: i128, tens: i32) -> Option<i64> {
    let mut value = digits.checked_mul(times)?;
    for _ in 0..tens.clamp(0, 60) {
        value = value.checked_mul(10)?;
    }
    if tens < 0 {
        let divisor = 10_i128.checked_pow(tens.unsigned_abs())?;
        value = value / divisor + i128::from(value % divisor != 0);
    }
    if tens > 60 && value != 0 {
        return None;
    }
    i64::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::{thousandths, whole};

    #[test]
    fn amounts_are_read_as_the_api_reads_them() {
        for (text, expected) in
            [("100m", 100), ("4", 4000), ("0.5", 500), (".5", 500), ("1e3", 1_000_000), ("-2", -2000), ("1.0001", 1001)]
        {
            assert_eq!(thousandths(text), Ok(expected), "{text}");
        }
        for (text, expected) in [("2Gi", 2_147_483_648), ("1k", 1000), ("1500m", 2), ("7Ei", 8_070_450_532_247_928_832)]
        {
            assert_eq!(whole(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "Gi", "1Xi", "1.2.3", "9Ei9", "1e400", "99999999999999999999Gi", "e3", "--1", "8Ei"] {
            assert!(thousandths(text).is_err() && whole(text).is_err(), "{text}");
        }
    }
}
