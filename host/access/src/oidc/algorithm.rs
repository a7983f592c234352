//! The algorithms of signatures that an operator may allow.

use std::fmt;
use std::str::FromStr;

use jsonwebtoken::Algorithm;

/// All algorithms with public keys. Tokens without a signature (`none`) and with a shared secret (`HS256`, …) cannot
/// be allowed.
const KNOWN: &[SignatureAlgorithm] = &[
    SignatureAlgorithm(Algorithm::RS256),
    SignatureAlgorithm(Algorithm::RS384),
    SignatureAlgorithm(Algorithm::RS512),
    SignatureAlgorithm(Algorithm::PS256),
    SignatureAlgorithm(Algorithm::PS384),
    SignatureAlgorithm(Algorithm::PS512),
    SignatureAlgorithm(Algorithm::ES256),
    SignatureAlgorithm(Algorithm::ES384),
    SignatureAlgorithm(Algorithm::EdDSA),
];

/// An algorithm of signatures with a public key, such as `RS256`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignatureAlgorithm(pub(super) Algorithm);

impl SignatureAlgorithm {
    /// The algorithms that are allowed by default.
    pub const DEFAULT: &[Self] = &[
        Self(Algorithm::RS256),
        Self(Algorithm::ES256),
        Self(Algorithm::EdDSA),
        Self(Algorithm::PS256),
    ];
}

/// The reason why a word is not a [`SignatureAlgorithm`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an algorithm that can be allowed: use one of {known}", known = names(KNOWN))]
pub struct SignatureAlgorithmError(String);

impl FromStr for SignatureAlgorithm {
    type Err = SignatureAlgorithmError;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let known = KNOWN.iter().find(|known| known.to_string() == word);
        known
            .copied()
            .ok_or_else(|| SignatureAlgorithmError(word.to_owned()))
    }
}

impl fmt::Display for SignatureAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// Names of algorithms for a message.
pub(super) fn names(algorithms: &[SignatureAlgorithm]) -> String {
    let names: Vec<String> = algorithms.iter().map(ToString::to_string).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_algorithms_with_public_keys_can_be_allowed() {
        for known in KNOWN {
            assert_eq!(known.to_string().parse(), Ok(*known));
        }
        for word in ["none", "HS256", "HS384", "HS512", "rs256", ""] {
            let error = word.parse::<SignatureAlgorithm>().unwrap_err();
            assert!(error.to_string().contains("RS256, RS384"), "{error}");
        }
    }
}
