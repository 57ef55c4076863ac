//! What resched knows of settings by their names. A setting that no policy applies and that is not known here is reported, so that nothing
//! of a site is ignored in silence.
//!
//! ```text
//! setting ─┬─▶ a policy or the cluster applies it
//!          ├─▶ a rule names it: it has the daemon's default, or no effect, for a reason
//!          ├─▶ it concerns something else than schedules: counted by its topic
//!          └─▶ none of these: reported, because it may change the schedule
//! ```

use crate::unread::Why;

/// What is known of the settings of a system.
#[derive(Debug)]
pub(super) struct Names {
    /// Settings that a replay leaves out, by the beginning of their names, with the values that change nothing and the reason.
    pub(super) rules: &'static [(&'static str, &'static [&'static str], Why<'static>)],
    /// Settings that concern something else, by topic and by the beginning of their names.
    pub(super) beside: &'static [(Topic, &'static [&'static str])],
    /// The same, by a part of their names between dots: every daemon has an address.
    pub(super) parts: &'static [(Topic, &'static [&'static str])],
}

/// What a setting is about that changes no schedule of the jobs of a log, as a clause for `site show`.
pub(super) type Topic = &'static str;

/// What a setting with its value comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// It is what the daemon does without it.
    Default,
    /// It has no effect, for this reason.
    Unread(Why<'static>),
    /// It changes no schedule, as it is about this topic.
    Beside(Topic),
}

impl Names {
    /// What is known of a setting; `None`: nothing. The longest beginning counts, and a rule before a topic.
    pub(super) fn find(&self, name: &str, value: &str) -> Option<Known> {
        let rules = self.rules.iter().filter(|(begin, ..)| begins(name, begin));
        let rule = rules.max_by_key(|(begin, ..)| begin.len());
        let topics = self.beside.iter().flat_map(|(topic, begins)| begins.iter().map(move |begin| (*topic, *begin)));
        let topic = topics.filter(|(_, begin)| begins(name, begin)).max_by_key(|(_, begin)| begin.len());
        let is_longer = |(_, begin): &(Topic, &str)| rule.is_none_or(|(of_rule, ..)| of_rule.len() < begin.len());
        if let Some((topic, _)) = topic.filter(is_longer) {
            return Some(Known::Beside(topic));
        }
        if let Some((_, neutral, why)) = rule {
            let is_default = neutral.iter().any(|neutral| neutral.eq_ignore_ascii_case(value.trim()));
            return Some(if is_default { Known::Default } else { Known::Unread(*why) });
        }
        let has = |word: &&str| name.split('.').skip(1).any(|part| begins(part, word));
        let of_part = self.parts.iter().find(|(_, words)| words.iter().any(&has));
        of_part.map(|(topic, _)| Known::Beside(topic))
    }

    /// The names of its rules, for hints.
    pub(super) fn rules(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.rules.iter().map(|(begin, ..)| *begin)
    }
}

/// True if a name is `begin`, or goes on after it with a new word: `spark.r` begins `spark.r.command`, but not `spark.rdd`.
fn begins(name: &str, begin: &str) -> bool {
    let is_inside = |next: char| next.is_ascii_lowercase() || next.is_ascii_digit();
    name.strip_prefix(begin).is_some_and(|rest| !rest.starts_with(is_inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHY: Why<'static> = Why::bears("why");
    const NAMES: Names = Names {
        rules: &[("a.b", &["1"], WHY), ("a.b.c.d", &[], Why::harmless("no"))],
        beside: &[("logs", &["a.b.c", "a.log"])],
        parts: &[("addresses", &["address"])],
    };

    #[test]
    fn the_longest_beginning_counts_and_what_is_not_known_is_nothing() {
        for (name, value, expected) in [
            ("a.b", "1", Some(Known::Default)),
            ("a.b", "2", Some(Known::Unread(WHY))),
            ("a.b.x", "2", Some(Known::Unread(WHY))),
            ("a.b.c", "2", Some(Known::Beside("logs"))),
            ("a.b.c.d", "2", Some(Known::Unread(Why::harmless("no")))),
            ("a.log-dir", "", Some(Known::Beside("logs"))),
            ("a.logs", "", None),
            ("a.bc", "1", None),
            ("x.address.rm1", "", Some(Known::Beside("addresses"))),
            ("address", "", None),
        ] {
            assert_eq!(NAMES.find(name, value), expected, "{name}={value}");
        }
    }
}
