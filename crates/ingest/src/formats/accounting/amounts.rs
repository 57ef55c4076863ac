//! Durations, counts and amounts of memory as batch systems write them.

use super::super::swf;

/// A number without a sign, of digits alone.
pub(crate) fn whole(digits: &str) -> Option<i64> {
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.parse().ok())?
}

/// A count of at least one, which may be written as `2.00`.
pub(crate) fn count(text: &str) -> Option<i64> {
    let whole = match text.split_once('.') {
        Some((whole, zeros)) if zeros.bytes().all(|byte| byte == b'0') => whole,
        Some(_) => return None,
        None => text,
    };
    self::whole(whole).filter(|&count| count > 0)
}

/// `[[D:]HH:]MM:SS` or seconds, either with a fraction, as ms.
pub(crate) fn duration(text: &str) -> Option<i64> {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
    let parts: Vec<i64> = clock.split(':').map(whole).collect::<Option<_>>()?;
    let units: &[i64] = match parts.len() {
        1 => &[1],
        2 => &[60, 1],
        3 => &[3_600, 60, 1],
        4 => &[86_400, 3_600, 60, 1],
        _ => return None,
    };
    let sum = |sum: i64, (part, unit): (&i64, &i64)| sum.checked_add(part.checked_mul(*unit)?);
    let seconds = parts.iter().zip(units).try_fold(0, sum)?;
    seconds.checked_mul(1_000)?.checked_add(thousandths(fraction)?)
}

/// The first three digits behind a point.
fn thousandths(fraction: &str) -> Option<i64> {
    let is_number = fraction.bytes().all(|byte| byte.is_ascii_digit());
    let digits = fraction.bytes().chain(std::iter::repeat(b'0')).take(3);
    is_number.then(|| digits.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

/// What the letters behind an amount of memory mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Units {
    /// PBS: `b`, `kb`, `mb` …, and `w`, `kw` … for words of 8 bytes; bytes without a letter.
    Pbs,
    /// LSF: `K`, `M`, `G` …, with or without `B`; megabytes without a letter.
    Lsf,
    /// Grid Engine: `K`, `M`, `G` are powers of 1,024, `k`, `m`, `g` powers of 1,000; bytes without a letter.
    GridEngine,
}

/// An amount of memory, bytes.
pub(crate) fn bytes(text: &str, units: Units) -> Option<i64> {
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = text.split_at_checked(digits)?;
    let unit = match units {
        Units::Pbs => pbs_unit(unit),
        Units::Lsf => {
            power(unit, "", 1 << 20, 1_024).or_else(|| power(unit.trim_end_matches(['B', 'b']), "", 1, 1_024))
        }
        Units::GridEngine if unit.bytes().all(|byte| byte.is_ascii_lowercase()) => power(unit, "", 1, 1_000),
        Units::GridEngine => power(unit, "", 1, 1_024),
    }?;
    if let Some(whole) = whole(number) {
        return whole.checked_mul(unit);
    }
    let number: f64 = number.parse().ok()?;
    swf::whole(number * unit as f64)
}

fn pbs_unit(unit: &str) -> Option<i64> {
    let unit = unit.to_ascii_lowercase();
    match unit.strip_suffix('w') {
        Some(words) => power(words, "", 1, 1_024)?.checked_mul(8),
        None => power(unit.strip_suffix('b').unwrap_or(&unit), "", 1, 1_024),
    }
}

/// The value of a letter: `alone` if it is `none`, else a power of `base`.
fn power(letter: &str, none: &str, alone: i64, base: i64) -> Option<i64> {
    if letter == none {
        return Some(alone);
    }
    let place = ["k", "m", "g", "t", "p", "e"].iter().position(|known| letter.eq_ignore_ascii_case(known))?;
    base.checked_pow(u32::try_from(place + 1).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_in_all_forms() {
        let cases = [
            ("3600", Some(3_600_000)),
            ("01:02:03", Some(3_723_000)),
            ("100:00:00", Some(360_000_000)),
            ("1:01:02:03", Some(90_123_000)),
            ("02:03", Some(123_000)),
            ("1.5", Some(1_500)),
            ("0.0004", Some(0)),
        ];
        for (text, expected) in cases {
            assert_eq!(duration(text), expected, "{text}");
        }
        for wrong in ["", "-1", "1:", "a", "1:2:3:4:5", "9223372036854775807", "1.-1", "INFINITY"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn amounts_of_memory_have_the_units_of_their_system() {
        let cases = [
            ("4gb", Units::Pbs, Some(4 << 30)),
            ("10485760kb", Units::Pbs, Some(10 << 30)),
            ("512", Units::Pbs, Some(512)),
            ("2mw", Units::Pbs, Some(16 << 20)),
            ("10GB", Units::Pbs, Some(10 << 30)),
            ("4915", Units::Lsf, Some(4_915 << 20)),
            ("4915.00", Units::Lsf, Some(4_915 << 20)),
            ("20G", Units::Lsf, Some(20 << 30)),
            ("1.5GB", Units::Lsf, Some(1_536 << 20)),
            ("4G", Units::GridEngine, Some(4 << 30)),
            ("4g", Units::GridEngine, Some(4_000_000_000)),
            ("1000000", Units::GridEngine, Some(1_000_000)),
        ];
        for (text, units, expected) in cases {
            assert_eq!(bytes(text, units), expected, "{text}");
        }
        for wrong in ["", "gb", "4x", "-4gb", "9999999999eb", "1.2.3g", "INFINITY"] {
            assert_eq!(
                [Units::Pbs, Units::Lsf, Units::GridEngine].map(|units| bytes(wrong, units)),
                [None; 3],
                "{wrong}"
            );
        }
    }

    #[test]
    fn counts_may_have_a_point() {
        assert_eq!(
            ["2", "2.00", "0", "2.5", "", "-1", "x"].map(count),
            [Some(2), Some(2), None, None, None, None, None]
        );
    }
}
