//! The versions of YARN whose rules a scheduler can follow, and how a single rule is set apart from its version.
//!
//! A scheduler has one parameter `rules` and one parameter for each rule that differs between the versions:
//!
//! ```text
//! settings! {
//!     struct Settings {
//!         rules: Option<Version> = RULES,
//!         /// a heartbeat ends with a reservation; auto: since 3.4
//!         heartbeat_ends_with_reservation: Option<bool> = "heartbeat_ends_with_reservation" { auto: Nothing },
//!     }
//! }
//! let (version, _) = Version::of(settings.rules, sign, site);
//! let ends = version.has(settings.heartbeat_ends_with_reservation);
//! ```
//!
//! `true` is always the rule of 3.4 and `false` that of 2014, so that a sweep over one of them says what this rule of the upgrade changed.

use crate::info::Idle;
use crate::settings::{choices, parameter};
use crate::site::Site;

choices! {
    /// A version of YARN.
    pub(crate) enum Version {
        /// August 2014, between 2.5 and 2.6.
        Of2014 = "2014",
        /// Hadoop 3.4.1.
        Of34 = "3.4",
    }
}

parameter! {
    /// version of YARN whose rules hold; auto: that of the site or the log, else 3.4
    pub(crate) RULES: Option<Version> = "rules" { auto: Nothing }
}

/// What a version was taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// You or the site's own settings chose it.
    Chosen,
    /// The site sets what only newer versions know.
    Site,
    /// The log says which version wrote it.
    Log,
    /// Nothing says it.
    Nothing,
}

impl Version {
    /// The version that holds: the one that is `chosen`, else that of a site with a `sign` of newer versions, else that of the log.
    pub(super) fn of(chosen: Option<Self>, sign: Option<&str>, site: &Site) -> (Self, Basis) {
        let of_log = || site.log_version.as_deref().and_then(Self::of_text);
        match (chosen, sign) {
            (Some(version), _) => (version, Basis::Chosen),
            // Whatever wrote the log, a scheduler that knows the setting is newer than 2014.
            (None, Some(_)) => (Self::Of34, Basis::Site),
            (None, None) => of_log().map_or((Self::Of34, Basis::Nothing), |version| (version, Basis::Log)),
        }
    }

    /// The rules of a version as a log writes it: `2.7.3`, `3.4.1`.
    fn of_text(text: &str) -> Option<Self> {
        let major: u32 = text.split('.').next()?.trim().parse().ok()?;
        Some(if major < 3 { Self::Of2014 } else { Self::Of34 })
    }

    /// True if a rule of 3.4 holds, if this is its own setting: `None` follows the version.
    pub(crate) fn has(self, rule: Option<bool>) -> bool {
        rule.unwrap_or(self == Self::Of34)
    }
}

/// Says that the version is a default, if it is one.
pub(super) fn unknown_version(basis: Basis) -> Option<Idle> {
    (basis == Basis::Nothing).then(|| Idle {
        says: "neither the site nor the log shows a version of YARN, so the rules are those of Hadoop 3.4".to_owned(),
        remedy: "Set `rules=3.4`, or `rules=2014` for a cluster of Hadoop 2.".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_follows_the_version_unless_it_is_set() {
        assert_eq!([None, Some(true), Some(false)].map(|rule| Version::Of34.has(rule)), [true, true, false]);
        assert_eq!([None, Some(true), Some(false)].map(|rule| Version::Of2014.has(rule)), [false, true, false]);
    }

    #[test]
    fn a_version_is_yours_then_the_sites_then_the_logs() {
        use Version::{Of34, Of2014};
        let log = |version: &str| Site::default().with_log_version(Some(version));
        for (chosen, sign, site, expected) in [
            (Some(Of2014), Some("priority"), log("3.4.1"), (Of2014, Basis::Chosen)),
            (None, Some("priority"), log("2.10.2"), (Of34, Basis::Site)),
            (None, None, log("2.10.2"), (Of2014, Basis::Log)),
            (None, None, log("0.23.0"), (Of2014, Basis::Log)),
            (None, None, log("3.0.0-beta1"), (Of34, Basis::Log)),
            (None, None, log("unknown"), (Of34, Basis::Nothing)),
            (None, None, Site::default(), (Of34, Basis::Nothing)),
        ] {
            let found = Version::of(chosen, sign, &site);
            assert_eq!(found, expected, "{:?}", site.log_version);
            assert_eq!(unknown_version(found.1).is_some(), expected.1 == Basis::Nothing);
        }
    }
}
