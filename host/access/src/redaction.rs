//! Removal of tokens from texts for users and logs.
//!
//! A user may pass a token where a name or a path is expected, and errors repeat such values.

use std::borrow::Cow;

use crate::tokens::PREFIX;

/// The first characters of a JSON Web Token: the begin of a JSON object in base64.
const JSON_WEB_TOKEN: &str = "eyJ";
/// Minimum length of the last part of one of kindsight's own tokens. A complete part has 43 characters; names of files
/// are usually shorter.
const SECRET_CHARS_MIN: usize = 32;
/// The text in the place of a token.
const HIDDEN: &str = "[hidden token]";

/// Replaces each token in a text: kindsight's own tokens and JSON Web Tokens. Called for errors of the command line and
/// for lines of the log.
pub fn without_tokens(text: &str) -> Cow<'_, str> {
    if !text.contains(PREFIX) && !text.contains(JSON_WEB_TOKEN) {
        return Cow::Borrowed(text);
    }
    let words = text.split_inclusive(is_gap).map(|piece| {
        let word = piece.trim_end_matches(is_gap);
        let gap = piece.strip_prefix(word).unwrap_or_default();
        if is_token(word) {
            [HIDDEN, gap]
        } else {
            [word, gap]
        }
    });
    Cow::Owned(words.flatten().collect())
}

/// Returns whether a text has the form of a token: one of kindsight's own tokens, or a JSON Web Token.
pub fn is_token(text: &str) -> bool {
    if text.chars().any(is_gap) {
        return false;
    }
    let parts: Vec<&str> = text.split('.').collect();
    match parts.as_slice() {
        [PREFIX, _, secret, ..] => secret.len() >= SECRET_CHARS_MIN,
        [header, _, _, ..] => header.starts_with(JSON_WEB_TOKEN),
        _ => false,
    }
}

/// Returns whether no token has this character.
fn is_gap(char: char) -> bool {
    !(char.is_ascii_alphanumeric() || "-_.".contains(char))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "kindsight.ci.i0NsTBFAabcdefghijklmnopqrstuvwxyz0123456789";
    const JWT: &str = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2ln_bmF0-dXJl";

    #[test]
    fn tokens_in_a_text_are_replaced_and_the_rest_remains() {
        for token in [OWN, JWT] {
            for (text, expected) in [
                ("TOKEN", "[hidden token]"),
                ("'TOKEN': no file é", "'[hidden token]': no file é"),
                ("/a?name=TOKEN\n", "/a?name=[hidden token]\n"),
                ("read TOKEN.", "read [hidden token]"),
            ] {
                let text = text.replace("TOKEN", token);
                assert_eq!(without_tokens(&text), expected);
            }
        }
        for text in [
            "",
            "kindsight: /etc/kindsight/kindsight.prod.toml",
            "kindsight.apps.v1 eyJ eyJ.a",
            "key=value, a.b.c",
        ] {
            assert_eq!(without_tokens(text), text);
        }
    }

    #[test]
    fn a_token_is_recognized_without_its_secret_part_being_complete() {
        let damaged = OWN.get(..OWN.len() - 4).unwrap();
        for token in [OWN, JWT, damaged] {
            assert!(is_token(token), "{token}");
        }
        for other in ["", "ci", "kindsight.ci.token", "kindsight.toml", "./x.y.z"] {
            assert!(!is_token(other), "{other}");
        }
    }
}
