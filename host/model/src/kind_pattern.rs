//! Patterns of the Kinds an interpreter handles.

use std::fmt;

use crate::Gvk;

/// Group, version and Kind, of which parts may be open; see `kind-pattern` in the contract.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KindPattern {
    /// Exact, `*.suffix`, or `*`.
    pub group: String,
    /// Exact, or `*`.
    pub version: String,
    /// Exact, or `*`.
    pub kind: String,
}

/// Rank of a pattern among those that match; greater is more specific.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Specificity {
    rank: Rank,
    /// Of two suffixes the longer one.
    suffix_len: usize,
    exact_version: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Any,
    AnyGroup,
    Suffix,
    SuffixKind,
    Group,
    Kind,
}

impl KindPattern {
    /// Returns whether objects of this Kind match.
    pub fn matches(&self, gvk: &Gvk) -> bool {
        let group = match self.group.strip_prefix('*') {
            Some("") => true,
            Some(suffix) => gvk.group.len() > suffix.len() && gvk.group.ends_with(suffix),
            None => self.group == *gvk.group,
        };
        group
            && (self.version == "*" || self.version == *gvk.version)
            && (self.kind == "*" || self.kind == *gvk.kind)
    }

    /// Its rank among the patterns that match an object.
    pub fn specificity(&self) -> Specificity {
        let any_kind = self.kind == "*";
        let rank = match (self.group.strip_prefix('*'), any_kind) {
            (Some(""), true) => Rank::Any,
            (Some(""), false) => Rank::AnyGroup,
            (Some(_), true) => Rank::Suffix,
            (Some(_), false) => Rank::SuffixKind,
            (None, true) => Rank::Group,
            (None, false) => Rank::Kind,
        };
        let suffix = self.group.strip_prefix('*').unwrap_or_default();
        Specificity {
            rank,
            suffix_len: suffix.len(),
            exact_version: self.version != "*",
        }
    }

    /// The reason why the pattern is invalid, if it is.
    pub fn problem(&self) -> Option<String> {
        let rest = self.group.strip_prefix("*.").unwrap_or(&self.group);
        let group = self.group == "*" || self.group.is_empty() || is_name(rest);
        let version = self.version == "*" || is_name(&self.version);
        let kind = self.kind == "*" || is_name(&self.kind);
        if group && version && kind {
            return None;
        }
        Some(format!(
            "pattern `{self}`: the group is exact, `*.suffix` or `*`; version and Kind are exact or `*`"
        ))
    }
}

fn is_name(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    (1..=253).contains(&text.len()) && text.bytes().all(letter)
}

impl fmt::Display for KindPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} {}", self.group, self.version, self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(group: &str, version: &str, kind: &str) -> KindPattern {
        KindPattern {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
        }
    }

    #[test]
    fn patterns_match_what_they_say() {
        let gvk = Gvk::new("sql.cnrm.cloud.google.com", "v1", "SQLInstance");
        for (group, version, kind, expected) in [
            ("sql.cnrm.cloud.google.com", "v1", "SQLInstance", true),
            ("sql.cnrm.cloud.google.com", "*", "*", true),
            ("*.cnrm.cloud.google.com", "*", "*", true),
            ("*.google.com", "v1", "SQLInstance", true),
            ("*", "*", "*", true),
            ("*", "v2", "*", false),
            ("*.sql.cnrm.cloud.google.com", "*", "*", false),
            ("*.oogle.com", "*", "*", false),
            ("", "*", "*", false),
        ] {
            let pattern = pattern(group, version, kind);
            assert_eq!(pattern.matches(&gvk), expected, "{pattern}");
        }
    }

    #[test]
    fn the_more_specific_pattern_is_greater() {
        let order = [
            pattern("*", "*", "*"),
            pattern("*", "v1", "*"),
            pattern("*", "*", "Widget"),
            pattern("*.com", "*", "*"),
            pattern("*.example.com", "*", "*"),
            pattern("*.com", "*", "Widget"),
            pattern("a.example.com", "*", "*"),
            pattern("a.example.com", "*", "Widget"),
            pattern("a.example.com", "v1", "Widget"),
        ];
        for pair in order.windows(2) {
            assert!(
                pair[0].specificity() < pair[1].specificity(),
                "{} {}",
                pair[0],
                pair[1]
            );
        }
    }

    #[test]
    fn a_pattern_with_a_star_inside_is_refused() {
        for bad in ["a*", "*a", "*.*", "a.*", "**"] {
            assert!(pattern(bad, "*", "*").problem().is_some(), "{bad}");
        }
        assert!(pattern("*.example.com", "*", "*").problem().is_none());
        assert!(pattern("", "v1", "Pod").problem().is_none());
    }
}
