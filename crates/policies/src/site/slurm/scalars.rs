//! The single settings of `slurm.conf`, which become properties for the parameters of policies.

use std::collections::{BTreeMap, BTreeSet};

use resched_tables::reference::nearest;

use super::super::properties::{Properties, Property};
use super::super::xml::{Notes, Place};
use super::keys::{KEYS, Key, Kind, known, topic};
use super::qos::MODES;
use super::units::is_nothing;
use crate::error::Error;

/// The setting that says whether jobs have processors or whole machines.
pub(super) const SELECT_TYPE: &str = "SelectType";
/// The setting whose words about what jobs take up are its value.
pub(super) const SELECT: &str = "SelectTypeParameters";
/// The setting that says what is done with preempted jobs. One of its words is its value.
const MODE: &str = "PreemptMode";
const ENFORCE: &str = "AccountingStorageEnforce";
const FLAGS: &str = "PriorityFlags";
const INTERVAL: &str = "SchedulerParameters.bf_interval";
const MAIN_LOOP: &str = "SchedulerParameters.sched_interval";
/// With it, the main loop does not run at the ends that nodes report by themselves.
const DEFER: &str = "SchedulerParameters.defer";
const REPORTED: [&str; 3] = ["Epilog", "PrologFlags.contain", "PrologFlags.x11"];

/// The settings that were read. One that is set again has its last value.
#[derive(Debug, Default)]
pub(super) struct Scalars {
    set: BTreeMap<String, Vec<Property>>,
}

impl Scalars {
    /// Sets one, unless it concerns something else than schedules.
    pub(super) fn set(&mut self, place: &Place, name: &str, value: &str, notes: &mut Notes<'_>) -> Result<(), Error> {
        let value = value.trim();
        let Some(key) = known(name) else {
            match topic(name) {
                Some(topic) => notes.beside(topic),
                None if is_nothing(value) => {}
                None => {
                    self.set.insert(name.to_owned(), vec![property(place, name.to_owned(), value.to_owned())]);
                }
            }
            return Ok(());
        };
        let properties = if is_nothing(value) { Vec::new() } else { properties(key, place, value, notes)? };
        self.set.insert(key.name.to_owned(), properties);
        Ok(())
    }

    /// True if a line sets this one.
    pub(super) fn has(&self, name: &str) -> bool {
        self.set.get(name).is_some_and(|values| !values.is_empty())
    }

    /// True if memory is something that jobs use up. Without a line that says it, it is under `select/cons_tres`, which is the plugin of
    /// 24.11 if no line names one. Under `select/linear`, that of 22.05, jobs then have none in their log.
    pub(super) fn count_memory(&self) -> bool {
        let words = self.set.get(SELECT).map_or(&[][..], Vec::as_slice);
        let named = words.iter().find(|property| property.name == SELECT);
        let plugin = self.set.get(SELECT_TYPE).and_then(|value| value.first()).map(|value| value.value.as_str());
        match named {
            Some(property) => property.value.ends_with("memory"),
            None => plugin.is_none_or(|plugin| plugin == "cons_tres"),
        }
    }

    /// True if limits count: `AccountingStorageEnforce` has `limits`.
    pub(super) fn enforce_limits(&self) -> bool {
        let words = self.set.get(ENFORCE).map_or(&[][..], Vec::as_slice);
        words.iter().any(|property| property.name.ends_with(".limits"))
    }

    /// Where the setting is that makes limits count.
    pub(super) fn enforcing(&self) -> Option<&Property> {
        self.set.get(ENFORCE).and_then(|words| words.first())
    }

    /// The weight of the QOS in priorities, if it counts.
    pub(super) fn weight_of_qos(&self) -> Option<&Property> {
        let mut all = self.set.values().flatten();
        all.find(|property| property.name == "PriorityWeightQOS" && property.value != "0")
    }

    /// Hands them over; returns their names.
    pub(super) fn put(self, properties: &mut Properties) -> BTreeSet<String> {
        let mut all: Vec<Property> = self.set.into_values().flatten().collect();
        // Without an interval, there is no backfill, whatever the type says.
        if let Some(at) = all.iter().position(|property| property.name == INTERVAL && property.value == "-1") {
            let never = all.remove(at);
            all.push(Property { name: "SchedulerType".to_owned(), value: "builtin".to_owned(), ..never });
        }
        if all.iter().any(|property| property.name == DEFER && property.value == "true") {
            all.retain(|property| !REPORTED.contains(&property.name.as_str()));
        }
        if let Some(never) = all.iter_mut().find(|property| property.name == MAIN_LOOP && property.value == "-1") {
            never.name = format!("{MAIN_LOOP}=-1");
        }
        let names = all.iter().map(|property| property.name.clone()).collect();
        all.into_iter().for_each(|property| properties.put(property));
        names
    }
}

fn property(place: &Place, name: String, value: String) -> Property {
    Property { name, value, place: place.clone() }
}

/// The properties that a setting stands for.
fn properties(key: &Key, place: &Place, value: &str, notes: &mut Notes<'_>) -> Result<Vec<Property>, Error> {
    let one = |name: String, kind: Kind, value: &str, notes: &Notes<'_>| {
        let read = kind.value(value).ok_or_else(|| notes.wrong(place, &name, kind.expected(), value))?;
        Ok(property(place, name, read))
    };
    // Slurm looks for options anywhere in the text, so that `SchedulerParameters==defer` has one.
    let parts = || value.trim_start_matches('=').split(',').map(str::trim).filter(|part| !part.is_empty());
    match key.kind {
        Kind::Options(options) => {
            let mut all = Vec::new();
            for part in parts() {
                let (name, value) = part.split_once('=').map_or((part, None), |(name, value)| (name, Some(value)));
                let name = name.trim().to_lowercase();
                if (key.name == SELECT && takes_up(&name)) || (key.name == MODE && MODES.contains(&name.as_str())) {
                    all.push(property(place, key.name.to_owned(), name));
                    continue;
                }
                if key.name == FLAGS && name == "no_fair_tree" {
                    all.push(of_option(place, FLAGS, "fair_tree", "false"));
                    continue;
                }
                if key.name == ENFORCE {
                    all.extend(implied(&name).iter().map(|option| of_option(place, ENFORCE, option, "true")));
                }
                match options.iter().find(|option| option.name == name) {
                    None if key.name == ENFORCE && name == "all" => {}
                    None => all.push(of_option(place, key.name, &name, value.unwrap_or("true"))),
                    Some(Key { kind: Kind::Beside(topic), .. }) => notes.beside(topic),
                    Some(option) => {
                        let value = value.map(str::trim).or(matches!(option.kind, Kind::Flag).then_some("true"));
                        // Slurm reports an option that it cannot read, and goes on with its default.
                        let read = one(format!("{}.{name}", key.name), option.kind, value.unwrap_or_default(), notes);
                        all.extend(notes.lenient(place, part, read));
                    }
                }
            }
            Ok(all)
        }
        Kind::Numbers => {
            let number = |part: &str| {
                let (name, value) = part.split_once('=').unwrap_or((part, ""));
                one(format!("{}.{}", key.name, name.trim().to_lowercase()), key.kind, value.trim(), notes)
            };
            parts().map(number).collect()
        }
        kind => Ok(vec![one(key.name.to_owned(), kind, value, notes)?]),
    }
}

fn of_option(place: &Place, key: &str, option: &str, value: &str) -> Property {
    property(place, format!("{key}.{option}"), value.to_owned())
}

/// True if a word of `SelectTypeParameters` says what jobs take up.
fn takes_up(word: &str) -> bool {
    ["cr_cpu", "cr_core", "cr_socket", "cr_board", "cr_memory"].contains(&word.trim_end_matches("_memory"))
        || word == "cr_memory"
}

/// What else is enforced.
fn implied(word: &str) -> &'static [&'static str] {
    match word {
        "all" => &["limits", "qos", "safe"],
        "safe" => &["limits"],
        _ => &[],
    }
}

/// To how many unknown settings the nearest known one is looked for.
const MOST_COMPARED: usize = 100;

/// Names those that no policy has a parameter for. `names` are those that were put.
pub(in crate::site) fn name_the_rest(names: &BTreeSet<String>, properties: &Properties, notes: &mut Notes<'_>) {
    let all = all_names();
    let mut unknown = 0;
    for Property { name, value, place } in properties.unknown().filter(|property| names.contains(&property.name)) {
        match key_of(name) {
            Some(key) => {
                if let Some(why) = key.why(value) {
                    notes.unsupported(place, name, why);
                }
            }
            None => {
                unknown += 1;
                let near = (unknown <= MOST_COMPARED).then(|| nearest(name, all.iter().map(String::as_str)));
                let why = format!("resched does not know it{}", near.unwrap_or_default());
                notes.unsupported(place, name, &why);
            }
        }
    }
}

/// The setting or the option of this name.
fn key_of(name: &str) -> Option<&'static Key> {
    let (key, option) = name.split_once('.').map_or((name, None), |(key, option)| (key, Some(option)));
    let key = known(key)?;
    match (key.kind, option) {
        (Kind::Options(options), Some(name)) => options.iter().find(|option| option.name == name),
        _ => Some(key),
    }
}

/// The names of all settings and options.
fn all_names() -> Vec<String> {
    let options = |key: &Key| match key.kind {
        Kind::Options(options) => options.iter().map(|option| format!("{}.{}", key.name, option.name)).collect(),
        _ => vec![key.name.to_owned()],
    };
    KEYS.iter().flat_map(options).collect()
}
