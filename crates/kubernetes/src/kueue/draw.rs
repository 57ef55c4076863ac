//! Draws: where the real code leaves the order to chance, a key of the seed decides.

/// A key that orders equals: the same for the same seed and numbers on every machine.
pub(crate) fn key(seed: u64, a: u64, b: u64) -> u64 {
    mix(mix(mix(seed).wrapping_add(a)).wrapping_add(b))
}

/// The finisher of splitmix64 (Steele, Lea and Flood, 2014).
pub(crate) fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
