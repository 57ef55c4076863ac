//! Properties, as `mapred-site.xml`, `yarn-site.xml` and `capacity-scheduler.xml` hold them:
//! `<configuration><property><name>…</name><value>…</value></property>…</configuration>`.

use std::collections::{BTreeMap, BTreeSet};

use super::xml::{Element, Notes, Place};
use crate::error::Error;

/// A property that is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) place: Place,
}

impl Property {
    /// True if its value refers to another property.
    pub(super) fn is_reference(&self) -> bool {
        self.value.contains("${")
    }

    /// Notes that it has no effect for that reason.
    pub(super) fn name_reference(&self, notes: &mut Notes<'_>) {
        let why = format!("`{}` refers to another property; put the value itself", self.value);
        notes.unsupported(&self.place, &self.name, &why);
    }
}

/// Properties by name; one that is set again has its last value.
#[derive(Debug, Default)]
pub(super) struct Properties {
    set: BTreeMap<String, Property>,
    known: BTreeSet<String>,
}

impl Properties {
    /// Adds those of a file, from its `<configuration>`.
    pub(super) fn add(&mut self, root: Element<'_>, notes: &mut Notes<'_>) -> Result<(), Error> {
        for element in root.children() {
            if element.is_include() {
                let href = element.attribute("href").unwrap_or_default();
                notes.unsupported(element.place(), "xi:include", &format!("put what `{href}` holds into this file"));
            } else if element.name() == "property" {
                self.set(element, notes);
            } else {
                notes.unsupported(element.place(), &element.tag(), "only <property> is read here");
            }
        }
        Ok(())
    }

    /// The names that begin so, of properties that are set.
    pub(super) fn names_beginning_with(&self, begin: &str) -> impl Iterator<Item = String> {
        let range = self.set.range(begin.to_owned()..);
        range.map(|(name, _)| name.clone()).take_while(move |name| name.starts_with(begin))
    }

    /// Adds one of a file that is not XML.
    pub(super) fn put(&mut self, property: Property) {
        self.set.insert(property.name.clone(), property);
    }

    fn set(&mut self, element: Element<'_>, notes: &mut Notes<'_>) {
        let part = |name: &str| {
            let attribute = || element.attribute(name).map(|value| value.trim().to_owned());
            element.child(name).map(|child| child.text()).or_else(attribute)
        };
        let place = element.place();
        let name = part("name").filter(|name| !name.is_empty());
        // Hadoop passes over a property without a name.
        let Some(name) = name else { return notes.odd(&place, "<property>", "a <name> in it", "none") };
        // Hadoop takes a property without a value for one that is not set.
        if let Some(value) = part("value").filter(|value| !value.is_empty()) {
            self.set.insert(name.clone(), Property { name, value, place });
        }
    }

    /// The property of the first of these names that is set, if its value can be read. All of them count as known.
    pub(super) fn first(&mut self, names: &[&str], notes: &mut Notes<'_>) -> Option<Property> {
        self.known.extend(names.iter().map(|&name| name.to_owned()));
        let found = names.iter().find_map(|&name| self.set.get(name))?;
        if found.is_reference() {
            found.name_reference(notes);
            return None;
        }
        Some(found.clone())
    }

    /// Those that begin so, by name. They count as known.
    pub(super) fn beginning_with(&mut self, prefix: &str) -> Vec<Property> {
        let from = self.set.range(prefix.to_owned()..).map(|(_, property)| property);
        let found: Vec<Property> = from.take_while(|property| property.name.starts_with(prefix)).cloned().collect();
        self.known.extend(found.iter().map(|property| property.name.clone()));
        found
    }

    /// Those that nothing asked for.
    pub(super) fn unknown(&self) -> impl Iterator<Item = &Property> {
        self.set.values().filter(|property| !self.known.contains(&property.name))
    }
}
