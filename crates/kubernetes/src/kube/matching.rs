//! Whether a node suits a pod by its taints and labels, whatever runs there.

use super::spec::{Effect, NodeSpec, Operator, PodSpec, Requirement, Taint, Term, Toleration};

/// What taints and labels say of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The pod may use it.
    Suits,
    /// A taint keeps the pod away.
    Tainted,
    /// Its labels do not match.
    Mismatched,
    /// It is gone.
    Gone,
}

/// Taints are looked at before labels, as the scheduler does; the first that fails is the reason.
pub(super) fn verdict(pod: &PodSpec, node: &NodeSpec) -> Verdict {
    if untolerated(pod, node).is_some() {
        Verdict::Tainted
    } else if !matches(pod, node) {
        Verdict::Mismatched
    } else {
        Verdict::Suits
    }
}

/// The first taint that keeps the pod away.
pub(super) fn untolerated<'a>(pod: &PodSpec, node: &'a NodeSpec) -> Option<&'a Taint> {
    node.taints.iter().find(|taint| taint.effect != Effect::PreferNoSchedule && !tolerates(pod, taint))
}

/// How many taints ask the pod to stay away.
pub(super) fn discouraging(pod: &PodSpec, node: &NodeSpec) -> i64 {
    let soft = |taint: &&Taint| taint.effect == Effect::PreferNoSchedule && !tolerates(pod, taint);
    i64::try_from(node.taints.iter().filter(soft).count()).unwrap_or(i64::MAX)
}

/// The weights of the preferred terms that hold.
pub(super) fn preference(pod: &PodSpec, node: &NodeSpec) -> i64 {
    pod.preferred.iter().filter(|(_, term)| holds(term, node)).map(|&(weight, _)| i64::from(weight)).sum()
}

fn tolerates(pod: &PodSpec, taint: &Taint) -> bool {
    pod.tolerations.iter().any(|toleration| covers(toleration, taint))
}

fn covers(toleration: &Toleration, taint: &Taint) -> bool {
    toleration.effect.is_none_or(|effect| effect == taint.effect)
        && (toleration.key.is_empty() || toleration.key == taint.key)
        && (toleration.any_value || !toleration.key.is_empty() && toleration.value == taint.value)
}

fn matches(pod: &PodSpec, node: &NodeSpec) -> bool {
    pod.selector.iter().all(|(key, value)| node.labels.get(key) == Some(value))
        && (pod.required.is_empty() || pod.required.iter().any(|term| holds(term, node)))
}

fn holds(term: &Term, node: &NodeSpec) -> bool {
    !term.is_empty() && term.iter().all(|requirement| meets(requirement, node))
}

fn meets(requirement: &Requirement, node: &NodeSpec) -> bool {
    let value = if requirement.of_name { Some(&node.name) } else { node.labels.get(&requirement.key) };
    let listed = value.is_some_and(|value| requirement.values.contains(value));
    let numbers = || -> Option<(i64, i64)> { Some((value?.parse().ok()?, requirement.values.first()?.parse().ok()?)) };
    match requirement.operator {
        Operator::In => listed,
        Operator::NotIn => !listed,
        Operator::Exists => value.is_some(),
        Operator::DoesNotExist => value.is_none(),
        Operator::Gt => numbers().is_some_and(|(has, bound)| has > bound),
        Operator::Lt => numbers().is_some_and(|(has, bound)| has < bound),
    }
}
