//! Files in an object store: they are read and written whole, listed, or streamed.
//!
//! ```text
//! s3://bucket/prefix ──▶ Address ──▶ Objects ──▶ read, write: small files, whole
//!                                       └──────▶ list ──▶ Object ──▶ Stream: ranges of bounded size, in order
//! ```
//!
//! Every call blocks until it is done. Credentials, region and endpoint come from the environment, under the names that the store's own
//! tools use (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT`, …).
//!
//! Only bytes come out of a store. The key of an object never becomes a path on this machine.

mod address;
mod error;
mod objects;
mod stream;
#[cfg(test)]
mod tests;

pub use self::address::Address;
pub use self::error::Error;
pub use self::objects::{LONGEST_KEY, MOST_OBJECTS, Object, Objects};
pub use self::stream::{LARGEST_RANGE, MOST_BREAKS, Stream};
