//! The columns of a batch as they are read: resolved once for the batch, and looked at row by row without any check that can fail.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray, StringArray, StringViewArray};
use arrow_buffer::{BooleanBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};

/// The longest text that stands in its view itself, so that equal views are equal texts.
const INLINE: usize = 12;

/// Bits of a column; without any, all are set.
#[derive(Debug, Default)]
struct Bits(Option<BooleanBuffer>);

impl Bits {
    /// Which rows hold a value.
    fn valid(nulls: Option<&NullBuffer>) -> Self {
        Self(nulls.filter(|nulls| nulls.null_count() > 0).map(|nulls| nulls.inner().clone()))
    }

    #[inline]
    fn get(&self, row: usize) -> bool {
        let Some(bits) = &self.0 else { return true };
        let at = bits.offset() + row;
        bits.values().get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1)
    }
}

/// A column of numbers.
#[derive(Debug)]
pub struct Numbers<T: ArrowPrimitiveType> {
    values: Option<ScalarBuffer<T::Native>>,
    valid: Bits,
}

impl<T: ArrowPrimitiveType> Default for Numbers<T> {
    fn default() -> Self {
        Self { values: None, valid: Bits::default() }
    }
}

impl<T: ArrowPrimitiveType> From<&ArrayRef> for Numbers<T> {
    fn from(array: &ArrayRef) -> Self {
        // Where all are null, there is nothing to look at.
        let some = |array: &&PrimitiveArray<T>| array.null_count() < array.len();
        let Some(array) = array.as_primitive_opt::<T>().filter(some) else { return Self::default() };
        Self { values: Some(array.values().clone()), valid: Bits::valid(array.nulls()) }
    }
}

impl<T: ArrowPrimitiveType> Numbers<T> {
    /// The number in a row; `None` if it is null or there is none.
    #[inline]
    pub fn get(&self, row: usize) -> Option<T::Native> {
        let value = *self.values.as_ref()?.get(row)?;
        self.valid.get(row).then_some(value)
    }
}

/// A column of texts.
#[derive(Debug, Default)]
pub struct Texts {
    texts: Option<StringViewArray>,
    valid: Bits,
}

impl From<&ArrayRef> for Texts {
    fn from(array: &ArrayRef) -> Self {
        let Some(texts) = views(array) else { return Self::default() };
        Self { valid: Bits::valid(texts.nulls()), texts: Some(texts) }
    }
}

/// A column of texts as views, which share its bytes: columns of a file are views already, those of a writer are not. `None` if it has no
/// text.
fn views(array: &ArrayRef) -> Option<StringViewArray> {
    let texts = array.as_string_view_opt().cloned();
    let texts = texts.or_else(|| array.as_string_opt::<i32>().map(StringViewArray::from));
    texts.filter(|texts| texts.null_count() < texts.len())
}

impl Texts {
    /// The text in a row; `None` if it is null or there is none.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&str> {
        let texts = self.texts.as_ref().filter(|texts| row < texts.len())?;
        self.valid.get(row).then(|| texts.value(row))
    }
}

/// A column of truth values.
#[derive(Debug, Default)]
pub struct Flags {
    values: Option<BooleanBuffer>,
    valid: Bits,
}

impl From<&ArrayRef> for Flags {
    fn from(array: &ArrayRef) -> Self {
        let Some(array) = array.as_boolean_opt() else { return Self::default() };
        Self { values: Some(array.values().clone()), valid: Bits::valid(array.nulls()) }
    }
}

impl Flags {
    /// The value in a row; `None` if it is null or there is none.
    #[inline]
    pub fn get(&self, row: usize) -> Option<bool> {
        let values = self.values.as_ref().filter(|values| row < values.len())?;
        self.valid.get(row).then(|| values.value(row))
    }
}

/// A column of lists of texts.
#[derive(Debug, Default)]
pub struct Lists {
    lists: Option<(OffsetBuffer<i32>, StringArray)>,
}

impl From<&ArrayRef> for Lists {
    fn from(array: &ArrayRef) -> Self {
        let lists = array.as_list_opt::<i32>();
        let parts = |lists: &arrow_array::ListArray| {
            Some((lists.offsets().clone(), lists.values().as_string_opt::<i32>()?.clone()))
        };
        Self { lists: lists.and_then(parts) }
    }
}

impl Lists {
    /// The texts in a row, without nulls.
    #[inline]
    pub fn get(&self, row: usize) -> Vec<&str> {
        let Some((ends, texts)) = &self.lists else { return Vec::new() };
        let (Some(&from), Some(&to)) = (ends.get(row), ends.get(row + 1)) else { return Vec::new() };
        if from == to {
            return Vec::new();
        }
        (from as usize..to as usize).filter(|&place| texts.is_valid(place)).map(|place| texts.value(place)).collect()
    }
}

/// A column of an enumeration, decoded.
#[derive(Debug)]
pub struct Words<E> {
    values: Vec<Option<E>>,
}

impl<E> Default for Words<E> {
    fn default() -> Self {
        Self { values: Vec::new() }
    }
}

impl<E: Copy> Words<E> {
    /// The values of a column, each by its name.
    pub fn read(array: &ArrayRef, from_name: impl Fn(&str) -> Option<E>) -> Self {
        let Some(texts) = views(array) else { return Self::default() };
        let mut values = Vec::with_capacity(texts.len());
        for_each_run(&texts, |text, rows| values.extend(std::iter::repeat_n(text.and_then(&from_name), rows)));
        Self { values }
    }

    /// The value in a row; `None` if it is null or there is none.
    #[inline]
    pub fn get(&self, row: usize) -> Option<E> {
        self.values.get(row).copied().flatten()
    }
}

/// Calls `take` with each text and for how many rows it stands. One text may come several times in a row.
pub(super) fn for_each_run<'a>(texts: &'a StringViewArray, mut take: impl FnMut(Option<&'a str>, usize)) {
    let views = texts.views();
    let mut row = 0;
    while let Some(&view) = views.get(row) {
        let text = texts.is_valid(row).then(|| texts.value(row));
        let mut end = row + 1;
        if texts.null_count() == 0 && text.is_some_and(|text| text.len() <= INLINE) {
            end += views[end..].iter().take_while(|&&other| other == view).count();
        }
        take(text, end - row);
        row = end;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int64Type;
    use arrow_array::{BooleanArray, Int64Array};
    use rand::RngExt;

    use super::*;
    use crate::draws::{Purpose, stream};
    use crate::model::Locality;

    /// A part of an array, which begins anywhere in its bytes and bits, is what its values are.
    #[test]
    fn a_column_is_what_was_put_in() {
        let words = ["", "off", "node", "a text of 13 b", "a text of 13 c"];
        let mut draws = stream(1, Purpose::BlockPlacement, &[]);
        for round in 0..200 {
            let most = if round % 2 == 0 { words.len() } else { words.len() + 2 };
            let texts: Vec<Option<&str>> =
                (0..draws.random_range(0..40)).map(|_| words.get(draws.random_range(0..most)).copied()).collect();
            let numbers: Vec<Option<i64>> = texts.iter().map(|text| text.map(|text| text.len() as i64)).collect();
            let flags: Vec<Option<bool>> = numbers.iter().map(|number| number.map(|number| number == 3)).collect();
            let from = draws.random_range(0..=texts.len().min(10));
            let part = |array: ArrayRef| array.slice(from, array.len() - from);
            let text_array = part(Arc::new(texts.iter().copied().collect::<StringViewArray>()));
            let read_texts = Texts::from(&text_array);
            let read_words = Words::read(&text_array, Locality::from_name);
            let read_numbers = Numbers::<Int64Type>::from(&part(Arc::new(Int64Array::from(numbers.clone()))));
            let read_flags = Flags::from(&part(Arc::new(BooleanArray::from(flags.clone()))));
            for row in from..texts.len() + 2 {
                let (text, at) = (texts.get(row).copied().flatten(), row - from);
                assert_eq!(read_texts.get(at), text);
                assert_eq!(read_words.get(at), text.and_then(Locality::from_name));
                assert_eq!(read_numbers.get(at), numbers.get(row).copied().flatten());
                assert_eq!(read_flags.get(at), flags.get(row).copied().flatten());
            }
        }
    }
}
