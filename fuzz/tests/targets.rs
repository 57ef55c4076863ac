//! Each target with a fixed number of inputs made from its seeds. The same seed gives the same inputs on any machine.
//!
//! `FUZZ_INPUTS` and `FUZZ_SEED` change the number and the seed. With `RESCHED_TESTS=quick`, the number is a tenth.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use mutatis::check::{Check, CheckError};
use resched_fuzz::{Mutator, Target, targets};

/// The inputs of a target, by default.
const INPUTS: u64 = 1_000;
/// The inputs made one from the other before the next begins at a seed again. Longer chains end in noise.
const CHAIN: u64 = 50;
/// The longest time of an input. Most take less than a millisecond.
const LONGEST: Duration = Duration::from_secs(10);

/// A test for each of these targets, and one that these are all.
macro_rules! targets {
    ($($test:ident = $name:literal,)+) => {
        $(#[test]
        fn $test() {
            check(&Target::named($name).unwrap());
        })+

        #[test]
        fn each_target_has_a_test() {
            let tested: BTreeSet<&str> = [$($name),+].into();
            let known: BTreeSet<&str> = targets().map(|target| target.name).collect();
            assert_eq!(tested, known);
        }
    };
}

targets! {
    text_history = "text-history",
    jhist = "jhist",
    rumen = "rumen",
    rumen_topology = "rumen-topology",
    swim = "swim",
    swf = "swf",
    gwf = "gwf",
    kueue_workloads = "kueue-workloads",
    spark = "spark",
    sls = "sls",
    sls_nodes = "sls-nodes",
    yarn_apps = "yarn-apps",
    sacct = "sacct",
    pbs = "pbs",
    lsf = "lsf",
    gridengine = "gridengine",
    kubernetes = "kubernetes",
    openb = "openb",
    openb_nodes = "openb-nodes",
    google2011 = "google2011",
    google2019 = "google2019",
    alibaba2018 = "alibaba2018",
    alibaba2017 = "alibaba2017",
    conf = "conf",
    ingest = "ingest",
    manifest = "manifest",
    run = "run",
    table = "table",
    sweep = "sweep",
    workload = "workload",
    cluster = "cluster",
    site = "site",
    queues = "queues",
    policy = "policy",
    metric = "metric",
    map = "map",
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable}: {text}")))
}

fn check(target: &Target) {
    let seeds = target.seeds().unwrap_or_else(|error| panic!("seeds/{}: {error}", target.name));
    let mutator = Mutator::of(&seeds);
    let is_quick = std::env::var_os("RESCHED_TESTS").is_some_and(|word| word == "quick");
    let usual = if is_quick { INPUTS / 10 } else { INPUTS };
    let (inputs, seed) = (number("FUZZ_INPUTS", usual), number("FUZZ_SEED", 1));
    for chain in 0..inputs.div_ceil(CHAIN) {
        let corpus = seeds.iter().map(|(_, bytes)| bytes.clone());
        let done = Check::new()
            .seed(seed.wrapping_mul(1_000_003).wrapping_add(chain))
            .iters(usize::try_from(CHAIN).unwrap())
            .max_shrink_iters(500)
            .max_shrink_duration(Duration::from_secs(60))
            .run_with(mutator.clone(), corpus, |input| in_time(target, input));
        if let Err(error) = done {
            report(target, error);
        }
    }
}

fn in_time(target: &Target, input: &[u8]) -> Result<(), String> {
    let begin = Instant::now();
    target.run(input);
    let taken = begin.elapsed();
    if taken < LONGEST { Ok(()) } else { Err(format!("it took {taken:?}")) }
}

/// Keeps the input that failed and names its file.
fn report(target: &Target, error: CheckError<Vec<u8>>) -> ! {
    let CheckError::Failed(failure) = error else { panic!("{}: {error}", target.name) };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("found");
    let file = folder.join(target.name);
    fs::create_dir_all(&folder).and_then(|()| fs::write(&file, &failure.value)).unwrap();
    panic!(
        "{}: an input of {} bytes failed ({}); it is in {}: mend the reader and move the file to fuzz/seeds/{}/found-…",
        target.name,
        failure.value.len(),
        failure.message,
        file.display(),
        target.name
    );
}

#[test]
fn each_seed_is_accepted() {
    let mut refused = Vec::new();
    for target in targets() {
        for (name, bytes) in target.seeds().unwrap_or_else(|error| panic!("seeds/{}: {error}", target.name)) {
            let found_by_a_run = name.starts_with("found-");
            if !found_by_a_run && !target.run(&bytes) {
                refused.push(format!("seeds/{}/{name}", target.name));
            }
        }
    }
    assert_eq!(refused, [""; 0]);
}
