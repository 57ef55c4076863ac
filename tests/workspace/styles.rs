//! Policies look alike in every figure of every report.

/// A policy without a style of its own would look different from one report to the next.
#[test]
fn every_policy_of_the_registry_has_a_style() {
    let missing: Vec<&str> = resched_policies::POLICIES
        .iter()
        .map(|info| info.name)
        .filter(|name| !resched_report::is_known(name))
        .collect();
    assert!(missing.is_empty(), "add them to POLICIES in crates/report/src/style.rs: {missing:?}");
}
