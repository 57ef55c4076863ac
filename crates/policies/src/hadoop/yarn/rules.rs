//! The versions of YARN whose rules a scheduler can follow, and how a single rule is set apart from its version.
//!
//! A scheduler has one parameter `rules` and one parameter for each rule that differs between the versions:
//!
//! ```text
//! settings! {
//!     struct Settings {
//!         rules: Version = RULES,
//!         /// a heartbeat ends with a reservation; auto: since 3.4
//!         heartbeat_ends_with_reservation: Option<bool> = "heartbeat_ends_with_reservation" { auto: Nothing },
//!     }
//! }
//! let ends = settings.rules.has(settings.heartbeat_ends_with_reservation);
//! ```
//!
//! `true` is always the rule of 3.4 and `false` that of 2014, so that a sweep over one of them says what this rule of the upgrade changed.

use crate::info::Idle;
use crate::settings::{Values, choices, parameter};

choices! {
    /// A version of YARN.
    #[derive(Default)]
    pub(crate) enum Version {
        /// August 2014, between 2.5 and 2.6.
        #[default]
        Of2014 = "2014",
        /// Hadoop 3.4.1.
        Of34 = "3.4",
    }
}

parameter! {
    /// version of YARN whose rules hold; a rule that you set alone holds or not
    pub(crate) RULES: Version = "rules" { choice: Version::Of2014, }
}

impl Version {
    /// Whether a rule of 3.4 holds, if this is its own setting: `None` follows the version.
    pub(crate) fn has(self, rule: Option<bool>) -> bool {
        rule.unwrap_or(self == Self::Of34)
    }
}

/// Says that a site is of Hadoop 3, as `sign` shows, and yet replayed by the rules of 2014, if you did not choose them.
pub(super) fn older_than_site(version: Version, values: &Values, sign: Option<&str>) -> Option<Idle> {
    let sign = sign.filter(|_| version == Version::Of2014 && !values.is_set("rules"))?;
    Some(Idle {
        says: format!("the site is one of Hadoop 3 (it sets `{sign}`), and the rules are those of 2014"),
        remedy: "Set `rules=3.4`, or `rules=2014` if these are meant.".to_owned(),
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
}
