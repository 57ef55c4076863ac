//! MR-Predict: whether a job is bound by the processor, by the disks, or first by one and then by the other
//! (`docs/model/triple-queue.md`).
//!
//! **Source.** Triple-Queue paper, formulas 2 to 5. A map reads MID and writes MOD = ρ·MID; while the reduces fetch, the node
//! of a map also reads SOD (what the map gives to the shuffle) and writes SID (what the node's reduces get) for each map.
//! `n` maps run at once on a node and each takes MTCT; the node then moves `n·bytes/MTCT`, to be compared with the rate of
//! its disks, DIOR.
//!
//! **A contradiction of the paper.** Its DIOR of 31.2 MB/s is (64 + 64)/4.1: the rate of one task. The formulas compare it with
//! the rate of n tasks. We follow the formulas to the letter, because they give the classes of its Table I; with the rate of
//! a whole node, 249.8 MB/s, they would not.

/// What bounds a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The processor, all along.
    Cpu,
    /// The disks, all along.
    Io,
    /// The processor until its reduces fetch, then the disks.
    Sway,
}

/// A map of a job, on average.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MapLoad {
    /// What it reads (MID), MiB.
    pub input: f64,
    /// What it writes (MOD), MiB.
    pub output: f64,
    /// What it gives to the shuffle (SOD), MiB.
    pub shuffle_out: f64,
    /// What the reduces on its node get for it (SID), MiB.
    pub shuffle_in: f64,
    /// How long it takes (MTCT), s; above 0.
    pub time: f64,
}

/// Formulas 3 and 4: MiB/s that a node moves whose `n` maps read and write, `n(MID + MOD)/MTCT`.
pub fn map_rate(n: f64, map: &MapLoad) -> f64 {
    n * (map.input + map.output) / map.time
}

/// Formulas 2 and 3: MiB/s that it moves while reduces fetch, too, `n(MID + MOD + SOD + SID)/MTCT`.
pub fn shuffle_rate(n: f64, map: &MapLoad) -> f64 {
    n * (map.input + map.output + map.shuffle_out + map.shuffle_in) / map.time
}

/// Formula 5: MiB that the reduces on a node get for each of its maps, `SID = (RRN/WRN)·SOD·nodes`, if `on_node` of the job's
/// `all` reduces run there (RRN of WRN). Without reduces there is no shuffle.
pub fn shuffle_in(on_node: f64, all: f64, shuffle_out: f64, nodes: f64) -> f64 {
    if all > 0.0 { on_node / all * shuffle_out * nodes } else { 0.0 }
}

/// The class of a job with such maps, `n` at once on a node whose disks move `dior` MiB/s. The heaviest class is tried first and
/// takes what equals its bound: formula 4, then 2, else 3.
pub fn classify(n: f64, dior: f64, map: &MapLoad) -> Class {
    if map_rate(n, map) >= dior {
        Class::Io
    } else if shuffle_rate(n, map) < dior {
        Class::Cpu
    } else {
        Class::Sway
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's disk rate, MB/s, and maps at once.
    const DIOR: f64 = 31.2;
    const N: f64 = 8.0;

    /// A row of Table I: input, output, time. Reduces are spread evenly.
    fn row(input: f64, output: f64, time: f64) -> MapLoad {
        MapLoad { input, output, shuffle_out: output, shuffle_in: shuffle_in(8.0, 48.0, output, 6.0), time }
    }

    fn class(map: &MapLoad) -> Class {
        classify(N, DIOR, map)
    }

    #[track_caller]
    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-4, "{found} instead of {expected}");
    }

    #[test]
    fn table1_terasort_is_bound_by_the_disks() {
        let map = row(64.0, 64.0, 8.0);
        close(map_rate(N, &map), 128.0);
        assert_eq!(class(&map), Class::Io);
    }

    #[test]
    fn table1_grep_count_is_bound_by_the_processor() {
        let map = row(64.0, 1.0, 92.0);
        close(map_rate(N, &map), 5.652);
        close(shuffle_rate(N, &map), 5.826);
        assert_eq!(class(&map), Class::Cpu);
    }

    #[test]
    fn table1_wordcount_sways() {
        let map = row(64.0, 64.0, 35.0);
        close(map_rate(N, &map), 29.257);
        close(shuffle_rate(N, &map), 58.514);
        assert_eq!(class(&map), Class::Sway);
    }

    #[test]
    fn table1_dio_is_bound_by_the_disks() {
        let map = row(64.0, 64.0, 4.1);
        close(map_rate(N, &map), 249.756);
        assert_eq!(class(&map), Class::Io);
    }

    #[test]
    fn the_disk_rate_of_a_whole_node_contradicts_table1() {
        let node = map_rate(N, &row(64.0, 64.0, 4.1));
        let class = |map: &MapLoad| classify(N, node, map);
        assert_eq!(class(&row(64.0, 64.0, 8.0)), Class::Sway, "TeraSort");
        assert_eq!(class(&row(64.0, 1.0, 92.0)), Class::Cpu, "Grep-Count");
        assert_eq!(class(&row(64.0, 64.0, 35.0)), Class::Cpu, "WordCount");
    }

    #[test]
    fn wordcount_flips_to_the_disks_at_32_82_s() {
        assert_eq!(class(&row(64.0, 64.0, 32.82)), Class::Io);
        assert_eq!(class(&row(64.0, 64.0, 32.83)), Class::Sway);
    }

    #[test]
    fn reduces_spread_evenly_get_what_a_map_gives() {
        close(shuffle_in(8.0, 48.0, 64.0, 6.0), 64.0);
        close(shuffle_in(16.0, 48.0, 64.0, 6.0), 128.0);
        close(shuffle_in(0.0, 0.0, 64.0, 6.0), 0.0);
    }

    #[test]
    fn equality_goes_to_the_heavier_class() {
        // Rates 32 without and 64 with the shuffle.
        let map = row(64.0, 64.0, 32.0);
        assert_eq!(classify(N, 32.0, &map), Class::Io);
        assert_eq!(classify(N, 64.0, &map), Class::Sway);
        assert_eq!(classify(N, 64.001, &map), Class::Cpu);
    }

    #[test]
    fn a_job_of_maps_alone_does_not_sway() {
        for time in 1..200 {
            let map = MapLoad { shuffle_out: 0.0, shuffle_in: 0.0, ..row(64.0, 64.0, f64::from(time)) };
            assert_ne!(class(&map), Class::Sway, "{time} s");
        }
    }
}
