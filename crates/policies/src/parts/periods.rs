//! What is done at some of the ticks of a policy only.

use resched_sim::Ms;

/// True if something that is done every `period` is due at a tick at `now`, if the tick before was at `before`; both count
/// from the start of the clock. In a lull there are few ticks, which need not fall on its multiples.
pub fn is_due(period: Ms, before: Ms, now: Ms) -> bool {
    now / period > before / period
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_due_once_for_all_multiples_between_two_ticks() {
        assert!(is_due(1_000, 500, 1_000) && !is_due(1_000, 1_000, 1_500));
        assert!(is_due(1_000, 1_500, 7_300) && !is_due(1_000, 7_300, 7_900) && is_due(1_000, 7_300, 8_000));
    }
}
