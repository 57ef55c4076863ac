//! Columns under construction.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanBufferBuilder, PrimitiveArray, StringBuilder};
use arrow::buffer::NullBuffer;
use arrow::datatypes::ArrowPrimitiveType;

/// Numbers of a column under construction. Most columns hold no nulls, or hardly anything else: nulls are counted and their places are kept,
/// so a number among numbers costs no more than its place in memory.
pub struct NumberBuilder<T: ArrowPrimitiveType> {
    values: Vec<T::Native>,
    /// The nulls after the last value, which are not in `values` yet.
    nulls: usize,
    /// Where in `values` others stand, and how many.
    gaps: Vec<(usize, usize)>,
}

impl<T: ArrowPrimitiveType> Default for NumberBuilder<T> {
    fn default() -> Self {
        Self { values: Vec::new(), nulls: 0, gaps: Vec::new() }
    }
}

impl<T: ArrowPrimitiveType> NumberBuilder<T> {
    /// Adds a number or a null.
    #[inline]
    pub fn append(&mut self, value: Option<T::Native>) {
        match value {
            None => self.nulls += 1,
            Some(value) => {
                if self.nulls > 0 {
                    self.end_gap();
                }
                self.values.push(value);
            }
        }
    }

    /// Puts the nulls after the last value into their places.
    #[cold]
    fn end_gap(&mut self) {
        let nulls = std::mem::take(&mut self.nulls);
        self.gaps.push((self.values.len(), nulls));
        self.values.resize(self.values.len() + nulls, T::Native::default());
    }

    /// The column; the next one is as long.
    pub fn finish(&mut self) -> ArrayRef {
        if self.values.is_empty() {
            return Arc::new(PrimitiveArray::<T>::new_null(std::mem::take(&mut self.nulls)));
        }
        if self.nulls > 0 {
            self.end_gap();
        }
        let next = Vec::with_capacity(self.values.len());
        let values = std::mem::replace(&mut self.values, next);
        let nulls = (!self.gaps.is_empty()).then(|| {
            let mut valid = BooleanBufferBuilder::new(values.len());
            for (start, nulls) in self.gaps.drain(..) {
                valid.append_n(start - valid.len(), true);
                valid.append_n(nulls, false);
            }
            valid.append_n(values.len() - valid.len(), true);
            NullBuffer::new(valid.finish())
        });
        Arc::new(PrimitiveArray::<T>::new(values.into(), nulls))
    }
}

/// Texts of a column under construction. Nulls are counted and added together, as in [`NumberBuilder`].
#[derive(Default)]
pub struct TextBuilder {
    texts: StringBuilder,
    nulls: usize,
}

impl TextBuilder {
    /// Adds a text or a null.
    #[inline]
    pub fn append(&mut self, text: Option<&str>) {
        match text {
            None => self.nulls += 1,
            Some(text) => {
                if self.nulls > 0 {
                    self.texts.append_nulls(std::mem::take(&mut self.nulls));
                }
                self.texts.append_value(text);
            }
        }
    }

    /// The column; the next one is as long.
    pub fn finish(&mut self) -> ArrayRef {
        self.texts.append_nulls(std::mem::take(&mut self.nulls));
        let column = self.texts.finish();
        self.texts = StringBuilder::with_capacity(column.len(), column.value_data().len());
        Arc::new(column)
    }
}

/// Words of a column of an enumeration under construction. Most come many times in a row and are counted then. A batch often has the words
/// of the one before: its column is that of the one before, too.
#[derive(Default)]
pub struct WordBuilder<W> {
    runs: Runs<W>,
    /// The runs of the column before, and that column.
    before: Option<(Runs<W>, ArrayRef)>,
}

/// Words, or nulls, each with how often it comes in a row.
type Runs<W> = Vec<(Option<W>, usize)>;

impl<W: Copy + PartialEq> WordBuilder<W> {
    /// Adds a word or a null.
    #[inline]
    pub fn append(&mut self, word: Option<W>) {
        match self.runs.last_mut() {
            Some((last, times)) if *last == word => *times += 1,
            _ => self.runs.push((word, 1)),
        }
    }

    /// The column, with the words as `text` writes them.
    pub fn finish(&mut self, text: impl Fn(W) -> &'static str) -> ArrayRef {
        let runs = std::mem::take(&mut self.runs);
        if let Some((_, column)) = self.before.as_ref().filter(|(before, _)| *before == runs) {
            return Arc::clone(column);
        }
        let mut texts = StringBuilder::new();
        for &(word, times) in &runs {
            match word {
                None => texts.append_nulls(times),
                Some(word) => texts.append_value_n(text(word), times),
            }
        }
        let column: ArrayRef = Arc::new(texts.finish());
        self.before = Some((runs, Arc::clone(&column)));
        column
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{AsArray as _, StringArray};

    use super::*;

    #[test]
    fn words_in_a_row_are_those_that_were_added_and_no_batch_keeps_those_before() {
        let mut builder = WordBuilder::default();
        let text = |word: bool| if word { "yes" } else { "no" };
        let batches: [&[Option<bool>]; 6] = [
            &[Some(true), Some(true), None, None, Some(false), Some(true)],
            &[Some(true); 3],
            &[Some(true); 3],
            &[Some(true); 2],
            &[None; 2],
            &[],
        ];
        for words in batches {
            words.iter().for_each(|&word| builder.append(word));
            let expected: StringArray = words.iter().map(|word| word.map(text)).collect();
            assert_eq!(builder.finish(text).as_string::<i32>(), &expected);
        }
    }
}
