//! Times of `sacct`: local without a zone, or seconds since the epoch (`SLURM_TIME_FORMAT=%s`).

use resched_tables::clock::{Days, Zone};

use super::values::whole;

/// The instants that a time may be, ms since the epoch: two in the hour that clocks show twice, or else one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Time {
    first: i64,
    last: i64,
    /// True if the zone decided it.
    pub(super) is_local: bool,
}

impl Time {
    /// Seconds since the epoch. 0 stands for a time that is not known.
    pub(super) fn epoch(seconds: i64) -> Option<Self> {
        let at = seconds.checked_mul(1_000).filter(|&at| at > 0)?;
        Some(Self { first: at, last: at, is_local: false })
    }

    /// A time as `sacct` prints it; `None` for `Unknown`, `None`, `N/A` and anything else.
    fn parse(text: &str, days: &mut Days) -> Option<Self> {
        if text.as_bytes().first()?.is_ascii_digit() && text.len() < 19 {
            return Self::epoch(whole(text)?);
        }
        let (shown, distance) = text.split_at_checked(19)?;
        let (date, time) = parts(shown.as_bytes().try_into().ok()?)?;
        let is_local = distance.is_empty();
        let (first, last) =
            if is_local { days.instants(date, time) } else { distance.parse::<Zone>().ok()?.instants(date, time) }?;
        Some(Self { first, last, is_local })
    }

    pub(super) fn is_ambiguous(self) -> bool {
        self.first != self.last
    }

    /// The instant: the first that is not before what came before.
    pub(super) fn after(self, before: Option<i64>) -> i64 {
        if before.is_some_and(|before| self.first < before) { self.last } else { self.first }
    }
}

/// Year, month and day, and hours, minutes and seconds.
type Parts = ((i32, u32, u32), (u32, u32, u32));

/// The parts of `2026-11-22T03:59:56`. A list has four such times in each row, so this is quick.
fn parts(shown: &[u8; 19]) -> Option<Parts> {
    let &[ya, yb, yc, yd, b'-', ma, mb, b'-', da, db, b'T' | b' ', ha, hb, b':', na, nb, b':', sa, sb] = shown else {
        return None;
    };
    let century = number(ya, yb)? * 100;
    let year = i32::try_from(century + number(yc, yd)?).ok()?;
    Some(((year, number(ma, mb)?, number(da, db)?), (number(ha, hb)?, number(na, nb)?, number(sa, sb)?)))
}

/// The number of two digits.
fn number(tens: u8, ones: u8) -> Option<u32> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| u32::from(byte - b'0'));
    Some(digit(tens)? * 10 + digit(ones)?)
}

/// Reads times, and remembers what that took.
#[derive(Debug, Default)]
pub(super) struct Clock {
    pub(super) days: Days,
    /// True if a time was local.
    pub(super) used: bool,
    /// Times that clocks showed twice.
    pub(super) ambiguous: u64,
}

impl Clock {
    /// The clock of a zone.
    pub(super) fn of(zone: Zone) -> Self {
        Self { days: Days::of(zone), ..Self::default() }
    }

    pub(super) fn time(&mut self, text: &str) -> Option<Time> {
        let time = Time::parse(text, &mut self.days)?;
        self.used |= time.is_local;
        self.ambiguous += u64::from(time.is_ambiguous());
        Some(time)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn times_are_local_or_seconds() {
        let mut clock = Clock::of("America/New_York".parse().unwrap());
        let mut at = |text| clock.time(text).map(|time| time.after(None));
        assert_eq!(at("1795319996"), Some(1_795_319_996_000));
        assert_eq!(at("2026-11-21T22:59:56"), Some(1_795_319_996_000));
        assert_eq!(at("2026-11-22T03:59:56Z"), Some(1_795_319_996_000));
        assert_eq!(at("2026-11-22T04:59:56+01:00"), Some(1_795_319_996_000));
        for unknown in [
            "",
            "Unknown",
            "None",
            "N/A",
            "0",
            "2026-11-22",
            "2026-13-22T04:00:00",
            "2026-11-22T4:000:00",
            "2026-11-22T04:00:00é",
        ] {
            assert_eq!(at(unknown), None, "{unknown}");
        }
        assert!(clock.used && clock.ambiguous == 0);
    }

    #[test]
    fn of_two_instants_the_first_that_fits_counts() {
        let mut clock = Clock::of("Europe/Berlin".parse().unwrap());
        let half_past = clock.time("2026-10-25T02:30:00").unwrap();
        let ten_past = clock.time("2026-10-25T02:10:00").unwrap();
        let submit = half_past.after(None);
        assert_eq!(ten_past.after(Some(submit)), submit + 40 * 60_000, "it started when clocks showed two again");
        assert_eq!(clock.ambiguous, 2);
    }
}
