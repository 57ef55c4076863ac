//! What the machine refuses.

/// An error that names the object or the workload, what was expected and what to do.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// The quotas of a cohort tree add up to more than can be counted.
    #[error("{node}: the quotas of {resource} in flavor {flavor} add up to more than 2^61; lower nominalQuota")]
    TooMuchQuota {
        /// The ClusterQueue or cohort at which the sum is too large.
        node: String,
        /// The flavour.
        flavor: String,
        /// The resource.
        resource: String,
    },
    /// The tables of quotas would need too much memory.
    #[error(
        "{nodes} queues and cohorts with {cells} pairs of flavor and resource are more than 64 Mi entries; split the site"
    )]
    TooManyQuotas {
        /// ClusterQueues and cohorts.
        nodes: usize,
        /// Pairs of flavour and resource that any of them names.
        cells: usize,
    },
    /// Cohorts are nested too deeply, or in a circle.
    #[error("cohort {0} has more than 64 cohorts above it, or is its own ancestor; correct parentName")]
    TooDeep(String),
    /// A workload asks for more than can be counted.
    #[error("pod set {0} asks for more than 2^61 of a resource; correct its requests or its count")]
    TooMuch(String),
    /// The call does not fit the state of the workload.
    #[error(
        "workload {workload} is {state}, but {deed} needs one that is {expected}; report the events of a workload in their order"
    )]
    State {
        /// Its number.
        workload: u32,
        /// The call.
        deed: &'static str,
        /// The state that the call needs.
        expected: &'static str,
        /// The state it is in.
        state: &'static str,
    },
    /// Two workloads evict and follow each other for ever within one instant, because evictions take no time.
    #[error(
        "at {now} ms workload {by} evicted workload {victim} for the {times}th time within the same instant, and would go on for ever: \
         the victim is admitted again before the preemptor; give evictions a time above 0"
    )]
    Loop {
        /// The instant, milliseconds.
        now: i64,
        /// The workload that is evicted and admitted in turn.
        victim: u32,
        /// The workload that evicts it.
        by: u32,
        /// Evictions of this pair in this instant.
        times: u32,
    },
}
