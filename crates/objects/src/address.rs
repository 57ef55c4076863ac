//! What a request names: a path on this machine, or an address of an object store.

use std::path::PathBuf;

use crate::Url;

/// A place that a request names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A path on this machine.
    Path(PathBuf),
    /// An object, or a prefix of objects: `s3://bucket/prefix`.
    Objects(Url),
}

impl Address {
    /// Makes an address of a path, or of a text with a scheme. `file://` is a path.
    ///
    /// # Errors
    /// A text about the problem of the address.
    pub fn new(path: PathBuf) -> Result<Self, String> {
        match path.to_str().filter(|text| text.contains("://")) {
            Some(text) => parse(text),
            None => Ok(Self::Path(path)),
        }
    }
}

const EXPECTED: &str = "expected a folder or an address, for example s3://bucket/prefix";

#[cfg(feature = "s3")]
fn parse(text: &str) -> Result<Address, String> {
    let url = Url::parse(text).map_err(|error| format!("{EXPECTED}, found `{text}` ({error})"))?;
    match url.scheme() {
        "file" => url.to_file_path().map(Address::Path).map_err(|()| format!("{EXPECTED}, found `{text}`")),
        _ if url.host_str().is_none_or(str::is_empty) => Err(format!("{EXPECTED}, found `{text}`")),
        "s3" | "s3a" => Ok(Address::Objects(url)),
        scheme => Err(format!("{EXPECTED}, found the scheme `{scheme}`")),
    }
}

#[cfg(not(feature = "s3"))]
fn parse(text: &str) -> Result<Address, String> {
    Err(format!(
        "{EXPECTED}, found `{text}`; this build reads no addresses: build resched with its feature `s3`, or name a folder"
    ))
}

#[cfg(all(test, feature = "s3"))]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_path_or_an_address() {
        let of = |text: &str| Address::new(text.into());
        for path in ["a", "/a/b", "s3:/a", "-"] {
            assert_eq!(of(path), Ok(Address::Path(path.into())));
        }
        assert_eq!(of("file:///a/b"), Ok(Address::Path("/a/b".into())));
        for address in ["s3://bucket", "s3a://bucket/a/b"] {
            assert!(matches!(of(address), Ok(Address::Objects(url)) if url.as_str().starts_with(address)));
        }
        for wrong in ["ftp://a/b", "s3://", "s3:///a", "://"] {
            assert!(of(wrong).is_err_and(|problem| problem.contains("for example s3://bucket/prefix")), "{wrong}");
        }
    }
}
