//! The hashes of manifests.

use sha2::{Digest, Sha256};

/// The SHA-256 of some bytes, hexadecimal, as manifests have it.
pub fn sha256(bytes: &[u8]) -> String {
    hex(Sha256::digest(bytes))
}

/// A hash in hexadecimal, as manifests have it.
pub fn hex(hash: impl AsRef<[u8]>) -> String {
    hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
