//! Jobs in classes of size, for charts against size.

use std::collections::BTreeMap;

/// The jobs of a class of size.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeClass<T> {
    /// The geometric mean of their sizes.
    pub size: f64,
    /// What is known of each, in order.
    pub jobs: Vec<T>,
}

/// The jobs in classes, the smallest first: sizes from 1, 3, 10, 30, 100 and so on. Each job has a size and a value; those of size 0 are
/// left out.
pub fn by_size<T>(jobs: impl IntoIterator<Item = (u64, T)>) -> Vec<SizeClass<T>> {
    let mut classes: BTreeMap<u32, (f64, Vec<T>)> = BTreeMap::new();
    for (size, value) in jobs.into_iter().filter(|job| job.0 > 0) {
        let (logs, values) = classes.entry(class(size)).or_default();
        *logs += (size as f64).ln();
        values.push(value);
    }
    classes.into_values().map(|(logs, jobs)| SizeClass { size: (logs / jobs.len() as f64).exp(), jobs }).collect()
}

/// The number of the class of a size: two a decade.
fn class(size: u64) -> u32 {
    let decade = size.max(1).ilog10();
    2 * decade + u32::from(size / 10u64.pow(decade) >= 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decade_has_two_classes() {
        assert_eq!([1, 2, 3, 9, 10, 29, 30, 99, 100].map(class), [0, 0, 1, 1, 2, 2, 3, 3, 4]);
        assert_eq!(class(u64::MAX), 38);
        let found = by_size([(4, 'a'), (0, 'b'), (1, 'c'), (9, 'd'), (1000, 'e')]);
        let sizes: Vec<f64> = found.iter().map(|class| class.size.round()).collect();
        let jobs: Vec<Vec<char>> = found.into_iter().map(|class| class.jobs).collect();
        assert_eq!((sizes, jobs), (vec![1.0, 6.0, 1000.0], vec![vec!['c'], vec!['a', 'd'], vec!['e']]));
    }
}
