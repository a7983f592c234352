//! Tokens that continue a list, in the form of Kubernetes.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

/// The version of the form.
const FORM: &str = "meta.k8s.io/v1";
/// The version of a list that continues at the current version.
pub(crate) const INCONSISTENT: i64 = -1;

/// The place of the next object of a list.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Token {
    v: String,
    /// The version of the list, or [`INCONSISTENT`].
    #[serde(rename = "rv")]
    pub(crate) version: i64,
    /// The key of the last object with a zero byte, after the prefix of the list.
    start: String,
}

impl Token {
    /// Continues after a key, which is relative to the list.
    pub(crate) fn after(version: i64, key: &str) -> Self {
        Self {
            v: FORM.to_owned(),
            version,
            start: format!("/{key}\0"),
        }
    }

    /// The key of the last object, relative to the list.
    pub(crate) fn key(&self) -> &str {
        self.start.trim_start_matches('/').trim_end_matches('\0')
    }

    pub(crate) fn encode(&self) -> String {
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }

    /// Reads a token; none if the text is not a token.
    pub(crate) fn decode(text: &str) -> Option<Self> {
        let json = URL_SAFE_NO_PAD.decode(text).ok()?;
        let token: Self = serde_json::from_slice(&json).ok()?;
        (token.v == FORM && token.start.starts_with('/')).then_some(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_back() {
        let token = Token::after(7, "team/web");
        assert_eq!(token.key(), "team/web");
        assert_eq!(Token::decode(&token.encode()), Some(token));
        assert_eq!(Token::decode("bad"), None);
    }
}
