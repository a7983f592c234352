//! Patterns of names, with `*` for any characters.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::NAME_BYTES_MAX;

/// Maximum length of a pattern, in bytes: the longest cluster name with its provider.
const PATTERN_BYTES_MAX: usize = 2 * NAME_BYTES_MAX + 1;

/// A pattern for names of clusters or namespaces; `*` matches any number of characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NamePattern(Arc<str>);

/// The reason why a text is not a pattern of names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a pattern of names: 1 to {PATTERN_BYTES_MAX} letters, digits, `-`, `_`, `.` or `+`, and `*` for any characters"
)]
pub struct NamePatternError(String);

impl NamePattern {
    /// Returns whether the pattern matches a name.
    pub fn matches(&self, name: &str) -> bool {
        let Some((first, rest)) = self.0.split_once('*') else {
            return *self.0 == *name;
        };
        let Some(mut name) = name.strip_prefix(first) else {
            return false;
        };
        let mut parts: Vec<&str> = rest.split('*').collect();
        let last = parts.pop().unwrap_or_default();
        for part in parts {
            // The earliest match leaves the longest rest for the following parts.
            let Some((_, after)) = name.split_once(part) else {
                return false;
            };
            name = after;
        }
        name.ends_with(last)
    }
}

impl FromStr for NamePattern {
    type Err = NamePatternError;

    fn from_str(text: &str) -> Result<Self, NamePatternError> {
        let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+*".contains(&byte);
        let is_short = (1..=PATTERN_BYTES_MAX).contains(&text.len());
        if is_short && text.bytes().all(is_valid) {
            return Ok(Self(text.into()));
        }
        Err(NamePatternError(text.to_owned()))
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_characters() {
        let check = |pattern: &str, names: &[&str], others: &[&str]| {
            let pattern: NamePattern = pattern.parse().unwrap();
            for name in names {
                assert!(pattern.matches(name), "{pattern} {name}");
            }
            for name in others {
                assert!(!pattern.matches(name), "{pattern} {name}");
            }
        };
        check("shop", &["shop"], &["shop-a", "a-shop", ""]);
        check("shop-*", &["shop-", "shop-a"], &["shop", "a-shop-b"]);
        check("*", &["", "shop"], &[]);
        check("kube+e*1", &["kube+edge01", "kube+e1"], &["kube+edge02"]);
        check("a*b*c", &["abc", "a-b-c", "abbcc"], &["acb", "ab", "ac"]);
        check("a*a", &["aa", "aba"], &["a"]);
    }

    #[test]
    fn a_pattern_that_no_name_can_match_is_refused() {
        for wrong in ["", "a b", "ä*", "a/b", &"a".repeat(PATTERN_BYTES_MAX + 1)] {
            let error = wrong.parse::<NamePattern>().unwrap_err().to_string();
            assert!(error.contains("is not a pattern of names"), "{error}");
        }
    }
}
