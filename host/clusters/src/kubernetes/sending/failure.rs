//! Answers that are not a success: the reaction, and the text for users.

use std::collections::BTreeSet;
use std::time::Duration;

use kindsight_model::clean;

use super::ObjectError;
use super::manifest::Manifest;
use super::status::{Cause, Status};
use crate::kubernetes::REASON_BYTES_MAX;
use crate::kubernetes::connection::Reply;

/// Maximum number of fields in the text of a failure.
const FIELDS_MAX: usize = 10;

/// The failure of a call about an object.
pub(super) fn failure(reply: &Reply, of: &Manifest) -> ObjectError {
    let status = Status::of(reply);
    let text = |what: &str| clean(what, REASON_BYTES_MAX).into_owned();
    match reply.code {
        409 => of_conflict(&status, of),
        404 if status.details.kind == "namespaces" => {
            let name = &status.details.name;
            ObjectError::Refused(text(&format!("the namespace `{name}` does not exist")))
        }
        403 if status.is_of_ending_namespace() => {
            ObjectError::Unreachable("its namespace is being deleted".to_owned())
        }
        500 if status.is_of_wrong_schema() => {
            ObjectError::Refused(text(&answer(reply, &status, of)))
        }
        408 | 429 | 500.. => ObjectError::Unreachable(text(&answer(reply, &status, of))),
        _ => ObjectError::Refused(text(&answer(reply, &status, of))),
    }
}

/// The failure of a request that is not about the content of an object.
pub(super) fn unexpected(reply: &Reply, action: &str) -> ObjectError {
    let status = Status::of(reply);
    let code = reply.code;
    let text = format!(
        "the API server cannot {action}: it answers {code}: {}",
        status.message
    );
    let text = clean(&text, REASON_BYTES_MAX).into_owned();
    match code {
        408 | 429 | 500.. => ObjectError::Unreachable(text),
        _ => ObjectError::Refused(text),
    }
}

/// The text about the time for which the API server wants no requests.
pub(super) fn paused(wait: Duration) -> ObjectError {
    let seconds = wait.as_secs().saturating_add(1);
    ObjectError::Unreachable(format!(
        "the API server is overloaded and asks to wait {seconds} s"
    ))
}

/// The answer in words. About a Secret, the text has reasons and fields only.
fn answer(reply: &Reply, status: &Status, of: &Manifest) -> String {
    let (code, reason) = (reply.code, &status.reason);
    if !of.is_secret() {
        let message = &status.message;
        return format!("the API server answers {code} {reason}: {message}");
    }
    let causes = status.details.causes.iter().take(FIELDS_MAX);
    let causes: Vec<String> = causes
        .map(|cause| format!("{} {}", cause.field, cause.reason))
        .collect();
    match &*causes {
        [] => format!("the API server answers {code} {reason}"),
        causes => format!(
            "the API server answers {code} {reason}: {}",
            causes.join(", ")
        ),
    }
}

/// Fields that belong to other managers, or a change at the same time.
fn of_conflict(status: &Status, of: &Manifest) -> ObjectError {
    let causes = status.details.causes.iter();
    let conflicts = causes.filter(|cause| cause.reason == "FieldManagerConflict");
    let conflicts: Vec<&Cause> = conflicts.collect();
    if conflicts.is_empty() {
        let what = if of.is_secret() { "" } else { &status.message };
        let text = format!("another client changed the object at the same time {what}");
        return ObjectError::Unreachable(clean(text.trim(), REASON_BYTES_MAX).into_owned());
    }
    let managers = conflicts.iter().map(|cause| manager(&cause.message));
    let managers: BTreeSet<&str> = managers.collect();
    let managers: Vec<&str> = managers.into_iter().collect();
    let fields = conflicts.iter().take(FIELDS_MAX);
    let fields: Vec<&str> = fields.map(|cause| &*cause.field).collect();
    let more = match conflicts.len().saturating_sub(FIELDS_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let text = format!(
        "the manager `{}` owns the fields {}{more}; `--force` takes them over",
        managers.join("`, `"),
        fields.join(", ")
    );
    ObjectError::Refused(clean(&text, REASON_BYTES_MAX).into_owned())
}

/// The name of the manager in the message of a conflict: `conflict with "kubectl" using v1`.
fn manager(message: &str) -> &str {
    let name = message.split('"').nth(1);
    name.unwrap_or("another manager")
}
