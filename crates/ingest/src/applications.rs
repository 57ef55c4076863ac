//! The settings of the applications of an ingest, within limits.

use std::collections::BTreeMap;

use resched_tables::sink::{self, add_settings};

use super::complete::LONGEST_ID;

/// The most applications whose settings are kept.
pub(crate) const MOST_APPLICATIONS: usize = 10_000;
/// The most settings of an application that are kept.
pub(crate) const MOST_SETTINGS: usize = 64;
/// The longest name or value of a setting that is kept (bytes). A cut value would be another one.
pub(crate) const LONGEST_SETTING: usize = 1 << 10;

/// The settings of each application so far.
#[derive(Default)]
pub(super) struct Applications(sink::Applications);

impl Applications {
    /// Adds settings of an application. Returns how many were left out, because they are too many or too long.
    pub(super) fn add(&mut self, id: &str, settings: &BTreeMap<String, String>) -> u64 {
        let is_new = !self.0.contains_key(id);
        if id.len() > LONGEST_ID || (is_new && self.0.len() >= MOST_APPLICATIONS) {
            return settings.len() as u64;
        }
        let fits = |text: &str| text.len() <= LONGEST_SETTING;
        let short = settings.iter().filter(|(name, value)| fits(name) && fits(value));
        let kept: BTreeMap<String, String> = short.map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut left_out = (settings.len() - kept.len()) as u64;
        if kept.is_empty() {
            return left_out;
        }
        add_settings(&mut self.0, id, &kept);
        let Some(settings) = self.0.get_mut(id) else { return left_out };
        while settings.len() > MOST_SETTINGS {
            settings.pop_last();
            left_out += 1;
        }
        left_out
    }

    /// All of them.
    pub(super) fn into_all(self) -> sink::Applications {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(names: impl IntoIterator<Item = String>) -> BTreeMap<String, String> {
        names.into_iter().map(|name| (name, "1".to_owned())).collect()
    }

    #[test]
    fn settings_of_one_application_come_together_and_the_first_counts() {
        let mut applications = Applications::default();
        let first = BTreeMap::from([("a".to_owned(), "1".to_owned())]);
        let second = BTreeMap::from([("a".to_owned(), "2".to_owned()), ("b".to_owned(), "3".to_owned())]);
        assert_eq!(
            (applications.add("x", &first), applications.add("x", &second), applications.add("y", &second)),
            (0, 0, 0)
        );
        let all = applications.into_all();
        let settings = BTreeMap::from([("a".to_owned(), "1".to_owned()), ("b".to_owned(), "3".to_owned())]);
        assert_eq!(all, BTreeMap::from([("x".to_owned(), settings), ("y".to_owned(), second)]));
    }

    #[test]
    fn what_is_too_much_is_counted() {
        let mut applications = Applications::default();
        let many = |count: usize| settings((0..count).map(|n| format!("s{n:03}")));
        assert_eq!(applications.add("x", &many(MOST_SETTINGS + 3)), 3);
        assert_eq!(applications.add("x", &settings(["t".to_owned()])), 1);
        let long = |name: usize, value: usize| BTreeMap::from([("n".repeat(name), "v".repeat(value))]);
        assert_eq!(applications.add("y", &long(LONGEST_SETTING, LONGEST_SETTING)), 0);
        assert_eq!(applications.add("y", &long(LONGEST_SETTING + 1, 1)), 1);
        assert_eq!(applications.add("y", &long(1, LONGEST_SETTING + 1)), 1);
        assert_eq!(applications.add(&"i".repeat(LONGEST_ID + 1), &many(2)), 2);
        // `x` and `y` are two.
        for n in 2..MOST_APPLICATIONS {
            assert_eq!(applications.add(&format!("a{n}"), &many(1)), 0);
        }
        assert_eq!(applications.add("one more", &many(5)), 5);
        let all = applications.into_all();
        assert_eq!((all.len(), all.get("x").map(BTreeMap::len)), (MOST_APPLICATIONS, Some(MOST_SETTINGS)));
    }
}
