//! Columns under construction.

use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder as _, BooleanBufferBuilder, BooleanBuilder, StringBuilder};
use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{Array, ArrayRef, PrimitiveArray, new_null_array};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

/// A column without any value. The next often has as many rows, and is the same then.
#[derive(Default)]
struct Nothing(Option<ArrayRef>);

impl Nothing {
    fn of(&mut self, rows: usize, kind: &DataType) -> ArrayRef {
        let column = self.0.take().filter(|column| column.len() == rows).unwrap_or_else(|| new_null_array(kind, rows));
        self.0 = Some(Arc::clone(&column));
        column
    }
}

/// Numbers of a column under construction. Most columns hold no nulls, or hardly anything else: nulls are counted and their places are kept,
/// so a number among numbers costs no more than its place in memory.
pub struct NumberBuilder<T: ArrowPrimitiveType> {
    values: Vec<T::Native>,
    /// The nulls after the last value, which are not in `values` yet.
    nulls: usize,
    /// Where in `values` others stand, and how many.
    gaps: Vec<(usize, usize)>,
    nothing: Nothing,
}

impl<T: ArrowPrimitiveType> Default for NumberBuilder<T> {
    fn default() -> Self {
        Self { values: Vec::new(), nulls: 0, gaps: Vec::new(), nothing: Nothing::default() }
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
            return self.nothing.of(std::mem::take(&mut self.nulls), &T::DATA_TYPE);
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
    nothing: Nothing,
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

    /// The column; the next one is about as long.
    pub fn finish(&mut self) -> ArrayRef {
        if self.texts.is_empty() {
            return self.nothing.of(std::mem::take(&mut self.nulls), &DataType::Utf8);
        }
        self.texts.append_nulls(std::mem::take(&mut self.nulls));
        let column = self.texts.finish();
        // Ids get longer: without room ahead, the last ones of each batch would move all others.
        let bytes = column.value_data().len();
        self.texts = StringBuilder::with_capacity(column.len(), bytes + bytes / 8);
        Arc::new(column)
    }
}

/// Values of a column under construction that most often come many times in a row, such as the words of an enumeration: they are counted. A
/// batch often has the values of the one before: its column is that of the one before, too.
#[derive(Default)]
pub struct RunBuilder<V> {
    runs: Vec<Run<V>>,
    /// The runs of the column before, and that column.
    before: Option<(Vec<Run<V>>, ArrayRef)>,
}

/// A value, or null, and how often it comes in a row.
pub type Run<V> = (Option<V>, usize);

impl<V: Copy + PartialEq> RunBuilder<V> {
    /// Adds a value or a null.
    #[inline]
    pub fn append(&mut self, value: Option<V>) {
        match self.runs.last_mut() {
            Some((last, times)) if *last == value => *times += 1,
            _ => self.runs.push((value, 1)),
        }
    }

    /// The column, which `make` makes.
    pub fn finish(&mut self, make: impl FnOnce(&[Run<V>]) -> ArrayRef) -> ArrayRef {
        let runs = std::mem::take(&mut self.runs);
        if let Some((_, column)) = self.before.as_ref().filter(|(before, _)| *before == runs) {
            return Arc::clone(column);
        }
        let column = make(&runs);
        self.before = Some((runs, Arc::clone(&column)));
        column
    }
}

/// A column of truths.
pub fn truths(runs: &[Run<bool>]) -> ArrayRef {
    let mut truths = BooleanBuilder::new();
    for &(truth, times) in runs {
        match truth {
            None => truths.append_nulls(times),
            Some(truth) => truths.append_n(times, truth),
        }
    }
    Arc::new(truths.finish())
}

/// A column of words, as `text` writes them.
pub fn words<W: Copy>(runs: &[Run<W>], text: impl Fn(W) -> &'static str) -> ArrayRef {
    let mut words = StringBuilder::new();
    for &(word, times) in runs {
        match word {
            None => words.append_nulls(times),
            Some(word) => words.append_value_n(text(word), times),
        }
    }
    Arc::new(words.finish())
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray as _;
    use arrow_array::types::Int64Type;
    use arrow_array::{BooleanArray, Int64Array, StringArray};

    use super::*;

    const BATCHES: [&[Option<bool>]; 8] = [
        &[Some(true), Some(true), None, None, Some(false), Some(true)],
        &[Some(true); 3],
        &[Some(true); 3],
        &[Some(true); 2],
        &[None; 2],
        &[None; 2],
        &[None; 3],
        &[None, Some(false), None],
    ];

    #[test]
    fn values_in_a_row_are_those_that_were_added_and_no_batch_keeps_those_before() {
        let text = |word: bool| if word { "yes" } else { "no" };
        let mut builder = RunBuilder::default();
        for values in BATCHES {
            values.iter().for_each(|&value| builder.append(value));
            let expected: StringArray = values.iter().map(|value| value.map(text)).collect();
            assert_eq!(builder.finish(|runs| words(runs, text)).as_string::<i32>(), &expected);
        }
        let mut builder = RunBuilder::default();
        for values in BATCHES {
            values.iter().for_each(|&value| builder.append(value));
            let expected: BooleanArray = values.iter().copied().collect();
            assert_eq!(builder.finish(truths).as_boolean(), &expected);
        }
    }

    #[test]
    fn a_column_without_values_is_as_long_as_its_batch() {
        let (mut numbers, mut texts) = (NumberBuilder::<Int64Type>::default(), TextBuilder::default());
        for values in BATCHES {
            let text = |value: bool| if value { "yes" } else { "no" };
            for value in values {
                numbers.append(value.map(i64::from));
                texts.append(value.map(text));
            }
            let expected: Int64Array = values.iter().map(|value| value.map(i64::from)).collect();
            assert_eq!(numbers.finish().as_primitive::<Int64Type>(), &expected);
            let expected: StringArray = values.iter().map(|value| value.map(text)).collect();
            assert_eq!(texts.finish().as_string::<i32>(), &expected);
        }
    }
}
