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
    fn a_fixed_distance_has_one_instant() {
        let east: Zone = "+02:00".parse().unwrap();
        assert_eq!(east.instants((1970, 1, 1), (2, 0, 1)), Some((1_000, 1_000)));
        assert_eq!(Zone::default().instants((1970, 1, 2), (0, 0, 0)), Some((86_400_000, 86_400_000)));
        assert_eq!(east.instants((2026, 2, 30), (0, 0, 0)), None);
        assert_eq!(east.instants((2026, 2, 3), (24, 0, 0)), None);
    }
}
