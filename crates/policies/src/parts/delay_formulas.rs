//! The formulas of delay scheduling (`docs/model/delay.md`).

/// The chance to find local data within `tries` heartbeats, if a share `p` of the nodes holds some: `1 − (1 − p)^D`.
pub fn hit_probability(p: f64, tries: u32) -> f64 {
    1.0 - (1.0 - p).powi(tries.min(i32::MAX as u32) as i32)
}

/// The skip count `D` with which a job of `tasks` maps on `nodes` nodes, each block on `replicas` of them, reaches a share
/// `target` of local maps: `D ≥ −(M/R)·ln((1−λ)N / (1 + (1−λ)N))`, rounded up.
pub fn skips_for(target: f64, tasks: u32, nodes: usize, replicas: u32) -> u32 {
    let off = (1.0 - target) * f64::from(tasks);
    let skips = -(nodes as f64 / f64::from(replicas.max(1))) * (off / (1.0 + off)).ln();
    skips.max(0.0).ceil().min(f64::from(u32::MAX)) as u32
}

/// How long a job at the head of the queue waits at most before it goes elsewhere, ms: `(D/S)·T`, with all `slots` of the
/// cluster and the mean task time `task_ms`.
pub fn longest_wait(skips: u32, slots: u32, task_ms: f64) -> f64 {
    f64::from(skips) / f64::from(slots) * task_ms
}

/// The chance that none of a job's maps runs away from its data (Coupling paper, Eq. 2): `(1 − e^{−sμT})^M` with `s` local
/// slots that finish at rate `mu` (1/ms) each, waiting time `wait` ms and `maps` maps.
pub fn stays_local(slots: u32, mu: f64, wait: f64, maps: u32) -> f64 {
    (1.0 - (-f64::from(slots) * mu * wait).exp()).powi(maps.min(i32::MAX as u32) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, within: f64) {
        assert!((a - b).abs() <= within, "{a} is not {b}");
    }

    #[test]
    fn skips_for_a_target_of_95_percent() {
        assert_eq!(skips_for(0.95, 20, 100, 3), 24);
        let locality = |skips: f64| {
            (1..=20).map(|left| 1.0 - (1.0 - f64::from(left) / 100.0).powf(3.0 * skips)).sum::<f64>() / 20.0
        };
        close(locality(24.0), 0.95353, 5e-6);
        close(locality(23.0), 0.95072, 5e-6);
        let bound = |skips: f64| {
            let e = (-3.0 * skips / 100.0).exp();
            1.0 - e / (20.0 * (1.0 - e))
        };
        close(bound(24.0), 0.95258, 5e-6);
        close(bound(23.0), 0.94968, 5e-6);
    }

    #[test]
    fn skips_for_other_worlds() {
        assert_eq!(skips_for(0.95, 20, 100, 1), 70);
        assert_eq!(skips_for(0.99, 20, 100, 3), 60);
        assert_eq!(skips_for(0.95, 3, 100, 3), 68);
        assert_eq!(skips_for(0.95, 20, 1000, 3), 232);
        // λ = 0: (100/3)·ln(21/20) = 1.63, as for any small λ.
        assert_eq!([skips_for(0.0, 20, 100, 3), skips_for(1e-4, 20, 100, 3)], [2, 2]);
    }

    #[test]
    fn chance_to_find_local_data() {
        close(hit_probability(0.1, 10), 0.6513, 5e-5);
        close(hit_probability(0.1, 40), 0.98522, 5e-6);
    }

    #[test]
    fn longest_wait_of_a_job() {
        close(longest_wait(24, 6 * 100, 60_000.0), 2_400.0, 1e-9);
        close(longest_wait(23, 8 * 100, 1.0), 0.029, 5e-4);
    }

    #[test]
    fn chance_to_stay_local() {
        close(stays_local(28, 1.0 / 48_500.0, 15_000.0, 427), 0.9286, 5e-5);
        close(stays_local(28, 1.0 / 48_500.0, 10_000.0, 427), 0.2645, 5e-5);
        close(stays_local(28, 1.0 / 48_500.0, 20_000.0, 427), 0.9959, 5e-5);
    }
}
