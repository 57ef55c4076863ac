//! How much longer a map takes away from its input.

use std::collections::BTreeMap;

use resched_tables::contrast::{Contrast, Factor, Logs};
use resched_tables::model::Locality;
use serde::Serialize;

use super::fitted::Fitted;
use super::observed::{Attempt, Observed};

/// The default factors: Rumen's (`docs/model/locality.md`), as in a cluster file without them.
pub const DEFAULT_FACTORS: [f64; 3] = [1.0, 1.5, 3.0];

/// The run time of a map in the rack of its input, and elsewhere, divided by that on a node with the input.
///
/// Each job is its own control ([`Contrast`]). `n` counts the maps at the level in such jobs.
pub fn locality_factors(observed: &Observed) -> [Fitted; 2] {
    contrasts(observed, |attempt| Some(attempt.job)).map(fitted)
}

/// The fewest stages with tasks at both levels from which a factor is known. A replay that fits by itself asks for as many.
pub const LEAST_STAGES: u64 = 3;

/// How much longer a task of Spark takes away from the machines that it prefers, and what that is fitted to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StageFactors {
    /// The factors in the rack of such a machine and elsewhere. `n` counts tasks.
    pub factors: [Fitted; 2],
    /// How many stages have tasks on such a machine and at each of these levels.
    pub stages: [u64; 2],
}

/// As [`locality_factors`], with each stage as its own control: the stages of a job of Spark do different work. Too few stages determine
/// nothing, and no place is better than a preferred one.
pub fn stage_factors(observed: &Observed) -> StageFactors {
    let contrasts = contrasts(observed, |attempt| attempt.stage);
    let [mut rack, mut off] = contrasts.map(fitted);
    let stages = contrasts.map(|contrast| contrast.groups());
    for (factor, stages) in [&mut rack, &mut off].into_iter().zip(stages) {
        factor.value = factor.value.filter(|_| stages >= LEAST_STAGES).map(|value| value.max(1.0));
        factor.standard_error = factor.standard_error.filter(|_| factor.value.is_some());
    }
    StageFactors { factors: [rack, off], stages }
}

/// The run times of maps in the rack of their input and elsewhere, beside those on a node with it.
fn contrasts(observed: &Observed, group: impl Fn(&Attempt) -> Option<usize>) -> [Contrast; 2] {
    let mut groups: BTreeMap<usize, [Logs; 3]> = BTreeMap::new();
    for map in observed.attempts.iter().filter(|attempt| attempt.is_good_map()) {
        let (Some(level), Some(time), Some(group)) = (map.locality, map.run_time(), group(map)) else { continue };
        let [node, rack, off] = groups.entry(group).or_default();
        let logs = match level {
            Locality::Node => node,
            Locality::Rack => rack,
            Locality::Off => off,
        };
        logs.add(time);
    }
    let mut contrasts = [Contrast::default(); 2];
    for [node, rack, off] in groups.into_values() {
        contrasts[0].take(node, rack);
        contrasts[1].take(node, off);
    }
    contrasts
}

/// The factor that a contrast shows, in the range that a cluster file allows.
fn fitted(contrast: Contrast) -> Fitted {
    match contrast.factor() {
        None => Fitted::unknown(contrast.tasks()),
        Some(Factor { value, error }) => {
            let value = value.clamp(1e-3, 1e3);
            Fitted::of(value, Some(value * error), contrast.tasks())
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use resched_tables::model::TaskKind;

    use super::*;

    fn map(job: usize, locality: Locality, run: f64) -> Attempt {
        Attempt {
            job,
            kind: TaskKind::Map,
            start: Some(1_000),
            finish: Some(1_000 + run as i64),
            succeeded: true,
            locality: Some(locality),
            ..Attempt::default()
        }
    }

    /// Small jobs run off their racks and large ones beside their input: the ratio of all means would be below 1.
    #[test]
    fn factors_are_found_though_job_sizes_confound_them() {
        let noise = [0.8, 0.9, 1.0, 1.1, 1.25];
        let mut attempts = Vec::new();
        for (job, (base, counts)) in
            [(100_000.0, [50, 10, 5]), (10_000.0, [20, 20, 10]), (1_000.0, [5, 15, 40])].into_iter().enumerate()
        {
            for ((level, factor), count) in
                [(Locality::Node, 1.0), (Locality::Rack, 1.4), (Locality::Off, 2.2)].into_iter().zip(counts)
            {
                attempts.extend((0..count).map(|map_| map(job, level, base * factor * noise[map_ % 5])));
            }
        }
        let observed = Observed { jobs: vec![Default::default(); 3], attempts, ..Observed::default() };
        let [rack, off] = locality_factors(&observed);
        for (found, planted, n) in [(rack, 1.4, 45), (off, 2.2, 55)] {
            assert!((found.value.unwrap() / planted - 1.0).abs() < 0.002, "{found:?}");
            assert!((0.005..0.1).contains(&found.standard_error.unwrap()), "{found:?}");
            assert_eq!(found.n, n);
        }
    }

    /// The two stages of each job differ by ten times, and the short one runs away from its hosts more often.
    #[test]
    fn factors_of_stages_are_not_confounded_by_the_stages_of_a_job() {
        let noise = [0.9, 0.95, 1.0, 1.05, 1.1];
        let planted = |stages: usize| {
            let mut attempts = Vec::new();
            for stage in 0..stages {
                let (base, counts) = if stage % 2 == 0 { (10_000.0, [15, 5]) } else { (1_000.0, [5, 15]) };
                for ((level, factor), count) in [(Locality::Node, 1.0), (Locality::Off, 2.0)].into_iter().zip(counts) {
                    let of = |n: usize| map(stage / 2, level, base * factor * noise[n % 5]);
                    attempts.extend((0..count).map(|n| Attempt { stage: Some(stage), ..of(n) }));
                }
            }
            Observed { jobs: vec![Default::default(); stages], attempts, ..Observed::default() }
        };
        let StageFactors { factors: [rack, off], stages } = stage_factors(&planted(6));
        assert!((off.value.unwrap() - 2.0).abs() < 0.001 && off.standard_error.unwrap() < 0.1, "{off:?}");
        assert_eq!((rack.value, off.n, stages), (None, 60, [0, 6]));
        assert!(locality_factors(&planted(6))[1].value.is_none_or(|by_job| by_job < 1.5));
        // Two stages are too few, however many tasks they have.
        let few = stage_factors(&planted(2));
        assert_eq!((few.factors[1], few.stages), (Fitted::unknown(20), [0, 2]));
    }

    #[test]
    fn little_or_wild_data_determine_nothing() {
        let few: Vec<Attempt> =
            (0..9).flat_map(|_| [map(0, Locality::Node, 10.0), map(0, Locality::Rack, 12.0)]).collect();
        assert_eq!(locality_factors(&Observed { attempts: few, ..Observed::default() })[0], Fitted::unknown(9));
        let wild = (0..10).flat_map(|i| {
            let run = if i % 2 == 0 { 10.0 } else { 1_000.0 };
            [map(0, Locality::Node, run), map(0, Locality::Off, run)]
        });
        let found = locality_factors(&Observed { attempts: wild.collect(), ..Observed::default() });
        assert_eq!(found, [Fitted::unknown(0), Fitted::unknown(10)]);
    }
}
