//! Which flavours the pods of a workload can use: taints, selectors and affinity.

use super::model::{Expression, Flavor, Operator, Taint, Toleration};
use super::workload::PodSet;

/// True if pods of `set` can run on nodes of `flavor`. Only labels that the flavour has are compared.
pub(crate) fn possible(set: &PodSet, flavor: &Flavor) -> bool {
    flavor.taints.iter().all(|taint| tolerated(taint, set, flavor)) && selected(set, flavor) && liked(set, flavor)
}

fn tolerated(taint: &Taint, set: &PodSet, flavor: &Flavor) -> bool {
    if taint.effect != "NoSchedule" && taint.effect != "NoExecute" {
        return true;
    }
    set.tolerations.iter().chain(&flavor.tolerations).any(|toleration| tolerates(toleration, taint))
}

fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let effect = toleration.effect.is_empty() || toleration.effect == taint.effect;
    let everything = toleration.key.is_empty() && toleration.exists;
    let key = everything || toleration.key == taint.key;
    effect && key && (toleration.exists || toleration.value == taint.value)
}

fn label<'a>(flavor: &'a Flavor, key: &str) -> Option<&'a str> {
    flavor.labels.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

fn selected(set: &PodSet, flavor: &Flavor) -> bool {
    set.node_selector.iter().all(|(key, value)| label(flavor, key).is_none_or(|found| found == value))
}

/// A term without a label of the flavour holds on every node.
fn liked(set: &PodSet, flavor: &Flavor) -> bool {
    let holds = |expression: &Expression| label(flavor, &expression.key).is_none_or(|found| matches(expression, found));
    set.affinity.is_empty() || set.affinity.iter().any(|term| term.iter().all(holds))
}

fn matches(expression: &Expression, found: &str) -> bool {
    let listed = expression.values.iter().any(|value| value == found);
    let numbers = || Some((found.parse::<i64>().ok()?, expression.values.first()?.parse::<i64>().ok()?));
    match expression.operator {
        Operator::In => listed,
        Operator::NotIn => !listed,
        Operator::Exists => true,
        Operator::DoesNotExist => false,
        Operator::Gt => numbers().is_some_and(|(found, bound)| found > bound),
        Operator::Lt => numbers().is_some_and(|(found, bound)| found < bound),
    }
}
