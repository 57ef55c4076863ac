//! How attempts share one resource of a node.

/// The largest rate at which each may use a resource of this capacity. The part that some do not want goes to the
/// others (max–min fairness, the fluid limit of processor sharing). Infinite if there is enough for all. `wanted` is
/// sorted on the way.
pub(super) fn level(wanted: &mut [f64], capacity: f64) -> f64 {
    let all: f64 = wanted.iter().sum();
    if all <= capacity {
        return f64::INFINITY;
    }
    wanted.sort_unstable_by(f64::total_cmp);
    let mut left = capacity;
    for (place, &amount) in wanted.iter().enumerate() {
        let equal = left / (wanted.len() - place) as f64;
        if amount >= equal {
            return equal;
        }
        left -= amount;
    }
    // Only rounding leads here.
    f64::INFINITY
}

/// What share of its rate a disk keeps for tasks that want so much of it, if a seek takes `seek` times as long as a request without.
///
/// A request is another task's than the one before with the probability 1 − Σ p², where p is a task's share of all that is wanted. Only
/// such a request needs a seek.
pub(super) fn left_by_seeks(wanted: &[f64], seek: f64) -> f64 {
    let all: f64 = wanted.iter().sum();
    if seek == 0.0 || all == 0.0 {
        return 1.0;
    }
    let same: f64 = wanted.iter().map(|amount| (amount / all) * (amount / all)).sum();
    1.0 / (1.0 + seek * (1.0 - same).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::{left_by_seeks, level};

    #[test]
    fn a_disk_seeks_when_the_next_request_is_of_another_task() {
        assert_eq!(left_by_seeks(&[5.0], 2.0), 1.0, "one reads on where it was");
        assert_eq!(left_by_seeks(&[5.0, 5.0], 2.0), 0.5, "every second request is the other's: 1 / (1 + 2 × 1/2)");
        assert_eq!(left_by_seeks(&[1.0; 4], 2.0), 0.4, "1 / (1 + 2 × 3/4)");
        assert_eq!(left_by_seeks(&[3.0, 1.0], 2.0), 1.0 / 1.75, "1 − 9/16 − 1/16 are the other's");
        assert_eq!(left_by_seeks(&[], 2.0), 1.0);
        assert_eq!(left_by_seeks(&[1.0; 4], 0.0), 1.0);
    }

    #[test]
    fn those_that_want_less_leave_the_rest_to_the_others() {
        assert_eq!(level(&mut [4.0, 1.0, 4.0], 7.0), 3.0);
        assert_eq!(level(&mut [2.0, 2.0], 3.0), 1.5);
        assert_eq!(level(&mut [2.0, 1.0], 3.0), f64::INFINITY, "there is enough");
        assert_eq!(level(&mut [], 3.0), f64::INFINITY);
        assert_eq!(level(&mut [5.0], f64::INFINITY), f64::INFINITY);
    }

    #[test]
    fn what_is_scarce_is_used_up_and_never_exceeded() {
        for count in 1..20 {
            let mut wanted: Vec<f64> = (0..count).map(|number| f64::from(number * 7 % 5) + 0.5).collect();
            let capacity = 0.6 * wanted.iter().sum::<f64>();
            let each = level(&mut wanted, capacity);
            let used: f64 = wanted.iter().map(|amount| amount.min(each)).sum();
            assert!((used - capacity).abs() < 1e-9, "{count}: {used} of {capacity}");
        }
    }
}
