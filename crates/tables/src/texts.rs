//! Texts that many things have, such as users and queues, each kept once.

use std::sync::Arc;

use hashbrown::HashSet;

/// Texts, each kept once.
#[derive(Debug, Default)]
pub struct Texts {
    known: HashSet<Arc<str>>,
}

impl Texts {
    /// The text as it is kept.
    pub fn share(&mut self, text: &str) -> Arc<str> {
        Arc::clone(self.known.get_or_insert_with(text, |text| Arc::from(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_one() {
        let mut texts = Texts::default();
        let (first, other, again) = (texts.share("ann"), texts.share("bob"), texts.share("ann"));
        assert!(Arc::ptr_eq(&first, &again));
        assert_eq!((&*first, &*other), ("ann", "bob"));
    }
}
