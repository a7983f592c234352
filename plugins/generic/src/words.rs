//! Meanings of words in a phase, state, health or reason.
//!
//! Values are compared as tokens: `ImportInProgress`, `IMPORT_IN_PROGRESS` and `import in progress`
//! are the same. The words are in [`tables`].

mod tables;

use crate::effort;
use tables::{
    FAILED, FINISHED, GOOD, NEGATIONS, PAIRS, PENDING, PROSPECTS, STEADY, SUSPENDED, WHOLE,
};

/// Meaning of a word, from good to bad. The order matters: of two the worse one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Meaning {
    /// Has ended well.
    Finished,
    /// Works.
    Good,
    /// Literally `Unknown`.
    Unknown,
    /// On its way.
    Pending,
    /// Does not exist.
    Absent,
    /// Stopped on purpose.
    Suspended,
    /// Broken or refused.
    Failed,
}

/// Most words a value may have for a good word in it to count.
const GOOD_TOKENS_MAX: usize = 4;

/// Meaning of a value, if it is known.
pub(crate) fn meaning(text: &str) -> Option<Meaning> {
    let tokens = tokens(text);
    let whole = tokens.concat();
    if let Some((_, meaning)) = WHOLE.iter().find(|(word, _)| *word == whole) {
        return Some(*meaning);
    }
    let found = found(&tokens);
    let worst = found.iter().flatten().copied().max();
    if worst == Some(Meaning::Failed) {
        return worst;
    }
    // In English the last word decides: ProvisioningSucceeded, UpgradePending.
    let meaning = found.last().copied().flatten().or(worst)?;
    let hoped_for = tokens
        .iter()
        .any(|token| PROSPECTS.contains(&token.as_str()));
    let is_good = matches!(meaning, Meaning::Good | Meaning::Finished);
    if is_good && (hoped_for || tokens.len() > GOOD_TOKENS_MAX) {
        return worst.filter(|worst| *worst == Meaning::Pending);
    }
    Some(meaning)
}

/// Meaning of each token in its context.
fn found(tokens: &[String]) -> Vec<Option<Meaning>> {
    let mut before = "";
    let mut negated_before = false;
    let mut found = Vec::with_capacity(tokens.len());
    for (index, token) in tokens.iter().enumerate() {
        let at_an_end = index == 0 || index + 1 == tokens.len();
        found.push(match (pair(before, token), word(token, at_an_end)) {
            (Some(meaning), _) => Some(meaning),
            _ if token == "found" && negated_before => Some(Meaning::Failed),
            (None, Some(meaning)) if NEGATIONS.contains(&before) => negated(meaning),
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
    let table = tables.iter().find(|(words, _)| words.contains(&token));
    let changing = || at_an_end && token.ends_with("ing") && !STEADY.contains(&token);
    table
        .map(|(_, meaning)| *meaning)
        .or_else(|| changing().then_some(Meaning::Pending))
}

fn pair(before: &str, token: &str) -> Option<Meaning> {
    let known = PAIRS.iter().find(|(pair, _)| *pair == (before, token))?;
    Some(known.1)
}

/// Meaning of a negated word: `NotReady` is pending, `NotFailed` means nothing.
fn negated(meaning: Meaning) -> Option<Meaning> {
    matches!(meaning, Meaning::Good | Meaning::Finished).then_some(Meaning::Pending)
}

/// The lower-case words of a value, split at case changes and at anything but letters and digits.
/// None where no effort is left for them.
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
            ("NotFailed", None),
            ("a very long sentence that ends in ready", None),
            ("blue", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(meaning(text), expected, "{text}");
        }
    }
}
