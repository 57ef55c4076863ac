//! Resource vectors: what a node offers and what a task takes.

/// Amounts of the two resources of a cluster: (map slots, reduce slots) in MapReduce 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Resources(pub [u32; 2]);

impl Resources {
    /// How many demands of this size fit, one beside the other; 0 for a demand of nothing.
    #[inline]
    pub fn fits(self, demand: Resources) -> u32 {
        let ratio = |part: usize| (demand.0[part] > 0).then(|| self.0[part] / demand.0[part]);
        match (ratio(0), ratio(1)) {
            (Some(a), Some(b)) => a.min(b),
            (Some(a), None) => a,
            (None, Some(b)) => b,
            (None, None) => 0,
        }
    }

    /// What is left after a demand that fits.
    #[inline]
    pub fn minus(self, demand: Resources) -> Resources {
        Resources([self.0[0] - demand.0[0], self.0[1] - demand.0[1]])
    }

    /// With what a demand gives back.
    #[inline]
    pub fn plus(self, demand: Resources) -> Resources {
        Resources([self.0[0] + demand.0[0], self.0[1] + demand.0[1]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scarcer_resource_decides_how_many_fit() {
        assert_eq!(Resources([8, 3]).fits(Resources([2, 1])), 3);
        assert_eq!(Resources([8, 3]).fits(Resources([1, 0])), 8);
        assert_eq!(Resources([8, 3]).fits(Resources([0, 0])), 0);
        assert_eq!(Resources([8, 3]).minus(Resources([2, 1])).plus(Resources([2, 1])), Resources([8, 3]));
    }
}
