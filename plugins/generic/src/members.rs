//! Evidence from members of the status other than conditions: phases, states, health values and
//! flags.

use kindsight_sdk::prelude::*;

use crate::evidence::{Evidence, Says};
use crate::words::{Meaning, has, meaning, tokens};

/// Last words of the names of members whose value is the state of the object.
const STATE_ENDINGS: &[&str] = &["health", "phase", "stage", "state", "status"];

/// First words of the names of members that refer to a different time.
const OTHER_TIMES: &[&str] = &[
    "desired", "expected", "initial", "old", "previous", "target",
];

/// Words in the names of members that refer to a different time or a different object.
const NOT_CURRENT: &[&str] = &["conditions", "history", "transition"];

/// Other names of members whose value is the state of the object.
const STATE_NAMES: &[&str] = &["compliant", ROBUSTNESS];

/// The name of the member for the state of a volume's copies.
const ROBUSTNESS: &str = "robustness";

/// Flags, with their signals if true and if false.
const FLAGS: &[(&str, Option<Says>, Option<Says>)] = &[
    ("ready", Some(Says::Ready), Some(Says::Pending)),
    ("readyToUse", Some(Says::Ready), Some(Says::Pending)),
    ("healthy", Some(Says::Ready), Some(Says::Failed)),
    ("available", Some(Says::Ready), Some(Says::Pending)),
    ("pass", None, Some(Says::Doubtful)),
    ("passed", None, Some(Says::Doubtful)),
    ("succeeded", None, Some(Says::Doubtful)),
    ("success", None, Some(Says::Doubtful)),
    ("valid", None, Some(Says::Failed)),
    ("degraded", Some(Says::Failed), None),
    ("failed", Some(Says::Failed), None),
    ("invalid", Some(Says::Failed), None),
    ("paused", Some(Says::Suspended), None),
    ("suspended", Some(Says::Suspended), None),
];

/// Members of a task, which ends. If it is `running`, it is not ready yet.
const TASK_MARKS: &[&str] = &[
    "completionTime",
    "endTime",
    "finished",
    "finishedAt",
    "startTime",
    "started",
    "startedAt",
];

/// Members whose value is the state of the complete object and not of a part.
const WHOLE_STATES: &[&str] = &["currentState", "health", "phase", "state", "status"];

/// Words for the health of the complete object.
const SUMMARIES: &[&str] = &[
    "available",
    "green",
    "healthy",
    "ok",
    "operational",
    "optimal",
    "ready",
    "serving",
    "stable",
];

/// Evidence from the status itself, without its conditions. `corroborated` is whether other
/// evidence in it shows health.
pub(crate) fn evidence(status: Node<'_>, corroborated: bool) -> Vec<Evidence> {
    let mut evidence = words(status, corroborated);
    evidence.extend(flags(status));
    evidence
}

/// Evidence from the state words of one object. An unknown word is evidence against Ready, because
/// its meaning is unknown. A failure (`lastBackupStatus`, `health`) beside a good word for the
/// complete object is an impairment.
pub(crate) fn words(holder: Node<'_>, corroborated: bool) -> Vec<Evidence> {
    let is_task = TASK_MARKS.iter().any(|mark| holder.get(mark).is_present());
    let words: Vec<_> = holder
        .members()
        .filter(|(name, _)| is_state(name))
        .filter_map(|(name, value)| Some((name, value.text()?)))
        .filter(|(_, text)| !text.is_empty())
        .collect();
    let another_good = words
        .iter()
        .any(|(name, text)| !is_running(text) && says_good(name, text));
    let whole_is_good = whole_is_good(&words);
    let believed = !is_task && (corroborated || another_good);
    let read = |(name, text): (&str, &str)| {
        if is_running(text) && !believed {
            return running(name, text);
        }
        let piece = word(name, text);
        match piece.says {
            Says::Failed if whole_is_good => piece.contradicting(),
            _ => piece,
        }
    };
    let words = words.into_iter();
    words
        .filter(|(name, text)| whole_is_good || !is_idle(name, text))
        .map(read)
        .collect()
}

/// Returns whether the word has no meaning unless the volume is attached: the copies of a detached
/// volume are not compared.
fn is_idle(name: &str, text: &str) -> bool {
    name == ROBUSTNESS && meaning(text) == Some(Meaning::Unknown)
}

/// Returns whether a state word of the complete object is good.
pub(crate) fn are_good(status: Node<'_>) -> bool {
    let words = WHOLE_STATES
        .iter()
        .filter_map(|name| Some((*name, status.get(name).text()?)));
    whole_is_good(&words.collect::<Vec<_>>())
}

/// Returns whether a state word of the complete object means that it has completed successfully.
pub(crate) fn has_finished(status: Node<'_>) -> bool {
    let mut texts = WHOLE_STATES
        .iter()
        .map(|name| status.get(name).text_or_empty());
    texts.any(|text| meaning(text) == Some(Meaning::Finished))
}

/// Returns whether a state word of the complete object is a summary of its health. A word for a
/// completed step, such as `Deployed`, is none.
pub(crate) fn sum_up(holder: Node<'_>) -> bool {
    let is_summary = |text: &str| tokens(text).iter().any(|word| has(SUMMARIES, word));
    WHOLE_STATES.iter().any(|name| {
        let text = holder.get(name).text_or_empty();
        says_good(name, text) && is_summary(text)
    })
}

fn whole_is_good(words: &[(&str, &str)]) -> bool {
    let mut words = words.iter();
    words.any(|(name, text)| WHOLE_STATES.contains(name) && says_good(name, text))
}

fn says_good(name: &str, text: &str) -> bool {
    let is_good = matches!(meaning(text), Some(Meaning::Good | Meaning::Finished));
    is_good && !is_only_accepted(name, text)
}

/// Returns whether the word only means that the object was accepted. This is the first step of a
/// phase, but the last step of a `state` that a proxy or gateway reports for its configuration.
fn is_only_accepted(name: &str, text: &str) -> bool {
    name != "state" && tokens(text).last().is_some_and(|last| last == "accepted")
}

/// A doubt about `Running`, which means ready for a server but unfinished for a task.
fn running(name: &str, text: &str) -> Evidence {
    let signal = format!("{name} is {text}, which may be a task that has not ended yet");
    Evidence::of_signal(Says::Doubtful, &["RunningUnclear"], signal)
}

fn is_running(text: &str) -> bool {
    text.eq_ignore_ascii_case("running")
}

fn word(name: &str, text: &str) -> Evidence {
    let signal = format!("{name} is {text}");
    match meaning(text) {
        Some(Meaning::Absent) if !WHOLE_STATES.contains(&name) => {
            Evidence::of_signal(Says::Doubtful, &["StateUnclear"], signal)
        }
        Some(Meaning::Good) if is_only_accepted(name, text) => {
            Evidence::of_signal(Says::Doubtful, &["StateUnclear"], signal)
        }
        Some(meaning) => Evidence::of_signal(meaning.into(), &[text, name], signal),
        None => Evidence::of_signal(Says::Doubtful, &["StateUnclear"], signal),
    }
}

/// Returns whether a member with this name contains the state of its parent.
pub(crate) fn is_state(name: &str) -> bool {
    // Fast path: the ends of most names are sufficient to reject them before they are split into
    // words.
    if !STATE_NAMES.contains(&name) && !ends_in_one_of(STATE_ENDINGS, name) {
        return false;
    }
    let tokens = tokens(name);
    let first = tokens.first().map_or("", String::as_str);
    let last = tokens.last().map_or("", String::as_str);
    STATE_NAMES.contains(&name) || (STATE_ENDINGS.contains(&last) && !OTHER_TIMES.contains(&first))
}

/// Returns whether a name ends with one of these words, even as part of its last word.
pub(crate) fn ends_in_one_of(endings: &[&str], name: &str) -> bool {
    let name = name
        .trim_end_matches(|char: char| !char.is_alphanumeric())
        .as_bytes();
    endings.iter().any(|ending| {
        let start = name.len().checked_sub(ending.len());
        let end = start.and_then(|start| name.get(start..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(ending.as_bytes()))
    })
}

/// Returns whether the content of a member with this name is current.
pub(crate) fn is_of_now(name: &str) -> bool {
    let tokens = tokens(name);
    let first = tokens.first().map_or("", String::as_str);
    let not_current = |token: &String| NOT_CURRENT.contains(&token.as_str());
    first != "last" && !OTHER_TIMES.contains(&first) && !tokens.iter().any(not_current)
}

pub(crate) fn flags(holder: Node<'_>) -> impl Iterator<Item = Evidence> {
    FLAGS
        .iter()
        .filter_map(move |(name, when_true, when_false)| {
            let flag = holder.get(name).flag()?;
            let says = if flag { *when_true } else { *when_false }?;
            let signal = format!("{name} is {flag}");
            Some(Evidence::of_signal(says, &[reason(says)], signal))
        })
}

fn reason(says: Says) -> &'static str {
    match says {
        Says::Ready => "Ready",
        Says::Pending => "NotReady",
        Says::Suspended => "Suspended",
        Says::Failed => "Failed",
        _ => "FlagUnclear",
    }
}
