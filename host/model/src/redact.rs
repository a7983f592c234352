//! Removes the content of Secrets from objects and reports when they are read.
//!
//! A Secret's content is found in three places: in its own `data` and `stringData`, in objects that embed
//! it (a list, a bundle of manifests), and in annotations in which tools store the last applied
//! configuration. The names of its keys stay, because rules about Secrets need them, and each value
//! becomes [`REDACTED`]. Everything else stays unchanged, including the order of keys and the form of
//! numbers. When in doubt, content is removed: a value that cannot be parsed is left out.

use std::ops::Range;

use serde_json::value::RawValue;

use crate::lenient::{self, Members};

mod search;

/// Replacement for each value of a Secret, as JSON. It is valid base64 too, as values of `data` are.
const REDACTED: &str = "\"REDACTED\"";

/// The value is not JSON, or nested too deeply to be searched.
pub(crate) struct Opaque;

/// A range of a text, and the text that takes its place.
pub(crate) type Edit = (Range<usize>, String);

/// The JSON of an object or of any value that was reported, without the content of Secrets; `None` if
/// there is none to remove.
///
/// `is_secret` says that it is a Secret by its context, whatever its own `kind`. From a Secret of the
/// core group, alone or embedded in another object, it removes the values of `data` and `stringData` and
/// the annotations with the last applied configuration; from other objects only annotations whose value
/// is JSON that contains a Secret. Text that does not name a Secret costs two searches for the word, other
/// text a pass over it.
///
/// # Errors
/// [`Opaque`], for what is not JSON or cannot be searched.
pub(crate) fn redacted(json: &str, is_secret: bool) -> Result<Option<String>, Opaque> {
    if !is_secret && !may_hold_secret(json) {
        return Ok(None);
    }
    let edits = search::search(json, is_secret)?;
    Ok((!edits.is_empty()).then(|| edited(json, edits)))
}

/// A text with these parts replaced, which are in order and do not overlap.
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

/// An entry of the list of any Kind without the content of Secrets, and with this text as its `res`.
pub(crate) fn with_res(entry: &str, res: &str) -> String {
    let redacted = redacted(entry, false).ok().flatten();
    let entry = redacted.as_deref().unwrap_or(entry);
    let members: Members<'_> = lenient::read(entry).unwrap_or_default();
    let res = serde_json::Value::from(res).to_string();
    // Of duplicates each one: the others would be stored too.
    let members = members.0.iter().map(|(key, value)| {
        let value = if key == "res" { &*res } else { value.get() };
        format!("{}:{value}", serde_json::Value::from(&**key))
    });
    let members: Vec<String> = members.collect();
    format!("{{{}}}", members.join(","))
}

/// Returns whether the text may contain a Secret: it names the Kind, or escapes could hide the name.
pub(crate) fn may_hold_secret(text: &str) -> bool {
    // Simple searches first, since almost no object holds either.
    (text.contains("Secret") && names_secret(text))
        || (text.contains("\\u00") && may_hide_words(text))
}

/// Returns whether `Secret` or `SecretList` occurs as a whole string, also within a string of JSON. Most
/// other words with it are members, such as `imagePullSecrets`.
fn names_secret(text: &str) -> bool {
    text.match_indices("Secret").any(|(at, word)| {
        // The 2 is that of `\u0022`, which is a quotation mark.
        let before = text.get(..at).is_some_and(|it| it.ends_with(['"', '2']));
        let rest = text.get(at + word.len()..).unwrap_or_default();
        let rest = rest.strip_prefix("List").unwrap_or(rest);
        before && rest.starts_with(['"', '\\'])
    })
}

/// Returns whether a letter, a digit or a backslash is written as an escape, for which nobody has a
/// reason but to hide a word. Go writes `<`, `>` and `&` so.
fn may_hide_words(text: &str) -> bool {
    text.match_indices("\\u00").any(|(at, escape)| {
        let code = text.as_bytes().get(at + escape.len()..);
        matches!(code, Some([b'3', b'0'..=b'9', ..] | [b'4'..=b'7', ..]))
    })
}

/// The `data` of a Secret with its keys and without its values; none if it has no values. What is no object
/// becomes `null`.
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
