//! The settings of one node or partition: those of its line, those of the `DEFAULT` lines before it, and what `scontrol` printed.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use resched_sim::Ms;
use resched_tables::host_list;

use super::super::xml::{Notes, Place};
use super::units::{Span, is_nothing, time};
use crate::error::Error;

/// A setting as a file has it.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) place: Place,
}

impl Field {
    /// The error that it is not what it should be.
    pub(super) fn wrong(&self, notes: &Notes<'_>, expected: impl Display) -> Error {
        notes.wrong(&self.place, &self.name, expected, &self.value)
    }

    /// A whole number between two others.
    pub(super) fn number<T>(&self, notes: &Notes<'_>, low: T, high: T) -> Result<T, Error>
    where
        T: FromStr + PartialOrd + Display,
    {
        notes.number(&self.place, &self.name, &self.value, low, high)
    }

    /// Its text, which is short.
    pub(super) fn short(&self, notes: &Notes<'_>) -> Result<&str, Error> {
        if self.value.len() > LONGEST_TEXT {
            return Err(self.wrong(notes, format!("at most {LONGEST_TEXT} bytes")));
        }
        Ok(&self.value)
    }

    /// A time; a number alone counts so many ms each.
    pub(super) fn time(&self, notes: &Notes<'_>, unit: Ms) -> Result<Option<Ms>, Error> {
        let span = time(&self.value, unit).ok_or_else(|| self.wrong(notes, "a time such as `30` or `D-HH:MM:SS`"))?;
        Ok(span.limit())
    }
}

/// The longest text that is kept. A `DEFAULT` line gives its texts to all lines after it.
const LONGEST_TEXT: usize = 4_096;

/// Settings by name, in small letters.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields(BTreeMap<&'static str, Arc<Field>>);

impl Fields {
    /// The settings of a line that are `known`, over others; the rest goes to `unknown`.
    pub(super) fn of(
        place: &Place,
        pairs: &[(String, String)],
        defaults: &Self,
        known: impl Fn(&str) -> Option<&'static str>,
        mut unknown: impl FnMut(&str),
    ) -> Self {
        let mut all = defaults.clone();
        for (name, value) in pairs {
            let field = || Field { name: name.clone(), value: value.clone(), place: place.clone() };
            match known(&name.to_lowercase()) {
                Some(known) => {
                    all.0.insert(known, Arc::new(field()));
                }
                None => unknown(name),
            }
        }
        all
    }

    /// Takes those of others in place of its own.
    pub(super) fn lay_over(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The first of these that is set.
    pub(super) fn get(&self, names: &[&str]) -> Option<&Field> {
        names.iter().find_map(|&name| self.0.get(name)).map(Arc::as_ref).filter(|field| !is_nothing(&field.value))
    }

    /// A number from 0 on, if the setting is set and not without a limit.
    pub(super) fn number(&self, names: &[&str], notes: &Notes<'_>) -> Result<Option<u32>, Error> {
        let limited = |field: &&Field| !matches!(time(&field.value, 1), Some(Span::Unlimited));
        self.get(names).filter(limited).map(|field| field.number(notes, 0, u32::MAX)).transpose()
    }

    /// True if a setting is `YES`.
    pub(super) fn is_yes(&self, name: &str) -> bool {
        self.get(&[name])
            .is_some_and(|field| ["yes", "true", "1"].iter().any(|yes| field.value.eq_ignore_ascii_case(yes)))
    }

    /// All of them, by name in small letters.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static str, &Field)> {
        self.0.iter().map(|(&name, field)| (name, field.as_ref()))
    }
}

/// How many hosts the files may still name. Lists are short, and name millions of hosts.
#[derive(Debug)]
pub(super) struct Budget(usize);

/// The most hosts of all lists together. A cluster of 10,000 nodes in 100 partitions has a million.
pub(in crate::site) const MOST_HOSTS: usize = 2_000_000;

impl Default for Budget {
    fn default() -> Self {
        Self(MOST_HOSTS)
    }
}

impl Budget {
    /// The hosts of a list.
    pub(super) fn expand(&mut self, list: &Field, notes: &Notes<'_>) -> Result<Vec<String>, Error> {
        // Hosts may have blanks after the commas.
        let text: String = list.value.split_whitespace().collect();
        let hosts = host_list::expand(&text, self.0).ok_or_else(|| {
            list.wrong(notes, format!("a list of hosts such as `n[0-7],m1`, at most {MOST_HOSTS} in all"))
        })?;
        self.spend(hosts.len(), list, notes)?;
        Ok(hosts)
    }

    /// Counts hosts that a setting names without a list.
    pub(super) fn spend(&mut self, hosts: usize, by: &Field, notes: &Notes<'_>) -> Result<(), Error> {
        let too_many = || by.wrong(notes, format!("at most {MOST_HOSTS} hosts in all"));
        self.0 = self.0.checked_sub(hosts).ok_or_else(too_many)?;
        Ok(())
    }
}
