//! Settings that show which version of Slurm a site has: those that one of 22.05 and 24.11 knows, and the other does not.
//!
//! **Source.** slurm.conf(5) of both, and what `scontrol show config` of both prints.

/// Since 24.11, or since a version between: 22.05 does not know them.
const NEW: &[&str] = &["DataParserParameters", "MaxBatchRequeue", "PreemptParameters", "UrlParserType"];
/// Gone before 24.11.
const GONE: &[&str] = &[
    "CoreSpecPlugin",
    "ExtSensorsFreq",
    "ExtSensorsType",
    "LaunchType",
    "PowerParameters",
    "PowerPlugin",
    "RoutePlugin",
    "SlurmctldPlugstack",
];
/// Options of `SchedulerParameters` that 22.05 does not know.
const NEW_OPTIONS: &[&str] = &[
    "bf_allow_magnetic_slot",
    "bf_topopt_enable",
    "bf_topopt_iterations",
    "defer_batch",
    "enable_job_state_cache",
    "extra_constraints",
    "ignore_constraint_validation",
    "time_min_as_soft_limit",
];
/// Values of `SelectType` that are gone.
const GONE_PLUGINS: &[&str] = &["select/cons_res", "select/cray_aries"];

/// What a setting shows: its name, and whether only newer versions have it (or only older ones); `None`: nothing. A setting that `scontrol`
/// prints without a value counts, too.
pub(super) fn sign(name: &str, value: &str) -> Option<(String, bool)> {
    let is_one = |names: &[&str]| names.iter().any(|other| other.eq_ignore_ascii_case(name));
    if is_one(NEW) || is_one(GONE) {
        return Some((name.to_owned(), is_one(NEW)));
    }
    if name.eq_ignore_ascii_case("SelectType") {
        let is_gone = GONE_PLUGINS.iter().any(|gone_plugin| gone_plugin.eq_ignore_ascii_case(value.trim()));
        return is_gone.then(|| (format!("{name}={}", value.trim()), false));
    }
    if !name.eq_ignore_ascii_case("SchedulerParameters") {
        return None;
    }
    let options = value.split(',').map(|option| option.split('=').next().unwrap_or_default().trim());
    let mut options = options.map(str::to_lowercase);
    options.find(|option| NEW_OPTIONS.contains(&option.as_str())).map(|option| (option, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_of_one_version_shows_it() {
        for (name, value, expected) in [
            ("MaxBatchRequeue", "5", Some(true)),
            ("preemptparameters", "", Some(true)),
            ("PowerPlugin", "", Some(false)),
            ("SelectType", "select/cons_res", Some(false)),
            ("SelectType", "select/cons_tres", None),
            ("SchedulerParameters", "bf_interval=5,Extra_Constraints", Some(true)),
            ("SchedulerParameters", "bf_interval=5,defer", None),
            ("PriorityType", "priority/basic", None),
        ] {
            assert_eq!(sign(name, value).map(|(_, is_new)| is_new), expected, "{name}={value}");
        }
    }
}
