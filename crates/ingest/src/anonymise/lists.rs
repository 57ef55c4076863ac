//! Pseudonyms of names that stand in one text: features, licences and other resources.

use std::collections::BTreeMap;

use resched_tables::named::{amounts, as_text};
use resched_tables::pods;

use super::{Kind, Names};

/// The effects of taints, and the operators of affinity: words of Kubernetes.
const EFFECTS: [&str; 3] = ["NoSchedule", "NoExecute", "PreferNoSchedule"];
const OPERATORS: [&str; 6] = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];

impl Names<'_> {
    /// The pseudonyms of features and labels. The marks that join them stay: `(a|b)&c*2`, `key=value:effect;key`. So does a count behind
    /// `*`, and so do the effects of taints.
    pub(super) fn words(&self, kind: Kind, text: &str) -> String {
        let is_word = |letter: char| !"&|[](),*!;=:".contains(letter) && !letter.is_whitespace();
        let (mut named, mut rest, mut is_count) = (String::new(), text, false);
        while let Some(first) = rest.chars().next() {
            let end = rest.find(|letter| is_word(letter) != is_word(first)).unwrap_or(rest.len());
            let (part, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            let is_number = is_count && part.bytes().all(|byte| byte.is_ascii_digit());
            if is_word(first) && !is_number && !EFFECTS.contains(&part) {
                named.push_str(&self.hash(kind, part));
            } else {
                named.push_str(part);
            }
            is_count = part.ends_with('*');
            rest = after;
        }
        named
    }

    /// Required node affinity with the pseudonyms of its labels; `None` if it cannot be read.
    pub(super) fn affinity(&mut self, text: &str) -> Option<String> {
        let mut terms = pods::terms(text).ok()?;
        for expression in terms.iter_mut().flat_map(|term| &mut term.match_expressions) {
            expression.key = self.kept(Kind::Feature, &expression.key);
            let is_known = OPERATORS.contains(&expression.operator.as_str());
            let is_number = |value: &String| value.parse::<i64>().is_ok();
            expression.values = expression
                .values
                .iter()
                .map(|value| if is_number(value) { value.clone() } else { self.kept(Kind::Feature, value) })
                .collect();
            if !is_known {
                return None;
            }
        }
        pods::terms_as_text(&terms)
    }

    /// The pseudonyms of resources with their counts. Slurm's own words for their kind stay: `gres/<hash>=2`. So does `gpu` (of Slurm or of
    /// a maker), which names nobody: without it, no job of the trace would ask for GPUs. Models have pseudonyms.
    pub(super) fn resources(&self, text: &str) -> String {
        const KINDS: [&str; 3] = ["gres", "license", "bb"];
        let of = |name: &str| match name.split_once('/') {
            Some(("gres" | "nvidia.com" | "amd.com", "gpu")) => name.to_owned(),
            Some((kind, name)) if KINDS.contains(&kind) => match name.split_once(':') {
                Some(("gpu", model)) => format!("{kind}/gpu:{}", self.hash(Kind::Resource, model)),
                _ => format!("{kind}/{}", self.hash(Kind::Resource, name)),
            },
            _ => self.hash(Kind::Resource, name),
        };
        let all: BTreeMap<String, u64> = amounts(text).map(|(name, count)| (of(name), count)).collect();
        as_text(all.iter().map(|(name, &count)| (name.as_str(), count))).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Key;
    use super::*;

    #[test]
    fn features_and_resources_keep_marks_kinds_and_counts() {
        let key = Key::of(&[7; 32]);
        let mut names = Names { key: &key, kept: BTreeMap::new() };
        let [ann, bob] = ["ann", "bob"].map(|word| names.kept(Kind::Feature, word));
        assert_eq!(names.kept(Kind::Feature, "(ann|bob)&ann*2"), format!("({ann}|{bob})&{ann}*2"));
        let [a100, fpga] = ["a100", "fpga"].map(|name| names.hash(Kind::Resource, name));
        assert_eq!(names.kept(Kind::Resource, "gres/gpu=2"), "gres/gpu=2", "jobs still ask for GPUs");
        assert_eq!(names.kept(Kind::Resource, "gres/gpu:a100=2"), format!("gres/gpu:{a100}=2"));
        assert_eq!(names.kept(Kind::Resource, "gres/fpga=2"), format!("gres/{fpga}=2"));
        let labels = [("a", "ann"), ("b", "bob")]
            .map(|(key, value)| (names.hash(Kind::Feature, key), names.hash(Kind::Feature, value)));
        let [(a, ann), (b, bob)] = labels;
        assert_eq!(names.kept(Kind::Feature, "a=ann:NoSchedule;b;*"), format!("{a}={ann}:NoSchedule;{b};*"));
        let term = r#"[{"matchExpressions":[{"key":"a","operator":"In","values":["bob","7"]}]}]"#;
        let expected = term.replace("\"a\"", &format!("\"{a}\"")).replace("bob", &bob);
        assert_eq!(names.affinity(term), Some(expected));
        assert_eq!(names.affinity("[{\"secret\": 1"), None);
        let two = names.kept(Kind::Resource, "license/secret=1,own=3");
        assert!(
            two.contains("license/") && two.contains("=1") && two.contains("=3") && !two.contains("secret"),
            "{two}"
        );
    }
}
