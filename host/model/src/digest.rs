//! Content addresses of components.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::NameError;

/// Prefix of every digest: the only supported algorithm.
const ALGORITHM: &str = "sha256:";
/// Number of hex digits of a SHA-256.
const DIGITS: usize = 64;
/// Number of hex digits in the short form, enough for people to tell components apart.
const SHORT_DIGITS: usize = 12;

/// The SHA-256 of a component's bytes as submitted: `sha256:` and 64 lower-case hex digits.
///
/// Cheap to clone; text on the wire and in the store, validated when it is read.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Digest(Arc<str>);

impl Digest {
    /// Computes the digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut text = String::with_capacity(ALGORITHM.len() + DIGITS);
        text.push_str(ALGORITHM);
        for byte in Sha256::digest(bytes) {
            let digits = [byte >> 4, byte & 15];
            text.extend(digits.map(|digit| char::from_digit(digit.into(), 16).unwrap_or_default()));
        }
        Self(text.into())
    }

    /// The full text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Algorithm and first twelve digits, for tables and messages.
    pub fn short(&self) -> &str {
        let end = ALGORITHM.len() + SHORT_DIGITS;
        self.0.get(..end).unwrap_or(&self.0)
    }
}

impl FromStr for Digest {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let digits = text.strip_prefix(ALGORITHM);
        match digits {
            Some(digits) if digits.len() == DIGITS && digits.bytes().all(is_hex) => {
                Ok(Self(text.into()))
            }
            _ => Err(NameError::NotADigest(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Digest {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
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

    const ABC: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn a_digest_is_the_sha_256_in_hex() {
        let digest = Digest::of(b"abc");
        assert_eq!(digest.as_str(), ABC);
        assert_eq!(digest.short(), "sha256:ba7816bf8f01");
        assert_eq!(ABC.parse(), Ok(digest));
    }

    #[test]
    fn a_shortened_or_altered_digest_is_refused() {
        for bad in [
            "",
            "sha256:",
            "ba7816bf8f01",
            &ABC[..70],
            &ABC.to_uppercase(),
            &format!("{ABC}0"),
        ] {
            assert!(bad.parse::<Digest>().is_err(), "{bad}");
            let json = serde_json::Value::from(bad);
            assert!(serde_json::from_value::<Digest>(json).is_err(), "{bad}");
        }
        let json = serde_json::to_string(&Digest::of(b"abc")).unwrap();
        assert_eq!(
            serde_json::from_str::<Digest>(&json).unwrap(),
            Digest::of(b"abc")
        );
    }
}
