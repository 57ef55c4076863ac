//! Which times of a table can be.

/// Times further from zero than this (ms; some 140,000 years) count as damaged, so that sums and differences of times
/// never overflow.
pub(crate) const MAX_TIME: i64 = 1 << 52;

/// A time, unless it is damaged; that is counted.
pub(crate) fn plausible(time: Option<i64>, implausible: &mut u64) -> Option<i64> {
    let plausible = time.filter(|time| (-MAX_TIME..=MAX_TIME).contains(time));
    *implausible += u64::from(plausible != time);
    plausible
}
