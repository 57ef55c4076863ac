//! Who looks at the progress of the work.

/// Hears how far a comparison is, from several threads. `()` looks at nothing.
pub trait Watch: Sync {
    /// These replays begin: the label of each and the number of its jobs. Later calls name them by their place.
    fn begin(&self, _replays: &[(String, u64)]) {}

    /// So many jobs of a replay have ended.
    fn jobs(&self, _replay: usize, _jobs: u64) {}

    /// A replay has ended.
    fn ended(&self, _replay: usize) {}

    /// The test of the sign begins, with so many replays.
    fn begin_variants(&self, _replays: u64) {}

    /// A replay of that test has ended.
    fn tried(&self) {}

    /// The test of the sign has ended.
    fn end_variants(&self) {}
}

impl Watch for () {}

/// Tells `watch` of a replay, each time its number of ended jobs has grown by a thousandth of `most`. To show each of a million jobs takes
/// longer than to replay it.
pub(crate) fn in_steps(watch: &dyn Watch, replay: usize, most: u64) -> impl FnMut(u64) {
    let mut next = 0;
    move |jobs| {
        if jobs >= next {
            watch.jobs(replay, jobs);
            next = jobs + (most / 1_000).max(1);
        }
    }
}
