//! Namespaces, and the selectors that choose among them.

use super::error::{Error, Note, Place};
use super::fields::Fields;

/// A Namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace {
    /// Its name.
    pub name: String,
    /// Its labels.
    pub labels: Vec<(String, String)>,
    /// Where it stands.
    pub place: Place,
}

impl Namespace {
    pub(crate) fn read(top: &Fields<'_>) -> Result<Self, Error> {
        top.ignore(&["spec"]);
        let metadata = top.need_map("metadata")?;
        let name = metadata.need_text("name")?.to_owned();
        Ok(Self { name, labels: metadata.pairs("labels")?, place: top.place() })
    }
}

/// A selector of labels. An empty one selects all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector {
    /// Labels with their values.
    pub labels: Vec<(String, String)>,
    /// Further conditions: label, operator, values.
    pub expressions: Vec<(String, SelectorOperator, Vec<String>)>,
}

/// The operator of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectorOperator {
    /// The value is one of the list.
    In,
    /// The label is absent, or its value is none of the list.
    NotIn,
    /// The label is there.
    Exists,
    /// The label is absent.
    DoesNotExist,
}

impl Selector {
    pub(crate) fn read(fields: &Fields<'_>, notes: &mut Vec<Note>) -> Result<Self, Error> {
        let operators = [
            ("In", SelectorOperator::In),
            ("NotIn", SelectorOperator::NotIn),
            ("Exists", SelectorOperator::Exists),
            ("DoesNotExist", SelectorOperator::DoesNotExist),
        ];
        let mut expressions = Vec::new();
        for expression in fields.maps("matchExpressions")? {
            let operator = expression.word("operator", &operators)?;
            let operator = operator.ok_or_else(|| expression.wrong("operator", "an operator", "nothing", "add it"))?;
            expressions.push((expression.need_text("key")?.to_owned(), operator, expression.texts("values")?));
            expression.rest(notes);
        }
        let selector = Self { labels: fields.pairs("matchLabels")?, expressions };
        fields.rest(notes);
        Ok(selector)
    }

    /// True if it selects a namespace with these labels. Each namespace has its name as `kubernetes.io/metadata.name`.
    pub fn selects(&self, namespace: &str, labels: &[(String, String)]) -> bool {
        let value = |key: &str| {
            let given = labels.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
            given.or((key == "kubernetes.io/metadata.name").then_some(namespace))
        };
        let listed = |found: Option<&str>, values: &[String]| {
            found.is_some_and(|found| values.iter().any(|value| value == found))
        };
        self.labels.iter().all(|(key, wanted)| value(key) == Some(wanted))
            && self.expressions.iter().all(|(key, operator, values)| match operator {
                SelectorOperator::In => listed(value(key), values),
                SelectorOperator::NotIn => !listed(value(key), values),
                SelectorOperator::Exists => value(key).is_some(),
                SelectorOperator::DoesNotExist => value(key).is_none(),
            })
    }
}
