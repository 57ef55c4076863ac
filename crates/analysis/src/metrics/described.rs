//! The numbers of a run as the reference page describes them.

use resched_tables::reference::{Measure, joined};

use super::list::{Number, Way};
use super::summary::{Details, Summary};

impl Number {
    /// What it is: an expression of the grammar in backquotes, or sentences.
    pub fn meaning(&self) -> String {
        match self.way {
            Way::Text(text) => format!("`{text}`"),
            Way::Run(_) => self.measure().map_or_else(String::new, |measure| joined(measure.meaning)),
        }
    }

    /// When it is unknown.
    pub fn null(&self) -> &'static str {
        match self.measure() {
            Some(Measure { null: "", .. }) => "never",
            Some(measure) => measure.null,
            None => self.null,
        }
    }

    /// What the summary or the details say of it.
    fn measure(&self) -> Option<&'static Measure> {
        Summary::MEASURES.iter().chain(Details::MEASURES).find(|measure| measure.name == self.field)
    }
}
