//! Columns as the types that rows are made of. Tools write Google's tables with whole numbers of any width, and with numbers as texts.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, StringArray};
use arrow_schema::DataType;

/// True if columns of this type can be read.
pub(super) fn is_number_or_text(kind: &DataType) -> bool {
    kind.is_integer()
        || matches!(
            kind,
            DataType::Float32 | DataType::Float64 | DataType::Decimal128(..) | DataType::Utf8 | DataType::Binary
        )
}

/// The column as whole numbers; `None` if its type is not a number or text. What is no such number is null.
pub(super) fn integers(column: &ArrayRef) -> Option<Int64Array> {
    whole(column).or_else(|| match column.data_type() {
        DataType::Utf8 | DataType::Binary => Some(texts(column)?.iter().map(|text| text?.parse().ok()).collect()),
        _ => floats(column).map(|numbers| numbers.unary_opt(truncated)),
    })
}

/// The column as numbers; `None` if its type is not a number or text. What is no number is null.
pub(super) fn floats(column: &ArrayRef) -> Option<Float64Array> {
    match *column.data_type() {
        DataType::Float64 => Some(column.as_primitive().clone()),
        DataType::Float32 => Some(column.as_primitive::<Float32Type>().unary(f64::from)),
        DataType::Decimal128(_, scale) => {
            let unit = 10_f64.powi(i32::from(scale));
            Some(column.as_primitive::<Decimal128Type>().unary(|number| number as f64 / unit))
        }
        DataType::Utf8 | DataType::Binary => Some(texts(column)?.iter().map(|text| text?.parse().ok()).collect()),
        _ => whole(column).map(|numbers| numbers.unary::<_, Float64Type>(|number| number as f64)),
    }
}

/// The column as texts; `None` if its type is not a whole number or text.
pub(super) fn texts(column: &ArrayRef) -> Option<StringArray> {
    match column.data_type() {
        DataType::Utf8 => Some(column.as_string().clone()),
        // Some tools write texts without saying that they are texts.
        DataType::Binary => {
            let bytes = column.as_binary::<i32>().iter();
            Some(bytes.map(|bytes| bytes.and_then(|bytes| std::str::from_utf8(bytes).ok())).collect())
        }
        _ => Some(whole(column)?.iter().map(|number| number.map(|number| number.to_string())).collect()),
    }
}

/// A column of whole numbers of any width.
fn whole(column: &ArrayRef) -> Option<Int64Array> {
    Some(match column.data_type() {
        DataType::Int64 => column.as_primitive().clone(),
        DataType::Int32 => widened::<Int32Type>(column),
        DataType::Int16 => widened::<Int16Type>(column),
        DataType::Int8 => widened::<Int8Type>(column),
        DataType::UInt64 => widened::<UInt64Type>(column),
        DataType::UInt32 => widened::<UInt32Type>(column),
        DataType::UInt16 => widened::<UInt16Type>(column),
        DataType::UInt8 => widened::<UInt8Type>(column),
        _ => return None,
    })
}

fn widened<T: ArrowPrimitiveType<Native: TryInto<i64>>>(column: &ArrayRef) -> Int64Array {
    column.as_primitive::<T>().unary_opt::<_, Int64Type>(|number| number.try_into().ok())
}

fn truncated(number: f64) -> Option<i64> {
    // 2^63 is the first number that does not fit; both bounds are exact.
    const END: f64 = 9_223_372_036_854_775_808.0;
    (-END..END).contains(&number).then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{BinaryArray, BooleanArray, Float32Array, Int32Array, UInt64Array};

    use super::*;

    #[test]
    fn numbers_and_texts_become_each_other() {
        let column = |array: &dyn Array| arrow_array::make_array(array.to_data());
        let small = column(&Int32Array::from(vec![Some(-3), None]));
        assert_eq!(integers(&small), Some(Int64Array::from(vec![Some(-3), None])));
        assert_eq!(floats(&small), Some(Float64Array::from(vec![Some(-3.0), None])));
        assert_eq!(texts(&small), Some(StringArray::from(vec![Some("-3"), None])));
        let large = column(&UInt64Array::from(vec![u64::MAX, 7]));
        assert_eq!(integers(&large), Some(Int64Array::from(vec![None, Some(7)])));
        let words: ArrayRef = Arc::new(StringArray::from(vec!["12", "SUBMIT"]));
        assert_eq!(integers(&words), Some(Int64Array::from(vec![Some(12), None])));
        assert_eq!(floats(&words), Some(Float64Array::from(vec![Some(12.0), None])));
        let fractions = column(&Float32Array::from(vec![2.75, f32::NAN, 1e30]));
        assert_eq!(integers(&fractions), Some(Int64Array::from(vec![Some(2), None, None])));
        let bytes: ArrayRef = Arc::new(BinaryArray::from_opt_vec(vec![Some(b"12"), Some(b"\xff"), None]));
        assert_eq!(texts(&bytes), Some(StringArray::from(vec![Some("12"), None, None])));
        assert_eq!(integers(&bytes), Some(Int64Array::from(vec![Some(12), None, None])));
        for column in [&small, &large, &words, &fractions, &bytes] {
            assert!(is_number_or_text(column.data_type()) && integers(column).is_some(), "{}", column.data_type());
        }
        let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true]));
        assert!(!is_number_or_text(flags.data_type()));
        assert_eq!((integers(&flags), floats(&flags), texts(&flags)), (None, None, None));
    }
}
