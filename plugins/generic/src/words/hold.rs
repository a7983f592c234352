//! Words and counts that prevent a value from being good: `NotAllReady`, `PartiallyReady`, `0 of 3
//! ready`.

use super::tables::NEGATIONS;
use super::{Meaning, word};

/// Words that prevent any later good word in the value from counting: negations, parts of a set,
/// and other times. `few` is included because a few are not all.
const HOLDS: &[&str] = &[
    "almost",
    "aren",
    "arent",
    "barely",
    "becoming",
    "cant",
    "couldn",
    "desired",
    "didn",
    "didnt",
    "doesn",
    "doesnt",
    "except",
    "expected",
    "false",
    "few",
    "fewer",
    "formerly",
    "half",
    "hardly",
    "hasn",
    "hasnt",
    "haven",
    "havent",
    "incompletely",
    "isn",
    "isnt",
    "lacking",
    "lacks",
    "less",
    "most",
    "minimally",
    "mostly",
    "nearly",
    "neither",
    "never",
    "nobody",
    "none",
    "nor",
    "nothing",
    "only",
    "partly",
    "previously",
    "rarely",
    "should",
    "some",
    "under",
    "was",
    "wasn",
    "wasnt",
    "were",
    "will",
    "wont",
    "would",
    "zero",
];

/// Words of `PENDING` that also prevent a later word such as `succeeded` from counting. The other
/// words name the subject of the success: `BootstrapSucceeded`.
const UNFINISHED: &[&str] = &[
    "awaiting",
    "delayed",
    "incomplete",
    "outdated",
    "partial",
    "partially",
    "pending",
    "unavailable",
    "unbound",
    "unpublished",
    "unready",
    "unsynced",
    "unsynchronized",
    "waiting",
];

/// Words that a preceding negation makes harmless, in addition to all bad words: `no changes`.
const HARMLESS: &[&str] = &[
    "action", "change", "changes", "drift", "issue", "issues", "problem", "problems",
];

/// Words that make a preceding good word uncertain: `ReadyFalse`, `ActiveUnknown`.
const AFTERTHOUGHTS: &[&str] = &[
    "but",
    "except",
    "false",
    "never",
    "no",
    "none",
    "not",
    "soon",
    "undefined",
    "unknown",
    "unless",
    "until",
    "without",
    "zero",
];

/// Words for the end of an object or of the desired state. Their success is not good evidence.
const UNDOING: &[&str] = &[
    "delete",
    "deleted",
    "deletion",
    "destroy",
    "destroyed",
    "removal",
    "removed",
    "rollback",
    "rolledback",
    "teardown",
    "terminated",
    "termination",
    "uninstall",
    "uninstalled",
];

/// The position of a word that prevents a value from being good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// Before the good word, which it negates or restricts.
    Before,
    /// After the good word, or about a different subject, so that the meaning is uncertain.
    After,
}

/// The word or count that prevents a value from being good, if there is one.
pub(super) fn hold(
    text: &str,
    tokens: &[String],
    found: &[Option<Meaning>],
    good: Meaning,
) -> Option<Hold> {
    // Fast path: most values are one word.
    if tokens.len() < 2 {
        return None;
    }
    if is_fraction(text, tokens) {
        return Some(Hold::Before);
    }
    if tokens.iter().any(|token| UNDOING.contains(&token.as_str())) {
        return Some(Hold::After);
    }
    let is_good =
        |meaning: &Option<Meaning>| meaning.is_some_and(|meaning| meaning <= Meaning::Good);
    let last_good = found.iter().rposition(is_good)?;
    let mut before = "";
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens.get(index + 1).map_or("", String::as_str);
        let is_spent = is_harmless(token, next);
        let is_after = index > last_good;
        let holds = if is_after {
            AFTERTHOUGHTS.contains(&token.as_str()) || is_zero(token)
        } else {
            holds_back(before, token, found.get(index).copied().flatten(), good)
        };
        if holds && !is_spent {
            return Some(if is_after { Hold::After } else { Hold::Before });
        }
        before = token;
    }
    None
}

/// Returns whether a word prevents a good word after it from counting.
fn holds_back(before: &str, token: &str, meaning: Option<Meaning>, good: Meaning) -> bool {
    let negates = NEGATIONS.contains(&token) || HOLDS.contains(&token) || is_zero(token);
    let is_pending = meaning == Some(Meaning::Pending);
    // For example `ReadOnlyAvailable`.
    let is_mode = token == "only" && matches!(before, "read" | "write");
    let unfinished = UNFINISHED.contains(&token) || (is_pending && good == Meaning::Good);
    (negates && !is_mode) || unfinished
}

/// Returns whether a word before the last one negates it.
pub(crate) fn is_denied(tokens: &[String]) -> bool {
    is_after_one_of(NEGATIONS, tokens)
}

/// Returns whether a word before the last one negates it, or restricts it to a part.
pub(crate) fn is_negated(tokens: &[String]) -> bool {
    const PARTS: &[&str] = &["incomplete", "never", "none", "partial", "partially"];
    is_denied(tokens) || is_after_one_of(PARTS, tokens)
}

fn is_after_one_of(words: &[&str], tokens: &[String]) -> bool {
    let before = tokens.split_last().map_or(&[][..], |(_, before)| before);
    before.iter().any(|token| words.contains(&token.as_str()))
}

/// Returns whether a negation only negates the bad word after it: `no errors`.
fn is_harmless(token: &str, next: &str) -> bool {
    let negates = NEGATIONS.contains(&token) || is_zero(token) || token == "zero";
    let is_bad = || word(next, false).is_some_and(|meaning| meaning > Meaning::Good);
    negates && (HARMLESS.contains(&next) || is_bad())
}

pub(super) fn is_zero(token: &str) -> bool {
    token.parse() == Ok(0_u64)
}

/// Returns whether a value counts a part of a total: `1/3 ready`, `1 of 3 ready`, `50% ready`.
fn is_fraction(text: &str, tokens: &[String]) -> bool {
    if text.contains('%') {
        return !text.contains("100%");
    }
    // The digits at the end, as in `only1 of3`.
    let number = |token: &str| {
        let digits = token.trim_start_matches(|char: char| !char.is_ascii_digit());
        digits.parse::<u64>().ok()
    };
    let is_part = |part: &str, whole: &str| {
        let whole = number(whole);
        number(part).is_some_and(|part| whole.is_some_and(|whole| part < whole))
    };
    tokens.windows(3).any(|window| match window {
        [part, of, whole] => of == "of" && is_part(part, whole),
        _ => false,
    }) || tokens.windows(2).any(|window| match window {
        [part, whole] => match whole.strip_prefix("of") {
            Some(whole) => is_part(part, whole),
            None => text.contains('/') && is_part(part, whole),
        },
        _ => false,
    })
}
