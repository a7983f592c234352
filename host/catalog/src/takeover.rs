//! Kinds that an interpreter takes over from another one, and Kinds of a built-in interpreter that
//! would be lost.

use std::sync::Arc;

use kindsight_api::interpreters::Takeover;
use kindsight_interpreter::{Interpreter, Published};
use kindsight_model::{Gvk, KindPattern, Source};

/// Maximum number of Kinds that a sentence lists. Further Kinds are counted.
const KINDS_LISTED_MAX: usize = 8;

/// A pattern in the form for users: `group/version/Kind`. The core group, which has no name, is
/// shown as `core`.
pub fn pattern_text(pattern: &KindPattern) -> String {
    let group = match &*pattern.group {
        "" => "core",
        group => group,
    };
    format!("{group}/{}/{}", pattern.version, pattern.kind)
}

/// A Kind in the same form.
pub(crate) fn pattern_text_of(gvk: &Gvk) -> String {
    pattern_text(&KindPattern {
        group: gvk.group.to_string(),
        version: gvk.version.to_string(),
        kind: gvk.kind.to_string(),
    })
}

/// The takeovers as text, with one line for each affected interpreter: `apps/*/Deployment from apps
/// 0.1.0 built-in`.
pub fn takeover_lines(takes: &[Takeover]) -> Vec<String> {
    let is_same = |a: &Takeover, b: &Takeover| {
        (&a.name, &a.version, a.source) == (&b.name, &b.version, b.source)
    };
    let lines = takes.chunk_by(is_same).filter_map(|takes| {
        let from = takes.first()?;
        let kinds: Vec<&str> = takes
            .iter()
            .map(|takeover| takeover.kind.as_str())
            .collect();
        Some(format!(
            "{} from {} {} {}",
            listed(&kinds),
            from.name,
            from.version,
            from.source
        ))
    });
    lines.collect()
}

/// The Kinds that this interpreter judges instead of others once it is live in addition to the set
/// `before`: the Kinds for which another interpreter had the most specific pattern. Kinds of a
/// general interpreter, which judges all remaining Kinds, do not count as taken over.
pub(crate) fn takeovers(
    before: &Published,
    source: Source,
    interpreter: &Interpreter,
) -> Vec<Takeover> {
    let kinds = interpreter.description().kinds.iter();
    let takes = kinds.filter_map(|kind| {
        let (holder, from, pattern) = holder(before, &kind.pattern)?;
        let by = from.by();
        let is_update = by.name == interpreter.by().name && holder == source;
        let rank = |pattern: &KindPattern, source| (pattern.specificity(), source);
        let is_taken = rank(&kind.pattern, source) > rank(pattern, holder);
        (is_taken && !is_update).then(|| Takeover {
            kind: pattern_text(&kind.pattern),
            name: by.name.clone(),
            version: by.version.to_string(),
            source: holder,
        })
    });
    let mut takes: Vec<Takeover> = takes.collect();
    takes.sort_by(|a, b| a.name.cmp(&b.name));
    takes
}

/// The interpreter that judges the objects of a pattern, with its own matching pattern.
fn holder<'p>(
    set: &'p Published,
    pattern: &KindPattern,
) -> Option<(Source, &'p Arc<Interpreter>, &'p KindPattern)> {
    let live = set.interpreters().flat_map(|(source, interpreter)| {
        let kinds = interpreter.description().kinds.iter();
        kinds.map(move |kind| (source, interpreter, &kind.pattern))
    });
    let live = live.filter(|(_, _, own)| !is_general(own) && covers(own, pattern));
    live.max_by_key(|(source, _, own)| (own.specificity(), *source))
}

/// Returns whether a pattern matches all Kinds that no other interpreter judges.
fn is_general(pattern: &KindPattern) -> bool {
    pattern.group == "*" && pattern.kind == "*"
}

/// Returns whether `wider` matches everything that `pattern` matches.
fn covers(wider: &KindPattern, pattern: &KindPattern) -> bool {
    wider == pattern || {
        // Only a wildcard matches a wildcard.
        wider.matches(&pattern.group, &pattern.version, &pattern.kind)
    }
}

/// The Kinds of a built-in interpreter that another interpreter with its name does not judge, as
/// text, or `None` if it judges all of them.
pub fn lost_kinds(built_in: &Interpreter, interpreter: &Interpreter) -> Option<String> {
    let kinds = &interpreter.description().kinds;
    let lost = built_in.description().kinds.iter().filter(|lost| {
        let mut patterns = kinds.iter().map(|kind| &kind.pattern);
        !patterns.any(|pattern| covers(pattern, &lost.pattern))
    });
    let lost: Vec<String> = lost.map(|kind| pattern_text(&kind.pattern)).collect();
    (!lost.is_empty()).then(|| listed(&lost))
}

fn listed(kinds: &[impl AsRef<str>]) -> String {
    let shown = kinds.iter().take(KINDS_LISTED_MAX);
    let shown: Vec<&str> = shown.map(AsRef::as_ref).collect();
    let shown = shown.join(", ");
    match kinds.len().saturating_sub(KINDS_LISTED_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> KindPattern {
        let mut parts = text.split('/').map(str::to_owned);
        let mut part = || parts.next().expect("three parts");
        KindPattern {
            group: part(),
            version: part(),
            kind: part(),
        }
    }

    #[test]
    fn a_pattern_covers_the_patterns_that_it_matches_completely() {
        for (wider, narrower, expected) in [
            ("apps/*/Deployment", "apps/*/Deployment", true),
            ("apps/*/Deployment", "apps/v1/Deployment", true),
            ("apps/v1/Deployment", "apps/*/Deployment", false),
            ("apps/*/*", "apps/*/Deployment", true),
            ("apps/*/Deployment", "apps/*/*", false),
            ("*.example.com/*/*", "a.example.com/*/Thing", true),
            ("a.example.com/*/*", "*.example.com/*/*", false),
            ("/*/Pod", "apps/*/Pod", false),
        ] {
            let covers = covers(&pattern(wider), &pattern(narrower));
            assert_eq!(covers, expected, "{wider} {narrower}");
        }
    }

    #[test]
    fn takeovers_are_grouped_by_interpreter_and_shortened() {
        let take = |kind: &str, name: &str| Takeover {
            kind: kind.to_owned(),
            name: name.parse().expect("a name"),
            version: "0.1.0".to_owned(),
            source: Source::BuiltIn,
        };
        let mut takes = vec![take("apps/*/Deployment", "apps")];
        takes.extend((0..10).map(|number| take(&format!("core/*/K{number}"), "core")));
        assert_eq!(
            takeover_lines(&takes),
            [
                "apps/*/Deployment from apps 0.1.0 built-in",
                "core/*/K0, core/*/K1, core/*/K2, core/*/K3, core/*/K4, core/*/K5, core/*/K6, core/*/K7 and 2 more from core 0.1.0 built-in",
            ]
        );
    }
}
