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

/// TextBuilder of a column under construction. Nulls are counted and added together, as in [`NumberBuilder`].
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
