//! Clusters of stage weights (`docs/model/speculators.md`).

use rand::Rng;
use rand::seq::SliceRandom;

use crate::parts::task_progress::{StageWeights, WeightSum};

/// Lloyd's algorithm gives up after so many rounds.
const MOST_ROUNDS: u32 = 50;

/// How far apart two are, squared. The first two stages say: the third is what they leave.
fn distance(a: &StageWeights, b: &StageWeights) -> f64 {
    (0..2).map(|stage| (a.0[stage] - b.0[stage]).powi(2)).sum()
}

/// The place of the nearest of some centres, the first of equals; `None` of nothing.
pub fn nearest(centres: &[StageWeights], to: &StageWeights) -> Option<usize> {
    (0..centres.len()).min_by(|&a, &b| distance(&centres[a], to).total_cmp(&distance(&centres[b], to)))
}

/// The centres of at most `k` clusters of records: Lloyd's algorithm from different records that are drawn at random.
pub fn k_means(records: &[StageWeights], k: usize, draws: &mut impl Rng) -> Vec<StageWeights> {
    let mut order: Vec<usize> = (0..records.len()).collect();
    order.shuffle(draws);
    let mut centres: Vec<StageWeights> = Vec::new();
    for place in order {
        if centres.len() < k && !centres.contains(&records[place]) {
            centres.push(records[place]);
        }
    }
    let mut clusters = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let next: Vec<_> = records.iter().map(|record| nearest(&centres, record)).collect();
        if next == clusters {
            break;
        }
        clusters = next;
        for (place, centre) in centres.iter_mut().enumerate() {
            let members = records.iter().zip(&clusters).filter(|(_, cluster)| **cluster == Some(place));
            // A cluster that has lost all its records stays where it was.
            *centre = members.map(|(record, _)| record).collect::<WeightSum>().mean().unwrap_or(*centre);
        }
    }
    centres
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use resched_tables::draws::{Purpose, stream};

    fn map(m1: f64) -> StageWeights {
        StageWeights([m1, 1.0 - m1, 0.0])
    }

    #[test]
    fn clusters_are_found_wherever_the_search_starts() {
        let records = [0.1, 0.12, 0.5, 0.52, 0.54, 0.9].map(map);
        for seed in 0..20 {
            let mut found = k_means(&records, 6, &mut stream(seed, Purpose::ClusterStart, &[]));
            found.sort_by(|a, b| a.0[0].total_cmp(&b.0[0]));
            assert_eq!(found, records, "as many clusters as records");
            let one = k_means(&records, 1, &mut stream(seed, Purpose::ClusterStart, &[]));
            assert!((one[0].0[0] - 2.68 / 6.0).abs() < 1e-12 && one.len() == 1);
            let two = k_means(&[0.2, 0.2, 0.8, 0.8].map(map), 10, &mut stream(seed, Purpose::ClusterStart, &[]));
            assert_eq!(two.len(), 2, "equal records are one cluster");
        }
        assert!(k_means(&[], 3, &mut stream(1, Purpose::ClusterStart, &[])).is_empty());
    }

    #[test]
    fn the_centres_are_the_means_of_what_is_nearest_to_them() {
        let records: Vec<StageWeights> = (0..40_u32)
            .map(|n| StageWeights([f64::from(n * n % 17) / 40.0, f64::from(n * 7 % 13) / 40.0, 0.0]))
            .map(|w| StageWeights([w.0[0], w.0[1], 1.0 - w.0[0] - w.0[1]]))
            .collect();
        let centres = k_means(&records, 4, &mut stream(1, Purpose::ClusterStart, &[]));
        assert_eq!(centres.len(), 4);
        for (place, centre) in centres.iter().enumerate() {
            let members = records.iter().filter(|record| nearest(&centres, record) == Some(place));
            let expected = members.collect::<WeightSum>().mean().unwrap();
            assert!((0..3).all(|stage| (centre.0[stage] - expected.0[stage]).abs() < 1e-12));
        }
    }
}
