//! How far an answer can be trusted, in words: the one place where commands print grades and facts.

use resched_tables::validity::{Fact, Grade, Validity};
use serde::Serialize;

/// What decides the answer, as sentences, the worst first; nothing if all of it was observed.
pub(crate) fn caveats(validity: &Validity) -> String {
    let line = |fact: &Fact| {
        format!("  {}: {} {}", fact.grade.in_words(), fact.says, fact.remedy).trim_end().to_owned() + "\n"
    };
    let lines: String = validity.caveats().into_iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{}\n{lines}", validity.grade().as_sentence()) }
}

/// The grade and its facts, also if nothing had to be assumed.
pub(crate) fn graded(validity: &Validity) -> String {
    match validity.caveats().is_empty() {
        true => format!("\nGrade: measured. {}\n", Grade::Measured.as_sentence()),
        false => caveats(validity),
    }
}

/// A result with its grade and facts, as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Graded<'a, T> {
    #[serde(flatten)]
    result: &'a T,
    /// How far it can be trusted: the worst grade of `validity`.
    grade: Grade,
    /// What decides it, and whether that was observed.
    validity: &'a Validity,
}

impl<'a, T: Serialize> Graded<'a, T> {
    /// A result and what it rests on.
    pub(crate) fn of(result: &'a T, validity: &'a Validity) -> Self {
        Self { result, grade: validity.grade(), validity }
    }
}
