//! Times that a clock on a wall shows, as instants.

use chrono::offset::LocalResult;
use chrono::{NaiveDate, NaiveDateTime, TimeZone};

use super::{Kind, Zone};

impl Zone {
    /// The first and the last instant (ms since the epoch) at which its clocks show this date (year, month, day) and time of day (hour,
    /// minute, second). They differ in the hour that clocks show twice, at the end of summer time. A time that clocks jump over is an
    /// hour later. `None` if there is no such date or time.
    pub fn instants(self, date: (i32, u32, u32), time: (u32, u32, u32)) -> Option<(i64, i64)> {
        let shown = NaiveDate::from_ymd_opt(date.0, date.1, date.2)?.and_hms_opt(time.0, time.1, time.2)?;
        match self.0 {
            Kind::Fixed(offset) => {
                let ahead = i64::from(offset.local_minus_utc());
                let at = shown.and_utc().timestamp().checked_sub(ahead)?.checked_mul(1_000)?;
                Some((at, at))
            }
            Kind::Place(place) => self.of_place(place, shown),
        }
    }

    fn of_place(self, place: chrono_tz::Tz, shown: NaiveDateTime) -> Option<(i64, i64)> {
        match place.from_local_datetime(&shown) {
            LocalResult::Single(at) => Some((at.timestamp_millis(), at.timestamp_millis())),
            LocalResult::Ambiguous(first, last) => Some((first.timestamp_millis(), last.timestamp_millis())),
            LocalResult::None => self.instant(shown).map(|at| (at, at)),
        }
    }
}

/// A date: year, month, day.
type Date = (i32, u32, u32);

/// How many days are remembered: the times of neighbouring records lie within a few.
const REMEMBERED: usize = 16;
const SECONDS_OF_DAY: i64 = 86_400;

/// [`Zone::instants`] for many times. It remembers the days on which clocks are not set, of which a log has many times each.
#[derive(Debug, Clone, Default)]
pub struct Days {
    zone: Zone,
    /// Days, each with its first instant (ms); `None`: clocks are set on it.
    known: [(Date, Option<i64>); REMEMBERED],
}

impl Days {
    /// The days of a zone.
    pub fn of(zone: Zone) -> Self {
        Self { zone, ..Self::default() }
    }

    /// The zone.
    pub fn zone(&self) -> Zone {
        self.zone
    }

    /// As [`Zone::instants`].
    #[inline]
    pub fn instants(&mut self, date: Date, time: (u32, u32, u32)) -> Option<(i64, i64)> {
        let (hour, minute, second) = time;
        // There is no month 0, so nothing is remembered of it.
        if hour > 23 || minute > 59 || second > 59 || date.1 == 0 {
            return None;
        }
        let slot = date.1.wrapping_mul(31).wrapping_add(date.2) as usize % REMEMBERED;
        let known = self.known.get_mut(slot)?;
        if known.0 != date {
            *known = (date, day(self.zone, date));
        }
        let after = i64::from(hour * 3_600 + minute * 60 + second) * 1_000;
        match known.1 {
            Some(first) => Some((first + after, first + after)),
            None => self.zone.instants(date, time),
        }
    }
}

/// The first instant of a day; `None` if clocks are set on it, or if there is no such day.
fn day(zone: Zone, date: Date) -> Option<i64> {
    let (first, again) = zone.instants(date, (0, 0, 0))?;
    let (last, last_again) = zone.instants(date, (23, 59, 59))?;
    let is_even = first == again && last == last_again && last - first == (SECONDS_OF_DAY - 1) * 1_000;
    is_even.then_some(first)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_hour_that_clocks_show_twice_has_two_instants() {
        let berlin: Zone = "Europe/Berlin".parse().unwrap();
        let hour = 3_600_000;
        let (first, last) = berlin.instants((2026, 10, 25), (2, 30, 0)).unwrap();
        assert_eq!((first, last), (1_792_888_200_000, 1_792_888_200_000 + hour));
        let (once, same) = berlin.instants((2026, 10, 25), (3, 30, 0)).unwrap();
        assert_eq!((once, same), (last + hour, last + hour));
        assert_eq!(
            berlin.instants((2026, 3, 29), (2, 30, 0)),
            berlin.instants((2026, 3, 29), (3, 30, 0)),
            "jumped over"
        );
    }

    #[test]
    fn remembered_days_have_the_instants_of_the_zone() {
        for name in ["Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Pacific/Apia", "UTC", "-03:30"] {
            let zone: Zone = name.parse().unwrap();
            let mut days = Days::of(zone);
            assert_eq!(days.zone(), zone);
            // Over two years, with days that are none; each day in two turns, so that it is remembered and forgotten.
            let dates =
                (2010..2012).flat_map(|year| (0..14).flat_map(move |month| (0..33).map(move |day| (year, month, day))));
            for date in dates {
                for time in
                    [(0, 0, 0), (0, 30, 0), (1, 45, 1), (2, 15, 0), (3, 0, 0), (23, 59, 59), (24, 0, 0), (1, 60, 0)]
                {
                    assert_eq!(days.instants(date, time), zone.instants(date, time), "{name} {date:?} {time:?}");
                }
            }
        }
    }

    #[test]
    fn a_fixed_distance_has_one_instant() {
        let east: Zone = "+02:00".parse().unwrap();
        assert_eq!(east.instants((1970, 1, 1), (2, 0, 1)), Some((1_000, 1_000)));
        assert_eq!(Zone::default().instants((1970, 1, 2), (0, 0, 0)), Some((86_400_000, 86_400_000)));
        assert_eq!(east.instants((2026, 2, 30), (0, 0, 0)), None);
        assert_eq!(east.instants((2026, 2, 3), (24, 0, 0)), None);
    }
}
