//! Content addresses of components.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

/// The SHA-256 of a component's bytes, as they were handed in.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(Arc<str>);

impl Digest {
    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let hash = Sha256::digest(bytes);
        let mut text = String::with_capacity(7 + 64);
        text.push_str("sha256:");
        for byte in hash {
            text.extend(
                [byte >> 4, byte & 15]
                    .map(|digit| char::from_digit(u32::from(digit), 16).unwrap_or_default()),
            );
        }
        Self(text.into())
    }

    /// From `sha256:` and 64 lower-case hex digits.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("sha256:")?;
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (digits.len() == 64 && digits.bytes().all(is_hex)).then(|| Self(text.into()))
    }

    /// `sha256:` and 64 hex digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Shared text, for verdicts that carry it.
    pub(crate) fn text(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }

    /// The first twelve hex digits: enough for people.
    pub fn short(&self) -> &str {
        self.0.get(7..19).unwrap_or(&self.0)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_the_sha_256_in_hex() {
        let digest = Digest::of(b"abc");
        assert_eq!(
            digest.as_str(),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(digest.short(), "ba7816bf8f01");
    }
}
