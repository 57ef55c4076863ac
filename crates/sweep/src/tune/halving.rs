//! Successive halving (Karnin, Koren, Somekh 2013; Jamieson, Talwalkar 2016): it tries many settings with few seeds, keeps the
//! better part of them with more seeds, and so on. So most replays are spent on settings that may win.

use std::ops::Range;

use resched_analysis::statistics::distribution::mean;

use super::score::{Score, excess, expected_excess};

/// The cost, in units of the objective, of breaking a bound by the value of the baseline. It applies in all rounds but the last.
const PENALTY: f64 = 10.0;

/// A round of [`successive_halving`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Round {
    /// The number of seeds of each setting at the end of the round.
    pub(super) seeds: u64,
    /// The settings, the best first.
    pub(super) ranking: Vec<usize>,
}

/// The known scores, by setting, then seed.
struct Scores(Vec<Vec<Score>>);

impl Scores {
    fn of(&self, place: usize) -> &[Score] {
        self.0.get(place).map_or(&[][..], Vec::as_slice)
    }

    fn seeds(&self, place: usize) -> u64 {
        self.of(place).len() as u64
    }

    fn objective(&self, place: usize) -> f64 {
        mean(&self.of(place).iter().map(|score| score.objective).collect::<Vec<_>>()).unwrap_or(f64::INFINITY)
    }

    fn excess(&self, place: usize) -> f64 {
        excess(self.of(place)).max(0.0)
    }

    /// The settings, ordered by a rank of two parts, the least first.
    fn sort(&self, places: &mut [usize], rank: impl Fn(usize) -> (f64, f64)) {
        places.sort_by(|&a, &b| {
            let ((x, u), (y, v)) = (rank(a), rank(b));
            x.total_cmp(&y).then(u.total_cmp(&v)).then(a.cmp(&b))
        });
    }
}

/// Successive halving over `candidates` settings.
///
/// In each round `score` gives the scores of some settings with some seeds (numbered from 0), by setting, then seed. The better
/// `1/keep_one_of` of the settings go on with `keep_one_of` times the seeds, up to `most_seeds`. The search ends with one setting,
/// or when the seeds are used up.
///
/// In the last round, settings that break a bound in the mean come after all others. Earlier rounds cannot be sure which settings
/// break a bound. There, each hundredth by which a setting is expected to break a bound costs a tenth of objective.
///
/// If every setting of the last round breaks a bound, the search returns to dropped settings that held the bounds so far. It tries
/// them with as many seeds as the last round, the best first, until one holds the bounds. They join that round.
///
/// # Errors
/// The errors of `score`.
pub(super) fn successive_halving<E>(
    candidates: usize,
    keep_one_of: usize,
    first_seeds: u64,
    most_seeds: u64,
    mut score: impl FnMut(&[usize], Range<u64>) -> Result<Vec<Vec<Score>>, E>,
) -> Result<Vec<Round>, E> {
    let keep_one_of = keep_one_of.max(2);
    let mut known = Scores(vec![Vec::new(); candidates]);
    let mut learn = |known: &mut Scores, places: &[usize], seeds: Range<u64>| -> Result<(), E> {
        for (place, scores) in places.iter().zip(score(places, seeds)?) {
            if let Some(known) = known.0.get_mut(*place) {
                known.extend(scores);
            }
        }
        Ok(())
    };
    let mut alive: Vec<usize> = (0..candidates).collect();
    let (mut done, mut seeds) = (0, first_seeds.clamp(1, most_seeds.max(1)));
    let mut rounds = Vec::new();
    loop {
        learn(&mut known, &alive, done..seeds)?;
        if alive.len() <= 1 || seeds >= most_seeds {
            break;
        }
        known.sort(&mut alive, |place| (known.objective(place) + PENALTY * expected_excess(known.of(place)), 0.0));
        rounds.push(Round { seeds, ranking: alive.clone() });
        alive.truncate(alive.len().div_ceil(keep_one_of));
        (done, seeds) = (seeds, seeds.saturating_mul(keep_one_of as u64).min(most_seeds));
    }
    while !alive.iter().any(|&place| known.excess(place) <= 0.0) {
        let given_up = (0..candidates).filter(|&place| known.seeds(place) < seeds && known.excess(place) <= 0.0);
        let Some(next) = given_up.min_by(|&a, &b| known.objective(a).total_cmp(&known.objective(b))) else { break };
        let had = known.seeds(next);
        learn(&mut known, &[next], had..seeds)?;
        alive.push(next);
    }
    known.sort(&mut alive, |place| (known.excess(place), known.objective(place)));
    rounds.push(Round { seeds, ranking: alive });
    Ok(rounds)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::convert::Infallible;

    use rand::RngExt;
    use resched_tables::draws::{Purpose, stream};

    use super::*;

    /// A noisy bowl over [0, 1] with its bottom at 0.7, at settings that are spread evenly. The noise is normal (to the eye: the sum
    /// of twelve even draws), with a deviation of 0.05.
    fn noisy(place: usize, of: usize, seed: u64) -> f64 {
        let x = (place as f64 + 0.5) / of as f64;
        let mut rng = stream(seed, Purpose::SweepDesign, &[place as u64]);
        let noise: f64 = (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        (x - 0.7).powi(2) + 0.05 * noise
    }

    fn score(objective: f64) -> Score {
        Score { objective, excesses: Vec::new() }
    }

    #[test]
    fn the_planted_optimum_is_found() {
        let rounds = successive_halving(81, 3, 1, 81, |alive, seeds| {
            Ok::<_, Infallible>(
                alive.iter().map(|&place| seeds.clone().map(|seed| score(noisy(place, 81, seed))).collect()).collect(),
            )
        })
        .unwrap();
        assert_eq!(
            rounds.iter().map(|round| (round.seeds, round.ranking.len())).collect::<Vec<_>>(),
            [(1, 81), (3, 27), (9, 9), (27, 3), (81, 1)]
        );
        let winner = rounds.last().unwrap().ranking[0];
        let x = (winner as f64 + 0.5) / 81.0;
        assert!((x - 0.7).abs() < 0.1, "{x}");
    }

    /// The mean regret over 200 searches, of random search at the same number of evaluations and with as many seeds a setting as
    /// suit it best.
    #[test]
    fn halving_beats_random_search_at_equal_cost() {
        let regret = |place: usize| ((place as f64 + 0.5) / 81.0 - 0.7).powi(2);
        let (mut halving, mut random) = (0.0, [0.0; 4]);
        for trial in 0..200u64 {
            let seed = |seed: u64| seed + 1_000 * trial;
            let mut evaluations = 0;
            let rounds = successive_halving(81, 3, 1, 81, |alive, seeds| {
                evaluations += alive.len() as u64 * (seeds.end - seeds.start);
                Ok::<_, Infallible>(
                    alive
                        .iter()
                        .map(|&place| seeds.clone().map(|s| score(noisy(place, 81, seed(s)))).collect())
                        .collect(),
                )
            })
            .unwrap();
            halving += regret(rounds.last().unwrap().ranking[0]);
            for (random, each) in random.iter_mut().zip([1, 3, 9, 27]) {
                let mut rng = stream(trial, Purpose::SweepDesign, &[each]);
                let tried = (0..evaluations / each).map(|_| {
                    let place = rng.random_range(0..81usize);
                    let found: Vec<f64> = (0..each).map(|s| noisy(place, 81, seed(s))).collect();
                    (mean(&found).unwrap(), place)
                });
                *random += regret(tried.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap().1);
            }
        }
        assert!(random.iter().all(|random| halving < *random), "halving {halving}, random {random:?}");
    }

    #[test]
    fn a_setting_that_breaks_a_bound_comes_last() {
        let rounds = successive_halving(3, 2, 2, 2, |alive, seeds| {
            let excess = |place: usize| if place == 0 { 0.1 } else { -0.1 };
            let score = |place: usize| Score { objective: place as f64, excesses: vec![-1.0, excess(place)] };
            Ok::<_, Infallible>(alive.iter().map(|&place| seeds.clone().map(|_| score(place)).collect()).collect())
        })
        .unwrap();
        assert_eq!(rounds, [Round { seeds: 2, ranking: vec![1, 2, 0] }]);
    }

    /// Setting 0 breaks the bound by a little; 1 seems to hold it with one seed, but does not; 2 holds it; 3 never did.
    #[test]
    fn a_setting_that_was_given_up_is_believed_with_all_seeds_only() {
        let mut asked = Vec::new();
        let rounds = successive_halving(4, 4, 1, 4, |alive, seeds| {
            asked.push((alive.to_vec(), seeds.clone()));
            let excess = |place: usize, seed: u64| match place {
                0 => 0.01,
                1 if seed > 0 => 0.1,
                1 | 2 => -0.01,
                _ => 0.5,
            };
            let score = |place, seed| Score { objective: place as f64, excesses: vec![excess(place, seed)] };
            let scores = alive.iter().map(|&place| seeds.clone().map(|seed| score(place, seed)).collect());
            Ok::<_, Infallible>(scores.collect())
        })
        .unwrap();
        assert_eq!(asked, [(vec![0, 1, 2, 3], 0..1), (vec![0], 1..4), (vec![1], 1..4), (vec![2], 1..4)]);
        assert_eq!(rounds.last().unwrap(), &Round { seeds: 4, ranking: vec![2, 0, 1] });
    }
}
