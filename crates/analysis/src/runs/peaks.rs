//! How many spans are open at once, of millions of spans that are kept in a few bytes each.

/// So many spans that came one after the other are a part.
const PART: usize = 1 << 16;
/// One part of so many is looked at by itself.
const EVERY: usize = 8;

/// Spans of time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Peaks {
    starts: Packed,
    finishes: Packed,
}

impl Peaks {
    /// Adds a span.
    pub(crate) fn add(&mut self, start: i64, finish: i64) {
        self.starts.push(start);
        self.finishes.push(finish);
    }

    /// True if so many spans are ever open at once.
    pub(crate) fn reach(&self, least: u64) -> bool {
        self.parts_reach(least)
            || most_open(self.starts.times().collect(), self.finishes.times().collect()) >= least as f64
    }

    /// True if so many spans of some part of them are open at once. In a run that fills its cluster, some parts show it, and all spans
    /// need not be sorted.
    fn parts_reach(&self, least: u64) -> bool {
        let mut spans = self.starts.times().zip(self.finishes.times());
        loop {
            let (starts, finishes): (Vec<i64>, Vec<i64>) = spans.by_ref().take(PART).unzip();
            if most_open(starts, finishes) >= least as f64 {
                return true;
            }
            if spans.nth((EVERY - 1) * PART - 1).is_none() {
                return false;
            }
        }
    }
}

/// The most spans that are open at once (`start ≤ t < finish`), of which these are the starts and the ends.
pub(crate) fn most_open(mut starts: Vec<i64>, mut finishes: Vec<i64>) -> f64 {
    // Attempts come in the order of their ends, so that one of the sorts is a look.
    starts.sort_unstable();
    finishes.sort_unstable();
    let mut ended = finishes.iter().peekable();
    let (mut open, mut most) = (0_i64, 0);
    for of_instant in starts.chunk_by(|one, other| one == other) {
        while ended.next_if(|finish| of_instant.first() >= Some(finish)).is_some() {
            open -= 1;
        }
        open += of_instant.len() as i64;
        most = most.max(open);
    }
    most as f64
}

/// Times, each as its difference from the one before: in groups of seven bits, the lowest first, each but the last with the eighth bit. Of
/// attempts in the order of their ends, a time takes one to three bytes.
#[derive(Debug, Clone, Default)]
struct Packed {
    bytes: Vec<u8>,
    last: i64,
}

impl Packed {
    fn push(&mut self, time: i64) {
        let difference = time.wrapping_sub(self.last);
        self.last = time;
        // Small differences of either sign become small numbers.
        let mut rest = ((difference << 1) ^ (difference >> 63)) as u64;
        while rest >= 128 {
            self.bytes.push(rest as u8 | 128);
            rest >>= 7;
        }
        self.bytes.push(rest as u8);
    }

    fn times(&self) -> impl Iterator<Item = i64> {
        let mut bytes = self.bytes.iter();
        let mut last = 0i64;
        std::iter::from_fn(move || {
            let (mut number, mut shift) = (0u64, 0);
            loop {
                let byte = *bytes.next()?;
                number |= u64::from(byte & 127) << shift;
                shift += 7;
                if byte < 128 {
                    break;
                }
            }
            last = last.wrapping_add((number >> 1) as i64 ^ -((number & 1) as i64));
            Some(last)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back() {
        let times = [0, 5, 3, -1, 127, 128, i64::MAX, i64::MIN, 1 << 52, 0];
        let mut packed = Packed::default();
        times.iter().for_each(|time| packed.push(*time));
        assert_eq!(packed.times().collect::<Vec<_>>(), times);
    }

    #[test]
    fn what_ends_when_another_starts_is_not_open_with_it() {
        let mut peaks = Peaks::default();
        for (start, finish) in [(0, 10), (10, 20), (5, 12), (11, 13)] {
            peaks.add(start, finish);
        }
        assert_eq!([3, 4].map(|least| peaks.reach(least)), [true, false]);
        assert_eq!([0, 1].map(|least| Peaks::default().reach(least)), [true, false]);
    }

    #[test]
    fn spans_are_found_together_in_any_part() {
        // One after the other, but for five in one part, of which each lasts for as long as some others.
        let crowded = |part: usize| {
            let first = part * PART + 100;
            let mut peaks = Peaks::default();
            for place in 0..10 * PART {
                let at = 2 * place as i64;
                let (start, finish) =
                    if (first..first + 5).contains(&place) { (2 * first as i64, at + 50) } else { (at, at + 1) };
                peaks.add(start, finish);
            }
            peaks
        };
        for (part, by_itself) in [(1, false), (8, true)] {
            let peaks = crowded(part);
            assert_eq!([6, 7].map(|least| peaks.reach(least)), [true, false], "part {part}");
            assert_eq!(peaks.parts_reach(6), by_itself, "part {part}");
        }
    }
}
