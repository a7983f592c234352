//! Removes the content of Secrets from objects and reports when they are read.
//!
//! A Secret's content can be in three places: in its own `data` and `stringData`, in objects that embed the
//! Secret (a list, a bundle of manifests), and in annotations with the last applied configuration. The names
//! of keys remain, because rules about Secrets need them; each value becomes [`REDACTED`]. Everything else
//! remains unchanged, including the order of keys and the form of numbers. When in doubt, content is removed:
//! a value that cannot be parsed is omitted.

use std::ops::Range;

use serde_json::value::RawValue;

use crate::lenient::{self, Members};

mod search;

/// Replacement for each value of a Secret, as JSON. It is also valid base64, like the values of `data`.
const REDACTED: &str = "\"REDACTED\"";

/// The value is not JSON, or is nested too deeply to be searched.
pub(crate) struct Opaque;

/// A range of a text, and its replacement.
pub(crate) type Edit = (Range<usize>, String);

/// The JSON of an object or of another reported value, without the content of Secrets; `None` if it has no
/// such content.
///
/// `is_secret` is true if the context makes it a Secret, even if its own `kind` does not. From a Secret of
/// the core group, alone or embedded in another object, the function removes the values of `data` and
/// `stringData` and the annotations with the last applied configuration. From other objects, it removes only
/// annotations whose value is JSON that contains a Secret. Text without the word costs two searches; other
/// text costs one pass.
///
/// # Errors
/// [`Opaque`] if the text is not JSON or cannot be searched.
pub(crate) fn redacted(json: &str, is_secret: bool) -> Result<Option<String>, Opaque> {
    if !is_secret && !may_hold_secret(json) {
        return Ok(None);
    }
    let edits = search::search(json, is_secret)?;
    Ok((!edits.is_empty()).then(|| edited(json, edits)))
}

/// Applies edits to a text. The edits must be in order and must not overlap.
pub(crate) fn edited(text: &str, edits: Vec<Edit>) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut end = 0;
    for (range, new) in edits {
        whole.push_str(text.get(end..range.start).unwrap_or_default());
        whole.push_str(&new);
        end = range.end;
    }
    whole.push_str(text.get(end..).unwrap_or_default());
    whole
}

/// An entry of the list of any Kind with a new `res`, without the content of Secrets in its other members.
pub(crate) fn with_res(entry: &str, res: &str) -> String {
    let redacted = redacted(entry, false).ok().flatten();
    let entry = redacted.as_deref().unwrap_or(entry);
    let members: Members<'_> = lenient::read(entry).unwrap_or_default();
    let res = serde_json::Value::from(res).to_string();
    // Replaces each of duplicate members, because all of them are stored.
    let members = members.0.iter().map(|(key, value)| {
        let value = if key == "res" { &*res } else { value.get() };
        format!("{}:{value}", serde_json::Value::from(&**key))
    });
    let members: Vec<String> = members.collect();
    format!("{{{}}}", members.join(","))
}

/// Returns whether the text may contain a Secret: it names the Kind, or escapes could hide the name.
pub(crate) fn may_hold_secret(text: &str) -> bool {
    // Cheap searches first, because almost no object contains either.
    (text.contains("Secret") && names_secret(text))
        || (text.contains("\\u00") && may_hide_words(text))
}

/// Returns whether `Secret` or `SecretList` occurs as a complete string, also in JSON within a string. Most
/// other words that contain it are member names, such as `imagePullSecrets`.
fn names_secret(text: &str) -> bool {
    text.match_indices("Secret").any(|(at, word)| {
        // The 2 ends `\u0022`, an escaped quotation mark.
        let before = text
            .get(..at)
            .is_some_and(|text| text.ends_with(['"', '2']));
        let rest = text.get(at + word.len()..).unwrap_or_default();
        let rest = rest.strip_prefix("List").unwrap_or(rest);
        before && rest.starts_with(['"', '\\'])
    })
}

/// Returns whether a letter, a digit or a backslash is escaped, which could hide the word `Secret`. Go
/// escapes only `<`, `>` and `&`.
fn may_hide_words(text: &str) -> bool {
    text.match_indices("\\u00").any(|(at, escape)| {
        let code = text.as_bytes().get(at + escape.len()..);
        matches!(code, Some([b'3', b'0'..=b'9', ..] | [b'4'..=b'7', ..]))
    })
}

/// The `data` of a Secret with its keys and without its values; `None` if it has no values. A `data` that is
/// not an object becomes `null`.
fn without_values(data: &str) -> Option<String> {
    if data == "null" {
        return None;
    }
    if !data.starts_with('{') {
        return Some("null".to_owned());
    }
    let members: Members<'_> = lenient::read(data).unwrap_or_default();
    let is_redacted = |(_, value): &(_, &RawValue)| value.get() == REDACTED;
    if members.0.iter().all(is_redacted) {
        return None;
    }
    let keys = members.0.iter().map(|(key, _)| {
        let key = serde_json::Value::from(&**key);
        format!("{key}:{REDACTED}")
    });
    let keys: Vec<String> = keys.collect();
    Some(format!("{{{}}}", keys.join(",")))
}

#[cfg(test)]
mod tests;
