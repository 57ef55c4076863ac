//! The configuration of the Hadoop site that all cells of a sweep share.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use resched_policies::{Site, SiteConf, in_words};
use resched_replay::Source;
use toml::Table;

use crate::Error;
use crate::file::{SweepFile, Variant};

/// A site, read once; without a folder, one that sets nothing.
#[derive(Debug, Default)]
pub(crate) struct SiteRules {
    /// The settings for policies.
    pub(crate) site: Arc<Site>,
    /// The settings of the cluster, under the keys of a cluster file.
    pub(crate) cluster: Table,
    /// The files that were read, with their SHA-256. They identify the site.
    pub(crate) files: BTreeMap<String, String>,
    /// The settings without effect, one line for each.
    warnings: Vec<String>,
}

/// The warnings about the site of a sweep file: settings without effect, and queues that do not fit the jobs of a source.
///
/// # Errors
/// [`Error::Request`] if the configuration of the site, a file of queues or a source is wrong.
pub fn site_warnings(file: &SweepFile) -> Result<Vec<String>, Error> {
    let SiteRules { site, mut warnings, .. } = SiteRules::read(file.site.as_deref())?;
    let mut with_rules = Vec::new();
    for Variant { name, policy, .. } in &file.variants {
        let policy = policy.at_site(&site)?;
        if policy.has_rules() {
            with_rules.push((name, policy));
        }
    }
    if with_rules.is_empty() {
        return Ok(warnings);
    }
    for source in &file.sources {
        let jobs = Source::open(source.path())?.submitters()?;
        for (name, policy) in &with_rules {
            let lines = in_words(name, &policy.findings(&jobs)?);
            warnings.extend(lines.into_iter().map(|line| format!("{}: {line}", source.path().display())));
        }
    }
    Ok(warnings)
}

impl SiteRules {
    /// Reads the configuration in the folder `dir`, if one is named.
    ///
    /// # Errors
    /// [`Error::Request`] if it holds no configuration or a wrong one.
    pub(crate) fn read(dir: Option<&Path>) -> Result<Self, Error> {
        let Some(dir) = dir else { return Ok(Self::default()) };
        let SiteConf { site, cluster, files, warnings, .. } = SiteConf::read(dir)?;
        Ok(Self { site: Arc::new(site), cluster, files, warnings })
    }
}
