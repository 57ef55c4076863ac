//! What a user can write and read, declared once: keys of TOML files, columns of tables, metrics.
//!
//! * [`keys!`](crate::keys!) declares a table of a TOML file. It yields the struct, its reader, its defaults, the check of its
//!   ranges and the rows of its reference page.
//! * [`choices!`](crate::choices!) declares the words that a key takes.
//! * [`measures!`](crate::measures!) declares a struct of numbers about a run.
//! * [`nearest`] finds the known word that a user may have meant.
//! * [`Page`] writes a reference page (`docs/reference/`) from these and from the tables of [`crate::model`].
//!
//! ```
//! use resched_tables::reference::Value;
//!
//! resched_tables::choices! {
//!     /// How long a shelf is.
//!     pub enum Length {
//!         /// One metre.
//!         Short = "short",
//!         /// Two metres.
//!         Long = "long",
//!     }
//! }
//!
//! resched_tables::keys! {
//!     /// A shelf.
//!     pub struct Shelf: Default {
//!         /// How long it is.
//!         length: Length = Length::Short;
//!         /// How much it carries.
//!         load: f64 = 20.0, unit "kg", range 1.0..=80.0;
//!     }
//! }
//!
//! let shelf: Shelf = toml::from_str("load = 90.0")?;
//! assert_eq!(shelf.length, Length::Short);
//! assert_eq!(shelf.check_ranges("shelf").err().as_deref(), Some("shelf.load: expected a number from 1 to 80, found 90"));
//! # Ok::<(), toml::de::Error>(())
//! ```

mod macros;
mod nearest;
mod page;
mod ranges;
mod read;
mod values;

pub use nearest::{is_one_letter_off, nearest};
pub use page::Page;
pub use ranges::{Bounded, Limits, Number, Outside, above, check_range};
pub use read::{KnownKey, Within, once};
pub use values::Value;

use serde::Serialize;

/// A table of a TOML file: its keys and what it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The name of its struct. Tables of one struct share one section of a page.
    pub name: &'static str,
    /// What it describes.
    pub about: String,
    /// Its keys, in the order of their declaration.
    pub keys: Vec<Key>,
}

/// A key of a TOML file.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub shape: Shape,
    /// The unit of its numbers; empty for none.
    pub unit: &'static str,
    /// Its default as TOML writes it, `none` for nothing; `None` if the key is required.
    pub default: Option<String>,
    /// Which values are allowed, in words; empty if all of its type are.
    pub range: String,
    /// What it means.
    pub meaning: String,
}

/// The value of a key.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Its type, in words: `integer`, `text`, `list of numbers`.
    pub kind: String,
    /// Which values the type allows, in words; empty if its kind says it all.
    pub range: String,
    /// The words to choose from, if it is a choice.
    pub words: Vec<Word>,
    /// The table that stands there, if it is one.
    pub table: Option<Table>,
    /// How the header of that table is written.
    pub header: Header,
}

/// How the header of a table in a TOML file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// `[key]`: there is one.
    One,
    /// `[[key]]`: there may be several.
    Several,
    /// `[key.NAME]`: there may be several, each with a name.
    Named,
}

/// A word that a key or a column takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// The word as it is written.
    pub word: &'static str,
    /// What it means, a line of documentation each.
    pub meaning: &'static [&'static str],
}

/// A column of a table of a trace or a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type, in words.
    pub kind: &'static str,
    /// The unit of its numbers; empty for none.
    pub unit: &'static str,
    /// Whether it may be null, which stands for unknown.
    pub nullable: bool,
    /// What it means.
    pub meaning: String,
    /// The words that it holds, if it is an enumeration.
    pub words: &'static [Word],
}

/// A number about a run or a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    /// Its name.
    pub name: &'static str,
    /// Its unit; empty for none.
    pub unit: &'static str,
    /// What it means or how it is computed, a line of documentation each.
    pub meaning: &'static [&'static str],
    /// When it is null; empty for never.
    pub null: &'static str,
    /// Where its definition comes from; empty if it needs no source.
    pub source: &'static str,
}

impl Shape {
    /// Of a type that its name describes.
    pub fn plain(kind: &str) -> Self {
        Self { kind: kind.to_owned(), range: String::new(), words: Vec::new(), table: None, header: Header::One }
    }

    /// Of a choice between words.
    pub fn choice(words: &[Word]) -> Self {
        Self { words: words.to_vec(), ..Self::plain("choice") }
    }

    /// Of a table.
    pub fn table(table: Table) -> Self {
        Self { table: Some(table), ..Self::plain("table") }
    }
}

/// Lines of documentation as one text for readers of Markdown: links to code become plain code.
pub fn joined(lines: &[&str]) -> String {
    let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    lines.join(" ").replace("[`", "`").replace("`]", "`")
}

/// A default as TOML writes it; `none` for nothing.
pub fn shown<T: Serialize>(default: &T) -> String {
    let text = toml::Value::try_from(default).map(|value| value.to_string()).unwrap_or_default();
    if ["", "\"\"", "[]", "{}"].contains(&text.as_str()) { "none".to_owned() } else { text }
}

/// The name of a key below a table; that of a top-level key is its own.
pub fn below(table: &str, key: &str) -> String {
    if table.is_empty() { key.to_owned() } else { format!("{table}.{key}") }
}
