//! Go's `math/rand` before 1.20, as far as the experiments of a paper used it: their shuffles can be repeated exactly.
//!
//! The generator adds: each number is the sum, modulo 2^64, of those 607 and 273 places before it. Go starts it from a fixed state, the
//! one after 7.8·10^12 steps from a known seed. That state is worked out here instead of being listed: `y(n)` is a sum of the first 607
//! numbers with the coefficients of `x^n` modulo `x^607 − x^334 − 1`.

use std::sync::OnceLock;

const LENGTH: usize = 607;
const TAP: usize = 273;
/// A number is the sum of those `LENGTH` and `TAP` places before it.
const FEED: usize = LENGTH - TAP;
const STEPS: u64 = 7_800_000_000_000;
const MODULUS: u64 = (1 << 31) - 1;
const FACTOR: u64 = 48271;

/// The generator behind Go's `rand.Seed`, `rand.Intn` and others.
#[derive(Clone, Debug)]
pub struct GoRand {
    state: Vec<u64>,
    tap: usize,
    feed: usize,
}

impl GoRand {
    /// As `rand.Seed(seed)`.
    pub fn new(seed: i64) -> Self {
        static COOKED: OnceLock<Vec<u64>> = OnceLock::new();
        let cooked = COOKED.get_or_init(cooked);
        let seed = seed.rem_euclid(i64::try_from(MODULUS).unwrap_or(i64::MAX));
        let seed = if seed == 0 { 89_482_311 } else { seed.unsigned_abs() };
        let state = initial(seed, 40, 20).iter().zip(cooked).map(|(first, cooked)| first ^ cooked).collect();
        Self { state, tap: 0, feed: FEED }
    }

    /// As `rand.Int63()`.
    pub fn int63(&mut self) -> u64 {
        self.tap = (self.tap + LENGTH - 1) % LENGTH;
        self.feed = (self.feed + LENGTH - 1) % LENGTH;
        let sum = self.state[self.feed].wrapping_add(self.state[self.tap]);
        self.state[self.feed] = sum;
        sum & (u64::MAX >> 1)
    }

    /// As `rand.Intn(n)` for 0 < `n` < 2^31; 0 for others.
    pub fn below(&mut self, n: usize) -> usize {
        let Some(n) = u32::try_from(n).ok().filter(|n| (1..1 << 31).contains(n)) else { return 0 };
        let most = if n.is_power_of_two() { u32::MAX >> 1 } else { (u32::MAX >> 1) - (1_u32 << 31) % n };
        loop {
            let value = self.int31();
            if value <= most {
                return usize::try_from(value % n).unwrap_or(0);
            }
        }
    }

    /// As `rand.Shuffle`.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.lemire(u32::try_from(last + 1).unwrap_or(u32::MAX));
            items.swap(last, other);
        }
    }

    /// As `rand.Perm(n)`.
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut numbers = vec![0; n];
        for place in 0..n {
            let other = self.below(place + 1);
            numbers[place] = numbers[other];
            numbers[other] = place;
        }
        numbers
    }

    fn int31(&mut self) -> u32 {
        (self.int63() >> 32) as u32
    }

    /// A number below `n` by multiplication, as `Shuffle` draws it.
    #[expect(clippy::cast_possible_truncation)]
    fn lemire(&mut self, n: u32) -> usize {
        loop {
            let product = ((self.int63() >> 31) & u64::from(u32::MAX)) * u64::from(n);
            let low = product as u32;
            if low >= n || low >= n.wrapping_neg() % n {
                return (product >> 32) as usize;
            }
        }
    }
}

/// The state from a seed: each number from three steps of a linear generator, after 20 that are dropped.
fn initial(seed: u64, first: u32, second: u32) -> Vec<u64> {
    let mut x = seed;
    let mut step = || {
        x = x * FACTOR % MODULUS;
        x
    };
    (0..20).for_each(|_| {
        step();
    });
    (0..LENGTH).map(|_| (step() << first) ^ (step() << second) ^ step()).collect()
}

/// The state after [`STEPS`] steps.
fn cooked() -> Vec<u64> {
    let start = initial(1, 20, 10);
    // `y(k)` stands in slot `FEED − k`, modulo the length; y(−606) to y(0) are the state at the start.
    let slot = |k: u64| (FEED + LENGTH - usize::try_from(k % LENGTH as u64).unwrap_or(0)) % LENGTH;
    let first: Vec<u64> = (0..LENGTH).map(|j| start[slot(j as u64 + 1)]).collect();
    let mut power = x_to_the(STEPS);
    let mut state = vec![0; LENGTH];
    for i in 0..LENGTH {
        let value = power.iter().zip(&first).fold(0_u64, |sum, (c, y)| sum.wrapping_add(c.wrapping_mul(*y)));
        // y(STEPS − 606 + i); −606 is 1 modulo the length.
        state[slot(STEPS + 1 + i as u64)] = value;
        power = reduced(std::iter::once(0).chain(power).collect());
    }
    state
}

/// The coefficients of `x^n`, reduced.
fn x_to_the(n: u64) -> Vec<u64> {
    let mut power = vec![0_u64; LENGTH];
    power[0] = 1;
    for bit in (0..u64::BITS - n.leading_zeros()).rev() {
        let mut square = vec![0_u64; 2 * LENGTH];
        for (i, &a) in power.iter().enumerate().filter(|(_, a)| **a != 0) {
            for (j, &b) in power.iter().enumerate() {
                square[i + j] = square[i + j].wrapping_add(a.wrapping_mul(b));
            }
        }
        if n >> bit & 1 == 1 {
            square.insert(0, 0);
        }
        power = reduced(square);
    }
    power
}

/// Replaces `x^607` by `x^334 + 1`.
fn reduced(mut polynomial: Vec<u64>) -> Vec<u64> {
    for place in (LENGTH..polynomial.len()).rev() {
        let value = std::mem::take(&mut polynomial[place]);
        polynomial[place - LENGTH] = polynomial[place - LENGTH].wrapping_add(value);
        polynomial[place - TAP] = polynomial[place - TAP].wrapping_add(value);
    }
    polynomial.truncate(LENGTH);
    polynomial
}

#[cfg(test)]
mod tests {
    use super::GoRand;

    #[test]
    fn numbers_are_those_of_go() {
        // Known outputs of Go: `rand.Intn(100)` without a seed (that is 1), and with the seed 42.
        let mut unseeded = GoRand::new(1);
        let numbers: Vec<usize> = (0..10).map(|_| unseeded.below(100)).collect();
        assert_eq!(numbers, [81, 87, 47, 59, 81, 18, 25, 40, 56, 0]);
        let mut seeded = GoRand::new(42);
        assert_eq!([seeded.below(100), seeded.below(100)], [5, 87]);
    }

    #[test]
    fn a_permutation_has_each_number_once() {
        let mut numbers = GoRand::new(7).permutation(100);
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..100));
    }
}
