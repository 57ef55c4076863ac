//! Reading the TOML files that parameters name, with the same errors for all: the file, the line or the key, and the remedy.

use std::path::Path;

use resched_tables::whole;
use serde::de::DeserializeOwned;

/// Reads a file and checks it. `what` names its content in the plural.
///
/// # Errors
/// The file cannot be read, or its content is wrong. The error has the remedy.
pub(crate) fn read<T>(path: &str, what: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> Result<T, String> {
    let text = whole::text(Path::new(path))
        .map_err(|error| format!("{path}: cannot read the {what} ({error}); check the path"))?;
    parse(&text).map_err(|problem| format!("{path}: {problem}; correct it"))
}

/// Reads TOML into settings.
///
/// # Errors
/// The line that is wrong, and why.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    ::toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        format!("line {}: {}", before.matches('\n').count() + 1, error.message())
    })
}
