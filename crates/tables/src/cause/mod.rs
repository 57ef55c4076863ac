//! Why something of a source is not in the tables as it stands there: a closed list of causes, each with what it means, what it does to an
//! answer, and what you can do about it.
//!
//! [`Sink::skip`](crate::sink::Sink::skip) takes one of them and nothing else, so each count of a trace is explained. `docs/reference/causes.md`
//! is made from [`SECTIONS`]. To count something new, add it to the file of its section.

mod copies;
mod dependencies;
mod exports;
mod files;
mod kubernetes;
mod machines;
mod records;
mod requests;
mod subsets;
mod tasks;
mod times;

use std::collections::BTreeMap;
use std::fmt;

pub use self::copies::*;
pub use self::dependencies::*;
pub use self::exports::*;
pub use self::files::*;
pub use self::kubernetes::*;
pub use self::machines::*;
pub use self::records::*;
pub use self::requests::*;
pub use self::subsets::*;
pub use self::tasks::*;
pub use self::times::*;

/// A cause. Only this module makes one.
#[derive(Clone, Copy)]
pub struct Cause(&'static About);

#[derive(Debug)]
struct About {
    name: &'static str,
    kind: Kind,
    means: &'static str,
    effect: &'static str,
    remedy: &'static str,
}

/// What became of the thing that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// It could not be read.
    Damaged,
    /// The tables lack it.
    LeftOut,
    /// The tables have another value than the source.
    Mended,
    /// The source leaves it open, and a rule decided.
    Assumed,
    /// Several records became one, or the source has it under another name, too.
    Merged,
}

impl Kind {
    /// All, in the order in which they are shown.
    pub const ALL: [Self; 5] = [Self::Damaged, Self::LeftOut, Self::Mended, Self::Assumed, Self::Merged];

    /// In words, as a heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Damaged => "could not be read",
            Self::LeftOut => "left out",
            Self::Mended => "mended",
            Self::Assumed => "assumed",
            Self::Merged => "merged",
        }
    }
}

impl Cause {
    /// The name under which it is counted: words in small letters with hyphens between, such as `damaged-line`.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// What became of the things that are counted.
    pub const fn kind(self) -> Kind {
        self.0.kind
    }

    /// What is counted, as a sentence.
    pub const fn means(self) -> &'static str {
        self.0.means
    }

    /// What it does to an answer, as a sentence.
    pub const fn effect(self) -> &'static str {
        self.0.effect
    }

    /// What you can do about it, as a sentence; empty if nothing.
    pub const fn remedy(self) -> &'static str {
        self.0.remedy
    }

    /// The cause of that name. `None` for another text, such as the name in a trace of a newer version.
    pub fn named(name: &str) -> Option<Self> {
        SECTIONS.iter().flat_map(|section| section.causes).copied().find(|cause| cause.name() == name)
    }
}

impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Cause {}

impl PartialOrd for Cause {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cause {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.name().cmp(other.name())
    }
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl AsRef<str> for Cause {
    fn as_ref(&self) -> &str {
        self.name()
    }
}

/// Counts by name, as a manifest has them.
pub fn by_name(counted: &BTreeMap<Cause, u64>) -> BTreeMap<String, u64> {
    counted.iter().map(|(cause, &n)| (cause.name().to_owned(), n)).collect()
}

/// Causes that belong together.
#[derive(Debug)]
pub struct Section {
    /// Its heading.
    pub title: &'static str,
    /// Its causes, in the order of the page.
    pub causes: &'static [Cause],
}

/// All causes.
pub const SECTIONS: &[Section] = &[
    Section { title: "Files", causes: files::ALL },
    Section { title: "Records", causes: records::ALL },
    Section { title: "Times", causes: times::ALL },
    Section { title: "Rows of one job", causes: copies::ALL },
    Section { title: "What jobs ask for", causes: requests::ALL },
    Section { title: "Dependencies", causes: dependencies::ALL },
    Section { title: "Tasks and attempts", causes: tasks::ALL },
    Section { title: "Machines", causes: machines::ALL },
    Section { title: "Kubernetes", causes: kubernetes::ALL },
    Section { title: "A part of a trace", causes: subsets::ALL },
    Section { title: "Exports", causes: exports::ALL },
];

/// Declares causes: a constant each, and the list `ALL` of them.
macro_rules! causes {
    ($($id:ident: $name:literal, $kind:ident, $means:literal, $effect:literal, $remedy:literal;)+) => {
        $(
            #[doc = $means]
            pub const $id: $crate::cause::Cause = $crate::cause::Cause(&$crate::cause::About {
                name: $name,
                kind: $crate::cause::Kind::$kind,
                means: $means,
                effect: $effect,
                remedy: $remedy,
            });
        )+

        pub(super) const ALL: &[$crate::cause::Cause] = &[$($id),+];
    };
}
use causes;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_cause_has_a_name_of_its_own_and_sentences() {
        let all: Vec<Cause> = SECTIONS.iter().flat_map(|section| section.causes).copied().collect();
        assert!(all.len() > 100, "{}", all.len());
        let names: BTreeSet<&str> = all.iter().map(|cause| cause.name()).collect();
        assert_eq!(names.len(), all.len());
        for cause in all {
            let is_name = |letter: char| letter.is_ascii_lowercase() || letter == '-';
            assert!(cause.name().chars().all(is_name) && cause.name().contains('-'), "{cause}");
            assert_eq!(Cause::named(cause.name()), Some(cause));
            for text in [cause.means(), cause.effect()] {
                assert!(text.ends_with('.') && text.starts_with(|first: char| first.is_uppercase()), "{cause}: {text}");
            }
            assert!(cause.remedy().is_empty() || cause.remedy().ends_with('.'), "{cause}");
            for sentence in [cause.means(), cause.effect(), cause.remedy()].iter().flat_map(|text| text.split(". ")) {
                assert!(sentence.split(' ').count() <= 35 && !sentence.contains('|'), "{cause}: {sentence}");
            }
        }
        assert_eq!(Cause::named("no-such-cause"), None);
    }
}
