//! `[fitted]`: the standard errors of values that `resched calibrate` fitted.

use std::collections::BTreeMap;

/// The keys that may have a standard error.
const KEYS: [&str; 11] = [
    "nodes.map_slots",
    "nodes.reduce_slots",
    "heartbeat.interval",
    "jobs.init_delay",
    "jobs.setup_time",
    "jobs.cleanup_time",
    "jobs.slowstart",
    "jobs.launch_overhead",
    "cost.locality.rack",
    "cost.locality.off",
    "cost.shuffle_rate",
];
/// The hosts whose factors may have one.
const HOSTS: &str = "cost.host_factors.";

/// What is wrong with the keys, if anything.
pub(super) fn check(fitted: &BTreeMap<String, f64>) -> Result<(), String> {
    match fitted.keys().find(|key| !KEYS.contains(&key.as_str()) && !key.starts_with(HOSTS)) {
        Some(key) => Err(format!("fitted: expected one of {} or {HOSTS}HOST, found {key:?}", KEYS.join(", "))),
        None => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::cluster_file::ClusterConfig;

    #[test]
    fn errors_stand_beside_the_values_and_change_nothing_else() {
        let text = "[nodes]\nmap_slots = 2\n";
        let fitted =
            "[fitted]\n\"nodes.map_slots\" = 0.0\n\"cost.locality.rack\" = 0.04\n\"cost.host_factors.a.b\" = 0.1\n";
        let mut file = ClusterConfig::parse(&format!("{text}{fitted}")).unwrap();
        assert_eq!(file.fitted["cost.locality.rack"], 0.04);
        file.is_given("cost.locality");
        assert_eq!(file.fitted.keys().collect::<Vec<_>>(), ["cost.host_factors.a.b", "nodes.map_slots"]);
        file.fitted.clear();
        assert_eq!(file, ClusterConfig::parse(text).unwrap());
        for wrong in ["\"nodes.slots\" = 1.0", "\"jobs.slowstart\" = -0.1", "\"jobs.slowstart\" = nan"] {
            let error = ClusterConfig::parse(&format!("[fitted]\n{wrong}\n")).unwrap_err().to_string();
            assert!(error.contains("fitted"), "{error}");
        }
    }
}
