//! From rows to Arrow columns and back: [`Cell`] knows one column, [`Row`] a table.
//!
//! The `table!` and `enumeration!` macros declare a table or an enumeration once and derive the schema, the writer
//! and the reader from it.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::RecordBatch;
use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::{Float64Type, Int64Type};
use arrow_schema::{DataType, Field, SchemaRef};

use super::build::{NumberBuilder, RunBuilder, TextBuilder, truths};
use super::read::{Flags, Lists, Numbers, Texts};
use crate::reference::{Column, Word, joined};

/// A value of one column.
pub trait Cell: Sized + Default {
    /// Whether null is allowed.
    const NULLABLE: bool = false;
    /// The words that it may be, for an enumeration.
    const WORDS: &'static [Word] = &[];
    /// Collects values into an Arrow array.
    type Builder: Default;
    /// The column of a batch, as it is read. Its default is a column that is not read.
    type Read: Default;
    /// The value as a reader sees it: texts are borrowed. Its default stands for a column that is not read.
    type View<'a>: Default;
    /// The Arrow type of the column.
    fn data_type() -> DataType;
    /// The column of a batch whose values were checked.
    fn read(array: &ArrayRef) -> Self::Read;
    /// The value in row `row`; its default where the column has no such row.
    fn view(column: &Self::Read, row: usize) -> Self::View<'_>;
    /// This value as a reader sees it.
    fn as_view(&self) -> Self::View<'_>;
    /// The value that a reader sees.
    fn of_view(view: Self::View<'_>) -> Self;
    /// Adds this value to a column under construction.
    fn append(&self, builder: &mut Self::Builder);
    /// Ends a column and empties the builder.
    fn finish(builder: &mut Self::Builder) -> ArrayRef;
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
    /// The Arrow schema; each field carries its description under the key `description`.
    fn schema() -> SchemaRef;
    /// The columns as the reference page shows them.
    fn reference() -> Vec<Column>;
    /// Adds this row to the columns.
    fn append(&self, builders: &mut Self::Builders);
    /// Ends the columns and empties the builders.
    fn finish(builders: &mut Self::Builders) -> Vec<ArrayRef>;
    /// A row as a reader sees it: texts are borrowed, and columns that are not read have their defaults.
    type View<'a>: Default;
    /// The columns of a batch that are read, downcast once.
    type Read: Default;
    /// A row of which each value is read when it is asked for, by a method named as the column.
    type Lazy<'a>: From<Source<'a, Self>> + Copy
    where
        Self: 'a;
    /// Takes the columns that a batch has, whose values were checked; the others are not read.
    fn read(batch: &RecordBatch) -> Self::Read;
    /// Row `row` of a batch.
    fn view(columns: &Self::Read, row: usize) -> Self::View<'_>;
    /// This row as a reader sees it.
    fn as_view(&self) -> Self::View<'_>;
    /// Row `row` of a batch, as it was written.
    fn get(columns: &Self::Read, row: usize) -> Self;
    /// Makes this the default row, in place, and keeps the memory of its texts.
    fn clear(&mut self);
}

/// Where the values of a row come from.
pub enum Source<'a, R: Row> {
    /// There is no row: each value is its default.
    Nowhere,
    /// A row in memory.
    Memory(&'a R),
    /// A row of a batch, and its number there.
    Batch(&'a R::Read, usize),
}

impl<R: Row> Clone for Source<'_, R> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: Row> Copy for Source<'_, R> {}

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

/// The column `name` of `batch`, if that has it.
pub fn column<C: Cell>(batch: &RecordBatch, name: &str) -> C::Read {
    batch.column_by_name(name).map(C::read).unwrap_or_default()
}

impl Cell for String {
    type Builder = TextBuilder;
    type Read = Texts;
    type View<'a> = &'a str;
    fn read(array: &ArrayRef) -> Self::Read {
        array.into()
    }
    #[inline]
    fn view(column: &Self::Read, row: usize) -> Self::View<'_> {
        column.get(row).unwrap_or_default()
    }
    #[inline]
    fn as_view(&self) -> Self::View<'_> {
        self
    }
    fn of_view(view: Self::View<'_>) -> Self {
        view.to_owned()
    }
    fn data_type() -> DataType {
        DataType::Utf8
    }
    #[inline]
    fn append(&self, builder: &mut TextBuilder) {
        builder.append(Some(self));
    }
    fn finish(builder: &mut TextBuilder) -> ArrayRef {
        builder.finish()
    }
    #[inline]
    fn clear(&mut self) {
        Self::clear(self);
    }
}

impl Cell for Option<String> {
    const NULLABLE: bool = true;
    type Builder = TextBuilder;
    type Read = Texts;
    type View<'a> = Option<&'a str>;
    fn read(array: &ArrayRef) -> Self::Read {
        array.into()
    }
    #[inline]
    fn view(column: &Self::Read, row: usize) -> Self::View<'_> {
        column.get(row)
    }
    #[inline]
    fn as_view(&self) -> Self::View<'_> {
        self.as_deref()
    }
    fn of_view(view: Self::View<'_>) -> Self {
        view.map(str::to_owned)
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
}

impl Cell for i64 {
    type Builder = NumberBuilder<Int64Type>;
    type Read = Numbers<Int64Type>;
    type View<'a> = i64;
    fn read(array: &ArrayRef) -> Self::Read {
        array.into()
    }
    #[inline]
    fn view(column: &Self::Read, row: usize) -> Self::View<'_> {
        column.get(row).unwrap_or_default()
    }
    #[inline]
    fn as_view(&self) -> Self::View<'_> {
        *self
    }
    fn of_view(view: Self::View<'_>) -> Self {
        view
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
}

impl Cell for Option<i64> {
    const NULLABLE: bool = true;
    type Builder = NumberBuilder<Int64Type>;
    type Read = Numbers<Int64Type>;
    type View<'a> = Option<i64>;
    fn read(array: &ArrayRef) -> Self::Read {
        array.into()
    }
    #[inline]
    fn view(column: &Self::Read, row: usize) -> Self::View<'_> {
        column.get(row)
    }
    #[inline]
    fn as_view(&self) -> Self::View<'_> {
        *self
    }
    fn of_view(view: Self::View<'_>) -> Self {
        view
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
}

impl Cell for f64 {
    type Builder = NumberBuilder<Float64Type>;
    type Read = Numbers<Float64Type>;
    type View<'a> = f64;
    fn read(array: &ArrayRef) -> Self::Read {
        array.into()
    }
    #[inline]
    fn view(column: &Self::Read, row: usize) -> Self::View<'_> {
        column.get(row).unwrap_or_default()
    }
    #[inline]
    fn as_view(&self) -> Self::View<'_> {
        *self
    }
    fn of_view(view: Self::View<'_>) -> Self {
        view
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
}

impl Cell for Option<f64> {
    const NULLABLE: bool = true;
    type Builder = NumberBuilder<Float64Type>;
    type Read = Numbers<Float64Type>;
    type View<'a> = Option<f64>;
    fn read(array: &ArrayRef) -> Self::Read {
        array.into()
    }
    #[inline]
    fn view(column: &Self::Read, row: usize) -> Self::View<'_> {
        column.get(row)
    }
    #[inline]
    fn as_view(&self) -> Self::View<'_> {
        *self
    }
    fn of_view(view: Self::View<'_>) -> Self {
        view
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
}

impl Cell for Option<bool> {
    const NULLABLE: bool = true;
    type Builder = RunBuilder<bool>;
    type Read = Flags;
    type View<'a> = Option<bool>;
    fn read(array: &ArrayRef) -> Self::Read {
        array.into()
    }
    #[inline]
    fn view(column: &Self::Read, row: usize) -> Self::View<'_> {
        column.get(row)
    }
    #[inline]
    fn as_view(&self) -> Self::View<'_> {
        *self
    }
    fn of_view(view: Self::View<'_>) -> Self {
        view
    }
    fn data_type() -> DataType {
        DataType::Boolean
    }
    #[inline]
    fn append(&self, builder: &mut Self::Builder) {
        builder.append(*self);
    }
    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        builder.finish(truths)
    }
}

impl Cell for Vec<String> {
    type Builder = StringListBuilder;
    type Read = Lists;
    type View<'a> = Vec<&'a str>;
    fn read(array: &ArrayRef) -> Self::Read {
        array.into()
    }
    #[inline]
    fn view(column: &Self::Read, row: usize) -> Self::View<'_> {
        column.get(row)
    }
    #[inline]
    fn as_view(&self) -> Self::View<'_> {
        self.iter().map(String::as_str).collect()
    }
    fn of_view(view: Self::View<'_>) -> Self {
        view.into_iter().map(str::to_owned).collect()
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
}

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
            type Builder = $crate::store::build::RunBuilder<$name>;
            type View<'a> = $name;
            type Read = $crate::store::read::Words<$name>;
            fn read(array: &$crate::arrow_array::ArrayRef) -> Self::Read {
                $crate::store::read::Words::read(array, $name::from_name)
            }
            #[inline]
            fn view(column: &Self::Read, row: usize) -> $name {
                column.get(row).unwrap_or_default()
            }
            #[inline]
            fn as_view(&self) -> $name {
                *self
            }
            fn of_view(view: $name) -> $name {
                view
            }
            fn data_type() -> $crate::arrow_schema::DataType {
                $crate::arrow_schema::DataType::Utf8
            }
            #[inline]
            fn append(&self, builder: &mut Self::Builder) {
                builder.append(Some(*self));
            }
            fn finish(builder: &mut Self::Builder) -> $crate::arrow_array::ArrayRef {
                builder.finish(|runs| $crate::store::build::words(runs, $name::as_str))
            }
        }

        impl $crate::store::columns::Cell for Option<$name> {
            const NULLABLE: bool = true;
            const WORDS: &'static [$crate::reference::Word] = <$name as $crate::store::columns::Cell>::WORDS;
            type Builder = $crate::store::build::RunBuilder<$name>;
            type View<'a> = Option<$name>;
            type Read = $crate::store::read::Words<$name>;
            fn read(array: &$crate::arrow_array::ArrayRef) -> Self::Read {
                $crate::store::read::Words::read(array, $name::from_name)
            }
            #[inline]
            fn view(column: &Self::Read, row: usize) -> Option<$name> {
                column.get(row)
            }
            #[inline]
            fn as_view(&self) -> Option<$name> {
                *self
            }
            fn of_view(view: Option<$name>) -> Option<$name> {
                view
            }
            fn data_type() -> $crate::arrow_schema::DataType {
                $crate::arrow_schema::DataType::Utf8
            }
            #[inline]
            fn append(&self, builder: &mut Self::Builder) {
                builder.append(*self);
            }
            fn finish(builder: &mut Self::Builder) -> $crate::arrow_array::ArrayRef {
                builder.finish(|runs| $crate::store::build::words(runs, $name::as_str))
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
            use $crate::store::columns::{Cell, Row, Source, column, described, field};

            /// The columns under construction.
            #[derive(Default)]
            pub struct Builders { $($field: <$type as Cell>::Builder,)+ }
            /// The columns of a batch that are read.
            #[derive(Default)]
            pub struct Read { $(pub $field: <$type as Cell>::Read,)+ }
            $(#[doc = $about])+
            #[derive(Debug, Clone, Default)]
            pub struct View<'a> { $($(#[doc = $fdoc])+ pub $field: <$type as Cell>::View<'a>,)+ all: std::marker::PhantomData<&'a ()> }

            $(#[doc = $about])+
            #[derive(Clone, Copy)]
            pub struct Lazy<'a>(Source<'a, $name>);

            impl<'a> Lazy<'a> {
                $($(#[doc = $fdoc])+
                #[inline]
                pub fn $field(self) -> <$type as Cell>::View<'a> {
                    match self.0 {
                        Source::Nowhere => Default::default(),
                        Source::Memory(row) => Cell::as_view(&row.$field),
                        Source::Batch(columns, row) => <$type as Cell>::view(&columns.$field, row),
                    }
                })+
            }

            impl<'a> From<Source<'a, $name>> for Lazy<'a> {
                #[inline]
                fn from(source: Source<'a, $name>) -> Self {
                    Self(source)
                }
            }

            impl Row for $name {
                const TABLE: &'static str = $table;
                const ABOUT: &'static [&'static str] = &[$($about),+];
                type Builders = Builders;
                fn schema() -> $crate::arrow_schema::SchemaRef {
                    std::sync::Arc::new($crate::arrow_schema::Schema::new(vec![
                        $(field::<$type>(stringify!($field), &[$($fdoc,)+]),)+
                    ]))
                }
                fn reference() -> Vec<$crate::reference::Column> {
                    vec![$(described::<$type>(stringify!($field), concat!("", $($unit)?), &[$($fdoc),+]),)+]
                }
                fn append(&self, builders: &mut Builders) {
                    $(Cell::append(&self.$field, &mut builders.$field);)+
                }
                fn finish(builders: &mut Builders) -> Vec<$crate::arrow_array::ArrayRef> {
                    vec![$(<$type as Cell>::finish(&mut builders.$field),)+]
                }
                type View<'a> = View<'a>;
                type Read = Read;
                type Lazy<'a> = Lazy<'a>;
                fn read(batch: &$crate::arrow_array::RecordBatch) -> Read {
                    Read { $($field: column::<$type>(batch, stringify!($field)),)+ }
                }
                #[inline(always)]
                fn view(columns: &Read, row: usize) -> View<'_> {
                    View {
                        $($field: <$type as Cell>::view(&columns.$field, row),)+
                        all: std::marker::PhantomData,
                    }
                }
                fn as_view(&self) -> View<'_> {
                    View { $($field: Cell::as_view(&self.$field),)+ all: std::marker::PhantomData }
                }
                fn get(columns: &Read, row: usize) -> Self {
                    $name { $($field: <$type as Cell>::of_view(<$type as Cell>::view(&columns.$field, row)),)+ }
                }
                #[inline]
                fn clear(&mut self) {
                    $(Cell::clear(&mut self.$field);)+
                }
            }
        };
    };
}
