//! Errors in the words of what the store answered: what was expected, what was found, and what you can do.

use crate::Error;

/// What helps if the store cannot be reached.
const CHECK: &str = "check the address, and the credentials, region and endpoint in the environment (AWS_ACCESS_KEY_ID, \
                     AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT)";
const NO_CREDENTIALS: &str = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for a bucket that everybody may \
                              read";
const CHANGED: &str = "run the command again when no other program writes it";

const PERMISSIONS: &str = "use credentials that may list the bucket (s3:ListBucket), and read or write its objects (s3:GetObject, \
                           s3:PutObject)";

/// The words of a store that does not know or accept the credentials.
const REFUSALS: [&str; 6] = [
    "403 Forbidden",
    "401 Unauthorized",
    "AccessDenied",
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "ExpiredToken",
];
/// Without credentials in the environment, the client asks a service that exists on the machines of a cloud.
const METADATA: &str = "169.254.169.254";

/// The variables of the environment that give credentials, or say that none are needed.
const CREDENTIALS: [&str; 5] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_SKIP_SIGNATURE",
];

impl Error {
    /// An address that is no place in a store.
    pub(crate) fn address(address: &str, problem: &dyn std::fmt::Display) -> Self {
        Self::Request(format!(
            "{address}: expected an address of an object store, found a problem ({problem}); {CHECK}"
        ))
    }

    /// A deed of which the store reports why it failed.
    pub(crate) fn of(address: String, deed: &'static str, error: &object_store::Error) -> Self {
        let (expected, found, remedy) = explain(deed, error, &error.to_string());
        Self::Failed { address, deed, expected, found, remedy: remedy.to_owned() }
    }

    /// An object that is another one than when it was listed.
    pub(crate) fn changed(address: String) -> Self {
        let (expected, found) = ("the object as it was when it was listed".to_owned(), "another one".to_owned());
        Self::Failed { address, deed: "read", expected, found, remedy: CHANGED.to_owned() }
    }
}

/// What was expected, what was found, and what to do. The client reports the refusal of a list only in its text.
fn explain(deed: &str, error: &object_store::Error, text: &str) -> (String, String, &'static str) {
    use object_store::Error::{NotFound, PermissionDenied, Unauthenticated};
    let of = |expected: &str, found: &str, remedy| (expected.to_owned(), found.to_owned(), remedy);
    let is_refused = || REFUSALS.iter().any(|word| text.contains(word));
    if text.contains("NoSuchBucket") {
        return of("a bucket of that name", "none", CHECK);
    }
    match error {
        NotFound { .. } => of("an object of that name", "none", CHANGED),
        _ if matches!(error, PermissionDenied { .. } | Unauthenticated { .. }) || is_refused() => {
            of(&format!("permission to {deed} it"), &format!("that the store refuses it ({})", code(text)), PERMISSIONS)
        }
        _ if text.contains(METADATA) && CREDENTIALS.iter().all(|name| std::env::var_os(name).is_none()) => {
            of("credentials in the environment", "none", NO_CREDENTIALS)
        }
        _ => of("an answer of the store", first_line(text), CHECK),
    }
}

/// The store's word for the problem, which stands in its XML.
fn code(text: &str) -> &str {
    let word = text.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>")).map(|(word, _)| word);
    word.unwrap_or_else(|| first_line(text))
}

/// A store's answer may be a long page.
fn first_line(text: &str) -> &str {
    const LONGEST: usize = 400;
    let line = text.lines().next().unwrap_or_default();
    line.get(..line.floor_char_boundary(LONGEST)).unwrap_or(line)
}
