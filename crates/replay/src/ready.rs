//! A policy of the registry that is ready for its replays in a world.

use std::collections::BTreeSet;

use resched_policies::{Finding, Input, PolicySpec};
use resched_tables::validity::{Fact, Validity};

use crate::Error;
use crate::facts;

/// A policy that a world checked ([`crate::World::check`]): it has the settings of the site, and is known to fit the jobs. It can be replayed
/// in that world with any seed, and in its variants.
#[derive(Debug, Clone)]
pub struct ReadyPolicy {
    asked: PolicySpec,
    at_site: PolicySpec,
    findings: Vec<Finding>,
    /// What the site says that acts on the jobs.
    of_site: BTreeSet<Input>,
}

impl ReadyPolicy {
    /// `asked` at the site is `at_site`.
    pub(crate) fn new([asked, at_site]: [PolicySpec; 2], findings: Vec<Finding>, of_site: BTreeSet<Input>) -> Self {
        Self { asked, at_site, findings, of_site }
    }

    /// The policy as it was asked for, without the settings of the site: what is replayed in another world must be this.
    pub fn asked(&self) -> &PolicySpec {
        &self.asked
    }

    /// The policy with the settings of the site.
    pub fn spec(&self) -> &PolicySpec {
        &self.at_site
    }

    /// Where its queues and pools, and those of its site, do not fit the jobs of the source.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// What these findings mean for an answer, and what has no effect on it of what the site and the jobs say. `of_work` is what the jobs
    /// ask for.
    ///
    /// # Errors
    /// [`Error::Policy`] if a parameter has no value.
    pub(crate) fn validity(&self, of_work: &BTreeSet<Input>) -> Result<Validity, Error> {
        let present: BTreeSet<Input> = self.of_site.union(of_work).copied().collect();
        let idle: Vec<Fact> = self.at_site.without_effect(&present)?;
        Ok(facts::of_rules(&self.at_site.name(), &self.findings).and(&Validity { facts: idle }))
    }
}
