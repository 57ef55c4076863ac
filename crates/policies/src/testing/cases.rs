//! How many random cases a test tries. The unit tests and both binaries in `tests` share this file.

use proptest::test_runner::{Config, RngSeed};

/// The usual number of random cases: a tenth of it if `RESCHED_TESTS` is `quick`, and as many as `PROPTEST_CASES` says if it is set.
///
/// The cases are the same in every run, so that a change causes a failure and chance does not. `PROPTEST_RNG_SEED` asks for others.
pub(crate) fn cases(usual: u32) -> Config {
    let default = Config::default();
    let cases = match (std::env::var_os("PROPTEST_CASES"), std::env::var_os("RESCHED_TESTS")) {
        (Some(_), _) => default.cases,
        (None, Some(word)) if word == "quick" => usual.div_ceil(10),
        _ => usual,
    };
    let rng_seed = match default.rng_seed {
        RngSeed::Random => RngSeed::Fixed(1),
        fixed => fixed,
    };
    Config { cases, rng_seed, max_global_rejects: cases.max(1_024), failure_persistence: None, ..default }
}
