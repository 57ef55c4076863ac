//! How DRESS moves δ, the share of the cluster that is kept for small jobs (DRESS, Algorithm 3; `docs/model/dress.md`).

/// The places of the categories.
pub(crate) const SMALL: usize = 0;
pub(crate) const LARGE: usize = 1;

/// What a category has and wants, in containers.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Category {
    /// Its part of what is free (A_c1 or A_c2).
    pub(crate) free: f64,
    /// What its jobs are expected to release by the next tick (F_1 or F_2).
    pub(crate) releases: f64,
    /// What each of its pending jobs asks for (r).
    pub(crate) pending: Vec<f64>,
}

impl Category {
    /// What it can use at the next tick.
    fn supply(&self) -> f64 {
        self.free + self.releases
    }

    /// What its pending jobs ask for (P_1 or P_2).
    fn demand(&self) -> f64 {
        self.pending.iter().sum()
    }
}

/// The limits of δ, and how it moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DeltaRules {
    /// All containers of the cluster (Tot).
    pub(crate) total: f64,
    /// The least δ.
    pub(crate) min: f64,
    /// The greatest δ.
    pub(crate) max: f64,
    /// True if small jobs get no more of the large jobs' surplus than they lack; as printed, they get all of it.
    pub(crate) cap_transfer: bool,
}

/// What Algorithm 3 returns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moved {
    /// δ for the next tick.
    pub(crate) delta: f64,
    /// True if neither category will have all that it asks for, so that the smallest jobs come first (DRESS, §IV-C).
    pub(crate) both_are_short: bool,
}

impl DeltaRules {
    /// How what is free is divided between small and large jobs: A_c1 is what small jobs have left of their part.
    pub(crate) fn divide(&self, delta: f64, free: f64, used_by_small: f64) -> (f64, f64) {
        let small = (delta * self.total - used_by_small).max(0.0).min(free);
        (small, free - small)
    }

    /// Algorithm 3: how δ moves. The pending demands are sorted in passing.
    ///
    /// If small jobs will have all that they ask for, the rest goes to large jobs; else, if large jobs will, their rest goes
    /// to small jobs; else both are filled from the smallest job on, and what large jobs leave over goes to the small jobs that it
    /// is enough for.
    pub(crate) fn next(&self, delta: f64, small: &mut Category, large: &mut Category) -> Moved {
        let (lack, surplus) = (small.demand() - small.supply(), large.supply() - large.demand());
        let by = if lack <= 0.0 {
            lack
        } else if surplus >= 0.0 {
            if self.cap_transfer { surplus.min(lack) } else { surplus }
        } else {
            self.leftovers(small, large)
        };
        let delta = (delta + by / self.total).min(self.max).max(self.min);
        Moved { delta, both_are_short: lack > 0.0 && surplus < 0.0 }
    }

    /// What large jobs leave over and small jobs can use.
    fn leftovers(&self, small: &mut Category, large: &mut Category) -> f64 {
        small.pending.sort_by(f64::total_cmp);
        large.pending.sort_by(f64::total_cmp);
        let (mut filled, unfit) = fill(small.supply(), &small.pending);
        let (mut left, _) = fill(large.supply(), &large.pending);
        let mut moved = 0.0;
        for &wanted in &small.pending[unfit..] {
            if wanted > filled + left {
                break;
            }
            // What small jobs have left is inside δ already; only what is missing moves.
            let missing = wanted - filled;
            moved += missing;
            left -= missing;
            filled = 0.0;
        }
        moved
    }
}

/// Serves demands in order while they fit: what is left, and the place of the first that does not fit.
fn fill(mut supply: f64, demands: &[f64]) -> (f64, usize) {
    for (place, &wanted) in demands.iter().enumerate() {
        if wanted > supply {
            return (supply, place);
        }
        supply -= wanted;
    }
    (supply, demands.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: DeltaRules = DeltaRules { total: 100.0, min: 0.01, max: 0.99, cap_transfer: false };

    fn category(free: f64, releases: f64, pending: &[f64]) -> Category {
        Category { free, releases, pending: pending.to_vec() }
    }

    /// δ in containers, from 10 on.
    fn next(rules: &DeltaRules, mut small: Category, mut large: Category) -> f64 {
        (rules.next(0.1, &mut small, &mut large).delta * rules.total * 1e9).round() / 1e9
    }

    #[test]
    fn what_small_jobs_do_not_need_goes_to_large_jobs() {
        let (small, large) = RULES.divide(0.1, 30.0, 4.0);
        assert_eq!((small, large), (6.0, 24.0));
        assert_eq!(next(&RULES, category(small, 2.0, &[5.0]), category(large, 0.0, &[])), 7.0);
    }

    #[test]
    fn all_that_large_jobs_do_not_need_goes_to_small_jobs() {
        let large = category(12.0, 3.0, &[10.0]);
        assert_eq!(next(&RULES, category(1.0, 0.0, &[8.0]), large.clone()), 15.0);
        let capped = DeltaRules { cap_transfer: true, ..RULES };
        assert_eq!(next(&capped, category(1.0, 0.0, &[8.0]), large.clone()), 15.0, "7 lack, 5 are left over");
        assert_eq!(next(&RULES, category(1.0, 0.0, &[3.0]), large.clone()), 15.0);
        assert_eq!(next(&capped, category(1.0, 0.0, &[3.0]), large), 12.0, "2 lack");
    }

    #[test]
    fn leftovers_go_to_the_small_jobs_that_they_are_enough_for() {
        // The job of 3 takes 3 of 4; that of 8 takes 8 of 12; 1 + 4 left over are enough for the job of 5. As printed, δ would
        // grow by 5 and the large jobs be left with −1.
        let small = || category(4.0, 0.0, &[6.0, 3.0, 5.0]);
        assert_eq!(next(&RULES, small(), category(10.0, 2.0, &[15.0, 8.0])), 14.0);
        assert_eq!(next(&RULES, small(), category(10.0, 2.0, &[15.0, 9.0])), 10.0, "5 > 1 + 3");
    }

    #[test]
    fn an_exact_fit_is_used() {
        // As printed, 3 would not fit into 3, nor the last job be looked at.
        assert_eq!(next(&RULES, category(3.0, 0.0, &[4.0, 3.0]), category(8.0, 0.0, &[8.0, 4.0])), 14.0);
    }

    #[test]
    fn the_smallest_come_first_while_both_are_short() {
        let short = |small: &[f64], large: &[f64]| {
            RULES.next(0.1, &mut category(4.0, 0.0, small), &mut category(12.0, 0.0, large)).both_are_short
        };
        assert!(short(&[6.0, 3.0], &[15.0]));
        assert!(!short(&[3.0], &[15.0]), "small jobs have enough");
        assert!(!short(&[6.0], &[12.0]), "large jobs have enough");
    }

    #[test]
    fn without_small_jobs_delta_collapses() {
        let rest = |min| next(&DeltaRules { min, ..RULES }, category(10.0, 0.0, &[]), category(0.0, 0.0, &[50.0]));
        assert_eq!(rest(0.01), 1.0);
        assert_eq!(rest(0.1), 10.0, "the floor keeps it");
    }

    #[test]
    fn small_jobs_have_what_is_free_and_theirs() {
        assert_eq!(RULES.divide(0.1, 3.0, 4.0), (3.0, 0.0));
        assert_eq!(RULES.divide(0.1, 30.0, 12.0), (0.0, 30.0), "they may hold more than their part after it shrank");
    }
}
