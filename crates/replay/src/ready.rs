//! A policy of the registry that is ready for its replays in a world.

use resched_policies::{Finding, PolicySpec};
use resched_tables::validity::Validity;

use crate::facts;

/// A policy that a world checked ([`crate::World::check`]): it has the settings of the site, and is known to fit the jobs. It can be replayed
/// in that world with any seed, and in its variants.
#[derive(Debug, Clone)]
pub struct ReadyPolicy {
    at_site: PolicySpec,
    findings: Vec<Finding>,
}

impl ReadyPolicy {
    pub(crate) fn new(at_site: PolicySpec, findings: Vec<Finding>) -> Self {
        Self { at_site, findings }
    }

    /// The policy with the settings of the site.
    pub fn spec(&self) -> &PolicySpec {
        &self.at_site
    }

    /// Where its queues and pools, and those of its site, do not fit the jobs of the source.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// What these findings mean for an answer.
    pub(crate) fn validity(&self) -> Validity {
        facts::of_rules(&self.at_site.name(), &self.findings)
    }
}
