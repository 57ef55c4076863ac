//! The settings of `slurm.conf` that bear on scheduling: how to read each, which value is as if it were not set, and why it has no
//! effect if no policy has a parameter for it.
//!
//! **Source.** slurm.conf(5) of 22.05, and what 23.11 and 24.05 added.

mod beside;
mod scheduler;

pub(super) use beside::topic;

use super::units::{MINUTE, SECOND, Span, time};
use crate::input::Input;
use crate::site::names::Topic;
use crate::unread::Why;

/// A setting.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// The values that change nothing, with `|` between them, as [`Kind::value`] makes them: Slurm's default.
    neutral: &'static str,
    why: Why<'static>,
}

impl Key {
    /// The values that change nothing.
    #[cfg(test)]
    pub(super) fn neutral(&self) -> &'static str {
        self.neutral
    }

    /// Why a value has no effect, in case no policy looks at it; `None`: it would change nothing.
    pub(super) fn why(&self, value: &str) -> Option<Why<'static>> {
        let is_neutral = self.neutral.split('|').any(|neutral| neutral == value);
        (!is_neutral).then_some(self.why)
    }
}

/// How a value is read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// A time; a number alone is seconds.
    Seconds,
    /// A time; a number alone is minutes.
    Minutes,
    /// A whole number. Times in microseconds are numbers too: there are no parts of a millisecond here.
    Number,
    /// Yes or no; as an option, it is on without a value.
    Flag,
    /// A word, in small letters.
    Word,
    /// The name of a plugin, without its type: `sched/backfill` is `backfill`.
    Plugin,
    /// A text as it stands.
    Text,
    /// Anything; what counts is that it is set.
    Given,
    /// Options, joined by commas. Each becomes a property of its own, `KEY.OPTION`.
    Options(&'static [Key]),
    /// Anything: the option concerns something else than schedules.
    Beside(Topic),
    /// Numbers by name: `CPU=1000,Mem=2000`. Each becomes a property of its own, `KEY.name`.
    Numbers,
}

impl Kind {
    /// What a value must be, for messages.
    pub(super) fn expected(self) -> &'static str {
        match self {
            Self::Seconds => "a time in seconds",
            Self::Minutes => "a time such as `30` (minutes), `7-0` (days and hours) or `D-HH:MM:SS`",
            Self::Number => "a number",
            Self::Flag => "yes or no",
            Self::Numbers => "numbers by name, such as `CPU=1000,Mem=2000`",
            Self::Word | Self::Plugin | Self::Text | Self::Given | Self::Beside(_) | Self::Options(_) => "a word",
        }
    }

    /// A value in our words: times in ms, -1 without an end; `true` or `false`; small letters. `None`: it is not one.
    pub(super) fn value(self, text: &str) -> Option<String> {
        let span = |unit| {
            time(text, unit).map(|span| match span {
                Span::Of(ms) => ms.to_string(),
                Span::Unlimited => "-1".to_owned(),
            })
        };
        match self {
            Self::Seconds => span(SECOND),
            Self::Minutes => span(MINUTE),
            Self::Number | Self::Numbers => {
                let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
                is_number.then(|| text.to_owned())
            }
            Self::Flag => match text.to_lowercase().as_str() {
                "yes" | "true" | "on" | "1" => Some("true".to_owned()),
                "no" | "false" | "off" | "0" => Some("false".to_owned()),
                _ => None,
            },
            Self::Word | Self::Options(_) => Some(text.to_lowercase()),
            Self::Plugin => text.rsplit('/').next().map(str::to_lowercase),
            Self::Text => Some(text.to_owned()),
            Self::Given | Self::Beside(_) => Some("true".to_owned()),
        }
    }
}

/// The setting of this name, in any case.
pub(super) fn known(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name.eq_ignore_ascii_case(name))
}

const fn bears(text: &'static str) -> Why<'static> {
    Why::bears(text)
}

const fn harmless(text: &'static str) -> Why<'static> {
    Why::harmless(text)
}

const fn on(of: Input, text: &'static str) -> Why<'static> {
    Why::on(of, text)
}

const UNREAD: Why<'static> = bears("no policy has a parameter for it");
const AS_LOGGED: Why<'static> = harmless("a job ends as the log says");
const AT_ONCE: Why<'static> = bears("a machine is free as soon as its job has ended");
const FACTORS: Why<'static> = on(Input::PriorityWeights, "priorities are computed without it");
const ASKED: Why<'static> = harmless("the log says what each job asked for");
const AGAIN: Why<'static> = harmless("the log says which jobs were run again");
const SUBMITTED: Why<'static> = harmless("the log holds the jobs that were accepted");
/// Power saving begins with `SuspendTime`; without it, its other settings do nothing.
const POWER: Why<'static> = harmless("machines are always on");
const SAVES_POWER: Why<'static> = bears("machines are always on");
const PREEMPTION: Why<'static> = on(Input::Preemption, "preemption is decided without it");
const LOCKS: Why<'static> = harmless("a replay has no locks and no remote calls that wait for each other");
const STEPS: Why<'static> = harmless("steps are not replayed, only jobs");
const RESERVATIONS: Why<'static> = harmless("a job runs on as the log says when its reservation ends");
const TOPOLOGY: Why<'static> = bears("all machines are equally far from each other");
const PLUGINS: Why<'static> = bears("plugins of the site are not replayed");
const HETEROGENEOUS: Why<'static> =
    bears("each component of a heterogeneous job has its own priority, and those that can start do not wait longer");
const IN_ORDER: Why<'static> = bears("which machines a job gets does not depend on how busy they are");
const CORES: Why<'static> = harmless("which cores of a machine a job has is not replayed");

const fn key(name: &'static str, kind: Kind, neutral: &'static str, why: Why<'static>) -> Key {
    Key { name, kind, neutral, why }
}

const fn flag(name: &'static str, why: Why<'static>) -> Key {
    key(name, Kind::Flag, "false", why)
}

/// An option that concerns something else than schedules, whatever its value.
const fn aside(name: &'static str) -> Key {
    key(name, Kind::Beside(beside::DAEMONS), "true", harmless("it changes no schedule"))
}

/// The settings, by name.
pub(super) const KEYS: &[Key] = &[
    key("AccountingStorageEnforce", Kind::Options(ENFORCED), "", UNREAD),
    key("BurstBufferType", Kind::Plugin, "none", bears("burst buffers are not replayed")),
    key("CompleteWait", Kind::Seconds, "0", AT_ONCE),
    key("DefCpuPerGPU", Kind::Number, "0", ASKED),
    key("DefMemPerCPU", Kind::Word, "unlimited", ASKED),
    key("DefMemPerGPU", Kind::Word, "unlimited", ASKED),
    key("DefMemPerNode", Kind::Word, "unlimited", ASKED),
    key("DependencyParameters", Kind::Options(DEPENDENCIES), "", UNREAD),
    key("EnforcePartLimits", Kind::Word, "no", SUBMITTED),
    // It matters only in that there is one: nodes report ends by themselves then. How long it takes is not known.
    key("Epilog", Kind::Given, "", UNREAD),
    key("FairShareDampeningFactor", Kind::Number, "1", UNREAD),
    key("FastSchedule", Kind::Number, "1|2", bears("machines are as the files describe them")),
    key("InactiveLimit", Kind::Seconds, "0", harmless("the log says when a job without steps was ended")),
    key("JobRequeue", Kind::Flag, "true", UNREAD),
    key("JobSubmitPlugins", Kind::Word, "", harmless("the log holds the jobs as these plugins left them")),
    key("KillWait", Kind::Seconds, "30000", AS_LOGGED),
    key("MaxBatchRequeue", Kind::Number, "5", AGAIN),
    key("MaxJobCount", Kind::Number, "10000", SUBMITTED),
    key("MaxMemPerCPU", Kind::Word, "unlimited", ASKED),
    key("MaxMemPerNode", Kind::Word, "unlimited", ASKED),
    key("MaxTasksPerNode", Kind::Number, "512", harmless("the tasks of a machine are limited by its processors alone")),
    key("MCSParameters", Kind::Word, "", bears("machines are not kept to one label")),
    key("MCSPlugin", Kind::Plugin, "none", bears("machines are not kept to one label")),
    key("NodeFeaturesPlugins", Kind::Word, "", bears("machines are not started again with other features")),
    key("OverTimeLimit", Kind::Minutes, "0", AS_LOGGED),
    key("PowerParameters", Kind::Word, "", bears("power is not limited")),
    key("PowerPlugin", Kind::Plugin, "none", bears("power is not limited")),
    key("PreemptExemptTime", Kind::Minutes, "0", UNREAD),
    key("PreemptMode", Kind::Options(MODES), "off", UNREAD),
    key("PreemptParameters", Kind::Options(PREEMPTIONS), "", UNREAD),
    key("PreemptType", Kind::Plugin, "none", UNREAD),
    key("PriorityCalcPeriod", Kind::Minutes, "300000", UNREAD),
    key("PriorityDecayHalfLife", Kind::Minutes, "604800000", UNREAD),
    key("PriorityFavorSmall", Kind::Flag, "false", UNREAD),
    key("PriorityFlags", Kind::Options(FLAGS), "", UNREAD),
    key("PriorityMaxAge", Kind::Minutes, "604800000", UNREAD),
    key("PriorityParameters", Kind::Text, "", PLUGINS),
    key("PrioritySiteFactorParameters", Kind::Text, "", PLUGINS),
    key("PrioritySiteFactorPlugin", Kind::Plugin, "none", PLUGINS),
    key("PriorityType", Kind::Plugin, "basic", UNREAD),
    key(
        "PriorityUsageResetPeriod",
        Kind::Word,
        "none",
        on(Input::AccountShares, "usage decays, and is never set back to nothing"),
    ),
    key("PriorityWeightAge", Kind::Number, "0", UNREAD),
    key("PriorityWeightAssoc", Kind::Number, "0", FACTORS),
    key("PriorityWeightFairShare", Kind::Number, "0", UNREAD),
    key("PriorityWeightJobSize", Kind::Number, "0", UNREAD),
    key("PriorityWeightPartition", Kind::Number, "0", UNREAD),
    key("PriorityWeightQOS", Kind::Number, "0", UNREAD),
    key("PriorityWeightTRES", Kind::Numbers, "0", FACTORS),
    key("PrologFlags", Kind::Options(PROLOG), "", UNREAD),
    key("RequeueExit", Kind::Text, "", AGAIN),
    key("RequeueExitHold", Kind::Text, "", AGAIN),
    key("ResumeProgram", Kind::Text, "", POWER),
    key("ResumeRate", Kind::Text, "300|300 nodes/min", POWER),
    key("ResumeTimeout", Kind::Seconds, "60000", POWER),
    key("ResvOverRun", Kind::Minutes, "0", RESERVATIONS),
    key("SchedulerParameters", Kind::Options(scheduler::OPTIONS), "", UNREAD),
    key(
        "SchedulerTimeSlice",
        Kind::Seconds,
        "30000",
        harmless("jobs do not take turns on a machine (gang scheduling)"),
    ),
    key("SchedulerType", Kind::Plugin, "backfill", UNREAD),
    key("SelectType", Kind::Plugin, "cons_tres|cons_res", harmless("the log says how many processors each job had")),
    key("SelectTypeParameters", Kind::Options(SELECT), TAKEN_UP, bears("jobs get processors, not whole sockets")),
    key("SlurmctldParameters", Kind::Options(CONTROLLER), "", UNREAD),
    key("SuspendExcNodes", Kind::Text, "", POWER),
    key("SuspendExcParts", Kind::Text, "", POWER),
    key("SuspendExcStates", Kind::Text, "", POWER),
    key("SuspendProgram", Kind::Text, "", POWER),
    key("SuspendRate", Kind::Text, "60|60 nodes/min", POWER),
    key("SuspendTime", Kind::Seconds, "-1", SAVES_POWER),
    key("SuspendTimeout", Kind::Seconds, "30000", POWER),
    key("TopologyParam", Kind::Options(NEAR), "", TOPOLOGY),
    key("TopologyPlugin", Kind::Plugin, "none|default|flat", TOPOLOGY),
];

const ENFORCED: &[Key] = &[
    key("associations", Kind::Flag, "true", harmless("")),
    // Whether the limits of qualities of service and associations count.
    key("limits", Kind::Flag, "true", harmless("")),
    key("nojobs", Kind::Flag, "true", harmless("")),
    key("nosteps", Kind::Flag, "true", harmless("")),
    key("qos", Kind::Flag, "true", harmless("")),
    flag("safe", harmless("limits on what a group uses over time are not replayed")),
    key("wckeys", Kind::Flag, "true", harmless("")),
];

const DEPENDENCIES: &[Key] = &[
    key("disable_remote_singleton", Kind::Flag, "true", harmless("")),
    flag("kill_invalid_depend", harmless("the log says which jobs ran")),
    key("max_depend_depth", Kind::Number, "10", SUBMITTED),
];

/// What is done with a preempted job is no option but the value of the setting itself; [`super::scalars`] takes it out.
const MODES: &[Key] = &[
    flag("gang", bears("jobs do not take turns on a machine (gang scheduling)")),
    flag("suspend", bears("jobs are not suspended: they keep their place")),
    flag("within", bears("jobs of one quality of service do not preempt each other")),
];

const PREEMPTIONS: &[Key] = &[
    key("min_exempt_priority", Kind::Number, "", PREEMPTION),
    flag("reclaim_licenses", PREEMPTION),
    key("reorder_count", Kind::Number, "1", UNREAD),
    flag("send_user_signal", PREEMPTION),
    flag("strict_order", UNREAD),
    key("suspend_grace_time", Kind::Seconds, "2000", harmless("jobs are not suspended")),
    flag("youngest_first", UNREAD),
];

const FLAGS: &[Key] = &[
    flag("accrue_always", FACTORS),
    flag("calculate_running", FACTORS),
    flag("depth_oblivious", FACTORS),
    // `no_fair_tree` is read as the opposite of it: [`super::scalars`].
    key("fair_tree", Kind::Flag, "true", FACTORS),
    flag("incr_only", FACTORS),
    flag("max_tres", FACTORS),
    flag("max_tres_gres", FACTORS),
    flag("no_normal_all", FACTORS),
    flag("no_normal_assoc", FACTORS),
    flag("no_normal_part", FACTORS),
    flag("no_normal_qos", FACTORS),
    flag("no_normal_tres", FACTORS),
    flag("small_relative_to_time", FACTORS),
];

/// What jobs take up: the log says how many processors that comes to.
const TAKEN_UP: &str = "cr_cpu|cr_cpu_memory|cr_core|cr_core_memory|cr_memory";

/// What jobs take up is no option but the value of the setting itself; [`super::scalars`] takes it out.
const SELECT: &[Key] = &[
    flag("cr_core_default_dist_block", CORES),
    flag("cr_lln", IN_ORDER),
    flag("cr_one_task_per_core", ASKED),
    flag("cr_pack_nodes", IN_ORDER),
    flag("ll_shared_gres", CORES),
    flag("multiple_sharing_gres_pj", CORES),
    flag("enforce_binding_gres", CORES),
    flag("one_task_per_sharing_gres", CORES),
    flag("other_cons_res", harmless("the machines of a Cray are like others")),
    flag("other_cons_tres", harmless("the machines of a Cray are like others")),
];

/// `contain` and `x11` give each job an external step, which ends after it.
const PROLOG: &[Key] = &[
    aside("alloc"),
    flag("contain", UNREAD),
    aside("deferbatch"),
    aside("forcerequeueonfail"),
    aside("nohold"),
    aside("runinjob"),
    aside("serial"),
    flag("x11", UNREAD),
];

const CONTROLLER: &[Key] = &[
    aside("allow_user_triggers"),
    aside("cloud_dns"),
    aside("cloud_reg_addrs"),
    aside("conmgr_connect_timeout"),
    aside("conmgr_max_connections"),
    aside("conmgr_quiesce_timeout"),
    aside("conmgr_read_timeout"),
    aside("conmgr_threads"),
    aside("conmgr_use_poll"),
    aside("conmgr_wait_write_delay"),
    aside("conmgr_write_timeout"),
    aside("disable_triggers"),
    aside("enable_configless"),
    aside("enable_job_state_cache"),
    aside("enable_rpc_queue"),
    aside("enable_stepmgr"),
    aside("getnameinfo_cache_timeout"),
    aside("idle_on_node_suspend"),
    aside("ignore_constraint_validation"),
    aside("job_rewrite_env"),
    aside("keepaliveinterval"),
    aside("keepaliveprobes"),
    aside("keepalivetime"),
    aside("max_dbd_msg_action"),
    key("max_powered_nodes", Kind::Number, "", POWER),
    aside("no_quick_restart"),
    key("node_reg_mem_percent", Kind::Number, "100", harmless("machines are as the files describe them")),
    key("power_save_interval", Kind::Number, "", POWER),
    key("power_save_min_interval", Kind::Number, "", POWER),
    flag("preempt_send_user_signal", PREEMPTION),
    aside("reboot_from_controller"),
    aside("rl_bucket_size"),
    aside("rl_enable"),
    aside("rl_log_freq"),
    aside("rl_refill_period"),
    aside("rl_refill_rate"),
    aside("rl_table_size"),
    aside("user_resv_delete"),
    aside("validate_nodeaddr_threads"),
];

const NEAR: &[Key] = &[
    flag("blockaslurm", TOPOLOGY),
    flag("dragonfly", TOPOLOGY),
    key("noctldinaddrany", Kind::Flag, "true", harmless("")),
    key("noinaddrany", Kind::Flag, "true", harmless("")),
    key("routepart", Kind::Flag, "true", harmless("")),
    key("routetree", Kind::Flag, "true", harmless("")),
    flag("switchasnoderank", TOPOLOGY),
    flag("topomaxsizeunroll", TOPOLOGY),
    flag("topooptional", TOPOLOGY),
];
