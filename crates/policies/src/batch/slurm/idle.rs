//! Which parameters act: where priorities come from, and what does nothing without something else.

use super::conf::{PreemptBy, PriorityFrom, Scheduler, Settings};
use super::version::{self, Known};
use crate::error::Error;
use crate::info::Idle;
use crate::queues::slurm::SlurmConf;
use crate::settings::Values;
use crate::site::Site;

/// The parameters that weigh the factors of priorities.
const WEIGHTS: [&str; 5] = ["weight_age", "weight_fair_share", "weight_job_size", "weight_partition", "weight_qos"];
/// The parameters that change a factor, each with the weight without which it does nothing.
const OF_FACTORS: [(&str, &str); 5] = [
    ("max_age", "weight_age"),
    ("favor_small", "weight_job_size"),
    ("half_life", "weight_fair_share"),
    ("fair_tree", "weight_fair_share"),
    ("dampening", "weight_fair_share"),
];
/// The parameters of the backfill scheduler.
const OF_BACKFILL: [&str; 19] = [
    "bf_interval",
    "bf_resolution",
    "bf_window",
    "bf_max_job_test",
    "bf_max_job_user",
    "bf_max_job_part",
    "bf_max_job_start",
    "bf_min_age_reserve",
    "bf_min_prio_reserve",
    "bf_window_linear",
    "bf_round_up",
    "bf_from_later",
    "bf_cut_bundles",
    "bf_overlap_first",
    "bf_next_slot",
    "bf_count_tasks",
    "bf_phase",
    "bf_ran_at",
    "reservations",
];
/// The parameters of preemption.
const OF_PREEMPTION: [&str; 7] = [
    "preempt_mode",
    "preempt_exempt_time",
    "preempt_youngest_first",
    "preempt_strict_order",
    "preempt_reorder_count",
    "requeue",
    "requeue_delay",
];

const QOS_FILE: &str = "Give the site's qos.txt (`sacctmgr -P show qos`).";
const DUMP_FILE: &str = "Give the site's sacctmgr.cfg (`sacctmgr dump CLUSTER file=sacctmgr.cfg`).";

/// The settings, with the source of priorities that counts and the version whose rules hold.
///
/// # Errors
/// Values of another policy.
pub(super) fn settings(values: &Values, site: &Site) -> Result<Settings, Error> {
    let set = Settings::read(values)?;
    let none = SlurmConf::default();
    let version = version::of(&set, site);
    let priority = priority_from((&set, &version), values, site.slurm.as_ref().unwrap_or(&none));
    Ok(Settings { priority: Some(priority), version: Some(version.rules()), ..set })
}

/// What you set acts. What the site sets acts as far as its files give what it needs: without the priorities of its QOS, the numbers of
/// the log are nearer to those of the site than a sum without them.
fn priority_from((set, version): (&Settings, &Known), values: &Values, conf: &SlurmConf) -> PriorityFrom {
    let asks_for_weights = WEIGHTS.iter().any(|key| values.is_set(key));
    let asks_for_factors = asks_for_weights || OF_FACTORS.iter().any(|(key, _)| values.is_set(key));
    match set.priority.or(by_default(set, version, conf)) {
        _ if values.is_set("priority") => set.priority.unwrap_or(PriorityFrom::Logged),
        None if asks_for_weights => PriorityFrom::Multifactor,
        Some(PriorityFrom::Multifactor) if !asks_for_factors && lacks_qos(set, conf) => PriorityFrom::Logged,
        from => from.unwrap_or(PriorityFrom::Logged),
    }
}

/// Where priorities are from if no line of the site's `slurm.conf` says it, as far as its weights make a difference.
fn by_default(set: &Settings, version: &Known, conf: &SlurmConf) -> Option<PriorityFrom> {
    let is_silent = conf.about.as_ref().is_some_and(|about| !about.sets_priority_type);
    (is_silent && version.is_multifactor_by_default() && set.has_weights()).then_some(PriorityFrom::Multifactor)
}

/// True if the QOS counts in priorities, and nobody says which priority each has.
fn lacks_qos(set: &Settings, conf: &SlurmConf) -> bool {
    set.weight_qos != 0 && conf.qos.is_empty()
}

/// The parameters without effect, and what the site's weights lack.
///
/// # Errors
/// Values of another policy.
pub(super) fn find_idle(values: &Values, site: &Site) -> Result<Vec<Idle>, Error> {
    let none = SlurmConf::default();
    let conf = site.slurm.as_ref().unwrap_or(&none);
    let asked = Settings::read(values)?;
    let set = settings(values, site)?;
    let from = set.priority.unwrap_or(PriorityFrom::Logged);
    let version = version::of(&asked, site);
    let of_site = asked.priority.or(by_default(&asked, &version, conf));
    let mut all: Vec<Idle> = version.doubt().into_iter().collect();
    let mut add = |says: String, remedy: &str| all.push(Idle { says, remedy: remedy.to_owned() });
    let set_of = |keys: &mut dyn Iterator<Item = &'static str>| -> Option<String> {
        let found: Vec<String> = keys.filter(|key| values.is_set(key)).map(|key| format!("`{key}`")).collect();
        (!found.is_empty()).then(|| found.join(", "))
    };
    if from == PriorityFrom::Multifactor {
        if lacks_qos(&set, conf) {
            add("no file gives the priorities of QOS, so that their weight makes no difference".to_owned(), QOS_FILE);
        }
        if set.weight_fair_share != 0 && conf.associations.is_empty() {
            let says = "no file gives the shares of accounts and users, so that all users have equal shares";
            add(says.to_owned(), DUMP_FILE);
        }
        let is_zero = |weight: &str| match weight {
            "weight_age" => set.weight_age == 0,
            "weight_job_size" => set.weight_job_size == 0,
            _ => set.weight_fair_share == 0,
        };
        for (key, weight) in OF_FACTORS.into_iter().filter(|(key, weight)| values.is_set(key) && is_zero(weight)) {
            add(format!("`{key}` has no effect, because `{weight}` is 0"), "Set that weight, too.");
        }
    } else {
        let keys = &mut WEIGHTS.into_iter().chain(OF_FACTORS.map(|(key, _)| key)).chain(["calc_period"]);
        if let Some(found) = set_of(keys) {
            let why = format!("because priorities are not computed (`priority={}`)", from.word());
            add(format!("{found} has no effect, {why}"), "Set `priority=multifactor`, too.");
        } else if of_site == Some(PriorityFrom::Multifactor) {
            let says = "the weights of priorities have no effect, because no file gives the priorities of QOS; the numbers of the log stand";
            let remedy = format!("{QOS_FILE} With `priority=multifactor`, the weights act without the QOS.");
            add(says.to_owned(), &remedy);
        }
    }
    if set.scheduler == Scheduler::Builtin
        && let Some(found) = set_of(&mut OF_BACKFILL.into_iter())
    {
        add(format!("{found} has no effect with `scheduler=builtin`"), "Set `scheduler=backfill`, too.");
    }
    if set.preempt == PreemptBy::None
        && let Some(found) = set_of(&mut OF_PREEMPTION.into_iter())
    {
        add(
            format!("{found} has no effect with `preempt=none`"),
            "Set `preempt=partition_prio` or `preempt=qos`, too.",
        );
    }
    if set.preempt == PreemptBy::Qos && conf.qos.is_empty() {
        add("no file says which QOS may preempt which, so that none does".to_owned(), QOS_FILE);
    }
    Ok(all)
}
