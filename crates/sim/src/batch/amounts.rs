//! Amounts of all dimensions of a world at once.

use super::dim::Dim;
use crate::resources::Resources;

/// What is free, held or asked for of each dimension of a world. The units are those of the source.
///
/// Processor and memory stand by themselves, as every task asks for them; the others are few, so only those with an amount are kept, in the
/// order of their numbers. All arithmetic stops at nothing and at the largest number that can be counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Amounts {
    /// Processor and memory.
    pub main: Resources,
    /// `None` if there is nothing of any other: most worlds have none, and amounts are many.
    others: Option<Box<Others>>,
}

/// Amounts of dimensions in the order of their numbers, none of them 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Others(Vec<(Dim, u64)>);

impl Amounts {
    /// Processor and memory alone.
    #[inline]
    pub fn of(main: Resources) -> Self {
        Self { main, others: None }
    }

    /// The amount of a dimension.
    pub fn get(&self, dim: Dim) -> u64 {
        match dim {
            Dim::CPU => self.main.cpu,
            Dim::MEMORY => self.main.memory,
            _ => self.listed().binary_search_by_key(&dim, |&(dim, _)| dim).map_or(0, |place| self.listed()[place].1),
        }
    }

    /// The dimensions beside processor and memory of which there is any, with their amounts.
    pub fn others(&self) -> impl ExactSizeIterator<Item = (Dim, u64)> + '_ {
        self.listed().iter().copied()
    }

    #[inline]
    fn listed(&self) -> &[(Dim, u64)] {
        self.others.as_ref().map_or(&[], |others| &others.0)
    }

    /// The same processor and memory with these others, of which nothing is left out but nothing.
    fn with(main: Resources, others: impl Iterator<Item = (Dim, u64)>) -> Self {
        let listed: Vec<(Dim, u64)> = others.filter(|&(_, amount)| amount > 0).collect();
        Self { main, others: (!listed.is_empty()).then(|| Box::new(Others(listed))) }
    }

    /// True if there is nothing of any dimension.
    pub fn is_none(&self) -> bool {
        self.main == Resources::NONE && self.others.is_none()
    }

    /// True if there is enough of every dimension for a demand. An empty demand always fits.
    #[inline]
    pub fn holds(&self, demand: &Self) -> bool {
        self.main.holds(demand.main) && demand.listed().iter().all(|&(dim, amount)| self.get(dim) >= amount)
    }

    /// True if there is enough for two demands together.
    #[inline]
    pub fn hold_both(&self, one: &Self, other: &Self) -> bool {
        let together =
            |&(dim, amount): &(Dim, u64), other: &Self| self.get(dim) >= amount.saturating_add(other.get(dim));
        self.main.holds(one.main.plus(other.main))
            && one.listed().iter().all(|asked| together(asked, other))
            && other.listed().iter().all(|asked| together(asked, one))
    }

    /// How many such demands fit side by side; `u64::MAX` for an empty demand.
    pub fn fits(&self, demand: &Self) -> u64 {
        let of_others = demand.listed().iter().map(|&(dim, amount)| self.get(dim) / amount.max(1)).min();
        self.main.fits(demand.main).min(of_others.unwrap_or(u64::MAX))
    }

    /// Sets the amount of a dimension.
    pub fn set(&mut self, dim: Dim, amount: u64) {
        match dim {
            Dim::CPU => self.main.cpu = amount,
            Dim::MEMORY => self.main.memory = amount,
            _ => self.set_other(dim, amount),
        }
    }

    fn set_other(&mut self, dim: Dim, amount: u64) {
        let others = &mut self.others.get_or_insert_default().0;
        match others.binary_search_by_key(&dim, |&(dim, _)| dim) {
            Ok(place) if amount == 0 => drop(others.remove(place)),
            Ok(place) => others[place].1 = amount,
            Err(place) if amount > 0 => others.insert(place, (dim, amount)),
            Err(_) => {}
        }
        if others.is_empty() {
            self.others = None;
        }
    }

    /// Adds to every dimension.
    #[inline]
    pub fn add(&mut self, more: &Self) {
        self.main = self.main.plus(more.main);
        more.listed().iter().for_each(|&(dim, amount)| self.set(dim, self.get(dim).saturating_add(amount)));
    }

    /// Takes from every dimension.
    #[inline]
    pub fn take(&mut self, less: &Self) {
        self.main = self.main.minus(less.main);
        less.listed().iter().for_each(|&(dim, amount)| self.set(dim, self.get(dim).saturating_sub(amount)));
    }

    /// So many times as much.
    #[must_use]
    pub fn times(&self, n: u64) -> Self {
        if n == 0 {
            return Self::default();
        }
        let others = self.listed().iter().map(|&(dim, amount)| (dim, amount.saturating_mul(n)));
        Self::with(self.main.times(n), others)
    }

    /// The smaller of both, dimension by dimension.
    #[must_use]
    pub fn min(&self, other: &Self) -> Self {
        let smaller = |&(dim, amount): &(Dim, u64)| (dim, amount.min(other.get(dim)));
        Self::with(self.main.min(other.main), self.listed().iter().map(smaller))
    }

    /// Its share of `total`, by the dimension of which it takes the largest share (DRF's dominant share). A dimension of which `total` has
    /// none does not count.
    pub fn dominant_share(&self, total: &Self) -> f64 {
        let share = |&(dim, amount): &(Dim, u64)| match total.get(dim) {
            0 => 0.0,
            all => amount as f64 / all as f64,
        };
        self.listed().iter().map(share).fold(self.main.dominant_share(total.main), f64::max)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Amounts of five dimensions.
    fn of(all: [u64; 5]) -> Amounts {
        let mut made = Amounts::default();
        all.iter().enumerate().for_each(|(place, &amount)| made.set(Dim::at(place), amount));
        made
    }

    fn all(amounts: &Amounts) -> [u64; 5] {
        std::array::from_fn(|place| amounts.get(Dim::at(place)))
    }

    proptest! {
        /// What is kept of few dimensions is what arrays of all of them have.
        #[test]
        fn they_are_arrays(one: [u8; 5], other: [u8; 5], n in 0_u64..4) {
            let [one, other] = [one, other].map(|amounts| amounts.map(|amount| u64::from(amount % 4)));
            let join = |op: fn(u64, u64) -> u64| -> [u64; 5] { std::array::from_fn(|place| op(one[place], other[place])) };
            let mut sum = of(one);
            sum.add(&of(other));
            prop_assert_eq!(all(&sum), join(u64::saturating_add));
            let mut rest = of(one);
            rest.take(&of(other));
            prop_assert_eq!(all(&rest), join(u64::saturating_sub));
            prop_assert!(rest.others().all(|(_, amount)| amount > 0), "only what is there is kept");
            prop_assert_eq!(all(&of(one).min(&of(other))), join(u64::min));
            prop_assert_eq!(all(&of(one).times(n)), one.map(|amount| amount * n));
            prop_assert_eq!(of(one).holds(&of(other)), one.iter().zip(other).all(|(have, need)| *have >= need));
            prop_assert_eq!(of([4; 5]).hold_both(&of(one), &of(other)), join(u64::saturating_add).iter().all(|&sum| sum <= 4));
            let fits = one.iter().zip(other).filter_map(|(have, need)| have.checked_div(need)).min();
            prop_assert_eq!(of(one).fits(&of(other)), fits.unwrap_or(u64::MAX));
            let share = |(part, total): (&u64, u64)| if total == 0 { 0.0 } else { *part as f64 / total as f64 };
            let largest = one.iter().zip(other).map(share).fold(0.0, f64::max);
            prop_assert_eq!(of(one).dominant_share(&of(other)), largest);
            prop_assert_eq!(of(one).is_none(), one == [0; 5]);
        }
    }
}
