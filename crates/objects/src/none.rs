//! The types of an object store in a build without the feature `s3`. They have no values, so the code that uses them is never reached.

use std::convert::Infallible;
use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

use crate::Error;

/// The address of an object store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url(Infallible);

impl fmt::Display for Url {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {}
    }
}

/// The objects under an address of an object store.
#[derive(Debug)]
pub struct Objects(Infallible);

impl Objects {
    /// Opens an address.
    ///
    /// # Errors
    /// None, as there is no address.
    pub fn open(url: &Url) -> Result<Self, Error> {
        match url.0 {}
    }

    /// The bytes of an object.
    ///
    /// # Errors
    /// None, as there are no objects.
    pub fn read(&self, _: &str, _: u64) -> Result<Option<Vec<u8>>, Error> {
        match self.0 {}
    }

    /// The bytes of several objects.
    ///
    /// # Errors
    /// None, as there are no objects.
    pub fn read_all(&self, _: &[String], _: u64) -> Result<Vec<Option<Vec<u8>>>, Error> {
        match self.0 {}
    }

    /// Writes an object.
    ///
    /// # Errors
    /// None, as there are no objects.
    pub fn write(&self, _: &str, _: Vec<u8>) -> Result<(), Error> {
        match self.0 {}
    }

    /// The object that the address names.
    ///
    /// # Errors
    /// None, as there are no objects.
    pub fn object(self: &Arc<Self>) -> Result<Option<Object>, Error> {
        match self.0 {}
    }

    /// The objects below the address.
    ///
    /// # Errors
    /// None, as there are no objects.
    pub fn list(self: &Arc<Self>) -> Result<Vec<Object>, Error> {
        match self.0 {}
    }

    /// The address of an object, for messages.
    pub fn shown(&self, _: &str) -> String {
        match self.0 {}
    }
}

/// An object that was listed.
#[derive(Debug)]
pub struct Object(Infallible);

impl Object {
    /// Its name below the address.
    pub fn name(&self) -> &str {
        match self.0 {}
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        match self.0 {}
    }

    /// Its address, for messages.
    pub fn shown(&self) -> String {
        match self.0 {}
    }

    /// Its bytes, in order.
    pub fn stream(&self) -> Stream {
        match self.0 {}
    }
}

/// The bytes of an object, in order.
#[derive(Debug)]
pub struct Stream(Infallible);

impl Read for Stream {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }
}
