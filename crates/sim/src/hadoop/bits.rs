//! Sets of small numbers.

/// A set of numbers below a limit, as bits: the next number is found without a look at those that are not in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bits {
    words: Vec<u64>,
    /// Which words are not 0.
    used: Vec<u64>,
}

impl Bits {
    /// No number; there is room for those below `limit`.
    pub(crate) fn below(limit: usize) -> Self {
        let words = limit.div_ceil(64);
        Self { words: vec![0; words], used: vec![0; words.div_ceil(64)] }
    }

    #[inline]
    pub(crate) fn contains(&self, number: u32) -> bool {
        self.words[(number / 64) as usize] & 1 << (number % 64) != 0
    }

    #[inline]
    pub(crate) fn insert(&mut self, number: u32) {
        let word = number / 64;
        self.words[word as usize] |= 1 << (number % 64);
        self.used[(word / 64) as usize] |= 1 << (word % 64);
    }

    #[inline]
    pub(crate) fn remove(&mut self, number: u32) {
        let place = number / 64;
        let word = &mut self.words[place as usize];
        *word &= !(1 << (number % 64));
        if *word == 0 {
            self.used[(place / 64) as usize] &= !(1 << (place % 64));
        }
    }

    /// Takes a number in or out.
    #[inline]
    pub(crate) fn set(&mut self, number: u32, is_in: bool) {
        if is_in { self.insert(number) } else { self.remove(number) }
    }

    /// The first number that is `least` or more.
    #[inline]
    pub(crate) fn first_from(&self, least: u32) -> Option<u32> {
        let place = least / 64;
        let word = self.words.get(place as usize)? & u64::MAX << (least % 64);
        if word != 0 {
            return Some(place * 64 + word.trailing_zeros());
        }
        let after = place + 1;
        let mut group = after / 64;
        let mut words = self.used.get(group as usize)? & u64::MAX << (after % 64);
        while words == 0 {
            group += 1;
            words = *self.used.get(group as usize)?;
        }
        let place = group * 64 + words.trailing_zeros();
        Some(place * 64 + self.words[place as usize].trailing_zeros())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_number_is_found_however_far_it_is() {
        let all = [0, 63, 64, 4_095, 4_096, 20_000];
        let mut bits = Bits::below(20_001);
        all.iter().for_each(|&number| bits.insert(number));
        let found = |bits: &Bits| {
            let mut next = bits.first_from(0);
            let mut found = Vec::new();
            while let Some(number) = next {
                found.push(number);
                next = bits.first_from(number + 1);
            }
            found
        };
        assert_eq!(found(&bits), all);
        assert!(bits.contains(64) && !bits.contains(65));
        [63, 64, 4_096].iter().for_each(|&number| bits.set(number, false));
        assert_eq!(found(&bits), [0, 4_095, 20_000]);
        assert_eq!((bits.first_from(20_001), Bits::below(0).first_from(0)), (None, None));
    }
}
