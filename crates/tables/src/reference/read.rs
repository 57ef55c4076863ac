//! How a table is read; what [`keys!`](crate::keys!) expands to uses it.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};

use super::{Bounded, Limits, Number, Outside};

/// Reads a key that is one of these.
#[derive(Debug, Clone, Copy)]
pub struct KnownKey(pub &'static [&'static str]);

impl<'de> DeserializeSeed<'de> for KnownKey {
    type Value = &'static str;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<&'static str, D::Error> {
        from.deserialize_identifier(self)
    }
}

impl Visitor<'_> for KnownKey {
    type Value = &'static str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("field identifier")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<&'static str, E> {
        self.0.iter().find(|known| **known == key).copied().ok_or_else(|| E::unknown_field(key, self.0))
    }
}

/// Reads numbers that must lie in a range.
#[derive(Debug)]
pub struct Within<T: Bounded> {
    limits: Limits<T::Number>,
    value: PhantomData<T>,
}

impl<T: Bounded> Within<T> {
    /// A reader for this range.
    pub fn new(range: impl Into<Limits<T::Number>>) -> Self {
        Self { limits: range.into(), value: PhantomData }
    }
}

impl<'de, T: Bounded + Deserialize<'de>> DeserializeSeed<'de> for Within<T> {
    type Value = T;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<T, D::Error> {
        let value = T::deserialize(from)?;
        match value.outside(&self.limits) {
            None => Ok(value),
            Some(Outside { number, .. }) => {
                let expected = format!("a number {}", self.limits);
                Err(D::Error::invalid_value(number.unexpected(), &expected.as_str()))
            }
        }
    }
}

/// Refuses a key that was read before.
///
/// # Errors
/// The key occurs twice.
pub fn once<T, E: Error>(key: &'static str, before: &Option<T>) -> Result<(), E> {
    if before.is_some() { Err(E::duplicate_field(key)) } else { Ok(()) }
}
