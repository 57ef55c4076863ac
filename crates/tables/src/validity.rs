//! How far an answer can be trusted: what decides it, and whether that was observed.
//!
//! A replay answers a question about a cluster. Some of what decides the answer is in the trace; the rest is assumed. Each
//! [`Fact`] names one such thing, says where it comes from and what you can do about it. The worst of them is the grade of the
//! whole.

use serde::{Deserialize, Serialize};

/// How far an answer can be trusted. Later is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// What decides it was observed, or you gave it.
    #[default]
    Measured,
    /// Something that decides it was assumed.
    Assumed,
    /// The data cannot answer the question. Numbers may be shown, but no test and no interval.
    NotAnswerable,
}

impl Grade {
    /// The grade in words.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Assumed => "assumed",
            Self::NotAnswerable => "cannot answer",
        }
    }

    /// What the grade says about an answer, as a sentence.
    pub fn as_sentence(self) -> &'static str {
        match self {
            Self::Measured => "Nothing that decides the answer had to be assumed.",
            Self::Assumed => "This answer rests on assumptions.",
            Self::NotAnswerable => "The data cannot answer this question.",
        }
    }
}

/// The word of [`Fact::about`] for jobs that can never start. However few they are, readers see them.
pub const NEVER_START: &str = "never-start";

/// Something that decides an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Fact {
    /// What it is about, in one word: `slots`, `capacity`, `requests`, `placement`, `run-times`, `unfinished`, `waiting`, `queues`,
    /// `contention`, `validation`, `model-error`, `comparison`, `calibration`, `made`, `load`, `sign`, `population`, `inputs`, `settings`,
    /// `limits` or `never-start`.
    pub about: String,
    /// Whether it was observed.
    pub grade: Grade,
    /// What holds, as a sentence with its full stop.
    pub says: String,
    /// What you can do about it, as a sentence with its full stop; empty if there is nothing to do.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
}

impl Fact {
    /// A fact that needs no remedy.
    pub fn new(about: &str, grade: Grade, says: impl Into<String>) -> Self {
        Self { about: about.to_owned(), grade, says: says.into(), remedy: String::new() }
    }

    /// The same with a remedy.
    #[must_use]
    pub fn with_remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: remedy.into(), ..self }
    }
}

/// All facts about an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Validity {
    /// The facts, in the order in which they were found.
    pub facts: Vec<Fact>,
}

impl Validity {
    /// The worst grade of the facts; without any, measured.
    pub fn grade(&self) -> Grade {
        self.facts.iter().map(|fact| fact.grade).max().unwrap_or_default()
    }

    /// True if there are no facts.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// Adds a fact, unless it is there already.
    pub fn add(&mut self, fact: Fact) {
        if !self.facts.contains(&fact) {
            self.facts.push(fact);
        }
    }

    /// These facts and those of `other`.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        other.facts.iter().for_each(|fact| self.add(fact.clone()));
        self
    }

    /// The facts that say more than "observed", the worst first, and jobs that can never start.
    pub fn caveats(&self) -> Vec<&Fact> {
        let is_shown = |fact: &&Fact| fact.grade > Grade::Measured || fact.about == NEVER_START;
        let mut caveats: Vec<&Fact> = self.facts.iter().filter(is_shown).collect();
        caveats.sort_by_key(|fact| std::cmp::Reverse(fact.grade));
        caveats
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_fact_is_the_grade() {
        let mut validity = Validity::default();
        assert_eq!(validity.grade(), Grade::Measured);
        validity.add(Fact::new("slots", Grade::Assumed, "two and two"));
        validity.add(Fact::new("waiting", Grade::NotAnswerable, "no task waited"));
        validity.add(Fact::new("slots", Grade::Assumed, "two and two"));
        validity.add(Fact::new("run-times", Grade::Measured, "all observed"));
        assert_eq!((validity.grade(), validity.facts.len()), (Grade::NotAnswerable, 3));
        let reported: Vec<&str> = validity.caveats().into_iter().map(|fact| fact.about.as_str()).collect();
        assert_eq!(reported, ["waiting", "slots"]);
    }
}
