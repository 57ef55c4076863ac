//! What pods of Kubernetes ask of nodes, as texts of the tables: labels, tolerations, taints and required affinity.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The pairs `key=value` of a text, in its order. A key without a value has an empty one.
pub fn labels(text: &str) -> impl Iterator<Item = (&str, &str)> {
    parts(text).map(|part| part.split_once('=').unwrap_or((part, "")))
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(';').map(str::trim).filter(|part| !part.is_empty())
}

/// Labels, tolerations or taints as one text; `None` for none.
pub fn as_text(parts: impl IntoIterator<Item = impl fmt::Display>) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().map(|part| part.to_string()).collect();
    (!parts.is_empty()).then(|| parts.join(";"))
}

/// A label as it stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label<'a>(pub &'a str, pub &'a str);

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.0, self.1)
    }
}

/// The key that stands for all.
const EVERY: &str = "*";

/// A pod's leave to run in spite of taints: `key=value`, `key` for any value, `*` for every key; `:effect` behind it for one effect only.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Toleration {
    /// The key; empty: every key.
    pub key: String,
    /// The value; `None`: any (`operator: Exists`).
    pub value: Option<String>,
    /// `NoSchedule`, `NoExecute` or `PreferNoSchedule`; empty: every effect.
    pub effect: String,
}

impl Toleration {
    /// Those of a text, in its order.
    pub fn all(text: &str) -> impl Iterator<Item = Self> {
        parts(text).map(|part| {
            let (what, effect) = part.rsplit_once(':').unwrap_or((part, ""));
            let (key, value) = what.split_once('=').map_or((what, None), |(key, value)| (key, Some(value)));
            let key = if key == EVERY { "" } else { key };
            Self { key: key.to_owned(), value: value.map(str::to_owned), effect: effect.to_owned() }
        })
    }
}

impl fmt::Display for Toleration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.key.is_empty() { EVERY } else { &self.key })?;
        if let Some(value) = &self.value {
            write!(f, "={value}")?;
        }
        if self.effect.is_empty() { Ok(()) } else { write!(f, ":{}", self.effect) }
    }
}

/// A taint of a node: `key=value:effect`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Taint {
    /// The key.
    pub key: String,
    /// The value, empty if it has none.
    pub value: String,
    /// `NoSchedule`, `NoExecute` or `PreferNoSchedule`.
    pub effect: String,
}

impl Taint {
    /// Those of a text, in its order.
    pub fn all(text: &str) -> impl Iterator<Item = Self> {
        Toleration::all(text).map(|Toleration { key, value, effect }| Self {
            key,
            value: value.unwrap_or_default(),
            effect,
        })
    }
}

impl fmt::Display for Taint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}:{}", self.key, self.value, self.effect)
    }
}

/// A term of a required node affinity: all its expressions must hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Term {
    /// Its expressions.
    #[serde(default)]
    pub match_expressions: Vec<Expression>,
}

/// A requirement of a node's label.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Expression {
    /// The label.
    pub key: String,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`.
    pub operator: String,
    /// What the label is compared with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

/// The terms of a text.
///
/// # Errors
/// What is wrong with it, if it is not `nodeSelectorTerms` as JSON.
pub fn terms(text: &str) -> Result<Vec<Term>, String> {
    serde_json::from_str(text).map_err(|error| format!("expected nodeSelectorTerms as JSON, found {error}"))
}

/// Terms as a text; `None` for none.
pub fn terms_as_text(terms: &[Term]) -> Option<String> {
    (!terms.is_empty()).then(|| serde_json::to_string(terms).ok()).flatten()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn tolerations_and_taints_are_read_as_they_are_written() {
        let text = "spot=true;nvidia.com/gpu;*;a=b:NoSchedule;c=:NoExecute;*:NoExecute";
        let all: Vec<Toleration> = Toleration::all(text).collect();
        let expected = [
            ("spot", Some("true"), ""),
            ("nvidia.com/gpu", None, ""),
            ("", None, ""),
            ("a", Some("b"), "NoSchedule"),
            ("c", Some(""), "NoExecute"),
            ("", None, "NoExecute"),
        ];
        let read: Vec<_> =
            all.iter().map(|one| (one.key.as_str(), one.value.as_deref(), one.effect.as_str())).collect();
        assert_eq!(read, expected);
        assert_eq!(as_text(&all).as_deref(), Some(text));
        let taints: Vec<Taint> = Taint::all("a=b:NoSchedule; c:NoExecute").collect();
        assert_eq!(as_text(&taints).as_deref(), Some("a=b:NoSchedule;c=:NoExecute"));
        assert_eq!(as_text(Toleration::all(" ;")), None);
        assert_eq!(labels("gpu=a100;x").collect::<Vec<_>>(), [("gpu", "a100"), ("x", "")]);
        assert_eq!(as_text([Label("gpu", "a100")]).as_deref(), Some("gpu=a100"));
    }

    #[test]
    fn terms_are_those_of_the_api() {
        let text = r#"[{"matchExpressions":[{"key":"gpu","operator":"In","values":["a100","h100"]},{"key":"x","operator":"Exists"}]}]"#;
        let read = terms(text).unwrap();
        assert_eq!(read[0].match_expressions[0].values, ["a100", "h100"]);
        assert_eq!(terms_as_text(&read).as_deref(), Some(text));
        assert_eq!(terms_as_text(&[]), None);
        let error = terms("[{\"matchExpressions\":7}]").unwrap_err();
        assert!(error.contains("nodeSelectorTerms") && error.contains("line 1 column 22"), "{error}");
    }
}
