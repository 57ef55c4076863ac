//! Times of `sacct`: local without a zone, or seconds since the epoch (`SLURM_TIME_FORMAT=%s`).

use resched_tables::clock::Zone;

use super::values::whole;

/// The instants that a time may be, ms since the epoch: two in the hour that clocks show twice, or else one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Time {
    first: i64,
    last: i64,
    /// Whether the zone decided it.
    pub(super) is_local: bool,
}

impl Time {
    /// Seconds since the epoch. 0 stands for a time that is not known.
    pub(super) fn epoch(seconds: i64) -> Option<Self> {
        let at = seconds.checked_mul(1_000).filter(|&at| at > 0)?;
        Some(Self { first: at, last: at, is_local: false })
    }

    /// A time as `sacct` prints it; `None` for `Unknown`, `None`, `N/A` and anything else.
    pub(super) fn parse(text: &str, zone: Zone) -> Option<Self> {
        if text.as_bytes().first()?.is_ascii_digit() && text.len() < 19 {
            return Self::epoch(whole(text)?);
        }
        let (shown, distance) = text.split_at_checked(19)?;
        let zone = if distance.is_empty() { zone } else { distance.parse().ok()? };
        let (date, time) = shown.split_once(['T', ' '])?;
        let (first, last) = zone.instants(three(date, '-')?, three(time, ':')?)?;
        Some(Self { first, last, is_local: distance.is_empty() })
    }

    pub(super) fn is_ambiguous(self) -> bool {
        self.first != self.last
    }

    /// The instant: the first that is not before what came before.
    pub(super) fn after(self, before: Option<i64>) -> i64 {
        if before.is_some_and(|before| self.first < before) { self.last } else { self.first }
    }
}

/// Three numbers between these marks.
fn three<N: TryFrom<i64>>(text: &str, mark: char) -> Option<(N, u32, u32)> {
    let mut parts = text.splitn(3, mark).map(whole);
    let (first, second, third) = (parts.next()??, parts.next()??, parts.next()??);
    Some((N::try_from(first).ok()?, u32::try_from(second).ok()?, u32::try_from(third).ok()?))
}

/// Reads times, and remembers what that took.
#[derive(Debug, Default)]
pub(super) struct Clock {
    pub(super) zone: Zone,
    /// Whether a time was local.
    pub(super) used: bool,
    /// Times that clocks showed twice.
    pub(super) ambiguous: u64,
}

impl Clock {
    pub(super) fn time(&mut self, text: &str) -> Option<Time> {
        let time = Time::parse(text, self.zone)?;
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
        let mut clock = Clock { zone: "America/New_York".parse().unwrap(), ..Clock::default() };
        let mut at = |text| clock.time(text).map(|time| time.after(None));
        assert_eq!(at("1795319996"), Some(1_795_319_996_000));
        assert_eq!(at("2026-11-21T22:59:56"), Some(1_795_319_996_000));
        assert_eq!(at("2026-11-22T03:59:56Z"), Some(1_795_319_996_000));
        assert_eq!(at("2026-11-22T04:59:56+01:00"), Some(1_795_319_996_000));
        for unknown in ["", "Unknown", "None", "N/A", "0", "2026-11-22", "2026-13-22T04:00:00", "2026-11-22T04:00:00é"]
        {
            assert_eq!(at(unknown), None, "{unknown}");
        }
        assert!(clock.used && clock.ambiguous == 0);
    }

    #[test]
    fn of_two_instants_the_first_that_fits_counts() {
        let mut clock = Clock { zone: "Europe/Berlin".parse().unwrap(), ..Clock::default() };
        let half_past = clock.time("2026-10-25T02:30:00").unwrap();
        let ten_past = clock.time("2026-10-25T02:10:00").unwrap();
        let submit = half_past.after(None);
        assert_eq!(ten_past.after(Some(submit)), submit + 40 * 60_000, "it started when clocks showed two again");
        assert_eq!(clock.ambiguous, 2);
    }
}
