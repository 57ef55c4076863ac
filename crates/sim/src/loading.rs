//! What the loaders of both engines share.

use std::collections::BTreeMap;

pub use resched_tables::model::LONGEST;

/// The name of jobs in memory in errors.
pub(crate) const IN_MEMORY: &str = "the workload";

/// Counts of what was left out or mended while loading, by cause.
pub type Skipped = BTreeMap<String, u64>;

/// Counts `n` things that were left out or mended.
pub(crate) fn skip(skipped: &mut Skipped, cause: &str, n: u64) {
    if n == 0 {
        return;
    }
    match skipped.get_mut(cause) {
        Some(count) => *count += n,
        None => {
            skipped.insert(cause.to_owned(), n);
        }
    }
}
