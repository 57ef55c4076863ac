//! Texts that are kept once, however often they come: ids, names and users.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// The place of a text; the first is the empty text, which stands for none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TextId(u32);

impl TextId {
    /// The text of this number.
    pub(crate) fn of(number: usize) -> Self {
        u32::try_from(number).map_or_else(|_| Self::default(), Self)
    }

    /// Its number, from 0.
    pub(crate) fn number(self) -> usize {
        self.0 as usize
    }
}

/// Texts one behind the other.
#[derive(Debug)]
pub(crate) struct Texts {
    all: String,
    /// Where each ends.
    ends: Vec<usize>,
    /// The place of each, behind its hash: the table grows, and compares, without a look at the texts.
    places: HashTable<(u64, u32)>,
    hasher: DefaultHashBuilder,
}

impl Default for Texts {
    fn default() -> Self {
        Self { all: String::new(), ends: vec![0], places: HashTable::new(), hasher: DefaultHashBuilder::default() }
    }
}

impl Texts {
    /// The place of a text, which is kept if it is new.
    pub(crate) fn keep(&mut self, text: &str) -> TextId {
        if text.is_empty() {
            return TextId::default();
        }
        let Self { all, ends, places, hasher } = self;
        let hash = hasher.hash_one(text);
        if let Some(&(_, place)) = places.find(hash, |&(other, place)| other == hash && at(all, ends, place) == text) {
            return TextId(place);
        }
        // So many texts do not fit into memory.
        let Ok(place) = u32::try_from(ends.len()) else { return TextId::default() };
        all.push_str(text);
        ends.push(all.len());
        places.insert_unique(hash, (hash, place), |&(hash, _)| hash);
        TextId(place)
    }

    /// The place of a text that was kept.
    pub(crate) fn find(&self, text: &str) -> Option<TextId> {
        let hash = self.hasher.hash_one(text);
        let is_it = |&(known, place): &(u64, u32)| known == hash && at(&self.all, &self.ends, place) == text;
        self.places.find(hash, is_it).map(|&(_, place)| TextId(place))
    }

    pub(crate) fn text(&self, id: TextId) -> &str {
        at(&self.all, &self.ends, id.0)
    }

    /// How many there are, with the empty one.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }
}

fn at<'a>(all: &'a str, ends: &[usize], place: u32) -> &'a str {
    let place = place as usize;
    let from = place.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    ends.get(place).and_then(|&to| all.get(from..to)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_kept_once() {
        let mut texts = Texts::default();
        let ids: Vec<TextId> = (0..1_000).map(|n| texts.keep(&format!("text {}", n % 400))).collect();
        assert_eq!(texts.len(), 401);
        assert!(ids.iter().enumerate().all(|(n, &id)| texts.text(id) == format!("text {}", n % 400)));
        assert_eq!((texts.keep(""), texts.text(TextId::default())), (TextId::default(), ""));
    }
}
