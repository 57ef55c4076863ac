//! Random numbers keyed by (seed, purpose, entity).
//!
//! A draw never depends on the order of calls. So two policies replayed with one seed see the same task durations, the
//! same block placement and the same heartbeat phases. Comparisons are paired.

use rand_pcg::Pcg64Mcg;

/// What a draw is for. Two purposes never share a random stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// When a node sends its first heartbeat.
    HeartbeatPhase = 1,
    /// By how much one heartbeat comes early or late.
    HeartbeatJitter = 2,
    /// The outcome and run time of an attempt that the trace does not hold.
    MadeUpAttempt = 3,
    /// The nodes that hold the replicas of an input block.
    BlockPlacement = 4,
    /// How long a synthesised task runs.
    TaskDuration = 5,
    /// When the jobs of a synthetic workload arrive.
    JobArrival = 6,
    /// Which job is drawn in a synthetic workload.
    JobChoice = 7,
    /// Where an attempt of a generated history ran.
    AttemptPlacement = 8,
    /// Which pairs of jobs a bootstrap resample takes.
    Bootstrap = 9,
    /// Which nodes are slow.
    SlowNode = 10,
    /// Which attempts take longer than their tasks should.
    Straggler = 11,
    /// Which of the jobs with the largest mismatch launches a reduce (Coupling, Algorithm 1).
    ReduceCandidate = 12,
    /// Which of the nodes that are equally near to a job's map output is the best for a reduce (Coupling, Algorithm 2).
    ReducePlace = 13,
    /// Whether a map is launched away from its input (Coupling, Algorithm 3).
    MapPeek = 14,
    /// Which nodes are examined for that decision.
    PeekSample = 15,
    /// Where the search for clusters of stage weights starts.
    ClusterStart = 16,
    /// Which jobs of a class are kept when a trace is made smaller.
    ScaledJobs = 17,
    /// Which machines are kept, and which of them replaces a machine that is not.
    ScaledMachines = 18,
    /// The settings of a sampled sweep, and what a search tries.
    SweepDesign = 19,
    /// How long a task runs that had not ended when the trace ended.
    UnfinishedTask = 20,
    /// How many containers the jobs of an experiment ask for, where its paper does not say.
    ContainerDemand = 21,
    /// Where the replicas of an input block are in a variant of a world whose places are not known.
    MovedInput = 22,
    /// The host that a task of Spark prefers, if it is known only that it prefers others than its own.
    PreferredHost = 23,
    /// In which order Spark offers its executors to the task sets.
    OfferOrder = 24,
    /// At which part of each second Spark offers all executors.
    OfferPhase = 25,
    /// At which part of each second Slurm's schedulers look for work.
    SchedulerPhase = 26,
    /// What a policy decides by chance that is not one of ours, such as one in Python.
    OwnPolicy = 27,
    /// Which of two workloads of Kueue comes first that are equal in all but their UIDs.
    WorkloadUid = 28,
    /// At which moments a forecast is tested, and for which of the jobs that wait then.
    ForecastMoment = 29,
    /// How long a job runs in a drawn future.
    ForecastRun = 30,
    /// Which week of the past the jobs to come are taken from in a drawn future.
    ForecastArrivals = 31,
}

/// The draws of one purpose and one entity, or of all entities whose numbers begin so: millions of tasks begin with the number of
/// their job, which is mixed in once.
#[derive(Debug, Clone, Copy)]
pub struct Draws {
    low: u64,
    high: u64,
}

impl Draws {
    /// All draws of a purpose.
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        let low = mix(seed ^ 0x9e37_79b9_7f4a_7c15);
        Self { low, high: mix(low ^ purpose as u64) }
    }

    /// Those of them that are of one entity. `entity` holds numbers that identify it, such as job and task, or the further ones.
    #[inline]
    #[must_use]
    pub fn of(self, entity: &[u64]) -> Self {
        let Self { mut low, mut high } = self;
        for &part in entity {
            low = mix(low ^ high.rotate_left(32) ^ part);
            high = mix(high.wrapping_add(low) ^ 0xbf58_476d_1ce4_e5b9);
        }
        Self { low, high }
    }

    /// The generator that makes them.
    #[inline]
    pub fn generator(self) -> Pcg64Mcg {
        Pcg64Mcg::new((u128::from(self.high) << 64) | u128::from(self.low))
    }
}

/// A generator for the draws of one entity and purpose. `entity` holds numbers that identify it, such as job and task.
pub fn stream(seed: u64, purpose: Purpose, entity: &[u64]) -> Pcg64Mcg {
    Draws::new(seed, purpose).of(entity).generator()
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every input bit reaches every output bit.
#[inline]
fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn a_draw_depends_on_seed_purpose_and_entity_only() {
        let draw = |seed, purpose, entity: &[u64]| stream(seed, purpose, entity).next_u64();
        let first = draw(1, Purpose::TaskDuration, &[3, 4]);
        assert_eq!(first, draw(1, Purpose::TaskDuration, &[3, 4]));
        for other in [
            draw(2, Purpose::TaskDuration, &[3, 4]),
            draw(1, Purpose::BlockPlacement, &[3, 4]),
            draw(1, Purpose::TaskDuration, &[4, 3]),
            draw(1, Purpose::TaskDuration, &[3]),
        ] {
            assert_ne!(first, other);
        }
    }

    /// Results that were kept were made with these draws.
    #[test]
    fn numbers_of_an_entity_may_come_in_parts_and_give_the_draws_that_they_always_gave() {
        let draws = Draws::new(1, Purpose::TaskDuration);
        let expected = stream(1, Purpose::TaskDuration, &[3, 4]).next_u64();
        assert_eq!(draws.of(&[3]).of(&[4]).generator().next_u64(), expected);
        assert_eq!(expected, 0x906a_5b4c_9368_e38c);
    }
}
