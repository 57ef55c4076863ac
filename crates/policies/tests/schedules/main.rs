//! The policies as wholes: against Hadoop's own rules, against real clusters, and against simple simulators. One binary for all, since each
//! would compile the worlds and link the engine again.

mod agreement;
#[path = "../../src/testing/cases.rs"]
mod cases;
mod containers;
mod contention;
mod coupling_checks;
mod cross_checks;
mod dress;
mod dress_toy;
mod edges;
mod invariants;
mod long_waits;
mod mishaps;
mod naive;
mod naive_slurm;
mod naive_spark;
mod naive_yarn;
mod parking;
mod sites_of_3;
mod slurm_counted;
mod slurm_invariants;
mod slurm_rules;
mod slurm_truth;
mod spark_agreement;
mod spark_rules;
mod spark_truth;
mod speculation;
#[path = "../../src/testing/slurm_truth.rs"]
#[allow(clippy::unwrap_used)]
mod truth;
mod without_effect;
mod worlds;
mod wrappers;
mod yarn_agreement;
mod yarn_fair;
mod yarn_rules;
