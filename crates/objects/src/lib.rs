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
//! Without the feature `s3`, which brings the client with its HTTP and cryptography, every address of a store is refused
//! ([`Address::new`]), and the types of a store have no values.
//!
//! Only bytes come out of a store. The key of an object never becomes a path on this machine.

mod address;
mod error;
mod limits;
#[cfg(not(feature = "s3"))]
mod none;
#[cfg(feature = "s3")]
mod objects;
#[cfg(feature = "s3")]
mod refusals;
#[cfg(feature = "s3")]
mod stream;
#[cfg(all(test, feature = "s3"))]
mod tests;

pub use self::address::Address;
pub use self::error::Error;
pub use self::limits::{LARGEST_RANGE, LONGEST_KEY, MOST_BREAKS, MOST_OBJECTS};
#[cfg(not(feature = "s3"))]
pub use self::none::{Object, Objects, Stream, Url};
#[cfg(feature = "s3")]
pub use self::objects::{Object, Objects};
#[cfg(feature = "s3")]
pub use self::stream::Stream;
#[cfg(feature = "s3")]
pub use url::Url;
