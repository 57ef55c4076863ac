//! The types that keys take.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;

use toml::Spanned;

use super::{Header, Shape};

/// A type that a key of a TOML file takes.
pub trait Value {
    /// Its description in the reference page.
    fn shape() -> Shape;

    /// Checks the ranges of the keys below it; `path` is its own key, for messages.
    ///
    /// # Errors
    /// Which key is wrong, what was expected and what was found.
    fn check_ranges(&self, path: &str) -> Result<(), String> {
        let _ = path;
        Ok(())
    }
}

macro_rules! plain {
    ($($type:ty = $kind:literal,)+) => {
        $(impl Value for $type {
            fn shape() -> Shape {
                Shape::plain($kind)
            }
        })+
    };
}

plain! {
    bool = "boolean",
    String = "text",
    PathBuf = "path",
    f64 = "number",
    i64 = "integer",
}

macro_rules! unsigned {
    ($($type:ty = $low:literal,)+) => {
        $(impl Value for $type {
            fn shape() -> Shape {
                Shape { range: $low.to_owned(), ..Shape::plain("integer") }
            }
        })+
    };
}

unsigned! {
    u32 = "from 0",
    u64 = "from 0",
    NonZeroU32 = "from 1",
}

impl<T: Value> Value for Option<T> {
    fn shape() -> Shape {
        T::shape()
    }

    fn check_ranges(&self, path: &str) -> Result<(), String> {
        self.as_ref().map_or(Ok(()), |value| value.check_ranges(path))
    }
}

impl<T: Value> Value for Spanned<T> {
    fn shape() -> Shape {
        T::shape()
    }

    fn check_ranges(&self, path: &str) -> Result<(), String> {
        self.get_ref().check_ranges(path)
    }
}

impl<T: Value> Value for Vec<T> {
    fn shape() -> Shape {
        let shape = T::shape();
        Shape { kind: format!("list of {}s", shape.kind), header: Header::Several, ..shape }
    }
}

impl<T: Value, const N: usize> Value for [T; N] {
    fn shape() -> Shape {
        let shape = T::shape();
        Shape { kind: format!("list of {N} {}s", shape.kind), ..shape }
    }
}

impl<K, T: Value> Value for BTreeMap<K, T> {
    fn shape() -> Shape {
        let shape = T::shape();
        let inner = shape.kind.as_str();
        let kind = if inner.starts_with("table") { "tables by name".to_owned() } else { format!("{inner}s by name") };
        Shape { kind, header: Header::Named, ..shape }
    }
}
