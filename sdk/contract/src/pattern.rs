//! Patterns of the Kinds that an interpreter handles.

use std::fmt;

use crate::limits::PATTERN_PART_BYTES_MAX;
use crate::node::Node;

/// Group, version and Kind, each exact or a wildcard.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KindPattern {
    /// An exact group; `*.` and a suffix, which matches every group that ends with `.` and that
    /// suffix; or `*`. The core group is the empty string.
    pub group: String,
    /// An exact version, or `*`.
    pub version: String,
    /// An exact Kind, or `*`.
    pub kind: String,
}

/// The rank of a pattern among the patterns that match an object. A greater value is more specific,
/// in this order: exact Kind, exact group, suffix (longer suffixes first), `*`; then an exact
/// version; then a required field (`when`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Specificity {
    rank: Rank,
    /// The length of the suffix. A longer suffix is more specific.
    suffix_len: usize,
    exact_version: bool,
    has_when: bool,
}

impl Specificity {
    /// The same rank, for a pattern with or without a required field.
    #[must_use]
    pub fn with_when(self, has_when: bool) -> Self {
        Self { has_when, ..self }
    }
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
    pub fn matches(&self, group: &str, version: &str, kind: &str) -> bool {
        let group_matches = match self.group.strip_prefix('*') {
            Some("") => true,
            Some(suffix) => group.len() > suffix.len() && group.ends_with(suffix),
            None => self.group == group,
        };
        group_matches
            && (self.version == "*" || self.version == version)
            && (self.kind == "*" || self.kind == kind)
    }

    /// The rank of this pattern among the patterns that match an object.
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
            has_when: false,
        }
    }

    /// The invalid parts: the name of each member, and its valid values.
    pub fn problems(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let rest = self.group.strip_prefix("*.").unwrap_or(&self.group);
        let group = if self.group == "core" {
            Some("the core group is the empty string")
        } else if self.group == "*" || self.group.is_empty() || is_name(rest) {
            None
        } else {
            Some("a group is exact, `*.suffix` or `*`")
        };
        let exact_or_any = |part: &str, what| (part != "*" && !is_name(part)).then_some(what);
        let version = exact_or_any(&self.version, "a version is exact or `*`");
        let kind = exact_or_any(&self.kind, "a Kind is exact or `*`");
        let parts = [("group", group), ("version", version), ("kind", kind)];
        parts
            .into_iter()
            .filter_map(|(name, problem)| Some((name, problem?)))
    }
}

/// An entry of a description, which claims objects.
pub trait Claim {
    /// Pattern of the objects.
    fn pattern(&self) -> &KindPattern;
    /// JSON pointer of a field that the objects must have with a value other than `null`.
    fn when(&self) -> Option<&str>;

    /// The rank of this entry among the entries that match an object.
    fn specificity(&self) -> Specificity {
        self.pattern()
            .specificity()
            .with_when(self.when().is_some())
    }

    /// Returns whether an object of the entry's Kind, with this root, has the required field.
    fn takes(&self, object: Node<'_>) -> bool {
        let when = self.when();
        when.is_none_or(|pointer| object.at(pointer).is_present())
    }
}

/// Positions of the entries that may apply to objects of a Kind, given as group, version and Kind:
/// the most specific matching entry, and before it the entries that require a field. Among equal
/// entries, the first one is first.
pub fn ranked(claims: &[impl Claim], (group, version, kind): (&str, &str, &str)) -> Vec<usize> {
    let matches = claims.iter().enumerate();
    let mut matches: Vec<_> = matches
        .filter(|(_, claim)| claim.pattern().matches(group, version, kind))
        .collect();
    matches.sort_by_key(|(_, claim)| std::cmp::Reverse(claim.specificity()));
    let unconditional = matches.iter().position(|(_, claim)| claim.when().is_none());
    matches.truncate(unconditional.map_or(usize::MAX, |position| position + 1));
    matches.into_iter().map(|(position, _)| position).collect()
}

/// The position of the entry that handles an object with this root: the first entry of [`ranked`]
/// that takes the object.
pub fn handled(claims: &[impl Claim], gvk: (&str, &str, &str), object: Node<'_>) -> Option<usize> {
    let mut ranked = ranked(claims, gvk).into_iter();
    ranked.find(|&position| {
        let claim = claims.get(position);
        claim.is_some_and(|claim| claim.takes(object))
    })
}

fn is_name(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    (1..=PATTERN_PART_BYTES_MAX).contains(&text.len()) && text.bytes().all(letter)
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
    fn patterns_match_the_kinds_that_they_name() {
        let (actual, v1) = ("sql.cnrm.cloud.google.com", "v1");
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
            let matches = pattern.matches(actual, v1, "SQLInstance");
            assert_eq!(matches, expected, "{pattern}");
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
            let with_when = pair[0].specificity().with_when(true);
            assert!(pair[0].specificity() < with_when && with_when < pair[1].specificity());
        }
    }

    struct Entry(KindPattern, Option<&'static str>);

    impl Claim for Entry {
        fn pattern(&self) -> &KindPattern {
            &self.0
        }

        fn when(&self) -> Option<&str> {
            self.1
        }
    }

    #[test]
    fn the_most_specific_entry_that_takes_an_object_handles_it() {
        let exact = || pattern("example.com", "*", "Widget");
        let entries = [
            Entry(pattern("*", "*", "Widget"), None),
            Entry(exact(), None),
            Entry(exact(), Some("/spec/a")),
            Entry(exact(), Some("/spec/b")),
        ];
        let gvk = ("example.com", "v1", "Widget");
        assert_eq!(ranked(&entries, gvk), [2, 3, 1]);
        assert_eq!(ranked(&entries, ("other.com", "v1", "Widget")), [0]);
        for (json, expected) in [
            (r#"{"spec": {"a": 1, "b": 1}}"#, 2),
            (r#"{"spec": {"b": 1}}"#, 3),
            (r#"{"spec": {"b": null}}"#, 1),
        ] {
            let tree = crate::Tree::read(json).unwrap();
            let document = tree.document(json);
            assert_eq!(handled(&entries, gvk, document.root()), Some(expected));
        }
    }

    #[test]
    fn a_pattern_with_a_star_inside_is_refused() {
        for bad in ["a*", "*a", "*.*", "a.*", "**"] {
            assert_eq!(pattern(bad, "*", "*").problems().count(), 1, "{bad}");
        }
        assert_eq!(pattern("*.example.com", "*", "*").problems().count(), 0);
        assert_eq!(pattern("", "v1", "Pod").problems().count(), 0);
        let core = pattern("core", "", "a b");
        let problems: Vec<(&str, &str)> = core.problems().collect();
        assert_eq!(
            problems,
            [
                ("group", "the core group is the empty string"),
                ("version", "a version is exact or `*`"),
                ("kind", "a Kind is exact or `*`")
            ]
        );
    }
}
