//! A number of each job, as the script of a page has it.

use serde::{Serialize, Serializer};

/// A number of each job in each run.
#[derive(Serialize)]
pub(crate) struct Measure {
    pub(crate) name: &'static str,
    pub(crate) title: String,
    /// `ms`, or what is counted.
    pub(crate) unit: &'static str,
    /// Empty if they are in the page's rests.
    pub(crate) runs: Vec<Numbers>,
}

/// Whole numbers, of which some may be unknown: the least of a type stands for these. A page has some million numbers, so each takes only
/// four bytes, or eight if one of them needs that.
#[derive(PartialEq)]
pub(crate) enum Numbers {
    Small(Vec<i32>),
    Large(Vec<i64>),
}

impl Numbers {
    /// No numbers, with room for so many.
    pub(crate) fn with_room(jobs: usize) -> Self {
        Self::Small(Vec::with_capacity(jobs))
    }

    pub(crate) fn push(&mut self, number: Option<i64>) {
        let small =
            number.map_or(Some(i32::MIN), |number| i32::try_from(number).ok().filter(|number| *number != i32::MIN));
        if small.is_none() && matches!(self, Self::Small(_)) {
            *self = Self::Large(self.iter().map(|number| number.unwrap_or(i64::MIN)).collect());
        }
        match self {
            Self::Small(numbers) => numbers.push(small.unwrap_or(i32::MIN)),
            Self::Large(numbers) => numbers.push(number.unwrap_or(i64::MIN)),
        }
    }

    pub(crate) fn get(&self, job: usize) -> Option<i64> {
        match self {
            Self::Small(numbers) => numbers.get(job).copied().filter(|number| *number != i32::MIN).map(i64::from),
            Self::Large(numbers) => numbers.get(job).copied().filter(|number| *number != i64::MIN),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Option<i64>> {
        let jobs = match self {
            Self::Small(numbers) => numbers.len(),
            Self::Large(numbers) => numbers.len(),
        };
        (0..jobs).map(move |job| self.get(job))
    }
}

impl FromIterator<Option<i64>> for Numbers {
    fn from_iter<I: IntoIterator<Item = Option<i64>>>(numbers: I) -> Self {
        let numbers = numbers.into_iter();
        let mut all = Self::with_room(numbers.size_hint().0);
        numbers.for_each(|number| all.push(number));
        all
    }
}

impl Serialize for Numbers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_numbers_come_back() {
        let (low, high) = (i64::from(i32::MIN), i64::from(i32::MAX));
        let lists: [&[Option<i64>]; 5] = [
            &[],
            &[None, Some(0), Some(high), Some(low + 1)],
            &[Some(1), None, Some(high + 1), None, Some(-2)],
            &[None, Some(low), None],
            &[Some(i64::MAX)],
        ];
        for (place, list) in lists.into_iter().enumerate() {
            let numbers: Numbers = list.iter().copied().collect();
            assert_eq!(matches!(numbers, Numbers::Small(_)), place < 2, "{list:?}");
            assert!(numbers.iter().eq(list.iter().copied()), "{list:?}");
            assert_eq!(numbers.get(list.len()), None);
        }
    }
}
