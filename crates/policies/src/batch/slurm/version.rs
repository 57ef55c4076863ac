//! The version of Slurm whose rules and defaults hold.
//!
//! **Decisions.** The rules of 22.05 hold for all versions before 24.11: at which of those between each rule came was not looked up. A log
//! comes before a site, whose files may be newer; the number that you set comes before both.

use std::fmt;

use resched_tables::validity::Grade;

use super::conf::{Settings, Version};
use crate::info::Idle;
use crate::queues::slurm::{About, SlurmConf};
use crate::settings::Values;
use crate::site::Site;

/// A version: year and month.
type Number = (u32, u32);

/// `PriorityType` is multifactor from this version on if no line says it (NEWS).
const MULTIFACTOR_SINCE: Number = (23, 11);

/// Which version it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    number: Number,
    basis: Basis,
}

/// What shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Basis {
    /// You set it.
    Chosen,
    /// The log or the site gives its number.
    Given,
    /// A setting of the site that only newer or only older versions have.
    Sign,
    /// Nothing.
    Nothing,
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month) = self.number;
        write!(f, "{year}.{month:02}")
    }
}

impl Version {
    fn number(self) -> Number {
        match self {
            Self::V22_05 => (22, 5),
            Self::V24_11 => (24, 11),
        }
    }
}

/// Versions are named by their year from this one on. Smaller numbers are those of other schedulers.
const FIRST_YEAR: u32 = 13;

/// The number in a text such as `24.11.5` or `22.05.8-4+deb12u3`.
fn parse(text: &str) -> Option<Number> {
    let mut parts = text.trim().split('.');
    let mut next = || {
        let part = parts.next()?;
        let digits = part.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(part.len());
        part.get(..digits)?.parse().ok()
    };
    Some((next()?, next()?)).filter(|(year, _)| *year >= FIRST_YEAR)
}

impl Known {
    /// The version that holds: the one that is chosen, else that of the log, else that of the site, else the newest.
    pub(super) fn of(chosen: Option<Version>, about: Option<&About>, log: Option<&str>) -> Self {
        let known = |number, basis| Self { number, basis };
        if let Some(version) = chosen {
            return known(version.number(), Basis::Chosen);
        }
        let of_site = about.and_then(|about| about.version.as_deref());
        if let Some(number) = [log, of_site].into_iter().flatten().find_map(parse) {
            return known(number, Basis::Given);
        }
        match about.and_then(|about| about.sign.as_ref()) {
            Some((_, is_new)) => known(if *is_new { Version::V24_11 } else { Version::V22_05 }.number(), Basis::Sign),
            None => known(Version::V24_11.number(), Basis::Nothing),
        }
    }

    fn at(set: &Settings, site: &Site) -> Self {
        Self::of(set.version, site.slurm.as_ref().and_then(|conf| conf.about.as_ref()), site.log_version.as_deref())
    }

    /// Whose rules hold.
    pub(super) fn rules(&self) -> Version {
        if self.number < Version::V24_11.number() { Version::V22_05 } else { Version::V24_11 }
    }

    /// True if priorities are weighted sums if no line says what they are.
    pub(super) fn is_multifactor_by_default(&self) -> bool {
        self.number >= MULTIFACTOR_SINCE
    }

    /// Says that the version is a default, or one whose rules are not known.
    pub(super) fn doubt(&self) -> Option<Idle> {
        let rules = self.rules();
        let remedy = format!(
            "Set `version={}` or `version={}`, or single rules.",
            Version::V22_05.word(),
            Version::V24_11.word()
        );
        let says = match &self.basis {
            Basis::Nothing => format!(
                "neither the log nor the site shows a version of Slurm, so the rules are those of {}",
                rules.word()
            ),
            _ if rules.number() != self.number => {
                format!("the rules of Slurm {self} were not looked up, so those of {} hold", rules.word())
            }
            Basis::Chosen | Basis::Given | Basis::Sign => return None,
        };
        Some(Idle { says, remedy })
    }
}

/// The version that holds.
pub(super) fn of(set: &Settings, site: &Site) -> Known {
    Known::at(set, site)
}

/// The defaults of a `slurm.conf` that differ between versions, where no line of it sets them: the grade and a sentence for each.
///
/// # Errors
/// Values of another policy.
pub(crate) fn defaults_taken(values: &Values, site: &Site) -> Result<Vec<(Grade, String)>, crate::error::Error> {
    let set = Settings::read(values)?;
    let Some(SlurmConf { about: Some(about), .. }) = &site.slurm else { return Ok(Vec::new()) };
    let known = Known::at(&set, site);
    let is_sure = known.basis != Basis::Nothing;
    let mut all = Vec::new();
    if !about.sets_priority_type && !values.is_set("priority") && set.has_weights() {
        let word = if known.is_multifactor_by_default() { "multifactor" } else { "basic" };
        let grade = if is_sure { Grade::Measured } else { Grade::Assumed };
        all.push((
            grade,
            format!(
                "`slurm.conf` has weights of priorities, but no `PriorityType`: that of Slurm {known} is taken, {word}."
            ),
        ));
    }
    if !about.sets_select_type {
        let word = match known.rules() {
            Version::V22_05 => "`linear` (whole machines)",
            Version::V24_11 => "`cons_tres` (processors and memory)",
        };
        // What jobs had is in the log, whatever the plugin.
        all.push((
            Grade::Measured,
            format!(
                "`slurm.conf` has no `SelectType`: that of Slurm {known} is {word}; each job gets what its log shows."
            ),
        ));
    }
    Ok(all)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn known(chosen: Option<Version>, [log, site]: [Option<&str>; 2], sign: Option<bool>) -> Known {
        let about = About {
            version: site.map(str::to_owned),
            sign: sign.map(|is_new| ("X".to_owned(), is_new)),
            ..About::default()
        };
        Known::of(chosen, Some(&about), log)
    }

    #[test]
    fn a_version_is_yours_then_the_logs_then_the_sites_then_the_newest() {
        use Version::{V22_05, V24_11};
        for (found, rules, doubt) in [
            (known(Some(V22_05), [Some("24.11.5"), None], None), V22_05, false),
            (known(None, [Some("24.11.5"), Some("22.05.8")], None), V24_11, false),
            (known(None, [None, Some("22.05.8-4+deb12u3")], None), V22_05, false),
            (known(None, [Some("22.05"), None], Some(true)), V22_05, false),
            (known(None, [None, None], Some(false)), V22_05, false),
            (known(None, [None, None], Some(true)), V24_11, false),
            (known(None, [Some("23.11.10"), None], None), V22_05, true),
            (known(None, [Some("25.05.3"), None], None), V24_11, true),
            (known(None, [Some("next"), None], None), V24_11, true),
            (known(None, [Some("3.4.1"), None], None), V24_11, true),
            (Known::of(None, None, None), V24_11, true),
        ] {
            assert_eq!((found.rules(), found.doubt().is_some()), (rules, doubt), "{found:?}");
        }
    }

    /// NEWS of 23.11: `PriorityType` is multifactor.
    #[test]
    fn the_default_of_priorities_came_with_23_11() {
        let is = |log: &str| known(None, [Some(log), None], None).is_multifactor_by_default();
        assert!(!is("22.05.8") && !is("23.02.7") && is("23.11.0") && is("24.11.5"));
    }
}
