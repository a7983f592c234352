//! Cuts an object's JSON down to the fields an interpreter asked for.
//!
//! One pass over the text: fields that are asked for are copied verbatim, the rest is skipped
//! without being decoded.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A set of JSON pointers through objects, as a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    /// The whole value is asked for.
    whole: bool,
    below: Vec<(String, Fields)>,
}

impl Fields {
    /// Makes a set from JSON pointers; `apiVersion` and `kind` are added.
    pub fn new(pointers: &[impl AsRef<str>]) -> Self {
        let mut fields = Self::default();
        fields.add("/apiVersion");
        fields.add("/kind");
        for pointer in pointers {
            fields.add(pointer.as_ref());
        }
        fields
    }

    fn add(&mut self, pointer: &str) {
        let mut node = self;
        for token in pointer.split('/').skip(1) {
            let token = token.replace("~1", "/").replace("~0", "~");
            let position = node.below.iter().position(|(key, _)| *key == token);
            let position = position.unwrap_or_else(|| {
                node.below.push((token, Self::default()));
                node.below.len() - 1
            });
            let Some((_, child)) = node.below.get_mut(position) else {
                return;
            };
            node = child;
        }
        node.whole = true;
    }

    /// The pointers it was made from, including `apiVersion` and `kind`; for reports to users.
    pub fn pointers(&self) -> Vec<String> {
        let here = self.whole.then(String::new);
        let below = self.below.iter().flat_map(|(key, fields)| {
            let token = key.replace('~', "~0").replace('/', "~1");
            let pointers = fields.pointers().into_iter();
            pointers.map(move |rest| format!("/{token}{rest}"))
        });
        here.into_iter().chain(below).collect()
    }

    fn get(&self, key: &str) -> Option<&Self> {
        let child = self.below.iter().find(|(name, _)| name == key);
        child.map(|(_, fields)| fields)
    }

    /// Appends the trimmed object to `text`.
    ///
    /// # Errors
    /// When `json` is not JSON; `text` then holds a part of it.
    pub fn trim(&self, json: &str, text: &mut String) -> Result<(), serde_json::Error> {
        if self.whole {
            text.push_str(json);
            return Ok(());
        }
        let mut source = serde_json::Deserializer::from_str(json);
        let copied = Copy { fields: self, text }.deserialize(&mut source)?;
        if !copied {
            text.push_str("{}");
        }
        source.end()
    }
}

/// Copies the requested part of one value; returns whether the value was an object.
struct Copy<'f, 't> {
    fields: &'f Fields,
    text: &'t mut String,
}

impl<'de> DeserializeSeed<'de> for Copy<'_, '_> {
    type Value = bool;

    fn deserialize<D: serde::Deserializer<'de>>(self, source: D) -> Result<bool, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Copy<'_, '_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let Self { fields, text } = self;
        text.push('{');
        let start = text.len();
        while let Some(key) = map.next_key_seed(Key)? {
            let Some(below) = fields.get(&key) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let before = text.len();
            write_key(&key, before > start, text);
            if below.whole {
                let value: &RawValue = map.next_value()?;
                text.push_str(value.get());
            } else if !map.next_value_seed(Copy {
                fields: below,
                text,
            })? {
                text.truncate(before);
            }
        }
        text.push('}');
        Ok(true)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<bool, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(false)
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_str<E>(self, _: &str) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }
}

fn write_key(key: &str, comma: bool, text: &mut String) {
    if comma {
        text.push(',');
    }
    if key
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'))
    {
        text.extend(["\"", key, "\""]);
    } else {
        text.push_str(&serde_json::Value::from(key).to_string());
    }
    text.push(':');
}

/// A key, borrowed where it has no escapes.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: serde::Deserializer<'de>>(self, source: D) -> Result<Self::Value, D::Error> {
        source.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}
