//! How long attempts and their phases took.

use super::log::Attempt;
use crate::ids::Ms;
use crate::loading::LONGEST;

/// From start to finish, if both are known and it is a time that can be.
pub(super) fn length(start: Option<Ms>, finish: Option<Ms>) -> Option<Ms> {
    let length = finish?.checked_sub(start?)?;
    (-LONGEST..=LONGEST).contains(&length).then_some(length)
}

/// A reduce's shuffle, sort and reduce times, by Rumen's rules for what is missing (`docs/model/locality.md`).
pub(super) fn phases(attempt: Attempt<'_>) -> Option<[Ms; 3]> {
    let (start, finish) = (attempt.start(), attempt.finish());
    if length(start, finish)? <= 0 {
        return None;
    }
    let start_sort = attempt.shuffle_finish().or(start);
    let start_reduce = attempt.sort_finish().or(finish);
    Some([length(start, start_sort)?, length(start_sort, start_reduce)?, length(start_reduce, finish)?])
}

/// The known shuffles of a job.
#[derive(Default)]
pub(super) struct Shuffles {
    /// When the last map ended well.
    pub(super) last_map: Option<Ms>,
    /// The start and the end of the shuffle of each reduce that ended well.
    pub(super) reduces: Vec<(Ms, Ms)>,
}

impl Shuffles {
    /// The mean shuffle tail of the reduces that were running when the last map ended, and the mean shuffle of the others.
    pub(super) fn means(&self) -> [Option<Ms>; 2] {
        let last_map = self.last_map.unwrap_or(Ms::MIN);
        let (first, later): (Vec<_>, Vec<_>) = self.reduces.iter().partition(|&&(start, _)| start < last_map);
        let tail = first.iter().filter_map(|&&(_, end)| length(Some(last_map), Some(end)));
        let whole = later.iter().filter_map(|&&(start, end)| length(Some(start), Some(end)));
        [mean(tail), mean(whole)]
    }
}

/// The mean of times, of which none counts as less than 0.
fn mean(times: impl Iterator<Item = Ms>) -> Option<Ms> {
    let (count, sum) = times.fold((0, 0), |(count, sum): (Ms, Ms), time| (count + 1, sum.saturating_add(time.max(0))));
    (count > 0).then(|| sum / count)
}
