//! From rows to Arrow columns and back: [`Cell`] knows one column, [`Row`] a table.
//!
//! The `table!` and `enumeration!` macros declare a table or an enumeration once and derive the schema, the writer
//! and the reader from it.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayBuilder, ArrayRef, BooleanArray, BooleanBufferBuilder, BooleanBuilder, Float64Array, Int64Array,
    ListArray, ListBuilder, PrimitiveArray, StringArray, StringBuilder,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{ArrowPrimitiveType, DataType, Field, Float64Type, Int64Type, SchemaRef};
use arrow::record_batch::RecordBatch;

use crate::reference::{Column, Word, joined};

/// A value of one column.
pub trait Cell: Sized + Default {
    /// Whether null is allowed.
    const NULLABLE: bool = false;
    /// The words that it may be, for an enumeration.
    const WORDS: &'static [Word] = &[];
    /// Collects values into an Arrow array.
    type Builder: Default;
    /// The Arrow array of the column.
    type Array: Array + Clone + 'static;
    /// The value as a reader sees it: texts are borrowed. Its default stands for a column that is not read.
    type View<'a>: Default;
    /// The Arrow type of the column.
    fn data_type() -> DataType;
    /// The value in row `row` of a column whose values were checked.
    fn view(array: &Self::Array, row: usize) -> Self::View<'_>;
    /// This value as a reader sees it.
    fn as_view(&self) -> Self::View<'_>;
    /// Adds this value to a column under construction.
    fn append(&self, builder: &mut Self::Builder);
    /// Ends a column and empties the builder.
    fn finish(builder: &mut Self::Builder) -> ArrayRef;
    /// The value in row `row`; `None` if it is not one that the column may hold.
    fn get(array: &Self::Array, row: usize) -> Option<Self>;
    /// Makes this the default value, and keeps the memory of a text.
    #[inline]
    fn clear(&mut self) {
        *self = Self::default();
    }
}

/// A table's row: built and read column by column.
pub trait Row: Sized {
    /// The table's name, and its file's without `.parquet`.
    const TABLE: &'static str;
    /// What the table holds, a line of documentation each.
    const ABOUT: &'static [&'static str];
    /// The columns under construction.
    type Builders: Default;
    /// The columns of a batch, downcast once.
    type Columns;
    /// The Arrow schema; each field carries its description under the key `description`.
    fn schema() -> SchemaRef;
    /// The columns as the reference page shows them.
    fn reference() -> Vec<Column>;
    /// Adds this row to the columns.
    fn append(&self, builders: &mut Self::Builders);
    /// Ends the columns and empties the builders.
    fn finish(builders: &mut Self::Builders) -> Vec<ArrayRef>;
    /// Downcasts a batch that has this table's schema; `Err` names the column that differs.
    fn columns(batch: &RecordBatch) -> Result<Self::Columns, String>;
    /// Row `row`; `Err` names the column whose value is not in its enumeration.
    fn get(columns: &Self::Columns, row: usize) -> Result<Self, &'static str>;
    /// A row as a reader sees it: texts are borrowed, and columns that are not read have their defaults.
    type View<'a>: Default;
    /// The columns of a batch that are read, downcast once.
    type Read: Default;
    /// Downcasts the columns that a batch has; the others are not read.
    fn read(batch: &RecordBatch) -> Self::Read;
    /// Row `row` of a batch whose values were checked.
    fn view(columns: &Self::Read, row: usize) -> Self::View<'_>;
    /// This row as a reader sees it.
    fn as_view(&self) -> Self::View<'_>;
    /// Makes this the default row, in place, and keeps the memory of its texts.
    fn clear(&mut self);
}

/// One field of a schema, with its description.
pub fn field<C: Cell>(name: &str, description: &[&str]) -> Field {
    let text: Vec<&str> = description.iter().map(|line| line.trim()).collect();
    let metadata = HashMap::from([("description".to_owned(), text.join(" "))]);
    Field::new(name, C::data_type(), C::NULLABLE).with_metadata(metadata)
}

/// A column as the reference page shows it.
pub fn described<C: Cell>(name: &'static str, unit: &'static str, description: &[&str]) -> Column {
    let kind = match C::data_type() {
        DataType::Int64 => "integer",
        DataType::Float64 => "number",
        DataType::Boolean => "boolean",
        DataType::List(_) => "list of texts",
        _ => "text",
    };
    Column { name, kind, unit, nullable: C::NULLABLE, meaning: joined(description), words: C::WORDS }
}

/// The column `name` of `batch` as the array that `C` reads.
pub fn column<C: Cell>(batch: &RecordBatch, name: &str) -> Result<C::Array, String> {
    let array = batch.column_by_name(name).ok_or_else(|| format!("column `{name}` is missing"))?;
    array
        .as_any()
        .downcast_ref::<C::Array>()
        .cloned()
        .ok_or_else(|| format!("column `{name}` is {}, expected {}", array.data_type(), C::data_type()))
}

impl Cell for String {
    type Builder = Texts;
    type Array = StringArray;
    type View<'a> = &'a str;
    #[inline]
    fn view(array: &StringArray, row: usize) -> Self::View<'_> {
        array.value(row)
    }
    #[inline]
    fn as_view(&self) -> Self::View<'_> {
        self
    }
    fn data_type() -> DataType {
        DataType::Utf8
    }
    #[inline]
    fn append(&self, builder: &mut Texts) {
        builder.append(Some(self));
    }
    fn finish(builder: &mut Texts) -> ArrayRef {
        builder.finish()
    }
    fn get(array: &StringArray, row: usize) -> Option<String> {
        Some(array.value(row).to_owned())
    }
    #[inline]
    fn clear(&mut self) {
        Self::clear(self);
    }
}

impl Cell for Option<String> {
    const NULLABLE: bool = true;
    type Builder = Texts;
    type Array = StringArray;
    type View<'a> = Option<&'a str>;
    #[inline]
    fn view(array: &StringArray, row: usize) -> Self::View<'_> {
        array.is_valid(row).then(|| array.value(row))
    }
    #[inline]
    fn as_view(&self) -> Self::View<'_> {
        self.as_deref()
    }
    fn data_type() -> DataType {
        DataType::Utf8
    }
    #[inline]
    fn append(&self, builder: &mut Self::Builder) {
        builder.append(self.as_deref());
    }
    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        builder.finish()
    }
    fn get(array: &StringArray, row: usize) -> Option<Option<String>> {
        Some(array.is_valid(row).then(|| array.value(row).to_owned()))
    }
}

impl Cell for i64 {
    type Builder = Numbers<Int64Type>;
    type Array = Int64Array;
    type View<'a> = i64;
    #[inline]
    fn view(array: &Int64Array, row: usize) -> Self::View<'_> {
        array.value(row)
    }
    #[inline]
    fn as_view(&self) -> Self::View<'_> {
        *self
    }
    fn data_type() -> DataType {
        DataType::Int64
    }
    #[inline]
    fn append(&self, builder: &mut Self::Builder) {
        builder.append(Some(*self));
    }
    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        builder.finish()
    }
    fn get(array: &Int64Array, row: usize) -> Option<i64> {
        Some(array.value(row))
    }
}

impl Cell for Option<i64> {
    const NULLABLE: bool = true;
    type Builder = Numbers<Int64Type>;
    type Array = Int64Array;
    type View<'a> = Option<i64>;
    #[inline]
    fn view(array: &Int64Array, row: usize) -> Self::View<'_> {
        array.is_valid(row).then(|| array.value(row))
    }
    #[inline]
    fn as_view(&self) -> Self::View<'_> {
        *self
    }
    fn data_type() -> DataType {
        DataType::Int64
    }
    #[inline]
    fn append(&self, builder: &mut Self::Builder) {
        builder.append(*self);
    }
    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        builder.finish()
    }
    fn get(array: &Int64Array, row: usize) -> Option<Option<i64>> {
        Some(array.is_valid(row).then(|| array.value(row)))
    }
}

impl Cell for f64 {
    type Builder = Numbers<Float64Type>;
    type Array = Float64Array;
    type View<'a> = f64;
    #[inline]
    fn view(array: &Float64Array, row: usize) -> Self::View<'_> {
        array.value(row)
    }
    #[inline]
    fn as_view(&self) -> Self::View<'_> {
        *self
    }
    fn data_type() -> DataType {
        DataType::Float64
    }
    #[inline]
    fn append(&self, builder: &mut Self::Builder) {
        builder.append(Some(*self));
    }
    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        builder.finish()
    }
    fn get(array: &Float64Array, row: usize) -> Option<f64> {
        Some(array.value(row))
    }
}

impl Cell for Option<f64> {
    const NULLABLE: bool = true;
    type Builder = Numbers<Float64Type>;
    type Array = Float64Array;
    type View<'a> = Option<f64>;
    #[inline]
    fn view(array: &Float64Array, row: usize) -> Self::View<'_> {
        array.is_valid(row).then(|| array.value(row))
    }
    #[inline]
    fn as_view(&self) -> Self::View<'_> {
        *self
    }
    fn data_type() -> DataType {
        DataType::Float64
    }
    #[inline]
    fn append(&self, builder: &mut Self::Builder) {
        builder.append(*self);
    }
    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        builder.finish()
    }
    fn get(array: &Float64Array, row: usize) -> Option<Self> {
        Some((!array.is_null(row)).then(|| array.value(row)))
    }
}

impl Cell for Option<bool> {
    const NULLABLE: bool = true;
    type Builder = Nullable<BooleanBuilder>;
    type Array = BooleanArray;
    type View<'a> = Option<bool>;
    #[inline]
    fn view(array: &BooleanArray, row: usize) -> Self::View<'_> {
        array.is_valid(row).then(|| array.value(row))
    }
    #[inline]
    fn as_view(&self) -> Self::View<'_> {
        *self
    }
    fn data_type() -> DataType {
        DataType::Boolean
    }
    #[inline]
    fn append(&self, builder: &mut Self::Builder) {
        builder.append(*self, BooleanBuilder::append_value);
    }
    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        builder.finish()
    }
    fn get(array: &BooleanArray, row: usize) -> Option<Option<bool>> {
        Some(array.is_valid(row).then(|| array.value(row)))
    }
}

impl Cell for Vec<String> {
    type Builder = StringListBuilder;
    type Array = ListArray;
    type View<'a> = Vec<&'a str>;
    #[inline]
    fn view(array: &ListArray, row: usize) -> Self::View<'_> {
        let Some(texts) = array.values().as_any().downcast_ref::<StringArray>() else { return Vec::new() };
        let ends = array.value_offsets();
        let (Some(&from), Some(&to)) = (ends.get(row), ends.get(row + 1)) else { return Vec::new() };
        (from as usize..to as usize).filter(|&place| texts.is_valid(place)).map(|place| texts.value(place)).collect()
    }
    #[inline]
    fn as_view(&self) -> Self::View<'_> {
        self.iter().map(String::as_str).collect()
    }
    fn data_type() -> DataType {
        DataType::List(Arc::new(Field::new("item", DataType::Utf8, true)))
    }
    #[inline]
    fn append(&self, builder: &mut StringListBuilder) {
        for value in self {
            builder.0.values().append_value(value);
        }
        builder.0.append(true);
    }
    fn finish(builder: &mut StringListBuilder) -> ArrayRef {
        Arc::new(builder.0.finish())
    }
    fn get(array: &ListArray, row: usize) -> Option<Vec<String>> {
        let values = array.value(row);
        let values = values.as_any().downcast_ref::<StringArray>()?;
        Some(values.iter().flatten().map(str::to_owned).collect())
    }
}

/// Numbers of a column under construction. Most columns hold no nulls, or hardly anything else: nulls are counted and their places are kept,
/// so a number among numbers costs no more than its place in memory.
pub struct Numbers<T: ArrowPrimitiveType> {
    values: Vec<T::Native>,
    /// The nulls after the last value, which are not in `values` yet.
    nulls: usize,
    /// Where in `values` others stand, and how many.
    gaps: Vec<(usize, usize)>,
}

impl<T: ArrowPrimitiveType> Default for Numbers<T> {
    fn default() -> Self {
        Self { values: Vec::new(), nulls: 0, gaps: Vec::new() }
    }
}

impl<T: ArrowPrimitiveType> Numbers<T> {
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

/// Texts of a column under construction. Nulls are counted and added together, as in [`Numbers`].
#[derive(Default)]
pub struct Texts {
    texts: StringBuilder,
    nulls: usize,
}

impl Texts {
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

/// A column that may hold nulls, under construction. Nulls are counted and added together: most columns hold hardly
/// anything else, or none.
#[derive(Default)]
pub struct Nullable<B> {
    builder: B,
    nulls: usize,
}

impl<B: NullBuilder> Nullable<B> {
    /// Adds a value by `append_value`, or a null.
    #[inline]
    pub fn append<V>(&mut self, value: Option<V>, append_value: impl FnOnce(&mut B, V)) {
        match value {
            None => self.nulls += 1,
            Some(value) => {
                if self.nulls > 0 {
                    self.append_nulls();
                }
                append_value(&mut self.builder, value);
            }
        }
    }

    fn append_nulls(&mut self) {
        self.builder.append_nulls(std::mem::take(&mut self.nulls));
    }

    /// The column.
    pub fn finish(&mut self) -> ArrayRef {
        self.append_nulls();
        self.builder.finish()
    }
}

/// A builder that adds many nulls at once.
pub trait NullBuilder: ArrayBuilder {
    /// Adds `n` nulls.
    fn append_nulls(&mut self, n: usize);
}

macro_rules! null_builders {
    ($($builder:ty)*) => { $(
        impl NullBuilder for $builder {
            fn append_nulls(&mut self, n: usize) {
                Self::append_nulls(self, n);
            }
        }
    )* };
}
null_builders!(BooleanBuilder);

/// A list builder that can be made empty by `Default`.
pub struct StringListBuilder(ListBuilder<StringBuilder>);

impl Default for StringListBuilder {
    fn default() -> Self {
        Self(ListBuilder::new(StringBuilder::new()))
    }
}

/// Declares an enumeration whose values are stored by name: `/// meaning`, then `Variant = "NAME",`. `default` stands behind the
/// name of the default.
#[macro_export]
macro_rules! enumeration {
    ($(#[$doc:meta])* $name:ident { $($(#[doc = $vdoc:expr])+ $variant:ident = $text:literal $($default:ident)?,)+ }) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize,
        )]
        pub enum $name { $($(#[doc = $vdoc])+ $(#[$default])? #[serde(rename = $text)] $variant,)+ }

        impl $crate::reference::Value for $name {
            fn shape() -> $crate::reference::Shape {
                $crate::reference::Shape::choice(<Self as $crate::store::columns::Cell>::WORDS)
            }
        }

        impl $name {
            /// All values, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// Its place in [`Self::ALL`], and in an array of one value each.
            #[inline]
            pub fn index(self) -> usize {
                self as usize
            }

            /// The name under which tables hold the value.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }

            /// The value of that name.
            pub fn from_name(name: &str) -> Option<$name> {
                match name { $($text => Some($name::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::store::columns::Cell for $name {
            const WORDS: &'static [$crate::reference::Word] =
                &[$($crate::reference::Word { word: $text, meaning: &[$($vdoc),+] },)+];
            type Builder = $crate::store::columns::Texts;
            type Array = $crate::arrow::array::StringArray;
            type View<'a> = $name;
            #[inline]
            fn view(array: &Self::Array, row: usize) -> $name {
                $name::from_name(array.value(row)).unwrap_or_default()
            }
            #[inline]
            fn as_view(&self) -> $name {
                *self
            }
            fn data_type() -> $crate::arrow::datatypes::DataType {
                $crate::arrow::datatypes::DataType::Utf8
            }
            #[inline]
            fn append(&self, builder: &mut Self::Builder) {
                builder.append(Some(self.as_str()));
            }
            fn finish(builder: &mut Self::Builder) -> $crate::arrow::array::ArrayRef {
                builder.finish()
            }
            fn get(array: &Self::Array, row: usize) -> Option<Self> {
                $name::from_name(array.value(row))
            }
        }

        impl $crate::store::columns::Cell for Option<$name> {
            const NULLABLE: bool = true;
            const WORDS: &'static [$crate::reference::Word] = <$name as $crate::store::columns::Cell>::WORDS;
            type Builder = $crate::store::columns::Texts;
            type Array = $crate::arrow::array::StringArray;
            type View<'a> = Option<$name>;
            #[inline]
            fn view(array: &Self::Array, row: usize) -> Option<$name> {
                use $crate::arrow::array::Array;
                if array.is_null(row) { None } else { $name::from_name(array.value(row)) }
            }
            #[inline]
            fn as_view(&self) -> Option<$name> {
                *self
            }
            fn data_type() -> $crate::arrow::datatypes::DataType {
                $crate::arrow::datatypes::DataType::Utf8
            }
            #[inline]
            fn append(&self, builder: &mut Self::Builder) {
                builder.append(self.map(|value| value.as_str()));
            }
            fn finish(builder: &mut Self::Builder) -> $crate::arrow::array::ArrayRef {
                builder.finish()
            }
            fn get(array: &Self::Array, row: usize) -> Option<Self> {
                use $crate::arrow::array::Array;
                if array.is_null(row) { return Some(None); }
                $name::from_name(array.value(row)).map(Some)
            }
        }
    };
}

/// Declares a table: its row type, schema, writer, reader and reference. A column is `/// meaning`, then `name: Type ["unit"],`.
/// Files hold the meanings in their schema. If you change a meaning, new files differ from old ones.
#[macro_export]
macro_rules! table {
    ($(#[doc = $about:expr])+ $name:ident in $table:literal {
        $($(#[doc = $fdoc:expr])+ $field:ident : $type:ty $([$unit:literal])?,)+
    }) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct $name { $($(#[doc = $fdoc])+ pub $field: $type,)+ }

        const _: () = {
            use $crate::store::columns::{Cell, Row, column, described, field};

            /// The columns under construction.
            #[derive(Default)]
            pub struct Builders { $($field: <$type as Cell>::Builder,)+ }
            /// The columns of a batch.
            pub struct Columns { $($field: <$type as Cell>::Array,)+ }
            /// The columns of a batch that are read.
            #[derive(Default)]
            pub struct Read { $($field: Option<<$type as Cell>::Array>,)+ }
            $(#[doc = $about])+
            #[derive(Debug, Clone, Default)]
            pub struct View<'a> { $($(#[doc = $fdoc])+ pub $field: <$type as Cell>::View<'a>,)+ all: std::marker::PhantomData<&'a ()> }

            impl Row for $name {
                const TABLE: &'static str = $table;
                const ABOUT: &'static [&'static str] = &[$($about),+];
                type Builders = Builders;
                type Columns = Columns;
                fn schema() -> $crate::arrow::datatypes::SchemaRef {
                    std::sync::Arc::new($crate::arrow::datatypes::Schema::new(vec![
                        $(field::<$type>(stringify!($field), &[$($fdoc,)+]),)+
                    ]))
                }
                fn reference() -> Vec<$crate::reference::Column> {
                    vec![$(described::<$type>(stringify!($field), concat!("", $($unit)?), &[$($fdoc),+]),)+]
                }
                fn append(&self, builders: &mut Builders) {
                    $(Cell::append(&self.$field, &mut builders.$field);)+
                }
                fn finish(builders: &mut Builders) -> Vec<$crate::arrow::array::ArrayRef> {
                    vec![$(<$type as Cell>::finish(&mut builders.$field),)+]
                }
                fn columns(batch: &$crate::arrow::record_batch::RecordBatch) -> Result<Columns, String> {
                    Ok(Columns { $($field: column::<$type>(batch, stringify!($field))?,)+ })
                }
                fn get(columns: &Columns, row: usize) -> Result<Self, &'static str> {
                    Ok($name { $($field: <$type as Cell>::get(&columns.$field, row).ok_or(stringify!($field))?,)+ })
                }
                type View<'a> = View<'a>;
                type Read = Read;
                fn read(batch: &$crate::arrow::record_batch::RecordBatch) -> Read {
                    Read { $($field: column::<$type>(batch, stringify!($field)).ok(),)+ }
                }
                #[inline(always)]
                fn view(columns: &Read, row: usize) -> View<'_> {
                    View {
                        $($field: columns.$field.as_ref().map(|array| <$type as Cell>::view(array, row)).unwrap_or_default(),)+
                        all: std::marker::PhantomData,
                    }
                }
                fn as_view(&self) -> View<'_> {
                    View { $($field: Cell::as_view(&self.$field),)+ all: std::marker::PhantomData }
                }
                #[inline]
                fn clear(&mut self) {
                    $(Cell::clear(&mut self.$field);)+
                }
            }
        };
    };
}
