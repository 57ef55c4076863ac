//! The logged tries at tasks, in few bytes: a log may have a hundred million.

use std::marker::PhantomData;

use resched_tables::model::{Locality, Outcome};

use crate::ids::Ms;

/// A logged try at a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoggedMap {
    /// How it ended.
    pub outcome: Outcome,
    /// How near to its input it ran.
    pub level: Locality,
    /// How long it ran, ms.
    pub run: Ms,
}

/// A logged try at a reduce, by phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoggedReduce {
    /// How it ended.
    pub outcome: Outcome,
    /// From its start to the end of the shuffle, ms.
    pub shuffle: Ms,
    /// From there to the end of the sort, ms.
    pub sort: Ms,
    /// From there to its end, ms; `None` if the log has no time that can be.
    pub reduce: Option<Ms>,
}

/// A try that is kept as some words. Each holds a time; the lowest bits of the first hold what is not a time.
pub trait Packed: Sized + 'static {
    /// How many.
    const WORDS: usize;
    /// Adds its words.
    fn pack(&self, words: &mut Vec<i64>);
    /// The try of these words.
    fn unpack(words: &[i64]) -> Option<Self>;
}

/// The tries at a task.
#[derive(Debug, Clone, Copy)]
pub struct Logged<'a, T> {
    words: &'a [i64],
    tries: PhantomData<T>,
}

impl<'a, T: Packed> Logged<'a, T> {
    #[inline]
    pub(super) fn new(words: &'a [i64]) -> Self {
        Self { words, tries: PhantomData }
    }

    /// One of them, by its number.
    #[inline]
    pub fn get(&self, number: usize) -> Option<T> {
        let start = number.checked_mul(T::WORDS)?;
        T::unpack(self.words.get(start..)?)
    }

    /// All of them.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = T> + 'a {
        self.words.chunks_exact(T::WORDS).filter_map(T::unpack)
    }
}

const OUTCOME_BITS: u32 = 4;
const FLAG_BITS: u32 = 2;
/// The bits below the time.
const LOW_BITS: u32 = OUTCOME_BITS + FLAG_BITS;
/// The longest time that has room; those of a log are much shorter.
const MOST: Ms = Ms::MAX >> LOW_BITS;

const _: () = assert!(Outcome::ALL.len() <= 1 << OUTCOME_BITS && Locality::ALL.len() <= 1 << FLAG_BITS);

#[inline]
fn pack(time: Ms, outcome: Outcome, flag: usize) -> i64 {
    time.clamp(-MOST, MOST) << LOW_BITS | (flag << OUTCOME_BITS | outcome.index()) as i64
}

#[inline]
fn outcome(word: i64) -> Option<Outcome> {
    Outcome::ALL.get((word & ((1 << OUTCOME_BITS) - 1)) as usize).copied()
}

#[inline]
fn flag(word: i64) -> usize {
    (word >> OUTCOME_BITS & ((1 << FLAG_BITS) - 1)) as usize
}

impl Packed for LoggedMap {
    const WORDS: usize = 1;

    #[inline]
    fn pack(&self, words: &mut Vec<i64>) {
        words.push(pack(self.run, self.outcome, self.level.index()));
    }

    #[inline]
    fn unpack(words: &[i64]) -> Option<Self> {
        let &word = words.first()?;
        Some(Self { outcome: outcome(word)?, level: *Locality::ALL.get(flag(word))?, run: word >> LOW_BITS })
    }
}

impl Packed for LoggedReduce {
    const WORDS: usize = 3;

    #[inline]
    fn pack(&self, words: &mut Vec<i64>) {
        let first = pack(self.shuffle, self.outcome, usize::from(self.reduce.is_some()));
        words.extend([first, self.sort, self.reduce.unwrap_or(0)]);
    }

    #[inline]
    fn unpack(words: &[i64]) -> Option<Self> {
        let &[first, sort, reduce] = words.first_chunk()?;
        Some(Self {
            outcome: outcome(first)?,
            shuffle: first >> LOW_BITS,
            sort,
            reduce: (flag(first) == 1).then_some(reduce),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loading::LONGEST;

    #[test]
    fn a_try_is_what_was_packed() {
        let (mut maps, mut map_words) = (Vec::new(), Vec::new());
        let (mut reduces, mut reduce_words) = (Vec::new(), Vec::new());
        for run in [0, 1, -1, 63, 64, -64, LONGEST, -LONGEST] {
            for &outcome in Outcome::ALL {
                maps.extend(Locality::ALL.iter().map(|&level| LoggedMap { outcome, level, run }));
                let of = |reduce| LoggedReduce { outcome, shuffle: run, sort: -run, reduce };
                reduces.extend([None, Some(run), Some(0)].map(of));
            }
        }
        maps.iter().for_each(|one| one.pack(&mut map_words));
        reduces.iter().for_each(|one| one.pack(&mut reduce_words));
        let (packed_maps, packed_reduces) =
            (Logged::<LoggedMap>::new(&map_words), Logged::<LoggedReduce>::new(&reduce_words));
        assert_eq!(packed_maps.iter().collect::<Vec<_>>(), maps);
        assert_eq!(packed_reduces.iter().collect::<Vec<_>>(), reduces);
        assert_eq!((packed_maps.get(5), packed_maps.get(maps.len())), (maps.get(5).copied(), None));
        assert_eq!((packed_reduces.get(5), packed_reduces.get(reduces.len())), (reduces.get(5).copied(), None));
    }
}
