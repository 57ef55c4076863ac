//! Jobs in classes of a number: how many CPUs, GPUs or nodes they ask for, how much memory, and for how long.

use std::fmt;

/// The class of a number, which grows by powers of four. Classes are in the order of their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Class {
    scale: Scale,
    place: u32,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Scale {
    Count,
    Bytes,
    Time,
}

/// The upper ends of the classes of time, ms, with their names.
const TIMES: [(i64, &str); 7] = [
    (15 * MINUTE, "up to 15 min"),
    (60 * MINUTE, "15–60 min"),
    (4 * 60 * MINUTE, "1–4 h"),
    (12 * 60 * MINUTE, "4–12 h"),
    (24 * 60 * MINUTE, "12–24 h"),
    (4 * 24 * 60 * MINUTE, "1–4 d"),
    (i64::MAX, "over 4 d"),
];
const MINUTE: i64 = 60_000;
const GIB: f64 = 1_073_741_824.0;

impl Class {
    /// The class of a number of something: 0, below 1, 1, 2–4, 5–16, 17–64 and so on.
    pub fn of_count(count: f64) -> Self {
        let place = match count {
            count if count >= 1.0 => 2 + powers_below(count),
            count if count > 0.0 => 1,
            _ => 0,
        };
        Self { scale: Scale::Count, place }
    }

    /// The class of an amount of memory: up to 1 GiB, 1–4 GiB, 4–16 GiB and so on.
    pub fn of_bytes(bytes: i64) -> Self {
        Self { scale: Scale::Bytes, place: powers_below(bytes as f64 / GIB) }
    }

    /// The class of a time limit.
    pub fn of_time(ms: i64) -> Self {
        Self { scale: Scale::Time, place: TIMES.partition_point(|(end, _)| *end < ms) as u32 }
    }
}

/// How many powers of four, from 1 on, lie below a number.
fn powers_below(number: f64) -> u32 {
    let (mut places, mut end) = (0, 1.0);
    while end < number && places < 32 {
        (places, end) = (places + 1, end * 4.0);
    }
    places
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |place: u32| 1u64.checked_shl(2 * place).unwrap_or(u64::MAX);
        match (self.scale, self.place) {
            (Scale::Count, 0) => f.write_str("0"),
            (Scale::Count, 1) => f.write_str("below 1"),
            (Scale::Count, 2) => f.write_str("1"),
            (Scale::Count, place) => write!(f, "{}–{}", end(place - 3).saturating_add(1), end(place - 2)),
            (Scale::Bytes, 0) => f.write_str("up to 1 GiB"),
            (Scale::Bytes, place) => write!(f, "{}–{} GiB", end(place - 1), end(place)),
            (Scale::Time, place) => f.write_str(TIMES.get(place as usize).map_or("", |(_, name)| name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_grow_by_powers_of_four_and_each_number_has_one() {
        let count = |number: f64| Class::of_count(number).to_string();
        let numbers = [-1.0, 0.0, 0.25, 1.0, 1.5, 2.0, 4.0, 5.0, 16.0, 17.0, 64.0, 65.0, 256.0, 4_097.0];
        let expected = [
            "0",
            "0",
            "below 1",
            "1",
            "2–4",
            "2–4",
            "2–4",
            "5–16",
            "5–16",
            "17–64",
            "17–64",
            "65–256",
            "65–256",
            "4097–16384",
        ];
        assert_eq!(numbers.map(count), expected);
        let bytes = |mb: i64| Class::of_bytes(mb << 20).to_string();
        assert_eq!(
            [0, 1_024, 1_025, 4_096, 200_000].map(bytes),
            ["up to 1 GiB", "up to 1 GiB", "1–4 GiB", "1–4 GiB", "64–256 GiB"]
        );
        let time = |minutes: i64| Class::of_time(minutes * MINUTE).to_string();
        assert_eq!(
            [15, 16, 60, 240, 1_440, 1_441, 9_999_999].map(time),
            ["up to 15 min", "15–60 min", "15–60 min", "1–4 h", "12–24 h", "1–4 d", "over 4 d"]
        );
        assert!([f64::NAN, f64::INFINITY, f64::MAX].map(Class::of_count).iter().all(|class| class.to_string() != ""));
    }

    #[test]
    fn classes_are_in_the_order_of_their_numbers() {
        let numbers = [0.0, 0.5, 1.0, 3.0, 16.0, 17.0, 1e9];
        assert!(numbers.map(Class::of_count).is_sorted_by(|one, other| one < other));
    }
}
