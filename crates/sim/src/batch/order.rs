//! Dependencies by small numbers, with cycles removed.

use std::ops::Range;

/// The dependencies. If there are none, all lists are empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Order {
    /// How many others must end before each.
    needs: Vec<u32>,
    /// For each, where the list of those that wait for it begins in `followers`. One longer than `needs`.
    starts: Vec<u32>,
    followers: Vec<u32>,
}

/// Not placed yet.
const NOWHERE: u32 = u32::MAX;

impl Order {
    /// The order of these dependencies, each `(earlier, later)`, and how many were left out because they belong to a
    /// cycle. If all that remain wait for each other, the first of them stops waiting for the others.
    pub(super) fn new(count: usize, mut pairs: Vec<(u32, u32)>) -> (Self, u64) {
        if pairs.is_empty() {
            return (Self::default(), 0);
        }
        pairs.sort_unstable();
        pairs.dedup();
        let order = Self::of(count, &pairs);
        let place = order.places();
        let all = pairs.len();
        pairs.retain(|&(earlier, later)| place[earlier as usize] < place[later as usize]);
        let closing = (all - pairs.len()) as u64;
        if closing == 0 { (order, 0) } else { (Self::of(count, &pairs), closing) }
    }

    fn of(count: usize, pairs: &[(u32, u32)]) -> Self {
        let mut needs = vec![0; count];
        let mut starts = vec![0; count + 1];
        for &(earlier, later) in pairs {
            needs[later as usize] += 1;
            starts[earlier as usize + 1] += 1;
        }
        for at in 0..count {
            starts[at + 1] += starts[at];
        }
        Self { needs, starts, followers: pairs.iter().map(|&(_, later)| later).collect() }
    }

    /// The order of some of them by themselves.
    pub(super) fn part(&self, of: Range<usize>) -> Self {
        let inside = |later: u32| of.contains(&(later as usize)).then(|| later - of.start as u32);
        let pairs: Vec<(u32, u32)> = of
            .clone()
            .zip(0..)
            .flat_map(|(old, new)| self.followers(old).iter().filter_map(move |&later| Some((new, inside(later)?))))
            .collect();
        if pairs.is_empty() { Self::default() } else { Self::of(of.len(), &pairs) }
    }

    /// How many others must end before one.
    #[inline]
    pub(super) fn needs(&self, one: usize) -> u32 {
        self.needs.get(one).copied().unwrap_or(0)
    }

    /// Those that wait for one.
    #[inline]
    pub(super) fn followers(&self, of: usize) -> &[u32] {
        let (Some(&from), Some(&to)) = (self.starts.get(of), self.starts.get(of + 1)) else { return &[] };
        &self.followers[from as usize..to as usize]
    }

    /// The place of each in an order in which all can be done.
    fn places(&self) -> Vec<u32> {
        let mut needs = self.needs.clone();
        let mut place = vec![NOWHERE; needs.len()];
        let mut ready: Vec<u32> = (0..needs.len() as u32).filter(|&one| needs[one as usize] == 0).collect();
        let (mut done, mut first_left) = (0, 0);
        loop {
            while let Some(one) = ready.pop() {
                place[one as usize] = done;
                done += 1;
                for &later in self.followers(one as usize) {
                    let left = &mut needs[later as usize];
                    if *left > 0 {
                        *left -= 1;
                        if *left == 0 {
                            ready.push(later);
                        }
                    }
                }
            }
            while place.get(first_left).is_some_and(|&place| place != NOWHERE) {
                first_left += 1;
            }
            if first_left == place.len() {
                return place;
            }
            needs[first_left] = 0;
            ready.push(first_left as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_without_cycles_stay() {
        let (order, left_out) = Order::new(4, vec![(0, 3), (2, 3), (0, 3), (3, 1)]);
        assert_eq!((order.needs.as_slice(), left_out), (&[0, 1, 0, 2][..], 0));
        assert_eq!([order.followers(0), order.followers(1), order.followers(3)], [&[3][..], &[], &[1]]);
    }

    #[test]
    fn a_cycle_is_opened_at_its_first() {
        let (order, left_out) = Order::new(4, vec![(1, 1), (1, 2), (2, 3), (3, 1), (0, 1)]);
        assert_eq!((order.needs.as_slice(), left_out), (&[0, 1, 1, 1][..], 2), "1 after itself, and 1 after 3");
        assert_eq!(order.followers(0), [1]);
    }
}
