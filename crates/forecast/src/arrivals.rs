//! The jobs to come: blocks of hours of the same hours of an earlier week.
//!
//! **What it does.** From the moment on, each block of [`BLOCK`] takes the jobs that were submitted in the same hours of a week that is
//! drawn from those of the past, with what they asked for and how long they ran. What had not ended by the moment gets a drawn run time.
//! Where the past has no whole week, days are drawn; where it has no day, nobody comes.
//!
//! **Decisions.** A job that was cancelled while it waited is left out: it took no machines.

use rand::RngExt;
use resched_sim::Ms;
use resched_tables::draws::{Draws, Purpose};

use crate::past::{Past, Seen};

/// How long a block is, ms.
pub(crate) const BLOCK: Ms = 6 * 3_600_000;
const DAY: Ms = 86_400_000;
const WEEK: Ms = 7 * DAY;

/// A job to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// The job of the past that it is like.
    pub(crate) place: u32,
    pub(crate) submit: Ms,
    /// How long that one ran, ms; `None` if it has not ended.
    pub(crate) run: Option<Ms>,
}

/// The shift of a block that begins at `from`, ms: a whole number of weeks, or of days. `None` if the past is too short.
fn shift(past: &Past, at: Ms, from: Ms, level: f64) -> Option<Ms> {
    let (begin, _) = past.span()?;
    [WEEK, DAY].into_iter().find_map(|period| {
        // The block must lie in the past as a whole.
        let least = (from + BLOCK - at).div_euclid(period) + i64::from((from + BLOCK - at).rem_euclid(period) > 0);
        let most = (from - begin).div_euclid(period);
        let count = most - least + 1;
        (count > 0).then(|| (least + ((level * count as f64) as i64).min(count - 1)) * period)
    })
}

/// The jobs to come until `until` in a drawn future, in the order of submission.
pub(crate) fn arrivals(past: &Past, at: Ms, until: Ms, seed: u64, draw: u64) -> Vec<Arrival> {
    let draws = Draws::new(seed, Purpose::ForecastArrivals).of(&[at as u64, draw]);
    let mut come = Vec::new();
    let known = past.submitted(at);
    for number in 0_u64.. {
        let from = at + number as i64 * BLOCK;
        if from >= until {
            break;
        }
        let Some(shift) = shift(past, at, from, draws.of(&[number]).generator().random()) else { continue };
        let first = known.partition_point(|job| job.submit <= from - shift);
        for (job, place) in
            known.iter().zip(0_u32..).skip(first).take_while(|(job, _)| job.submit <= from + BLOCK - shift)
        {
            let run = match job.seen(at) {
                Seen::Ran { run } => Some(run),
                Seen::Runs { .. } | Seen::Waits { .. } => None,
                Seen::Nothing | Seen::Left => continue,
            };
            come.push(Arrival { place, submit: job.submit + shift, run });
        }
    }
    come
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::past::tests::past;

    #[test]
    fn blocks_come_from_the_same_hours_of_earlier_weeks() {
        // A job each hour for 30 days: its run time says when it was.
        let hour = 3_600_000;
        let rows: Vec<_> =
            (0..30 * 24).map(|number| ("ann", "a", number * hour, number * hour, Some(1 + number))).collect();
        let past = past(&rows);
        let at = 25 * DAY + hour / 2;
        let mut weeks = Vec::new();
        for draw in 0..30 {
            let come = arrivals(&past, at, at + 12 * hour, 1, draw);
            assert_eq!(come.len(), 12);
            for arrival in come {
                assert!(arrival.submit > at && arrival.submit <= at + 12 * hour);
                let back = arrival.submit - past.jobs[arrival.place as usize].submit;
                assert_eq!((back % WEEK, arrival.run), (0, Some(1 + i64::from(arrival.place))));
                weeks.push(back / WEEK);
            }
        }
        weeks.sort_unstable();
        weeks.dedup();
        assert_eq!(weeks, [1, 2, 3]);
        assert_eq!(arrivals(&past, at, at + 12 * hour, 1, 4), arrivals(&past, at, at + 12 * hour, 1, 4));
        let early = arrivals(&past, 3 * DAY, 3 * DAY + BLOCK, 1, 0);
        let back = |arrival: &Arrival| arrival.submit - past.jobs[arrival.place as usize].submit;
        assert!(
            early.len() == 6 && early.iter().all(|arrival| back(arrival) % DAY == 0),
            "days, where there is no week"
        );
        assert_eq!(arrivals(&past, 2 * hour, 8 * hour, 1, 0), [], "nobody, where there is no day");
    }
}
