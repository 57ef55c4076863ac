//! The limits of what is taken from an object store.

/// The most objects of a prefix that are listed.
pub const MOST_OBJECTS: usize = 1_000_000;
/// The longest key of an object (bytes): the limit of S3.
pub const LONGEST_KEY: usize = 1_024;
/// The most bytes of a range of a stream. Two of them are in memory.
pub const LARGEST_RANGE: u64 = 8 << 20;
/// How often a range is asked for again because its connection broke. The client of the store has tried it several times by then.
pub const MOST_BREAKS: u32 = 4;
