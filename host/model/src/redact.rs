//! Keeps what Secrets hold inside the host.
//!
//! A Secret's content shows in three places: in its own `data` and `stringData`, in whatever embeds
//! it (a list, a bundle of manifests), and in annotations in which a tool keeps what it applied
//! last. Rewritten is only what has to be: order of keys, numbers and everything else stay as they
//! came. In doubt it is left out: what cannot be understood is not shown.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::value::RawValue;

use crate::Object;
use crate::lenient::{self, Elements, Members};

/// The deepest nesting that is looked into. An [`Object`] is never deeper, but what stands in its
/// annotations may be.
const DEPTH_MAX: usize = 128;

/// What is in place of an object that could not be looked through.
const NOTHING: &str = "{}";

/// The object's JSON without what a Secret holds: the same text if there is nothing to leave out.
///
/// Of a Secret in the core group, and of one embedded in any other object, `data`, `stringData` and
/// the annotations that repeat what was last applied are removed; of other objects only annotations
/// whose value is JSON with a Secret in it. Meant to be called once per change of an object that
/// will be shown: the time it takes grows with the size of the text, times the depth at which it
/// mentions a Secret.
pub fn redact_secret(object: &Object) -> Arc<str> {
    let is_secret = object.gvk.group.is_empty() && &*object.gvk.kind == "Secret";
    if !is_secret && !may_hold_secret(&object.json) {
        return Arc::clone(&object.json);
    }
    let place = Place {
        is_secret,
        in_secret: is_secret,
        depth: 0,
    };
    match redact_text(&object.json, place) {
        Ok(None) => Arc::clone(&object.json),
        Ok(Some(redacted)) => redacted.into(),
        Err(Opaque) => NOTHING.into(),
    }
}

/// It is not JSON, or nested too deeply to be looked through.
struct Opaque;

/// The text after redaction; `None` if it stays as it is.
type Redacted = Result<Option<String>, Opaque>;

/// Where a value stands.
#[derive(Clone, Copy)]
struct Place {
    /// It is a Secret, whatever it says itself.
    is_secret: bool,
    /// It is a Secret or part of one.
    in_secret: bool,
    /// How many values it is inside of.
    depth: usize,
}

impl Place {
    /// The place of a value inside this one.
    fn inside(self, is_secret: bool) -> Self {
        Self {
            is_secret,
            in_secret: self.in_secret || is_secret,
            depth: self.depth + 1,
        }
    }
}

/// Whether a Secret could be in the text: it is named, or something is written in escapes.
fn may_hold_secret(text: &str) -> bool {
    text.contains("Secret") || text.contains("\\u")
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
    let is_secret = place.is_secret || members.say("Secret");
    let place = Place {
        in_secret: place.in_secret || is_secret,
        ..place
    };
    let mut output = Output::default();
    for (key, value) in &members.0 {
        let redacted = match key.as_ref() {
            "data" | "stringData" if is_secret => {
                output.leave_out();
                continue;
            }
            "annotations" => redact_annotations(value, place)?,
            "items" => redact(value, place.inside(members.say("SecretList")))?,
            _ => redact(value, place.inside(false))?,
        };
        output.push(Some(key), value, redacted.as_deref());
    }
    Ok(output.finish('{', '}'))
}

fn redact_annotations(raw: &RawValue, place: Place) -> Redacted {
    if !raw.get().starts_with('{') {
        return redact(raw, place.inside(false));
    }
    let mut output = Output::default();
    for (key, value) in &members_of(raw)?.0 {
        if (place.in_secret && repeats_applied(key)) || holds_secret(value, place) {
            output.leave_out();
        } else {
            output.push(Some(key), value, None);
        }
    }
    Ok(output.finish('{', '}'))
}

/// Whether a tool keeps under this annotation what it applied; some pack it, so that its value
/// does not tell: `kubectl.kubernetes.io/last-applied-configuration`,
/// `objectset.rio.cattle.io/applied`, `banzaicloud.com/last-applied`.
fn repeats_applied(key: &str) -> bool {
    key.contains("applied")
}

/// Whether an annotation's value is JSON in which there is something to leave out, or which cannot
/// be looked through. Plain text is no JSON and stays.
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
    /// Whether these members say that the object is of this Kind of the core group. One that is
    /// said twice counts whichever it is, and a missing `apiVersion` counts as core.
    fn say(&self, kind: &str) -> bool {
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

/// An object or array as it is written anew.
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
