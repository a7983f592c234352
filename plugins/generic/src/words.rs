//! Meanings of words in a phase, state, health or reason.
//!
//! Values are compared as tokens: `ImportInProgress`, `IMPORT_IN_PROGRESS` and `import in progress`
//! are the same. The words are in [`tables`].

mod hold;
mod tables;

use crate::effort;
use hold::{Hold, hold, is_zero};
pub(crate) use hold::{is_denied, is_negated};
use tables::{
    FAILED, FINISHED, GOOD, NEGATIONS, PAIRS, PENDING, PROSPECTS, STEADY, SUSPENDED, WHOLE,
};

/// The meaning of a word, from good to bad. The order is significant: of two meanings, the worse
/// one is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Meaning {
    /// The object has completed successfully.
    Finished,
    /// The object works.
    Good,
    /// The word is literally `Unknown`.
    Unknown,
    /// The object is not ready yet.
    Pending,
    /// The object does not exist.
    Absent,
    /// The object was stopped on purpose.
    Suspended,
    /// The object is broken or was refused.
    Failed,
}

/// Maximum number of words in a value in which a good word counts.
const GOOD_TOKENS_MAX: usize = 4;

/// The meaning of a value, if it is known.
pub(crate) fn meaning(text: &str) -> Option<Meaning> {
    read(text).meaning
}

/// Returns whether a word in these tokens means a failure. The last of them is compared as a
/// complete value too, because `NodeOffline` is as bad as `Offline`.
pub(crate) fn names_a_failure(tokens: &[String]) -> bool {
    let fails = |meaning: Option<Meaning>| meaning == Some(Meaning::Failed);
    // `ScaledDown` only has a direction.
    let is_direction = |last: &str| last == "down" && tokens.len() > 1;
    let last = tokens.last().filter(|last| !is_direction(last));
    let at_the_end = last.and_then(|last| entry(WHOLE, last.as_str()));
    fails(at_the_end) || found(tokens).into_iter().any(fails)
}

/// Returns whether a value means that a change is in progress. A value that only restricts or negates
/// a good word, such as `PartiallyReady` or `NodesNotReady`, does not.
pub(crate) fn is_under_way(text: &str) -> bool {
    let reading = read(text);
    reading.meaning == Some(Meaning::Pending) && !reading.is_held && !is_negated(&tokens(text))
}

/// The meaning of a value, and its origin.
struct Reading {
    meaning: Option<Meaning>,
    /// True if the meaning would be good except for a word that prevents it.
    is_held: bool,
}

fn read(text: &str) -> Reading {
    let tokens = tokens(text);
    let plain = |meaning| Reading {
        meaning,
        is_held: false,
    };
    let whole = tokens.concat();
    if let Some(meaning) = entry(WHOLE, whole.as_str()) {
        return plain(Some(meaning));
    }
    let found = found(&tokens);
    let worst = found.iter().flatten().copied().max();
    if worst == Some(Meaning::Failed) {
        return plain(worst);
    }
    // In English, the last word determines the meaning: ProvisioningSucceeded, UpgradePending.
    let last = found.last().copied().flatten().or(worst);
    let Some(good @ (Meaning::Good | Meaning::Finished)) = last else {
        return plain(last);
    };
    let hoped_for = tokens
        .iter()
        .any(|token| PROSPECTS.contains(&token.as_str()));
    if hoped_for || tokens.len() > GOOD_TOKENS_MAX {
        return plain(worst.filter(|worst| *worst == Meaning::Pending));
    }
    if worst == Some(Meaning::Suspended) {
        // For example `SuspendedSuccessfully`.
        return plain(worst);
    }
    match hold(text, &tokens, &found, good) {
        None => plain(Some(good)),
        Some(hold) => Reading {
            meaning: (hold == Hold::Before).then_some(Meaning::Pending),
            is_held: true,
        },
    }
}

/// The meaning of each token in its context.
fn found(tokens: &[String]) -> Vec<Option<Meaning>> {
    let mut before = "";
    let mut negated_before = false;
    let mut found = Vec::with_capacity(tokens.len());
    for (index, token) in tokens.iter().enumerate() {
        let at_an_end = index == 0 || index + 1 == tokens.len();
        let pair = entry(PAIRS, (before, token.as_str()));
        if let (Some(_), Some(last)) = (pair, found.last_mut()) {
            // The first word of a pair has no meaning of its own.
            *last = None;
        }
        found.push(match (pair, word(token, at_an_end)) {
            (Some(meaning), _) => meaning,
            _ if token == "found" && negated_before => Some(Meaning::Failed),
            (None, Some(meaning)) if NEGATIONS.contains(&before) => negated(meaning),
            (None, Some(meaning)) if is_zero(before) || before == "zero" => denied(meaning),
            (None, alone) => alone,
        });
        negated_before |= NEGATIONS.contains(&token.as_str());
        before = token;
    }
    found
}

fn word(token: &str, at_an_end: bool) -> Option<Meaning> {
    let tables = [
        (FAILED, Meaning::Failed),
        (SUSPENDED, Meaning::Suspended),
        (PENDING, Meaning::Pending),
        (GOOD, Meaning::Good),
        (FINISHED, Meaning::Finished),
    ];
    let table = tables.iter().find(|(words, _)| has(words, token));
    let changing = || at_an_end && token.ends_with("ing") && !has(STEADY, token);
    table
        .map(|(_, meaning)| *meaning)
        .or_else(|| changing().then_some(Meaning::Pending))
}

/// Returns whether a sorted list contains a word. Searches in the tables take most of the time.
pub(crate) fn has(words: &[&str], word: &str) -> bool {
    words.binary_search(&word).is_ok()
}

/// The value for a key in a table that is sorted by its keys.
pub(crate) fn entry<K: Ord + Copy, V: Copy>(table: &[(K, V)], key: K) -> Option<V> {
    let at = table.binary_search_by(|(entry, _)| entry.cmp(&key)).ok()?;
    table.get(at).map(|(_, value)| *value)
}

/// The meaning of a negated word: `NotReady` is pending, and `NotFailed` has no meaning.
fn negated(meaning: Meaning) -> Option<Meaning> {
    matches!(meaning, Meaning::Good | Meaning::Finished).then_some(Meaning::Pending)
}

/// The meaning of a bad word with count zero: `0 failed` has no meaning. A good word is handled
/// later.
fn denied(meaning: Meaning) -> Option<Meaning> {
    (meaning <= Meaning::Good).then_some(meaning)
}

/// The lower-case words of a value, split at case changes and at all characters except letters and
/// digits. Empty if no effort is left for them.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    if !effort::spend(text.len()) {
        return tokens;
    }
    let mut token = String::new();
    let mut chars = text.chars().peekable();
    let mut before = ' ';
    while let Some(char) = chars.next() {
        let next_is_lower = chars.peek().is_some_and(char::is_ascii_lowercase);
        let starts = char.is_ascii_uppercase()
            && (!before.is_ascii_uppercase() || (next_is_lower && before.is_ascii_uppercase()));
        if (starts || !char.is_alphanumeric()) && !token.is_empty() {
            tokens.push(std::mem::take(&mut token));
        }
        if char.is_alphanumeric() {
            token.push(char.to_ascii_lowercase());
        }
        before = char;
    }
    if !token.is_empty() {
        tokens.push(token);
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_falls_into_words_at_cases_and_separators() {
        let table = [
            ("ImportInProgress", "import in progress"),
            ("DEPLOYED_NOT_READY", "deployed not ready"),
            ("in-sync", "in sync"),
            ("HTTPRouteReady", "http route ready"),
            ("  x  ", "x"),
            ("", ""),
        ];
        for (text, words) in table {
            assert_eq!(tokens(text).join(" "), words, "{text}");
        }
    }

    #[test]
    fn a_word_means_the_same_in_every_spelling() {
        let table = [
            ("Running", Some(Meaning::Good)),
            ("HEALTH_OK", Some(Meaning::Good)),
            ("Cluster in healthy state", Some(Meaning::Good)),
            ("ConfigInSync", Some(Meaning::Good)),
            ("UpToDate", Some(Meaning::Good)),
            ("ProvisioningSucceeded", Some(Meaning::Finished)),
            ("UpgradePending", Some(Meaning::Pending)),
            ("DEPLOYED_NOT_READY", Some(Meaning::Pending)),
            ("NotReconciled", Some(Meaning::Pending)),
            ("WaitingForPodsReady", Some(Meaning::Pending)),
            ("Setting up primary", Some(Meaning::Pending)),
            ("OutOfSync", Some(Meaning::Pending)),
            ("ScalingDown", Some(Meaning::Pending)),
            ("Down", Some(Meaning::Failed)),
            ("CrashLoopBackOff", Some(Meaning::Failed)),
            ("NoPodsFound", Some(Meaning::Failed)),
            ("Pool Decommissioning Not Allowed", Some(Meaning::Failed)),
            ("CompletedWithErrors", Some(Meaning::Failed)),
            ("NotFound", Some(Meaning::Absent)),
            ("NoPodsReady", Some(Meaning::Pending)),
            ("NotAllReady", Some(Meaning::Pending)),
            ("NotYetReady", Some(Meaning::Pending)),
            ("not-in-service", Some(Meaning::Pending)),
            ("PartiallyReady", Some(Meaning::Pending)),
            ("PARTIALLY_AVAILABLE", Some(Meaning::Pending)),
            ("PartiallySucceeded", Some(Meaning::Pending)),
            ("NeverReady", Some(Meaning::Pending)),
            ("NoLongerActive", Some(Meaning::Pending)),
            ("isn't healthy", Some(Meaning::Pending)),
            ("IncompleteApplied", Some(Meaning::Pending)),
            ("UnderProvisioned", Some(Meaning::Pending)),
            ("ZeroReplicasReady", Some(Meaning::Pending)),
            ("0 ready", Some(Meaning::Pending)),
            ("0/3 ready", Some(Meaning::Pending)),
            ("1 of 3 ready", Some(Meaning::Pending)),
            ("1Of3Ready", Some(Meaning::Pending)),
            ("Only1Of3Ready", Some(Meaning::Pending)),
            ("HealthyExceptOne", None),
            ("DELETE_COMPLETE", None),
            ("RollbackCompleted", None),
            ("90% ready", Some(Meaning::Pending)),
            ("CreatingReady", Some(Meaning::Pending)),
            ("SuspendedSuccessfully", Some(Meaning::Suspended)),
            ("Ready: false", None),
            ("ActiveUnknown", None),
            ("Ready 0", None),
            ("10 Pods ready", Some(Meaning::Good)),
            ("3/3 ready", Some(Meaning::Good)),
            ("100% ready", Some(Meaning::Good)),
            ("ReadyNoChanges", Some(Meaning::Good)),
            ("Ready, 0 errors", Some(Meaning::Good)),
            ("NoErrorsFoundReady", Some(Meaning::Failed)),
            ("ReadOnlyAvailable", Some(Meaning::Good)),
            ("MinimumReplicasAvailable", Some(Meaning::Good)),
            ("BootstrapSucceeded", Some(Meaning::Finished)),
            ("CreatingCompleted", Some(Meaning::Finished)),
            ("NotFailed", None),
            ("FailedOver", None),
            ("Failing-over", Some(Meaning::Pending)),
            ("NotEnoughReplicas", Some(Meaning::Failed)),
            ("Unsuccessful", Some(Meaning::Failed)),
            ("a very long sentence that ends in ready", None),
            ("blue", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(meaning(text), expected, "{text}");
        }
    }
}
