//! The settings of the policy, from its parameters and the site.

use resched_sim::Ms;

use crate::settings::{choices, settings};

choices! {
    /// Which of Slurm's schedulers run.
    pub(super) enum Scheduler {
        /// The main loop and the backfill scheduler.
        Backfill = "backfill",
        /// The main loop alone: first come, first served within a partition.
        Builtin = "builtin",
    }
}

choices! {
    /// The versions whose rules are known.
    pub(super) enum Version {
        /// 22.05, and those up to 23.02.
        V22_05 = "22.05",
        /// 24.11, and those from 23.11 on.
        V24_11 = "24.11",
    }
}

choices! {
    /// Where the priority of a job is from.
    pub(super) enum PriorityFrom {
        /// The order of submission.
        Basic = "basic",
        /// A weighted sum of factors.
        Multifactor = "multifactor",
        /// The number in the log.
        Logged = "logged",
    }
}

choices! {
    /// What lets a job take the place of another.
    pub(super) enum PreemptBy {
        /// Nothing.
        None = "none",
        /// The tier of its partition.
        Partition = "partition_prio",
        /// Its QOS, which names those over which it goes.
        Qos = "qos",
    }
}

choices! {
    /// What becomes of a job that loses its place.
    pub(super) enum PreemptMode {
        /// It keeps its place.
        Off = "off",
        /// It waits, and starts again from its beginning.
        Requeue = "requeue",
        /// It has ended.
        Cancel = "cancel",
    }
}

settings! {
    /// What you can set.
    pub(super) struct Settings {
        /// the version whose rules hold; auto: that of the log or the site, else the newest
        version: Option<Version> = "version" { auto: Nothing },
        /// the schedulers that run: the main loop, or also backfill
        scheduler: Scheduler = "scheduler" { choice: Scheduler::Backfill, hadoop: ["SchedulerType"] },
        /// least time between two runs of the main loop
        batch_sched_delay: Ms = "batch_sched_delay" {
            default: 3_000, range: 0..=3_600_000, unit: "ms", hadoop: ["SchedulerParameters.batch_sched_delay"]
        },
        /// whether the main loop also runs at once when a job has ended
        run_at_ends: bool = "run_at_ends" {
            default: false, hadoop: ["Epilog", "PrologFlags.contain", "PrologFlags.x11"]
        },
        /// time between two runs of the main loop over the whole queue
        sched_interval: Ms = "sched_interval" {
            default: 60_000, range: 1_000..=86_400_000, unit: "ms", hadoop: ["SchedulerParameters.sched_interval"]
        },
        /// most jobs that other runs of the main loop look at
        default_queue_depth: u32 = "default_queue_depth" {
            default: 100, range: 1..=1_000_000, unit: "jobs", hadoop: ["SchedulerParameters.default_queue_depth"]
        },
        /// time between two runs of the backfill scheduler
        bf_interval: Ms = "bf_interval" {
            default: 30_000, range: 1_000..=86_400_000, unit: "ms", hadoop: ["SchedulerParameters.bf_interval"]
        },
        /// grain of planned starts and ends, which are rounded to it
        bf_resolution: Ms = "bf_resolution" {
            default: 60_000, range: 1_000..=86_400_000, unit: "ms", hadoop: ["SchedulerParameters.bf_resolution"]
        },
        /// how far ahead jobs are planned
        bf_window: Ms = "bf_window" {
            default: 86_400_000, range: 60_000..=3e11, unit: "ms", hadoop: ["SchedulerParameters.bf_window"]
        },
        /// most jobs that a backfill run looks at
        bf_max_job_test: u32 = "bf_max_job_test" {
            default: 500, range: 1..=1_000_000, unit: "jobs", hadoop: ["SchedulerParameters.bf_max_job_test", "SchedulerParameters.max_job_bf"]
        },
        /// most jobs of a user that a backfill run looks at; 0: any number
        bf_max_job_user: u32 = "bf_max_job_user" {
            default: 0, range: 0..=1_000_000, unit: "jobs", hadoop: ["SchedulerParameters.bf_max_job_user"]
        },
        /// most jobs of a partition that a backfill run looks at; 0: any number
        bf_max_job_part: u32 = "bf_max_job_part" {
            default: 0, range: 0..=1_000_000, unit: "jobs", hadoop: ["SchedulerParameters.bf_max_job_part"]
        },
        /// most jobs that a backfill run starts; 0: any number
        bf_max_job_start: u32 = "bf_max_job_start" {
            default: 0, range: 0..=1_000_000, unit: "jobs", hadoop: ["SchedulerParameters.bf_max_job_start"]
        },
        /// most jobs of a partition that get a reservation; 0: all (1: EASY)
        reservations: u32 = "reservations" {
            default: 0, range: 0..=1_000_000, unit: "jobs", hadoop: ["SchedulerParameters.bf_job_part_count_reserve"]
        },
        /// how long a job waits before it gets a reservation
        bf_min_age_reserve: Ms = "bf_min_age_reserve" {
            default: 0, range: 0..=3e11, unit: "ms", hadoop: ["SchedulerParameters.bf_min_age_reserve"]
        },
        /// least priority of a job that gets a reservation
        bf_min_prio_reserve: u32 = "bf_min_prio_reserve" {
            default: 0, range: 0..=2_000_000_000, hadoop: ["SchedulerParameters.bf_min_prio_reserve"]
        },
        /// how much farther each bundle of ends reaches than the one before; 0: twice as far
        bf_window_linear: Ms = "bf_window_linear" {
            default: 0, range: 0..=86_400_000, unit: "ms", hadoop: ["SchedulerParameters.bf_window_linear"]
        },
        /// whether the end of a reservation is rounded up to `bf_resolution`; auto: since 24.11, before that down
        bf_round_up: Option<bool> = "bf_round_up" { auto: Nothing },
        /// whether a job tried at a later time first gets all that ends before, and then bundles; auto: since 24.11
        bf_from_later: Option<bool> = "bf_from_later" { auto: Nothing },
        /// whether a bundle of ends stops where the plan changes next, else gives no start; auto: since 24.11
        bf_cut_bundles: Option<bool> = "bf_cut_bundles" { auto: Nothing },
        /// whether a job whose place is reserved is tried anew at that start, not at a change; auto: since 24.11
        bf_overlap_first: Option<bool> = "bf_overlap_first" { auto: Nothing },
        /// whether a job is also tried at the end of the slot after its limit; auto: since 24.11
        bf_next_slot: Option<bool> = "bf_next_slot" { auto: Nothing },
        /// whether `bf_max_job_test` bounds the tasks of one array that start after each other; auto: since 24.11
        bf_count_tasks: Option<bool> = "bf_count_tasks" { auto: Nothing },
        /// whether a job stopped by a limit of its user or QOS also stops those behind it in its partition
        assoc_limit_stop: bool = "assoc_limit_stop" {
            default: false, hadoop: ["SchedulerParameters.assoc_limit_stop"]
        },
        /// what lets a job preempt another: nothing, the tier of its partition, or its QOS
        preempt: PreemptBy = "preempt" { choice: PreemptBy::None, hadoop: ["PreemptType"] },
        /// what is done with a preempted job, unless its partition or QOS says it
        preempt_mode: PreemptMode = "preempt_mode" { choice: PreemptMode::Off, hadoop: ["PreemptMode"] },
        /// how long a job cannot be preempted after its start
        preempt_exempt_time: Ms = "preempt_exempt_time" {
            default: 0, range: 0..=3e11, unit: "ms", hadoop: ["PreemptExemptTime"]
        },
        /// whether the job that started last is preempted first
        preempt_youngest_first: bool = "preempt_youngest_first" {
            default: false, hadoop: ["SchedulerParameters.preempt_youngest_first", "PreemptParameters.youngest_first"]
        },
        /// whether jobs are preempted in the order of their priority, even if more of them are
        preempt_strict_order: bool = "preempt_strict_order" {
            default: false, hadoop: ["SchedulerParameters.preempt_strict_order", "PreemptParameters.strict_order"]
        },
        /// how often the order is changed so that fewer jobs are preempted
        preempt_reorder_count: u32 = "preempt_reorder_count" {
            default: 1, range: 0..=100,
            hadoop: ["SchedulerParameters.preempt_reorder_count", "PreemptParameters.reorder_count"]
        },
        /// whether preempted jobs are run again (otherwise they end)
        requeue: bool = "requeue" { default: true, hadoop: ["JobRequeue"] },
        /// the least wait of a job that is run again
        requeue_delay: Ms = "requeue_delay" { default: 121_000, range: 0..=86_400_000, unit: "ms" },
        /// grain of the limits of jobs, which are rounded up to it
        limit_grain: Ms = "limit_grain" { default: 60_000, range: 1..=86_400_000, unit: "ms" },
        /// a what-if of better limits: how far each moves towards the logged run time, as a share
        limit_accuracy: f64 = "limit_accuracy" { default: 0, range: 0..=1 },
        /// source of priorities; auto: the numbers in the log, if it has any, else the order of submission
        priority: Option<PriorityFrom> = "priority" { auto: Nothing, hadoop: ["PriorityType"] },
        /// weight of the time that a job has waited
        weight_age: u32 = "weight_age" { default: 0, range: 0..=2_000_000_000, hadoop: ["PriorityWeightAge"] },
        /// weight of the fair share of its user
        weight_fair_share: u32 = "weight_fair_share" {
            default: 0, range: 0..=2_000_000_000, hadoop: ["PriorityWeightFairShare"]
        },
        /// weight of its size
        weight_job_size: u32 = "weight_job_size" {
            default: 0, range: 0..=2_000_000_000, hadoop: ["PriorityWeightJobSize"]
        },
        /// weight of its partition
        weight_partition: u32 = "weight_partition" {
            default: 0, range: 0..=2_000_000_000, hadoop: ["PriorityWeightPartition"]
        },
        /// weight of its QOS
        weight_qos: u32 = "weight_qos" { default: 0, range: 0..=2_000_000_000, hadoop: ["PriorityWeightQOS"] },
        /// the waiting time that counts in full
        max_age: Ms = "max_age" {
            default: 604_800_000, range: 1_000..=3e11, unit: "ms", hadoop: ["PriorityMaxAge"]
        },
        /// whether small jobs come first rather than large ones
        favor_small: bool = "favor_small" { default: false, hadoop: ["PriorityFavorSmall"] },
        /// time after which usage counts half; 0: usage stays
        half_life: Ms = "half_life" {
            default: 604_800_000, range: 0..=3e11, unit: "ms", hadoop: ["PriorityDecayHalfLife"]
        },
        /// time between two computations of priorities
        calc_period: Ms = "calc_period" {
            default: 300_000, range: 1_000..=86_400_000, unit: "ms", hadoop: ["PriorityCalcPeriod"]
        },
        /// whether fair shares are ranked through the tree of accounts; false: the classic formula
        fair_tree: bool = "fair_tree" { default: true, hadoop: ["PriorityFlags.fair_tree"] },
        /// how much the classic formula dampens usage
        dampening: u32 = "dampening" { default: 1, range: 1..=65_535, hadoop: ["FairShareDampeningFactor"] },
        /// when in each second the main loop looks for work; auto: drawn with the seed
        phase: Option<Ms> = "phase" { auto: Nothing, range: 0..=999, unit: "ms" },
        /// when in its period the backfill scheduler first runs; auto: drawn with the seed
        bf_phase: Option<Ms> = "bf_phase" { auto: Nothing, range: 0..=86_399_999, unit: "ms" },
        /// a time of the trace at which backfill ran, in place of `bf_phase`; auto: not known
        bf_ran_at: Option<Ms> = "bf_ran_at" { auto: Nothing, range: 0..=1e14, unit: "ms" },
    }
}

impl Settings {
    /// True if any factor of priorities has a weight.
    pub(super) fn has_weights(&self) -> bool {
        let Self { weight_age, weight_fair_share, weight_job_size, weight_partition, weight_qos, .. } = self;
        [weight_age, weight_fair_share, weight_job_size, weight_partition, weight_qos]
            .into_iter()
            .any(|&weight| weight != 0)
    }

    /// The rules of the backfill scheduler that the versions do not share.
    pub(super) fn rules(&self) -> Rules {
        let is_new = self.version.unwrap_or(Version::V24_11) == Version::V24_11;
        Rules {
            round_up: self.bf_round_up.unwrap_or(is_new),
            from_later: self.bf_from_later.unwrap_or(is_new),
            cut_bundles: self.bf_cut_bundles.unwrap_or(is_new),
            overlap_first: self.bf_overlap_first.unwrap_or(is_new),
            next_slot: self.bf_next_slot.unwrap_or(is_new),
            count_tasks: self.bf_count_tasks.unwrap_or(is_new),
        }
    }
}

/// The rules of the backfill scheduler that the versions do not share.
///
/// **Source.** `backfill.c` and `job_test.c` of 22.05 and 24.11, and the plans that real ones logged (`docs/slurm.md`, versions).
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// The end of a reservation is rounded up to the grain of the plan (`_set_slot_time`).
    pub(super) round_up: bool,
    /// A job that is tried at a later instant gets all that ends before it at once. Bundles begin behind it (`_future_run_test`).
    pub(super) from_later: bool,
    /// A bundle of ends stops where the plan changes next (`_future_run_test`).
    pub(super) cut_bundles: bool,
    /// True if its place overlaps with a reservation is looked at before whether it starts behind the next change of the plan.
    pub(super) overlap_first: bool,
    /// A job that finds no change of the plan within its limit is tried at the end of the next slot.
    pub(super) next_slot: bool,
    /// Tasks of an array that start one after another count as jobs that were looked at.
    pub(super) count_tasks: bool,
}
