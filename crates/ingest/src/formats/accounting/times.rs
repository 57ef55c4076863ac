//! Times that a clock on a wall shows.

use resched_tables::clock::{Days, Zone};
use serde::Deserialize;

/// The part of a date that comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub(crate) enum Order {
    /// `2026-11-28`.
    #[default]
    #[serde(rename = "year-first")]
    Year,
    /// `11/28/2026`.
    #[serde(rename = "month-first")]
    Month,
    /// `28.11.2026`.
    #[serde(rename = "day-first")]
    Day,
}

/// Reads times, and remembers what that took.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    pub(crate) days: Days,
    /// True if a time had no zone.
    pub(crate) used: bool,
    /// Times that clocks showed twice.
    pub(crate) ambiguous: u64,
}

impl Clock {
    /// The clock of a zone.
    pub(crate) fn of(zone: Zone) -> Self {
        Self { days: Days::of(zone), ..Self::default() }
    }

    /// A date with a time, as ms since the epoch: `2026-11-28 04:05:06.789+01:00`. Seconds, fraction and zone may be missing; the marks
    /// between the numbers are `-`, `/`, `.`, `T`, a blank and `:`.
    pub(crate) fn time(&mut self, text: &str, order: Order) -> Option<i64> {
        let text = text.trim();
        let ([first, second, third], rest) = date(text)?;
        let (year, month, day) = match order {
            Order::Year => (first, second, third),
            Order::Month => (third, first, second),
            Order::Day => (third, second, first),
        };
        let (time, fraction, rest) = clock(rest)?;
        let rest = rest.trim();
        let date = (i32::try_from(year).ok()?, month, day);
        let (first, last) =
            if rest.is_empty() { self.days.instants(date, time) } else { zone(rest)?.instants(date, time) }?;
        self.used |= rest.is_empty();
        self.ambiguous += u64::from(first != last);
        first.checked_add(fraction)
    }
}

/// The three numbers of a date, and what follows them.
fn date(text: &str) -> Option<([u32; 3], &str)> {
    let (first, rest) = number(text)?;
    let mark = rest.chars().next().filter(|mark| ['-', '/', '.'].contains(mark))?;
    let (second, rest) = number(rest.strip_prefix(mark)?)?;
    let (third, rest) = number(rest.strip_prefix(mark)?)?;
    Some(([first, second, third], rest))
}

/// Hours, minutes and seconds, the ms behind the point, and what follows them. A date alone is its midnight.
fn clock(text: &str) -> Option<((u32, u32, u32), i64, &str)> {
    if text.is_empty() {
        return Some(((0, 0, 0), 0, ""));
    }
    let (hours, rest) = number(text.strip_prefix(['T', ' '])?.trim_start())?;
    let (minutes, rest) = number(rest.strip_prefix(':')?)?;
    let Some(rest) = rest.strip_prefix(':') else { return Some(((hours, minutes, 0), 0, rest)) };
    let (seconds, rest) = number(rest)?;
    let Some(rest) = rest.strip_prefix(['.', ',']) else { return Some(((hours, minutes, seconds), 0, rest)) };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (fraction, rest) = rest.split_at_checked(digits)?;
    let ms = fraction.bytes().chain(std::iter::repeat(b'0')).take(3);
    Some(((hours, minutes, seconds), ms.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')), rest))
}

/// `Z`, `UTC`, `+01:00`, `+0100` or `+01`.
fn zone(text: &str) -> Option<Zone> {
    if let Some(digits) = text.strip_prefix(['+', '-'])
        && digits.len() == 4
        && digits.bytes().all(|byte| byte.is_ascii_digit())
    {
        let (sign_and_hours, minutes) = text.split_at_checked(3)?;
        return format!("{sign_and_hours}:{minutes}").parse().ok();
    }
    if text == "GMT" { Some(Zone::default()) } else { text.parse().ok() }
}

/// The number at the start of a text of at most four digits, and what follows it.
fn number(text: &str) -> Option<(u32, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at_checked(digits)?;
    (digits.len() <= 4).then(|| digits.parse().ok())?.map(|number| (number, rest))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// `date -u -d '2026-11-28 04:05:06' +%s` prints 1795838706.
    #[test]
    fn times_are_read_in_all_forms() {
        const AT: i64 = 1_795_838_706_000;
        let mut clock = Clock::default();
        for (text, order, expected) in [
            ("2026-11-28T04:05:06", Order::Year, AT),
            ("2026-11-28 04:05:06.789", Order::Year, AT + 789),
            ("2026-11-28 04:05", Order::Year, AT - 6_000),
            ("2026-11-28", Order::Year, AT - 14_706_000),
            ("2026-11-28 05:05:06+01:00", Order::Year, AT),
            ("2026-11-28T05:05:06.5+0100", Order::Year, AT + 500),
            ("2026-11-28 04:05:06 UTC", Order::Year, AT),
            ("11/28/2026 04:05:06", Order::Month, AT),
            ("28.11.2026 04:05:06", Order::Day, AT),
            ("2026/11/28 04:05:06Z", Order::Year, AT),
        ] {
            assert_eq!(clock.time(text, order), Some(expected), "{text}");
        }
        for wrong in [
            "",
            "2026",
            "2026-13-01 00:00:00",
            "2026-11-28 4",
            "2026-11-28X04:05:06",
            "2026-11-28 04:05:06 Mars",
            "é",
            "99999-1-1",
        ] {
            assert_eq!(clock.time(wrong, Order::Year), None, "{wrong}");
        }
    }

    #[test]
    fn a_time_without_a_zone_is_that_of_the_site() {
        let mut clock = Clock::of("Europe/Berlin".parse().unwrap());
        let utc = |text: &str| Clock::default().time(text, Order::Year);
        assert_eq!(clock.time("2026-11-28 05:05:06", Order::Year), utc("2026-11-28 04:05:06"));
        assert_eq!(clock.time("2026-10-25 02:30:00", Order::Year), utc("2026-10-25 00:30:00"));
        assert_eq!((clock.used, clock.ambiguous), (true, 1));
    }
}
