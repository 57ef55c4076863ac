//! What a pod asks for: its containers, those that run before them, and what its runtime takes.

use std::collections::BTreeMap;

use resched_kubernetes::objects::amount;

use super::object::{Amounts, Container, PodSpec, Resources};

/// Amounts by resource, in their units: thousandths of `cpu`, whole ones of others. Nothing is 0.
pub(super) type Asked = BTreeMap<String, i64>;

/// What a pod asks for, and how many of the amounts could not be read.
///
/// As Kubernetes has it: the containers together, or the largest of those that run before them, if that is more. Of these, the ones that
/// run on (`restartPolicy: Always`) count with the containers. A limit stands for a request that is missing.
pub(super) fn of_pod(spec: &PodSpec) -> (Asked, u64) {
    let mut unread = 0;
    let mut all = Asked::new();
    for container in &spec.containers {
        add(&mut all, &of_container(&container.resources, &mut unread));
    }
    let (mut running, mut most) = (Asked::new(), Asked::new());
    for container in &spec.init_containers {
        let mut at_once = of_container(&container.resources, &mut unread);
        if runs_on(container) {
            add(&mut all, &at_once);
            add(&mut running, &at_once);
            at_once.clone_from(&running);
        } else {
            add(&mut at_once, &running);
        }
        raise(&mut most, &at_once);
    }
    raise(&mut all, &most);
    all.extend(of_container(&spec.resources, &mut unread));
    add(&mut all, &read(&spec.overhead, &mut unread));
    all.retain(|_, n| *n > 0);
    (all, unread)
}

/// Amounts in their units, and how many of them could not be read.
pub(super) fn of_all(amounts: &Amounts) -> (Asked, u64) {
    let mut unread = 0;
    let mut all = read(amounts, &mut unread);
    all.retain(|_, n| *n > 0);
    (all, unread)
}

fn runs_on(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some("Always")
}

fn of_container(resources: &Resources, unread: &mut u64) -> Asked {
    let mut asked = read(&resources.limits, unread);
    asked.extend(read(&resources.requests, unread));
    asked
}

fn read(amounts: &Amounts, unread: &mut u64) -> Asked {
    let mut all = Asked::new();
    for (resource, text) in amounts {
        match amount(resource, &text.0) {
            Ok(n) => _ = all.insert(resource.clone(), n),
            Err(_) => *unread += 1,
        }
    }
    all
}

/// Adds amounts to others.
pub(super) fn add(all: &mut Asked, more: &Asked) {
    for (resource, &n) in more {
        let sum = all.entry(resource.clone()).or_default();
        *sum = sum.saturating_add(n);
    }
}

fn raise(all: &mut Asked, others: &Asked) {
    for (resource, &n) in others {
        let most = all.entry(resource.clone()).or_default();
        *most = (*most).max(n);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn asked(spec: &str) -> (Vec<(String, i64)>, u64) {
        let (all, unread) = of_pod(&serde_json::from_str(spec).unwrap());
        (all.into_iter().collect(), unread)
    }

    fn some(all: &[(&str, i64)]) -> Vec<(String, i64)> {
        all.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect()
    }

    #[test]
    fn containers_add_up_and_limits_stand_for_requests() {
        let spec = r#"{"containers": [
            {"resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"cpu": "2", "nvidia.com/gpu": "2"}}},
            {"resources": {"requests": {"cpu": 1.5, "nvidia.com/gpu": 0}, "limits": null}}, {}],
            "overhead": {"cpu": "250m"}}"#;
        assert_eq!(asked(spec), (some(&[("cpu", 2_250), ("memory", 1 << 30), ("nvidia.com/gpu", 2)]), 0));
    }

    /// Two of 1 and 2 cores run on beside the container of 1; while the one of 5 ran, only the first of them did: 6 are more than 4.
    #[test]
    fn those_that_run_before_count_with_those_that_run_on() {
        let one = |cpu: u32, policy: &str| format!(r#"{{"resources":{{"requests":{{"cpu":"{cpu}"}}}}{policy}}}"#);
        let on = r#","restartPolicy":"Always""#;
        let spec = |before: u32| {
            let all = [one(1, on), one(before, ""), one(2, on)].join(",");
            format!(r#"{{"containers":[{}],"initContainers":[{all}]}}"#, one(1, ""))
        };
        assert_eq!(asked(&spec(5)), (some(&[("cpu", 6_000)]), 0));
        assert_eq!(asked(&spec(2)), (some(&[("cpu", 4_000)]), 0));
    }

    #[test]
    fn amounts_that_are_none_are_counted_and_those_of_the_pod_stand_first() {
        let spec = r#"{"containers": [{"resources": {"requests": {"cpu": "-1", "memory": "9e40", "a.b/c": "two", "d": "1e3"}}}],
            "resources": {"requests": {"d": "7"}}}"#;
        assert_eq!(asked(spec), (some(&[("d", 7)]), 3));
    }
}
