//! The fields after the 18th, which the standard does not have: what the header calls them, and what a job says in them.
//!
//! **Source.** The extended format of the simulator AleaNG and its generator of workloads, in which the logs of Frontier are: `used_GPUs`,
//! `soft_walltime` and `required_properties`, numbered from 0 in the comments. A property such as `all:excl:2x4` asks for two machines,
//! each with at least four processors and without other jobs; the first word is a property of these machines, or `all`.

use std::collections::BTreeMap;

use resched_tables::model::{CounterRow, CounterScope};

use super::{FIELDS, FRAMEWORK, STANDARD, parse_number, whole};

/// The most further fields.
pub(super) const MOST: usize = *FIELDS.end() - STANDARD;
/// The longest name of a field that is kept (letters).
const LONGEST_NAME: usize = 60;

/// What a further field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The GPUs of the whole job.
    Gpus,
    /// What its machines must be.
    Properties,
    /// A time that the job is expected to run, but may exceed, s. The tables have no column for it.
    SoftTime,
    /// Something else.
    Other,
}

impl Meaning {
    /// What a field of this name holds.
    pub(crate) fn of(name: &str) -> Self {
        let letters = name.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase());
        let letters: String = letters.map(char::from).collect();
        let has = |word: &&str| letters.contains(*word);
        if has(&"gpu") && !["mem", "time", "type", "model", "util", "hour"].iter().any(has) {
            Self::Gpus
        } else if has(&"soft") && ["wall", "time"].iter().any(has) {
            Self::SoftTime
        } else if ["propert", "descriptor"].iter().any(has) {
            Self::Properties
        } else {
            Self::Other
        }
    }
}

/// What the header calls the further fields.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// By the numbers of the header.
    numbered: BTreeMap<usize, String>,
    /// True if the header numbers the fields from 0.
    from_zero: bool,
    /// The most further fields that a job had.
    used: usize,
}

impl Names {
    /// Takes a comment, if it names a field: `18: used_GPUs (of all nodes)`, `Field 19 - used GPUs`.
    pub(super) fn take(&mut self, comment: &str) {
        let Some((number, name)) = numbered(comment) else { return };
        self.from_zero |= number == 0;
        self.numbered.entry(number).or_insert_with(|| name.chars().take(LONGEST_NAME).collect());
    }

    /// The name of a further field, which is the `place`th, from 0.
    fn name(&self, place: usize) -> Option<&str> {
        let number = STANDARD + place + usize::from(!self.from_zero);
        self.numbered.get(&number).map(String::as_str)
    }

    /// The name under which it is kept.
    fn kept_name(&self, place: usize) -> String {
        self.name(place).map_or_else(|| unnamed(STANDARD + place + 1), str::to_owned)
    }

    /// The names under which the further fields are kept that jobs had.
    pub(super) fn all(&self) -> Vec<String> {
        (0..self.used).map(|place| self.kept_name(place)).collect()
    }

    /// The columns of the tables that the further fields fill, each with the name of its field.
    pub(super) fn reads(&self) -> impl Iterator<Item = (&'static str, String)> {
        let of_place = move |place: usize| {
            let columns: &[&str] = match self.name(place).map_or(Meaning::Other, Meaning::of) {
                Meaning::Gpus => &["tasks.resources"],
                Meaning::Properties => &[
                    "jobs.features",
                    "tasks.machines",
                    "tasks.exclusive",
                    "tasks.instances",
                    "jobs.requested_containers",
                ],
                Meaning::SoftTime | Meaning::Other => &["counters.value"],
            };
            columns.iter().map(move |column| (*column, self.kept_name(place)))
        };
        (0..self.used).flat_map(of_place)
    }

    /// Notes that a job has so many further fields.
    pub(super) fn use_of(&mut self, fields: usize) {
        self.used = self.used.max(fields);
    }

    /// Reads the further fields of a job.
    pub(super) fn read<'a>(&self, texts: &[&'a str]) -> Further<'a> {
        let mut found = Further::default();
        for (place, text) in texts.iter().enumerate() {
            let meaning = self.name(place).map_or(Meaning::Other, Meaning::of);
            let is_read = match meaning {
                Meaning::Gpus => amount(text).map(|gpus| found.gpus = gpus),
                Meaning::Properties => Properties::parse(text).map(|properties| found.properties = properties),
                Meaning::SoftTime | Meaning::Other => amount(text).map(|amount| {
                    found.has_soft_time |= amount.is_some() && meaning == Meaning::SoftTime;
                    found.has_others |= amount.is_some() && meaning == Meaning::Other;
                    found.extras.get_mut(place).into_iter().for_each(|extra| *extra = amount);
                }),
            };
            match meaning {
                Meaning::Other => found.has_texts |= is_read.is_none(),
                _ => found.is_damaged |= is_read.is_none(),
            }
        }
        found
    }

    /// The values that have no column, as counters of a job.
    pub(super) fn counters(&self, job_id: &str, further: &Further<'_>) -> impl Iterator<Item = CounterRow> {
        let known = further.extras.into_iter().enumerate().filter_map(|(place, extra)| Some((place, extra?)));
        known.map(move |(place, value)| CounterRow {
            scope: CounterScope::Job,
            id: job_id.to_owned(),
            group: FRAMEWORK.to_owned(),
            name: self.kept_name(place),
            value,
        })
    }
}

/// The name of a field that the header does not name.
fn unnamed(number: usize) -> String {
    format!("field {number}")
}

/// The number of a field and its name, without remarks, if a comment has both.
fn numbered(comment: &str) -> Option<(usize, &str)> {
    let text = comment.trim();
    let text = text.strip_prefix("Field").or_else(|| text.strip_prefix("field")).unwrap_or(text).trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at_checked(digits)?;
    let number = number.parse::<usize>().ok().filter(|number| FIELDS.end() >= number)?;
    let name = rest.trim_start().strip_prefix([':', '.', ')', '-', '='])?;
    let name = name.split('(').next()?.trim();
    (!name.is_empty()).then_some((number, name))
}

/// A whole amount, of which a negative number says that it is unknown; `None` for anything else.
fn amount(text: &str) -> Option<Option<i64>> {
    let number = parse_number(text)?;
    if number < 0.0 {
        return Some(None);
    }
    whole(number).filter(|_| number.fract() == 0.0).map(Some)
}

/// What a job says in its further fields.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Further<'a> {
    /// GPUs of the whole job.
    pub(super) gpus: Option<i64>,
    pub(super) properties: Properties<'a>,
    /// The values that have no column, by place.
    extras: [Option<i64>; MOST],
    /// True if one of them is a soft limit, and whether one is something else.
    pub(super) has_soft_time: bool,
    pub(super) has_others: bool,
    /// True if it has a text that no table has a place for.
    pub(super) has_texts: bool,
    /// True if a field that the header names does not hold what the name says.
    pub(super) is_damaged: bool,
}

/// What the machines of a job must be.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Properties<'a> {
    /// A property; `None`: any machine will do.
    pub(super) feature: Option<&'a str>,
    /// True if they run nothing else.
    pub(super) is_exclusive: bool,
    /// How many there are, and the processors that each has for the job.
    pub(super) machines: Option<(i64, i64)>,
}

impl<'a> Properties<'a> {
    /// Reads `all`, `big:2x4` or `all:excl:2x4`; −1 for none.
    fn parse(text: &'a str) -> Option<Self> {
        let mut found = Self::default();
        for (place, word) in text.split(':').enumerate() {
            if word.eq_ignore_ascii_case("excl") {
                found.is_exclusive = true;
            } else if let Some(machines) = machines(word) {
                found.machines = Some(machines);
            } else if place == 0 && !word.is_empty() {
                found.feature = Some(word).filter(|word| !["all", "-1"].contains(word));
            } else {
                return None;
            }
        }
        Some(found)
    }
}

/// The numbers of `2x4`.
fn machines(word: &str) -> Option<(i64, i64)> {
    let (machines, processors) = word.split_once('x')?;
    let count = |digits: &str| {
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse::<u32>().ok().filter(|&count| is_number && count > 0).map(i64::from)
    };
    Some((count(machines)?, count(processors)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_a_field_holds() {
        for (name, meaning) in [
            ("used_GPUs", Meaning::Gpus),
            ("Number of GPUs", Meaning::Gpus),
            ("GPU memory", Meaning::Other),
            ("soft_walltime", Meaning::SoftTime),
            ("Soft wall time", Meaning::SoftTime),
            ("required_properties", Meaning::Properties),
            ("Job descriptor", Meaning::Properties),
            ("energy", Meaning::Other),
        ] {
            assert_eq!(Meaning::of(name), meaning, "{name}");
        }
    }

    #[test]
    fn fields_are_numbered_from_zero_or_from_one() {
        let names = |comments: &[&str]| {
            let mut names = Names { used: 2, ..Names::default() };
            comments.iter().for_each(|comment| names.take(comment));
            names.all()
        };
        assert_eq!(
            names(&["  0: job_id    (unique ID)", " 18: used_GPUs (sum: all)", " 19: soft_walltime"]),
            ["used_GPUs", "soft_walltime"]
        );
        assert_eq!(names(&["Field 19: used GPUs", "Field 20 - energy"]), ["used GPUs", "energy"]);
        assert_eq!(names(&["20) energy", "100: no field", "20) again", "19:"]), ["field 19", "energy"]);
    }

    #[test]
    fn properties_are_read_word_by_word() {
        let of = Properties::parse;
        let some = |feature, is_exclusive, machines| Some(Properties { feature, is_exclusive, machines });
        assert_eq!(of("all:excl:2x4"), some(None, true, Some((2, 4))));
        assert_eq!(of("frontier:excl:2500x112"), some(Some("frontier"), true, Some((2500, 112))));
        assert_eq!(of("big:2x4"), some(Some("big"), false, Some((2, 4))));
        assert_eq!(of("normal:excl"), some(Some("normal"), true, None));
        assert_eq!([of("all"), of("-1")], [some(None, false, None), some(None, false, None)]);
        assert_eq!(of("2x4"), some(None, false, Some((2, 4))));
        for other in ["", "all:", "all:shared", "all:0x4", "all:2x", "all:+2x4", "all:99999999999x1"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
