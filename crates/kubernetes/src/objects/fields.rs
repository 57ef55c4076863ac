//! Access to the fields of an object, with errors that name them, and a note of each that nobody asked for.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::error::{Error, Note, Place, Wrong};
use super::quantity;
use super::yaml::{Node, Value};

/// A map of an object.
pub(crate) struct Fields<'a> {
    file: &'a str,
    object: String,
    path: String,
    node: &'a Node,
    known: RefCell<BTreeSet<&'a str>>,
}

impl<'a> Fields<'a> {
    /// The top of a document.
    ///
    /// # Errors
    ///
    /// If it is no map, or has no kind.
    pub(crate) fn top(file: &'a str, node: &'a Node) -> Result<Self, Error> {
        let kind = node.get("kind").and_then(Node::text);
        let name = node.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Node::text);
        let object = [kind, name].into_iter().flatten().collect::<Vec<_>>().join(" ");
        let object = if object.is_empty() { "an object".to_owned() } else { object };
        let top = Self { file, object, path: String::new(), node, known: RefCell::default() };
        if !matches!(node.value, Value::Map(_)) {
            return Err(top.error("", node, "a map with kind and metadata", "remove the document, or write an object"));
        }
        Ok(top)
    }

    pub(crate) fn place(&self) -> Place {
        place(self.file, self.node)
    }

    fn field(&self, key: &str) -> String {
        match (self.path.is_empty(), key.is_empty()) {
            (true, _) => key.to_owned(),
            (false, true) => self.path.clone(),
            (false, false) => format!("{}.{key}", self.path),
        }
    }

    fn error(&self, key: &str, node: &Node, expected: &str, remedy: &str) -> Error {
        self.found(key, node, expected, &node.describe(), remedy)
    }

    fn found(&self, key: &str, node: &Node, expected: &str, found: &str, remedy: &str) -> Error {
        Error::new(Wrong {
            place: place(self.file, node),
            field: Some((self.object.clone(), self.field(key))),
            expected: expected.to_owned(),
            found: found.to_owned(),
            remedy: remedy.to_owned(),
        })
    }

    /// An error about a field that is there, or about this map if it is not.
    pub(crate) fn wrong(&self, key: &str, expected: &str, found: &str, remedy: &str) -> Error {
        self.found(key, self.node.get(key).unwrap_or(self.node), expected, found, remedy)
    }

    /// The value of a field that is not null.
    pub(crate) fn get(&self, key: &'static str) -> Option<&'a Node> {
        self.known.borrow_mut().insert(key);
        self.node.get(key).filter(|node| !matches!(node.value, Value::Null))
    }

    /// Fields that are known to have no effect.
    pub(crate) fn ignore(&self, keys: &[&'static str]) {
        self.known.borrow_mut().extend(keys);
    }

    pub(crate) fn map(&self, key: &'static str) -> Result<Option<Fields<'a>>, Error> {
        let Some(node) = self.get(key) else { return Ok(None) };
        if !matches!(node.value, Value::Map(_)) {
            return Err(self.error(key, node, "a map", "correct its indentation"));
        }
        Ok(Some(self.below(self.field(key), node)))
    }

    /// A map that must be there.
    pub(crate) fn need_map(&self, key: &'static str) -> Result<Fields<'a>, Error> {
        self.map(key)?.ok_or_else(|| self.wrong(key, "a map", "nothing", "add it"))
    }

    fn below(&self, path: String, node: &'a Node) -> Fields<'a> {
        Fields { file: self.file, object: self.object.clone(), path, node, known: RefCell::default() }
    }

    fn nodes(&self, key: &'static str) -> Result<&'a [Node], Error> {
        match self.get(key) {
            None => Ok(&[]),
            Some(Node { value: Value::List(list), .. }) => Ok(list),
            Some(node) => Err(self.error(key, node, "a list", "put each entry on a line of its own, after \"- \"")),
        }
    }

    /// The maps of a list; none if the field is absent.
    pub(crate) fn maps(&self, key: &'static str) -> Result<Vec<Fields<'a>>, Error> {
        let mut maps = Vec::new();
        for (at, node) in self.nodes(key)?.iter().enumerate() {
            if !matches!(node.value, Value::Map(_)) {
                return Err(self.error(key, node, "maps in the list", "correct the entry"));
            }
            maps.push(self.below(format!("{}[{at}]", self.field(key)), node));
        }
        Ok(maps)
    }

    /// The texts of a list.
    pub(crate) fn texts(&self, key: &'static str) -> Result<Vec<String>, Error> {
        let text = |node: &Node| {
            node.text()
                .map(str::to_owned)
                .ok_or_else(|| self.error(key, node, "names in the list", "correct the entry"))
        };
        self.nodes(key)?.iter().map(text).collect()
    }

    /// Names with texts, in the order of the file.
    pub(crate) fn pairs(&self, key: &'static str) -> Result<Vec<(String, String)>, Error> {
        let Some(node) = self.get(key) else { return Ok(Vec::new()) };
        let Value::Map(entries) = &node.value else {
            return Err(self.error(key, node, "a map of texts", "correct its indentation"));
        };
        let mut pairs = Vec::new();
        for (name, value) in entries {
            let text = match &value.value {
                Value::Null => "",
                Value::Scalar { text, .. } => text,
                _ => return Err(self.error(key, value, "a text for each name", "correct the entry")),
            };
            pairs.push((name.text().unwrap_or_default().to_owned(), text.to_owned()));
        }
        Ok(pairs)
    }

    pub(crate) fn text(&self, key: &'static str) -> Result<Option<&'a str>, Error> {
        let Some(node) = self.get(key) else { return Ok(None) };
        let text = node.text().ok_or_else(|| self.error(key, node, "a text", "correct the value"))?;
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    /// A text that must be there.
    pub(crate) fn need_text(&self, key: &'static str) -> Result<&'a str, Error> {
        self.text(key)?.ok_or_else(|| self.wrong(key, "a name", "nothing", "add it"))
    }

    /// One of some words, with what each means.
    pub(crate) fn word<T: Copy>(&self, key: &'static str, words: &[(&str, T)]) -> Result<Option<T>, Error> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        if let Some(&(_, meaning)) = words.iter().find(|(word, _)| *word == text) {
            return Ok(Some(meaning));
        }
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        Err(self.wrong(key, &format!("one of {}", names.join(", ")), &format!("{text:?}"), "correct the word"))
    }

    pub(crate) fn integer(&self, key: &'static str) -> Result<Option<i64>, Error> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        let integer = text.parse::<i32>().map(i64::from);
        let expected = "an integer of 32 bits";
        integer.map(Some).map_err(|_| self.wrong(key, expected, &format!("{text:?}"), "correct the number"))
    }

    pub(crate) fn flag(&self, key: &'static str) -> Result<Option<bool>, Error> {
        self.word(key, &[("true", true), ("false", false)])
    }

    /// An amount of a resource, in its unit.
    pub(crate) fn amount(&self, key: &'static str, resource: &str) -> Result<Option<i64>, Error> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        let expected = "an amount from 0 to 2^60, such as 4, 100m or 2Gi";
        let remedy = "correct the amount";
        quantity::amount(resource, text).map(Some).map_err(|found| self.wrong(key, expected, &found, remedy))
    }

    /// A weight of fair sharing: at least 0.
    pub(crate) fn weight(&self, key: &'static str) -> Result<Option<f64>, Error> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        let quantity = quantity::Quantity::parse(text);
        let quantity =
            quantity.and_then(|q| if q.is_negative() { Err(format!("{text:?}, which is negative")) } else { Ok(q) });
        let expected = "a weight of at least 0, such as 2 or 500m";
        quantity
            .map(|quantity| Some(quantity.to_f64()))
            .map_err(|found| self.wrong(key, expected, &found, "correct the weight"))
    }

    /// Notes the fields that nobody asked for.
    pub(crate) fn rest(&self, notes: &mut Vec<Note>) {
        let Value::Map(entries) = &self.node.value else { return };
        for (key, _) in entries {
            let name = key.text().unwrap_or_default();
            if !self.known.borrow().contains(name) {
                let object = self.object.clone();
                notes.push(Note { place: place(self.file, key), object, field: self.field(name) });
            }
        }
    }
}

fn place(file: &str, node: &Node) -> Place {
    Place { file: file.to_owned(), line: node.line as usize, column: node.column as usize }
}
