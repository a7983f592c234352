//! What the members of the status say beside the conditions: phases, states, healths, flags and
//! errors.

use kindsight_sdk::prelude::*;

use crate::evidence::{Evidence, Says};
use crate::words::{Meaning, meaning, tokens};

/// How the name of a member ends that tells the state of the object in a word.
const STATE_ENDINGS: &[&str] = &["health", "phase", "stage", "state", "status"];

/// How the name of a member begins that tells of another time than now.
const OTHER_TIMES: &[&str] = &[
    "desired", "expected", "initial", "old", "previous", "target",
];

/// Members that are not of this moment, or not of this object, whatever is in them.
const PASSED_OVER: &[&str] = &["conditions", "history", "transition"];

/// Members that hold the word for the whole object under another name.
const STATE_NAMES: &[&str] = &["compliant"];

/// Flags, and what they say when they are true and when they are false.
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

/// Members that are there only when something went wrong: a text, or an object with a message. They
/// say that it is not ready; whether it is given up or tried again is for the state to say.
const ERRORS: &[&str] = &[
    "errMsg",
    "error",
    "errorDescription",
    "errorMessage",
    "errorReason",
    "failureMessage",
    "failureReason",
];

/// Members of something that comes to an end. Its `running` is not ready yet.
const TASK_MARKS: &[&str] = &[
    "completionTime",
    "endTime",
    "finished",
    "finishedAt",
    "startTime",
    "started",
    "startedAt",
];

/// Names of members whose word is the state of the whole object and of nothing in it.
const WHOLE_STATES: &[&str] = &["currentState", "health", "phase", "state", "status"];

/// What the status itself says, beside its conditions. `corroborated`: whether something else in it
/// says that something works.
pub(crate) fn evidence(status: Node<'_>, corroborated: bool) -> Vec<Evidence> {
    let mut evidence = words(status, corroborated);
    evidence.extend(flags(status));
    evidence.extend(errors(status));
    evidence
}

/// The state words of one object. A word that is not known speaks against ready, for it may say
/// anything; a failure of a part (`lastBackupStatus`) does no more where the whole is well.
pub(crate) fn words(holder: Node<'_>, corroborated: bool) -> Vec<Evidence> {
    let is_task = TASK_MARKS.iter().any(|mark| holder.get(mark).is_present());
    let words: Vec<_> = holder
        .members()
        .filter(|(name, _)| is_state(name))
        .filter_map(|(name, value)| Some((name, value.text()?)))
        .filter(|(_, text)| !text.is_empty())
        .collect();
    let says_good = |text| matches!(meaning(text), Some(Meaning::Good | Meaning::Finished));
    let another_good = words
        .iter()
        .any(|(_, text)| !is_running(text) && says_good(text));
    let whole_is_good = words
        .iter()
        .any(|(name, text)| WHOLE_STATES.contains(name) && says_good(text));
    let believed = !is_task && (corroborated || another_good);
    let read = |(name, text): (&str, &str)| {
        if is_running(text) && !believed {
            return running(name, text);
        }
        let piece = word(name, text);
        let is_part = !WHOLE_STATES.contains(&name);
        match piece.says {
            Says::Failed if is_part && whole_is_good => piece.contradicting(),
            _ => piece,
        }
    };
    words.into_iter().map(read).collect()
}

/// Running is ready for a server and half way for a task, and the word alone does not say which.
fn running(name: &str, text: &str) -> Evidence {
    let message = format!("{name} is {text}, which may be a task that has not ended yet");
    Evidence::new(Says::Doubtful, &["RunningUnclear"], message)
}

fn is_running(text: &str) -> bool {
    text.eq_ignore_ascii_case("running")
}

fn word(name: &str, text: &str) -> Evidence {
    let message = format!("{name} is {text}");
    match meaning(text) {
        Some(Meaning::Absent) if !WHOLE_STATES.contains(&name) => {
            Evidence::new(Says::Doubtful, &["StateUnclear"], message)
        }
        Some(meaning) => Evidence::new(meaning.into(), &[text, name], message),
        None => Evidence::new(Says::Doubtful, &["StateUnclear"], message),
    }
}

/// Whether a member of that name tells the state of what holds it.
pub(crate) fn is_state(name: &str) -> bool {
    let tokens = tokens(name);
    let first = tokens.first().map_or("", String::as_str);
    let last = tokens.last().map_or("", String::as_str);
    STATE_NAMES.contains(&name) || (STATE_ENDINGS.contains(&last) && !OTHER_TIMES.contains(&first))
}

/// Whether what is below a member of that name is of this moment.
pub(crate) fn is_of_now(name: &str) -> bool {
    let tokens = tokens(name);
    let first = tokens.first().map_or("", String::as_str);
    let passed_over = |token: &String| PASSED_OVER.contains(&token.as_str());
    first != "last" && !OTHER_TIMES.contains(&first) && !tokens.iter().any(passed_over)
}

pub(crate) fn flags(holder: Node<'_>) -> impl Iterator<Item = Evidence> {
    FLAGS
        .iter()
        .filter_map(move |(name, when_true, when_false)| {
            let flag = holder.get(name).flag()?;
            let says = if flag { *when_true } else { *when_false }?;
            let message = format!("{name} is {flag}");
            Some(Evidence::new(says, &[reason(says)], message))
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

fn errors(status: Node<'_>) -> impl Iterator<Item = Evidence> {
    ERRORS.iter().filter_map(move |name| {
        let error = status.get(name);
        let text = error.text().or_else(|| error.get("message").text())?;
        (!text.is_empty()).then(|| Evidence::new(Says::Pending, &["ErrorReported"], text))
    })
}
