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

/// Whole numbers, of which some may be unknown. A page has some million of them, so each takes only eight bytes.
#[derive(PartialEq)]
pub(crate) struct Numbers(Vec<i64>);

/// Stands for an unknown number.
const UNKNOWN: i64 = i64::MIN;

impl Numbers {
    pub(crate) fn get(&self, job: usize) -> Option<i64> {
        self.0.get(job).copied().filter(|number| *number != UNKNOWN)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Option<i64>> {
        self.0.iter().map(|number| (*number != UNKNOWN).then_some(*number))
    }
}

impl FromIterator<Option<i64>> for Numbers {
    fn from_iter<I: IntoIterator<Item = Option<i64>>>(numbers: I) -> Self {
        Self(numbers.into_iter().map(|number| number.unwrap_or(UNKNOWN)).collect())
    }
}

impl Serialize for Numbers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}
