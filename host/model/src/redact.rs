//! Removes the content of Secrets from objects and reports when they are read.
//!
//! A Secret's content is found in three places: in its own `data` and `stringData`, in objects that embed
//! it (a list, a bundle of manifests), and in annotations in which tools store the last applied
//! configuration. The names of its keys stay, because rules about Secrets need them, and each value
//! becomes [`REDACTED`]. Everything else stays unchanged, including the order of keys and the form of
//! numbers. When in doubt, content is removed: a value that cannot be parsed is left out.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::lenient::{self, Elements, Members};

/// Maximum nesting that is searched. An [`Object`](crate::Object) is never deeper, but JSON in its
/// annotations may be.
const DEPTH_MAX: usize = 128;

/// Replacement for each value of a Secret, as JSON. It is valid base64 too, as values of `data` are.
const REDACTED: &str = "\"REDACTED\"";

/// The JSON of an object or of any value that was reported, without the content of Secrets; `None` if
/// there is none to remove.
///
/// `is_secret` says that it is a Secret by its context, whatever its own `kind`. From a Secret of the
/// core group, alone or embedded in another object, it removes the values of `data` and `stringData` and
/// the annotations with the last applied configuration; from other objects only annotations whose value
/// is JSON that contains a Secret. Text that does not name a Secret costs two searches of it, other text
/// its size times the depth at which it names one.
///
/// # Errors
/// [`Opaque`], for what is not JSON or cannot be searched.
pub(crate) fn redacted(json: &str, is_secret: bool) -> Redacted {
    if !is_secret && !may_hold_secret(json) {
        return Ok(None);
    }
    let place = Place {
        is_secret,
        in_secret: is_secret,
        depth: 0,
    };
    redact_text(json, place)
}

/// An entry of the list of any Kind without the content of Secrets, and with this text as its `res`.
pub(crate) fn with_res(entry: &str, res: &str) -> String {
    let redacted = redacted(entry, false).ok().flatten();
    let entry = redacted.as_deref().unwrap_or(entry);
    let members: Members<'_> = lenient::read(entry).unwrap_or_default();
    let res = serde_json::Value::from(res).to_string();
    let mut output = Output::default();
    for (key, value) in &members.0 {
        // Of duplicates each one: the others would be stored too.
        output.push(Some(key), value, (key == "res").then_some(res.as_str()));
    }
    output.finish('{', '}').unwrap_or_else(|| entry.to_owned())
}

/// The value is not JSON, or nested too deeply to be searched.
pub(crate) struct Opaque;

/// The text after redaction; `None` if it is unchanged.
pub(crate) type Redacted = Result<Option<String>, Opaque>;

/// The context of a value within the object.
#[derive(Clone, Copy)]
struct Place {
    /// True if the value is a Secret by its context, whatever its own `kind`.
    is_secret: bool,
    /// True if the value is a Secret or part of one.
    in_secret: bool,
    /// Number of enclosing values.
    depth: usize,
}

impl Place {
    /// The place of a value nested in this one.
    fn inside(self, is_secret: bool) -> Self {
        Self {
            is_secret,
            in_secret: self.in_secret || is_secret,
            depth: self.depth + 1,
        }
    }
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

fn redact_text(text: &str, place: Place) -> Redacted {
    let raw: &RawValue = serde_json::from_str(text).map_err(|_| Opaque)?;
    redact(raw, place)
}

fn redact(raw: &RawValue, place: Place) -> Redacted {
    if place.depth > DEPTH_MAX {
        return Err(Opaque);
    }
    if !place.in_secret && !may_hold_secret(raw.get()) {
        return Ok(None);
    }
    match raw.get().as_bytes().first() {
        Some(b'{') => redact_object(&members_of(raw)?, place),
        Some(b'[') => redact_array(raw, place),
        _ => Ok(None),
    }
}

fn redact_array(raw: &RawValue, place: Place) -> Redacted {
    let elements: Elements<'_, { usize::MAX }> = lenient::read(raw.get()).map_err(|_| Opaque)?;
    let mut output = Output::default();
    for element in elements.kept {
        let redacted = redact(element, place.inside(place.is_secret))?;
        output.push(None, element, redacted.as_deref());
    }
    Ok(output.finish('[', ']'))
}

fn redact_object(members: &Members<'_>, place: Place) -> Redacted {
    let is_secret = place.is_secret || members.are_of_kind("Secret");
    let place = Place {
        in_secret: place.in_secret || is_secret,
        ..place
    };
    let mut output = Output::default();
    for (key, value) in &members.0 {
        let redacted = match key.as_ref() {
            "data" | "stringData" if is_secret => match redact_values(value)? {
                Values::Unchanged => None,
                Values::Redacted(text) => Some(text),
                Values::LeftOut => {
                    output.leave_out();
                    continue;
                }
            },
            "annotations" => redact_annotations(value, place)?,
            "items" => redact(value, place.inside(members.are_of_kind("SecretList")))?,
            _ => redact(value, place.inside(false))?,
        };
        output.push(Some(key), value, redacted.as_deref());
    }
    Ok(output.finish('{', '}'))
}

/// The outcome for `data` or `stringData` of a Secret.
enum Values {
    /// It holds no value that was not removed before.
    Unchanged,
    /// Its keys, each without its value.
    Redacted(String),
    /// It is no object, and goes as a whole.
    LeftOut,
}

fn redact_values(raw: &RawValue) -> Result<Values, Opaque> {
    match raw.get().as_bytes().first() {
        Some(b'{') => {}
        Some(b'n') => return Ok(Values::Unchanged),
        _ => return Ok(Values::LeftOut),
    }
    let mut output = Output::default();
    for (key, value) in &members_of(raw)?.0 {
        let is_redacted = value.get() == REDACTED;
        output.push(Some(key), value, (!is_redacted).then_some(REDACTED));
    }
    let redacted = output.finish('{', '}');
    Ok(redacted.map_or(Values::Unchanged, Values::Redacted))
}

fn redact_annotations(raw: &RawValue, place: Place) -> Redacted {
    if !raw.get().starts_with('{') {
        return redact(raw, place.inside(false));
    }
    let mut output = Output::default();
    for (key, value) in &members_of(raw)?.0 {
        if (place.in_secret && holds_last_applied(key)) || holds_secret(value, place) {
            output.leave_out();
        } else {
            output.push(Some(key), value, None);
        }
    }
    Ok(output.finish('{', '}'))
}

/// Returns whether tools store the last applied configuration under this annotation. Decided by the key,
/// since some compress the value: `kubectl.kubernetes.io/last-applied-configuration`,
/// `objectset.rio.cattle.io/applied`, `banzaicloud.com/last-applied`.
fn holds_last_applied(key: &str) -> bool {
    key.contains("applied")
}

/// Returns whether an annotation's value is JSON that contains a Secret or cannot be searched. Plain text
/// is no JSON and is kept.
fn holds_secret(value: &RawValue, place: Place) -> bool {
    let Ok(text) = serde_json::from_str::<Cow<'_, str>>(value.get()) else {
        return !matches!(redact(value, place.inside(false)), Ok(None));
    };
    let is_json = serde_json::from_str::<&RawValue>(&text).is_ok();
    is_json && !matches!(redact_text(&text, place.inside(false)), Ok(None))
}

fn members_of(raw: &RawValue) -> Result<Members<'_>, Opaque> {
    lenient::read(raw.get()).map_err(|_| Opaque)
}

impl Members<'_> {
    /// Returns whether an object with these members is of this Kind of the core group. Of duplicate
    /// members any match counts, and a missing `apiVersion` counts as core.
    fn are_of_kind(&self, kind: &str) -> bool {
        let mut versions = self.texts("apiVersion").peekable();
        self.texts("kind").any(|text| text == kind)
            && (versions.peek().is_none() || versions.any(|version| !version.contains('/')))
    }

    fn texts(&self, key: &str) -> impl Iterator<Item = Cow<'_, str>> {
        self.0
            .iter()
            .filter(move |member| member.0 == key)
            .filter_map(|member| serde_json::from_str(member.1.get()).ok())
    }
}

/// An object or array that is rebuilt from its redacted values.
#[derive(Default)]
struct Output {
    text: String,
    changed: bool,
}

impl Output {
    fn leave_out(&mut self) {
        self.changed = true;
    }

    fn push(&mut self, key: Option<&str>, value: &RawValue, redacted: Option<&str>) {
        if !self.text.is_empty() {
            self.text.push(',');
        }
        if let Some(key) = key {
            self.text
                .push_str(&serde_json::Value::from(key).to_string());
            self.text.push(':');
        }
        self.changed |= redacted.is_some();
        self.text.push_str(redacted.unwrap_or(value.get()));
    }

    fn finish(self, open: char, close: char) -> Option<String> {
        self.changed.then(|| format!("{open}{}{close}", self.text))
    }
}

#[cfg(test)]
mod tests;
